"""Answer records."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from symbouq.records.base import Record


class AnswerRecord(Record):
    """Answer to a question given its scene, as written by `symbouq answer`."""

    id: str
    """Id of the record."""
    status: Literal["answered", "open", "inconsistent", "unread"]
    """`answered`; `open` if nothing follows and the space has no label for that; `inconsistent` if
    the scene contradicts itself; `unread` if scene or question could not be read."""
    answer: list[str]
    """Labels of the answer, as spelled in the space."""
    certain: list[str]
    """Labels that hold in every layout of the scene."""
    possible: list[str]
    """Labels that hold in some layout."""
    impossible: list[str]
    """Labels that hold in no layout."""
    premises: list[str]
    """Premises of the answer, as `scene:N`."""
    default: bool
    """Whether the answer is "no" only by default, because "yes" does not follow."""
    faults: list[str] = Field(default_factory=list)
    """Internal errors that prevented the scene or question from being read."""
