"""Extracts signals for the traces in a file, using a model in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from symbouq.errors import SymboUQError, extra
from symbouq.evidence.devices import best_device
from symbouq.evidence.generation.models import find_model, load_network, load_tokenizer
from symbouq.evidence.generation.prompts import Chat, user_message
from symbouq.evidence.signals.cache import SHARD, Configuration
from symbouq.evidence.signals.forward import TOKENS, ForcedPass, Lookback
from symbouq.evidence.signals.writer import CacheWriter, Written
from symbouq.io.hashes import file_hash
from symbouq.records import Instance, make_record
from symbouq.records.generated import Record


@dataclass(frozen=True)
class Extraction:
    """Settings for extraction.

    Attributes:
        lookback: Whether lookback ratios are stored per head, or pooled over each layer.
        tokens: Number of tokens per batch, including padding; peak memory grows with it.
        shard: Number of traces per shard.
        device: `cpu`, `cuda`, `cuda:1`; None: a GPU if there is one.
        dtype: `float32`, `bfloat16` or `float16`; None: float32 on a CPU, the model's own format on
            a GPU.
        chat_template: File with the Jinja template used for generation, if it was not the model's
            own.
    """

    lookback: Lookback = "heads"
    tokens: int = TOKENS
    shard: int = SHARD
    device: str | None = None
    dtype: str | None = None
    chat_template: str | None = None


class Extractor:
    """Extracts signals with the model that generated the traces, given as a folder or hub id.

    Raises:
        SymboUQError: If a package is missing, or the model cannot be used.
    """

    def __init__(self, model: str, options: Extraction) -> None:
        self._options = options
        with extra("models"):
            self._weights = find_model(model)
            self._tokenizer = load_tokenizer(self._weights)
            # Other attention implementations do not return attention weights.
            network = load_network(
                self._weights,
                best_device(options.device),
                options.dtype,
                attn_implementation="eager",
            )
        self._chat = Chat(self._tokenizer, options.chat_template)
        self._forced = ForcedPass(network, options.lookback, options.tokens)
        self._dtype = str(network.dtype).removeprefix("torch.")

    def write(
        self,
        traces: str | os.PathLike[str],
        folder: str | os.PathLike[str],
        audits: str | os.PathLike[str] | None = None,
        advance: Callable[[int], None] = lambda count: None,
    ) -> Written:
        """Write or complete the signals cache for a file from `symbouq generate`.

        The claims of free-form and invalid responses are taken from audits. `advance` is called
        with the number of traces just finished.

        Raises:
            SymboUQError: If the cache cannot be written. Finished shards are kept.
        """
        configuration = Configuration(
            model=self._weights.name,
            model_hash=self._weights.hash,
            layers=self._forced.layers,
            heads=self._forced.heads,
            width=self._forced.width,
            lookback=self._options.lookback,
            dtype=self._dtype,
            chat_template=self._chat.hash,
            traces=file_hash(traces),
            shard=self._options.shard,
        )
        prompt = partial(prompt_ids, self._chat)
        writer = CacheWriter(
            Path(folder), traces, configuration, self._forced, self._tokenizer, prompt
        )
        return writer.write(audits, advance)


def prompt_ids(chat: Chat, record: Record) -> list[int]:
    """Rebuild the prompt tokens with which a trace was generated.

    Raises:
        SymboUQError: If the trace was generated with another chat template.
    """
    generation = record["generation"]
    if generation.get("chat_template", chat.hash) != chat.hash:
        raise SymboUQError(
            f"trace {record['id']} was generated with another chat template than the "
            "model's; give it as a file (--chat-template FILE)"
        )
    free_form = bool(generation.get("free_form"))
    message = user_message(make_record(Instance, record), free_form)
    return chat.ids(message)
