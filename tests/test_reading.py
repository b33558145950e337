"""`--reader model` of the commands, with a server on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from helpers.chat_server import asked_sentences, chat_server, completion
from helpers.extras import need_models
from helpers.plain_readings import plain_reply
from symbouq_cli.main import main

from symbouq.ontology.library import OntologyLibrary
from symbouq.records import StoredReading, parse_record

TRACES = [
    {
        "id": name,
        "scene": [f"The {name} is left of the jug.", "The jug is left of the pan."],
        "question": "",
        "reasoning": [f"The {name} is left of the pan.", f"The pan is not left of the {name}."],
        "conclusion": f"The {name} is right of the pan.",
        "profile": "everyday",
    }
    for name in ("cup", "tin", "mug")
]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--jobs", "1"], catch_exceptions=False)


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "traces.jsonl"
    file.write_text("".join(json.dumps(trace) + "\n" for trace in TRACES))
    return file


def settings(**values: Any) -> list[str]:
    """The option that names a file with these settings; JSON is YAML as well."""
    Path("reader.yaml").write_text(json.dumps(values))
    return ["--reader-settings", "reader.yaml"]


def audits(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_an_audit_by_a_model_is_repeated_without_it_byte_by_byte(traces: Path) -> None:
    with chat_server(plain_reply) as server:
        result = run(
            "audit",
            str(traces),
            "--out",
            "first.jsonl",
            "--reader",
            "model",
            "--endpoint",
            server.url,
            "--model",
            "plain",
            *settings(price=[1, 10]),
        )
    assert result.exit_code == 0, result.output
    assert "read by plain: 3 traces; 12 replies requested" in result.output
    assert "1,200 tokens read, 120 written; cost 0.00" in result.output
    first = audits(Path("first.jsonl"))
    assert [[c["verdict"] for c in audit["claims"]] for audit in first] == [
        ["entailed", "entailed", "contradicted"]
    ] * 3
    assert {audit["reader"]["model"] for audit in first} == {"plain"}
    again = run("audit", str(traces), "--out", "again.jsonl", "--reader", "model")
    assert again.exit_code == 0, again.output
    assert Path("again.jsonl").read_bytes() == Path("first.jsonl").read_bytes()


def test_what_the_parser_decides_is_not_asked(traces: Path) -> None:
    how = settings(samples=1, ask="undecided")
    with chat_server(plain_reply) as server:
        asked = ("--endpoint", server.url, "--model", "plain", *how)
        result = run("audit", str(traces), "--out", "first.jsonl", "--reader", "both", *asked)
        assert "0 replies requested" in result.output and "decided by the parser" in result.output
        refused = run("audit", str(traces), "--out", "no.jsonl", "--reader", "model", *asked)
    assert refused.exit_code == 2 and "needs --reader both" in refused.output


def test_what_is_edited_in_a_reading_is_audited(traces: Path) -> None:
    with chat_server(plain_reply) as server:
        run(
            "audit",
            str(traces),
            "--out",
            "first.jsonl",
            "--reader",
            "model",
            "--endpoint",
            server.url,
            "--model",
            "plain",
            *settings(samples=1, concurrency=1),
        )
    file = Path("readings.jsonl")
    lines = file.read_text().splitlines()
    edited = lines[0].replace(
        '"relation":"left","object":"t2"', '"relation":"right","object":"t2"', 1
    )
    file.write_text("\n".join([edited, *lines[1:]]) + "\n")
    run("audit", str(traces), "--out", "again.jsonl", "--reader", "model", *settings(samples=1))
    before, after = (
        audits(Path(name))[0]["claims"][0]["verdict"] for name in ("first.jsonl", "again.jsonl")
    )
    assert (before, after) == ("entailed", "unknown")
    compared = run_compare("first.jsonl", "again.jsonl")
    assert compared.exit_code == 1 and "entailed" in compared.output


def run_compare(*files: str) -> Result:
    return CliRunner().invoke(main, ["compare", *files], catch_exceptions=False)


def test_a_server_that_dies_loses_nothing(traces: Path) -> None:
    answered = 0

    def dying(body: dict[str, Any]) -> Any:
        nonlocal answered
        answered += 1
        return plain_reply(body) if answered <= 5 else (500, "out of memory")

    options = ["--reader", "model", "--model", "plain", *settings(retries=0, concurrency=1)]
    with chat_server(dying) as server:
        result = run(
            "audit", str(traces), "--out", "first.jsonl", "--endpoint", server.url, *options
        )
    assert result.exit_code == 1
    assert [audit["id"] for audit in audits(Path("first.jsonl"))] == ["cup"]
    assert "traces.jsonl:2: not read: " in result.output and "out of memory" in result.output
    assert len(Path("readings.jsonl").read_text().splitlines()) == 5
    with chat_server(plain_reply) as server:
        result = run(
            "audit", str(traces), "--out", "second.jsonl", "--endpoint", server.url, *options
        )
        assert len(server.bodies) == 12 - 5
    assert result.exit_code == 0
    assert len(audits(Path("second.jsonl"))) == 3


@pytest.mark.parametrize("status", [401, 503])
def test_a_server_that_is_gone_is_told_once(traces: Path, status: int) -> None:
    traces.write_text(traces.read_text() * 6)
    with chat_server(lambda body: (status, "out of order")) as server:
        more = settings(retries=0, samples=1, concurrency=1)
        at = ["--endpoint", server.url, "--model", "small", *more]
        result = run("audit", str(traces), "--reader", "model", *at, "--out", "a.jsonl")
    told = [line for line in result.output.splitlines() if "out of order" in line]
    assert result.exit_code == 1 and len(told) == 2
    assert ":1: not read: " in told[0]
    assert "17 more records, from line 2 to line 18: not read: " in told[1]
    assert "0 tokens read, 0 written" in result.output


def test_progress_is_told_where_there_is_no_terminal(
    traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("symbouq_cli.reading._EVERY", 0)
    with chat_server(plain_reply) as server:
        at = ["--endpoint", server.url, "--model", "small", *settings(samples=1)]
        result = run("audit", str(traces), "--reader", "model", *at, "--out", "a.jsonl")
    assert result.exit_code == 0 and "traces read, " in result.output


def test_every_reading_command_takes_a_model(traces: Path) -> None:
    with chat_server(plain_reply) as server:
        options = ["--reader", "model", "--endpoint", server.url, "--model", "plain"]
        parsed = run("parse", str(traces), "--out", "parsed.jsonl", *options)
        questions = Path("questions.jsonl")
        record = {
            **TRACES[0],
            "question": "Is the cup left of the pan?",
            "answer_space": ["yes", "no"],
        }
        questions.write_text(
            json.dumps(
                {k: record[k] for k in ("id", "scene", "question", "answer_space", "profile")}
            )
        )
        answered = run("answer", str(questions), "--out", "answers.jsonl", *options)
    assert parsed.exit_code == 0, parsed.output
    audited = run("audit", "parsed.jsonl", "--out", "audits.jsonl")
    assert audited.exit_code == 0, audited.output
    assert audits(Path("audits.jsonl"))[0]["reader"]["model"] == "plain"
    direct = run("audit", str(traces), "--out", "direct.jsonl", "--reader", "model")
    assert direct.exit_code == 0, direct.output
    for one, other in zip(audits(Path("audits.jsonl")), audits(Path("direct.jsonl")), strict=True):
        assert {**one, "source": None} == {**other, "source": None}
    assert answered.exit_code == 0, answered.output
    assert audits(Path("answers.jsonl"))[0]["status"] == "unread"  # this model reads no questions


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--endpoint", "http://h/v1", "--model", "m"], "--reader model"),
        (["--reader", "model", "--endpoint", "http://h/v1"], "--model NAME"),
        (["--reader", "model", "--endpoint", "nowhere", "--model", "m"], "no address"),
        (["--reader", "model"], "cannot be read"),
        (["--reader-settings", "traces.jsonl"], "--reader model"),
        (["--reader", "model", "--out", "readings.jsonl"], "another output"),
        (["--reader", "model", "--report", "readings.jsonl"], "another output"),
    ],
)
def test_options_that_do_not_go_together(traces: Path, options: list[str], message: str) -> None:
    result = run("audit", str(traces), *options)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("alone: true\nsampels: 3\n", "reader.yaml:2: sampels: Extra inputs are not permitted"),
        ("price: [1, -2]\n", "reader.yaml:1: price.1: Input should be greater than or equal to 0"),
        ("readings: traces.jsonl\n", "readings traces.jsonl is one of the input files"),
        ("readings: reader.yaml\n", "readings reader.yaml is one of the input files"),
    ],
)
def test_faults_of_the_settings_are_named(traces: Path, text: str, message: str) -> None:
    Path("reader.yaml").write_text(text)
    options = ["--reader", "model", "--reader-settings", "reader.yaml"]
    result = run("audit", str(traces), *options)
    assert result.exit_code == 2
    assert message in result.output


def test_a_file_with_readings_of_several_models_asks_which(traces: Path) -> None:
    for model in ("small", "large"):
        with chat_server(plain_reply) as server:
            run(
                "audit",
                str(traces),
                "--out",
                "a.jsonl",
                "--reader",
                "model",
                "--endpoint",
                server.url,
                "--model",
                model,
            )
    which = run("audit", str(traces), "--reader", "model")
    assert which.exit_code == 2 and "readings by small, large" in which.output
    other = run("audit", str(traces), "--reader", "model", "--model", "huge")
    assert other.exit_code == 2 and "none by huge" in other.output
    assert (
        run(
            "audit", str(traces), "--out", "b.jsonl", "--reader", "model", "--model", "small"
        ).exit_code
        == 0
    )


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_models()
    from helpers.smollm2 import smollm2

    return smollm2(tmp_path_factory.mktemp("smollm2"))


def narrow(schema: Any, labels: list[str]) -> Any:
    """The schema with lists as short as it allows, and sentences of these labels alone: so small a
    model fills every list, and names any sentence.
    """
    if isinstance(schema, list):
        return [narrow(part, labels) for part in schema]
    if not isinstance(schema, dict):
        return schema
    narrower = {key: narrow(part, labels) for key, part in schema.items()}
    if "maxItems" in narrower:
        narrower["maxItems"] = narrower.get("minItems", 1)
    if isinstance(narrower.get("sentence"), dict):
        narrower["sentence"] = {"enum": labels}
    return narrower


@pytest.mark.slow
def test_the_whole_path_with_a_real_small_model(small_model: Path, traces: Path) -> None:
    """Our engine behind a server: whatever so small a model writes, it is of the schema."""
    from symbouq.evidence.generation.asking import EngineAsker
    from symbouq.evidence.generation.engine import Options
    from symbouq.evidence.generation.engines import load_engine

    asker = EngineAsker(
        "smollm2", lambda: load_engine("transformers", str(small_model), Options(device="cpu"))
    )

    def answering(body: dict[str, Any]) -> Any:
        schema = body["response_format"]["json_schema"]["schema"]
        schema = narrow(schema, list(asked_sentences(body)))
        answer = asker.ask(body["messages"], schema, body["max_tokens"], body["seed"])
        return completion(answer.text, "length" if answer.cut else "stop")

    trace = {
        "id": "one",
        "scene": ["The cup is above the jug."],
        "reasoning": [],
        "conclusion": "The jug is below the cup.",
    }
    traces.write_text(json.dumps(trace) + "\n")
    options = [
        "--reader",
        "both",
        *settings(samples=1, reply_tokens=1500, reply_timeout=900),
    ]
    with chat_server(answering) as server:
        result = run(
            "audit",
            str(traces),
            "--out",
            "first.jsonl",
            "--endpoint",
            server.url,
            "--model",
            "smollm2",
            *options,
        )
    assert result.exit_code == 0, result.output
    readings = [
        parse_record(StoredReading, line)
        for line in Path("readings.jsonl").read_bytes().splitlines()
    ]
    assert [reading.part for reading in readings] == ["scene", "claims"]
    known = OntologyLibrary().ontology().relations.family
    said = [r for reading in readings for s in reading.reply.sentences for r in s.relations]
    assert all(relation.relation in known for relation in said)
    assert run("audit", str(traces), "--out", "again.jsonl", *options).exit_code == 0
    assert Path("again.jsonl").read_bytes() == Path("first.jsonl").read_bytes()
