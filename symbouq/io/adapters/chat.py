"""Chat messages and token log-probabilities, in the shapes that chat APIs give them."""

from __future__ import annotations

from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.values import described, expect

_REASONING = ("reasoning_content", "reasoning", "thinking")
"""Fields in which servers put the thinking that they take out of a message's content."""


def text_of(content: Any) -> str:
    """The text of a message's content: a text, or a list of parts, of which texts and
    thinking count, the latter between marks.

    Raises:
        RecordError: If it is neither.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise RecordError(
            f"content: expected a text or a list of parts, found {described(content)}"
        )
    return "\n".join(filter(None, map(_part, content)))


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        if isinstance(part.get("text"), str):
            return str(part["text"])
        return _thought(part)
    return ""


def _thought(given: dict[str, Any]) -> str:
    """What a message or a part of it has as thinking, between marks; empty where it has none."""
    thought = next((given[k] for k in _REASONING if isinstance(given.get(k), str)), "")
    return f"<think>\n{thought}\n</think>" if thought.strip() else ""


def response_of(message: dict[str, Any]) -> str:
    """The text that a model wrote in a message: its thinking between marks, where it is kept apart,
    then its answer; a refusal where there is neither.
    """
    parts = [_thought(message), text_of(message.get("content"))]
    if not any(parts):
        parts.append(text_of(message.get("refusal")))
    return "\n".join(filter(None, parts))


def answered(choices: list[Any]) -> dict[str, Any]:
    """The choices of a completion as `response`, its `tokens` and further `samples`.

    Raises:
        RecordError: If a choice holds no message.
    """
    messages = []
    for n, choice in enumerate(choices):
        expect(choice, dict, f"choices.{n}", "an object with message")
        messages.append(expect(choice.get("message"), dict, f"choices.{n}.message", "a message"))
    response, *samples = map(response_of, messages)
    fields: dict[str, Any] = {"response": response}
    if samples:
        fields["samples"] = samples
    logprobs = choices[0].get("logprobs")
    if logprobs is not None:
        place = "choices.0.logprobs"
        listed = expect(logprobs, dict, place, "an object with content").get("content")
        if listed is not None:
            fields["tokens"] = _tokens(expect(listed, list, f"{place}.content", "a list"), place)
    return fields


def _tokens(listed: list[Any], place: str) -> list[dict[str, Any]]:
    tokens = []
    for n, entry in enumerate(listed):
        here = f"{place}.content.{n}"
        expect(entry, dict, here, "an object with token and logprob")
        top = expect(entry.get("top_logprobs") or [], list, f"{here}.top_logprobs", "a list")
        alternatives = [
            token(a.get("token"), a.get("logprob")) if isinstance(a, dict) else {} for a in top
        ]
        tokens.append(token(entry.get("token"), entry.get("logprob"), alternatives))
    return tokens


def token(text: Any, logprob: Any, top: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """A token in the shape of `symbouq.records.Trace.tokens`: `text`, `logprob` and, where
    alternatives are known, `top`, a list of the same.
    """
    return {"text": text, "logprob": logprob} | ({"top": top} if top else {})
