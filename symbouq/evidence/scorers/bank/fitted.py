"""Fit, calibrate and store scorers."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.base import Labelled, Scorer
from symbouq.evidence.scorers.calibration import Calibrator
from symbouq.evidence.scorers.needs import lacking, readable
from symbouq.evidence.scorers.registry import SCORERS, entry
from symbouq.evidence.scorers.settings import Resources
from symbouq.evidence.signals.example import Example

if TYPE_CHECKING:
    from symbouq.evidence.scorers.settings import Settings

FORMAT = 1
"""Format version of stored scorers."""
DESCRIPTION, TIMING = "scorer.json", "timing.json"
"""Files of a stored scorer."""

UNREADABLE = "something to read"
"""Message for a trace without claims or without tokens."""

_RESOURCES = ("equivalence", "backbone")
"""Attributes of a scorer that affect its values and are therefore part of its description."""


@dataclass(frozen=True)
class Fitted:
    """A scorer ready for use.

    Attributes:
        scorer: The scorer.
        seed: Seed of the fit; 0 if nothing is random.
        calibrator: Map from its values to the probability of a right answer.
        data: Hash of the data and settings used for the fit.
        seconds: Training time; 0 for training-free scores.
    """

    scorer: Scorer
    seed: int
    calibrator: Calibrator
    data: str = ""
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """Name of the scorer in the paper."""
        return self.scorer.name

    @property
    def description(self) -> dict[str, Any]:
        """Return the content of `scorer.json`, including the names of the equivalence and the
        backbone.
        """
        resources = {part: getattr(self.scorer, part, None) for part in _RESOURCES}
        return {
            "format": FORMAT,
            "name": self.name,
            "seed": self.seed,
            "orientation": self.scorer.orientation,
            "needs": sorted(self.scorer.needs),
            **{part: one.name for part, one in resources.items() if one is not None},
            **({"form": form} if (form := getattr(self.scorer, "form", None)) else {}),
            "data": self.data,
            "calibrator": self.calibrator.record(),
        }


def seeds_of(scorer: type[Scorer], seeds: Sequence[int]) -> Sequence[int]:
    """Return the seeds for fitting a scorer. If the scorer is not random, this is only the first
    seed.
    """
    return seeds if scorer.seeded else seeds[:1]


def fit(
    name: str,
    train: Sequence[Labelled],
    validation: Sequence[Labelled],
    seed: int = 0,
    settings: Settings | None = None,
    resources: Resources | None = None,
) -> Fitted:
    """Fit a scorer on source data and calibrate it on validation.

    `settings` apply to networks. Their seed and device are replaced by those in the other
    arguments.

    Raises:
        SymboUQError: If the name is unknown, a package is missing, a split is empty or lacks a
            class, or an example lacks an input.
    """
    scorer = entry(name).make(seed, settings, resources or Resources())
    started = time.monotonic()
    scorer.fit(train, validation)
    seconds = time.monotonic() - started if scorer.trained else 0.0
    data = fingerprint(train, validation, settings)
    return Fitted(scorer, seed, calibrate(scorer, validation), data, seconds)


def fit_into(
    models: str | Path,
    name: str,
    train: Sequence[Labelled],
    validation: Sequence[Labelled],
    seed: int,
    settings: Settings | None,
    resources: Resources,
) -> Fitted:
    """Fit a scorer and store it in the folder `models`, unless the same fit is already stored
    there.

    Raises:
        SymboUQError: As in `fit`.
    """
    settings = replace(settings, seed=seed) if settings is not None else None
    try:
        earlier = load(folder_of(models, name, seed), resources)
        if earlier.data == fingerprint(train, validation, settings):
            return earlier
    except SymboUQError:
        pass  # nothing is stored, storing was interrupted, or another equivalence was used
    fitted = fit(name, train, validation, seed, settings, resources)
    save(fitted, models)
    return fitted


def calibrate(scorer: Scorer, validation: Sequence[Labelled]) -> Calibrator:
    """Fit the min-max statistics, reduction and Platt map of a standalone scorer on validation.

    Raises:
        SymboUQError: If the split is empty or has only one class, or if the scorer gives no trace a
            value.
    """
    known = [item for item in validation if item.correct is not None]
    faults = [fault_of(scorer, item.example) for item in known]
    labelled = [item for item, fault in zip(known, faults, strict=True) if not fault]
    if known and not labelled:
        raise SymboUQError(f"{scorer.name} needs {faults[0]}, and no trace has it")
    values = scorer.score([item.example for item in labelled])
    labels = [int(item.correct or 0) for item in labelled]
    return Calibrator.fit(values, labels, scorer.orientation, upright=True)


def fault_of(scorer: Scorer | type[Scorer], example: Example) -> str:
    """Describe what an example lacks to be scored; empty if it lacks nothing."""
    return scorer.lacks(example) if readable(example) else UNREADABLE


def _readable(items: Sequence[Labelled]) -> list[Labelled]:
    return [item for item in items if readable(item.example)]


def fingerprint(
    train: Sequence[Labelled], validation: Sequence[Labelled], settings: Settings | None
) -> str:
    """Hash everything that determines a fit: the settings, and the readable traces with their
    claims, labels, audits and signals.
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


def possible(
    names: Sequence[str], examples: Sequence[Example], resources: Resources
) -> tuple[list[str], dict[str, str]]:
    """Return the scorers that can be used with the given traces and resources. For each of the
    other scorers, return what is missing.

    Raises:
        SymboUQError: If a scorer in `names` is not possible.
    """
    wanted = [entry(name) for name in names] or list(SCORERS.values())
    first = next(filter(readable, examples), None)
    missing: dict[str, str] = {}
    for scorer in wanted:
        fault = lacking(first, scorer.needs) if first is not None else None
        told = [example for example in examples if readable(example)]
        if fault is None and told and all(map(scorer.lacks, told)):
            fault = scorer.lacks(told[0])
        if "backbone" in scorer.needs and resources.backbone is None:
            fault = "the model that wrote the traces"
        if fault is not None and names:
            raise SymboUQError(f"{scorer.name} needs {fault}")
        if fault is not None:
            missing[scorer.name] = fault
    return [scorer.name for scorer in wanted if scorer.name not in missing], missing


# Folders -------------------------------------------------------------------------------


def folder_of(models: str | Path, name: str, seed: int) -> Path:
    """Return a scorer's folder within the folder `models`."""
    slug = re.sub(r"[^a-z]+", "-", name.casefold()).strip("-")
    return Path(models) / slug / f"seed-{seed}"


def save(fitted: Fitted, models: str | Path) -> Path:
    """Store a fitted scorer in the folder `models`, and return its own folder."""
    folder = folder_of(models, fitted.name, fitted.seed)
    folder.mkdir(parents=True, exist_ok=True)
    fitted.scorer.save(folder)
    timing = {"training_seconds": round(fitted.seconds, 2)}
    (folder / TIMING).write_text(json.dumps(timing) + "\n", encoding="utf-8")
    # Write this file last. Without it, a folder counts as the remains of an interrupted attempt.
    text = json.dumps(fitted.description, indent=2, ensure_ascii=False) + "\n"
    (folder / DESCRIPTION).write_text(text, encoding="utf-8")
    return folder


def load(folder: str | Path, resources: Resources | None = None) -> Fitted:
    """Load a scorer from its own folder.

    Raises:
        SymboUQError: If there is none, it cannot be read, or it was calibrated with other
            resources.
    """
    path = Path(folder)
    try:
        stored = json.loads((path / DESCRIPTION).read_text(encoding="utf-8"))
        timing = json.loads((path / TIMING).read_text(encoding="utf-8"))
        if stored["format"] != FORMAT:
            raise SymboUQError(f"{path}: a scorer of format {stored['format']}, not {FORMAT}")
        kind = entry(stored["name"])
        calibrator = Calibrator.of(stored["calibrator"])
        seed, data, seconds = stored["seed"], stored["data"], timing["training_seconds"]
    except OSError as error:
        raise SymboUQError(f"{path} holds no fitted scorer: {error}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise SymboUQError(f"{path} holds no fitted scorer: {error!r}") from error
    scorer = kind.load(path, seed, resources or Resources())
    fitted = Fitted(scorer, seed, calibrator, data, seconds)
    for part in (*_RESOURCES, "form"):
        now, then = fitted.description.get(part), stored.get(part)
        if now != then:
            raise SymboUQError(f"{path}: calibrated with {part} {then!r}, not with {now!r}")
    return fitted


def kept(models: str | Path, names: Sequence[str] = ()) -> list[Path]:
    """Return the folders of stored scorers (all, or those in `names`), in the paper's order, then
    by seed.

    Raises:
        SymboUQError: If no scorers are stored, or a scorer in `names` is missing.
    """
    wanted = {entry(name).name for name in names}
    folders: list[Path] = []
    for name in SCORERS:
        if wanted and name not in wanted:
            continue
        files = folder_of(models, name, 0).parent.glob(f"seed-*/{DESCRIPTION}")
        seeds = sorted((file.parent for file in files), key=lambda path: int(path.name[5:]))
        if wanted and not seeds:
            raise SymboUQError(f"{models} holds no fitted {name}")
        folders += seeds
    if not folders:
        raise SymboUQError(f"{models} holds no fitted scorers")
    return folders
