"""Logs of inspect_ai: JSON, read here sample by sample, and `.eval`, read through inspect_ai.

From the second epoch on, the epoch is appended to a sample's id (`7:2`). Positions are the numbers
of the samples in their log.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symbouq.errors import RecordError, extra
from symbouq.io.adapters.base import JsonAdapter, Record
from symbouq.io.adapters.chat import answered
from symbouq.io.adapters.documents import EACH
from symbouq.io.adapters.inputs import Input
from symbouq.io.values import described, expect, posed

_ATTACHED = "attachment://"
_BULK = {"events", "events_data", "store"}
"""Fields that the audit does not need and that make up most of a sample's size."""


class _Inspect(JsonAdapter):
    """Reader of the samples in a log."""

    expected = "a sample of inspect_ai (id, epoch, input, output)"

    @classmethod
    def detects(cls, source: Input) -> bool:
        first = source.first
        log = isinstance(first.get("eval"), dict) and "status" in first and "doc_id" not in first
        return log or (source.suffix == ".eval" and not first)

    @classmethod
    def prepare(cls, source: Input) -> None:
        if _is_archive(source):
            _package()

    def records(self) -> Iterator[Record]:
        if _is_archive(self.source):
            for number, encoded in enumerate(_archived(str(self.source.file)), 1):
                yield number, self.object(encoded)
            return
        self.source.within = ("samples", EACH)
        yield from super().records()

    def fields(self, record: dict[str, Any]) -> dict[str, Any]:
        if "output" not in record or "input" not in record:
            raise self.unexpected(record)
        attached = record.get("attachments")
        attached = attached if isinstance(attached, dict) else {}
        output = expect(record["output"], dict, "output", "an object with choices")
        epoch = record.get("epoch", 1)
        identity = record.get("id")
        return {
            **_answer(_resolved(output, attached), record.get("error")),
            "id": identity if epoch == 1 else f"{identity}:{epoch}",
            "prompt": _resolved(record["input"], attached),
            "answer": record.get("target"),
            "model": output.get("model"),
            **posed(_resolved(record.get("metadata"), attached)),
        }


def _is_archive(source: Input) -> bool:
    return source.head.startswith(b"PK")


def _package() -> Any:
    with extra("inspect"):
        import inspect_ai.log
    return inspect_ai.log


def _archived(file: str) -> Iterator[bytes | RecordError]:
    """Yield the samples of an archive as JSON, using inspect_ai's own reader."""
    log = _package()
    try:
        summaries = log.read_eval_log_sample_summaries(file)
    except Exception as error:  # any error of the reader
        raise RecordError(f"inspect_ai cannot read this log: {_short(error)}") from error
    for summary in summaries:
        sample: bytes | RecordError
        try:
            read = log.read_eval_log_sample(file, summary.id, summary.epoch)
            sample = bytes(read.model_dump_json(exclude=_BULK).encode())
        except Exception as error:
            sample = RecordError(f"inspect_ai cannot read this sample: {_short(error)}")
        yield sample


def _answer(output: dict[str, Any], failure: Any) -> dict[str, Any]:
    choices = output.get("choices")
    if choices:
        return answered(expect(choices, list, "output.choices", "a list"), "output.choices")
    if output.get("completion"):
        return {"response": output["completion"]}
    if isinstance(failure, dict):
        raise RecordError(f"the sample ended in an error: {_short(failure.get('message'))}")
    raise RecordError(f"output: expected choices or a completion, found {described(output)}")


def _short(message: Any) -> str:
    return " ".join(str(message).split())[:200]


def _resolved(value: Any, attached: dict[str, Any]) -> Any:
    """Insert the texts that the log stores separately into the given value."""
    if isinstance(value, str) and value.startswith(_ATTACHED):
        return attached.get(value.removeprefix(_ATTACHED), value)
    if isinstance(value, list):
        return [_resolved(item, attached) for item in value]
    if isinstance(value, dict):
        return {name: _resolved(item, attached) for name, item in value.items()}
    return value


ADAPTER = _Inspect
