"""Labels of traces, 1 where the delivered answer is right, as `fit` takes them from the record.

Nothing that predicts imports this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from symbouq.auditing.correctness import answer_label
from symbouq.errors import RecordError
from symbouq.records import Trace

_FIELDS = ("id", "dataset", "question", "response", "conclusion", "answer", "answer_space",
           "correct", "meta", "generation")  # fmt: skip

Gold = dict[str, Any]
"""The fields of a record that its label depends on."""


def gold_of(trace: Trace) -> Gold:
    """The fields of a trace that its label depends on.

    Raises:
        RecordError: If it has neither `correct` nor `answer`, or `correct` is no truth value.
    """
    gold = {k: v for k, v in trace.model_dump(exclude_unset=True).items() if k in _FIELDS}
    if gold.get("correct") is None:
        if gold.get("answer") is None:
            raise RecordError("a label is needed: `correct`, or the right `answer`")
    elif gold["correct"] not in (True, False, 0, 1):
        raise RecordError(f"correct: true or false is expected, found {gold['correct']!r}")
    if trace.conclusion is None and trace.response is None:
        gold["conclusion"] = trace.claims[-1].text if trace.claims else ""
    return gold


def answer_spaces(golds: Iterable[Gold]) -> dict[str | None, list[str]]:
    """For each dataset the answers that occur in it, in alphabetical order: what an answer may be,
    where records do not say (`answer_space`).
    """
    spaces: dict[str | None, set[str]] = {}
    for gold in golds:
        answer = gold.get("answer")
        labels = answer if isinstance(answer, list) else [answer]
        spaces.setdefault(gold.get("dataset"), set()).update(
            str(x) for x in labels if x is not None
        )
    return {dataset: sorted(labels) for dataset, labels in spaces.items()}


def label_of(gold: Gold, spaces: dict[str | None, list[str]]) -> int:
    """1 if the delivered answer is right, else 0: `correct` of the record, otherwise the delivered
    answer matched against `answer`.

    Args:
        gold: The fields of the trace.
        spaces: What an answer may be, by dataset, where the record does not say.

    Raises:
        RecordError: If there is nothing to match with.
    """
    if gold.get("correct") is not None:
        return int(gold["correct"])
    space = gold.get("answer_space") or spaces.get(gold.get("dataset"), [])
    label = answer_label({**gold, "answer_space": space})
    assert label is not None  # an answer either agrees or does not
    return label
