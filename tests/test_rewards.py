"""Rewards: what is paid for, what is not, and what the trainers are given."""

from __future__ import annotations

import doctest
import json
import math
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from helpers.processes import PATIENCE

from symbouq import rewards
from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import OntologyError, SymboUQError
from symbouq.limits import turn
from symbouq.reading.syntax.pipeline import PipelineError
from symbouq.rewards import Reward, compute_score, reward, trl_reward, trl_reward_for

SCENE = "The lamp is above the desk. The desk is left of the door."
QUESTION = "Where is the lamp relative to the door?"
RIGHT = "The lamp is upper left of the door. Answer: upper left"
WRONG = "The lamp is right of the door. Answer: right"


def of(completion: Any, **more: Any) -> Reward:
    return reward(SCENE, completion, QUESTION, **more)


def test_the_example_of_the_docstring() -> None:
    assert doctest.testmod(rewards).failed == 0


@pytest.mark.parametrize(
    ("completion", "claims"),
    [
        (RIGHT, (1.0, 1.0)),
        (WRONG, (0.0, 0.0)),
        # What the scene or the completion has said is not paid for, in converse neither ...
        ("The desk is left of the door. The lamp is upper left of the door.", (None, 1.0)),
        # An empty conclusion, where there is none, is the last claim.
        ("The door is right of the desk. The desk is below the lamp.", (None, None, None)),
        ("The lamp is upper left of the door. The door is lower right of the lamp. Answer: upper left",
         (1.0, None, 1.0)),
        # ... but contradicted where it is wrong.
        ("The desk is right of the door. Answer: upper left", (0.0, 1.0)),
        # Unfounded claims, and what rests on them alone, are neither.
        ("The mat is left of the lamp. So the mat is upper left of the desk.", (None, None, None)),
        # Against itself: the second contradicts the first.
        ("The mat is left of the lamp. The mat is right of the lamp.", (None, 0.0, None)),
        ("Let me think.", (None,)),
    ],
)  # fmt: skip
def test_what_claims_are_paid(completion: str, claims: tuple[float | None, ...]) -> None:
    assert of(completion).claims == claims


@pytest.mark.parametrize(
    ("completion", "answer", "outcome"),
    [
        (RIGHT, None, 1.0),
        (WRONG, None, 0.0),
        ("I do not know.", None, None),
        (RIGHT, "upper left", 1.0),
        (RIGHT, "upper-left", 1.0),
        (RIGHT, "left", 0.0),
        ("I do not know.", "upper left", 0.0),
    ],
)
def test_outcomes(completion: str, answer: str | None, outcome: float | None) -> None:
    assert of(completion, answer=answer).outcome == outcome


@pytest.mark.parametrize(
    ("completion", "outcome"), [("B", 1.0), ("The lamp", 1.0), ("(A)", 0.0), ("Answer: D", 0.0)]
)
@pytest.mark.parametrize("answer", ["B", "the lamp"])
@pytest.mark.parametrize("listed", [True, False])
def test_an_answer_may_be_the_letter_of_a_thing(
    completion: str, outcome: float, answer: str, listed: bool
) -> None:
    things = ["the chair", "the lamp"]
    question = "Which thing is above the desk?"
    asked = f"{question} A. {things[0]} B. {things[1]}" if listed else question
    found = reward(
        "The lamp is above the desk. The chair is below the desk.",
        completion,
        asked,
        answer=answer,
        answer_space=None if listed else things,
    )
    assert found.outcome == outcome


def test_an_answer_is_matched_in_its_space() -> None:
    scene, asked = "The lamp is above the desk.", "Is the desk above the lamp?"
    assert reward(scene, "Answer: no", asked, answer="No").outcome == 1
    space = ["yes", "no", "unknown"]
    assert reward(scene, "Answer: yes", asked, answer="no", answer_space=space).outcome == 0
    # No space has such a label: what the scene says decides.
    assert reward(scene, "Answer: no", asked, answer="a riddle").outcome == 1


@pytest.mark.parametrize(
    ("outcome", "claims", "total"),
    [
        (1.0, (1.0, 0.0), 0.75),
        (0.0, (None, None), 0.0),
        (None, (1.0, 1.0, 0.0, 0.0), 0.5),
        (None, (None,), None),
        (None, (), None),
    ],
)
def test_the_total_is_the_mean_of_what_there_is(
    outcome: float | None, claims: tuple[float | None, ...], total: float | None
) -> None:
    assert Reward(claims, outcome).total == total


def test_the_first_error() -> None:
    assert Reward((1.0, None, 0.0, 0.0)).first_error == 3
    assert Reward((1.0, None)).first_error is None


def test_objects_of_the_contract_and_chats() -> None:
    steps = {"reasoning": ["The lamp is upper left of the door."], "conclusion": "upper left"}
    assert of(json.dumps(steps)) == Reward((1.0, 1.0), 1.0, ("entailed", "entailed"))
    chat = [
        {"role": "user", "content": "The lamp is right of the door."},
        {"role": "assistant", "content": [{"type": "text", "text": RIGHT}]},
    ]
    assert of(chat) == of(RIGHT)
    assert of([{"role": "assistant", "content": None}]).total is None


def test_of_several_answers_any_one_will_do() -> None:
    assert of(RIGHT, any_of=["left", "upper left"]).outcome == 1
    assert of(RIGHT, any_of=["upper left", "left"]).outcome == 1
    assert of(RIGHT, any_of=["left", "right"]).outcome == 0
    assert of(RIGHT, any_of=["a riddle", "upper left"]).outcome == 1
    assert of(RIGHT, any_of=[]).outcome == of(RIGHT).outcome


THOUGHT = "The lamp is right of the door."


@pytest.mark.parametrize(
    "message",
    [
        {"content": "Answer: upper left", "reasoning_content": THOUGHT},
        {"content": "Answer: upper left", "reasoning": THOUGHT},
        {"content": "Answer: upper left", "thinking": THOUGHT},
        {"content": [{"type": "thinking", "thinking": THOUGHT}, {"type": "text", "text": "Answer: upper left"}]},
        {"content": [{"type": "reasoning", "reasoning": THOUGHT}, {"type": "text", "text": "Answer: upper left"}]},
        {"content": "Answer: upper left", "thinking_blocks": [{"type": "thinking", "thinking": THOUGHT}]},
        {"content": f"<think>{THOUGHT}</think>Answer: upper left"},
    ],
)  # fmt: skip
def test_reasoning_beside_the_answer_is_audited_and_no_answer(message: dict[str, Any]) -> None:
    found = of([{"role": "assistant", **message}], answer="upper left")
    assert (found.claims, found.outcome) == ((0.0, 1.0), 1.0)
    alone = {name: value for name, value in message.items() if name != "content"}
    if alone:  # thinking that no answer follows
        found = of([{"role": "assistant", "content": "", **alone}], answer="right")
        assert found.outcome != 1


@pytest.mark.parametrize("completion", ["", " \n", [], [{"role": "assistant", "content": ""}]])
def test_an_empty_completion_is_unscored(completion: Any) -> None:
    found = of(completion, answer="upper left")
    assert (found.total, found.first_error, found.truncated) == (None, None, True)
    assert all(math.isnan(value) for value in found.values.values())


CUT = "The lamp is upper left of the door. So the lamp is right of"


def test_what_was_cut_off_is_unscored() -> None:
    for found in (
        of(CUT, truncated=True, answer="upper left"),
        of(WRONG, truncated=True),
        of([{"role": "assistant", "content": CUT, "finish_reason": "length"}]),
        of([{"role": "assistant", "content": CUT, "stop_reason": "max_tokens"}]),
    ):
        assert (found.total, found.claims, found.truncated) == (None, (), True)
        assert found.fault == "it was cut off, or is empty"
        assert all(math.isnan(value) for value in found.values.values())
    # The last sentence has no end, and is not judged.
    cut = of("The lamp is upper left of the door. The lamp is right of the desk", truncated=True)
    assert cut.audit is not None
    assert "contradicted" not in [claim["verdict"] for claim in cut.audit["claims"]]
    assert of(RIGHT).truncated is False


def test_trainers_say_what_was_cut_off() -> None:
    columns: dict[str, list[Any]] = {}
    found = trl_reward(
        [RIGHT, RIGHT], scene=[SCENE] * 2, truncated=[False, True], log_extra=columns.__setitem__
    )
    assert found == [1.0, None]
    assert columns["verdicts"] == ["entailed unknown", "it was cut off, or is empty"]
    told = compute_score("mine", RIGHT, None, {"scene": SCENE, "truncated": True})
    assert (told["score"], told["scored"]) == (0.5, 0.0)


def test_what_cannot_be_audited_is_unscored() -> None:
    late = of("The lamp is upper left of the door. " * 40, timeout=0.0)
    assert late.total is None
    assert late.fault
    assert reward("", RIGHT, QUESTION).total is None


def test_trl_gets_a_list_and_logs() -> None:
    extra: dict[str, list[Any]] = {}
    metrics: dict[str, float] = {}
    completions = [RIGHT, WRONG, "Let me think."]
    found = trl_reward(
        completions,
        prompts=["p"] * 3,
        scene=[SCENE] * 3,
        question=[QUESTION] * 3,
        trainer_state=None,
        log_extra=extra.__setitem__,
        log_metric=metrics.__setitem__,
    )
    assert found == [1.0, 0.0, None]
    assert extra == {"verdicts": ["entailed entailed", "contradicted not-evaluable", "unknown"]}
    assert metrics == {
        "symbouq/unscored": pytest.approx(1 / 3),
        "symbouq/outcome": 0.5,
        "symbouq/process": 0.5,
        "symbouq/with_error": pytest.approx(1 / 3),
    }
    # An answer column decides what the audit leaves open.
    answers = trl_reward(
        completions, scene=[SCENE] * 3, question=[QUESTION] * 3, answer=["upper left"] * 3
    )
    assert answers == [1.0, 0.0, 0.0]


HOSTILE = {
    "nothing": None,
    "a number": 3,
    "messages that are none": ["The lamp is right of the door."],
    "parts that are none": [{"role": "assistant", "content": [3]}],
    "halves of characters": '{"reasoning": ["The \\ud800 is left of the desk."], "conclusion": "\\udc00"}',
    "half a character": "The \ud83d is left of the desk.",
    "deep": "[" * 20_000,
}  # fmt: skip


def test_what_goes_wrong_with_a_completion_is_its_own_fault() -> None:
    columns: dict[str, list[Any]] = {}
    completions = [*HOSTILE.values(), RIGHT]
    found = trl_reward(
        completions,
        scene=[SCENE] * len(completions),
        question=[None, *[QUESTION] * (len(completions) - 1)],
        log_extra=columns.__setitem__,
    )
    assert found == [None] * len(HOSTILE) + [1.0]
    said = dict(zip(HOSTILE, columns["verdicts"], strict=False))
    assert said["a number"] == (
        "internal error, please report it: TypeError: 'int' object is not iterable"
    )
    for text in columns["verdicts"]:
        text.encode()  # it can be written
    assert "\N{REPLACEMENT CHARACTER}" in of(HOSTILE["halves of characters"]).fault


@pytest.mark.parametrize("error", [RecursionError("too deep"), MemoryError(), KeyError("\ud800")])
def test_an_error_of_ours_is_a_fault(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(TraceAuditor, "audited", fails)
        found = of(RIGHT, answer="upper left")
    assert (found.total, found.claims, found.audit) == (None, (), None)
    assert found.fault.startswith(f"internal error, please report it: {type(error).__name__}: ")
    assert of(RIGHT).total == 1  # nothing is held


def test_what_is_no_fault_of_a_completion_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise PipelineError("there is no pipeline")

    with pytest.raises(OntologyError, match="nowhere"):
        of(RIGHT, profile="nowhere")
    monkeypatch.setattr(TraceAuditor, "audited", fails)
    with pytest.raises(PipelineError):
        of(RIGHT)


def test_each_completion_needs_a_value_of_each_column() -> None:
    expected = "there are 2 completions, and a column needs a value for each: `scene` has 1, `answer` has 3"
    with pytest.raises(SymboUQError) as raised:
        trl_reward([RIGHT, WRONG], scene=[SCENE], question=[QUESTION] * 2, answer=["left"] * 3)
    assert str(raised.value) == expected
    with pytest.raises(SymboUQError, match="`question` has 0"):
        trl_reward([RIGHT], scene=[SCENE], question=[])
    with pytest.raises(SymboUQError, match="`scene` has 1"):
        trl_reward([], scene=[SCENE])
    assert trl_reward([], scene=[]) == []


def test_a_reward_function_with_settings() -> None:
    assert trl_reward.__name__ == trl_reward_for().__name__ == "trl_reward"
    everyday = trl_reward_for(profile="everyday")
    assert everyday.__name__ == "trl_reward_everyday"
    assert trl_reward_for(profile="nine-way").__name__ == "trl_reward_nine_way"
    # On the table is above it, in everyday words.
    scene, text = "The cup is on the table.", "The cup is below the table."
    # Columns of these names are no settings.
    given: dict[str, Any] = {
        "completions": [text],
        "scene": [scene],
        "profile": ["x"],
        "timeout": [0.0],
    }
    assert everyday(**given) == [0.0]
    assert trl_reward(**given) == [None]
    assert pickle.loads(pickle.dumps(everyday))(**given) == [0.0]
    late = trl_reward_for(timeout=0.0)
    assert late(["The lamp is upper left of the door. " * 40], scene=[SCENE]) == [None]
    with pytest.raises(OntologyError, match="nowhere"):
        trl_reward_for(profile="nowhere")


def test_verl_gets_numbers() -> None:
    given = {"scene": SCENE, "question": QUESTION}
    assert compute_score("mine", RIGHT, "upper left", given) == {
        "score": 1.0, "outcome": 1.0, "process": 1.0, "scored": 1.0,
    }  # fmt: skip
    assert compute_score("mine", "Let me think.", None, given) == {
        "score": 0.5, "outcome": 0.5, "process": 0.5, "scored": 0.0,
    }  # fmt: skip
    assert compute_score("mine", "Hm.", None, given, undecided=0.25)["score"] == 0.25
    with pytest.raises(SymboUQError, match="needs `scene` in its `extra_info`"):
        compute_score("mine", RIGHT, "upper left", {})


def test_verl_loads_the_file_itself() -> None:
    spec = spec_from_file_location("custom_module", rewards.__file__)
    assert spec is not None and spec.loader is not None
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)  # and puts it nowhere
    given = {"scene": SCENE, "question": QUESTION}
    assert loaded.compute_score("mine", RIGHT, "upper left", given)["score"] == 1.0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the trainer
def test_a_trainer_of_trl_takes_it(tmp_path: Path) -> None:
    trl = pytest.importorskip("trl", reason="TRL is not installed (extra `trl`)")
    from datasets import Dataset

    tiny = Path(__file__).parents[1] / "experiments/backbones/tiny"
    row = {"prompt": [{"role": "user", "content": SCENE}], "scene": SCENE, "question": QUESTION}
    config = trl.GRPOConfig(
        output_dir=str(tmp_path), max_steps=1, per_device_train_batch_size=4, num_generations=4,
        max_completion_length=40, report_to=[], use_cpu=True, bf16=False, logging_steps=1,
        save_strategy="no",
    )  # fmt: skip
    trainer = trl.GRPOTrainer(
        str(tiny), reward_funcs=trl_reward, args=config, train_dataset=Dataset.from_list([row])
    )
    trainer.train()
    logged = trainer.state.log_history[0]
    assert "rewards/trl_reward/mean" in logged
    assert 0 <= logged["symbouq/unscored"] <= 1


MANY = [RIGHT, WRONG, "Let me think.", "The desk is left of the door. Answer: upper left"] * 6


def _all() -> list[float | None]:
    return trl_reward(MANY, scene=[SCENE] * len(MANY), question=[QUESTION] * len(MANY))


def test_eight_threads_give_what_one_gives() -> None:
    alone = _all()
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda text: of(text).total, MANY * 3))
    assert together == alone * 3
    # A thread that is not the main one has no signals, nor needs them.
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(of(RIGHT, timeout=PATIENCE)))
    thread.start()
    thread.join()
    assert found[0].total == 1


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks of processes with threads
def test_worker_processes_give_what_one_gives(method: str) -> None:
    alone = _all()
    held, forked = threading.Event(), threading.Event()

    def hold() -> None:
        with turn():
            held.set()
            forked.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()  # another thread is at work when this process forks
    try:
        with get_context(method).Pool(2) as pool:
            assert pool.apply_async(_all).get(PATIENCE) == alone
            assert pool.apply(os.getpid) != os.getpid()
    finally:
        forked.set()
        thread.join()
