"""Scorers and tasks for inspect_ai, which finds them as `symbouq/audit`, `symbouq/stepgame`, ...

`inspect score LOG --scorer symbouq/audit` scores an existing log without asking a model.
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
    """Create a scorer that audits a model's claims about a scene.

    Scene and question are `scene` and `question` in the sample's metadata, otherwise they are found
    in its input. The right answer is `answer` in the metadata, otherwise the target; any of several
    targets is right. It is matched over `answer_space` in the metadata or, if there are any, the
    sample's choices. Values are those of `symbouq.rewards`, and

    - `free_of_errors`: 1 if no claim is contradicted, otherwise 0;
    - `determinacy`: the share of claims that logic decides (the Determinacy Profile).

    An undecided value is unscored: it is NaN, and metrics leave it out. The whole sample is
    unscored if it has no scene, failed, was cut off or is empty, or if nothing in it is decided;
    the score's reason explains why. Reasoning that is separate from the answer is audited, too. The
    claims with their verdicts, premises and messages are in the score's metadata, and in words in
    its explanation.

    Args:
        profile: Profile for the audit; by default, the one for the dataset in the metadata, or the
            default profile.
        timeout: Time limit for one audit, in seconds.
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
    """Read the questions of a file of records as samples.

    Raises:
        RecordError: At the first record that is not a question or has no answer.
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
    """StepGame, from a file written by `symbouq data import stepgame`.

    Args:
        file: The file.
        free_form: Whether the model reasons in prose, rather than in the contract's JSON.
        hops: Number of hops of the questions to use; None for all.
    """
    return _task(file, free_form, hops)


@task
def spartun(file: str, free_form: bool = True) -> Task:
    """SpaRTUN, from a file written by `symbouq data import spartun`.

    Args:
        file: The file.
        free_form: Whether the model reasons in prose, rather than in the contract's JSON.
    """
    return _task(file, free_form, None)
