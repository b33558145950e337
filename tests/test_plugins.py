"""Scorers and datasets that other packages bring."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from symbouq import plugins
from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.registry import SCORERS, brought_by, registered
from symbouq.experiments.config import DatasetConfig
from symbouq.experiments.questions import QUESTIONS, write_questions
from symbouq.io.settings import SettingsError

MODULE = """
from symbouq.evidence.scorers.base import Scorer

class Vowels(Scorer):
    name = "Vowels"
    family = "reference"

    def values(self, example):
        return float(sum(letter in "aeiou" for letter in example.claims[-1]))

class Twin(Vowels):
    name = "length"

def questions(split):
    for number in range(3):
        yield {
            "id": f"{split}-{number}", "scene": "A is left of B.", "question": "Where is A?",
            "answer": "left", "answer_space": ["left", "right"],
        }

nothing = 3
"""


def bring(folder: Path, package: str, points: str) -> None:
    """Installs a package, as far as Python sees."""
    (folder / "brought_by_a_test.py").write_text(MODULE)
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "brought_by_a_test", raising=False)
    return tmp_path


def test_a_package_brings_a_scorer(site: Path) -> None:
    bring(site, "vowels", "[symbouq.scorers]\nvowels = brought_by_a_test:Vowels\n")
    scorers = registered()
    assert set(scorers) == {*SCORERS, "Vowels"}
    families = [kind.family for kind in scorers.values()]
    assert families == sorted(families, key=families.index)


@pytest.mark.parametrize(
    ("points", "fault"),
    [
        ("twin = brought_by_a_test:Twin", "vowels 1.0 brings a scorer length; there is one"),
        ("nothing = brought_by_a_test:nothing", "nothing of vowels 1.0 is no scorer"),
        ("gone = brought_by_a_test:Gone", "gone of vowels 1.0 cannot be loaded"),
        ("gone = no_such_module:Gone", "ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_what_is_no_scorer_is_told_with_its_package(site: Path, points: str, fault: str) -> None:
    bring(site, "vowels", f"[symbouq.scorers]\n{points}\n")
    with pytest.raises(SymboUQError, match=fault):
        registered()


def test_a_scorer_tells_the_version_of_the_package_that_brings_it(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(site, "vowels", "[symbouq.scorers]\nvowels = brought_by_a_test:Vowels\n")
    monkeypatch.setitem(SCORERS, "Vowels", registered()["Vowels"])
    assert brought_by("vowels") == {"brought_by": "vowels 1.0"}
    assert brought_by("Perplexity") == {}


def test_two_packages_of_one_name(site: Path) -> None:
    for package in ("first", "second"):
        bring(site, package, "[symbouq.scorers]\nvowels = brought_by_a_test:Vowels\n")
    with pytest.raises(SymboUQError, match="both bring vowels"):
        list(plugins.brought(plugins.SCORERS))


def test_a_package_brings_a_dataset(site: Path, tmp_path: Path) -> None:
    bring(site, "letters", "[symbouq.datasets]\nletters = brought_by_a_test:questions\n")
    sizes = {"validation": 2, "test": 3}
    dataset = DatasetConfig.model_validate({"name": "l", "provider": "letters", "sizes": sizes})
    write_questions(dataset, "validation", None, tmp_path)
    rows = [json.loads(line) for line in (tmp_path / QUESTIONS).read_text().splitlines()]
    assert len(rows) == 2
    assert all(row["id"].startswith("validation-") and "answer" not in row for row in rows)
    many = dataset.model_copy(update={"sizes": {"test": 4}})
    with pytest.raises(
        SettingsError, match="l, test: 4 questions are asked for, and letters has 3"
    ):
        write_questions(many, "test", None, tmp_path)


def test_a_dataset_that_no_package_brings(tmp_path: Path) -> None:
    given = {"name": "l", "provider": "no-such-letters", "sizes": {"test": 1}}
    with pytest.raises(
        SettingsError, match="no installed package brings a dataset no-such-letters"
    ):
        write_questions(DatasetConfig.model_validate(given), "test", None, tmp_path)
    with pytest.raises(ValueError, match="needs either `family`, `files` or `provider`"):
        DatasetConfig.model_validate(given | {"family": "chains"})
