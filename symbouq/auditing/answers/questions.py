"""Answers to questions from their scenes (`symbouq answer`).

No model is involved: the scene is read, and each answer of the space is entailed, impossible or
open. The space determines the kind of question: relations of a pair, yes and no, entailment, or
satisfiability of the scene.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from symbouq.auditing.answers.answer import Answer, Labels
from symbouq.auditing.answers.words import relation_named
from symbouq.errors import RecordError
from symbouq.limits import turn, untimed
from symbouq.ontology.tables import Ontology
from symbouq.reading.faults import InternalError
from symbouq.reading.parser import TraceParser
from symbouq.reading.text import ParsedTrace
from symbouq.records import Instance


class Parsers(Protocol):
    """Source of parsers, such as a `TraceAuditor`."""

    def parser_for(self, instance: Instance) -> TraceParser:
        """Return the parser for the given instance."""


def answer(parsers: Parsers, instance: Instance) -> Answer:
    """Answer a question about a scene.

    Args:
        parsers: Source of the instance's parser and profile: an auditor.
        instance: The scene and the question, with an `answer_space`.

    Raises:
        RecordError: If there is no answer space, or a label is unknown in the profile.
    """
    space, parser = _space(instance), parsers.parser_for(instance)
    return answered(parser.ontology, parser.parse(instance), space)


@turn()
def answered(ontology: Ontology, parsed: ParsedTrace, space: Sequence[str]) -> Answer:
    """Answer the question of a trace with one or more of the given labels.

    Args:
        ontology: Tables of the profile.
        parsed: The parsed trace.
        space: The labels.

    Raises:
        RecordError: If a label is unknown in the profile.
    """
    if parsed.lost:  # an answer needs the whole scene
        return Answer("unread", faults=[parsed.lost[0]])
    with untimed():  # the readers load spaCy
        from symbouq.auditing.answers.described import answer_described
        from symbouq.auditing.answers.events import answer_events
        from symbouq.auditing.answers.named import answer_named
        from symbouq.reading.described.reader import DescribedQuestion
        from symbouq.reading.events.reader import EventQuestion

    try:
        question = parsed.question()
        labels = _labels(ontology, space, isinstance(question, DescribedQuestion))
        if isinstance(question, DescribedQuestion):
            return answer_described(ontology, question, labels)
        if isinstance(question, EventQuestion) and parsed.events is not None:
            return answer_events(ontology, parsed.events, question, labels)
        return answer_named(ontology, parsed, question, labels)
    except InternalError as error:
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
