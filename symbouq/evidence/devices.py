"""Devices for networks: find a GPU if there is one, and detect out-of-memory errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from symbouq.errors import SymboUQError, one_line

T = TypeVar("T")

_SHOWN = 300
"""Maximum number of characters quoted from a library's message."""
_SHORTAGES = ("can't allocate memory", "not enough memory")
"""Out-of-memory messages from the CPU allocator, which has no special error class."""


def best_device(name: str | None = None) -> str:
    """Check the device `name`, such as `cuda:1`. Default: a GPU if there is one, otherwise the CPU.

    Raises:
        SymboUQError: If this machine has no such device.
    """
    import torch

    if name is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        raise SymboUQError(f"there is no device {name} here: {brief(error)}") from error
    return name


def has_bfloat16(device: str) -> bool:
    """Whether the device multiplies bfloat16 matrices at least as fast as float32 matrices. On
    processors without AVX-512, bfloat16 is many times slower.
    """
    import torch

    return device != "cpu" or torch.backends.cpu.get_cpu_capability().startswith("AVX512")


def memory_shortage(work: Callable[..., None], *arguments: Any) -> str:
    """Run `work`. Return the reason if memory runs out, otherwise an empty string."""
    import torch

    try:
        work(*arguments)
    except (RuntimeError, MemoryError) as error:
        if not isinstance(error, MemoryError | torch.OutOfMemoryError) and not any(
            message in str(error).lower() for message in _SHORTAGES
        ):
            raise
        shortage = brief(error)
    else:
        return ""
    # Do this outside the handler, because the error's stack frames keep the tensors of `work`
    # alive.
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return shortage


def in_batches(
    items: Iterable[T],
    length: Callable[[T], int],
    tokens: int,
    work: Callable[[Sequence[T]], None],
    named: Callable[[T], str],
) -> int:
    """Run `work` on items of similar length together, in batches of up to `tokens` tokens.

    If a batch does not fit into memory, this and later batches are halved. Returns the final
    `tokens`.

    Raises:
        SymboUQError: If a single item does not fit into memory.
    """
    rest = sorted(items, key=lambda item: -length(item))
    while rest:
        longest = length(rest[0])
        batch = rest[: max(1, tokens // longest)]
        shortage = memory_shortage(work, batch)
        if not shortage:
            rest = rest[len(batch) :]
        elif len(batch) > 1:
            tokens = longest * (len(batch) // 2)
        else:
            raise SymboUQError(
                f"{named(batch[0])} of {longest} tokens does not fit into memory, not even alone: "
                f"{shortage}"
            )
    return tokens


def brief(error: Exception) -> str:
    """Return the type and message of a library's error on one line."""
    text = one_line(error)
    return f"{type(error).__name__}: {text[:_SHOWN]}{'...' if len(text) > _SHOWN else ''}"
