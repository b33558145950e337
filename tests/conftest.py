"""Where the shared data lies, and how tests that need it say that it is absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of benchmark instances and real traces, from SYMBOUQ_DATA."""
    folder = os.environ.get("SYMBOUQ_DATA")
    if not folder:
        pytest.skip("SYMBOUQ_DATA is not set: no benchmark data to read")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"SYMBOUQ_DATA names {folder}, which is not a folder")
    return path
