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
from symbouq.evidence.generation.resumable import shown
from symbouq.evidence.generation.tokens import decoded
from symbouq.evidence.signals.alignment import claim_extents, token_spans
from symbouq.evidence.signals.cache import (
    CONFIGURATION,
    INDEX,
    Configuration,
    Entry,
    SignalsCache,
    digest,
    need_packages,
    read_configuration,
    shard_name,
    tokens_digest,
)
from symbouq.evidence.signals.example import Span, TokenSignals
from symbouq.evidence.signals.forward import Forced, ForcedPass
from symbouq.evidence.signals.traces import ById, Numbered, claim_texts, read_records
from symbouq.io.output import replacing
from symbouq.records.generated import Record, is_structured, status_of

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_HALF = 65504.0
"""The largest float16."""

_Claimed = tuple[Numbered, tuple[str, ...]]
"""A trace with its line number and the texts of its claims."""


@dataclass
class Written:
    """Summary of a written cache: the number of traces, of tokens and of shards that already
    existed, and the errors of failed records.
    """

    traces: int = 0
    tokens: int = 0
    kept: int = 0
    failed: list[RecordError] = field(default_factory=list)


@dataclass
class CacheWriter:
    """Writes missing signals for the traces in a file. `prompt_ids` returns the prompt tokens of a
    trace.
    """

    folder: Path
    traces: str | os.PathLike[str]
    configuration: Configuration
    forced: ForcedPass
    tokenizer: PreTrainedTokenizerBase
    prompt_ids: Callable[[Record], list[int]]

    def write(
        self,
        audits: str | os.PathLike[str] | None = None,
        advance: Callable[[int], None] = lambda count: None,
    ) -> Written:
        """Write the missing shards, and the index. The arguments are as in `Extractor.write`.

        Raises:
            SymboUQError: If a package is missing, the folder contains a cache with another
                configuration, the traces come from another model, a single trace does not fit into
                memory, or the disk is full. Finished shards are kept.
        """
        need_packages()
        self._claim_folder()
        before = _indexed(self.folder)
        by_id = ById(audits, "audits") if audits is not None else None
        records = read_records(self.traces)
        done = Written()
        entries: list[Entry] = []
        ids: set[str] = set()
        parts = iter(lambda: list(islice(records, self.configuration.shard)), [])
        for number, part in enumerate(parts):
            claimed, failed = self._with_claims(part, by_id, ids)
            file = self.folder / shard_name(number)
            claims = [(record["id"], texts) for (_, record), texts in claimed]
            key = digest([asdict(self.configuration), number, claims])
            stored = _stored(file, key)
            if stored is not None:
                done.kept += 1
                new, failed = stored
                entries += new
            else:
                new, sequences = self._aligned(number, claimed, failed)
                self._save(file, key, new, failed, self.forced.signals(sequences))
                entries += new
                last = entries[-1].shard if entries else -1
                # The index also includes later shards from an interrupted run.
                self._save_index([*entries, *(entry for entry in before if entry.shard > last)])
            done.traces += len(new)
            done.tokens += sum(entry.stop - entry.start for entry in new)
            done.failed += failed
            advance(len(part))
        # A run may have been interrupted between writing a shard and updating the index.
        if not (self.folder / INDEX).exists() or _indexed(self.folder) != entries:
            self._save_index(entries)
        return done

    def _claim_folder(self) -> None:
        """Make the folder a cache with this configuration, unless it already has another one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        wanted = asdict(self.configuration)
        file = self.folder / CONFIGURATION
        if not file.exists():
            _write(file, json.dumps(wanted, indent=1).encode() + b"\n")
            return
        there = read_configuration(self.folder)
        # Only the files in a model's folder matter, not the name of the folder.
        differing = [
            f"{name} {shown(there.get(name))}, now {shown(value)}"
            for name, value in wanted.items()
            if there.get(name) != value and name != "model"
        ]
        if differing:
            raise SymboUQError(
                f"was made by another configuration: {'; '.join(differing)}. Give another folder, "
                "or delete this one",
                str(self.folder),
            )

    def _with_claims(
        self, part: Iterable[Numbered | RecordError], audits: ById | None, ids: set[str]
    ) -> tuple[list[_Claimed], list[RecordError]]:
        """Return the traces in a shard with their claims, and errors for all other records."""
        claimed: list[_Claimed] = []
        failed: list[RecordError] = []
        for item in part:
            if isinstance(item, RecordError):
                failed.append(item)
                continue
            record = item.record
            try:
                if record["id"] in ids:
                    raise RecordError(f"id {record['id']!r} occurs before in this file")
                ids.add(record["id"])
                audit = audits.find(record["id"]) if audits is not None else None
                claimed.append((item, claim_texts(record, audit)))
            except RecordError as error:
                failed.append(self._failure(error.message, item.line))
        return claimed, failed

    def _aligned(
        self, number: int, claimed: Iterable[_Claimed], failed: list[RecordError]
    ) -> tuple[list[Entry], list[Forced]]:
        """Return the entries of a shard, and the sequences to pass through the model."""
        sequences: list[Forced] = []
        entries: list[Entry] = []
        place = 0
        for (line, record), claims in claimed:
            try:
                ids = self._generated(record)
                spans = self._spans(record, ids, claims)
                sequence = Forced(self._prompt(record) if ids else [], ids, record["id"])
            except RecordError as error:
                failed.append(self._failure(f"trace {record['id']}: {error.message}", line))
                continue
            end = place + len(ids)
            status = status_of(record)
            entries.append(
                Entry(record["id"], number, place, end, spans, status, tokens_digest(ids))
            )
            place = end
            sequences.append(sequence)
        return entries, sequences

    def _failure(self, message: str, line: int) -> RecordError:
        return RecordError(message, os.fspath(self.traces), line)

    def _generated(self, record: Record) -> list[int]:
        generation = record.get("generation") or {}
        ids = generation.get("token_ids")
        if ids is None:
            if status_of(record) == "failed":
                return []
            raise RecordError("it has no generation.token_ids, so its tokens are not known")
        model_hash = self.configuration.model_hash
        made_by = generation.get("model_hash", model_hash)
        if made_by != model_hash:
            raise SymboUQError(
                f"trace {record['id']} was generated by {record.get('model')} (hash "
                f"{shown(made_by)}), which is not {self.configuration.model} "
                f"({shown(model_hash)})"
            )
        return list(ids)

    def _prompt(self, record: Record) -> list[int]:
        prompt = self.prompt_ids(record)
        counted = record["generation"].get("prompt_tokens", len(prompt))
        if len(prompt) != counted:
            raise RecordError(
                f"its prompt had {counted} tokens and now has {len(prompt)}: scene, question or "
                "chat template are not those that it was generated from"
            )
        return prompt

    def _spans(self, record: Record, ids: list[int], claims: Sequence[str]) -> list[Span]:
        text, tokens = decoded(self.tokenizer, ids)
        response = record.get("response") or ""
        begin = text.find(response)
        if begin < 0:
            raise RecordError("its tokens do not decode to its response")
        extents = claim_extents(response, claims, is_structured(record))
        moved = [(a + begin, b + begin) if a < b else (0, 0) for a, b in extents]
        return token_spans(tokens, moved)

    def _save(
        self,
        file: Path,
        key: str,
        entries: Sequence[Entry],
        failed: Sequence[RecordError],
        signals: Sequence[TokenSignals],
    ) -> None:
        import numpy as np
        from safetensors.numpy import save

        def joined(name: str, columns: tuple[int, ...], kind: type[np.generic]) -> Any:
            # The first part determines the shape even if there are no traces.
            parts = [np.zeros((0, *columns), np.float32)]
            whole = np.concatenate([*parts, *(getattr(one, name) for one in signals)])
            return whole.clip(-_HALF, _HALF).astype(kind) if kind is np.float16 else whole

        tensors = {
            "hidden": joined("hidden", (self.forced.width,), np.float16),
            "top": joined("top", (4,), np.float32),
            "lookback": joined("lookback", (self.forced.lookbacks,), np.float16),
            "logprobs": joined("logprobs", (), np.float32),
        }
        metadata = {
            "key": key,
            "entries": [asdict(entry) for entry in entries],
            "failed": [[error.message, error.file, error.line] for error in failed],
        }
        # Use a single field, because several fields would be written in varying order.
        _write(file, save(tensors, {"shard": json.dumps(metadata)}))

    def _save_index(self, entries: Iterable[Entry]) -> None:
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
        table = pa.Table.from_pylist([asdict(one) for one in entries], schema=pa.schema(columns))
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink)
        _write(self.folder / INDEX, sink.getvalue().to_pybytes())


def _indexed(folder: Path) -> list[Entry]:
    try:
        return list(SignalsCache(folder).entries.values())
    except SymboUQError:
        return []


def _stored(file: Path, key: str) -> tuple[list[Entry], list[RecordError]] | None:
    """Return the entries and failures in a shard; None if the shard is missing, damaged, or made
    from other data.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy") as stored:
            metadata = json.loads((stored.metadata() or {}).get("shard", "{}"))
    except (OSError, SafetensorError):
        return None
    if metadata.get("key") != key:
        return None
    entries = [Entry.of(row) for row in metadata["entries"]]
    return entries, [RecordError(*error) for error in metadata["failed"]]


def _write(file: Path, content: bytes) -> None:
    try:
        with replacing(file) as stream:
            stream.write(content)
    except OSError as error:
        raise SymboUQError(
            f"cannot be written: {error.strerror or error}; what was finished before is kept, "
            "and the same command goes on from there",
            str(file),
        ) from error
