"""Training on generated scenes, either of a small new Llama or of a pretrained model."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain, islice
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from symbouq.evidence.devices import best_device, has_bfloat16
from symbouq.evidence.generation.models import find_model, load_network, load_tokenizer
from symbouq.experiments.backbones.corpus import Pair, corpus, instructions
from symbouq.experiments.backbones.plan import Plan, Size
from symbouq.experiments.scenes.wording import Wordings
from symbouq.io.output import replacing
from symbouq.version import __version__

CARD = "training.json"
"""File in a backbone's folder that describes how it was made."""

STATE = "training.pt"
"""File in the folder of an unfinished backbone. It contains the state needed to resume training."""

_IGNORED = -100
_VOCABULARY_TEXTS = 4000
_POOL = 1024
"""Number of pairs that are sorted by length at once, so that batches contain little padding."""

_TOGETHER = 1024
"""Number of tokens for which gradients are computed at once. It is limited, because the activations
stored in a pass take most of the memory."""

_STATE_EVERY = 300.0
"""Interval in seconds between saves of the training state."""


Watch = Callable[[int, float], None]
"""Called with the number of each step and its loss."""


class _Pupil(NamedTuple):
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    origin: Mapping[str, Any]


def train(
    plan: Plan, out: Path, wordings: Wordings | None = None, watch: Watch | None = None
) -> PreTrainedModel:
    """Train a backbone and save it as a model folder in the format of Hugging Face Transformers.

    The folder gets bfloat16 weights, the tokenizer with its chat template, and `training.json`,
    which contains the plan, a hash of the first corpus texts and the last losses. Interrupted
    training is resumed. A model that was already finished with the same plan is loaded. `watch` is
    called after every step.

    Raises:
        SymboUQError: If a pretrained model cannot be loaded.
    """
    pairs = list(islice(corpus(plan.seed, plan.hops, wordings), _VOCABULARY_TEXTS))
    written = "\n".join(chain.from_iterable(pairs))
    torch.manual_seed(plan.seed)
    start = plan.start
    pupil = _further(start) if isinstance(start, str) else _from_nothing(start, pairs)
    made_from = {
        "symbouq": __version__,
        "plan": asdict(plan) | {"start": pupil.origin, "steps": plan.length, "rate": plan.peak},
        "wordings": sum(map(len, wordings.values())) if wordings else 0,
        "corpus_sha256": hashlib.sha256(written.encode()).hexdigest(),
    }
    made_from = json.loads(json.dumps(made_from))  # as it is after reading the file
    if _is_made(out, made_from):
        return load_network(find_model(str(out)), "cpu", "bfloat16")
    out.mkdir(parents=True, exist_ok=True)
    losses = _taught(plan, pupil, out / STATE, made_from, wordings, watch)
    pupil.model.bfloat16().save_pretrained(out)
    pupil.tokenizer.save_pretrained(out)
    card = made_from | {
        "parameters": pupil.model.num_parameters(),
        "loss": round(fmean(losses[-50:]), 4),
    }
    (out / CARD).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    (out / STATE).unlink(missing_ok=True)
    return pupil.model


def _is_made(out: Path, made_from: Mapping[str, Any]) -> bool:
    try:
        card = json.loads((out / CARD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(card, dict) and {name: card.get(name) for name in made_from} == made_from


def _from_nothing(size: Size, pairs: Sequence[Pair]) -> _Pupil:
    tokenizer = train_tokenizer(chain.from_iterable(pairs), size.vocabulary, instructions())
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=size.width,
            intermediate_size=size.feed_forward,
            num_hidden_layers=size.layers,
            num_attention_heads=size.heads,
            max_position_embeddings=1024,
            tie_word_embeddings=True,
            initializer_range=size.width**-0.5,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    model.to(best_device())  # type: ignore[arg-type]
    return _Pupil(model, tokenizer, asdict(size))


def _further(start: str) -> _Pupil:
    """Load a pretrained model and add one token for each fixed instruction. These tokens make
    prompts shorter, and their meaning is learned in training.
    """
    base = find_model(start)
    tokenizer = load_tokenizer(base)
    model: Any = load_network(base, best_device(), "float32")
    texts = [text for text in instructions() if text not in tokenizer.get_vocab()]
    pieces = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
    tokenizer.add_tokens(texts)
    embeddings = model.resize_token_embeddings(
        max(len(tokenizer), model.config.vocab_size), mean_resizing=False
    ).weight
    with torch.no_grad():
        for text, ids in zip(texts, pieces, strict=True):
            embeddings[tokenizer.convert_tokens_to_ids(text)] = embeddings[ids].mean(0)
    return _Pupil(model, tokenizer, {"name": base.name, "hash": base.hash})


def _taught(
    plan: Plan,
    pupil: _Pupil,
    state: Path,
    made_from: Mapping[str, Any],
    wordings: Wordings | None,
    watch: Watch | None,
) -> list[float]:
    """Train a model, resuming from a matching state file, and return the loss of every step."""
    model = pupil.model.train()
    device = model.device.type
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=plan.peak, betas=(0.9, 0.98), weight_decay=0.0
    )
    rate = partial(_rate, steps=plan.length)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, rate)
    parts: dict[str, Any] = {"model": model, "optimiser": optimiser, "schedule": schedule}
    losses: list[float] = []
    stopped = _read_state(state, made_from)
    if stopped is not None:
        for name, part in parts.items():
            part.load_state_dict(stopped["parts"][name])
        losses = stopped["losses"]
    taught = chain.from_iterable(
        islice(batches(corpus(seed, hops, wordings), pupil.tokenizer, plan), steps)
        for seed, (hops, steps) in enumerate(lessons(plan), start=plan.seed + 1)
    )
    written = time.monotonic()
    for step, batch in enumerate(islice(taught, len(losses), None), start=len(losses) + 1):
        losses.append(_gradients(model, *(tensor.to(device) for tensor in batch)))
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad(set_to_none=True)
        if time.monotonic() - written > _STATE_EVERY:
            kept = {name: part.state_dict() for name, part in parts.items()}
            with replacing(state) as stream:
                torch.save({"made_from": dict(made_from), "parts": kept, "losses": losses}, stream)
            written = time.monotonic()
        if watch:
            watch(step, losses[-1])
    return losses


def _gradients(
    model: PreTrainedModel, ids: torch.Tensor, mask: torch.Tensor, targets: torch.Tensor
) -> float:
    """Add the gradients of a batch's mean loss, and return the loss. The arguments are as in
    `_loss`.
    """
    device = model.device.type
    rows = max(1, _TOGETHER // ids.shape[1])
    parts = zip(*(torch.split(t, rows) for t in (ids, mask, targets)), strict=True)
    count = (targets[:, 1:] != _IGNORED).sum()
    mean = 0.0
    for part in parts:
        with torch.autocast(device, torch.bfloat16, enabled=has_bfloat16(device)):
            loss: Any = _loss(model, *part) / count
        loss.backward()
        mean += loss.item()
    return mean


def _loss(
    model: PreTrainedModel, ids: torch.Tensor, mask: torch.Tensor, targets: torch.Tensor
) -> torch.Tensor:
    """Sum the negative log-probabilities of the targets. Token ids, mask and targets are `[rows,
    tokens]`.

    Logits are large, so they are computed only at positions that predict a target in any row.
    """
    following = targets[:, 1:]
    places = (following != _IGNORED).any(0).nonzero().squeeze(1)
    logits = model(input_ids=ids, attention_mask=mask, logits_to_keep=places).logits
    return cross_entropy(
        logits.flatten(0, 1).float(),
        following[:, places].flatten(),
        ignore_index=_IGNORED,
        reduction="sum",
    )


def _read_state(state: Path, made_from: Mapping[str, Any]) -> Any:
    if not state.is_file():
        return None
    stopped = torch.load(state, weights_only=True, map_location="cpu")
    return stopped if stopped["made_from"] == made_from else None


def lessons(plan: Plan) -> list[tuple[tuple[int, ...], int]]:
    """Return the numbers of hops and the number of steps of each lesson.

    In the first lesson, the model learns to find and copy a single fact. The last lesson covers all
    numbers of hops and takes half of the steps. The earlier lessons share the other half.
    """
    hops = tuple(sorted(plan.hops))
    early = plan.length // 2 // max(1, len(hops) - 1)
    shorter = [(hops[:count], early) for count in range(1, len(hops))]
    return [*shorter, (hops, plan.length - early * len(shorter))]


def _rate(step: int, steps: int) -> float:
    """Return the learning rate as a share of its peak: a short warm-up, then cosine decay to a
    twentieth.
    """
    rise = max(1, steps // 20)
    if step < rise:
        return (step + 1) / rise
    return 0.05 + 0.475 * (1 + math.cos(math.pi * (step - rise) / max(1, steps - rise)))


def encoded(pair: Pair, tokenizer: PreTrainedTokenizerBase) -> tuple[list[int], int]:
    """Encode a pair with the chat template; return token ids and the number of prompt tokens."""
    asked = [{"role": "user", "content": pair.prompt}]
    prompt = tokenizer.apply_chat_template(asked, add_generation_prompt=True, tokenize=False)
    start = tokenizer.encode(prompt, add_special_tokens=False)
    answer = tokenizer.encode(pair.completion, add_special_tokens=False)
    return [*start, *answer, tokenizer.eos_token_id], len(start)


def batches(
    pairs: Iterator[Pair], tokenizer: PreTrainedTokenizerBase, plan: Plan
) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Yield batches of pairs of similar length: ids, attention mask and targets, `[rows, tokens]`.

    Only the tokens of the answers are targets.
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
            yield _padded(parts[number])


def _padded(
    rows: Sequence[tuple[list[int], int]],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    stacked = partial(pad_sequence, batch_first=True)
    ids = [torch.tensor(tokens) for tokens, _ in rows]
    answers = [torch.tensor([_IGNORED] * prompt + tokens[prompt:]) for tokens, prompt in rows]
    mask = stacked([torch.ones_like(row) for row in ids])
    return stacked(ids), mask, stacked(answers, padding_value=_IGNORED)


BEGIN, END, USER, ASSISTANT, PADDING = "<s>", "</s>", "<user>", "<assistant>", "<pad>"
_SPECIAL = [BEGIN, END, USER, ASSISTANT, PADDING]

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message.role == 'user' %}<user>{{ message.content }}"
    "{% elif message.role == 'assistant' %}<assistant>{{ message.content }}{{ eos_token }}"
    "{% else %}{{ raise_exception('only user and assistant messages') }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)

# A name such as `A` must be the same token wherever it occurs, so capitals are never merged with
# other letters.
_PIECES = r"[A-Z]|[0-9]| ?[a-z]+|\s|[^\sA-Za-z0-9]+"


def train_tokenizer(
    texts: Iterable[str], size: int, instructions: Iterable[str] = ()
) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE tokenizer with `size` tokens, in which each capital and each digit is
    a token.

    In addition, each fixed instruction becomes a token. A small model would learn nothing from the
    words of an instruction, and this reduces prompts to a third of their length.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=_SPECIAL,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in instructions])
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        bos_token=BEGIN,
        eos_token=END,
        pad_token=PADDING,
        additional_special_tokens=[USER, ASSISTANT],
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        padding_side="left",
        model_max_length=1024,
    )
