"""Hyperparameters of networks, and the models used by scorers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from symbouq.errors import SymboUQError

if TYPE_CHECKING:
    from symbouq.evidence.scorers.backbone import TransformersBackbone
    from symbouq.evidence.scorers.equivalence import Equivalence

LossName = Literal["balanced", "bce"]

ClaimProbability = Literal["alternatives", "likelihood"]
"""Forms of CCP: using the alternatives to each token, or only the probabilities of the generated
tokens."""

SelfCheck = Literal["support", "contradiction"]
"""Forms of SelfCheckGPT: based on the samples that support a claim, or on those that contradict
it."""


@dataclass(frozen=True)
class Settings:
    """Hyperparameters of training. The defaults follow the paper where it specifies a value.

    Attributes:
        width: Hidden width, a multiple of 4.
        loss: `balanced`, or `bce` without class weights.
        learning_rate: Learning rate of AdamW. Its other settings are PyTorch's defaults.
        epochs: Passes over the training split.
        batch: Traces per step.
        seed: Seed for initial weights, dropout and the order of traces. On a CPU, the same seed,
            data, settings and number of threads give identical results.
        device: PyTorch's name of the device.
    """

    width: int = 256
    loss: LossName = "balanced"
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
class Resources:
    """Models and devices that scorers use in addition to the examples.

    Attributes:
        equivalence: Decides whether sampled answers have the same meaning; None: the auditor.
        backbone: Model that wrote the traces, for P(True).
        device: Device of networks.
        ccp: Form of CCP.
        selfcheck: Form of SelfCheckGPT.
    """

    equivalence: Equivalence | None = None
    backbone: TransformersBackbone | None = None
    device: str = "cpu"
    ccp: ClaimProbability = "alternatives"
    selfcheck: SelfCheck = "support"
