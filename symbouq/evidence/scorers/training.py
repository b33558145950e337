"""How the learned scorers are trained, kept and applied (appendix Training and Calibration).

The loss is the mean of two terms of the same weight: binary cross-entropy over the labels of the
reasoning claims, and over the labels of the traces, whose logit is the conclusion's. Each is
balanced within itself: the weight of a class is the inverse of its share of the
training labels, halved. A term whose labels are missing or of one class is left out, which is an
error for the traces'. The network kept is that of the epoch with the largest AUROC of the
conclusion on source validation, the first among equals.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from symbouq.errors import SymboUQError, missing_extra
from symbouq.evidence.scorers.base import (
    SCORERS,
    Labelled,
    Need,
    Needs,
    Orientation,
    readable,
    require,
)
from symbouq.evidence.scorers.networks import NETWORKS, Batch, Network, Standardise
from symbouq.evidence.scorers.reduction import auroc, one_class
from symbouq.evidence.signals.example import Example
from symbouq.records.features import CLAIM_FEATURES, TRACE_FEATURES

try:
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file, save_file
    from torch import Tensor
    from torch.nn.functional import binary_cross_entropy_with_logits
except ImportError as error:
    raise missing_extra("models", error) from error

if TYPE_CHECKING:
    from symbouq.evidence.scorers.base import Values

FORMAT = 2
"""Version of a saved model."""
WEIGHTS, DESCRIPTION = "model.safetensors", "model.json"
"""The files of a saved model."""

T = TypeVar("T")

Loss = Literal["balanced", "bce"]


@dataclass(frozen=True)
class Settings:
    """How a network is trained; the defaults are the paper's where it names one.

    Attributes:
        width: Hidden width, a multiple of 4.
        loss: `balanced`, or `bce` without weights of classes.
        learning_rate: Of AdamW, whose other settings are PyTorch's defaults.
        epochs: Passes over the training split.
        batch: Traces in a step.
        seed: Of initial weights, dropout and the order of traces. On a CPU, equal seeds give
            equal bits for equal data, settings and number of threads.
        device: Where it is trained and applied, as PyTorch names it.
    """

    width: int = 256
    loss: Loss = "balanced"
    learning_rate: float = 2e-4
    epochs: int = 30
    batch: int = 32
    seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.width < 4 or self.width % 4:
            raise SymboUQError(f"hidden width {self.width}: it is a positive multiple of 4")
        if self.loss not in ("balanced", "bce"):
            raise SymboUQError(f"loss {self.loss!r}: it is balanced or bce")
        if min(self.epochs, self.batch) < 1 or not self.learning_rate > 0:
            raise SymboUQError("epochs, batch and learning rate are positive")


@dataclass(frozen=True)
class Epoch:
    """What one pass over the training split came to.

    Attributes:
        loss: Mean over its steps.
        auroc: Of the conclusion's logit on validation, after it.
    """

    loss: float
    auroc: float


class Learned:
    """A learned scorer; its values are logits of correctness.

    Args:
        name: Its name in the paper.
        settings: How it is trained.

    Attributes:
        history: One entry per epoch, once it is fitted.
        network: The network, once it is fitted.
    """

    orientation: Orientation = "correctness"

    def __init__(self, name: str, settings: Settings | None = None) -> None:
        self.name = name
        self.settings = settings or Settings()
        if name not in NETWORKS:
            raise SymboUQError(f"{name} is not learned; learned are: {', '.join(NETWORKS)}")
        self.needs: Needs = SCORERS[name].needs
        self.history: tuple[Epoch, ...] = ()
        self.network: Network | None = None
        self._tokens = 0
        self._contexts = 1

    # Fitting -------------------------------------------------------------------------

    def fit(
        self,
        train: Sequence[Labelled],
        validation: Sequence[Labelled],
        progress: Callable[[Epoch], None] | None = None,
    ) -> None:
        """Trains the network and keeps the best epoch's.

        Args:
            train: Source data to learn from; traces without any label, or with nothing to
                read, are left out.
            validation: Source data that selects the epoch; traces without a label of the
                conclusion, or with nothing to read, are left out.
            progress: Told of every epoch.

        Raises:
            SymboUQError: If a split is empty or lacks a class, an example lacks what the scorer
                needs, or memory runs out.
        """
        train = [item for item in train if readable(item.example) and set(item.labels) != {None}]
        validation = [
            item for item in validation if readable(item.example) and item.correct is not None
        ]
        _both_classes(f"{self.name}: training", train)
        _both_classes(f"{self.name}: validation", validation)
        examples = [item.example for item in train]
        require(examples, self.needs, self.name)
        require([item.example for item in validation], self.needs, self.name)
        self._tokens = self._width(examples[0])
        self._contexts = _contexts(examples[0]) if "audit" in self.needs else 1
        settings = self.settings
        weights = _Weights.of(train, settings.loss)
        truth = [item.correct for item in validation]
        history: list[Epoch] = []
        best: dict[str, Tensor] = {}
        with torch.random.fork_rng():
            torch.manual_seed(settings.seed)
            network = NETWORKS[self.name](self._tokens, settings.width, self._contexts)
            for module in network.modules():
                if isinstance(module, Standardise):
                    module.fit(map(self._collated, _chunks(examples, settings.batch)))
            network.to(settings.device)
            optimiser = torch.optim.AdamW(network.parameters(), lr=settings.learning_rate)
            for _ in range(settings.epochs):
                loss = self._epoch(network, optimiser, train, weights)
                logits = self._scored(network, [item.example for item in validation])
                conclusions = np.array([claims[-1] for claims in logits])
                if not math.isfinite(loss) or not np.isfinite(conclusions).all():
                    raise SymboUQError(
                        f"{self.name}: training diverged; try a smaller learning rate"
                    )
                reached = auroc(conclusions, truth)
                if not history or reached > max(epoch.auroc for epoch in history):
                    best = {key: value.clone() for key, value in network.state_dict().items()}
                history.append(Epoch(loss, reached))
                if progress is not None:
                    progress(history[-1])
        network.load_state_dict(best)
        self.network, self.history = network, tuple(history)

    def _epoch(
        self,
        network: Network,
        optimiser: torch.optim.Optimizer,
        train: Sequence[Labelled],
        weights: _Weights,
    ) -> float:
        network.train()
        order = torch.randperm(len(train)).tolist()
        losses = []
        for chosen in _chunks([train[n] for n in order], self.settings.batch):
            batch = self._collated([item.example for item in chosen]).to(self.settings.device)
            try:
                loss = weights.loss(network(batch), [item.labels for item in chosen])
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
            except torch.OutOfMemoryError as error:
                raise SymboUQError(
                    f"{self.name}: out of memory with {len(chosen)} traces in a step; "
                    "train with a smaller batch"
                ) from error
            losses.append(loss.item())
        return sum(losses) / len(losses)

    # Scoring -------------------------------------------------------------------------

    def score(self, examples: Sequence[Example]) -> list[Values]:
        """The logits of each trace's claims.

        Raises:
            SymboUQError: If an example lacks what the scorer needs or has features of other
                widths than those trained on, nothing was fitted, or memory runs out.
        """
        network = self._fitted()
        require(examples, self.needs, self.name)
        return self._scored(network, examples)

    def _scored(self, network: Network, examples: Sequence[Example]) -> list[Values]:
        found: list[Values] = [np.empty(0)] * len(examples)
        for chosen in _like_length(examples, self.settings.batch):
            logits = self._logits(network, self._collated([examples[n] for n in chosen]))
            for n, values in zip(chosen, logits, strict=True):
                found[n] = values
        return found

    def _logits(self, network: Network, batch: Batch) -> list[Values]:
        network.eval()
        try:
            with torch.inference_mode():
                logits = network(batch.to(self.settings.device)).cpu().double()
        except torch.OutOfMemoryError as error:
            half = len(batch.claims) // 2
            if not half:
                raise SymboUQError(f"{self.name}: out of memory with a single trace") from error
            return [*self._logits(network, batch[:half]), *self._logits(network, batch[half:])]
        return [row[there].numpy() for row, there in zip(logits, batch.claims, strict=True)]

    def _fitted(self) -> Network:
        if self.network is None:
            raise SymboUQError(f"{self.name} is not trained: fit it or load a model")
        return self.network

    def _width(self, example: Example) -> int:
        return _features(example) if "tokens" in self.needs else 0

    def _collated(self, examples: Sequence[Example]) -> Batch:
        self._check_widths(examples)
        return collate(examples, "tokens" in self.needs, "audit" in self.needs)

    def _check_widths(self, examples: Sequence[Example]) -> None:
        for example in examples if "audit" in self.needs else ():
            if _contexts(example) != self._contexts:
                raise SymboUQError(
                    f"trace {example.id}: {self.name} was trained on audits under {self._contexts} "
                    f"context(s), its audit has {_contexts(example)}"
                )
        for example in examples if "tokens" in self.needs else ():
            if _features(example) != self._tokens:
                raise SymboUQError(
                    f"trace {example.id}: {self.name} was trained on tokens of {self._tokens} "
                    f"features, these have {_features(example)}"
                )

    # Keeping -------------------------------------------------------------------------

    def save(self, folder: str | Path) -> None:
        """Writes the model: `model.safetensors` and `model.json`.

        Args:
            folder: Made where it is not there.

        Raises:
            SymboUQError: If nothing was fitted.
        """
        network = self._fitted()
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        weights = {key: value.contiguous().cpu() for key, value in network.state_dict().items()}
        save_file(weights, path / WEIGHTS)
        description = {
            "format": FORMAT,
            "name": self.name,
            "settings": asdict(self.settings),
            "token_features": self._tokens,
            "contexts": self._contexts,
            "parameters": network.parameter_count,
            "torch": torch.__version__,
            "history": [asdict(epoch) for epoch in self.history],
        }
        text = json.dumps(description, indent=2) + "\n"
        (path / DESCRIPTION).write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path, device: str = "cpu") -> Learned:
        """Reads a model that `save` wrote.

        Args:
            folder: Where it lies.
            device: Where it is applied.

        Raises:
            SymboUQError: If there is none, or it cannot be read.
        """
        path = Path(folder)
        try:
            given = json.loads((path / DESCRIPTION).read_text(encoding="utf-8"))
            if given["format"] != FORMAT:
                raise SymboUQError(f"{path}: a model of format {given['format']}, not {FORMAT}")
            scorer = cls(given["name"], Settings(**given["settings"] | {"device": device}))
            scorer._tokens = given["token_features"]
            scorer.history = tuple(Epoch(**epoch) for epoch in given["history"])
            scorer._contexts = given["contexts"]
            network = NETWORKS[scorer.name](scorer._tokens, scorer.settings.width, scorer._contexts)
            network.load_state_dict(load_file(path / WEIGHTS))
        except FileNotFoundError as error:
            raise SymboUQError(f"{path} holds no trained scorer: {error.filename}") from error
        except (KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
            raise SymboUQError(f"{path} holds no trained scorer: {error}") from error
        scorer.network = network.to(device)
        return scorer


def score_together(scorers: Sequence[Learned], examples: Sequence[Example]) -> list[list[Values]]:
    """What each of some scorers says, with the traces' features put together only once.

    Args:
        scorers: Trained on tokens of the same features.
        examples: Traces.

    Raises:
        SymboUQError: As `Learned.score`.
    """
    for scorer in scorers:
        require(examples, scorer.needs, scorer.name)
    needs = frozenset[Need]().union(*(scorer.needs for scorer in scorers))
    size = min(scorer.settings.batch for scorer in scorers)
    found: list[list[Values]] = [[np.empty(0)] * len(examples) for _ in scorers]
    for chosen in _like_length(examples, size):
        given = [examples[n] for n in chosen]
        for scorer in scorers:
            scorer._check_widths(given)
        batch = collate(given, "tokens" in needs, "audit" in needs)
        for scorer, values in zip(scorers, found, strict=True):
            logits = scorer._logits(scorer._fitted(), batch)
            for n, of_claims in zip(chosen, logits, strict=True):
                values[n] = of_claims
    return found


def _maker(name: str) -> Callable[..., Learned]:
    def make(**settings: Any) -> Learned:
        return Learned(name, Settings(**settings))

    make.__doc__ = f"{name}, with `Settings` by name."
    return make


factoscope = _maker("Factoscope")
uhead = _maker("UHead")
neural_seq = _maker("Neural-Seq")
mlp = _maker("MLP")
constraint_only = _maker("Constraint-Only")
constraint = _maker("Constraint")


# The loss ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Weights:
    """The weights of wrong and right labels of reasoning claims and of traces; None where they
    are left out.
    """

    claims: tuple[float, float] | None
    traces: tuple[float, float] | None

    @classmethod
    def of(cls, train: Sequence[Labelled], loss: Loss) -> _Weights:
        if loss == "bce":
            return cls((1.0, 1.0), (1.0, 1.0))
        claims = [label for item in train for label in item.labels[:-1]]
        return cls(_balance(claims), _balance([item.correct for item in train]))

    def loss(self, logits: Tensor, labels: Sequence[Sequence[int | None]]) -> Tensor:
        """The mean of the terms that have labels in a batch."""
        claims: list[tuple[int, int, int]] = []
        traces: list[tuple[int, int, int]] = []
        for n, given in enumerate(labels):
            for k, label in enumerate(given):
                if label is not None:
                    (traces if k == len(given) - 1 else claims).append((n, k, label))
        terms = [
            _term(logits, chosen, weights)
            for chosen, weights in ((claims, self.claims), (traces, self.traces))
            if chosen and weights is not None
        ]
        return torch.stack(terms).mean() if terms else logits.sum() * 0


def _balance(labels: Sequence[int | None]) -> tuple[float, float] | None:
    """Weights of wrong and right that give both the same sum and a mean of 1."""
    wrong, right = labels.count(0), labels.count(1)
    if not wrong or not right:
        return None
    return (wrong + right) / (2 * wrong), (wrong + right) / (2 * right)


def _term(
    logits: Tensor, chosen: Sequence[tuple[int, int, int]], weights: tuple[float, float]
) -> Tensor:
    rows, columns, labels = zip(*chosen, strict=True)
    targets = torch.tensor(labels, dtype=logits.dtype, device=logits.device)
    scale = torch.tensor(weights, dtype=logits.dtype, device=logits.device)[targets.long()]
    return binary_cross_entropy_with_logits(logits[list(rows), list(columns)], targets, scale)


def _both_classes(what: str, items: Sequence[Labelled]) -> None:
    if not items:
        raise SymboUQError(f"{what} needs labelled traces, found none")
    labels = [item.correct for item in items]
    if not labels.count(0) or not labels.count(1):
        raise SymboUQError(one_class(what, labels.count(1), labels.count(0)))


# Batches -------------------------------------------------------------------------------


def _chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _like_length(examples: Sequence[Example], size: int) -> Iterator[Sequence[int]]:
    """Numbers of traces with claims, those of like length together, for little padding."""
    there = [n for n, example in enumerate(examples) if example.claims]
    return _chunks(sorted(there, key=lambda n: _length(examples[n])), size)


def _length(example: Example) -> int:
    return len(example.signals.logprobs) if example.signals is not None else 0


def _features(example: Example) -> int:
    """How many features a token has."""
    signals = example.signals
    if signals is None:
        return 0
    return int(sum(part.shape[1] for part in (signals.hidden, signals.top, signals.lookback)))


def _contexts(example: Example) -> int:
    """Under how many contexts the features of its audit are given, side by side."""
    return len(example.audit["features"]["trace"]) // len(TRACE_FEATURES) if example.audit else 1


def collate(examples: Sequence[Example], tokens: bool = True, audit: bool = True) -> Batch:
    """Traces as one padded batch.

    Args:
        examples: Traces that have what is read of them, all with at least one claim.
        tokens: Whether their signals are read.
        audit: Whether their audits are read.

    Raises:
        SymboUQError: If an audit has other features than this version's.
    """
    count = len(examples)
    most = max(len(example.claims) for example in examples)
    length = max(_length(example) for example in examples) if tokens else 1
    width = _features(examples[0]) if tokens else 0
    features = np.zeros((count, length, width), np.float32)
    present = np.zeros((count, length), bool)
    spans = np.zeros((count, most, length), bool)
    claims = np.zeros((count, most), bool)
    contexts = _contexts(examples[0]) if audit else 1
    of_claims = np.zeros((count, most, contexts * len(CLAIM_FEATURES)), np.float32)
    of_trace = np.zeros((count, contexts * len(TRACE_FEATURES)), np.float32)
    for n, example in enumerate(examples):
        claims[n, : len(example.claims)] = True
        signals = example.signals
        if tokens and signals is not None:
            size = len(signals.logprobs)
            parts = (signals.hidden, signals.top, signals.lookback)
            np.concatenate(parts, axis=1, out=features[n, :size], casting="same_kind")
            present[n, :size] = True
            for k, (start, stop) in enumerate(signals.spans):
                spans[n, k, slice(start, stop) if stop > start else slice(size)] = True
        if audit and example.audit is not None:
            given = example.audit["features"]
            try:
                of_claims[n, : len(example.claims)] = given["claims"]
                of_trace[n] = given["trace"]
            except ValueError as error:
                raise SymboUQError(
                    f"trace {example.id}: its audit has other features than this version's"
                ) from error
    arrays = (features, present, spans, claims, of_claims, of_trace)
    return Batch(*map(torch.from_numpy, arrays))
