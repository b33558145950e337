"""Label delivered answers as correct or not, by deterministic matching.

No model is involved. The labels to which an answer commits (`symbouq.auditing.answers.matching`)
are compared with the benchmark's answer. Steps are not labelled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast, get_args

from symbouq.auditing.answers import (
    AnswerSpace,
    Delivered,
    Kind,
    agrees,
    delivered,
    labels_named,
    space_of,
)
from symbouq.errors import RecordError
from symbouq.reading.segments import chosen, lettered
from symbouq.records.generated import SEGMENTED, Record, is_structured, meta_of, status_of

SOURCE = "answer"
"""Name of this source of labels."""


def answer_labels(record: dict[str, Any]) -> list[int | None]:
    """Return the label of a trace's conclusion, preceded by None for each step.

    In a structured trace, the conclusion is the answer. In a free-form one, the whole response is
    searched. An invalid output contains no answer and counts as wrong.

    Args:
        record: The trace with its claims, `answer` and `answer_space`; `meta.answer_kind` gives the
            kind of answer (one label, a set or a sequence) if it is not the usual one for the
            labels.

    Raises:
        RecordError: If the trace has no right answer to compare with.
    """
    choices, answer = _asked(record)
    right = agrees(_committed(record, choices), answer, choices.kind)
    return [None] * len(record["reasoning"]) + [int(right)]


def answer_label(record: Record) -> int | None:
    """Return only the label of a trace's answer, structured or free-form.

    Args:
        record: The trace, as for `answer_labels`, but without claims.

    Raises:
        RecordError: If the trace has no right answer to compare with.
    """
    return answer_labels(_alone(record))[-1]


def committed(record: Record) -> Delivered:
    """Return the labels to which a trace's delivered answer commits, or None without a commitment.
    None counts as wrong.

    Args:
        record: The trace, as for `answer_label`.

    Raises:
        RecordError: If the trace has no right answer to compare with.
    """
    return _committed(_alone(record), _asked(record)[0])


def misfit(record: Record) -> str:
    """Explain why no delivered answer can be right: the right answer is not a label of the answer
    space. Empty if it is one.

    Args:
        record: The trace, as for `answer_label`.

    Raises:
        RecordError: If the trace has no right answer to compare with.
    """
    choices, answer = _asked(record)
    strange = [label for label in answer if label not in choices.labels]
    if not strange:
        return ""
    offered = ", ".join(choices.labels)
    return f"answer: {strange[0]!r} is no label of the answer space: {offered}"


def right_labels(answer: Any, space: Sequence[str]) -> tuple[str, ...]:
    """Return the right answer as labels of its answer space, even if it is a letter or is spelled
    differently ("Upper left" for `upper-left`). Return the answer unchanged if no label has its
    meaning.

    Args:
        answer: A label, or a list of them.
        space: The possible labels.
    """
    given = answer if isinstance(answer, list | tuple) else [answer]
    listed = lettered([*space])
    return tuple(
        label
        for each in map(str, given)
        for label in (labels_named(each, space) or (chosen(each, listed) or each,))
    )


def _alone(record: Record) -> dict[str, Any]:
    segmented = {} if is_structured(record) else {SEGMENTED: True}
    conclusion = record.get("conclusion") or ""
    return {**record, "reasoning": [], "conclusion": conclusion, **segmented}


def _asked(record: Record) -> tuple[AnswerSpace, tuple[str, ...]]:
    answer, space = record.get("answer"), record.get("answer_space")
    if answer is None or not isinstance(space, list) or not space:
        raise RecordError(f"trace {record['id']}: `answer` and `answer_space` are needed")
    kind = meta_of(record).get("answer_kind")
    choices = space_of(
        map(str, space),
        cast("Kind", kind) if kind in get_args(Kind) else None,
        str(record.get("dataset") or ""),
    )
    return choices, right_labels(answer, choices.labels)


def _committed(record: Record, choices: AnswerSpace) -> Delivered:
    """Return the labels of an answer; None for an invalid output."""
    if status_of(record) != "valid":
        return None
    text = (record.get("response") or "") if record.get(SEGMENTED) else record["conclusion"]
    return delivered(text, choices, record.get("question") or "")
