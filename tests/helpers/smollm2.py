"""SmolLM2-135M-Instruct, a real language model that is small enough for tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from symbouq.errors import SymboUQError
from symbouq.experiments.backbones.pretrained import install


def smollm2(folder: Path) -> Path:
    """Create the model's folder in the layout of the Hugging Face hub, inside another folder."""
    for package in ("transformers", "gguf", "accelerate"):
        pytest.importorskip(package, reason=f"{package} is not installed, so no model can be made")
    try:
        return install("smollm2", folder / "model")
    except SymboUQError as error:
        if "cannot be downloaded" in error.message:
            pytest.skip(error.message)
        raise
