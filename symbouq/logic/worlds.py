"""Possible worlds: the relations that a scene allows between two things.

`possible` relations hold in some layout and closure of the scene (brave consequences), `certain`
relations in all layouts and closures (cautious consequences). A composition table lists the
relations that two premises make possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from symbouq.logic.differences import solver_for
from symbouq.logic.programs import Atom
from symbouq.logic.scene import current_scene
from symbouq.ontology.source import ASSERTED, QUERIED
from symbouq.ontology.tables import Ontology, Triple


@dataclass(frozen=True)
class Worlds:
    """Relations between two things in the worlds of a scene.

    Attributes:
        possible: Relations that hold in some world, in the ontology's order.
        certain: Relations that hold in every world.
    """

    possible: tuple[str, ...]
    certain: tuple[str, ...]


def worlds(
    ontology: Ontology,
    scene: Iterable[Triple],
    pair: tuple[int, int],
    relations: Sequence[str] | None = None,
) -> Worlds | None:
    """Return the possible and certain relations between two things; None if the scene contradicts
    itself.

    Args:
        ontology: The tables of the profile.
        scene: Relations between numbered things, taken as true.
        pair: Subject and object.
        relations: Relations to check; by default, all of the profile's.
    """
    return pair_worlds(ontology, scene, [pair], relations)[pair]


def pair_worlds(
    ontology: Ontology,
    scene: Iterable[Triple],
    pairs: Sequence[tuple[int, int]],
    relations: Sequence[str] | None = None,
) -> dict[tuple[int, int], Worlds | None]:
    """Compute `worlds` for several pairs in one scene."""
    asked = tuple(ontology.relations.family if relations is None else relations)
    current = [(n, [triple]) for n, triple in enumerate(scene)]
    if ontology.state_updates:
        current = current_scene(ontology, current)
    stated = [ontology.oriented(triple) for _, triples in current for triple in triples]
    context = list(
        dict.fromkeys((ontology.encoding.readings[ASSERTED, r], u, v) for u, r, v in stated)
    )
    return worlds_of_context(ontology, context, pairs, asked)


def worlds_of_context(
    ontology: Ontology,
    context: Sequence[Atom],
    pairs: Sequence[tuple[int, int]],
    asked: Sequence[str],
) -> dict[tuple[int, int], Worlds | None]:
    """Compute `pair_worlds` for a context given as atoms.

    Args:
        ontology: The tables of the profile.
        context: The atoms.
        pairs: The pairs, as (subject, object).
        asked: Relations to check.
    """
    return dict(_found(ontology, tuple(context), tuple(pairs), tuple(asked)))


@lru_cache(maxsize=1024)  # many traces answer questions about the same scene
def _found(
    ontology: Ontology,
    context: tuple[Atom, ...],
    pairs: tuple[tuple[int, int], ...],
    asked: tuple[str, ...],
) -> dict[tuple[int, int], Worlds | None]:
    candidates = {
        (pair, r): (ontology.encoding.readings[QUERIED, r], *pair) for pair in pairs for r in asked
    }
    solver = solver_for(
        ontology,
        dict.fromkeys([*context, *candidates.values()]),
        dict.fromkeys(frozenset([atom]) for atom in candidates.values()),
    )
    if not solver.feasible(context):
        return dict.fromkeys(pairs)
    found: dict[tuple[int, int], Worlds | None] = {}
    for pair in pairs:
        possible = tuple(
            r for r in asked if not solver.exclusion(candidates[pair, r]).holds(context)
        )
        certain = tuple(
            r
            for r in possible
            if solver.entailment(frozenset([candidates[pair, r]])).holds(context)
        )
        found[pair] = Worlds(possible, certain)
    return found


def decided(
    ontology: Ontology, scene: Iterable[Triple], triples: Iterable[Triple]
) -> dict[Triple, bool | None] | None:
    """Return the truth of each relation in a scene: True if it holds in all of its worlds, False if
    it holds in none, otherwise None. Return None instead if the scene contradicts itself.

    Args:
        ontology: The tables of the profile.
        scene: Relations between numbered things, taken as true.
        triples: Relations to check.
    """
    stated = [ontology.oriented(triple) for triple in scene]
    context = list(
        dict.fromkeys((ontology.encoding.readings[ASSERTED, r], u, v) for u, r, v in stated)
    )
    atoms = {(u, r, v): (ontology.encoding.readings[QUERIED, r], u, v) for u, r, v in triples}
    solver = solver_for(
        ontology,
        dict.fromkeys([*context, *atoms.values()]),
        dict.fromkeys(frozenset([atom]) for atom in atoms.values()),
    )
    if not solver.feasible(context):
        return None
    return {
        triple: True
        if solver.entailment(frozenset([atom])).holds(context)
        else False
        if solver.exclusion(atom).holds(context)
        else None
        for triple, atom in atoms.items()
    }


def composition_table(ontology: Ontology, family: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the possible relations between x and z given x R y and y S z, for any two relations R
    and S of a family.

    Raises:
        KeyError: If the profile has no such family.
    """
    members = tuple(r for r, f in ontology.relations.family.items() if f == family)
    if not members:
        raise KeyError(family)
    table: dict[tuple[str, str], tuple[str, ...]] = {}
    for first in members:
        for second in members:
            found = worlds(ontology, [(0, first, 1), (1, second, 2)], (0, 2), members)
            table[first, second] = found.possible if found is not None else ()
    return table
