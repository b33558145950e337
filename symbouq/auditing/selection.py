"""Select the best of several answers by score and agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from symbouq.auditing.answers import delivered, space_of
from symbouq.records.generated import Record, is_structured


def best_of(records: Sequence[Record], scores: Sequence[float]) -> int:
    """Return the index, from 0, of the trace with the highest score. Ties go to the most frequent
    answer, then to the first trace.

    Args:
        records: Traces for the same question.
        scores: Score of each trace; larger is better.
    """
    highest = max(scores)
    tied = [n for n, score in enumerate(scores) if score == highest]
    answers = {n: answer_key(records[n]) for n in tied}
    counts = Counter(answers.values())
    return max(tied, key=lambda n: counts[answers[n]])


def answer_key(record: Record) -> object:
    """Return a key shared by traces with the same answer: the answer's labels, or its text if it
    has none.
    """
    text = str(record.get("conclusion" if is_structured(record) else "response") or "")
    space = record.get("answer_space")
    if isinstance(space, list) and space:
        choices = space_of(map(str, space), dataset=str(record.get("dataset") or ""))
        labels = delivered(text, choices, record.get("question") or "")
        if labels is not None:
            return labels if choices.kind == "sequence" else frozenset(labels)
    return text.casefold().strip(" .")
