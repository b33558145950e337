"""`rules show`, `table`, `new` and `reference`."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from symbouq_cli.main import main

from symbouq.authoring.show import sheet, tables
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.source import vocabulary


def told(*command: str) -> str:
    result = CliRunner().invoke(main, ["rules", *command])
    assert result.exit_code == 0, result.output
    return result.output


def test_sheet_of_a_direction() -> None:
    found = sheet(OntologyLibrary(), "Upper-Left", "unit-grid")
    assert found.name == "upper_left"
    assert found.readings == {
        "asserted": ("x: subject - object = -1", "y: subject - object = 1"),
        "queried": ("x: subject - object <= -1", "y: subject - object >= 1"),
    }
    assert found.converse == "lower_right"
    assert "above" in found.clashes
    assert found.composes["lower_right"] == ("same_position",)
    assert "northwest" in found.phrases


def test_sheet_of_a_region_relation() -> None:
    found = sheet(OntologyLibrary(), "ntpp", "rcc8")
    assert found.readings == {}
    assert found.follows == (
        "connected",
        "interior_part",
        "overlapping",
        "part",
        "proper_part",
    )
    assert set(found.composes["dc"]) == {"dc"}
    assert "ntppi" not in found.composes or len(found.composes["ntppi"]) < 8


def test_show_prints_and_refuses() -> None:
    text = told("show", "n", "--profile", "cdc")
    assert "asserted:   x: low of subject - low of object >= 0" in text
    assert "stated in:  " in text
    result = CliRunner().invoke(main, ["rules", "show", "abov"])
    assert result.exit_code == 2
    assert "did you mean 'above'?" in result.output


@pytest.mark.slow
def test_table_formats() -> None:
    cells = json.loads(told("table", "--profile", "rcc8", "--format", "json"))["rcc8"]
    assert len(cells) == 64
    assert cells["ntpp|ntpp"] == ["ntpp"]
    rows = list(
        csv.reader(told("table", "--family", "containment", "--format", "csv").splitlines())
    )
    assert rows[0] == ["", "contains", "inside"]
    markdown = told("table", "--profile", "nine-way")
    assert "| above | above |" in markdown
    assert CliRunner().invoke(main, ["rules", "table", "--family", "odd"]).exit_code == 2


def test_families_that_decide_nothing_have_no_table() -> None:
    names = [table.family for table in tables(OntologyLibrary().ontology("nine-way"))]
    assert "direction" in names
    assert "distance" not in names


@pytest.mark.slow
def test_a_new_ontology_passes_its_own_check_and_test(tmp_path: Path) -> None:
    folder = str(tmp_path / "mine")
    assert "wrote" in told("new", folder)
    told("check", folder)
    assert "2 passed" in told("test", folder, "--fail-under", "100")
    again = CliRunner().invoke(main, ["rules", "new", folder])
    assert again.exit_code == 2


def test_every_predicate_is_in_the_reference() -> None:
    rows = re.findall(r"^\| `(\w+)\((.+)\)` \| \S", told("reference"), re.M)
    documented = {(name, arguments.count(",") + 1) for name, arguments in rows}
    assert set(vocabulary()) <= documented


def test_the_printed_reference_is_current() -> None:
    page = Path(__file__).parents[2] / "docs" / "rules" / "reference.md"
    assert page.read_text(encoding="utf-8") == told("reference")
