"""Parsed traces: the relations of scene and claims over numbered things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from symbouq.ontology.tables import Triple
from symbouq.reading.clauses import Clauses

SURE = 0.75
"""The least confidence of relations that are surely read."""

IN_PART = "in-part"
"""The reason of a claim that says more than what was read of it."""


Count = tuple[int, int]
"""How many of some relations hold, at least and at most."""


@dataclass(frozen=True)
class Stated:
    """A relation as scene or claim states it.

    Attributes:
        triple: Slots and relation name.
        record: The same in the shape of `symbouq.records.RelationRecord`.
    """

    triple: Triple
    record: dict[str, Any]


@dataclass(frozen=True)
class ParsedClaim:
    """A claim with its relations, how many of them hold if it is `counted`, and the words about
    places of which nothing was read.
    """

    type: str
    text: str
    relations: tuple[Stated, ...]
    stance: str = "asserted"
    reason: str = ""
    count: Count | None = None
    rest: tuple[str, ...] = ()

    @property
    def counted(self) -> dict[str, int]:
        """The count as fields of its record; none where there is none."""
        return {} if self.count is None else {"least": self.count[0], "most": self.count[1]}


@dataclass(frozen=True)
class Events:
    """The events of a trace, clause by clause.

    Attributes:
        scene: The clauses of each sentence of the scene, with its number; none where it could
            not be read.
        claims: The clauses of each claim; none where it states no relation.
    """

    scene: tuple[tuple[int, Clauses], ...]
    claims: tuple[Clauses, ...]


@dataclass(frozen=True)
class ParsedTrace:
    """A trace whose things are slots.

    Attributes:
        names: The things' names; the position is the slot.
        scene: Premise number and relation, for each relation of the scene.
        claims: The claims, the conclusion last.
        faults: What could not be read, a message each.
        events: The same as clauses about events, where the profile reads them.
        complete: Whether all that the scene says of places is read: where its reader cannot tell,
            whether something is stated by every sentence of it.
    """

    names: tuple[str, ...]
    scene: tuple[tuple[int, Stated], ...]
    claims: tuple[ParsedClaim, ...]
    faults: tuple[str, ...] = ()
    events: Events | None = None
    complete: bool = True


class Slots:
    """Numbers of things, given in order of appearance.

    Attributes:
        of: Name to number, from 0.
    """

    def __init__(self) -> None:
        self.of: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        return self.of.setdefault(name, len(self.of))
