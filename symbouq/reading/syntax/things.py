"""Things of a trace: coreference of noun phrases."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from symbouq.reading.stems import singular_of

_CODE = 2
"""Maximum length of a number or letter code after a noun: "bay 12"."""
_OTHERS = frozenset(("another", "other", "second", "third", "fourth", "last", "next", "different"))
"""Words that distinguish things of the same name."""


@dataclass
class Things:
    """Things that a trace has mentioned, by name.

    A name consists of the words of a noun phrase without its article, compared without case except
    for single letters. A noun phrase with some of the words of exactly one known name, including
    the last one, refers to that thing.

    Attributes:
        persons: Pronoun or possessive of the first or second person to the name of that person.
        describing: Adjectives, which are not part of a name: "the RED box 1" may be box 1.
        naming: Nouns that are optional before a proper name: "the STAR Vega".
        spellings: The name of each thing, as first written.
        known: Number of things in scene and question.
        whole: Default whole of "on the left" and "in the corner".
        view: Viewer of left and right, if stated.
        viewed: Whether the text has used left or right.
        frames: Frames of left and right in the scene: `compass`, `viewpoint`.
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
    _of: dict[tuple[str, ...], int] = field(default_factory=dict)
    _by_head: dict[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    _gathered: dict[tuple[str, ...], tuple[int, ...]] = field(default_factory=dict)
    _moved: set[int] = field(default_factory=set)
    _count: dict[int, int] = field(default_factory=dict)
    _rows: list[tuple[int, ...]] = field(default_factory=list)
    _ahead: dict[int, int] = field(default_factory=dict)
    _siblings: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)

    def copy(self) -> Things:
        """Independent copy."""
        return Things(
            self.persons,
            self.describing,
            self.naming,
            list(self.spellings),
            self.known,
            self.whole,
            self.view,
            self.viewed,
            set(self.frames),
            dict(self._of),
            dict(self._by_head),
            dict(self._gathered),
            set(self._moved),
            dict(self._count),
            list(self._rows),
            dict(self._ahead),
            dict(self._siblings),
        )

    def __len__(self) -> int:
        return len(self.spellings)

    def find(self, words: Sequence[str], head: str, proper: bool = False) -> int | None:
        """Thing that a noun phrase refers to; None if it is new or ambiguous.

        Args:
            words: Words that name it.
            head: Head of the noun phrase.
            proper: Whether it is a proper name, all of whose words count.
        """
        words = self._named(words)
        key = _key(words)
        if key in self._of:
            return self._of[key]
        if key[-1] == _OWNER:  # "Anna's", if she owns one thing
            owned = {thing for other, thing in self._of.items() if other[: len(key)] == key}
            return owned.pop() if len(owned) == 1 else None
        fits: dict[int, bool] = {}
        for other in self._by_head.get(_head(head), ()):
            like = self._is_alike(_folded(key), _folded(other), proper)
            fits[self._of[other]] = fits.get(self._of[other], True) and like
        alike = {thing for thing, like in fits.items() if like}  # by its full name
        if not alike and proper:  # "Save" for the Save button
            alike = {self._of[other] for other in self._of if _opens(key, other)}
        alike = alike or self._answered(key)
        return alike.pop() if len(alike) == 1 else None

    def _answered(self, key: tuple[str, ...]) -> set[int]:
        """Referent in an answer of "your tent", where the scene has "my tent", or of "you"."""
        if key[0].lower() not in self.persons:
            return set()
        return {
            thing
            for other, thing in self._of.items()
            if thing < self.known and other[1:] == key[1:] and other[0].lower() in self.persons
        }

    def numbers(self, thing: int, count: int) -> bool:
        """Whether a group may have a stated number of things. The first stated number counts."""
        return self._count.setdefault(thing, count) == count

    def eponym(self, words: Sequence[str], holders: Collection[str]) -> int | None:
        """Thing that a noun phrase names by its contents or goods, "the FLOWERS" for the flower
        stall, "the TILES" for the pallet of tiles; None if there is none or several.

        Args:
            words: Words of the noun phrase.
            holders: Nouns of things named that way.
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
        """Whether a noun heads a thing's name or precedes its label: "coach C"."""
        named = any(self._of[key] == thing for key in self._by_head.get(_head(noun), ()))
        opens = (key for key in self._of if len(key) == 2 and len(key[1]) <= _CODE)
        return named or any(self._of[key] == thing and key[0] == noun.lower() for key in opens)

    def titled(
        self, words: Sequence[str], nouns: Collection[str], classifying: Collection[str] = ()
    ) -> int | None:
        """Thing that a noun phrase names with its kind, "the Save button" for Save, "the clay
        layer" for the clay; None without such a name, or if the phrase has its own thing.

        Args:
            words: Words of the noun phrase.
            nouns: Kinds that may follow a proper name.
            classifying: Kinds that may follow any name.
        """
        *told, noun = " ".join(words).split()
        named = bool(told) and told[0][0].isupper() and noun.lower() in nouns
        bears = named or (bool(told) and noun.lower() in classifying)
        return self._of.get(_key(told)) if bears and _key(words) not in self._of else None

    def gather(self, words: Sequence[str], things: Sequence[int]) -> None:
        """Make a plural noun phrase refer to the things it lists."""
        self._gathered[_folded(_key(words))] = tuple(dict.fromkeys(things))

    def several(self, words: Sequence[str], head: str, count: int | None) -> tuple[int, ...]:
        """Things that a plural noun phrase refers to: those listed under its words, otherwise all
        whose names contain its words; empty if their number differs from the stated one.

        Args:
            words: Words that name them.
            head: Head of the noun phrase.
            count: Stated number, if any.
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
        # A thing that only a claim names is not among "the three cups" of the scene.
        known = tuple(thing for thing in alike if thing < (self.known or len(self.spellings)))
        for found in (known, alike):
            if len(found) > 1 and count in (None, len(found)):
                return found
        return ()

    def line_up(self, things: Iterable[int]) -> None:
        """Record things as all those in one row."""
        self._rows.append(tuple(dict.fromkeys(things)))

    def row_of(self, thing: int) -> tuple[int, ...]:
        """Things in the latest row of a thing; empty if it is in none."""
        return next((row for row in reversed(self._rows) if thing in row), ())

    def every(self, count: int) -> tuple[int, ...]:
        """All named things, if they have this number; otherwise empty."""
        first = self.known or len(self.spellings)
        named = dict.fromkeys(t for t in self._of.values() if t < first)
        return tuple(named) if len(named) == count else ()

    def alike(self, kinds: Collection[str]) -> list[tuple[int, ...]]:
        """Things of one kind: those whose names have the same noun, and those listed as such:
        "three columns: A, B and C".

        Args:
            kinds: Nouns of the kind.
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
        """Referent of "the blue one": the last thing whose name contains its words, otherwise a new
        one.

        Args:
            told: The distinguishing words.
            noun: The last noun of the text.
        """
        key = set(_folded(_key(told)))
        alike = [thing for other, thing in self._of.items() if key <= set(_folded(other)[:-1])]
        if alike:
            return alike[-1]
        return self._new([*told, noun], noun) if noun else None

    def surroundings(self) -> int:
        """The whole: the topic of a text that has named none."""
        if self.whole is None:
            self.whole = len(self.spellings)
            self.spellings.append("the surroundings")
        return self.whole

    def before(self, thing: int) -> int:
        """Thing for another one's place before it moved; no noun phrase refers to it."""
        name = f"{self.spellings[thing]} (earlier"
        taken = sum(spelling.startswith(name) for spelling in self.spellings)
        self.spellings.append(f"{name}, {taken + 1})" if taken else f"{name})")
        place = len(self.spellings) - 1
        self._moved.add(thing)
        return place

    def ahead(self, thing: int) -> int:
        """Thing for what another one faces; no noun phrase refers to it."""
        if thing not in self._ahead:
            self._ahead[thing] = len(self.spellings)
            self.spellings.append(f"{self.spellings[thing]} (ahead)")
        return self._ahead[thing]

    def is_ahead(self, thing: int) -> bool:
        """Whether a thing stands for what another one faces."""
        return thing in self._ahead.values()

    def like(self, words: Sequence[str]) -> list[int]:
        """Things whose names contain some words and end in the last, in order of introduction."""
        key = _folded(_key(words))
        alike = {
            thing
            for other, thing in self._of.items()
            if other[-1].lower() == key[-1] and set(key) <= set(_folded(other))
        }
        of_kind = {thing for thing, (_, kind) in self._siblings.items() if set(key) <= set(kind)}
        return sorted(t for t in alike | of_kind if not self.known or t < self.known)

    def introduce(self, words: Sequence[str], kind: Sequence[str]) -> int:
        """New thing of a known kind: "another box".

        Args:
            words: Words that name it, possibly used before.
            kind: Words that name its kind.
        """
        taken = len(self.introduced(words))
        thing = self._new(words, words[-1]) if not taken else len(self.spellings)
        if taken:
            self.spellings.append(f"{' '.join(words)} ({taken + 1})")
        self._siblings[thing] = _folded(_key(words)), _folded(_key(kind))
        return thing

    def introduced(self, words: Sequence[str]) -> tuple[int, ...]:
        """Things introduced in some words as further ones of their kind."""
        key = _folded(_key(words))
        return tuple(thing for thing, (named, _) in self._siblings.items() if named == key)

    def is_told_apart(self, kind: Sequence[str]) -> bool:
        """Whether the text has introduced a further thing of a kind."""
        return any(set(_folded(_key(kind))) == set(of) for _, of in self._siblings.values())

    def exchange(self, one: int, two: int) -> None:
        """Record that two things change places and have moved."""
        self._moved |= {one, two}

    def has_moved(self, thing: int) -> bool:
        """Whether a thing has moved from its first place."""
        return thing in self._moved

    def call(self, words: Sequence[str], thing: int) -> None:
        """Give a thing another name, unless the name is taken."""
        self._of.setdefault(_key(words), thing)

    def thing(self, words: Sequence[str], head: str, proper: bool = False) -> int:
        """Thing that a noun phrase refers to, possibly a new one."""
        found = self.find(words, head, proper)
        if found is None:
            return self._new(words, head)
        self._tell_more(found, _key(self._named(words)), head)
        return found

    def _tell_more(self, thing: int, key: tuple[str, ...], head: str) -> None:
        """Record the additional words of a further name: a lamp called the tall lamp is not the
        brass lamp.
        """
        names = self._by_head.get(_head(head), ())
        if key not in self._of and any(
            self._of[other] == thing and set(other) < set(key) for other in names
        ):
            self._of[key] = thing
            self._by_head[_head(head)] = (*names, key)

    def _is_alike(self, given: tuple[str, ...], known: tuple[str, ...], proper: bool) -> bool:
        """Whether two names with one head may refer to the same thing: one contains all words of
        the other, and their owners do not differ: "my field", "the field of my cousin".
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
        """Words of a name; pronouns for a person become that person's name."""
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
    """Whether a name consists of the first words of another one, and is not its owner."""
    rest = other[len(key) :]
    return other[: len(key)] == key and bool(rest) and rest[0] not in (_OWNER, "of")


_OWNER = "'s"
_OWNERS = frozenset(("my", "our", "your"))


def _belongs(given: tuple[str, ...], known: tuple[str, ...]) -> bool:
    """Whether a name has an owner that another name excludes: "my field" is not "the field of my
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
