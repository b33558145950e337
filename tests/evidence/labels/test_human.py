"""Labels from tables that people filled in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from symbouq.errors import RecordError
from symbouq.evidence.labels.human import HumanLabels


def trace(identity: str, steps: int) -> dict[str, Any]:
    return {"id": identity, "reasoning": ["s"] * steps, "conclusion": "c"}


def table(folder: Path, text: str, name: str = "t.csv") -> HumanLabels:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return HumanLabels(path)


def test_csv(tmp_path: Path) -> None:
    text = "\ufeffid,note,claim,label\na,,1,1\na,x,3,0\na,,2,\nb,,conclusion,1\n"
    source = table(tmp_path, text)
    assert source(trace("a", 3)) == [1, None, 0, None]
    assert source(trace("b", 1)) == [None, 1]
    assert source(trace("c", 0)) == [None]
    assert source.unused() == []


def test_json_lines(tmp_path: Path) -> None:
    text = (
        '{"id": "a", "claim": 1, "label": 0}\n\n{"id": "a", "claim": "Conclusion", "label": null}\n'
    )
    assert table(tmp_path, text, "t.jsonl")(trace("a", 1)) == [0, None]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("a,0,1", r"t.csv:3: `claim` is a number"),
        ("a,first,1", r"t.csv:3: `claim` is a number"),
        ("a,2,yes", r"t.csv:3: `label` is 0, 1 or empty, not 'yes'"),
        ("a,2,2", r"t.csv:3: `label`"),
        (",2,1", r"t.csv:3: `id`"),
        ("a,2", r"t.csv:3: .*label is missing"),
        ("a,1,0", r"t.csv:3: claim 1 of a has a label in line 2"),
    ],
)
def test_a_row_that_cannot_be_read_is_told_with_its_line(
    tmp_path: Path, row: str, told: str
) -> None:
    with pytest.raises(RecordError, match=told):
        table(tmp_path, f"id,claim,label\na,1,1\n{row}\n")


@pytest.mark.parametrize("line", ["[1]", '{"id": "a"}', '{"id": 3, "claim": 1, "label": 1}', "{"])
def test_json_that_is_no_row_is_told_with_its_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(RecordError, match=r"t.jsonl:1: "):
        table(tmp_path, line, "t.jsonl")


def test_another_coding_is_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("id,claim,label\né,1,1\n".encode("latin-1"))
    with pytest.raises(RecordError, match="not UTF-8"):
        HumanLabels(tmp_path / "t.csv")


def test_claims_and_traces_that_are_not_there_are_told(tmp_path: Path) -> None:
    source = table(tmp_path, "id,claim,label\na,3,1\nb,1,1\nb,conclusion,0\nc,1,1\n")
    with pytest.raises(RecordError, match=r"t.csv:2: a has 2 claims, none is 3"):
        source(trace("a", 1))
    with pytest.raises(RecordError, match=r"t.csv:4: claim 1 of b has a label in line 3"):
        source(trace("b", 0))
    assert [str(error).split("/")[-1] for error in source.unused()] == [
        "t.csv:5: there is no trace c"
    ]
