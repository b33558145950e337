"""`symbouq scores`: fit and apply every scorer of the paper.

A split is a folder with `traces.jsonl`, `signals` (a cache), `audits.jsonl` and `labels.jsonl`;
files that no scorer needs may be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from symbouq_cli.options import count_option, file_option, option, output_option, together
from symbouq_cli.terminal import say, tell

if TYPE_CHECKING:
    from symbouq.evidence.scorers.bank import Resources
    from symbouq.evidence.scorers.efficiency import Cost

FOLDER = click.Path(exists=True, file_okay=False)


def _seeds(_context: click.Context, option: click.Parameter, value: str) -> tuple[int, ...]:
    """Parse numbers and ranges: `0-4`, `1,3`."""
    seeds: list[int] = []
    with suppress(ValueError):
        for part in value.split(","):
            first, _, last = part.partition("-")
            seeds.extend(range(int(first), int(last or first) + 1))
        if seeds:
            return tuple(dict.fromkeys(seeds))
    raise click.BadParameter(f"{value!r} is not a list of seeds such as 0-4 or 1,3", param=option)


def _values(kind: Callable[[str], Any]) -> Callable[..., tuple[Any, ...]]:
    """Create a parser for the values of a setting, separated by commas."""

    def values(_context: click.Context, option: click.Parameter, value: str) -> tuple[Any, ...]:
        try:
            return tuple(kind(part.strip()) for part in value.split(","))
        except ValueError as error:
            raise click.BadParameter(f"{value!r} is not a list of values", param=option) from error

    return values


def _scorers(_context: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    from symbouq.evidence.scorers.registry import SCORERS

    return [name for name in SCORERS if name.startswith(begun)]


METHODS = option(
    "--method",
    "methods",
    multiple=True,
    metavar="NAME",
    shell_complete=_scorers,
    help="Scorer, by its name in `symbouq scores list`; may be repeated.  [default: all that "
    "the data allows]",
)
DEVICE = option("--device", default="cpu", metavar="NAME", help="cpu, cuda, cuda:1.")
resource_options = together(
    option(
        "--model", metavar="DIR", help="Model that wrote the traces, for P(True): a folder or "
                                       "Hugging Face id."
    ),
    file_option(
        "--chat-template",
        help="Jinja chat template, if generation used one.",
    ),
    option(
        "--nli", metavar="DIR", type=FOLDER,
        help="Entailment model that decides whether answers are equivalent, instead of the "
             "auditor.",
    ),
    option(
        "--answers-alone", is_flag=True,
        help="Let the auditor compare answers by meaning only, without the scene.",
    ),
    option(
        "--ccp", type=click.Choice(["alternatives", "likelihood"]), default="alternatives",
        help="Form of CCP: by the alternatives of each token, or by its own probability.",
    ),
    option(
        "--selfcheck", type=click.Choice(["support", "contradiction"]), default="support",
        help="Form of SelfCheckGPT: by samples that support a claim, or by samples that "
             "contradict it.",
    ),
    DEVICE,
)  # fmt: skip
"""Options for the resources that scorers need, which `_resources` takes."""


@click.group()
def scores() -> None:
    """Fit and apply every scorer of the paper.

    TRAIN, VALIDATION and SPLIT are folders with traces.jsonl, signals, audits.jsonl and
    labels.jsonl; files that no scorer needs may be missing.

    Example: symbouq scores list
    """


@scores.command("list")
def list_() -> None:
    """List the scorers and their inputs.

    Example: symbouq scores list
    """
    from symbouq.evidence.scorers.registry import SCORERS

    for name, scorer in SCORERS.items():
        kind = "trained" if scorer.trained else "training-free"
        bank = "" if scorer.banked else ", not in the bank"
        say(f"{name}: {scorer.family}, {kind}{bank}")
        say(f"  needs: {', '.join(sorted(scorer.needs)) or 'nothing'}")


@scores.command()
@click.argument("train", type=FOLDER)
@click.argument("validation", type=FOLDER)
@option(
    "--out", "models", required=True, metavar="DIR", type=click.Path(file_okay=False),
    help="Folder of fitted scorers. Scorers already fitted there on the same data are kept.",
)  # fmt: skip
@METHODS
@option("--seeds", callback=_seeds, default="0", help="Seeds, such as 0-4.")
@option("--width", type=int, help="Hidden width.  [default: 256]")
@option("--loss", type=click.Choice(["balanced", "bce"]), help="Loss.  [default: balanced]")
@option("--learning-rate", type=float, help="Learning rate of AdamW.  [default: 0.0002]")
@option("--epochs", type=int, help="Epochs.  [default: 30]")
@option("--batch", type=int, help="Traces per batch.  [default: 32]")
@file_option(
    "--tuned",
    help="Results of `symbouq scores sweep`; their best settings are used.",
)  # fmt: skip
@resource_options
def fit(train: str, validation: str, models: str, **options: Any) -> None:
    """Train and calibrate scorers on TRAIN and VALIDATION.

    Epoch, reduction and calibration are chosen on VALIDATION; no test data is used.

    Example: symbouq scores fit stepgame/train stepgame/validation --out scorers --seeds 0-4
    """
    from dataclasses import replace

    from symbouq.evidence.scorers import bank
    from symbouq.evidence.scorers.registry import SCORERS
    from symbouq.evidence.scorers.settings import Settings
    from symbouq.evidence.scorers.sweep import tuned
    from symbouq.reliability.labels import few

    _check(options)
    resources = _resources(options)
    names = ("width", "loss", "learning_rate", "epochs", "batch")
    changes = {name: options[name] for name in names if options[name] is not None}
    judged = bank.Split.of(validation).labelled()
    learned = bank.Split.of(train).labelled()
    if warning := few(sum(item.correct is not None for item in judged)):
        tell(f"warning: {validation}: {warning}")
    for name in _possible(options["methods"], judged, resources):
        settings = None
        if SCORERS[name].trained:
            base = tuned(options["tuned"], name) if options["tuned"] else Settings()
            settings = replace(base, **changes)
        for seed in bank.seeds_of(SCORERS[name], options["seeds"]):
            fitted = bank.fit_into(models, name, learned, judged, seed, settings, resources)
            tell(
                f"{name}, seed {seed}: AUROC {fitted.calibrator.auroc:.3f} on validation by "
                f"{fitted.calibrator.reduction}, which was chosen there, "
                f"trained in {fitted.seconds:.1f} s"
            )


@scores.command()
@click.argument("models", type=FOLDER)
@click.argument("split", type=FOLDER)
@output_option(
    "--out", required=True,
    help="Output Parquet file with one row per trace, method and seed.",
)  # fmt: skip
@METHODS
@option(
    "--validation", metavar="DIR", type=FOLDER,
    help="Labelled split of the same dataset for calibration, instead of the one used for "
         "fitting.",
)  # fmt: skip
@option(
    "--tokens", is_flag=True,
    help="Also write the value of each token for Perplexity, Token Entropy, MCP and CCP.",
)  # fmt: skip
@resource_options
@option(
    "--engine", type=click.Choice(["builtin", "ray"]), default="builtin",
    help="Run in this process or on a Ray cluster (RAY_ADDRESS, or a local one).",
)  # fmt: skip
@count_option(
    "--jobs",
    help="With --engine ray: number of workers.  [default: all cores, or GPUs]",
)  # fmt: skip
def apply(models: str, split: str, out: str, engine: str, jobs: int | None, **options: Any) -> None:
    """Score the traces of SPLIT with the fitted scorers in MODELS; labels are not read.

    Example: symbouq scores apply scorers stepgame/test --out scores.parquet
    """
    from collections import Counter
    from functools import partial

    from symbouq.evidence.scorers import bank
    from symbouq.io import cluster

    if engine != "ray" and jobs is not None:
        raise click.UsageError("--jobs needs --engine ray")
    _check(options)
    traces = bank.Split.of(split)
    judged = bank.Split.of(options["validation"]) if options["validation"] else None
    folders = bank.kept(models, options["methods"])
    resources = partial(_resources, options)
    make = partial(bank.Scoring, folders, resources, traces, judged, options["tokens"])
    lacking: Counter[tuple[str, str]] = Counter()

    def counted(parts: Iterable[Sequence[bank.Scored]]) -> Iterator[Sequence[bank.Scored]]:
        for part in parts:
            for scored in part:
                seed, method = scored.description["seed"], scored.description["name"]
                told = f"{method}, seed {seed}"
                lacking.update((told, row.lacks) for row in scored.rows if row.score is None)
            yield part

    if engine == "ray":
        with cluster.crew(jobs, 0 if options["device"] == "cpu" else 1) as crew:
            parts = crew.stream(make, [traces], bank.Split.chunks)
            counts = bank.write_scores(out, counted(parts))
    else:
        counts = bank.write_scores(out, counted(map(make(), traces.chunks())))
    for scorer, count in counts.items():
        tell(f"{scorer}: {count} traces")
    told = {fault: count for (_, fault), count in lacking.items() if fault == bank.UNREADABLE}
    for count in told.values():
        tell(f"{count} traces have no input and no score")
    for (method, fault), count in lacking.items():
        if fault not in told:
            tell(f"{method}: {count} traces have no score, it needs {fault}")


@scores.command()
@click.argument("train", type=FOLDER)
@click.argument("validation", type=FOLDER)
@output_option(
    "--out", required=True,
    help="Output file (JSON Lines) with one row per point. A stopped sweep resumes from it.",
)  # fmt: skip
@METHODS
@option(
    "--width", callback=_values(int), default="64,128,256,512",
    help="Hidden widths.",
)  # fmt: skip
@option(
    "--loss", callback=_values(str), default="balanced,bce",
    help="Losses: balanced over the labels, or plain (bce).",
)  # fmt: skip
@option(
    "--learning-rate", callback=_values(float), default="0.0002,0.00002,0.002",
    help="Learning rates of AdamW.",
)  # fmt: skip
@option(
    "--epochs", callback=_values(int), default="20,30,40",
    help="Epochs.",
)  # fmt: skip
@option("--batch", type=int, default=32, help="Traces per batch.")
@option("--seed", type=int, default=0, help="Seed of every point.")
@DEVICE
def sweep(train: str, validation: str, out: str, **options: Any) -> None:
    """Tune the learned scorers: train on TRAIN, evaluate on VALIDATION.

    The default grid is the paper's. `symbouq scores fit --tuned` uses the best settings.

    Example: symbouq scores sweep stepgame/train stepgame/validation --out sweep.jsonl
    """
    from dataclasses import asdict

    from symbouq.evidence.scorers import bank
    from symbouq.evidence.scorers.registry import SCORERS
    from symbouq.evidence.scorers.settings import Settings
    from symbouq.evidence.scorers.sweep import Grid, best_of
    from symbouq.evidence.scorers.sweep import sweep as run

    grid = Grid(**{axis: options[axis] for axis in asdict(Grid())})
    base = Settings(batch=options["batch"], seed=options["seed"], device=options["device"])
    judged = bank.Split.of(validation).labelled()
    learned = bank.Split.of(train).labelled()
    for name in _possible(options["methods"], judged, bank.Resources()):
        if not SCORERS[name].trained and not options["methods"]:
            continue
        rows = []
        for row in run(name, learned, judged, out, grid, base):
            rows.append(row)
            tell(f"{name}, {row.point}: AUROC {row.auroc:.3f}")
        best = best_of(rows, name)
        say(f"{name}: best is {best.point} with AUROC {best.auroc:.3f}")


@scores.command()
@click.argument("models", type=FOLDER)
@click.argument("split", type=FOLDER)
@output_option("--out", help="Output table (CSV).")
@METHODS
@option("--seconds", type=float, default=1.0, help="Minimum time to measure each scorer.")
@resource_options
def efficiency(models: str, split: str, out: str | None, **options: Any) -> None:
    """Measure the cost of the scorers in MODELS on SPLIT, with cached signals.

    Writes one row per method, and one for Constraint and MLP together.

    Example: symbouq scores efficiency scorers stepgame/test --out efficiency.csv
    """
    from symbouq.evidence.scorers import bank
    from symbouq.evidence.scorers.efficiency import PATH, cost, write_costs

    _check(options)
    resources = _resources(options)
    examples = bank.Split.of(split).examples()
    rows: list[Cost] = []
    path: dict[str, bank.Fitted] = {}
    for folder in bank.kept(models, options["methods"]):
        fitted = bank.load(folder, resources)
        if rows and rows[-1].method == fitted.name:
            continue  # one row for all seeds
        rows.append(cost([fitted], examples, options["seconds"]))
        if fitted.name in PATH:
            path[fitted.name] = fitted
    if len(path) == len(PATH):
        rows.append(cost([path[name] for name in PATH], examples, options["seconds"]))
    _show(rows)
    if out is not None:
        write_costs(rows, out)


# Helpers -------------------------------------------------------------------------------


def _check(options: dict[str, Any]) -> None:
    if options["nli"] and options["answers_alone"]:
        raise click.UsageError(
            "--answers-alone cannot be combined with --nli, which replaces the auditor"
        )


def _resources(options: dict[str, Any]) -> Resources:
    from symbouq.evidence.scorers.bank import Resources
    from symbouq.evidence.scorers.equivalence import AuditorEquivalence, Equivalence, NLIEquivalence

    equivalence: Equivalence = AuditorEquivalence(scene=not options["answers_alone"])
    if options["nli"]:
        equivalence = NLIEquivalence(options["nli"], options["device"])
    backbone = None
    if options["model"]:
        from symbouq.evidence.scorers.backbone import TransformersBackbone

        backbone = TransformersBackbone.load(
            options["model"], options["device"], options["chat_template"]
        )
    forms = options["ccp"], options["selfcheck"]
    return Resources(equivalence, backbone, options["device"], *forms)


def _possible(methods: Sequence[str], judged: Sequence[Any], resources: Resources) -> list[str]:
    """Return the scorers that can be computed, and report those that cannot."""
    from symbouq.evidence.scorers.bank import possible

    names, missing = possible(methods, [item.example for item in judged], resources)
    for name, fault in missing.items():
        tell(f"{name} is left out, it needs {fault}")
    return names


COLUMNS = ("Method", "Params (M)", "Train (min)", "Traces/s", "Memory (GB)")


def _show(rows: Sequence[Cost]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 1, 0, 0))
    for number, column in enumerate(COLUMNS):
        table.add_column(column, justify="right" if number else "left", min_width=len(column))
    for row in rows:
        millions = None if row.parameters is None else row.parameters / 1e6
        trained = ("-" if x is None else f"{x:.2f}" for x in (millions, row.training_minutes))
        table.add_row(row.method, *trained, f"{row.traces_per_second:.1f}", f"{row.memory_gb:.2f}")
    Console().print(table)
