"""Triplets whose figure and ground are things of a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from symbouq.ontology.measures import Offset
from symbouq.ontology.tables import Ontology
from symbouq.reading.syntax.extraction import Triplet
from symbouq.reading.syntax.sentences import Sentence

Resolve = Callable[[Sentence, int, int], tuple[int, ...]]
"""Resolves a noun phrase of a sentence to things, by its head and by the head of what it is related
to, and does not mean; to none where nothing tells which.
"""


@dataclass(frozen=True)
class Resolved:
    """A triplet whose mentions are resolved: a relation between things, as a sentence says it.

    Attributes:
        figure: The thing that is placed.
        relation: The relation.
        ground: The thing by which it is placed.
        triplet: How the sentence says it.
        span: Character offsets in the text.
        sure: Whether anything is based on it.
        offset: Axis to how much further the figure is than the ground.
        unit: The unit of the offset.
        joined: The words that say the rest of the relation: "above B and TO THE LEFT of it".
    """

    figure: int
    relation: str
    ground: int
    triplet: Triplet
    span: tuple[int, int]
    sure: bool = True
    offset: Offset = ()
    unit: str = ""
    joined: frozenset[int] = frozenset()

    def displaced(self, turned: Mapping[int, int], ontology: Ontology) -> Resolved:
        """What this says of things, said of others that are where they were: of the places that
        things have left, or of what has changed places with them. What is in or on a thing moves
        along with it.

        Args:
            turned: The things to the others.
            ontology: The tables of the profile.
        """
        figure, ground = turned.get(self.figure), turned.get(self.ground)
        if figure is None or ground is None:
            carried = ontology.wording.carried
            if ontology.relations.converse.get(self.relation) in carried:
                figure = None
            if self.relation in carried:
                ground = None
        figure = self.figure if figure is None else figure
        ground = self.ground if ground is None else ground
        return replace(self, figure=figure, ground=ground)
