"""Reading, spreading and writing: what is bad is reported, what is good is kept."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from helpers.processes import PATIENCE
from hypothesis import given, settings
from hypothesis import strategies as st
from symbouq_cli.main import main

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.jobs import auditing
from symbouq.errors import RecordError
from symbouq.io.adapters import limits
from symbouq.io.output import RecordFile
from symbouq.io.pool import Pool
from symbouq.io.stream import Job, Line, Outcome, Work, distinct, process, read_lines
from symbouq.limits import LimitError
from symbouq.reading.described.reader import DescribedReader
from symbouq.records import Trace, parse_record
from symbouq.report.entries import reporting

GOOD = {
    "id": "good",
    "scene": ["A is above B."],
    "question": "",
    "response": "Answer: A is above B.",
}
JOB = Job(auditing, (None, None, "assumed"), Trace)


def outcomes(path: Path, processes: int = 1) -> list[Outcome]:
    return list(process([str(path)], JOB, processes))


def written(path: Path, *lines: bytes | dict[str, Any]) -> Path:
    encoded = [x if isinstance(x, bytes) else json.dumps(x).encode() for x in lines]
    path.write_bytes(b"\n".join(encoded) + b"\n")
    return path


STRUCTURED = {"id": "s", "scene_relations": [["A", "above", "B"]], "claims": []}

BAD: dict[str, tuple[bytes | dict[str, Any], str]] = {
    "truncated JSON": (b'{"id": "x", "scene": ["A is', "not valid JSON"),
    "no object": (b"[1, 2]", "a record is a JSON object"),
    "a number": (b"17", "a record is a JSON object"),
    "NUL bytes": (b'{"id": "x\x00"}', "not valid JSON"),
    "only NUL": (b"\x00\x00", "not valid JSON"),
    "not UTF-8": (b'{"id": "\xff\xfe"}', "not UTF-8: byte 0xff at offset 8"),
    "lone surrogate": (b'{"id": "\\ud800", "scene": [], "response": ""}', "not valid JSON"),
    "NaN": (b'{"id": "x", "scene": [], "response": "", "score": NaN}', "not valid JSON"),
    "no id": ({"scene": [], "response": ""}, "id: Field required"),
    "empty id": ({**GOOD, "id": ""}, "id: String should have at least 1 character"),
    "id of a wrong type": ({**GOOD, "id": 7.5}, "id: Input should be a valid string"),
    "scene of a wrong type": ({**GOOD, "scene": 7}, "scene: Input should be a valid"),
    "sentence of a wrong type": ({**GOOD, "scene": ["A", 7]}, "scene"),
    "reasoning in one text": ({**GOOD, "reasoning": "So."}, "reasoning: a list of claims is"),
    "an audit": (
        {"id": "x", "scene": {}, "constraint_rule": 1, "source": {"file": "t.jsonl", "line": 3}},
        "an audit, not a trace; its trace is t.jsonl:3",
    ),
    "no scene": ({"id": "x", "response": ""}, "needs `scene`"),
    "no claims": ({"id": "x", "scene": []}, "needs `response`"),
    "claims without relations": ({**GOOD, "claims": []}, "`claims` need `scene_relations`"),
    "a relation in place of a claim": (
        {**STRUCTURED, "claims": [{"subject": "A", "relation": "above", "object": "B"}]},
        "claims.0: a claim has a list of `relations`",
    ),
    "a relation of two": ({**STRUCTURED, "scene_relations": [["A", "above"]]}, "three strings"),
    "an unknown relation": (
        {**STRUCTURED, "scene_relations": [["A", "abov", "B"]]},
        "scene_relations.1: unknown relation 'abov' in profile nine-way; did you mean 'above'?",
    ),
    "an unknown relation in a claim": (
        {**STRUCTURED, "claims": [{"relations": [["A", "near", "B"], ["A", "nearr", "B"]]}]},
        "claims.1.relations.2: unknown relation 'nearr'",
    ),
    "an unknown profile": ({**GOOD, "profile": "x"}, "unknown profile 'x'; there are: nine-way"),
    "deep nesting": (b"[" * 100_000, "not valid JSON"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_records_are_reported_and_the_rest_is_kept(name: str, tmp_path: Path) -> None:
    bad, message = BAD[name]
    path = written(tmp_path / "in.jsonl", GOOD, bad, {**GOOD, "id": "after"})
    first, second, third = outcomes(path)
    assert first.output is not None
    assert third.output is not None
    assert second.output is None
    assert (second.file, second.number) == (str(path), 2)
    assert second.error is not None
    assert message in second.error
    assert "\n" not in second.error


NOT_UTF_8 = os.fsdecode(b"caf\xe9")


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".json", ".parquet"])
@pytest.mark.parametrize("place", [NOT_UTF_8 + "{}", NOT_UTF_8 + "/in{}", "r\xe9sum\xe9{}"])
def test_a_file_with_any_name_is_read(suffix: str, place: str, tmp_path: Path) -> None:
    file = tmp_path / place.format(suffix)
    file.parent.mkdir(exist_ok=True)
    record = {"id": "1", "scene": "A is above B.", "response": "B is below A."}
    if suffix == ".csv":
        file.write_text("id,scene,response\n1,A is above B.,B is below A.\n2,no\n")
    elif suffix == ".json":
        file.write_text(json.dumps([record, 1]))
    elif suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="the extra `formats` is not installed")
        with RecordFile(str(file)) as made:
            made.write(json.dumps(record).encode() + b"\n")
            made.write(b'{"id": "2"}\n')
    else:
        file.write_text(json.dumps(record) + "\n1\n")
    out, report = tmp_path / f"{NOT_UTF_8}-out.jsonl", tmp_path / f"{NOT_UTF_8}.html"
    arguments = ["audit", str(file), "--out", str(out), "--report", str(report)]
    done = CliRunner().invoke(main, [*arguments, "--jobs", "1"])
    assert done.exit_code == 1, done.output  # of the second record
    (audit,) = [json.loads(line) for line in out.read_bytes().splitlines()]
    named = str(file).replace("\udce9", r"\xe9")
    assert audit["source"]["file"] == named
    assert audit["claims"][0]["verdict"] == "entailed"
    assert r"\udce9" not in done.output and "internal error" not in done.output
    assert report.exists()


def test_empty_file_and_blank_lines(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    assert outcomes(tmp_path / "empty") == []
    path = written(tmp_path / "blank", b"", GOOD, b"   ", b"")
    assert [o.number for o in outcomes(path)] == [2]


def test_last_line_without_line_break(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(json.dumps(GOOD).encode())
    assert [o.error for o in outcomes(tmp_path / "in")] == [None]


def test_duplicate_ids_within_a_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a", GOOD, {**GOOD, "id": "other"}, GOOD)
    assert [o.error for o in outcomes(path)] == [None, None, "id 'good' occurs before in this file"]
    other = written(tmp_path / "b", GOOD)
    both = list(process([str(path), str(other)], JOB, 1))
    assert both[-1].error is None


def test_a_message_under_the_number_of_a_row_does_not_hide_duplicate_ids() -> None:
    """A column that is left out is told of before the row, under the number of the row."""
    told = Outcome("f", 2, "", None, "column notes: bad; it is left out")
    rows = [Outcome("f", n, "same" if n > 1 else "first", b"{}", None) for n in (1, 2, 3)]
    found = list(distinct([rows[0], told, *rows[1:]]))
    said = "id 'same' occurs before in this file"
    assert [one.error for one in found] == [None, told.error, None, said]
    late = Outcome("f", 3, "first", b"{}", None)
    said = "id 'first' occurs before in this file"
    assert [one.error for one in distinct([rows[0], told, rows[1], late])][-1] == said


@pytest.mark.parametrize("bad", [(), (1,), (3,), (1, 3), (2,)])
def test_a_file_that_is_given_twice_repeats_no_id(bad: tuple[int, ...]) -> None:
    rows = [
        Outcome("f", n, "", None, "bad") if n in bad else Outcome("f", n, str(n), b"{}", None)
        for n in (1, 2, 3)
    ]
    whole = [one.error for one in rows]
    assert [one.error for one in distinct(rows + rows)] == whole + whole


def test_damaged_gzip_keeps_what_precedes(tmp_path: Path) -> None:
    lines = b"".join(json.dumps({**GOOD, "id": str(n)}).encode() + b"\n" for n in range(2000))
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(gzip.compress(lines)[:-2000])
    found = outcomes(path)
    assert found[-1].error is not None
    assert "compressed file is damaged" in found[-1].error
    assert all(o.error is None for o in found[:-2])
    assert len(found) > 10


def test_ten_megabyte_line(tmp_path: Path) -> None:
    long = {**GOOD, "id": "long", "note": "x" * 10_000_000}
    path = written(tmp_path / "in", long, GOOD)
    assert [o.error for o in outcomes(path)] == [None, None]


def test_a_thousand_claims(tmp_path: Path) -> None:
    names = [f"T{n}" for n in range(12)]
    claims = [
        {"relations": [[names[n % 12], "above", names[(n * 5 + 1) % 12]]]} for n in range(1000)
    ]
    trace = {"id": "x", "scene_relations": [["T0", "near", "T1"]], "claims": claims}
    (only,) = outcomes(written(tmp_path / "in", trace))
    assert only.output is not None
    assert len(json.loads(only.output)["claims"]) == 1000


@pytest.mark.slow
def test_a_thousand_sentences(tmp_path: Path) -> None:
    text = " ".join(f"E is above F{n}." for n in range(1000))
    trace = {**GOOD, "response": text}
    (only,) = outcomes(written(tmp_path / "in", trace))
    assert only.output is not None
    assert len(json.loads(only.output)["claims"]) == 1001


NASTY = [
    'A" . #script (python) print(1) #end. "',
    "a\nb",
    "x). on(0). :- not on(1",
    "\u0000",
    "%*",
    "",
    "p(1)",
    "\u202eabc",
    "\U0001f600",
]


@pytest.mark.parametrize("name", NASTY)
def test_names_never_reach_clingo_as_code(name: str, tmp_path: Path) -> None:
    trace = {
        "id": "x",
        "scene_relations": [[name, "above", "B"], ["B", "inside", "C"]],
        "claims": [{"relations": [["B", "below", name]]}, {"relations": [["C", "above", name]]}],
    }
    (only,) = outcomes(written(tmp_path / "in", trace))
    assert only.output is not None
    claims = json.loads(only.output)["claims"]
    assert [claim["verdict"] for claim in claims] == ["entailed", "unknown"]
    assert claims[0]["relations"][0]["object"] == name


def test_processes_change_nothing(tmp_path: Path) -> None:
    lines: list[bytes | dict[str, Any]] = [{**GOOD, "id": str(n)} for n in range(200)]
    lines[70] = b"{"
    lines[150] = {**GOOD, "id": "149"}
    path = written(tmp_path / "in", *lines)
    assert outcomes(path, 1) == outcomes(path, 3)


def test_unknown_fields_are_ignored_and_kept() -> None:
    relation = {"subject": "A", "relation": "near", "object": "B", "note": "x"}
    given = {
        **STRUCTURED,
        "scene_relations": [relation],
        "claims": [{"relations": [], "label": 1}],
        "mood": None,
        "answer": ["far"],
    }
    trace = parse_record(Trace, json.dumps(given).encode())
    record = AUDITOR.parser_for(trace).record(trace, AUDITOR.parsed(trace))
    assert record["mood"] is None
    assert record["answer"] == ["far"]
    assert AUDITOR.audited(Trace.model_validate(record))["claims"][0]["verdict"] == "unknown"


@pytest.mark.slow
@given(st.lists(st.binary(max_size=60).map(lambda b: b.replace(b"\n", b"")), max_size=8))
@settings(max_examples=30)
def test_any_bytes_are_survived(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "in"
    # A first line, so that no random bytes pass for the mark of a compressed file.
    path.write_bytes(b"\n".join([b"{}", *lines, json.dumps(GOOD).encode()]))
    found = outcomes(path)
    assert found[-1].output is not None
    assert all(o.output is not None or o.error for o in found)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
AUDITOR = TraceAuditor()


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(Trace.model_fields, JSON)))
@settings(max_examples=400)
def test_any_values_are_audited_or_refused(record: dict[str, Any]) -> None:
    try:
        AUDITOR.audited(parse_record(Trace, json.dumps(record).encode()))
    except RecordError as error:
        assert "\n" not in error.message


# Pipes -----------------------------------------------------------------------------------


def audited_at_once(jobs: str, given: list[bytes]) -> list[str]:
    """The ids of the audits that come while the pipe stays open."""
    code = "from symbouq_cli.main import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "audit", "-", "--jobs", jobs],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,  # so that what is there is seen
    )
    assert process.stdin is not None
    assert process.stdout is not None
    found = []
    with process.stdin, process.stdout:
        for content in given:
            process.stdin.write(content)
            process.stdin.flush()
            for _ in range(content.count(b"\n")):
                ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
                assert ready, "nothing comes before the input ends"
                found.append(json.loads(process.stdout.readline())["id"])
    assert process.wait(timeout=PATIENCE) == 0
    return found


def structured(number: int) -> bytes:
    record = {**STRUCTURED, "id": str(number)}
    return json.dumps(record).encode() + b"\n"


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_record_on_an_open_pipe_is_answered_at_once(jobs: str) -> None:
    parts = [structured(0), structured(1)]
    parts.append(b"".join(map(structured, range(2, 100))))  # several batches
    half = structured(100)
    parts += [half[:20], half[20:], structured(101)]
    assert audited_at_once(jobs, parts) == [str(n) for n in range(102)]


# Processes -------------------------------------------------------------------------------


def dying(_given: None) -> Work:
    """A worker that a record kills."""

    def work(trace: Trace, _file: str, _line: int) -> tuple[dict[str, Any], None]:
        if trace.id in ("70", "99"):
            os.kill(os.getpid(), signal.SIGKILL)
        return {"id": trace.id}, None

    return Work(work)


def test_a_record_that_kills_its_process_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"".join(map(structured, range(200))))
    found = list(process([str(path)], Job(dying, (None,), Trace), 2))
    assert [o.number for o in found] == list(range(1, 201))
    failed = {o.number: o.error for o in found if o.error}
    assert list(failed) == [71, 100]
    assert failed[71] is not None
    assert failed[71].startswith("the process that worked on it died (killed by SIGKILL; ")
    assert multiprocessing.active_children() == []


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="waits for a process that died")
def test_a_process_that_dies_idle_costs_no_record() -> None:
    """It has no record that could be to blame."""

    def batches() -> Iterator[list[int]]:
        for number in range(4):
            yield [number]
            yield []  # what was given is done before this returns
            for child in multiprocessing.active_children():
                assert child.pid is not None
                os.kill(child.pid, signal.SIGKILL)
                os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

    with Pool(2, doubling, lambda item, how: f"{item} is lost, {how}") as pool:
        found = list(pool.map(batches()))
    assert found == [[0], [2], [4], [6]]
    assert multiprocessing.active_children() == []


def doubling() -> Callable[[Sequence[int]], list[int]]:
    return lambda numbers: [2 * number for number in numbers]


def test_processes_that_all_die_at_once_end_the_work() -> None:
    with Pool(2, partial(os._exit, 3), lambda item, how: f"{item}: {how}") as pool:
        found = list(pool.map(iter([[0, 1], [2]])))
    assert found == [["0: exit code 3"], ["1: exit code 3"], ["2: exit code 3"]]


def failing(here: int) -> Work:
    if os.getpid() != here:
        raise RecordError("no such luck")
    return dying(None)


def test_a_process_that_cannot_be_made_ready_says_why(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"".join(map(structured, range(100))))
    with pytest.raises(RecordError, match="no such luck"):
        list(process([str(path)], Job(failing, (os.getpid(),), Trace), 2))
    assert multiprocessing.active_children() == []


# Work ahead ------------------------------------------------------------------------------


def foreseeing(fails: bool) -> Work:
    """A worker that writes which records it was told of."""
    known: list[str] = []

    def ahead(traces: Sequence[Trace]) -> None:
        known[:] = [trace.id for trace in traces]
        if fails:
            raise LimitError

    def work(trace: Trace, _file: str, _line: int) -> tuple[dict[str, Any], None]:
        return {"id": trace.id, "known": list(known)}, None

    return Work(work, ahead)


@pytest.mark.parametrize("fails", [False, True])
def test_a_batch_is_made_ready_before_its_records(tmp_path: Path, fails: bool) -> None:
    path = tmp_path / "in"
    path.write_bytes(structured(0) + b"{}\n" + b"".join(map(structured, range(1, 40))))
    found = list(process([str(path)], Job(foreseeing, (fails,), Trace), 1))
    known = [json.loads(o.output)["known"] for o in found if o.output is not None]
    first = [str(n) for n in range(31)]
    assert known == [first] * 31 + [[str(n) for n in range(31, 40)]] * 9
    assert [o.number for o in found if o.error] == [2]


# Limits ----------------------------------------------------------------------------------


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> int:
    """A small limit of a record, and of what may not end."""
    monkeypatch.setattr(limits, "LONGEST", 300_000)
    monkeypatch.setattr(limits, "ENDLESS", 3_000_000)
    return limits.LONGEST


def test_a_line_that_is_too_long_costs_only_itself(short: int, tmp_path: Path) -> None:
    long = {**STRUCTURED, "id": "long", "note": "x" * (2 * short)}
    path = written(tmp_path / "in", GOOD, long, {**GOOD, "id": "after"})
    first, second, third = outcomes(path)
    assert second.error == f"longer than {short >> 20} MiB"
    assert (second.number, third.number) == (2, 3)
    assert first.output is not None
    assert third.output is not None
    edge = {**STRUCTURED, "note": ""}
    edge["note"] = "x" * (short - len(json.dumps(edge)) - 1)  # with its line break
    assert [o.error for o in outcomes(written(tmp_path / "in", edge))] == [None]


def test_so_does_an_item_of_an_array_and_a_line_of_csv(short: int, tmp_path: Path) -> None:
    long = {**STRUCTURED, "id": "long", "note": "x" * (2 * short)}
    path = tmp_path / "in.json"
    path.write_text(json.dumps([STRUCTURED, long, {**STRUCTURED, "id": "after"}]))
    assert [o.error for o in outcomes(path)] == [None, f"longer than {short >> 20} MiB", None]
    table = tmp_path / "in.csv"
    row = ",A is above B.,Answer: above"
    table.write_text(f"id,scene,response\n1{row}\n{'x' * 2 * short}{row}\n3{row}\n")
    assert [(o.number, o.error is None) for o in outcomes(table)] == [
        (2, True),
        (3, False),
        (4, True),
    ]


@pytest.mark.parametrize("array", [False, True])
def test_what_does_not_end_is_read_no_further(short: int, array: bool, tmp_path: Path) -> None:
    path = tmp_path / "in"
    good = json.dumps(STRUCTURED).encode()
    start = b"[" + good + b",\n" if array else good + b"\n"
    path.write_bytes(start + b'{"a": "' + b"x" * 5 * limits.ENDLESS + b'"}\n' + good)
    first, second = outcomes(path)
    assert first.output is not None
    assert second.number == 2
    assert second.error is not None
    assert "does not end within" in second.error


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks at memory in /proc")
@pytest.mark.parametrize(
    "content",
    [
        b"\0",
        b"x",
        b"[",
        b"[[],",
        pytest.param(b"\n", marks=pytest.mark.slow),
        pytest.param(b"{}\n", marks=pytest.mark.slow),
    ],
)
def test_a_bomb_is_one_error(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "in.gz"
    packer = zlib.compressobj(9, wbits=31)
    with path.open("wb") as stream:
        stream.write(packer.compress(structured(0)))
        piece = content * ((1 << 24) // len(content))
        for _ in range(1 if content.endswith(b"\n") else 4):  # 64 MiB, which lines make slow
            stream.write(packer.compress(piece))
        stream.write(packer.flush())
    code = (
        "import re, sys\n"
        "from symbouq.io.stream import read_lines\n"
        "last = None\n"
        "for last in read_lines(sys.argv[1]): pass\n"
        "print(last)\n"
        "print(*re.findall(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    told, memory = done.stdout.splitlines()
    assert "grows more than 900-fold when it is decompressed" in told
    assert int(memory) < 200_000  # KiB


def test_an_honest_file_that_compresses_well_is_read(tmp_path: Path) -> None:
    """The same record again and again but for its id, 100 MB of it."""
    path = tmp_path / "in.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=6) as stream:
        for number in range(500):
            record = {"id": str(number), "note": "The cup is left of the pot. " * 7_000}
            stream.write(json.dumps(record).encode() + b"\n")
    assert path.stat().st_size < 1_000_000
    assert sum(isinstance(line, Line) for line in read_lines(str(path))) == 500


# Arrays ----------------------------------------------------------------------------------


def array_of(*records: dict[str, Any]) -> dict[str, bytes]:
    return {
        "one line": json.dumps(records).encode(),
        "indented": json.dumps(records, indent=2).encode() + b"\n\n",
        "an item a line": b"[\n" + b",\n".join(json.dumps(r).encode() for r in records) + b"\n]",
        "marked": b"\xef\xbb\xbf " + json.dumps(records).encode(),
    }


@pytest.mark.parametrize("how", array_of())
def test_an_array_of_own_records_is_read(how: str, tmp_path: Path) -> None:
    records = [{**GOOD, "id": str(n)} for n in range(40)]
    records[7] = {"id": "7"}
    (tmp_path / "in").write_bytes(array_of(*records)[how])
    found = outcomes(tmp_path / "in")
    numbers = [o.number for o in found]
    if how in ("one line", "marked"):
        assert numbers == list(range(1, 41))
    else:  # the lines on which they begin
        text = (tmp_path / "in").read_text().splitlines()
        assert all(text[number - 1].lstrip().startswith("{") for number in numbers)
    assert [o.number for o in found if o.error] == [numbers[7]]


def test_a_line_that_is_an_array_is_no_array_of_records(tmp_path: Path) -> None:
    for line in (b"[1, 2]", b"[{}]", b"[{}, {}]", b"[]", b"[1, 2", b"[[[["):
        first, second = outcomes(written(tmp_path / "in", line, GOOD))
        assert first.error is not None, line
        assert second.output is not None, line


def test_what_follows_an_array_is_not_silently_left_out(tmp_path: Path) -> None:
    text = json.dumps([GOOD], indent=1) + json.dumps({**GOOD, "id": "after"})
    (tmp_path / "in").write_text(text)
    first, second = outcomes(tmp_path / "in")
    assert first.output is not None
    assert second.error == "something follows the end of its JSON, and is not read"


# Limits, and what a result lacks --------------------------------------------------------------

NO_TIME = 1e-9


def limited(folder: Path, timeout: float | None, *records: dict[str, Any]) -> list[Outcome]:
    path = written(folder / "in.jsonl", *records)
    return list(process([str(path)], replace(JOB, timeout=timeout), 1))


RELATIONS = {
    "id": "relations",
    "scene_relations": [["A", "above", "B"], ["B", "inside", "C"]],
    "claims": [{"relations": [["A", "left", "C"]]}, {"relations": [["C", "contains", "B"]]}],
}
TEXT = {"id": "text", "scene": ["A is above B."], "response": "A is above B. Answer: above"}


def test_an_audit_without_time_says_so(tmp_path: Path) -> None:
    relations, text = limited(tmp_path, NO_TIME, RELATIONS, TEXT)
    assert relations.faults == ("the time limit was reached: no verdict on claim 1 and 1 more",)
    assert relations.output is not None
    audit = json.loads(relations.output)
    assert (audit["timed_out"], audit["faults"]) == (True, list(relations.faults))
    assert [claim["verdict"] for claim in audit["claims"]] == ["unknown", "unknown"]
    assert (
        audit["claims"][0]["message"] == "A is to the left of C: not decided within the time limit."
    )
    # What is not read is not audited.
    assert (text.output, text.error) == (None, "not finished: the time limit was reached")


def test_a_report_keeps_an_audit_that_ran_out_of_time(tmp_path: Path) -> None:
    path = written(tmp_path / "in.jsonl", RELATIONS)
    job = Job(reporting, (None, None, "assumed"), Trace, timeout=NO_TIME)
    (outcome,) = process([str(path)], job, 1)
    assert outcome.output is not None
    assert json.loads(outcome.output)["timed_out"]


def test_what_was_not_read_stays_said(tmp_path: Path) -> None:
    claims = ["A is above B.", "A is above B and " * 200]
    trace = {"id": "t", "scene": ["A is above B."], "reasoning": claims, "conclusion": "above"}
    (audited,) = limited(tmp_path, None, trace)
    (fault,) = audited.faults
    assert fault.startswith("claim 2 is not read")
    record = Trace.model_validate(trace)
    auditor = TraceAuditor()
    parsed = auditor.parser_for(record).record(record, auditor.parsed(record))
    (again,) = limited(tmp_path, None, parsed)
    assert again.faults == (fault,)
    assert again.output == audited.output


def test_an_audit_in_time_lacks_nothing(tmp_path: Path) -> None:
    for outcome in limited(tmp_path, 600, RELATIONS, TEXT):
        assert (outcome.error, outcome.faults) == (None, ())
        assert outcome.output is not None
        audit = json.loads(outcome.output)
        assert (audit["timed_out"], audit["faults"]) == (False, [])


def test_a_fault_in_one_claim_costs_that_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stated(self: DescribedReader, tokens: Any, *arguments: Any, **named: Any) -> Any:
        if any(token.text == "zork" for token in tokens):
            raise KeyError("zork")
        return sound(self, tokens, *arguments, **named)

    sound = DescribedReader.stated
    monkeypatch.setattr(DescribedReader, "stated", stated)
    claims = ["A is above B.", "A zork is above B.", "B is below A."]
    trace = {"id": "t", "scene": ["A is above B."], "reasoning": claims, "conclusion": "above"}
    trace["dataset"] = "spartun"
    (outcome,) = limited(tmp_path, None, trace)
    (fault,) = outcome.faults
    assert fault.startswith("claim 2 is not read, because of an internal error (KeyError: 'zork')")
    assert outcome.output is not None
    verdicts = [claim["verdict"] for claim in json.loads(outcome.output)["claims"]]
    assert verdicts == ["entailed", "unknown", "entailed", "unknown"]
