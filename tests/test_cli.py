"""The command line as its users meet it: output, exit codes, messages."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from helpers.command_lines import check, commands
from symbouq_cli.main import main

import symbouq
from symbouq.errors import SymboUQError
from symbouq.ontology.library import builtin
from symbouq.records import Audit, json_schema

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples" / "traces.jsonl"
COMMAND = [sys.executable, "-c", "from symbouq_cli.main import main; main()"]
GOOD = {"id": "g", "scene": ["A is above B."], "question": "", "response": "Answer: A is above B."}
EVERY_COMMAND = pytest.mark.parametrize(
    ("path", "command"), [pytest.param(*pair, id=" ".join(pair[0])) for pair in commands()]
)


def run(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments], input=stdin)


def records(text: bytes | str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def audits(result: Result) -> list[dict[str, Any]]:
    return records(result.stdout)


def test_audit_of_the_examples() -> None:
    result = run("audit", EXAMPLES)
    assert result.exit_code == 0
    found = [Audit.model_validate(record) for record in audits(result)]
    assert len(found) == 10
    by_id = {audit.id: audit for audit in found}
    assert by_id["kitchen-right"].claims[-1].verdict == "entailed"
    assert by_id["grid-slip"].ontology.profile == "unit-grid"
    assert not by_id["contradictory-scene"].scene.feasible
    assert by_id["kitchen-right"].source == {"file": str(EXAMPLES), "line": 1}
    headings = "context entailed contradicted unknown not-evaluable"
    told = result.stderr.splitlines()
    assert headings in [" ".join(line.split()[1:]) for line in told]
    assert max(map(len, told[: told.index(WRONG[0])])) <= 80


WRONG = [
    "4 of 10 traces contradict their scene or themselves:",
    f'  {EXAMPLES}:2 "The oven is to the upper left of the fridge." (claim 4, against scene 1, scene 2)',
    f'  {EXAMPLES}:6 "T= R+ offset(below) = (2,0)+(0,-1)=(2,-1)." (claim 4, against scene 3)',
    f'  {EXAMPLES}:7 "The red box is inside the ring." (claim 4, against scene 1, scene 2)',
    f'  {EXAMPLES}:8 "The shelf is left of the chair." (claim 4, against claim 3)',
]


@pytest.mark.parametrize("more", [[], ["--profile", "nine-way", "--map", "id=id"], ["--report"]])
def test_audit_names_the_wrong_traces_and_how_to_explain_one(
    more: list[str], tmp_path: Path
) -> None:
    page = [str(tmp_path / "page.html")] if more == ["--report"] else []
    told = run("audit", EXAMPLES, *more, *page).stderr.splitlines()
    assert told[-6:-1] == WRONG
    repeated = [] if page else more
    command = shlex.join(["symbouq", "explain", f"{EXAMPLES}:2", *repeated])
    assert told[-1] == f"Why the first is wrong: {command}"
    assert "fridge.\n   contradicted" in run(*shlex.split(command)[1:]).stdout


def test_audit_names_ten_wrong_traces_at_most_and_counts_all(tmp_path: Path) -> None:
    """Of 40 traces every third is wrong, and the first, which has no text; a repeated one fails."""
    file = tmp_path / "in.jsonl"
    records = [
        {**GOOD, "id": str(n), "response": "A is below B." if n % 3 == 0 else "A is above B."}
        for n in range(1, 41)
    ]
    records[2]["response"] = f"{'E' * 70} is left of B. A is below B."
    records[0] = {
        "id": "0",
        "scene_relations": [["A", "above", "B"]],
        "claims": [{"text": "", "relations": [["A", "below", "B"]]}],
    }
    file.write_text("".join(json.dumps(record) + "\n" for record in [*records, records[5]]))
    said = [run("audit", file, "--jobs", jobs, "--out", tmp_path / "o").stderr for jobs in "12"]
    assert said[0] == said[1]
    told = said[0].splitlines()
    start = told.index("14 of 40 traces contradict their scene or themselves, first 10:")
    assert told[start + 1] == f'  {file}:1 "A below B" (claim 1, against scene 1)'
    assert told[start + 2] == f'  {file}:3 "A is below B." (claim 2, against scene 1)'
    assert [line.split()[0] for line in told[start + 1 : -1]] == [
        f"{file}:{n}" for n in [1, *range(3, 28, 3)]
    ]


def test_audit_of_standard_input_names_no_command() -> None:
    wrong = GOOD | {"response": f"A is below B, and {'C' * 100} is left of D."}
    *_, heading, last = run("audit", "-", stdin=json.dumps(wrong).encode()).stderr.splitlines()
    assert heading == "1 of 1 traces contradicts its scene or itself:"
    assert last == f'  <stdin>:1 "A is below B, and {"C" * 42} ..." (claim 1, against scene 1)'
    assert "scene" not in run("audit", "-", stdin=json.dumps(GOOD).encode()).stderr


def test_parse_then_audit_equals_audit(tmp_path: Path) -> None:
    parsed = tmp_path / "parsed.jsonl"
    assert run("parse", EXAMPLES, "--out", parsed).exit_code == 0
    direct, piped = audits(run("audit", EXAMPLES)), audits(run("audit", parsed))
    for first, second in zip(direct, piped, strict=True):
        del first["source"], second["source"]
        assert first == second


def test_standard_input_and_output() -> None:
    result = run("audit", "-", stdin=json.dumps(GOOD).encode())
    assert audits(result)[0]["source"] == {"file": "<stdin>", "line": 1}


def test_compressed_output(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl.gz"
    assert run("audit", EXAMPLES, "--out", out).exit_code == 0
    assert len(records(gzip.decompress(out.read_bytes()))) == 10


@pytest.mark.parametrize("command", ["audit", "answer", "parse"])
def test_input_without_records_is_reported(command: str, tmp_path: Path) -> None:
    file = tmp_path / "empty.jsonl"
    file.write_text("\n")
    result = run(command, file)
    assert result.exit_code == 0
    assert "The input has no records: nothing was judged." in result.stderr


def test_bad_records_give_exit_code_1_and_one_line_each(tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text(f'{{"id": [1]}}\n{json.dumps(GOOD)}\n{{"id"\n')
    result = run("audit", file, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert len((tmp_path / "out").read_text().splitlines()) == 1
    first, second = (line for line in result.stderr.splitlines() if line.startswith(str(file)))
    assert first.startswith(f"{file}:1: id: Input should be a valid string")
    assert second.startswith(f"{file}:3: not valid JSON")


def test_empty_file_is_all_read(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    result = run("audit", tmp_path / "empty")
    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["audit", "nowhere.jsonl"], "does not exist"),
        (["audit"], "Missing argument"),
        (["audit", str(EXAMPLES), "--profile", "ten-way"], "unknown profile 'ten-way'"),
        (["audit", str(EXAMPLES), "--ontology", "nowhere"], "does not exist"),
        (["audit", str(EXAMPLES), "--jobs", "0"], "--jobs"),
        (["audit", str(EXAMPLES), "--context", "both"], "--context"),
        (
            ["audit", str(EXAMPLES), "--out", "/nowhere/out.jsonl"],
            "/nowhere/out.jsonl: No such file",
        ),
        (["audit", str(EXAMPLES), "--out", str(EXAMPLES)], "is one of the input files"),
        (["explain", str(EXAMPLES), "--id", "nobody"], "no readable record has the id 'nobody'"),
    ],
)
def test_wrong_options_give_exit_code_2(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_broken_ontology_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "mine.lp").write_text('extends(nine_way).\nphrase(abov, "over").\n')
    result = run("audit", EXAMPLES, "--ontology", tmp_path)
    assert result.exit_code == 2
    assert f"{tmp_path / 'mine.lp'}:2: unknown relation abov" in result.stderr


def test_explain_shows_verdicts_reasons_and_a_sketch() -> None:
    result = run("explain", EXAMPLES, "--id", "kitchen-wrong")
    assert result.exit_code == 0
    text = result.stdout
    assert "kitchen-wrong  (profile nine-way, ontology builtin)" in text
    assert "1. The oven is above the sink.  [oven above sink]" in text
    assert "contradicted, first contradiction; dropping earlier claims won't fix it" in text
    assert (
        "oven is to the upper left of fridge: cannot hold together with scene 1 and scene 2."
        in text
    )
    assert "determinacy: 0.5" in text
    rows = text.split("possibly many:\n")[1].splitlines()
    assert rows == ["    .     oven", "  fridge  sink"]


def test_explain_by_line_and_the_first_contradicted() -> None:
    by_id = run("explain", EXAMPLES, "--id", "kitchen-wrong").stdout
    for arguments in ([f"{EXAMPLES}:2"], [EXAMPLES, "--first-contradicted"]):
        result = run("explain", *arguments)
        assert (result.exit_code, result.stdout) == (0, by_id)
    one = EXAMPLES.read_bytes().splitlines()[1]
    assert run("explain", "-", stdin=one).stdout == by_id


def test_explain_lists_the_verdicts(tmp_path: Path) -> None:
    told = run("explain", EXAMPLES, "--list").stdout.splitlines()
    assert [line.split()[:2] for line in told[:2]] == [
        ["1", "kitchen-right"],
        ["2", "kitchen-wrong"],
    ]
    assert told[0].endswith("  4 entailed")
    assert told[1].endswith("  1 contradicted, 1 entailed, 2 unknown, 1 not evaluable")
    assert told[8].endswith("  the scene contradicts itself, 2 not evaluable")
    (tmp_path / "t").write_text(f"{{\n\n{json.dumps(GOOD)}\n")
    for option, printed in (
        ("--list", f"    3  {'g':<24}  1 entailed\n"),
        ("--first-contradicted", "no trace has a contradicted claim\n"),
    ):
        result = run("explain", tmp_path / "t", option)
        assert (result.exit_code, result.stdout) == (1, printed)
        assert result.stderr.startswith(f"{tmp_path / 't'}:1: not valid JSON")


def test_explain_of_files_with_colons(tmp_path: Path) -> None:
    file = tmp_path / "a:3"
    file.write_text(json.dumps(GOOD))
    assert run("explain", file).stdout == run("explain", f"{file}:1").stdout != ""
    (tmp_path / "a").write_text("")  # the whole name counts where there is such a file
    assert run("explain", file).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{}"], "has several traces: choose one by its line (FILE:LINE) or --id, take "
                 "--first-contradicted, or see them all with --list"),
        (["{}:2", "--list"], "give one of FILE:LINE, --id, --first-contradicted and --list"),
        (["{}", "--list", "--reading"], "--list and --reading cannot be combined"),
        (["{}:11"], ": there is no record in line 11"),
        (["{}:0"], ": there is no record in line 0"),
        (["nowhere:1"], "'nowhere' does not exist"),
    ],
)  # fmt: skip
def test_explain_says_how_to_choose(arguments: list[str], message: str) -> None:
    result = run("explain", *(each.format(EXAMPLES) for each in arguments))
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_explain_of_a_line_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(f"{json.dumps(GOOD)}\n{{\n")
    result = run("explain", f"{tmp_path / 't'}:2")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{tmp_path / 't'}:2: not valid JSON" in result.stderr


def test_explain_shows_how_each_sentence_is_read() -> None:
    text = run("explain", EXAMPLES, "--id", "kitchen-wrong", "--reading").stdout
    reading = text[text.index("'The oven is above the sink.'") :]
    assert "1:oven/NN nsubj>2" in reading
    assert "'above' (preposition): above [ontology/reading/expressions.lp:" in reading
    assert "says oven - sink, cost 0\n      The best pair [rules/reading/output.lp:" in reading
    assert "--reading" not in run("explain", EXAMPLES, "--id", "kitchen-wrong").stdout


def test_there_is_no_parse_of_relations() -> None:
    result = run("explain", EXAMPLES, "--id", "in-relations", "--reading")
    assert result.exit_code == 2
    assert "the trace is in relations, of which there is no parse to show" in result.stderr


@pytest.mark.parametrize("command", ["audit", "parse", "counterfactual"])
def test_a_pipeline_that_is_not_installed(command: str) -> None:
    result = run(command, EXAMPLES, "--pipeline", "en_nowhere")
    assert result.exit_code == 2
    assert "the pipeline 'en_nowhere' cannot be loaded" in result.stderr
    assert "symbouq doctor" in result.stderr


def test_explain_of_relations_and_of_a_clash() -> None:
    assert "1. hall left library" in run("explain", EXAMPLES, "--id", "in-relations").stdout
    text = run("explain", EXAMPLES, "--id", "contradictory-scene").stdout
    assert "scene 1, scene 2 and scene 3 cannot hold together" in text


def test_counterfactual() -> None:
    result = run("counterfactual", EXAMPLES)
    assert result.exit_code == 1  # one example has no scene in words
    assert "in-relations" not in result.stdout
    for record in audits(result):
        for pair in record["pairs"]:
            assert pair["supported"]["verdict"] == "entailed"
            assert pair["incompatible"]["verdict"] == "contradicted"


@EVERY_COMMAND
def test_help_says_what_it_does_with_an_example(
    path: tuple[str, ...], command: click.Command
) -> None:
    text = " ".join(run(*path[1:], "--help").stdout.split())
    assert command.help and command.help.split("\n")[0] in text
    _, _, example = text.partition("Example: symbouq ")
    assert example.split()[: len(path) - 1] == list(path[1:])
    for option in command.params:
        assert not isinstance(option, click.Option) or option.help, option.opts


@EVERY_COMMAND
def test_the_example_is_a_command(path: tuple[str, ...], command: click.Command) -> None:
    said = f"{command.help}\n{command.epilog}"
    (example,) = re.findall(r"Example: symbouq (.*)", said)
    for part in example.split(" | "):
        words = shlex.split(part.partition(" > ")[0].removeprefix("symbouq "))
        check(words)


@pytest.mark.parametrize(
    "words",
    [
        "audits traces.jsonl",
        "audit traces.jsonl --fast",
        "audit",
        "audit traces.jsonl --context both",
        "rules",
        "rules table more",
        "compare one.jsonl",
        "scores fit train validation",
    ],
)
def test_what_is_no_command_is_found(words: str) -> None:
    with pytest.raises(click.UsageError):
        check(words.split())


def test_version() -> None:
    assert run("--version").stdout.startswith("symbouq, version ")


def test_schema_of_a_record_and_of_all() -> None:
    assert json.loads(run("schema", "audit").stdout) == Audit.model_json_schema()
    assert json.loads(run("schema").stdout) == json_schema()
    assert run("schema", "layout").exit_code == 2
    (argument,) = (one for one in main.commands["schema"].params if one.name == "name")
    assert list(argument.type.choices) == list(json_schema())


def completed(words: str) -> list[str]:
    """What the shell is told where the cursor stands after the words."""
    environment = {
        **os.environ,
        "_SYMBOUQ_COMPLETE": "bash_complete",
        "COMP_WORDS": f"symbouq {words}",
        "COMP_CWORD": str(len(words.split())),
    }
    # The variable's name comes from the program's.
    code = "from symbouq_cli.main import main; main(prog_name='symbouq')"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("comp", ["compare"]),
        ("audit --repo", ["--report"]),
        ("audit --profile n", ["nine-way"]),
        ("data import spartq", ["spartqa"]),
        ("experiment table sc", ["scorers"]),
        ("scores fit --method Self", ["SelfCheckGPT"]),
    ],
)
def test_completion(words: str, found: list[str]) -> None:
    assert completed(words) == found


def test_completion_knows_the_profiles_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.lp").write_text("profile(loose). extends(loose, half_plane).\n")
    assert "loose" in completed(f"audit --ontology {tmp_path} --profile lo")


def failing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Makes `symbouq schema` raise an error."""

    def fail() -> None:
        raise error

    monkeypatch.setattr("symbouq.records.json_schema", fail)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ZeroDivisionError("by\nnothing"), "internal error: ZeroDivisionError: by nothing; please"),
        (KeyError(), "internal error: KeyError: no reason given; please report it"),
        (ImportError("No module named 'x'"), "No module named 'x': `symbouq doctor` says"),
        (OSError(28, "No space left", "out.jsonl"), "out.jsonl: No space left"),
        (SymboUQError("mend it"), "Error: mend it"),
    ],
)
@pytest.mark.parametrize("how", ["plainly", "option", "variable"])
def test_errors_are_one_line_and_with_debug_a_traceback(
    how: str, error: Exception, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, error)
    monkeypatch.setenv("SYMBOUQ_DEBUG", "1" if how == "variable" else "0")
    result = run(*(["--debug"] if how == "option" else []), "schema")
    assert result.exit_code == 2
    *before, last = result.stderr.rstrip("\n").split("\n")
    assert message in last
    assert ("Traceback (most recent call last):" in before) == (how != "plainly")
    assert result.stdout == ""
    if how == "plainly":
        assert not before


@pytest.mark.parametrize("debug", [True, False])
def test_a_fault_at_one_record_costs_only_that(
    debug: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("symbouq.auditing.auditor.TraceAuditor.audited", fail)
    options = ["--debug"] if debug else []
    result = run(*options, "audit", "-", "--jobs", "1", stdin=json.dumps(GOOD).encode())
    assert result.exit_code == 1
    told = "<stdin>:1: internal error, please report it: ZeroDivisionError: by nothing"
    assert told in result.stderr
    assert ("Traceback (most recent call last):" in result.stderr) == debug


def test_a_wrong_option_has_no_traceback_even_with_debug() -> None:
    result = run("--debug", "audit", "nowhere.jsonl")
    assert (result.exit_code, "Traceback" in result.stderr) == (2, False)


def coloured(*arguments: str, tmp_path: Path, **variables: str) -> bool:
    """Whether a command that runs on a terminal prints colours."""
    script = shlex.join([*COMMAND, *arguments])
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    done = subprocess.run(
        ["script", "-qec", script, "/dev/null"],
        env=environment | {"TERM": "xterm-256color"} | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    assert b"kitchen-wrong" in done.stdout or b"FAIL" in done.stdout, done
    return re.search(rb"\x1b\[[0-9;]*3[0-9]m", done.stdout) is not None


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("script") is None, reason="needs a terminal, by script(1)")
def test_colours_are_for_terminals_and_heed_no_color(tmp_path: Path) -> None:
    (tmp_path / "wrong.test").write_text(
        "test: wrong\nscene:\n  a left b\nclaims:\n  unknown: a left b\n"
    )
    (tmp_path / "mine.lp").write_text("extends(nine_way).\n")
    for arguments in (
        ("explain", str(EXAMPLES), "--id", "kitchen-wrong"),  # by rich
        ("rules", "test", "."),  # by click
    ):
        assert coloured(*arguments, tmp_path=tmp_path)
        assert not coloured(*arguments, tmp_path=tmp_path, NO_COLOR="1")
        piped = subprocess.run(
            [*COMMAND, *arguments], capture_output=True, cwd=tmp_path, check=False
        )
        assert b"\x1b" not in piped.stdout + piped.stderr


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from symbouq_cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('spacy', 'clingo', 'pydantic', 'rich', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_relations_load_no_spacy_and_nothing_needs_torch(tmp_path: Path) -> None:
    """spaCy loads torch itself where it is installed, so it is hidden here."""
    code = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(('torch', 'transformers', 'pandas', 'sklearn')))\n"
        "import symbouq\n"
        "symbouq.audit([['A', 'above', 'B']], [[['B', 'below', 'A']]])\n"
        "print('spacy' in sys.modules)\n"
        "print(symbouq.audit('A is above B.', 'Answer: A is above B.').claims[-1].verdict)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["False", "entailed"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_is_a_clear_error() -> None:
    result = subprocess.run(
        [*COMMAND, "audit", str(EXAMPLES), "--out", "/dev/full"], capture_output=True, text=True
    )
    assert result.returncode == 2
    assert "No space left on device" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_output(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    result = run("audit", EXAMPLES, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "Permission denied" in result.stderr


def test_the_module_lists_its_public_names() -> None:
    code = "import symbouq; print(*dir(symbouq))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == sorted(symbouq.__all__)


def test_the_help_of_audit_names_each_profile_with_what_it_gives_up() -> None:
    told = " ".join(run("audit", "--help").stdout.split("Profiles:")[1].split())
    for profile in builtin().profiles:
        assert profile.replace("_", "-") in told
    assert all(builtin().about.values())
    assert "gives up what exact directions compose to (Hamburg north-west of" in told
