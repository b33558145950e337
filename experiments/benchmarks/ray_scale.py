"""Costs and benefits of Ray compared with the built-in engine: the tables in `docs/scale.md`.

    python experiments/benchmarks/ray_scale.py --data FOLDER [--section NAME ...]

Sections: `engines` (10,000 traces through the command with either engine and one or two workers;
the outputs must be equal byte for byte), `shards` (the same into shards, and a second run that
finds them finished), `generation` (traces from our larger backbone with either engine, which must
be equal, too), `idle` (Ray with nothing to do), `volumes` (bytes of a trace and of its audit, and
the cost of reading and compression). CPU is the user and system time of the command and all that it
started, sampled from /proc. Unlike wall-clock time, it is meaningful on a shared machine. Memory is
PSS, which counts shared pages once. Linux only.
"""

from __future__ import annotations

import gzip
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click
import pyarrow
import pyarrow.parquet
from audit_speed import real_traces, renamed
from common import data_option, table

from symbouq.experiments.scenes.families import problems
from symbouq.io.stream import read_lines

TRACES = 10_000
FILES = 10
QUESTIONS, SAMPLES = 400, 4
BACKBONE = Path(__file__).parents[1] / "backbones/small"
_TICK = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """What a command and all its descendants use.

    Attributes:
        wall: Seconds.
        cpu: Seconds of user and system time.
        peak: Peak memory in MiB.
        largest: Memory of the largest process in MiB.
    """

    wall: float
    cpu: float
    peak: float
    largest: float


def below(root: int) -> list[int]:
    """Return a process and all its descendants."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(folder.name))
    found = [root]
    for process in found:
        found += children.get(process, [])
    return found


def used(process: int) -> tuple[float, float]:
    """Return the CPU seconds and the MiB used by a process; zeros if it has ended."""
    folder = Path(f"/proc/{process}")
    try:
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        rollup = (folder / "smaps_rollup").read_text()
    except OSError:
        return 0.0, 0.0
    pss = next((line for line in rollup.splitlines() if line.startswith("Pss:")), "Pss: 0")
    return (int(fields[11]) + int(fields[12])) / _TICK, int(pss.split()[1]) / 1024


def cost(command: Sequence[str], **environment: str) -> Cost:
    """Run a command and measure its resource use by sampling."""
    start = time.perf_counter()
    spent: dict[int, float] = {}
    peak = largest = 0.0
    variables = os.environ | environment
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=variables) as running:
        while running.poll() is None:
            sizes = []
            for process in below(running.pid):
                cpu, size = used(process)
                spent[process] = max(spent.get(process, 0.0), cpu)
                sizes.append(size)
            peak, largest = max(peak, sum(sizes)), max(largest, *sizes)
            time.sleep(0.2)
    assert running.returncode == 0, command
    return Cost(time.perf_counter() - start, sum(spent.values()), peak, largest)


def written(data: Path, folder: Path) -> list[Path]:
    """Write the traces to files."""
    made = renamed(real_traces(data), TRACES)
    files = []
    for n in range(FILES):
        files.append(folder / f"traces-{n}.jsonl")
        with files[-1].open("w", encoding="utf-8") as out:
            for _ in range(TRACES // FILES):
                out.write(json.dumps(next(made).model_dump(exclude_unset=True)) + "\n")
    return files


def command(name: str, files: Sequence[Path], *arguments: str) -> list[str]:
    return [str(Path(sys.executable).parent / "symbouq"), name, *map(str, files), *arguments]


def audit(files: Sequence[Path], *arguments: str) -> list[str]:
    return command("audit", files, *arguments)


def engines(files: list[Path], folder: Path) -> None:
    print(f"\n### Engines: {TRACES:,} traces in {FILES} files, one output\n")
    outputs = []

    def cells(engine: str, workers: int) -> list[object]:
        out = folder / f"{engine}-{workers}.jsonl"
        took = cost(audit(files, "--engine", engine, "--jobs", str(workers), "--out", str(out)))
        outputs.append(out.read_bytes())
        each = f"{took.cpu / TRACES * 1e3:.2f}"
        found = (f"{took.wall:.0f}", f"{took.cpu:.1f}", each, f"{took.peak:.0f}")
        return [engine, workers, *found, f"{took.largest:.0f}"]

    table(
        "engine | workers | wall s | CPU s | CPU ms a trace | peak MiB | largest process MiB",
        (cells(engine, workers) for engine in ("builtin", "ray") for workers in (1, 2)),
    )
    assert outputs[0].count(b"\n") == TRACES
    assert all(output == outputs[0] for output in outputs)
    print(f"\nAll four outputs are equal, {len(outputs[0]):,} bytes.")


def shards(files: list[Path], folder: Path) -> None:
    print(f"\n### Shards: the same into {FILES} shards, two workers\n")
    print("| run | wall s | CPU s | peak MiB |\n|---|---|---|---|")
    out = folder / "shards"
    sharded = audit(files, "--engine", "ray", "--jobs", "2", "--shards", str(out))
    for name in ("first", "again, all of them there"):
        took = cost(sharded)
        print(f"| {name} | {took.wall:.0f} | {took.cpu:.1f} | {took.peak:.0f} |", flush=True)
    found = b"".join(gzip.decompress(f.read_bytes()) for f in sorted(out.glob("*.jsonl.gz")))
    single = folder / "builtin-1.jsonl"
    if single.exists():
        assert found.count(b"\n") == TRACES
        assert sorted(found.splitlines()) == sorted(single.read_bytes().splitlines())
        print("\nThe shards hold what the built-in engine writes.")


def generation(_files: list[Path], folder: Path) -> None:
    print(f"\n### Generation: {QUESTIONS} traces with {SAMPLES} samples each, {BACKBONE.name}\n")
    print("| engine | workers | wall s | CPU s | peak MiB |\n|---|---|---|---|---|")
    asked = folder / "questions.jsonl"
    with asked.open("w", encoding="utf-8") as out:
        for number, problem in enumerate(problems("chains", QUESTIONS, 2026)):
            out.write(json.dumps(problem.record(str(number))) + "\n")
    given = ("--model", str(BACKBONE), "--samples", str(SAMPLES), "--batch-size", "100")
    outputs = []
    for engine, workers in (("builtin", 1), ("ray", 1), ("ray", 2)):
        made = folder / f"generated-{engine}-{workers}.jsonl"
        ray = ("--ray", "--jobs", str(workers)) if engine == "ray" else ()
        took = cost(
            command("generate", [asked], *given, *ray, "--out", str(made)), OMP_NUM_THREADS="1"
        )
        print(
            f"| {engine} | {workers} | {took.wall:.0f} | {took.cpu:.1f} | {took.peak:.0f} |",
            flush=True,
        )
        outputs.append(made.read_bytes())
    assert outputs[0].count(b"\n") == QUESTIONS
    assert outputs[0] == outputs[1] == outputs[2]
    print(f"\nAll three outputs are equal, {len(outputs[0]):,} bytes.")


_IDLE = """
import logging, os, time
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
import ray, ray.data
ray.init(address="local", num_cpus=2, include_dashboard=False, logging_level=logging.ERROR)
print(flush=True)
time.sleep(5)
"""


def idle(_files: list[Path], _folder: Path) -> None:
    print("\n### Ray with nothing to do, two cores\n")
    start = time.perf_counter()
    started = [sys.executable, "-c", _IDLE]
    with subprocess.Popen(started, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.readline()
        ready = time.perf_counter() - start
        time.sleep(3)
        costs = [used(process) for process in below(running.pid)]
    print(
        f"ready after {ready:.0f} s of wall-clock; {sum(cpu for cpu, _ in costs):.1f} s of CPU and "
        f"{sum(size for _, size in costs):.0f} MiB in {len(costs)} processes"
    )


def volumes(files: list[Path], folder: Path) -> None:
    single = folder / "builtin-1.jsonl"
    if not single.exists():
        subprocess.run(audit(files, "--jobs", "1", "--out", str(single)), check=True)
    output = single.read_bytes()
    lines = [line for file in files for line in file.read_bytes().splitlines(keepends=True)]
    table = pyarrow.Table.from_pylist([json.loads(line) for line in lines])
    pyarrow.parquet.write_table(table, folder / "traces.parquet")
    (folder / "traces.jsonl.gz").write_bytes(gzip.compress(b"".join(lines), 6))
    start = time.process_time()
    packed = len(gzip.compress(output, 6))
    packing = time.process_time() - start
    print("\n### Volumes\n\n| | bytes a trace |\n|---|---|")
    for name, size in {
        "traces, JSON Lines": sum(map(len, lines)),
        "traces, gzip": (folder / "traces.jsonl.gz").stat().st_size,
        "traces, Parquet": (folder / "traces.parquet").stat().st_size,
        "audits, JSON Lines": len(output),
        "audits, gzip (a shard)": packed,
    }.items():
        print(f"| {name} | {size / TRACES:,.0f} |")
    print("\n| | CPU ms a trace |\n|---|---|")
    for name, file in (
        ("reading JSON Lines", files[0]),
        ("reading gzip", folder / "traces.jsonl.gz"),
        ("reading Parquet", folder / "traces.parquet"),
    ):
        start = time.process_time()
        count = sum(1 for _ in read_lines(str(file)))
        print(f"| {name} | {(time.process_time() - start) / count * 1e3:.4f} |")
    print(f"| compressing a shard | {packing / TRACES * 1e3:.4f} |")


SECTIONS = {
    "idle": idle,
    "engines": engines,
    "shards": shards,
    "generation": generation,
    "volumes": volumes,
}


@click.command()
@data_option
@click.option("--section", type=click.Choice(list(SECTIONS)), multiple=True)
def main(data: Path, section: tuple[str, ...]) -> None:
    """Measure and print."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load before: {load}")
    with tempfile.TemporaryDirectory() as folder:
        files = written(data, Path(folder))
        for name in section or SECTIONS:
            SECTIONS[name](files, Path(folder))


if __name__ == "__main__":
    main()
