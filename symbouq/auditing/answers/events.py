"""Judgements of statements about events, over all worlds of the premises."""

from __future__ import annotations

from collections.abc import Sequence

from symbouq.auditing.answers.answer import TRUTH, Answer, Labels
from symbouq.auditing.events import audit_events, can_be
from symbouq.ontology.tables import Ontology
from symbouq.reading.clauses import Clauses
from symbouq.reading.events.reader import EventQuestion


def answer_events(
    ontology: Ontology,
    scene: Sequence[tuple[int, Clauses]],
    question: EventQuestion,
    labels: Labels,
) -> Answer:
    """Judge a statement about events, or the consistency of the scene.

    Args:
        ontology: The tables of a profile that reads events.
        scene: Number and clauses of each sentence of the scene.
        question: The statement.
        labels: The labels of the answer space.
    """
    if not scene or not all(clauses for _, clauses in scene):
        return Answer("unread")
    if "satisfiable" in labels.meanings:
        result = audit_events(ontology, scene, ()).whole()
        return labels.consistency(result.feasible, list(map(str, result.clash)))
    if not question.clauses or labels.relations:
        return Answer("unread")
    result = audit_events(ontology, scene, [question.clauses]).whole()
    if not result.feasible:
        return Answer("inconsistent", premises=list(map(str, result.clash)))
    (claim,) = result.claims
    truth = TRUTH.get(claim.grounded)
    if truth is None and _for_want_of_words(ontology, [said for _, said in scene], question):
        return Answer("unread")
    return labels.judged(truth, lambda: list(map(str, claim.premises)))


def _for_want_of_words(
    ontology: Ontology, scene: Sequence[Clauses], question: EventQuestion
) -> bool:
    """Whether a statement is open only because its words are too weak: it would be decided if a way
    had a stronger meaning, or if an unknown verb had the same meaning as a known one.
    """
    said = [*scene, question.clauses]
    strange = any(clause.strange for clauses in said for clause in clauses)
    if strange and question.reread is None:
        return True  # trying other meanings needs the sentences
    readings = [(True, scene, question.clauses)]
    if strange and question.reread is not None:
        readings += ((False, *question.reread(verb)) for verb in question.verbs)
    for supposing, premises, hypothesis in readings:
        if hypothesis and all(premises):
            holding, failing = can_be(ontology, tuple(premises), hypothesis, supposing)
            if holding != failing:
                return True
    return False
