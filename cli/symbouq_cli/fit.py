"""`symbouq fit` and `symbouq predict`: calibrated reliability of traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from symbouq_cli.options import (
    JOBS,
    TIMEOUT,
    TRACES,
    UNUSABLE,
    engine_options,
    file_option,
    finish,
    option,
    out_option,
    output_option,
    parsing_options,
    reading_options,
    traced,
)
from symbouq_cli.reading import model_options, readings
from symbouq_cli.terminal import Faults, tell

if TYPE_CHECKING:
    from symbouq.io.stream import Job
    from symbouq.reliability.model import Model

_VARIANTS = ("full", "scores only", "symbolizability", "determinacy", "evaluable-only", "gated",
             "discounted")  # fmt: skip


@click.command()
@TRACES
@output_option("--out", required=True, metavar="MODEL", help="Output file for the model (JSON).")
@option(
    "--composition",
    type=click.Choice(["worlds", "dual", "paper"]),
    default="worlds",
    help="Contexts that the constraint scores use: assumed, as in the paper; both (dual); or "
    "both and the answer's status in the scene's possible worlds.",
)
@option(
    "--variant",
    type=click.Choice(_VARIANTS),
    default="full",
    help="Variant of the composer; full is the paper's DARC.",
)
@option("--seed", default=2026, help="Seed of the folds.")
@option(
    "--guarantee",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="LEVEL",
    help="Hold out half of the scenes and fit an acceptance threshold: with probability 1 - "
    "delta, at most this share of the traces that `predict` accepts is wrong.",
)
@option(
    "--delta",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.1,
    help="Probability that the guarantee fails.",
)
@file_option(
    "--source",
    metavar="MODEL",
    help="Adapt this model to FILES without labels, instead of fitting a new one.",
)
@parsing_options
@reading_options
@JOBS
@TIMEOUT
def fit(files: tuple[str, ...], out: str, **options: Any) -> None:
    """Fit a reliability model on the labelled traces of FILES.

    A trace needs `correct`, or the right `answer` with `answer_space`. Text alone is sufficient;
    log-probabilities (`tokens`) and other `scores` are used if every trace has them. A few hundred
    traces suffice.

    Example: symbouq fit validation.jsonl.gz --out model.json
    """
    from symbouq.errors import extra

    with extra("fit"):
        import scipy  # noqa: F401
        import sklearn  # noqa: F401

        from symbouq.reliability import jobs
        from symbouq.reliability import model as models
        from symbouq.reliability.labels import labelled
        from symbouq.reliability.reading import Reader
    from symbouq.io.stream import Job
    from symbouq.records import Trace
    from symbouq_cli.run import refuse_overwriting

    if options["source"] and options["guarantee"]:
        raise click.UsageError("--guarantee needs labels, and --source reads none")
    refuse_overwriting((*files, *filter(None, [options["source"]])), out, "--out")
    source = models.Model.load(options["source"]) if options["source"] else None
    composition = source.composition if source else options["composition"]
    profile = options["profile"] or (source.profile if source else None)
    reader = Reader(composition, profile, options["ontology"], options["pipeline"])
    if source is not None:
        _warn(source.fault(reader))
    arguments = (composition, profile, options["ontology"], options["pipeline"], source is None)
    job = Job(jobs.reading, arguments, Trace, timeout=options["timeout"] or None)
    readings, failed = _gathered(traced(files, options), job, options["jobs"])
    told = Counter(reading.fault for _, (reading, _) in readings if reading.fault)
    for fault, count in told.items():
        _warn(f"{count} traces have no decoding scores: {fault}")
    if source is not None:
        model = source.adapted([reading for _, (reading, _) in readings])
    else:
        labels = labelled([gold for _, (_, gold) in readings])
        reasons = iter(labels.faults)
        with Faults() as faults:
            for (place, _), label in zip(readings, labels.of, strict=True):
                if label is None:
                    failed += 1
                    faults.add(f"{place}: {next(reasons)}")
        for warning in labels.warnings:
            _warn(warning)
        model = models.fit(
            [
                reading
                for (_, (reading, _)), y in zip(readings, labels.of, strict=True)
                if y is not None
            ],
            [label for label in labels.of if label is not None],
            composition,
            reader.ontology_hash,
            profile,
            options["variant"],
            options["seed"],
            options["guarantee"],
            options["delta"],
        )
    model.save(out)
    _tell(model)
    finish(bool(failed))


def _gathered(
    files: Sequence[str], job: Job, jobs: int | None
) -> tuple[list[tuple[str, Any]], int]:
    """Return the data read from each record, with the record's position, and the number of failed
    records.
    """
    from symbouq.io.stream import process
    from symbouq_cli.run import progress, tell_failure

    readings, failed = [], 0
    with (
        progress() as advance,
        closing(process(files, job, jobs)) as outcomes,
        Faults() as faults,
    ):
        for outcome in outcomes:
            if outcome.error is None:
                readings.append((f"{outcome.file}:{outcome.number}", outcome.summary))
            else:
                failed += 1
                tell_failure(outcome, faults)
            advance()
    return readings, failed


def _warn(fault: str | None) -> None:
    if fault:
        tell(f"warning: {fault}")


def _tell(model: Model) -> None:
    notes, composer = model.notes, model.composer
    lines = [f"{notes['traces']} traces, {notes['right']} right"]
    for name, area in composer.aurocs.items():
        use = "" if name in composer.names else ", left out"
        calibrator = model.candidates[name].calibrator
        if name in composer.names and composer.flipped:
            turned = composer.flipped[composer.names.index(name)]
            use = ", turned" if turned or (calibrator and calibrator.turned) else ""
        lines.append(f"{name}: AUROC {area:.3f} in-sample{use}")
    if notes["left_out"]:
        lines.append(f"not in every trace, so not used: {', '.join(notes['left_out'])}")
    if composer.kind == "composed":
        held = f"{composer.held_out:.3f}" if composer.held_out is not None else "not known"
        lines.append(
            f"design {composer.design}, l2 {composer.l2:g}, held-out AUROC {held}, "
            f"calibrator {composer.calibrator.family}"
        )
    else:
        reasons = {"fixed": "one class only", "best": "no candidate ranks better than chance"}
        lines.append(f"{reasons[composer.kind]}: the reliability is {composer.names[0]}")
    if model.guarantee:
        lines.append(str(model.guarantee))
    for line in lines:
        tell(line)


@click.command()
@TRACES
@file_option("--model", required=True, metavar="MODEL", help="Model from `symbouq fit`.")
@out_option("-")
@option("--strict", is_flag=True, help="Refuse a model fitted under another ontology version.")
@parsing_options
@model_options("--reader-model")
@reading_options
@engine_options
def predict(files: tuple[str, ...], model: str, out: str, **options: Any) -> None:
    """Predict the probability that the answer of each trace in FILES is right.

    Writes one JSON line per trace: the reliability, the scores behind it with their contributions,
    and the Determinacy Profile. Labels are not read.

    Example: symbouq predict new.jsonl --model model.json --out reliability.jsonl
    """
    from symbouq.errors import extra

    with extra("fit"):
        import scipy  # noqa: F401

        from symbouq.reliability.jobs import predicting
        from symbouq.reliability.model import Model
    from symbouq.io.stream import Job
    from symbouq.records import Trace
    from symbouq_cli.run import refuse_overwriting, run

    refuse_overwriting((*files, model), out, "--out")
    fitted = Model.load(model)
    reading = (options["profile"], options["ontology"], options["pipeline"])
    fault = fitted.fault(fitted.reader(*reading))
    if fault and options["strict"]:
        tell(f"{model}: {fault}")
        finish(UNUSABLE)
    _warn(fault)
    job = Job(predicting, (model, *reading), Trace, _summed)
    sums: list[tuple[int, float, int]] = []
    sources = traced(files, options)
    with readings(options, Trace, sources, out) as prepare:
        failed = run(
            sources,
            out,
            job,
            options,
            lambda outcome: sums.append(_summed([outcome.summary])),
            sums.append,
            prepare,
        )
    if count := sum(some for some, _, _ in sums):
        mean = sum(part for _, part, _ in sums) / count
        accepted = f", {sum(some for *_, some in sums)} accepted" if fitted.guarantee else ""
        tell(f"{count} traces, mean reliability {mean:.3f}{accepted}")
    finish(bool(failed))


def _summed(predictions: Iterable[tuple[float, bool]]) -> tuple[int, float, int]:
    count, total, accepted = 0, 0.0, 0
    for reliability, taken in predictions:
        count, total, accepted = count + 1, total + reliability, accepted + taken
    return count, total, accepted
