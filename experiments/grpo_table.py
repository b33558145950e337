"""What training on rewards of the audit does to a small model: before and after, on new scenes.

    python experiments/grpo_table.py [--model DIR] [--steps N] [--reward total|outcome|process]

The model answers questions about chains of one and two hops. GRPO of TRL (a package of its own)
trains it on the rewards of `symbouq.rewards` alone: nobody tells right answers. Measured are
samples for scenes that it was not trained on, each with the 95 % interval of its mean: right
answers, completions with a first error, the number of the claim that it is, the process reward
and the number of claims.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset
from transformers import AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from symbouq.evidence.generation.engine import Options, Request
from symbouq.evidence.generation.engines import load_engine
from symbouq.evidence.generation.prompts import user_message
from symbouq.experiments.scenes.families import problems
from symbouq.records import Instance, make_record
from symbouq.rewards import Reward, reward, trl_reward

TINY = Path(__file__).parent / "backbones/tiny"
TOKENS = 200
HOPS = (1, 2)


def questions(seed: int, count: int) -> list[dict[str, Any]]:
    """Questions with their prompts."""
    chains = islice(problems("chains", None, seed, HOPS), count)
    rows = [problem.record(str(number)) for number, problem in enumerate(chains)]
    for row in rows:
        message = user_message(make_record(Instance, row))
        row["prompt"] = [{"role": "user", "content": message}]
    return rows


def sampled(model: Path, rows: Sequence[dict[str, Any]]) -> Iterator[Reward]:
    """The rewards of one sample a question."""
    engine = load_engine("transformers", str(model), Options(device="cpu"))
    asked = [
        Request(row["prompt"][0]["content"], TOKENS, temperature=1.0, seed=number)
        for number, row in enumerate(rows)
    ]
    for row, made in zip(rows, engine.generate(asked), strict=True):
        given = {name: row[name] for name in ("answer", "answer_space")}
        yield reward(row["scene"], made.text, row["question"], **given)


def measured(found: Sequence[Reward]) -> list[str]:
    """The cells of a row."""
    columns: dict[str, Callable[[Reward], float | None]] = {
        "right": lambda each: each.outcome,
        "with a first error": lambda each: float(each.first_error is not None),
        "its claim": lambda each: each.first_error,
        "process": lambda each: each.process,
        "claims": lambda each: len(each.claims),
    }
    cells = []
    for value in columns.values():
        values = np.array([v for each in found if (v := value(each)) is not None], float)
        half = 1.96 * values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else float("nan")
        cells.append(f"{values.mean():.3f} ± {half:.3f}" if len(values) else "-")
    return cells


def trained(
    model: Path, rows: list[dict[str, Any]], steps: int, part: str, out: Path
) -> list[float]:
    """Trains a model; gives the mean reward of each step."""

    def paid(
        completions: Sequence[Any], scene: Sequence[Any], question: Sequence[str], **_: Any
    ) -> list[float | None]:
        found = map(reward, scene, completions, question)
        return [each.outcome if part == "outcome" else each.process for each in found]

    config = GRPOConfig(
        output_dir=str(out),
        max_steps=steps,
        per_device_train_batch_size=128,
        num_generations=8,
        max_completion_length=TOKENS,
        learning_rate=5e-4,
        lr_scheduler_type="constant",
        temperature=1.0,
        beta=0.0,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        bf16=False,
        seed=2026,
        disable_tqdm=True,
    )
    trainer = GRPOTrainer(
        str(model),
        reward_funcs=trl_reward if part == "total" else paid,
        args=config,
        train_dataset=Dataset.from_list(
            [{name: row[name] for name in ("prompt", "scene", "question")} for row in rows]
        ),
        processing_class=AutoTokenizer.from_pretrained(model, padding_side="left"),
    )
    trainer.train()
    trainer.save_model(str(out))
    return [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]


def main() -> None:
    """Prints the table as Markdown, and the rewards of the steps."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--model", type=Path, default=TINY, help="folder of the model")
    parser.add_argument("--steps", type=int, default=60, help="optimiser steps")
    parser.add_argument("--reward", choices=("total", "outcome", "process"), default="total")
    parser.add_argument(
        "--questions", type=int, default=300, help="new scenes that are measured on"
    )
    options = parser.parse_args()
    new = questions(7, options.questions)
    seen = {" ".join(row["scene"]) for row in new}
    learnt = [row for row in questions(8, 2000) if " ".join(row["scene"]) not in seen]
    head = ("", "right", "with a first error", "its claim", "process", "claims")
    print(f"| {' | '.join(head)} |\n{'|---' * len(head)}|")
    print(f"| before | {' | '.join(measured([*sampled(options.model, new)]))} |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "model"
        steps = trained(options.model, learnt, options.steps, options.reward, out)
        for name in ("chat_template.jinja", "generation_config.json"):
            if not (out / name).exists():
                shutil.copy(options.model / name, out)
        print(f"| after {options.steps} steps | {' | '.join(measured([*sampled(out, new)]))} |")
    print(f"\nreward by step: {json.dumps([round(value, 3) for value in steps])}")


if __name__ == "__main__":
    main()
