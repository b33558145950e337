"""Generation with transformers, on a CPU or a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from random import Random
from typing import Any

import torch
import transformers
from llguidance import LLMatcher
from transformers import DynamicCache, PreTrainedModel

from symbouq.errors import SymboUQError
from symbouq.evidence.devices import best_device, memory_shortage
from symbouq.evidence.generation.engine import (
    TOP,
    Completion,
    EngineName,
    Finish,
    LocalEngine,
    Options,
    Request,
    too_long,
)
from symbouq.evidence.generation.grammar import GrammarProcessor, Grammars
from symbouq.evidence.generation.models import (
    context_length,
    find_model,
    load_network,
    load_tokenizer,
)
from symbouq.evidence.generation.prompts import Chat
from symbouq.evidence.generation.tokens import Scored, TokenReader

BATCH = 64
"""Default number of texts generated together."""


@dataclass
class _Row:
    """A request and the text generated so far. `random` is None if the most probable token is
    always chosen.
    """

    request: Request
    prompt: list[int]
    room: int
    matcher: LLMatcher | None
    random: Random | None
    scored: list[Scored] = field(default_factory=list)
    finish: Finish = "length"
    error: str = ""


class TransformersEngine(LocalEngine):
    """An `Engine` that runs a model with transformers.

    The texts of a batch are generated in parallel, and finished texts are removed from the batch. A
    prompt shared by several requests is read once, and so is the common beginning of all prompts.
    Each row has its own random generator, so other rows can affect its result only through
    floating-point rounding. If a batch does not fit into memory, this and later batches are halved.

    Raises:
        SymboUQError: If the model cannot be loaded, or there is no such device.
    """

    name: EngineName = "transformers"

    def __init__(self, model: str, options: Options) -> None:
        self.version = f"transformers {transformers.__version__}"
        self.model = find_model(model)
        self.device = best_device(options.device)
        self.masked_logprobs = options.masked_logprobs
        self.batch_size = options.batch_size or BATCH
        self.tokenizer = load_tokenizer(self.model)
        self.chat = Chat(self.tokenizer, options.chat_template)
        self.network = load_network(self.model, self.device, options.dtype)
        self.dtype = str(self.network.dtype).removeprefix("torch.")
        self._ends = _ends(self.network, self.tokenizer)
        self._context = context_length(self.network.config)
        if options.context is not None:
            self._context = min(options.context, self._context or options.context)
        self._reader = TokenReader(self.tokenizer)
        self._fits = self.batch_size

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """Generate one completion per request, in order.

        Raises:
            SymboUQError: If the chat template refuses a message, or a schema cannot be compiled.
        """
        for size in (self.batch_size, self._fits):
            if len(requests) > size:
                parts = [requests[n : n + size] for n in range(0, len(requests), size)]
                return [completion for part in parts for completion in self.generate(part)]
        rows = [self._row(request) for request in requests]
        shortage = memory_shortage(self._run, [row for row in rows if not row.error])
        if shortage and len(rows) > 1:
            self._fits = len(rows) // 2
            return self.generate(requests)
        return [self._completion(row, shortage and f"out of memory: {shortage}") for row in rows]

    @cached_property
    def _grammars(self) -> Grammars:
        return Grammars(self.tokenizer, self._ends)

    def _row(self, request: Request) -> _Row:
        prompt = self.chat.ids(request.message)
        room = request.max_tokens
        if self._context is not None:
            room = min(room, self._context - len(prompt))
        error = too_long(len(prompt), self._context) if room < 1 else ""
        matcher = self._grammars.matcher(request.schema) if request.schema is not None else None
        random = Random(request.seed) if request.temperature > 0 else None
        return _Row(request, prompt, room, matcher, random, error=error)

    def _run(self, rows: Sequence[_Row]) -> None:
        if rows:
            _Batch(self, rows).run()

    def _completion(self, row: _Row, failure: str) -> Completion:
        error = row.error or failure
        if error:
            return Completion("", (), "failed", len(row.prompt), error)
        tokens = self._reader.tokens(row.scored)
        text = "".join(token.text for token in tokens)
        return Completion(text, tokens, row.finish, len(row.prompt))


class _Batch:
    """A batch of rows that are generated together. Each row collects its own text."""

    def __init__(self, engine: TransformersEngine, rows: Sequence[_Row]) -> None:
        self._network = engine.network
        self._ends = engine._ends
        self._masked = engine.masked_logprobs
        self._rows = list(rows)
        self._grammar = GrammarProcessor([row.matcher for row in rows], engine._ends)
        numbers: dict[tuple[int, ...], int] = {}
        self._which = [numbers.setdefault(tuple(row.prompt), len(numbers)) for row in rows]
        longest = max(map(len, numbers))
        self._shared = shared = self._beginning([*numbers], longest)
        pads = [longest - len(prompt) for prompt in numbers]
        # Put padding before the part in which prompts differ, so that all generated texts start in
        # the same column.
        padded = [
            [*prompt[:shared], *[0] * pad, *prompt[shared:]]
            for pad, prompt in zip(pads, numbers, strict=True)
        ]
        masks = [[1] * shared + [0] * pad + [1] * (longest - shared - pad) for pad in pads]
        self._ids = torch.tensor(padded, device=engine.device)
        self._mask = torch.tensor(masks, device=engine.device)
        self._cache = DynamicCache(config=engine.network.config)

    @torch.inference_mode()
    def run(self) -> None:
        """Generate until every row is finished."""
        positions, shared = (self._mask.cumsum(1) - 1).clamp(min=0), self._shared
        if shared:
            self._forward(self._ids[:1, :shared], self._mask[:1, :shared], positions[:1, :shared])
            self._cache.batch_repeat_interleave(len(self._ids))
        logits = self._forward(self._ids[:, shared:], self._mask, positions[:, shared:])
        logits = logits[self._select(self._which)]
        while True:
            chosen = self._step(logits)
            kept = [n for n, row in enumerate(self._rows) if self._goes_on(n, row, chosen[n])]
            if not kept:
                return
            if len(kept) < len(self._rows):
                self._rows = [self._rows[n] for n in kept]
                self._grammar.keep(kept)
                self._select(kept)
                chosen = [chosen[n] for n in kept]
            new = torch.tensor(chosen, device=self._ids.device).unsqueeze(1)
            self._ids = torch.cat([self._ids, new], dim=1)
            self._mask = torch.cat([self._mask, torch.ones_like(new)], dim=1)
            logits = self._forward(new, self._mask, self._mask.sum(1, keepdim=True) - 1)

    def _beginning(self, prompts: Sequence[tuple[int, ...]], longest: int) -> int:
        """Return the number of tokens in the common beginning of all prompts, leaving at least one
        token per prompt.

        Return 0 if a text may become longer than a sliding attention window, because padding
        between tokens would take up space in the window.
        """
        window = getattr(self._network.config.get_text_config(), "sliding_window", None)
        if len(prompts) == 1 or (
            window is not None and longest + max(row.room for row in self._rows) > window
        ):
            return 0
        # The common beginning of the first and the last prompt in sorted order is shared by all
        # prompts.
        pairs = zip(min(prompts), max(prompts), strict=False)
        alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        return min(alike, min(map(len, prompts)) - 1)

    def _forward(
        self, ids: torch.Tensor, mask: torch.Tensor, positions: torch.Tensor
    ) -> torch.Tensor:
        output = self._network(
            input_ids=ids,
            attention_mask=mask,
            position_ids=positions,
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits: torch.Tensor = output.logits[:, -1].float()
        return logits

    def _step(self, logits: torch.Tensor) -> list[int]:
        scores = self._grammar(self._ids, logits)  # type: ignore[arg-type]
        chosen = scores.argmax(-1)
        drawn = [n for n, row in enumerate(self._rows) if row.random is not None]
        if drawn:
            chosen[drawn] = self._draw(scores[drawn], [self._rows[n] for n in drawn])
        logprobs = (scores if self._masked else logits).log_softmax(-1)
        of_chosen = logprobs.gather(-1, chosen.unsqueeze(1)).squeeze(1).tolist()
        best = logprobs.topk(min(TOP, logprobs.shape[-1]), dim=-1)
        tokens: list[int] = chosen.tolist()
        written = zip(tokens, of_chosen, best.indices.tolist(), best.values.tolist(), strict=True)
        for row, (token, logprob, others, values) in zip(self._rows, written, strict=True):
            row.scored.append((token, logprob, list(zip(others, values, strict=True))))
        return tokens

    def _draw(self, scores: torch.Tensor, rows: Sequence[_Row]) -> torch.Tensor:
        """Draw a token per row with the row's own generator, identically on every device."""
        heat = torch.tensor([row.request.temperature for row in rows], device=scores.device)
        points = torch.tensor(
            [row.random.random() for row in rows if row.random is not None],
            dtype=torch.float64,
            device=scores.device,
        )
        total = (scores.double() / heat.unsqueeze(1)).softmax(-1).cumsum(-1)
        points = points.unsqueeze(1) * total[:, -1:]
        drawn = torch.searchsorted(total, points, right=True).squeeze(1)
        return drawn.clamp(max=scores.shape[-1] - 1)

    def _goes_on(self, number: int, row: _Row, token: int) -> bool:
        if token in self._ends:
            row.scored.pop()
            row.finish = "stop"
            row.error = self._grammar.error(number)
            return False
        return len(row.scored) < row.room

    def _select(self, rows: Sequence[int]) -> torch.Tensor:
        """Keep only the given rows (possibly with repetitions) of the tokens and the cache. Return
        their numbers.
        """
        chosen = torch.tensor(rows, device=self._ids.device)
        self._ids, self._mask = self._ids[chosen], self._mask[chosen]
        self._cache.batch_select_indices(chosen)
        return chosen


def _ends(network: PreTrainedModel, tokenizer: Any) -> list[int]:
    named = getattr(network.generation_config, "eos_token_id", None)
    listed = named if isinstance(named, list) else [named]
    ends = dict.fromkeys(end for end in (*listed, tokenizer.eos_token_id) if end is not None)
    if not ends:
        raise SymboUQError("neither model nor tokenizer names an end-of-text token")
    return list(ends)
