"""Features of the composer: candidate scores and their products with the profile.

See section Determinacy-Aware Reliability Composition, Eq. darc_features. Each of the three designs
contains the previous one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from symbouq.metrics import Values

Design = Literal["scores", "symbolizability", "determinacy"]

DESIGNS: tuple[Design, ...] = ("scores", "symbolizability", "determinacy")
"""The designs h_score, h_sym and h_det, simplest first."""

CoverageKind = Literal["paper", "evaluable", "discounted"]
"""Kind of determinacy used for the applicability: as in the paper; computed only over parsed claims
that are not blocked by an earlier conflict; or with each claim weighted by its weakest premise."""


@dataclass(frozen=True)
class Coverage:
    """The part of the Determinacy Profile that the composer reads.

    Attributes:
        symbolizability: pi of each trace, `[n]`.
        applicability: delta = pi d of each trace, `[n]`.
    """

    symbolizability: Values
    applicability: Values

    @classmethod
    def of(
        cls, audits: Sequence[Mapping[str, Mapping[str, float]]], kind: CoverageKind = "paper"
    ) -> Coverage:
        """Compute the coverage from the `profile` of each audit or, for the kind `discounted`, from
        its `discounted` profile.
        """
        read = "discounted" if kind == "discounted" else "profile"
        profiles = [audit[read] for audit in audits]
        pi = np.array([profile["symbolizability"] for profile in profiles], np.float64)
        delta = np.array([profile["applicability"] for profile in profiles], np.float64)
        if kind == "evaluable":
            d = np.array([profile["determinacy"] for profile in profiles], np.float64)
            unknown = np.array([profile["unknown_rate"] for profile in profiles], np.float64)
            # A share 1 - d - nu of the parsed claims is blocked; d + nu is the remaining share.
            left = d + unknown
            delta = pi * np.divide(d, left, out=np.zeros_like(d), where=left > 0)
        return cls(pi, delta)

    def shuffled(self, seed: int) -> Coverage:
        """Permute the applicability across traces. This control keeps the distribution but removes
        the association with the traces.
        """
        order = np.random.default_rng(seed).permutation(len(self.applicability))
        return replace(self, applicability=self.applicability[order])


def columns(design: Design, names: Sequence[str], gated: Collection[str] = ()) -> list[str]:
    """Return, for each column of `features`, the candidate that it belongs to.

    Gated candidates have no raw column. They are used only through interactions, so their scores
    have no effect if pi and delta are 0.
    """
    return [name for name in names if name not in gated] + [*names] * DESIGNS.index(design)


def features(
    design: Design,
    names: Sequence[str],
    scores: Values,
    coverage: Coverage,
    gated: Collection[str] = (),
) -> Values:
    """Compute h(r) for each trace, `[n, columns]`, from the oriented scores `[n, m]` of m
    candidates (Eq. darc_features).
    """
    raw = scores[:, [n for n, name in enumerate(names) if name not in gated]]
    gates = (coverage.symbolizability, coverage.applicability)[: DESIGNS.index(design)]
    return np.concatenate([raw, *(gate[:, None] * scores for gate in gates)], axis=1)
