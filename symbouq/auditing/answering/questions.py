"""`symbouq answer`: what a scene says to a question, over the answers that it may have.

No model is asked: the scene is read, and each answer of the space is entailed, impossible
or still open. What kind of question it is follows from the space: relations between the
two things asked about, yes and no, entailment and its alternatives, or whether the scene
can be true at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symbouq.auditing.answering.answer import TRUTH, Answer, Judge, Labels, premises_of
from symbouq.auditing.auditor import TraceResult, audit_relations
from symbouq.auditing.pipeline import TraceAuditor, given_events
from symbouq.errors import RecordError
from symbouq.io.stream import Work
from symbouq.logic.worlds import worlds
from symbouq.ontology.library import Ontology, Triple
from symbouq.records import Instance


def answer(auditor: TraceAuditor, instance: Instance) -> Answer:
    """Answers a question about a scene.

    Args:
        auditor: Gives profile and reader.
        instance: Scene and question, with an `answer_space`.

    Raises:
        RecordError: If there is no answer space, or it has labels that mean nothing in
            the profile.
    """
    ontology = auditor.ontology_for(instance)
    labels = _labels(ontology, _space(instance))
    if ontology.eventful and (instance.scene_relations is None or instance.scene_events):
        return _eventful(auditor, ontology, instance, labels)
    if ontology.described:
        return _described(auditor, ontology, instance, labels)
    return _named(auditor, ontology, instance, labels)


def _named(auditor: TraceAuditor, ontology: Ontology, instance: Instance, labels: Labels) -> Answer:
    """The answer about a scene whose things have names."""
    slots: dict[str, int] = {}
    reader = auditor.reader_for(ontology)
    from symbouq.reading.named.reader import Reader

    assert isinstance(reader, Reader)
    question = reader.question(auditor.sentences(instance), instance.question)
    stated = _given(ontology, instance)
    if stated is None:
        stated = [
            (n, (m.subject, m.relation, m.object))
            for n, mentions in enumerate(question.scene, start=1)
            for m in mentions
        ]

    def slot(name: str) -> int:
        return slots.setdefault(name, len(slots))

    scene = [(n, (slot(u), r, slot(v))) for n, (u, r, v) in stated]
    judge, impossible = _judge(ontology, scene, labels)
    if impossible is not None:
        return impossible
    if labels.relations:
        if question.pair is None:
            return Answer("unread")
        pair = slot(question.pair[0]), slot(question.pair[1])
        found = worlds(ontology, [triple for _, triple in scene], pair, tuple(labels.relations))
        assert found is not None  # the scene does not contradict itself
        truths = {
            label: True if r in found.certain else None if r in found.possible else False
            for r, label in labels.relations.items()
        }
        return labels.settled(
            truths, lambda: premises_of(judge, [(pair[0], r, pair[1]) for r in found.certain])
        )
    claim = [(slot(m.subject), m.relation, slot(m.object)) for m in question.states]
    if not claim:
        return Answer("unread")
    result = judge(claim).claims[0]
    return labels.judged(TRUTH.get(result.grounded), lambda: [str(p) for p in result.premises])


def _described(
    auditor: TraceAuditor, ontology: Ontology, instance: Instance, labels: Labels
) -> Answer:
    """The answer about a scene whose things are described."""
    reader = auditor.reader_for(ontology)
    from symbouq.auditing.answering.described import Questioner
    from symbouq.reading.described.reader import DescribedReader

    assert isinstance(reader, DescribedReader)
    given = _given(ontology, instance)
    if given is not None:
        discourse, named, query = reader.asked_of(given, instance.question)
        scene = [(n, triple) for (n, _), triple in zip(given, named, strict=True)]
    else:
        discourse, stated, query = reader.asked(auditor.sentences(instance), instance.question)
        scene = [
            (n, (s.subject, s.relation, s.object))
            for n, statements in enumerate(stated, start=1)
            for s in statements
        ]
    judge, impossible = _judge(ontology, scene, labels)
    if impossible is not None:
        return impossible
    triples = [triple for _, triple in scene]
    return Questioner(reader, discourse, triples, judge).answer(query, labels)


def _eventful(
    auditor: TraceAuditor, ontology: Ontology, instance: Instance, labels: Labels
) -> Answer:
    """The judgement of a statement about events."""
    reader = auditor.reader_for(ontology)
    from symbouq.auditing.answering.events import judged, premises_in
    from symbouq.reading.events.reader import EventReader

    assert isinstance(reader, EventReader)
    events = given_events(ontology, instance)
    scene = auditor.sentences(instance)
    premises = premises_in(reader, scene) if events is None else events.scene
    return judged(reader, premises, scene, instance.question, labels)


def _given(ontology: Ontology, instance: Instance) -> list[tuple[int, tuple[str, str, str]]] | None:
    """The relations that an instance gives, with the sentences that they are from."""
    if instance.scene_relations is None:
        return None
    return [
        (r.sentence or n, (r.subject, _canonical(ontology, r.relation), r.object))
        for n, r in enumerate(instance.scene_relations, start=1)
    ]


def _judge(
    ontology: Ontology, stated: Sequence[tuple[int, Triple]], labels: Labels
) -> tuple[Judge, Answer | None]:
    """What audits claims about a scene, and the answer where the scene alone gives it: it
    was not read, it contradicts itself, or just that is asked.
    """
    scene: dict[int, list[Triple]] = {}
    for number, triple in stated:
        scene.setdefault(number, []).append(triple)

    def judge(claim: Sequence[Triple]) -> TraceResult:
        return audit_relations(ontology, list(scene.items()), [claim]).whole()

    if not scene:
        return judge, Answer("unread")
    plain = judge([])
    premises = [str(premise) for premise in plain.clash]
    if "satisfiable" in labels.meanings:
        yes, no = labels.meanings["satisfiable"], labels.meanings.get("unsatisfiable", "")
        here, there = (yes, no) if plain.feasible else (no, yes)
        return judge, Answer("answered", [here], [here], [here], [there], premises)
    return judge, None if plain.feasible else Answer("inconsistent", premises=premises)


def _space(instance: Instance) -> list[str]:
    space = getattr(instance, "answer_space", None)
    if not isinstance(space, list) or not space or not all(isinstance(x, str) for x in space):
        raise RecordError("`answer_space` is a list of labels; without it there is no answer")
    return space


def _canonical(ontology: Ontology, relation: str) -> str:
    try:
        return ontology.canonical(relation)
    except KeyError as error:
        raise RecordError(error.args[0]) from error


def _labels(ontology: Ontology, space: Sequence[str]) -> Labels:
    meanings: dict[str, str] = {}
    relations: dict[str, str] = {}
    things: list[str] = []
    for label in space:
        text = " ".join(label.lower().replace("_", " ").split())
        name = text.replace("-", "_").replace(" ", "_")
        meaning, relation = ontology.labels.get(text), ontology.relation_labels.get(text)
        if meaning is not None:
            meanings[meaning] = label
        elif relation is not None:
            relations[relation] = label
        elif text in ontology.phrases:
            relations[ontology.phrases[text]] = label
        elif name in ontology.families:
            relations[name] = label
        else:
            things.append(label)
    if things and (relations or not ontology.described):
        raise RecordError(
            f"answer_space: {', '.join(map(repr, things))} means nothing in profile "
            f"{ontology.profile}; a label is a relation, a phrase, or stated with label/2"
        )
    return Labels(meanings, relations, tuple(things))


def answering(profile: str | None, ontology: str | None) -> Work:
    """A worker that answers, in the shape of `symbouq.records.AnswerRecord`; it keeps the
    status.
    """
    auditor = TraceAuditor(profile, ontology)

    def work(instance: Instance, _file: str, _line: int) -> tuple[dict[str, Any], str]:
        found = answer(auditor, instance)
        return {"id": instance.id, **vars(found)}, found.status

    return work
