"""Small runs of the scripts that give spoilt records to the commands, and short texts to the readers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn", reason="the extra `fit` is not installed")

SCRIPTS = Path(__file__).parents[2] / "experiments" / "benchmarks"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "amount", "of"),
    [("fuzz.py", "300", "records"), ("fuzz_texts.py", "240", "texts")],
)
def test_nothing_is_an_internal_error(script: str, amount: str, of: str) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / script), f"--{of}", amount, "--seed", "11"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{amount} {of} in " in done.stdout
    assert "\n0 faults\n" in done.stdout
