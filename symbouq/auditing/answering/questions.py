"""`symbouq answer`: the answers that a scene entails, excludes or leaves open.

No model is asked: the scene is read, and each answer of the space is entailed, impossible
or still open. What kind of question it is follows from the space: relations between the
two things asked about, yes and no, entailment and its alternatives, or whether the scene
can be true at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from symbouq.auditing.answer_words import relation_named
from symbouq.auditing.answering.answer import Answer, Labels
from symbouq.errors import RecordError
from symbouq.limits import turn, untimed
from symbouq.ontology.tables import Ontology
from symbouq.reading.faults import InternalError
from symbouq.reading.parser import TraceParser
from symbouq.records import Instance


class Parsers(Protocol):
    """Gives the parser of an instance's profile, as a `TraceAuditor` does."""

    def parser_for(self, instance: Instance) -> TraceParser:
        """The parser."""


def answer(parsers: Parsers, instance: Instance) -> Answer:
    """Answers a question about a scene.

    Args:
        parsers: Gives the profile and its parser: an auditor.
        instance: Scene and question, with an `answer_space`.

    Raises:
        RecordError: If there is no answer space, or it has labels that mean nothing in
            the profile.
    """
    return answered(parsers.parser_for(instance), instance, _space(instance))


@turn()
def answered(parser: TraceParser, instance: Instance, space: Sequence[str]) -> Answer:
    """The answer to a question about a scene, among some labels.

    Raises:
        RecordError: If a label means nothing in the profile.
    """
    ontology = parser.ontology
    described = parser.described(instance)
    labels = _labels(ontology, space, described)
    with untimed():  # spaCy loads with the readers
        from symbouq.auditing.answering.described import answer_described
        from symbouq.auditing.answering.events import answer_events
        from symbouq.auditing.answering.named import answer_named

    try:
        if ontology.eventful and (instance.scene_relations is None or instance.scene_events):
            return answer_events(parser, instance, labels)
        if described:
            return answer_described(parser, instance, labels)
        return answer_named(parser, instance, labels)
    except InternalError as error:  # an answer needs all of the scene
        return Answer("unread", faults=[str(error)])


def _space(instance: Instance) -> list[str]:
    space = getattr(instance, "answer_space", None)
    if not isinstance(space, list) or not space or not all(isinstance(x, str) for x in space):
        raise RecordError("`answer_space` is a list of labels; without it there is no answer")
    return space


def _labels(ontology: Ontology, space: Sequence[str], described: bool) -> Labels:
    meanings: dict[str, str] = {}
    relations: dict[str, str] = {}
    things: list[str] = []
    for label in space:
        meaning = ontology.lexicon.label.get(" ".join(label.lower().replace("_", " ").split()))
        if meaning is not None:
            meanings[meaning] = label
        elif (relation := relation_named(ontology, label)) is not None:
            relations[relation] = label
        else:
            things.append(label)
    if things and (relations or not described):
        raise RecordError(
            f"answer_space: {', '.join(map(repr, things))} means nothing in profile "
            f"{ontology.profile}; a label is a relation, a phrase, or stated with label/2"
        )
    return Labels(meanings, relations, tuple(things))
