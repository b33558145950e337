"""Find verdicts and premises without a solver, from one sentence and the ontology's tables."""

from __future__ import annotations

from collections.abc import Sequence

from symbouq.auditing.verdicts import Verdict
from symbouq.ontology.tables import Ontology, Triple

OrientedScene = Sequence[tuple[int, tuple[Triple, ...]]]
"""Number and relations of each premise of a scene (`Ontology.oriented`)."""


class DirectVerdicts:
    """Verdicts on claims that follow from a single scene relation about the same pair.

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
        """Judge a relation that one scene relation about the same pair implies or excludes. Return
        the verdict and the position of the earliest such premise, or None if the rules might find
        an earlier premise.
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
