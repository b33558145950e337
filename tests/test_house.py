"""The house is in order: every module stands in CONTRIBUTING's map and has a test that mirrors it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from packaging.requirements import Requirement

from symbouq import __version__

ROOT = Path(__file__).parents[1]
MODULES = {
    str(file.relative_to(ROOT))
    for folder in ("symbouq", "cli/symbouq_cli")
    for file in (ROOT / folder).rglob("*.py")
    if file.name != "__init__.py"
}
TESTS = {str(file.relative_to(ROOT / "tests")) for file in (ROOT / "tests").rglob("test_*.py")}

TESTED_ELSEWHERE = {
    "auditing/answers/test_answering.py": """
        auditing/answers/answer auditing/answers/described auditing/answers/scene
        auditing/answers/named auditing/answers/questions""",
    "auditing/answers/test_matching.py": "auditing/answers/text auditing/answers/words",
    "auditing/test_relations.py": "auditing/verdicts auditing/walk logic/programs logic/scene",
    "auditing/test_stepgame.py": "auditing/counterfactual",
    "authoring/test_show.py": "authoring/reference",
    "authoring/test_specs.py": "authoring/scaffold ontology/specs",
    "evidence/generation/test_generate_command.py": "cli/generate",
    "evidence/generation/test_run.py": """
        evidence/generation/engine evidence/generation/engines records/generated""",
    "evidence/labels/test_agreement.py": "evidence/labels/records",
    "evidence/labels/test_commands.py": "cli/labels",
    "evidence/scorers/methods/test_sampling.py": "evidence/scorers/backbone evidence/signals/example",
    "evidence/scorers/test_bank.py": """
        evidence/scorers/bank/fitted evidence/scorers/bank/scores evidence/scorers/bank/split
        evidence/scorers/needs evidence/scorers/registry evidence/scorers/stored""",
    "evidence/scorers/test_commands.py": "cli/scores",
    "evidence/scorers/test_learned.py": """
        evidence/scorers/batches evidence/scorers/methods/neural
        evidence/scorers/settings""",
    "evidence/signals/test_cache.py": "evidence/signals/writer",
    "evidence/signals/test_extract.py": "cli/signals",
    "experiments/backbones/test_commands.py": "cli/backbone cli/scenes",
    "experiments/benchmarks/test_importing.py": """
        cli/data experiments/benchmarks/catalog experiments/benchmarks/files
        experiments/benchmarks/items experiments/benchmarks/rows experiments/benchmarks/splits""",
    "experiments/scenes/test_families.py": "experiments/scenes/truth experiments/scenes/wording",
    "experiments/test_config.py": "experiments/questions",
    "experiments/test_experiment.py": """
        cli/experiment experiments/figures experiments/stages experiments/tables""",
    "io/adapters/test_formats.py": """
        io/adapters/base io/adapters/choice io/adapters/fields io/adapters/inputs io/values
        io/adapters/formats/hf io/adapters/formats/symbouq""",
    "io/adapters/formats/test_openai.py": "io/adapters/chat",
    "io/adapters/test_tables.py": "io/adapters/formats/csv io/adapters/limits",
    "io/test_output.py": "cli/process",
    "io/test_stream.py": "auditing/jobs auditing/summary cli/run io/pool",
    "ontology/test_library.py": "ontology/compilation ontology/tables",
    "ontology/test_source.py": "ontology/wellformed",
    "io/test_endpoint.py": "io/chat",
    "reading/model/test_prompt.py": "reading/model/examples reading/model/meanings",
    "reading/syntax/test_discourse.py": "reading/syntax/resolved",
    "reading/syntax/test_sentences.py": "reading/syntax/cutting",
    "ontology/test_word_classes.py": "ontology/words reading/lexicon",
    "reading/events/test_grammar.py": "reading/clauses reading/events/reader",
    "reading/test_claims.py": "reading/lexical",
    "reading/test_texts.py": "reading/text reading/traces",
    "records/test_records.py": """
        records/answer records/audit records/base records/features records/reading
        records/reliability records/schema records/trace""",
    "reliability/test_commands.py": "cli/fit reliability/jobs",
    "reliability/test_first_errors.py": "cli/score",
    "reliability/test_reading.py": "reliability/decoding reliability/worlds",
    "integrations/test_http.py": "cli/serve integrations/service",
    "integrations/test_inspect_ai.py": "integrations/questions",
    "integrations/test_lm_eval.py": """
        integrations/lm_eval/plugin integrations/lm_eval/tasks/functions""",
    "report/test_checks.py": "cli/audit",
    "report/test_page.py": "report/compared report/html",
    "test_cli.py": """
        api auditing/auditor auditing/description auditing/messages cli/answer
        cli/main cli/options cli/report cli/rules cli/schema reading/parser
        reading/structured version""",
}
"""Modules without a test file of their own, by the file that tests them."""

ACROSS = {
    "integrations/test_hosts.py": "the table of hosts in the documentation",
    "auditing/test_annotated.py": "claims of real traces as readers annotated them",
    "auditing/test_golden.py": "all features of ten traces, by hand",
    "io/adapters/formats/test_chat.py": "a declared format",
    "io/adapters/formats/test_langfuse.py": "a declared format",
    "io/adapters/formats/test_prompt_completion.py": "a declared format",
    "io/adapters/formats/test_promptfoo.py": "a declared format",
    "io/adapters/formats/test_vllm.py": "a declared format, and its tokens",
    "auditing/test_paper.py": "the paper's examples",
    "logic/test_choice.py": "rules of places that are each for one thing",
    "auditing/test_stances.py": "claims of every stance against all worlds",
    "auditing/test_real_traces.py": "delivered traces",
    "experiments/benchmarks/test_benchmarks.py": "the scripts of experiments/",
    "experiments/benchmarks/test_constructions.py": "constructions whose meaning is known",
    "experiments/benchmarks/test_degraded_table.py": "the cohort and the intervals of a table",
    "experiments/benchmarks/test_layouts.py": "the reference that judges sentences",
    "experiments/benchmarks/test_meanings.py": "sentences whose meaning is known",
    "experiments/benchmarks/test_first_errors.py": "the labels of a table",
    "experiments/benchmarks/test_own_probes.py": "the folds of a table",
    "experiments/benchmarks/test_transfer.py": "real traces, labelled, held out and changed",
    "experiments/test_fuzz.py": "spoilt records",
    "experiments/test_gpu_check.py": "what measures the rates of a machine",
    "experiments/test_paper_run.py": "the paper's experiment, made small, through vLLM",
    "ontology/test_profiles.py": "the built-in profiles",
    "ontology/test_rules.py": "the rules, against a plain reading of them",
    "reading/test_metamorphic.py": "texts changed in ways that change no meaning",
    "reading/scenes/test_scenes.py": "scenes as people and models write them",
    "reading/model/test_recorded.py": "rich scenes with recorded readings",
    "reading/test_wordings.py": "wordings, each with what is to be read",
    "reliability/test_settings.py": "the settings that the paper gives",
    "report/test_browser.py": "the pages in a browser",
    "test_docs.py": "README and documentation",
    "test_examples.py": "the ontologies of examples/",
    "test_house.py": "this file",
    "test_threads.py": "threads that share what a process has read",
    "test_sentences.py": "the sentences of the documentation",
}
"""Test files that test no module in particular, and what they test."""


def mirror(module: str) -> str:
    """The test file that mirrors a module, below `tests/`."""
    file = Path(module)
    return str(Path(*file.parts[1:-1]) / f"test_{file.name}").replace("symbouq_cli/", "")


def module(short: str) -> str:
    """The file of a module as `TESTED_ELSEWHERE` writes it."""
    return f"cli/symbouq_{short}.py" if short.startswith("cli/") else f"symbouq/{short}.py"


def listed(heading: str, rows: set[str]) -> str:
    return "".join(f"\n  {heading}: {row}" for row in sorted(rows))


def test_tests_mirror_the_tree() -> None:
    elsewhere = {module(short) for names in TESTED_ELSEWHERE.values() for short in names.split()}
    mirrored = {module for module in MODULES if mirror(module) in TESTS}
    mirrors = {mirror(module) for module in mirrored}
    faults = (
        listed("no test file, and not in TESTED_ELSEWHERE", MODULES - mirrored - elsewhere)
        + listed("in TESTED_ELSEWHERE, but has a test file", mirrored & elsewhere)
        + listed("in TESTED_ELSEWHERE, but is no module", elsewhere - MODULES)
        + listed("test file that is gone", (TESTED_ELSEWHERE.keys() | ACROSS.keys()) - TESTS)
        + listed(
            "test file that mirrors no module, and is not in TESTED_ELSEWHERE or ACROSS",
            TESTS - mirrors - TESTED_ELSEWHERE.keys() - ACROSS.keys(),
        )
    )
    assert not faults, faults


def mapped(text: str) -> set[str]:
    """The files and patterns that CONTRIBUTING names; a row of a table is below its heading's folder."""
    names = set()
    folder = ""
    for line in text.splitlines():
        if line.startswith("#"):
            heading = re.search(r"`((?:symbouq|cli)/.*?)`", line)
            folder = heading[1] if heading else ""
        row = re.match(r"\| `([^`]+)`", line) if folder else None
        if row:
            names.add(folder + row[1])
        else:
            names.update(
                re.findall(r"`((?:[\w.*-]+/)+[\w.*-]*|[\w-]+\.(?:md|toml|txt|yml))`", line)
            )
    return names


def test_the_map_shows_every_module_and_nothing_else() -> None:
    names = mapped((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    dead = {name for name in names if not any(ROOT.glob(name))}
    faults = listed("no row in CONTRIBUTING.md for", MODULES - names)
    faults += listed("CONTRIBUTING.md names what does not exist", dead)
    assert not faults, faults


def test_a_row_that_is_missing_or_dead_is_found() -> None:
    text = (
        "### `symbouq/logic/`\n\n| `scene.py` | `x/y.py` |\n\n## Else\n\n`docs/none.md` `rules/`\n"
    )
    assert mapped(text) == {"symbouq/logic/", "symbouq/logic/scene.py", "docs/none.md", "rules/"}


def requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [Requirement(line) for line in project["dependencies"]]


def lowest() -> dict[str, str]:
    lines = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def test_the_lowest_versions_are_those_that_are_declared() -> None:
    bounds = {
        requirement.name: next(
            bound.version for bound in requirement.specifier if bound.operator == ">="
        )
        for requirement in requirements()
    }
    assert lowest() == bounds


@pytest.mark.parametrize("requirement", requirements(), ids=lambda requirement: requirement.name)
def test_every_requirement_is_pinned_in_the_constraints(requirement: Requirement) -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    assert requirement.specifier.contains(pins[requirement.name])


def test_the_citation_has_the_version_and_the_licence() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
    assert f"\nlicense: {project['license']}\n" in citation


def test_no_clock_decides_what_hypothesis_tries() -> None:
    usual = settings.default
    assert usual is not None and usual.deadline is None
    assert HealthCheck.too_slow in usual.suppress_health_check
    own = [test for test in TESTS if re.search(r"\bdeadline=", (ROOT / "tests" / test).read_text())]
    assert own == []  # it is told once, in `tests/conftest.py`
