"""Engines turn messages into completions. They hide which library runs the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from symbouq.evidence.generation.models import Model
    from symbouq.evidence.generation.prompts import Chat

EngineName = Literal["transformers", "vllm"]
ENGINES: tuple[EngineName, ...] = ("transformers", "vllm")
"""Libraries that run a local model. `EndpointEngine` uses a server instead."""

TOP = 4
"""Number of alternatives kept for each token."""

Finish = Literal["stop", "length", "failed"]
"""How generation ended: the model stopped, the text reached the maximum length, or it failed."""


class Alternative(NamedTuple):
    """One of the most probable tokens at a position. The fields are those of `Token`."""

    id: int | None
    text: str
    logprob: float


class Token(NamedTuple):
    """A generated token.

    Attributes:
        id: Number in the vocabulary; None if the server does not return it.
        text: Text that the token adds; empty if the token ends within a character.
        logprob: Log-probability at temperature 1, regardless of the sampling temperature.
        top: The most probable tokens, best first, at most `TOP`; fewer if the grammar allows fewer.
    """

    id: int | None
    text: str
    logprob: float
    top: tuple[Alternative, ...]


@dataclass(frozen=True)
class Request:
    """A request to generate one text.

    Attributes:
        message: User message, before the chat template is applied.
        max_tokens: Maximum tokens, within the model's context.
        schema: JSON Schema for the output, which has no spaces except after commas and colons;
            None: free text.
        temperature: Divisor of the logits before sampling; 0 selects the most probable token.
        seed: Together with the request and the model, determines the random draws.
        scored: Whether the log-probabilities will be used. If not, an engine may skip a second pass
            and return log-probabilities taken after the grammar's mask.
    """

    message: str
    max_tokens: int
    schema: Mapping[str, Any] | None = None
    temperature: float = 0.0
    seed: int = 0
    scored: bool = True


@dataclass(frozen=True)
class Completion:
    """The text generated for a request, or the reason why generation failed.

    Attributes:
        text: The joined texts of the tokens.
        tokens: Tokens without the end token; empty if the server does not return them.
        finish: How generation ended.
        prompt_tokens: Number of tokens in the prompt.
        error: Reason for the failure, if generation failed.
        written: Number of tokens, if the tokens themselves are unknown.
    """

    text: str
    tokens: tuple[Token, ...]
    finish: Finish
    prompt_tokens: int
    error: str = ""
    written: int = 0

    @property
    def length(self) -> int:
        """Number of generated tokens."""
        return len(self.tokens) or self.written

    @property
    def token_ids(self) -> list[int]:
        """Ids of the generated tokens, without unknown ones."""
        return [token.id for token in self.tokens if token.id is not None]

    @property
    def logprob(self) -> float | None:
        """Log-probability of the text; None if unknown."""
        return sum(token.logprob for token in self.tokens) if self.tokens or not self.text else None


class Engine(Protocol):
    """Runs a model.

    Attributes:
        version: Name and version of the library.
        device: Where it runs.
        batch_size: Number of texts generated together.
    """

    version: str
    device: str
    batch_size: int

    @property
    def model_name(self) -> str:
        """Name of the model as stored in traces."""

    @property
    def identity(self) -> dict[str, Any]:
        """Properties of the engine and model that determine the generated texts. They are stored in
        records.
        """

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """Generate one completion per request, in order. A failed request is reported in its
        completion.

        Raises:
            SymboUQError: If nothing can be generated because the chat template rejects the message
                or the schema cannot be compiled.
        """


class LocalEngine:
    """Common base class of the engines that run a model on this machine."""

    name: EngineName
    model: Model
    chat: Chat
    dtype: str
    masked_logprobs: bool

    @property
    def model_name(self) -> str:
        """Name of the model."""
        return self.model.name

    @property
    def identity(self) -> dict[str, Any]:
        """Library, model, chat template and number format."""
        return {
            "engine": self.name,
            "model_hash": self.model.hash,
            **({"revision": self.model.revision} if self.model.revision else {}),
            "chat_template": self.chat.hash,
            "dtype": self.dtype,
            "masked_logprobs": self.masked_logprobs,
        }


class Options(NamedTuple):
    """Settings for loading an engine.

    Attributes:
        device: `cpu`, `cuda`, `cuda:1`; None: a GPU if there is one.
        dtype: `float32`, `bfloat16` or `float16`; None: float32 on a CPU, the model's own format on
            a GPU.
        batch_size: Number of texts generated together; None: the engine's choice.
        chat_template: File with a Jinja template that replaces the tokenizer's.
        masked_logprobs: Whether log-probabilities are taken after the grammar's mask, as in vLLM.
        context: Maximum number of tokens of prompt and text together; None: the model's maximum.
        quantization: How vLLM quantises the weights; None: as stored.
        memory: Share of GPU memory for vLLM; None: vLLM's choice.
        tensor_parallel: GPUs across which vLLM splits the model.
        tokenizer_mode: vLLM's tokenizer; None: vLLM's choice.
    """

    device: str | None = None
    dtype: str | None = None
    batch_size: int | None = None
    chat_template: str | None = None
    masked_logprobs: bool = True
    context: int | None = None
    quantization: str | None = None
    memory: float | None = None
    tensor_parallel: int = 1
    tokenizer_mode: str | None = None


def too_long(prompt: int, context: int | None) -> str:
    """Error message for a prompt that leaves no room for generated text."""
    return f"the prompt has {prompt} tokens, the model's context is {context}"
