"""Functions that the tasks next to this file call: read questions, and audit a response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from datasets import Dataset

from symbouq.errors import SymboUQError
from symbouq.integrations.lm_eval.plugin import rewarded
from symbouq.integrations.questions import QUESTION, prompted


def questions(
    file: str | None = None, free_form: bool = True, hops: int | None = None, **_: Any
) -> dict[str, Dataset]:
    """Return the questions in a file of records, as the split `test`.

    Args:
        file: The file, as written by `symbouq data import`.
        free_form: Whether the model reasons in prose, rather than in the contract's JSON.
        hops: Number of hops of the questions to use; None for all.

    Raises:
        SymboUQError: If no file is named.
        RecordError: At the first record that is not a question.
    """
    if file is None:
        raise SymboUQError('name the questions with --metadata \'{"file": "FILE"}\'')
    rows = [
        {name: record.get(name) for name in ("id", "prompt", "answer", *QUESTION)}
        | {"scene": [record["scene"]] if isinstance(record["scene"], str) else record["scene"]}
        for record in prompted(file, free_form, hops)
    ]
    return {"test": Dataset.from_list(rows)}


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """Return the rewards of a response (`symbouq.integrations.lm_eval.plugin.rewarded`).

    Args:
        doc: A row of `questions`.
        results: The response.
    """
    return rewarded(doc, results[0])
