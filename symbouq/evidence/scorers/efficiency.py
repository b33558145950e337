"""What scores cost once their signals are cached (Table efficiency).

Generation, the teacher-forced pass and the audit are not counted, so the rows of the sampling
scores leave out what makes them dear, the K further answers; P(True)'s pass of the backbone
counts.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.bank import Fitted
from symbouq.evidence.scorers.base import Scorer, readable
from symbouq.evidence.signals.example import Example

PATH = ("Constraint", "MLP")
"""The two scores of the paper's path."""


@dataclass(frozen=True)
class Cost:
    """A row of the table.

    Attributes:
        method: The scorer, or both of the path.
        parameters: How many numbers are trained; None for training-free scores.
        training_minutes: Likewise; the path's is the sum.
        traces_per_second: Scored from examples in memory, calibration included.
        memory_gb: Peak memory while scoring, 10^9 bytes: of the process with all its data on a
            CPU, of what PyTorch allocated on a GPU.
    """

    method: str
    parameters: int | None
    training_minutes: float | None
    traces_per_second: float
    memory_gb: float


def cost(fitted: Fitted, examples: Sequence[Example], seconds: float = 1.0) -> Cost:
    """What one scorer costs.

    Args:
        fitted: The scorer.
        examples: Traces with what it needs.
        seconds: How long it is timed, at least; a first pass is not timed.

    Raises:
        SymboUQError: If there is no trace to score.
    """
    given = _given(examples)
    scorer = fitted.scorer
    device = _device(scorer)
    rate, memory = _timed(lambda: fitted.calibrator(scorer.score(given)), given, seconds, device)
    count = _parameters(fitted)
    minutes = None if count is None else fitted.seconds / 60
    return Cost(fitted.name, count, minutes, rate, memory)


def path_cost(path: Sequence[Fitted], examples: Sequence[Example], seconds: float = 1.0) -> Cost:
    """What learned scorers cost together: their features are put together once.

    Args:
        path: The scorers, trained on tokens of the same features.
        examples: Traces with what they need.
        seconds: As in `cost`.

    Raises:
        SymboUQError: If one of them is not learned, or there is no trace to score.
    """
    from symbouq.evidence.scorers.training import Learned, score_together

    scorers = [fitted.scorer for fitted in path if isinstance(fitted.scorer, Learned)]
    if len(scorers) < len(path):
        raise SymboUQError("a path has learned scorers only")
    given = _given(examples)

    def both() -> None:
        for fitted, values in zip(path, score_together(scorers, given), strict=True):
            fitted.calibrator(values)

    rate, memory = _timed(both, given, seconds, _device(scorers[0]))
    count = sum(_parameters(fitted) or 0 for fitted in path)
    minutes = sum(fitted.seconds for fitted in path) / 60
    return Cost(" + ".join(fitted.name for fitted in path), count, minutes, rate, memory)


def _given(examples: Sequence[Example]) -> list[Example]:
    given = [example for example in examples if readable(example)]
    if not given:
        raise SymboUQError("efficiency needs traces that can be scored, found none")
    return given


def _parameters(fitted: Fitted) -> int | None:
    network = getattr(fitted.scorer, "network", None)
    return None if network is None else int(network.parameter_count)


def _device(scorer: Scorer) -> str:
    settings = getattr(scorer, "settings", None)
    return "cpu" if settings is None else str(settings.device)


def _timed(
    work: Callable[[], object], examples: Sequence[Example], seconds: float, device: str
) -> tuple[float, float]:
    """Traces a second and peak memory of some work on all examples."""
    peak = _PeakOfGPU(device) if device.startswith("cuda") else _Peak()
    work()
    memory = peak.gigabytes()
    passes, started = 0, time.perf_counter()
    while passes == 0 or time.perf_counter() - started < seconds:
        work()
        passes += 1
    return passes * len(examples) / (time.perf_counter() - started), memory


class _Peak:
    """The process's peak memory from here on, where the system can tell; else since it began."""

    def __init__(self) -> None:
        # Writing 5 resets the peak that /proc/self/status tells.
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")

    def gigabytes(self) -> float:
        try:
            lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
            kilobytes = next(int(x.split()[1]) for x in lines if x.startswith("VmHWM"))
        except (OSError, StopIteration):
            kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return kilobytes * 1024 / 1e9


class _PeakOfGPU:
    """The peak of what PyTorch allocates on a GPU from here on."""

    def __init__(self, device: str) -> None:
        import torch

        self._device = device
        torch.cuda.reset_peak_memory_stats(device)

    def gigabytes(self) -> float:
        import torch

        return torch.cuda.max_memory_allocated(self._device) / 1e9
