"""The paper's tables and four additional ones, computed from an experiment's results.

If the backbone and the dataset have the names used in the paper, the paper's numbers are shown in
separate columns. Values for learned scores are means over seeds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, product
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from symbouq.auditing.auditor import TraceAuditor
from symbouq.evidence.generation.models import parameters
from symbouq.evidence.labels.agreement import agreement
from symbouq.evidence.labels.records import Labels, read_labels
from symbouq.evidence.scorers.registry import SCORERS
from symbouq.experiments.composition import METHOD, UNLABELLED
from symbouq.experiments.config import SPLITS
from symbouq.experiments.paper import paper_number
from symbouq.experiments.questions import read_rows
from symbouq.experiments.rendering import (
    BESIDE,
    NOT_RUN,
    UNDEFINED,
    Table,
    Value,
    highlighted,
)
from symbouq.experiments.results import METRICS, ORACLE, CellResults, Results, relation_f1
from symbouq.experiments.stages import Cell
from symbouq.metrics import HIGHER_IS_BETTER, FirstErrors
from symbouq.records import Audit, Trace
from symbouq.reliability.darc import EPSILON, FOLDS, L2, REFERENCE_L2
from symbouq.reliability.designs import DESIGNS
from symbouq.reliability.first_errors import AUDITS
from symbouq.reliability.variants import VARIANTS

if TYPE_CHECKING:
    from pandas import DataFrame

MAIN = ("auroc", "balanced_brier")
FAMILIES = {
    "reference": "Unsup.",
    "decoding": "Unsup.",
    "sampling": "Sampl.",
    "neural": "Neural",
    "symbolic": "Symb.",
}
EXTERNAL = tuple(name for name in SCORERS if name != "Random")
"""Baselines in the headline comparison."""
SIGNIFICANT = 0.05
PEOPLE = "Human"
AUDIT = next(iter(AUDITS))

_PAPERS_VIEWS = ("grounded",)
_NAMES = METRICS | {"claims": "Claims"}

Point = dict[str, str]
"""Coordinates that identify a number: some of `backbone`, `dataset`, `method` and `metric`."""


def _across(**coordinates: Iterable[str]) -> list[Point]:
    return [
        dict(zip(coordinates, values, strict=True)) for values in product(*coordinates.values())
    ]


def _head(column: Point) -> str:
    names = column | {"metric": _NAMES.get(column["metric"], column["metric"])}
    return " ".join(names.values())


def _dataset(column: Point) -> str:
    return column.get("dataset") or column["metric"]


def _grid(
    name: str,
    title: str,
    heads: Sequence[str],
    rows: Sequence[Point],
    columns: Sequence[Point],
    texts: Callable[[list[Point]], Sequence[str | Value]],
    note: str = "",
    label: Callable[[Point], Iterable[str]] = lambda row: row.values(),
    head: Callable[[Point], str] = _head,
    **shared: str,
) -> Table:
    """Make a table of numbers, with the paper's numbers next to our results.

    `texts` returns the cells of a column, `label` returns the label cells of a row, and `head`
    returns the heading of a column. The coordinates in `shared` apply to all numbers.
    """
    filled: list[tuple[str, Sequence[str | Value]]] = []
    for column in columns:
        points = [shared | row | column for row in rows]
        filled.append((head(column), texts(points)))
        numbers = [
            paper_number(name, **point | {"metric": METRICS.get(point["metric"], point["metric"])})
            for point in points
        ]
        if any(number is not None for number in numbers):
            filled.append((BESIDE, [number or "" for number in numbers]))
    cells = tuple(
        (*label(row), *(column[place] for _, column in filled)) for place, row in enumerate(rows)
    )
    names = (*heads, *(text for text, _ in filled))
    return Table(title, names, cells, note, len(heads))


def _renamed(names: Mapping[str, str]) -> Callable[[Point], list[str]]:
    return lambda row: [names.get(row["method"], row["method"])]


def _looked_up(texts: Mapping[tuple[str, ...], str]) -> Callable[[list[Point]], list[str]]:
    return lambda points: [texts[tuple(point.values())] for point in points]


def _ranked(results: Results, points: list[Point]) -> list[str | Value]:
    """Format the values of a metric for several methods, marking the best and second best.

    Losses of scores that do not discriminate are grey. The oracle is not ranked, because it uses
    test labels.
    """
    metric = points[0]["metric"]
    cell = results.cell(points[0]["backbone"], points[0]["dataset"])
    methods = [point["method"] for point in points]
    ranked = [method != "oracle" for method in methods]
    values = [cell.metric(method, metric) for method in methods]
    cells: list[str | Value] = []
    shown = highlighted(values, metric in HIGHER_IS_BETTER, ranked=ranked)
    for method, takes_part, value in zip(methods, ranked, shown, strict=True):
        area = cell.metric(method, "auroc")
        gray = metric != "auroc" and area is not None and abs(area - 0.5) < EPSILON
        if not cell.has(method):
            cells.append(NOT_RUN)
        elif gray and takes_part and not value.mark:
            cells.append(Value(value.text, "gray"))
        else:
            cells.append(value)
    return cells


def _compared(cells: Sequence[CellResults]) -> str:
    several = len({cell.cell.backbone for cell in cells}) > 1
    counts = []
    for cell in cells:
        name = f"{cell.cell.backbone}, {cell.cell.dataset}" if several else cell.cell.dataset
        left_out = len(cell.traces) - len(cell.truth)
        missing = [f"{cell.imputed} imputed"] if cell.imputed else []
        missing += [f"{left_out} without a label left out"] if left_out else []
        count = f"{name}: {len(cell.truth)}"
        counts.append(count + (f" ({', '.join(missing)})" if missing else ""))
    imputed = ""
    if any(cell.imputed for cell in cells):
        imputed = " Imputed: the score's mean over validation replaces a missing score."
    return f"Every method is measured on the same test traces ({'; '.join(counts)}).{imputed}"


def _compared_on(results: Results, backbone: str) -> str:
    return _compared([results.cell(backbone, dataset) for dataset in results.datasets])


def result(results: Results) -> list[Table]:
    """AUROC and class-balanced Brier loss of every method (Table result and its variants)."""
    groups = {name: FAMILIES[entry.family] for name, entry in SCORERS.items()} | {METHOD: ""}
    return [
        _grid(
            "result",
            f"Final-answer reliability on {backbone}: {METRICS[metric]}",
            ("Group", "Method"),
            _across(method=groups),
            _across(dataset=results.datasets),
            lambda points: _ranked(results, points),
            "Best in bold, second best underlined; a loss is gray (in Markdown, italic) if the "
            f"AUROC is within {EPSILON} of 0.5. {_compared_on(results, backbone)}",
            label=lambda row: (groups[row["method"]], row["method"]),
            head=_dataset,
            backbone=backbone,
            metric=metric,
        )
        for backbone in results.backbones
        for metric in MAIN
    ]


def headline(results: Results) -> list[Table]:
    """Relative gains over the best external baseline, averaged over settings (appendix Metrics).

    Random does not count as a baseline, but the constraint scores do.
    """
    rows: list[tuple[str, ...]] = []
    gains: dict[str, list[float]] = {metric: [] for metric in MAIN}
    for cell in results.cells():
        for metric in MAIN:
            setting = (*cell.cell[:2], METRICS[metric])
            ours, (name, best) = cell.metric(METHOD, metric), _strongest(cell, metric)
            if ours is None or best is None:
                rows.append((*setting, UNDEFINED, UNDEFINED, UNDEFINED, ""))
                continue
            gain = (1 if metric in HIGHER_IS_BETTER else -1) * (ours - best) / best
            gains[metric].append(gain)
            rows.append((*setting, name, f"{best:.3f}", f"{ours:.3f}", f"{gain:+.1%}"))
    for metric, paper in zip(MAIN, ("AUROC gain", "balanced Brier reduction"), strict=True):
        mean = f"{fmean(gains[metric]):+.1%}" if gains[metric] else UNDEFINED
        number = paper_number("headline", paper)
        count = f"{len(gains[metric])} settings; the paper's four backbones: {number}"
        rows.append(("all", "all", METRICS[metric], count, "", "", mean))
    columns = ("Backbone", "Dataset", "Metric", "Best external", "its value", METHOD, "Gain")
    note = _compared(results.cells())
    return [Table("Gain over the strongest external baseline", columns, tuple(rows), note)]


def _strongest(cell: CellResults, metric: str) -> tuple[str, float | None]:
    """Return the name and value of the best external baseline for a metric; the value is None if
    there is no baseline.
    """
    values = {name: x for name in EXTERNAL if (x := cell.metric(name, metric)) is not None}
    better = max if metric in HIGHER_IS_BETTER else min
    return better(values.items(), key=lambda item: item[1], default=("", None))


def ablation(results: Results) -> list[Table]:
    """Variants of the composer, with the share of the full method's gain that each retains (Table
    ablation).

    Variants below the paper's last row are not in the paper.
    """
    ours = [f"{view} view" for view in results.config.views]
    papers = [name for name in ours if name.removesuffix(" view") in _PAPERS_VIEWS]
    beyond = [name for name in ours if name not in papers] + [
        "gated",
        "discounted",
        "profile alone",
        UNLABELLED,
    ]
    learned = [name for name in VARIANTS if name not in ("full", "fixed average", *beyond)]
    methods = ["Constraint", "MLP", "fixed average", "oracle", *learned, *papers, METHOD, *beyond]

    def texts(points: list[Point]) -> list[str | Value]:
        if "dataset" not in points[0]:
            return [_kept(results, point["backbone"], point["method"]) for point in points]
        return _ranked(results, points)

    kept: dict[str, list[Point]] = {"auroc": [{"metric": "Gain kept"}]}
    return [
        _grid(
            "ablation",
            f"Variants of the composer on {backbone}: {METRICS[metric]}",
            ("Variant",),
            _across(method=methods),
            [*_across(dataset=results.datasets), *kept.get(metric, [])],
            texts,
            "Profile alone: pi and delta as plain features, without any score. "
            f"Gain kept: the mean AUROC gain over scores only, as a share of {METHOD}'s gain on "
            "the same datasets; unreliable if that is near 0. The oracle selects by test AUROC. "
            f"{_compared_on(results, backbone)}",
            label=_renamed({"oracle": f"oracle: {' or '.join(ORACLE)}"}),
            head=_dataset,
            backbone=backbone,
            metric=metric,
        )
        for backbone in results.backbones
        for metric in MAIN
    ]


def _kept(results: Results, backbone: str, method: str) -> str:
    if method == "oracle":
        return ""
    own, full = [], []
    for dataset in results.datasets:
        cell = results.cell(backbone, dataset)
        mine, whole, base = (cell.metric(x, "auroc") for x in (method, METHOD, "scores only"))
        if mine is not None and whole is not None and base is not None:
            own.append(mine - base)
            full.append(whole - base)
    if not own:
        return NOT_RUN
    return f"{fmean(own) / fmean(full):.0%}" if fmean(full) > 0 else "no gain to keep"


def significance(results: Results) -> list[Table]:
    """AUROC gain of the full method over other methods, by paired bootstrap (Table
    significance).
    """
    others = {
        "gain": "scores only",
        "gain over shuffled": "shuffled",
        "gain over evaluable-only": "evaluable-only",
    }

    def text(point: Point) -> str:
        cell = results.cell(point["backbone"], point["dataset"])
        gain = cell.gain(over=others[point["metric"]])
        if gain is None:
            return UNDEFINED
        star = "*" if gain.p < SIGNIFICANT else ""
        return f"{gain.difference:+.3f}{star} [{gain.low:+.3f}, {gain.high:+.3f}]"

    return [
        _grid(
            "significance",
            f"AUROC gain of {METHOD}",
            ("Backbone", "Dataset"),
            _across(backbone=results.backbones, dataset=results.datasets),
            _across(metric=others),
            lambda points: [text(point) for point in points],
            "2,000 resamples of the test traces, two-sided; 95 % intervals in brackets; * p < "
            f"{SIGNIFICANT}. Over `shuffled`: aligned against permuted applicability; over "
            "`evaluable-only`: blocked claims counted or left out. "
            f"{_compared(results.cells())}",
            head=lambda column: f"over {others[column['metric']]}",
        )
    ]


def extrametrics(results: Results) -> list[Table]:
    """All metrics for the full method and for the best external baseline (Table extrametrics)."""

    def texts(points: list[Point]) -> list[str | Value]:
        shown: list[str | Value] = []
        for dataset, pair in groupby(points, key=lambda point: point["dataset"]):
            metric, cell = points[0]["metric"], results.cell(points[0]["backbone"], dataset)
            values = [cell.metric(point["method"], metric) for point in pair]
            cells = highlighted(values, metric in HIGHER_IS_BETTER)
            shown += [Value(x.text, x.mark if x.mark == "best" else "") for x in cells]
        return shown

    tables = []
    for backbone in results.backbones:
        rows: list[Point] = []
        for dataset in results.datasets:
            best, _ = _strongest(results.cell(backbone, dataset), "auroc")
            rows += _across(dataset=[dataset], method=[METHOD, best] if best else [METHOD])
        tables.append(
            _grid(
                "extrametrics",
                f"All metrics on {backbone}",
                ("Dataset", "Method"),
                rows,
                _across(metric=METRICS),
                texts,
                "ECE with 10 bins of equal width; best of each pair in bold. "
                f"{_compared_on(results, backbone)}",
                backbone=backbone,
            )
        )
    return tables


def valsize(results: Results) -> list[Table]:
    """AUROC of the determinacy design for each validation size (Table valsize)."""

    def text(point: Point) -> str:
        cell = results.cell(point["backbone"], point["dataset"])
        method = f"valsize {point['metric']}"
        return _three_digits(cell.metric(method, "auroc")) if cell.has(method) else NOT_RUN

    return [
        _grid(
            "valsize",
            f"Validation size on {backbone}",
            ("Dataset",),
            _across(dataset=results.datasets),
            _across(metric=map(str, results.config.validation_sizes)),
            lambda points: [text(point) for point in points],
            f"Mean test AUROC over {len(results.config.seeds)} subsamples. "
            "Calibration, screening and composition use the subsample only; on the source "
            f"({results.config.source}), the networks' epochs are chosen on all validation data. "
            f"{_compared_on(results, backbone)}",
            backbone=backbone,
        )
        for backbone in results.backbones
    ]


def prefix(results: Results) -> list[Table]:
    """Verdicts in the assumed and in the grounded context, pooled over backbones (Table prefix)."""
    replayed = results.config.replayed
    claims = results.claims[results.claims.parsed & (results.claims.trace < replayed)]
    # Show the paper's number for all datasets only if our datasets are the same as the paper's.
    papers = all(paper_number("prefix", "claims", dataset=name) for name in results.datasets)
    every = "All" if papers else "all datasets"
    texts: dict[tuple[str, ...], str] = {}
    for name in (*results.datasets, every):
        mine = claims if name == every else claims[claims.dataset == name]
        texts[name, "claims"] = f"{len(mine):,}"
        for verdict in ("entailed", "contradicted"):
            assumed = mine.verdict == verdict
            texts[name, f"{verdict} assumed"] = _share(assumed)
            texts[name, f"{verdict} grounded"] = _share(mine.grounded == verdict)
            texts[name, f"{verdict} dependent"] = _share(mine.grounded[assumed] != verdict)
    metrics = [metric for name, metric in texts if name == every]
    return [
        _grid(
            "prefix",
            "Context semantics",
            ("Dataset",),
            _across(dataset=[*results.datasets, every]),
            _across(metric=metrics),
            _looked_up(texts),
            f"The first {replayed} test traces of each backbone and dataset; rates "
            "among parsed claims. Dependent: share of assumed verdicts that change in the "
            "grounded context.",
            label=lambda row: ["All" if row["dataset"] == every else row["dataset"]],
        )
    ]


def auditor(results: Results) -> list[Table]:
    """Verdicts on reasoning steps compared with labels of the steps, averaged over backbones (Table
    auditor).
    """

    def rates(steps: DataFrame) -> dict[str, Sequence[bool]]:
        parsed = steps[steps.parsed]
        determinate = parsed.verdict.isin(["entailed", "contradicted"])
        decided = parsed[determinate]
        agree = (decided.verdict == "entailed") == (decided.label == 1)
        return {
            "parse coverage": steps.parsed,
            "determinate coverage": determinate,
            "status accuracy": agree,
            "entailed precision": agree[decided.verdict == "entailed"],
            "contradicted precision": agree[decided.verdict == "contradicted"],
        }

    labelled = results.claims[results.claims.label.notna()]
    texts: dict[tuple[str, ...], str] = {}
    for dataset in results.datasets:
        mine = labelled[labelled.dataset == dataset]
        by_backbone = [rates(mine[mine.backbone == backbone]) for backbone in results.backbones]
        for head in by_backbone[0]:
            means = [fmean(rate[head]) for rate in by_backbone if len(rate[head])]
            texts[dataset, head] = f"{fmean(means):.3f}" if means else NOT_RUN
    return [
        _grid(
            "auditor",
            "Faithfulness of the auditor",
            ("Dataset",),
            _across(dataset=results.datasets),
            _across(metric=rates(labelled)),
            _looked_up(texts),
            "Step labels come from the generator's truth for generated scenes, otherwise from the "
            "judge. Conclusions are excluded.",
        )
    ]


def judge_agreement(results: Results) -> list[Table]:
    """How well the judge agrees with other sources of step labels (Table judge_agreement)."""
    config, title = results.config, "Agreement with the judge"
    if config.judge is None:
        note = "The configuration names no judge."
        return [Table(title, ("Reference", "Dataset"), (), note)]
    people = {(item.backbone, item.dataset): item.file for item in config.human_labels}
    judges = [judge.name for judge in config.reference_judges]
    sources = [*judges, "generator's truth", *([PEOPLE] if people else [])]

    def labels(dataset: str, source: str) -> dict[str, Labels]:
        """Return the labels from one source for the traces of all backbones."""
        by_id: dict[str, Labels] = {}
        for backbone in results.backbones:
            stages = results.experiment.cells.get(Cell(backbone, dataset, "test"))
            if stages is None:
                continue
            if source == PEOPLE:
                file = people.get((backbone, dataset))
                given = results.cell(backbone, dataset).labelled_by(file) if file else {}
                by_id |= {f"{backbone}/{name}": record for name, record in given.items()}
            elif source in stages.judged or stages.dataset.family:
                stage = stages.judged.get(source, stages.labels)
                records = read_labels(results.experiment.run.output(stage))
                by_id |= {f"{backbone}/{name}": record for name, record in records.items()}
        return by_id

    texts: dict[tuple[str, ...], str] = {}
    for dataset in results.datasets:
        judged = labels(dataset, config.judge.name)
        for source in sources:
            pooled = agreement(judged, labels(dataset, source))[-1]
            rate, kappa = pooled.rate, pooled.kappa
            undefined = UNDEFINED if pooled.claims else NOT_RUN
            texts[source, dataset, "agreement"] = NOT_RUN if rate is None else f"{100 * rate:.1f}"
            texts[source, dataset, "kappa"] = undefined if kappa is None else f"{kappa:.2f}"
            texts[source, dataset, "steps"] = str(pooled.claims)
    return [
        _grid(
            "judge_agreement",
            title,
            ("Reference",),
            _across(method=sources),
            _across(dataset=results.datasets, metric=("agreement", "kappa", "steps")),
            _looked_up(texts),
            f"Judge: {config.judge.name}. Steps that both label, so many; agreement in %.",
        )
    ]


def dataset(results: Results) -> list[Table]:
    """Sizes of the splits (Table dataset)."""
    sources: dict[str, str] = {}
    texts: dict[tuple[str, ...], str] = {}
    for each in results.config.datasets:
        scenes = f"generated scenes, {each.family}" if each.family else each.provider
        sources[each.name] = scenes or ", ".join(sorted(each.files.values()))
        texts |= {(each.name, split): str(each.sizes.get(split, "-")) for split in SPLITS}
    return [
        _grid(
            "dataset",
            "Datasets",
            ("Dataset", "Questions"),
            _across(dataset=sources),
            _across(metric=SPLITS),
            _looked_up(texts),
            label=lambda row: (row["dataset"], sources[row["dataset"]]),
        )
    ]


def models(results: Results) -> list[Table]:
    """Models and their roles (Table models)."""
    config = results.config
    roles = [(backbone, "backbone") for backbone in config.backbones]
    roles += [(config.judge, "judge")] if config.judge else []
    roles += [(judge, "reference judge") for judge in config.reference_judges]
    experiment = results.experiment
    folders = {name: model.folder(experiment.run) for name, model in experiment.models.items()}
    rows = tuple((model.name, _parameters(folders[model.name]), role) for model, role in roles)
    return [Table("Models", ("Model", "Parameters", "Role"), rows)]


def _parameters(folder: Path | None) -> str:
    number = parameters(folder) if folder else 0
    if not number:
        return NOT_RUN
    return f"{number / 1e9:.1f} B" if number >= 1e9 else f"{number / 1e6:.1f} M"


def freeform_cot(results: Results) -> list[Table]:
    """Comparison of structured and free-form traces for the same questions (Table freeform_cot)."""
    config = results.config
    free = {d.questions: d.name for d in config.datasets if d.free_form}
    annotated = {(item.backbone, item.dataset): item.file for item in config.annotations}
    rows = []
    for backbone in results.backbones:
        for plain in config.datasets:
            if plain.free_form or plain.questions not in free:
                continue
            for form, name in (("structured", plain.name), ("free-form", free[plain.questions])):
                cell, file = results.cell(backbone, name), annotated.get((backbone, name))
                values = [cell.metric(m, k) for m in ("scores only", METHOD) for k in MAIN]
                base, ours = values[0], values[len(MAIN)]
                number = paper_number(
                    "freeform_cot", "gain", backbone=backbone, dataset=plain.name, method=form
                )
                rows.append(
                    (
                        backbone,
                        plain.name,
                        form,
                        str(len(cell.truth)),
                        str(cell.imputed),
                        _three_digits(relation_f1(cell.audits, file)) if file else NOT_RUN,
                        _share(cell.profiles("symbolizability")),
                        _three_digits(cell.determinacy),
                        *map(_three_digits, values),
                        UNDEFINED if base is None or ours is None else f"{ours - base:+.3f}",
                        number or "",
                    )
                )
    heads = ("Backbone", "Dataset", "Form", "Traces", "Imputed", "Relation F1", "Symbolizability")
    pairs = [f"{method}, {METRICS[k]}" for method in ("scores only", METHOD) for k in MAIN]
    note = (
        "Both compositions of a row are measured on the same labelled traces. Imputed: the "
        "validation mean replaces a missing score. Determinacy is weighted by parsed claims. The "
        "relation F1 needs `annotations` of these traces."
        if rows
        else "The configuration has no dataset with `free_form: true`: not run."
    )
    columns = (*heads, "Determinacy", *pairs, "Gain", "paper")
    return [Table("Free-form reasoning", columns, tuple(rows), note)]


COMPOSER = "composer"
_COSTS = {
    "parameters (M)": ("parameters", 1e-6, 2),
    "training (min)": ("training_minutes", 1, 1),
    "traces/s": ("traces_per_second", 1, 1),
    "memory (GB)": ("memory_gb", 1, 1),
}
"""For each column of a scorer's cost: the field, the unit and the number of digits."""


def efficiency(results: Results) -> list[Table]:
    """Parameters, training time, and speed with cached signals (Table efficiency)."""
    tables = []
    run, source = results.experiment.run, results.config.source
    for backbone, stage in results.experiment.costs.items():
        costs = json.loads(run.output(stage).read_text("utf-8"))
        composing = results.experiment.cells[Cell(backbone, source, "test")].predictions
        if composing is not None:
            cost = json.loads(run.output(composing, "cost.json").read_text("utf-8"))
            costs.append(cost | {"method": COMPOSER})
        texts: dict[tuple[str, ...], str] = {}
        names: dict[str, str] = {}
        for cost in costs:
            method = METHOD if "+" in cost["method"] else cost["method"]
            names[method] = cost["method"]
            for head, (field, unit, digits) in _COSTS.items():
                shown = "-" if cost[field] is None else f"{unit * cost[field]:.{digits}f}"
                texts["StepGame", method, head] = shown
        tables.append(
            _grid(
                "efficiency",
                f"Cost of the scores on {backbone}",
                ("Method",),
                _across(method=names),
                _across(metric=_COSTS),
                _looked_up(texts),
                "Generation, the teacher-forced pass and the audit are not included. The row with "
                "two scores (Constraint + MLP) is the paper's method; the last row is the composer "
                "alone. The paper uses features with 4,096 dimensions and a B200 GPU.",
                label=_renamed(names),
                dataset="StepGame",
            )
        )
    return tables


def search_space(results: Results) -> list[Table]:
    """The search space, with defaults in bold and the values that were fixed in this experiment
    (Table search-space).
    """
    from symbouq.evidence.scorers.sweep import Grid, best_of, read_sweep
    from symbouq.reliability.calibrators import FAMILIES as CALIBRATORS

    config = results.config
    grid = config.search or Grid()

    def listed(values: Iterable[object], default: object) -> str:
        return ", ".join(f"**{v}**" if v == default else str(v) for v in values)

    validation = "each target's validation"

    def set_to(value: object) -> str:
        """Describe how a setting of the networks was chosen."""
        return "the source's validation" if config.search else f"here {value}"

    rows = (
        ("Feature design", listed(DESIGNS, "determinacy"), validation),
        ("Combiner l2", listed([int(v) for v in L2], int(REFERENCE_L2)), validation),
        ("Calibrator", listed(CALIBRATORS, "affine-logit"), validation),
        ("Screening epsilon", listed(config.epsilons, EPSILON), f"fixed, here {config.epsilon}"),
        ("Folds", listed(config.fold_numbers, FOLDS), f"fixed, here {config.folds}"),
        ("Hidden width", listed(grid.width, 256), set_to(config.width)),
        ("Loss", listed(grid.loss, "balanced"), set_to("balanced")),
        ("Learning rate", listed(grid.learning_rate, 2e-4), set_to(config.learning_rate)),
        ("Training epochs", listed(grid.epochs, 30), set_to(config.epochs)),
    )
    tables = [Table("Search space", ("Parameter", "Values", "Chosen by"), rows)]
    tables.append(_fixed_beforehand(results))
    for backbone, searches in results.experiment.searches.items():
        chosen = []
        for name, stage in searches.items():
            best = best_of(read_sweep(results.experiment.run.output(stage, "search.jsonl")), name)
            point = [str(getattr(best.settings, axis)) for axis in _AXES]
            chosen.append((name, *point, f"{best.auroc:.3f}"))
        if chosen:
            heads = ("Scorer", *_AXES.values(), "AUROC on the source's validation")
            tables.append(Table(f"Chosen on {backbone}", heads, tuple(chosen)))
    return tables


def _fixed_beforehand(results: Results) -> Table:
    config = results.config
    names = [f"epsilon {value}" for value in config.epsilons]
    names += [f"folds {number}" for number in config.fold_numbers]
    rows = []
    for name in names:
        by_cell = [[cell.metric(name, metric) for metric in MAIN] for cell in results.cells()]
        defined = [values for values in by_cell if None not in values]
        means = [_three_digits(fmean(column)) for column in zip(*defined, strict=True)]
        rows.append((name, *(means or [NOT_RUN] * len(MAIN)), str(len(defined))))
    heads = ("Fixed", *(METRICS[metric] for metric in MAIN), "Cells")
    note = (
        "Means over backbones and datasets with right and wrong answers; other settings as "
        "configured."
    )
    return Table("Compositions by what is fixed beforehand", heads, tuple(rows), note)


_AXES = {
    "width": "Hidden width",
    "loss": "Loss",
    "learning_rate": "Learning rate",
    "epochs": "Training epochs",
}
"""Axes of the search space, by name in the settings."""


def counterfactual(results: Results) -> list[Table]:
    """Audits of supported and incompatible claims (appendix Counterfactual Audit)."""
    title, stage = "Counterfactual audit", results.experiment.pairs
    if stage is None:
        return [Table(title, ("Pairs",), (), "The source has no test split.")]
    by_trace = [row["pairs"] for row in read_rows(results.experiment.run.output(stage))]
    detected = [
        pair["supported"]["verdict"] == "entailed"
        and pair["incompatible"]["verdict"] == "contradicted"
        for pairs in by_trace
        for pair in pairs
    ]
    source = results.config.source
    texts: dict[tuple[str, ...], str] = {
        (source, "traces"): str(len(by_trace)),
        (source, "eligible"): str(sum(map(bool, by_trace))),
        (source, "pairs"): str(len(detected)),
        (source, "detected"): f"{fmean(detected):.1%}" if detected else UNDEFINED,
    }
    return [
        _grid(
            "counterfactual",
            title,
            ("Dataset",),
            _across(dataset=[source]),
            _across(metric=[metric for _, metric in texts]),
            _looked_up(texts),
            "Detected: the supported claim is entailed, the incompatible claim contradicted.",
        )
    ]


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
    """Audit of the trace in appendix Illustrative Example."""
    *reasoning, conclusion = _CLAIMS
    trace = Trace(
        id="example",
        scene=_SCENE,
        question="Where is A relative to C?",
        reasoning=reasoning,
        conclusion=conclusion,
    )
    audit = Audit.model_validate(TraceAuditor("nine-way").audited(trace))
    rows = tuple(
        (str(c.index), c.text, "yes" if c.relations else "no", c.verdict, c.message)
        for c in audit.claims
    )
    profile = audit.profile
    note = (
        f"Scene: {' '.join(_SCENE)} Profile: symbolizability {profile.symbolizability:.3f}, "
        f"unknown rate {profile.unknown_rate:.3f}, determinacy {profile.determinacy:.3f}, "
        f"applicability {profile.applicability:.3f}; in the paper 0.833, 0.200, 0.600, 0.500."
    )
    columns = ("k", "Claim", "Parsed", "Verdict", "Why")
    return [Table("Illustrative example", columns, rows, note)]


def beyond_length(results: Results) -> list[Table]:
    """AUROC of each score, overall and among traces with the same number of claims and hops."""
    names = [name for name in (*SCORERS, METHOD) if any(c.has(name) for c in results.cells())]

    def texts(points: list[Point]) -> list[str]:
        cell = results.cell(points[0]["backbone"], points[0]["dataset"])
        values = [
            cell.metric(point["method"], "auroc")
            if point["metric"] == "auroc"
            else cell.within_length(point["method"])
            for point in points
        ]
        ran = [cell.has(point["method"]) for point in points]
        return [
            _three_digits(value) if run else NOT_RUN for value, run in zip(values, ran, strict=True)
        ]

    return [
        _grid(
            "beyond_length",
            f"Scores beyond length and hops on {backbone}",
            ("Method",),
            _across(method=names),
            _across(dataset=results.datasets, metric=("auroc", "within")),
            texts,
            "Within: AUROC over pairs of a right and a wrong answer with equal numbers of claims "
            "and hops; undefined without such a pair. "
            f"{_compared_on(results, backbone)}",
            backbone=backbone,
        )
        for backbone in results.backbones
    ]


def first_error(results: Results) -> list[Table]:
    """How well the first wrong claim is found: F1 as in ProcessBench, and the two accuracies from
    which it is computed.
    """
    return [
        table
        for backbone in results.backbones
        if (table := _first_errors(results, backbone)) is not None
    ]


def _first_errors(results: Results, backbone: str) -> Table | None:
    found: dict[str, dict[str, FirstErrors]] = {}
    for dataset in results.datasets:
        rows = results.cell(backbone, dataset).first_errors()
        if rows and rows[0].result.f1 is not None:
            found[dataset] = {row.method: row.result for row in rows}
    if not found:
        return None

    def texts(points: list[Point]) -> list[str]:
        here = found[points[0]["dataset"]]
        field = points[0]["metric"].lower()
        results = (here.get(point["method"]) for point in points)
        return [NOT_RUN if r is None else _three_digits(getattr(r, field)) for r in results]

    counts = ", ".join(
        f"{dataset} {rows[AUDIT].wrong} and {rows[AUDIT].right}" for dataset, rows in found.items()
    )
    return _grid(
        "first_error",
        f"First errors of {backbone}",
        ("Method",),
        _across(method=list(dict.fromkeys(name for rows in found.values() for name in rows))),
        _across(dataset=list(found), metric=("F1", "found", "cleared")),
        texts,
        "Found: traces with a wrong claim in which the first wrong claim is named. Cleared: other "
        "traces, in which no claim is named. Scores name the first claim above a validation "
        f"threshold. Traces with and without a wrong claim: {counts}.",
        backbone=backbone,
    )


def scorers(results: Results) -> list[Table]:
    """AUROC of every scorer on the test splits: the mean and, with several seeds, the standard
    deviation.
    """
    cells = results.cells()
    rows = tuple(
        (name, *(_spread(c.values(name, "auroc")) if c.has(name) else NOT_RUN for c in cells))
        for name in SCORERS
        if any(cell.has(name) for cell in cells)
    )
    heads = (f"{cell.cell.backbone}, {cell.cell.dataset}" for cell in cells)
    note = _compared(cells)
    return [Table("AUROC on the test split", ("Method", *heads), rows, note, labels=1)]


def _spread(values: Sequence[float]) -> str:
    deviation = f" ({stdev(values):.3f})" if len(values) > 1 else ""
    return f"{fmean(values):.3f}{deviation}" if values else UNDEFINED


def traces(results: Results) -> list[Table]:
    """Counts of generated traces: valid ones, copied ones, right answers, right steps, and audit
    coverage.
    """
    rows = []
    for name in results.experiment.cells:
        cell = CellResults(results.experiment, name)
        labels = [label for claims in cell.claim_labels.values() for label in claims[:-1]]
        rows.append(
            (
                *name,
                str(len(cell.traces)),
                _share([trace["generation"]["status"] == "valid" for trace in cell.traces]),
                _share([trace["generation"].get("copied", False) for trace in cell.traces]),
                _share([*cell.truth.values()]),
                _share([label for label in labels if label is not None]),
                _share(cell.profiles("symbolizability")),
                _three_digits(cell.determinacy),
            )
        )
    heads = ("Backbone", "Dataset", "Split", "Traces", "Valid", "Copied")
    note = (
        "Copied: valid traces that repeat placeholders of the instruction, as a share of all. "
        "Determinacy is weighted by parsed claims."
    )
    columns = (*heads, "Answers right", "Steps right", "Symbolizability", "Determinacy")
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
    "beyond-length": beyond_length,
    "first-error": first_error,
    "scorers": scorers,
    "traces": traces,
}
"""The tables by name. All but the last four are in the paper."""


def _three_digits(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.3f}"


def _share(values: Sequence[float]) -> str:
    """Format the mean of zeros and ones as a share."""
    return f"{fmean(values):.3f}" if len(values) else UNDEFINED
