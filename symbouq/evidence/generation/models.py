"""Model folders: location, identity, tokenizer and network."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symbouq.errors import SymboUQError
from symbouq.evidence.devices import brief
from symbouq.io.hashes import file_hash

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_FILES = ("*.json", "*.safetensors", "*.bin", "*.model", "*.jinja", "*.txt")
"""Patterns for the files that make up a model."""
_HUB_ID = re.compile(r"[\w.\-]+/[\w.\-]+")


@dataclass(frozen=True)
class Model:
    """A model's folder. `revision` is its commit on the hub; it is empty for a local folder."""

    name: str
    folder: Path
    revision: str = ""

    @cached_property
    def hash(self) -> str:
        """Hexadecimal SHA-256 of the configuration, tokenizer and weights."""
        whole = hashlib.sha256()
        for file in sorted({file for kind in _FILES for file in self.folder.glob(kind)}):
            whole.update(f"{file.name} {file_hash(file)}\n".encode())
        return whole.hexdigest()


def find_model(name: str) -> Model:
    """Find a model by folder, or by hub id with an optional branch, tag or commit after `@`.

    Files fetched earlier are not fetched again.

    Raises:
        SymboUQError: If the model does not exist or cannot be fetched.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise SymboUQError("is no model's folder: it has no config.json", name)
        return Model(folder.resolve().name, folder)
    identity, _, revision = name.partition("@")
    if folder.exists() or not _HUB_ID.fullmatch(identity):
        raise SymboUQError(f"there is no model at {name}; give a folder or a hub id")
    try:
        fetched = _fetched(identity, revision)
    except Exception as error:  # the library's errors have no common base class
        raise SymboUQError(
            f"there is no folder {name}, and it cannot be fetched from the hub: {brief(error)}"
        ) from error
    return Model(identity, Path(fetched), Path(fetched).name)


def folder_of(name: str) -> Path | None:
    """Local folder of the model with the given path or hub id; None if it was never fetched."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    identity, _, revision = name.partition("@")
    try:
        return Path(_fetched(identity, revision, here=True))
    except (OSError, ValueError):  # it was not fetched, or the name is not a valid model name
        return None


def _fetched(identity: str, revision: str, here: bool = False) -> str:
    """Return the folder of a hub model. If `here`, use only a local copy; otherwise fetch the
    model.
    """
    from huggingface_hub import snapshot_download

    # Some repositories contain the same weights twice. Others contain a second tokenizer, without a
    # chat template, that transformers would prefer.
    return snapshot_download(
        identity,
        revision=revision or None,
        allow_patterns=list(_FILES),
        ignore_patterns=["consol*", "tekken.json"],
        local_files_only=here,
    )


def parameters(folder: Path) -> int:
    """Count the parameters in a folder's `safetensors` files. Return 0 if there are no such
    files.
    """
    from safetensors import safe_open

    number = 0
    for file in sorted(folder.glob("model*.safetensors")):
        with safe_open(file, "np") as tensors:
            names = tensors.keys()
            number += sum(math.prod(tensors.get_slice(name).get_shape()) for name in names)
    return number


def load_tokenizer(model: Model) -> PreTrainedTokenizerBase:
    """Load a model's tokenizer.

    Raises:
        SymboUQError: If it cannot be loaded.
    """
    from transformers import AutoTokenizer

    with unreadable(model, "tokenizer"):
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(model.folder)
        return tokenizer


def load_network(
    model: Model, device: str, dtype: str | None = None, **settings: Any
) -> PreTrainedModel:
    """Load a model's network for inference. `settings` are passed on to `from_pretrained`.

    The default dtype is float32 on a CPU and the model's own dtype on a GPU.

    Raises:
        SymboUQError: If it cannot be loaded.
    """
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    dtype = dtype or ("float32" if device == "cpu" else "auto")
    with unreadable(model, "model"):
        loaded: Any = AutoModelForCausalLM.from_pretrained(model.folder, dtype=dtype, **settings)
        network: PreTrainedModel = loaded.to(device).eval()
        return network


@contextmanager
def unreadable(model: Model, part: str) -> Iterator[None]:
    """Turn any error raised while loading a part of a model into a `SymboUQError`.

    Raises:
        SymboUQError: If a library raised an error.
    """
    try:
        yield
    except Exception as error:  # on broken files, libraries raise errors of all kinds
        raise SymboUQError(
            f"the {part} cannot be loaded: {brief(error)}", str(model.folder)
        ) from error


def context_length(config: Any) -> int | None:
    """Maximum number of tokens of prompt and text together, or None if `config` does not specify
    it.
    """
    length = getattr(config.get_text_config(), "max_position_embeddings", None)
    return length if isinstance(length, int) else None
