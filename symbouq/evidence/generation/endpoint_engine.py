"""Generation on servers with OpenAI's chat completions API: vLLM, llama.cpp, hosted servers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from symbouq.errors import RecordError, SymboUQError
from symbouq.evidence.generation.engine import (
    TOP,
    Alternative,
    Completion,
    Finish,
    Options,
    Request,
    Token,
)
from symbouq.io.adapters.chat import answered
from symbouq.io.chat import UnansweredError, after_thoughts, json_objects
from symbouq.io.endpoint import Endpoint, Reply, UnreachableError, drawn, held_to

BATCH = 8
"""Default number of concurrent requests."""

_LOGPROBS = {"top_logprobs": TOP, "logprobs": True}
_LOCAL = ("device", "dtype", "chat_template", "context", "quantization", "memory")
"""Options that only the server can set."""


class EndpointEngine:
    """An `Engine` that asks a server, such as `http://localhost:8000/v1`.

    If the server ignores JSON Schemas, the first JSON object with the required fields is used.
    Log-probabilities are kept only if the server returns them for the whole text. Token ids are
    unknown, so signals cannot be extracted. `batch_size` (concurrent requests) is the only option
    that applies.

    Raises:
        SymboUQError: If the address is not valid, or an option is only for local models.
    """

    version = "OpenAI chat completions"

    def __init__(self, url: str, model: str, options: Options) -> None:
        given = [name for name in _LOCAL if getattr(options, name) is not None]
        given += [] if options.masked_logprobs else ["raw_logprobs"]
        if given:
            named = ", ".join("--" + name.replace("_", "-") for name in given)
            raise SymboUQError(f"{named}: a setting of local models, which a server decides itself")
        self._endpoint = Endpoint(url, model)
        self.model_name = model
        self.device = self._endpoint.url
        self.batch_size = options.batch_size or BATCH

    @property
    def identity(self) -> dict[str, Any]:
        """Name of the server and the model. The weights behind the name are unknown."""
        return {"engine": "endpoint", "endpoint": self._endpoint.url, "model": self.model_name}

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """Generate one completion per request, in order.

        Raises:
            SymboUQError: If every request fails because the key, model or address is wrong, or the
                server is still unavailable after all retries.
        """
        with ThreadPoolExecutor(self.batch_size) as pool:
            return list(pool.map(self._completion, requests))

    def _completion(self, request: Request) -> Completion:
        settings = drawn(request.temperature, request.seed, request.max_tokens) | _LOGPROBS
        if request.schema is not None:
            settings = held_to(request.schema) | settings
        try:
            reply = self._endpoint.reply([{"role": "user", "content": request.message}], settings)
        except UnreachableError:
            raise  # nothing from this batch is written, so a later run repeats it
        except UnansweredError as error:
            return Completion("", (), "failed", 0, error.message)
        finish: Finish = "length" if reply.finish == "length" else "stop"
        text = after_thoughts(reply.text).strip()
        if request.schema is not None:
            wanted = {*request.schema.get("required", ())}
            objects = (found for value, found in json_objects(text) if wanted <= value.keys())
            text = next(objects, text)
        tokens = _tokens(reply) if text == reply.text else ()
        return Completion(text, tokens, finish, reply.prompt_tokens, written=reply.reply_tokens)


def _tokens(reply: Reply) -> tuple[Token, ...]:
    """Return the reply's tokens with log-probabilities. Return none if the tokens do not add up to
    the reply's text, for example because the bytes of a character are listed separately.
    """
    try:
        listed = answered([reply.choice], "choices").get("tokens", [])
        tokens = tuple(
            Token(
                None,
                each["text"],
                float(each["logprob"]),
                tuple(
                    Alternative(None, other["text"], float(other["logprob"]))
                    for other in each.get("top", ())
                ),
            )
            for each in listed
        )
        # Some servers also list the end token, although it is not part of the text.
        for told in (tokens, tokens[:-1]):
            if "".join(token.text for token in told) == reply.text:
                return told
    except (RecordError, KeyError, TypeError, ValueError):
        pass  # the log-probabilities have an unexpected format
    return ()
