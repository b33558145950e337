"""Scenes after their state updates."""

from __future__ import annotations

from collections.abc import Sequence

from symbouq.ontology.tables import Ontology, Triple


def current_scene(
    ontology: Ontology, scene: Sequence[tuple[int, Sequence[Triple]]]
) -> list[tuple[int, list[Triple]]]:
    """Remove replaced statements from a scene. For each subject of a functional relation, only the
    last statement counts (the state updates of a profile).
    """
    last = {
        (r, u): position
        for position, (_, triples) in enumerate(scene)
        for u, r, _ in triples
        if r in ontology.relations.functional
    }
    return [
        (number, [(u, r, v) for u, r, v in triples if last.get((r, u), position) == position])
        for position, (number, triples) in enumerate(scene)
    ]
