"""The benchmarks that can be imported, as declared in `benchmarks.toml`."""

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
    """Names of the fields in a release's rows. If several names are given for a field, the first
    one that occurs in a row is used.

    Attributes:
        expected: Description of the expected fields, for messages.
        scene: Names of the field with the scene; empty if the files are not divided into rows.
        questions: Field with a list of questions; empty if each row is a single question.
        choices: Field with the possible labels of the question.
        space: Answer space for questions without labels.
        qtype: Field with the question type, which selects the answer space.
        listed: Whether an answer is a list of labels or of positions among the choices.
        coded: Whether the answer may be a number with unknown meaning, which is reported as an
            error.
        paired: Whether `story_id` and `question_id` identify a question only together.
        sentences: Field with the number of sentences, for scenes given as a single text.
        task_hops: Whether files are named after the number of reasoning steps.
        rest: Whether `meta` keeps all other fields, except those `left_out`.
        part: Regular expression for the number of a part. It is searched for in the file name and
            the field `part_of`. Rows with the labels of `space` belong to part 1.
        part_names: Prefix of the part's number in `dataset`.
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
    """A smaller answer space, and which questions remain after reducing a benchmark to it.

    Attributes:
        name: Name for `--reduce`.
        says: A sentence that describes the remaining questions.
        spaces: Answer spaces of the remaining questions.
        labels: Remaining labels; if empty, all labels remain.
        kind: Whether an answer is one label or several after the reduction; None: as before.
        exactly: Required number of remaining labels, if there is such a requirement.
    """

    name: str
    says: str
    spaces: tuple[str, ...]
    labels: tuple[str, ...] = ()
    kind: Kind | None = None
    exactly: int | None = None

    def of(self, item: Item) -> Item | None:
        """Return the question with the smaller answer space, or None if its answer is not in this
        space.
        """
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
    """A benchmark with its layouts and with the answer space of each kind of question.

    Attributes:
        sizes: Number of rows in each split in the paper; empty if the paper does not use it.
        hub: Hugging Face dataset ids known to contain the benchmark.
        note: Remark on details that the paper does not specify.
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
        """The reduction called `name`, or None."""
        return next((r for r in self.reductions if r.name == name), None)


_DECLARED = tomllib.loads(Path(__file__).with_name("benchmarks.toml").read_text(encoding="utf-8"))

LAYOUTS: dict[str, Layout] = {
    name: Layout(**fields) for name, fields in _DECLARED["layouts"].items()
}
"""The layouts by name, in the order in which they are tried for a row."""

BENCHMARKS: dict[str, Benchmark] = {
    name: Benchmark(name=name, **fields) for name, fields in _DECLARED["benchmarks"].items()
}
"""The known benchmarks by name."""
