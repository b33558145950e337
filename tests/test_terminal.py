"""Whatever is in the data, a terminal is sent no command by it, and one record is one line."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from symbouq_cli import run as runs
from symbouq_cli.main import main
from symbouq_cli.terminal import Faults, printable

from symbouq.errors import RecordError

HOSTILE = "\x1b[31mred\x1b]0;title\x07\x9b2J\r\n\u202eesrever\u2028x[bold]y:smile:"
"""Colours, a title, a cleared screen, an overwritten line, a turned text, and rich's own marks."""

BAD = ("\x1b", "\x07", "\x9b", "\r", "\u202e", "\u2028")


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


def lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def clean(text: str) -> str:
    for sign in BAD:
        assert sign not in text, ascii(text)
    return text


def trace(**more: Any) -> dict[str, Any]:
    return {"id": HOSTILE, "scene": ["A is above B."], "response": "Answer: A is above B.", **more}


def test_what_a_terminal_would_act_on_is_spelled_out() -> None:
    assert printable("a\x1b[2J\x9bb\r\nc\u202ed\ud800") == r"a\x1b[2J\x9bb\r\nc\u202ed\ud800"
    assert printable("\tnaïve – 東京 \u200d") == "\tnaïve – 東京 \u200d"


def test_explain(tmp_path: Path) -> None:
    relations = [[f"A{HOSTILE}", "above", "B"]]
    record = trace(
        scene_relations=relations,
        claims=[{"text": f"said {HOSTILE}", "relations": relations}],
        scene=[f"The scene {HOSTILE}"],
    )
    result = run("explain", lines(tmp_path / "t.jsonl", record), "--id", HOSTILE)
    assert result.exit_code == 0, result.output
    text = clean(result.stdout)
    assert text.count("[bold]y:smile:") > 3  # of data, rich makes no style and no picture
    wrong = run("explain", tmp_path / "t.jsonl", "--id", f"no{HOSTILE}")
    assert wrong.exit_code == 2
    assert len(clean(wrong.stderr).splitlines()) == 1


def test_compare(tmp_path: Path) -> None:
    files = []
    for name, relation in (("a", "above"), ("b", "below")):
        claim = {"text": HOSTILE, "relations": [[HOSTILE, relation, "B"]]}
        relations = {"scene_relations": [[HOSTILE, "above", "B"]], "claims": [claim]}
        made = lines(tmp_path / f"{name}.in", trace(**relations))
        files.append(tmp_path / f"{name}\x1b[31m.jsonl")
        assert run("audit", made, "--jobs", "1", "--out", files[-1]).exit_code == 0
    result = run("compare", *files)
    assert result.exit_code == 1
    assert "entailed -> contradicted" in clean(result.output)


CSV = (
    f'id,scene\n"{HOSTILE}"\n'.encode(),
    f'"{HOSTILE}",b\n1,2\n'.encode(),
    f'id,scene,response\n1,A is above B.,x\n"1",{HOSTILE},"\n'.encode(),
)


@pytest.mark.parametrize("content", CSV)
def test_errors_of_csv(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(content)
    result = run("audit", file, "--jobs", "1", "--out", tmp_path / "out")
    assert result.exit_code == 1
    clean(result.stderr)


def test_one_record_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "a\x1b[2J\nb.jsonl"
    lines(file, trace(), trace(), trace(id="p", profile=HOSTILE), trace(id="q", dataset=HOSTILE))
    result = run("audit", file, "--jobs", "1", "--out", tmp_path / "out")
    told = [line for line in clean(result.stderr).splitlines() if ".jsonl:" in line]
    assert [line.partition(".jsonl:")[2][:2] for line in told] == ["2:", "3:"]
    assert all(line.startswith(rf"{tmp_path}/a\x1b[2J\nb.jsonl:") for line in told)


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "TRACES", "--profile", HOSTILE),
        ("audit", f"nowhere{HOSTILE}"),
        ("answer", "TRACES"),
        ("counterfactual", "TRACES"),
        ("fit", "TRACES", "--out", "OUT", "--jobs", "1"),
        ("labels", "answer", "TRACES", "--out", "OUT"),
        ("labels", "merge", "TRACES", "--out", "OUT"),
        ("data", "import", "stepgame", "TRACES", "--out", "OUT"),
        ("data", "import", HOSTILE, "TRACES", "--out", "OUT"),
        ("predict", "TRACES", "--model", "TRACES"),
        ("rules", "check", "RULES"),
        ("rules", "test", "RULES"),
        ("rules", "show", HOSTILE),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_no_command_lets_it_through(arguments: tuple[str, ...], tmp_path: Path) -> None:
    file = lines(tmp_path / "t.jsonl", trace(label=HOSTILE, story=HOSTILE, answer=HOSTILE), HOSTILE)
    folder = tmp_path / "rules\x1b[2J"
    folder.mkdir()
    (folder / "a.lp").write_text(
        'extends(nine_way). phrase(above, "\x1b[2J\u202eover"). axis("\x1b[2Jq").'
    )
    (folder / "a.test").write_text(
        "test: \x1b[2Jnothing\nscene:\n  A is above B.\nclaims:\n  unknown: A is above B.\n"
    )
    places = {"TRACES": str(file), "OUT": str(tmp_path / "out"), "RULES": str(folder)}
    result = run(*(places.get(word, word) for word in arguments))
    assert result.exit_code in (1, 2)
    assert "internal error" not in result.stderr
    clean(result.stderr)
    if arguments[0] == "rules":  # others write JSON
        clean(result.stdout)


def test_labels_table(tmp_path: Path) -> None:
    record = {"id": "1", "source": "s", "labels": [1], "dataset": HOSTILE}
    file = lines(tmp_path / "l.jsonl", record)
    result = run("labels", "agree", file, file, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert r"\x1b[31mred" in clean(result.stderr)


def test_a_fault_of_many_records_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    with Faults() as faults:
        for line in range(1, 61):
            faults.add(f"t.jsonl:{line}: no label {line}")
        for line in (1, 5):
            faults.add(RecordError("not JSON", "u:1", line))
        faults.add("nothing to compare")
    assert capsys.readouterr().err.splitlines() == [
        "t.jsonl:1: no label 1",
        "u:1:1: not JSON",
        "nothing to compare",
        "t.jsonl: 59 more records, from line 2 to line 60: no label 1",
        "u:1:5: not JSON",
    ]


def test_progress_without_a_terminal_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = itertools.count(0, 20)  # a look at it every 20 s: at the start, and for each trace
    monkeypatch.setattr(runs, "monotonic", lambda: next(clock))
    monkeypatch.setattr(runs, "SECONDS", 30)
    with runs.progress(total=6) as advance:
        for _ in range(4):
            advance()
    assert capsys.readouterr().err.splitlines() == [
        "2 of 6 traces, 0.1 a second, about 80 s left",
        "4 of 6 traces, 0.1 a second, about 40 s left",
    ]


def test_the_total_is_that_of_files_with_a_record_a_line(tmp_path: Path) -> None:
    file = lines(tmp_path / "a.jsonl", {}, {})
    assert runs._records([str(file), str(file)]) == 4
    assert runs._records([str(file), "-"]) is None
    assert runs._records([str(tmp_path / "missing.jsonl")]) is None
