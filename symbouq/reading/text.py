"""The content of texts: the types that are returned by readers and used by the audit."""

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
"""Minimum confidence for a relation to count as certain."""
IN_PART = "in-part"
"""Reason for a claim with incomplete statements: it was read only in part."""
ASSERTED = "asserted"
"""Stance of a plain assertion."""
ANYTHING = "anything"
"""Figure of a statement about every thing: "nothing is in the box"."""
NOWHERE = (0, 0)
"""Span of a relation that is given in a record and not in words."""
Count = tuple[int, int]
"""Minimum and maximum number of true relations."""


@dataclass(frozen=True)
class Statement:
    """A relation between two things, stated by a text or a record.

    Attributes:
        figure: The thing that is placed.
        relation: The canonical relation.
        ground: The thing relative to which the figure is placed.
        span: Character offsets of the words; `NOWHERE` if there are none.
        confidence: Confidence in (0, 1].
        grounded: Whether both things are mentioned in the scene or the question.
        offset: Figure minus ground on each axis.
        unit: The unit of the offset; empty if the text contains no offset.
        direction: The relation without amounts, if `relation` includes them
            (`symbouq.auditing.quantities`).
        sentence: Number of the sentence, if given in a record.
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
        """Convert the statement to the form of `symbouq.records.RelationRecord`.

        Args:
            sentence: Number of the scene sentence or claim that states it.
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
    """Convert the offset in a relation's record."""
    return tuple(
        Shift(axis, Fraction(str(value)), sense)
        for axis, told in (record.get("offset") or {}).items()
        for sense, value in (told if isinstance(told, Mapping) else {EXACT: told}).items()
    )


def grouped(ontology: Ontology, group: Sequence[Statement]) -> Iterator[Statement]:
    """Yield the statements for "A is between B and C". They relate A to an extra thing that spans B
    and C. If there is only one ground, there are no statements.

    Args:
        ontology: The tables of the profile.
        group: Statements of the same relation between one figure and each of its grounds, in order.
    """
    if len(group) > 1:
        whole = " and ".join(statement.ground for statement in group)
        spans = ontology.lexicon.grouped[group[0].relation]
        for statement in group:
            yield replace(statement, figure=whole, relation=spans)
        yield replace(group[0], ground=whole)


def triples(statements: Iterable[Statement]) -> tuple[tuple[str, str, str], ...]:
    """Return the figure, relation and ground of each statement."""
    return tuple((s.figure, s.relation, s.ground) for s in statements)


@dataclass(frozen=True)
class Claim:
    """A claim in a response: its type, its text, and its statements.

    Its stance is `asserted`; `necessary`, `possible`, `impossible`, `unnecessary` or
    `undetermined`; `counted`, if it is about the number of its relations that hold; or a stance
    without assertion: `supposed` (after an "if" or "suppose"), `asked`, `quoted` (only somebody's
    words) or `retracted` (by later text). If a claim has no statements, its reason may be `unread`,
    `uncertain` or `not-in-profile`. Its rest holds words about places that were not read. If there
    are such words, its reason is `in-part`. If the profile reads events, the claim has clauses.
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
        """The count as fields of a claim's record; empty if there is none."""
        return {} if self.count is None else {"least": self.count[0], "most": self.count[1]}


@dataclass(frozen=True)
class Question:
    """A question about a scene, after reading.

    Attributes:
        text: The question, or a statement to be judged.
        pair: The pair that it asks about, as figure and ground, if it mentions two things.
        states: Relations between named things that it states or asks about: "Is A left of B?".
        stance: The stance of these relations, that is, whether the question asks if they hold, can
            hold or must hold.
    """

    text: str
    pair: tuple[str, str] | None = None
    states: tuple[tuple[str, str, str], ...] = ()
    stance: str = ASSERTED


def _unasked() -> Question:
    return Question("")


@dataclass(frozen=True)
class ParsedTrace:
    """A trace, after reading.

    Attributes:
        scene: The statements of the scene, each with the number of its sentence.
        claims: The claims, with the conclusion last.
        faults: Messages about parts that were not read because of an internal error or because of
            their length.
        events: The clauses of each scene sentence, with the sentence number. The clauses of an
            unread sentence are empty. None if the profile does not read events.
        complete: Whether everything about places in the scene was read. If the reader cannot
            determine this, whether every sentence has a statement.
        lost: Messages about scene sentences or a question that were not read.
        question: Function that reads the question when first called. It raises `PipelineError` if
            only the question is text and no pipeline is installed, and `InternalError` after an
            internal error.
    """

    scene: tuple[tuple[int, Statement], ...]
    claims: tuple[Claim, ...]
    faults: tuple[str, ...] = ()
    events: tuple[tuple[int, Clauses], ...] | None = None
    complete: bool = True
    lost: tuple[str, ...] = ()
    question: Callable[[], Question] = field(default=_unasked, compare=False)

    def of_sentence(self, number: int) -> tuple[Statement, ...]:
        """Return the statements of a scene sentence."""
        return tuple(statement for n, statement in self.scene if n == number)

    @cached_property
    def slots(self) -> dict[str, int]:
        """Maps the name of each thing to a number, counted from 0 in order of appearance."""
        claimed = (statement for claim in self.claims for statement in claim.relations)
        return slots_of((*(statement for _, statement in self.scene), *claimed))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the things, by number."""
        return tuple(self.slots)

    def triple(self, statement: Statement) -> Triple:
        """Return a statement with numbers in place of the things' names."""
        return self.slots[statement.figure], statement.relation, self.slots[statement.ground]

    @property
    def numbered(self) -> list[tuple[int, Triple]]:
        """The scene's statements with numbers in place of the things' names."""
        return [(number, self.triple(statement)) for number, statement in self.scene]


def slots_of(statements: Iterable[Statement]) -> dict[str, int]:
    """Number the things in statements from 0, in order of appearance."""
    slots: dict[str, int] = {}
    for statement in statements:
        slots.setdefault(statement.figure, len(slots))
        slots.setdefault(statement.ground, len(slots))
    return slots
