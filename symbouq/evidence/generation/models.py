"""Folders of models: where one lies, what identifies it, its tokenizer and its network."""

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
"""Files that a model consists of."""
_HUB_ID = re.compile(r"[\w.\-]+/[\w.\-]+")


@dataclass(frozen=True)
class Model:
    """A model's folder.

    Attributes:
        name: The folder's name, or the id on the hub.
        folder: Where it lies.
        revision: The commit on the hub that it is of; empty for a folder.
    """

    name: str
    folder: Path
    revision: str = ""

    @cached_property
    def hash(self) -> str:
        """SHA-256 over configuration, tokenizer and weights, as hexadecimal digits."""
        whole = hashlib.sha256()
        for file in sorted({file for kind in _FILES for file in self.folder.glob(kind)}):
            whole.update(f"{file.name} {file_hash(file)}\n".encode())
        return whole.hexdigest()


def find_model(name: str) -> Model:
    """The model that a folder or a hub id names.

    Args:
        name: A folder in the layout of the Hugging Face hub, or an id there, with a branch, a
            tag or a commit after `@` where that matters; what was fetched before is used as it
            is.

    Raises:
        SymboUQError: If there is none, or it cannot be fetched.
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
    except Exception as error:  # the library's errors share no base class
        raise SymboUQError(
            f"there is no folder {name}, and it cannot be fetched from the hub: {brief(error)}"
        ) from error
    return Model(identity, Path(fetched), Path(fetched).name)


def folder_of(name: str) -> Path | None:
    """The folder of a model that is on this machine, for a folder or a hub id; None of one that was
    never fetched.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    identity, _, revision = name.partition("@")
    try:
        return Path(_fetched(identity, revision, here=True))
    except (OSError, ValueError):  # nothing is there, or the name is none of a model
        return None


def _fetched(identity: str, revision: str, here: bool = False) -> str:
    """The folder of a model of the hub, which is fetched unless it is to be `here` already."""
    from huggingface_hub import snapshot_download

    # Some repositories hold the same weights twice, and beside a tokenizer one without a chat
    # template, which transformers would prefer.
    return snapshot_download(
        identity,
        revision=revision or None,
        allow_patterns=list(_FILES),
        ignore_patterns=["consol*", "tekken.json"],
        local_files_only=here,
    )


def parameters(folder: Path) -> int:
    """Number of parameters of the model in a folder, by its `safetensors` files; 0 without any."""
    from safetensors import safe_open

    number = 0
    for file in sorted(folder.glob("model*.safetensors")):
        with safe_open(file, "np") as tensors:
            names = tensors.keys()
            number += sum(math.prod(tensors.get_slice(name).get_shape()) for name in names)
    return number


def load_tokenizer(model: Model) -> PreTrainedTokenizerBase:
    """A model's tokenizer.

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
    """A model's network on a device, for inference.

    Args:
        model: The model.
        device: Where to load it.
        dtype: `float32`, `bfloat16` or `float16`; None for float32 on a CPU and the model's
            own on a GPU.
        settings: Further settings of `from_pretrained`.

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
    """Turns whatever a library raises while it loads a part of a model into one error.

    Raises:
        SymboUQError: If something was raised.
    """
    try:
        yield
    except Exception as error:  # readers of broken files raise whatever they run into
        raise SymboUQError(
            f"the {part} cannot be loaded: {brief(error)}", str(model.folder)
        ) from error


def context_length(config: Any) -> int | None:
    """Most tokens of prompt and text together, where a model's configuration says."""
    length = getattr(config.get_text_config(), "max_position_embeddings", None)
    return length if isinstance(length, int) else None
