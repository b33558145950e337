"""An independent implementation of the semantics in plain Python, for differential testing.

It is written from the paper alone (Methodology and the appendix Auditor Implementation): lists of
relations, detection of negative cycles on each axis by Bellman-Ford, relational closure by
iteration, and repair by enumerating subsets. It shares neither code nor tables with the package.
The benchmark also uses it as the plain-Python competitor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

Relation = tuple[str, str, str]
"""(subject, relation, object)"""

VECTORS = {
    "above": (0, 1),
    "below": (0, -1),
    "left": (-1, 0),
    "right": (1, 0),
    "upper_left": (-1, 1),
    "upper_right": (1, 1),
    "lower_left": (-1, -1),
    "lower_right": (1, -1),
    "same_position": (0, 0),
}
INVERSE = {
    "inside": "contains",
    "contains": "inside",
    "not_inside": "not_contains",
    "not_contains": "not_inside",
}
SYMMETRIC = {"near", "far", "touching", "disconnected", "overlap"}
TRANSITIVE = {"inside", "contains"}
INCOMPATIBLE = [
    ("near", "far"),
    ("touching", "disconnected"),
    ("overlap", "disconnected"),
    ("inside", "not_inside"),
    ("contains", "not_contains"),
    ("inside", "disconnected"),
    ("contains", "disconnected"),
]
OTHERS = sorted({*INVERSE, *SYMMETRIC, "at", "start", "end"})
NAMES = sorted(VECTORS) + OTHERS


def feasible(scene: Iterable[Relation], claims: Iterable[Relation], unit: bool = False) -> bool:
    """SAT: whether the relations have a layout on both axes and a closure without clash.

    With `unit`, the scene's directions are exact single steps. Claims always give signs only.
    """
    scene, claims = list(scene), list(claims)
    return (
        _axis_feasible(scene, claims, 0, unit)
        and _axis_feasible(scene, claims, 1, unit)
        and _closure_feasible(closure([*scene, *claims]))
    )


def _axis_feasible(scene: list[Relation], claims: list[Relation], axis: int, unit: bool) -> bool:
    edges: list[tuple[str, str, int]] = []  # (a, b, w): a - b <= w
    for exact, relations in ((unit, scene), (False, claims)):
        for u, name, v in relations:
            if name not in VECTORS:
                continue
            sign = VECTORS[name][axis]
            if sign >= 0:
                edges.append((v, u, -sign))
            if sign <= 0:
                edges.append((u, v, sign))
            if exact and sign > 0:
                edges.append((u, v, sign))
            if exact and sign < 0:
                edges.append((v, u, -sign))
    potential = {node: 0 for a, b, _ in edges for node in (a, b)}
    for _ in range(len(potential) + 1):
        changed = False
        for a, b, weight in edges:
            if potential[b] + weight < potential[a]:
                potential[a] = potential[b] + weight
                changed = True
        if not changed:
            return True
    return False


def closure(relations: Iterable[Relation]) -> set[Relation]:
    """Return all non-directional relations that follow."""
    known = {r for r in relations if r[1] not in VECTORS}
    while True:
        new = set()
        for u, name, v in known:
            if name in INVERSE:
                new.add((v, INVERSE[name], u))
            if name in SYMMETRIC:
                new.add((v, name, u))
            if name in TRANSITIVE:
                new.update((u, name, w) for x, other, w in known if x == v and other == name)
        if new <= known:
            return known
        known |= new


def _closure_feasible(known: set[Relation]) -> bool:
    places: dict[str, str] = {}
    for u, name, v in known:
        if name in ("inside", "contains") and u == v:
            return False
        if name == "at" and places.setdefault(u, v) != v:
            return False
        for first, second in INCOMPATIBLE:
            if name == first and (u, second, v) in known:
                return False
    return True


def status(
    scene: Sequence[Relation], context: Sequence[Relation], z: Relation, unit: bool = False
) -> str:
    """Return tau(B, z) of Eq. status. The context is the scene with some of the claims."""
    if not feasible(scene, context, unit):
        return "not-evaluable"
    if not feasible(scene, [*context, z], unit):
        return "contradicted"
    u, name, v = z
    if name in VECTORS:
        others = (other for other in VECTORS if other != name)
        if all(not feasible(scene, [*context, (u, other, v)], unit) for other in others):
            return "entailed"
    elif z in closure([*scene, *context]):
        return "entailed"
    return "unknown"


def claim_status(
    scene: Sequence[Relation],
    context: Sequence[Relation],
    claim: Sequence[Relation],
    unit: bool = False,
) -> str:
    if not claim:
        return "unknown"
    if not feasible(scene, context, unit):
        return "not-evaluable"
    found = {status(scene, context, z, unit) for z in claim}
    if "contradicted" in found:
        return "contradicted"
    return "entailed" if found == {"entailed"} else "unknown"


def repair(
    scene: Sequence[Relation], generated: Sequence[Relation], z: Relation, unit: bool = False
) -> int | None:
    """Compute Eq. repair by enumeration: the exact cost, or None if there is no repair."""
    for size in range(len(generated) + 1):
        for gone in combinations(range(len(generated)), size):
            kept = [r for n, r in enumerate(generated) if n not in gone]
            if feasible(scene, [*kept, z], unit):
                return size
    return None


def audit(
    scene: Sequence[Relation], claims: Sequence[Sequence[Relation]], unit: bool = False
) -> list[dict[str, object]]:
    """Return every claim's verdicts, conflict flag and repairs, by replaying both contexts."""
    assumed: list[Relation] = []
    grounded: list[Relation] = []
    results: list[dict[str, object]] = []
    before = feasible(scene, [], unit)
    for claim in claims:
        verdict = claim_status(scene, assumed, claim, unit)
        ground = claim_status(scene, grounded, claim, unit)
        costs: list[int | None] = []
        if verdict == "contradicted":
            costs = [
                repair(scene, assumed, z, unit)
                for z in claim
                if status(scene, assumed, z, unit) == "contradicted"
            ]
        exact = None if None in costs else max(costs, default=0)  # type: ignore[type-var]
        after = feasible(scene, [*assumed, *claim], unit)
        results.append(
            {
                "verdict": verdict,
                "grounded": ground,
                "exact": exact,
                "bounded": 4 if exact is None or exact > 3 else exact,
                "first_conflict": before and not after,
            }
        )
        assumed.extend(claim)
        if ground == "entailed":
            grounded.extend(claim)
        before = after
    return results
