"""Generation with vLLM's offline engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import vllm
from vllm import LLM, SamplingParams, TokensPrompt
from vllm.sampling_params import StructuredOutputsParams

from symbouq.errors import SymboUQError
from symbouq.evidence.devices import brief
from symbouq.evidence.generation.engine import (
    TOP,
    Completion,
    EngineName,
    Finish,
    Options,
    Request,
    too_long,
)
from symbouq.evidence.generation.grammar import guided
from symbouq.evidence.generation.models import find_model, load_tokenizer, unreadable
from symbouq.evidence.generation.prompts import Chat
from symbouq.evidence.generation.tokens import Scored, TokenReader

BATCH = 1024
"""Texts given to vLLM at once, which batches them itself, unless the options say otherwise."""


class VllmEngine:
    """An `Engine` that runs a model with vLLM.

    llguidance holds the outputs to their schemas, as in the other engine. Log-probabilities
    are those after its mask: vLLM gives no others for constrained outputs. Where memory
    does not suffice, vLLM postpones texts by itself.

    Args:
        model: A model's folder, or its id on the hub.
        options: How to load it; the device is vLLM's choice.

    Raises:
        SymboUQError: If the model cannot be loaded, or the options ask for what vLLM has
            not.
    """

    name: EngineName = "vllm"
    masked_logprobs = True

    def __init__(self, model: str, options: Options) -> None:
        if options.device is not None:
            raise SymboUQError("vLLM chooses the device itself; leave --device out")
        if not options.masked_logprobs:
            raise SymboUQError(
                "vLLM gives no log-probabilities before the grammar's mask; leave "
                "--raw-logprobs out or use the engine transformers"
            )
        self.version = f"vllm {vllm.__version__}"
        self.model = find_model(model)
        self.batch_size = options.batch_size or BATCH
        self.tokenizer = load_tokenizer(self.model)
        self.chat = Chat(self.tokenizer, options.chat_template)
        on_cpu = vllm.platforms.current_platform.is_cpu()
        self.device = "cpu" if on_cpu else "cuda"
        dtype = options.dtype or ("float32" if on_cpu else "auto")
        with unreadable(self.model, "model"):
            self._llm = LLM(
                str(self.model.folder),
                dtype=dtype,  # type: ignore[arg-type,unused-ignore]
                seed=0,
                # With a request's own seed, a CPU cannot read its prompt piece by piece:
                # "CPU Generator does not use offset".
                enable_chunked_prefill=False if on_cpu else None,
                max_logprobs=TOP,
                structured_outputs_config={"backend": "guidance"},
            )
        settings = self._llm.llm_engine.model_config
        self.dtype = str(settings.dtype).removeprefix("torch.")
        self._context: int = settings.max_model_len
        self._reader = TokenReader(self.tokenizer)

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """One completion a request, in order.

        Raises:
            SymboUQError: If the chat template refuses a message, or vLLM fails, on a schema
                that cannot be compiled for one.
        """
        prompts = [
            self.chat.ids(request.message, request.schema is not None) for request in requests
        ]
        fitting = [n for n, prompt in enumerate(prompts) if len(prompt) < self._context]
        try:
            outputs = self._llm.generate(
                [TokensPrompt(prompt_token_ids=prompts[n]) for n in fitting],
                [self._parameters(requests[n], len(prompts[n])) for n in fitting],
                use_tqdm=False,
            )
        except Exception as error:  # its errors share no base class from version to version
            raise SymboUQError(f"vLLM fails: {brief(error)}") from error
        made = {n: output.outputs[0] for n, output in zip(fitting, outputs, strict=True)}
        return [
            self._completion(made[n], len(prompt))
            if n in made
            else Completion("", (), "failed", len(prompt), too_long(len(prompt), self._context))
            for n, prompt in enumerate(prompts)
        ]

    def _parameters(self, request: Request, prompt: int) -> SamplingParams:
        constraint = None
        if request.schema is not None:
            constraint = StructuredOutputsParams(json=guided(request.schema))
        return SamplingParams(
            temperature=request.temperature,
            seed=request.seed,
            max_tokens=min(request.max_tokens, self._context - prompt),
            logprobs=TOP,
            detokenize=False,
            structured_outputs=constraint,
        )

    def _completion(self, output: Any, prompt: int) -> Completion:
        scored = [
            _scored(token, places)
            for token, places in zip(output.token_ids, output.logprobs, strict=True)
        ]
        finish: Finish = "length"
        if output.finish_reason == "stop":
            finish = "stop"
            scored = scored[:-1]  # the token that ended it
        elif output.finish_reason != "length":
            reason = f"vLLM ended it with: {output.finish_reason}"
            return Completion("", (), "failed", prompt, reason)
        tokens = self._reader.tokens(scored)
        return Completion("".join(token.text for token in tokens), tokens, finish, prompt)


def _scored(token: int, places: Mapping[int, Any]) -> Scored:
    """A token with the best ones, which vLLM gives in one table by rank."""
    best = sorted(places.items(), key=lambda item: item[1].rank)[:TOP]
    return token, places[token].logprob, [(other, value.logprob) for other, value in best]
