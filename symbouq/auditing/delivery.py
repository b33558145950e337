"""The delivered answer as a claim about the question, judged by what the scene settles.

Most answers state a relation and are audited like any other claim. An answer that names
several relations that are possible, says yes or no, picks a thing, or says that nothing can be
determined states none: it is compared with the answer that the scene gives
(`symbouq.auditing.answering`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symbouq.auditing.answer_words import meaning_of
from symbouq.auditing.answering.answer import Answer
from symbouq.auditing.answering.questions import answered
from symbouq.auditing.matching import AnswerSpace, delivered, space_of
from symbouq.auditing.verdicts import ClaimResult, Premise, TraceResult, Verdict
from symbouq.errors import RecordError
from symbouq.reading.parsed import ParsedTrace
from symbouq.reading.parser import TraceParser
from symbouq.reading.syntax.pipeline import PipelineError
from symbouq.records import Trace

_OF_RELATIONS = ("directions", "relations")
"""Spaces whose labels are relations of the pair asked about, which state what they name."""


def judge_answer(
    parser: TraceParser, trace: Trace, parsed: ParsedTrace, result: TraceResult
) -> tuple[ParsedTrace, TraceResult]:
    """A trace with its conclusion judged as an answer, if it is one that states no relation.

    Args:
        parser: The parser of the trace's profile.
        trace: The trace, with its `answer_space`.
        parsed: Its relations.
        result: The findings on them.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
    """
    space = _space(trace)
    if parsed.events is not None or not parsed.claims or space is None:
        return parsed, result
    *claims, last = parsed.claims
    possible = space.name == "composition"
    if last.type != "conclusion" or (last.relations and not possible):
        return parsed, result
    text = trace.conclusion if trace.response is None else trace.response
    labels = delivered(text or "", space, trace.question)
    if labels is None:
        return parsed, result
    if space.name in _OF_RELATIONS and [*map(meaning_of, labels)] != ["open"]:
        return parsed, result
    try:
        found = answered(parser, trace, space.labels)
    except RecordError:  # the profile has no meaning for a label
        return parsed, result
    except PipelineError:
        if not trace.structured:
            raise
        return parsed, result  # whose question cannot be read
    judged = _judged(labels, found, possible)
    if result.feasible and any(claim.first_conflict for claim in result.claims[:-1]):
        judged = replace(judged, verdict=Verdict.NOT_EVALUABLE, reason="answer_blocked")
    parsed = replace(parsed, claims=(*claims, replace(last, relations=())))
    return parsed, replace(result, claims=[*result.claims[:-1], judged])


def _space(trace: Trace) -> AnswerSpace | None:
    labels = trace.answer_space
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        return None
    return space_of(labels, dataset=trace.dataset or "") if labels else None


def _judged(labels: Sequence[str], found: Answer, possible: bool) -> ClaimResult:
    """The finding on an answer, given the scene's own.

    Args:
        labels: The labels that the answer commits to.
        found: What the scene gives.
        possible: Whether the answer is the set of what is possible.
    """
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
    return ClaimResult(verdict, verdict, premises=premises, reason=reason, answer=tuple(own))


def _numbered(premise: str) -> tuple[str, int]:
    source, number = premise.split(":")
    return source, int(number)
