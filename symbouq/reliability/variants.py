"""Variants of the composer in experiments: the rows of Table ablation, and more.

A variant is a set of options and a kind of coverage. The rows that change the auditor's features
(grounded context, dual-channel, possible worlds) are compositions of `symbouq.reliability.reading`.
The restricted oracle reads test labels; see `symbouq.metrics.oracle`.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from symbouq.errors import SymboUQError
from symbouq.metrics import Values
from symbouq.reliability.darc import Composer, Evidence, Options, fit
from symbouq.reliability.designs import Coverage, CoverageKind, Design

CONSTRAINT_FAMILY = frozenset({"Constraint", "Constraint-Only", "Constraint-Rule"})
"""Candidates in the constraint family, which are gated in the gated variant."""

PROFILE = ("symbolizability", "applicability")
"""Column names for the variant in which the profile values are the features."""


@dataclass(frozen=True)
class Variant:
    """A variant of the composer.

    Attributes:
        designs: Designs to choose from; empty: all.
        coverage: Kind of determinacy.
        shuffled: Whether the applicability is permuted across traces.
        gated: Whether constraint candidates are used only through the interactions.
        average: Scores to average, without fitting.
        profile: Whether pi and delta are the only features, without any score. This is a control
            that shows how much the profile alone predicts.
    """

    designs: tuple[Design, ...] = ()
    coverage: CoverageKind = "paper"
    shuffled: bool = False
    gated: bool = False
    average: tuple[str, ...] = ()
    profile: bool = False

    def options(self, base: Options, names: Collection[str]) -> Options:
        """Return the options for the algorithm. A candidate such as `Constraint-Rule (grounded)`
        belongs to the constraint family if the score before the parenthesis does.
        """
        if self.profile:  # gated scores have no column in the scores-only design
            return replace(base, designs=("scores",), epsilon=0, gated=frozenset(names))
        gated = frozenset(name for name in names if name.split(" (")[0] in CONSTRAINT_FAMILY)
        return replace(
            base,
            designs=self.designs or base.designs,
            gated=gated if self.gated else base.gated,
            average=self.average or base.average,
        )


VARIANTS: dict[str, Variant] = {
    "fixed average": Variant(average=("Constraint", "MLP")),
    "scores only": Variant(designs=("scores",)),
    "symbolizability": Variant(designs=("symbolizability",)),
    "determinacy": Variant(designs=("determinacy",)),
    "shuffled": Variant(designs=("determinacy",), shuffled=True),
    "evaluable-only": Variant(coverage="evaluable"),
    "full": Variant(),
    "gated": Variant(gated=True),
    "discounted": Variant(coverage="discounted"),
    "profile alone": Variant(profile=True),
}
"""Variants by name. `full` is the paper's method; the last three are not in the paper."""


@dataclass(frozen=True)
class Pool:
    """Traces of one split, without labels.

    Attributes:
        names: Names of the candidates.
        scores: Scores of the candidates, `[n, m]`.
        audits: `profile` and `discounted` of each trace, as in audit records.
    """

    names: tuple[str, ...]
    scores: Values
    audits: Sequence[Mapping[str, Mapping[str, float]]]


def evidence_of(variant: Variant, pool: Pool, seed: int = 2026) -> Evidence:
    """Return the evidence of a split for a variant. In the shuffled variant, the seed determines
    the permutation.
    """
    coverage = Coverage.of(pool.audits, variant.coverage)
    if variant.shuffled:
        coverage = coverage.shuffled(seed)
    if variant.profile:
        plain = [pool.scores, coverage.symbolizability[:, None], coverage.applicability[:, None]]
        return Evidence((*pool.names, *PROFILE), np.concatenate(plain, axis=1), coverage)
    return Evidence(pool.names, pool.scores, coverage)


def compose(
    name: str,
    validation: Pool,
    labels: Sequence[int] | NDArray[np.int_],
    test: Pool,
    options: Options | None = None,
    groups: Sequence[Hashable] | None = None,
    seed: int = 2026,
) -> tuple[Values, Composer]:
    """Fit a variant on validation and predict a test split. The variant's options override
    `options`.

    Returns:
        The probability that each test trace's answer is right, and the fitted composer.

    Raises:
        SymboUQError: If the name is unknown, or the variant needs a missing score.
    """
    if name not in VARIANTS:
        raise SymboUQError(f"unknown variant {name!r}; there are: {', '.join(VARIANTS)}")
    variant = VARIANTS[name]
    chosen = variant.options(options or Options(), validation.names)
    composer = fit(evidence_of(variant, validation, seed), labels, chosen, groups)
    return composer.predict(evidence_of(variant, test, seed)), composer
