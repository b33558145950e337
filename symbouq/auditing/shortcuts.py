"""Verdicts and premises that a scene gives without a solver: from one sentence by the tables of
the ontology, or along the only chain of sentences that joins two things.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from symbouq.auditing.verdicts import Verdict
from symbouq.ontology.tables import Ontology, Triple

OrientedScene = Sequence[tuple[int, tuple[Triple, ...]]]
"""The premises of a scene, each its number and its relations (`Ontology.oriented`)."""


class DirectVerdicts:
    """The verdicts that a single relation of the scene gives on claims about the same pair.

    Args:
        ontology: The tables of the profile.
        scene: The scene.
    """

    def __init__(self, ontology: Ontology, scene: OrientedScene) -> None:
        self._ontology = ontology
        self._stated: dict[tuple[int, int], list[tuple[str, int]]] = {}
        for position, (_, triples) in enumerate(scene):
            for u, r, v in triples:
                self._stated.setdefault((u, v), []).append((r, position))
        self._first_of_several = next(
            (n for n, (_, triples) in enumerate(scene) if len(triples) > 1), len(scene)
        )

    def of(self, triple: Triple) -> tuple[Verdict, int] | None:
        """The verdict on a relation that one scene relation over the same two things
        implies or excludes, with the position of the earliest such premise. None where an
        earlier premise might do as much by the rules.
        """
        u, r, v = triple
        if u == v or (v, u) in self._stated:
            return None
        moves = self._ontology.relations.displacement
        for stated, position in self._stated.get((u, v), ()):
            if position > self._first_of_several:
                return None
            if (stated, r) in self._ontology.relations.suffices:
                return Verdict.ENTAILED, position
            if r in moves and r in self._ontology.relations.excludes.get(stated, ()):
                return Verdict.CONTRADICTED, position
            if stated not in moves:
                return None
        return None


class Forest:
    """A scene of directions, one a premise, that tie its things together without a cycle.

    It is feasible, since each thing can be placed by the one before it; and one chain of
    premises at most joins two things, so whatever is decided of them rests on all of it.

    Args:
        edges: The two things of each premise, by position.
    """

    def __init__(self, edges: Sequence[tuple[int, int]]) -> None:
        self._edges = edges
        self._neighbours: dict[int, list[tuple[int, int]]] = {}

    @classmethod
    def of(cls, ontology: Ontology, scene: OrientedScene) -> Self | None:
        """The forest that a scene is; None for a scene that is none."""
        if ontology.encoding.rules or ontology.extent:
            return None  # rules may know more, and extents tie a thing's own ends
        roots: dict[int, int] = {}

        def root(thing: int) -> int:
            while roots.setdefault(thing, thing) != thing:
                thing = roots[thing]
            return thing

        edges: list[tuple[int, int]] = []
        for _, triples in scene:
            if len(triples) != 1 or triples[0][1] not in ontology.relations.displacement:
                return None
            u, _, v = triples[0]
            first, second = root(u), root(v)
            if first == second:
                return None
            roots[first] = second
            edges.append((u, v))
        return cls(edges)

    def path(self, first: int, last: int) -> list[int]:
        """The premises, by position and in order, that join two things."""
        if not self._neighbours:
            for position, (u, v) in enumerate(self._edges):
                self._neighbours.setdefault(u, []).append((position, v))
                self._neighbours.setdefault(v, []).append((position, u))
        paths: dict[int, list[int]] = {first: []}
        ahead = [first]
        while ahead and last not in paths:
            here = ahead.pop()
            for position, other in self._neighbours[here]:
                if other not in paths:
                    paths[other] = [*paths[here], position]
                    ahead.append(other)
        return sorted(paths[last])
