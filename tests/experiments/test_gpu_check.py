"""The script that measures the rates of a machine, with a tiny model."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner
from helpers.extras import need_models

need_models()

from gpu_check import main  # noqa: E402

from symbouq.experiments.check import read_rates  # noqa: E402


def test_a_tiny_model_is_measured(tmp_path: Path) -> None:
    file = tmp_path / "rates.json"
    done = CliRunner().invoke(main, ["--to", str(file), "--tiny"])
    assert done.exit_code == 0, done.output
    rates = read_rates(file)
    (run,) = [run for run in rates.runs if run.engine == "transformers"]
    # Two layers: attention 2 x 64 x 16 x (4 + 2), 3 x 64 x 128, two norms; 2 x 1,024 x 64, a norm.
    assert run.parameters == 2 * (12_288 + 24_576 + 128) + 131_072 + 64
    assert run.tokens_per_second > 0
    assert run.signals_per_second
    assert {"torch", "transformers"} <= rates.versions.keys()
