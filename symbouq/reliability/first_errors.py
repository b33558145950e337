"""First wrong claims of traces, according to labels, audits and claim scores."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from symbouq.auditing.verdicts import Verdict
from symbouq.evidence.labels.records import Label
from symbouq.evidence.scorers.bank.scores import Score
from symbouq.evidence.scorers.registry import entry
from symbouq.metrics import FirstErrors, exceeding, first_error, first_errors, fitted_threshold
from symbouq.records.generated import Record
from symbouq.reliability.guarantee import kept_claims, prefix_threshold

AUDITS = {"audit": "verdict", "audit, scene alone": "grounded_verdict"}
"""The auditor's methods for finding the first error, with the verdict used by each."""
MAJORITY = "most frequent"
"""Baseline that always predicts the most frequent first error on validation (which may be none)."""


class Kept(NamedTuple):
    """Claims kept under a guarantee (`prefix_threshold`), measured on traces that were not used to
    fit the threshold.

    Attributes:
        threshold: Threshold on a claim's uncertainty. The claims before the first one that reaches
            it are kept; None: no claim is kept.
        wrong: Share of traces that keep a wrong claim.
        claims: Share of claims kept, among the claims before the first wrong one.
    """

    threshold: float | None
    wrong: float
    claims: float


class Row(NamedTuple):
    """How well a method finds first errors.

    Attributes:
        method: Name of the method.
        seeds: Number of seeds over which results are averaged; 1 if nothing is fitted.
        result: The averaged results, with the interval for the first seed.
        kept: Claims kept under a guarantee, for each seed; empty without a guarantee.
    """

    method: str
    seeds: int
    result: FirstErrors
    kept: tuple[Kept, ...] = ()


def audited_error(audit: Record, verdict: str = "verdict") -> int:
    """Return the number of the first claim in an audit that cannot hold, from 1; 0 if there is
    none.

    Such a claim is contradicted or contradicts itself; the audit calls it the first conflict.
    `AUDITS` lists the possible values of `verdict`.
    """
    conflicts = verdict == "verdict"
    wrong = (
        claim["index"]
        for claim in audit["claims"]
        if claim[verdict] == Verdict.CONTRADICTED or (conflicts and claim["first_conflict"])
    )
    return next(wrong, 0)


def known_errors(
    audits: Iterable[Record], labels: Mapping[str, Sequence[Label]]
) -> dict[str, tuple[Record, int]]:
    """Find the traces with a known first error. Return the audit and the first error of each, by
    id.

    Traces without claims are omitted, and so are traces with labels that do not match the audit's
    claims.
    """
    known = {}
    for audit in audits:
        given = labels.get(audit["id"], ())
        error = first_error(given) if given and len(given) == len(audit["claims"]) else None
        if error is not None:
            known[audit["id"]] = (audit, error)
    return known


def halves(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Split ids by hash into two halves: one for fitting thresholds, the other for measuring."""
    dealt: tuple[list[str], list[str]] = ([], [])
    for name in names:
        dealt[hashlib.sha256(name.encode()).digest()[0] % 2].append(name)
    return dealt


def compared(
    validation: Mapping[str, tuple[Record, int]],
    test: Mapping[str, tuple[Record, int]],
    validation_scores: Iterable[Score] = (),
    test_scores: Iterable[Score] = (),
    level: float | None = None,
) -> list[Row]:
    """Measure how well the auditor, the majority baseline and scores find the errors in `test`.

    With a score, the predicted error is the first claim above a threshold fitted on `validation`.
    Scores without a value for every claim are omitted. If given, `level` is the share of traces
    that may keep a wrong claim under a guarantee.
    """
    true = [error for _, error in test.values()]
    errors = [error for _, error in validation.values()]
    rows = []
    for name, of in AUDITS.items():
        result = first_errors([audited_error(audit, of) for audit, _ in test.values()], true)
        kept: list[Kept] = []
        if level is not None:
            doubts = _doubts(validation, of), _doubts(test, of)
            kept.append(_kept(doubts[0], errors, doubts[1], true, level))
        rows.append(Row(name, 1, result, tuple(kept)))
    counts = Counter(errors)
    usual = max(counts, key=lambda error: (counts[error], -error)) if counts else 0
    rows.append(Row(MAJORITY, 1, first_errors([usual] * len(true), true)))
    fitting, measuring = (
        _by_scorer(scores, known)
        for scores, known in ((validation_scores, validation), (test_scores, test))
    )
    found: dict[str, list[FirstErrors]] = defaultdict(list)
    keeping: dict[str, list[Kept]] = defaultdict(list)
    for (method, seed), uncertainties in measuring.items():
        if (method, seed) in fitting:
            fitted_on = fitting[method, seed]
            threshold = fitted_threshold(fitted_on, errors)
            found[method].append(first_errors(exceeding(uncertainties, threshold), true))
            if level is not None:
                keeping[method].append(_kept(fitted_on, errors, uncertainties, true, level))
    return [
        *rows,
        *(
            Row(name, len(results), _mean(results), tuple(keeping[name]))
            for name, results in found.items()
        ),
    ]


_DOUBTS = {Verdict.ENTAILED: 0.0, Verdict.CONTRADICTED: 1.0}
"""Uncertainty for each verdict; all other verdicts give one half."""


def _doubts(known: Mapping[str, tuple[Record, int]], verdict: str) -> list[list[float]]:
    return [
        [_DOUBTS.get(claim[verdict], 0.5) for claim in audit["claims"]]
        for audit, _ in known.values()
    ]


def _kept(
    fitted: Sequence[Sequence[float]],
    errors: Sequence[int],
    new: Sequence[Sequence[float]],
    true: Sequence[int],
    level: float,
) -> Kept:
    """Fit a threshold on calibration traces and their first errors, and measure the claims kept in
    new traces.
    """
    threshold = prefix_threshold(fitted, errors, level)
    counts = [kept_claims(row, threshold) for row in new]
    sound = [error - 1 if error else len(row) for row, error in zip(new, true, strict=True)]
    wrong = sum(count > whole for count, whole in zip(counts, sound, strict=True))
    claims = sum(min(count, whole) for count, whole in zip(counts, sound, strict=True))
    return Kept(threshold, wrong / max(len(new), 1), claims / max(sum(sound), 1))


def _by_scorer(
    scores: Iterable[Score], known: Mapping[str, tuple[Record, int]]
) -> dict[tuple[str, int], list[Sequence[float]]]:
    """Return the uncertainties of claims by scorer and seed. Scorers without a value for every
    claim are omitted.
    """
    by_id: dict[tuple[str, int], dict[str, Sequence[float]]] = defaultdict(dict)
    for score in scores:
        sign = 1.0 if entry(score.method).orientation == "uncertainty" else -1.0
        by_id[score.method, score.seed][score.id] = [sign * value for value in score.claims]
    whole = {}
    for scorer, values in by_id.items():
        rows = [values.get(name, ()) for name in known]
        sizes = [len(audit["claims"]) for audit, _ in known.values()]
        if [len(row) for row in rows] == sizes:
            whole[scorer] = rows
    return whole


def _mean(results: Sequence[FirstErrors]) -> FirstErrors:
    first = results[0]
    if first.f1 is None:
        return first
    found, cleared, f1 = (
        fmean(getattr(result, name) for result in results) for name in ("found", "cleared", "f1")
    )
    return FirstErrors(first.wrong, first.right, found, cleared, f1, first.interval)
