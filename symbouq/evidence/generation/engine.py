"""The protocol of engines: messages in, completions out, whichever library runs the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from symbouq.errors import SymboUQError, extra

if TYPE_CHECKING:
    from symbouq.evidence.generation.models import Model
    from symbouq.evidence.generation.prompts import Chat

EngineName = Literal["transformers", "vllm"]
ENGINES: tuple[EngineName, ...] = ("transformers", "vllm")
"""What runs a local model; a server's is run by `EndpointEngine`."""

TOP = 4
"""Alternatives kept at each token."""

Finish = Literal["stop", "length", "failed"]
"""The model ended its text, it reached the most tokens, or there is no text."""


class Alternative(NamedTuple):
    """One of the most probable tokens at a position, as `Token` has it."""

    id: int | None
    text: str
    logprob: float


class Token(NamedTuple):
    """A generated token.

    Attributes:
        id: Its number in the vocabulary; None where a server does not tell it.
        text: What it adds to the text; empty where it begins a character that a later
            token ends.
        logprob: Its log-probability at temperature 1, whatever it was drawn at.
        top: The most probable tokens here, at most `TOP`, best first; fewer where the
            grammar allows fewer.
    """

    id: int | None
    text: str
    logprob: float
    top: tuple[Alternative, ...]


@dataclass(frozen=True)
class Request:
    """One text to be generated.

    Attributes:
        message: The user message; the engine puts it into the model's chat template.
        max_tokens: Most tokens of the text; fewer where the model's context ends.
        schema: JSON Schema of the text, written without spaces but one after each comma
            and colon; None for free text.
        temperature: The logits are divided by it before a token is drawn; 0 takes the
            most probable one.
        seed: Decides the draws, together with nothing but the request and the model.
        scored: Whether anything reads the log-probabilities of its tokens; where nothing does, an
            engine may give those after the grammar's mask, if others cost a further pass.
    """

    message: str
    max_tokens: int
    schema: Mapping[str, Any] | None = None
    temperature: float = 0.0
    seed: int = 0
    scored: bool = True


@dataclass(frozen=True)
class Completion:
    """The text that a model generated for one request, or why there is none.

    Attributes:
        text: The text: the tokens' texts joined.
        tokens: The generated tokens, without the one that ends the text; none where a server does
            not tell them.
        finish: How it ended.
        prompt_tokens: Length of the prompt.
        error: Why there is no text, where it failed.
        written: How many tokens there are, where they are not told.
    """

    text: str
    tokens: tuple[Token, ...]
    finish: Finish
    prompt_tokens: int
    error: str = ""
    written: int = 0

    @property
    def length(self) -> int:
        """How many tokens it has."""
        return len(self.tokens) or self.written

    @property
    def token_ids(self) -> list[int]:
        """The generated tokens' numbers, as far as they are told."""
        return [token.id for token in self.tokens if token.id is not None]

    @property
    def logprob(self) -> float | None:
        """Log-probability of the whole text; None where it is not told."""
        return sum(token.logprob for token in self.tokens) if self.tokens or not self.text else None


class Engine(Protocol):
    """Runs a model.

    Attributes:
        version: Name and version of the library.
        device: Where it runs.
        batch_size: Texts that it generates side by side.
    """

    version: str
    device: str
    batch_size: int

    @property
    def model_name(self) -> str:
        """What its model is called in traces."""

    @property
    def identity(self) -> dict[str, Any]:
        """What of engine and model decides the texts, as it stands in records."""

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """One completion a request, in order; a request that fails says so in its own.

        Raises:
            SymboUQError: If nothing can be generated: the chat template refuses the
                message, the schema cannot be compiled.
        """


class LocalEngine:
    """What engines that run a model of this machine have in common.

    Attributes:
        name: Which library.
        model: What it runs.
        chat: How messages become prompts.
        dtype: Numbers it computes with.
        masked_logprobs: Whether log-probabilities are those after the grammar's mask.
    """

    name: EngineName
    model: Model
    chat: Chat
    dtype: str
    masked_logprobs: bool

    @property
    def model_name(self) -> str:
        """The name of its model."""
        return self.model.name

    @property
    def identity(self) -> dict[str, Any]:
        """Library, model, chat template and numbers."""
        return {
            "engine": self.name,
            "model_hash": self.model.hash,
            **({"revision": self.model.revision} if self.model.revision else {}),
            "chat_template": self.chat.hash,
            "dtype": self.dtype,
            "masked_logprobs": self.masked_logprobs,
        }


class Options(NamedTuple):
    """Settings with which an engine is loaded.

    Attributes:
        device: `cpu`, `cuda`, `cuda:1`; None for the GPU where there is one.
        dtype: `float32`, `bfloat16` or `float16`; None for float32 on a CPU and the
            model's own on a GPU.
        batch_size: Texts side by side; None for the engine's own choice.
        chat_template: File with a Jinja chat template, in place of the tokenizer's own.
        masked_logprobs: Whether log-probabilities are recorded after the grammar's mask,
            as vLLM gives them, or before it.
        context: Most tokens of a prompt with its text; None for as many as the model takes.
        quantization: How vLLM quantises weights; None for as they are stored.
        memory: Share of a GPU's memory that vLLM takes; None for its own choice.
        tensor_parallel: GPUs that vLLM divides the model among.
        tokenizer_mode: Which tokenizer vLLM loads; None for its own choice.
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
    """The message for a prompt that leaves no room."""
    return f"the prompt has {prompt} tokens, the model's context is {context}"


def load_engine(name: EngineName, model: str, options: Options | None = None) -> Engine:
    """Loads a model, given as a folder or an id on the Hugging Face hub.

    Raises:
        SymboUQError: If a package is missing, the model cannot be loaded, or the engine does not
            support an option.
    """
    options = options or Options()
    if name == "transformers":
        with extra("models"):
            from symbouq.evidence.generation.transformers_engine import TransformersEngine
        return TransformersEngine(model, options)
    if name == "vllm":
        with extra("vllm"):
            from symbouq.evidence.generation.vllm_engine import VllmEngine
        return VllmEngine(model, options)
    raise SymboUQError(f"there is no engine {name}; there are {', '.join(ENGINES)}")
