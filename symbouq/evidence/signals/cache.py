"""Signals on disk: a folder of shards, written once and read by every scorer.

    signals.json             its settings
    index.parquet            a row per trace: places of its tokens and claims
    shard-00000.safetensors  hidden [N, d] float16, top [N, 4] float32, descending,
                             lookback [N, h] float16 and logprobs [N] float32:
                             the tokens of the shard's traces in sequence

Shard k holds the k-th part of the traces file. A shard gets its final name only when it is
complete, and its metadata describe its content. So an interrupted run can be continued without
repeating finished shards.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from symbouq.errors import SymboUQError, extra
from symbouq.evidence.signals.example import Example, Signals, Span
from symbouq.evidence.signals.traces import (
    ById,
    claim_texts,
    readable_records,
    samples_of,
    without_labels,
)
from symbouq.records.generated import Record

CONFIGURATION = "signals.json"
INDEX = "index.parquet"
VERSION = 1
"""Version of the folder's layout."""

SHARD = 128
"""Default number of traces in a shard."""

_SHOWN = 5
"""Maximum number of ids listed in a message."""


@dataclass(frozen=True)
class Configuration:
    """Settings that determine the content of a cache. Caches with different settings never share a
    folder.

    `layers` is the number of layers with attention, `heads` the number of attention heads per
    layer, and `width` the width of the final hidden state. All hashes are SHA-256. A shard holds up
    to `shard` traces.
    """

    model: str
    model_hash: str
    layers: int
    heads: int
    width: int
    lookback: str
    dtype: str
    chat_template: str
    traces: str
    shard: int = SHARD
    version: int = VERSION


@dataclass(frozen=True)
class Entry:
    """Location of a trace's signals in the cache, and the trace's generation status.

    Attributes:
        start: First token in the shard.
        stop: Index after the last token.
        spans: Tokens of each claim, counted from `start`.
        digest: First 16 hexadecimal digits of the SHA-256 of the trace's generated tokens.
    """

    id: str
    shard: int
    start: int
    stop: int
    spans: list[Span]
    status: str
    digest: str

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Build an entry from a row of the index or of a shard."""
        return cls(**{**row, "spans": [(start, stop) for start, stop in row["spans"]]})


def need_packages() -> None:
    """Check that the packages for reading shards and the index are installed.

    Raises:
        SymboUQError: If a package is missing.
    """
    with extra("models"):
        import pyarrow.parquet  # noqa: F401
        import safetensors.numpy  # noqa: F401


def read_configuration(folder: Path) -> dict[str, Any]:
    """Read the configuration of a cache.

    Raises:
        SymboUQError: If the folder is not a cache.
    """
    try:
        configuration = json.loads((folder / CONFIGURATION).read_bytes())
    except FileNotFoundError:
        raise SymboUQError(f"is no signals cache: it has no {CONFIGURATION}", str(folder)) from None
    except ValueError as error:
        raise SymboUQError(f"{CONFIGURATION} is damaged: {error}", str(folder)) from error
    if not isinstance(configuration, dict):
        raise SymboUQError(f"{CONFIGURATION} is damaged: no object", str(folder))
    return configuration


def shard_name(number: int) -> str:
    """File name of a shard."""
    return f"shard-{number:05}.safetensors"


def digest(value: Any) -> str:
    """Hexadecimal SHA-256 of a JSON value."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def tokens_digest(ids: Sequence[int]) -> str:
    """First 16 hexadecimal digits of the SHA-256 of the given generated tokens."""
    return digest(list(ids))[:16]


class SignalsCache:
    """The signals in a cache folder, by trace.

    If `mapped`, arrays are memory-mapped views of the files in stored precision (float16 for hidden
    states and lookback ratios), which take no memory until they are read. Otherwise, they are
    float32 copies.

    Attributes:
        configuration: Fields of the cache's `Configuration`.
        entries: Location of each trace's signals, by id, in the order of the traces file.

    Raises:
        SymboUQError: If the folder is not a cache, has no finished shard, or a package is missing.
    """

    def __init__(self, folder: str | os.PathLike[str], mapped: bool = False) -> None:
        need_packages()
        import pyarrow.parquet as pq

        self.folder = Path(folder)
        self._mapped = mapped
        self.configuration = read_configuration(self.folder)
        if self.configuration.get("version") != VERSION:
            raise SymboUQError(
                f"has version {self.configuration.get('version')} of the layout, this reads "
                f"{VERSION}",
                str(self.folder),
            )
        file = self.folder / INDEX
        if not file.exists():
            raise self._incomplete(f"it has no {INDEX}")
        try:
            rows = pq.read_table(file).to_pylist()
        except (OSError, ValueError) as error:  # pyarrow raises both
            raise self._incomplete(f"{INDEX} is damaged") from error
        self.entries = {row["id"]: Entry.of(row) for row in rows}
        # Traces are mostly read in order, so only a few shards are kept open and mapped into
        # memory.
        self._shard = lru_cache(maxsize=4)(self._opened)

    def signals(self, identity: str) -> Signals:
        """Return the signals of a trace.

        Raises:
            SymboUQError: If the trace is not in the cache, or its shard cannot be read.
        """
        import numpy as np

        entry = self.entries.get(identity)
        if entry is None:
            raise SymboUQError(f"has no signals of trace {identity}", str(self.folder))
        shard = self._shard(entry.shard)

        def part(name: str) -> Any:
            stored = shard[name][entry.start : entry.stop]
            return stored if self._mapped else stored.astype(np.float32)

        return Signals(
            part("logprobs"), part("top"), part("hidden"), part("lookback"), tuple(entry.spans)
        )

    def _opened(self, number: int) -> dict[str, Any]:
        import numpy as np
        from safetensors import SafetensorError, safe_open

        file = self.folder / shard_name(number)
        if not file.exists():
            raise self._incomplete(f"{file.name} is missing")
        try:
            with safe_open(file, framework="numpy"):  # opening it validates the file
                pass
        except (OSError, SafetensorError) as error:
            raise self._incomplete(f"{file.name} is damaged ({error})") from error
        # The safetensors library would return copies. Its files consist of the header's length, the
        # header and the data.
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            header = json.loads(stream.read(length))
        types = {"F16": np.float16, "F32": np.float32}
        return {
            name: _view(file, types[each["dtype"]], each["shape"], 8 + length, each["data_offsets"])
            for name, each in header.items()
            if name != "__metadata__"
        }

    def _incomplete(self, what: str) -> SymboUQError:
        return SymboUQError(
            f"{what}; run `symbouq signals` into this folder again, which computes only what is "
            "missing",
            str(self.folder),
        )


def _view(file: Path, kind: Any, shape: Sequence[int], start: int, offsets: Sequence[int]) -> Any:
    """Map an array of a safetensors file into memory. An empty array cannot be mapped.

    `start` is the position at which the file's data begin, and `offsets` are relative to `start`.
    """
    import numpy as np

    if offsets[0] == offsets[1]:
        return np.zeros(shape, kind)
    return np.memmap(file, kind, "r", start + offsets[0], tuple(shape))


def examples(
    traces: str | os.PathLike[str],
    cache: str | os.PathLike[str] | SignalsCache | None = None,
    audits: str | os.PathLike[str] | None = None,
    *,
    light: bool = False,
) -> Iterator[Example]:
    """Yield traces with all inputs for scorers, joined by id, in the order of the traces file.

    The cache and the audits may contain additional traces. Audits in the same order as the traces
    are streamed. With `light`, signals are checked but not loaded.

    Raises:
        SymboUQError: If signals or audits are missing (the message lists the ids), or belong to
            another response.
    """
    stored = cache if isinstance(cache, SignalsCache) or cache is None else SignalsCache(cache)
    by_id = ById(audits, "audits") if audits is not None else None
    records = readable_records(traces)
    for record in records:
        audit = by_id.find(record["id"]) if by_id is not None else None
        if by_id is not None and audit is None:
            absent = [r["id"] for r in records if by_id.find(r["id"]) is None]
            raise SymboUQError(f"no audit of {_listed([record['id'], *absent])}", by_id.path)
        if stored is not None and record["id"] not in stored.entries:
            absent = [r["id"] for r in records if r["id"] not in stored.entries]
            message = f"no signals of {_listed([record['id'], *absent])}"
            raise SymboUQError(message, str(stored.folder))
        claims = claim_texts(record, audit)
        signals = None if stored is None or light else stored.signals(record["id"])
        _agree(record, claims, audit, stored)
        yield Example(
            record["id"], without_labels(record), claims, signals, audit, samples_of(record)
        )


def _agree(
    record: Record,
    claims: Sequence[str],
    audit: Record | None,
    cache: SignalsCache | None,
) -> None:
    """Check that the signals and the audit belong to the given trace and its claims."""
    name = f"trace {record['id']}"
    if audit is not None:
        audited = [claim["text"] for claim in audit["claims"]]
        if audited != list(claims):
            raise SymboUQError(
                f"{name} has {len(claims)} claims and its audit {len(audited)}, or they differ: "
                "the audit is of another response"
            )
    if cache is None:
        return
    stored = cache.entries[record["id"]]
    ids = (record.get("generation") or {}).get("token_ids") or []
    if stored.digest != tokens_digest(ids):
        raise SymboUQError(f"the signals of {name} are of another response", str(cache.folder))
    if len(stored.spans) != len(claims):
        raise SymboUQError(
            f"{name} has {len(claims)} claims and its signals {len(stored.spans)}: run `symbouq "
            "signals` with the same --audits",
            str(cache.folder),
        )


def _listed(ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:_SHOWN])
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return f"{'trace' if len(ids) == 1 else 'traces'} {shown}{more}"
