"""Folders of models: where one is on this machine, and how large it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.extras import need_models

need_models()

import huggingface_hub  # noqa: E402
from huggingface_hub.errors import LocalEntryNotFoundError  # noqa: E402

from symbouq.evidence.generation.models import find_model, folder_of, parameters  # noqa: E402

BACKBONES = Path(__file__).parents[3] / "experiments" / "backbones"
COMMIT = "b968826d9c46dd6066d109eabc6255188de91218"


@pytest.mark.parametrize("name", ["tiny", "small"])
def test_parameters_are_those_of_the_weights(name: str) -> None:
    card = json.loads((BACKBONES / name / "training.json").read_text())
    assert parameters(BACKBONES / name) == card["parameters"]


def test_a_folder_without_weights_has_no_parameters(tmp_path: Path) -> None:
    assert parameters(tmp_path) == 0


def test_a_commit_of_the_hub_is_fetched_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def download(identity: str, **settings: Any) -> str:
        asked.append({"identity": identity, **settings})
        return str(tmp_path / COMMIT)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    found = find_model(f"Qwen/Qwen3-8B@{COMMIT}")
    assert (found.name, found.revision) == ("Qwen/Qwen3-8B", COMMIT)
    assert folder_of(f"Qwen/Qwen3-8B@{COMMIT}") == tmp_path / COMMIT
    assert [each["revision"] for each in asked] == [COMMIT] * 2
    assert [each["local_files_only"] for each in asked] == [False, True]


def test_what_was_never_fetched_has_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(identity: str, **settings: Any) -> str:
        raise LocalEntryNotFoundError(identity)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert folder_of("Qwen/Qwen3-8B") is None
    assert folder_of(str(tmp_path)) == tmp_path
