"""Traces as the evidence reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.commands import write_lines

from symbouq.errors import RecordError, SymboUQError
from symbouq.evidence.signals.traces import ById, claim_texts, read_records, with_claims

AUDIT = {"id": "t", "claims": [{"text": "one"}, {"text": "two"}]}


def test_structured_traces_bring_their_claims() -> None:
    record = {"id": "t", "reasoning": ["a"], "conclusion": "b"}
    assert claim_texts(record, AUDIT) == ("a", "b")
    assert claim_texts({"id": "t", "conclusion": "b"}) == ("b",)
    assert with_claims(record, AUDIT) == record


def test_other_responses_have_those_of_their_audit() -> None:
    record = {"id": "t", "response": "one two"}
    assert claim_texts(record, AUDIT) == ("one", "two")
    given = with_claims(record, AUDIT)
    assert (given["reasoning"], given["conclusion"], given["segmented"]) == (["one"], "two", True)
    with pytest.raises(RecordError, match="trace t"):
        claim_texts(record)


def test_an_output_that_is_not_valid_has_an_empty_conclusion() -> None:
    record = {"id": "t", "response": "{", "generation": {"status": "truncated"}}
    assert claim_texts(record) == ("",)
    assert claim_texts(record, AUDIT) == ("one", "two")


def test_lines_that_are_no_record_are_errors_in_place(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": "a"}\n[1]\n\n{"id": 3}\n{\n{"id": "b"}\n')
    found = [
        (item.line, item.message[:8]) if isinstance(item, RecordError) else item.record["id"]
        for item in read_records(path)
    ]
    assert found == ["a", (2, "a record"), (4, "a record"), (5, "not vali"), "b"]


def test_records_are_found_by_id_in_any_order_and_once(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", *({"id": i} for i in "abcd"))
    by_id = ById(path, "audits")
    assert [by_id.find(i) for i in "cadx"] == [{"id": "c"}, {"id": "a"}, {"id": "d"}, None]
    assert by_id.find("c") is None
    path.write_text("{\n")
    with pytest.raises(SymboUQError, match=r"a.jsonl:1: audits: not valid JSON"):
        ById(path, "audits").find("a")
