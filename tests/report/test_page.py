"""The page as a file: what is in it, and that nothing in it can run but its own script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from helpers.report_traces import AUDITOR, HOSTILE, hostile, hostile_relations, traces, written
from symbouq_cli.main import main

from symbouq.records import Trace, make_record
from symbouq.report.entries import entry
from symbouq.report.html import Report
from symbouq.report.page import json_block, page


def block(text: str, mark: str) -> list[Any]:
    found = re.findall(f'<script type="application/json" {mark}>(.*?)</script>', text, re.S)
    return [json.loads(part) for part in found]


@pytest.mark.slow
def test_page_holds_rows_and_sheets(tmp_path: Path) -> None:
    text = written(tmp_path / "r.html", list(traces(120)))
    (data,) = block(text, 'id="data"')
    sheets = block(text, 'class="sheets"')
    assert [len(batch) for batch in sheets] == [50, 50, 20]
    assert len(data["rows"]) == 120
    assert data["overview"]["traces"] == 120
    assert set(data["models"]) == {"careful", "hasty"}
    assert data["overview"]["reliability"]["count"] == 120
    assert data["about"]["file"] == ["f.jsonl"]


def test_limit_keeps_counting(tmp_path: Path) -> None:
    text = written(tmp_path / "r.html", list(traces(7)), limit=3)
    (data,) = block(text, 'id="data"')
    assert (len(data["rows"]), data["overview"]["traces"]) == (3, 7)
    assert sum(map(len, block(text, 'class="sheets"'))) == 3


def test_no_text_gets_out_of_its_block(tmp_path: Path) -> None:
    text = written(tmp_path / "r.html", [hostile(), hostile_relations()])
    assert "<script>window.hit" not in text
    assert "<img" not in text
    # Two blocks of data and the script: no tag more.
    assert len(re.findall(r"<script\b", text)) == text.count("</script>") == 3
    (data,) = block(text, 'id="data"')
    assert data["rows"][0]["id"] == f"{HOSTILE}0"
    assert block(text, 'class="sheets"')[0][0]["question"] == HOSTILE


def test_title_is_escaped() -> None:
    text = b"".join(page("<b>{{style}}", "audit", {})).decode()
    assert "<title>&lt;b&gt;{{style}}</title>" in text


def test_json_block() -> None:
    assert json_block(b'"<a> & </a>"') == rb'"\u003ca\u003e \u0026 \u003c/a\u003e"'


@pytest.mark.parametrize("kind", ["audit", "compare"])
def test_policy_admits_the_script_and_the_style_by_hash(kind: str) -> None:
    text = b"".join(page("t", kind, {})).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        content = re.search(f"<{tag}>(.*?)</{tag}>", text, re.S)
        assert content is not None
        digest = base64.b64encode(hashlib.sha256(content[1].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy[1]
    assert "unsafe" not in policy[1]
    assert "http" not in re.sub(r"http://www\.w3\.org/2000/svg", "", text).replace("http-equiv", "")


def test_interrupted_report_shows_what_was_finished(tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    trace = make_record(Trace, next(traces(1)))
    with pytest.raises(KeyboardInterrupt), Report(path) as report:
        report.add(entry(AUDITOR, trace, AUDITOR.audited(trace)))
        raise KeyboardInterrupt
    (data,) = block(path.read_text(encoding="utf-8"), 'id="data"')
    assert len(data["rows"]) == 1


def test_failed_report_leaves_no_page_or_the_older_one(tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    with pytest.raises(RuntimeError), Report(path):
        raise RuntimeError
    assert not path.exists()
    path.write_text("<p>before</p>")
    with pytest.raises(RuntimeError), Report(path):
        raise RuntimeError
    assert path.read_text() == "<p>before</p>"
    assert "<p>before</p>" not in written(path, [])


# Commands ------------------------------------------------------------------------------


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(trace) + "\n" for trace in traces(12)), encoding="utf-8")
    return path


@pytest.mark.parametrize("jobs", [pytest.param("1", marks=pytest.mark.slow), "2"])
def test_audit_with_a_report_writes_the_same_audits(
    corpus: Path, tmp_path: Path, jobs: str
) -> None:
    plain = run("audit", corpus, "--jobs", jobs)
    told = run("audit", corpus, "--jobs", jobs, "--report", tmp_path / "r.html")
    assert (told.exit_code, told.stdout, told.stderr) == (0, plain.stdout, plain.stderr)
    (data,) = block((tmp_path / "r.html").read_text(encoding="utf-8"), 'id="data"')
    assert [row["id"] for row in data["rows"]] == [f"made-{n}" for n in range(1, 13)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--report", "in.jsonl"], "--report in.jsonl is one of the input files"),
        (["--out", "x", "--report", "x"], "--report and --out name the same file"),
        (["--report", "nowhere/r.html"], "nowhere/r.html: No such file"),
    ],
)
def test_unusable_report_option(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("audit", "in.jsonl", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "x").exists()


def test_wrong_options_leave_no_page(corpus: Path, tmp_path: Path) -> None:
    assert run("audit", corpus, "--profile", "no", "--report", tmp_path / "r.html").exit_code == 2
    assert not (tmp_path / "r.html").exists()
