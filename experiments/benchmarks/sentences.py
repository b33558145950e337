"""Shapes of English sentences with their formulas. A shape with several sound readings has several
formulas. The shapes are listed in `sentences.toml`, and `meanings.py` fills them in.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from layouts import TRUE, And, Apart, Before, Fact, Formula, Not, Or, Within, both, count, either

# Relations -----------------------------------------------------------------------------

_SIDES = {
    "left": (("x", False),),
    "right": (("x", True),),
    "below": (("y", False),),
    "above": (("y", True),),
    "behind": (("z", False),),
    "front": (("z", True),),
    "upper left": (("x", False), ("y", True)),
    "upper right": (("x", True), ("y", True)),
    "lower left": (("x", False), ("y", False)),
    "lower right": (("x", True), ("y", False)),
}
"""For each direction: its axes, and whether it points towards the far side of each axis."""
_EXCLUDES = {"near": "far", "far": "near", "touching": ""}
"""For each fact, the fact that it excludes."""


@dataclass(frozen=True)
class Relation:
    """The position of one thing relative to another."""

    name: str
    subject: str
    object: str

    @property
    def pair(self) -> tuple[str, str]:
        """Subject and object."""
        return self.subject, self.object

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes on which the relation constrains the two things."""
        return tuple(axis for axis, _ in _SIDES.get(self.name, ()))

    @property
    def formula(self) -> Formula:
        """The relation's meaning."""
        if self.name == "inside":
            return Within(self.subject, self.object)
        if self.name in _EXCLUDES:
            return Fact(self.name, frozenset((self.subject, self.object)), _EXCLUDES[self.name])
        parts = [Before(axis, *self._ordered(beyond)) for axis, beyond in _SIDES[self.name]]
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _ordered(self, beyond: bool) -> tuple[str, str]:
        return (self.object, self.subject) if beyond else (self.subject, self.object)

    @property
    def opposite(self) -> Relation:
        """The opposite relation of the same pair; the relation itself if there is no opposite."""
        flipped = tuple((axis, not beyond) for axis, beyond in _SIDES.get(self.name, ()))
        name = next((name for name, side in _SIDES.items() if side == flipped), self.name)
        return Relation(name, self.subject, self.object)

    @property
    def converse(self) -> Relation:
        """The same relation with subject and object exchanged; for "inside", the relation
        itself.
        """
        if self.name == "inside":
            return self
        return Relation(self.opposite.name, self.object, self.subject)

    def by(self, most: bool, amount: int, strict: bool = False) -> Formula:
        """Return the formula that the two things are at most, or at least, `amount` apart in this
        direction.
        """
        ((axis, beyond),) = _SIDES[self.name]
        return Apart(axis, *self._ordered(beyond), most, amount, strict)


def directions(axes: list[str], diagonal: bool = False) -> list[str]:
    """Names of the directions on the given axes: single ones or, if `diagonal`, pairs."""
    return [
        name
        for name, sides in _SIDES.items()
        if (len(sides) == 2) == diagonal and all(axis in axes for axis, _ in sides)
    ]


# Readings ------------------------------------------------------------------------------

_E, _C, _U = "entailed", "contradicted", "unknown"
_STANCES = {
    "asserted": (_E, _C, _U),
    "nothing": (_U, _U, _U),
    "approached": (_U, _C, _U),
    "possible": (_E, _C, _E),
    "impossible": (_C, _E, _C),
    "necessary": (_E, _C, _C),
    "unnecessary": (_C, _E, _E),
    "undetermined": (_C, _C, _E),
}
"""For each stance, the verdicts on a claim if its formula must hold, cannot hold, or may hold or
fail."""


@dataclass(frozen=True)
class Reading:
    """One sound reading of a sentence.

    Attributes:
        stance: `asserted`; `nothing`; `approached`, which is wrong if the formula cannot hold; or
            what the sentence states about the layouts left open by the scene: `possible`,
            `impossible`, `necessary`, `unnecessary`, `undetermined`.
        formula: Formula that the stance refers to.
    """

    stance: str
    formula: Formula = TRUE

    @property
    def premise(self) -> Formula:
        """The formula that the sentence adds to a scene."""
        if self.stance in ("asserted", "necessary"):
            return self.formula
        return Not(self.formula) if self.stance == "impossible" else TRUE

    def verdict(self, can_hold: bool, can_fail: bool) -> str:
        """Return the verdict on a claim, given whether its formula can hold and whether it can fail
        in the scene.
        """
        return _STANCES[self.stance][2 if can_hold and can_fail else not can_hold]


@dataclass(frozen=True)
class Slots:
    """The relations and words for a sentence.

    Attributes:
        relations: Relations by letter, as in `sentences.toml`.
        group: The first relation, stated for each thing in the group.
        everything: The first relation, stated for each thing in the scene.
        amount: An amount in the smallest unit.
        unit: Size of the unit used, in the smallest unit.
        text: The words of each slot.
    """

    relations: dict[str, Relation]
    group: tuple[Relation, ...]
    everything: tuple[Relation, ...]
    amount: int
    unit: int
    text: dict[str, str]

    def __getitem__(self, letter: str) -> Formula:
        """Return the formula of the relation with the given letter; with a leading "-", its
        negation.
        """
        formula = self.relations[letter.removeprefix("-")].formula
        return Not(formula) if letter.startswith("-") else formula


Means = Callable[[Slots], Reading]


def meaning(text: str) -> Means:
    """Return the reading described by a line in `sentences.toml`."""
    name, *given = text.split()
    return partial(_reading, name, given)


def _reading(name: str, given: Sequence[str], s: Slots) -> Reading:
    if name in _STANCES:
        return Reading(name, And(tuple(s[letter] for letter in given)))
    return Reading("asserted", _formula(name, given, s))


def _formula(name: str, given: Sequence[str], s: Slots) -> Formula:
    f = s.relations["f"]
    match name:
        case "one":  # at least one of these
            return Or(tuple(s[letter] for letter in given))
        case "some":  # a given number of these
            least, most, *letters = given
            return count([s[letter] for letter in letters], int(least), int(most))
        case "implied":  # material implication
            return either(Not(s[given[0]]), s[given[1]])
        case "same":  # both or neither
            first, second = (s[letter] for letter in given)
            return either(both(first, second), both(Not(first), Not(second)))
        case "group":  # a given number of the group's things
            return count([r.formula for r in s.group], *map(int, given))
        case "alone":  # the first, and nothing else in its group
            return And((f.formula, *(Not(r.formula) for r in s.group if r != f)))
        case "nobody":  # nothing in the scene except these
            spared = [s.relations[letter] for letter in given]
            others = (Not(r.formula) for r in s.everything if r not in spared)
            return And((*(r.formula for r in spared), *others))
        case "everybody":  # everything in the scene except these
            spared = [s.relations[letter] for letter in given]
            others = (r.formula for r in s.everything if r not in spared)
            return And((*others, *(Not(r.formula) for r in spared)))
        case "apart":  # by the amount plus some units
            return And((f.formula, *(_bound(f, bound, s) for bound in given)))
        case "not_apart":
            return Not(_formula("apart", given, s))
        case "straight":  # the amount, and no offset on other axes
            level = (Apart(axis, *f.pair, most, 0) for axis in "xyz" for most in (True, False))
            exactly = _formula("apart", (">=0", "<=0"), s)
            return And((exactly, *(each for each in level if each.axis not in f.axes)))
        case "about":  # the amount, plus or minus some percent
            more = s.amount * int(given[0]) // 100
            return both(f.formula, f.by(True, s.amount + more), f.by(False, s.amount - more))
        case "minus":  # the amount in the opposite direction
            o = f.opposite
            return both(o.formula, o.by(True, s.amount), o.by(False, s.amount))
        case "level":  # level on the axis
            return both(f.by(True, 0), f.by(False, 0))
        case "fact":  # these, and an independent fact about the first pair
            told = Fact(given[0], frozenset(f.pair))
            return And((*(s[letter] for letter in given[1:]), told))
        case "unlike":  # to many, "not near" means far
            other = _EXCLUDES[f.name]
            return Relation(other, *f.pair).formula if other else Not(f.formula)
        case "far":
            return Relation("far", *f.pair).formula
        case "not_near":
            return Not(Relation("near", *f.pair).formula)
        case "ranked":  # one subject is further in the first direction than another, and these
            first, second, *letters = given
            pair = s.relations[first].subject, s.relations[second].subject
            return And((Relation(f.name, *pair).formula, *(s[letter] for letter in letters)))
    return And(tuple(s[letter] for letter in (name, *given)))


def _bound(f: Relation, bound: str, s: Slots) -> Formula:
    amount = s.amount + int(bound.lstrip("<>=")) * s.unit
    return f.by("<" in bound, amount, strict="=" not in bound)


# Templates -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Template:
    """A shape of sentences.

    Attributes:
        name: Topic and special feature of the shape.
        text: The text with slots.
        claim: Its readings as a claim.
        scene: Its readings in a scene.
        steps: The readings of its sentences as successive claims.
        needs: Requirements for the first relation (explained in `sentences.toml`) or for the form
            of the names.
    """

    name: str
    text: str
    claim: tuple[Means, ...] = ()
    scene: tuple[Means, ...] = ()
    steps: tuple[tuple[Means, ...], ...] = ()
    needs: frozenset[str] = frozenset()

    @property
    def hosts(self) -> tuple[str, ...]:
        """Places where the sentence may occur."""
        return tuple(host for host in ("claim", "scene", "steps") if getattr(self, host))


def _template(name: str, row: dict[str, Any]) -> Template:
    def means(host: str) -> tuple[Means, ...]:
        return tuple(map(meaning, row.get(host, row.get("means", ()))))

    steps = tuple(tuple(map(meaning, step)) for step in row.get("steps", ()))
    needs = frozenset(row.get("needs", "").split())
    return Template(name, row["text"], means("claim"), means("scene"), steps, needs)


DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

SHAPES: dict[str, list[str]] = DATA["names"]
"""Names by their form."""

_PLAIN = {"text": "{x} {is} {r} {y}.", "means": ["f"]}
TEMPLATES = (
    *(replace(_template(f"names, {shape}", _PLAIN), needs=frozenset({shape})) for shape in SHAPES),
    *(_template(name, row) for name, row in DATA["shapes"].items()),
)
