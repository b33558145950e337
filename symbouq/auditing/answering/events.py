"""Judgements of statements about events: what holds in every world of the premises."""

from __future__ import annotations

from collections.abc import Sequence

from symbouq.auditing.answering.answer import TRUTH, Answer, Labels
from symbouq.auditing.entailment import audit_events, can_be
from symbouq.reading.events.grammar import Clauses
from symbouq.reading.events.reader import EventReader


def judged(
    reader: EventReader,
    premises: Sequence[tuple[int, Clauses]],
    scene: Sequence[str],
    statement: str,
    labels: Labels,
) -> Answer:
    """The judgement of a statement, or whether a scene can be.

    Args:
        reader: Reads the sentences.
        premises: What the sentences of the scene say, numbered.
        scene: The sentences themselves; none where the premises alone are given.
        statement: What is to be judged.
        labels: The labels of the answer space.
    """
    if not premises or not all(clauses for _, clauses in premises):
        return Answer("unread")
    if "satisfiable" in labels.meanings:
        result = audit_events(reader.ontology, premises, ()).whole()
        yes, no = labels.meanings["satisfiable"], labels.meanings.get("unsatisfiable", "")
        given, other = (yes, no) if result.feasible else (no, yes)
        clash = [str(premise) for premise in result.clash]
        return Answer("answered", [given], [given], [given], [other], clash)
    hypothesis = reader.clauses(statement)
    if not hypothesis or labels.relations:
        return Answer("unread")
    result = audit_events(reader.ontology, premises, [hypothesis]).whole()
    if not result.feasible:
        return Answer("inconsistent", premises=[str(premise) for premise in result.clash])
    (found,) = result.claims
    truth = TRUTH.get(found.grounded)
    if truth is None and _for_want_of_words(reader, premises, scene, statement):
        return Answer("unread")
    return labels.judged(truth, lambda: [str(premise) for premise in found.premises])


def premises_in(
    reader: EventReader, scene: Sequence[str], meaning: str = ""
) -> list[tuple[int, Clauses]]:
    """What the sentences of a scene say, numbered."""
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
