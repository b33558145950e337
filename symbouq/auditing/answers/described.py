"""Answers to questions about described things: how two of them are related, whether a statement
holds, and for which things or options it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from symbouq.auditing.answers.answer import Answer, Labels
from symbouq.auditing.answers.scene import SceneJudge
from symbouq.logic.worlds import decided
from symbouq.ontology.tables import Ontology, Triple
from symbouq.reading.described.queries import Query, Scene, Value, all_of, any_of
from symbouq.reading.described.reader import DescribedQuestion
from symbouq.reading.transfer import together

T = TypeVar("T")


def answer_described(ontology: Ontology, question: DescribedQuestion, labels: Labels) -> Answer:
    """Answer a question about described things.

    Args:
        ontology: The tables of the profile.
        question: The question, with the things of its scene.
        labels: The labels of the answer space.
    """
    sentences: dict[int, list[Triple]] = {}
    for number, triple in question.scene:
        sentences.setdefault(number, []).append(triple)
    scene = [(n, triple) for n, said in sentences.items() for triple, _ in together(said, ontology)]
    judge = SceneJudge(ontology, scene)
    settled = judge.answer(labels)
    if settled is not None:
        return settled
    return _Questioner(ontology, question, [t for _, t in scene], judge).answer(labels)


class _Questioner:
    """Evaluator of questions about one scene."""

    def __init__(
        self,
        ontology: Ontology,
        question: DescribedQuestion,
        triples: Sequence[Triple],
        judge: SceneJudge,
    ) -> None:
        self._ontology = ontology
        self._question = question
        self._triples = triples
        self._judge = judge
        self._known: dict[Triple, bool | None] = {}

    def answer(self, labels: Labels) -> Answer:
        query = self._question.query
        if labels.relations:
            return self._related(query, labels)
        if labels.things:
            return self._picked(query, labels)
        return self._judged(query, labels)

    # Evaluation --------------------------------------------------------------------------

    def _evaluated(self, question: Callable[[Scene], T]) -> T:
        """Evaluate a question. The solver decides the relations that the value depends on. This is
        repeated until the value depends on no further relations.
        """
        missing: set[Triple] = set()

        def holds(subject: int, relation: str, object: int) -> bool | None:
            understood = self._ontology.understood(relation)
            if understood is None:
                return None
            triple = (subject, understood, object)
            if triple not in self._known:
                missing.add(triple)
            return self._known.get(triple)

        while True:
            found = question(Scene(self._question.things, holds))
            if not missing:
                return found
            settled = decided(self._ontology, self._triples, sorted(missing))
            assert settled is not None  # the scene is feasible
            self._known |= settled
            missing.clear()

    def _premises(self, value: Value) -> list[str]:
        support = {
            (u, relation, v)
            for u, r, v in value.support
            if (relation := self._ontology.understood(r))
        }
        return self._judge.premises(sorted(support))

    # Kinds of questions --------------------------------------------------------------------

    def _related(self, query: Query, labels: Labels) -> Answer:
        """Find the relations of the answer space that hold between two things."""
        pair = query.pair
        if pair is None:
            return Answer("unread")

        def values(scene: Scene) -> dict[str, Value] | None:
            couples = scene.couples(*pair)
            if not couples:
                return None
            return {
                r: all_of([scene.related(u, r, v) for u, v in couples]) for r in labels.relations
            }

        found = self._evaluated(values)
        if found is None:
            return Answer("unread")
        return labels.settled(
            {labels.relations[r]: value.truth for r, value in found.items()},
            lambda: self._premises(_together(v for v in found.values() if v.truth)),
        )

    def _picked(self, query: Query, labels: Labels) -> Answer:
        """Find the things for which the predicates hold, among the options or all things."""
        if not query.predicates:
            return Answer("unread")
        phrases = {label: self._question.phrase(label) for label in labels.things}
        if None in phrases.values():
            return Answer("unread")

        def values(scene: Scene, complete: bool = True) -> dict[str, Value]:
            found: dict[str, Value] = {}
            for label, phrase in phrases.items():
                assert phrase is not None  # every label has a phrase, see above
                numbers = scene.picked(phrase)
                chosen = [scene.chosen(n, query.predicates, complete) for n in numbers]
                # If a label has several readings, one has to hold, and none may be denied.
                denying = any(predicate.negated for predicate in query.predicates)
                found[label] = all_of(chosen) if denying and chosen else any_of(chosen)
            return found

        found = self._evaluated(values)
        holding = [label for label, value in found.items() if value.truth]
        given = holding
        if len(holding) == len(found) and "both" in labels.meanings:
            given = [labels.meanings["both"]]
        elif not holding and "none" in labels.meanings:
            given = [labels.meanings["none"]]
        rest = [
            label for label in (*labels.things, *labels.meanings.values()) if label not in given
        ]
        premises = self._premises(_together(v for v in found.values() if v.truth))
        proven = self._evaluated(lambda scene: values(scene, complete=False))
        default = any(value.truth is None for value in proven.values())
        return Answer("answered", given, given, given, rest, premises, default)

    def _judged(self, query: Query, labels: Labels) -> Answer:
        clause = query.clause
        if clause is None:
            return Answer("unread")
        value = self._evaluated(lambda scene: scene.holding(clause))
        return labels.judged(value.truth, lambda: self._premises(value))


def _together(values: Iterable[Value]) -> Value:
    """Combine the given values, which all hold, into one value with all of their grounds."""
    return Value(True, frozenset().union(*(value.support for value in values)))
