"""Reads traces for the composer: audits, scores and features, but never labels.

Only information that is available for an unlabelled trace is used: scene, question, answer space,
text, token probabilities and external scores. The fields `answer` and `correct` are not read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import RecordError
from symbouq.evidence.signals.traces import without_labels
from symbouq.ontology.library import OntologyLibrary
from symbouq.records import Answers, Context, Instance, Trace
from symbouq.records.features import CLAIM_FEATURES, TRACE_FEATURES
from symbouq.reliability.decoding import decoding, is_number
from symbouq.reliability.worlds import WORLDS, WORLDS_FEATURES, worlds

Composition = Literal["paper", "dual", "worlds"]
"""What the constraint scores take into account: the assumed context, as in the paper; both
contexts; or both, plus the answer's status in the scene's possible worlds."""

CONTEXTS: dict[Composition, tuple[Context, ...]] = {
    "paper": ("assumed",),
    "dual": ("assumed", "grounded"),
    "worlds": ("assumed", "grounded"),
}
"""Contexts read for each composition."""

COMPOSITIONS: tuple[Composition, ...] = tuple(CONTEXTS)

RULE = "Constraint-Rule"
GROUNDED_RULE = "Constraint-Rule (grounded)"
"""Name of Constraint-Rule over the grounded verdicts."""
_POOLS = ("conclusion", "mean")


@dataclass(frozen=True)
class Reading:
    """A trace in the form in which the composer uses it.

    Attributes:
        id: Id of the trace.
        group: Key shared by all traces of one scene.
        profile: Determinacy Profile in the assumed context.
        discounted: Discounted profile.
        scores: Scores of the trace by name; larger means more likely right. This need not be true
            of scores taken from the record.
        claims: Decoding scores by name, one uncertainty per claim.
        features: Features of Constraint-Only, in the order of `feature_names`.
        fault: Reason why a trace with tokens has no decoding scores; otherwise empty.
    """

    id: str
    group: str
    profile: Mapping[str, float]
    discounted: Mapping[str, float]
    scores: Mapping[str, float]
    claims: Mapping[str, tuple[float, ...]]
    features: tuple[float, ...]
    fault: str = ""

    def seen_as(self, composition: Composition) -> Reading:
        """Return the reading of the same trace for a composition that uses only part of the
        information.

        Answers are not judged again. `Reader("paper")` uses the strict auditor, so its reading
        differs from the result if a conclusion states no relation.
        """
        hidden = {"paper": (GROUNDED_RULE, WORLDS), "dual": (WORLDS,), "worlds": ()}[composition]
        scores = {name: score for name, score in self.scores.items() if name not in hidden}
        features = self.features[: len(feature_names(composition))]
        return replace(self, scores=scores, features=features)


def feature_names(composition: Composition) -> list[str]:
    """Return the names of the features of Constraint-Only.

    For each context, there are 16 features for the trace, 23 for the conclusion, and the means of
    these 23 over all claims. With `worlds`, there are 8 more. Compositions with fewer features use
    the first part of this list.
    """
    names = []
    for context in CONTEXTS[composition]:
        names += [f"{context}/trace/{name}" for name in TRACE_FEATURES]
        names += [f"{context}/{pool}/{name}" for pool in _POOLS for name in CLAIM_FEATURES]
    if composition == "worlds":
        names += [f"worlds/{name}" for name in WORLDS_FEATURES]
    return names


class Reader:
    """Reads traces with fixed options.

    Args:
        composition: Contexts that the constraint scores use.
        profile: Profile for every trace; None: each trace's own, its dataset's, or the default.
        ontology: Folder with a custom ontology, or a loaded ontology.
        pipeline: English pipeline for open text; None: the first one installed.

    Raises:
        OntologyError: If the ontology or the profile is invalid.
    """

    def __init__(
        self,
        composition: Composition = "worlds",
        profile: str | None = None,
        ontology: str | os.PathLike[str] | OntologyLibrary | None = None,
        pipeline: str | None = None,
    ) -> None:
        self.composition = composition
        answers: Answers = "relation" if composition == "paper" else "answer"
        self.auditor = TraceAuditor(profile, ontology, pipeline=pipeline, answers=answers)

    @property
    def ontology_hash(self) -> str:
        """Hash of the rules and the ontology, as in audits."""
        return self.auditor.library.ontology().hash

    def read(self, trace: Trace) -> Reading:
        """Read a trace.

        Raises:
            RecordError: If the trace was cut off or cannot be audited, or if its scores are not an
                object of numbers.
        """
        if trace.truncated:
            raise RecordError("there is no answer to score: the output was cut off, or is empty")
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
        decoded = decoding(trace.id, record, assumed)
        return Reading(
            trace.id,
            scene_key(trace),
            assumed["profile"],
            assumed["discounted"],
            scores | given_scores(trace),
            decoded.claims,
            tuple(features),
            decoded.fault,
        )


def pooled(audit: Mapping[str, Any]) -> list[float]:
    """Return the features of the trace and of the conclusion, and the mean features over all
    claims; zeros without claims.
    """
    rows = np.array(audit["features"]["claims"], np.float64).reshape(-1, len(CLAIM_FEATURES))
    if not len(rows):
        rows = np.zeros((1, len(CLAIM_FEATURES)))
    values = [*audit["features"]["trace"], *rows[-1], *rows.mean(axis=0)]
    return [float(value) for value in values]


def scene_key(trace: Instance) -> str:
    """Return a key that is the same for all traces about one scene."""
    scene: Any = trace.scene
    if scene is None:
        scene = [[r.subject, r.relation, r.object] for r in trace.scene_relations or ()]
    if not isinstance(scene, str):
        scene = " ".join(scene) if scene and isinstance(scene[0], str) else json.dumps(scene)
    return hashlib.sha256(" ".join(scene.split()).encode()).hexdigest()[:16]


def given_scores(trace: Trace) -> dict[str, float]:
    """Return the scores given in a record. Null means that a score is missing. Random is ignored.

    Raises:
        RecordError: If the scores are not an object of finite numbers by name.
    """
    scores = trace.scores or {}
    if not isinstance(scores, dict):
        raise RecordError("scores: an object of numbers by name is expected")
    kept = {str(k): v for k, v in scores.items() if v is not None and k != "Random"}
    for name, value in kept.items():
        if not is_number(value):
            raise RecordError(f"scores.{name}: a finite number is expected, found {value!r}")
    return {name: float(value) for name, value in kept.items()}
