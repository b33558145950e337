"""The cost of computing scores from cached signals (Table efficiency).

The costs of generation, the teacher-forced pass and the audit are not included. So the main cost of
sampling scores, generating K additional answers, is missing. The backbone's pass for P(True) is
included.
"""

from __future__ import annotations

import csv
import io
import resource
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.bank import Fitted
from symbouq.evidence.scorers.learned import Learned, score_together
from symbouq.evidence.scorers.needs import readable
from symbouq.evidence.signals.example import Example
from symbouq.io.output import replacing

PATH = ("Constraint", "MLP")
"""The two scores in the paper's path."""


@dataclass(frozen=True)
class Cost:
    """A row of the table.

    Attributes:
        method: Scorer, path, or composer.
        parameters: Number of trained parameters; None if nothing is trained.
        training_minutes: Training time in minutes; for a path, the sum over its scorers.
        traces_per_second: Speed on examples in memory, including calibration.
        memory_gb: Peak memory while scoring in 10^9 bytes: of the process on a CPU, of PyTorch's
            allocations on a GPU.
    """

    method: str
    parameters: int | None
    training_minutes: float | None
    traces_per_second: float
    memory_gb: float


def cost(path: Sequence[Fitted], examples: Sequence[Example], seconds: float = 1.0) -> Cost:
    """Measure the cost of one scorer, or of several learned scorers together. Features that they
    share are collated only once.

    After a first pass without timing, scoring is timed for at least `seconds`.

    Raises:
        SymboUQError: If no trace can be scored, or if there are several scorers and one of them is
            not learned.
    """
    scorers = [fitted.scorer for fitted in path]
    learned = [scorer for scorer in scorers if isinstance(scorer, Learned)]
    if len(path) > 1 and len(learned) < len(path):
        raise SymboUQError("a path has learned scorers only")
    name = " + ".join(fitted.name for fitted in path)
    traces = [e for e in examples if readable(e) and not any(s.lacks(e) for s in scorers)]
    if not traces:
        raise SymboUQError(f"{name}: efficiency needs traces that can be scored, found none")

    def score() -> None:
        scored = score_together(learned, traces) if learned else [scorers[0].score(traces)]
        for fitted, values in zip(path, scored, strict=True):
            fitted.calibrator(values)

    device = learned[0].settings.device if learned else "cpu"
    rate, memory = _timed(score, len(traces), seconds, device)
    if not learned:
        return Cost(name, None, None, rate, memory)
    minutes = sum(fitted.seconds for fitted in path) / 60
    return Cost(name, sum(map(_parameters, learned)), minutes, rate, memory)


def write_costs(rows: Sequence[Cost], path: str | Path) -> None:
    """Write the table atomically as CSV."""
    with replacing(path) as raw, io.TextIOWrapper(raw, "utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, [field.name for field in fields(Cost)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def _parameters(scorer: Learned) -> int:
    return 0 if scorer.network is None else scorer.network.parameter_count


def _timed(
    work: Callable[[], object], count: int, seconds: float, device: str
) -> tuple[float, float]:
    reset_peak(device)
    work()
    memory = peak_memory(device)
    passes, started = 0, time.perf_counter()
    while passes == 0 or time.perf_counter() - started < seconds:
        work()
        passes += 1
    return passes * count / (time.perf_counter() - started), memory


def reset_peak(device: str) -> None:
    """Start a new measurement of peak memory. If the system cannot reset the peak, it is measured
    from the start of the process.
    """
    if device.startswith("cuda"):
        import torch

        torch.cuda.reset_peak_memory_stats(device)
    else:
        with suppress(OSError):  # writing 5 resets the peak in /proc/self/status
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_memory(device: str = "cpu") -> float:
    """Return peak memory in 10^9 bytes: of the process or, on a GPU, of PyTorch's allocations."""
    if device.startswith("cuda"):
        import torch

        return torch.cuda.max_memory_allocated(device) / 1e9
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        kilobytes = next(int(x.split()[1]) for x in lines if x.startswith("VmHWM"))
    except (OSError, StopIteration):
        kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes * 1024 / 1e9
