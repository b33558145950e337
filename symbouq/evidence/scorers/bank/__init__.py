"""The reliability evidence bank: fitted, calibrated and stored scorers.

A fitted scorer is stored as a folder that contains its description and calibration (`scorer.json`),
its training time (`timing.json`) and possibly a network (`symbouq.evidence.scorers.learned`). All
choices are made on training and validation data, so scoring needs no labels.
"""

from symbouq.evidence.scorers.bank.fitted import (
    TIMING,
    UNREADABLE,
    Fitted,
    calibrate,
    fingerprint,
    fit,
    fit_into,
    folder_of,
    kept,
    load,
    possible,
    save,
    seeds_of,
)
from symbouq.evidence.scorers.bank.scores import (
    Score,
    Scored,
    Scoring,
    read_calibrators,
    read_scores,
    scores,
    write_scores,
)
from symbouq.evidence.scorers.bank.split import Split
from symbouq.evidence.scorers.settings import Resources

__all__ = [
    "Fitted", "Resources", "fit", "fit_into", "calibrate", "fingerprint", "possible", "seeds_of",
    "folder_of", "kept", "load", "save", "TIMING", "UNREADABLE",
    "Score", "Scored", "Scoring", "scores", "read_calibrators", "read_scores", "write_scores",
    "Split",
]  # fmt: skip
