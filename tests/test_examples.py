"""The ontologies in `examples/`: no findings, tests that pass, and traces that can be audited."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from symbouq_cli.main import main

from symbouq.authoring.check import check
from symbouq.ontology.specs import discovered

FOLDERS = sorted((Path(__file__).parents[1] / "examples" / "ontologies").iterdir())
FEWEST = 15


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_example_is_sound(folder: Path) -> None:
    assert check(str(folder)) == []
    told = CliRunner().invoke(main, ["rules", "test", str(folder), "-q"])
    assert told.exit_code == 0, told.output


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_example_says_what_stays_open_and_what_is_wrong(folder: Path) -> None:
    verdicts = {claim.verdict for spec in discovered(str(folder)) for claim in spec.claims}
    assert len(discovered(str(folder))) >= FEWEST
    assert verdicts >= {"entailed", "contradicted", "unknown"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_traces_of_an_example_are_audited(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "audits.jsonl"
    traces = str(folder / "traces.jsonl")
    told = CliRunner().invoke(main, ["audit", traces, "--ontology", str(folder), "--out", str(out)])
    assert told.exit_code == 0, told.output
    said = out.read_text(encoding="utf-8")
    assert all(f'"verdict":"{v}"' in said.replace(" ", "") for v in ("entailed", "unknown"))
