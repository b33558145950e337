"""The records' schema."""

from __future__ import annotations

import json

import pytest

from symbouq.records import Trace, json_schema, make_record
from symbouq.records.features import CLAIM_FEATURES, TRACE_FEATURES


def test_schema_documents_every_field_and_names_the_features() -> None:
    schema = json_schema()
    assert set(schema) == {
        "trace",
        "question",
        "audit",
        "answer",
        "reliability",
        "reading",
    }
    for model in schema.values():
        for definition in (model, *model.get("$defs", {}).values()):
            for name, field in definition.get("properties", {}).items():
                assert field.get("description"), name
    features = schema["audit"]["$defs"]["FeatureRecord"]["properties"]
    assert features["claims"]["names"] == list(CLAIM_FEATURES)
    assert features["trace"]["names"] == list(TRACE_FEATURES)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("left \ud83d", "left \ufffd"),  # a character cut in two
        ("\udfff left", "\ufffd left"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
        ("a backslash, \\ud800", "a backslash, \\ud800"),
    ],
)
def test_half_of_a_character_is_replaced_in_fields_of_a_record(written: str, kept: str) -> None:
    fields = {"id": written, "scene": [written], "response": written, "answer_space": [written]}
    trace = make_record(Trace, fields)
    assert [trace.id, trace.scene, trace.response, trace.answer_space] == [
        *(kept, [kept], kept, [kept])
    ]
    assert json.loads(trace.model_dump_json())["response"] == kept
