"""What a text states: the types that readers hand on, and the audit takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from symbouq.ontology.measures import EXACT, Offset, Shift
from symbouq.ontology.tables import Ontology, Triple
from symbouq.reading.clauses import Clauses

SURE = 0.75
"""The least confidence of relations that are surely read."""
IN_PART = "in-part"
"""The reason of a claim that says more than what was read of it."""
ASSERTED = "asserted"
"""The stance of what is simply said."""
NOWHERE = (0, 0)
"""The span of what is given as a record, and read from no words."""
Count = tuple[int, int]
"""How many of some relations hold, at least and at most."""


@dataclass(frozen=True)
class Statement:
    """A relation of two things, as a text or a record states it.

    Attributes:
        figure: The thing that is placed.
        relation: The canonical relation.
        ground: The thing by which it is placed.
        span: Character offsets of the words that it was read from; `NOWHERE` if it was not.
        confidence: In (0, 1].
        grounded: Whether scene or question name both things.
        offset: By how much further the figure is than the ground, axis by axis.
        unit: The unit of the offset; empty where the text has none.
        direction: The relation without its amounts, where `relation` is one that has them
            (`symbouq.auditing.quantities`).
        sentence: The number of its sentence, where a record gives it.
    """

    figure: str
    relation: str
    ground: str
    span: tuple[int, int] = NOWHERE
    confidence: float = 1.0
    grounded: bool = True
    offset: Offset = ()
    unit: str = ""
    direction: str = ""
    sentence: int | None = None

    def record(self, sentence: int | None) -> dict[str, Any]:
        """The same in the shape of `symbouq.records.RelationRecord`.

        Args:
            sentence: The number of the sentence of the scene, or of the claim, that states it.
        """
        return {
            "subject": self.figure,
            "relation": self.direction or self.relation,
            "object": self.ground,
            **self._amounts(),
            "sentence": self.sentence or sentence,
            "span": None if self.span == NOWHERE else list(self.span),
            "confidence": self.confidence,
            "grounded": self.grounded,
        }

    def _amounts(self) -> dict[str, Any]:
        """The amounts as fields of a record; none where there are none."""
        if not self.offset:
            return {}
        offset: dict[str, Any] = {}
        for axis, value, sense in self.offset:
            number = int(value) if value.denominator == 1 else float(value)
            if sense == EXACT:
                offset[axis] = number
            else:
                offset.setdefault(axis, {})[sense] = number
        return {"offset": offset, **({"unit": self.unit} if self.unit else {})}


def offset_of(record: Mapping[str, Any]) -> Offset:
    """The offset of a relation that is given as the fields of its record."""
    return tuple(
        Shift(axis, Fraction(str(value)), sense)
        for axis, told in (record.get("offset") or {}).items()
        for sense, value in (told if isinstance(told, Mapping) else {EXACT: told}).items()
    )


def grouped(ontology: Ontology, group: Sequence[Statement]) -> Iterator[Statement]:
    """What "A is between B and C" says: A is related to a thing of its own that spans B and C.
    Of one ground alone a relation of two can say nothing.

    Args:
        ontology: The tables of the profile.
        group: One relation of one figure to each of its grounds, in order.
    """
    if len(group) > 1:
        whole = " and ".join(statement.ground for statement in group)
        spans = ontology.lexicon.grouped[group[0].relation]
        for statement in group:
            yield replace(statement, figure=whole, relation=spans)
        yield replace(group[0], ground=whole)


def triples(statements: Iterable[Statement]) -> tuple[tuple[str, str, str], ...]:
    """Statements without what else is known of them: figure, relation and ground of each."""
    return tuple((s.figure, s.relation, s.ground) for s in statements)


@dataclass(frozen=True)
class Claim:
    """A claim of a response: its type, its text and what it states.

    Its stance is `asserted`; `necessary`, `possible`, `impossible`, `unnecessary` or
    `undetermined`; `counted`, where it says how many of its relations hold; `supposed` (under an
    "if" or "suppose"), `asked`, `quoted` (nothing but somebody's words) or `retracted` (taken back
    by what follows), which state nothing. Where nothing is stated, its reason may say why:
    `unread`, `uncertain`, `not-in-profile`. Its rest are its words about places of which nothing
    was read; with a rest its reason is `in-part`. Where the profile reads events, it has clauses.
    """

    type: str
    text: str
    relations: tuple[Statement, ...]
    stance: str = ASSERTED
    reason: str = ""
    count: Count | None = None
    rest: tuple[str, ...] = ()
    events: Clauses = ()

    @property
    def counted(self) -> dict[str, int]:
        """The count as fields of its record; none where there is none."""
        return {} if self.count is None else {"least": self.count[0], "most": self.count[1]}


@dataclass(frozen=True)
class Question:
    """A question about a scene, read.

    Attributes:
        text: The question, or a statement to be judged.
        pair: The pair that it asks about, figure and ground, if it names two things.
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
    """A trace, read.

    Attributes:
        scene: What the scene states, each with the number of its sentence.
        claims: The claims, the conclusion last.
        faults: What could not be read, by an internal error or for its length, a message each.
        events: The clauses of each sentence of the scene with its number, none where it could not
            be read; None where the profile reads no events.
        complete: Whether all that the scene says of places is read: where its reader cannot tell,
            whether something is stated by every sentence of it.
        lost: The messages on sentences of the scene, or on the question, that could not be read.
        question: Reads the question when it is called first. Raises `PipelineError` where no
            pipeline is installed and only the question is text, and `InternalError`.
    """

    scene: tuple[tuple[int, Statement], ...]
    claims: tuple[Claim, ...]
    faults: tuple[str, ...] = ()
    events: tuple[tuple[int, Clauses], ...] | None = None
    complete: bool = True
    lost: tuple[str, ...] = ()
    question: Callable[[], Question] = field(default=_unasked, compare=False)

    def of_sentence(self, number: int) -> tuple[Statement, ...]:
        """What a sentence of the scene states."""
        return tuple(statement for n, statement in self.scene if n == number)

    @cached_property
    def slots(self) -> dict[str, int]:
        """The things by their names, numbered from 0 in order of appearance."""
        claimed = (statement for claim in self.claims for statement in claim.relations)
        return slots_of((*(statement for _, statement in self.scene), *claimed))

    @property
    def names(self) -> tuple[str, ...]:
        """The things' names; the position is the slot."""
        return tuple(self.slots)

    def triple(self, statement: Statement) -> Triple:
        """A statement of the trace over numbered things."""
        return self.slots[statement.figure], statement.relation, self.slots[statement.ground]

    @property
    def numbered(self) -> list[tuple[int, Triple]]:
        """The scene over numbered things."""
        return [(number, self.triple(statement)) for number, statement in self.scene]


def slots_of(statements: Iterable[Statement]) -> dict[str, int]:
    """The things of some statements by their names, numbered from 0 in order of appearance."""
    slots: dict[str, int] = {}
    for statement in statements:
        slots.setdefault(statement.figure, len(slots))
        slots.setdefault(statement.ground, len(slots))
    return slots
