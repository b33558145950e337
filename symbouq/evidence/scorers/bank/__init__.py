"""The reliability evidence bank: scorers that are fitted, calibrated, kept and applied.

A fitted scorer is a folder: what it is and how it was calibrated (`scorer.json`), how long that
took (`timing.json`), and its network where it has one (`symbouq.evidence.scorers.learned`).
Everything in it was decided on training and validation data. Applying it reads no labels.
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
