"""Audits of real traces of every file there is: none is lost, and each is the same however the
work is split and in whatever order it comes.
"""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

from symbouq.auditing.jobs import auditing
from symbouq.io.stream import Job, process
from symbouq.records import Trace

EVERY = 200
"""Every 200th trace, for all of them take hours."""
JOB = Job(auditing, (None, None, "assumed"), Trace)


def audits(files: list[Path], processes: int) -> dict[tuple[str, str], bytes]:
    """The audit of each trace by file and id, without its place; each has one."""
    found: dict[tuple[str, str], bytes] = {}
    for outcome in process(map(str, files), JOB, processes):
        assert outcome.output is not None, f"{outcome.file}:{outcome.number}: {outcome.error}"
        internal = [fault for fault in outcome.faults if "internal error" in fault]
        assert not internal, f"{outcome.file}:{outcome.number}: {internal[0]}"
        record = json.loads(outcome.output)
        del record["source"]
        found[Path(outcome.file).name, outcome.id] = json.dumps(record).encode()
    return found


def written(path: Path, lines: list[bytes]) -> Path:
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wb", compresslevel=1) as copy:
        copy.writelines(lines)
    return path


@pytest.mark.derives
@pytest.mark.slow
def test_no_trace_is_lost_and_order_makes_no_difference(data: Path, tmp_path: Path) -> None:
    files = sorted(data.glob("*/llm_traces*.jsonl.gz"))
    assert len(files) >= 25
    straight, shuffled = [], []
    total = 0
    for file in files:
        with gzip.open(file) as stream:
            lines = [line for line in stream if line.strip()][::EVERY]
        total += len(lines)
        straight.append(written(tmp_path / "straight" / file.name, lines))
        random.Random(7).shuffle(lines)
        shuffled.append(written(tmp_path / "shuffled" / file.name, lines))
    first = audits(straight, 1)
    assert len(first) == total
    second = audits(shuffled[::-1], 2)
    assert first.keys() == second.keys()
    different = [key for key, audit in first.items() if second[key] != audit]
    assert not different
