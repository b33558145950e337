"""Where what moves is turned to, and where it gets step by step."""

from __future__ import annotations

from fractions import Fraction

from symbouq.ontology.measures import Offset
from symbouq.ontology.tables import Ontology
from symbouq.reading.syntax.amounts import Amount, Amounts


class Motion:
    """The ways that things face, as a text turns them.

    Args:
        ontology: The tables of the profile.
        amounts: What amounts say in it.
    """

    def __init__(self, ontology: Ontology, amounts: Amounts) -> None:
        self._amounts = amounts
        self._clockwise = ontology.wording.clockwise
        self._quarters = ontology.wording.quarters
        self._converse = ontology.relations.converse
        self._component = ontology.relations.component
        self._plane = self._amounts.plane
        self._facing: dict[int, str | None] = {}

    def turn(self, thing: int, kind: str, relation: str) -> None:
        """Turns a thing.

        Args:
            thing: The thing.
            kind: `face` (to a side), `face_other` (nobody knows where to), `turn` or `about`.
            relation: The side.
        """
        facing = self._facing.get(thing)
        if kind == "face":
            self._facing[thing] = relation if relation in self._clockwise else None
        elif kind == "face_other" or facing is None:
            self._facing[thing] = None
        elif kind == "about":
            self._facing[thing] = self._converse.get(facing)
        else:
            self._facing[thing] = self._seen(facing, relation)

    def faces(self, thing: int) -> bool:
        """Whether a text says of a thing that it faces somewhere, known or not."""
        return thing in self._facing

    def way(self, thing: int, kind: str, relation: str = "") -> str | None:
        """The direction in which a thing goes; None where it is not known.

        Args:
            thing: The thing.
            kind: `onward`, `back`, `aside` or `sideways`, to a side of its own.
            relation: The side.
        """
        facing = self._facing.get(thing)
        if kind == "aside":
            return relation
        if facing is None:
            return None
        if kind == "sideways":
            return self._seen(facing, relation)
        return facing if kind == "onward" else self._converse.get(facing)

    def seen(self, thing: int, relation: str) -> str | None:
        """What is said of a side that a thing has of its own, by the sides of the text; the same,
        where nothing says how the thing is turned, and None where that is not known.
        """
        if relation not in self._quarters or not self.faces(thing):
            return relation
        facing = self._facing[thing]
        return None if facing is None else self._seen(facing, relation)

    def _seen(self, facing: str, side: str) -> str | None:
        """The direction of a side of what faces somewhere."""
        if facing not in self._clockwise or side not in self._quarters:
            return None
        for _ in range(self._quarters[side]):
            facing = self._clockwise[facing]
        return facing

    def offset(self, relation: str, amounts: tuple[Amount, ...]) -> tuple[Offset, str]:
        """How far a step in a direction goes, on all axes of the plane; nothing where it is not
        told.
        """
        found, unit = self._amounts.offset(relation, amounts)
        axes = dict(found)
        if not axes or not axes.keys() <= set(self._plane):
            return (), ""
        signs = self._component.get(relation, {})
        if any(signs.get(axis) and axis not in axes for axis in self._plane):
            return (), ""
        return tuple((axis, axes.get(axis, Fraction(0))) for axis in self._plane), unit
