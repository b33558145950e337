"""The files of a split: traces, signals, audits and labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from symbouq.errors import SymboUQError
from symbouq.evidence.labels.records import read_labels
from symbouq.evidence.scorers.base import Labelled
from symbouq.evidence.signals.cache import SignalsCache, examples
from symbouq.evidence.signals.example import Example

CHUNK = 256
"""Number of traces scored together. It is fixed, because the last digits of a network's output
depend on which traces are in the same batch."""


@dataclass(frozen=True)
class Split:
    """Paths of a split's traces and, if they exist, its signals folder, audits and labels."""

    traces: Path
    signals: Path | None = None
    audits: Path | None = None
    labels: Path | None = None

    @classmethod
    def of(cls, folder: str | Path) -> Split:
        """Find the split in a folder: `traces.jsonl`, `signals`, `audits.jsonl`, `labels.jsonl`,
        possibly with `.gz`.

        Raises:
            SymboUQError: If there are no traces.
        """
        path = Path(folder)

        def first(*names: str) -> Path | None:
            return next((path / name for name in names if (path / name).exists()), None)

        def records(name: str) -> Path | None:
            return first(f"{name}.jsonl", f"{name}.jsonl.gz")

        traces = records("traces")
        if traces is None:
            raise SymboUQError(f"{path} has no traces.jsonl")
        return cls(traces, first("signals"), records("audits"), records("labels"))

    def examples(self) -> list[Example]:
        """Return the traces with signals and audits, without labels.

        Signals are memory-mapped, so they take no memory until they are read.

        Raises:
            SymboUQError: If the files do not match.
        """
        signals = SignalsCache(self.signals, mapped=True) if self.signals is not None else None
        return [*examples(self.traces, signals, self.audits)]

    def chunks(self) -> Iterator[list[Example]]:
        """Yield chunks of up to `CHUNK` traces with audits; `Scoring` adds the signals. At least
        one chunk is yielded.

        Raises:
            SymboUQError: If the files do not match.
        """
        every = examples(self.traces, self.signals, self.audits, light=True)
        yield list(islice(every, CHUNK))
        while chunk := list(islice(every, CHUNK)):
            yield chunk

    def labelled(self) -> list[Labelled]:
        """Return the traces with at least one label.

        Raises:
            SymboUQError: If there are no labels, or the files do not match.
        """
        if self.labels is None:
            raise SymboUQError(f"{self.traces.parent} has no labels.jsonl")
        labels = read_labels(self.labels)
        return [
            Labelled(example, labels[example.id].labels)
            for example in self.examples()
            if example.id in labels
        ]
