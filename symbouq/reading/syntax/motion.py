"""Track the directions that things face."""

from __future__ import annotations

from collections.abc import Iterator

from symbouq.ontology.tables import Ontology


class Motion:
    """The headings of things, updated while a text is read.

    Args:
        ontology: The tables of the profile.

    Attributes:
        viewer: The thing that moved last. Sides without a ground are relative to its viewpoint.
    """

    def __init__(self, ontology: Ontology) -> None:
        self._clockwise = ontology.wording.clockwise
        self._quarters = ontology.wording.quarters
        self._converse = ontology.relations.converse
        self._plain = {exact: plain for plain, exact in ontology.wording.exactly_as.items()}
        self._exact = ontology.wording.exactly_as
        self._within = ontology.wording.within_as
        self._inner = {of[0]: side for side, of in self._within.items() if len(of) == 1}
        self._facing: dict[int, str | None] = {}
        self._faced: dict[int, set[str | None]] = {}
        self.viewer: int | None = None

    def turn(self, thing: int, kind: str, relation: str) -> None:
        """Turn a thing.

        Args:
            thing: The thing.
            kind: `face` (to a side), `course` (the same, for a moving thing), `face_away` or
                `course_away` (from a side), `face_other` (in an unknown direction), `turn` (by the
                side) or `about`.
            relation: The side.
        """
        facing = self._facing.get(thing)
        self._faced.setdefault(thing, set()).add(facing)
        if kind in ("course", "course_away"):
            self.viewer = thing
        if kind in ("face", "course", "face_away", "course_away"):
            self._facing[thing] = self.heading(kind, relation)
        elif kind == "face_other" or facing is None:
            self._facing[thing] = None
        elif kind == "about":
            self._facing[thing] = self._converse.get(facing)
        else:
            self._facing[thing] = self._seen(facing, relation)

    def heading(self, kind: str, relation: str) -> str | None:
        """Return the heading after a step of one of the kinds in `turn`; None if unknown."""
        relation = self._plain.get(relation, relation)
        towards = self._converse.get(relation) if kind.endswith("_away") else relation
        return towards if towards in self._clockwise else None

    def headings(self) -> Iterator[tuple[int, str]]:
        """Yield each thing whose final heading is known, with the exact direction."""
        for thing, facing in self._facing.items():
            if facing is not None:
                yield thing, self.exact(facing)

    def exact(self, direction: str) -> str:
        """Return the exact form of a direction."""
        return self._exact.get(direction, direction)

    def faced(self, thing: int, direction: str) -> bool:
        """Whether a thing had the given heading before it turned away."""
        return direction in self._faced.get(thing, ()) and direction != self._facing[thing]

    def faces(self, thing: int) -> bool:
        """Whether a thing has a heading in the text, even if its direction is unknown."""
        return thing in self._facing

    def by_clock(self, thing: int, relation: str) -> str | None:
        """Return the direction of an hour. 12 is ahead, so "at 3 o'clock" is to the right."""
        facing = self._facing.get(thing)
        ahead = next(
            (way for way, r in self._clockwise.items() if self._quarters.get(r) == 1), None
        )
        seen: str | None = self._plain.get(relation, relation)
        for _ in self._clockwise:
            if facing is None or ahead == facing:
                break
            ahead, seen = self._clockwise.get(ahead or ""), self._clockwise.get(seen or "")
        return seen if ahead == facing else None

    def is_deep(self, relation: str) -> bool:
        """Whether a relation is about front or back."""
        side = self._inner.get(relation, relation)
        return side in self._quarters and side not in self._clockwise

    def seen(self, thing: int, relation: str) -> str | None:
        """Translate a side from a thing's own viewpoint to the text's viewpoint. If the thing has
        no heading, return the side unchanged. If the heading is unknown, return None.
        """
        side = self._inner.get(relation, relation)
        if side not in self._quarters or not self.faces(thing):
            return relation
        facing = self._facing[thing]
        seen = None if facing is None else self._seen(facing, side)
        return seen if side == relation else next(iter(self._within.get(seen or "", ())), None)

    def _seen(self, facing: str, side: str) -> str | None:
        """The direction of a side of a thing, given the direction that the thing faces."""
        if facing not in self._clockwise or side not in self._quarters:
            return None
        for _ in range(self._quarters[side]):
            facing = self._clockwise[facing]
        return facing
