"""Writes the signals cache, shard by shard."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symbouq.errors import RecordError, SymboUQError
from symbouq.evidence.signals.alignment import claim_extents, decoded, token_spans
from symbouq.evidence.signals.cache import (
    CONFIGURATION,
    INDEX,
    Configuration,
    Entry,
    SignalsCache,
    digest,
    entry,
    need_packages,
    read_configuration,
    shard_name,
    tokens_digest,
)
from symbouq.evidence.signals.example import Span
from symbouq.evidence.signals.forward import Forced, ForcedPass, TokenSignals
from symbouq.evidence.signals.traces import ById, Numbered, claim_texts, read_records
from symbouq.records.generated import Record, is_structured, status_of

if TYPE_CHECKING:
    import numpy as np
    from transformers import PreTrainedTokenizerBase

_HALF = 65504.0
"""Largest float16."""


@dataclass
class Written:
    """What became of a traces file.

    Attributes:
        traces: Traces in the cache.
        tokens: Their tokens.
        kept: Shards that were there already.
        failed: What could not be read or aligned.
    """

    traces: int = 0
    tokens: int = 0
    kept: int = 0
    failed: list[RecordError] = field(default_factory=list)


def write_cache(
    folder: str | os.PathLike[str],
    traces: str | os.PathLike[str],
    configuration: Configuration,
    forced: ForcedPass,
    tokenizer: PreTrainedTokenizerBase,
    prompt_ids: Callable[[Record], list[int]],
    audits: str | os.PathLike[str] | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> Written:
    """Writes the signals of a traces file, or what is missing of them.

    Args:
        folder: Where to write; a cache that a stopped run left there is completed.
        traces: The traces file.
        configuration: What the cache is made with.
        forced: The pass that computes signals.
        tokenizer: The model's tokenizer.
        prompt_ids: Gives the tokens of the prompt that a trace was generated from.
        audits: Audits of the traces, which say what the claims of free-form responses and
            of outputs that are not valid are.
        advance: Is told how many more traces are done.

    Raises:
        SymboUQError: If the folder has a cache of another configuration, the traces come
            from another model, memory does not suffice for one trace, or the disk is full;
            finished shards stay.
    """
    need_packages()
    place = Path(folder)
    _claim(place, configuration)
    writer = _Writer(place, os.fspath(traces), configuration, forced, tokenizer, prompt_ids)
    by_id = ById(audits, "audits") if audits is not None else None
    records = read_records(traces)
    shards = iter(lambda: list(islice(records, configuration.shard)), [])
    for number, part in enumerate(shards):
        writer.write(number, part, by_id)
        advance(len(part))
    return writer.done


def _claim(folder: Path, configuration: Configuration) -> None:
    """Makes a folder the cache of a configuration.

    Raises:
        SymboUQError: If it is that of another one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wanted = asdict(configuration)
    file = folder / CONFIGURATION
    if not file.exists():
        _write(file, json.dumps(wanted, indent=1).encode() + b"\n")
        return
    found = read_configuration(folder)
    # The name of a model's folder decides nothing, its files do.
    differing = [
        f"{name} {_short(found.get(name))}, now {_short(value)}"
        for name, value in wanted.items()
        if found.get(name) != value and name != "model"
    ]
    if differing:
        raise SymboUQError(
            f"was made by another configuration: {'; '.join(differing)}. Give another folder, "
            "or delete this one",
            str(folder),
        )


class _Writer:
    """Writes shards one after the other, and the index of those that are there."""

    def __init__(
        self,
        folder: Path,
        traces: str,
        configuration: Configuration,
        forced: ForcedPass,
        tokenizer: PreTrainedTokenizerBase,
        prompt_ids: Callable[[Record], list[int]],
    ) -> None:
        self.done = Written()
        self._folder = folder
        self._traces = traces
        self._configuration = configuration
        self._forced = forced
        self._tokenizer = tokenizer
        self._prompt_ids = prompt_ids
        self._entries: list[Entry] = []
        self._before = _indexed(folder)
        self._ids: set[str] = set()

    def write(
        self, number: int, part: Iterable[Numbered | RecordError], audits: ById | None
    ) -> None:
        """Writes a shard, unless it is there, and enters it into the index."""
        failed: list[RecordError] = []
        claims: dict[str, tuple[str, ...]] = {}
        items: list[Numbered] = []
        for item in part:
            if isinstance(item, RecordError):
                failed.append(item)
                continue
            record = item.record
            try:
                if record["id"] in self._ids:
                    raise RecordError(f"id {record['id']!r} occurs before in this file")
                self._ids.add(record["id"])
                audit = audits.find(record["id"]) if audits is not None else None
                claims[record["id"]] = claim_texts(record, audit)
            except RecordError as error:
                failed.append(RecordError(error.message, self._traces, item.line))
                continue
            items.append(item)
        file = self._folder / shard_name(number)
        key = digest([asdict(self._configuration), number, list(claims.items())])
        content = _found(file, key)
        if content is None:
            content = self._computed(number, items, claims, failed)
            self._save(file, content, key)
            self._entries += content.entries
            self.index()
        else:
            self.done.kept += 1
            self._entries += content.entries
        self.done.traces += len(content.entries)
        self.done.tokens += sum(one.stop - one.start for one in content.entries)
        self.done.failed += content.failed

    def _computed(
        self,
        number: int,
        items: Sequence[Numbered],
        claims: dict[str, tuple[str, ...]],
        failed: list[RecordError],
    ) -> _Shard:
        sequences: list[Forced] = []
        entries: list[Entry] = []
        place = 0
        for line, record in items:
            try:
                ids = self._generated(record)
                spans = self._spans(record, ids, claims[record["id"]])
                sequence = Forced(self._prompt(record) if ids else [], ids, record["id"])
            except RecordError as error:
                message = f"trace {record['id']}: {error.message}"
                failed.append(RecordError(message, self._traces, line))
                continue
            entries.append(
                Entry(
                    record["id"],
                    number,
                    place,
                    place + len(ids),
                    spans,
                    status_of(record),
                    tokens_digest(ids),
                )
            )
            place += len(ids)
            sequences.append(sequence)
        return _Shard(entries, failed, self._forced.signals(sequences))

    def _generated(self, record: Record) -> list[int]:
        generation = record.get("generation") or {}
        ids = generation.get("token_ids")
        if ids is None:
            if status_of(record) == "failed":
                return []
            raise RecordError("it has no generation.token_ids, so its tokens are not known")
        made_by = generation.get("model_hash", self._configuration.model_hash)
        if made_by != self._configuration.model_hash:
            raise SymboUQError(
                f"trace {record['id']} was generated by {record.get('model')} (hash "
                f"{_short(made_by)}), which is not {self._configuration.model} "
                f"({_short(self._configuration.model_hash)})"
            )
        return list(ids)

    def _prompt(self, record: Record) -> list[int]:
        prompt = self._prompt_ids(record)
        counted = record["generation"].get("prompt_tokens", len(prompt))
        if len(prompt) != counted:
            raise RecordError(
                f"its prompt had {counted} tokens and now has {len(prompt)}: scene, question or "
                "chat template are not those that it was generated from"
            )
        return prompt

    def _spans(self, record: Record, ids: list[int], claims: Sequence[str]) -> list[Span]:
        text, tokens = decoded(self._tokenizer, ids)
        response = record.get("response") or ""
        begin = text.find(response)
        if begin < 0:
            raise RecordError("its tokens do not decode to its response")
        extents = claim_extents(response, claims, is_structured(record))
        moved = [(a + begin, b + begin) if a < b else (0, 0) for a, b in extents]
        return token_spans(tokens, moved)

    def _save(self, file: Path, shard: _Shard, key: str) -> None:
        import numpy as np
        from safetensors.numpy import save

        width = self._forced.width.hidden
        signals = shard.signals

        def joined(name: str, columns: tuple[int, ...], kind: type[np.generic]) -> Any:
            # The first part gives the shape where there is no trace.
            parts = [np.zeros((0, *columns), np.float32), *(getattr(s, name) for s in signals)]
            whole = np.concatenate(parts)
            return whole.clip(-_HALF, _HALF).astype(kind) if kind is np.float16 else whole

        tensors = {
            "hidden": joined("hidden", (width,), np.float16),
            "top": joined("top", (4,), np.float32),
            "lookback": joined("lookback", (self._forced.lookbacks,), np.float16),
            "logprobs": joined("logprobs", (), np.float32),
        }
        told = {
            "key": key,
            "entries": [asdict(one) for one in shard.entries],
            "failed": [[e.message, e.file, e.line] for e in shard.failed],
        }
        # One field: several would be written in an order of their own each time.
        _write(file, save(tensors, {"shard": json.dumps(told)}))

    def index(self) -> None:
        """Writes the index of the shards so far, and of later ones that were there before."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = {
            "id": pa.string(),
            "shard": pa.int32(),
            "start": pa.int64(),
            "stop": pa.int64(),
            "spans": pa.list_(pa.list_(pa.int32())),
            "status": pa.string(),
            "digest": pa.string(),
        }
        last = self._entries[-1].shard if self._entries else -1
        entries = [*self._entries, *(one for one in self._before if one.shard > last)]
        table = pa.Table.from_pylist([asdict(one) for one in entries], schema=pa.schema(columns))
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink)
        _write(self._folder / INDEX, sink.getvalue().to_pybytes())


@dataclass
class _Shard:
    """A shard's traces and failures; signals only while it is new."""

    entries: list[Entry]
    failed: list[RecordError]
    signals: list[TokenSignals] = field(default_factory=list)


def _indexed(folder: Path) -> list[Entry]:
    """What an index says that a stopped run left."""
    try:
        return list(SignalsCache(folder).entries.values())
    except SymboUQError:
        return []


def _found(file: Path, key: str) -> _Shard | None:
    """What is in a shard; None if it is missing, torn, or made from something else."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy") as stored:
            told = json.loads((stored.metadata() or {}).get("shard", "{}"))
    except (OSError, SafetensorError):
        return None
    if told.get("key") != key:
        return None
    entries = [entry(**row) for row in told["entries"]]
    return _Shard(entries, [RecordError(*error) for error in told["failed"]])


def _write(file: Path, content: bytes) -> None:
    """Writes a file whole or not at all.

    Raises:
        SymboUQError: If it cannot be written, as on a full disk.
    """
    part = file.with_name(f".{file.name}.part")
    try:
        with part.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(file)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise SymboUQError(
            f"cannot be written: {error.strerror or error}; what was finished before is kept, "
            "and the same command goes on from there",
            str(file),
        ) from error


def _short(value: Any) -> str:
    text = str(value)
    return f"{text[:12]}..." if len(text) == 64 else text
