"""Amounts in a text: "3 m", "two cells", and by how much a thing is further than another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from symbouq.ontology.measures import Offset
from symbouq.ontology.tables import Ontology

_FEW_DIGITS = 12


class Amount(NamedTuple):
    """How much.

    Attributes:
        relation: The direction that it is said of; empty where none is beside it.
        value: How many units.
        unit: The unit.
    """

    relation: str
    value: Fraction
    unit: str


class Amounts:
    """What amounts say under the units of a profile; nothing, where it has none.

    Args:
        ontology: The tables of the profile.

    Attributes:
        plane: The axes of a page or a map, on which things turn and move.
    """

    def __init__(self, ontology: Ontology) -> None:
        self._units = ontology.wording.unit
        self._numerals = ontology.lexicon.numeral
        self._inexact = ontology.wording.lexeme.get("inexact", frozenset())
        self._halves = ontology.wording.lexeme.get("half", frozenset())
        self._component = ontology.relations.component
        self._exact = frozenset(ontology.wording.exactly_as.values())
        sides = (self._component.get(side, {}) for side in ontology.wording.clockwise)
        self.plane = sorted({axis for signs in sides for axis, sign in signs.items() if sign})

    def of(self, words: Sequence[str], before: str) -> Amount | None:
        """What a measure says exactly: "3 m", "half a metre"; None where it does not.

        Args:
            words: Its words, in lower case.
            before: The word before it.
        """
        *counted, unit = words
        if unit not in self._units or before in self._inexact:
            return None
        value: Fraction | None = None
        for word in counted:
            number = self._number(word)
            if number is None or (value is not None and word not in ("a", "an")):
                return None
            value = number if value is None else value
        return None if value is None else Amount("", value, unit)

    def _number(self, word: str) -> Fraction | None:
        if word in ("a", "an"):
            return Fraction(1)
        if word in self._halves:
            return Fraction(1, 2)
        if word in self._numerals:
            return Fraction(self._numerals[word])
        plain = word.replace(",", "")
        if len(plain) <= _FEW_DIGITS and plain.replace(".", "", 1).isdecimal():
            return Fraction(plain.rstrip("."))
        return None

    def number(self, word: str) -> int | None:
        """The whole number that a word is; None if it is none."""
        number = self._number(word) if word not in ("a", "an") else None
        return int(number) if number is not None and number.denominator == 1 else None

    def axis(self, relation: str) -> tuple[str, int] | None:
        """The only axis on which a direction goes one way, and which; None of others."""
        signs = [(a, sign) for a, sign in self._component.get(relation, {}).items() if sign]
        return signs[0] if len(signs) == 1 else None

    def offset(self, relation: str, amounts: Iterable[Amount]) -> tuple[Offset, str]:
        """What amounts say of a relation, in the unit of the first; nothing where they do not go
        together.

        Args:
            relation: A direction.
            amounts: Amounts, each of it or of a direction that it is made of.
        """
        found: dict[str, Fraction] = {}
        first = ""
        for amount in amounts:
            way = self.axis(amount.relation)
            first = first or amount.unit
            factor = self.factor(amount.unit, first)
            if way is None or factor is None or way[0] in found:
                return (), ""
            if self._component.get(relation, {}).get(way[0]) != way[1]:
                return (), ""
            found[way[0]] = way[1] * amount.value * factor
        if relation in self._exact and found:
            for axis in self.plane:  # "3 m due west" is level
                found.setdefault(axis, Fraction(0))
        return tuple(sorted(found.items())), first

    def factor(self, unit: str, other: str) -> Fraction | None:
        """How many of another unit one is; None where they do not convert."""
        (kind, parts), (of, others) = (self._units.get(u, (u, 1)) for u in (unit, other))
        return Fraction(parts, others) if kind == of else None
