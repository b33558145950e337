"""A question of a benchmark, in a form common to all layouts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from symbouq.auditing.answers import Kind, space_of
from symbouq.errors import SymboUQError

Scene = str | list[str]
"""A single text, which the audit splits into sentences, or a list of sentences."""


class BenchmarkError(SymboUQError):
    """A benchmark cannot be imported as requested: a name or layout is unknown, there are no rows,
    or splits overlap.
    """


@dataclass
class Item:
    """One question about one scene.

    Attributes:
        id: Id in the import.
        dataset: Dataset name, which determines the profile used by the audit.
        scene: The trusted statements.
        question: The question.
        answer: The right label or labels.
        labels: Possible labels.
        kind: Whether an answer is one label, a set or a sequence.
        meta: Other fields of the release.
        split: Split in the release, if any.
        story: Name of the scene in the release, if it has one.
        extra: Fields to be copied to the record, such as the `response` of a trace.
        file: File that contains the question.
        line: Line or row number of the question in this file.
    """

    id: str
    dataset: str
    scene: Scene
    question: str
    answer: str | list[str]
    labels: list[str]
    kind: Kind
    meta: dict[str, Any] = field(default_factory=dict)
    split: str | None = None
    story: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    file: str = ""
    line: int = 0

    @property
    def space(self) -> str:
        """Name of the answer space, as in `symbouq.auditing.answers`."""
        return space_of(self.labels).name

    @property
    def gold(self) -> list[str]:
        """The right labels as a list."""
        return self.answer if isinstance(self.answer, list) else [self.answer]

    @property
    def scene_key(self) -> str:
        """Key that identifies the scene."""
        return scene_key(self.scene)

    @property
    def pair_key(self) -> str:
        """SHA-256 of the scene and the question."""
        return _digest(f"{_words(self.scene)}\n{_words(self.question)}")

    def record(self) -> dict[str, Any]:
        """Return the record to be written."""
        return {
            "id": self.id,
            "dataset": self.dataset,
            "scene": self.scene,
            "question": self.question,
            "answer": self.answer,
            "answer_space": self.labels,
            "meta": {**self.meta, "answer_kind": self.kind, "pair": self.pair_key},
            **self.extra,
        }


def scene_key(scene: Scene) -> str:
    """Return the SHA-256 of a scene's words. Case, spaces and sentence boundaries are ignored."""
    return _digest(_words(scene))


def _words(text: Scene) -> str:
    whole = text if isinstance(text, str) else " ".join(text)
    return " ".join(whole.casefold().split())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
