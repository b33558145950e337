"""Steps for people: which are drawn, what is shown of them, and labels from there to the agreement."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from helpers.commands import read_lines, run, write_lines

from symbouq.errors import RecordError
from symbouq.evidence.labels.annotation import annotation_page, drawn, shown, table
from symbouq.evidence.labels.human import HumanLabels


def trace(identity: str, steps: int = 1, **more: Any) -> dict[str, Any]:
    said = [f"Step, {n} <of> {identity}." for n in range(1, steps + 1)]
    scene = {"scene": ["A is left of B.", "B is near C."], "question": "Where is A?"}
    return {"id": identity, **scene, "reasoning": said, "conclusion": "left", "answer": "l", **more}


def test_as_many_of_each_dataset_and_none_without_steps() -> None:
    records = [trace(f"{d}{n}", n % 4, dataset=d) for d in "ab" for n in range(40)]
    found = drawn(records, 10, 1)
    assert [sum(r["dataset"] == d for r in found) for d in "ab"] == [10, 10]
    assert all(record["reasoning"] for record in found)
    ids = [record["id"] for record in found]
    assert ids == [record["id"] for record in drawn(records[::-1], 10, 1)]
    assert set(ids) != {record["id"] for record in drawn(records, 10, 2)}
    assert len(drawn(records, 100, 1)) == 60  # three of four have steps


def test_no_answer_is_shown() -> None:
    record = trace("t", 2, model="M", correct=True)
    assert shown(record) == {
        "id": "t",
        "scene": "A is left of B. B is near C.",
        "question": "Where is A?",
        "steps": ["Step, 1 <of> t.", "Step, 2 <of> t."],
    }
    with pytest.raises(RecordError, match="t: people need `scene`"):
        shown(record | {"scene": None})


def test_the_page_ends_in_no_text_of_a_trace() -> None:
    given = [shown(trace("</script><b>", 1))]
    text = annotation_page(given).decode()
    assert text.count("</script>") == 2  # the data's and the script's
    block = text.split('id="data">')[1].split("</script>")[0]
    assert json.loads(block)["traces"] == given


def test_the_table_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(table([shown(trace("t", 2))]))
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["claim"], row["label"], row["text"]) for row in rows] == [
        ("1", "", "Step, 1 <of> t."),
        ("2", "", "Step, 2 <of> t."),
    ]
    assert HumanLabels(path)(trace("t", 2)) == [None] * 3


def test_from_traces_to_the_agreement(tmp_path: Path) -> None:
    traces = write_lines(tmp_path / "t.jsonl", trace("a", 2), trace("b", 2), trace("c", scene=None))
    out = tmp_path / "steps.csv"
    made = run("labels", "annotate", traces, "--out", out)
    assert made.exit_code == 1
    assert "c: people need `scene`" in made.stderr
    assert "2 traces, 4 steps to judge" in made.stderr

    filled = out.read_text(encoding="utf-8-sig").replace('a,1,,"', 'a,1,1,"')
    filled = filled.replace('a,2,,"', 'a,2,0,"').replace('b,1,,"', 'b,1,1,"')
    out.write_text(filled, encoding="utf-8")
    people, judged = tmp_path / "people.jsonl", tmp_path / "judged.jsonl"
    assert run("labels", "human", traces, out, "--out", people).exit_code == 0
    assert [r["labels"] for r in read_lines(people)] == [[1, 0, None], [1, None, None], [None] * 2]
    write_lines(judged, *({"id": i, "source": "J", "labels": [1, 1, None]} for i in "ab"))
    agreed = run("labels", "agree", people, judged)
    # Of three steps that both label, two alike; kappa is 0 where one source always says right.
    row = json.loads(agreed.stdout.splitlines()[-1])
    assert (row["claims"], row["rate"], row["kappa"]) == (3, pytest.approx(2 / 3), 0)


def test_an_input_is_not_overwritten(tmp_path: Path) -> None:
    traces = write_lines(tmp_path / "t.jsonl", trace("a"))
    assert run("labels", "annotate", traces, "--out", traces).exit_code == 2
