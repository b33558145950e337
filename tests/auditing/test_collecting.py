from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers.plain_readings import plain_reply

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.collecting import Collector, Tally
from symbouq.errors import RecordError, SymboUQError
from symbouq.io.chat import Answer, Message, UnansweredError
from symbouq.io.readings import ReadingsFile
from symbouq.io.settings import ReaderSettings
from symbouq.io.stream import Line
from symbouq.records import Trace, parse_record

SCENE = ["The cup is left of the jug."]


class Plain:
    """Reads plain sentences, unless told to fail."""

    model = "plain"

    def __init__(self, *faults: Exception | None) -> None:
        self.faults = list(faults)
        self.asked: list[str] = []
        self.lock = threading.Lock()

    def ask(
        self, messages: Sequence[Message], schema: Mapping[str, Any], most: int, sample: int
    ) -> Answer:
        with self.lock:
            self.asked.append(messages[1]["content"])
            fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            raise fault
        return Answer(plain_reply({"messages": messages}), 100, 10)


def line(identity: str, number: int = 1, **fields: Any) -> Line:
    record = {
        "id": identity,
        "scene": SCENE,
        "question": "",
        "response": "The jug is right of the cup.",
    }
    return Line("t.jsonl", number, json.dumps({**record, **fields}).encode())


def collect(
    path: Path, asker: Plain | None, lines: Sequence[Any], both: bool = False, **how: Any
) -> tuple[list[Any], Tally]:
    settings = ReaderSettings(**{"samples": 1, "concurrency": 1, **how})
    with (
        ReadingsFile(path, grows=asker is not None) as file,
        Collector(TraceAuditor(), file, "plain", asker, settings, both) as collector,
    ):
        return collector.batch(list(lines)), collector.tally


def test_lines_get_their_readings(tmp_path: Path) -> None:
    asker = Plain()
    (got,), tally = collect(tmp_path / "r.jsonl", asker, [line("one")], samples=2, both=True)
    readings = json.loads(got.content)["readings"]
    assert (readings["model"], readings["second_opinion"]) == ("plain", True)
    assert [len(samples) for samples in readings["replies"]] == [2, 2]
    assert readings["replies"][1][0]["sentences"][0]["relations"][0]["relation"] == "right"
    assert tally == Tally(traces=1, asked=4, prompt_tokens=400, reply_tokens=40)
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == 4


def test_sentences_are_asked_alone(tmp_path: Path) -> None:
    asker = Plain()
    (got,), _ = collect(tmp_path / "r.jsonl", asker, [line("one", scene=SCENE * 2)], alone=True)
    readings = json.loads(got.content)["readings"]
    assert readings["alone"] and len(readings["replies"]) == 3
    assert len(asker.asked) == 2  # the same sentence is asked once
    assert all("things" not in json.loads(asked) for asked in asker.asked)
    audit = TraceAuditor().audited(parse_record(Trace, got.content))
    assert audit["claims"][0]["verdict"] == "entailed"


def test_what_is_kept_is_not_asked_again(tmp_path: Path) -> None:
    first, _ = collect(tmp_path / "r.jsonl", Plain(), [line("one")])
    asker = Plain()
    again, tally = collect(tmp_path / "r.jsonl", asker, [line("one")])
    assert (again, asker.asked, tally.kept) == (first, [], 2)
    replayed, _ = collect(tmp_path / "r.jsonl", None, [line("one")])
    assert replayed == first


def test_traces_share_the_reading_of_their_scene(tmp_path: Path) -> None:
    lines = [line(str(n), n, response=f"The jug is right of the cup. So {n}.") for n in range(8)]
    asker = Plain()
    collect(tmp_path / "r.jsonl", asker, lines, concurrency=8)
    assert len([asked for asked in asker.asked if '"S1"' in asked]) == 1


def test_a_failure_costs_its_trace_alone_and_the_next_run_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    asker = Plain(None, UnansweredError("busy"), None)
    got, tally = collect(
        path, asker, [line("one"), line("two", 2, scene=["The pan is above the cup."])]
    )
    assert isinstance(got[0], RecordError) and str(got[0]) == "t.jsonl:1: not read: busy"
    assert isinstance(got[1], Line)
    assert (tally.traces, tally.failed) == (1, 1)
    asker = Plain()
    (again,), _ = collect(path, asker, [line("one")])
    assert isinstance(again, Line)
    assert len(asker.asked) == 1  # its scene was kept


def test_a_dead_endpoint_is_not_asked_for_ever(tmp_path: Path) -> None:
    asker = Plain(*[UnansweredError("gone")] * 100)
    lines = [line(str(n), n, scene=[f"Cup {n} is here."]) for n in range(1, 20)]
    got, tally = collect(tmp_path / "r.jsonl", asker, lines)
    assert len(asker.asked) == 5
    assert all(isinstance(item, RecordError) for item in got) and tally.failed == 19
    assert {item.message for item in got} == {"not read: gone"}


def test_replies_that_cannot_be_used_are_none_that_are_missing(tmp_path: Path) -> None:
    asker = Plain()
    asker.ask = lambda *_: Answer("{", 1, 1, cut=True)  # type: ignore[method-assign]
    lines = [line(str(n), n, scene=[f"Cup {n} is here."]) for n in range(1, 10)]
    got, _ = collect(tmp_path / "r.jsonl", asker, lines)
    assert all("was cut" in item.message for item in got)


def test_what_cannot_be_kept_is_not_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise SymboUQError("cannot be written: disk full", "r.jsonl")

    monkeypatch.setattr(ReadingsFile, "add", full)
    asker = Plain()
    got, _ = collect(tmp_path / "r.jsonl", asker, [line("one"), line("two", 2)])
    assert len(asker.asked) == 1
    assert all("disk full" in item.message for item in got)


def test_a_fault_of_ours_costs_its_record_alone(tmp_path: Path) -> None:
    got, _ = collect(
        tmp_path / "r.jsonl", Plain(RuntimeError("oops")), [line("one"), line("two", 2)]
    )
    assert "internal error" in got[0].message and isinstance(got[1], Line)


def test_a_refusal_ends_the_asking(tmp_path: Path) -> None:
    asker = Plain(SymboUQError("wrong key"))
    got, _ = collect(tmp_path / "r.jsonl", asker, [line("one"), line("two", 2)])
    assert len(asker.asked) == 1
    assert [item.message for item in got] == ["not read: wrong key"] * 2


def test_an_interrupt_keeps_what_is_under_way_and_asks_no_more(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    asker, under_way, go_on = Plain(), threading.Event(), threading.Event()
    ask = asker.ask

    def slow(*arguments: Any) -> Answer:
        under_way.set()
        go_on.wait()
        return ask(*arguments)

    asker.ask = slow  # type: ignore[method-assign]
    with (
        ReadingsFile(path) as file,
        pytest.raises(KeyboardInterrupt),
        Collector(
            TraceAuditor(), file, "plain", asker, ReaderSettings(samples=1, concurrency=1)
        ) as collector,
    ):
        collector._threads.submit(collector._line, line("one"))
        under_way.wait()
        threading.Timer(0.1, go_on.set).start()
        raise KeyboardInterrupt
    assert len(asker.asked) == 1
    assert len(path.read_text().splitlines()) == 1


def test_the_budget_bounds_what_is_asked(tmp_path: Path) -> None:
    lines = [line(str(n), n, scene=[f"Cup {n} is here."]) for n in range(1, 5)]
    got, tally = collect(tmp_path / "r.jsonl", Plain(), lines, token_budget=300)
    assert tally.asked == 3
    assert [isinstance(item, Line) for item in got] == [True, True, False, False]
    assert "300 tokens" in got[-1].message


def test_without_a_model_other_versions_will_do(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    collect(path, Plain(), [line("one")])
    path.write_text(path.read_text().replace('"prompt":"', '"prompt":"old'))
    (got,), tally = collect(path, None, [line("one")])
    assert isinstance(got, Line) and tally.other == 2
    (missing,), _ = collect(path, None, [line("one", scene=["Another scene."])])
    assert "has no reading 1 of its scene by plain" in missing.message


def test_readings_by_earlier_instructions_serve_where_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    collect(path, Plain(), [line("one")])
    version = json.loads(path.read_text().splitlines()[0])["prompt"]
    other = version[:8] + "0" * 8, "0" * 8 + version[8:]
    for prompt, ontology, asked in ((other[0], "x" * 64, 0), (other[1], None, 2)):
        records = [json.loads(each) for each in path.read_text().splitlines()[:2]]
        told = {"prompt": prompt, **({"ontology": ontology} if ontology else {})}
        path.write_text("".join(json.dumps({**each, **told}) + "\n" for each in records))
        asker = Plain()
        (got,), tally = collect(path, asker, [line("one")], reuse=True)
        assert isinstance(got, Line)
        assert (len(asker.asked), tally.other) == (asked, 2 - asked)
    asker = Plain()
    collect(path, asker, [line("one")])
    assert len(asker.asked) == 0  # kept by the last run


def test_records_that_need_no_reading_go_on_as_they_are(tmp_path: Path) -> None:
    given = [
        Line("t.jsonl", 1, b"not json"),
        RecordError("torn", "t.jsonl", 2),
        line("three", 3, scene_relations=[], claims=[]),
    ]
    asker = Plain()
    got, _ = collect(tmp_path / "r.jsonl", asker, given)
    assert got == given and asker.asked == []


def test_texts_of_events_are_not_for_a_model(tmp_path: Path) -> None:
    (got,), _ = collect(tmp_path / "r.jsonl", Plain(), [line("one", profile="event")])
    assert "reads events" in got.message


@pytest.mark.parametrize("reader", ["model", "both"])
def test_readings_are_audited(tmp_path: Path, reader: str) -> None:
    (got,), _ = collect(tmp_path / "r.jsonl", Plain(), [line("one")], both=reader == "both")
    from symbouq.records import Trace, parse_record

    audit = TraceAuditor().audited(parse_record(Trace, got.content))
    assert audit["claims"][0]["verdict"] == "entailed"
    assert (audit["reader"]["model"], bool(audit["reader"]["pipeline"])) == (
        "plain",
        reader == "both",
    )


# What is not asked, and what is asked together --------------------------------------------


def steps(identity: str, number: int, *claims: str, scene: Sequence[str] = SCENE) -> Line:
    """A line with steps and a conclusion."""
    *reasoning, last = claims
    return line(identity, number, scene=scene, response=None, reasoning=reasoning, conclusion=last)


def claims_asked(asker: Plain) -> list[dict[str, str]]:
    asked = [json.loads(message)["sentences"] for message in asker.asked]
    return [texts for texts in asked if "S1" not in texts]


def test_the_model_reads_what_the_parser_leaves_undecided(tmp_path: Path) -> None:
    lines = [
        steps("none", 1, "The jug is right of the cup.", "The cup is right of the jug."),
        steps("some", 2, "The jug is right of the cup.", "The pan is inside the cup."),
    ]
    asker = Plain()
    how = {"both": True, "ask": "undecided"}
    (first, second), tally = collect(tmp_path / "r.jsonl", asker, lines, **how)
    assert first == lines[0]
    assert claims_asked(asker) == [{"C2": "The pan is inside the cup."}]
    assert (tally.left, tally.asked, tally.traces) == (3, 2, 2)
    assert json.loads(second.content)["readings"]["left"] == ["C1"]
    audit = TraceAuditor().audited(parse_record(Trace, second.content))
    assert [claim["verdict"] for claim in audit["claims"]] == ["entailed", "unknown"]
    again, tally = collect(tmp_path / "r.jsonl", None, lines, **how)
    assert again == [first, second] and (tally.asked, tally.kept) == (0, 2)


def test_the_model_reads_all_claims_where_the_parser_has_no_say(tmp_path: Path) -> None:
    asker = Plain()
    _, tally = collect(
        tmp_path / "r.jsonl",
        asker,
        [steps("one", 1, "The cup is left of the jug.")],
        ask="undecided",
    )
    assert len(claims_asked(asker)) == 1 and tally.left == 0


def test_claims_about_one_scene_are_asked_together(tmp_path: Path) -> None:
    lines = [
        steps("one", 1, "The cup is left of the jug.", "The jug is right of the cup."),
        steps("two", 2, "The jug is left of the cup."),
        steps("other", 3, "The pan is above the cup.", scene=["The pan is above the cup."]),
    ]
    asker, apart = Plain(), Plain()
    shared, tally = collect(tmp_path / "r.jsonl", asker, lines, share=True)
    assert {"C1", "C2", "C101"} in [set(texts) for texts in claims_asked(asker)]
    assert (tally.asked, len(asker.asked)) == (4, 4)  # two scenes, two requests about claims
    assert shared == collect(tmp_path / "apart.jsonl", apart, lines)[0]
    assert len(apart.asked) == 5
    again, tally = collect(tmp_path / "r.jsonl", Plain(), lines)
    assert again == shared and tally.asked == 0


def test_what_is_not_answered_together_is_asked_alone(tmp_path: Path) -> None:
    lines = [steps("one", 1, "Cup left."), steps("two", 2, "The jug is left of the cup.")]
    asker = Plain(None, UnansweredError("busy"))
    got, _ = collect(tmp_path / "r.jsonl", asker, lines, share=True)
    assert all(isinstance(item, Line) for item in got)
    assert [set(texts) for texts in claims_asked(asker)] == [{"C1", "C101"}, {"C1"}, {"C1"}]


def test_long_answers_are_not_all_asked_at_once(tmp_path: Path) -> None:
    lines = [
        steps(str(n), n, *(f"The cup {n} is left of the jug {m}." for m in range(10)))
        for n in range(1, 6)
    ]
    asker = Plain()
    collect(tmp_path / "r.jsonl", asker, lines, share=True)
    assert [len(texts) for texts in claims_asked(asker)] == [20, 20, 10]
