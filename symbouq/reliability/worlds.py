"""Constraint-Worlds: compares the delivered answer with the scene's possible worlds."""

from __future__ import annotations

from symbouq.auditing.answers import Answer, Delivered, answer, delivered, space_of
from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import RecordError
from symbouq.records import Instance, Trace

WORLDS = "Constraint-Worlds"
"""Name of the score. It is 1 if the answer holds in every world of the scene, 0 if it holds in
none, and otherwise one divided by the number of open answers. It is 0.5 if the scene or the answer
could not be read."""

WORLDS_FEATURES: dict[str, str] = {
    "delivered": "1 if the trace delivers an answer of the space",
    "answered": "1 if the scene answers the question",
    "agrees": "1 if the delivered answer is the scene's",
    "certain": "1 if every world of the scene has the delivered answer",
    "impossible": "1 if no world of the scene has it",
    "open": "share of the space's answers that remain possible",
    "default": "1 if the scene's answer is no for want of proof",
    "inconsistent": "1 if the scene contradicts itself",
}
"""Features that compare the delivered answer with the possible worlds, in order."""


def worlds(auditor: TraceAuditor, trace: Trace) -> tuple[float, list[float]]:
    """Compute the score WORLDS of a trace and its WORLDS_FEATURES."""
    labels = trace.answer_space
    if not isinstance(labels, list) or not labels:
        return 0.5, [0.0] * len(WORLDS_FEATURES)
    space = space_of(map(str, labels), dataset=trace.dataset or "")
    chosen = delivered(delivered_text(trace), space, trace.question)
    try:
        truth = answer(auditor, Instance.model_validate(trace.model_dump()))
    except RecordError:
        truth = Answer("unread")
    return worlds_of(chosen, truth, len(space.labels))


def worlds_of(chosen: Delivered, truth: Answer, size: int) -> tuple[float, list[float]]:
    """Compute WORLDS and WORLDS_FEATURES from the delivered labels (None if there are none), the
    scene's answer and the size of the answer space.
    """
    labels = set(chosen) if chosen is not None else set()
    agrees = chosen is not None and truth.status == "answered" and labels == set(truth.answer)
    certain = bool(labels) and labels <= set(truth.certain)
    impossible = bool(labels & set(truth.impossible))
    read = truth.status in ("answered", "open")
    if chosen is None or not read:
        score = 0.5
    elif agrees or certain:
        score = 1.0
    else:
        score = 0.0 if impossible or not truth.possible else 1 / len(truth.possible)
    row = [
        chosen is not None,
        truth.status == "answered",
        agrees,
        certain,
        impossible,
        len(truth.possible) / size,
        truth.default,
        truth.status == "inconsistent",
    ]
    return score, [float(value) for value in row]


def delivered_text(trace: Trace) -> str:
    """Return the text that delivers the answer: the conclusion or, without one, the whole
    response.
    """
    if trace.conclusion is not None:
        return trace.conclusion
    if trace.response is not None:
        return trace.response
    return trace.claims[-1].text if trace.claims else ""
