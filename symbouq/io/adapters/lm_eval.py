"""The samples of lm-evaluation-harness (`samples_*.jsonl`, from `--log_samples`).

The harness writes a row per filter and document with the same responses; a document
becomes one trace, read from the unfiltered first response.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.base import Found, Input, Reading, converted, described, expect
from symbouq.io.adapters.fields import filled

_ROW = "a row of lm-evaluation-harness (doc_id, arguments, resps)"


class _LmEval:
    def detects(self, given: Input) -> bool:
        first = given.first
        return "doc_id" in first and not first.keys().isdisjoint(("doc", "arguments", "resps"))

    def prepare(self, given: Input) -> None:
        pass

    def read(self, given: Input, reading: Reading) -> Iterator[Found]:
        filters: dict[Any, Any] = {}

        def convert(row: dict[str, Any], number: int) -> dict[str, Any] | None:
            if "doc_id" not in row or "resps" not in row:
                raise RecordError(f"expected {_ROW}, found {described(row)}")
            document, rule = str(row["doc_id"]), str(row.get("filter"))
            if filters.get(document, rule) != rule:
                return None
            response, *samples = _texts(row["resps"])
            fields = {
                "id": document,
                "prompt": _prompt(row.get("arguments")),
                "response": response,
                "samples": samples or None,
                "answer": row.get("target"),
            }
            trace = filled(row, fields, reading, number)
            filters[document] = rule
            return trace

        return converted(given, convert, _ROW)


def _texts(resps: Any) -> list[str]:
    """The generated texts: one list per request, of which a generation task has one."""
    listed = resps[0] if isinstance(resps, list) and resps else resps
    texts = listed if isinstance(listed, list) else [listed]
    if not texts:
        raise RecordError("resps: expected a generated text, found an empty list")
    what = "a generated text (rows of multiple-choice tasks have none)"
    return [expect(text, str, "resps", what) for text in texts]


def _prompt(arguments: Any) -> Any:
    """The prompt: `gen_args_0.arg_0`, or the first argument in rows of older versions."""
    given = arguments
    if isinstance(given, dict):
        given = given.get("gen_args_0")
        given = given.get("arg_0") if isinstance(given, dict) else None
    while isinstance(given, list) and given and not isinstance(given[0], dict):
        given = given[0]
    return given


ADAPTER = _LmEval()
