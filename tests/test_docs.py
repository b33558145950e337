"""The commands of the README and of the documentation are run, or at least parsed.

`console` blocks hold commands and what they print, `bash` blocks commands alone; a block with a
`title="NAME"` is the file of that name. Both kinds are run, page by page, unless a comment before the block
says `<!-- not run: REASON -->`; then the commands must at least exist with their options. `<!-- needs:
PACKAGES -->` skips the rest of a page where a package is missing. In what is printed, `...` stands for
anything.
"""

from __future__ import annotations

import ast
import io
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from click.testing import CliRunner
from helpers.command_lines import check
from symbouq_cli.main import main

from symbouq.experiments import config

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in DOCS.rglob("*.md"))]
FENCE = re.compile(
    r"(?P<notes>(?:^<!-- [^\n]* -->\n)*)"
    r'^```(?P<kind>\w*)(?: title="(?P<name>[^"]+)")?\n(?P<text>.*?)^```$',
    re.M | re.S,
)
INLINE = re.compile(r"`symbouq ([^`]+)`")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)[^)]*\)")
FILE = re.compile(r"`((?:symbouq|cli|tests|experiments|rules|ontology)/[\w./*-]+)`")
COMMANDS = ("bash", "console")
SHARED = (ROOT / "experiments" / "common.py").read_text(encoding="utf-8")
"""Where options are that scripts share."""


class Block(NamedTuple):
    """A fenced block: its kind, the file it is, the comments before it, and its text."""

    kind: str
    name: str
    notes: dict[str, str]
    text: str


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = []
    for m in FENCE.finditer(text):
        notes = re.findall(r"^<!-- ([\w ]+)(?:: (.+))? -->$", m["notes"], re.M)
        found.append(Block(m["kind"], m["name"] or "", dict(notes), m["text"]))
    return found


def typed(block: Block) -> Iterator[tuple[str, str]]:
    """The commands of a block, with what the page says that they print."""
    if block.kind == "console":
        for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
            command, _, said = part.partition("\n")
            yield command, said
    else:
        for line in block.text.splitlines():
            yield line, ""


def simple(command: str) -> Iterator[list[str]]:
    """The words of each program that a line runs, without comments and redirections."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if set(word) <= set("|&;"):
            yield words
            words = []
        else:
            words.append(word)
    yield words


def pattern(said: str) -> str:
    """A regular expression for what is printed; time spent, and spaces at line ends, vary."""
    text = "\n".join(line.rstrip() for line in said.rstrip("\n").split("\n"))
    text = re.escape(re.sub(r"in \d+\.\d s", "in N s", text))
    return text.replace(re.escape("..."), ".*").replace(re.escape("in N s"), r"in \d+\.\d s")


def printed(output: str) -> str:
    return "\n".join(line.rstrip() for line in output.rstrip("\n").split("\n"))


def pages(*kinds: str) -> list[str]:
    """The pages with blocks of some kinds that are to be run."""
    return [
        page
        for page in PAGES
        if any(block.kind in kinds and "not run" not in block.notes for block in blocks(page))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("page", pages("python", *COMMANDS))
def test_commands_print_what_the_page_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", "examples")
    names: dict[str, Any] = {}
    for block in blocks(page):
        for package in block.notes.get("needs", "").split():
            pytest.importorskip(package, reason=f"{package} is not installed")
        if block.name:
            Path(block.name).parent.mkdir(parents=True, exist_ok=True)
            Path(block.name).write_text(block.text, encoding="utf-8")
        elif block.kind == "python":
            with redirect_stdout(io.StringIO()):
                exec(block.text, names)
        elif block.kind in COMMANDS and "not run" not in block.notes:
            for command, said in typed(block):
                program, *arguments = shlex.split(command)
                assert Path(program).name == "symbouq", command
                result = CliRunner().invoke(main, arguments)
                assert result.exit_code in (0, 1, 3), result.output
                if said:
                    found = printed(result.output)
                    assert re.fullmatch(pattern(said), found, re.S), f"{command}\n{found}"


@pytest.mark.parametrize("page", PAGES)
def test_every_command_is_run_or_says_why_not(page: str) -> None:
    for block in blocks(page):
        assert block.kind, f"a block without a kind: {block.text[:60]}"
        if "not run" not in block.notes:
            continue
        assert block.kind in COMMANDS and block.notes["not run"]
        for command, _ in typed(block):
            for words in simple(command):
                exists(words)


def exists(words: list[str]) -> None:
    """Whether a program that is not run could be: ours by its parser, a script by its options."""
    if not words:
        return
    program, *arguments = words
    if Path(program).name == "symbouq":
        check(arguments)
    elif program == "python" and arguments[0].endswith(".py"):
        source = (ROOT / arguments[0]).read_text(encoding="utf-8") + SHARED
        for word in arguments[1:]:
            assert not word.startswith("--") or f'"{word}"' in source, f"{arguments[0]} {word}"


@pytest.mark.parametrize("page", PAGES)
def test_commands_within_sentences_exist(page: str) -> None:
    for said in INLINE.findall((ROOT / page).read_text(encoding="utf-8")):
        mentioned(said.split())


def mentioned(words: list[str]) -> None:
    """Whether the commands and options of a sentence exist; it may leave out anything."""
    command: click.Command = main
    while isinstance(command, click.Group) and words and words[0] not in ("...", "COMMAND"):
        if words[0].startswith("-"):
            break
        assert words[0] in command.commands, words
        command, words = command.commands[words[0]], words[1:]
    known = {name for option in command.params for name in option.opts} | {"--help", "-"}
    assert {word for word in words if word.startswith("-")} <= known, words


@pytest.mark.parametrize(
    ("notes", "text"),
    [
        ("<!-- not run: why -->\n", "symbouq audit\n"),
        ("<!-- not run: why -->\n", "cd x && symbouq audit t.jsonl --fast\n"),
        ("<!-- not run: why -->\n", "python experiments/answers_table.py --fast\n"),
        ("<!-- not run -->\n", "symbouq schema\n"),
    ],
)
def test_a_command_that_does_not_exist_is_found(notes: str, text: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{notes}```bash\n{text}```\n")
    with pytest.raises((click.UsageError, AssertionError)):
        test_every_command_is_run_or_says_why_not(os.path.relpath(page, ROOT))


@pytest.mark.parametrize("said", ["rule check", "rules checks", "audit FILES --fast", "--fast"])
def test_a_mention_of_what_does_not_exist_is_found(said: str) -> None:
    with pytest.raises(AssertionError):
        mentioned(said.split())


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md", "CHANGELOG.md"])
def test_files_that_are_linked_exist(page: str) -> None:
    """Anchors are checked by `zensical build --strict`; it is given the schemas to copy."""
    for target in LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        assert target.endswith(".schema.json") or (ROOT / page).parent.joinpath(target).exists()


@pytest.mark.parametrize("page", [page for page in PAGES if page != "README.md"])
def test_files_of_the_project_that_are_named_exist(page: str) -> None:
    """Where the page's own example has no such file."""
    made = {block.name for block in blocks(page)}
    for name in FILE.findall((ROOT / page).read_text(encoding="utf-8")):
        assert name in made or any(ROOT.glob(name)), name


def test_every_page_is_in_the_navigation() -> None:
    site = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    targets = re.findall(r"[\w/]+\.md", str(site["nav"]))
    assert sorted(targets) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


LABELS = """
    sec:introduction sec:preliminary sec:method fig:framework eq:status_space eq:trusted eq:prefix
    eq:status sec:applicability eq:determinacy eq:applicability sec:combiner eq:darc_features eq:darc
    sec:evaluation tab:result tab:ablation fig:analysis sec:related-work app:illustrative_example
    tab:illustrative_audit app_auditor eq:repair app_prefix eq:det_dilution tab:prefix app_transfer
    alg:darc app_experiments app_datasets tab:dataset app_models tab:models tab:judge_agreement
    app_baselines app_metrics eq:balbrier app_generation tab:freeform_cot app_mechanism
    app_counterfactual app_auditor_eval tab:auditor app_constraint_utility app_adaptation tab:valsize
    app_significance tab:significance tab:extrametrics app_efficiency tab:efficiency
    app_hyperparameters tab:search-space sec:app_prompt_templates sec:app_case_studies
    app_reproducibility app_additional tab:backbone-llama tab:backbone-gemma tab:backbone-qwen
"""
"""The labels of the paper's source, in its order."""


def defined(body: list[ast.stmt], name: str) -> ast.stmt | None:
    """The statement that defines a name."""
    for one in body:
        targets = one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", one)]
        if name in {getattr(target, "name", getattr(target, "id", "")) for target in targets}:
            return one
    return None


def is_defined(name: str) -> bool:
    """Whether a dotted name is of a module, or of what one defines; nothing is imported."""
    module, rest = ROOT, name.split(".")
    while rest and (module / rest[0]).is_dir():
        module, rest = module / rest[0], rest[1:]
    if not rest:
        return True
    file = module / f"{rest[0]}.py"
    if file.exists():
        rest = rest[1:]
    body = ast.parse((file if file.exists() else module / "__init__.py").read_text("utf-8")).body
    for part in rest:
        found = defined(body, part)
        if found is None:
            return False
        body = getattr(found, "body", [])
    return True


def test_names_of_code_on_the_page_of_fidelity_exist() -> None:
    text = (DOCS / "fidelity.md").read_text(encoding="utf-8")
    names = re.findall(r"`(symbouq(?:\.\w+)+)`", text)
    assert len(names) > 60
    assert [name for name in names if not is_defined(name)] == []


@pytest.mark.parametrize("name", ["report.none", "reliability.darc.L3", "records.trace.Trace.none"])
def test_a_name_that_does_not_exist_is_found(name: str) -> None:
    assert is_defined("symbouq.reliability.darc.Composer.predict")
    assert not is_defined(f"symbouq.{name}")


def test_each_label_of_the_paper_is_named_once() -> None:
    text = (DOCS / "fidelity.md").read_text(encoding="utf-8")
    assert len(LABELS.split()) == 60
    named = re.findall(r"`((?:sec|eq|fig|tab|alg|app)(?::|_)[\w:-]+)`", text)
    assert sorted(named) == sorted(LABELS.split())


def test_keys_that_the_page_of_fidelity_names_exist() -> None:
    text = (DOCS / "fidelity.md").read_text(encoding="utf-8")
    parts = [config.ExperimentConfig, config.DatasetConfig]
    known = {name for part in parts for name in part.model_fields}
    lists = re.findall(r"\bkeys? (`\w+`(?:(?:, | and )`\w+`)*)", text)
    keys = {key for listed in lists for key in re.findall(r"\w+", listed)} - {"and"}
    assert len(keys) > 10
    assert keys <= known


def test_what_is_printed_is_compared() -> None:
    said = pattern("one ... three\n2 passed in 0.6 s\n")
    assert re.fullmatch(said, printed("one two three   \n2 passed in 12.0 s\n"), re.S)
    assert not re.fullmatch(said, printed("one two three\n3 passed in 0.6 s\n"), re.S)
    assert not re.fullmatch(said, printed("one three\n2 passed in 0.6 s\nmore\n"), re.S)
