"""A page or a table on which people judge reasoning steps.

Both contain the same information as the prompt for a judge model, without the answer.
`labels.human` reads the saved table.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from symbouq.errors import RecordError
from symbouq.evidence.labels.judge import INSTRUCTION
from symbouq.records.generated import Record
from symbouq.report.page import page

_COLUMNS = ("id", "claim", "label", "text", "scene", "question")


def shown(record: Record) -> dict[str, Any]:
    """Return the part of a trace that is needed to judge its steps.

    Raises:
        RecordError: If the scene is not given as text.
    """
    scene = record.get("scene")
    if not scene:
        raise RecordError(f"trace {record['id']}: people need `scene` in text")
    return {
        "id": record["id"],
        "scene": scene if isinstance(scene, str) else " ".join(scene),
        "question": record.get("question") or "",
        "steps": list(record["reasoning"]),
    }


def drawn(records: Iterable[Record], number: int, seed: int) -> list[Record]:
    """Draw up to `number` traces with steps from each dataset. The ids with the smallest seeded
    hashes are selected.
    """

    def place(record: Record) -> bytes:
        return hashlib.sha256(f"{seed} {record['id']}".encode()).digest()

    taken: Counter[Any] = Counter()
    chosen = []
    for record in sorted((r for r in records if r["reasoning"]), key=place):
        if taken[record.get("dataset")] < number:
            taken[record.get("dataset")] += 1
            chosen.append(record)
    return chosen


def table(traces: Sequence[dict[str, Any]]) -> bytes:
    """Write a CSV table with one row per step and an empty label, from the results of `shown`."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for trace in traces:
        for claim, text in enumerate(trace["steps"], start=1):
            writer.writerow((trace["id"], claim, "", text, trace["scene"], trace["question"]))
    return out.getvalue().encode("utf-8-sig")  # Excel needs the byte order mark


def annotation_page(traces: Sequence[dict[str, Any]]) -> bytes:
    """Build a page from the results of `shown`. It asks for a label for each step and saves a
    table.
    """
    key = hashlib.sha256(json.dumps(traces).encode()).hexdigest()
    data = {"instruction": INSTRUCTION, "traces": traces, "key": key}
    return b"".join(page("Reasoning steps", "annotate", data))
