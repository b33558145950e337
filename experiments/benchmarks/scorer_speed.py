"""Measures the cost of the learned scorers at the paper's width (Table efficiency).

    python experiments/benchmarks/scorer_speed.py [--traces 64] [--tokens 80] [--claims 4]

Traces are random numbers in the shape of the signals from a backbone with width 4,096: hidden
states, four probabilities, and lookback ratios of 32 layers. The values do not affect the cost.
Training is measured for one epoch and extrapolated to the paper's 10,000 traces and 30 epochs. The
last row is for Constraint and MLP together, with the speed relative to the slower of the two.
"""

from __future__ import annotations

from itertools import pairwise

import click
import numpy as np
import torch

from symbouq.evidence.scorers import bank
from symbouq.evidence.scorers.base import Labelled
from symbouq.evidence.scorers.efficiency import PATH, cost, path_cost
from symbouq.evidence.scorers.registry import SCORERS
from symbouq.evidence.scorers.settings import Settings
from symbouq.evidence.signals.example import Example, Signals
from symbouq.records.features import CLAIM_FEATURES, TRACE_FEATURES

WIDTH, LAYERS = 4096, 32
PAPER_TRACES, PAPER_EPOCHS = 10_000, 30


def trace(number: int, tokens: int, claims: int, draw: np.random.Generator) -> Labelled:
    """Make a trace with random signals and features, and claims of equal length."""
    bounds = np.linspace(0, tokens, claims + 1).astype(int).tolist()
    features = {
        "claims": draw.random((claims, len(CLAIM_FEATURES))).tolist(),
        "trace": draw.random(len(TRACE_FEATURES)).tolist(),
    }
    signals = Signals(
        logprobs=-draw.random(tokens, np.float32),
        top=np.sort(draw.random((tokens, 4), np.float32))[:, ::-1],
        hidden=draw.standard_normal((tokens, WIDTH), np.float32).astype(np.float16),
        lookback=draw.random((tokens, LAYERS), np.float32),
        spans=list(pairwise(bounds)),
    )
    audit = {"claims": [{}] * claims, "features": features, "constraint_rule": 0.5}
    texts = tuple(f"claim {n}" for n in range(claims))
    labels = tuple(int(label) for label in draw.integers(0, 2, claims - 1))
    return Labelled(Example(f"t{number}", {}, texts, signals, audit), (*labels, number % 2))


@click.command()
@click.option("--traces", default=64)
@click.option("--tokens", default=80)
@click.option("--claims", default=4)
@click.option("--device", default="cpu")
def main(traces: int, tokens: int, claims: int, device: str) -> None:
    """Measure and print."""
    draw = np.random.default_rng(2026)
    items = [trace(n, tokens, claims, draw) for n in range(traces)]
    examples = [item.example for item in items]
    resources = bank.Resources(device=device)
    print(f"{torch.get_num_threads()} threads, {device}")
    print("| method | parameters (M) | training (min), extrapolated | traces/s | memory (GB) |")
    print("|---|---|---|---|---|")
    rates, fitted = {}, {}
    scale = PAPER_TRACES * PAPER_EPOCHS / len(items) / 60
    for name in (name for name, scorer in SCORERS.items() if scorer.trained):
        fitted[name] = bank.fit(name, items, items[:8], 2026, Settings(epochs=1), resources)
        row = cost(fitted[name], examples)
        rates[name] = row.traces_per_second
        minutes = fitted[name].seconds * scale
        print(
            f"| {name} | {(row.parameters or 0) / 1e6:.2f} | {minutes:.0f} "
            f"| {row.traces_per_second:.1f} | {row.memory_gb:.1f} |",
            flush=True,
        )
    both = path_cost([fitted[name] for name in PATH], examples)
    share = both.traces_per_second / min(rates[name] for name in PATH)
    print(
        f"| {both.method} | {(both.parameters or 0) / 1e6:.2f} | | {both.traces_per_second:.1f}, "
        f"{share:.2f} of the slower part | {both.memory_gb:.1f} |"
    )


if __name__ == "__main__":
    main()
