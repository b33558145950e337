"""The Layout Auditor: verdicts, conflicts, repairs and premises of one parsed trace.

Implements the Methodology section's Layout Auditor and the appendix on its
implementation (Eqs. trusted, prefix, status, repair). Two contexts are decided for
every claim: the assumed one, which admits every earlier claim, and the grounded one.
The grounded context only ever adds what the scene entails already, so a grounded
verdict is a verdict under the scene alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache, partial

from symbouq.logic import Atom, Group, TraceSolver, best_premises
from symbouq.ontology import ASSERTED, QUERIED, Ontology


class Verdict(StrEnum):
    """The four outcomes of a claim (Eq. status_space and the evaluability flag)."""

    ENTAILED = "entailed"
    CONTRADICTED = "contradicted"
    UNKNOWN = "unknown"
    NOT_EVALUABLE = "not-evaluable"

    @property
    def determinate(self) -> bool:
        """Whether the verdict decides the claim."""
        return self in (Verdict.ENTAILED, Verdict.CONTRADICTED)


def reads_assumed(assumed: str, grounded: str, context: str) -> bool:
    """Whether a context has a claim's assumed verdict, not its grounded one.

    The non-committal one never admits an unresolved claim, and still tells that a claim
    contradicts earlier ones.

    Args:
        assumed: The claim's verdict under the assumed context.
        grounded: Its verdict under the grounded one.
        context: One of `symbouq.records.Context`.
    """
    if context == "non-committal":
        return grounded == Verdict.UNKNOWN and assumed == Verdict.CONTRADICTED
    return context == "assumed"


Triple = tuple[int, str, int]
"""(subject slot, relation name, object slot)."""

Clashes = list[tuple[str, tuple[str, ...]]]
"""Codes of the closure's clashes with the relations that they name."""

REPAIR_BUDGET = 3
"""The largest repair that the paper's bounded value tells apart; beyond it is 4."""


_ROUNDS = 40
"""Bound on the search for the best premises, which is hard in the worst case."""

_DECISIONS_REMEMBERED = 2_000
"""Bound on what is remembered of one scene."""


@dataclass(frozen=True)
class Premise:
    """One premise: a scene sentence (or scene relation) or a generated claim.

    Attributes:
        source: `scene` or `claim`.
        number: Its number, from 1.
    """

    source: str
    number: int

    def __str__(self) -> str:
        return f"{self.source}:{self.number}"


@dataclass
class ClaimResult:
    """What the auditor says about one claim.

    Attributes:
        verdict: Under the assumed context (Eq. prefix).
        grounded: Under the grounded context (Eq. trusted).
        repair: The exact repair distance; 0 where nothing is to be repaired, None
            where no removal of generated relations repairs the claim.
        first_conflict: Whether adding the claim first makes the context infeasible.
        feasible_after: Whether the assumed context with the claim is feasible.
        premises: What a determinate verdict rests on.
        fault: The relation that a contradicted claim's premises exclude.
        reason: Name of the message that explains the verdict.
        clashes: Codes and relations of the closure's clashes, for the message.
    """

    verdict: Verdict
    grounded: Verdict
    repair: int | None = 0
    first_conflict: bool = False
    feasible_after: bool = True
    premises: tuple[Premise, ...] = ()
    fault: Triple | None = None
    reason: str = "unknown"
    clashes: Clashes = field(default_factory=list)

    @property
    def conditional(self) -> bool:
        """A determinate verdict that does not survive under the grounded context."""
        return self.verdict.determinate and self.verdict is not self.grounded

    @property
    def bounded_repair(self) -> int:
        """The paper's repair value, 0 to 4."""
        if self.repair is None or self.repair > REPAIR_BUDGET:
            return REPAIR_BUDGET + 1
        return self.repair


@dataclass
class TraceResult:
    """What the auditor says about one trace.

    Attributes:
        feasible: Whether the scene alone is feasible.
        clash: Premises of the scene that contradict each other, where it is not.
        clash_reasons: Codes and relations of that clash, where closure names it.
        claims: One result per claim, in order.
    """

    feasible: bool
    clash: tuple[Premise, ...]
    clash_reasons: Clashes
    claims: list[ClaimResult]


@dataclass(frozen=True)
class _Unit:
    """A premise with the atoms that it brings into a context."""

    premise: Premise
    atoms: tuple[Atom, ...]


@dataclass
class _Decision:
    """A group's verdict in one context, with what it rests on."""

    verdict: Verdict
    premises: tuple[Premise, ...] = ()
    faults: tuple[Triple, ...] = ()
    clashes: Clashes = field(default_factory=list)
    immediate: bool = False


def audit_relations(
    ontology: Ontology,
    scene: Sequence[tuple[int, Sequence[Triple]]],
    claims: Sequence[Sequence[Triple]],
) -> TraceResult:
    """Audits relations: Eqs. trusted to repair over slots.

    Args:
        ontology: The tables of the profile.
        scene: For each premise of the scene its number and its relations.
        claims: For each claim its relations, possibly none.
    """
    return _Audit(ontology, scene, claims).run()


class _Audit:
    """One run over one trace. Relations are taken in the order of slots that their
    mirror image allows, so that `A left B` and `B right A` are one atom.
    """

    def __init__(
        self,
        ontology: Ontology,
        scene: Sequence[tuple[int, Sequence[Triple]]],
        claims: Sequence[Sequence[Triple]],
    ) -> None:
        self.ontology = ontology
        oriented = ontology.oriented
        readings = ontology.readings
        current = current_scene(ontology, scene) if ontology.updates else scene
        self.scene = [(number, tuple(map(oriented, triples))) for number, triples in current]
        self.claims = [tuple(map(oriented, triples)) for triples in claims]
        self.given = claims
        self.scene_units = [
            _Unit(
                Premise("scene", number),
                tuple((readings[ASSERTED, r], u, v) for u, r, v in triples),
            )
            for number, triples in self.scene
        ]
        self.scene_atoms = tuple(
            dict.fromkeys(atom for unit in self.scene_units for atom in unit.atoms)
        )
        self.stated: dict[tuple[int, int], list[tuple[str, int]]] = {}
        for position, (_, triples) in enumerate(self.scene):
            for u, r, v in triples:
                self.stated.setdefault((u, v), []).append((r, position))
        self.several = next(
            (n for n, (_, triples) in enumerate(self.scene) if len(triples) > 1), len(self.scene)
        )
        self.decisions: dict[frozenset[Triple], _Decision] = {}

    def atom(self, triple: Triple) -> Atom:
        """A claimed relation as the atom that its reading makes of it."""
        u, r, v = triple
        return self.ontology.readings[QUERIED, r], u, v

    # The decisions that the tables make without a solver ------------------------------

    def at_once(self, triple: Triple) -> tuple[Verdict, int] | None:
        """The verdict on a relation that one scene relation over the same two things
        implies or excludes, with the position of the earliest such premise. None where an
        earlier premise might do as much by the rules.
        """
        u, r, v = triple
        if u == v or (v, u) in self.stated:
            return None
        moves = self.ontology.moves
        for stated, position in self.stated.get((u, v), ()):
            if position > self.several:
                return None
            if (stated, r) in self.ontology.suffices:
                return Verdict.ENTAILED, position
            if r in moves and r in self.ontology.excludes.get(stated, ()):
                return Verdict.CONTRADICTED, position
            if stated not in moves:
                return None
        return None

    def decided_at_once(self, claim: tuple[Triple, ...]) -> _Decision | None:
        """The verdict of a claim with one relation, where the tables decide it."""
        if len(set(claim)) != 1:
            return None
        found = self.at_once(claim[0])
        if found is None:
            return None
        verdict, position = found
        faults = claim[:1] if verdict is Verdict.CONTRADICTED else ()
        return _Decision(verdict, (self.scene_units[position].premise,), faults, immediate=True)

    # The run -------------------------------------------------------------------------

    def run(self) -> TraceResult:
        known = _known_scene(self.ontology, tuple(self.scene_units))
        pending: dict[frozenset[Triple], None] = {}
        for claim in self.claims:
            key = frozenset(claim)
            if claim and key not in known.decisions:
                decision = self.decided_at_once(claim)
                if decision is None:
                    pending[key] = None
                else:
                    known.decisions[key] = decision
        self.decisions = known.decisions
        if known.finding is None and self.chained:
            known.finding = _Finding(True)
        if known.finding is None:
            known.finding = _decide_scene(self.solver, self.scene_units)
        finding = known.finding
        if not finding.feasible:
            blocked = [self.blocked(claim) for claim in self.claims]
            return TraceResult(False, finding.clash, finding.reasons, blocked)
        if len(known.decisions) > _DECISIONS_REMEMBERED:
            _known_scene.cache_clear()
        for key in pending:
            known.decisions[key] = self.decide(key, self.scene_units, self.scene_atoms)
        return TraceResult(True, (), [], self.walk())

    @cached_property
    def solver(self) -> TraceSolver:
        """The solver for the scene and every claim that it may leave open."""
        decisions = self.decisions
        groups: dict[Group, None] = {}
        for key in map(frozenset, self.claims):
            if key and not (key in decisions and decisions[key].verdict.determinate):
                groups[frozenset(map(self.atom, key))] = None
        atoms = dict.fromkeys(self.scene_atoms)
        for group in groups:
            atoms.update(dict.fromkeys(sorted(group)))
        return TraceSolver(self.ontology, atoms, groups)

    @staticmethod
    def blocked(claim: tuple[Triple, ...]) -> ClaimResult:
        """A claim whose scene contradicts itself."""
        if not claim:
            return ClaimResult(
                Verdict.UNKNOWN, Verdict.UNKNOWN, feasible_after=False, reason="unparsed"
            )
        return ClaimResult(
            Verdict.NOT_EVALUABLE,
            Verdict.NOT_EVALUABLE,
            feasible_after=False,
            reason="blocked_scene",
        )

    def decide(
        self, key: frozenset[Triple], units: list[_Unit], context: Sequence[Atom]
    ) -> _Decision:
        """The verdict on a claim's relations in a feasible context (Eq. status, and the
        conservative rule for several relations).
        """
        solver = self.solver
        group = frozenset(map(self.atom, key))
        core = solver.refutation_core(context, group)
        if core is not None:
            decides = partial(solver.entails, group=group)
            return _Decision(Verdict.ENTAILED, self.premises(units, core, key, decides))
        best: tuple[Premise, ...] | None = None
        faults: list[Triple] = []
        for triple in sorted(key):
            atom = self.atom(triple)
            core = solver.core([*context, atom])
            if core is None:
                continue
            decides = partial(solver.excludes, atom=atom)
            premises = self.premises(units, core, [triple], decides)
            if best is None or _cost(premises) < _cost(best):
                best = premises
                faults.insert(0, triple)
            else:
                faults.append(triple)
        if best is None:
            return _Decision(Verdict.UNKNOWN)
        clashes: Clashes = []
        if faults[0][1] not in self.ontology.moves:
            named = set(best)
            atoms = _atoms(unit for unit in units if unit.premise in named)
            clashes = solver.clashes((*atoms, self.atom(faults[0])))
        return _Decision(Verdict.CONTRADICTED, best, tuple(faults), clashes)

    def premises(
        self,
        units: Sequence[_Unit],
        core: set[Atom],
        triples: Collection[Triple],
        decides: Callable[[Sequence[Atom]], bool],
    ) -> tuple[Premise, ...]:
        """The best premises for a verdict on some relations, given a core.

        Where directions tie the things of the scene together without a cycle, one chain
        at most joins two of them: what is decided of the two rests on all of it.
        """
        if len(triples) == 1 and self.chained and len(units) == len(self.scene_units):
            ((u, r, v),) = triples
            if u != v and r in self.ontology.moves:
                return tuple(units[n].premise for n in sorted(self.chain(u, v)))
        return _best(units, core, decides)

    @cached_property
    def chained(self) -> bool:
        """Whether the scene is a forest: one direction per premise, and no cycle.

        A forest is feasible: each thing can be placed by the one before it.
        """
        if self.ontology.rules or self.ontology.extent:
            return False  # rules may know more, and extents tie a thing's own ends
        roots: dict[int, int] = {}

        def root(thing: int) -> int:
            while roots.setdefault(thing, thing) != thing:
                thing = roots[thing]
            return thing

        for _, triples in self.scene:
            if len(triples) != 1 or triples[0][1] not in self.ontology.moves:
                return False
            u, _, v = triples[0]
            first, second = root(u), root(v)
            if first == second:
                return False
            roots[first] = second
        return True

    def chain(self, first: int, last: int) -> list[int]:
        """The premises, by position, that join two things of a scene without cycles."""
        ways: dict[int, list[int]] = {first: []}
        ahead = [first]
        while ahead and last not in ways:
            here = ahead.pop()
            for position, other in self.ties[here]:
                if other not in ways:
                    ways[other] = [*ways[here], position]
                    ahead.append(other)
        return ways[last]

    @cached_property
    def ties(self) -> dict[int, list[tuple[int, int]]]:
        """For each thing the premises about it, by position, with the other thing."""
        found: dict[int, list[tuple[int, int]]] = {}
        for position, (_, triples) in enumerate(self.scene):
            for u, _, v in triples:
                found.setdefault(u, []).append((position, v))
                found.setdefault(v, []).append((position, u))
        return found

    def walk(self) -> list[ClaimResult]:
        """The claims in order, each under the assumed context that precedes it.

        A claim that the scene entails adds nothing to a context; a verdict of the scene
        alone holds in every feasible context that extends it. So only a claim that the
        scene leaves open is decided anew, and only once such claims have been admitted.
        """
        results: list[ClaimResult] = []
        admitted: list[_Unit] = []
        instances: list[Atom] = []
        feasible = True
        for number, claim in enumerate(self.claims, start=1):
            if not claim:
                results.append(
                    ClaimResult(
                        Verdict.UNKNOWN, Verdict.UNKNOWN, feasible_after=feasible, reason="unparsed"
                    )
                )
                continue
            key = frozenset(claim)
            ground = self.decisions[key]
            if not feasible:
                results.append(
                    ClaimResult(
                        Verdict.NOT_EVALUABLE,
                        ground.verdict,
                        feasible_after=False,
                        reason="blocked",
                    )
                )
                continue
            decision = ground
            context = self.scene_atoms
            if admitted:
                context = (*context, *dict.fromkeys(a for unit in admitted for a in unit.atoms))
                if not ground.verdict.determinate:
                    decision = self.decide(key, [*self.scene_units, *admitted], context)
            result = ClaimResult(decision.verdict, ground.verdict, premises=decision.premises)
            if decision.verdict is Verdict.CONTRADICTED:
                feasible = False
                self.explain_conflict(number, result, decision, instances)
            elif ground.verdict is not Verdict.ENTAILED:
                atoms = tuple(dict.fromkeys(map(self.atom, claim)))
                if decision.verdict is Verdict.UNKNOWN and len(atoms) > 1:
                    feasible = self.solver.feasible((*context, *atoms))
                    result.reason = "unknown" if feasible else "self_conflict"
                admitted.append(_Unit(Premise("claim", number), atoms))
                instances.extend(map(self.atom, claim))
            if decision.verdict is Verdict.ENTAILED:
                result.reason = (
                    "restated"
                    if decision.immediate
                    else "entailed"
                    if decision.premises
                    else "tautology"
                )
            result.feasible_after = feasible
            result.first_conflict = not feasible
            results.append(result)
        return results

    def explain_conflict(
        self,
        number: int,
        result: ClaimResult,
        decision: _Decision,
        instances: Sequence[Atom],
    ) -> None:
        """Fills in what a contradicted claim needs: its fault, repair and reason."""
        fault = decision.faults[0]
        # Reported as the claim puts it, not as its mirror image.
        result.fault = self.given[number - 1][self.claims[number - 1].index(fault)]
        result.reason = "contradicted" if decision.premises else "impossible"
        if result.grounded is Verdict.CONTRADICTED:
            result.repair = None
        else:
            # The scene leaves room for each relation, so removing claims repairs it.
            result.repair = max(
                self.solver.repair((*self.scene_atoms, self.atom(triple)), instances)
                for triple in decision.faults
            )
        result.clashes = decision.clashes


def current_scene(
    ontology: Ontology, scene: Sequence[tuple[int, Sequence[Triple]]]
) -> list[tuple[int, list[Triple]]]:
    """A scene without what a later premise replaces: of a functional relation, the last
    statement about a subject counts (the state updates of a profile).
    """
    last = {
        (r, u): position
        for position, (_, triples) in enumerate(scene)
        for u, r, _ in triples
        if r in ontology.functional
    }
    return [
        (number, [(u, r, v) for u, r, v in triples if last.get((r, u), position) == position])
        for position, (number, triples) in enumerate(scene)
    ]


@dataclass(frozen=True)
class _Finding:
    """Whether a scene is feasible; else its clashing premises and their reasons."""

    feasible: bool
    clash: tuple[Premise, ...] = ()
    reasons: Clashes = field(default_factory=list)


@dataclass
class _KnownScene:
    """What has been found out about a scene. Many traces answer questions about one
    scene, and what it decides does not depend on the trace.
    """

    finding: _Finding | None = None
    decisions: dict[frozenset[Triple], _Decision] = field(default_factory=dict)


@lru_cache(maxsize=1024)
def _known_scene(_ontology: Ontology, _units: tuple[_Unit, ...]) -> _KnownScene:
    """The record of a scene, new or known."""
    return _KnownScene()


def _decide_scene(solver: TraceSolver, units: Sequence[_Unit]) -> _Finding:
    core = solver.core(dict.fromkeys(atom for unit in units for atom in unit.atoms))
    if core is None:
        return _Finding(True)
    premises = _best(units, core, lambda atoms: not solver.feasible(atoms))
    named = set(premises)
    atoms = [atom for unit in units if unit.premise in named for atom in unit.atoms]
    return _Finding(False, premises, solver.clashes(atoms))


def _cost(premises: Sequence[Premise]) -> tuple[int, int, list[tuple[bool, int]]]:
    """What makes premises better: fewer claims, fewer premises, earlier ones."""
    places = sorted((premise.source == "claim", premise.number) for premise in premises)
    return sum(claimed for claimed, _ in places), len(places), places


def _atoms(units: Iterable[_Unit]) -> list[Atom]:
    return list(dict.fromkeys(atom for unit in units for atom in unit.atoms))


def _undominated(units: Sequence[_Unit]) -> list[_Unit]:
    """The units, in order, without those that an earlier one makes superfluous."""
    kept: list[_Unit] = []
    seen: set[Atom] = set()
    for unit in units:
        if len(unit.atoms) == 1:
            dominated = unit.atoms[0] in seen
        else:
            dominated = any(set(unit.atoms) <= set(other.atoms) for other in kept)
        if not dominated:
            kept.append(unit)
            seen.update(unit.atoms)
    return kept


def _best(
    units: Sequence[_Unit], core: set[Atom], decides: Callable[[Sequence[Atom]], bool]
) -> tuple[Premise, ...]:
    """The best minimal set of premises: from the scene alone where one exists, else
    with the fewest claims, then the fewest premises, then the earliest.

    A premise without which the rest no longer decides is in every such set; where
    these decide by themselves, they are the only minimal set. Otherwise the set is
    found by hitting-set duality: the best set that meets all correction sets known
    so far either decides, or yields one more of them. Should that take more than
    _ROUNDS rounds, a minimal set is given that need not be the best.

    Args:
        units: All premises of the context, scene first, in order.
        core: Atoms that decide together, as the solver found them.
        decides: Whether some atoms suffice for the verdict.
    """
    units = _undominated(units)
    candidates = [unit for unit in units if not core.isdisjoint(unit.atoms)]
    needed = [
        unit
        for unit in candidates
        if not decides(_atoms(other for other in units if other is not unit))
    ]
    if len(needed) == len(candidates) or decides(_atoms(needed)):
        return tuple(unit.premise for unit in needed)
    position = {unit.premise: n for n, unit in enumerate(units)}
    claims = [n for n, unit in enumerate(units) if unit.premise.source == "claim"]
    corrections = [frozenset([position[unit.premise]]) for unit in needed]
    picked = frozenset(position[unit.premise] for unit in needed)
    for _ in range(_ROUNDS):
        if decides(_atoms(units[n] for n in sorted(picked))):
            return tuple(units[n].premise for n in sorted(picked))
        grown = set(picked)
        for n in range(len(units)):
            if n not in grown and not decides(_atoms(units[m] for m in sorted({*grown, n}))):
                grown.add(n)
        corrections.append(frozenset(range(len(units))) - grown)
        picked = best_premises(corrections, claims, len(units) - 1)
    left = candidates
    for unit in reversed(candidates):  # the latest claims go first
        rest = [other for other in left if other is not unit]
        if decides(_atoms(rest)):
            left = rest
    return tuple(unit.premise for unit in left)
