"""Skip tests if packages of extras are missing."""

from __future__ import annotations

from typing import Any

import pytest


def need_models() -> Any:
    """Skip a test, or a module of tests, if the extra `models` is missing. Return torch."""
    for package in ("transformers", "llguidance", "safetensors", "pyarrow"):
        pytest.importorskip(package, reason="the extra `models` is not installed")
    return pytest.importorskip("torch", reason="the extra `models` is not installed")
