"""Judgements of statements about events: what holds in every world of the premises."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from symbouq.answering import Answer, Labels
from symbouq.events.grammar import Clause
from symbouq.events.reader import EventReader, Facts
from symbouq.logic import possible_modes
from symbouq.ontology import Ontology

_MODES = ("assert", "deny")

Clauses = tuple[Clause, ...]


def judged(reader: EventReader, scene: Sequence[str], statement: str, labels: Labels) -> Answer:
    """The judgement of a statement, or whether a scene can be.

    Args:
        reader: Reads the sentences.
        scene: The premises.
        statement: What is to be judged.
        labels: The labels of the answer space.
    """
    premises = _premises(reader, scene)
    if not premises or not all(clauses for _, clauses in premises):
        return Answer("unread")
    if "satisfiable" in labels.meanings:
        holding, _ = _possible(reader.ontology, premises, ())
        yes, no = labels.meanings["satisfiable"], labels.meanings.get("unsatisfiable", "")
        given, other = (yes, no) if holding else (no, yes)
        return Answer("answered", [given], [given], [given], [other])
    hypothesis = reader.clauses(statement)
    if not hypothesis or labels.relations:
        return Answer("unread")
    holding, failing = _possible(reader.ontology, premises, hypothesis)
    if not holding and not failing:
        return Answer("inconsistent", premises=[f"scene:{n}" for n, _ in premises])
    truth = None if holding and failing else holding
    if truth is None and _for_want_of_words(reader, scene, statement):
        return Answer("unread")

    def resting() -> list[str]:
        """The premises without which it would be open: taken away one by one."""
        needed = list(premises)
        for premise in premises:
            fewer = [other for other in needed if other is not premise]
            if _possible(reader.ontology, fewer, hypothesis) == [holding, failing]:
                needed = fewer
        return [f"scene:{n}" for n, _ in needed]

    return labels.judged(truth, resting)


def _premises(
    reader: EventReader, scene: Sequence[str], meaning: str = ""
) -> list[tuple[int, Clauses]]:
    """What the sentences of a scene say, numbered."""
    return [(n, reader.clauses(text, meaning)) for n, text in enumerate(scene, start=1)]


def _for_want_of_words(reader: EventReader, scene: Sequence[str], statement: str) -> bool:
    """Whether a statement is open only because words do not say enough: it would be decided
    if a way meant more than is said of it, or a verb that the lexicon lacks meant what some
    verb means that it has.
    """
    strange = any(c.strange for text in (*scene, statement) for c in reader.clauses(text))
    meanings = reader.words.meanings if strange else ()
    for supposing, meaning in ((True, ""), *((False, meaning) for meaning in meanings)):
        premises, hypothesis = _premises(reader, scene, meaning), reader.clauses(statement, meaning)
        if hypothesis and all(clauses for _, clauses in premises):
            holding, failing = _possible(reader.ontology, premises, hypothesis, supposing)
            if holding != failing:
                return True
    return False


def _possible(
    ontology: Ontology,
    premises: Sequence[tuple[int, Clauses]],
    hypothesis: Clauses,
    supposing: bool = False,
) -> list[bool]:
    """Whether a statement can hold, and whether it can fail, given some premises, and what
    is unsaid of their ways if that is supposed.
    """
    facts = Facts()
    for _, clauses in premises:
        facts.add("premise", clauses)
    facts.add("hypothesis", hypothesis)
    background = _background(ontology) + ("supposing." if supposing else "")
    return possible_modes("events", background + facts.text, _MODES)


@lru_cache(maxsize=8)
def _background(ontology: Ontology) -> str:
    """What a profile says of relations and of words, as facts."""
    texts = ("compared", "way", "verb", "inflected", "times")
    lines = [ontology.closure_facts]
    lines += [f"negation({r},{s})." for r, s in ontology.denials.items()]
    for (name, _), rows in sorted(ontology.events.items()):
        if name not in texts:
            lines += [f"{name}({','.join(row)})." for row in rows]
    return "".join(lines)
