"""`--watch`: run at once, again after an edit, through what cannot be run, until Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.processes import PATIENCE, usual_signals

from symbouq.authoring import watch

RELATIONS = "test: near\nscene:\n  A near B\nclaims:\n  {}: B near A\n"


def test_an_item_for_each_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = tmp_path / "a.lp"
    rules.write_text("extends(nine_way).\n", encoding="utf-8")
    looks: list[int] = []

    def rest(_seconds: float) -> None:
        """Three looks without an edit, then one, then a file more, then one less."""
        looks.append(1)
        edits = {
            4: lambda: rules.write_text("extends(unit_grid).\n% edited\n", encoding="utf-8"),
            5: lambda: (tmp_path / "b.test").write_text(RELATIONS, encoding="utf-8"),
            6: lambda: (tmp_path / "b.test").unlink(),
            7: lambda: (tmp_path / "notes.txt").write_text("no rule", encoding="utf-8"),
        }
        if len(looks) == 8:
            raise KeyboardInterrupt
        edits.get(len(looks), lambda: None)()

    monkeypatch.setattr(watch.time, "sleep", rest)
    seen = []
    with pytest.raises(KeyboardInterrupt):
        for _ in watch.edits(str(tmp_path)):
            seen.append(len(looks))
    assert seen == [0, 4, 5, 6]


def test_command(tmp_path: Path) -> None:
    (tmp_path / "a.lp").write_text("extends(nine_way).\n", encoding="utf-8")
    tests = tmp_path / "a.test"
    tests.write_text(RELATIONS.format("entailed"), encoding="utf-8")
    code = "from symbouq_cli.main import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "rules", "test", str(tmp_path), "--watch"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=usual_signals,
    ) as process:
        assert process.stdout is not None

        def told() -> list[str]:
            lines = []
            for line in process.stdout:  # type: ignore[union-attr]
                lines.append(line.rstrip())
                if "waiting for an edit" in line:
                    break
            return lines

        try:
            assert told()[0] == "ok    near"
            tests.write_text(RELATIONS.format("contradicted"), encoding="utf-8")
            assert told()[0].startswith("FAIL  near")
            tests.write_text("tset: near\n", encoding="utf-8")
            assert "a test begins with" in told()[0]
            tests.write_text(RELATIONS.format("entailed"), encoding="utf-8")
            assert told()[0] == "ok    near"
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 130
        finally:
            process.kill()
