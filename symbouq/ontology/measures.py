"""Directions with amounts, such as "3 m to the left of", as additional relations in an ontology.

The audit of a trace extends the ontology by the trace's directions with amounts. Things are assumed
to be small: two things related by exact amounts have the same size. This size is at most the
largest unit that divides all amounts in the trace. A bound, as in "more than 3 m to the left of",
applies to every end of a thing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from symbouq.ontology.source import ROLES
from symbouq.ontology.tables import Ontology

LARGEST = 2**30
"""Maximum total number of steps for all amounts in a 32-bit layout."""

EXACT = "="
_CONVERSES = {EXACT: EXACT, "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Shift(NamedTuple):
    """Offset between two things along an axis.

    Attributes:
        axis: The axis.
        value: Coordinate of the subject minus coordinate of the object.
        sense: How the offset compares with the value: `=`, `<`, `<=`, `>` or `>=`.
    """

    axis: str
    value: Fraction
    sense: str = EXACT

    def turned(self) -> Shift:
        """Return the same offset with subject and object swapped."""
        return Shift(self.axis, -self.value, _CONVERSES[self.sense])


Offset = tuple[Shift, ...]
"""Offsets of a relation."""


@dataclass(frozen=True)
class Measure:
    """A direction with amounts.

    Attributes:
        relation: The direction.
        offset: The offsets, in the smallest parts of their kind of unit.
        amount: The amount as text: "3 m".
    """

    relation: str
    offset: Offset
    amount: str

    @property
    def name(self) -> str:
        """Name of the direction in the extended ontology."""
        shift = ", ".join(f"{axis} {sense} {value}" for axis, value, sense in self.offset)
        return f"{self.relation} ({shift})"

    def mirrored(self, relation: str) -> Measure:
        """Return the same measure with subject and object swapped."""
        return Measure(relation, tuple(shift.turned() for shift in self.offset), self.amount)


def common_unit(measures: Iterable[Measure]) -> Fraction:
    """Return the largest unit that divides all amounts; 1 if all amounts are 0."""
    values = [abs(value) for measure in measures for _, value, _ in measure.offset if value]
    if not values:
        return Fraction(1)
    below = math.lcm(*(value.denominator for value in values))
    return Fraction(math.gcd(*(int(value * below) for value in values)), below)


@lru_cache(maxsize=128)
def with_measures(
    ontology: Ontology, measures: frozenset[Measure], unit: Fraction, steps: int
) -> Ontology:
    """Extend an ontology by directions with amounts and their converses.

    Args:
        ontology: The tables of a profile.
        measures: The directions with amounts, which together take at most `LARGEST` steps.
        unit: A unit that divides all amounts.
        steps: Layout steps per unit. Must exceed the number of things and strict bounds that may
            have to fit into one unit.
    """
    of = ontology.relations
    every = dict.fromkeys(sorted(measures, key=lambda measure: (measure.name, measure.amount)))
    mirror: dict[str, str] = {}
    for measure in list(every):
        if measure.relation in of.mirror:
            other = measure.mirrored(of.mirror[measure.relation])
            every[other] = None
            mirror[measure.name], mirror[other.name] = other.name, measure.name
    family, displacement, wording = {}, {}, {}
    readings: dict[tuple[str, str], int] = {}
    patterns, axes = list(ontology.encoding.patterns), list(ontology.encoding.axes)
    for measure in every:
        base, name = measure.relation, measure.name
        family[name] = of.family[base]
        if base in of.displacement:
            displacement[name] = of.displacement[base]
        said = ontology.lexicon.wording.get(base, (base.replace("_", " "),))
        wording[name] = tuple(f"{measure.amount} {text}" for text in said)
        facts = _facts(ontology, measure, unit, steps)
        for role in ROLES:
            key = ontology.encoding.readings[role, base]
            readings[role, name] = len(patterns)
            patterns.append(ontology.encoding.patterns[key] + facts)
            axes.append(ontology.encoding.axes[key] | {shift.axis for shift in measure.offset})
    return replace(
        ontology,
        relations=replace(
            of,
            family={**of.family, **family},
            converse={**of.converse, **mirror},
            mirror={**of.mirror, **mirror},
            displacement={**of.displacement, **displacement},
        ),
        lexicon=replace(ontology.lexicon, wording={**ontology.lexicon.wording, **wording}),
        encoding=replace(
            ontology.encoding,
            readings={**ontology.encoding.readings, **readings},
            patterns=tuple(patterns),
            axes=tuple(axes),
        ),
    )


def _facts(ontology: Ontology, measure: Measure, unit: Fraction, steps: int) -> str:
    """Return facts for `rules/layout.lp`: offsets between every end of the subject and every end of
    the object. If the amount is exact, neither thing is longer than the unit.
    """
    numbers = {place: n for n, place in enumerate(ontology.encoding.coordinates, start=1)}
    facts = ""
    for axis, value, sense in measure.offset:
        length = int(value / unit) * steps
        least, most = length + (sense == ">"), length - (sense == "<")
        for end in ("point", "low", "high"):
            if (axis, end) in numbers:
                n = numbers[axis, end]
                facts += f"at_least({{key}},{n},{n},{least})." if "<" not in sense else ""
                facts += f"at_most({{key}},{n},{n},{most})." if ">" not in sense else ""
        if (axis, "high") in numbers and sense == EXACT:
            high, low = numbers[axis, "high"], numbers[axis, "low"]
            facts += f"at_most({{key}},{high},{low},{length + steps})."
    return facts
