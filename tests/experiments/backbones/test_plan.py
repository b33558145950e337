"""How a backbone is trained, unless told otherwise."""

from __future__ import annotations

from symbouq.experiments.backbones.plan import SIZES, Plan
from symbouq.experiments.config import TrainingConfig


def test_what_is_not_said_depends_on_what_is_trained() -> None:
    further, tiny = Plan("backbones/smollm2"), Plan(SIZES["tiny"])
    assert (tiny.length, tiny.peak) == (3000, 0.005)
    assert (further.length, further.peak) == (TrainingConfig().steps, TrainingConfig().rate)
    assert further.hops == TrainingConfig().hops
    assert (Plan("m", 7, rate=0.5).length, Plan("m", rate=0.5).peak) == (7, 0.5)


def test_heads_are_as_wide_as_vllm_needs() -> None:
    assert {size.width // size.heads for size in SIZES.values()} == {32}
