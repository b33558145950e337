"""Scorers and tasks of inspect_ai, which finds them as `symbouq/audit`, `symbouq/stepgame`, ...

`inspect score LOG --scorer symbouq/audit` scores a log that is there; no model is asked.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from anyio.to_thread import run_sync
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from symbouq.auditing.explain import claims_told
from symbouq.errors import RecordError
from symbouq.integrations.questions import QUESTION, prompted
from symbouq.io.adapters.fields import options_of
from symbouq.io.adapters.prompts import split_prompt
from symbouq.io.messages import is_truncated, written
from symbouq.rewards import TIMEOUT, Reward, reward

_ALL = [mean(), stderr()]


@scorer(
    metrics={
        "outcome": _ALL,
        "process": _ALL,
        "free_of_errors": _ALL,
        "determinacy": _ALL,
    },
    name="audit",
)
def audit(profile: str | None = None, timeout: float = TIMEOUT) -> Scorer:
    """Audits what a model says of a scene.

    Scene and question are `scene` and `question` of the sample's metadata, else they are found in
    its input; the right answer is `answer` of the metadata, or else its target, of several targets
    any one, matched over `answer_space` of the metadata, or the sample's choices, where they are
    there. Values are those of `symbouq.rewards`, and

    - `free_of_errors`: 1 where no claim is contradicted, 0 where one is;
    - `determinacy`: the share of claims that logic decides (the Determinacy Profile).

    What is not decided is unscored: NaN, which metrics leave out. A sample without a scene, that
    failed, was cut off or is empty, or of which nothing is decided, is unscored as a whole; the
    score's reason says why. Reasoning beside the answer is audited, too. The claims with their
    verdicts, premises and messages are in the score's metadata, and in words in its explanation.

    Args:
        profile: Profile of the audit; else the dataset's of the metadata, or the default one.
        timeout: Seconds that one audit may take.
    """

    async def score(state: TaskState, target: Target) -> Score:
        scene, question = _asked(state)
        said = state.output.completion
        if not scene:
            return Score.unscored(reason="no_scene", answer=said, explanation=_NO_SCENE)
        if state.output.error:
            return Score.unscored(reason="error", answer=said, explanation=state.output.error)
        first = state.output.choices[0] if state.output.choices else None
        message = first.message.model_dump() if first else {}
        given = state.metadata or {}
        listed = {"choices": [choice.value for choice in state.choices]}
        found = await run_sync(
            partial(
                reward,
                scene,
                written(message)._replace(text=said).response,
                question,
                answer=given.get("answer"),
                any_of=None if given.get("answer") else [right for right in target if right],
                answer_space=given.get("answer_space") or options_of(listed | given),
                dataset=given.get("dataset"),
                profile=profile or given.get("profile"),
                timeout=timeout,
                truncated=first is not None and is_truncated(first.stop_reason),
            )
        )
        if found.audit is None:
            return Score.unscored(reason="not_audited", answer=said, explanation=found.fault)
        values, told = found.values, "\n".join(claims_told(found.audit))
        if found.truncated:
            marked = {"truncated": True}
            return Score.unscored(
                reason="truncated", answer=said, explanation=told, metadata=marked
            )
        if all(math.isnan(value) for name, value in values.items() if name != "determinacy"):
            return Score.unscored(reason="undecided", answer=said, explanation=told)
        return Score(
            value=values,
            answer=found.audit["claims"][-1]["text"] or said,
            explanation=told,
            metadata=_kept(found),
        )

    return score


_NO_SCENE = (
    "there is no scene: name it as `scene` in the sample's metadata, or put it before the question"
)
_FIELDS = ("index", "type", "text", "verdict", "grounded_verdict", "premises", "message")


def _asked(state: TaskState) -> tuple[str | list[str], str]:
    """Scene and question of a sample."""
    given = state.metadata or {}
    if given.get("scene"):
        return given["scene"], str(given.get("question") or "")
    return split_prompt(state.input_text)


def _kept(found: Reward) -> dict[str, Any]:
    assert found.audit is not None
    return {
        "claims": [{name: claim[name] for name in _FIELDS} for claim in found.audit["claims"]],
        "first_error": found.first_error,
        "profile": dict(found.audit["profile"]),
        "ontology": dict(found.audit["ontology"]),
    }


def _samples(file: str, free_form: bool, hops: int | None) -> list[Sample]:
    """The questions of a file of records as samples.

    Raises:
        RecordError: At the first that is none, or has no answer.
    """
    samples = []
    for record in prompted(file, free_form, hops):
        if record.get("answer") is None:
            raise RecordError(f"question {record['id']} needs an `answer`", file)
        kept = {name: record[name] for name in (*QUESTION, "answer") if name in record}
        samples.append(
            Sample(id=record["id"], input=record["prompt"], target=record["answer"], metadata=kept)
        )
    return samples


def _task(file: str, free_form: bool, hops: int | None) -> Task:
    return Task(
        dataset=MemoryDataset(_samples(file, free_form, hops), name=file, location=file),
        solver=generate(),
        scorer=audit(),
    )


@task
def stepgame(file: str, free_form: bool = True, hops: int | None = None) -> Task:
    """StepGame, from a file of `symbouq data import stepgame`.

    Args:
        file: The file.
        free_form: Whether the model reasons in prose; else it writes an object of the contract.
        hops: The number of hops of the questions; all where None.
    """
    return _task(file, free_form, hops)


@task
def spartun(file: str, free_form: bool = True) -> Task:
    """SpaRTUN, from a file of `symbouq data import spartun`.

    Args:
        file: The file.
        free_form: Whether the model reasons in prose; else it writes an object of the contract.
    """
    return _task(file, free_form, None)
