"""A small run of the script that gives spoilt records to the commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn", reason="the extra `fit` is not installed")

SCRIPT = Path(__file__).parents[2] / "experiments" / "benchmarks" / "fuzz.py"


@pytest.mark.slow
def test_spoilt_records_crash_nothing() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--records", "300", "--seed", "11"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "300 records in " in done.stdout
    assert "\n0 faults\n" in done.stdout
