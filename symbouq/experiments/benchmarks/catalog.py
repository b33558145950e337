"""The benchmarks that can be imported, as `benchmarks.toml` declares them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from symbouq.auditing.answers import Kind, labels_named
from symbouq.experiments.benchmarks.items import Item


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Layout(_Entry):
    """Fields of a release's rows. Of several names, the first in a row counts.

    Attributes:
        expected: Fields of a row in words, for messages.
        scene: Names of the scene's field; empty if the layout has no rows.
        questions: Field with a row's list of questions; empty if a row is one.
        choices: Field with the labels of the question.
        space: Answer space for questions without labels.
        qtype: Field with the question type, which selects the answer space.
        listed: Whether answers are lists, of labels or positions among the choices.
        coded: Whether the answer may be a number of unknown meaning: an error.
        paired: Whether `story_id` and `question_id` identify a question only together.
        sentences: Field with the number of sentences of a scene that is one text.
        task_hops: Whether files are named after the number of reasoning steps.
        rest: Whether `meta` keeps all other fields, except those `left_out`.
        part: Regular expression for the number of a part, searched for in the file name and the
            field `part_of`; rows with the labels of `space` belong to part 1.
        part_names: Prefix of the number in `dataset`.
    """

    expected: str
    scene: tuple[str, ...] = ()
    question: tuple[str, ...] = ("question",)
    answer: tuple[str, ...] = ("answer",)
    questions: str = ""
    choices: str = ""
    space: str = ""
    qtype: str = ""
    listed: bool = False
    coded: bool = False
    id: str = ""
    story_id: tuple[str, ...] = ()
    question_id: str = ""
    paired: bool = False
    sentences: str = ""
    hops: tuple[str, ...] = ()
    task_hops: bool = False
    rest: bool = True
    left_out: tuple[str, ...] = ()
    part: str = ""
    part_of: str = ""
    part_names: str = ""


class Reduction(_Entry):
    """A smaller answer space, and the questions with an answer in it.

    Attributes:
        name: Name for `--reduce`.
        says: The remaining questions, in a sentence.
        spaces: Answer spaces of the remaining questions.
        labels: Remaining labels; empty: all.
        kind: Whether an answer is then one label or several; None: as before.
        exactly: Required number of remaining labels, if any.
    """

    name: str
    says: str
    spaces: tuple[str, ...]
    labels: tuple[str, ...] = ()
    kind: Kind | None = None
    exactly: int | None = None

    def of(self, item: Item) -> Item | None:
        """The question in the smaller space; None if it has no answer there."""
        if item.space not in self.spaces:
            return None
        if not self.labels:
            return item
        named = {kept for label in item.gold for kept in labels_named(label, self.labels)}
        kept = [label for label in self.labels if label in named]
        if not kept or (self.exactly is not None and len(kept) != self.exactly):
            return None
        kind = self.kind or item.kind
        return replace(
            item,
            answer=kept[0] if kind == "single" else kept,
            labels=list(self.labels),
            kind=kind,
            meta={**item.meta, "full_answer": item.answer, "reduction": self.name},
        )


class Benchmark(_Entry):
    """A benchmark, with its layouts and, by kind of question, its answer spaces.

    Attributes:
        sizes: Rows of each split in the paper; empty if it is not in the paper.
        hub: Hugging Face dataset ids known to hold it.
        note: Remark on what the paper leaves open.
    """

    name: str
    title: str
    layouts: tuple[str, ...]
    spaces: Mapping[str, tuple[str, ...]]
    reductions: tuple[Reduction, ...] = ()
    sizes: Mapping[str, int] = {}
    hub: tuple[str, ...] = ()
    note: str = ""

    def reduction(self, name: str) -> Reduction | None:
        """The reduction of that name."""
        return next((r for r in self.reductions if r.name == name), None)


_DECLARED = tomllib.loads(Path(__file__).with_name("benchmarks.toml").read_text(encoding="utf-8"))

LAYOUTS: dict[str, Layout] = {
    name: Layout(**fields) for name, fields in _DECLARED["layouts"].items()
}
"""The layouts by name, in the order in which a row is tried for them."""

BENCHMARKS: dict[str, Benchmark] = {
    name: Benchmark(name=name, **fields) for name, fields in _DECLARED["benchmarks"].items()
}
"""The known benchmarks by name."""
