"""The effect of training on rewards from the audit: GRPO of a small model with TRL, on a CPU.

    python experiments/grpo_table.py [--family blocks] [--steps N] [--out FOLDER]

The model is `experiments/backbones/tiny`. It was trained on sound traces about such scenes but is
rarely certain: answers sampled at temperature 1 are right far less often than the most probable
answers. It is trained with `symbouq.rewards.trl_reward` on generated questions, without access to
right answers. Before and after training, answers to other questions are sampled and audited. The
script prints the reward during training, averaged over parts of the run. For the other questions,
it prints the share of right answers (not used by the reward), the share of answers with a
contradicted claim, and which claim is contradicted first.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import fmean
from typing import Any

import click
import torch
from common import table
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from symbouq.auditing.correctness import answer_label
from symbouq.evidence.contract import SCHEMA
from symbouq.evidence.generation.engine import Options, Request
from symbouq.evidence.generation.prompts import user_message
from symbouq.evidence.generation.transformers_engine import TransformersEngine
from symbouq.experiments.scenes.families import Problem, problems
from symbouq.records import Instance, make_record
from symbouq.rewards import reward, trl_reward

BACKBONE = Path(__file__).parent / "backbones" / "tiny"
SEED = 2026
LONGEST = 120
"""Maximum number of tokens in a completion."""
PARTS = 6
"""Number of parts of the run for which the reward is reported."""
DRAWS = 4
"""Number of answers drawn for each question."""


def asked(problem: Problem, number: int) -> tuple[dict[str, Any], str]:
    """Return a problem as a record, and its prompt."""
    record = problem.record(f"{problem.family}-{number}")
    return record, user_message(make_record(Instance, record))


def rows(family: str, hops: tuple[int, ...], count: int) -> list[dict[str, Any]]:
    """Make rows to train on, without answers."""
    made = []
    for number, problem in enumerate(problems(family, count, SEED, hops)):
        record, prompt = asked(problem, number)
        fields = {name: record[name] for name in ("scene", "question", "answer_space", "dataset")}
        made.append({"prompt": [{"role": "user", "content": prompt}], **fields})
    return made


def measured(model: Path, family: str, hops: tuple[int, ...], count: int) -> dict[str, float]:
    """Measure the answers that a model samples for questions not used in training."""
    engine = TransformersEngine(str(model), Options(device="cpu"))
    questions = [asked(p, n) for n, p in enumerate(problems(family, count, SEED + 1, hops))]
    requests = [
        Request(prompt, LONGEST, SCHEMA, 1.0, seed)
        for _, prompt in questions
        for seed in range(DRAWS)
    ]
    completions = engine.generate(requests)
    right, rewards, errors = [], [], []
    for number, completion in enumerate(completions):
        record, _ = questions[number // DRAWS]
        right.append(answer_label({**record, "response": completion.text}) or 0)
        fields = (record["scene"], completion.text, record["question"])
        found = reward(*fields, answer_space=record["answer_space"], dataset=record["dataset"])
        rewards += [] if found.total is None else [found.total]
        errors.append(found.first_error)
    wrong = [error for error in errors if error is not None]
    return {
        "reward": fmean(rewards),
        "right answers": fmean(right),
        "with an error": len(wrong) / len(errors),
        "first error, mean claim": fmean(wrong) if wrong else float("nan"),
    }


@click.command()
@click.option("--family", default="blocks")
@click.option("--hops", type=int, multiple=True, default=[1])
@click.option("--steps", default=60)
@click.option("--prompts", default=8, help="Of a step.")
@click.option("--generations", default=8, help="Of a prompt.")
@click.option("--rate", default=5e-4)
@click.option("--questions", default=60, help="To measure on.")
@click.option("--out", type=click.Path(path_type=Path), help="Where the trained model goes.")
def main(
    family: str,
    hops: tuple[int, ...],
    steps: int,
    prompts: int,
    generations: int,
    rate: float,
    questions: int,
    out: Path | None,
) -> None:
    """Train, measure and print the results."""
    torch.manual_seed(SEED)
    before = measured(BACKBONE, family, hops, questions)
    with tempfile.TemporaryDirectory() as scratch:
        out = out or Path(scratch) / "trained"
        trainer = GRPOTrainer(
            str(BACKBONE),
            reward_funcs=trl_reward,
            train_dataset=Dataset.from_list(rows(family, hops, steps * prompts)),
            args=GRPOConfig(
                output_dir=scratch,
                per_device_train_batch_size=prompts * generations,
                num_generations=generations,
                max_completion_length=LONGEST,
                learning_rate=rate,
                lr_scheduler_type="constant",
                max_steps=steps,
                logging_steps=1,
                report_to="none",
                save_strategy="no",
                use_cpu=True,
                bf16=False,
                gradient_checkpointing=False,
                disable_tqdm=True,
                seed=SEED,
            ),
        )
        trainer.train()
        trainer.save_model(str(out))
        after = measured(out, family, hops, questions)
    curve = [row["reward"] for row in trainer.state.log_history if "reward" in row]
    size = -(-len(curve) // PARTS)
    parts = [curve[n : n + size] for n in range(0, len(curve), size)]
    ends = (f"to {min(size * n, len(curve))}" for n in range(1, len(parts) + 1))
    print()
    table(f"steps | {' | '.join(ends)}", [["reward", *(f"{fmean(part):.3f}" for part in parts)]])
    print()
    found = ([name, f"{value:.3f}", f"{after[name]:.3f}"] for name, value in before.items())
    table("other questions | before | after", found)


if __name__ == "__main__":
    main()
