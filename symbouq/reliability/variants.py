"""The variants of the composer that the experiments compare: rows of Table ablation, and what the
paper leaves open.

Each is a set of options and a choice of coverage, for the same algorithm. Rows that change the
auditor's features (grounded context, dual-channel, possible worlds) are compositions of
`symbouq.reliability.reading`; single scores need no composer; the restricted oracle reads test
labels and is `symbouq.metrics.oracle`.
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
"""Candidates of the constraint family, which the gated variant gates."""

PROFILE = ("symbolizability", "applicability")
"""The columns of the variant whose features are the profile."""


@dataclass(frozen=True)
class Variant:
    """One way to compose.

    Attributes:
        designs: Designs to choose from; none: all.
        coverage: Which determinacy.
        shuffled: Whether the applicability is permuted across traces.
        gated: Whether constraint candidates enter through the interactions alone.
        average: Scores that are averaged, nothing being fitted.
        profile: Whether pi and delta are plain features and no score is one: the control for what
            the interactions let the profile predict by itself.
    """

    designs: tuple[Design, ...] = ()
    coverage: CoverageKind = "paper"
    shuffled: bool = False
    gated: bool = False
    average: tuple[str, ...] = ()
    profile: bool = False

    def options(self, base: Options, names: Collection[str]) -> Options:
        """The options of the algorithm.

        Args:
            base: What they start from.
            names: The candidates; those that start with a constraint score's name are its
                variants, such as `Constraint-Rule (grounded)`.
        """
        if self.profile:  # gated candidates have no column in the design of scores
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
"""The variants by name. `full` is the paper's method; the last three go beyond it."""


@dataclass(frozen=True)
class Pool:
    """The traces of one split, without labels.

    Attributes:
        names: The candidates.
        scores: `[n, m]`.
        audits: Of each trace `profile` and `discounted`, as an audit record has them.
    """

    names: tuple[str, ...]
    scores: Values
    audits: Sequence[Mapping[str, Mapping[str, float]]]


def evidence_of(variant: Variant, pool: Pool, seed: int = 2026) -> Evidence:
    """The evidence of a split as a variant sees it.

    Args:
        variant: The variant.
        pool: The split.
        seed: Decides the permutation of a shuffled variant.
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
    """Fits a variant on validation and predicts a test split.

    Args:
        name: One of VARIANTS.
        validation: The validation split.
        labels: Its labels.
        test: The test split.
        options: What is fixed beforehand; the variant goes before it.
        groups: Which validation traces stay together in a fold.
        seed: Decides the permutation of the shuffled variant.

    Returns:
        The probability that each test trace's answer is right, and the fitted composer.

    Raises:
        SymboUQError: If the name is unknown, or the variant needs a score that is missing.
    """
    if name not in VARIANTS:
        raise SymboUQError(f"unknown variant {name!r}; there are: {', '.join(VARIANTS)}")
    variant = VARIANTS[name]
    chosen = variant.options(options or Options(), validation.names)
    composer = fit(evidence_of(variant, validation, seed), labels, chosen, groups)
    return composer.predict(evidence_of(variant, test, seed)), composer
