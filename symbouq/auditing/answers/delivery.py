"""Judge the delivered answer as a claim about the question.

Most answers state a relation and are audited like any other claim. Other answers do not state a
relation: a list of possible relations, yes or no, the choice of a thing, or "cannot be determined".
They are compared with the answer that the scene gives (`symbouq.auditing.answers`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain

from symbouq.auditing.answers.answer import Answer
from symbouq.auditing.answers.matching import AnswerSpace, delivered, space_of
from symbouq.auditing.answers.questions import answered
from symbouq.auditing.answers.words import cues, meaning_of, relation_named, tokenized
from symbouq.auditing.verdicts import ClaimResult, Premise, TraceResult, Verdict
from symbouq.errors import RecordError
from symbouq.ontology.tables import Ontology
from symbouq.reading.text import ASSERTED, ParsedTrace, Question, Statement
from symbouq.records import Trace

_OF_RELATIONS = ("directions", "relations")
"""Answer spaces in which the labels are relations of the pair asked about."""


def asks_what_is_possible(trace: Trace) -> bool:
    """Whether the question asks which relations are possible, according to its answer space."""
    space = _given_space(trace)
    return space is not None and space.name == "composition"


def with_alternatives(ontology: Ontology, trace: Trace, parsed: ParsedTrace) -> ParsedTrace:
    """Turn each sentence that lists all possible relations of the pair asked about into a claim of
    alternatives: "so the possible relations between x and z are DC and EC". Sentences about other
    things, conditional sentences, and sentences with other words in them stay unchanged.

    Args:
        ontology: The tables of the profile.
        trace: The trace, with its `answer_space`.
        parsed: The parsed trace.
    """
    steps = [claim for claim in parsed.claims[:-1] if not claim.relations]
    given = trace.structured or trace.readings is not None
    if given or not any(_possible().search(claim.text) for claim in steps):
        return parsed
    space, asked = _given_space(trace), parsed.question().pair
    if asked is None or not parsed.slots.keys() >= {*asked}:
        return parsed
    if space is None or space.name != "composition":
        space = _possible_relations(ontology)
    claims = list(parsed.claims)
    for number, claim in enumerate(parsed.claims[:-1]):
        if claim.relations or claim.stance not in ("asserted", "quoted"):
            continue
        labels = _said_possible(ontology, claim.text, space, trace.question, parsed.names, asked)
        relations = [relation_named(ontology, label) for label in labels]
        if relations and None not in relations:
            stated = tuple(Statement(asked[0], r, asked[1]) for r in relations if r)
            claims[number] = replace(claim, relations=stated, stance="alternatives", reason="")
    return replace(parsed, claims=tuple(claims))


def _said_possible(
    ontology: Ontology,
    text: str,
    space: AnswerSpace,
    question: str,
    names: Sequence[str],
    asked: tuple[str, str],
) -> tuple[str, ...]:
    """Return the labels in a sentence that lists all possible relations of the pair asked about.
    Empty for any other sentence, and for a sentence about other things or about the pair in reverse
    order.
    """
    said = _possible().search(text)
    if said is None or text.rstrip(_MARKS).endswith(("?", ":")):  # a question or heading
        return ()
    formulas = [*map(_named_in(names), _ARGUMENTS.findall(text))]
    named = _named_in(names)(_ARGUMENTS.sub("", text))
    if any(found != [*asked] for found in formulas) or named not in ([], [*asked]):
        return ()
    if not _whole(ontology, text, names, space):
        return ()
    return delivered(said.group(), space, question) or ()


_MARKS = " \t\n*_`"

_ARGUMENTS = re.compile(r"\([^()]*,[^()]*\)")
"""Arguments of a formula, as in "DC(x, z)"."""


def _named_in(names: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a function that lists those of the given names that occur in a text, in order, each
    once.
    """
    name = re.compile(
        "|".join(rf"(?<!\w){re.escape(n)}(?!\w)" for n in sorted(names, key=len, reverse=True)),
        re.IGNORECASE,
    )
    spelled = {each.casefold(): each for each in names}
    return lambda text: [*dict.fromkeys(spelled[n.casefold()] for n in name.findall(text))]


def _whole(ontology: Ontology, text: str, names: Sequence[str], space: AnswerSpace) -> bool:
    """Whether a sentence consists only of words expected in a list of possible relations: names,
    labels, wordings of relations, and function words.
    """
    lists = {*cues()["listing"], *cues()["conclusion"], *cues()["clause"], *cues()["article"]}
    known = chain(lists, *map(cues().__getitem__, ("possible", "link")), names, space.labels)
    words = {word.casefold() for text in known for word in tokenized(text)} | _worded(ontology)
    return all(token.casefold() in words for token in tokenized(text) if token[0].isalpha())


@cache
def _worded(ontology: Ontology) -> frozenset[str]:
    phrases = ontology.lexicon.phrase
    return frozenset(word.casefold() for text in phrases for word in tokenized(text))


def judge_answer(
    ontology: Ontology, trace: Trace, parsed: ParsedTrace, result: TraceResult
) -> tuple[ParsedTrace, TraceResult]:
    """Judge the conclusion of a trace as an answer if it states no relation.

    Args:
        ontology: The tables of the profile.
        trace: The trace, with its `answer_space`.
        parsed: The parsed trace.
        result: The findings on the trace.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
    """
    text = trace.conclusion if trace.response is None else trace.response
    several = _set_of_possible(ontology, trace, parsed, text or "")
    space = several[0] if several else _space(ontology, trace, parsed)
    if parsed.events is not None or not parsed.claims or space is None:
        return parsed, result
    *claims, last = parsed.claims
    possible = space.name == "composition"
    if last.type != "conclusion":
        return parsed, result
    labels = delivered(several[1] if several else text or "", space, trace.question)
    if labels is None or (several and len(labels) < 2):
        return parsed, result
    declined = [*map(meaning_of, labels)] == ["open"]
    # Without an announcement, the last claim about the pair is the conclusion, unless the response
    # ends with "cannot be determined", or with yes or no to a question about possibility.
    final = trace.answer_space is None and (declined or _asks_what_may_be(trace, parsed))
    stands = bool(last.relations) and not possible and not final
    picked = space.name == "choice"  # a thing, or a sentence
    if (stands and not picked) or (space.name in _OF_RELATIONS and not declined):
        return parsed, result
    try:
        found = answered(ontology, parsed, space.labels)
    except RecordError:  # a label has no meaning in the profile
        return parsed, result
    if stands and found.status == "unread":
        return parsed, result
    judged = _judged(labels, found, possible)
    opened = [*map(meaning_of, found.answer)] == ["open"]
    inference = not _INFERENCE.isdisjoint(map(meaning_of, labels))
    if opened and not inference and judged.verdict is Verdict.CONTRADICTED:
        # If the scene decides no answer, the delivered answer neither follows nor conflicts.
        judged = replace(
            judged, verdict=Verdict.UNKNOWN, grounded=Verdict.UNKNOWN, reason="answer_open"
        )
    if result.feasible and any(claim.first_conflict for claim in result.claims[:-1]):
        judged = replace(judged, verdict=Verdict.NOT_EVALUABLE, reason="answer_blocked")
    stance = "alternatives" if possible else last.stance
    parsed = replace(parsed, claims=(*claims, replace(last, relations=(), stance=stance)))
    return parsed, replace(result, claims=[*result.claims[:-1], judged])


_LONGEST = 1000
"""Number of characters at the end of a response that are searched for its last sentence."""

_INFERENCE = frozenset(("entailment", "contradiction"))
"""Meanings of labels that judge whether a statement follows rather than whether it is true."""

_YES_NO = ("yes", "no", "cannot be determined")
"""Default answers to a yes-no question."""


def _usual_labels(ontology: Ontology, trace: Trace, parsed: ParsedTrace) -> Sequence[str] | None:
    """Return `usual_labels` for a trace without an answer space, or None if its answer is not yes,
    no or "cannot be determined".
    """
    text = trace.conclusion if trace.response is None else trace.response
    if not trace.question or not text:
        return None
    if delivered(text, _YES_NO, trace.question) is None:
        return None
    return usual_labels(ontology, parsed.question())


def usual_labels(ontology: Ontology, asked: Question) -> Sequence[str] | None:
    """Return the labels for a question without an answer space: yes and no, or the profile's
    directions, each with "cannot be determined". None for other questions.
    """
    if asked.states:
        return _YES_NO
    directions = ontology.relations.displacement
    return (*directions, _YES_NO[-1]) if asked.pair is not None and directions else None


def _asks_what_may_be(trace: Trace, parsed: ParsedTrace) -> bool:
    """Whether a question asks about possibility or necessity: "Could A be left of B?"."""
    return not trace.structured and parsed.question().stance != ASSERTED


@cache
def _possible() -> re.Pattern[str]:
    """Return the pattern for a list of possible relations in a text, without the conclusion that
    follows the list.
    """
    possible, then = (
        "|".join(sorted(map(re.escape, cues()[role]), key=len, reverse=True))
        for role in ("possible", "clause")
    )
    return re.compile(rf"\b(?:{possible})\b(?:(?![,;]\s+(?:{then})\b).)*", re.IGNORECASE)


def _set_of_possible(
    ontology: Ontology, trace: Trace, parsed: ParsedTrace, text: str
) -> tuple[AnswerSpace, str] | None:
    """Return the profile's directions, and the last sentence of an answer, if that sentence lists
    possible relations and there is no answer space: "so the possible relations are left and upper
    left".
    """
    last = re.split(r"(?<=[.!?])\s+|\n+", text[-_LONGEST:].rstrip())[-1]
    said = _possible().search(last)
    if trace.answer_space is not None or said is None or trace.structured:
        return None
    space = _possible_relations(ontology)
    asks = space.labels and parsed.question().pair is not None
    return (space, said.group()) if asks else None


def _possible_relations(ontology: Ontology) -> AnswerSpace:
    """Return the choices for a question that asks for the possible relations and has no answer
    space: the profile's directions, otherwise all of its relations.
    """
    relations = ontology.relations
    return AnswerSpace("composition", (*(relations.displacement or relations.family),), "set")


def _space(ontology: Ontology, trace: Trace, parsed: ParsedTrace) -> AnswerSpace | None:
    if trace.answer_space is not None:
        return _given_space(trace)
    labels = _usual_labels(ontology, trace, parsed)
    return replace(space_of(labels, dataset=trace.dataset or ""), given=False) if labels else None


def _given_space(trace: Trace) -> AnswerSpace | None:
    labels = trace.answer_space
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        return None
    return space_of(labels, dataset=trace.dataset or "") if labels else None


def _judged(labels: Sequence[str], found: Answer, possible: bool) -> ClaimResult:
    own = found.possible if possible else found.answer
    if found.status == "inconsistent":
        return ClaimResult.blocked("blocked_scene")
    settled = found.status == "answered" or (possible and found.status == "open")
    if not settled or found.default or not own:
        verdict, reason = Verdict.UNKNOWN, "answer_open"
    elif set(labels) == set(own):
        verdict, reason = Verdict.ENTAILED, "answer_right"
    else:
        verdict, reason = Verdict.CONTRADICTED, "answer_wrong"
    premises = tuple(Premise(*_numbered(premise)) for premise in found.premises)
    return ClaimResult(
        verdict, verdict, premises=premises, reason=reason, answer=tuple(own), given=(*labels,)
    )


def _numbered(premise: str) -> tuple[str, int]:
    source, number = premise.split(":")
    return source, int(number)
