"""Signals of a traces file, from a model's folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symbouq.errors import SymboUQError, missing_extra
from symbouq.evidence.signals.cache import SHARD, Configuration
from symbouq.evidence.signals.forward import TOKENS, ForcedPass, Lookback
from symbouq.evidence.signals.traces import file_hash
from symbouq.evidence.signals.writing import Written, write_cache
from symbouq.records import Instance, make_record
from symbouq.records.generated import Record

if TYPE_CHECKING:
    from symbouq.evidence.generation.models import Model
    from symbouq.evidence.generation.prompts import Chat


@dataclass(frozen=True)
class Extraction:
    """How signals are extracted.

    Attributes:
        lookback: Whether lookback ratios are kept for each head or pooled over a layer's.
        tokens: Tokens of a batch, padding included; peak memory grows with it.
        shard: Traces of a shard.
        device: `cpu`, `cuda`, `cuda:1`; None for the GPU where there is one.
        dtype: `float32`, `bfloat16` or `float16`; None for float32 on a CPU and the
            model's own on a GPU.
        chat_template: File with a Jinja chat template, where generation was given one.
    """

    lookback: Lookback = "heads"
    tokens: int = TOKENS
    shard: int = SHARD
    device: str | None = None
    dtype: str | None = None
    chat_template: str | None = None


def extract(
    traces: str | os.PathLike[str],
    model: str,
    folder: str | os.PathLike[str],
    audits: str | os.PathLike[str] | None = None,
    options: Extraction | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> Written:
    """Writes the signals cache of a traces file, or completes one.

    Args:
        traces: Traces that `symbouq generate` wrote.
        model: The folder, or hub id, of the model that generated them.
        folder: The cache's folder.
        audits: Audits of the traces, for the claims of free-form responses and of outputs
            that are not valid.
        options: How.
        advance: Is told how many more traces are done.

    Raises:
        SymboUQError: If a package is missing, the model cannot be used, or the cache
            cannot be written; finished shards stay.
    """
    options = options or Extraction()
    try:
        from symbouq.evidence.generation.models import find_model, load_tokenizer
        from symbouq.evidence.generation.prompts import Chat

        found = find_model(model)
        tokenizer = load_tokenizer(found)
        network = _loaded(found, options)
    except ImportError as error:
        raise missing_extra("models", error) from error
    chat = Chat(tokenizer, options.chat_template)
    forced = ForcedPass(network, options.lookback, options.tokens)
    configuration = Configuration(
        model=found.name,
        model_hash=found.hash,
        layers=forced.width.layers,
        heads=forced.width.heads,
        width=forced.width.hidden,
        lookback=options.lookback,
        dtype=str(network.dtype).removeprefix("torch."),
        chat_template=chat.hash,
        traces=file_hash(traces),
        shard=options.shard,
    )
    return write_cache(
        folder, traces, configuration, forced, tokenizer, prompts(chat), audits, advance
    )


def prompts(chat: Chat) -> Callable[[Record], list[int]]:
    """A function that gives the prompt of a trace, made again as it was for generation.

    Args:
        chat: The model's chat template; the function raises `SymboUQError` for a trace that
            was generated with another one.
    """
    from symbouq.evidence.generation.run import prompt_of

    def prompt_ids(record: Record) -> list[int]:
        generation = record["generation"]
        if generation.get("chat_template", chat.hash) != chat.hash:
            raise SymboUQError(
                f"trace {record['id']} was generated with another chat template than the "
                "model's; give it as a file (--chat-template FILE)"
            )
        free_form = bool(generation.get("free_form"))
        message = prompt_of(make_record(Instance, record), free_form)
        return chat.ids(message, structured=not free_form)

    return prompt_ids


def _loaded(model: Model, options: Extraction) -> Any:
    import torch
    from transformers import AutoModelForCausalLM

    from symbouq.evidence.generation.models import unreadable

    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = options.dtype or ("float32" if device == "cpu" else "auto")
    with unreadable(model, "model"):
        # Other kinds of attention do not give their weights.
        network: Any = AutoModelForCausalLM.from_pretrained(
            model.folder, dtype=dtype, attn_implementation="eager"
        )
        return network.to(device)
