"""Length limits for texts. Text beyond a limit is not read, so that the time for reading is linear
in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from symbouq.limits import check_time

LONGEST_SENTENCE = 300
"""Maximum number of words and punctuation marks between two full stops."""

LONGEST_WORD = 1000
"""Maximum number of characters without white space that are read as one piece."""

LONGEST_RESPONSE = 200_000
"""Maximum number of characters read in one response or conclusion."""

_END_OF_RESPONSE = 40_000
"""Number of these characters that are taken from the end, where the answer is."""

_AT_ONCE = 2_000
"""Minimum number of characters tokenized between two checks of the time limit."""
_SPACE = re.compile(r"\s{1,99}")

MOST_THINGS = 400
"""Maximum number of described things in a text, since a phrase may refer to any of them."""

MOST_STOPS = 8
"""Maximum number of full stops inside a sentence about described things."""

MOST_WAYS = 20_000
"""Maximum number of parses that are tried for a sentence about events."""


def shortened(response: str) -> str:
    """Return the part of a response that is read. If the response is longer than
    `LONGEST_RESPONSE`, this part consists of the beginning and the end of the response, with a
    paragraph break in between.
    """
    if len(response) <= LONGEST_RESPONSE:
        return response
    begin = response[: LONGEST_RESPONSE - _END_OF_RESPONSE]
    return f"{begin}\n\n{response[-_END_OF_RESPONSE:]}"


def left_out(part: str, response: str | None) -> str:
    """Return a message about the unread characters in a response; empty if all are read.

    Args:
        part: The name of the text in the message, such as "the response".
        response: The text.
    """
    if response is None or len(response) <= LONGEST_RESPONSE:
        return ""
    first, last = LONGEST_RESPONSE - _END_OF_RESPONSE, len(response) - _END_OF_RESPONSE
    return f"{part} is not read from character {first + 1:,} to {last:,}, for it is too long"


def stretches(text: str) -> Iterator[tuple[int, str]]:
    """Cut a text into stretches that end in white space, and yield each with its position. The time
    limit is checked before each stretch.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
    """
    start = 0
    while start < len(text):
        check_time()
        space = _SPACE.search(text, start + _AT_ONCE)
        end = space.end() if space else len(text)
        yield start, text[start:end]
        start = end
