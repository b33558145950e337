"""Questions in local files, with the prompts that hosts put to models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symbouq.errors import RecordError
from symbouq.evidence.generation.prompts import user_message
from symbouq.io.stream import read_lines
from symbouq.records import Instance, parse_record

QUESTION = ("scene", "question", "answer_space", "dataset", "profile", "hops")
"""Fields of a question that an audit reads, or that determine the kind of question."""


def prompted(file: str, free_form: bool, hops: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield the questions in a file of records, each with its `prompt`.

    Args:
        file: The file, as written by `symbouq data import`.
        free_form: Whether the model reasons in prose, rather than in the contract's JSON.
        hops: Number of hops of the questions to use; None for all.

    Raises:
        RecordError: At the first record that is not a question.
    """
    for line in read_lines(file):
        if isinstance(line, RecordError):
            raise line
        question = parse_record(Instance, line.content, line.file, line.number)
        record = question.model_dump(exclude_none=True)
        if hops is None or record.get("hops") == hops:
            yield record | {"prompt": user_message(question, free_form)}
