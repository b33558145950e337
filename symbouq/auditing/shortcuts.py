"""Verdicts and premises without a solver: from one sentence of the scene by the tables of the
ontology, or along the only chain of premises that joins two things.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from symbouq.auditing.verdicts import Verdict
from symbouq.logic.programs import Atom
from symbouq.ontology.tables import UNBOUNDED, Bounds, Encoding, Ontology, Triple

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
    """Premises that tie things together without a cycle, each by bounds of how much the coordinates
    of two points differ.

    They are feasible, since each thing can be placed by the one before it. One chain of premises at
    most joins two things: these differ by as much as it says in sum, and whatever is decided of
    them rests on all of it.

    Args:
        encoding: The readings of the profile.
        edges: What each premise states, by position.
    """

    def __init__(self, encoding: Encoding, edges: Sequence[Atom]) -> None:
        self._encoding = encoding
        self._edges = edges
        self._neighbours: dict[int, list[tuple[int, int]]] = {}
        for position, (_, u, v) in enumerate(edges):
            self._neighbours.setdefault(u, []).append((position, v))
            self._neighbours.setdefault(v, []).append((position, u))

    @classmethod
    def of(cls, ontology: Ontology, premises: Sequence[Sequence[Atom]]) -> Self | None:
        """The forest that premises are; None where they are none.

        Args:
            ontology: The tables of the profile.
            premises: The atoms of each.
        """
        if ontology.encoding.rules or ontology.extent:
            return None  # rules may know more, and extents tie a thing's own ends
        roots: dict[int, int] = {}

        def root(thing: int) -> int:
            while roots.setdefault(thing, thing) != thing:
                thing = roots[thing]
            return thing

        for atoms in premises:
            if len(atoms) != 1 or not ontology.encoding.bounds[atoms[0][0]]:
                return None
            _, u, v = atoms[0]
            first, second = root(u), root(v)
            if first == second:
                return None
            roots[first] = second
        return cls(ontology.encoding, [atoms[0] for atoms in premises])

    def verdict(self, atom: Atom) -> tuple[Verdict, list[int]] | None:
        """The verdict on a claim about two things, with the premises that decide it, by position;
        None where it says more than bounds.
        """
        key, u, v = atom
        claimed = self._encoding.bounds[key]
        if u == v or not claimed:
            return None
        chain = self._chain(u, v)
        premises = sorted(position for position, _ in chain)
        within = bool(chain)
        for axis, (low, high) in claimed.items():
            least, most = self._difference(chain, axis) if chain else UNBOUNDED
            if least > high or most < low:
                return Verdict.CONTRADICTED, premises
            within = within and low <= least and most <= high
        return (Verdict.ENTAILED, premises) if within else (Verdict.UNKNOWN, [])

    def _difference(self, chain: Sequence[tuple[int, bool]], axis: int) -> Bounds:
        """How much the ends of a chain differ by on an axis."""
        least = most = 0.0
        for position, forwards in chain:
            stated = self._encoding.bounds[self._edges[position][0]] or {}
            low, high = stated.get(axis, UNBOUNDED)
            least += low if forwards else -high
            most += high if forwards else -low
        return least, most

    def _chain(self, first: int, last: int) -> list[tuple[int, bool]]:
        """The premises, by position, that lead from one thing to another, each with whether it is
        gone the way that it says; empty if none do.
        """
        chains: dict[int, list[tuple[int, bool]]] = {first: []}
        ahead = [first]
        while ahead and last not in chains:
            here = ahead.pop()
            for position, other in self._neighbours.get(here, ()):
                if other not in chains:
                    forwards = self._edges[position][1] == here
                    chains[other] = [*chains[here], (position, forwards)]
                    ahead.append(other)
        return chains.get(last, [])
