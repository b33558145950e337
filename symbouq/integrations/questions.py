"""Questions of local files, as hosts put them to models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symbouq.errors import RecordError
from symbouq.evidence.generation.prompts import user_message
from symbouq.io.stream import read_lines
from symbouq.records import Instance, parse_record

QUESTION = ("scene", "question", "answer_space", "dataset", "profile", "hops")
"""The fields of a question that an audit reads, or that tell what kind it is of."""


def prompted(file: str, free_form: bool, hops: int | None = None) -> Iterator[dict[str, Any]]:
    """The questions of a file of records, each with its `prompt`.

    Args:
        file: The file, as `symbouq data import` writes it.
        free_form: Whether the model reasons in prose; else it writes an object of the contract.
        hops: The number of hops of the questions; all where None.

    Raises:
        RecordError: At the first record that is no question.
    """
    for line in read_lines(file):
        if isinstance(line, RecordError):
            raise line
        question = parse_record(Instance, line.content, line.file, line.number)
        record = question.model_dump(exclude_none=True)
        if hops is None or record.get("hops") == hops:
            yield record | {"prompt": user_message(question, free_form)}
