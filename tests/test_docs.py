"""The documentation's commands, typed as written, print what it says they print."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from symbouq_cli.main import main

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(?P<kind>\w+)(?: (?P<name>\S+))?\n(?P<text>.*?)^```$", re.M | re.S)


def blocks(page: str) -> list[tuple[str, str, str]]:
    """Kind, file name and text of the fenced blocks of a page, in order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return [(m["kind"], m["name"] or "", m["text"]) for m in BLOCK.finditer(text)]


def timeless(text: str) -> str:
    return re.sub(r"in \d+\.\d s", "in N s", text)


@pytest.mark.parametrize(
    "page", ["rules/tutorial.md", "rules/profiles.md", "traces.md", "report.md"]
)
def test_commands_print_what_the_page_says(page: str, tmp_path: Path) -> None:
    ran = 0
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        for kind, name, text in blocks(page):
            if name:
                Path(name).parent.mkdir(parents=True, exist_ok=True)
                Path(name).write_text(text, encoding="utf-8")
            elif kind == "console":
                for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
                    command, _, said = part.partition("\n")
                    program, *arguments = shlex.split(command)
                    assert program == "symbouq"
                    result = CliRunner().invoke(main, arguments)
                    assert result.exit_code in (0, 1), result.output
                    if said:
                        assert timeless(result.output) == timeless(said), command
                    ran += 1
    finally:
        os.chdir(here)
    assert ran > 0


def test_notebook_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    monkeypatch.chdir(tmp_path)
    found = blocks("report.md")
    Path("kitchen.jsonl").write_text(found[0][2], encoding="utf-8")
    command = ["audit", "kitchen.jsonl", "--out", "audits.jsonl"]
    assert CliRunner().invoke(main, command).exit_code == 0
    (code,) = (text for kind, _, text in found if kind == "python")
    exec(code, {})
