"""The Layout Auditor: verdicts, conflicts, repairs and premises of the relations of one trace.

Implements the Methodology section's Layout Auditor and the appendix on its
implementation (Eqs. trusted, prefix, status, repair). Two contexts are decided for
every claim: the assumed one, which admits every earlier claim, and the grounded one.
The grounded context only ever adds what the scene entails already, so a grounded
verdict is a verdict under the scene alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial

from symbouq.auditing.alternatives import Alternatives, judge_alternatives
from symbouq.auditing.premises import (
    Unit,
    atoms_of,
    best_premises,
    premise_cost,
    premises_of_core,
)
from symbouq.auditing.shortcuts import DirectVerdicts
from symbouq.auditing.verdicts import ClaimResult, Clashes, Premise, TraceResult, Verdict
from symbouq.auditing.walk import ClaimWalk, SceneDecision, Step
from symbouq.limits import LimitError
from symbouq.logic.differences import solver_for
from symbouq.logic.programs import Atom, Group, Solver, clashes, repair
from symbouq.logic.scene import current_scene
from symbouq.ontology.source import ASSERTED as STATED
from symbouq.ontology.source import QUERIED
from symbouq.ontology.tables import Ontology, Triple
from symbouq.reading.text import ASSERTED, Count

_DECISIONS_REMEMBERED = 2_000
"""Bound on the decisions remembered of one scene."""

_FEW_THINGS = 16
"""Things up to which one program serves all claims of a trace, also where it has the closure,
which grows with the cube of the things that claims and scene tie together."""


@dataclass(frozen=True)
class _Grounds:
    """The reasons of a determinate verdict.

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
            is at fault, with atoms of the context that decide it, as the solver found them;
            empty where no solver was asked.
        grounds: The reasons of the verdict, once they have been asked for.
        immediate: Whether one premise over the same things decides it by the tables.
    """

    verdict: Verdict
    units: Sequence[Unit] = ()
    cores: dict[frozenset[Triple], set[Atom]] = field(default_factory=dict)
    grounds: _Grounds | None = None
    immediate: bool = False

    @property
    def explained(self) -> bool:
        """Whether no solver is needed any more, in this context."""
        return self.verdict.determinate and self.grounds is not None


@dataclass
class _SceneMemory:
    """The decisions on a scene and on claims about it. Many traces answer questions about one
    scene, and what it decides does not depend on the trace.
    """

    scene: SceneDecision | None = None
    claims: dict[frozenset[Triple], _Decision] = field(default_factory=dict)


@lru_cache(maxsize=1024)
def _memory_of(_ontology: Ontology, _units: tuple[Unit, ...]) -> _SceneMemory:
    """The memory of a scene, empty at first."""
    return _SceneMemory()


@dataclass(slots=True)
class ClaimInput:
    """A claim of relations, as it is audited.

    Attributes:
        relations: Its relations, possibly none.
        stance: Its stance.
        settled: Whether the scene is all that is said of its things: else what the scene leaves
            open decides nothing about the worlds that are left.
        sure: Whether it was surely read: else it contradicts nothing.
        whole: Whether its relations are all that it says: else that they hold does not entail it.
        count: How many of its relations it says hold, where it is `counted`.
    """

    relations: Sequence[Triple]
    stance: str = ASSERTED
    settled: bool = True
    sure: bool = True
    whole: bool = True
    count: Count | None = None


def audit_relations(
    ontology: Ontology,
    scene: Sequence[tuple[int, Sequence[Triple]]],
    claims: Iterable[ClaimInput],
) -> TraceResult:
    """Audits relations: Eqs. trusted to repair over slots.

    A claim that something is necessary, possible or impossible is about the worlds that its
    context leaves, all of them, some or none, and alternatives are about what is open in them;
    neither is admitted to a context. Nor is a claim that was not surely read, and where its
    relations are contradicted it is unknown: claims are wrong less often than they are misread.

    Args:
        ontology: The tables of the profile.
        scene: For each premise of the scene its number and its relations.
        claims: The claims in order.
    """
    return _RelationAudit(ontology, scene, [*claims]).run()


_OVER_WORLDS = {
    "necessary": {
        Verdict.ENTAILED: Verdict.ENTAILED,
        Verdict.UNKNOWN: Verdict.CONTRADICTED,
        Verdict.CONTRADICTED: Verdict.CONTRADICTED,
    },
    "possible": {
        Verdict.ENTAILED: Verdict.ENTAILED,
        Verdict.UNKNOWN: Verdict.ENTAILED,
        Verdict.CONTRADICTED: Verdict.CONTRADICTED,
    },
    "impossible": {
        Verdict.ENTAILED: Verdict.CONTRADICTED,
        Verdict.UNKNOWN: Verdict.CONTRADICTED,
        Verdict.CONTRADICTED: Verdict.ENTAILED,
    },
    "unnecessary": {
        Verdict.ENTAILED: Verdict.CONTRADICTED,
        Verdict.UNKNOWN: Verdict.ENTAILED,
        Verdict.CONTRADICTED: Verdict.ENTAILED,
    },
    "undetermined": {
        Verdict.ENTAILED: Verdict.CONTRADICTED,
        Verdict.UNKNOWN: Verdict.ENTAILED,
        Verdict.CONTRADICTED: Verdict.CONTRADICTED,
    },
}
"""Stance to the verdicts on relations that hold in all worlds of a context, in some, in none."""

_COUNTED = "counted"
"""The stance of relations of which some number is said to hold."""

_OF_COUNTED = {
    Verdict.ENTAILED: "count_right",
    Verdict.CONTRADICTED: "count_wrong",
    Verdict.UNKNOWN: "count_open",
}
"""Verdicts on what is counted to the messages that explain them."""

_IN_WORLDS = {
    Verdict.ENTAILED: "in_all",
    Verdict.UNKNOWN: "in_some",
    Verdict.CONTRADICTED: "in_none",
}
"""The same verdicts to the messages that say so."""

_ALTERNATIVES = "alternatives"
"""The stance of relations that are said to be all that is open for a pair."""

_OF_ALTERNATIVES = {
    Verdict.ENTAILED: "set_right",
    Verdict.CONTRADICTED: "set_wrong",
    Verdict.UNKNOWN: "set_open",
}
"""Verdicts on alternatives to the messages that explain them."""


_DEFINITION = Premise("scene", 0)
"""The premise of what claims define: it holds by itself, and is no reason."""


def _apart(
    claims: Sequence[Sequence[Triple]], defining: frozenset[str]
) -> tuple[list[Sequence[Triple]], list[Triple]]:
    """Claims without what they define, and that: "between A and B" speaks of what spans both, which
    there is for all things.

    Args:
        claims: The relations of each claim.
        defining: The relations that define a thing.
    """
    kept: list[Sequence[Triple]] = []
    defined: dict[Triple, None] = {}
    for claim in claims:
        said = [triple for triple in claim if triple[1] not in defining]
        kept.append(said or claim)
        if said:
            defined.update(dict.fromkeys(t for t in claim if t[1] in defining))
    return kept, list(defined)


class _RelationAudit(ClaimWalk[tuple[Triple, ...], Unit]):
    """One run over one trace. Relations are taken in the order of slots that their
    mirror image allows, so that `A left B` and `B right A` are one atom.

    A claim that the scene entails adds nothing to a context; a verdict of the scene alone holds in
    every feasible context that extends it. So only a claim that the scene leaves open is decided
    anew, and only once such claims have been admitted.
    """

    def __init__(
        self,
        ontology: Ontology,
        scene: Sequence[tuple[int, Sequence[Triple]]],
        claims: Sequence[ClaimInput],
    ) -> None:
        oriented = ontology.oriented
        grouped = frozenset(ontology.lexicon.grouped.values())
        self.worded, defined = _apart([claim.relations for claim in claims], grouped)
        super().__init__([tuple(map(oriented, triples)) for triples in self.worded])
        self.ontology = ontology
        self.inputs = claims
        readings = ontology.encoding.readings
        current = current_scene(ontology, scene) if ontology.state_updates else scene
        self.scene = [(number, tuple(map(oriented, triples))) for number, triples in current]
        self.conjunctions: list[tuple[Triple, ...]] = []
        for claim, given in zip(self.claims, claims, strict=True):
            if given.stance == _COUNTED:  # each may hold or not, by itself
                self.conjunctions += [(triple,) for triple in claim]
            elif given.stance != _ALTERNATIVES:
                self.conjunctions.append(claim)
        self.scene_units = [
            Unit(
                Premise("scene", number),
                tuple((readings[STATED, r], u, v) for u, r, v in triples),
            )
            for number, triples in self.scene
        ]
        if defined:
            atoms = tuple((readings[STATED, r], u, v) for u, r, v in map(oriented, defined))
            self.scene_units.append(Unit(_DEFINITION, atoms))
        self.scene_atoms = atoms_of(self.scene_units)
        self.memory = _memory_of(ontology, tuple(self.scene_units))
        if len(self.memory.claims) > _DECISIONS_REMEMBERED:
            _memory_of.cache_clear()
        self.open_alone: dict[tuple[Triple, ...], Alternatives] = {}
        self.decide_by_tables()

    # Decisions without a solver ---------------------------------------------------------

    def decide_by_tables(self) -> None:
        """Remembers the verdicts that the tables give."""
        direct = DirectVerdicts(self.ontology, self.scene)
        for claim in self.conjunctions:
            relations = frozenset(claim)
            if len(relations) != 1 or relations in self.memory.claims:
                continue
            verdict = direct.of(claim[0])
            if verdict is not None:
                outcome, position = verdict
                fault = claim[0] if outcome is Verdict.CONTRADICTED else None
                grounds = _Grounds((self.scene_units[position].premise,), fault)
                self.memory.claims[relations] = _Decision(outcome, grounds=grounds, immediate=True)

    # Decisions by the solver ------------------------------------------------------------

    def atom(self, triple: Triple) -> Atom:
        """A claimed relation as the atom that its reading makes of it."""
        u, r, v = triple
        return self.ontology.encoding.readings[QUERIED, r], u, v

    def context(self, units: Sequence[Unit]) -> list[Atom]:
        """The atoms of the scene, and of what else a context has."""
        return self.scene_atoms if units is self.scene_units else atoms_of(units)

    def decide_scene(self) -> SceneDecision:
        """Whether the scene is feasible; else the best premises that clash, and why; those of
        a core, and no reason, where there is no time for more.
        """
        if self.memory.scene is not None:
            return self.memory.scene
        solver = self.shared_solver or solver_for(self.ontology, self.scene_atoms)
        clashing = solver.infeasibility()
        core = clashing.core(self.scene_atoms)
        decision = SceneDecision(True)
        if core is not None:
            try:
                premises = best_premises(self.scene_units, core, clashing)
                chosen = atoms_of(unit for unit in self.scene_units if unit.premise in premises)
                decision = SceneDecision(False, premises, clashes(self.ontology, chosen))
            except LimitError:
                self.timed_out = True
                return SceneDecision(False, premises_of_core(self.scene_units, core))
        self.memory.scene = decision
        return decision

    @cached_property
    def shared_solver(self) -> Solver | None:
        """The solver for the scene and every claim that is not yet explained; None where a
        program for each claim is cheaper.
        """
        decisions = self.memory.claims
        groups: dict[Group, None] = {}
        for relations in map(frozenset, self.conjunctions):
            decision = decisions.get(relations)
            if relations and not (decision is not None and decision.explained):
                groups[frozenset(map(self.atom, relations))] = None
        atoms = dict.fromkeys(self.scene_atoms)
        for group in groups:
            atoms.update(dict.fromkeys(sorted(group)))
        things = {thing for _, u, v in atoms for thing in (u, v)}
        if len(things) > _FEW_THINGS and self.ontology.encoding.closes(
            {key for key, _, _ in atoms}
        ):
            return None
        return solver_for(self.ontology, atoms, groups)

    def solver(self, context: Sequence[Atom], group: Group) -> Solver:
        """A solver for a context and the relations of a claim."""
        if self.shared_solver is not None:
            return self.shared_solver
        return solver_for(self.ontology, dict.fromkeys([*context, *sorted(group)]), [group])

    def decide(self, relations: frozenset[Triple], units: Sequence[Unit]) -> _Decision:
        """The verdict on a claim's relations in a feasible context (Eq. status, and the
        conservative rule for several relations).

        Args:
            relations: The relations.
            units: The premises of the context.

        Raises:
            LimitError: If there is no verdict in time.
        """
        context = self.context(units)
        group = frozenset(map(self.atom, relations))
        solver = self.solver(context, group)
        core = solver.entailment(group).core(context)
        if core is not None:
            return _Decision(Verdict.ENTAILED, units, {relations: core})
        cores: dict[frozenset[Triple], set[Atom]] = {}
        for triple in sorted(relations):
            core = solver.exclusion(self.atom(triple)).core(context)
            if core is not None:
                cores[frozenset([triple])] = core
        verdict = Verdict.CONTRADICTED if cores else Verdict.UNKNOWN
        return _Decision(verdict, units, cores)

    def alone(self, relations: Iterable[Triple]) -> _Decision:
        """The decision on some relations under the scene alone."""
        key = frozenset(relations)
        if key not in self.memory.claims:
            self.memory.claims[key] = self.decide(key, self.scene_units)
        return self.memory.claims[key]

    def under(
        self, relations: Iterable[Triple], ground: _Decision, admitted: Sequence[Unit]
    ) -> _Decision:
        """The decision on some relations under the scene and claims that it does not entail.

        Args:
            relations: The relations.
            ground: The decision on them under the scene alone.
            admitted: The claims.
        """
        if ground.verdict.determinate or not admitted:
            return ground
        return self.decide(frozenset(relations), [*self.scene_units, *admitted])

    # The claims in order ----------------------------------------------------------------

    def enters(self, number: int) -> bool:
        """Whether a claim was surely read and simply says what holds."""
        claim = self.inputs[number - 1]
        aside = claim.stance in (_ALTERNATIVES, _COUNTED) or claim.stance in _OVER_WORLDS
        return claim.sure and not aside

    def grounded(self, number: int, claim: tuple[Triple, ...]) -> Verdict:
        """The verdict on a claim under the scene alone."""
        stance = self.inputs[number - 1].stance
        if stance == _ALTERNATIVES:
            return self.doubted(number, self.alternatives(claim, ()).verdict)
        if stance == _COUNTED:
            found = self.count(number, [self.alone([triple]) for triple in claim])
            return self.judged(number, found)
        return self.judged(number, self.together(number, claim, self.alone(claim), ()))

    def why_open(self, number: int, claim: tuple[Triple, ...]) -> str:
        """Name of the message that says why the scene alone leaves a claim unknown."""
        given = self.inputs[number - 1]
        if given.stance == _ALTERNATIVES:
            found = self.alternatives(claim, ()).verdict if given.settled else Verdict.UNKNOWN
        elif given.stance == _COUNTED:
            found = self.count(number, [self.alone([triple]) for triple in claim])
        else:
            found = self.of_stance(number, self.alone(claim).verdict)
        if found is Verdict.UNKNOWN:
            return "unknown"
        return "in_part" if given.sure else "uncertain"

    def step(
        self, number: int, claim: tuple[Triple, ...], grounded: Verdict, admitted: Sequence[Unit]
    ) -> Step[Unit]:
        """Decides a claim under a feasible assumed context."""
        given = self.inputs[number - 1]
        if given.stance == _ALTERNATIVES:
            return Step(self.of_alternatives(number, claim, grounded, admitted))
        if given.stance == _COUNTED:
            return Step(self.of_counted(number, claim, grounded, admitted))
        ground = self.alone(claim)
        decision = self.under(claim, ground, admitted)
        status, unit = decision.verdict, None
        if given.stance in _OVER_WORLDS:
            status = self.together(number, claim, decision, admitted)
            result = self.over_worlds(number, status, grounded)
            if status is not decision.verdict and result.verdict.determinate:
                result.reason = "never_together"
        else:
            result = ClaimResult(self.judged(number, status), grounded)
            if result.verdict is not status:
                result.reason = "in_part" if given.sure else "uncertain"
            if given.sure and ground.verdict is not Verdict.ENTAILED:
                unit = self.entering(number, claim, decision, result, admitted)
        if not decision.verdict.determinate or result.reason in ("uncertain", "in_part"):
            return Step(result, unit)
        return Step(result, unit, partial(self.explain, number, decision, admitted, result))

    def together(
        self,
        number: int,
        claim: tuple[Triple, ...],
        decision: _Decision,
        admitted: Sequence[Unit],
    ) -> Verdict:
        """The verdict on relations as an assertion. A claim about worlds is also contradicted if
        each relation holds in some world, and all together in none.

        Args:
            number: The claim's number, from 1.
            claim: Its relations.
            decision: The decision on them.
            admitted: The claims of the context.
        """
        group = frozenset(map(self.atom, claim))
        about_worlds = self.inputs[number - 1].stance in _OVER_WORLDS
        if decision.verdict is Verdict.UNKNOWN and about_worlds and len(group) > 1:
            context = atoms_of([*self.scene_units, *admitted])
            if not self.solver(context, group).feasible(dict.fromkeys((*context, *sorted(group)))):
                return Verdict.CONTRADICTED
        return decision.verdict

    def entering(
        self,
        number: int,
        claim: tuple[Triple, ...],
        decision: _Decision,
        result: ClaimResult,
        admitted: Sequence[Unit],
    ) -> Unit | None:
        """A claim that the scene does not entail as a premise of those after it, unless it cannot
        be one: then the context is infeasible from there on.

        Args:
            number: Its number, from 1.
            claim: Its relations.
            decision: The decision on them.
            result: The finding, which says whether the context stays feasible.
            admitted: The claims of the context.
        """
        if decision.verdict is Verdict.CONTRADICTED:
            result.feasible_after = False
            return None
        unit = Unit(Premise("claim", number), tuple(map(self.atom, claim)))
        group = frozenset(unit.atoms)
        if decision.verdict is Verdict.UNKNOWN and len(group) > 1:
            context = atoms_of([*self.scene_units, *admitted])
            solver = self.solver(context, group)
            result.feasible_after = solver.feasible(dict.fromkeys((*context, *unit.atoms)))
            result.reason = "unknown" if result.feasible_after else "self_conflict"
        return unit

    def over_worlds(self, number: int, status: Verdict, grounded: Verdict) -> ClaimResult:
        """The result for a claim about the worlds that its context leaves.

        Args:
            number: Its number, from 1.
            status: The verdict on its relations as an assertion.
            grounded: The verdict on it under the scene alone.
        """
        verdict = self.judged(number, status)
        doubtful = verdict is not self.of_stance(number, status)
        result = ClaimResult(
            verdict, grounded, reason="uncertain" if doubtful else _IN_WORLDS[status]
        )
        if result.verdict is Verdict.CONTRADICTED:
            result.repair = None
        return result

    def of_alternatives(
        self, number: int, claim: tuple[Triple, ...], grounded: Verdict, admitted: Sequence[Unit]
    ) -> ClaimResult:
        """The result for alternatives.

        Args:
            number: The claim's number, from 1.
            claim: The relations.
            grounded: The verdict on it under the scene alone.
            admitted: The claims of its context.
        """
        found = self.alternatives(claim, admitted)
        verdict = self.doubted(number, found.verdict)
        doubtful = self.inputs[number - 1].settled and verdict is not found.verdict
        return ClaimResult(
            verdict,
            grounded,
            repair=None if verdict is Verdict.CONTRADICTED else 0,
            reason="uncertain" if doubtful else _OF_ALTERNATIVES[verdict],
            answer=found.open,
            given=tuple(r for _, r, _ in self.worded[number - 1]),
        )

    def of_counted(
        self, number: int, claim: tuple[Triple, ...], grounded: Verdict, admitted: Sequence[Unit]
    ) -> ClaimResult:
        """The result for relations of which some number is said to hold.

        Each is decided by itself. Too few may hold, or too many must, and the claim is
        contradicted; if as many as it needs must hold, and no more than it allows may, it is
        entailed.

        Args:
            number: The claim's number, from 1.
            claim: The relations.
            grounded: The verdict on it under the scene alone.
            admitted: The claims of its context.
        """
        decisions = [self.under([t], self.alone([t]), admitted) for t in claim]
        found = self.count(number, decisions)
        verdict = self.judged(number, found)
        result = ClaimResult(verdict, grounded, reason=_OF_COUNTED[verdict])
        result.reason = result.reason if verdict is found else "uncertain"
        if verdict.determinate:
            premises: dict[Premise, None] = {}
            for decision in decisions:
                if decision.verdict.determinate:
                    premises.update(dict.fromkeys(self.grounds(decision).premises))
            result.premises = tuple(sorted(premises, key=lambda p: (p.source != "scene", p.number)))
            result.repair = None if verdict is Verdict.CONTRADICTED else 0
        return result

    def count(self, number: int, decisions: Sequence[_Decision]) -> Verdict:
        """The verdict on a claim by those on its relations: how many must hold, and may."""
        bounds = self.inputs[number - 1].count
        assert bounds is not None  # a counted claim has them
        least, most = bounds
        verdicts = [decision.verdict for decision in decisions]
        must = verdicts.count(Verdict.ENTAILED)
        may = len(verdicts) - verdicts.count(Verdict.CONTRADICTED)
        if may < least or must > most:
            return Verdict.CONTRADICTED
        return Verdict.ENTAILED if must >= least and may <= most else Verdict.UNKNOWN

    def alternatives(self, claim: tuple[Triple, ...], admitted: Sequence[Unit]) -> Alternatives:
        """The finding on alternatives, under the scene and earlier claims."""
        if admitted:
            return judge_alternatives(
                self.ontology, atoms_of([*self.scene_units, *admitted]), claim
            )
        if claim not in self.open_alone:
            self.open_alone[claim] = judge_alternatives(self.ontology, self.scene_atoms, claim)
        return self.open_alone[claim]

    def doubted(self, number: int, verdict: Verdict) -> Verdict:
        """The verdict on alternatives, given how surely claim and scene were read."""
        given = self.inputs[number - 1]
        doubtful = verdict is Verdict.CONTRADICTED and not given.sure
        return verdict if given.settled and not doubtful else Verdict.UNKNOWN

    def judged(self, number: int, status: Verdict) -> Verdict:
        """The verdict on a claim, by that on its relations as an assertion.

        Args:
            number: Its number, from 1.
            status: The verdict on its relations.
        """
        given, verdict = self.inputs[number - 1], self.of_stance(number, status)
        if verdict is Verdict.ENTAILED and not given.whole:
            return Verdict.UNKNOWN
        doubtful = verdict is Verdict.CONTRADICTED and not given.sure
        return Verdict.UNKNOWN if doubtful else verdict

    def of_stance(self, number: int, status: Verdict) -> Verdict:
        """The verdict on a claim of its stance, were it surely read."""
        given = self.inputs[number - 1]
        table = _OVER_WORLDS.get(given.stance)
        if table is None or (status is Verdict.UNKNOWN and not given.settled):
            return status
        return table[status]

    # Explanations -----------------------------------------------------------------------

    def explain(
        self, number: int, decision: _Decision, admitted: Sequence[Unit], result: ClaimResult
    ) -> None:
        """Fills in the premises of a determinate verdict, and the repair of a conflict.

        Args:
            number: The claim's number, from 1.
            decision: Its verdict under the assumed context.
            admitted: The claims of that context.
            result: Its result.
        """
        grounds = self.grounds(decision)
        result.premises = grounds.premises
        if self.inputs[number - 1].stance in _OVER_WORLDS:
            result.clashes = grounds.clashes
            return
        if decision.verdict is Verdict.ENTAILED:
            if decision.immediate:
                result.reason = "restated"
            else:
                result.reason = "entailed" if grounds.premises else "tautology"
            return
        result.reason = "contradicted" if grounds.premises else "impossible"
        result.clashes = grounds.clashes
        fault = grounds.fault
        assert fault is not None  # a contradicted claim has one
        # Reported as the claim puts it, not as its mirror image.
        result.fault = self.worded[number - 1][self.claims[number - 1].index(fault)]
        result.repair = None
        if result.grounded is Verdict.CONTRADICTED:
            return
        # The scene leaves room for each relation, so removing claims repairs it.
        faults = [triple for triples in decision.cores for triple in triples]
        instances = [atom for unit in admitted for atom in unit.atoms]
        with self.limited():
            result.repair = max(
                self.repair((*self.scene_atoms, self.atom(t)), instances) for t in faults
            )

    def repair(self, kept: Sequence[Atom], instances: Sequence[Atom]) -> int:
        """How many of the generated relation instances have to go (Eq. repair), one at least."""
        if self.shared_solver is not None:
            room = self.shared_solver.infeasibility().widest(kept, [*kept, *instances])
            if sum(atom not in room for atom in instances) == 1:
                return 1
        return repair(self.ontology, kept, instances)

    def grounds(self, decision: _Decision) -> _Grounds:
        """The reasons of a determinate verdict: of the relations at fault, the one that takes
        the best premises. Where there is no time to find them, a core has to do.
        """
        if decision.grounds is None:
            try:
                decision.grounds = self.best_grounds(decision)
            except LimitError:
                self.timed_out = True
                triples, core = next(iter(decision.cores.items()))
                return _Grounds(premises_of_core(decision.units, core), min(triples))
        if _DEFINITION in decision.grounds.premises:
            premises = tuple(p for p in decision.grounds.premises if p != _DEFINITION)
            decision.grounds = replace(decision.grounds, premises=premises)
        return decision.grounds

    def best_grounds(self, decision: _Decision) -> _Grounds:
        """The same without regard to time.

        Raises:
            LimitError: If there is not enough.
        """
        units = decision.units
        context = self.context(units)
        candidates: list[tuple[tuple[Premise, ...], Triple]] = []
        for triples, core in decision.cores.items():
            fault = min(triples)
            group = frozenset(map(self.atom, triples))
            solver = self.solver(context, group)
            if decision.verdict is Verdict.ENTAILED:
                condition = solver.entailment(group)
            else:
                condition = solver.exclusion(min(group))
            candidates.append((best_premises(units, core, condition), fault))
        premises, fault = min(candidates, key=lambda each: premise_cost(each[0]))
        if decision.verdict is Verdict.ENTAILED:
            return _Grounds(premises)
        reasons: Clashes = []
        if fault[1] not in self.ontology.relations.displacement:
            atoms = atoms_of(unit for unit in units if unit.premise in premises)
            reasons = clashes(self.ontology, dict.fromkeys([*atoms, self.atom(fault)]))
        return _Grounds(premises, fault, reasons)
