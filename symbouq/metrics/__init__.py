"""Metrics for reliability scores (appendix Metrics and Statistical Analysis), by family.

Scores are probabilities that an answer is right; labels are 1 (right) and 0 (wrong). If a metric is
undefined for a pool of traces, its value is None. AUROC, class-balanced Brier score and separation
need both classes. No metric is defined on an empty pool.
"""

from symbouq.metrics.agreement import micro_f1, weighted_determinacy
from symbouq.metrics.calibration import (
    ECE_BINS,
    CalibrationBin,
    balanced_brier,
    brier,
    calibration_bins,
    ece,
    nll,
)
from symbouq.metrics.discrimination import (
    SEPARATION_BINS,
    Bin,
    auroc,
    auroc_within,
    oracle,
    separation,
    separation_by_bin,
)
from symbouq.metrics.first_error import (
    FirstErrors,
    exceeding,
    first_error,
    first_errors,
    fitted_threshold,
)
from symbouq.metrics.inference import (
    HIGHER_IS_BETTER,
    METRICS,
    RESAMPLES,
    Comparison,
    evaluate,
    paired_bootstrap,
    two_sided,
)
from symbouq.metrics.pool import Values
from symbouq.metrics.selective import RiskCoverage, aurc, risk_coverage

__all__ = [
    "auroc", "auroc_within", "separation", "separation_by_bin", "oracle", "Bin", "SEPARATION_BINS",
    "brier", "balanced_brier", "ece", "nll", "calibration_bins", "CalibrationBin", "ECE_BINS",
    "aurc", "risk_coverage", "RiskCoverage",
    "evaluate", "paired_bootstrap", "two_sided", "Comparison",
    "METRICS", "HIGHER_IS_BETTER", "RESAMPLES",
    "micro_f1", "weighted_determinacy",
    "first_error", "first_errors", "FirstErrors", "exceeding", "fitted_threshold",
    "Values",
]  # fmt: skip
