"""The benchmarks that can be imported: their answer spaces, reductions and sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from symbouq.auditing.matching import Kind
from symbouq.experiments.benchmarks.items import Item

NINE = (
    "left",
    "right",
    "above",
    "below",
    "upper-left",
    "upper-right",
    "lower-left",
    "lower-right",
    "overlap",
)
SPARTQA = ("left", "right", "above", "below", "near to", "far from", "touching", "DK")
SPARTUN = (
    *("left", "right", "above", "below", "behind", "front", "near", "far"),
    *("dc", "ec", "po", "tpp", "ntpp", "tppi", "ntppi"),
)
SPARP = (
    *("left", "right", "above", "below", "behind", "in front", "near", "far", "outside"),
    *("outside and touching", "partially overlapping", "inside and touching", "inside"),
    *("contains and touches", "contains", "overlapping"),
)
ENTAILMENT = ("entailment", "neutral", "contradiction")
SIDES = ("left", "right", "above", "below")


@dataclass(frozen=True)
class Reduction:
    """A smaller answer space, and the questions that have an answer in it.

    Attributes:
        name: What it is asked for by.
        says: What it keeps, in a sentence.
        spaces: The answer spaces whose questions are kept.
        labels: The labels that are kept; all of them where empty.
        kind: What an answer is afterwards; as before where None.
        exactly: How many labels the answer must have left, where it matters.
        parts: Labels that stand for several of those kept ("upper-left").
    """

    name: str
    says: str
    spaces: tuple[str, ...]
    labels: tuple[str, ...] = ()
    kind: Kind | None = None
    exactly: int | None = None
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, item: Item) -> Item | None:
        """The question in the smaller space, or None where it has no answer there."""
        if item.space not in self.spaces:
            return None
        if not self.labels:
            return item
        named = [part for label in item.gold for part in self.parts.get(label, (label,))]
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


@dataclass(frozen=True)
class Benchmark:
    """A benchmark.

    Attributes:
        name: What it is asked for by.
        title: What it is.
        layouts: The layouts that it is released in.
        spaces: Its answer spaces, by the kind of question.
        reductions: The smaller ones.
        sizes: How many rows the paper has of each split; none where it is not in the paper.
        hub: Hugging Face dataset ids that are known to hold it.
        note: What the paper leaves open.
    """

    name: str
    title: str
    layouts: tuple[str, ...]
    spaces: Mapping[str, tuple[str, ...]]
    reductions: tuple[Reduction, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    hub: tuple[str, ...] = ()
    note: str = ""

    def reduction(self, name: str) -> Reduction | None:
        """The reduction of that name."""
        return next((r for r in self.reductions if r.name == name), None)


_DIAGONAL = {
    f"{height}{joint}{side}": (vertical, side)
    for height, vertical in (("upper", "above"), ("lower", "below"))
    for side in ("left", "right")
    for joint in ("-", " ")
}
_TARGET = {"validation": 300, "test": 3000}

BENCHMARKS: dict[str, Benchmark] = {
    b.name: b
    for b in (
        Benchmark(
            name="stepgame",
            title="StepGame (Shi et al., AAAI 2022): chains of directions",
            layouts=("records", "stepgame", "babi"),
            spaces={"direction": NINE},
            sizes={"train": 10_000, "validation": 300, "test": 3000},
            hub=("ZhengyanShi/StepGame", "tasksource/stepgame"),
        ),
        Benchmark(
            name="spartqa",
            title="SpartQA, the paper's SpaRTQA (Mirzaee et al., NAACL 2021)",
            layouts=("records", "stories", "questions"),
            spaces={
                "FR": SPARTQA,
                "YN": ("Yes", "No", "DK"),
                "FB": ("A", "B", "C"),
                "CO": ("<object>", "<object>", "both of them", "none of them"),
            },
            reductions=(
                Reduction(
                    "four-way",
                    "FR questions with exactly one of left, right, above, below in the answer",
                    ("relations",),
                    SIDES,
                    "single",
                    1,
                ),
                Reduction("choose-object", "CO questions, four options each", ("choice",)),
                Reduction("find-relation", "FR questions, all labels", ("relations",)),
                Reduction("yes-no", "YN questions", ("yes-no",)),
                Reduction("find-block", "FB questions", ("blocks",)),
            ),
            sizes=_TARGET,
            hub=("tasksource/spartqa-mchoice", "tasksource/spartqa-yn"),
            note=(
                'the paper says "4-way relation" and no more: `four-way` takes the four sides; '
                "CO questions have four options too (`choose-object`)"
            ),
        ),
        Benchmark(
            name="spartun",
            title="SpaRTUN (Mirzaee and Kordjamshidi, EMNLP 2022)",
            layouts=("records", "stories", "questions"),
            spaces={"FR": SPARTUN, "YN": ("Yes", "No")},
            reductions=(
                Reduction("relation-set", "FR questions, all 15 labels", ("relations",)),
                Reduction("directional", "FR, the six directions", ("relations",), SPARTUN[:6]),
                Reduction("distance", "FR, near and far", ("relations",), SPARTUN[6:8]),
                Reduction("topological", "FR, the RCC-8 relations", ("relations",), SPARTUN[8:]),
                Reduction("yes-no", "YN questions", ("yes-no",)),
            ),
            sizes=_TARGET,
            note='the paper says "relation set": `relation-set` leaves the YN questions out',
        ),
        Benchmark(
            name="spacenli",
            title="SpaceNLI (Abzianidze et al., NALOMA 2023)",
            layouts=("records", "nli"),
            spaces={"NLI": ENTAILMENT},
            sizes=_TARGET,
        ),
        Benchmark(
            name="sparp",
            title="SpaRP (Rizvi et al., ACL 2024), parts PS1 to PS4",
            layouts=("records", "sparp"),
            spaces={"PS1": SPARP, "PS2 to PS4": ("<target_choices of the row>",)},
            reductions=(
                Reduction(
                    "five-way",
                    "left, right, above, below, overlapping; a diagonal is both of its sides",
                    ("relations", "directions"),
                    (*SIDES, "overlapping"),
                    "set",
                    parts={**_DIAGONAL, "overlap": ("overlapping",)},
                ),
                Reduction(
                    "five-way-single",
                    "as five-way, where exactly one label is left",
                    ("relations", "directions"),
                    (*SIDES, "overlapping"),
                    "single",
                    1,
                    {**_DIAGONAL, "overlap": ("overlapping",)},
                ),
            ),
            sizes={"validation": 300, "test": 1500},
            hub=("UKPLab/sparp",),
            note=(
                'the paper says "5-way relation" and neither which part nor which labels; the '
                "five are this project's reading"
            ),
        ),
        Benchmark(
            name="babi",
            title="bAbI tasks 17 and 19 (Weston et al., 2015)",
            layouts=("records", "babi"),
            spaces={"17": ("yes", "no"), "19": ("n", "s", "e", "w")},
        ),
        Benchmark(
            name="resq",
            title="ReSQ (Mirzaee and Kordjamshidi, EMNLP 2022)",
            layouts=("records", "stories"),
            spaces={"YN": ("Yes", "No")},
        ),
        Benchmark(
            name="consistency2d",
            title="Consistency of sets of direction statements",
            layouts=("records",),
            spaces={"consistency": ("satisfiable", "unsatisfiable")},
        ),
        Benchmark(
            name="qsr_composition",
            title="Composition in RCC-8 and of cardinal directions",
            layouts=("records",),
            spaces={
                "rcc8": ("DC", "EC", "PO", "TPP", "NTPP", "TPPi", "NTPPi", "EQ"),
                "cdc": ("N", "NE", "E", "SE", "S", "SW", "W", "NW", "B"),
            },
        ),
    )
}
"""The known benchmarks by name."""
