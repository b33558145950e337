"""What a run leaves behind, however it ends: whole records, the old file or the new one, no process."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from clingo.backend import Observer
from helpers.processes import PATIENCE, until, usual_signals
from symbouq_cli.main import main

from symbouq import limits
from symbouq.errors import SymboUQError
from symbouq.io.output import PART, RecordFile, replacing
from symbouq.io.stream import Line, read_lines

COMMAND = [sys.executable, "-c", "from symbouq_cli.main import main; main()"]
OLD = b'{"id": "old"}\n'
ENDINGS = ("r.jsonl", "r.jsonl.gz", "r.parquet")
"""A record file of each kind."""


def trace(number: int) -> dict[str, Any]:
    """In relations, so that no text is parsed."""
    relations = [["A", "above", "B"], ["B", "above", "C"]]
    claims = [{"relations": [["A", "above", "C"]]}]
    return {"id": str(number), "scene_relations": relations, "claims": claims}


def traces(path: Path, count: int) -> Path:
    path.write_text("".join(json.dumps(trace(n)) + "\n" for n in range(count)))
    return path


def ids(path: Path) -> list[str]:
    """The ids of a file of records, all of which are whole."""
    found = []
    for item in read_lines(str(path)):
        assert isinstance(item, Line), item
        found.append(json.loads(item.content)["id"])
    return found


def numbered(count: int) -> list[str]:
    return [str(n) for n in range(count)]


def run(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments], input=stdin)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# Files -----------------------------------------------------------------------------------


def test_an_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(OLD)
    file.chmod(0o640)
    with pytest.raises(ZeroDivisionError), replacing(file) as stream:
        stream.write(b"new")
        stream.flush()
        assert file.read_bytes() == OLD
        raise ZeroDivisionError
    assert (left(tmp_path), file.read_bytes()) == (["f"], OLD)
    with replacing(file) as stream:
        stream.write(b"new")
    assert (left(tmp_path), file.read_bytes()) == (["f"], b"new")
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_link_leads_to_the_file_that_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real/f")
    with replacing(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real/f").read_bytes() == b"new"
    assert left(tmp_path / "real") == ["f"]


def planted(place: Path, target: Path, kind: str) -> None:
    """Puts something in the place of a file that is to be made, by which `target` would suffer."""
    match kind:
        case "link":
            place.symlink_to(target)
        case "link to nothing":
            place.symlink_to(target.with_name("made by the link"))
        case "hard link":
            place.hardlink_to(target)
        case "pipe":
            os.mkfifo(place)
        case "folder":
            place.mkdir()


@pytest.mark.parametrize("kind", ["link", "link to nothing", "hard link", "pipe", "folder"])
@pytest.mark.parametrize("name", ENDINGS)
def test_what_was_planted_leads_nowhere(name: str, kind: str, tmp_path: Path) -> None:
    need(name)
    (tmp_path / "out").mkdir()
    target = tmp_path / "target"
    target.write_bytes(OLD)
    file = tmp_path / "out" / name
    planted(file.with_name(name + PART), target, kind)
    with pytest.raises((SymboUQError, OSError)) as caught, RecordFile(str(file)) as out:
        out.write(b'{"id": "new"}\n')
    if kind != "folder":
        assert "is no file that a run of yours left: take it away" in str(caught.value)
    assert (target.read_bytes(), left(tmp_path)) == (OLD, ["out", "target"])
    assert left(tmp_path / "out") == [name + PART]


@pytest.mark.parametrize("kind", ["link", "link to nothing", "hard link", "pipe"])
def test_nor_does_what_was_planted_for_a_table(kind: str, tmp_path: Path) -> None:
    need("r.parquet")
    (tmp_path / "out").mkdir()
    target = tmp_path / "target"
    target.write_bytes(OLD)
    file = tmp_path / "out/r.parquet"
    planted(file.with_name(f".{file.name}{PART}"), target, kind)
    with RecordFile(str(file)) as out:
        out.write(b'{"id": "new"}\n')
    assert (target.read_bytes(), left(tmp_path)) == (OLD, ["out", "target"])
    assert (ids(file), left(tmp_path / "out")) == (["new"], [file.name])


def test_what_a_killed_run_left_is_in_nobody_s_way(tmp_path: Path) -> None:
    (tmp_path / f"f{PART}").write_bytes(b"what was finished of a longer text")
    with replacing(tmp_path / "f") as stream:
        stream.write(b"new")
    assert ((tmp_path / "f").read_bytes(), left(tmp_path)) == (b"new", ["f"])


def test_what_somebody_else_left_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"f{PART}").write_bytes(b"theirs")
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    with pytest.raises(SymboUQError, match="take it away"), replacing(tmp_path / "f"):
        pass
    assert (tmp_path / f"f{PART}").read_bytes() == b"theirs"


def need(name: str) -> None:
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow", reason="the extra `formats` is not installed")


@pytest.mark.parametrize("name", ENDINGS)
def test_how_records_end(name: str, tmp_path: Path) -> None:
    need(name)
    file = tmp_path / name
    with RecordFile(str(file)) as out:
        out.write(OLD)
    with pytest.raises(KeyboardInterrupt), RecordFile(str(file)) as out:
        raise KeyboardInterrupt  # before the first record
    assert (ids(file), left(tmp_path)) == (["old"], [name])
    with pytest.raises(KeyboardInterrupt), RecordFile(str(file)) as out:
        out.write(b'{"id": "new"}\n')
        raise KeyboardInterrupt
    assert (ids(file), left(tmp_path)) == (["new"], [name])
    with pytest.raises(ZeroDivisionError) as caught, RecordFile(str(file)) as out:
        out.write(OLD)
        raise ZeroDivisionError
    assert (ids(file), left(tmp_path)) == (["new"], [name, name + PART])
    assert ids(tmp_path / (name + PART)) == ["old"]
    assert caught.value.__notes__ == [f"1 record was finished: see {tmp_path / name}{PART}"]
    with RecordFile(str(file)):
        pass
    assert (ids(file), left(tmp_path)) == ([], [name])


@pytest.mark.parametrize("name", ENDINGS)
def test_two_runs_do_not_write_one_file(name: str, tmp_path: Path) -> None:
    need(name)
    (tmp_path / ("link-" + name)).symlink_to(tmp_path / name)
    with RecordFile(str(tmp_path / name)) as out:
        out.write(OLD)
        with (
            pytest.raises(SymboUQError, match="another run is writing to it"),
            RecordFile(str(tmp_path / ("link-" + name))),
        ):
            pass
    assert ids(tmp_path / name) == ["old"]


def test_compressed_records_are_whole_at_any_time(tmp_path: Path) -> None:
    line = b'{"id": "%d", "text": "' + b"x" * 1000 + b'"}\n'
    with pytest.raises(ZeroDivisionError), RecordFile(str(tmp_path / "f.gz")) as out:
        for number in range(3000):
            out.write(line % number)
        seen = gzip.decompress((tmp_path / ("f.gz" + PART)).read_bytes())
        assert seen.count(b"\n") > 2000
        assert seen.endswith(b"\n")
        raise ZeroDivisionError
    assert ids(tmp_path / ("f.gz" + PART)) == numbered(3000)


@pytest.mark.parametrize("name", ENDINGS)
def test_a_full_disk_keeps_the_old_file_and_what_was_finished(name: str, tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk."""
    need(name)
    file = tmp_path / name
    with RecordFile(str(file)) as out:
        out.write(OLD)
    code = (
        "import resource, signal, sys\n"
        "from symbouq_cli.main import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))\n"
        "main(['scenes', 'blocks', '--count', '5000', '--out', sys.argv[1]])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    (told,) = done.stderr.splitlines()
    assert f"{file}: File too large" in told
    assert ids(file) == ["old"]
    if not name.endswith(".gz"):  # of which the first piece is more than fits
        kept = ids(tmp_path / (name + PART))
        assert kept == [f"blocks-2026-{n:05d}" for n in range(len(kept))]
        assert f"{len(kept)} records were finished: see {file}{PART}" in told


# Input that is output --------------------------------------------------------------------


def hard(file: Path, other: Path) -> Path:
    other.hardlink_to(file)
    return other


def soft(file: Path, other: Path) -> Path:
    other.symlink_to(file)
    return other


def roundabout(file: Path, other: Path) -> Path:
    other.mkdir()
    return other / ".." / file.name


def unfinished(file: Path, other: Path) -> Path:
    """The output whose unfinished file is the input."""
    (other.parent / (other.name + PART)).hardlink_to(file)
    return other


@pytest.mark.parametrize("how", [hard, soft, roundabout, unfinished])
@pytest.mark.parametrize("piped", [False, True])
def test_no_output_destroys_its_input(
    how: Callable[[Path, Path], Path], piped: bool, tmp_path: Path
) -> None:
    file = traces(tmp_path / "in.jsonl", 3)
    before = file.read_bytes()
    out = how(file, tmp_path / "out.jsonl")
    with file.open("rb") as stream:
        done = subprocess.run(
            [*COMMAND, "parse", "-" if piped else str(file), "--out", str(out)],
            stdin=stream,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "one of the input files" in done.stderr
    assert file.read_bytes() == before


@pytest.mark.parametrize("out", ["-", "/dev/stdout"])
def test_nor_does_standard_output(out: str, tmp_path: Path) -> None:
    file = traces(tmp_path / "in.jsonl", 3)
    before = file.read_bytes()
    with file.open("ab") as stream:
        done = subprocess.run(
            [*COMMAND, "parse", str(file), "--out", out],
            stdout=stream,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "one of the input files" in done.stderr
    assert file.read_bytes() == before


def test_standard_output_by_its_path_is_not_replaced(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(OLD)
    with log.open("ab") as stream:
        subprocess.run(
            [*COMMAND, "scenes", "blocks", "--count", "1", "--out", "/dev/stdout"],
            stdout=stream,
            check=True,
        )
    assert ids(log) == ["old", "blocks-2026-00000"]


def test_a_model_is_an_input_of_predict(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="the extra `fit` is not installed")
    file, model = traces(tmp_path / "in.jsonl", 1), tmp_path / "model.json"
    model.write_text("{}")
    result = run("predict", file, "--model", model, "--out", model)
    assert result.exit_code == 2
    assert "one of the input files" in result.stderr
    assert model.read_text() == "{}"


# Signals ---------------------------------------------------------------------------------


def started(tmp_path: Path, name: str) -> tuple[subprocess.Popen[str], Path]:
    """An audit on two processes that has records."""
    file, out = traces(tmp_path / "in.jsonl", 60_000), tmp_path / name
    process = subprocess.Popen(
        [*COMMAND, "audit", str(file), "--out", str(out), "--jobs", "2"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=usual_signals,
    )
    part = out.with_name(name + PART)
    until(lambda: part.exists() and part.stat().st_size > 0)
    return process, out


def children(process: subprocess.Popen[str]) -> list[int]:
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(number) for number in listed.split()]


def is_alive(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "terminated"),
        (signal.SIGHUP, 129, "hung up"),
    ],
)
def test_a_signal_ends_a_run_with_what_was_finished(
    number: signal.Signals, code: int, said: str, tmp_path: Path
) -> None:
    process, out = started(tmp_path, "out.jsonl.gz")
    workers = children(process)
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, errors
    assert f"{said}; finished records are written" in errors
    assert "Traceback" not in errors
    found = ids(out)
    assert 0 < len(found) < 60_000
    assert found == numbered(len(found))
    assert left(tmp_path) == ["in.jsonl", out.name]
    assert workers
    assert not any(map(is_alive, workers))


class Signalled(Observer):
    """Stands for the meter of large programs; that of a trace is told to end."""

    def __init__(self, most: int) -> None:
        self._of_trace = most == limits._GROUND_RULES

    def rule(self, choice: bool, head: object, body: object) -> None:
        if self._of_trace:
            signal.raise_signal(signal.SIGTERM)


def test_a_signal_while_clingo_calls_back_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one process, where the signal meets the work itself."""
    monkeypatch.setattr(limits, "_Meter", Signalled)
    many = [[f"N{n}", "ntpp", f"N{n + 1}"] for n in range(60)]
    claims = [{"relations": [["N0", "ntpp", "N2"]]}]
    large = {"id": "3", "profile": "rcc8", "scene_relations": many, "claims": claims}
    every = [trace(0), trace(1), trace(2), large, trace(4)]
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in every))
    done = run("audit", file, "--jobs", "1", "--out", tmp_path / "out.jsonl")
    assert (done.exit_code, done.stderr) == (143, "terminated; finished records are written\n")
    assert ids(tmp_path / "out.jsonl") == ["0", "1", "2"]
    assert left(tmp_path) == ["in.jsonl", "out.jsonl"]


def test_a_second_signal_is_the_same_end_at_once_and_a_kill_later() -> None:
    script = """
import signal
from symbouq_cli import process
with process.ending_signals():
    try:
        signal.raise_signal(signal.SIGTERM)
    except process.Ended as end:
        print(end.event)
    signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGHUP)
    print("goes on", flush=True)
    process.monotonic = lambda: float("inf")
    signal.raise_signal(signal.SIGTERM)
    print("is not reached")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (-signal.SIGTERM, "terminated\ngoes on\n")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "out.parquet"])
def test_a_kill_leaves_the_old_file_whole_records_and_no_process(name: str, tmp_path: Path) -> None:
    need(name)
    with RecordFile(str(tmp_path / name)) as out:
        out.write(OLD)
    process, file = started(tmp_path, name)
    workers = children(process)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert workers
    until(lambda: not any(map(is_alive, workers)))
    assert ids(file) == ["old"]
    kept = ids(tmp_path / (name + PART))
    assert kept == numbered(len(kept))
    assert kept
    with RecordFile(str(file)) as out:  # the lock died with the run
        out.write(OLD)
    assert left(tmp_path) == ["in.jsonl", name]


# Standard output -------------------------------------------------------------------------


def test_a_reader_that_has_enough_is_told(tmp_path: Path) -> None:
    file = traces(tmp_path / "in.jsonl", 3000)
    process = subprocess.Popen(
        [*COMMAND, "audit", str(file), "--jobs", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    (told,) = process.stderr.read().decode().splitlines()
    process.stderr.close()
    assert process.wait(timeout=PATIENCE) == 2
    assert "standard output was closed by its reader; " in told
    assert "written, the others were not" in told


@pytest.mark.parametrize(
    "arguments", [("schema",), ("scenes", "blocks", "--count", "3"), ("--help",)]
)
@pytest.mark.parametrize("how", [">&-", ">/dev/full"])
def test_output_that_arrives_nowhere_is_no_success(how: str, arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        ["bash", "-c", f'"$@" {how}', "bash", *COMMAND, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    (told,) = done.stderr.splitlines()
    reason = "Bad file descriptor" if how == ">&-" else "No space left on device"
    assert told.startswith(f"Error: standard output cannot be written to: {reason}")


def test_closed_streams_cost_nothing_where_they_are_not_used(tmp_path: Path) -> None:
    """No file takes the place of a standard stream, where stray output would end up in it."""
    file, out = traces(tmp_path / "in.jsonl", 2), tmp_path / "out.jsonl"
    script = f'"$@" parse "{file}" --out "{out}" <&- >&- 2>&-'
    done = subprocess.run(["bash", "-c", script, "bash", *COMMAND], check=False)
    assert done.returncode == 0
    assert ids(out) == ["0", "1"]
    script = f'"$@" parse - --out "{tmp_path / "none"}" <&-'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *COMMAND], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (
        1,
        "<stdin>:1: cannot be read: Bad file descriptor\n",
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("how", ["2>/dev/full", "2> >(head -n 1 >/dev/null)", "2>&-"])
@pytest.mark.parametrize(("bad", "code"), [(0, 0), (500, 1)])
def test_messages_that_arrive_nowhere_cost_no_result(
    how: str, bad: int, code: int, tmp_path: Path
) -> None:
    file, out = traces(tmp_path / "in.jsonl", 2), tmp_path / "out.jsonl"
    with file.open("a") as stream:
        stream.write("{\n" * bad + json.dumps(trace(2)) + "\n")
    script = f'"$@" audit "{file}" --jobs 1 --out "{out}" {how}'
    done = subprocess.run(["bash", "-c", script, "bash", *COMMAND], check=False)
    assert done.returncode == code
    assert ids(out) == ["0", "1", "2"]
    assert left(tmp_path) == ["in.jsonl", "out.jsonl"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_is_written_to_as_it_is(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "scenes", "blocks", "--count", "3", "--out", "/dev/full"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "/dev/full: No space left on device" in done.stderr
    assert not Path("/dev/full" + PART).exists()
