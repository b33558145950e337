"""`symbouq doctor`: what it finds installed, what it says is missing, and its exit code."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from symbouq_cli import doctor
from symbouq_cli.main import main

from symbouq import errors


class Package:
    """A distribution's metadata as the doctor reads them."""

    def __init__(self, requires: list[str], extras: list[str], origin: Any = None) -> None:
        self.requires = requires
        self.metadata = SimpleNamespace(get_all=lambda _name: extras)
        self.origin = origin

    def read_text(self, _name: str) -> str | None:
        return json.dumps(self.origin) if self.origin else None


REQUIRES = [
    "click>=8",
    "clingo<6,>=5.8",
    'colorama; sys_platform == "win32"',
    'pandas>=2.2; extra == "fit"',
    'scipy>=1.13; extra == "fit"',
    'pandas>=2.2; extra == "notebook"',
    'torch>=2.6; extra == "models"',
]
VERSIONS = {"click": "8.5.1", "clingo": "5.8.3", "pandas": "3.0.0", "scipy": "1.9"}


@pytest.fixture
def computer(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The versions of a made-up computer's packages; a test may change them."""
    versions = dict(VERSIONS)

    def version(name: str) -> str:
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    package = Package(REQUIRES, ["notebook", "models", "fit"])
    monkeypatch.setattr(metadata, "distribution", lambda _name: package)
    monkeypatch.setattr(metadata, "version", version)
    return versions


def test_installed_tells_requirements_and_extras_apart(computer: dict[str, str]) -> None:
    base, extras = doctor.installed()
    assert base == doctor.Extra("", {"click": "8.5.1", "clingo": "5.8.3"}, [])
    assert extras == [
        doctor.Extra("fit", {"pandas": "3.0.0"}, ["scipy>=1.13 (1.9 is installed)"]),
        doctor.Extra("models", {}, ["torch>=2.6"]),
        doctor.Extra("notebook", {"pandas": "3.0.0"}, []),
    ]


def test_a_complete_core_is_exit_code_0(computer: dict[str, str]) -> None:
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 0
    lines = result.output.splitlines()
    python = shlex.quote(sys.executable)
    assert "required: complete (click 8.5.1, clingo 5.8.3)" in lines
    lacks = lines.index("extra fit: lacks scipy>=1.13 (1.9 is installed); has pandas 3.0.0")
    assert lines[lacks + 1] == f"  {python} -m pip install 'symbouq[fit]'"
    assert "extra notebook: complete (pandas 3.0.0)" in lines
    assert "GPU: not checked: torch is not installed" in lines
    assert lines[0] == "core: works, a trace was audited"


def test_a_required_package_that_is_missing_is_exit_code_2(computer: dict[str, str]) -> None:
    computer["clingo"] = "6.0"
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 2
    assert "required: lacks clingo<6,>=5.8 (6.0 is installed); has click 8.5.1" in result.output
    assert f"  {shlex.quote(sys.executable)} -m pip install symbouq\n" in result.output


@pytest.mark.parametrize(
    ("origin", "arguments"),
    [
        (None, ["symbouq[fit]"]),
        (
            {"url": "file:///home/me/my%20code", "dir_info": {"editable": True}},
            ["-e", "/home/me/my code[fit]"],
        ),
        ({"url": "file:///home/me/code", "dir_info": {}}, ["symbouq[fit] @ file:///home/me/code"]),
        (
            {"url": "file:///dist/symbouq-1-py3-none-any.whl", "archive_info": {}},
            ["symbouq[fit] @ file:///dist/symbouq-1-py3-none-any.whl"],
        ),
    ],
)
def test_the_command_installs_from_where_the_package_came(
    origin: Any, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "distribution", lambda _name: Package([], [], origin))
    said = shlex.split(errors.install_command("fit"))
    assert said == [sys.executable, "-m", "pip", "install", *arguments]


def test_a_core_that_fails_is_exit_code_2(
    computer: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("no solver")

    monkeypatch.setattr("symbouq.api.audit", fail)
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 2
    assert "core: does not work: RuntimeError: no solver" in result.output


def test_a_core_that_is_wrong_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = SimpleNamespace(verdict="unknown", premises=[])
    monkeypatch.setattr("symbouq.api.audit", lambda *_: SimpleNamespace(claims=[claim]))
    assert doctor.trial() == "is wrong: an entailed claim came out as unknown by []"


def test_a_package_that_is_only_found_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", absent)
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 2
    assert "symbouq is not installed, only found" in result.output


def tool(folder: Path, text: str) -> None:
    """An nvidia-smi in a folder that prints a text."""
    file = folder / "nvidia-smi"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("script", "usable", "told"),
    [
        (None, True, "none (no nvidia-smi)"),
        ("exit 9", True, "none that nvidia-smi finds"),
        ("true", True, "none that nvidia-smi finds"),
        ("echo 'H, 80 MiB'", True, "H, 80 MiB; torch 2.9 uses it"),
        ("echo 'H, 80 MiB'; echo 'I, 8 MiB'", True, "H, 80 MiB; I, 8 MiB; torch 2.9 uses it"),
        ("echo 'H, 80 MiB'", False, "H, 80 MiB; torch 2.9 cannot use it: CUDA is missing"),
    ],
)
def test_gpu(
    script: str | None,
    usable: bool,
    told: str,
    computer: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    computer["torch"] = "2.9"
    monkeypatch.setenv("PATH", str(tmp_path))
    if script:
        tool(tmp_path, script)
    cuda = SimpleNamespace(is_available=lambda: usable)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(__version__="2.9", cuda=cuda))
    assert doctor.gpu().startswith(told)


def test_extras_and_gpu_are_looked_at_without_their_packages(tmp_path: Path) -> None:
    code = (
        "import sys; from symbouq_cli import doctor; doctor.installed(); doctor.gpu()\n"
        "print([m for m in ('torch', 'transformers', 'pandas', 'scipy', 'spacy', 'clingo')"
        " if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PATH": str(tmp_path)},
    )
    assert done.stdout == "[]\n"
