"""Report unreadable parts of a trace, and read the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from symbouq.errors import RecordError
from symbouq.limits import LimitError, check_time

SCENE_SENTENCE = "scene sentence"
"""The name of a scene sentence in messages, before its number."""
_QUESTION = "the question"
_SHOWN = 80
"""Maximum number of characters quoted from an unreadable text in a message."""

R = TypeVar("R")


class ReadingError(RecordError):
    """A part of a trace cannot be read, either because of an internal error or because a sentence
    does not end within the limit.

    If the error is in a claim, only this claim is lost. If a sentence in the scene is too long, the
    record is invalid.

    Args:
        part: The name of the part in messages: `claim 3`, `scene sentence 1`.
        why: The reason why the part cannot be read.
        text: Its text.
    """

    def __init__(self, part: str, why: str, text: str) -> None:
        shown = " ".join(text[: 2 * _SHOWN].split())
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        super().__init__(f"{part} is not read, {why}: {shown}")
        self.part = part


class InternalError(ReadingError):
    """A part of a trace cannot be read because of an internal error. Only the affected sentence is
    lost, and the record's faults contain a message about it.
    """


@contextmanager
def reading(part: str, text: str) -> Iterator[None]:
    """Attribute internal errors in the block to a part of a trace.

    Args:
        part: The name of the part in messages.
        text: Its text.

    Raises:
        InternalError: If another error occurs.
    """
    try:
        yield
    except (RecordError, LimitError):
        raise
    except Exception as error:
        raise InternalError(part, because_of(error), text) from error


def because_of(error: Exception) -> str:
    """Describe the original error that caused an `InternalError`."""
    return f"because of an internal error ({type(error).__name__}: {error})"


def readable(
    read: Callable[[tuple[str, ...], str], R], scene: Sequence[str], question: str
) -> tuple[R, list[str], str, list[str]]:
    """Read a scene and its question, with empty texts in place of sentences with internal errors.

    Args:
        read: Function that reads them.
        scene: The scene's sentences.
        question: The question.

    Returns:
        The result of `read`; the scene and the question as they were read; messages about omitted
            sentences.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
        ReadingError: If a sentence does not end within the limit.
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
            # Read again without the sentence, since the failed attempt may have changed things.
            faults[error.part] = str(error)
            if error.part == _QUESTION:
                question = ""
            elif (number := error.part.removeprefix(f"{SCENE_SENTENCE} ")).isdecimal():
                told[int(number) - 1] = ""
            else:
                told = [""] * len(told)
