"""Answers about scenes with named things."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from symbouq.auditing.answers.answer import TRUTH, Answer, Labels
from symbouq.auditing.answers.scene import SceneJudge
from symbouq.auditing.answers.words import cues
from symbouq.logic.worlds import worlds
from symbouq.ontology.tables import Ontology
from symbouq.reading.text import ParsedTrace, Question


def _named_in(names: Iterable[str], text: str) -> set[str]:
    """Return the names that occur in a text, except where they are part of a longer name."""
    known = {name.casefold(): name for name in names}
    options = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    found = re.findall(rf"(?<!\w)(?:{options})(?!\w)", text.casefold()) if known else ()
    return {known[name] for name in found}


@cache
def _beyond(stance: str) -> re.Pattern[str]:
    """Return the pattern for words that make a question more than a plain yes or no: "... or above
    it?", "Is it false that ...?". With a stance other than `asserted`, as in "cannot be", words of
    reversal do not count.
    """
    roles = ("twofold", "reversing") if stance == "asserted" else ("twofold",)
    words = sorted((text for role in roles for text in cues()[role]), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b(?! not\b)", re.IGNORECASE)


def answer_named(
    ontology: Ontology, parsed: ParsedTrace, question: Question, labels: Labels
) -> Answer:
    """Answer a question about named things: their relation, or yes or no.

    Args:
        ontology: The tables of the profile.
        parsed: The scene.
        question: The question.
        labels: The labels of the answer space.
    """
    slots, scene = dict(parsed.slots), parsed.numbered
    for name in (*(question.pair or ()), *(n for u, _, v in question.states for n in (u, v))):
        slots.setdefault(name, len(slots))
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
        assert open_relations is not None  # the scene is feasible
        certain, possible = open_relations.certain, open_relations.possible
        truths = {
            label: True if r in certain else None if r in possible else False
            for r, label in labels.relations.items()
        }
        return labels.settled(
            truths, lambda: judge.premises((pair[0], r, pair[1]) for r in certain)
        )
    claim = [(slots[u], r, slots[v]) for u, r, v in question.states]
    spoken = {name for u, _, v in question.states for name in (u, v)}
    told = {parsed.names[slot] for _, (u, _, v) in scene for slot in (u, v)}
    left_out = _named_in(told, question.text)
    if not claim or left_out - spoken or _beyond(question.stance).search(question.text):
        return Answer("unread")
    (result,) = judge.audit(claim, question.stance).claims
    return labels.judged(TRUTH.get(result.grounded), lambda: list(map(str, result.premises)))
