"""Up to where texts are read. What is beyond is not read, so that reading takes time in
proportion to the length of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from symbouq.limits import check_time

LONGEST_SENTENCE = 300
"""How many words and marks may stand between two full stops."""

LONGEST_WORD = 1000
"""How many characters without white space are looked at as one piece."""

LONGEST_RESPONSE = 200_000
"""How many characters of one response, or of one conclusion, are read."""

_END_OF_RESPONSE = 40_000
"""How many of them are those at its end, where the answer is."""

_AT_ONCE = 2_000
"""How many characters are tokenized between two looks at the clock, at least."""
_SPACE = re.compile(r"\s{1,99}")

MOST_THINGS = 400
"""How many described things a text may speak of: any of them may be meant by a phrase."""

MOST_STOPS = 8
"""How many full stops may stand inside a sentence about described things."""

MOST_WAYS = 20_000
"""How many ways of parsing a sentence about events are tried."""


def shortened(response: str) -> str:
    """A response as far as it is read: all of it, or, where it is longer than
    `LONGEST_RESPONSE`, its beginning and its end with a paragraph's break between them.
    """
    if len(response) <= LONGEST_RESPONSE:
        return response
    begin = response[: LONGEST_RESPONSE - _END_OF_RESPONSE]
    return f"{begin}\n\n{response[-_END_OF_RESPONSE:]}"


def left_out(part: str, response: str | None) -> str:
    """The message of a fault: which characters of a response are not read; empty where all are.

    Args:
        part: What it is: "the response".
        response: Its text.
    """
    if response is None or len(response) <= LONGEST_RESPONSE:
        return ""
    first, last = LONGEST_RESPONSE - _END_OF_RESPONSE, len(response) - _END_OF_RESPONSE
    return f"{part} is not read from character {first + 1:,} to {last:,}, for it is too long"


def stretches(text: str) -> Iterator[tuple[int, str]]:
    """A text in stretches that end after white space, each with its place; the clock is looked at
    before each of them.

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
