"""The scorer and the tasks in inspect_ai itself, with a model that is told what to say."""

from __future__ import annotations

import asyncio
import gc
import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="inspect_ai is not installed (extra `inspect`)")

import inspect_ai
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    ModelName,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.scorer import Target
from inspect_ai.solver import TaskState

from symbouq.errors import RecordError
from symbouq.experiments.benchmarks import BENCHMARKS
from symbouq.integrations.inspect_ai import audit, spartun, stepgame

pytestmark = pytest.mark.filterwarnings("ignore")  # the host's own


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """What the host leaves open is collected while its warnings are not heard."""
    yield
    gc.collect()


NINE = list(BENCHMARKS["stepgame"].spaces["direction"])
HALL = {
    "id": "hall",
    "dataset": "stepgame",
    "scene": ["The lamp is above the desk.", "The desk is left of the door."],
    "question": "Where is the lamp relative to the door?",
    "answer": "upper-left",
    "answer_space": NINE,
    "hops": 2,
}
YARD = HALL | {"id": "yard", "scene": ["The well is below the barn."], "answer": "above", "hops": 1}
YARD["question"] = "Where is the barn relative to the well?"
RIGHT = "The lamp is upper left of the door. Answer: upper left"
WRONG = "The barn is below the well. Answer: below"


def said(text: str) -> ModelOutput:
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # counts none itself
    return output


def run(task: Any, folder: Path, *texts: str) -> EvalLog:
    model = get_model("mockllm/model", custom_outputs=list(map(said, texts)))
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    return log


def scored(folder: Path, sample: Sample, text: str, **options: Any) -> Any:
    log = run(inspect_ai.Task(MemoryDataset([sample]), scorer=audit(**options)), folder, text)
    return log.samples[0].scores["audit"]  # type: ignore[index]


def file_of(folder: Path, *rows: dict[str, Any]) -> str:
    file = folder / "questions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


def test_a_task_of_local_files(tmp_path: Path) -> None:
    log = run(stepgame(file_of(tmp_path, HALL, YARD)), tmp_path, RIGHT, WRONG)
    found = {sample.id: sample.scores["audit"] for sample in log.samples or []}  # type: ignore[index]
    assert found["hall"].value == dict.fromkeys(
        ("outcome", "process", "free_of_errors", "determinacy"), 1.0
    )
    assert found["yard"].value == {
        "outcome": 0.0, "process": 0.0, "free_of_errors": 0.0, "determinacy": 0.5,
    }  # fmt: skip
    kept = found["yard"].metadata
    assert kept["first_error"] == 1
    assert [claim["verdict"] for claim in kept["claims"]] == ["contradicted", "not-evaluable"]
    assert kept["claims"][0]["premises"] == ["scene:1"]
    assert "1. contradicted: The barn is below the well." in found["yard"].explanation
    means = {score.name: score.metrics["mean"].value for score in log.results.scores}  # type: ignore[union-attr]
    assert means == {"outcome": 0.5, "process": 0.5, "free_of_errors": 0.5, "determinacy": 0.75}


def test_hops_are_chosen_and_answers_needed(tmp_path: Path) -> None:
    file = file_of(tmp_path, HALL, YARD)
    assert [sample.id for sample in stepgame(file, hops=1).dataset] == ["yard"]
    (prompt,) = {sample.input for sample in spartun(file, free_form=False).dataset[:1]}
    assert '"reasoning"' in prompt
    bare = {key: value for key, value in HALL.items() if key != "answer"}
    with pytest.raises(RecordError, match="needs an `answer`"):
        stepgame(file_of(tmp_path, bare))


def test_what_is_not_decided_is_unscored(tmp_path: Path) -> None:
    metadata = {"scene": "The well is below the barn.", "question": "Where is the barn?"}
    score = scored(tmp_path, Sample("?", metadata=metadata), "Hm.")
    assert math.isnan(score.as_float())
    assert score.reason == "undecided"
    assert "unknown: Hm." in score.explanation


def output(*content: Any, stop: str = "stop") -> ModelOutput:
    made = said("x")
    message = ChatMessageAssistant(content=[*content] if content else "")
    choice = ChatCompletionChoice(message=message, stop_reason=stop)  # type: ignore[arg-type]
    return made.model_copy(update={"choices": [choice], "completion": message.text})


def scored_output(made: ModelOutput) -> Any:
    state = TaskState(
        model=ModelName("mockllm/model"), sample_id="s", epoch=1, input="?", messages=[],
        output=made, metadata={**YARD, "answer": None},
    )  # fmt: skip
    return asyncio.run(audit()(state, Target("above")))  # type: ignore[arg-type]


def test_reasoning_is_audited_and_never_the_answer() -> None:
    thought = ContentReasoning(reasoning="The barn is below the well.")
    score = scored_output(output(thought, ContentText(text="Answer: above")))
    assert score.metadata["claims"][0]["verdict"] == "contradicted"
    assert (score.value["outcome"], score.value["free_of_errors"]) == (1.0, 0.0)
    assert "below the well" not in score.answer
    sealed = ContentReasoning(reasoning="The barn is below the well.", redacted=True)
    score = scored_output(output(sealed, ContentText(text="Answer: above")))
    assert score.value["free_of_errors"] == 1.0


@pytest.mark.parametrize("stop", ["max_tokens", "model_length"])
def test_what_was_cut_off_is_unscored(stop: str) -> None:
    made = output(ContentText(text="The barn is above the well. So the barn is below"), stop=stop)
    score = scored_output(made)
    assert math.isnan(score.as_float())
    assert (score.reason, score.metadata) == ("truncated", {"truncated": True})
    assert "contradicted" not in score.explanation


def test_what_is_empty_or_failed_is_unscored() -> None:
    nothing = ModelOutput(model="mockllm/model", choices=[])
    for made in (output(), nothing, output(ContentText(text=" "))):
        assert scored_output(made).reason == "truncated"
    failed = output(ContentText(text="The barn")).model_copy(update={"error": "refused"})
    score = scored_output(failed)
    assert (score.reason, score.explanation) == ("error", "refused")


def test_a_sample_without_a_scene_is_unscored(tmp_path: Path) -> None:
    score = scored(tmp_path, Sample("Where is the lamp?"), "The lamp is left.")
    assert math.isnan(score.as_float())
    assert "scene" in score.explanation


def test_scene_and_question_may_stand_in_the_input(tmp_path: Path) -> None:
    asked = "The well is below the barn.\n\nWhere is the barn relative to the well?"
    score = scored(tmp_path, Sample(asked), "The barn is above the well. Answer: above")
    assert score.value["process"] == 1.0


@pytest.mark.parametrize(
    ("target", "outcome"),
    [
        (["above"], 1.0),
        (["below", "above"], 1.0),
        (["above", "below"], 1.0),
        (["left", "below"], 0.0),
        (["", "above"], 1.0),
    ],
)
def test_any_of_several_targets_will_do(tmp_path: Path, target: list[str], outcome: float) -> None:
    metadata = {"scene": YARD["scene"], "question": YARD["question"], "answer_space": NINE}
    sample = Sample("?", target=target, metadata=metadata)
    score = scored(tmp_path, sample, "The barn is above the well. Answer: above")
    assert score.value["outcome"] == outcome


@pytest.mark.parametrize(("text", "outcome"), [("ANSWER: B", 1.0), ("ANSWER: A", 0.0)])
def test_a_choice_is_the_thing_of_its_letter(tmp_path: Path, text: str, outcome: float) -> None:
    given = {"scene": HALL["scene"], "question": "Which thing is above the desk?"}
    things = ["the door", "the lamp"]
    sample = Sample(input="As below.", choices=things, target="B", metadata=given)
    score = scored(tmp_path, sample, text)
    assert score.value["outcome"] == outcome
    assert score.metadata["claims"][-1]["verdict"] == ("entailed" if outcome else "contradicted")


def test_an_answer_of_several_labels_needs_them_all(tmp_path: Path) -> None:
    both = {
        "id": "both",
        "scene": "The cup is above the jug. The cup is left of the jug.",
        "question": "Where is the cup relative to the jug?",
        "answer": ["above", "left"],
        "answer_space": ["above", "below", "left", "right"],
        "profile": "half-plane",
    }
    file = file_of(tmp_path, both, both | {"id": "one"})
    log = run(stepgame(file), tmp_path, "Answer: above, left", "Answer: above")
    values = [sample.scores["audit"].value["outcome"] for sample in log.samples or []]  # type: ignore[index]
    assert values == [1.0, 0.0]


def test_a_profile_is_named(tmp_path: Path) -> None:
    metadata = {"scene": ["NTPP(x,y).", "DC(y,z)."], "question": "How are x and z related?"}
    score = scored(tmp_path, Sample("?", metadata=metadata), "DC(x,z).", profile="rcc8")
    assert score.metadata["ontology"]["profile"] == "rcc8"
    assert score.value["process"] == 1.0


@pytest.mark.slow
def test_a_log_is_scored_by_name_where_its_model_is_not(tmp_path: Path) -> None:
    task = inspect_ai.Task(MemoryDataset([Sample("?", id="s", metadata={**YARD})]))
    log = run(task, tmp_path, WRONG)
    assert log.samples and not log.samples[0].scores
    out = tmp_path / "scored.eval"
    program = str(Path(sys.executable).with_name("inspect"))
    options = ["--scorer", "symbouq/audit", "--output-file", str(out), "--display", "plain"]
    done = subprocess.run(
        [program, "score", log.location, *options], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    again = read_eval_log(str(out))
    assert again.samples
    assert again.samples[0].scores["audit"].value["free_of_errors"] == 0.0  # type: ignore[index]
