"""The record of an answer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from symbouq.records.base import Record


class AnswerRecord(Record):
    """The answer to a question from its scene: what `symbouq answer` writes."""

    id: str
    """Id of the record."""
    status: Literal["answered", "open", "inconsistent", "unread"]
    """`answered`; `open` where nothing of the space follows and it has no label for that;
    `inconsistent` where the scene contradicts itself; `unread` where scene or question
    could not be read."""
    answer: list[str]
    """The answer's labels as the space spells them."""
    certain: list[str]
    """Labels that hold in every world of the scene."""
    possible: list[str]
    """Labels that hold in some."""
    impossible: list[str]
    """Labels that hold in none."""
    premises: list[str]
    """What the answer rests on, as `scene:N`."""
    default: bool
    """Whether it was given for want of proof: no, where yes does not follow."""
    faults: list[str] = Field(default_factory=list)
    """What keeps scene or question from being read, where an internal error does."""
