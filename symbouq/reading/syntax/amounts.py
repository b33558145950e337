"""Read amounts in a text: "3 m", "two cells", "2 m further"."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from symbouq.ontology.measures import EXACT, Offset, Shift
from symbouq.ontology.tables import Ontology

_FEW_DIGITS = 12
_VULGAR = "\u00bc-\u00be\u2150-\u215e"
"""Fraction signs: "\u00bd"."""
_FIGURES = re.compile(
    rf"(?=.*[\d{_VULGAR}])[-\u2212\u2013+\u00b1~\u2248]?"
    rf"[\d.,/\u00d7x\u2013\u2014\u00b2\u00b3{_VULGAR}-]+(?:e[-+]?\d+)?"
)
"""A number in digits, or several numbers joined together: "1,500", "3\u00bd", "1e3", "3\u20135"."""
_PLAIN = re.compile(r"(?:\d+|\d{1,3}(?:,\d{3})+)?(?:(?<=\d)\.|\.\d+)?(?:(?<=\d)e[-+]?\d)?")
_RATIO = re.compile(r"\d+/[1-9]\d*")
_MIXED = re.compile(rf"(\d*)([{_VULGAR}])")
_POWERS = {"\u00b2": 2, "\u00b3": 3}
_TIMES = ("x", "\u00d7", "*")
_SIGNS = {"-": -1, "\u2212": -1, "+": 1}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
"""Maps a word class to the factor by which it multiplies the number before it."""
_LARGEST_POWER = 9
_BEFORE = {"more_than": ">", "at_least": ">=", "fewer_than": "<", "at_most": "<="}
"""Maps a word class to the comparison that its words express for the number after them."""
_AFTER = {"or_more": ">=", "or_less": "<="}
"""Maps a word class to the comparison that its words express for the number before them."""
_RANGE = re.compile(r"(?<=\d)([-\u2013\u2014])(?=\d)")


class Amount(NamedTuple):
    """An amount, possibly in a direction.

    Attributes:
        relation: The direction; empty if there is no direction next to the amount.
        value: Number of units.
        unit: The unit.
        sense: How the amount compares with the value: `=`, `<`, `<=`, `>` or `>=`.
    """

    relation: str
    value: Fraction
    unit: str
    sense: str = EXACT


class Amounts:
    """Parser for amounts in a profile's units. If the profile has no units, no amounts are found.

    Args:
        ontology: The tables of the profile.

    Attributes:
        measures: Whether the profile has units.
        plane: The two axes of the plane (a page or a map) in which things turn and move.
    """

    def __init__(self, ontology: Ontology) -> None:
        self._units = ontology.wording.unit
        self.measures = bool(self._units)
        self._numerals = ontology.lexicon.numeral
        lexeme = ontology.wording.lexeme
        self._inexact = lexeme.get("inexact", frozenset())
        self._between = lexeme.get("between", frozenset())
        self._degrees = lexeme.get("degree", frozenset())
        self._upto = lexeme.get("up_to", frozenset())
        self._before, self._after = (
            {tuple(t.split()): sense for name, sense in of.items() for t in lexeme.get(name, ())}
            for of in (_BEFORE, _AFTER)
        )
        self._halves = lexeme.get("half", frozenset())
        self._minus = lexeme.get("minus", frozenset())
        self._noughts = lexeme.get("nought", frozenset())
        self._and = lexeme.get("and", frozenset())
        self._scales = {t: n for name, n in _SCALES.items() for t in lexeme.get(name, ())}
        self._number = lru_cache(1 << 14)(self._parsed)
        self._component = ontology.relations.component
        self._exact_as = frozenset(ontology.wording.exactly_as.values())
        sides = (self._component.get(side, {}) for side in ontology.wording.clockwise)
        self.plane = sorted({axis for signs in sides for axis, sign in signs.items() if sign})

    def of(self, words: Sequence[str], before: Sequence[str]) -> tuple[Amount, ...]:
        """Parse a measure, either exact ("3 m", "1 m 50 cm") or with bounds ("more than 3 m",
        "between 3 and 5 m"). The result is empty if the amount is inexact: "about 3 m".

        Args:
            words: Words of the measure, in lower case.
            before: The words before the measure.
        """
        between = bool(before) and before[-1] in self._between
        length = self.limited(words[-2:])
        exact = None if between else self._exact(words[:-length] if length else words)
        if exact is None:
            return self._range(words, self._and if between else self._upto)
        sense = self._after[tuple(words[-length:])] if length else self.sense(before)
        if sense is None or (sense == EXACT and before and before[-1] in self._inexact):
            return ()
        return (exact._replace(sense=sense),)

    def limited(self, words: Sequence[str]) -> int:
        """Return the number of words at the end of a measure that turn it into a bound: "3 m OR
        MORE".
        """
        return len(words) if tuple(words) in self._after else 0

    def sense(self, before: Sequence[str]) -> str | None:
        """Return the comparison expressed by the words before a number: "at least 3". Return None
        if the comparison is unclear: "just under 3".
        """
        for length in range(3, 0, -1):  # prefer the longest: "no more than"
            sense = self._before.get(tuple(before[-length:]))
            if sense is not None:
                rest = before[:-length]
                degrees = {" ".join(rest[-1:]), " ".join(rest[-2:])}
                return sense if self._degrees.isdisjoint(degrees) else None
        return EXACT

    def _range(self, words: Sequence[str], joins: Container[str]) -> tuple[Amount, ...]:
        """Parse a range, "3 to 5 m" or "3 m to 5 m"; empty if the words are not a range."""
        words = [part for word in words for part in _RANGE.split(word)]
        for n, word in enumerate(words):
            if word in joins:
                told = words[:n]
                low = self._exact(
                    told if told[-1:] and told[-1] in self._units else told + words[-1:]
                )
                high = self._exact(words[n + 1 :])
                if low is None or high is None:
                    continue
                factor = self.factor(low.unit, high.unit)
                rising = factor is not None and low.value * factor < high.value
                return (low._replace(sense=">="), high._replace(sense="<=")) if rising else ()
        return ()

    def _exact(self, words: Sequence[str]) -> Amount | None:
        """Parse an exact measure, "3 m", "half a metre" or "1 m 50 cm"; None if it is not exact."""
        total, unit = Fraction(0), ""
        counted: list[str] = []
        for word in words:
            if word not in self._units:
                counted.append(word)
                continue
            factor = self.factor(word, unit) if unit else Fraction(1)
            if unit and counted[:1] and counted[0] in self._and:
                counted.pop(0)
            value = self._value(counted)
            if value is None or factor is None or (unit and factor >= 1):
                return None
            total += value * factor
            unit, counted = unit or word, []
        return Amount("", total, unit) if unit and not counted else None

    def counts(self, word: str) -> bool:
        """Whether a lower-case word is a number or part of a number."""
        known = word in self._numerals or word in self._scales or word in self._noughts
        known = known or (word[:1] in _SIGNS and word[1:] in self._numerals)
        return known or _FIGURES.fullmatch(word) is not None

    def scales(self, word: str) -> bool:
        """Whether a word multiplies the number before it: "two HUNDRED"."""
        return word in self._scales

    def _value(self, words: Sequence[str]) -> Fraction | None:
        """The number expressed by the given words: "two hundred", "3 1/2", "minus 3"."""
        if len(words) > 1 and words[0] in self._minus:
            value = self._value(words[1:])
            return None if value is None else -value
        words = [word for word in words if word not in ("a", "an")]
        if not words:
            return Fraction(1)
        half = Fraction(1, 2)
        if words[-1] in self._halves and len(words) == 1:
            return half
        if words[-1] in self._halves:  # "three and a half"
            whole = self._value(words[:-2]) if words[:-2] and words[-2] in self._and else None
            return None if whole is None or whole.denominator > 1 else whole + half
        numbers = [self._number(word) for word in words]
        match numbers:
            case [Fraction() as whole, Fraction() as part] if (
                whole.denominator == 1 and 0 < part < 1 and whole >= 0
            ):
                return whole + part  # "3 1/2"
            case [Fraction() as base, None, Fraction() as power] if words[1] == "^":
                small = power.denominator == 1 and abs(power) <= _LARGEST_POWER and base
                return base ** int(power) if small and abs(base) <= _LARGEST_POWER + 1 else None
            case [Fraction() as times, None, Fraction(), None, Fraction()] if words[1] in _TIMES:
                factor = self._value(words[2:])
                return None if factor is None else times * factor  # "9 x 10^3"
        return self._in_words(words)

    def _in_words(self, words: Sequence[str]) -> Fraction | None:
        """The number expressed by several words: "two hundred and twenty", "1.5 million"."""
        total, room, above = Fraction(0), 0, Fraction(10**_FEW_DIGITS)
        part: Fraction | None = None
        for n, word in enumerate(words):
            number, scale = self._number(word), self._scales.get(word)
            if scale is not None:
                part = Fraction(1) if part is None else part
                if part <= 0 or scale >= above:
                    return None
                part, room = part * scale, scale
                if scale > 100:
                    total, part, above = total + part, None, Fraction(scale)
            elif number is not None:
                least = above if part is None else room
                if (part is not None or total) and not 0 < number < least:
                    return None
                part = number + (part or 0)
                tens = word in self._numerals and number > 10 and number % 10 == 0
                room = 10 if tens else 0
            elif n in (0, len(words) - 1) or (word != "-" and word not in self._and):
                return None
        return total + (part or 0)

    def _parsed(self, word: str) -> Fraction | None:
        if word in self._noughts:
            return Fraction(0)
        sign = _SIGNS.get(word[:1], 1)
        plain = word[1:] if word[:1] in _SIGNS else word
        if plain in self._numerals:
            return sign * Fraction(self._numerals[plain])
        if len(plain) > _FEW_DIGITS:
            return None
        if any(map(str.isdecimal, plain)) and plain.isascii() and _PLAIN.fullmatch(plain):
            return sign * Fraction(plain.replace(",", "").rstrip("."))
        if plain.isascii() and _RATIO.fullmatch(plain):
            return sign * Fraction(plain)
        if plain[-1:] in _POWERS and plain[:-1].isdecimal():
            return sign * Fraction(int(plain[:-1]) ** _POWERS[plain[-1]])
        mixed = _MIXED.fullmatch(plain)
        if mixed is None:
            return None
        part = Fraction(unicodedata.numeric(mixed[2])).limit_denominator(_FEW_DIGITS)
        return sign * (int(mixed[1] or 0) + part)

    def number(self, word: str) -> int | None:
        """Return the non-negative integer that a word stands for; None if it is not a number."""
        number = self._number(word)
        whole = number is not None and number.denominator == 1 and number >= 0
        return int(number) if number is not None and whole else None

    def axis(self, relation: str) -> tuple[str, int] | None:
        """Return axis and sign of a direction along a single axis; None for other directions."""
        signs = [(a, sign) for a, sign in self._component.get(relation, {}).items() if sign]
        return signs[0] if len(signs) == 1 else None

    def offset(self, relation: str, amounts: Iterable[Amount]) -> tuple[Offset, str]:
        """Return the offset of a relation with the given amounts, in the unit of the first amount.
        The offset is empty if the amounts do not fit together.

        Args:
            relation: A direction.
            amounts: Amounts in this direction or in its component directions.
        """
        found: list[Shift] = []
        first = ""
        for amount in amounts:
            way = self.axis(amount.relation)
            first = first or amount.unit
            factor = self.factor(amount.unit, first)
            if way is None or factor is None:
                return (), ""
            axis, sign = way
            shift = Shift(axis, amount.value * factor, amount.sense)
            shift = shift if sign > 0 else shift.turned()
            told = {EXACT, shift.sense} & {s.sense for s in found if s.axis == axis}
            if told or self._component.get(relation, {}).get(axis) != sign:
                return (), ""
            found.append(shift)
        if relation in self._exact_as and found:
            # "3 m due west" is on the same level.
            level = set(self.plane) - {shift.axis for shift in found}
            found += (Shift(axis, Fraction(0)) for axis in level)
        return tuple(sorted(found)), first

    def factor(self, unit: str, other: str) -> Fraction | None:
        """Return the factor that converts `unit` to `other`; None if they cannot be converted."""
        (kind, parts), (of, others) = (self._units.get(u, (u, 1)) for u in (unit, other))
        return Fraction(parts, others) if kind == of else None
