"""Read numbered places: "row 3", "second from the left", "(2, 5)"."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from symbouq.ontology.measures import Offset, Shift
from symbouq.ontology.tables import Ontology
from symbouq.reading.syntax.amounts import Amounts

Places = tuple[tuple[str, int], ...]
"""Scales, each with the number of a place on this scale."""

_DIGITS = re.compile(r"[-\u2212]?\d{1,6}")
_WORD = re.compile(r"\w+|[^\w\s]")
_COUNTED = re.compile(r"(\d{1,4})(?:st|nd|rd|th)")
_COMPARED = 50
"""Maximum number of things that one thing is compared with, so that the time for long lists is
linear.
"""
_EXTREME = 10_000
"""The number used for the far end of a scale: "the last one"."""
_NUMBER, _OTHER, _ANY = "#", "_", "*"
_LETTER, _NUMBERED = re.compile("[a-z]"), re.compile(r"\d{1,3}")
_SQUARE = re.compile(r"([a-z])(\d{1,2})")
_SQUARED = ("a#", "#a")
"""The ontology's marks for the scales of a board: the first for its letters, the second for its
numbers.
"""


class Positions:
    """The words for places on the scales of an ontology.

    Args:
        ontology: The tables of the profile.
        tokenized: Function that splits a text as the parser's tokenizer does.

    Attributes:
        numerals: Maps a word to its number.
        single: Maps a single word for a place, "leftmost", to its places.
    """

    def __init__(self, ontology: Ontology, tokenized: Callable[[str], Iterable[str]]) -> None:
        self.numerals = ontology.lexicon.numeral
        self._ordinals = ontology.lexicon.ordinal
        patterns: dict[tuple[str, ...], list[tuple[str, int | None]]] = defaultdict(list)
        for scale, number, text in ontology.wording.scaled:
            if text in _SQUARED:
                continue
            patterns[tuple(tokenized(text))].append((scale, number))
        regions = ontology.wording.region
        named = {words for words, of in patterns.items() if all(s in regions for s, _ in of)}
        self.single: dict[str, Places] = {
            words[0]: tuple((scale, number) for scale, number in of if number is not None)
            for words, of in patterns.items()
            if len(words) == 1 and words not in named
        }
        self._squares = {
            text: scale for scale, number, text in ontology.wording.scaled if text in _SQUARED
        }
        self._patterns: dict[str, list[tuple[tuple[str, ...], list[tuple[str, int | None]]]]] = {}
        for words, of in patterns.items():
            if len(words) > 1 or words in named:
                self._patterns.setdefault(words[0], []).append((words, of))

    def square(self, text: str) -> Places:
        """Return the file (as a letter) and the rank of a square such as "e4"; empty for other
        words.
        """
        square = _SQUARE.fullmatch(text)
        if square is None or len(self._squares) < len(_SQUARED):
            return ()
        file, rank = ord(square[1]) - ord("a") + 1, int(square[2])
        return (self._squares[_SQUARED[0]], file), (self._squares[_SQUARED[1]], rank)

    def found(self, words: Sequence[str], at: int) -> tuple[int, Places]:
        """Find the longest expression for a place that starts at `at`. Return its end and the
        place, or `at` and no place if there is none.
        """
        counted = _NUMBER if self._ordinal(words[at]) is not None else ""
        end = at
        best: dict[str, int] = {}
        for pattern, of in self._patterns.get(counted or words[at], ()):
            taken = words[at : at + len(pattern)]
            number = self._matched(pattern, taken)
            if number is None or at + len(pattern) < end:
                continue
            best = best if at + len(pattern) == end else {}
            end = at + len(pattern)
            best |= {scale: number if told is None else told for scale, told in of}
        return end, tuple(best.items())

    def _matched(self, pattern: Sequence[str], words: Sequence[str]) -> int | None:
        """Match words against a pattern. Return the number in the words, 0 if the pattern has no
        number, or None if the words do not match.
        """
        if len(words) < len(pattern):
            return None
        counted = 0
        for n, (wanted, word) in enumerate(zip(pattern, words, strict=True)):
            if wanted in (_NUMBER, _OTHER):
                number = self._ordinal(word) if n == 0 else self._cardinal(word)
                if number is None:
                    return None
                counted = number if wanted == _NUMBER else counted
            elif not (wanted == word or (wanted == _ANY and word.isalpha())):
                return None
        return counted

    def _ordinal(self, word: str) -> int | None:
        found = _COUNTED.fullmatch(word) if word[:1].isdecimal() else None
        return int(found[1]) if found else self._ordinals.get(word)

    def _cardinal(self, word: str) -> int | None:
        if _DIGITS.fullmatch(word):
            return int(word.replace("\u2212", "-"))
        return self.numerals.get(word)


def numbered(text: str) -> tuple[str, int] | None:
    """Split "bay 3" or "coach C" into noun and number. "3" alone has an empty noun."""
    noun, _, code = text.lower().rpartition(" ")
    if _LETTER.fullmatch(code):
        return noun, ord(code) - ord("a") + 1
    return (noun, int(code)) if _NUMBERED.fullmatch(code) else None


class Compared(NamedTuple):
    """A relation between two things that follows from their places.

    Attributes:
        relation: The relation.
        offset: The offset on each axis, if places are equally spaced.
        unit: The unit of the offset.
    """

    relation: str
    offset: Offset
    unit: str


class Turning(NamedTuple):
    """Words that state the direction of a scale.

    Attributes:
        start: Position of the first word.
        end: Position after the last word.
        scale: The scale.
        relation: The relation of a place with a greater number to a place with a smaller number.
    """

    start: int
    end: int
    scale: str
    relation: str


class Axes:
    """Reader of statements about the directions of axes: "x to the right", "rows are counted from
    the bottom", "y grows from top to bottom".

    Args:
        ontology: The tables of the profile.
        sides: Maps each single word for a direction to the direction.

    Attributes:
        amounts: Parser of amounts in the profile's units.
    """

    def __init__(self, ontology: Ontology, sides: Mapping[str, str]) -> None:
        self._axis = ontology.wording.axis_of
        self._scale = ontology.wording.scale
        self._counting = ontology.wording.lexeme.get("counting", frozenset())
        self._origin = ontology.wording.lexeme.get("origin", frozenset())
        self._sides = sides
        self.amounts = Amounts(ontology)
        self._converse = ontology.relations.converse

    def found(self, words: Sequence[str]) -> list[Turning]:
        """Find the statements about axes. "X to the right, Y up" is such a statement. "X is to the
        right" and "A is below X to the left" are not, because X is a thing there.
        """
        lower = [word.lower() for word in words]
        found: list[Turning] = []
        lettered: list[Turning] = []
        for n, word in enumerate(words):
            turning = self._turning(lower, n)
            if turning is None or (word.isupper() and lower[n + 1 : n + 2] == ["is"]):
                continue
            alone = word.isupper() and "axis" not in lower
            (lettered if alone else found).append(turning)
        if found or len({turning.scale for turning in lettered}) > 1:
            found = sorted([*found, *lettered])
        return found

    def _turning(self, words: Sequence[str], at: int) -> Turning | None:
        scale = self._axis.get(words[at])
        if scale is None:
            return None
        start, end = at, at + 1
        while start and words[start - 1] in ("with", "the", "counting"):
            start -= 1
        first = words[end : end + 1] == ["1"]
        end += first
        told: list[tuple[str, str]] = []  # directions, each with the word before it
        while end < len(words):
            word = words[end]
            if word in self._sides:
                told.append((words[end - 1] if words[end - 1] != "the" else words[end - 2], word))
            elif word not in self._counting:
                break
            end += 1
        while words[end - 1] not in self._sides and end > at + 1:
            end -= 1
        listing = len(told) > 1 and words[end : end + 1] == [":"]
        if not told or listing or words[end : end + 1] == ["of"]:
            return None  # "x is left of y", "the row goes from left to right: A, B"
        before, side = told[-1]
        relation = self._sides[side]
        said = f" {' '.join(words[at:end])} "
        from_there = before == "from" or any(f" {text} the " in said for text in self._origin)
        if before == "at" and not (first or from_there):
            return None  # "Y is at the bottom": a thing called Y
        if first or (from_there and len(told) == 1):
            if relation not in self._converse:
                return None  # a direction that the profile lacks
            relation = self._converse[relation]
        along = self.amounts.axis(self._scale[scale])
        across = self.amounts.axis(relation)
        if along is None or across is None or along[0] != across[0]:
            return None
        end += first and any(word in self._axis for word in words[end : end + 1])
        return Turning(start, end, scale, relation)


@dataclass(frozen=True)
class Placed:
    """The place of a thing on a scale.

    Attributes:
        scale: The scale.
        number: The number of the place on the scale.
        frame: Noun for the object that the place belongs to, such as "shelf" in "the top shelf";
            empty if not stated.
        itself: Whether the thing is the place itself: "row 3".
        row: Number of the sentence if the place is a side; otherwise 0.
    """

    scale: str
    number: int
    frame: str = ""
    itself: bool = False
    row: int = 0

    def fits(self, other: Placed) -> bool:
        """Whether two places may belong to the same frame."""
        framed = self.frame == other.frame or not (self.frame and other.frame)
        apart = self.row and other.row and self.row != other.row
        return framed and self.itself == other.itself and not apart


class Arrangement:
    """The relations between things with places on scales.

    Args:
        ontology: The tables of the profile.
        axes: Reader of the directions of scales.
        upright: Whether height is a separate axis.
    """

    def __init__(self, ontology: Ontology, axes: Axes, upright: bool = False) -> None:
        self._wording = ontology.wording
        self._relations = ontology.relations
        self._bounded = {
            relation: ontology.encoding.axes[key]
            for (role, relation), key in ontology.encoding.readings.items()
            if role == "asserted"
        }
        self._axes = axes
        self._amounts = axes.amounts
        self._extreme = {s for s, number, _ in ontology.wording.scaled if number == _EXTREME}
        self._scale = dict(ontology.wording.scale)
        self._upright = ontology.wording.upright_as if upright else {}
        for scale, relation in ontology.wording.scale.items():
            self._turn(scale, relation)
        crossing = ontology.wording.crosses
        self._axis = {w: s for w, s in ontology.wording.axis_of.items() if s in crossing}
        self._coordinates = {s for s, unit in ontology.wording.metric.items() if unit == _ANY}
        self._last: dict[str, int] = {}
        self._lettered: set[str] = set()
        self._named: set[str] = set()
        self._level: set[str] = set()
        self._of: dict[int, dict[str, Placed]] = defaultdict(dict)

    def hear(self, text: str) -> None:
        """Record the scales in a sentence, their directions, and the scales on which things are
        level.
        """
        words, lower = _WORD.findall(text), text.lower()
        self._named |= {self._axis[w] for w in map(str.lower, words) if w in self._axis}
        for turning in self._axes.found(words):
            self._turn(turning.scale, turning.relation)
        self._level = {scale for said, scale in self._wording.level.items() if said in lower}

    def _turn(self, scale: str, relation: str, tall: bool = False) -> None:
        """Set the direction of a scale. On a vertical scale, north becomes up."""
        tall = tall or scale in self._wording.tall
        self._scale[scale] = self._upright.get(relation, relation) if tall else relation

    def number(self, scale: str, relation: str, last: int, tall: bool) -> None:
        """Treat numbered things such as "hole 2" as places on a scale, unless the text has two rows
        of such things.

        Args:
            scale: The scale, which may be new.
            relation: The relation of a thing with a greater number to one with a smaller number;
                empty if unknown.
            last: The last number; 0 if unknown.
            tall: Whether the relation may be about height.
        """
        if scale in self._wording.scale:
            self._turn(scale, relation or self._scale[scale], tall)
        else:
            self._turn(scale, "" if scale in self._scale else relation, tall)
            self._last[scale] = last or _EXTREME

    def numbered(self, text: str) -> tuple[str, int] | None:
        """Return the scale and number of a thing that is numbered on a known scale."""
        scale, number = numbered(text) or ("", 0)
        if not self._scale.get(scale) or number > self._last.get(scale, 0):
            return None
        if text[-1].isalpha():
            self._lettered.add(scale)
        return scale, number

    def is_place(self, noun: str) -> bool:
        """Whether a noun stands for numbered places with a known direction."""
        return bool(self._scale.get(self._wording.axis_of.get(noun, noun)))

    def further(
        self, thing: int, noun: str, relation: str, steps: int
    ) -> tuple[str, str, int] | None:
        """Return the place that is `steps` away from a thing's place in the given direction, as its
        label ("hole 3"), scale and number. Return None if the place is unknown.

        Args:
            thing: The thing.
            noun: Noun for the place.
            relation: The direction.
            steps: Number of steps.
        """
        scale = self._wording.axis_of.get(noun, noun)
        known, onward = self._of.get(thing, {}).get(scale), self._scale.get(scale, "")
        back = self._relations.converse.get(onward, "")
        exactly = self._wording.exactly_as
        signs = {back: -1, exactly.get(back): -1, onward: 1, exactly.get(onward): 1}
        if known is None or not onward or relation not in signs:
            return None
        number = known.number + signs[relation] * steps
        if not 1 <= number <= self._last.get(scale, _EXTREME):
            return None
        code = chr(ord("A") + number - 1) if scale in self._lettered else str(number)
        return f"{noun} {code}", scale, number

    def put(self, thing: int, place: Placed) -> None:
        """Record the place of a thing. A pair of numbers is ignored if the text has rows and
        columns, since the order of the pair is then unknown.
        """
        unordered = self._named and self._named.isdisjoint(self._coordinates)
        if not (unordered and place.scale in self._coordinates):
            self._of[thing][place.scale] = place

    def hand_over(self, thing: int, other: int) -> None:
        """Move one thing's places to another."""
        if thing in self._of:
            self._of[other] = self._of.pop(thing)

    def share(self, thing: int, other: int) -> None:
        """Copy one thing's places to another thing that has no places."""
        if thing in self._of and other not in self._of:
            self._of[other] = dict(self._of[thing])

    def swap(self, thing: int, other: int) -> None:
        """Swap the places of two things."""
        self._of[thing], self._of[other] = self._of[other], self._of[thing]

    def others(self, thing: int) -> list[int]:
        """Return the other things with places, at most `_COMPARED`. The things placed last are
        preferred.
        """
        return [other for other in self._of if other != thing][-_COMPARED:]

    def judged(self, thing: int, places: Collection[Placed]) -> tuple[int, Compared] | None:
        """Find another thing with places on the same scales, and the relation of `thing`, at the
        given places, to this other thing. Return None if there is no such thing, or if places are
        not equally spaced.
        """
        given = {place.scale: place for place in places}
        if not self._wording.unit or not given.keys() <= self._wording.metric.keys():
            return None
        for other, known in self._of.items():
            alike = all(s in known and place.fits(known[s]) for s, place in given.items())
            compared = self._compared(given, known) if alike and other != thing else None
            if compared is not None:
                return other, compared
        return None

    def relation(self, thing: int, other: int) -> Compared | None:
        """The relation between two things that follows from their places; None if there is none."""
        return self._compared(self._of[thing], self._of[other], self._level)

    def _compared(
        self,
        places: Mapping[str, Placed],
        others: Mapping[str, Placed],
        level: Collection[str] = (),
    ) -> Compared | None:
        sides = dict.fromkeys(level, 0)
        for scale, place in places.items():
            # The profile may lack the direction, for example depth.
            known = self._scale.get(scale) in self._relations.converse
            if known and scale in others and place.fits(others[scale]):
                sides[scale] = place.number - others[scale].number
        found: set[str] = set()
        for scale, difference in sides.items():
            relation = self._scale[scale]
            across = self._wording.crosses.get(scale)
            # For a direction with bounds on both axes, one known axis is not enough.
            strict = len(self._bounded.get(relation, ())) > 1
            if difference and not (strict and across is not None and across not in sides):
                found.add(relation if difference > 0 else self._relations.converse[relation])
        joined: str | None = None
        if sides and not any(sides.values()) and not level:
            joined = self._equal(sides)
        elif len(found) == 2:
            first, second = sorted(found)
            joined = self._relations.join.get((first, second))
        elif found:
            (joined,) = found
        return None if joined is None else Compared(joined, *self._offset(sides, level))

    def _equal(self, sides: Iterable[str]) -> str | None:
        """The relation between things in the same place on the given scales. It is the relation for
        equality on exactly the axes of these scales.
        """
        if not set(sides) <= self._wording.crosses.keys():
            return None  # second places in different rows are not level
        axes = {axis[0] for scale in sides if (axis := self._amounts.axis(self._scale[scale]))}
        for relation, signs in self._relations.component.items():
            if signs.keys() == axes and not any(signs.values()):
                return relation
        return None

    def _offset(self, sides: Mapping[str, int], level: Collection[str]) -> tuple[Offset, str]:
        """The offset between two things that follows from their places. It is empty if places are
        not equally spaced, or if units do not fit together.
        """
        found: list[Shift] = []
        units: dict[str, None] = {}
        if not self._wording.unit:
            return (), ""
        for scale, difference in sides.items():
            unit = self._wording.metric.get(scale)
            far = scale in self._extreme and abs(difference) > _EXTREME // 2
            if unit is None or scale in level or far:
                continue
            axis = self._amounts.axis(self._scale[scale])
            if axis is None:
                continue
            found.append(Shift(axis[0], Fraction(axis[1] * difference)))
            units["" if unit == _ANY else unit] = None
        alike = len({self._amounts.factor(unit, next(iter(units))) for unit in units}) == 1
        return (tuple(found), next(iter(units))) if alike else ((), "")
