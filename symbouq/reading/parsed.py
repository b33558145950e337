"""Parsed traces: the relations of scene and claims over numbered things."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from symbouq.ontology.tables import Triple
from symbouq.reading.clauses import Clauses

SURE = 0.75
"""The least confidence of relations that are surely read."""

IN_PART = "in-part"
"""The reason of a claim that says more than what was read of it."""


ASSERTED = "asserted"
"""The stance of what is simply said."""

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
class Question:
    """A question about a scene, read.

    Attributes:
        text: The question, or a statement to be judged.
        pair: The pair that it asks about, subject and object, if it names two things.
        states: What it states or asks to be confirmed, "Is A left of B?", as relations of names.
        stance: The stance of that: whether it asks if something holds, can hold or has to.
    """

    text: str
    pair: tuple[str, str] | None = None
    states: tuple[tuple[str, str, str], ...] = ()
    stance: str = ASSERTED


def _unasked() -> Question:
    return Question("")


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
        lost: The messages on sentences of the scene, or on the question, that could not be read.
        question: Reads the question when it is called first. Raises `PipelineError` where no
            pipeline is installed and only the question is text, and `InternalError`.
    """

    names: tuple[str, ...]
    scene: tuple[tuple[int, Stated], ...]
    claims: tuple[ParsedClaim, ...]
    faults: tuple[str, ...] = ()
    events: Events | None = None
    complete: bool = True
    lost: tuple[str, ...] = ()
    question: Callable[[], Question] = field(default=_unasked, compare=False)


class Slots:
    """Numbers of things, given in order of appearance.

    Args:
        names: Names that have one, in order.

    Attributes:
        of: Name to number, from 0.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.of: dict[str, int] = {name: number for number, name in enumerate(names)}

    def __getitem__(self, name: str) -> int:
        return self.of.setdefault(name, len(self.of))
