"""An environment for verifiers, in the form that its versions up to 0.2 load:
`load_environment("symbouq.integrations.verifiers", file="questions.jsonl")`.
"""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Any

import verifiers as vf
from datasets import Dataset

from symbouq.integrations.questions import QUESTION, prompted
from symbouq.rewards import TIMEOUT, UNDECIDED, Reward, reward

_FOUND = "symbouq"
"""Field of a rollout's state for the computed reward."""
_RECORD = "record"
"""Field of a row's `info` for the question."""


def load_environment(
    file: str,
    free_form: bool = True,
    hops: int | None = None,
    undecided: float = UNDECIDED,
    timeout: float = TIMEOUT,
) -> vf.Environment:
    """Create an environment with a single turn: a question from a file, and the reward for its
    answer.

    The reward is the `total` of `symbouq.rewards`. Metrics are `outcome` and `process`; `scored`,
    which is 0 if nothing was decided; and `first_error`, the number of the first contradicted
    claim, or 0 if there is none.

    Args:
        file: Records with `scene` and `question` and, if known, `answer` and `answer_space`, as
            written by `symbouq data import` and `symbouq scenes`.
        free_form: Whether the model reasons in prose, rather than in the contract's JSON.
        hops: Number of hops of the questions to use; None for all.
        undecided: Value of an unscored part, because verifiers accepts only numbers.
        timeout: Time limit for one audit, in seconds.

    Raises:
        RecordError: At the first record that is not a question.
    """

    async def total(completion: Any, info: dict[str, Any], state: dict[str, Any]) -> float:
        asked = json.loads(info[_RECORD])
        if state.get("error") is not None:
            found = Reward(fault=f"the rollout failed: {state['error']}")
        else:
            cut = any(each.get("is_truncated") for each in (state, *state.get("trajectory", [])))
            judged = partial(reward, completion=_messages(completion), truncated=cut)
            found = await asyncio.to_thread(partial(judged, timeout=timeout, **asked))
        state[_FOUND] = found
        return _number(found.total, undecided)

    def outcome(state: dict[str, Any]) -> float:
        return _number(_found(state).outcome, undecided)

    def process(state: dict[str, Any]) -> float:
        return _number(_found(state).process, undecided)

    def scored(state: dict[str, Any]) -> float:
        return float(_found(state).total is not None)

    def first_error(state: dict[str, Any]) -> float:
        return float(_found(state).first_error or 0)

    metrics = [outcome, process, scored, first_error]
    rubric = vf.Rubric(funcs=[total, *metrics], weights=[1.0, *[0.0] * len(metrics)])
    rows = [_row(record) for record in prompted(file, free_form, hops)]
    return vf.SingleTurnEnv(dataset=Dataset.from_list(rows), rubric=rubric)


def _row(record: dict[str, Any]) -> dict[str, Any]:
    names = (*(name for name in QUESTION if name != "hops"), "answer")
    asked = {name: record[name] for name in names if record.get(name) is not None}
    return {
        "prompt": [{"role": "user", "content": record["prompt"]}],
        # As JSON text, because a dataset column has one type, but a scene is a string or a list.
        "info": {_RECORD: json.dumps(asked, ensure_ascii=False)},
    }


def _messages(completion: Any) -> Any:
    """Return a completion with messages as dictionaries. verifiers has its own classes for
    messages.
    """
    if isinstance(completion, str):
        return completion
    return [each if isinstance(each, dict) else each.model_dump() for each in completion]


def _found(state: dict[str, Any]) -> Reward:
    """Return the result of the reward function, which is called before the metrics."""
    found = state[_FOUND]
    assert isinstance(found, Reward)
    return found


def _number(value: float | None, undecided: float) -> float:
    return undecided if value is None else value
