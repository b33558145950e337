"""A shard is written once, and again when anything that it depends on has changed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from symbouq.auditing.jobs import auditing
from symbouq.auditing.summary import Summary
from symbouq.io.shards import shard_name, stamp, write_shard
from symbouq.io.stream import Job, Outcome, Worker, process
from symbouq.records import Trace

GOOD = {"id": "g", "scene": ["A is above B."], "question": "", "response": "Answer: A is above B."}
JOB = Job(auditing, (None, None, "assumed"), Trace, Summary.total)
WORKER = Worker(JOB)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text(
        f"{json.dumps(GOOD)}\n{{\n{json.dumps(GOOD)}\n{json.dumps({**GOOD, 'id': 'h'})}\n"
    )
    return path


def write(file: Path, job: Job = JOB, worker: Any = WORKER) -> dict[str, Any]:
    return write_shard(str(file), str(file.parent), job, worker, stamp(job))


def shard(file: Path) -> Path:
    return file.parent / f"{shard_name(str(file))}.jsonl.gz"


def idle(item: object) -> Any:
    raise AssertionError(f"computed again: {item}")


def test_a_shard_holds_what_the_built_in_engine_writes(file: Path) -> None:
    note = write(file)
    outcomes = list(process([str(file)], JOB, 1))
    written = gzip.decompress(shard(file).read_bytes())
    assert written == b"".join(o.output + b"\n" for o in outcomes if o.output)
    assert [(f["file"], f["line"], f["error"]) for f in note["failed"]] == [
        (o.file, o.number, o.error) for o in outcomes if o.error
    ]
    assert [f["line"] for f in note["failed"]] == [2, 3]
    assert (note["records"], note["kept"]) == (2, False)
    assert Summary.from_total(note["total"]).traces == 2


def test_a_second_run_does_nothing_again(file: Path) -> None:
    first = write(file)
    second = write(file, worker=idle)
    assert second["kept"]
    assert second["failed"] == first["failed"]
    assert Summary.from_total(second["total"]) == Summary.from_total(first["total"])


def test_other_content_or_options_are_computed(file: Path) -> None:
    write(file)
    file.write_text(json.dumps({**GOOD, "id": "new"}) + "\n")
    assert not write(file)["kept"]
    grounded = replace(JOB, arguments=(None, None, "grounded"))
    assert not write(file, grounded, Worker(grounded))["kept"]
    assert not write(file)["kept"]


def test_an_edited_ontology_is_other_options(tmp_path: Path) -> None:
    rules = tmp_path / "mine.lp"
    rules.write_text("extends(nine_way).\n")
    job = replace(JOB, arguments=(None, str(tmp_path), "assumed"))
    before = stamp(job)
    assert stamp(job) == before
    rules.write_text('extends(nine_way).\nphrase(above, "atop").\n')
    assert stamp(job) != before


def test_a_shard_whose_writing_was_broken_off_does_not_count(file: Path) -> None:
    whole = write(file)
    whole.pop("kept")
    content = shard(file).read_bytes()

    def broken(batch: Sequence[Any]) -> Iterator[Outcome]:
        yield from WORKER(batch[:3])
        raise KeyboardInterrupt

    file.write_text(file.read_text() + "{}\n")
    with pytest.raises(KeyboardInterrupt):
        write(file, worker=broken)
    file.write_text(file.read_text().removesuffix("{}\n"))  # the first note would fit again
    again = write(file)
    assert not again.pop("kept")
    assert json.loads(json.dumps(again)) == json.loads(json.dumps(whole))
    assert shard(file).read_bytes() == content
    note = shard(file).with_name(f"{shard_name(str(file))}.json")
    note.write_text(note.read_text()[:20])
    assert not write(file)["kept"]


def test_files_of_one_name_have_shards_of_their_own() -> None:
    assert shard_name("a/x.jsonl.gz") != shard_name("b/x.jsonl.gz")
    assert shard_name("s3://b/x.parquet?region=eu").startswith("x-")
