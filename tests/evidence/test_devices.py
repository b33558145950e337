"""What a device can do."""

from __future__ import annotations

import pytest
from helpers.extras import need_models

from symbouq.evidence.devices import has_bfloat16


@pytest.mark.parametrize(
    ("capability", "expected"), [("AVX512", True), ("AVX2", False), ("DEFAULT", False)]
)
def test_a_processor_without_wide_registers_keeps_to_float32(
    capability: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_models()
    import torch

    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    assert has_bfloat16("cpu") is expected
    assert has_bfloat16("cuda:1")
