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
    LocalEngine,
    Options,
    Request,
    too_long,
)
from symbouq.evidence.generation.grammar import guided
from symbouq.evidence.generation.models import find_model, load_tokenizer, unreadable
from symbouq.evidence.generation.prompts import Chat
from symbouq.evidence.generation.tokens import Scored, TokenReader

BATCH = 1024
"""Default number of texts given to vLLM at once. vLLM divides them into batches itself."""


class VllmEngine(LocalEngine):
    """An `Engine` that runs a model with vLLM.

    As in the transformers engine, llguidance constrains the output. vLLM computes the
    log-probabilities of constrained output after llguidance's mask. To obtain unmasked ones, each
    scored text is read once more as the end of a prompt. If memory is short, vLLM postpones texts.

    Raises:
        SymboUQError: If the model cannot be loaded, or vLLM lacks an option.
    """

    name: EngineName = "vllm"

    def __init__(self, model: str, options: Options) -> None:
        if options.device is not None:
            raise SymboUQError("vLLM chooses the device itself; leave --device out")
        self.masked_logprobs = options.masked_logprobs
        self.version = f"vllm {vllm.__version__}"
        self.model = find_model(model)
        self.batch_size = options.batch_size or BATCH
        self.tokenizer = load_tokenizer(self.model)
        self.chat = Chat(self.tokenizer, options.chat_template)
        on_cpu = vllm.platforms.current_platform.is_cpu()
        self.device = "cpu" if on_cpu else "cuda"
        dtype = options.dtype or ("float32" if on_cpu else "auto")
        chosen: dict[str, Any] = {
            "max_model_len": options.context,
            "quantization": options.quantization,
            "gpu_memory_utilization": options.memory,
            "tokenizer_mode": options.tokenizer_mode,
        }
        with unreadable(self.model, "model"):
            self._llm = LLM(
                str(self.model.folder),
                dtype=dtype,  # type: ignore[arg-type,unused-ignore]
                seed=0,
                tensor_parallel_size=options.tensor_parallel,
                **{name: value for name, value in chosen.items() if value is not None},
                # On a CPU, chunked prefill fails for requests with their own seed: "CPU Generator
                # does not use offset".
                enable_chunked_prefill=False if on_cpu else None,
                max_logprobs=TOP,
                structured_outputs_config={"backend": "guidance"},
            )
        settings = self._llm.llm_engine.model_config
        self.dtype = str(settings.dtype).removeprefix("torch.")
        self._context: int = settings.max_model_len
        self._reader = TokenReader(self.tokenizer)

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """Generate one completion per request, in order.

        Raises:
            SymboUQError: If the chat template refuses a message, or vLLM fails, for example on a
                schema.
        """
        prompts = [self.chat.ids(request.message) for request in requests]
        rooms = [self._context - len(prompt) for prompt in prompts]
        fitting = [n for n, room in enumerate(rooms) if room > 0]
        made = [
            output.outputs[0]
            for output in self._run(
                [prompts[n] for n in fitting],
                [self._parameters(requests[n], rooms[n]) for n in fitting],
            )
        ]
        scored = [list(map(_scored, output.token_ids, output.logprobs)) for output in made]
        if not self.masked_logprobs:
            asked = [requests[m] for m in fitting]
            constrained = [n for n, one in enumerate(asked) if one.schema and one.scored]
            again = [(prompts[fitting[n]], scored[n]) for n in constrained]
            for n, unmasked in zip(constrained, self._unmasked(again), strict=True):
                scored[n] = unmasked
        completions = {
            n: self._completion(output, tokens, len(prompts[n]))
            for n, output, tokens in zip(fitting, made, scored, strict=True)
        }
        return [
            completions[n]
            if n in completions
            else Completion("", (), "failed", len(prompt), too_long(len(prompt), self._context))
            for n, prompt in enumerate(prompts)
        ]

    def _run(self, prompts: Sequence[list[int]], parameters: Sequence[SamplingParams]) -> list[Any]:
        try:
            made: list[Any] = self._llm.generate(
                [TokensPrompt(prompt_token_ids=prompt) for prompt in prompts],
                list(parameters),
                use_tqdm=False,
            )
        except Exception as error:  # vLLM's errors have no common base class across versions
            raise SymboUQError(f"vLLM fails: {brief(error)}") from error
        return made

    def _unmasked(self, written: Sequence[tuple[list[int], list[Scored]]]) -> list[list[Scored]]:
        """Return log-probabilities without the grammar's mask, given prompts with their generated
        tokens.
        """
        reading = SamplingParams(max_tokens=1, prompt_logprobs=TOP, detokenize=False)
        # If a text fills the context, its last token keeps the masked value, because a prompt needs
        # room for one more token.
        texts = [
            [token for token, _, _ in scored][: self._context - len(prompt) - 1]
            for prompt, scored in written
        ]
        prompts = [prompt + text for (prompt, _), text in zip(written, texts, strict=True)]
        outputs = self._run(prompts, [reading] * len(prompts))
        return [
            [*map(_scored, text, output.prompt_logprobs[len(prompt) :]), *scored[len(text) :]]
            for (prompt, scored), text, output in zip(written, texts, outputs, strict=True)
        ]

    def _parameters(self, request: Request, room: int) -> SamplingParams:
        constraint = None
        if request.schema is not None:
            constraint = StructuredOutputsParams(json=guided(request.schema))
        return SamplingParams(
            temperature=request.temperature,
            seed=request.seed,
            max_tokens=min(request.max_tokens, room),
            logprobs=TOP,
            detokenize=False,
            structured_outputs=constraint,
        )

    def _completion(self, output: Any, scored: list[Scored], prompt: int) -> Completion:
        finish: Finish = "length"
        if output.finish_reason == "stop":
            finish = "stop"
            scored = scored[:-1]  # drop the end token
        elif output.finish_reason != "length":
            reason = f"vLLM ended it with: {output.finish_reason}"
            return Completion("", (), "failed", prompt, reason)
        tokens = self._reader.tokens(scored)
        return Completion("".join(token.text for token in tokens), tokens, finish, prompt)


def _scored(token: int, places: Mapping[int, Any]) -> Scored:
    """Return a token with its most probable alternatives, given vLLM's table of tokens ordered by
    rank.
    """
    best = sorted(places.items(), key=lambda item: item[1].rank)[:TOP]
    return token, places[token].logprob, [(other, value.logprob) for other, value in best]
