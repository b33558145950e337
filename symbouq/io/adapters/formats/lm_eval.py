"""Samples of lm-evaluation-harness (`samples_*.jsonl`, from `--log_samples`).

The harness writes a row for each filter and document, with the same responses. Each document
becomes one trace, read from the unfiltered first response.
"""

from __future__ import annotations

from collections.abc import Iterator
from glob import escape
from pathlib import Path
from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.base import JsonAdapter, Record
from symbouq.io.adapters.inputs import Input, ReadOptions
from symbouq.io.values import expect, posed


class _LmEval(JsonAdapter):
    """Reader of the rows of `samples_*.jsonl`."""

    expected = "a row of lm-evaluation-harness (doc_id, arguments, resps)"

    def __init__(self, source: Input, options: ReadOptions) -> None:
        super().__init__(source, options)
        self._filters: dict[str, str] = {}  # maps a document to the filter of the row that was read

    @classmethod
    def detects(cls, source: Input) -> bool:
        first = source.first
        sample = "doc_id" in first and not first.keys().isdisjoint(("doc", "arguments", "resps"))
        return sample or _is_results(first)

    @classmethod
    def lacks(cls, source: Input) -> str | None:
        return _samples_of(source.path) if _is_results(source.first) else None

    def records(self) -> Iterator[Record]:
        missing = self.lacks(self.source)
        if missing is not None:
            raise RecordError(missing)
        yield from super().records()

    def trace(self, record: dict[str, Any], number: int) -> dict[str, Any] | None:
        if "doc_id" not in record or "resps" not in record:
            raise self.unexpected(record)
        document, rule = str(record["doc_id"]), str(record.get("filter"))
        if self._filters.get(document, rule) != rule:
            return None
        trace = super().trace(record, number)
        self._filters[document] = rule
        return trace

    def fields(self, record: dict[str, Any]) -> dict[str, Any]:
        response, *samples = _texts(record["resps"])
        return {
            "id": str(record["doc_id"]),
            "prompt": _prompt(record.get("arguments")),
            "response": response,
            "samples": samples or None,
            "answer": record.get("target"),
            **posed(record.get("doc")),
        }


def _is_results(first: dict[str, Any]) -> bool:
    beside = ("configs", "versions", "n-shot", "n-samples", "group_subtasks")
    return isinstance(first.get("results"), dict) and not first.keys().isdisjoint(beside)


def _samples_of(results: str) -> str:
    """Explain where to find the samples of a run, given the file with its scores. The names of both
    files end in the run's time.
    """
    said = "holds the scores of lm-evaluation-harness, not its samples; "
    file = Path(results.removesuffix(".gz"))
    time = file.stem.removeprefix("results_")
    samples = sorted(found.name for found in file.parent.glob(f"samples_*_{escape(time)}.jsonl*"))
    if samples:
        return f"{said}give {', '.join(samples)} beside it"
    return f"{said}these are samples_*.jsonl beside it, which --log_samples writes"


def _texts(resps: Any) -> list[str]:
    """Return the generated texts: one list per request, and generation tasks have one request."""
    listed = resps[0] if isinstance(resps, list) and resps else resps
    texts = listed if isinstance(listed, list) else [listed]
    if not texts:
        raise RecordError("resps: expected a generated text, found an empty list")
    what = "a generated text (rows of multiple-choice tasks have none)"
    return [expect(text, str, "resps", what) for text in texts]


def _prompt(arguments: Any) -> Any:
    """Return the prompt: `gen_args_0.arg_0`, or the first argument in rows of older versions."""
    if isinstance(arguments, dict):
        arguments = arguments.get("gen_args_0")
        arguments = arguments.get("arg_0") if isinstance(arguments, dict) else None
    while isinstance(arguments, list) and arguments and not isinstance(arguments[0], dict):
        arguments = arguments[0]
    return arguments


ADAPTER = _LmEval
