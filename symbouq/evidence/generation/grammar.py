"""Constrains output to a JSON Schema. At each step, llguidance determines the allowed tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from llguidance import LLMatcher
from llguidance.hf import from_tokenizer
from transformers import LogitsProcessor

from symbouq.errors import SymboUQError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

FORMAT: dict[str, Any] = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
}
"""Layout of JSON, as in `json.dumps`. With free whitespace, a model could write blanks
endlessly."""


def guided(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Add `FORMAT` to a schema, so that JSON has the same layout in every engine."""
    return {**schema, "x-guidance": FORMAT}


class Grammars:
    """Schemas compiled for a model's tokenizer and end tokens.

    Raises:
        SymboUQError: If llguidance cannot read the tokenizer.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, ends: Sequence[int]) -> None:
        try:
            # llguidance itself checks whether this is a fast tokenizer.
            self._tokenizer = from_tokenizer(cast(Any, tokenizer), eos_token=list(ends))
        except ValueError as error:
            raise SymboUQError(
                f"constrained outputs need a fast tokenizer (tokenizer.json): {error}",
                tokenizer.name_or_path,
            ) from error
        self._compiled: dict[str, LLMatcher] = {}

    def matcher(self, schema: Mapping[str, Any]) -> LLMatcher:
        """Return a matcher in its initial state, before any token was generated.

        Raises:
            SymboUQError: If the schema cannot be compiled.
        """
        key = json.dumps(guided(schema))
        if key not in self._compiled:
            matcher = LLMatcher(self._tokenizer, LLMatcher.grammar_from_json_schema(key))
            if matcher.is_error():
                raise SymboUQError(f"the schema cannot be compiled: {matcher.get_error()}")
            self._compiled[key] = matcher
        return self._compiled[key].deep_copy()


class GrammarProcessor(LogitsProcessor):
    """Masks the tokens that each row's grammar forbids.

    Call it once per step, because it reads the newest token of each row. It returns a copy, so the
    model's own scores are unchanged. A matcher of None allows all tokens. If a grammar fails, only
    the end tokens are allowed.
    """

    def __init__(self, matchers: Sequence[LLMatcher | None], ends: Sequence[int]) -> None:
        self._matchers = list(matchers)
        self._ends = list(ends)
        self._started = False

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """Scores of the next token, `[rows, vocabulary]`; minus infinity for forbidden tokens."""
        if self._started:
            for matcher, token in zip(self._matchers, input_ids[:, -1].tolist(), strict=True):
                if matcher is not None and not matcher.is_stopped():
                    matcher.consume_token(token)
        self._started = True
        masked = scores.clone()
        held = [row for row, matcher in enumerate(self._matchers) if matcher is not None]
        if held:
            allowed = self._allowed(held, scores)
            masked[held] = masked[held].masked_fill(~allowed, -float("inf"))
        return masked  # type: ignore[return-value]

    def keep(self, rows: Sequence[int]) -> None:
        """Keep only the given rows."""
        self._matchers = [self._matchers[row] for row in rows]

    def error(self, row: int) -> str:
        """Reason why the grammar of `row` failed; empty if it did not fail."""
        matcher = self._matchers[row]
        return str(matcher.get_error()) if matcher is not None and matcher.is_error() else ""

    def _allowed(self, rows: Sequence[int], scores: torch.Tensor) -> torch.Tensor:
        """Mask of the allowed tokens in the given rows, `[rows, vocabulary]`."""
        masks = [self._bits(row) for row in rows]
        packed = torch.from_numpy(np.stack(masks)).to(scores.device)
        shifts = torch.arange(8, dtype=torch.uint8, device=scores.device)
        bits = ((packed.unsqueeze(-1) >> shifts) & 1).flatten(1).bool()
        size = scores.shape[-1]
        # A model's vocabulary may be larger than its tokenizer's.
        return torch.nn.functional.pad(bits, (0, max(0, size - bits.shape[1])))[:, :size]

    def _bits(self, row: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        matcher = self._matchers[row]
        assert matcher is not None  # called only for rows with a grammar
        mask = matcher.compute_bitmask()
        bits = np.frombuffer(mask, dtype=np.uint8)
        if matcher.is_error():
            bits = np.zeros_like(bits)
            for end in self._ends:
                bits[end // 8] |= 1 << end % 8
        return bits
