"""spaCy without PyTorch, and PyTorch after it."""

import subprocess
import sys

import pytest

LOADED = """
import sys
from symbouq import audit
audit(["The lamp is above the desk."], ["The desk is below the lamp."])
print("torch" in sys.modules)
{after}
"""


def loaded(after: str = "") -> str:
    command = [sys.executable, "-c", LOADED.format(after=after)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_audit_of_text_loads_no_torch() -> None:
    assert loaded() == "False\n"


@pytest.mark.slow
def test_torch_is_there_afterwards() -> None:
    pytest.importorskip("torch")
    assert loaded("import torch; print(int(torch.ones(2).sum()))") == "False\n2\n"
