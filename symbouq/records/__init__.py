"""Input and output records, one JSON object per line.

Every field is documented in its schema; `json_schema()` exports the schemas. Unknown fields of an
input record are ignored, but kept.
"""

from symbouq.records.answer import AnswerRecord
from symbouq.records.audit import (
    SCHEMA_VERSION,
    Answers,
    Audit,
    ClaimAudit,
    Context,
    FeatureRecord,
    OntologyRecord,
    ProfileRecord,
    SceneAudit,
    VerdictName,
)
from symbouq.records.base import AnyRecord, make_record, parse_record
from symbouq.records.reading import (
    ReadingsRecord,
    RelationReading,
    Reply,
    SentenceReading,
    Stance,
    StoredReading,
)
from symbouq.records.reliability import Reliability
from symbouq.records.schema import RECORDS, json_schema
from symbouq.records.trace import (
    ClaimRecord,
    ClaimType,
    ClauseRecord,
    Instance,
    Relation,
    RelationRecord,
    Trace,
)

__all__ = [
    "AnswerRecord",
    "AnyRecord",
    "Audit",
    "ClaimAudit",
    "ClaimRecord",
    "ClaimType",
    "ClauseRecord",
    "Context",
    "FeatureRecord",
    "Instance",
    "OntologyRecord",
    "ProfileRecord",
    "RECORDS",
    "ReadingsRecord",
    "Relation",
    "RelationReading",
    "RelationRecord",
    "Reliability",
    "Reply",
    "SCHEMA_VERSION",
    "Answers",
    "SceneAudit",
    "SentenceReading",
    "Stance",
    "StoredReading",
    "Trace",
    "VerdictName",
    "json_schema",
    "make_record",
    "parse_record",
]
