"""Record the things in a trace, and find those that a noun phrase refers to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields

from symbouq.reading.stems import singular_of
from symbouq.reading.text import ANYTHING

_CODE = 2
"""Maximum length of a number or letter after a noun, as in "bay 12"."""
_OTHERS = frozenset(("another", "other", "second", "third", "fourth", "last", "next", "different"))
"""Words that distinguish things with the same name."""


@dataclass
class Things:
    """The things mentioned so far in a trace, identified by their names.

    A name consists of the words of a noun phrase without the article. Case is significant only in
    single letters. A noun phrase refers to a known thing if all its words, including the last one,
    are in the name of this thing and in no other thing's name.

    Attributes:
        persons: Maps each pronoun or possessive of the first or second person to that person's
            name.
        describing: Adjectives that are not part of a name: "the RED box 1" may be box 1.
        naming: Nouns that may precede a proper name: "the STAR Vega".
        spellings: The name of each thing as it was first written.
        known: The number of things in the scene and the question.
        whole: The whole that "on the left" and "in the corner" refer to by default.
        view: The viewer for left and right, if stated in the text.
        viewed: Whether the text has used left or right so far.
        frames: The reference frames for left and right in the scene: `compass`, `viewpoint`.
        people: Those that are persons, by what they do or by "he" and "she".
        placed: The relations that the scene states for each thing, each with its ground.
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
    people: set[int] = field(default_factory=set)
    placed: dict[int, set[tuple[str, int]]] = field(default_factory=dict)
    _possessed: dict[int, bool] = field(default_factory=dict)
    _of: dict[tuple[str, ...], int] = field(default_factory=dict)
    _by_head: dict[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    _gathered: dict[tuple[str, ...], tuple[int, ...]] = field(default_factory=dict)
    _moved: set[int] = field(default_factory=set)
    _count: dict[int, int] = field(default_factory=dict)
    _rows: list[tuple[int, ...]] = field(default_factory=list)
    _ahead: dict[int, int] = field(default_factory=dict)
    _siblings: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)

    def copy(self) -> Things:
        """Return an independent copy."""
        return Things(*(copy(getattr(self, each.name)) for each in fields(self)))

    def __len__(self) -> int:
        return len(self.spellings)

    def find(self, words: Sequence[str], head: str, proper: bool = False) -> int | None:
        """Return the thing that a noun phrase refers to; None if the thing is new or the phrase is
        ambiguous.

        Args:
            words: The words that name it.
            head: Head of the noun phrase.
            proper: Whether the phrase is a proper name, in which every word is significant.
        """
        words = self._named(words)
        key = _key(words)
        if key in self._of:
            return self._of[key]
        if key[-1] == _OWNER:  # "Anna's", if Anna owns exactly one thing
            owned = {thing for other, thing in self._of.items() if other[: len(key)] == key}
            return owned.pop() if len(owned) == 1 else None
        fits: dict[int, bool] = {}
        for other in self._by_head.get(_head(head), ()):
            like = self._is_alike(_folded(key), _folded(other), proper)
            fits[self._of[other]] = fits.get(self._of[other], True) and like
        alike = {thing for thing, like in fits.items() if like}  # by the full name
        if not alike and proper:  # "Save" for the Save button
            alike = {self._of[other] for other in self._of if _opens(key, other)}
        alike = alike or self._answered(key) or self._listed(key)
        return alike.pop() if len(alike) == 1 else None

    def _listed(self, key: tuple[str, ...]) -> set[int]:
        """The thing that a list gives without its noun: "the salt jar" of "jars: salt, rice"."""
        *told, noun = _folded(key)
        kinds = (of for kind, of in self._gathered.items() if singular_of(kind[-1]) == noun)
        return {thing for of in kinds for thing in of if thing == self._of.get(tuple(told))}

    def _answered(self, key: tuple[str, ...]) -> set[int]:
        """Resolve "your tent" in an answer if the scene contains "my tent"; likewise for "you"."""
        if key[0].lower() not in self.persons:
            return set()
        return {
            thing
            for other, thing in self._of.items()
            if thing < self.known and other[1:] == key[1:] and other[0].lower() in self.persons
        }

    def numbers(self, thing: int, count: int) -> bool:
        """Whether a group may have `count` things. The first number stated for the group is
        binding.
        """
        return self._count.setdefault(thing, count) == count

    def eponym(self, words: Sequence[str], holders: Collection[str]) -> int | None:
        """Find the thing that a noun phrase refers to by its contents or goods: "the FLOWERS" for
        the flower stall, "the TILES" for the pallet of tiles. Return None unless exactly one thing
        fits.

        Args:
            words: Words of the noun phrase.
            holders: Nouns for things that may be called by their contents.
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
        """Whether a noun is the head of a thing's name, or comes before its label: "coach C"."""
        named = any(self._of[key] == thing for key in self._by_head.get(_head(noun), ()))
        opens = (key for key in self._of if len(key) == 2 and len(key[1]) <= _CODE)
        return named or any(self._of[key] == thing and key[0] == noun.lower() for key in opens)

    def titled(
        self, words: Sequence[str], nouns: Collection[str], classifying: Collection[str] = ()
    ) -> int | None:
        """Find the thing that a noun phrase refers to by its name and its kind: "the Save button"
        for Save, "the clay layer" for the clay. Return None if no thing fits, or if the whole
        phrase is the name of a thing.

        Args:
            words: Words of the noun phrase.
            nouns: Nouns for kinds that may follow a proper name.
            classifying: Nouns for kinds that may follow any name.
        """
        *told, noun = " ".join(words).split()
        named = bool(told) and told[0][0].isupper() and noun.lower() in nouns
        bears = named or (bool(told) and noun.lower() in classifying)
        return self._of.get(_key(told)) if bears and _key(words) not in self._of else None

    def gather(self, words: Sequence[str], things: Sequence[int]) -> None:
        """Let a plural noun phrase refer to the given things from then on."""
        self._gathered[_folded(_key(words))] = tuple(dict.fromkeys(things))

    def several(self, words: Sequence[str], head: str, count: int | None) -> tuple[int, ...]:
        """Return the things that a plural noun phrase refers to: the things listed under its words,
        otherwise all things with names that contain its words. The result is empty if their number
        differs from `count`.

        Args:
            words: The words that name them.
            head: Head of the noun phrase.
            count: The stated number, if any.
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
        # "The three cups" of the scene exclude a cup that only a claim mentions.
        known = tuple(thing for thing in alike if thing < (self.known or len(self.spellings)))
        for found in (known, alike):
            if len(found) > 1 and count in (None, len(found)):
                return found
        return ()

    def line_up(self, things: Iterable[int]) -> None:
        """Record that the given things, and no others, form a row."""
        self._rows.append(tuple(dict.fromkeys(things)))

    def row_of(self, thing: int) -> tuple[int, ...]:
        """Return the latest row that contains a thing; empty if there is none."""
        return next((row for row in reversed(self._rows) if thing in row), ())

    def counted_from_one(self, things: Iterable[int]) -> bool:
        """Whether things are not numbered, or their numbers begin with 1."""
        numbers = [self.spellings[thing].split()[-1] for thing in things]
        return not all(map(str.isdecimal, numbers)) or "1" in numbers

    def every(self, count: int) -> tuple[int, ...]:
        """Return all named things if there are `count` of them; otherwise empty."""
        first = self.known or len(self.spellings)
        named = dict.fromkeys(t for t in self._of.values() if t < first)
        return tuple(named) if len(named) == count else ()

    def alike(self, kinds: Collection[str]) -> list[tuple[int, ...]]:
        """Group things by kind. A group consists of the things with the same noun in their names,
        and the things listed under this noun: "three columns: A, B and C".

        Args:
            kinds: Nouns for the kinds to return.
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
        """Resolve "the blue one" to the last thing with the distinguishing words in its name,
        otherwise to a new thing.

        Args:
            told: The distinguishing words.
            noun: The last noun in the text.
        """
        key = set(_folded(_key(told)))
        alike = [thing for other, thing in self._of.items() if key <= set(_folded(other)[:-1])]
        if alike:
            return alike[-1]
        return self._new([*told, noun], noun) if noun else None

    def surroundings(self) -> int:
        """Return the whole. If the text has not named one, return the unnamed surroundings."""
        if self.whole is None:
            self.whole = len(self.spellings)
            self.spellings.append("the surroundings")
        return self.whole

    def anything(self) -> int:
        """Return the thing of statements about every thing."""
        if ANYTHING not in self.spellings:
            self.spellings.append(ANYTHING)
        return self.spellings.index(ANYTHING)

    def before(self, thing: int) -> int:
        """Add a thing that stands for the former place of `thing`, which has moved. No noun phrase
        refers to the added thing.
        """
        name = f"{self.spellings[thing]} (earlier"
        taken = sum(spelling.startswith(name) for spelling in self.spellings)
        self.spellings.append(f"{name}, {taken + 1})" if taken else f"{name})")
        place = len(self.spellings) - 1
        self._moved.add(thing)
        return place

    def ahead(self, thing: int) -> int:
        """Return a thing that stands for whatever `thing` faces. No noun phrase refers to the
        returned thing.
        """
        if thing not in self._ahead:
            self._ahead[thing] = len(self.spellings)
            self.spellings.append(f"{self.spellings[thing]} (ahead)")
        return self._ahead[thing]

    def is_ahead(self, thing: int) -> bool:
        """Whether a thing was created by `ahead`."""
        return thing in self._ahead.values()

    def like(self, words: Sequence[str]) -> list[int]:
        """Return the things with names that contain the given words and end in the last given word,
        in order of introduction.
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
        """Add a new thing of a known kind: "another box".

        Args:
            words: The words that name the thing. Another thing may have the same name.
            kind: The words for its kind.
        """
        taken = len(self.introduced(words))
        thing = self._new(words, words[-1]) if not taken else len(self.spellings)
        if taken:
            self.spellings.append(f"{' '.join(words)} ({taken + 1})")
        self._siblings[thing] = _folded(_key(words)), _folded(_key(kind))
        return thing

    def introduced(self, words: Sequence[str]) -> tuple[int, ...]:
        """Return the things that were introduced by exactly these words as further things of their
        kind.
        """
        key = _folded(_key(words))
        return tuple(thing for thing, (named, _) in self._siblings.items() if named == key)

    def told_apart(self, words: Sequence[str]) -> list[list[str]]:
        """Return the kinds that a noun phrase may stand for and that have a further thing ("another
        box") in the text. A kind matches if its words are exactly those of the phrase. It also
        matches if it has some of these words, unless the phrase is the exact name of a thing.
        """
        key = _folded(_key(words))
        kinds = {kind for _, kind in self._siblings.values() if set(kind) <= set(key)}
        return [[*kind] for kind in kinds if set(kind) == set(key) or key not in self._of]

    def exchange(self, one: int, two: int) -> None:
        """Record that two things have swapped places."""
        self._moved |= {one, two}

    def has_moved(self, thing: int) -> bool:
        """Whether a thing has moved from its first place."""
        return thing in self._moved

    def call(self, words: Sequence[str], thing: int) -> None:
        """Give a thing an additional name, unless the name is already used."""
        self._of.setdefault(_key(words), thing)

    def thing(self, words: Sequence[str], head: str, proper: bool = False) -> int:
        """Return the thing that a noun phrase refers to. It may be a new thing."""
        found = self.find(words, head, proper)
        if found is None:
            return self._new(words, head)
        self._tell_more(found, _key(self._named(words)), head)
        return found

    def _tell_more(self, thing: int, key: tuple[str, ...], head: str) -> None:
        """Record a longer name for a thing. Once a lamp is called the tall lamp, it is not the
        brass lamp.
        """
        names = self._by_head.get(_head(head), ())
        if key not in self._of and any(
            self._of[other] == thing and set(other) < set(key) for other in names
        ):
            self._of[key] = thing
            self._by_head[_head(head)] = (*names, key)

    def _is_alike(self, given: tuple[str, ...], known: tuple[str, ...], proper: bool) -> bool:
        """Whether two names with the same head may refer to the same thing. One name must contain
        all words of the other, and they must not contain different owners: "my field", "the field
        of my cousin".
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

    def suits(self, thing: int, possessive: str) -> bool:
        """Whether a possessive agrees in person with the first one used for a thing, "our tent" and
        "my tent" but not "their tent". The first one is stored.
        """
        first = possessive in self.persons
        return self._possessed.setdefault(thing, first) is first

    def _named(self, words: Sequence[str]) -> Sequence[str]:
        """The words of a name. A pronoun for a person is replaced by the person's name."""
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
    """Whether a word in a name is a number or a letter: "bay 12"."""
    return len(word) == 1 or any(map(str.isdecimal, word))


def _opens(key: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether `other` begins with `key` and `key` is not an owner there, as in "Anna's tent"."""
    rest = other[len(key) :]
    return other[: len(key)] == key and bool(rest) and rest[0] not in (_OWNER, "of")


_OWNER = "'s"
_OWNERS = frozenset(("my", "our", "your"))


def _belongs(given: tuple[str, ...], known: tuple[str, ...]) -> bool:
    """Whether two names have different owners: "my field" is not "the field of my cousin", nor "my
    cousin's field".
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
