"""Labels for traces: records, files and sources.

A source is a function that returns one label per claim of a trace, the conclusion last: 1 right, 0
wrong, None unknown. It receives a trace with the fields `reasoning` and `conclusion`
(`symbouq.evidence.signals.traces.with_claims`). The auditor is never a source, because its verdicts
are evaluated against these labels.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from symbouq.errors import RecordError, SymboUQError, internal
from symbouq.evidence.signals.traces import ById, read_records, with_claims
from symbouq.records.generated import Record

Label = int | None
"""1: right; 0: wrong; None: not labelled."""

Source = Callable[[dict[str, Any]], Sequence[Label]]
"""Function that returns a trace's labels, or raises `RecordError` if the trace cannot be
labelled."""


@dataclass(frozen=True)
class Labels:
    """Labels from one source for the claims of a trace, the conclusion last. `extra` holds
    additional fields for the record.
    """

    id: str
    source: str
    labels: tuple[Label, ...]
    dataset: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """Return the record to be written."""
        shared = {"id": self.id, "source": self.source, "labels": list(self.labels)}
        return {**shared, "dataset": self.dataset, **self.extra}

    def check_claims(self, other: Labels) -> None:
        """Check that another source has the same number of labels for this trace.

        Raises:
            SymboUQError: If it does not.
        """
        if len(self.labels) != len(other.labels):
            raise SymboUQError(
                f"trace {self.id} has {len(self.labels)} claims by {self.source} and "
                f"{len(other.labels)} by {other.source}"
            )


def read_claims(
    traces: str | os.PathLike[str], audits: str | os.PathLike[str] | None = None
) -> Iterator[dict[str, Any] | RecordError]:
    """Read the traces in a file with their claims. A trace with unknown claims gives an error.

    The claims of free-form responses are taken from audits.
    """
    by_id = ById(audits, "audits") if audits is not None else None
    for item in read_records(traces):
        if isinstance(item, RecordError):
            yield item
            continue
        audit = by_id.find(item.record["id"]) if by_id is not None else None
        try:
            yield with_claims(item.record, audit)
        except RecordError as error:
            yield RecordError(error.message, os.fspath(traces), item.line)


def labelled(record: Record, name: str, source: Source) -> Labels:
    """Label a trace that has claims. `name` is the name of the source.

    Raises:
        RecordError: If the source cannot label the trace.
    """
    labels = tuple(source(dict(record)))
    count = len(record["reasoning"]) + 1
    if len(labels) != count:
        raise RecordError(
            f"trace {record['id']}: source {name} gives {len(labels)} labels for {count} claims"
        )
    return Labels(record["id"], name, labels, record.get("dataset"))


def label_traces(
    traces: str | os.PathLike[str],
    audits: str | os.PathLike[str] | None,
    name: str,
    source: Source,
) -> Iterator[Labels | RecordError]:
    """Yield labels from the source called `name` for every trace in a file, or an error for the
    trace. Audits are used as in `read_claims`.
    """
    for record in read_claims(traces, audits):
        try:
            yield record if isinstance(record, RecordError) else labelled(record, name, source)
        except RecordError as error:
            yield error
        except Exception as error:
            # A bug in this package must not stop the other records. Report it like any other error.
            yield RecordError(internal(error), os.fspath(traces))


def read_labels(path: str | os.PathLike[str]) -> dict[str, Labels]:
    """Read a file's labels by id, in order.

    Raises:
        RecordError: If a line is not a label record, or an id occurs twice.
    """
    by_id: dict[str, Labels] = {}
    file = os.fspath(path)
    for item in read_records(file):
        if isinstance(item, RecordError):
            raise item
        line, record = item
        labels, source = record.get("labels"), record.get("source")
        if not isinstance(source, str):
            raise RecordError("a label record names its `source`", file, line)
        if not isinstance(labels, list) or not labels or not all(map(_is_label, labels)):
            raise RecordError("`labels` is a list of 0, 1 and null, one a claim", file, line)
        if record["id"] in by_id:
            raise RecordError(f"id {record['id']!r} occurs before in this file", file, line)
        by_id[record["id"]] = Labels(record["id"], source, tuple(labels), record.get("dataset"))
    return by_id


def _is_label(value: Any) -> bool:
    return value is None or (type(value) is int and value in (0, 1))


def merge(sources: Sequence[Mapping[str, Labels]]) -> list[Labels]:
    """Merge sources. Each claim gets its label from the first source that has one for this claim.

    In the records, `source` lists the sources used, and `sources` gives the source of each label.

    Raises:
        SymboUQError: If two sources have different numbers of claims for a trace.
    """
    ids = dict.fromkeys(identity for source in sources for identity in source)
    return [_merged([source[i] for source in sources if i in source]) for i in ids]


def _merged(sources: Sequence[Labels]) -> Labels:
    first = sources[0]
    for other in sources[1:]:
        first.check_claims(other)
    winners = [
        next((source for source in sources if source.labels[claim] is not None), None)
        for claim in range(len(first.labels))
    ]
    names = [winner.source if winner else None for winner in winners]
    labels = [winner.labels[claim] if winner else None for claim, winner in enumerate(winners)]
    used = dict.fromkeys(name for name in names if name is not None)
    dataset = next((each.dataset for each in sources if each.dataset is not None), None)
    return Labels(first.id, "+".join(used), tuple(labels), dataset, {"sources": names})
