"""The records' schema."""

from __future__ import annotations

from symbouq.records import json_schema
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
