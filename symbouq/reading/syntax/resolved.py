"""Triplets with figure and ground resolved to things in the trace."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from symbouq.ontology.measures import Offset
from symbouq.ontology.tables import Ontology
from symbouq.reading.syntax.extraction import Triplet
from symbouq.reading.syntax.sentences import Sentence

Resolve = Callable[[Sentence, int, int], tuple[int, ...]]
"""Function that resolves a noun phrase in a sentence to things. It takes the sentence, the head of
the noun phrase, and the head of a related noun phrase, which must refer to a different thing. It
returns an empty tuple if the referent is unknown.
"""


@dataclass(frozen=True)
class Resolved:
    """A triplet with resolved mentions: a relation between things, as stated in a sentence.

    Attributes:
        figure: The thing that is placed.
        relation: The relation.
        ground: The thing relative to which the figure is placed.
        triplet: The triplet as read from the sentence.
        span: Character offsets in the text.
        sure: Whether the relation is certain enough to use.
        offset: Figure minus ground on each axis.
        unit: The unit of the offset.
        joined: Words that complete the relation: "above B and TO THE LEFT of it".
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
        """Return the relation that holds after things have moved. Each moved thing is replaced by
        its former place, or by the thing that took its place in a swap. If a thing moves, the
        things in or on it move, too.

        Args:
            turned: Maps each moved thing to its replacement.
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

    def given_up(
        self, turned: Mapping[int, int], relations: Collection[str], ontology: Ontology
    ) -> Resolved:
        """Return the relation that holds after things were emptied or have turned: other things no
        longer have certain relations to them.

        Args:
            turned: Maps each of these things to a thing that stands for its former state.
            relations: The relations that no longer hold.
            ontology: The tables of the profile.
        """
        if self.relation in relations:
            return replace(self, ground=turned.get(self.ground, self.ground))
        if ontology.relations.converse.get(self.relation) in relations:
            return replace(self, figure=turned.get(self.figure, self.figure))
        return self
