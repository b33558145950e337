"""The table of hosts holds: its packages, extras and tests exist, and its versions are tested."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINNED = re.compile(r"\b([a-z][a-z0-9-]*)(?:==|@)([0-9][0-9.]*[0-9])")
ROW = re.compile(r"^\| \[.*\|$", re.MULTILINE)
TOLD = re.compile(r"([a-z0-9_-]+)` ([0-9.]+)")


def rows() -> list[list[str]]:
    text = (ROOT / "docs/hosts.md").read_text(encoding="utf-8")
    return [[cell.strip(" `") for cell in row[1:-1].split("|")] for row in ROW.findall(text)]


def pinned() -> dict[str, str]:
    """Packages to the versions that tests run with."""
    files = ("constraints.txt", ".ci/run")
    return dict(PINNED.findall("\n".join((ROOT / f).read_text(encoding="utf-8") for f in files)))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_a_row_holds(row: list[str]) -> None:
    _, _, _, package, extra, test = row
    assert (ROOT / test).is_file()
    if package == "its loader only":
        return
    told = TOLD.match(package)
    assert told is not None
    name, number = told.groups()
    assert pinned()[name] == number
    if extra:
        needed = PROJECT["optional-dependencies"][extra]
        assert any(re.match(rf"{name}\b", each) for each in needed)


def test_every_integration_has_a_row() -> None:
    told = {Path(row[5]).stem.removeprefix("test_") for row in rows()}
    folder = ROOT / "symbouq/integrations"
    modules = {path.stem for path in folder.iterdir() if not path.stem.startswith("_")}
    # What several of them share, and what makes scenes, which audits nothing.
    assert modules - {"service", "questions", "geometry"} <= told
