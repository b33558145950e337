"""Whether the delivered answer is the right one, by deterministic matching.

No model is asked: the labels that a text commits to (`symbouq.auditing.answers.matching`) are
compared with the benchmark's answer. Steps are not labelled.
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
    choices, answer = _asked(record)
    right = agrees(_committed(record, choices), answer, choices.kind)
    return [None] * len(record["reasoning"]) + [int(right)]


def answer_label(record: Record) -> int | None:
    """The label of a trace's answer alone, whether it brings its claims or a response.

    Args:
        record: The trace, as `answer_labels` takes it but for its claims.

    Raises:
        RecordError: If the trace has no right answer to compare with.
    """
    return answer_labels(_alone(record))[-1]


def committed(record: Record) -> Delivered:
    """The labels that the delivered answer of a trace commits to; None where it commits to none,
    which makes it wrong.

    Args:
        record: The trace, as `answer_label` takes it.

    Raises:
        RecordError: If the trace has no right answer to compare with.
    """
    return _committed(_alone(record), _asked(record)[0])


def misfit(record: Record) -> str:
    """Why no answer can be the right one: that one is no label of the answer space. Empty where it
    fits.

    Args:
        record: The trace, as `answer_label` takes it.

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
    """A right answer in the labels of its answer space, however it is spelled ("Upper left" for
    `upper-left`), or by its letter; as it stands where the space has none of its meaning.

    Args:
        answer: A label, or a list of them.
        space: The labels that an answer may have.
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
    """What an answer may be, and the right one."""
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
    """The labels of an answer; of an output that is not valid None."""
    if status_of(record) != "valid":
        return None
    text = (record.get("response") or "") if record.get(SEGMENTED) else record["conclusion"]
    return delivered(text, choices, record.get("question") or "")
