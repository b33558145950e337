"""What a sentence says of the things of a trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from symbouq.ontology.measures import Offset
from symbouq.reading.syntax.extraction import Statement
from symbouq.reading.syntax.sentences import Sentence

Meant = Callable[[Sentence, int, int], tuple[int, ...]]
"""The things that a noun phrase of a sentence means: of its head, and of the head of what it is
related to, and does not mean; none where nothing tells.
"""


@dataclass(frozen=True)
class Said:
    """A relation between things, as a sentence says it.

    Attributes:
        placed: The thing placed.
        relation: The relation.
        landmark: The thing that it is placed by.
        statement: How the sentence says it.
        span: Character offsets in the text.
        sure: Whether anything is based on it.
        offset: Axis to how much further the thing placed is than its landmark.
        unit: The unit of the offset.
    """

    placed: int
    relation: str
    landmark: int
    statement: Statement
    span: tuple[int, int]
    sure: bool = True
    offset: Offset = ()
    unit: str = ""
