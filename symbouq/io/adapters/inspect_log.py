"""Logs of inspect_ai: JSON, read here sample by sample, and `.eval`, read by inspect_ai.

A sample of a later epoch has the epoch behind its id (`7:2`). Places are the numbers of
the samples in their log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.base import Found, Input, Reading, decoded, described, expect, imported
from symbouq.io.adapters.chat import answered
from symbouq.io.adapters.documents import array_items
from symbouq.io.adapters.fields import filled

_SAMPLE = "a sample of inspect_ai (id, epoch, input, output)"
_ATTACHED = "attachment://"
_BULK = {"events", "events_data", "store"}
"""What the audit has no use for, and most of a sample's size."""

_Sample = bytes | RecordError | Callable[[], bytes]
"""A sample as JSON, why there is none, or what reads it."""


class _Inspect:
    def detects(self, given: Input) -> bool:
        log = isinstance(given.first.get("eval"), dict) and "status" in given.first
        return log or given.suffix == ".eval"

    def prepare(self, given: Input) -> None:
        if _is_archive(given):
            _package()

    def read(self, given: Input, reading: Reading) -> Iterator[Found]:
        number = 0
        for number, sample in enumerate(_samples(given), start=1):
            content: dict[str, Any] | RecordError
            try:
                content = _trace(_read(sample), reading, number)
            except RecordError as error:
                content = error
            yield Found(given.name, number, content)
        if not number:
            raise RecordError("expected a log of inspect_ai with samples, found none in it")


def _is_archive(given: Input) -> bool:
    return given.head.startswith(b"PK")


def _package() -> Any:
    return imported("inspect_ai.log", "a .eval log", "inspect_ai")


def _samples(given: Input) -> Iterator[_Sample]:
    return _archived(given) if _is_archive(given) else array_items(given.chunks(), "samples")


def _archived(given: Input) -> Iterator[_Sample]:
    """The samples of an archive, through inspect_ai's own reader."""
    file = str(given.file)
    log = _package()
    try:
        summaries = log.read_eval_log_sample_summaries(file)
    except Exception as error:  # whatever it is that the reader trips over
        raise RecordError(f"inspect_ai cannot read this log: {_short(error)}") from error
    for summary in summaries:
        yield partial(_sample, log, file, summary)


def _sample(log: Any, file: str, summary: Any) -> bytes:
    """One sample of an archive, as JSON."""
    try:
        sample = log.read_eval_log_sample(file, summary.id, summary.epoch)
        return bytes(sample.model_dump_json(exclude=_BULK).encode())
    except Exception as error:
        raise RecordError(f"inspect_ai cannot read this sample: {_short(error)}") from error


def _read(sample: _Sample) -> Any:
    return decoded(sample() if callable(sample) else sample)


def _trace(sample: Any, reading: Reading, number: int) -> dict[str, Any]:
    if not isinstance(sample, dict) or "output" not in sample or "input" not in sample:
        raise RecordError(f"expected {_SAMPLE}, found {described(sample)}")
    attached = sample.get("attachments")
    attached = attached if isinstance(attached, dict) else {}
    output = expect(sample["output"], dict, "output", "an object with choices")
    fields = _answer(_resolved(output, attached), sample.get("error"))
    epoch = sample.get("epoch", 1)
    identity = sample.get("id")
    fields.update(
        id=identity if epoch == 1 else f"{identity}:{epoch}",
        prompt=_resolved(sample["input"], attached),
        answer=sample.get("target"),
        model=output.get("model"),
    )
    return filled(sample, fields, reading, number)


def _answer(output: dict[str, Any], failure: Any) -> dict[str, Any]:
    choices = output.get("choices")
    if choices:
        return answered(expect(choices, list, "output.choices", "a list"))
    if output.get("completion"):
        return {"response": output["completion"]}
    if isinstance(failure, dict):
        raise RecordError(f"the sample ended in an error: {_short(failure.get('message'))}")
    raise RecordError(f"output: expected choices or a completion, found {described(output)}")


def _short(message: Any) -> str:
    return " ".join(str(message).split())[:200]


def _resolved(value: Any, attached: dict[str, Any]) -> Any:
    """A value with the texts that the log keeps apart put back."""
    if isinstance(value, str) and value.startswith(_ATTACHED):
        return attached.get(value.removeprefix(_ATTACHED), value)
    if isinstance(value, list):
        return [_resolved(item, attached) for item in value]
    if isinstance(value, dict):
        return {name: _resolved(item, attached) for name, item in value.items()}
    return value


ADAPTER = _Inspect()
