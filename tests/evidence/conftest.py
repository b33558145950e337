"""A random model and an engine that runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers.extras import need_models


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_models()
    from helpers.tiny_model import tiny_model

    return tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def engine(tiny: Path) -> Any:
    from symbouq.evidence.generation.engine import Options
    from symbouq.evidence.generation.engines import load_engine

    return load_engine("transformers", str(tiny), Options(device="cpu"))
