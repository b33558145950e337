"""Dumps of vLLM's `RequestOutput`: JSON Lines or one array, as its fields stand."""

from __future__ import annotations

from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.base import JsonAdapter
from symbouq.io.adapters.chat import token
from symbouq.io.adapters.inputs import Input
from symbouq.io.adapters.values import expect


class _Vllm(JsonAdapter):
    """Request outputs."""

    expected = "a RequestOutput of vLLM (request_id, prompt, outputs)"

    @classmethod
    def detects(cls, source: Input) -> bool:
        first = source.first
        fields = ("outputs", "prompt", "prompt_token_ids")
        return "request_id" in first and not first.keys().isdisjoint(fields)

    def fields(self, record: dict[str, Any]) -> dict[str, Any]:
        outputs = record.get("outputs")
        if not isinstance(outputs, list) or not outputs:
            raise self.unexpected(record)
        response, *samples = (_text(n, output) for n, output in enumerate(outputs))
        return {
            "id": record.get("request_id"),
            "prompt": record.get("prompt"),
            "response": response,
            "samples": samples or None,
            "tokens": _tokens(outputs[0]),
        }


def _text(number: int, output: Any) -> str:
    place = f"outputs.{number}"
    text = expect(output, dict, place, "an object with text").get("text")
    return expect(text, str, f"{place}.text", "a text")


def _tokens(output: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The tokens of an output: at each position vLLM gives an object from token ids to
    `{logprob, rank, decoded_token}`, the chosen one among them.
    """
    logprobs = output.get("logprobs")
    if logprobs is None:
        return None
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
        # Where alternatives were not asked for, the chosen token stands alone, whatever its rank.
        alternatives = len(ranked) > 1 or _rank(ranked[0]) == 1
        top = list(map(_token, ranked)) if alternatives else None
        tokens.append(_token(entries[str(identity)], top))
    return tokens


def _rank(entry: dict[str, Any]) -> float:
    rank = entry.get("rank")
    return rank if isinstance(rank, int) else float("inf")


def _token(entry: dict[str, Any], top: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return token(entry.get("decoded_token"), entry.get("logprob"), top)


ADAPTER = _Vllm
