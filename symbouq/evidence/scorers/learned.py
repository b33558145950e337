"""Network scorers: training, storage and application (appendix Training and Calibration).

Training keeps the epoch with the largest AUROC of the conclusion logits on source validation, or
the first such epoch if several tie. PyTorch is imported only when a network is created.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.base import Labelled, Scorer
from symbouq.evidence.scorers.batches import (
    Batch,
    TokenStore,
    collate,
    context_count,
    token_count,
    token_width,
)
from symbouq.evidence.scorers.needs import Needs, readable, require
from symbouq.evidence.scorers.reduction import auroc, one_class
from symbouq.evidence.scorers.settings import Resources, Settings
from symbouq.evidence.signals.example import Example
from symbouq.metrics import Values

if TYPE_CHECKING:
    import torch

    from symbouq.evidence.scorers.networks import Loss, Network

FORMAT = 2
"""Format version of a saved model."""
WEIGHTS, DESCRIPTION = "model.safetensors", "model.json"
"""Files of a saved model."""

PROBE: Needs = frozenset({"tokens", "hidden", "lookback"})
"""Inputs needed by a network that reads the backbone's signals."""

T = TypeVar("T")


@dataclass(frozen=True)
class Epoch:
    """Mean loss over one pass of the training split, and the AUROC of the conclusion's logit on
    validation after this pass.
    """

    loss: float
    auroc: float


class Learned(Scorer):
    """A scorer that is a network. Its values are logits of correctness.

    Attributes:
        history: One entry per epoch, after fitting.
        network: The network, after fitting.
    """

    orientation = "correctness"
    trained = True
    seeded = True

    def __init__(self, settings: Settings | None = None) -> None:
        from symbouq.evidence.scorers import networks  # noqa: F401  # checks the extra

        self.settings = settings or Settings()
        self.history: tuple[Epoch, ...] = ()
        self.network: Network | None = None
        self._tokens = 0
        self._contexts = 1

    @classmethod
    def make(cls, seed: int, settings: Settings | None, resources: Resources) -> Self:
        """Create a scorer with the given seed, on the device given by the resources."""
        return cls(replace(settings or Settings(), seed=seed, device=resources.device))

    def build(self, tokens: int, hidden: int, contexts: int = 1) -> Network:
        """Build the network before training.

        Args:
            tokens: Number of token features; 0 if tokens are not used.
            hidden: W, a multiple of the number of heads.
            contexts: C, the number of contexts in the auditor's features.
        """
        raise NotImplementedError

    # Fitting -------------------------------------------------------------------------

    def fit(self, train: Sequence[Labelled], validation: Sequence[Labelled]) -> None:
        """Train the network and keep the best epoch.

        Unreadable traces, training traces without any label, and validation traces without a label
        for the conclusion are omitted.

        Raises:
            SymboUQError: If a split is empty or lacks a class, an example lacks an input, or memory
                runs out.
        """
        import torch

        from symbouq.evidence.scorers.networks import Loss, Standardise

        train = [item for item in train if readable(item.example) and set(item.labels) != {None}]
        validation = [
            item for item in validation if readable(item.example) and item.correct is not None
        ]
        _both_classes(f"{self.name}: training", train)
        _both_classes(f"{self.name}: validation", validation)
        examples = [item.example for item in train]
        held_out = [item.example for item in validation]
        require([*examples, *held_out], self.needs, self.name)
        settings = self.settings
        self._tokens, self._contexts = self._widths(examples[0])
        loss = Loss.balanced(train) if settings.loss == "balanced" else Loss()
        history: list[Epoch] = []
        best: dict[str, torch.Tensor] = {}
        with torch.random.fork_rng():
            torch.manual_seed(settings.seed)
            network = self.build(self._tokens, settings.width, self._contexts)
            for module in network.modules():
                if isinstance(module, Standardise):
                    module.fit(map(self._collated, _chunks(examples, settings.batch)))
            network.to(settings.device)
            optimiser = torch.optim.AdamW(network.parameters(), lr=settings.learning_rate)
            kept = "tokens" in self.needs and TokenStore.fits(examples, settings.device)
            store = TokenStore(examples, settings.device) if kept else None
            for _ in range(settings.epochs):
                mean_loss = self._epoch(network, optimiser, train, loss, store)
                scored = _scored([(self, network)], held_out)[0]
                conclusions = np.array([claims[-1] for claims in scored])
                if not math.isfinite(mean_loss) or not np.isfinite(conclusions).all():
                    raise SymboUQError(
                        f"{self.name}: training diverged; try a smaller learning rate"
                    )
                area = auroc(conclusions, [item.correct for item in validation])
                if not history or area > max(epoch.auroc for epoch in history):
                    best = {key: value.clone() for key, value in network.state_dict().items()}
                history.append(Epoch(mean_loss, area))
        network.load_state_dict(best)
        self.network, self.history = network, tuple(history)

    def _epoch(
        self,
        network: Network,
        optimiser: torch.optim.Optimizer,
        train: Sequence[Labelled],
        loss: Loss,
        store: TokenStore | None,
    ) -> float:
        """Train for one pass, and return the mean loss over its steps."""
        import torch

        network.train()
        order = torch.randperm(len(train)).tolist()
        losses = []
        for numbers in _chunks(order, self.settings.batch):
            chosen = [train[n] for n in numbers]
            batch = self._collated([item.example for item in chosen], store, numbers)
            batch = batch.to(self.settings.device)
            try:
                value = loss(network(batch), [item.labels for item in chosen])
                optimiser.zero_grad()
                value.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
            except torch.OutOfMemoryError as error:
                raise SymboUQError(
                    f"{self.name}: out of memory with {len(chosen)} traces in a step; "
                    "train with a smaller batch"
                ) from error
            losses.append(value.item())
        return sum(losses) / len(losses)

    # Scoring -------------------------------------------------------------------------

    def score(self, examples: Sequence[Example]) -> list[Values]:
        """Compute the logits of each trace's claims.

        Raises:
            SymboUQError: If an example lacks an input or has other feature widths than the training
                data, the scorer was not fitted, or memory runs out.
        """
        (scores,) = score_together([self], examples)
        return scores

    def _logits(self, network: Network, batch: Batch) -> list[Values]:
        import torch

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

    def _collated(
        self,
        examples: Sequence[Example],
        store: TokenStore | None = None,
        numbers: Sequence[int] = (),
    ) -> Batch:
        self._check_widths(examples)
        return collate(examples, "tokens" in self.needs, "audit" in self.needs, store, numbers)

    def _widths(self, example: Example) -> tuple[int, int]:
        """Return the number of token features and the number of audit contexts that the scorer uses
        from an example.
        """
        tokens = token_width(example) if "tokens" in self.needs else 0
        return tokens, context_count(example) if "audit" in self.needs else 1

    def _check_widths(self, examples: Sequence[Example]) -> None:
        for example in examples:
            tokens, contexts = self._widths(example)
            if contexts != self._contexts:
                raise SymboUQError(
                    f"trace {example.id}: {self.name} was trained on audits under {self._contexts} "
                    f"context(s), its audit has {contexts}"
                )
            if tokens != self._tokens:
                raise SymboUQError(
                    f"trace {example.id}: {self.name} was trained on tokens of {self._tokens} "
                    f"features, these have {tokens}"
                )

    # Keeping -------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Save the model: `model.safetensors` and `model.json`.

        Raises:
            SymboUQError: If the scorer was not fitted.
        """
        import torch
        from safetensors.torch import save_file

        network = self._fitted()
        weights = {key: value.contiguous().cpu() for key, value in network.state_dict().items()}
        save_file(weights, folder / WEIGHTS)
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
        (folder / DESCRIPTION).write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, seed: int = 0, resources: Resources | None = None) -> Self:
        """Load a saved model. The seed is the one stored with the model.

        Raises:
            SymboUQError: If there is no model, or it cannot be read.
        """
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        device = (resources or Resources()).device
        try:
            model = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
            if model["format"] != FORMAT:
                raise SymboUQError(f"{folder}: a model of format {model['format']}, not {FORMAT}")
            if model["name"] != cls.name:
                raise SymboUQError(f"{folder} holds a model of {model['name']}, not of {cls.name}")
            scorer = cls(Settings(**model["settings"] | {"device": device}))
            scorer._tokens, scorer._contexts = model["token_features"], model["contexts"]
            scorer.history = tuple(Epoch(**epoch) for epoch in model["history"])
            network = scorer.build(scorer._tokens, scorer.settings.width, scorer._contexts)
            network.load_state_dict(load_file(folder / WEIGHTS))
        except FileNotFoundError as error:
            raise SymboUQError(f"{folder} holds no trained scorer: {error.filename}") from error
        except (KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
            raise SymboUQError(f"{folder} holds no trained scorer: {error}") from error
        scorer.network = network.to(device)
        return scorer


def score_together(scorers: Sequence[Learned], examples: Sequence[Example]) -> list[list[Values]]:
    """Score traces with several scorers. Token features that they share are collated only once.

    Raises:
        SymboUQError: As in `Learned.score`.
    """
    networks = [(scorer, scorer._fitted()) for scorer in scorers]
    for scorer in scorers:
        require(examples, scorer.needs, scorer.name)
    return _scored(networks, examples)


def _scored(
    networks: Sequence[tuple[Learned, Network]], examples: Sequence[Example]
) -> list[list[Values]]:
    needs = frozenset().union(*(scorer.needs for scorer, _ in networks))
    scores = [[np.empty(0)] * len(examples) for _ in networks]
    for chosen in _of_like_length(examples, min(s.settings.batch for s, _ in networks)):
        together = [examples[n] for n in chosen]
        for scorer, _ in networks:
            scorer._check_widths(together)
        batch = collate(together, "tokens" in needs, "audit" in needs)
        for (scorer, network), own in zip(networks, scores, strict=True):
            for n, values in zip(chosen, scorer._logits(network, batch), strict=True):
                own[n] = values
    return scores


def _both_classes(what: str, items: Sequence[Labelled]) -> None:
    if not items:
        raise SymboUQError(f"{what} needs labelled traces, found none")
    labels = [item.correct for item in items]
    if not labels.count(0) or not labels.count(1):
        raise SymboUQError(one_class(what, labels.count(1), labels.count(0)))


def _chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _of_like_length(examples: Sequence[Example], size: int) -> Iterator[Sequence[int]]:
    """Group traces that have claims into batches of similar length, to limit padding. Yield the
    trace numbers of each batch.
    """
    there = (n for n, example in enumerate(examples) if example.claims)
    return _chunks(sorted(there, key=lambda n: token_count(examples[n])), size)
