"""CSV, Parquet and saved data sets: columns to fields."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from helpers.writers import MAPPED, TRACES, WRITERS, faults, good, nested, read

from symbouq.io.adapters import limits
from symbouq.io.adapters.inputs import ReadOptions

TRIPLES = [["A", "above", "B"]]
CLAIMS = [{"type": "conclusion", "relations": [["B", "below", "A"]]}]


def table(path: Path, *rows: str) -> str:
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


# CSV --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("suffix", "mark"), [(".csv", ","), (".tsv", "\t"), (".csv", ";")])
def test_separators(suffix: str, mark: str, tmp_path: Path) -> None:
    rows = [("id", "scene", "response"), ("7", "A is above B.", "above"), ("8", "C is left.", "x")]
    path = table(tmp_path / f"in{suffix}", *(mark.join(row) for row in rows))
    first, second = good(path)
    assert first == {"id": "7", "scene": "A is above B.", "response": "above"}
    assert second["id"] == "8"


class _Counted(str):
    """A name that counts what it is compared with."""

    times = 0

    def __eq__(self, other: object) -> bool:
        _Counted.times += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_work_grows_with_the_columns_not_with_their_square(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = [f"c{n}" for n in range(2_000)]
    monkeypatch.setattr("symbouq.io.adapters.formats.csv.spelled", _Counted)
    head, row = ["scene", "response", *more], ["A is above B.", "above", *more]
    (record,) = good(table(tmp_path / "in.csv", ",".join(head), ",".join(row)))
    assert (record["scene"], record["c1999"]) == ("A is above B.", "c1999")
    assert _Counted.times < 20 * len(more)
    (fault,) = faults(table(tmp_path / "no.csv", ",".join(more), ",".join(more)))
    assert fault.endswith("the columns are " + ", ".join(more[:50]) + " and 1,950 more")
    (fault,) = faults(table(tmp_path / "twice.csv", ",".join([*head, "c7", "c5"]), "x"))
    assert "the header names the column 'c5' more than once" in fault


def test_cells_over_several_lines_count_by_their_first(tmp_path: Path) -> None:
    path = table(
        tmp_path / "in.csv",
        "scene,response",
        '"A is above B.\n\nC is left of A.","so\nabove"',
        "",
        "A is above B.,above",
    )
    first, second = good(path)
    assert first["scene"] == "A is above B.\n\nC is left of A."
    assert (first["id"], second["id"]) == ("2", "7")


def test_cells_with_lists(tmp_path: Path) -> None:
    values: dict[str, Any] = {
        "scene": ["A is above B.", "Mr. C is left."],
        "reasoning": ["A is above B."],
        "conclusion": "above",
        "scores": {"p": 0.5},
        "correct": "True",
        "answer": "[left",
    }
    cells = [json.dumps(v) if not isinstance(v, str) else v for v in values.values()]
    row = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
    (record,) = good(table(tmp_path / "in.csv", ",".join(values), row))
    assert record == {**values, "correct": True, "id": "2"}


def test_cells_with_relations(tmp_path: Path) -> None:
    cells = [json.dumps(value).replace('"', '""') for value in (TRIPLES, CLAIMS)]
    path = table(tmp_path / "in.csv", "facts,claims", ",".join(f'"{cell}"' for cell in cells))
    (record,) = good(path, ReadOptions(mapping=(("scene_relations", "facts"),)))
    assert (record["scene_relations"], record["claims"]) == (TRIPLES, CLAIMS)


def test_bad_rows_are_reported_and_the_rest_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(
        b"scene,response,scores\nA is above B.,above\n"
        b"A is \xff B.,above,\n,above,\nA is above B.,above,{\n"
        b'A is above B.,"above"x,\nA is above B.,above,\n"never closed,\nabove'
    )
    assert faults(str(path)) == [
        "in.csv:2: expected 3 cells, as the header has, found 2",
        "in.csv:3: not UTF-8",
        "in.csv:4: no scene: the record has no prompt; name its field by --map scene=FIELD: there is an "
        "object with scene, response, scores",
        "in.csv:5: scores: not valid JSON: EOF while parsing an object at line 1 column 1",
        "in.csv:6: not valid CSV: ',' expected after '\"'",
        "in.csv:8: not valid CSV: unexpected end of data",
    ]
    assert len(read(str(path))) == 7


def test_a_header_that_is_not_utf8_costs_no_row(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(b"scene,response,caf\xe9\nA is above B.,above,open\nA is left of B.,left,\n")
    first, second = good(str(path))
    assert first == {"id": "2", "scene": "A is above B.", "response": "above", r"caf\xe9": "open"}
    assert second["id"] == "3"
    path.write_bytes(b"scene,caf\xe9\nA is above B.,above\n")
    (mapped,) = good(str(path), ReadOptions(mapping=(("response", r"caf\xe9"),)))
    assert mapped["response"] == "above"


@pytest.mark.parametrize(
    "bad",
    [
        '"two lines\n{long}\n"x,above',  # inside of a row that is wrong
        '"two lines\n{long}\n",above',  # and of one that is not
        "{long}",
    ],
)
def test_a_line_that_is_too_long_costs_its_row_alone(
    bad: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LONGEST", 300_000)
    row = "A is above B.,above"
    path = table(
        tmp_path / "in.csv", "scene,response", row, bad.format(long="x" * 600_000), row, row
    )
    assert [isinstance(one, dict) for one in read(path)] == [True, False, True, True]
    assert faults(path) == ["in.csv:3: longer than 0 MiB"]


@pytest.mark.parametrize(
    ("header", "reading", "message"),
    [
        (
            "id,context",
            ReadOptions(),
            "expected a column scene, scene_relations, prompt or messages, or --map scene=context "
            "--map response=FIELD; the columns are id, context",
        ),
        (
            "id,text",
            MAPPED,
            "--map id=key: there is no such column; the columns are id, text",
        ),
        ("id,id,scene", ReadOptions(), "the header names the column 'id' more than once"),
        ('"id', ReadOptions(), "not valid CSV: unexpected end of data"),
    ],
)
def test_missing_columns_are_one_fault(
    header: str, reading: ReadOptions, message: str, tmp_path: Path
) -> None:
    path = table(tmp_path / "in.csv", header, "1,2", "3,4")
    assert faults(path, reading) == [f"in.csv:1: {message}"]


def test_empty_tables(tmp_path: Path) -> None:
    (tmp_path / "in.csv").touch()
    assert read(str(tmp_path / "in.csv")) == []
    assert read(table(tmp_path / "in.csv", "scene,response")) == []


def test_a_long_cell(tmp_path: Path) -> None:
    path = table(tmp_path / "in.csv", "scene,response", f"A is above B.,{'x' * 1_000_000}")
    assert len(good(path)[0]["response"]) == 1_000_000


# Parquet and data sets --------------------------------------------------------------------


def test_typed_rows(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    rows = [
        {"id": 1, "scene_relations": TRIPLES, "claims": CLAIMS, "day": date(2026, 1, 2)},
        {
            "id": 2,
            "scene": ["A is above B."],
            "response": "above",
            "raw": b"\xff",
            "x": float("nan"),
        },
    ]
    parquet.write_table(pyarrow.Table.from_pylist(rows, _schema(pyarrow)), tmp_path / "in")
    first, second = good(str(tmp_path / "in"))
    assert first == {"id": "1", "scene_relations": TRIPLES, "claims": CLAIMS, "day": "2026-01-02"}
    assert second["x"] is None
    assert (second["id"], second["scene"]) == ("2", ["A is above B."])


def _schema(pyarrow: Any) -> Any:
    triples = pyarrow.list_(pyarrow.list_(pyarrow.string()))
    claim = pyarrow.struct(
        [("type", pyarrow.string()), ("text", pyarrow.string()), ("relations", triples)]
    )
    return pyarrow.schema(
        [
            ("id", pyarrow.int64()),
            ("scene_relations", triples),
            ("claims", pyarrow.list_(claim)),
            ("scene", pyarrow.list_(pyarrow.string())),
            ("response", pyarrow.string()),
            ("day", pyarrow.date32()),
            ("raw", pyarrow.binary()),
            ("x", pyarrow.float64()),
        ]
    )


@pytest.mark.parametrize("name", ["parquet", "hf"])
def test_missing_columns_of_typed_tables(name: str, tmp_path: Path) -> None:
    file = WRITERS[name](tmp_path, TRACES)
    (fault,) = faults(file, ReadOptions(mapping=(("scene", "story"),)))
    assert fault.endswith(
        ":1: --map scene=story: there is no such column; the columns are doc, key, completion"
    )
    (fault,) = faults(file, ReadOptions())
    assert ":1: expected a column scene, scene_relations, prompt or messages, or " in fault
    assert "--map scene=FIELD --map response=completion; the columns are" in fault


@pytest.mark.parametrize("name", ["parquet", "hf"])
def test_missing_values_of_typed_tables(name: str, tmp_path: Path) -> None:
    rows = [TRACES[0], {**TRACES[1], "scene": None}, TRACES[2]]
    file = WRITERS[name](tmp_path, rows)
    (fault,) = faults(file, file.options)
    assert ":2: --map scene=doc.context: no 'context' there; doc is an object with asked" in fault
    assert len(read(file, file.options)) == 3


def test_damaged_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    (tmp_path / "in.parquet").write_bytes(b"PAR1 and then nothing")
    (fault,) = faults(str(tmp_path / "in.parquet"))
    assert fault.startswith("in.parquet:1: not readable as Parquet: ")


def test_a_data_set_of_several_splits(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    datasets.disable_progress_bars()
    split = datasets.Dataset.from_list([nested(trace) for trace in TRACES])
    path = tmp_path / "saved"
    datasets.DatasetDict({"train": split, "test": split}).save_to_disk(str(path))
    assert faults(str(path)) == [
        f"saved:1: holds the splits train, test: name one of them, such as {path / 'train'}"
    ]
    file = WRITERS["hf"](tmp_path / "other", TRACES)
    assert good(str(path / "test"), file.options) == good(file, file.options)


def test_a_format_that_was_set_on_a_data_set(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    datasets.disable_progress_bars()
    split = datasets.Dataset.from_list([{**trace, "n": 1} for trace in TRACES[:1]])
    split.set_format("numpy")
    split.save_to_disk(str(tmp_path / "saved"))
    assert good(str(tmp_path / "saved")) == [{**TRACES[0], "n": 1}]


# Prompts and what was answered ------------------------------------------------------------

ASKED = "The jar is above the tin. Where is the tin relative to the jar?"


def test_messages_in_a_column(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    turns = [{"role": "user", "content": ASKED}, {"role": "assistant", "content": "below"}]
    parquet.write_table(pyarrow.Table.from_pylist([{"messages": turns}]), tmp_path / "in.parquet")
    (record,) = good(str(tmp_path / "in.parquet"))
    assert (record["id"], record["scene"]) == ("1", "The jar is above the tin.")
    assert record["response"] == "below"


def test_messages_in_a_saved_data_set(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    datasets.disable_progress_bars()
    turns = [{"from": "human", "value": ASKED}, {"from": "gpt", "value": "below"}]
    datasets.Dataset.from_list([{"conversations": turns}]).save_to_disk(str(tmp_path / "saved"))
    (record,) = good(str(tmp_path / "saved"))
    assert record["question"] == "Where is the tin relative to the jar?"
    assert record["response"] == "below"


def test_pairs_and_messages_in_cells(tmp_path: Path) -> None:
    path = table(tmp_path / "in.csv", "prompt,completion", f"{ASKED},below")
    (record,) = good(path)
    assert (record["scene"], record["response"]) == ("The jar is above the tin.", "below")
    turns = [{"role": "user", "content": ASKED}, {"role": "assistant", "content": "below"}]
    cell = json.dumps(turns).replace('"', '""')
    (other,) = good(table(tmp_path / "in.csv", "messages", f'"{cell}"'))
    assert (other["scene"], other["response"]) == (record["scene"], "below")


def test_a_scene_goes_before_a_prompt(tmp_path: Path) -> None:
    path = table(tmp_path / "in.csv", "scene,input,output", "A is above B.,Go on?,so it is")
    (record,) = good(path, ReadOptions(mapping=(("response", "output"),)))
    assert (record["scene"], record["response"]) == ("A is above B.", "so it is")
    assert "question" not in record


def test_what_is_mapped_is_not_guessed(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    row = {"input": ASKED, "output": {"text": "below", "tokens": 1}}
    parquet.write_table(pyarrow.Table.from_pylist([row]), tmp_path / "in.parquet")
    reading = ReadOptions(mapping=(("prompt", "input"), ("response", "output.text")))
    (record,) = good(str(tmp_path / "in.parquet"), reading)
    assert (record["scene"], record["response"]) == ("The jar is above the tin.", "below")


def test_columns_of_our_own_go_before_those_of_an_exchange(tmp_path: Path) -> None:
    path = table(
        tmp_path / "in.csv", "prompt,completion,response,conclusion", f"{ASKED},above,below,below"
    )
    (record,) = good(path)
    assert (record["response"], record["conclusion"]) == ("below", "below")
