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
    """The fields of a release's rows. Of several names, the first that a row has counts.

    Attributes:
        expected: The fields of a row in words, for messages.
        scene: Names of the field that has the scene; none where the layout is no rows.
        question: The same for the question.
        answer: The same for the right answer.
        questions: The field with the list of a row's questions; empty where a row is one.
        choices: The field with the labels of the question.
        space: The answer space of the benchmark where the question has no labels of its own.
        qtype: The field with the type of the question, by which the answer space is chosen.
        listed: Whether answers are lists, of labels or of positions among the choices.
        coded: Whether the answer may be a number, whose meaning is not known: an error.
        id: The field that identifies a question.
        story_id: Names of the field that identifies the scene.
        question_id: The field that identifies the question of a scene.
        paired: Whether these two identify a question only together.
        sentences: The field with the number of sentences of a scene that is one text.
        hops: Names of the field with the number of reasoning steps.
        task_hops: Whether files are named after that number.
        rest: Whether `meta` keeps all other fields.
        left_out: Those that it does not.
        part: The number of a part of the benchmark as a regular expression, looked for in the
            file's name and a field; rows with the labels of `space` are of part 1.
        part_of: That field.
        part_names: The number's prefix in `dataset`.
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
    """A smaller answer space, and the questions that have an answer in it.

    Attributes:
        name: The name by which `--reduce` asks for it.
        says: The questions that it keeps, in a sentence.
        spaces: The answer spaces whose questions are kept.
        labels: The labels that are kept; all of them where empty.
        kind: Whether an answer is one label or several afterwards; as before where None.
        exactly: How many labels the answer must have left, where it matters.
    """

    name: str
    says: str
    spaces: tuple[str, ...]
    labels: tuple[str, ...] = ()
    kind: Kind | None = None
    exactly: int | None = None

    def of(self, item: Item) -> Item | None:
        """The question in the smaller space, or None where it has no answer there."""
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
    """A benchmark.

    Attributes:
        name: The name by which `data import` asks for it.
        title: Its title, authors and year.
        layouts: Names of the layouts that it is released in.
        spaces: Its answer spaces, by the kind of question.
        reductions: The smaller ones.
        sizes: How many rows the paper has of each split; none where it is not in the paper.
        hub: Hugging Face dataset ids that are known to hold it.
        note: A remark on what the paper leaves open.
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
