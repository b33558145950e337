"""Prediction records."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from symbouq.records.audit import ProfileRecord
from symbouq.records.base import Record


class Reliability(Record):
    """Probability that a trace's answer is right, as written by `symbouq predict`."""

    id: str
    """Id of the trace."""
    reliability: Annotated[float, Field(ge=0, le=1)]
    """Calibrated probability that the delivered answer is right."""
    accepted: bool | None = None
    """Whether `reliability` reaches the threshold that the model guarantees; absent without a
    guarantee.
    """
    scores: dict[str, float]
    """Candidate scores, each calibrated on validation."""
    contributions: dict[str, float]
    """How much each candidate contributes to the log-odds, compared with the validation mean.
    Positive values favour the answer.
    """
    profile: ProfileRecord
    """The Determinacy Profile."""
    model_hash: str
    """Hash of the model file."""
    missing: list[str] = Field(default_factory=list)
    """Scores that the trace does not have. The mean values on validation data are used instead."""
    faults: list[str] = Field(default_factory=list)
    """Why scores are missing although the trace has input for them, such as tokens that belong to
    another text.
    """
