"""Whether the delivered answer is the right one, by deterministic matching.

No model is asked: the labels that a text commits to (`symbouq.auditing.matching`) are
compared with the benchmark's answer. Steps are not labelled.
"""

from __future__ import annotations

from typing import Any, cast, get_args

from symbouq.auditing.matching import Kind, agrees, delivered, space_of
from symbouq.errors import RecordError
from symbouq.records.generated import SEGMENTED, Record, is_structured, meta_of, status_of

SOURCE = "answer"
"""Name of the source."""


def answer_labels(record: dict[str, Any]) -> list[int | None]:
    """The label of a trace's conclusion, and None for each step.

    The answer of a structured trace is its conclusion, that of a free-form one is found in
    the whole response. An output that is not valid delivers no answer, which is wrong.

    Args:
        record: The trace with its claims, `answer` and `answer_space`; `meta.answer_kind`
            says whether an answer is one label, a set or a sequence, where that is not what
            is usual for the labels.

    Raises:
        RecordError: If the trace has no right answer to compare with.
    """
    answer, space = record.get("answer"), record.get("answer_space")
    if answer is None or not isinstance(space, list) or not space:
        raise RecordError(f"trace {record['id']}: `answer` and `answer_space` are needed")
    kind = meta_of(record).get("answer_kind")
    choices = space_of(
        map(str, space),
        cast("Kind", kind) if kind in get_args(Kind) else None,
        str(record.get("dataset") or ""),
    )
    text = (record.get("response") or "") if record.get(SEGMENTED) else record["conclusion"]
    right = status_of(record) == "valid" and agrees(
        delivered(text, choices, record.get("question") or ""), answer, choices.kind
    )
    return [None] * len(record["reasoning"]) + [int(right)]


def answer_label(record: Record) -> int | None:
    """The label of a trace's answer alone, whether it brings its claims or a response.

    Args:
        record: The trace, as `answer_labels` takes it but for its claims.

    Raises:
        RecordError: If the trace has no right answer to compare with.
    """
    segmented = {} if is_structured(record) else {SEGMENTED: True}
    conclusion = record.get("conclusion") or ""
    return answer_labels({**record, "reasoning": [], "conclusion": conclusion, **segmented})[-1]
