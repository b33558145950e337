"""Labels of traces for `fit`: 1 if the delivered answer is right, otherwise 0.

Code for prediction does not import this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symbouq.auditing.correctness import answer_label, committed, misfit
from symbouq.errors import RecordError, SymboUQError
from symbouq.records import Trace, make_record

_FIELDS = ("id", "dataset", "question", "response", "conclusion", "answer", "answer_space",
           "correct", "meta", "generation")  # fmt: skip

FEW = 20
"""Minimum number of labels. With fewer labels, there is a warning."""

Gold = dict[str, Any]
"""The fields of a record that determine its label."""


def gold_of(trace: Trace) -> Gold:
    """Extract the fields of a trace that determine its label.

    Raises:
        RecordError: If the trace has neither `correct` nor `answer`, or `correct` is not a boolean.
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


def gold_in(record: Mapping[str, Any]) -> Gold:
    """Like `gold_of`, but for a dictionary with a trace, or with only `id` and `correct`.

    Raises:
        RecordError: As in `gold_of`, or if the dictionary is neither of these.
    """
    if record.get("correct") is None or record.keys() & {"response", "conclusion", "claims"}:
        return gold_of(make_record(Trace, record))
    return gold_of(Trace.model_construct(**record))


def answer_spaces(golds: Iterable[Gold]) -> dict[str | None, list[str]]:
    """Collect the sorted answers in each dataset, for records without `answer_space`."""
    spaces: dict[str | None, set[str]] = {}
    for gold in golds:
        answer = gold.get("answer")
        labels = answer if isinstance(answer, list) else [answer]
        spaces.setdefault(gold.get("dataset"), set()).update(
            str(x) for x in labels if x is not None
        )
    return {dataset: sorted(labels) for dataset, labels in spaces.items()}


def label_of(gold: Gold, spaces: dict[str | None, list[str]]) -> int:
    """Return the label of a trace: 1 if the delivered answer is right, otherwise 0.

    Uses `correct` if given; otherwise compares the delivered answer with `answer`. `spaces` holds
    the answer spaces of datasets, for records without an answer space.

    Raises:
        RecordError: If there is nothing to compare with.
    """
    if gold.get("correct") is not None:
        return int(gold["correct"])
    record = _in_space(gold, spaces)
    if fault := misfit(record):
        raise RecordError(fault)
    label = answer_label(record)
    assert label is not None  # here, the answers can be compared
    return label


@dataclass(frozen=True)
class Labels:
    """The labels of some traces.

    Attributes:
        of: One label per trace: 1 right, 0 wrong, None without a label.
        faults: Reasons for missing labels, in order.
        warnings: Warnings about doubtful labels.
    """

    of: tuple[int | None, ...]
    faults: tuple[str, ...]
    warnings: tuple[str, ...]


def labelled(golds: Sequence[Gold]) -> Labels:
    """Label traces, and check the labels as a whole.

    Raises:
        SymboUQError: If no delivered answer is in its answer space, or `correct` disagrees with
            `answer` in most traces.
    """
    spaces = answer_spaces(golds)
    found: list[int | None] = []
    faults: list[str] = []
    for gold in golds:
        try:
            found.append(label_of(gold, spaces))
        except RecordError as error:
            found.append(None)
            faults.append(error.message)
    warnings: list[str] = []
    pairs = [(g, y) for g, y in zip(golds, found, strict=True) if y is not None]
    matched = [gold for gold, _ in pairs if gold.get("correct") is None]
    silent = sum(committed(_in_space(gold, spaces)) is None for gold in matched)
    if silent and silent == len(matched):
        raise SymboUQError(
            f"{silent} of {silent} delivered answers are no label of their answer space, which "
            "makes all of them wrong: say what an answer may be in `answer_space`, or which are "
            "right in `correct`"
        )
    if 2 * silent > len(matched):
        warnings.append(
            f"{silent} of {len(matched)} delivered answers are no label of their answer space, "
            "and count as wrong"
        )
    twice = [(y, _by_answer(gold, spaces)) for gold, y in pairs if gold.get("correct") is not None]
    compared = [(y, other) for y, other in twice if other is not None]
    odds = sum(y != other for y, other in compared)
    if odds:
        said = f"`correct` is at odds with `answer` in {odds} of {len(compared)} traces"
        if 2 * odds > len(compared):
            raise SymboUQError(f"{said}: one of the two is not of these traces; leave it out")
        warnings.append(f"{said}; `correct` counts")
    if warning := few(len(pairs)):
        warnings.append(warning)
    return Labels(tuple(found), tuple(faults), tuple(warnings))


def few(count: int) -> str:
    """Return a warning if there are too few labels; empty if there are enough, or none at all."""
    if not 0 < count < FEW:
        return ""
    return f"{count} labels are few: with fewer than {FEW}, figures say little"


def _in_space(gold: Gold, spaces: dict[str | None, list[str]]) -> Gold:
    space = gold.get("answer_space") or spaces.get(gold.get("dataset"), [])
    return {**gold, "answer_space": space}


def _by_answer(gold: Gold, spaces: dict[str | None, list[str]]) -> int | None:
    """Return the label according to `answer`; None if `answer` cannot be compared with the
    delivered answer.
    """
    record = _in_space(gold, spaces)
    try:
        if misfit(record) or committed(record) is None:
            return None
        return answer_label(record)
    except RecordError:
        return None
