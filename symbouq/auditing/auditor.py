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

from symbouq.limits import LimitError
from symbouq.logic.programs import Atom, Group, TraceSolver, best_premises, clashes, repair
from symbouq.logic.scene import current_scene
from symbouq.ontology.library import ASSERTED, QUERIED, Ontology, Triple


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


Clashes = list[tuple[str, tuple[str, ...]]]
"""Codes of the closure's clashes with the relations that they name."""

REPAIR_BUDGET = 3
"""The largest repair that the paper's bounded value tells apart; beyond it is 4."""


_ROUNDS = 40
"""Bound on the search for the best premises, which is hard in the worst case."""

_DECISIONS_REMEMBERED = 2_000
"""Bound on what is remembered of one scene."""

_FEW_THINGS = 8
"""Things up to which one program serves all claims of a trace, also where it has the closure,
which grows with the cube of what claims and scene tie together."""


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
        reason: Name of the message that explains the verdict; `timed_out` where a limit was
            reached before there was one.
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
        timed_out: Whether a limit was reached: verdicts with the reason `timed_out` are then
            missing, and repairs and premises may not be the best.
    """

    feasible: bool
    clash: tuple[Premise, ...]
    clash_reasons: Clashes
    claims: list[ClaimResult]
    timed_out: bool = False

    @property
    def undecided(self) -> list[int]:
        """The numbers of the claims that a limit left without a verdict."""
        return [n for n, c in enumerate(self.claims, start=1) if c.reason == "timed_out"]

    def whole(self) -> TraceResult:
        """The same, where no limit was reached.

        Raises:
            LimitError: If one was.
        """
        if self.timed_out:
            raise LimitError
        return self


@dataclass(frozen=True)
class _Unit:
    """A premise with the atoms that it brings into a context."""

    premise: Premise
    atoms: tuple[Atom, ...]


@dataclass(frozen=True)
class _Grounds:
    """What a determinate verdict rests on.

    Attributes:
        premises: The best premises.
        fault: The relation of a contradicted claim that they exclude.
        clashes: Codes and relations of the closure's clashes.
    """

    premises: tuple[Premise, ...]
    fault: Triple | None = None
    clashes: Clashes = field(default_factory=list)


@dataclass
class _Decision:
    """A claim's verdict in one context.

    Attributes:
        verdict: The verdict.
        units: The premises of the context.
        cores: For an entailed claim its relations, for a contradicted one each relation that
            is at fault, with atoms of the context that decide it, as the solver found them.
        grounds: What the verdict rests on, once it has been asked for.
        immediate: Whether one premise over the same things decides it by the tables.
    """

    verdict: Verdict
    units: Sequence[_Unit] = ()
    cores: dict[frozenset[Triple], set[Atom]] = field(default_factory=dict)
    grounds: _Grounds | None = None
    immediate: bool = False

    @property
    def explained(self) -> bool:
        """Whether no solver is needed any more, in this context."""
        return self.verdict.determinate and self.grounds is not None


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
        self.timed_out = False

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
        fault = claim[0] if verdict is Verdict.CONTRADICTED else None
        grounds = _Grounds((self.scene_units[position].premise,), fault)
        return _Decision(verdict, grounds=grounds, immediate=True)

    # The run -------------------------------------------------------------------------

    def run(self) -> TraceResult:
        known = _known_scene(self.ontology, tuple(self.scene_units))
        self.decisions = known.decisions
        pending: dict[frozenset[Triple], None] = {}
        for claim in self.claims:
            key = frozenset(claim)
            if claim and key not in known.decisions:
                decision = self.decided_at_once(claim)
                if decision is None:
                    pending[key] = None
                else:
                    known.decisions[key] = decision
        if known.finding is None and self.chained:
            known.finding = _Finding(True)
        if known.finding is None:
            try:
                finding = self.decide_scene()
            except LimitError:
                undecided = [_undecided() if claim else _unparsed() for claim in self.claims]
                return TraceResult(True, (), [], undecided, True)
            if not self.timed_out:  # else not the best premises
                known.finding = finding
        else:
            finding = known.finding
        if not finding.feasible:
            blocked = [self.blocked(claim) for claim in self.claims]
            return TraceResult(False, finding.clash, finding.reasons, blocked, self.timed_out)
        if len(known.decisions) > _DECISIONS_REMEMBERED:
            _known_scene.cache_clear()
        for key in pending:
            try:
                known.decisions[key] = self.decide(key, self.scene_units)
            except LimitError:
                self.timed_out = True
                break
        results = self.walk()
        return TraceResult(True, (), [], results, self.timed_out)

    def decide_scene(self) -> _Finding:
        """Whether the scene is feasible; else the best premises that clash, and why; those of
        a core, and no reason, where there is no time for more.

        Raises:
            LimitError: If it is not known in time whether it is.
        """
        solver = self.shared or TraceSolver(self.ontology, self.scene_atoms)
        core = solver.core(self.scene_atoms)
        if core is None:
            return _Finding(True)
        try:
            premises = _best(self.scene_units, core, solver.core)
            named = set(premises)
            atoms = _atoms(unit for unit in self.scene_units if unit.premise in named)
            return _Finding(False, premises, clashes(self.ontology, atoms))
        except LimitError:
            self.timed_out = True
            return _Finding(False, _of_core(self.scene_units, core))

    @cached_property
    def shared(self) -> TraceSolver | None:
        """The solver for the scene and every claim of which something is to be found out;
        None where a program for each claim is cheaper.
        """
        decisions = self.decisions
        groups: dict[Group, None] = {}
        for key in map(frozenset, self.claims):
            if key and not (key in decisions and decisions[key].explained):
                groups[frozenset(map(self.atom, key))] = None
        atoms = dict.fromkeys(self.scene_atoms)
        for group in groups:
            atoms.update(dict.fromkeys(sorted(group)))
        things = {thing for _, u, v in atoms for thing in (u, v)}
        if len(things) > _FEW_THINGS and self.ontology.closes({key for key, _, _ in atoms}):
            return None
        return TraceSolver(self.ontology, atoms, groups)

    def solver(self, context: Sequence[Atom], group: Group) -> TraceSolver:
        """A solver for a context and the relations of a claim."""
        if self.shared is not None:
            return self.shared
        return TraceSolver(self.ontology, dict.fromkeys([*context, *sorted(group)]), [group])

    @staticmethod
    def blocked(claim: tuple[Triple, ...]) -> ClaimResult:
        """A claim whose scene contradicts itself."""
        if not claim:
            return _unparsed(feasible=False)
        return ClaimResult(
            Verdict.NOT_EVALUABLE,
            Verdict.NOT_EVALUABLE,
            feasible_after=False,
            reason="blocked_scene",
        )

    def decide(self, key: frozenset[Triple], units: Sequence[_Unit]) -> _Decision:
        """The verdict on a claim's relations in a feasible context (Eq. status, and the
        conservative rule for several relations).

        Args:
            key: The relations.
            units: The premises of the context.

        Raises:
            LimitError: If there is no verdict in time.
        """
        context = _atoms(units)
        group = frozenset(map(self.atom, key))
        solver = self.solver(context, group)
        core = solver.refutation_core(context, group)
        if core is not None:
            return _Decision(Verdict.ENTAILED, units, {key: core})
        cores: dict[frozenset[Triple], set[Atom]] = {}
        for triple in sorted(key):
            core = solver.exclusion_core(context, self.atom(triple))
            if core is not None:
                cores[frozenset([triple])] = core
        verdict = Verdict.CONTRADICTED if cores else Verdict.UNKNOWN
        return _Decision(verdict, units, cores)

    def grounds(self, decision: _Decision) -> _Grounds:
        """What a determinate verdict rests on: of the relations at fault, the one that takes
        the best premises. Where there is no time to find them, a core has to do.
        """
        if decision.grounds is None:
            try:
                decision.grounds = self.best_grounds(decision)
            except LimitError:
                self.timed_out = True
                triples, core = next(iter(decision.cores.items()))
                return _Grounds(_of_core(decision.units, core), min(triples))
        return decision.grounds

    def best_grounds(self, decision: _Decision) -> _Grounds:
        """The same without regard to time.

        Raises:
            LimitError: If there is not enough.
        """
        units = decision.units
        context = _atoms(units)
        found: list[tuple[tuple[Premise, ...], Triple]] = []
        for triples, core in decision.cores.items():
            group = frozenset(map(self.atom, triples))
            solver = self.solver(context, group)
            if decision.verdict is Verdict.ENTAILED:
                core_of: CoreOf = partial(solver.refutation_core, group=group)
            else:
                core_of = partial(solver.exclusion_core, atom=min(group))
            found.append((self.premises(units, core, triples, core_of), min(triples)))
        premises, fault = min(found, key=lambda each: _cost(each[0]))
        if decision.verdict is Verdict.ENTAILED:
            return _Grounds(premises)
        reasons: Clashes = []
        if fault[1] not in self.ontology.moves:
            named = set(premises)
            atoms = _atoms(unit for unit in units if unit.premise in named)
            reasons = clashes(self.ontology, dict.fromkeys([*atoms, self.atom(fault)]))
        return _Grounds(premises, fault, reasons)

    def premises(
        self,
        units: Sequence[_Unit],
        core: set[Atom],
        triples: Collection[Triple],
        core_of: CoreOf,
    ) -> tuple[Premise, ...]:
        """The best premises for a verdict on some relations, given a core.

        Where directions tie the things of the scene together without a cycle, one chain
        at most joins two of them: what is decided of the two rests on all of it.

        Raises:
            LimitError: If there is no time for it.
        """
        if len(triples) == 1 and self.chained and len(units) == len(self.scene_units):
            ((u, r, v),) = triples
            if u != v and r in self.ontology.moves:
                return tuple(units[n].premise for n in sorted(self.chain(u, v)))
        return _best(units, core, core_of)

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
        explanations: list[Callable[[], None]] = []
        admitted: list[_Unit] = []
        instances: list[Atom] = []
        feasible = True
        decided = True
        for number, claim in enumerate(self.claims, start=1):
            if not claim:
                results.append(_unparsed(feasible))
                continue
            ground = self.decisions.get(frozenset(claim))
            if ground is None or not decided:
                # What follows has it among its context.
                decided = False
                grounded = ground.verdict if ground is not None else Verdict.UNKNOWN
                results.append(_undecided(grounded, feasible))
                continue
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
            try:
                decision, result = self.step(number, claim, ground, admitted, instances)
            except LimitError:
                self.timed_out = True
                decided = False
                results.append(_undecided(ground.verdict))
                continue
            feasible = result.feasible_after
            results.append(result)
            if decision.verdict.determinate:
                explanations.append(
                    partial(self.explain, number, result, decision, tuple(instances))
                )
        # Verdicts first: should time run out, that costs the best premises alone.
        for explain in explanations:
            explain()
        return results

    def step(
        self,
        number: int,
        claim: tuple[Triple, ...],
        ground: _Decision,
        admitted: list[_Unit],
        instances: list[Atom],
    ) -> tuple[_Decision, ClaimResult]:
        """A claim under a feasible assumed context, to which it is added: what is decided of
        it there, and the result, not yet explained.

        Args:
            number: Its number, from 1.
            claim: Its relations.
            ground: What the scene alone decides of it.
            admitted: The claims of the context that the scene does not entail.
            instances: Their relation instances, one by one.

        Raises:
            LimitError: If there is no verdict in time.
        """
        decision = ground
        units = [*self.scene_units, *admitted]
        if admitted and not ground.verdict.determinate:
            decision = self.decide(frozenset(claim), units)
        result = ClaimResult(decision.verdict, ground.verdict)
        if decision.verdict is Verdict.CONTRADICTED:
            result.feasible_after = False
        elif ground.verdict is not Verdict.ENTAILED:
            atoms = tuple(dict.fromkeys(map(self.atom, claim)))
            if decision.verdict is Verdict.UNKNOWN and len(atoms) > 1:
                context = _atoms(units)
                solver = self.solver(context, frozenset(atoms))
                result.feasible_after = solver.feasible((*context, *atoms))
                result.reason = "unknown" if result.feasible_after else "self_conflict"
            admitted.append(_Unit(Premise("claim", number), atoms))
            instances.extend(map(self.atom, claim))
        result.first_conflict = not result.feasible_after
        return decision, result

    def explain(
        self, number: int, result: ClaimResult, decision: _Decision, instances: Sequence[Atom]
    ) -> None:
        """Fills in what a determinate verdict rests on, and what would repair a conflict.

        Args:
            number: The claim's number, from 1.
            result: Its result.
            decision: Its verdict under the assumed context.
            instances: The generated relation instances of that context.
        """
        grounds = self.grounds(decision)
        result.premises = grounds.premises
        if decision.verdict is Verdict.ENTAILED:
            result.reason = (
                "restated"
                if decision.immediate
                else "entailed"
                if grounds.premises
                else "tautology"
            )
            return
        result.reason = "contradicted" if grounds.premises else "impossible"
        result.clashes = grounds.clashes
        fault = grounds.fault
        assert fault is not None  # a contradicted claim has one
        # Reported as the claim puts it, not as its mirror image.
        result.fault = self.given[number - 1][self.claims[number - 1].index(fault)]
        result.repair = None
        if result.grounded is Verdict.CONTRADICTED:
            return
        # The scene leaves room for each relation, so removing claims repairs it.
        faults = [triple for triples in decision.cores for triple in triples]
        try:
            result.repair = max(
                repair(self.ontology, (*self.scene_atoms, self.atom(triple)), instances)
                for triple in faults
            )
        except LimitError:
            self.timed_out = True


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


def _unparsed(feasible: bool = True) -> ClaimResult:
    """A claim without relations, in a context that is feasible or not."""
    unknown = Verdict.UNKNOWN
    return ClaimResult(unknown, unknown, feasible_after=feasible, reason="unparsed")


def _undecided(grounded: Verdict = Verdict.UNKNOWN, feasible: bool = True) -> ClaimResult:
    """A claim that a limit left without a verdict.

    Args:
        grounded: Its grounded verdict, if there is one.
        feasible: Whether the assumed context is; in one that is not, no claim is evaluable.
    """
    verdict = Verdict.UNKNOWN if feasible else Verdict.NOT_EVALUABLE
    return ClaimResult(verdict, grounded, feasible_after=feasible, reason="timed_out")


def _cost(premises: Sequence[Premise]) -> tuple[int, int, list[tuple[bool, int]]]:
    """What makes premises better: fewer claims, fewer premises, earlier ones."""
    places = sorted((premise.source == "claim", premise.number) for premise in premises)
    return sum(claimed for claimed, _ in places), len(places), places


def _of_core(units: Sequence[_Unit], core: set[Atom]) -> tuple[Premise, ...]:
    """The premises that have a part in a core: they decide, but need not be minimal."""
    return tuple(unit.premise for unit in _undominated(units) if _meets(unit, core))


def _meets(unit: _Unit, core: set[Atom]) -> bool:
    """Whether a premise has a part in a core."""
    return not core.isdisjoint(unit.atoms)


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


CoreOf = Callable[[Sequence[Atom]], set[Atom] | None]
"""Gives atoms among some that decide together, if these do."""


def _best(units: Sequence[_Unit], core: set[Atom], core_of: CoreOf) -> tuple[Premise, ...]:
    """The best minimal set of premises: from the scene alone where one exists, else
    with the fewest claims, then the fewest premises, then the earliest.

    A premise without which the rest no longer decides is in every such set; where
    these decide by themselves, they are the only minimal set. Otherwise the set is
    found by hitting-set duality: the best set that meets all correction sets known
    so far either decides, or yields one more of them. Should that take more than
    _ROUNDS rounds, a minimal set is given that need not be the best. Which cores the
    solver happens to find makes no difference to the outcome.

    Args:
        units: All premises of the context, scene first, in order.
        core: Atoms that decide together, as the solver found them.
        core_of: Finds such atoms among others, if there are some.

    Raises:
        LimitError: If there is no time for it.
    """
    units = _undominated(units)
    candidates = [unit for unit in units if _meets(unit, core)]
    needed: list[_Unit] = []
    while candidates:
        unit = candidates.pop(0)
        other_core = core_of(_atoms(other for other in units if other is not unit))
        if other_core is None:
            needed.append(unit)
        else:  # what is in every deciding set is in this one
            candidates = [other for other in candidates if _meets(other, other_core)]
    position = {unit.premise: n for n, unit in enumerate(units)}
    claims = [n for n, unit in enumerate(units) if unit.premise.source == "claim"]
    corrections = [frozenset([position[unit.premise]]) for unit in needed]
    picked = frozenset(position[unit.premise] for unit in needed)

    def decides(places: Iterable[int]) -> bool:
        return core_of(_atoms(units[n] for n in sorted(places))) is not None

    for _ in range(_ROUNDS):
        if decides(picked):
            return tuple(units[n].premise for n in sorted(picked))
        corrections.append(frozenset(_correction(len(units), picked, decides)))
        picked = best_premises(corrections, claims, len(units) - 1)
    left = dict.fromkeys(range(len(units)))
    for n in reversed(range(len(units))):  # the latest claims go first
        if decides(left.keys() - {n}):
            del left[n]
    return tuple(units[n].premise for n in left)


def _correction(
    count: int, picked: Collection[int], decides: Callable[[Iterable[int]], bool]
) -> list[int]:
    """The premises outside of a largest set that does not decide: what is picked, and one
    premise after the other that does not make it decide. Looked for by halves, since few
    of them do.
    """
    kept = set(picked)
    left_out: list[int] = []
    blocks = [[n for n in range(count) if n not in kept]]
    while blocks:
        block = blocks.pop()
        if not decides({*kept, *block}):
            kept.update(block)
        elif len(block) == 1:
            left_out += block
        else:
            middle = len(block) // 2
            blocks += (block[middle:], block[:middle])
    return left_out
