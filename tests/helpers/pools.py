"""Pools of scores and labels for tests of metrics."""

from __future__ import annotations

import numpy as np

SCORES = [0.9, 0.6, 0.6, 0.2]
LABELS = [1, 0, 1, 0]


def random_pool(seed: int, n: int, digits: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 2, n)
    first = np.round(np.clip(0.3 * labels + 0.7 * generator.random(n), 0, 1), digits)
    second = np.round(np.clip(0.15 * labels + 0.8 * generator.random(n), 0, 1), digits)
    return first, second, labels
