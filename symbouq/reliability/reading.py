"""What the composer reads of one trace: audits, scores, features; never a label.

Everything comes from what is there when a trace is to be judged: its scene, question, answer space
and text, the probabilities of its tokens where they are given, and scores from elsewhere. The
fields `answer` and `correct` are not looked at.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from symbouq.auditing.answering.answer import Answer
from symbouq.auditing.answering.questions import answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.matching import Delivered, delivered, space_of
from symbouq.errors import RecordError
from symbouq.evidence.scorers.base import SCORERS
from symbouq.evidence.signals.alignment import claim_extents, token_spans
from symbouq.evidence.signals.example import Example, Signals, Span
from symbouq.evidence.signals.traces import without_labels
from symbouq.ontology.library import OntologyLibrary
from symbouq.records import Context, Instance, Trace
from symbouq.records.features import CLAIM_FEATURES, TRACE_FEATURES
from symbouq.records.generated import is_structured

Values = NDArray[np.float64]

Composition = Literal["paper", "dual", "worlds"]
"""What the constraint scores see: the assumed context, as in the paper; both contexts side by side;
both and how the delivered answer stands in the worlds that the scene leaves possible."""

COMPOSITIONS: tuple[Composition, ...] = ("paper", "dual", "worlds")

CONTEXTS: dict[Composition, tuple[Context, ...]] = {
    "paper": ("assumed",),
    "dual": ("assumed", "grounded"),
    "worlds": ("assumed", "grounded"),
}
"""The auditor's contexts that a composition reads."""

RULE = "Constraint-Rule"
GROUNDED_RULE = "Constraint-Rule (grounded)"
"""Constraint-Rule over the grounded verdicts."""
WORLDS = "Constraint-Worlds"
"""The delivered answer checked against the scene: 1 if every world of the scene has it, 0 if none
has, otherwise one over the number of answers that remain open; 0.5 where the scene or the answer
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
"""What possible worlds say about the delivered answer, in order."""

_POOLS = ("conclusion", "mean")
_ALTERNATIVES = 4


@dataclass(frozen=True)
class Reading:
    """What the composer reads of one trace.

    Attributes:
        id: The trace's id.
        group: The same for all traces about one scene.
        profile: Its Determinacy Profile under the assumed context.
        discounted: Its discounted profile.
        scores: Scores of the trace by name, larger ones for answers that are likelier right, or
            those that the record brought, whatever they mean.
        claims: Decoding scores by name, one uncertainty a claim.
        features: What Constraint-Only sees, as `feature_names` names it.
    """

    id: str
    group: str
    profile: Mapping[str, float]
    discounted: Mapping[str, float]
    scores: Mapping[str, float]
    claims: Mapping[str, tuple[float, ...]]
    features: tuple[float, ...]

    def seen_as(self, composition: Composition) -> Reading:
        """The same trace under a composition that sees no more than the one it was read with."""
        hidden = {"paper": (GROUNDED_RULE, WORLDS), "dual": (WORLDS,), "worlds": ()}[composition]
        scores = {name: score for name, score in self.scores.items() if name not in hidden}
        features = self.features[: len(feature_names(composition))]
        return replace(self, scores=scores, features=features)


def feature_names(composition: Composition) -> list[str]:
    """The names of the features that Constraint-Only sees: for each context the 16 of the trace,
    the 23 of the conclusion and the means of the 23 over all claims; with `worlds` 8 more. A
    composition that sees less has the first of them.
    """
    names = []
    for context in CONTEXTS[composition]:
        names += [f"{context}/trace/{name}" for name in TRACE_FEATURES]
        names += [f"{context}/{pool}/{name}" for pool in _POOLS for name in CLAIM_FEATURES]
    if composition == "worlds":
        names += [f"worlds/{name}" for name in WORLDS_FEATURES]
    return names


class Reader:
    """Reads traces under one set of options.

    Args:
        composition: What the constraint scores see.
        profile: Profile for every trace; else each trace's own, its dataset's, or the default.
        ontology: Folder of a user's ontology, or an ontology that is already read.

    Raises:
        OntologyError: If the ontology or the profile cannot be used.
    """

    def __init__(
        self,
        composition: Composition = "dual",
        profile: str | None = None,
        ontology: str | os.PathLike[str] | OntologyLibrary | None = None,
    ) -> None:
        self.composition = composition
        self.auditor = TraceAuditor(profile, ontology)

    @property
    def ontology_hash(self) -> str:
        """The hash of rules and ontology, as audits carry it."""
        return self.auditor.library.ontology().hash

    def read(self, trace: Trace) -> Reading:
        """What the composer reads of a trace.

        Raises:
            RecordError: If it cannot be audited, or its scores are no numbers by name.
        """
        audits = self.auditor.audited_under(trace, CONTEXTS[self.composition])
        assumed = audits["assumed"]
        record = without_labels(trace.model_dump(exclude_unset=True))
        scores = {RULE: float(assumed["constraint_rule"])}
        features = [value for audit in audits.values() for value in pooled(audit)]
        if "grounded" in audits:
            scores[GROUNDED_RULE] = float(audits["grounded"]["constraint_rule"])
        if self.composition == "worlds":
            scores[WORLDS], row = worlds(self.auditor, trace)
            features += row
        return Reading(
            trace.id,
            scene_key(trace),
            assumed["profile"],
            assumed["discounted"],
            scores | given_scores(trace),
            decoding(trace.id, record, assumed),
            tuple(features),
        )


def worlds(auditor: TraceAuditor, trace: Trace) -> tuple[float, list[float]]:
    """The score WORLDS of a trace, and the WORLDS_FEATURES."""
    labels = trace.answer_space
    if not isinstance(labels, list) or not labels:
        return 0.5, [0.0] * len(WORLDS_FEATURES)
    space = space_of(map(str, labels))
    chosen = delivered(delivered_text(trace), space, trace.question)
    try:
        found = answer(auditor, Instance.model_validate(trace.model_dump()))
    except RecordError:
        found = Answer("unread")
    return worlds_of(chosen, found, len(space.labels))


def worlds_of(chosen: Delivered, found: Answer, size: int) -> tuple[float, list[float]]:
    """The score WORLDS and the WORLDS_FEATURES.

    Args:
        chosen: The labels that the trace delivers; None for none.
        found: What the scene answers.
        size: How many labels the answer space has.
    """
    labels = set(chosen) if chosen is not None else set()
    agrees = chosen is not None and found.status == "answered" and labels == set(found.answer)
    certain = bool(labels) and labels <= set(found.certain)
    impossible = bool(labels & set(found.impossible))
    read = found.status in ("answered", "open")
    if chosen is None or not read:
        score = 0.5
    elif agrees or certain:
        score = 1.0
    else:
        score = 0.0 if impossible or not found.possible else 1 / len(found.possible)
    row = [
        chosen is not None,
        found.status == "answered",
        agrees,
        certain,
        impossible,
        len(found.possible) / size,
        found.default,
        found.status == "inconsistent",
    ]
    return score, [float(value) for value in row]


def pooled(audit: Mapping[str, Any]) -> list[float]:
    """Trace features, those of the conclusion, and means over claims; zeros without claims."""
    rows = np.array(audit["features"]["claims"], np.float64).reshape(-1, len(CLAIM_FEATURES))
    if not len(rows):
        rows = np.zeros((1, len(CLAIM_FEATURES)))
    values = [*audit["features"]["trace"], *rows[-1], *rows.mean(axis=0)]
    return [float(value) for value in values]


def delivered_text(trace: Trace) -> str:
    """The text that delivers the answer: the conclusion, or the whole response."""
    if trace.conclusion is not None:
        return trace.conclusion
    if trace.response is not None:
        return trace.response
    return trace.claims[-1].text if trace.claims else ""


def scene_key(trace: Instance) -> str:
    """The same for all traces about one scene."""
    scene: Any = trace.scene
    if scene is None:
        scene = [[r.subject, r.relation, r.object] for r in trace.scene_relations or ()]
    text = " ".join(scene) if scene and isinstance(scene[0], str) else json.dumps(scene)
    if isinstance(scene, str):
        text = scene
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


def given_scores(trace: Trace) -> dict[str, float]:
    """The scores that a record brings; null is a missing one, and Random is no evidence.

    Raises:
        RecordError: If they are no finite numbers by name.
    """
    given = trace.scores or {}
    if not isinstance(given, dict):
        raise RecordError("scores: an object of numbers by name is expected")
    found = {}
    for name, value in given.items():
        if value is None or name == "Random":
            continue
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
        ):
            raise RecordError(f"scores.{name}: a finite number is expected, found {value!r}")
        found[str(name)] = float(value)
    return found


# Decoding scores --------------------------------------------------------------------------


def decoding(
    identity: str, record: dict[str, Any], audit: Mapping[str, Any]
) -> dict[str, tuple[float, ...]]:
    """The decoding scores that the record's `tokens` allow, one uncertainty a claim.

    Without alternatives (`top`) that is Perplexity alone; where the probability of a token is
    missing, there are none.

    Args:
        identity: The trace's id.
        record: The trace without labels.
        audit: Its audit, whose claims are scored.

    Raises:
        RecordError: If `tokens` is no list of tokens.
    """
    tokens = record.get("tokens")
    texts = tuple(claim["text"] for claim in audit["claims"])
    if not tokens or not texts:
        return {}
    if not isinstance(tokens, list) or not all(isinstance(token, dict) for token in tokens):
        raise RecordError("tokens: a list of {text, logprob, top} is expected")
    logprobs = [token.get("logprob") for token in tokens]
    if not all(_number(value) for value in logprobs):
        return {}
    tops = [_top(token.get("top")) for token in tokens]
    complete = all(tops)
    signals = Signals(
        np.array(logprobs, np.float32),
        np.array([top or [0.0] * _ALTERNATIVES for top in tops], np.float32),
        np.empty((0, 0), np.float32),
        np.empty((0, 0), np.float32),
        _spans(tokens, texts, record),
    )
    example = Example(identity, record, texts, signals)
    found = {}
    for entry in SCORERS.values():
        if entry.family == "decoding" and (complete or entry.name == "Perplexity"):
            (values,) = entry.make().score([example])
            found[entry.name] = tuple(map(float, values))
    return found


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _top(given: Any) -> list[float]:
    """The four largest probabilities of a token's alternatives; nothing where one is not known."""
    if not isinstance(given, list) or not given:
        return []
    logprobs: list[Any] = [o.get("logprob") if isinstance(o, dict) else None for o in given]
    if not all(_number(value) for value in logprobs):
        return []
    largest = sorted((min(1.0, math.exp(value)) for value in logprobs), reverse=True)
    return (largest + [0.0] * _ALTERNATIVES)[:_ALTERNATIVES]


def _spans(
    tokens: Sequence[Mapping[str, Any]], claims: Sequence[str], record: Mapping[str, Any]
) -> list[Span]:
    """The tokens of each claim; none at all where the claims are not found in their text, and then
    every claim gets the statistic of the whole trace.
    """
    extents, text = [], ""
    for token in tokens:
        piece = str(token.get("text") or "")
        extents.append((len(text), len(text) + len(piece)))
        text += piece
    for structured in (is_structured(record), False):
        try:
            return token_spans(extents, claim_extents(text, claims, structured))
        except (RecordError, ValueError):
            continue
    return [(0, 0)] * len(claims)
