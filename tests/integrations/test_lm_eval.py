"""The tasks in lm-evaluation-harness itself, with a model that is told what to say."""

from __future__ import annotations

import json
import math
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from symbouq_cli.main import main

pytest.importorskip("lm_eval", reason="lm-evaluation-harness is not installed (extra `lm-eval`)")

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from symbouq.errors import SymboUQError
from symbouq.experiments.benchmarks import BENCHMARKS
from symbouq.integrations.lm_eval import TASKS
from symbouq.integrations.lm_eval.plugin import AuditFilter, audited

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the host's own

NINE = list(BENCHMARKS["stepgame"].spaces["direction"])
ROWS = [
    {"id": "hall", "scene": ["The lamp is above the desk.", "The desk is left of the door."],
     "question": "Where is the lamp relative to the door?", "answer": "upper-left", "hops": 2},
    {"id": "yard", "scene": "The well is below the barn.",
     "question": "Where is the barn relative to the well?", "answer": "above", "hops": 1},
    {"id": "mute", "scene": "The well is below the barn.",
     "question": "Where is the barn relative to the well?", "hops": 1},
]  # fmt: skip
SAID = {
    "lamp": "The lamp is upper left of the door. Answer: upper left",
    "barn": "The barn is below the well. Answer: below",
}


class Told(LM):
    """A model that says what it is told, by what is asked about; nothing to what has no answer."""

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        return [
            "Hm." if request.doc["id"] == "mute"
            else next(said for name, said in SAID.items() if f"Where is the {name}" in request.args[0])
            for request in requests
        ]  # fmt: skip

    def loglikelihood(self, requests: list[Any]) -> Any:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: list[Any]) -> Any:
        raise NotImplementedError


def evaluated(folder: Path, task: str, **metadata: Any) -> dict[str, Any]:
    file = folder / "questions.jsonl"
    rows = (row | {"dataset": "stepgame", "answer_space": NINE} for row in ROWS)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found: dict[str, Any] = simple_evaluate(
        Told(),
        tasks=[task],
        task_manager=TaskManager(include_path=str(TASKS), metadata={"file": str(file)} | metadata),
        bootstrap_iters=0,
        metadata={"file": str(file)} | metadata,
    )
    return found


@pytest.mark.parametrize("task", ["symbouq_stepgame", "symbouq_spartun"])
def test_a_task(tmp_path: Path, task: str) -> None:
    found = evaluated(tmp_path, task)
    means = {name.split(",")[0]: value for name, value in found["results"][task].items()}
    # Of the third, whose answer nobody tells, nothing is decided: it is in no mean but the last.
    assert (means["outcome"], means["process"], means["free_of_errors"]) == (0.5, 0.5, 0.5)
    assert means["determinacy"] == pytest.approx((1 + 0.5 + 0) / 3)
    samples = {sample["doc"]["id"]: sample for sample in found["samples"][task]}
    assert math.isnan(samples["mute"]["process"])
    # What the harness logs is a file of traces.
    log = tmp_path / f"samples_{task}.jsonl"
    log.write_text("".join(json.dumps(sample) + "\n" for sample in found["samples"][task]))
    audits = tmp_path / "audits.jsonl"
    done = CliRunner().invoke(main, ["audit", str(log), "--jobs", "1", "--out", str(audits)])
    assert done.exit_code == 0, done.output
    verdicts = [
        [claim["verdict"] for claim in json.loads(line)["claims"]]
        for line in audits.read_text().splitlines()
    ]
    assert ["contradicted", "not-evaluable"] in verdicts
    assert samples["yard"]["process"] == 0


OWN = """
task: own
custom_dataset: !function own.rows
test_split: test
output_type: generate_until
doc_to_text: "{{story}} {{question}}"
doc_to_target: "{{answer}}"
filter_list:
  - name: audit
    filter:
      - {function: symbouq_audit, scene: story}
      - {function: take_first}
metric_list:
  - {metric: symbouq}
"""
FUNCTIONS = """
import json
from datasets import Dataset
import symbouq.integrations.lm_eval.plugin

def rows(**_):
    return {"test": Dataset.from_list(json.loads(ROWS))}
"""


def own(folder: Path, task: str, *rows: dict[str, Any]) -> dict[str, Any]:
    (folder / "own.yaml").write_text(task)
    content = json.dumps([{"answer_space": NINE, **row} for row in rows])
    (folder / "own.py").write_text(f"ROWS = {content!r}\n{FUNCTIONS}")
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    found: dict[str, Any] = simple_evaluate(
        Told(), tasks=["own"], task_manager=manager, bootstrap_iters=0
    )
    return found


def test_a_task_of_ones_own_takes_filter_and_metric_by_name(tmp_path: Path) -> None:
    asked = "Where is the lamp relative to the desk?"
    rows = [
        {"id": "a", "story": ["The lamp is below the desk."], "question": asked, "answer": "below"},
        {"id": "b", "story": ["The barn is above the well."],
         "question": "Where is the barn relative to the well?", "answer": "above"},
        {"id": "mute", "story": ["The lamp is above the desk."], "question": asked, "answer": "x"},
    ]  # fmt: skip
    found = own(tmp_path, OWN, *rows)
    means = {name.split(",")[0]: value for name, value in found["results"]["own"].items()}
    # Of the lamp the step is open and the answer is wrong; of the barn the step is wrong, after
    # which its answer is not judged.
    assert (means["outcome"], means["process"], means["free_of_errors"]) == (0.0, 0.0, 0.0)
    assert means["determinacy"] == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert {sample["filter"] for sample in found["samples"]["own"]} == {"audit"}


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (OWN.replace(", scene: story", ""), "a row has no column 'scene'"),
        (OWN.replace("scene: story", "story: scene"), "symbouq_audit has no argument story"),
        (OWN.replace("- {function: symbouq_audit, scene: story}", ""), "name it"),
    ],
)
def test_tasks_that_name_it_wrongly(task: str, message: str, tmp_path: Path) -> None:
    row = {"id": "a", "story": "The lamp is below the desk.", "question": "Where is the lamp?"}
    with pytest.raises(SymboUQError, match=message):
        own(tmp_path, task, {**row, "answer": "below"})


def test_versions_with_plugins_find_both() -> None:
    (filtering,) = entry_points(group="lm_eval.filters", name="symbouq_audit")
    (metric,) = entry_points(group="lm_eval.metrics", name="symbouq")
    assert (filtering.load(), metric.load()) == (AuditFilter, audited)


def test_hops_are_chosen(tmp_path: Path) -> None:
    found = evaluated(tmp_path, "symbouq_stepgame", hops=2)
    assert [sample["doc"]["id"] for sample in found["samples"]["symbouq_stepgame"]] == ["hall"]
