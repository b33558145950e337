"""Other auditors for the speed benchmark: plain Python with Bellman-Ford, z3, and path consistency.

All of them give the same verdicts as the package in both contexts, and the same exact repairs. The
first two handle directions in the strict reading (profile `nine-way`). A variant of the
plain-Python auditor also finds a minimal set of premises for every verdict, as the package always
does. The last auditor handles the eight relations of RCC-8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

Triple = tuple[int, str, int]
"""(subject, direction, object), with things as small numbers."""

Findings = list[tuple[str, str, int | None]]
"""For each claim: its verdict, its grounded verdict and its exact repair cost."""

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

_INFINITE = float("inf")


def _edges(relations: Sequence[Triple], axis: int) -> list[tuple[int, int, int]]:
    """Return the constraints a - b <= w on one axis as (b, a, w)."""
    edges = []
    for u, name, v in relations:
        sign = VECTORS[name][axis]
        if sign >= 0:
            edges.append((u, v, -sign))
        if sign <= 0:
            edges.append((v, u, sign))
    return edges


def _settled(edges: Sequence[tuple[int, int, int]], distance: list[float], rounds: int) -> bool:
    """Shorten distances along edges (Bellman-Ford). Return whether they settle within `rounds`
    rounds.
    """
    for _ in range(rounds):
        changed = False
        for b, a, w in edges:
            if distance[b] + w < distance[a]:
                distance[a] = distance[b] + w
                changed = True
        if not changed:
            return True
    return False


def _consistent(relations: Sequence[Triple], size: int) -> bool:
    return all(_settled(_edges(relations, axis), [0.0] * size, size + 1) for axis in (0, 1))


def _bound(edges: list[tuple[int, int, int]], size: int, source: int, target: int) -> float:
    """Return the smallest w for which target - source <= w is implied."""
    distance = [_INFINITE] * size
    distance[source] = 0
    _settled(edges, distance, size)
    return distance[target]


def _python_status(context: Sequence[Triple], z: Triple, size: int) -> str:
    """Return the status according to Eq. status in a consistent context, given the implied bounds
    on each axis.
    """
    u, name, v = z
    entailed = True
    for axis in (0, 1):
        edges = _edges(context, axis)
        high = _bound(edges, size, v, u)  # u - v <= high
        low = -_bound(edges, size, u, v)  # u - v >= low
        sign = VECTORS[name][axis]
        least, most = {1: (1, _INFINITE), 0: (0, 0), -1: (-_INFINITE, -1)}[sign]
        if high < least or low > most:
            return "contradicted"
        entailed = entailed and low >= least and high <= most
    return "entailed" if entailed else "unknown"


def plain_python(scene: Sequence[Triple], claims: Sequence[Triple]) -> Findings:
    """The Bellman-Ford auditor: verdicts in both contexts and repairs, without premises."""
    size = 1 + max(max(u, v) for u, _, v in (*scene, *claims))

    def repaired(generated: Sequence[Triple], z: Triple) -> int | None:
        return _fewest(generated, lambda kept: _consistent([*scene, *kept, z], size))

    return _replay(
        scene,
        claims,
        lambda context, z: _python_status(context, z, size),
        repaired,
        _consistent(scene, size),
    )


def plain_python_explaining(scene: Sequence[Triple], claims: Sequence[Triple]) -> Findings:
    """The Bellman-Ford auditor with premises. Premises that are not needed are dropped one by one,
    the latest claims first, until a minimal set is left. (The package's sets are smallest, not only
    minimal; plain deletion does not guarantee this.)
    """
    size = 1 + max(max(u, v) for u, _, v in (*scene, *claims))
    findings = plain_python(scene, claims)
    for n, (verdict, grounded, _) in enumerate(findings):
        if verdict in ("entailed", "contradicted"):
            premises = list(scene) if grounded == verdict else [*scene, *claims[:n]]
            for candidate in reversed(range(len(premises))):
                rest = premises[:candidate] + premises[candidate + 1 :]
                if _python_status(rest, claims[n], size) == verdict:
                    premises = rest
    return findings


def _replay(
    scene: Sequence[Triple],
    claims: Sequence[Triple],
    decide: Callable[[Sequence[Triple], Triple], str],
    repaired: Callable[[Sequence[Triple], Triple], int | None],
    consistent: bool,
) -> Findings:
    context = list(scene)
    generated: list[Triple] = []
    feasible = consistent
    findings: Findings = []
    for z in claims:
        grounded = decide(scene, z) if consistent else "not-evaluable"
        verdict = decide(context, z) if feasible else "not-evaluable"
        cost: int | None = 0
        if verdict == "contradicted":
            cost = repaired(generated, z)
            feasible = False
        findings.append((verdict, grounded, cost))
        context.append(z)
        generated.append(z)
    return findings


def _fewest(generated: Sequence[Triple], works: Callable[[list[Triple]], bool]) -> int | None:
    if not works([]):
        return None
    for removed in range(len(generated) + 1):
        for gone in combinations(range(len(generated)), removed):
            if works([z for n, z in enumerate(generated) if n not in gone]):
                return removed
    return None


def z3_auditor(scene: Sequence[Triple], claims: Sequence[Triple]) -> Findings:
    """The same auditor, but with z3's integer solver and one push per question."""
    import z3

    size = 1 + max(max(u, v) for u, _, v in (*scene, *claims))
    places = [[z3.Int(f"{axis}{n}") for n in range(size)] for axis in "xy"]

    def stated(z: Triple) -> object:
        u, name, v = z
        parts = []
        for axis in (0, 1):
            difference = places[axis][u] - places[axis][v]
            sign = VECTORS[name][axis]
            parts.append(
                difference >= 1 if sign > 0 else difference <= -1 if sign < 0 else difference == 0
            )
        return z3.And(parts)

    def satisfiable(relations: Sequence[Triple], *extra: object) -> bool:
        solver = z3.SimpleSolver()
        solver.add([stated(z) for z in relations])
        solver.add(*extra)
        return bool(solver.check() == z3.sat)

    def decide(context: Sequence[Triple], z: Triple) -> str:
        solver = z3.SimpleSolver()
        solver.add([stated(r) for r in context])
        solver.push()
        solver.add(stated(z))
        if solver.check() == z3.unsat:
            return "contradicted"
        solver.pop()
        solver.add(z3.Not(stated(z)))
        return "entailed" if solver.check() == z3.unsat else "unknown"

    def repaired(generated: Sequence[Triple], z: Triple) -> int | None:
        return _fewest(generated, lambda kept: satisfiable([*scene, *kept, z]))

    return _replay(scene, claims, decide, repaired, size)


class PathConsistency:
    """An auditor for RCC-8 that closes a network of relations under composition. This decides
    consistency for networks of the eight relations and those unions of them that occur here.

    Args:
        table: For relations R and S: the possible relations between x and z if x R y and y S z.
    """

    def __init__(self, table: dict[tuple[str, str], tuple[str, ...]]) -> None:
        self.relations = sorted({first for first, _ in table})
        self._bit = {name: 1 << n for n, name in enumerate(self.relations)}
        self._all = (1 << len(self.relations)) - 1
        self._table = {
            (self._bit[first], self._bit[second]): sum(self._bit[name] for name in names)
            for (first, second), names in table.items()
        }
        same = next(n for n in self.relations if all(table[n, m] == (m,) for m in self.relations))
        self._same = self._bit[same]
        self._mirror = {
            self._bit[first]: self._bit[second]
            for first, second in table
            if same in table[first, second] and same in table[second, first]
        }
        self._composed: dict[tuple[int, int], int] = {}
        self._turned: dict[int, int] = {}

    def __call__(self, scene: Sequence[Triple], claims: Sequence[Triple]) -> Findings:
        """Return the findings on each claim, in the same form as the other auditors."""
        size = 1 + max(max(u, v) for u, _, v in (*scene, *claims))

        def holds(relations: Sequence[Triple], *more: tuple[int, int, int]) -> bool:
            stated = [(u, self._bit[name], v) for u, name, v in relations]
            return self._consistent([*stated, *more], size)

        def decide(context: Sequence[Triple], z: Triple) -> str:
            u, name, v = z
            if not holds(context, (u, self._bit[name], v)):
                return "contradicted"
            other = (u, self._all & ~self._bit[name], v)
            return "unknown" if holds(context, other) else "entailed"

        def repaired(generated: Sequence[Triple], z: Triple) -> int | None:
            return _fewest(generated, lambda kept: holds([*scene, *kept, z]))

        return _replay(scene, claims, decide, repaired, holds(scene))

    def _consistent(self, stated: Sequence[tuple[int, int, int]], size: int) -> bool:
        network = [[self._all] * size for _ in range(size)]
        for n in range(size):
            network[n][n] = self._same
        for u, mask, v in stated:
            network[u][v] &= mask
            network[v][u] = self._turn(network[u][v])
            if not network[u][v]:
                return False
        ahead = [(u, v) for u, _, v in stated]
        while ahead:
            i, j = ahead.pop()
            for k in range(size):
                if k in (i, j):
                    continue
                for a, b, c in ((i, j, k), (k, i, j)):
                    kept = network[a][c] & self._compose(network[a][b], network[b][c])
                    if not kept:
                        return False
                    if kept != network[a][c]:
                        network[a][c] = kept
                        network[c][a] = self._turn(kept)
                        ahead.append((a, c))
        return True

    def _compose(self, first: int, second: int) -> int:
        if (first, second) not in self._composed:
            found = 0
            for (one, other), mask in self._table.items():
                if one & first and other & second:
                    found |= mask
            self._composed[first, second] = found
        return self._composed[first, second]

    def _turn(self, mask: int) -> int:
        if mask not in self._turned:
            self._turned[mask] = sum(o for bit, o in self._mirror.items() if bit & mask)
        return self._turned[mask]
