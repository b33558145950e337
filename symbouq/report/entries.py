"""Entries of the report. Each trace has a row in the list and a sheet with the details."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pydantic_core import to_json

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.correctness import answer_label
from symbouq.auditing.messages import claim_text
from symbouq.auditing.overview import Point
from symbouq.auditing.quantities import amount_text
from symbouq.auditing.summary import Summaries, Summary
from symbouq.io.stream import Work
from symbouq.ontology.tables import Ontology
from symbouq.records import Answers, Context, Trace
from symbouq.report.layout import picture

UNREAD = "unread"
"""Shown instead of a verdict if a claim states no supported relation."""


@dataclass(frozen=True)
class Entry:
    """One trace of a report: the row for the list, the sheet (all other content, as JSON), the
    point in the overview, and the trace's contribution to the head of the page.
    """

    row: dict[str, Any]
    sheet: bytes
    point: Point
    about: dict[str, str | None]


def entry(auditor: TraceAuditor, trace: Trace, audit: Mapping[str, Any]) -> Entry:
    """Make the entry for a trace and its audit (`symbouq.records.Audit`)."""
    ontology = auditor.parser_for(trace).ontology
    label = label_of(trace)
    point = Point.of(audit, label)
    about = {
        "file": audit["source"]["file"] if audit["source"] else None,
        "profile": audit["ontology"]["profile"],
        "ontology": audit["ontology"]["name"],
        "context": audit["context"],
    }
    return Entry(
        row={
            "id": audit["id"],
            "verdicts": [shown_verdict(claim) for claim in audit["claims"]],
            "score": point.score,
            "first": point.first,
            "feasible": audit["scene"]["feasible"],
            "conditional": sum(claim["conditional"] for claim in audit["claims"]),
            "determinacy": audit["profile"]["determinacy"],
            "label": label,
            "model": trace.model,
            "profile": about["profile"],
            "file": about["file"],
            "place": _place(audit),
            "why": _why(audit),
        },
        sheet=to_json(_sheet(ontology, trace, audit, auditor.parser_for(trace).sentences(trace))),
        point=point,
        about=about,
    )


def _place(audit: Mapping[str, Any]) -> str | None:
    source = audit["source"]
    return f"{source['file']}:{source['line']}" if source else None


_SNIPPET = 60
"""Maximum number of characters of a claim shown in the list."""


def _why(audit: Mapping[str, Any]) -> str:
    """Return the beginning of the most relevant claim, with its finding. This is the first
    contradicted claim; otherwise the problem with the scene; otherwise the first claim that is not
    entailed.
    """
    claims = audit["claims"]
    wrong = [claim for claim in claims if claim["verdict"] == "contradicted"]
    if not wrong and not audit["scene"]["feasible"]:
        return str(audit["scene"]["message"])
    for claim in (*wrong, *(claim for claim in claims if claim["verdict"] != "entailed")):
        text = claim_text(claim)
        text = f"{text[:_SNIPPET].rstrip()} …" if len(text) > _SNIPPET else text
        return f"{claim['index']}. {text} ({claim['message'].removesuffix('.')})"
    return ""


def label_of(trace: Trace) -> bool | None:
    """Whether a trace's answer is right, according to `correct`, or by comparing it with `answer`
    within `answer_space`. None if unknown.
    """
    if isinstance(trace.correct, bool) or trace.correct in (0, 1):
        return bool(trace.correct)
    if trace.answer is None or not isinstance(trace.answer_space, list) or not trace.answer_space:
        return None
    record = trace.model_dump(exclude_unset=True)
    if trace.claims:
        record["conclusion"] = trace.claims[-1].text
    return bool(answer_label(record))


def shown_verdict(claim: Mapping[str, Any], field: str = "verdict") -> str:
    """Return a claim's verdict (or `grounded_verdict`); `unread` if no relation was read from the
    claim.
    """
    return str(claim[field]) if claim["relations"] else UNREAD


def marked(text: str, relations: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """Split a text at the boundaries of the words that were read as relations. Spans outside the
    text are ignored.

    Returns:
        Consecutive pieces of the text, each with the numbers of its relations, from 0.
    """
    spans = [
        (number, *relation["span"])
        for number, relation in enumerate(relations)
        if relation["span"] and 0 <= relation["span"][0] < relation["span"][1] <= len(text)
    ]
    cuts = sorted({0, len(text), *(cut for _, start, end in spans for cut in (start, end))})
    return [
        [text[start:end], [n for n, first, last in spans if first <= start and end <= last]]
        for start, end in pairwise(cuts)
    ]


def _sheet(
    ontology: Ontology, trace: Trace, audit: Mapping[str, Any], sentences: Sequence[str]
) -> dict[str, Any]:
    scene = audit["scene"]
    return {
        "source": _place(audit),
        "context": audit["context"],
        "question": trace.question,
        "answer": None if trace.answer is None else str(trace.answer),
        "sentences": _sentences(ontology, scene["relations"], sentences),
        "feasible": scene["feasible"],
        "clash": scene["clash"],
        "message": scene["message"],
        "claims": [
            {
                **{name: claim[name] for name in _CLAIM},
                "parts": marked(claim["text"], claim["relations"]),
                "relations": [_worded(ontology, relation) for relation in claim["relations"]],
            }
            for claim in audit["claims"]
        ],
        "shares": audit["profile"],
        "discounted": audit["discounted"],
        "picture": picture(ontology, audit),
    }


_CLAIM = (
    "type",
    "stance",
    "verdict",
    "grounded_verdict",
    "conditional",
    "repair_cost",
    "repair_cost_exact",
    "first_conflict",
    "reason",
    "premises",
    "message",
)


def _sentences(
    ontology: Ontology, relations: Sequence[Mapping[str, Any]], texts: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the premises from the scene: texts, if there are any, and the relations read from
    them.
    """
    read: dict[int, list[Mapping[str, Any]]] = {}
    for number, relation in enumerate(relations, start=1):
        read.setdefault(relation["sentence"] or number, []).append(relation)
    sentences = []
    for number in range(1, max([len(texts), *read]) + 1):
        here = read.get(number, [])
        parts = marked(texts[number - 1], here) if number <= len(texts) else []
        worded = [_worded(ontology, relation) for relation in here]
        sentences.append({"parts": parts, "relations": worded})
    return sentences


def _worded(ontology: Ontology, relation: Mapping[str, Any]) -> dict[str, Any]:
    name = relation["relation"]
    words = ontology.lexicon.wording.get(name, (name.replace("_", " "),))[0]
    worded = {
        "subject": relation["subject"],
        "relation": name,
        "words": f"{amount_text(relation)} {words}".strip(),
        "object": relation["object"],
    }
    if relation["confidence"] < 1:
        worded["confidence"] = relation["confidence"]
    return worded


def reporting(
    profile: str | None,
    ontology: str | None,
    context: Context,
    pipeline: str | None = None,
    answers: Answers = "answer",
) -> Work:
    """Make a worker that audits traces for a report. It collects a `Summary` and an `Entry` for
    each trace.
    """
    auditor = TraceAuditor(
        profile, ontology, context, partial=True, pipeline=pipeline, answers=answers
    )
    summaries = Summaries()

    def work(trace: Trace, file: str, line: int) -> tuple[dict[str, Any], tuple[Summary, Entry]]:
        record = auditor.audited(trace, file, line)
        return record, (summaries.of(record, trace), entry(auditor, trace, record))

    return Work(work, auditor.ahead)
