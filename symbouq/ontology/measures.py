"""Directions with amounts, "3 m to the left of", as further relations of an ontology.

Which of them there are is up to a trace, so that its audit extends the ontology by those. What is
measured is small: two things in one direction by exact amounts are of one size, and no larger than
the unit that all amounts of the trace are multiples of. A bound, "more than 3 m to the left of",
holds of every end of a thing.
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
"""The most steps that all amounts of a layout, of 32 bits, may come to."""

EXACT = "="
_CONVERSES = {EXACT: EXACT, "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Shift(NamedTuple):
    """How much further a thing is on an axis than another one.

    Attributes:
        axis: The axis.
        value: Subject minus object.
        sense: How that compares with the value: `=`, `<`, `<=`, `>` or `>=`.
    """

    axis: str
    value: Fraction
    sense: str = EXACT

    def turned(self) -> Shift:
        """The same said of the two things the other way round."""
        return Shift(self.axis, -self.value, _CONVERSES[self.sense])


Offset = tuple[Shift, ...]
"""By how much a relation holds."""


@dataclass(frozen=True)
class Measure:
    """A direction with amounts.

    Attributes:
        relation: The direction.
        offset: By how much it holds, in smallest parts of the kind of unit.
        amount: The same as a text says it: "3 m".
    """

    relation: str
    offset: Offset
    amount: str

    @property
    def name(self) -> str:
        """What it is called in the extended ontology."""
        shift = ", ".join(f"{axis} {sense} {value}" for axis, value, sense in self.offset)
        return f"{self.relation} ({shift})"

    def mirrored(self, relation: str) -> Measure:
        """The same said of the two things the other way round."""
        return Measure(relation, tuple(shift.turned() for shift in self.offset), self.amount)


def common_unit(measures: Iterable[Measure]) -> Fraction:
    """The largest unit that all amounts are multiples of; 1 where there is none but 0."""
    values = [abs(value) for measure in measures for _, value, _ in measure.offset if value]
    if not values:
        return Fraction(1)
    below = math.lcm(*(value.denominator for value in values))
    return Fraction(math.gcd(*(int(value * below) for value in values)), below)


@lru_cache(maxsize=128)
def with_measures(
    ontology: Ontology, measures: frozenset[Measure], unit: Fraction, steps: int
) -> Ontology:
    """An ontology that has directions with amounts, and their converses, as well.

    Args:
        ontology: The tables of a profile.
        measures: The directions with amounts; together no more than `LARGEST` steps.
        unit: The unit that their amounts are multiples of.
        steps: Steps of the layout in that unit: more than there are things, and strict bounds, in a
            row within it.
    """
    of = ontology.relations
    every = dict.fromkeys(sorted(measures, key=lambda measure: measure.name))
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
    """Facts for `rules/layout.lp`: every end of the subject is as far from that of the object, or
    further, or less far; where the amount is exact, neither is longer than the unit.
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
