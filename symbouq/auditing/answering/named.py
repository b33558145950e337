"""Answers about scenes whose things have names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from symbouq.auditing.answer_words import cues
from symbouq.auditing.answering.answer import TRUTH, Answer, Labels
from symbouq.auditing.answering.judge import SceneJudge, stated_relations
from symbouq.logic.worlds import worlds
from symbouq.reading.parsed import Slots
from symbouq.reading.parser import TraceParser
from symbouq.records import Instance


def _named_in(names: Iterable[str], text: str) -> set[str]:
    """Those of some names that a text has, the longest where one is in another."""
    known = {name.casefold(): name for name in names}
    options = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    found = re.findall(rf"(?<!\w)(?:{options})(?!\w)", text.casefold()) if known else ()
    return {known[name] for name in found}


@cache
def _beyond(stance: str) -> re.Pattern[str]:
    """What asks for more than whether what a question states holds: "... or above it?", "Is it
    false that ...?" What cannot be is a stance, and no more.
    """
    roles = ("twofold", "reversing") if stance == "asserted" else ("twofold",)
    words = sorted((text for role in roles for text in cues()[role]), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b(?! not\b)", re.IGNORECASE)


def answer_named(parser: TraceParser, instance: Instance, labels: Labels) -> Answer:
    """The answer to a question about things with names: their relation, or yes and no.

    Args:
        parser: The parser of the profile.
        instance: Scene and question.
        labels: The labels of the answer space.
    """
    ontology = parser.ontology
    question = parser.question(instance)
    stated = stated_relations(ontology, instance)
    if stated is None:
        stated = [
            (n, (m.subject, m.relation, m.object))
            for n, mentions in enumerate(question.scene, start=1)
            for m in mentions
        ]
    slots = Slots()
    scene = [(n, (slots[u], r, slots[v])) for n, (u, r, v) in stated]
    judge = SceneJudge(ontology, scene)
    settled = judge.answer(labels)
    if settled is not None:
        return settled
    if labels.relations:
        if question.pair is None:
            return Answer("unread")
        pair = slots[question.pair[0]], slots[question.pair[1]]
        open_relations = worlds(
            ontology, [triple for _, triple in scene], pair, tuple(labels.relations)
        )
        assert open_relations is not None  # the scene does not contradict itself
        certain, possible = open_relations.certain, open_relations.possible
        truths = {
            label: True if r in certain else None if r in possible else False
            for r, label in labels.relations.items()
        }
        return labels.settled(
            truths, lambda: judge.premises((pair[0], r, pair[1]) for r in certain)
        )
    claim = [(slots[m.subject], m.relation, slots[m.object]) for m in question.states]
    spoken = {name for m in question.states for name in (m.subject, m.object)}
    left_out = _named_in([name for _, (u, _, v) in stated for name in (u, v)], instance.question)
    if not claim or left_out - spoken or _beyond(question.stance).search(instance.question):
        return Answer("unread")
    (result,) = judge.audit(claim, question.stance).claims
    return labels.judged(TRUTH.get(result.grounded), lambda: list(map(str, result.premises)))
