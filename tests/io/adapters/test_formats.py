"""What holds for every format: recognised, read alike, bounded, one fault at a time."""

from __future__ import annotations

import gzip
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from helpers.writers import (
    MAPPED,
    OPTIONAL,
    TOKENS,
    TRACES,
    WITH_TOKENS,
    WRITERS,
    array,
    batch_output,
    completion,
    faults,
    good,
    inspect_log,
    lines,
    lm_eval_row,
    read,
    renamed,
    vllm_output,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from symbouq_cli.main import main

from symbouq.auditing.jobs import auditing
from symbouq.errors import RecordError, SymboUQError, install_command
from symbouq.io.adapters import FORMATS, PLAIN, adapter
from symbouq.io.adapters.base import Adapter
from symbouq.io.adapters.choice import adapter_for, read_options, trace_files
from symbouq.io.adapters.fields import lookup
from symbouq.io.adapters.inputs import Input, ReadOptions, TraceFile, opened
from symbouq.io.stream import Job, process
from symbouq.records import Trace

JOB = Job(auditing, (None, None, "assumed"), Trace)


def run(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments], input=stdin)


def audits(file: str, processes: int = 1) -> list[dict[str, Any]]:
    """The audits of a file, without where they come from."""
    found = []
    for outcome in process([file], JOB, processes):
        assert outcome.output is not None, outcome.error
        audit = json.loads(outcome.output)
        assert audit.pop("source")["file"] == str(file)
        found.append(audit)
    return found


def texts(name: str) -> list[dict[str, Any]]:
    """The traces that a format can hold; an empty cell of a CSV file is an absent field."""
    return TRACES[:2] if name == "csv" else TRACES


def test_every_module_is_a_format_that_is_tested() -> None:
    assert FORMATS[0] == "symbouq"
    assert set(FORMATS) == {name.partition(",")[0] for name in WRITERS}
    assert all(issubclass(adapter(name), Adapter) for name in FORMATS)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The audits of the traces in the format of our own."""
    return audits(WRITERS["symbouq"](tmp_path_factory.mktemp("own"), TRACES))


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_trace_gives_the_same_audit(
    name: str, own: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert audits(WRITERS[name](tmp_path, texts(name))) == own[: len(texts(name))]


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in WRITERS if n not in OPTIONAL])
def test_processes_change_nothing(name: str, tmp_path: Path) -> None:
    traces = [{**trace, "id": str(n)} for n, trace in enumerate(texts(name) * 50)]
    file = WRITERS[name](tmp_path, traces)
    assert audits(file, 2) == audits(file, 1)


@pytest.mark.parametrize("name", WRITERS)
def test_recognised_without_being_named(name: str, tmp_path: Path) -> None:
    file = WRITERS[name](tmp_path, TRACES)
    form = name.partition(",")[0]
    with opened(file) as source:
        found = adapter_for(source, ReadOptions(mapping=(("model", "m"),)))
    assert found is adapter(form)
    with opened(file) as source:
        found = [n for n in FORMATS if n not in PLAIN and adapter(n).detects(source)]
    assert found in ([form], [])


@pytest.mark.parametrize("name", [n for n in WRITERS if n not in OPTIONAL])
def test_named_or_compressed_makes_no_difference(name: str, tmp_path: Path) -> None:
    file = WRITERS[name](tmp_path, TRACES)
    direct = read(file, file.options)
    named = ReadOptions(
        name.partition(",")[0], file.options.mapping, None, file.options.batch_input
    )
    assert read(file, named) == direct
    zipped = tmp_path / (Path(file).name + ".gz")
    zipped.write_bytes(gzip.compress(Path(file).read_bytes()))
    assert read(str(zipped), file.options) == direct


@pytest.mark.parametrize("name", [n for n in WRITERS if n not in OPTIONAL])
def test_from_standard_input(name: str, tmp_path: Path) -> None:
    file = WRITERS[name](tmp_path, texts(name))
    options = [f"--map={field}={source}" for field, source in file.options.mapping]
    if file.options.batch_input:
        options += ["--batch-input", file.options.batch_input]
    if name == "csv":
        options += ["--format", "csv"]
    result = run("audit", "-", *options, stdin=Path(file).read_bytes())
    assert result.exit_code == 0, result.stderr
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == [
        trace["id"] for trace in texts(name)
    ]


@pytest.mark.parametrize("name", WITH_TOKENS)
def test_log_probabilities_are_kept(name: str, tmp_path: Path) -> None:
    file = WRITERS[name](tmp_path, TRACES[:1])
    (record,) = good(file, file.options)
    assert record["tokens"] == TOKENS


def test_our_own_lines_are_not_touched(tmp_path: Path) -> None:
    own = b'{"id": "1",  "scene": [], "response": "", "doc_id": 3, "resps": 1}\n'
    (tmp_path / "own.jsonl").write_bytes(own)
    with opened(str(tmp_path / "own.jsonl")) as source:
        assert adapter_for(source, ReadOptions()) is None
        assert list(source.lines()) == [own]


FIRST: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "symbouq"),
    "blank": (b"\n\n  \n", "symbouq"),
    "no JSON": (b"once upon a time\n", "symbouq"),
    "bytes": (b"\xff\xfe\x00", "symbouq"),
    "a broken first line": (b'{"doc_id": 1, "doc"\n{"doc_id": 2, "doc": 1}\n', "lm-eval"),
    "a byte order mark": (b'\xef\xbb\xbf{"request_id": "1", "outputs": []}', "vllm"),
    "a first line longer than the head": (
        json.dumps({**vllm_output(TRACES[0]), "prompt": "x" * 200_000}).encode(),
        "vllm",
    ),
    "an array of completions": (json.dumps([completion(TRACES[0])]).encode(), "openai"),
    "a log on one line": (json.dumps(inspect_log()).encode(), "inspect"),
    "Parquet by its mark": (b"PAR1\x15\x04", "parquet"),
}


@pytest.mark.parametrize("name", FIRST)
def test_recognised_by_content(name: str, tmp_path: Path) -> None:
    content, form = FIRST[name]
    (tmp_path / "file").write_bytes(content)
    with opened(str(tmp_path / "file")) as source:
        found = adapter_for(source, ReadOptions(mapping=(("id", "x"),)))
    assert found is adapter(form)


def test_lines_longer_than_the_head_stay_whole(tmp_path: Path) -> None:
    rows = [{"text": "é" * size} for size in (40_000, 5, 70_000, 3)]
    path = lines(tmp_path / "file", *rows)
    with opened(path) as source:
        assert b"".join(source.chunks()) == Path(path).read_bytes()
    with opened(path) as source:
        assert [json.loads(line) for _, line in source.values()] == rows


# Mapping ----------------------------------------------------------------------------------


def test_dotted_paths() -> None:
    raw = {"a": {"b": [{"c": 1}], "x.y": 2}, "a.b": 3, "n": None}
    assert lookup(raw, "scene", "a.x.y") == 2
    assert lookup(raw, "scene", "a.b") == 3
    assert lookup(raw, "scene", "n") is None
    assert lookup({"a": {"b": [{"c": 1}]}}, "scene", "a.b.0.c") == 1


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("b", "--map scene=b: no 'b' there; the record is an object with a"),
        ("a.c", "--map scene=a.c: no 'c' there; a is an object with b"),
        ("a.b.1", "--map scene=a.b.1: no '1' there; a.b is a list that starts with a number"),
        ("a.b.x", "--map scene=a.b.x: no 'x' there; a.b is a list that starts with a number"),
        ("a.b.0.x", "--map scene=a.b.0.x: no 'x' there; a.b.0 is a number"),
    ],
)
def test_paths_that_lead_nowhere(source: str, message: str) -> None:
    with pytest.raises(RecordError) as error:
        lookup({"a": {"b": [7]}}, "scene", source)
    assert error.value.message == message


def test_mapping_goes_before_what_the_format_says(tmp_path: Path) -> None:
    row = lm_eval_row({**TRACES[0], "scene": "X is above Y."}, doc={"story": "P is left of Q."})
    path = lines(tmp_path / "rows.jsonl", row)
    reading = ReadOptions(
        mapping=(("scene", "doc.story"), ("correct", "exact_match"), ("id", "filter"))
    )
    (record,) = good(path, reading)
    assert record["scene"] == "P is left of Q."
    assert record["question"] == TRACES[0]["question"]
    assert (record["correct"], record["id"]) == (0.0, "none")


def test_mapped_steps_take_the_place_of_a_response(tmp_path: Path) -> None:
    row = {**vllm_output(TRACES[0]), "steps": ["The oven is above the sink."], "said": "above"}
    path = lines(tmp_path / "dump.jsonl", row)
    (record,) = good(path, ReadOptions(mapping=(("reasoning", "steps"), ("conclusion", "said"))))
    assert "response" not in record
    assert record["reasoning"] == ["The oven is above the sink."]


def test_mapped_prompt_and_default_id(tmp_path: Path) -> None:
    path = lines(tmp_path / "own.jsonl", {"q": "A is above B. Where is A?", "a": "above"})
    (record,) = good(path, ReadOptions(mapping=(("prompt", "q"), ("response", "a"))))
    assert record["scene"] == "A is above B."
    assert record["question"] == "Where is A?"
    assert record["id"] == "1"


def test_relations_by_mapping(tmp_path: Path) -> None:
    row = {"facts": [["A", "above", "B"]], "steps": [{"relations": [["B", "below", "A"]]}]}
    path = lines(tmp_path / "own.jsonl", row)
    file = TraceFile(path, ReadOptions(mapping=(("scene_relations", "facts"), ("claims", "steps"))))
    assert [claim["verdict"] for claim in audits(file)[0]["claims"]] == ["entailed"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maps": ["scene"]}, "--map scene: expected FIELD=SOURCE, such as scene=context"),
        ({"maps": ["=x"]}, "--map =x: expected FIELD=SOURCE"),
        ({"maps": ["scen=x"]}, "--map scen=x: a trace has no field scen; did you mean scene?"),
        ({"maps": ["zzz=x"]}, "--map zzz=x: a trace has no field zzz; there are id, scene,"),
        ({"prompt_split": "("}, "--prompt-split: not a regular expression:"),
        ({"prompt_split": "x"}, "--prompt-split: a group (?P<scene>...) is missing"),
        (
            {"form": "vllm", "batch_input": "x"},
            "--batch-input belongs to formats of batches, not to vllm",
        ),
    ],
)
def test_options_that_cannot_be_used(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SymboUQError) as error:
        read_options(**options)
    assert error.value.message.startswith(message)


def test_a_trace_file_is_a_path_that_travels() -> None:
    file = TraceFile("a.csv", MAPPED)
    assert file == "a.csv"
    again = pickle.loads(pickle.dumps(file))
    assert (again, again.options) == (file, MAPPED)


# Faults -----------------------------------------------------------------------------------

EXPECTED = {
    "lm-eval": "expected a row of lm-evaluation-harness (doc_id, arguments, resps), found",
    "openai": "expected a chat completion (choices), a response (output) or a line of batch output "
    "(custom_id, response), found",
    "vllm": "expected a RequestOutput of vLLM (request_id, prompt, outputs), found",
}
OTHERS = {
    "an object": ({"id": "x", "mood": 1}, "an object with id, mood"),
    "an empty object": ({}, "an empty object"),
    "a list": ([1], "a list that starts with a number"),
    "a text": ("x", "a text"),
    "nothing": (None, "nothing"),
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("form", EXPECTED)
def test_a_wrong_record_says_what_was_expected_and_found(
    form: str, other: str, tmp_path: Path
) -> None:
    value, found = OTHERS[other]
    make = {"lm-eval": lm_eval_row, "vllm": vllm_output}.get(form, batch_output)
    rows = [make(TRACES[0]), value, b'{"doc_id"', make(TRACES[1])]
    path = lines(tmp_path / "in.jsonl", *rows)
    reading = ReadOptions(form, mapping=(("scene", "id"),) if form == "openai" else ())
    assert faults(path, reading) == [
        f"in.jsonl:2: {EXPECTED[form]} {found}",
        "in.jsonl:3: not valid JSON: EOF while parsing an object at line 1 column 9",
    ]
    assert len(read(path, reading)) == 4


NAMES = ["text", "token_ids", "logprobs", "message", "content", "choices", "gen_args_0", "arg_0"]
NAMES += ["body", "role", "output", "1", "token", "top_logprobs", "error", "raw", "from", "value"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(NAMES),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
ROWS = {
    "lm-eval": ("doc_id", "arguments", "resps", "filter", "target"),
    "chat": ("id", "messages", "conversations", "system", "completion"),
    "prompt-completion": ("prompt", "instruction", "input", "completion", "output"),
    "langfuse": ("id", "traceId", "type", "input", "output", "metadata", "level"),
    "promptfoo": ("id", "prompt", "vars", "response", "testCase", "provider", "error"),
    "openai": ("custom_id", "response", "error", "choices", "messages", "request", "id"),
    "vllm": ("request_id", "prompt", "outputs"),
    "symbouq": ("id", "scene", "question", "response", "prompt"),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", ROWS)
def test_any_values_are_read_or_refused(
    form: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("fuzz")

    @given(st.fixed_dictionaries({}, optional=dict.fromkeys(ROWS[form], JSON)))
    @settings(max_examples=150)
    def check(row: dict[str, Any]) -> None:
        path = lines(folder / "in.jsonl", row)
        faults(path, ReadOptions(form, mapping=(("model", "model"),) if form == "symbouq" else ()))
        path = array(folder / "in.json", row)
        faults(path, ReadOptions(form, mapping=(("model", "model"),) if form == "symbouq" else ()))

    check()


@given(st.binary(max_size=200))
@settings(max_examples=150)
def test_any_bytes_are_survived(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "in"
    path.write_bytes(b" " + content)
    for form in ("lm-eval", "inspect", "openai", "vllm", "csv", "langfuse", "promptfoo"):
        faults(str(path), ReadOptions(form))


@pytest.mark.slow
def test_memory_does_not_grow_with_an_array(tmp_path: Path) -> None:
    path = tmp_path / "big.json"
    sample = json.dumps({**vllm_output(TRACES[0]), "pad": "x" * 20_000})
    with path.open("w") as stream:
        stream.write("[" + ",".join([sample] * 3000) + "]")
    code = (
        "import resource, sys\n"
        "from symbouq.io.stream import read_lines\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "count = sum(1 for _ in read_lines(sys.argv[1]))\n"
        "print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    count, grown = map(int, done.stdout.split())
    assert count == 3000
    assert path.stat().st_size > 60_000_000
    assert grown < 8_000  # KiB


# The command line -------------------------------------------------------------------------


def test_audit_and_parse_take_the_options(tmp_path: Path) -> None:
    path = lines(tmp_path / "own.jsonl", *map(renamed, TRACES))
    maps = [f"--map={field}={source}" for field, source in MAPPED.mapping]
    result = run("audit", path, *maps)
    assert result.exit_code == 0, result.stderr
    parsed = tmp_path / "parsed.jsonl"
    assert run("parse", path, *maps, "--out", parsed).exit_code == 0
    piped = run("audit", parsed)
    for first, second in zip(result.stdout.splitlines(), piped.stdout.splitlines(), strict=True):
        one, other = json.loads(first), json.loads(second)
        del one["source"], other["source"]
        assert one == other


def test_explain_and_counterfactual_take_the_options(tmp_path: Path) -> None:
    path = lines(tmp_path / "dump.jsonl", *map(vllm_output, TRACES))
    assert "1. The oven is above the sink." in run("explain", path, "--id", "1").stdout
    path = lines(tmp_path / "own.jsonl", *map(renamed, TRACES))
    maps = [f"--map={field}={source}" for field, source in MAPPED.mapping]
    result = run("explain", path, "--id", "1", *maps)
    assert result.exit_code == 0, result.stderr
    assert "[oven above sink]" in result.stdout
    result = run("counterfactual", path, *maps)
    assert result.exit_code == 0, result.stderr
    assert len(result.stdout.splitlines()) == len(TRACES)


def test_rules_diff_recognises_its_corpus(tmp_path: Path) -> None:
    path = lines(tmp_path / "dump.jsonl", *map(vllm_output, TRACES))
    result = run("rules", "diff", "builtin", "builtin", "--corpus", path)
    assert "0 verdicts flip in 0 of 3 traces" in result.stdout


def test_faults_have_file_and_line_and_exit_code_1(tmp_path: Path) -> None:
    path = lines(tmp_path / "dump.jsonl", vllm_output(TRACES[0]), {"request_id": "2"})
    result = run("audit", path, "--jobs", "1")
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 1
    assert f"{path}:2: expected a RequestOutput of vLLM" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "yaml"], "'yaml' is not one of 'symbouq', 'anthropic',"),
        (["--map", "scen=x"], "did you mean scene?"),
        (["--prompt-split", "x"], "a group (?P<scene>...) is missing"),
        (["--batch-input", "nowhere"], "does not exist"),
    ],
)
def test_wrong_options_give_exit_code_2(arguments: list[str], message: str, tmp_path: Path) -> None:
    path = lines(tmp_path / "own.jsonl", *TRACES)
    result = run("audit", path, *arguments, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_no_data_set_is_refused(tmp_path: Path) -> None:
    result = run("audit", tmp_path)
    assert result.exit_code == 2
    assert f"{tmp_path}: is a folder; of folders, those are read that" in result.stderr
    assert faults(str(tmp_path))[0].endswith(":1: is a folder; this format is read from a file")


def test_a_folder_of_logs_is_its_logs(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    lines(tmp_path / "b" / "samples_x.jsonl", lm_eval_row(TRACES[0]))
    scores = {"results": {"x": {}}, "configs": {}}
    (tmp_path / "b" / "results_x.json").write_text(json.dumps(scores))
    array(tmp_path / "c.json", vllm_output(TRACES[1]))
    own = Path(lines(tmp_path / "a.jsonl", TRACES[2])).read_bytes()
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(own))
    for name in ("_d.jsonl", ".e.jsonl", "f.txt"):
        lines(tmp_path / name, TRACES[2])
    names = [tmp_path / n for n in ("a.jsonl", "a.jsonl.gz", "b/samples_x.jsonl", "c.json")]
    assert [*trace_files([str(tmp_path)], ReadOptions())] == [str(name) for name in names]
    result = run("audit", tmp_path)
    assert result.exit_code == 0, result.stderr
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(audit["id"], audit["source"]["file"]) for audit in found] == [
        (identity, str(name)) for identity, name in zip("3312", names, strict=True)
    ]


def test_output_must_not_be_the_input_of_the_batch(tmp_path: Path) -> None:
    file = WRITERS["openai, batch"](tmp_path, TRACES)
    requests = str(file.options.batch_input)
    result = run("audit", file, "--batch-input", requests, "--out", requests)
    assert result.exit_code == 2
    assert "is one of the input files" in result.stderr


@pytest.mark.parametrize("form", ["parquet", "hf", "inspect"])
def test_a_missing_package_is_named(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, extra = {
        "parquet": ("pyarrow", "formats"),
        "hf": ("datasets", "formats"),
        "inspect": ("inspect_ai", "inspect"),
    }[form]
    for module in [m for m in sys.modules if m.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(sys, "meta_path", [_Without(package), *sys.meta_path])
    path = tmp_path / "in"
    if form == "hf":
        path.mkdir()
        (path / "state.json").write_text("{}")
    else:
        path.write_bytes(b"PAR1" if form == "parquet" else b"PK\x03\x04")
    options = [] if form != "inspect" else ["--format", "inspect"]
    result = run("audit", path, *options)
    assert result.exit_code == 2
    told = f"needs the extra `{extra}` ({package}): {install_command(extra)}"
    assert told in " ".join(result.stderr.split())
    reading = ReadOptions("inspect" if form == "inspect" else None)
    (fault,) = faults(str(path), reading)
    assert fault.startswith("in:1: ")
    assert told in fault


class _Without:
    """Makes a package look as if it were not installed."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] == self.package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=self.package)


@pytest.mark.slow
def test_a_pipe_is_opened_once(tmp_path: Path) -> None:
    path = lines(tmp_path / "dump.jsonl", *map(vllm_output, TRACES))
    code = "import sys; from symbouq_cli.main import main; main(sys.argv[1:])"
    done = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -c "{code}" audit <(cat "{path}")'],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3


def test_unreadable_files_are_left_to_the_reading(tmp_path: Path) -> None:
    (tmp_path / "in.gz").write_bytes(b"\x1f\x8bxx")
    (file,) = trace_files([str(tmp_path / "in.gz")], ReadOptions())
    (fault,) = faults(file)
    assert fault.startswith("in.gz:1: compressed file is damaged")


def test_nothing_is_loaded_that_is_not_needed() -> None:
    code = (
        "import sys\n"
        "from symbouq_cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in sys.modules if m.startswith('symbouq.io.adapters.') or m == 'pydantic'])\n"
        "from symbouq.io.stream import read_lines\n"
        f"print(len(list(read_lines({str(Path(__file__).parents[3] / 'examples/traces.jsonl')!r}))))\n"
        "heavy = ('pyarrow', 'datasets', 'inspect_ai', 'pandas', 'spacy')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-3:] == ["[]", "10", "[]"]


def test_inputs_say_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="standard input"):
        _ = Input("-", None).file
    assert Input("A/B.CSV.gz", None).suffix == ".csv"
