"""The reliability evidence bank: scorers that are fitted, calibrated, kept and applied.

A fitted scorer is a folder: what it is and how it was calibrated (`scorer.json`), how long that
took (`timing.json`), and its network where it has one (`symbouq.evidence.scorers.training`).
Everything in it was decided on training and validation data. Applying it reads no labels.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from symbouq.errors import SymboUQError, missing_extra
from symbouq.evidence.scorers.base import (
    SCORERS,
    Entry,
    Labelled,
    Scorer,
    entry,
    lacking,
    readable,
)
from symbouq.evidence.scorers.calibration import Calibrator
from symbouq.evidence.signals.example import Example

if TYPE_CHECKING:
    import pyarrow as pa

    from symbouq.evidence.scorers.equivalence import Equivalence
    from symbouq.evidence.scorers.sampling import Backbone
    from symbouq.evidence.scorers.training import Settings

FORMAT = 1
"""Version of a kept scorer."""
DESCRIPTION, TIMING = "scorer.json", "timing.json"

CHUNK = 256
"""Traces that are scored together. A network's last digits depend on what it is given side by
side, so this is the same wherever they are scored.
"""


@dataclass(frozen=True)
class Resources:
    """What scorers use besides the examples.

    Attributes:
        equivalence: Decides when sampled answers mean the same; the auditor where None.
        backbone: The model that wrote the traces, for P(True).
        device: Where networks are trained and applied.
    """

    equivalence: Equivalence | None = None
    backbone: Backbone | None = None
    device: str = "cpu"


@dataclass(frozen=True)
class Fitted:
    """A scorer that is ready for use.

    Attributes:
        scorer: The scorer.
        seed: What it was fitted with; 0 where nothing is drawn.
        calibrator: From its values to the probability of a right answer.
        data: Hash of what it was fitted on, and how.
        seconds: How long it was trained; 0 for training-free scores.
    """

    scorer: Scorer
    seed: int
    calibrator: Calibrator
    data: str = ""
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """The scorer's name in the paper."""
        return self.scorer.name

    @property
    def description(self) -> dict[str, Any]:
        """What it is, in JSON; names what decides equivalence, and the backbone."""
        named = {
            part: getattr(self.scorer, part).name
            for part in ("equivalence", "backbone")
            if getattr(self.scorer, part, None) is not None
        }
        return {
            "format": FORMAT,
            "name": self.name,
            "seed": self.seed,
            "orientation": self.scorer.orientation,
            "needs": sorted(self.scorer.needs),
            **named,
            "data": self.data,
            "calibrator": self.calibrator.record(),
        }


def make(name: str, seed: int, settings: Settings | None, resources: Resources) -> Scorer:
    """A scorer that is not fitted yet.

    Args:
        name: Its name in the paper.
        seed: Of what it draws.
        settings: How networks are trained; the defaults where None. Seed and device are
            taken from the other arguments.
        resources: What it uses.

    Raises:
        SymboUQError: If there is none of that name, or a package is missing.
    """
    known = entry(name)
    if known.trained:
        options = {} if settings is None else asdict(settings)
        return known.make(**options | {"seed": seed, "device": resources.device})
    if known.name == "Random":
        return known.make(seed=seed)
    if "backbone" in known.needs:
        return known.make(backbone=resources.backbone)
    if "samples" in known.needs:
        return known.make(equivalence=resources.equivalence)
    return known.make()


def seeds_of(known: Entry, seeds: Sequence[int]) -> Sequence[int]:
    """The seeds that a scorer is fitted with: the first one where nothing is drawn."""
    return seeds if known.trained or known.name == "Random" else seeds[:1]


def fit(
    name: str,
    train: Sequence[Labelled],
    validation: Sequence[Labelled],
    seed: int = 0,
    settings: Settings | None = None,
    resources: Resources | None = None,
) -> Fitted:
    """Fits and calibrates a scorer.

    Args:
        name: Its name in the paper.
        train: Source data to learn from; not read by training-free scores.
        validation: Data that selects and calibrates.
        seed: Of what is drawn.
        settings: How networks are trained.
        resources: What the scorer uses.

    Raises:
        SymboUQError: If a split is empty or lacks a class, or an example lacks what the
            scorer needs.
    """
    scorer = make(name, seed, settings, resources or Resources())
    started = time.monotonic()
    scorer.fit(train, validation)
    seconds = time.monotonic() - started if SCORERS[scorer.name].trained else 0.0
    data = fingerprint(train, validation, settings)
    return Fitted(scorer, seed, calibrate(scorer, validation), data, seconds)


def calibrate(scorer: Scorer, validation: Sequence[Labelled]) -> Calibrator:
    """Min-max statistics, reduction and Platt map of a scorer that stands by itself, on a
    validation split.

    Raises:
        SymboUQError: If the split is empty or of one class.
    """
    known = [item for item in _readable(validation) if item.correct is not None]
    values = scorer.score([item.example for item in known])
    labels = [int(item.correct or 0) for item in known]
    return Calibrator.fit(values, labels, scorer.orientation, upright=True)


def _readable(items: Iterable[Labelled]) -> list[Labelled]:
    return [item for item in items if readable(item.example)]


def fingerprint(
    train: Sequence[Labelled], validation: Sequence[Labelled], settings: Settings | None
) -> str:
    """A hash of what decides a fit: traces that can be read, with claims, labels, audits and
    signals, and settings.
    """
    digest = hashlib.sha256(json.dumps(asdict(settings) if settings else None).encode())
    for split in (train, validation):
        for item in _readable(split):
            example = item.example
            features = example.audit["features"] if example.audit is not None else None
            parts = [example.id, example.claims, item.labels, features, len(example.samples)]
            digest.update(json.dumps(parts).encode())
            if example.signals is not None:
                digest.update(example.signals.logprobs.tobytes())
                digest.update(example.signals.hidden[-1:].tobytes())
        digest.update(b"\n")
    return digest.hexdigest()[:16]


# Folders -------------------------------------------------------------------------------


def folder_of(models: str | Path, name: str, seed: int) -> Path:
    """Where a scorer is kept in a folder of scorers."""
    slug = re.sub(r"[^a-z]+", "-", name.casefold()).strip("-")
    return Path(models) / slug / f"seed-{seed}"


def save(fitted: Fitted, models: str | Path) -> Path:
    """Keeps a fitted scorer in a folder of scorers.

    Returns:
        Its own folder there.
    """
    folder = folder_of(models, fitted.name, fitted.seed)
    folder.mkdir(parents=True, exist_ok=True)
    keep = getattr(fitted.scorer, "save", None)
    if keep is not None:
        keep(folder)
    timing = {"training_seconds": round(fitted.seconds, 2)}
    (folder / TIMING).write_text(json.dumps(timing) + "\n", encoding="utf-8")
    # Last: a folder without it is a stopped attempt.
    text = json.dumps(fitted.description, indent=2, ensure_ascii=False) + "\n"
    (folder / DESCRIPTION).write_text(text, encoding="utf-8")
    return folder


def load(folder: str | Path, resources: Resources | None = None) -> Fitted:
    """A kept scorer.

    Args:
        folder: Its own folder.
        resources: What it uses; the equivalence must be the one that it was calibrated with.

    Raises:
        SymboUQError: If there is none, it cannot be read, or a resource is another one.
    """
    path, resources = Path(folder), resources or Resources()
    try:
        given = json.loads((path / DESCRIPTION).read_text(encoding="utf-8"))
        timing = json.loads((path / TIMING).read_text(encoding="utf-8"))
        if given["format"] != FORMAT:
            raise SymboUQError(f"{path}: a scorer of format {given['format']}, not {FORMAT}")
        known = entry(given["name"])
        calibrator = Calibrator.of(given["calibrator"])
        seed, data, seconds = given["seed"], given["data"], timing["training_seconds"]
    except OSError as error:
        raise SymboUQError(f"{path} holds no fitted scorer: {error}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise SymboUQError(f"{path} holds no fitted scorer: {error!r}") from error
    if known.trained:
        from symbouq.evidence.scorers.training import Learned

        scorer: Scorer = Learned.load(path, resources.device)
    else:
        scorer = make(known.name, seed, None, resources)
    loaded = Fitted(scorer, seed, calibrator, data, seconds)
    for part in ("equivalence", "backbone"):
        now = loaded.description.get(part)
        if now != given.get(part):
            raise SymboUQError(
                f"{path}: calibrated with {part} {given.get(part)!r}, not with {now!r}"
            )
    return loaded


def kept(models: str | Path, names: Sequence[str] = ()) -> list[Path]:
    """The folders of kept scorers, in the paper's order, then by seed.

    Args:
        models: The folder of scorers.
        names: Which ones; all where empty.

    Raises:
        SymboUQError: If there are none, or a named one is not there.
    """
    found: list[Path] = []
    wanted = [entry(name).name for name in names] or list(SCORERS)
    for name in SCORERS:
        here = folder_of(models, name, 0).parent
        seeds = [path.parent for path in here.glob(f"seed-*/{DESCRIPTION}")]
        if name in wanted:
            if names and not seeds:
                raise SymboUQError(f"{models} holds no fitted {name}")
            found += sorted(seeds, key=lambda path: int(path.name.removeprefix("seed-")))
    if not found:
        raise SymboUQError(f"{models} holds no fitted scorers")
    return found


# Scores --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Score:
    """What a scorer says of a trace.

    Attributes:
        id: The trace's id.
        method: The scorer's name.
        seed: What it was fitted with.
        claims: Its values, one a claim, in its own orientation; empty where nothing could be
            read.
        score: Calibrated probability that the delivered answer is right; None likewise.
        reduction: How claims became a trace.
    """

    id: str
    method: str
    seed: int
    claims: list[float] = field(default_factory=list)
    score: float | None = None
    reduction: str = ""


class Scored(NamedTuple):
    """What a scorer says of some traces.

    Attributes:
        description: The scorer's (`Fitted.description`).
        rows: One a trace.
    """

    description: dict[str, Any]
    rows: list[Score]


def scores(fitted: Fitted, examples: Sequence[Example]) -> Iterator[Score]:
    """The scores of some traces, in their order; a trace with nothing to read has none.

    Raises:
        SymboUQError: If an example lacks what the scorer needs.
    """
    there = [example for example in examples if readable(example)]
    values = fitted.scorer.score(there)
    found = iter(zip(values, fitted.calibrator(values).tolist(), strict=True))
    reduction = fitted.calibrator.reduction
    for example in examples:
        blank = Score(example.id, fitted.name, fitted.seed, reduction=reduction)
        if readable(example):
            claims, score = next(found)
            yield replace(blank, claims=claims.tolist(), score=score)
        else:
            yield blank


def _schema() -> pa.Schema:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise missing_extra("fit", error) from error
    return pa.schema(
        {
            "id": pa.string(),
            "method": pa.string(),
            "seed": pa.int64(),
            "claims": pa.list_(pa.float64()),
            "score": pa.float64(),
            "reduction": pa.string(),
        }
    )


class Scoring:
    """Kept scorers, ready to score the traces of a split.

    Args:
        folders: The scorers' folders, as `kept` gives them.
        resources: Gives what they use.
        split: The split; its signals are read as they are needed.
        validation: A split of the same dataset, which calibrates in place of the one that the
            scorers were fitted with.

    Raises:
        SymboUQError: If a scorer cannot be loaded, or validation lacks labels or a class.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        resources: Callable[[], Resources],
        split: Split,
        validation: Split | None = None,
    ) -> None:
        from symbouq.evidence.signals.cache import SignalsCache

        given = resources()
        self._fitted = [load(folder, given) for folder in folders]
        if validation is not None:
            judged = validation.labelled()
            self._fitted = [
                replace(fitted, calibrator=calibrate(fitted.scorer, judged))
                for fitted in self._fitted
            ]
        self._signals = SignalsCache(split.signals) if split.signals is not None else None

    def __call__(self, chunk: Sequence[Example]) -> list[Scored]:
        """What each scorer says of some traces.

        Raises:
            SymboUQError: If a trace lacks what a scorer needs.
        """
        examples = [self._whole(example) for example in chunk]
        return [
            Scored(fitted.description, list(scores(fitted, examples))) for fitted in self._fitted
        ]

    def _whole(self, example: Example) -> Example:
        if self._signals is None:
            return example
        return replace(example, signals=self._signals.signals(example.id))


def write_scores(path: str | Path, parts: Iterable[Sequence[Scored]]) -> dict[str, int]:
    """Writes a Parquet file with one row a trace, method and seed, scorer after scorer; its
    metadata `scorers` has their descriptions.

    Args:
        path: The file; it is there only once it is whole.
        parts: What the same scorers say of some traces, and of more of them.

    Returns:
        How many rows each scorer has.
    """
    schema = _schema()
    import pyarrow as pa
    import pyarrow.parquet as pq

    described: list[dict[str, Any]] = []
    tables: list[list[pa.Table]] = []
    for part in parts:
        described = [scored.description for scored in part]
        tables = tables or [[] for _ in part]
        for scored, of_scorer in zip(part, tables, strict=True):
            of_scorer.append(pa.Table.from_pylist([asdict(row) for row in scored.rows], schema))
    table = pa.concat_tables(chain([schema.empty_table()], *tables))
    metadata = {"scorers": json.dumps(described, ensure_ascii=False)}
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(target.name + ".part")
    pq.write_table(table.replace_schema_metadata(metadata), unfinished)
    unfinished.replace(target)
    return {
        f"{one['name']}, seed {one['seed']}": sum(len(part) for part in of_scorer)
        for one, of_scorer in zip(described, tables, strict=True)
    }


def read_calibrators(path: str | Path) -> dict[tuple[str, int], Calibrator]:
    """The calibrators by which a file's scores were made, by method and seed.

    Raises:
        SymboUQError: If it cannot be read or is none.
    """
    _schema()
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        described = json.loads((pq.read_schema(path).metadata or {})[b"scorers"])
        return {(one["name"], one["seed"]): Calibrator.of(one["calibrator"]) for one in described}
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise SymboUQError(f"{path} holds no scores: {error!r}") from error


def read_scores(path: str | Path) -> list[Score]:
    """The scores of a Parquet file.

    Raises:
        SymboUQError: If it cannot be read or is none.
    """
    schema = _schema()
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = pq.read_table(path, columns=schema.names).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise SymboUQError(f"{path} holds no scores: {error}") from error
    return [Score(**row) for row in rows]


# Splits --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Split:
    """The files of a split, of which all but the traces may be missing.

    Attributes:
        traces: Generated traces.
        signals: Folder of cached signals.
        audits: Audits of the traces.
        labels: Labels of their claims.
    """

    traces: Path
    signals: Path | None = None
    audits: Path | None = None
    labels: Path | None = None

    @classmethod
    def of(cls, folder: str | Path) -> Split:
        """The split in a folder: `traces.jsonl`, `signals`, `audits.jsonl`, `labels.jsonl`; the
        files may be compressed (`.gz`).

        Raises:
            SymboUQError: If there are no traces.
        """
        path = Path(folder)

        def file(name: str) -> Path | None:
            both = (path / f"{name}.jsonl", path / f"{name}.jsonl.gz")
            return next((found for found in both if found.exists()), None)

        traces = file("traces")
        if traces is None:
            raise SymboUQError(f"{path} has no traces.jsonl")
        signals = path / "signals"
        return cls(traces, signals if signals.exists() else None, file("audits"), file("labels"))

    def examples(self) -> list[Example]:
        """Its traces with signals and audits; reads no labels.

        Hidden states stay in memory as float16, which is what the cache holds.

        Raises:
            SymboUQError: If the files do not fit together.
        """
        import numpy as np

        from symbouq.evidence.signals.cache import examples

        found = []
        for example in examples(self.traces, self.signals, self.audits):
            signals = example.signals
            if signals is not None:
                # The type says float32; half of it is half the memory, and the same numbers.
                hidden: Any = signals.hidden.astype(np.float16)
                example = replace(example, signals=replace(signals, hidden=hidden))
            found.append(example)
        return found

    def chunks(self) -> Iterator[list[Example]]:
        """Its traces with audits, `CHUNK` at a time, for `Scoring`, which adds the signals; one
        chunk at least.

        Raises:
            SymboUQError: If the files do not fit together.
        """
        from symbouq.evidence.signals.cache import examples

        every = examples(self.traces, self.signals, self.audits, light=True)
        yield list(islice(every, CHUNK))
        while chunk := list(islice(every, CHUNK)):
            yield chunk

    def labelled(self) -> list[Labelled]:
        """Its traces with their labels; those that have no label at all are left out.

        Raises:
            SymboUQError: If there are no labels, or the files do not fit together.
        """
        from symbouq.evidence.labels.records import read_labels

        if self.labels is None:
            raise SymboUQError(f"{self.traces.parent} has no labels.jsonl")
        known = read_labels(self.labels)
        return [
            Labelled(example, known[example.id].labels)
            for example in self.examples()
            if example.id in known
        ]


def possible(
    names: Sequence[str], examples: Sequence[Example], resources: Resources
) -> tuple[list[str], dict[str, str]]:
    """Which scorers can be had from what there is.

    Args:
        names: Those that are wanted, of which a missing one is an error; all where empty.
        examples: Some traces.
        resources: What scorers use.

    Returns:
        The scorers that can be had, and for the others what is missing.

    Raises:
        SymboUQError: If a named one cannot be had.
    """
    wanted = [entry(name) for name in names] or list(SCORERS.values())
    there = [example for example in examples if readable(example)][:1]
    missing: dict[str, str] = {}
    for known in wanted:
        fault = next(filter(None, (lacking(e, known.needs) for e in there)), None)
        if "backbone" in known.needs and resources.backbone is None:
            fault = "the model that wrote the traces"
        if fault is not None:
            missing[known.name] = fault
            if names:
                raise SymboUQError(f"{known.name} needs {fault}")
    return [known.name for known in wanted if known.name not in missing], missing
