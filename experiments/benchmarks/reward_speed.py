"""Measures how many rewards a process computes per second.

    python experiments/benchmarks/reward_speed.py [--traces N]

The completions contain sound and counterfactual reasoning about generated scenes, as objects and as
prose. Each completion is about a different scene, so no results can be reused. The rules and the
parser are loaded beforehand. If the package `math-verify` is installed, the speed at which it
compares pairs of numbers is also shown, because this is the corresponding cost in training on
mathematics.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import click
from first_error_table import chains

from symbouq.evidence.contract import Structured
from symbouq.rewards import reward

Case = dict[str, Any]


def cases(count: int) -> dict[str, list[Case]]:
    """Make completions with their questions, by form."""
    made: dict[str, list[Case]] = {"objects": [], "prose": []}
    for trace, _ in chains(count):
        steps, conclusion = trace["reasoning"], trace["conclusion"]
        asked = {name: trace[name] for name in ("scene", "question", "answer_space", "dataset")}
        whole = Structured(tuple(steps), conclusion).encoded()
        told = ". ".join([*steps, f"Answer: {conclusion}"])
        made["objects"].append({**asked, "completion": whole, "answer": trace["answer"]})
        made["prose"].append({**asked, "completion": told, "answer": trace["answer"]})
    return made


def speed(work: Callable[[Case], object], given: Sequence[Case]) -> float:
    """Measure calls per second."""
    began = time.perf_counter()
    for case in given:
        work(case)
    return len(given) / (time.perf_counter() - began)


def compare_numbers(count: int) -> float | None:
    """Return the number of comparisons per second by math-verify; None if it is not installed."""
    try:
        from math_verify import parse, verify
    except ImportError:
        return None
    pairs = [{"gold": f"${n}/8$", "said": f"The answer is ${n / 8}$."} for n in range(1, count + 1)]
    return speed(lambda case: verify(parse(case["gold"]), parse(case["said"])), pairs)


@click.command()
@click.option("--traces", default=500)
def main(traces: int) -> None:
    """Measure and print."""
    for form, given in cases(traces + 20).items():
        warm, measured = given[:20], given[20:]
        speed(lambda case: reward(**case), warm)
        print(f"rewards of {form}: {speed(lambda case: reward(**case), measured):.0f}/s")
    numbers = compare_numbers(traces)
    print("math-verify: " + ("not installed" if numbers is None else f"{numbers:.0f}/s"))


if __name__ == "__main__":
    main()
