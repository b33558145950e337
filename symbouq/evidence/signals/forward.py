"""Computes a backbone's signals for each token of a trace in one teacher-forced pass.

The prompt and the generated tokens pass through the model once, with eager attention. Attention is
reduced layer by layer, so only one layer's weights are in memory at a time.

The token at position p is predicted at position p - 1, so its hidden state, logits and attention
are taken from there. For the first generated token, this is the last position of the prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from symbouq.errors import SymboUQError
from symbouq.evidence.devices import in_batches
from symbouq.evidence.signals.example import TokenSignals

if TYPE_CHECKING:
    import torch

    from symbouq.evidence.signals.example import Floats

Lookback = Literal["heads", "pooled"]
"""Whether lookback ratios are stored for each head of each layer, or averaged over the heads of
each layer."""

TOP = 4
"""Number of probabilities stored for each token."""

TOKENS = 4096
"""Default number of tokens in a batch, including padding."""


class Forced(NamedTuple):
    """A sequence to pass through a model.

    Attributes:
        prompt: The P tokens of the prompt, at least one.
        generated: The T generated tokens.
        id: Id of the trace, for messages.
    """

    prompt: Sequence[int]
    generated: Sequence[int]
    id: str = ""


class ForcedPass:
    """Computes the signals of traces by teacher-forced passes through one model.

    Probabilities are computed without a grammar mask and at temperature 1.

    The lookback ratio of head h of layer l at generated token t = 1, 2, ... is

        A(prompt) = mean of a[j] over the P places j of the prompt
        A(new)    = mean of a[j] over the t - 1 places j of the tokens generated before t
        lookback  = A(prompt) / (A(prompt) + A(new))

    where a holds the head's attention weights at the position that predicts token t. At the first
    token, A(new) = 0 and the ratio is 1.

    The model must be loaded with `attn_implementation="eager"`. A batch has up to `tokens` tokens,
    including padding; this number is halved when memory runs out. `layers` is the number of layers
    with attention, `heads` the number of heads per layer, `width` the width of the final hidden
    state, and `lookbacks` the number of ratios per token.

    Raises:
        SymboUQError: If the model's layers have no `self_attn`.
    """

    def __init__(self, model: Any, lookback: Lookback = "heads", tokens: int = TOKENS) -> None:
        self.model = model.eval()
        self.lookback: Lookback = lookback
        self.tokens = tokens
        self._attentions = [
            module for name, module in model.named_modules() if name.endswith(".self_attn")
        ]
        self._head = model.get_output_embeddings()
        if not self._attentions or self._head is None:
            raise SymboUQError(
                f"{type(model).__name__} gives no attention weights (its layers have no "
                "`self_attn`), so it has no lookback ratios"
            )
        config = model.config.get_text_config()
        self.layers = len(self._attentions)
        self.heads = int(config.num_attention_heads)
        self.width = int(config.hidden_size)
        self.lookbacks = self.layers * (self.heads if lookback == "heads" else 1)

    def signals(self, sequences: Sequence[Forced]) -> list[TokenSignals]:
        """Compute the signals of the given sequences, in order.

        Sequences of similar length are batched, with at most `tokens` tokens. If a batch does not
        fit into memory, this and later batches are halved.

        Raises:
            SymboUQError: If a single sequence does not fit, or attention is not eager.
        """
        made: dict[int, TokenSignals] = {
            n: self._empty() for n, sequence in enumerate(sequences) if not sequence.generated
        }

        def run(batch: Sequence[int]) -> None:
            made.update(zip(batch, self._batch([sequences[n] for n in batch]), strict=True))

        self.tokens = in_batches(
            (n for n in range(len(sequences)) if n not in made),
            lambda n: _length(sequences[n]),
            self.tokens,
            run,
            lambda n: f"trace {sequences[n].id}",
        )
        return [made[n] for n in range(len(sequences))]

    def _empty(self) -> TokenSignals:
        import numpy as np

        shapes = ((0,), (0, TOP), (0, self.width), (0, self.lookbacks))
        return TokenSignals(*(np.zeros(shape, np.float32) for shape in shapes))

    def _batch(self, sequences: Sequence[Forced]) -> list[TokenSignals]:
        import torch

        # Pad on the right. With causal attention, padding cannot affect earlier positions.
        longest = max(map(_length, sequences))
        ids = torch.zeros((len(sequences), longest), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, sequence in enumerate(sequences):
            whole = torch.tensor([*sequence.prompt, *sequence.generated])
            ids[row, : len(whole)] = whole
            mask[row, : len(whole)] = 1
        # Logits are large, so keep them only at positions that predict a generated token in any
        # row.
        first = min(len(sequence.prompt) for sequence in sequences) - 1
        places = torch.arange(first, longest - 1)
        device = self._head.weight.device
        with torch.inference_mode(), self._watched(sequences) as (lookbacks, hidden):
            logits = self.model(
                input_ids=ids.to(device),
                attention_mask=mask.to(device),
                use_cache=False,
                logits_to_keep=places.to(device),
            ).logits
            return [
                _row(sequence, first, logits[row], hidden[0][row], lookbacks[row])
                for row, sequence in enumerate(sequences)
            ]

    @contextmanager
    def _watched(
        self, sequences: Sequence[Forced]
    ) -> Iterator[tuple[list[list[torch.Tensor]], list[torch.Tensor]]]:
        """Install hooks for the duration of a batch. They collect the lookback ratios `[T, heads]`
        of each row for each layer, and the input to the language model head.
        """
        lookbacks: list[list[torch.Tensor]] = [[] for _ in sequences]
        hidden: list[torch.Tensor] = []

        def reduce(module: Any, inputs: Any, output: Any) -> None:
            weights = output[1] if isinstance(output, tuple) and len(output) > 1 else None
            if weights is None:
                raise SymboUQError(
                    f"{type(self.model).__name__} gives no attention weights; load it with "
                    'attn_implementation="eager"'
                )
            for row, sequence in enumerate(sequences):
                ratios = _ratios(weights[row], sequence)
                pooled = self.lookback == "pooled"
                lookbacks[row].append(ratios.mean(1, keepdim=True) if pooled else ratios)

        def keep(module: Any, inputs: Any) -> None:
            hidden.append(inputs[0])

        handles = [module.register_forward_hook(reduce) for module in self._attentions]
        handles.append(self._head.register_forward_pre_hook(keep))
        try:
            yield lookbacks, hidden
        finally:
            for handle in handles:
                handle.remove()


def _row(
    sequence: Forced,
    first: int,
    logits: torch.Tensor,
    hidden: torch.Tensor,
    lookbacks: list[torch.Tensor],
) -> TokenSignals:
    import torch

    start = len(sequence.prompt) - 1 - first
    kept = slice(start, start + len(sequence.generated))
    logprobs = logits[kept].float().log_softmax(-1)
    tokens = torch.tensor(sequence.generated, device=logprobs.device)
    return TokenSignals(
        _array(logprobs.gather(1, tokens[:, None])[:, 0]),
        _array(logprobs.topk(TOP).values.exp()),
        _array(hidden[kept]),
        _array(torch.cat(lookbacks, 1)),
    )


def _ratios(weights: torch.Tensor, sequence: Forced) -> torch.Tensor:
    """Compute the lookback ratios `[T, heads]` of one row from its attention weights `[heads, Q,
    K]`.
    """
    import torch

    prompt, new = len(sequence.prompt), len(sequence.generated)
    seen = weights[:, prompt - 1 : prompt + new - 1, : prompt + new - 1].float()
    to_prompt = seen[:, :, :prompt].mean(2)
    before = torch.arange(new, device=seen.device).clamp(min=1)
    to_new = seen[:, :, prompt:].sum(2) / before
    # Avoid dividing zero by zero if an attention window no longer reaches the prompt.
    total = (to_prompt + to_new).clamp(min=torch.finfo(torch.float32).tiny)
    return (to_prompt / total).T


def _length(sequence: Forced) -> int:
    return len(sequence.prompt) + len(sequence.generated)


def _array(tensor: torch.Tensor) -> Floats:
    return tensor.float().cpu().numpy()
