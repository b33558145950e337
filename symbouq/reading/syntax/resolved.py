"""Triplets whose figure and ground are things of a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from symbouq.ontology.measures import Offset
from symbouq.ontology.tables import Ontology
from symbouq.reading.syntax.extraction import Triplet
from symbouq.reading.syntax.sentences import Sentence

Resolve = Callable[[Sentence, int, int], tuple[int, ...]]
"""Resolver of a noun phrase of a sentence to things, by its head and by the head of the related
noun phrase, which has a different referent. Empty if unknown."""


@dataclass(frozen=True)
class Resolved:
    """Triplet with resolved mentions: a relation between things, as a sentence states it.

    Attributes:
        figure: The thing placed.
        relation: The relation.
        ground: The thing it is placed by.
        triplet: The triplet of the sentence.
        span: Character offsets in the text.
        sure: Whether it is certain enough to use.
        offset: Figure minus ground, by axis.
        unit: The unit of the offset.
        joined: Words for the rest of the relation: "above B and TO THE LEFT of it".
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
        """The same relation after things have moved, with other things in their place: their former
        places, or the things they were swapped with. Things in or on another move along with it.

        Args:
            turned: Thing to the one in its place.
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
