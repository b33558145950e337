"""Packages of extras, without which tests are skipped."""

from __future__ import annotations

from typing import Any

import pytest


def need_models() -> Any:
    """Skips a test, or a module of them, where the extra `models` is absent; gives torch."""
    for package in ("transformers", "llguidance", "safetensors", "pyarrow"):
        pytest.importorskip(package, reason="the extra `models` is not installed")
    return pytest.importorskip("torch", reason="the extra `models` is not installed")
