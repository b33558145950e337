"""A second implementation of algorithm darc, slow and by other means, written from the paper line
by line.

It uses lists and loops. AUROC is computed by counting pairs, and the regularised likelihood is
minimised by Newton steps on its own gradient and Hessian. It uses nothing from the library.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Rows = list[list[float]]


def pair_auroc(scores: list[float], labels: list[int]) -> float:
    pairs = [
        (a, b)
        for a, y in zip(scores, labels, strict=True)
        if y
        for b, z in zip(scores, labels, strict=True)
        if not z
    ]
    return sum(1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs)


def design_row(design: str, scores: list[float], pi: float, delta: float) -> list[float]:
    row = list(scores)
    if design in ("symbolizability", "determinacy"):
        row += [pi * s for s in scores]
    if design == "determinacy":
        row += [delta * s for s in scores]
    return row


def statistics(rows: Rows) -> tuple[list[float], list[float]]:
    means, scales = [], []
    for column in zip(*rows, strict=True):
        mean = sum(column) / len(column)
        deviation = math.sqrt(sum((v - mean) ** 2 for v in column) / len(column))
        means.append(mean)
        scales.append(deviation if deviation > 1e-10 else 1.0)
    return means, scales


def standardise(rows: Rows, means: list[float], scales: list[float]) -> Rows:
    return [[(v - m) / s for v, m, s in zip(row, means, scales, strict=True)] for row in rows]


def logistic(rows: Rows, labels: list[int], l2: float) -> list[float]:
    """Return the weights, followed by the intercept, that minimise `sum BCE + l2/2 |w|^2`."""
    x = np.array([[*row, 1.0] for row in rows])
    y = np.array(labels, float)
    penalty = np.diag([l2] * (x.shape[1] - 1) + [0.0])
    theta = np.zeros(x.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-x @ theta))
        gradient = x.T @ (p - y) + penalty @ theta
        step = np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]) + penalty, gradient)
        theta = theta - step
        if np.abs(step).max() < 1e-13:
            break
    return list(theta)


def darc(
    scores: Rows,
    labels: list[int],
    profiles: list[tuple[float, float]],
    test_scores: Rows,
    test_profiles: list[tuple[float, float]],
    k: int = 5,
    fixed: int = 0,
) -> dict[str, Any]:
    """Return the logits of the test traces before the calibrator, and what was selected."""
    if len(set(labels)) == 1:  # 2
        return {"kind": "fixed", "scores": [row[fixed] for row in test_scores]}
    areas = [pair_auroc(list(column), labels) for column in zip(*scores, strict=True)]  # 3
    retained = [j for j, a in enumerate(areas) if abs(a - 0.5) >= 0.03 - 1e-12]  # 4
    if not retained:  # 5
        best = areas.index(max(areas))
        return {"kind": "best", "scores": [row[best] for row in test_scores], "best": best}

    def turned(row: list[float]) -> list[float]:  # 6
        return [row[j] if areas[j] >= 0.5 else 1 - row[j] for j in retained]

    def rows_of(design: str, of: Rows, with_profiles: list[tuple[float, float]]) -> Rows:
        return [design_row(design, turned(r), *p) for r, p in zip(of, with_profiles, strict=True)]

    n = len(labels)
    parts = [[i for i in range(n) if i % k == f] for f in range(k)]  # 7
    chosen, l2, best_mean = "determinacy", 20, None
    splits = [(part, [i for i in range(n) if i not in part]) for part in parts]
    if all(len({labels[i] for i in half}) == 2 for split in splits for half in split):  # 8
        found = []
        for place, design in enumerate(("scores", "symbolizability", "determinacy")):  # 9
            rows = rows_of(design, scores, profiles)
            for value in (1, 5, 20, 50, 100, 200):
                held = []
                for out, kept in splits:  # 10
                    means, scales = statistics([rows[i] for i in kept])
                    *w, _ = logistic(
                        standardise([rows[i] for i in kept], means, scales),
                        [labels[i] for i in kept],
                        value,
                    )
                    z = [
                        sum(map(math.prod, zip(w, r, strict=True)))
                        for r in standardise([rows[i] for i in out], means, scales)
                    ]
                    held.append(pair_auroc(z, [labels[i] for i in out]))
                found.append((round(sum(held) / k, 10), value, -place))
        best_mean, l2, place = max(found)  # 12
        chosen = ("scores", "symbolizability", "determinacy")[-place]
    rows = rows_of(chosen, scores, profiles)
    means, scales = statistics(rows)
    *w, b = logistic(standardise(rows, means, scales), labels, l2)
    test = standardise(rows_of(chosen, test_scores, test_profiles), means, scales)
    logits = [sum(map(math.prod, zip(w, r, strict=True))) + b for r in test]
    return {
        "kind": "composed",
        "design": chosen,
        "l2": l2,
        "held_out": best_mean,
        "logits": logits,
        "retained": retained,
        "turned": [areas[j] < 0.5 for j in retained],
    }
