"""The tables of the paper, and two of our own, from the files of an experiment's stages.

Each makes one table or several, with the paper's numbers in columns of their own where the names of
backbone and dataset are the paper's. Figures of learned scores are means over seeds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev

from symbouq.auditing.auditor import TraceAuditor
from symbouq.evidence.labels.agreement import agreement
from symbouq.evidence.labels.records import Labels, read_labels
from symbouq.evidence.scorers.base import SCORERS
from symbouq.experiments.composition import METHOD, UNLABELLED
from symbouq.experiments.experiment import COSTS, LABELS, PAIRS, Cell
from symbouq.experiments.paper import paper_number
from symbouq.experiments.rendering import NOT_RUN, UNDEFINED, Table, Value, highlighted
from symbouq.experiments.results import CellResults, Results, relation_f1
from symbouq.metrics import HIGHER_IS_BETTER, evaluate, oracle, weighted_determinacy
from symbouq.records import Audit, Trace
from symbouq.reliability.darc import EPSILON, FOLDS, L2, REFERENCE_L2
from symbouq.reliability.designs import DESIGNS
from symbouq.reliability.variants import VARIANTS

METRICS = {
    "auroc": "AUROC",
    "balanced_brier": "balanced Brier",
    "brier": "Brier",
    "ece": "ECE",
    "nll": "NLL",
    "aurc": "AURC",
}
"""What tables call the metrics."""

MAIN = ("auroc", "balanced_brier")
FAMILIES = {
    "reference": "Unsup.",
    "decoding": "Unsup.",
    "sampling": "Sampl.",
    "neural": "Neural",
    "symbolic": "Symb.",
}
EXTERNAL = tuple(name for name in SCORERS if name != "Random")
"""The baselines that a headline compares with."""
SIGNIFICANT = 0.05

_ORACLE = ("Constraint", "Neural-Seq")
_PAPERS_VIEWS = ("grounded",)


_Column = tuple[str, Sequence[str | Value], Sequence[str | None]]
"""A column: its head, its cells and the paper's numbers."""


def _with_paper(
    columns: Sequence[_Column],
) -> tuple[list[str], list[list[str | Value]]]:
    """Columns with the paper's beside those of which it reports something."""
    heads: list[str] = []
    made: list[list[str | Value]] = []
    for head, cells, known in columns:
        heads.append(head)
        made.append(list(cells))
        if any(number is not None for number in known):
            heads.append("paper")
            made.append([number or "" for number in known])
    return heads, made


def _table(
    title: str,
    names: Mapping[str, Sequence[str]],
    columns: Sequence[_Column],
    note: str = "",
) -> Table:
    heads, made = _with_paper(columns)
    rows = tuple(zip(*names.values(), *made, strict=True))
    return Table(title, (*names, *heads), rows, note)


def _column(
    cell: CellResults, methods: Sequence[str], metric: str, ranked: Sequence[bool] = ()
) -> list[str | Value]:
    """A metric of some methods, best and second best set off; a loss of a score that does not
    discriminate is gray.
    """
    values = [cell.metric(method, metric) for method in methods]
    areas = [cell.metric(method, "auroc") for method in methods]
    shown = highlighted(values, metric in HIGHER_IS_BETTER, ranked=ranked)
    found: list[str | Value] = []
    for method, value, area, text in zip(methods, values, areas, shown, strict=True):
        gray = metric != "auroc" and area is not None and abs(area - 0.5) < EPSILON
        if not cell.has(method):
            found.append(NOT_RUN)
        elif gray and value is not None and not text.mark:
            found.append(Value(text.text, "gray"))
        else:
            found.append(text)
    return found


def _compared(cells: Sequence[CellResults]) -> str:
    """A note on the traces that the methods of a table are compared on."""
    several = len({cell.cell.backbone for cell in cells}) > 1
    counts = []
    for cell in cells:
        name = f"{cell.cell.backbone}, {cell.cell.dataset}" if several else cell.cell.dataset
        left_out = len(cell.traces) - len(cell.truth)
        told = [f"{cell.imputed} imputed"] if cell.imputed else []
        told += [f"{left_out} without a label left out"] if left_out else []
        counts.append(f"{name}: {len(cell.truth)}" + (f" ({', '.join(told)})" if told else ""))
    missing = ""
    if any(cell.imputed for cell in cells):
        missing = (
            " Imputed: where a trace has no score, the score's mean over validation stands for it."
        )
    return f"Every method is measured on the same test traces ({'; '.join(counts)}).{missing}"


def _of(results: Results, backbone: str) -> list[CellResults]:
    return [results.cell(backbone, dataset) for dataset in results.datasets]


def result(results: Results) -> list[Table]:
    """AUROC and class-balanced Brier loss of every method (Table result and its like)."""
    methods = [*SCORERS, METHOD]
    groups = [*(FAMILIES[known.family] for known in SCORERS.values()), ""]
    tables = []
    for backbone in results.backbones:
        columns: list[_Column] = []
        for dataset in results.datasets:
            cell = results.cell(backbone, dataset)
            for metric in MAIN:
                known = [
                    paper_number(
                        "result",
                        METRICS[metric],
                        backbone=backbone,
                        dataset=dataset,
                        method=method,
                    )
                    for method in methods
                ]
                head = f"{dataset} {METRICS[metric]}"
                columns.append((head, _column(cell, methods, metric), known))
        tables.append(
            _table(
                f"Final-answer reliability on {backbone}",
                {"Group": groups, "Method": methods},
                columns,
                "Best in bold, second best underlined; a loss is gray (in Markdown, italic) where "
                f"the AUROC is within {EPSILON} of 0.5. {_compared(_of(results, backbone))}",
            )
        )
    return tables


def headline(results: Results) -> list[Table]:
    """Relative gains over the best external baseline of each setting, averaged over settings
    (appendix Metrics). Random is none; the constraint scorers are.
    """
    rows: list[tuple[str, ...]] = []
    gains: dict[str, list[float]] = {metric: [] for metric in MAIN}
    for cell in results.cells():
        for metric in MAIN:
            ours = cell.metric(METHOD, metric)
            known = {
                name: value for name in EXTERNAL if (value := cell.metric(name, metric)) is not None
            }
            if ours is None or not known:
                rows.append((*cell.cell[:2], METRICS[metric], UNDEFINED, UNDEFINED, UNDEFINED, ""))
                continue
            better = max if metric in HIGHER_IS_BETTER else min
            name = better(known, key=lambda method: known[method])
            sign = 1 if metric in HIGHER_IS_BETTER else -1
            gain = sign * (ours - known[name]) / known[name]
            gains[metric].append(gain)
            values = (f"{known[name]:.3f}", f"{ours:.3f}", f"{gain:+.1%}")
            rows.append((*cell.cell[:2], METRICS[metric], name, *values))
    for metric, paper in zip(MAIN, ("AUROC gain", "balanced Brier reduction"), strict=True):
        mean = f"{fmean(gains[metric]):+.1%}" if gains[metric] else UNDEFINED
        told = paper_number("headline", paper)
        count = f"{len(gains[metric])} settings; the paper's four backbones: {told}"
        rows.append(("all", "all", METRICS[metric], count, "", "", mean))
    columns = ("Backbone", "Dataset", "Metric", "Best external", "its value", METHOD, "Gain")
    note = _compared(results.cells())
    return [Table("Gain over the strongest external baseline", columns, tuple(rows), note)]


def ablation(results: Results) -> list[Table]:
    """Variants of the composer with the share of the gain over scores only that each keeps (Table
    ablation); those below the paper's last row go beyond it.
    """
    ours = [f"{view} view" for view in results.config.views]
    papers = [name for name in ours if name.removesuffix(" view") in _PAPERS_VIEWS]
    beyond = [name for name in ours if name not in papers] + ["gated", "discounted", UNLABELLED]
    learned = [name for name in VARIANTS if name not in ("full", "fixed average", *beyond)]
    first, last = ["Constraint", "MLP", "fixed average"], [*learned, *papers, METHOD, *beyond]
    tables = []
    for backbone in results.backbones:
        columns: list[_Column] = []
        for dataset in results.datasets:
            cell = results.cell(backbone, dataset)
            for metric in MAIN:
                shown = _column(cell, [*first, *last], metric)
                # The oracle reads test labels: its row takes no part in the ranking.
                shown.insert(len(first), _oracle(cell, metric))
                known = [
                    paper_number(
                        "ablation",
                        METRICS[metric],
                        backbone=backbone,
                        dataset=dataset,
                        method=method,
                    )
                    for method in (*first, "oracle", *last)
                ]
                columns.append((f"{dataset} {METRICS[metric]}", shown, known))
        kept = [_kept(results, backbone, method) for method in (*first, *last)]
        kept.insert(len(first), "")
        columns.append(("Gain kept", kept, [None] * len(kept)))
        names = [*first, f"oracle: {' or '.join(_ORACLE)}", *last]
        tables.append(
            _table(
                f"Variants of the composer on {backbone}",
                {"Variant": names},
                columns,
                "Gain kept: the mean over the datasets that a variant ran on of its AUROC gain "
                f"over scores only, as a share of that of {METHOD} there, which means little where "
                "that is near 0. The oracle chooses by test AUROC and is no method. "
                f"{_compared(_of(results, backbone))}",
            )
        )
    return tables


def _oracle(cell: CellResults, metric: str) -> str:
    found = []
    labels = [*cell.truth.values()]
    candidates = {name: cell.by_method.get(name, {}) for name in _ORACLE}
    for seed in sorted(set.intersection(*(set(seeds) for seeds in candidates.values()))):
        scores = {name: [*seeds[seed].values()] for name, seeds in candidates.items()}
        _, best = oracle(scores, labels)
        value = None if best is None else evaluate(metric, best, labels)
        if value is not None:
            found.append(value)
    return f"{fmean(found):.3f}" if found else NOT_RUN


def _kept(results: Results, backbone: str, method: str) -> str:
    """The share of the full gain that a variant keeps."""
    gains: tuple[list[float], list[float]] = ([], [])
    for dataset in results.datasets:
        cell = results.cell(backbone, dataset)
        values = [cell.metric(name, "auroc") for name in (method, METHOD, "scores only")]
        if None not in values:
            mine, full, base = (value or 0.0 for value in values)
            gains[0].append(mine - base)
            gains[1].append(full - base)
    if not gains[0]:
        return NOT_RUN
    if fmean(gains[1]) <= 0:
        return "no gain to keep"
    return f"{fmean(gains[0]) / fmean(gains[1]):.0%}"


def significance(results: Results) -> list[Table]:
    """The AUROC gain of the full method over other compositions, paired bootstrap over test traces
    (Table significance).
    """
    others = ["scores only", "shuffled", "evaluable-only"]
    columns = []
    for other in others:
        for dataset in results.datasets:
            shown: list[str | Value] = []
            known = []
            for backbone in results.backbones:
                found = results.cell(backbone, dataset).gain(over=other)
                if found is None:
                    shown.append(UNDEFINED)
                else:
                    star = "*" if found.p < SIGNIFICANT else ""
                    gain = f"{found.difference:+.3f}{star}"
                    shown.append(f"{gain} [{found.low:+.3f}, {found.high:+.3f}]")
                number = paper_number("significance", "gain", backbone=backbone, dataset=dataset)
                known.append(number if other == others[0] else None)
            columns.append((f"{dataset}, over {other}", shown, known))
    return [
        _table(
            f"AUROC gain of {METHOD}",
            {"Backbone": results.backbones},
            columns,
            "2,000 resamples of the test traces, two-sided; in brackets the 95 % interval; * p < "
            f"{SIGNIFICANT}. Over `shuffled`: aligned against permuted applicability; over "
            "`evaluable-only`: blocked claims counted or left out. "
            f"{_compared(results.cells())}",
        )
    ]


def extrametrics(results: Results) -> list[Table]:
    """All metrics of the full method and of the best external baseline by test AUROC (Table
    extrametrics).
    """
    tables = []
    for backbone in results.backbones:
        names: dict[str, list[str]] = {"Dataset": [], "Method": []}
        shown: dict[str, list[str | Value]] = {metric: [] for metric in METRICS}
        known: dict[str, list[str | None]] = {metric: [] for metric in METRICS}
        for dataset in results.datasets:
            cell = results.cell(backbone, dataset)
            areas = {
                name: area for name in EXTERNAL if (area := cell.metric(name, "auroc")) is not None
            }
            pair = [METHOD, *([max(areas, key=lambda name: areas[name])] if areas else [])]
            names["Dataset"] += [dataset] * len(pair)
            names["Method"] += pair
            for metric in METRICS:
                values = [cell.metric(method, metric) for method in pair]
                cells = highlighted(values, metric in HIGHER_IS_BETTER)
                shown[metric] += [
                    Value(one.text, one.mark if one.mark == "best" else "") for one in cells
                ]
                known[metric] += [
                    paper_number(
                        "extrametrics",
                        METRICS[metric],
                        backbone=backbone,
                        dataset=dataset,
                        method=method,
                    )
                    for method in pair
                ]
        columns = [(METRICS[metric], shown[metric], known[metric]) for metric in METRICS]
        note = (
            "ECE with 10 bins of equal width; best of each pair in bold. "
            f"{_compared(_of(results, backbone))}"
        )
        tables.append(_table(f"All metrics on {backbone}", dict(names), columns, note))
    return tables


def valsize(results: Results) -> list[Table]:
    """AUROC of the determinacy design over validation sizes (Table valsize)."""
    tables = []
    for backbone in results.backbones:
        columns = []
        for size in results.config.validation_sizes:
            shown: list[str | Value] = []
            for dataset in results.datasets:
                cell = results.cell(backbone, dataset)
                value = cell.metric(f"valsize {size}", "auroc")
                there = cell.has(f"valsize {size}")
                shown.append(NOT_RUN if not there else _shown(value))
            known = [
                paper_number("valsize", str(size), backbone=backbone, dataset=dataset)
                for dataset in results.datasets
            ]
            columns.append((str(size), shown, known))
        title = f"Validation size on {backbone}"
        note = (
            f"Mean test AUROC over {len(results.config.seeds)} subsamples, each of which alone "
            "decides calibration, screening and composition; on the source "
            f"({results.config.source}) the networks' epochs were chosen by all of its validation. "
            f"{_compared(_of(results, backbone))}"
        )
        tables.append(_table(title, {"Dataset": results.datasets}, columns, note))
    return tables


def prefix(results: Results) -> list[Table]:
    """Verdicts under the assumed and the grounded context, pooled over backbones (Table prefix)."""
    rates = {
        "entailed": ("entailed assumed", "entailed grounded", "entailed dependent"),
        "contradicted": ("contradicted assumed", "contradicted grounded", "contradicted dependent"),
    }
    per: dict[str, list[tuple[str, str]]] = {}
    for dataset in results.datasets:
        for backbone in results.backbones:
            audits = results.cell(backbone, dataset).audits()[: results.config.replayed]
            per.setdefault(dataset, []).extend(
                (claim["verdict"], claim["grounded_verdict"])
                for audit in audits
                for claim in audit["claims"]
                if claim["relations"]
            )
    per["All"] = [pair for pairs in per.values() for pair in pairs]
    names = list(per)
    columns: list[_Column] = [
        (
            "Claims",
            [f"{len(per[name]):,}" for name in names],
            [_prefix_number(results, "claims", name) for name in names],
        )
    ]
    for verdict, heads in rates.items():
        shares: list[list[str | Value]] = [[], [], []]
        for name in names:
            pairs = per[name]
            assumed = [pair for pair in pairs if pair[0] == verdict]
            shares[0].append(_share([pair[0] == verdict for pair in pairs]))
            shares[1].append(_share([pair[1] == verdict for pair in pairs]))
            shares[2].append(_share([pair[1] != verdict for pair in assumed]))
        for head, cells in zip(heads, shares, strict=True):
            known = [_prefix_number(results, head, name) for name in names]
            columns.append((head, cells, known))
    note = (
        f"The first {results.config.replayed} test traces of each backbone and dataset; rates "
        "among parsed claims. Dependent: the share of assumed verdicts that do not survive under "
        "the grounded context."
    )
    return [_table("Context semantics", {"Dataset": names}, columns, note)]


def _prefix_number(results: Results, head: str, name: str) -> str | None:
    """The paper's number; over all datasets only where they are the paper's."""
    if name == "All" and not all(
        paper_number("prefix", head, dataset=dataset) for dataset in results.datasets
    ):
        return None
    return paper_number("prefix", head, dataset=name)


def auditor(results: Results) -> list[Table]:
    """Verdicts of reasoning steps against their labels, mean over backbones (Table auditor)."""
    heads = (
        "parse coverage",
        "determinate coverage",
        "status accuracy",
        "entailed precision",
        "contradicted precision",
    )
    shown: dict[str, list[str | Value]] = {head: [] for head in heads}
    for dataset in results.datasets:
        found: dict[str, list[float]] = {head: [] for head in heads}
        for backbone in results.backbones:
            cell = results.cell(backbone, dataset)
            labelled = [
                (claim, label)
                for audit in cell.audits()
                for claim, label in zip(
                    audit["claims"][:-1],
                    cell.claim_labels.get(audit["id"], ())[:-1],
                    strict=False,
                )
                if label is not None
            ]
            parsed = [pair for pair in labelled if pair[0]["relations"]]
            decided = [
                (claim["verdict"], label)
                for claim, label in parsed
                if claim["verdict"] in ("entailed", "contradicted")
            ]
            agree = [(verdict == "entailed") == bool(label) for verdict, label in decided]
            parts = {
                "parse coverage": [bool(claim["relations"]) for claim, _ in labelled],
                "determinate coverage": [
                    claim["verdict"] in ("entailed", "contradicted") for claim, _ in parsed
                ],
                "status accuracy": agree,
                "entailed precision": [
                    good
                    for good, (verdict, _) in zip(agree, decided, strict=True)
                    if verdict == "entailed"
                ],
                "contradicted precision": [
                    good
                    for good, (verdict, _) in zip(agree, decided, strict=True)
                    if verdict == "contradicted"
                ],
            }
            for head, values in parts.items():
                if values:
                    found[head].append(fmean(values))
        for head in heads:
            shown[head].append(f"{fmean(found[head]):.3f}" if found[head] else NOT_RUN)
    columns = [
        (head, shown[head], [paper_number("auditor", head, dataset=d) for d in results.datasets])
        for head in heads
    ]
    note = (
        "Labels of steps come from the generator's truth where scenes are generated, else from "
        "the judge; conclusions are not among them."
    )
    return [_table("Faithfulness of the auditor", {"Dataset": results.datasets}, columns, note)]


def judge_agreement(results: Results) -> list[Table]:
    """How far the judge agrees with other sources of step labels (Table judge_agreement)."""
    config, experiment = results.config, results.experiment
    if config.judge is None:
        note = "The configuration names no judge."
        return [Table("Agreement with the judge", ("Reference", "Dataset"), (), note)]
    sources = [*(judge.name for judge in config.reference_judges), "generator's truth"]
    columns = []
    for dataset in results.datasets:
        rates: list[str | Value] = []
        kappas: list[str | Value] = []
        counts: list[str | Value] = []
        for source in sources:
            mine: dict[str, Labels] = {}
            theirs: dict[str, Labels] = {}
            for backbone in results.backbones:
                cell = Cell(backbone, dataset, "test")
                stage = experiment.judged[config.judge.name, cell]
                judged = read_labels(experiment.run.output(stage, LABELS))
                mine |= {f"{backbone}/{name}": one for name, one in judged.items()}
                if source != "generator's truth":
                    stage = experiment.judged[source, cell]
                    other = read_labels(experiment.run.output(stage, LABELS))
                elif results.experiment.datasets[dataset].family:
                    stage = experiment.cells[cell].labels
                    other = read_labels(experiment.run.output(stage, LABELS))
                else:
                    other = {}
                theirs |= {f"{backbone}/{name}": one for name, one in other.items()}
            found = agreement(mine, theirs)[-1]
            rates.append(NOT_RUN if found.rate is None else f"{100 * found.rate:.1f}")
            kappas.append(
                NOT_RUN
                if not found.claims
                else UNDEFINED
                if found.kappa is None
                else f"{found.kappa:.2f}"
            )
            counts.append(str(found.claims))
        for head, cells in (("agreement", rates), ("kappa", kappas), ("steps", counts)):
            known = [
                paper_number("judge_agreement", head, dataset=dataset, method=source)
                for source in sources
            ]
            columns.append((f"{dataset} {head}", cells, known))
    note = f"Judge: {config.judge.name}. Steps that both label, so many; agreement in %."
    return [_table("Agreement with the judge", {"Reference": sources}, columns, note)]


def dataset(results: Results) -> list[Table]:
    """Sizes of the splits (Table dataset)."""
    chosen = results.config.datasets
    columns = [
        (
            split,
            [str(d.sizes.get(split, "-")) for d in chosen],
            [paper_number("dataset", split, dataset=d.name) for d in chosen],
        )
        for split in ("train", "validation", "test")
    ]
    source = [
        f"generated scenes, {d.family}" if d.family else ", ".join(sorted(d.files.values()))
        for d in chosen
    ]
    names = {"Dataset": [d.name for d in chosen], "Questions": source}
    return [_table("Datasets", names, columns)]


def models(results: Results) -> list[Table]:
    """The models and what they are for (Table models)."""
    config = results.config
    named = [(backbone, "backbone") for backbone in config.backbones]
    named += [(config.judge, "judge")] if config.judge else []
    named += [(judge, "reference judge") for judge in config.reference_judges]
    rows = tuple((model.name, _parameters(model.model), role) for model, role in named)
    return [Table("Models", ("Model", "Parameters", "Role"), rows)]


def _parameters(model: str) -> str:
    """How many parameters a model folder says or holds; `not run` where it is not here."""
    folder = Path(model)
    card = folder / "training.json"
    if card.exists():
        return f"{json.loads(card.read_text('utf-8'))['parameters'] / 1e6:.1f} M"
    index = folder / "model.safetensors.index.json"
    if index.exists():
        told = json.loads(index.read_text("utf-8")).get("metadata", {})
        if "total_parameters" in told:
            return f"{told['total_parameters'] / 1e9:.1f} B"
    return NOT_RUN


def freeform_cot(results: Results) -> list[Table]:
    """Structured against free-form traces about the same questions (Table freeform_cot)."""
    free = {d.questions: d.name for d in results.config.datasets if d.free_form}
    rows: list[tuple[str | Value, ...]] = []
    for backbone in results.backbones:
        for plain in results.config.datasets:
            if plain.free_form or plain.questions not in free:
                continue
            for form, name in (("structured", plain.name), ("free-form", free[plain.questions])):
                cell = results.cell(backbone, name)
                profiles = [audit["profile"] for audit in cell.audits()]
                values = [cell.metric(m, k) for m in ("scores only", METHOD) for k in MAIN]
                gain = (
                    UNDEFINED
                    if values[0] is None or values[2] is None
                    else f"{values[2] - values[0]:+.3f}"
                )
                known = paper_number(
                    "freeform_cot", "gain", backbone=backbone, dataset=plain.name, method=form
                )
                annotated = [
                    one.file
                    for one in results.config.annotations
                    if (one.backbone, one.dataset) == (backbone, name)
                ]
                rows.append(
                    (
                        backbone,
                        plain.name,
                        form,
                        str(len(cell.truth)),
                        str(cell.imputed),
                        _shown(relation_f1(cell.audits(), annotated[0])) if annotated else NOT_RUN,
                        f"{fmean(profile['symbolizability'] for profile in profiles):.3f}",
                        f"{fmean(profile['determinacy'] for profile in profiles):.3f}",
                        *map(_shown, values),
                        gain,
                        known or "",
                    )
                )
    heads = ("Backbone", "Dataset", "Form", "Traces", "Imputed", "Relation F1", "Symbolizability")
    pairs = [f"{method}, {METRICS[k]}" for method in ("scores only", METHOD) for k in MAIN]
    note = (
        "Both compositions of a row are measured on the same traces, those with a label; imputed: "
        "where a trace has no score, its mean over validation stands for it. The F1 of the "
        "relations read needs `annotations` of these traces."
        if rows
        else "The configuration has no dataset with `free_form: true`: not run."
    )
    columns = (*heads, "Determinacy", *pairs, "Gain", "paper")
    table = Table("Free-form reasoning", columns, tuple(rows), note)
    return [table]


def efficiency(results: Results) -> list[Table]:
    """Parameters, training time and speed over cached signals (Table efficiency)."""
    tables = []
    experiment = results.experiment
    for backbone in results.backbones:
        stage = experiment.costs.get(backbone)
        if stage is None:
            continue
        costs = json.loads(experiment.run.output(stage, COSTS).read_text("utf-8"))
        names = [cost["method"] for cost in costs]
        called = [METHOD if "+" in name else name for name in names]
        fields = {
            "parameters (M)": ("parameters", 1e-6, 2),
            "training (min)": ("training_minutes", 1, 1),
            "traces/s": ("traces_per_second", 1, 1),
            "memory (GB)": ("memory_gb", 1, 1),
        }
        columns = [
            (
                head,
                [
                    "-" if cost[field] is None else f"{unit * cost[field]:.{digits}f}"
                    for cost in costs
                ],
                [paper_number("efficiency", head, dataset="StepGame", method=m) for m in called],
            )
            for head, (field, unit, digits) in fields.items()
        ]
        note = (
            "Signals are cached; generation, the teacher-forced pass and the audit are not "
            "counted. The last row is the paper's path of two scores. The paper's features are "
            "4,096 wide, on a B200 GPU."
        )
        title = f"Cost of the scores on {backbone}"
        tables.append(_table(title, {"Method": names}, columns, note))
    return tables


def search_space(results: Results) -> list[Table]:
    """What is searched, defaults in bold, and what was fixed here (Table search-space)."""
    from symbouq.evidence.scorers.sweep import Grid
    from symbouq.reliability.calibrators import FAMILIES as CALIBRATORS

    grid, config = Grid(), results.config

    def listed(values: Sequence[object], default: object) -> str:
        return ", ".join(f"**{v}**" if v == default else str(v) for v in values)

    rows = (
        ("Feature design", listed(DESIGNS, "determinacy"), "each target's validation"),
        (
            "Combiner l2",
            listed([int(v) for v in L2], int(REFERENCE_L2)),
            "each target's validation",
        ),
        ("Calibrator", listed(CALIBRATORS, "affine-logit"), "each target's validation"),
        ("Screening epsilon", str(EPSILON), "fixed"),
        ("Folds", str(FOLDS), "fixed"),
        ("Hidden width", listed(grid.width, 256), f"here {config.width}"),
        ("Loss", listed(grid.loss, "balanced"), "`symbouq scores sweep`; here balanced"),
        (
            "Learning rate",
            listed(grid.learning_rate, 2e-4),
            f"`symbouq scores sweep`; here {config.learning_rate}",
        ),
        ("Training epochs", listed(grid.epochs, 30), f"here {config.epochs}"),
    )
    return [Table("Search space", ("Parameter", "Values", "Chosen by"), rows)]


def counterfactual(results: Results) -> list[Table]:
    """Supported and incompatible claims about every relation of the source's scenes (appendix
    Counterfactual Audit).
    """
    stage = results.experiment.pairs
    if stage is None:
        return [Table("Counterfactual audit", ("Pairs",), (), "The source has no test split.")]
    path = results.experiment.run.output(stage, PAIRS)
    records = [json.loads(line)["pairs"] for line in path.read_text("utf-8").splitlines()]
    pairs = [pair for record in records for pair in record]
    both = [
        pair["supported"]["verdict"] == "entailed"
        and pair["incompatible"]["verdict"] == "contradicted"
        for pair in pairs
    ]
    source = results.config.source
    values = {
        "traces": str(len(records)),
        "eligible": str(sum(map(bool, records))),
        "pairs": str(len(pairs)),
        "detected": _percent(both),
    }
    columns = [
        (head, [value], [paper_number("counterfactual", head, dataset=source)])
        for head, value in values.items()
    ]
    note = "Detected: the supported claim is entailed and the incompatible one contradicted."
    return [_table("Counterfactual audit", {"Dataset": [source]}, columns, note)]


_SCENE = ["A is above B.", "B is right of C.", "D is near E."]
_CLAIMS = [
    "B is right of C.",
    "A is upper right of C.",
    "D is near C.",
    "The arrangement is now clear.",
    "A is upper left of C.",
    "A is upper left of C.",
]


def illustrative(_results: Results) -> list[Table]:
    """The trace of the appendix Illustrative Example, audited."""
    *reasoning, conclusion = _CLAIMS
    trace = Trace(
        id="example",
        scene=_SCENE,
        question="Where is A relative to C?",
        reasoning=reasoning,
        conclusion=conclusion,
    )
    found = Audit.model_validate(TraceAuditor("nine-way").audited(trace))
    rows = tuple(
        (
            str(claim.index),
            claim.text,
            "yes" if claim.relations else "no",
            claim.verdict,
            claim.message,
        )
        for claim in found.claims
    )
    profile = found.profile
    note = (
        f"Scene: {' '.join(_SCENE)} Profile: symbolizability {profile.symbolizability:.3f}, "
        f"unknown rate {profile.unknown_rate:.3f}, determinacy {profile.determinacy:.3f}, "
        f"applicability {profile.applicability:.3f}; in the paper 0.833, 0.200, 0.600, 0.500."
    )
    columns = ("k", "Claim", "Parsed", "Verdict", "Why")
    return [Table("Illustrative example", columns, rows, note)]


def scorers(results: Results) -> list[Table]:
    """AUROC of every scorer on the test splits: mean over seeds, and the standard deviation where
    there are several.
    """
    cells = results.cells()
    names = [name for name in SCORERS if any(cell.has(name) for cell in cells)]
    rows = tuple((name, *(_spread(cell, name) for cell in cells)) for name in names)
    heads = (f"{cell.cell.backbone}, {cell.cell.dataset}" for cell in cells)
    return [Table("AUROC on the test split", ("Method", *heads), rows, _compared(cells))]


def traces(results: Results) -> list[Table]:
    """What the backbones wrote: traces, valid ones, right answers, right steps, and what the audit
    could do with them.
    """
    experiment = results.experiment
    rows = []
    for cell in experiment.cells:
        found = CellResults(experiment, cell)
        profiles = [audit["profile"] for audit in found.audits()]
        parsed = [
            sum(bool(claim["relations"]) for claim in audit["claims"]) for audit in found.audits()
        ]
        steps = [
            label
            for labels in found.claim_labels.values()
            for label in labels[:-1]
            if label is not None
        ]
        determinacy = weighted_determinacy([p["determinacy"] for p in profiles], parsed)
        rows.append(
            (
                *cell,
                str(len(found.traces)),
                _share([trace["generation"]["status"] == "valid" for trace in found.traces]),
                _share(list(found.truth.values())),
                _share(steps),
                f"{fmean(profile['symbolizability'] for profile in profiles):.3f}",
                _shown(determinacy),
            )
        )
    heads = ("Backbone", "Dataset", "Split", "Traces", "Valid", "Answers right", "Steps right")
    note = "Determinacy is weighted by parsed claims."
    columns = (*heads, "Symbolizability", "Determinacy")
    return [Table("Traces", columns, tuple(rows), note)]


TABLES: dict[str, Callable[[Results], list[Table]]] = {
    "result": result,
    "headline": headline,
    "ablation": ablation,
    "significance": significance,
    "extrametrics": extrametrics,
    "valsize": valsize,
    "prefix": prefix,
    "auditor": auditor,
    "judge_agreement": judge_agreement,
    "dataset": dataset,
    "models": models,
    "freeform_cot": freeform_cot,
    "efficiency": efficiency,
    "search-space": search_space,
    "counterfactual": counterfactual,
    "illustrative": illustrative,
    "scorers": scorers,
    "traces": traces,
}
"""Tables by name; all but the last two are the paper's."""


def _spread(cell: CellResults, method: str) -> str:
    if not cell.has(method):
        return NOT_RUN
    values = [evaluate("auroc", scores, labels) for scores, labels in cell.runs(method)]
    known = [value for value in values if value is not None]
    if not known:
        return UNDEFINED
    mean = f"{fmean(known):.3f}"
    return f"{mean} ({stdev(known):.3f})" if len(known) > 1 else mean


def _shown(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.3f}"


def _share(values: Sequence[int]) -> str:
    return f"{sum(values) / len(values):.3f}" if values else UNDEFINED


def _percent(values: Sequence[bool]) -> str:
    return f"{sum(values) / len(values):.1%}" if values else UNDEFINED
