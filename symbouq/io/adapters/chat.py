"""Read choices of chat completions and token log-probabilities, in the shapes of chat APIs."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from symbouq.errors import RecordError
from symbouq.io.messages import alternatives, is_choice, is_truncated, unpacked, written
from symbouq.io.values import expect


def answered(value: Any, place: str) -> dict[str, Any]:
    """Return what a model wrote as `response`, with its `tokens`, whether it is `truncated`, and
    further `samples`.

    Args:
        value: A string, a message, messages, a completion or the choices of a completion, possibly
            encoded as JSON. Any other object is converted to JSON text.
        place: Position of the value, for error messages.

    Raises:
        RecordError: If the value is none of these.
    """
    value = unpacked(value)
    if isinstance(value, list) and value and all(map(is_choice, value)):
        value = {"choices": value}
    choices = alternatives(value)
    try:
        first, *others = map(written, choices)
    except RecordError as error:
        if choices == [value] and isinstance(value, dict):
            return {"response": to_json(value).decode()}
        raise RecordError(f"{place}: {error.message}") from error
    fields: dict[str, Any] = {"response": first.response}
    if first.truncated or is_truncated(value):
        fields["truncated"] = True
    if others:
        fields["samples"] = [other.response for other in others]
    chosen = choices[0]
    logprobs = chosen.get("logprobs") if isinstance(chosen, dict) else None
    if logprobs is not None and "token_ids" in chosen:
        fields["tokens"] = _ranked(chosen)
    elif logprobs is not None:
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
    """Return a token in the shape of `symbouq.records.Trace.tokens`: `text`, `logprob` and, if
    alternatives are known, `top`, a list of such tokens.
    """
    return {"text": text, "logprob": logprob} | ({"top": top} if top else {})


def _ranked(output: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tokens of a vLLM output. For each position, vLLM gives an object that maps token
    ids to `{logprob, rank, decoded_token}`, including the chosen one.
    """
    logprobs = output["logprobs"]
    place = "outputs.0.logprobs"
    what = "a list with an object from token ids to log-probabilities per token"
    chosen = expect(output.get("token_ids"), list, "outputs.0.token_ids", "a list")
    if len(expect(logprobs, list, place, what)) != len(chosen):
        raise RecordError(f"{place}: {len(logprobs)} positions, but {len(chosen)} token_ids")
    tokens = []
    for n, (identity, position) in enumerate(zip(chosen, logprobs, strict=True)):
        entries = {
            key: expect(entry, dict, f"{place}.{n}.{key}", "an object with logprob")
            for key, entry in expect(position, dict, f"{place}.{n}", what).items()
        }
        if str(identity) not in entries:
            raise RecordError(f"{place}.{n}: the chosen token {identity} is not in it")
        ranked = sorted(entries.values(), key=_rank)
        # If no alternatives were requested, only the chosen token is listed, with any rank.
        alternatives = len(ranked) > 1 or _rank(ranked[0]) == 1
        top = list(map(_token, ranked)) if alternatives else None
        tokens.append(_token(entries[str(identity)], top))
    return tokens


def _rank(entry: dict[str, Any]) -> float:
    rank = entry.get("rank")
    return rank if isinstance(rank, int) else float("inf")


def _token(entry: dict[str, Any], top: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return token(entry.get("decoded_token"), entry.get("logprob"), top)
