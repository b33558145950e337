"""The record of a prediction."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from symbouq.records.audit import ProfileRecord
from symbouq.records.base import Record


class Reliability(Record):
    """How likely a trace's answer is right: what `symbouq predict` writes."""

    id: str
    """The trace's id."""
    reliability: Annotated[float, Field(ge=0, le=1)]
    """The calibrated probability that the delivered answer is right."""
    accepted: bool | None = None
    """Whether it reaches the threshold of the model's guarantee; absent where it has none."""
    scores: dict[str, float]
    """The candidate scores, each calibrated on validation."""
    contributions: dict[str, float]
    """What each candidate that the composer reads adds to the log-odds, compared with the mean
    of validation: positive values speak for the answer."""
    profile: ProfileRecord
    """The Determinacy Profile."""
    model_hash: str
    """The hash of the model file."""
    missing: list[str] = Field(default_factory=list)
    """Scores that the model knows and the trace has not; their validation mean stands for them."""
    faults: list[str] = Field(default_factory=list)
    """Why scores are missing for which it brings something, such as the tokens of another text."""
