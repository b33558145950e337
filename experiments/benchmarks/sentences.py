"""Shapes of English sentences, each with its formula, or with several where it has more than one
sound reading. `sentences.toml` lists them, and `meanings.py` fills them in.
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
"""The axes of a direction, and whether it is the far side of them."""
_EXCLUDES = {"near": "far", "far": "near", "touching": ""}
"""Facts, and which fact each excludes."""


@dataclass(frozen=True)
class Relation:
    """A thing's place as seen from another."""

    name: str
    subject: str
    object: str

    @property
    def pair(self) -> tuple[str, str]:
        """Subject and object."""
        return self.subject, self.object

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that it bounds."""
        return tuple(axis for axis, _ in _SIDES.get(self.name, ()))

    @property
    def formula(self) -> Formula:
        """Its meaning."""
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
        """The other way, for the same pair; of what has none, itself."""
        flipped = tuple((axis, not beyond) for axis, beyond in _SIDES.get(self.name, ()))
        name = next((name for name, side in _SIDES.items() if side == flipped), self.name)
        return Relation(name, self.subject, self.object)

    @property
    def converse(self) -> Relation:
        """The same, told of the other thing; "inside" has none here."""
        if self.name == "inside":
            return self
        return Relation(self.opposite.name, self.object, self.subject)

    def by(self, most: bool, amount: int, strict: bool = False) -> Formula:
        """That the two are at most, or at least, so far apart in this direction."""
        ((axis, beyond),) = _SIDES[self.name]
        return Apart(axis, *self._ordered(beyond), most, amount, strict)


def directions(axes: list[str], diagonal: bool = False) -> list[str]:
    """The names of the directions on some axes, of one axis each or of two."""
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
"""A claim's verdict by stance: where its formula has to hold, cannot hold, or both are possible."""


@dataclass(frozen=True)
class Reading:
    """One sound reading of a sentence.

    Attributes:
        stance: `asserted`; `nothing`; `approached`, which is wrong where it cannot be; or what
            is said of the open layouts: `possible`, `impossible`, `necessary`, `unnecessary`,
            `undetermined`.
        formula: What it is about.
    """

    stance: str
    formula: Formula = TRUE

    @property
    def premise(self) -> Formula:
        """What a scene with the sentence gains by it."""
        if self.stance in ("asserted", "necessary"):
            return self.formula
        return Not(self.formula) if self.stance == "impossible" else TRUE

    def verdict(self, can_hold: bool, can_fail: bool) -> str:
        """What a claim is in a scene under which its formula can hold, can fail."""
        return _STANCES[self.stance][2 if can_hold and can_fail else not can_hold]


@dataclass(frozen=True)
class Slots:
    """The relations of a sentence, and its words.

    Attributes:
        relations: By letter, as `sentences.toml` has them.
        group: The first relation, for each thing of the group.
        everything: The same, for each thing of the scene.
        amount: A number, in the smallest unit.
        unit: How much a unit is in the smallest.
        text: The words of each slot.
    """

    relations: dict[str, Relation]
    group: tuple[Relation, ...]
    everything: tuple[Relation, ...]
    amount: int
    unit: int
    text: dict[str, str]

    def __getitem__(self, letter: str) -> Formula:
        """A relation's formula, by its letter; of "-f", its denial."""
        formula = self.relations[letter.removeprefix("-")].formula
        return Not(formula) if letter.startswith("-") else formula


Means = Callable[[Slots], Reading]


def meaning(text: str) -> Means:
    """The reading that a line of `sentences.toml` names."""
    name, *given = text.split()
    return partial(_reading, name, given)


def _reading(name: str, given: Sequence[str], s: Slots) -> Reading:
    if name in _STANCES:
        return Reading(name, And(tuple(s[letter] for letter in given)))
    return Reading("asserted", _formula(name, given, s))


def _formula(name: str, given: Sequence[str], s: Slots) -> Formula:
    f = s.relations["f"]
    match name:
        case "one":  # of these at least
            return Or(tuple(s[letter] for letter in given))
        case "some":  # of these so many
            least, most, *letters = given
            return count([s[letter] for letter in letters], int(least), int(most))
        case "implied":  # as logic has it
            return either(Not(s[given[0]]), s[given[1]])
        case "same":  # both or neither
            first, second = (s[letter] for letter in given)
            return either(both(first, second), both(Not(first), Not(second)))
        case "group":  # so many of its things
            return count([r.formula for r in s.group], *map(int, given))
        case "alone":  # the first, and no other of its group
            return And((f.formula, *(Not(r.formula) for r in s.group if r != f)))
        case "nobody":  # of the scene, but these
            spared = [s.relations[letter] for letter in given]
            others = (Not(r.formula) for r in s.everything if r not in spared)
            return And((*(r.formula for r in spared), *others))
        case "everybody":  # of the scene, but not these
            spared = [s.relations[letter] for letter in given]
            others = (r.formula for r in s.everything if r not in spared)
            return And((*others, *(Not(r.formula) for r in spared)))
        case "apart":  # by the amount and so many units more
            return And((f.formula, *(_bound(f, bound, s) for bound in given)))
        case "not_apart":
            return Not(_formula("apart", given, s))
        case "straight":  # the amount, and nothing on the other axes
            level = (Apart(axis, *f.pair, most, 0) for axis in "xyz" for most in (True, False))
            exactly = _formula("apart", (">=0", "<=0"), s)
            return And((exactly, *(each for each in level if each.axis not in f.axes)))
        case "about":  # the amount, give or take so many hundredths
            more = s.amount * int(given[0]) // 100
            return both(f.formula, f.by(True, s.amount + more), f.by(False, s.amount - more))
        case "minus":  # the amount the other way
            o = f.opposite
            return both(o.formula, o.by(True, s.amount), o.by(False, s.amount))
        case "level":  # on the axis
            return both(f.by(True, 0), f.by(False, 0))
        case "fact":  # these, and a fact of the first pair that decides nothing else
            told = Fact(given[0], frozenset(f.pair))
            return And((*(s[letter] for letter in given[1:]), told))
        case "unlike":  # "not near", to many, is far
            other = _EXCLUDES[f.name]
            return Relation(other, *f.pair).formula if other else Not(f.formula)
        case "far":
            return Relation("far", *f.pair).formula
        case "not_near":
            return Not(Relation("near", *f.pair).formula)
        case "ranked":  # one subject further in the first direction than another, and these
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
    """A shape of sentence.

    Attributes:
        name: Its topic, and what is particular.
        text: With slots.
        claim: Its readings as a claim.
        scene: Its readings in a scene.
        steps: The readings of its sentences as claims that follow each other.
        needs: What the first relation has to be, as `sentences.toml` says, or the shape of the
            names.
    """

    name: str
    text: str
    claim: tuple[Means, ...] = ()
    scene: tuple[Means, ...] = ()
    steps: tuple[tuple[Means, ...], ...] = ()
    needs: frozenset[str] = frozenset()

    @property
    def hosts(self) -> tuple[str, ...]:
        """Where it may stand."""
        return tuple(host for host in ("claim", "scene", "steps") if getattr(self, host))


def _template(name: str, row: dict[str, Any]) -> Template:
    def means(host: str) -> tuple[Means, ...]:
        return tuple(map(meaning, row.get(host, row.get("means", ()))))

    steps = tuple(tuple(map(meaning, step)) for step in row.get("steps", ()))
    needs = frozenset(row.get("needs", "").split())
    return Template(name, row["text"], means("claim"), means("scene"), steps, needs)


DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

SHAPES: dict[str, list[str]] = DATA["names"]
"""Names, by what they look like."""

_PLAIN = {"text": "{x} {is} {r} {y}.", "means": ["f"]}
TEMPLATES = (
    *(replace(_template(f"names, {shape}", _PLAIN), needs=frozenset({shape})) for shape in SHAPES),
    *(_template(name, row) for name, row in DATA["shapes"].items()),
)
