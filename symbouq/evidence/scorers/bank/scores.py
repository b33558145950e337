"""Calibrated scores of traces, and the Parquet file that holds them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from symbouq.errors import SymboUQError, extra
from symbouq.evidence.scorers.bank.fitted import Fitted, calibrate, fault_of, load
from symbouq.evidence.scorers.bank.split import Split
from symbouq.evidence.scorers.calibration import Calibrator
from symbouq.evidence.scorers.settings import Resources
from symbouq.evidence.signals.cache import SignalsCache
from symbouq.evidence.signals.example import Example
from symbouq.io.output import replacing

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Score:
    """A row of the file: one scorer's score of one trace.

    Attributes:
        id: Id of the trace.
        method: Name of the scorer.
        seed: Seed of the scorer's fit.
        claims: Values in the scorer's orientation, one per claim; empty if the trace could not be
            read.
        score: Calibrated probability that the delivered answer is right, or None.
        reduction: How the values of the claims were combined into one value.
        tokens: One value per token, if requested and available.
        lacks: Description of what the trace lacks to be scored; empty if it lacks nothing.
    """

    id: str
    method: str
    seed: int
    claims: list[float] = field(default_factory=list)
    score: float | None = None
    reduction: str = ""
    tokens: list[float] = field(default_factory=list)
    lacks: str = ""


class Scored(NamedTuple):
    """A scorer's description (`Fitted.description`) and its scores for some traces."""

    description: dict[str, Any]
    rows: list[Score]


def scores(fitted: Fitted, examples: Sequence[Example], tokens: bool = False) -> Iterator[Score]:
    """Score the given traces in order. A trace without the necessary content (`Scorer.lacks`) gets
    no score.

    Raises:
        SymboUQError: If an example lacks an input that the scorer needs.
    """
    lacking = [fault_of(fitted.scorer, example) for example in examples]
    values = fitted.scorer.score(
        [e for e, fault in zip(examples, lacking, strict=True) if not fault]
    )
    scored = iter(zip(values, fitted.calibrator(values).tolist(), strict=True))
    for example, fault in zip(examples, lacking, strict=True):
        reduction = fitted.calibrator.reduction
        row = Score(example.id, fitted.name, fitted.seed, reduction=reduction, lacks=fault)
        if not fault:
            claims, score = next(scored)
            row = replace(row, claims=claims.tolist(), score=score)
            each = fitted.scorer.token_values(example) if tokens else None
            row = row if each is None else replace(row, tokens=each.tolist())
        yield row


class Scoring:
    """Stored scorers (see `kept`), ready to score the traces of a split, optionally token by token.

    If a validation split of the same dataset is given, the scorers are recalibrated on it.

    Raises:
        SymboUQError: If a scorer cannot be loaded, or the validation split has no labels or only
            one class.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        resources: Callable[[], Resources],
        split: Split,
        validation: Split | None = None,
        tokens: bool = False,
    ) -> None:
        self._tokens = tokens
        shared = resources()
        self._fitted = [load(folder, shared) for folder in folders]
        if validation is not None:
            labelled = validation.labelled()
            self._fitted = [
                replace(fitted, calibrator=calibrate(fitted.scorer, labelled))
                for fitted in self._fitted
            ]
        self._signals = SignalsCache(split.signals) if split.signals is not None else None

    def __call__(self, chunk: Sequence[Example]) -> list[Scored]:
        """Score the given traces with each scorer.

        Raises:
            SymboUQError: If a trace lacks an input that a scorer needs.
        """
        if self._signals is not None:
            chunk = [replace(one, signals=self._signals.signals(one.id)) for one in chunk]
        return [
            Scored(fitted.description, list(scores(fitted, chunk, self._tokens)))
            for fitted in self._fitted
        ]


def _schema() -> pa.Schema:
    with extra("fit"):
        import pyarrow as pa
    return pa.schema(
        {
            "id": pa.string(),
            "method": pa.string(),
            "seed": pa.int64(),
            "claims": pa.list_(pa.float64()),
            "score": pa.float64(),
            "reduction": pa.string(),
            "tokens": pa.list_(pa.float64()),
        }
    )


def write_scores(path: str | Path, parts: Iterable[Sequence[Scored]]) -> dict[str, int]:
    """Write scores as Parquet, scorer after scorer, with one row per trace, method and seed.

    The metadata contains the descriptions (`scorers`) and the reasons for missing scores
    (`lacking`). All parts must contain scores from the same scorers. Returns the number of rows for
    each scorer.
    """
    schema = _schema()
    import pyarrow as pa
    import pyarrow.parquet as pq

    described: list[dict[str, Any]] = []
    lacking: list[tuple[str, str, int, str]] = []
    tables: list[list[pa.Table]] = []
    for part in parts:
        described = [scored.description for scored in part]
        tables = tables or [[] for _ in part]
        for scored, of_scorer in zip(part, tables, strict=True):
            of_scorer.append(pa.Table.from_pylist([asdict(row) for row in scored.rows], schema))
            lacking += [(r.id, r.method, r.seed, r.lacks) for r in scored.rows if r.lacks]
    table = pa.concat_tables(chain([schema.empty_table()], *tables))
    metadata = {"scorers": json.dumps(described, ensure_ascii=False)}
    metadata["lacking"] = json.dumps(lacking, ensure_ascii=False)
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as stream:
        pq.write_table(table.replace_schema_metadata(metadata), stream)
    return {
        f"{one['name']}, seed {one['seed']}": sum(len(part) for part in of_scorer)
        for one, of_scorer in zip(described, tables, strict=True)
    }


def read_calibrators(path: str | Path) -> dict[tuple[str, int], Calibrator]:
    """Read the calibrators in a file of scores, by method and seed.

    Raises:
        SymboUQError: If the file has no scores.
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
    """Read the scores in a Parquet file.

    Raises:
        SymboUQError: If the file has no scores.
    """
    schema = _schema()
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        there = pq.read_schema(path).names
        table = pq.read_table(
            path, columns=[c for c in schema.names if c != "tokens" or c in there]
        )
        lacking = json.loads((table.schema.metadata or {}).get(b"lacking", b"[]"))
        told = {(identity, method, seed): fault for identity, method, seed, fault in lacking}
    except (OSError, pa.ArrowException, TypeError, ValueError) as error:
        raise SymboUQError(f"{path} holds no scores: {error}") from error
    rows = table.to_pylist()
    return [
        Score(**row, lacks=told.get((row["id"], row["method"], row["seed"]), "")) for row in rows
    ]
