"""Unreadable parts of a trace, and reading without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from symbouq.errors import RecordError
from symbouq.limits import LimitError, check_time

SCENE_SENTENCE = "scene sentence"
"""Name of a scene sentence in messages, before its number."""
_QUESTION = "the question"
_SHOWN = 80
"""Maximum number of characters of an unreadable text in a message."""

R = TypeVar("R")


class ReadingError(RecordError):
    """A part of a trace cannot be read: an internal error, or a sentence without end.

    In a claim, only that claim is lost. In the scene, a sentence without end is an error of the
    record.

    Args:
        part: Name of the part: `claim 3`, `scene sentence 1`.
        why: Why it cannot be read.
        text: Its text.
    """

    def __init__(self, part: str, why: str, text: str) -> None:
        shown = " ".join(text[: 2 * _SHOWN].split())
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        super().__init__(f"{part} is not read, {why}: {shown}")
        self.part = part


class InternalError(ReadingError):
    """A part of a trace cannot be read because of an internal error. Only that sentence is lost,
    and a fault of the record reports it.
    """


@contextmanager
def reading(part: str, text: str) -> Iterator[None]:
    """Attribute internal errors in the block to a part of a trace.

    Args:
        part: Name of the part.
        text: Its text.

    Raises:
        InternalError: At any other error.
    """
    try:
        yield
    except (RecordError, LimitError):
        raise
    except Exception as error:
        raise InternalError(part, because_of(error), text) from error


def because_of(error: Exception) -> str:
    """Description of the error behind an `InternalError`."""
    return f"because of an internal error ({type(error).__name__}: {error})"


def readable(
    read: Callable[[tuple[str, ...], str], R], scene: Sequence[str], question: str
) -> tuple[R, list[str], str, list[str]]:
    """Read a scene and its question without sentences with internal errors; those are replaced by
    empty texts.

    Args:
        read: Function that reads them.
        scene: The scene's sentences.
        question: The question.

    Returns:
        The result of `read`; the scene and question that were read; messages about the rest.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
        ReadingError: If a sentence has no end.
    """
    told = list(scene)
    faults: dict[str, str] = {}
    while True:
        check_time()
        try:
            return read(tuple(told), question), told, question, list(faults.values())
        except InternalError as error:
            if error.part in faults:
                raise
            # Read again without the sentence: it may have left the things half changed.
            faults[error.part] = str(error)
            if error.part == _QUESTION:
                question = ""
            elif (number := error.part.removeprefix(f"{SCENE_SENTENCE} ")).isdecimal():
                told[int(number) - 1] = ""
            else:
                told = [""] * len(told)
