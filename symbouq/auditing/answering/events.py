"""Judgements of statements about events: what holds in every world of the premises."""

from __future__ import annotations

from collections.abc import Sequence

from symbouq.auditing.answering.answer import TRUTH, Answer, Labels
from symbouq.auditing.events import audit_events, can_be
from symbouq.reading.clauses import Clauses
from symbouq.reading.events.reader import EventReader
from symbouq.reading.parser import TraceParser
from symbouq.reading.structured import structured_events
from symbouq.records import Instance


def answer_events(parser: TraceParser, instance: Instance, labels: Labels) -> Answer:
    """The judgement of a statement about events, or whether a scene of them can be.

    Args:
        parser: The parser of a profile that reads events.
        instance: Scene and statement.
        labels: The labels of the answer space.
    """
    reader = parser.reader
    assert isinstance(reader, EventReader)
    structured = structured_events(parser.ontology, instance)
    scene = parser.sentences(instance)
    premises = premises_in(reader, scene) if structured is None else structured.scene
    if not premises or not all(clauses for _, clauses in premises):
        return Answer("unread")
    if "satisfiable" in labels.meanings:
        result = audit_events(reader.ontology, premises, ()).whole()
        return labels.consistency(result.feasible, list(map(str, result.clash)))
    hypothesis = reader.clauses(instance.question)
    if not hypothesis or labels.relations:
        return Answer("unread")
    result = audit_events(reader.ontology, premises, [hypothesis]).whole()
    if not result.feasible:
        return Answer("inconsistent", premises=list(map(str, result.clash)))
    (claim,) = result.claims
    truth = TRUTH.get(claim.grounded)
    if truth is None and _for_want_of_words(reader, premises, scene, instance.question):
        return Answer("unread")
    return labels.judged(truth, lambda: list(map(str, claim.premises)))


def premises_in(
    reader: EventReader, scene: Sequence[str], meaning: str = ""
) -> list[tuple[int, Clauses]]:
    """The clauses of a scene's sentences, numbered."""
    return [(n, reader.clauses(text, meaning)) for n, text in enumerate(scene, start=1)]


def _for_want_of_words(
    reader: EventReader,
    given: Sequence[tuple[int, Clauses]],
    scene: Sequence[str],
    statement: str,
) -> bool:
    """Whether a statement is open only because words do not say enough: it would be decided
    if a way meant more than is said of it, or a verb that the lexicon lacks meant what some
    verb means that it has.
    """
    said = [*(clauses for _, clauses in given), reader.clauses(statement)]
    strange = any(clause.strange for clauses in said for clause in clauses)
    if strange and not scene:
        return True  # without the sentences, another meaning cannot be tried
    meanings = reader.words.meanings if strange else ()
    for supposing, meaning in ((True, ""), *((False, meaning) for meaning in meanings)):
        premises = premises_in(reader, scene, meaning) if scene else given
        hypothesis = reader.clauses(statement, meaning)
        if hypothesis and all(clauses for _, clauses in premises):
            stated = tuple(clauses for _, clauses in premises)
            holding, failing = can_be(reader.ontology, stated, hypothesis, supposing)
            if holding != failing:
                return True
    return False
