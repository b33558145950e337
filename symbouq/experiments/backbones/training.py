"""Training a small Llama from nothing on the project's own scenes."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from statistics import fmean

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from symbouq.evidence.devices import best_device
from symbouq.experiments.backbones.corpus import Pair, corpus, instructions
from symbouq.experiments.backbones.tokenizer import train_tokenizer
from symbouq.experiments.scenes.wording import Wordings
from symbouq.version import __version__

CARD = "training.json"
"""File of a backbone's folder that says what made it."""

_IGNORED = -100
_VOCABULARY_TEXTS = 4000
_POOL = 1024
"""Pairs that are sorted by length together, so that a batch holds little padding."""


@dataclass(frozen=True)
class Size:
    """The shape of a backbone. Heads are 32 wide: vLLM on a CPU takes no narrower ones."""

    width: int
    layers: int
    feed_forward: int
    vocabulary: int = 768

    @property
    def heads(self) -> int:
        """Attention heads of a layer."""
        return self.width // 32


SIZES = {"small": Size(256, 4, 704), "tiny": Size(128, 4, 352)}
"""The two sizes that ship, 3.4 and 0.9 million parameters."""


@dataclass(frozen=True)
class Plan:
    """Settings with which a backbone is trained.

    Attributes:
        size: Its shape.
        steps: Optimiser steps.
        tokens: Tokens in a batch, padding included.
        rate: Peak learning rate of Muon; it rises over 5 % of the steps and falls as a cosine.
        seed: Draws weights and corpus.
        hops: Numbers of hops of the scenes, the easiest first (`lessons`).
    """

    size: Size
    steps: int = 3000
    tokens: int = 2048
    rate: float = 2e-2
    seed: int = 2026
    hops: tuple[int, ...] = (1, 2, 3)


Watch = Callable[[int, float], None]
"""Called with the step and its loss."""


def train(
    plan: Plan, out: Path, wordings: Wordings | None = None, watch: Watch | None = None
) -> LlamaForCausalLM:
    """Trains a backbone and writes it as a model folder of transformers.

    The folder holds bfloat16 weights, the tokenizer with its chat template, and
    `training.json`: the plan, the hash of the first texts of the corpus, the last losses.

    Args:
        plan: How.
        out: The folder.
        wordings: Further wordings of directions (`corpus.wordings_of`).
        watch: Told of every step.
    """
    pairs = list(islice(corpus(plan.seed, plan.hops, wordings), _VOCABULARY_TEXTS))
    written = "\n".join(chain.from_iterable(pairs))
    tokenizer = train_tokenizer(chain.from_iterable(pairs), plan.size.vocabulary, instructions())
    torch.manual_seed(plan.seed)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=plan.size.width,
            intermediate_size=plan.size.feed_forward,
            num_hidden_layers=plan.size.layers,
            num_attention_heads=plan.size.heads,
            max_position_embeddings=1024,
            tie_word_embeddings=True,
            initializer_range=plan.size.width**-0.5,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    device = best_device()
    model.to(device)  # type: ignore[arg-type]
    optimisers = _optimisers(model, plan.rate)
    schedules = [
        torch.optim.lr_scheduler.LambdaLR(optimiser, partial(_rate, steps=plan.steps))
        for optimiser in optimisers
    ]
    losses: list[float] = []
    started = time.monotonic()
    taught = chain.from_iterable(
        islice(batches(corpus(seed, hops, wordings), tokenizer, plan), steps)
        for seed, (hops, steps) in enumerate(lessons(plan), start=plan.seed + 1)
    )
    for step, batch in enumerate(taught, start=1):
        inputs, mask, targets = (tensor.to(device) for tensor in batch)
        with torch.autocast(device, torch.bfloat16):
            loss = model(input_ids=inputs, attention_mask=mask, labels=targets).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimiser, schedule in zip(optimisers, schedules, strict=True):
            optimiser.step()
            schedule.step()
            optimiser.zero_grad(set_to_none=True)
        losses.append(loss.item())
        if watch:
            watch(step, losses[-1])
    model.bfloat16().save_pretrained(out)
    tokenizer.save_pretrained(out)
    card = {
        "symbouq": __version__,
        "plan": asdict(plan),
        "parameters": model.num_parameters(),
        "wordings": sum(map(len, wordings.values())) if wordings else 0,
        "corpus_sha256": hashlib.sha256(written.encode()).hexdigest(),
        "loss": round(fmean(losses[-50:]), 4),
        "seconds": round(time.monotonic() - started),
    }
    (out / CARD).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    return model


def lessons(plan: Plan) -> list[tuple[tuple[int, ...], int]]:
    """The order of teaching: numbers of hops, and for how many steps.

    To find and copy one fact comes first: the last lesson, on all numbers of hops, takes half
    of the steps, the shorter ones share the other half.
    """
    hops = tuple(sorted(plan.hops))
    early = plan.steps // 2 // max(1, len(hops) - 1)
    shorter = [(hops[:count], early) for count in range(1, len(hops))]
    return [*shorter, (hops, plan.steps - early * len(shorter))]


def _optimisers(model: LlamaForCausalLM, rate: float) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, AdamW for embeddings and norms.

    In a comparison over 800 steps Muon needed a fifth fewer steps than AdamW alone.
    """
    matrices = [w for name, w in model.named_parameters() if w.ndim == 2 and "embed" not in name]
    taken = {id(weight) for weight in matrices}
    others = [weight for weight in model.parameters() if id(weight) not in taken]
    return [
        torch.optim.Muon(matrices, lr=rate, weight_decay=0.01),
        torch.optim.AdamW(others, lr=0.15 * rate, betas=(0.9, 0.98)),
    ]


def _rate(step: int, steps: int) -> float:
    """The share of the peak learning rate: a short rise, then a cosine to a twentieth."""
    rise = max(1, steps // 20)
    if step < rise:
        return (step + 1) / rise
    return 0.05 + 0.475 * (1 + math.cos(math.pi * (step - rise) / max(1, steps - rise)))


def encoded(pair: Pair, tokenizer: PreTrainedTokenizerFast) -> tuple[list[int], int]:
    """Token ids of a pair under the chat template, and how many of them are the prompt's."""
    asked = [{"role": "user", "content": pair.prompt}]
    prompt = tokenizer.apply_chat_template(asked, add_generation_prompt=True, tokenize=False)
    start = tokenizer.encode(prompt, add_special_tokens=False)
    answer = tokenizer.encode(pair.completion, add_special_tokens=False)
    return [*start, *answer, tokenizer.eos_token_id], len(start)


def batches(
    pairs: Iterator[Pair], tokenizer: PreTrainedTokenizerFast, plan: Plan
) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Batches of about equally long pairs: ids, attention mask and targets, `[rows, tokens]`.

    Only the answer's tokens are targets.
    """
    generator = torch.Generator().manual_seed(plan.seed)
    while True:
        rows = [encoded(pair, tokenizer) for pair in islice(pairs, _POOL)]
        parts: list[list[tuple[list[int], int]]] = []
        for row in sorted(rows, key=lambda row: len(row[0])):
            if not parts or len(row[0]) * (len(parts[-1]) + 1) > plan.tokens:
                parts.append([])
            parts[-1].append(row)
        for number in torch.randperm(len(parts), generator=generator).tolist():
            yield _padded(parts[number], int(tokenizer.pad_token_id))


def _padded(
    rows: Sequence[tuple[list[int], int]], padding: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rows as a batch: ids, attention mask and targets, padded on the right."""
    stacked = partial(pad_sequence, batch_first=True)
    ids = [torch.tensor(tokens) for tokens, _ in rows]
    answers = [torch.tensor([_IGNORED] * prompt + tokens[prompt:]) for tokens, prompt in rows]
    mask = stacked([torch.ones_like(row) for row in ids])
    return stacked(ids, padding_value=padding), mask, stacked(answers, padding_value=_IGNORED)
