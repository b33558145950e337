"""Ray gives what the built-in engine gives, on several nodes, though workers die."""

from __future__ import annotations

import gzip
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from symbouq_cli.main import main

from symbouq.auditing.jobs import auditing
from symbouq.auditing.summary import Summary
from symbouq.errors import SymboUQError, install_command
from symbouq.io import cluster
from symbouq.io.shards import shard_name
from symbouq.io.stream import Job, Outcome, Work, process
from symbouq.records import Trace

WORDS = ("above", "below", "left of", "right of", "upper left of")
PLAIN = (None, None, "assumed")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def trace(n: int) -> dict[str, Any]:
    word = WORDS[n % len(WORDS)]
    return {
        "id": str(n),
        "scene": [f"A{n} is {word} B.", "B is above C."],
        "question": f"Where is A{n} relative to C?",
        "response": f"A{n} is {word} B.\nA{n} is {WORDS[n % 3]} C.\nAnswer: {WORDS[n % 2]}",
        "answer_space": ["above", "below", "left", "right"],
    }


def lines(start: int, count: int) -> bytes:
    """Traces; some lines are bad, blank, or have an id that was before."""
    made = []
    for n in range(start, start + count):
        made.append(json.dumps(trace(n) if n % 37 else trace(max(n - 1, start))))
        if n % 41 == 0:
            made += ['{"id": 1', ""]
    return "\n".join(made).encode() + b"\n"


def fitted() -> tuple[str, str]:
    """The option that names a model."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    labelled = [json.dumps({**trace(n), "correct": n % 3 > 0}) for n in range(40)]
    Path("labelled.jsonl").write_text("\n".join(labelled))
    result = run("fit", "labelled.jsonl", "--out", "model.json", "--jobs", "1")
    assert result.exit_code == 0, result.output
    return "--model", "model.json"


# Without Ray ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-", "--engine", "ray"], "--engine ray reads files, not standard input"),
        (["in.jsonl", "--shards", "out"], "--shards needs --engine ray"),
        (["in.jsonl", "--shards", "d", "--out", "f", "--engine", "ray"], "give either"),
        (["in.jsonl", "--shards", "d", "--report", "r", "--engine", "ray"], "--report shows one"),
        (["in.jsonl", "--engine", "spark"], "'spark' is not one of 'builtin', 'ray'"),
        (["in.jsonl", "--engine", "ray", "--profile", "ten-way"], "unknown profile 'ten-way'"),
    ],
)
def test_wrong_options(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_bytes(lines(0, 1))
    result = run("audit", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_without_ray_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    (tmp_path / "in.jsonl").write_bytes(lines(0, 1))
    result = run("audit", str(tmp_path / "in.jsonl"), "--engine", "ray")
    assert (result.exit_code, result.stdout) == (2, "")
    assert install_command("ray") in result.stderr


@pytest.mark.parametrize(
    ("workers", "gpus", "nodes", "expected"),
    [
        (None, 0, [{"CPU": 4, "GPU": 2}, {"CPU": 2}], cluster.Crew(6, 0, 2)),
        (None, None, [{"CPU": 4, "GPU": 2}, {"CPU": 2, "GPU": 1}], cluster.Crew(3, 1, 3)),
        (None, None, [{"CPU": 4}], cluster.Crew(4, 0, 0)),
        (None, 2, [{"CPU": 4, "GPU": 3}, {"CPU": 2, "GPU": 2}], cluster.Crew(2, 2, 5)),
        (None, 0.5, [{"CPU": 4, "GPU": 1}], cluster.Crew(2, 0.5, 1)),
        (7, 1, [{"CPU": 4, "GPU": 1}], cluster.Crew(7, 1, 1)),
    ],
)
def test_room_is_counted_node_by_node(
    workers: int | None,
    gpus: float | None,
    nodes: list[dict[str, float]],
    expected: cluster.Crew,
) -> None:
    assert cluster._crew(workers, gpus, nodes) == expected


def test_no_node_has_so_many_gpus() -> None:
    with pytest.raises(SymboUQError, match="2 GPUs, and no node has more than 1"):
        cluster._crew(None, 2, [{"CPU": 4, "GPU": 1}, {"CPU": 4, "GPU": 1}])


def total(outcomes: list[Outcome]) -> dict[str, Any]:
    """The sum of the summaries, without the traces that they keep."""
    return Summary.total(o.summary for o in outcomes if o.summary is not None)


# With it --------------------------------------------------------------------------------


def dying(folder: str) -> Work:
    """An auditor whose process is killed in the middle, once; it writes down what it does."""
    work = auditing(*PLAIN)
    flag, log = Path(folder, "flag"), Path(folder, "log")

    def doomed(record: Trace, file: str, line: int) -> tuple[dict[str, Any], Any]:
        with log.open("a") as stream:
            stream.write(f"{file}:{line}\n")
        if record.id == "50" and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return work.each(record, file, line)

    return Work(doomed)


def deadly() -> Work:
    """A job that no process survives."""

    def work(record: Trace, file: str, line: int) -> tuple[dict[str, Any], Any]:
        os.kill(os.getpid(), signal.SIGKILL)
        return {}, None

    return Work(work)


@pytest.fixture
def files(nodes: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Files by relative path, as Parquet and by URI, among them one that cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_bytes(lines(0, 150))
    Path("b.jsonl.gz").write_bytes(gzip.compress(lines(150, 60)))
    Path("empty.jsonl").touch()
    Path("cut.jsonl.gz").write_bytes(gzip.compress(lines(0, 100))[:-60])
    pq.write_table(pa.Table.from_pylist([trace(n) for n in range(40)]), "c.parquet")
    return ["a.jsonl", "b.jsonl.gz", "empty.jsonl", "cut.jsonl.gz", f"file://{tmp_path}/c.parquet"]


@pytest.mark.ray
@pytest.mark.slow
class TestOnTwoNodes:
    @pytest.mark.parametrize("command", ["audit", "parse", "answer", "predict"])
    def test_the_output_is_that_of_the_built_in_engine(
        self, command: str, files: list[str]
    ) -> None:
        model = fitted() if command == "predict" else ()
        expected = run(command, *files, *model, "--jobs", "1")
        found = run(command, *files, *model, "--engine", "ray", "--jobs", "2")
        assert found.stdout_bytes == expected.stdout_bytes
        assert found.stdout_bytes.count(b"\n") > 240
        assert found.exit_code == expected.exit_code == 1
        assert expected.stderr.count("\n") > 10
        assert found.stderr == expected.stderr

    def test_a_fault_in_a_worker_is_one_message(self, files: list[str]) -> None:
        Path("out").mkdir()
        Path("out", f"{shard_name(files[0])}.json").mkdir()
        result = run("audit", *files, "--engine", "ray", "--shards", "out")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "Error: " in result.stderr
        assert "directory" in result.stderr
        assert "Traceback" not in result.stderr

    def test_a_killed_worker_loses_nothing(
        self, files: list[str], capfd: pytest.CaptureFixture[str]
    ) -> None:
        job = Job(dying, (str(Path.cwd()),), Trace)
        found = list(cluster.process(files, job, 3))  # one more than there are cores
        assert Path("flag").exists()
        expected = list(process(files, Job(auditing, PLAIN, Trace), 1))
        for field in set(Outcome._fields) - {"summary"}:
            assert [getattr(o, field) for o in found] == [getattr(o, field) for o in expected]
        # Which traces are kept depends on the worker that takes up what the killed one had.
        assert total(found) == total(expected)
        assert capfd.readouterr().out == ""

    def test_a_record_that_kills_every_worker_ends_the_run(
        self, files: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cluster, "_RETRIES", 1)
        with pytest.raises(SymboUQError, match=r"^Ray: "):
            list(cluster.process(files[:1], Job(deadly, (), Trace), 1))

    def test_shards_survive_and_are_not_computed_again(self, files: list[str]) -> None:
        job = Job(dying, (str(Path.cwd()),), Trace)
        first = list(cluster.shards(files, job, "out", 2))
        assert Path("flag").exists()
        expected = list(process(files, Job(auditing, PLAIN, Trace), 1))
        for file, note in zip(files, first, strict=True):
            here = [o for o in expected if o.file == file]
            content = gzip.decompress((Path("out") / f"{shard_name(file)}.jsonl.gz").read_bytes())
            assert content == b"".join(o.output + b"\n" for o in here if o.output)
            assert [f["error"] for f in note["failed"]] == [o.error for o in here if o.error]
        done = Path("log").read_text()
        Path("a.jsonl").write_bytes(lines(7, 3))
        second = list(cluster.shards(files, job, "out", 2))
        assert [note["kept"] for note in second] == [False, True, True, True, True]
        assert Path("log").read_text().removeprefix(done).count("\n") == 3
        assert [note["failed"] for note in second[1:]] == [note["failed"] for note in first[1:]]
