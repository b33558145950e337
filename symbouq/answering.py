"""`symbouq answer`: what a scene says to a question, over the answers that it may have.

No model is asked: the scene is read, and each answer of the space is entailed, impossible
or still open. What kind of question it is follows from the space: relations between the
two things asked about, yes and no, entailment and its alternatives, or whether the scene
can be true at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from symbouq.auditor import TraceResult, Triple, Verdict, audit_relations
from symbouq.errors import RecordError
from symbouq.ontology import Ontology
from symbouq.pipeline import TraceAuditor
from symbouq.records import Instance
from symbouq.stream import Work
from symbouq.worlds import Worlds, worlds

Judge = Callable[[Sequence[Triple]], TraceResult]
"""Audits one claim about the scene."""


@dataclass
class Answer:
    """The answer to one question.

    Attributes:
        status: `answered`, `open`, `inconsistent` (the scene contradicts itself) or
            `unread` (scene or question could not be read).
        answer: The entailed answers, or the label for a case that is open.
        certain: The answers that hold in every world of the scene.
        possible: Those that hold in some.
        impossible: Those that hold in none.
        premises: What the answer rests on.
        default: Whether it was given for want of proof: no where yes is not entailed.
    """

    status: str
    answer: list[str] = field(default_factory=list)
    certain: list[str] = field(default_factory=list)
    possible: list[str] = field(default_factory=list)
    impossible: list[str] = field(default_factory=list)
    premises: list[str] = field(default_factory=list)
    default: bool = False


@dataclass(frozen=True)
class _Labels:
    """The labels of an answer space by what they mean.

    Attributes:
        meanings: Meaning (`yes`, `no`, `open`, `entailment`, ...) to its label.
        relations: Relation to its label.
    """

    meanings: dict[str, str]
    relations: dict[str, str]


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
    slots: dict[str, int] = {}
    reader = auditor.reader_for(ontology)
    question = reader.question(auditor.sentences(instance), instance.question)
    if instance.scene_relations is not None:
        stated = [
            (r.sentence or n, (r.subject, _canonical(ontology, r.relation), r.object))
            for n, r in enumerate(instance.scene_relations, start=1)
        ]
    else:
        stated = [
            (n, (m.subject, m.relation, m.object))
            for n, mentions in enumerate(question.scene, start=1)
            for m in mentions
        ]

    def slot(name: str) -> int:
        return slots.setdefault(name, len(slots))

    scene: dict[int, list[Triple]] = {}
    for number, (u, r, v) in stated:
        scene.setdefault(number, []).append((slot(u), r, slot(v)))

    def judge(claim: Sequence[Triple]) -> TraceResult:
        return audit_relations(ontology, list(scene.items()), [claim])

    if "satisfiable" in labels.meanings:
        return _consistent(labels, judge, bool(scene))
    if not scene:
        return Answer("unread")
    plain = judge([])
    if not plain.feasible:
        return Answer("inconsistent", premises=[str(premise) for premise in plain.clash])
    if labels.relations:
        if question.pair is None:
            return Answer("unread")
        first, second = question.pair
        pair = slot(first), slot(second)
        triples = [triple for triples in scene.values() for triple in triples]
        found = worlds(ontology, triples, pair, tuple(labels.relations))
        assert found is not None  # the scene does not contradict itself
        return _related(labels, judge, pair, found)
    claim = [(slot(m.subject), m.relation, slot(m.object)) for m in question.states]
    if not claim:
        return Answer("unread")
    return _judged(labels, judge(claim))


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


def _labels(ontology: Ontology, space: Sequence[str]) -> _Labels:
    meanings: dict[str, str] = {}
    relations: dict[str, str] = {}
    unknown: list[str] = []
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
            unknown.append(label)
    if unknown:
        raise RecordError(
            f"answer_space: {', '.join(map(repr, unknown))} means nothing in profile "
            f"{ontology.profile}; a label is a relation, a phrase, or stated with label/2"
        )
    return _Labels(meanings, relations)


def _consistent(labels: _Labels, judge: Judge, read: bool) -> Answer:
    """Whether the scene can be true at all."""
    if not read:
        return Answer("unread")
    result = judge([])
    yes, no = labels.meanings["satisfiable"], labels.meanings.get("unsatisfiable", "")
    here, there = (yes, no) if result.feasible else (no, yes)
    premises = [str(premise) for premise in result.clash]
    return Answer("answered", [here], [here], [here], [there], premises)


def _related(labels: _Labels, judge: Judge, pair: tuple[int, int], found: Worlds) -> Answer:
    """Which relations of the space the pair has."""
    named = labels.relations
    given = Answer(
        "open",
        certain=[named[relation] for relation in found.certain],
        possible=[named[relation] for relation in found.possible],
        impossible=[label for r, label in named.items() if r not in found.possible],
    )
    premises: dict[str, None] = {}
    for relation in found.certain:
        claim = judge([(pair[0], relation, pair[1])]).claims[0]
        premises.update(dict.fromkeys(map(str, claim.premises)))
    given.premises = list(premises)
    given.answer = list(given.certain)
    if not given.answer and "open" in labels.meanings:
        given.answer = [labels.meanings["open"]]
    if given.answer:
        given.status = "answered"
    return given


_PROVEN = {Verdict.ENTAILED: ("yes", "entailment"), Verdict.CONTRADICTED: ("no", "contradiction")}


def _judged(labels: _Labels, result: TraceResult) -> Answer:
    """Yes or no, or the three-way judgement of a statement."""
    claim = result.claims[0]
    has = labels.meanings
    premises = [str(premise) for premise in claim.premises]
    proven = next((has[name] for name in _PROVEN.get(claim.grounded, ()) if name in has), None)
    decided = [has[name] for names in _PROVEN.values() for name in names if name in has]
    if proven is not None:
        rest = [label for label in has.values() if label != proven]
        return Answer("answered", [proven], [proven], [proven], rest, premises)
    if "open" in has:
        return Answer("answered", [has["open"]], possible=decided)
    if "no" in has:
        return Answer("answered", [has["no"]], possible=decided, default=True)
    return Answer("open", possible=decided)


def answering(profile: str | None, ontology: str | None) -> Work:
    """A worker that answers, in the shape of `symbouq.records.AnswerRecord`; it keeps the
    status.
    """
    auditor = TraceAuditor(profile, ontology)

    def work(instance: Instance, _file: str, _line: int) -> tuple[dict[str, Any], str]:
        found = answer(auditor, instance)
        return {"id": instance.id, **vars(found)}, found.status

    return work
