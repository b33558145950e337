"""Small runs of the scripts that give spoilt records to the commands, and short texts to the readers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn", reason="the extra `fit` is not installed")

SCRIPTS = Path(__file__).parents[2] / "experiments" / "benchmarks"


@pytest.mark.slow
def test_spoilt_records_crash_nothing() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "fuzz.py"), "--records", "300", "--seed", "11"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "300 records in " in done.stdout
    assert "\n0 faults\n" in done.stdout


@pytest.mark.slow
def test_no_short_text_is_an_internal_error() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "fuzz_texts.py"), "--texts", "240", "--seed", "11"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "240 texts in " in done.stdout
    assert "\n0 faults\n" in done.stdout
