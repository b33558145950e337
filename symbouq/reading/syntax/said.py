"""What a sentence says of the things of a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from symbouq.ontology.measures import Offset
from symbouq.ontology.tables import Ontology
from symbouq.reading.syntax.extraction import Triplet
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
        joined: The words that say the rest of the relation: "above B and TO THE LEFT of it".
    """

    placed: int
    relation: str
    landmark: int
    statement: Triplet
    span: tuple[int, int]
    sure: bool = True
    offset: Offset = ()
    unit: str = ""
    joined: frozenset[int] = frozenset()

    def displaced(self, turned: Mapping[int, int], ontology: Ontology) -> Said:
        """What this says of things, said of others that are where they were: of the places that
        things have left, or of what has changed places with them. What is in or on a thing moves
        along with it.

        Args:
            turned: The things to the others.
            ontology: The tables of the profile.
        """
        placed, landmark = turned.get(self.placed), turned.get(self.landmark)
        if placed is None or landmark is None:
            carried = ontology.wording.carried
            if ontology.relations.converse.get(self.relation) in carried:
                placed = None
            if self.relation in carried:
                landmark = None
        placed = self.placed if placed is None else placed
        landmark = self.landmark if landmark is None else landmark
        return replace(self, placed=placed, landmark=landmark)
