from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from helpers.commands import write_lines

vf = pytest.importorskip("verifiers", reason="verifiers is not installed (extra `verifiers`)")

if not hasattr(vf, "load_environment"):
    pytest.skip("this version of verifiers has no load_environment", allow_module_level=True)

NAME = "symbouq.integrations.verifiers"
RIGHT = "A is left of C. Answer: left"
WRONG = "A is left of B. C is left of A. Answer: right"


@pytest.fixture
def file(tmp_path: Path) -> str:
    known = {"answer": "left", "answer_space": ["left", "right", "above", "below"]}
    scene = ["A is left of B.", "B is left of C."]
    asked = {"id": "1", "scene": scene, "question": "Where is A from C?", **known}
    other = {"id": "2", "scene": "A is above B.", "question": "Where is D?"}
    return str(write_lines(tmp_path / "questions.jsonl", asked, other))


def scored(environment: Any, row: int, said: Any, **more: Any) -> dict[str, Any]:
    """A rollout's reward and metrics."""
    given = environment.get_dataset()[row]
    message = {"role": "assistant", "content": said} if isinstance(said, str) else said
    state = {
        "prompt": given["prompt"],
        "completion": [message],
        "answer": "",
        "info": given["info"],
        "input": {},
        "task": "",
        "trajectory": [],
        "timing": None,
    } | more
    asyncio.run(environment.rubric.score_rollout(state))
    return {"reward": state["reward"], **state["metrics"]}


def test_an_environment_is_loaded_by_its_name(file: str) -> None:
    environment = vf.load_environment(NAME, file=file)
    first, second = environment.get_dataset()
    assert "A is left of B. B is left of C." in first["prompt"][-1]["content"]
    assert "Where is D?" in second["prompt"][-1]["content"]


def test_answers_are_rewarded(file: str) -> None:
    environment = vf.load_environment(NAME, file=file)
    right = scored(environment, 0, RIGHT)
    assert (right["reward"], right["outcome"], right["process"]) == (1.0, 1.0, 1.0)
    assert (right["scored"], right["first_error"]) == (1.0, 0.0)
    wrong = scored(environment, 0, WRONG)
    # The answer and the two claims that say something new are wrong.
    assert (wrong["reward"], wrong["scored"], wrong["first_error"]) == (0.0, 1.0, 2.0)


def test_what_is_undecided_is_neither_right_nor_wrong(file: str) -> None:
    found = scored(vf.load_environment(NAME, file=file, undecided=0.25), 1, "I do not know.")
    assert (found["reward"], found["scored"]) == (0.25, 0.0)


def test_reasoning_is_audited_and_never_the_answer(file: str) -> None:
    environment = vf.load_environment(NAME, file=file)
    thought = vf.AssistantMessage(content="Answer: left", reasoning_content="C is left of A.")
    found = scored(environment, 0, thought)
    assert (found["outcome"], found["process"], found["first_error"]) == (1.0, 0.5, 1.0)


@pytest.mark.parametrize(
    "more",
    [
        {"is_truncated": True},
        {"trajectory": [{"is_truncated": False}, {"is_truncated": True}]},
        {"error": RuntimeError("no answer")},
    ],
)
def test_what_was_cut_off_or_failed_is_unscored(file: str, more: dict[str, Any]) -> None:
    found = scored(vf.load_environment(NAME, file=file), 0, RIGHT, **more)
    assert (found["reward"], found["scored"], found["first_error"]) == (0.5, 0.0, 0.0)


def test_what_is_empty_is_unscored(file: str) -> None:
    assert scored(vf.load_environment(NAME, file=file), 0, "")["scored"] == 0.0
