"""Prediction records."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from symbouq.records.audit import ProfileRecord
from symbouq.records.base import Record


class Reliability(Record):
    """Probability that a trace's answer is right, as `symbouq predict` writes it."""

    id: str
    """Id of the trace."""
    reliability: Annotated[float, Field(ge=0, le=1)]
    """Calibrated probability that the delivered answer is right."""
    accepted: bool | None = None
    """Whether `reliability` reaches the threshold of the model's guarantee; absent without a
    guarantee."""
    scores: dict[str, float]
    """Candidate scores, each calibrated on validation."""
    contributions: dict[str, float]
    """Contribution of each candidate to the log-odds relative to the validation mean; positive
    values favour the answer."""
    profile: ProfileRecord
    """The Determinacy Profile."""
    model_hash: str
    """Hash of the model file."""
    missing: list[str] = Field(default_factory=list)
    """Scores missing from the trace; their validation means are used."""
    faults: list[str] = Field(default_factory=list)
    """Why scores are missing although the trace has input for them, such as the tokens of another
    text."""
