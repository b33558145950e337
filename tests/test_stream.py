"""Reading, spreading and writing: what is bad is reported, what is good is kept."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symbouq.errors import RecordError
from symbouq.jobs import auditing
from symbouq.pipeline import TraceAuditor
from symbouq.records import Trace, parse_record
from symbouq.stream import Job, Outcome, process

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
    "id of a wrong type": ({**GOOD, "id": 7}, "id: Input should be a valid string"),
    "scene of a wrong type": ({**GOOD, "scene": 7}, "scene: Input should be a valid"),
    "sentence of a wrong type": ({**GOOD, "scene": ["A", 7]}, "scene"),
    "no scene": ({"id": "x", "response": ""}, "needs `scene`"),
    "no claims": ({"id": "x", "scene": []}, "needs `response`"),
    "claims without relations": ({**GOOD, "claims": []}, "come together"),
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
    record = AUDITOR.parse(parse_record(Trace, json.dumps(given).encode()))
    assert record["mood"] is None
    assert record["answer"] == ["far"]
    assert AUDITOR.audited(Trace.model_validate(record))["claims"][0]["verdict"] == "unknown"


@given(st.lists(st.binary(max_size=60).map(lambda b: b.replace(b"\n", b"")), max_size=8))
@settings(max_examples=30, deadline=None)
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
@settings(max_examples=400, deadline=None)
def test_any_values_are_audited_or_refused(record: dict[str, Any]) -> None:
    try:
        AUDITOR.audited(parse_record(Trace, json.dumps(record).encode()))
    except RecordError as error:
        assert "\n" not in error.message
