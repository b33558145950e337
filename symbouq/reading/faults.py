"""Parts of a trace that cannot be read, and what is read without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from symbouq.errors import RecordError
from symbouq.limits import LimitError, check_time

SCENE_SENTENCE = "scene sentence"
"""What a sentence of the scene is called, before its number."""
_QUESTION = "the question"
_SHOWN = 80
"""How many characters of an unreadable text a message shows."""

R = TypeVar("R")


class ReadingError(RecordError):
    """A part of a trace that cannot be read: an internal error, or a sentence without end.

    One in a claim costs that claim alone. A sentence without end in the scene is an error of the
    record.

    Args:
        part: What was being read: `claim 3`, `scene sentence 1`.
        why: What keeps it from being read.
        text: Its text.
    """

    def __init__(self, part: str, why: str, text: str) -> None:
        shown = " ".join(text[: 2 * _SHOWN].split())
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        super().__init__(f"{part} is not read, {why}: {shown}")
        self.part = part


class InternalError(ReadingError):
    """A part of a trace that a fault of ours keeps from being read. It costs a sentence, wherever
    that stands, and a fault of the record says so.
    """


@contextmanager
def reading(part: str, text: str) -> Iterator[None]:
    """While a part of a trace is read: an internal error is one of that part.

    Args:
        part: What is being read.
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
    """What an `InternalError` says of the error behind it."""
    return f"because of an internal error ({type(error).__name__}: {error})"


def readable(
    read: Callable[[tuple[str, ...], str], R], scene: Sequence[str], question: str
) -> tuple[R, list[str], str, list[str]]:
    """Reads a scene and its question without the sentences that internal errors keep from being
    read; each of them leaves an empty text.

    Args:
        read: Reads them.
        scene: The scene's sentences.
        question: The question.

    Returns:
        What is read; scene and question as far as they are; messages of what is not.

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
            # Again without it: it may have left the things half changed.
            faults[error.part] = str(error)
            if error.part == _QUESTION:
                question = ""
            elif (number := error.part.removeprefix(f"{SCENE_SENTENCE} ")).isdecimal():
                told[int(number) - 1] = ""
            else:
                told = [""] * len(told)
