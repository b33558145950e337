"""Writes a dataset's questions to one file for the models, and the answers to another file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint
from itertools import islice
from pathlib import Path
from typing import Any

from symbouq import plugins
from symbouq.errors import RecordError
from symbouq.experiments.benchmarks.items import scene_key
from symbouq.experiments.config import SPLITS, DatasetConfig, Split
from symbouq.experiments.scenes.families import problems
from symbouq.io.settings import SettingsError
from symbouq.io.stream import read_lines
from symbouq.records import Instance, parse_record

QUESTIONS = "questions.jsonl"
"""File for generation, audits and scoring."""
GOLD = "gold.jsonl"
"""File with the answers, and with the facts from which the truth of claims is determined. It may be
used only for labels and metrics."""

_GOLD = ("answer", "correct", "meta")
_MOST_HOPS = (1, 2, 3)


def write_questions(dataset: DatasetConfig, split: Split, data: Path | None, out: Path) -> None:
    """Write the questions of a split to one file, and the answers to another file.

    Raises:
        SettingsError: If a file is missing or has too few questions.
    """
    count = dataset.sizes.get(split, 0)
    with (
        (out / QUESTIONS).open("w", encoding="utf-8") as questions,
        (out / GOLD).open("w", encoding="utf-8") as gold,
    ):
        for record in _records(dataset, split, data, count):
            question = {name: value for name, value in record.items() if name not in _GOLD}
            answer = {name: record[name] for name in ("id", *_GOLD) if name in record}
            questions.write(json.dumps(question, ensure_ascii=False) + "\n")
            gold.write(json.dumps(answer, ensure_ascii=False) + "\n")


def _records(
    dataset: DatasetConfig, split: Split, data: Path | None, count: int
) -> Iterator[dict[str, Any]]:
    if dataset.family is not None:
        every = problems(dataset.family, None, dataset.seed, dataset.hops or _MOST_HOPS)
        of_split = (problem for problem in every if _split_of(problem.scene) == split)
        for number, problem in enumerate(islice(of_split, count)):
            yield problem.record(f"{dataset.name}-{split}-{number:05d}")
        return
    rows = _rows(dataset, split, data)
    passed = dataset.passed_over(split)
    if len(rows) < passed + count:
        told = shortage(dataset, split, max(0, len(rows) - passed))
        raise SettingsError(f"{told}; --allow-smaller takes as many as there are")
    drawn = sorted(
        rows, key=lambda name: hashlib.sha256(f"{dataset.seed}/{name}".encode()).hexdigest()
    )
    yield from (rows[name] for name in sorted(drawn[passed : passed + count]))


def _rows(dataset: DatasetConfig, split: Split, data: Path | None) -> dict[str, dict[str, Any]]:
    """Return the questions in a split's source that have one of the requested numbers of hops, by
    id.
    """
    if dataset.provider is not None:
        read = provided(dataset.provider, split)
    else:
        read = instances(dataset_file(dataset, split, data))
    records = (instance.model_dump(exclude_none=True) for instance in read)
    return {
        row["id"]: row for row in records if not dataset.hops or row.get("hops") in dataset.hops
    }


def available(dataset: DatasetConfig, data: Path | None) -> dict[Split, int]:
    """For each split that is larger than its source allows, return the number of available
    questions.

    Raises:
        SettingsError: If a file is missing.
    """
    if dataset.family is not None:
        return {}
    counts = {split: len(_rows(dataset, split, data)) for split in dataset.sizes}
    left = {split: max(0, count - dataset.passed_over(split)) for split, count in counts.items()}
    return {split: count for split, count in left.items() if count < dataset.sizes[split]}


def shortage(dataset: DatasetConfig, split: Split, count: int) -> str:
    """Error message for a split whose source has only `count` questions not used by other
    splits.
    """
    hops = f" of {', '.join(map(str, dataset.hops))} hops" if dataset.hops else ""
    others = " beside those of other splits" if dataset.passed_over(split) else ""
    source = dataset.provider or dataset.files[split]
    return (
        f"{dataset.name}, {split}: {dataset.sizes[split]:,} questions are asked for, and {source} "
        f"has {count:,}{hops}{others}"
    )


def _split_of(scene: Sequence[str]) -> Split:
    return SPLITS[int(scene_key([*scene])[:8], 16) % len(SPLITS)]


def write_splits(questions: Mapping[Split, Path], out: Path) -> None:
    """Check that splits have no scene in common. Write the numbers of questions and scenes in each
    split, with a hash.

    Raises:
        SettingsError: If splits share a scene. The message names two questions about it in
            different splits.
    """
    owner: dict[str, tuple[str, str]] = {}
    splits: dict[str, dict[str, Any]] = {}
    for split, file in questions.items():
        keys = []
        for row in read_rows(file):
            key = scene_key(row["scene"])
            other, name = owner.setdefault(key, (split, row["id"]))
            if other != split:
                raise SettingsError(
                    f"the scene of {row['id']} ({split}) is that of {name} ({other}): change "
                    "the dataset's seed or sizes",
                    str(file),
                )
            keys.append(key + hashlib.sha256(row["question"].encode()).hexdigest())
        splits[split] = {
            "questions": len(keys),
            "scenes": len({key[:64] for key in keys}),
            "sha256": hashlib.sha256("".join(keys).encode()).hexdigest(),
        }
    out.write_text(json.dumps(splits, indent=2) + "\n", encoding="utf-8")


def has_files(dataset: DatasetConfig, data: Path | None) -> bool:
    """Whether the dataset's files exist. They may be missing only for an optional dataset."""
    if not dataset.optional or not dataset.files:
        return True
    return data is not None and all((data / name).exists() for name in dataset.files.values())


def dataset_file(dataset: DatasetConfig, split: Split, data: Path | None) -> Path:
    """Return the file of a split.

    Raises:
        SettingsError: If there is no data folder, or the file is missing.
    """
    if data is None:
        raise SettingsError(f"dataset {dataset.name} reads files: give the folder with --data")
    file = data / dataset.files[split]
    if not file.exists():
        raise SettingsError(f"no such file; dataset {dataset.name} reads it", str(file))
    return file


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read the records in a JSON Lines file written by a stage."""
    with path.open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def instances(file: Path) -> Iterator[Instance]:
    """Yield the questions in a benchmark's file, possibly compressed.

    Raises:
        RecordError: At the first invalid question.
    """
    for line in read_lines(str(file)):
        if isinstance(line, RecordError):
            raise line
        yield parse_record(Instance, line.content, line.file, line.number)


Provider = Callable[[Split], Iterable[Mapping[str, Any]]]
"""Type of the entry points in the group `symbouq.datasets`: a function that returns the questions
of a split as records with `id`, `scene`, `question`, `answer` and `answer_space`."""


def provider(name: str) -> EntryPoint:
    """Find the entry point of a dataset provided by a package.

    Raises:
        SettingsError: If no package provides the dataset.
    """
    points = {point.name: point for point in plugins.brought(plugins.DATASETS)}
    if name not in points:
        there = ", ".join(points) or "none"
        raise SettingsError(f"no installed package brings a dataset {name}; brought are: {there}")
    return points[name]


def provided(name: str, split: Split) -> Iterator[Instance]:
    """Yield the questions of a split of a dataset provided by a package.

    Raises:
        SettingsError: If no package provides the dataset.
        SymboUQError: If the dataset cannot be loaded, or a record is invalid.
    """
    give: Provider = plugins.loaded(provider(name))
    for number, record in enumerate(give(split), start=1):
        yield parse_record(Instance, json.dumps(dict(record)).encode(), name, number)
