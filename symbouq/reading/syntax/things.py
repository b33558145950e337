"""The things of a trace: which noun phrases mean the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields

from symbouq.reading.stems import singular_of

_CODE = 2
"""Most letters of a number or a letter that follows a noun: "bay 12"."""
_OTHERS = frozenset(("another", "other", "second", "third", "fourth", "last", "next", "different"))
"""Words of a name that tell a thing from another of the same name."""


@dataclass
class Things:
    """The things that a trace has spoken of, by their names.

    A name is the words of a noun phrase without its article, compared without case; single
    letters are compared as they are. A noun phrase that has some of the words of exactly one
    known name, its last one among them, means that thing.

    Attributes:
        persons: Pronoun or possessive of the speaker or the hearer to the name of these.
        describing: Adjectives, which are no part of a name: "the RED box 1" may be box 1.
        naming: Nouns that a proper name may follow or do without: "the STAR Vega".
        spellings: The name of each thing, as it was first written.
        known: How many of them scene and question have.
        whole: What "on the left" and "in the corner" are parts of, where nothing else is said.
        view: Whose left and right the text tells, where it says so.
        viewed: Whether it has told any.
        frames: How its scene tells left and right: by the `compass`, from a `viewpoint`.
        placed: What its scene says of each thing: relations, each with a ground.
    """

    persons: Mapping[str, str] = field(default_factory=dict)
    describing: Collection[str] = ()
    naming: Collection[str] = ()
    spellings: list[str] = field(default_factory=list)
    known: int = 0
    whole: int | None = None
    view: int | str | None = None
    viewed: bool = False
    frames: set[str] = field(default_factory=set)
    placed: dict[int, set[tuple[str, int]]] = field(default_factory=dict)
    _of: dict[tuple[str, ...], int] = field(default_factory=dict)
    _by_head: dict[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    _gathered: dict[tuple[str, ...], tuple[int, ...]] = field(default_factory=dict)
    _moved: set[int] = field(default_factory=set)
    _count: dict[int, int] = field(default_factory=dict)
    _rows: list[tuple[int, ...]] = field(default_factory=list)
    _ahead: dict[int, int] = field(default_factory=dict)
    _siblings: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)

    def copy(self) -> Things:
        """The same, to be added to independently."""
        return Things(*(copy(getattr(self, each.name)) for each in fields(self)))

    def __len__(self) -> int:
        return len(self.spellings)

    def find(self, words: Sequence[str], head: str, proper: bool = False) -> int | None:
        """The thing that a noun phrase means, None if it is none so far or may be several.

        Args:
            words: The words that name it.
            head: The head of the noun phrase.
            proper: Whether it is a proper name, whose words all count.
        """
        words = self._named(words)
        key = _key(words)
        if key in self._of:
            return self._of[key]
        if key[-1] == _OWNER:  # "Anna's", where there is one thing that is hers
            owned = {thing for other, thing in self._of.items() if other[: len(key)] == key}
            return owned.pop() if len(owned) == 1 else None
        fits: dict[int, bool] = {}
        for other in self._by_head.get(_head(head), ()):
            like = self._is_alike(_folded(key), _folded(other), proper)
            fits[self._of[other]] = fits.get(self._of[other], True) and like
        alike = {thing for thing, like in fits.items() if like}  # by all that it is called
        if not alike and proper:  # "Save" for the Save button
            alike = {self._of[other] for other in self._of if _opens(key, other)}
        alike = alike or self._answered(key)
        return alike.pop() if len(alike) == 1 else None

    def _answered(self, key: tuple[str, ...]) -> set[int]:
        """What an answer means by "your tent" where the scene has "my tent", or by "you"."""
        if key[0].lower() not in self.persons:
            return set()
        return {
            thing
            for other, thing in self._of.items()
            if thing < self.known and other[1:] == key[1:] and other[0].lower() in self.persons
        }

    def numbers(self, thing: int, count: int) -> bool:
        """Whether a thing that is several may be as many as is said; they are as many as is said
        first.
        """
        return self._count.setdefault(thing, count) == count

    def eponym(self, words: Sequence[str], holders: Collection[str]) -> int | None:
        """The thing that a noun phrase names by what it holds or sells, "the FLOWERS" for the
        flower stall, "the TILES" for the pallet of tiles; None where none does, or several do.

        Args:
            words: The words of the noun phrase.
            holders: Nouns of things that are named so.
        """
        key = tuple(singular_of(word) for word in _folded(_key(words)))
        alike: set[int] = set()
        named_so: set[int] = set()
        for other, thing in self._of.items():
            *told, noun = (singular_of(word) for word in _folded(other))
            if "of" in told:  # "pallet of tiles"
                at = told.index("of")
                told, noun = [*told[at + 1 :], noun], told[at - 1]
            if tuple(told[-len(key) :]) == key:
                alike.add(thing)
                named_so.update({thing} if noun in holders else ())
        return named_so.pop() if len(alike) == 1 and named_so else None

    def is_a(self, thing: int, noun: str) -> bool:
        """Whether a noun heads a name of a thing, or opens its label: "coach C"."""
        named = any(self._of[key] == thing for key in self._by_head.get(_head(noun), ()))
        opens = (key for key in self._of if len(key) == 2 and len(key[1]) <= _CODE)
        return named or any(self._of[key] == thing and key[0] == noun.lower() for key in opens)

    def titled(
        self, words: Sequence[str], nouns: Collection[str], classifying: Collection[str] = ()
    ) -> int | None:
        """The thing that a noun phrase names with what it is, "the Save button" for Save, "the clay
        layer" for the clay; None where none is called so, or the phrase has a thing of its own.

        Args:
            words: The words of the noun phrase.
            nouns: Nouns of what is named so by a proper name.
            classifying: Nouns of what is named so by any name.
        """
        *told, noun = " ".join(words).split()
        named = bool(told) and told[0][0].isupper() and noun.lower() in nouns
        bears = named or (bool(told) and noun.lower() in classifying)
        return self._of.get(_key(told)) if bears and _key(words) not in self._of else None

    def gather(self, words: Sequence[str], things: Sequence[int]) -> None:
        """Has a noun phrase of several things mean those that it lists."""
        self._gathered[_folded(_key(words))] = tuple(dict.fromkeys(things))

    def several(self, words: Sequence[str], head: str, count: int | None) -> tuple[int, ...]:
        """The things that a noun phrase of several means: those that were listed under its words,
        else all whose names have its words; none where they are not so many as it says.

        Args:
            words: The words that name them.
            head: The head of the noun phrase.
            count: How many there are, if the text says so.
        """
        key = _folded(_key(words))
        listed = [
            of
            for other, of in self._gathered.items()
            if other[-1] == key[-1] and (set(key) <= set(other) or set(other) <= set(key))
        ]
        for of in reversed(listed):
            if count in (None, len(of)):
                return of
        singular = tuple(singular_of(word) if word == key[-1] else word for word in key)
        alike = tuple(
            dict.fromkeys(
                self._of[other]
                for other in self._of
                if singular[-1] in _folded(other) and set(singular) <= set(_folded(other))
            )
        )
        # What only a claim names is none of "the three cups" of the scene.
        known = tuple(thing for thing in alike if thing < (self.known or len(self.spellings)))
        for found in (known, alike):
            if len(found) > 1 and count in (None, len(found)):
                return found
        return ()

    def line_up(self, things: Iterable[int]) -> None:
        """Takes things for all that stand in one row."""
        self._rows.append(tuple(dict.fromkeys(things)))

    def row_of(self, thing: int) -> tuple[int, ...]:
        """The things of the row that a thing was last said to stand in; none where in none."""
        return next((row for row in reversed(self._rows) if thing in row), ())

    def every(self, count: int) -> tuple[int, ...]:
        """All things that have names, if they are so many; else none."""
        first = self.known or len(self.spellings)
        named = dict.fromkeys(t for t in self._of.values() if t < first)
        return tuple(named) if len(named) == count else ()

    def alike(self, kinds: Collection[str]) -> list[tuple[int, ...]]:
        """Things of one kind: those whose names have the same noun, and those that were listed as
        such: "three columns: A, B and C".

        Args:
            kinds: The nouns that count.
        """
        found: dict[str, dict[int, None]] = {}
        for key, thing in self._of.items():
            words = _folded(key)
            if "of" in words:
                words = words[: words.index("of")] or words
            noun = words[-2] if len(words) > 1 and len(words[-1]) <= _CODE else words[-1]
            found.setdefault(noun, {})[thing] = None
        for key, members in self._gathered.items():
            found.setdefault(singular_of(key[-1]), {}).update(dict.fromkeys(members))
        return [tuple(things) for noun, things in found.items() if noun in kinds]

    def elliptic(self, told: Sequence[str], noun: str) -> int | None:
        """What "the blue one" means: the thing of whose name its words are a part, the last one if
        there are several; else a new one.

        Args:
            told: The words that tell which one it is.
            noun: The noun that the text used last.
        """
        key = set(_folded(_key(told)))
        alike = [thing for other, thing in self._of.items() if key <= set(_folded(other)[:-1])]
        if alike:
            return alike[-1]
        return self._new([*told, noun], noun) if noun else None

    def surroundings(self) -> int:
        """The whole, which is what the text is about where it has named none."""
        if self.whole is None:
            self.whole = len(self.spellings)
            self.spellings.append("the surroundings")
        return self.whole

    def before(self, thing: int) -> int:
        """A thing for where another one was before it moved; no noun phrase means it."""
        name = f"{self.spellings[thing]} (earlier"
        taken = sum(spelling.startswith(name) for spelling in self.spellings)
        self.spellings.append(f"{name}, {taken + 1})" if taken else f"{name})")
        place = len(self.spellings) - 1
        self._moved.add(thing)
        return place

    def ahead(self, thing: int) -> int:
        """A thing for what another one faces; no noun phrase means it."""
        if thing not in self._ahead:
            self._ahead[thing] = len(self.spellings)
            self.spellings.append(f"{self.spellings[thing]} (ahead)")
        return self._ahead[thing]

    def is_ahead(self, thing: int) -> bool:
        """Whether a thing is what another one faces."""
        return thing in self._ahead.values()

    def like(self, words: Sequence[str]) -> list[int]:
        """The things whose names have some words, and end in the last one, in the order in which
        the text has introduced them.
        """
        key = _folded(_key(words))
        alike = {
            thing
            for other, thing in self._of.items()
            if other[-1].lower() == key[-1] and set(key) <= set(_folded(other))
        }
        of_kind = {thing for thing, (_, kind) in self._siblings.items() if set(key) <= set(kind)}
        return sorted(t for t in alike | of_kind if not self.known or t < self.known)

    def introduce(self, words: Sequence[str], kind: Sequence[str]) -> int:
        """A new thing of a kind of which the text has spoken: "another box".

        Args:
            words: The words that name it, which may be those of a further one.
            kind: Those that name its kind.
        """
        taken = len(self.introduced(words))
        thing = self._new(words, words[-1]) if not taken else len(self.spellings)
        if taken:
            self.spellings.append(f"{' '.join(words)} ({taken + 1})")
        self._siblings[thing] = _folded(_key(words)), _folded(_key(kind))
        return thing

    def introduced(self, words: Sequence[str]) -> tuple[int, ...]:
        """The things that were introduced in some words as further ones of their kind."""
        key = _folded(_key(words))
        return tuple(thing for thing, (named, _) in self._siblings.items() if named == key)

    def told_apart(self, words: Sequence[str]) -> list[list[str]]:
        """The kinds of which the text has introduced a further thing, of those that a noun phrase
        may be of: that of its words, and where these name nothing more than a part of them.
        """
        key = _folded(_key(words))
        kinds = {kind for _, kind in self._siblings.values() if set(kind) <= set(key)}
        return [[*kind] for kind in kinds if set(kind) == set(key) or key not in self._of]

    def exchange(self, one: int, two: int) -> None:
        """Takes in that two things change places: neither is where it was."""
        self._moved |= {one, two}

    def has_moved(self, thing: int) -> bool:
        """Whether a thing is no longer where it was at first."""
        return thing in self._moved

    def call(self, words: Sequence[str], thing: int) -> None:
        """Gives a thing another name, if it is nobody's."""
        self._of.setdefault(_key(words), thing)

    def thing(self, words: Sequence[str], head: str, proper: bool = False) -> int:
        """The thing that a noun phrase means, which may be new."""
        found = self.find(words, head, proper)
        if found is None:
            return self._new(words, head)
        self._tell_more(found, _key(self._named(words)), head)
        return found

    def _tell_more(self, thing: int, key: tuple[str, ...], head: str) -> None:
        """Keeps what a further name tells of a thing: a lamp that is called the tall lamp is not
        the brass lamp.
        """
        names = self._by_head.get(_head(head), ())
        if key not in self._of and any(
            self._of[other] == thing and set(other) < set(key) for other in names
        ):
            self._of[key] = thing
            self._by_head[_head(head)] = (*names, key)

    def _is_alike(self, given: tuple[str, ...], known: tuple[str, ...], proper: bool) -> bool:
        """Whether two names of one head may mean the same thing: one has all words of the other,
        and they do not belong to different things: "my field", "the field of my cousin".
        """
        words, others = set(given), set(known)
        if words == others or (proper and len(given) == 1 and given == known[-1:]):
            return True  # "Piet" for Uncle Piet
        if proper:  # "Alpha Centauri" for the star Alpha Centauri
            return given == known[1:] and known[0] in self.naming
        if _belongs(given, known) or _belongs(known, given):
            return False
        if len(given) > 1 < len(known) and _is_code(given[-1]):
            # "Side table 1" is not Table 1
            return given[-2:] == known[-2:] and (words ^ others).issubset(self.describing)
        return words < others or (others < words and not words & _OTHERS)

    def _named(self, words: Sequence[str]) -> Sequence[str]:
        """The words of a name; the one name of somebody whom pronouns mean."""
        person = self.persons.get(words[0].lower()) if len(words) == 1 else None
        return words if person is None else [person]

    def _new(self, words: Sequence[str], head: str) -> int:
        words = self._named(words)
        key = _key(words)
        found = self._of[key] = len(self.spellings)
        self._by_head[_head(head)] = (*self._by_head.get(_head(head), ()), key)
        self.spellings.append(" ".join(words).replace(" 's", "'s").replace(" - ", "-"))
        return found


def _is_code(word: str) -> bool:
    """Whether a word of a name is a number or a letter: "bay 12"."""
    return len(word) == 1 or any(map(str.isdecimal, word))


def _opens(key: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether a name is the first words of another one, and not its owner."""
    rest = other[len(key) :]
    return other[: len(key)] == key and bool(rest) and rest[0] not in (_OWNER, "of")


_OWNER = "'s"
_OWNERS = frozenset(("my", "our", "your"))


def _belongs(given: tuple[str, ...], known: tuple[str, ...]) -> bool:
    """Whether a name has an owner that another name denies: "my field" is not "the field of my
    cousin", nor "my cousin's field".
    """
    owned = given[0] in _OWNERS or not set(given) <= set(known)  # "paper roll" is the roll of paper
    if "of" in known and "of" not in given and owned:
        return not set(given) <= set(known[: known.index("of")])
    return "'s" in known and given[0] in _OWNERS and "'s" not in given


def _head(text: str) -> str:
    return text.lower().split()[-1]


def _folded(key: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.lower() for word in key)


def _key(words: Iterable[str]) -> tuple[str, ...]:
    given = [word for text in words for word in text.split()]
    if len(given) == 1 and len(given[0]) == 1:
        return (given[0],)
    return tuple(word.lower() for word in given)
