"""The Layout Auditor: verdicts, conflicts, repairs and premises of the relations of one trace.

This implements the Methodology section's Layout Auditor and the appendix on its implementation
(Eqs. trusted, prefix, status, repair). Every claim is decided in two contexts: the assumed context,
which admits every earlier claim, and the grounded context. The grounded context only adds relations
that the scene already entails, so a grounded verdict depends only on the scene.
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
"""Maximum number of cached decisions per scene."""

_FEW_THINGS = 16
"""Maximum number of things for which one program is used for all claims of a trace although it
computes the closure. The size of the closure is cubic in the number of connected things.
"""


@dataclass(frozen=True)
class _Grounds:
    """Grounds of a determinate verdict.

    Attributes:
        premises: The best premises.
        fault: The relation of a contradicted claim that the premises exclude.
        clashes: Codes and relations of the closure's clashes.
    """

    premises: tuple[Premise, ...]
    fault: Triple | None = None
    clashes: Clashes = field(default_factory=list)


@dataclass
class _Decision:
    """Verdict on a claim in one context.

    Attributes:
        verdict: The verdict.
        units: The premises of the context.
        cores: Relations of an entailed claim, or excluded relations of a contradicted claim. Each
            relation comes with the atoms of the context from which the solver derives the decision;
            empty without a solver.
        grounds: Grounds of the verdict, once they are computed.
        immediate: Whether the tables decide the claim from one premise about the same things.
    """

    verdict: Verdict
    units: Sequence[Unit] = ()
    cores: dict[frozenset[Triple], set[Atom]] = field(default_factory=dict)
    grounds: _Grounds | None = None
    immediate: bool = False

    @property
    def explained(self) -> bool:
        """Whether the verdict can be explained without another solver run in this context."""
        return self.verdict.determinate and self.grounds is not None


@dataclass
class _SceneMemory:
    """Cached decisions on a scene and on claims about it. Many traces answer questions about the
    same scene, and these decisions do not depend on the trace.
    """

    scene: SceneDecision | None = None
    claims: dict[frozenset[Triple], _Decision] = field(default_factory=dict)


@lru_cache(maxsize=1024)
def _memory_of(_ontology: Ontology, _units: tuple[Unit, ...]) -> _SceneMemory:
    return _SceneMemory()


@dataclass(slots=True)
class ClaimInput:
    """Relational claim, as input to the audit.

    Attributes:
        relations: The relations, possibly none.
        stance: The stance.
        settled: Whether the scene is complete. If it is incomplete, a missing relation decides
            nothing about possible worlds.
        sure: Whether the claim was read with certainty. If not, it is never contradicted.
        whole: Whether the claim was read in full. If not, it is never entailed.
        count: Bounds on the number of true relations of a `counted` claim.
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
    """Audit relations (Eqs. trusted to repair, over slots).

    Claims about necessity, possibility or impossibility, and lists of alternatives, are judged over
    the worlds of their context and are not added to a context. Claims that were not read with
    certainty are not added either. If the relations of such a claim are contradicted, the claim is
    unknown, because a misreading is more likely than a wrong claim.

    Args:
        ontology: The tables of the profile.
        scene: Number and relations of each premise of the scene.
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
"""Maps a stance to verdicts, given whether the relations hold in all, some or no worlds of a
context.
"""

_COUNTED = "counted"
"""Stance of a claim that a certain number of the listed relations hold."""

_OF_COUNTED = {
    Verdict.ENTAILED: "count_right",
    Verdict.CONTRADICTED: "count_wrong",
    Verdict.UNKNOWN: "count_open",
}
"""Maps the verdict on a counted claim to the name of its message."""

_IN_WORLDS = {
    Verdict.ENTAILED: "in_all",
    Verdict.UNKNOWN: "in_some",
    Verdict.CONTRADICTED: "in_none",
}
"""Maps the verdict over worlds to the name of its message."""

_ALTERNATIVES = "alternatives"
"""Stance of a list of possible relations between two things."""

_OF_ALTERNATIVES = {
    Verdict.ENTAILED: "set_right",
    Verdict.CONTRADICTED: "set_wrong",
    Verdict.UNKNOWN: "set_open",
}
"""Maps the verdict on alternatives to the name of its message."""


_DEFINITION = Premise("scene", 0)
"""Premise behind definitions in claims. It always holds and is never given as a reason."""


def _apart(
    claims: Sequence[Sequence[Triple]], defining: frozenset[str]
) -> tuple[list[Sequence[Triple]], list[Triple]]:
    """Separate the claims from their definitions: "between A and B" refers to the thing that spans
    both, and such a thing always exists.
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
    """Audit of one trace. Where a relation has a mirror image, it is oriented by slot, so that `A
    left B` and `B right A` are one atom.

    A claim entailed by the scene adds nothing to a context, and a verdict given the scene holds in
    every feasible context that extends it. So only claims left open by the scene need a second
    decision, and only after another such claim has been admitted.
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
            if given.stance == _COUNTED:  # each relation is independent
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
        u, r, v = triple
        return self.ontology.encoding.readings[QUERIED, r], u, v

    def context(self, units: Sequence[Unit]) -> list[Atom]:
        return self.scene_atoms if units is self.scene_units else atoms_of(units)

    def decide_scene(self) -> SceneDecision:
        """Decide whether the scene is feasible. If not, find the best clashing premises with the
        reasons or, if time runs out, those of a core without reasons.
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
        """Solver for the scene and every unexplained claim; None if a separate program for each
        claim is cheaper.
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
        if self.shared_solver is not None:
            return self.shared_solver
        return solver_for(self.ontology, dict.fromkeys([*context, *sorted(group)]), [group])

    def decide(self, relations: frozenset[Triple], units: Sequence[Unit]) -> _Decision:
        """Decide a claim's relations in a feasible context (Eq. status, and the conservative rule
        for several relations).

        Args:
            relations: The relations.
            units: Premises of the context.

        Raises:
            LimitError: If time runs out.
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
        key = frozenset(relations)
        if key not in self.memory.claims:
            self.memory.claims[key] = self.decide(key, self.scene_units)
        return self.memory.claims[key]

    def under(
        self, relations: Iterable[Triple], ground: _Decision, admitted: Sequence[Unit]
    ) -> _Decision:
        if ground.verdict.determinate or not admitted:
            return ground
        return self.decide(frozenset(relations), [*self.scene_units, *admitted])

    # The claims in order ----------------------------------------------------------------

    def enters(self, number: int) -> bool:
        """Whether a claim is a plain assertion that was read with certainty."""
        claim = self.inputs[number - 1]
        aside = claim.stance in (_ALTERNATIVES, _COUNTED) or claim.stance in _OVER_WORLDS
        return claim.sure and not aside

    def grounded(self, number: int, claim: tuple[Triple, ...]) -> Verdict:
        stance = self.inputs[number - 1].stance
        if stance == _ALTERNATIVES:
            return self.doubted(number, self.alternatives(claim, ()).verdict)
        if stance == _COUNTED:
            found = self.count(number, [self.alone([triple]) for triple in claim])
            return self.judged(number, found)
        return self.judged(number, self.together(number, claim, self.alone(claim), ()))

    def why_open(self, number: int, claim: tuple[Triple, ...]) -> str:
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
        """Judge the given relations as one assertion. A claim about worlds is also contradicted if
        its relations are possible separately but not together.
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
        """Return a claim that the scene does not entail as a premise for later claims, or None if
        it makes the context infeasible.
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
        """Return the result for a claim about how many relations hold.

        Each relation is decided separately. The claim is contradicted if too few can hold or too
        many must hold. It is entailed if enough must hold and not too many can.
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
        bounds = self.inputs[number - 1].count
        assert bounds is not None  # counted claims have bounds
        least, most = bounds
        verdicts = [decision.verdict for decision in decisions]
        must = verdicts.count(Verdict.ENTAILED)
        may = len(verdicts) - verdicts.count(Verdict.CONTRADICTED)
        if may < least or must > most:
            return Verdict.CONTRADICTED
        return Verdict.ENTAILED if must >= least and may <= most else Verdict.UNKNOWN

    def alternatives(self, claim: tuple[Triple, ...], admitted: Sequence[Unit]) -> Alternatives:
        if admitted:
            return judge_alternatives(
                self.ontology, atoms_of([*self.scene_units, *admitted]), claim
            )
        if claim not in self.open_alone:
            self.open_alone[claim] = judge_alternatives(self.ontology, self.scene_atoms, claim)
        return self.open_alone[claim]

    def doubted(self, number: int, verdict: Verdict) -> Verdict:
        """Return the verdict on alternatives, or unknown if the claim or the scene is too
        uncertain.
        """
        given = self.inputs[number - 1]
        doubtful = verdict is Verdict.CONTRADICTED and not given.sure
        return verdict if given.settled and not doubtful else Verdict.UNKNOWN

    def judged(self, number: int, status: Verdict) -> Verdict:
        given, verdict = self.inputs[number - 1], self.of_stance(number, status)
        if verdict is Verdict.ENTAILED and not given.whole:
            return Verdict.UNKNOWN
        doubtful = verdict is Verdict.CONTRADICTED and not given.sure
        return Verdict.UNKNOWN if doubtful else verdict

    def of_stance(self, number: int, status: Verdict) -> Verdict:
        """Return the verdict for the claim's stance, ignoring uncertainty."""
        given = self.inputs[number - 1]
        table = _OVER_WORLDS.get(given.stance)
        if table is None or (status is Verdict.UNKNOWN and not given.settled):
            return status
        return table[status]

    # Explanations -----------------------------------------------------------------------

    def explain(
        self, number: int, decision: _Decision, admitted: Sequence[Unit], result: ClaimResult
    ) -> None:
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
        assert fault is not None  # contradicted claims have one
        # Report it as the claim states it, not as its mirror image.
        result.fault = self.worded[number - 1][self.claims[number - 1].index(fault)]
        result.repair = None
        if result.grounded is Verdict.CONTRADICTED:
            return
        # Each relation is consistent with the scene, so removing claims repairs it.
        faults = [triple for triples in decision.cores for triple in triples]
        instances = [atom for unit in admitted for atom in unit.atoms]
        with self.limited():
            result.repair = max(
                self.repair((*self.scene_atoms, self.atom(t)), instances) for t in faults
            )

    def repair(self, kept: Sequence[Atom], instances: Sequence[Atom]) -> int:
        """Return the number of generated instances to remove (Eq. repair), at least one."""
        if self.shared_solver is not None:
            room = self.shared_solver.infeasibility().widest(kept, [*kept, *instances])
            if sum(atom not in room for atom in instances) == 1:
                return 1
        return repair(self.ontology, kept, instances)

    def grounds(self, decision: _Decision) -> _Grounds:
        """Return the grounds of a determinate verdict, using the excluded relation that has the
        best premises. If there is no time to find them, use a core.
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
        """Find the `grounds` without falling back to a core.

        Raises:
            LimitError: If time runs out.
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
