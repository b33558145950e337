"""Entailment for statements about events (`rules/events.lp`): what holds in every world that the
premises allow.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import combinations
from typing import NamedTuple

from symbouq.auditing.verdicts import ClaimResult, Premise, TraceResult, Verdict
from symbouq.auditing.walk import ClaimWalk, SceneDecision, Step
from symbouq.logic.programs import possible_modes
from symbouq.ontology.tables import Ontology
from symbouq.reading.clauses import Clauses
from symbouq.reading.events.reader import Facts, things

_MODES = ("assert", "deny")

_VERDICTS = {
    (True, False): Verdict.ENTAILED,
    (False, True): Verdict.CONTRADICTED,
    (True, True): Verdict.UNKNOWN,
    (False, False): Verdict.NOT_EVALUABLE,
}
"""Maps (can hold, can fail) to the verdict."""


class _Unit(NamedTuple):
    """Premise with its clauses."""

    premise: Premise
    clauses: Clauses


@lru_cache(maxsize=4096)
def can_be(
    ontology: Ontology,
    premises: tuple[Clauses, ...],
    hypothesis: Clauses,
    supposing: bool = False,
) -> tuple[bool, bool]:
    """Whether a statement can hold, and whether it can fail, given the premises.

    Args:
        ontology: The tables of the profile.
        premises: Clauses of the premises, in order.
        hypothesis: Clauses of the statement; empty to ask whether the premises are consistent.
        supposing: Whether to assume unstated properties of the ways in the premises.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
    """
    facts = Facts()
    for clauses in premises:
        facts.add("premise", clauses)
    facts.add("hypothesis", hypothesis)
    background = _background(ontology) + ("supposing." if supposing else "")
    holding, failing = possible_modes("events", background + facts.text, _MODES)
    return holding, failing


def audit_events(
    ontology: Ontology, scene: Sequence[tuple[int, Clauses]], claims: Sequence[Clauses]
) -> TraceResult:
    """Audit statements about events, like `audit_relations` for relations.

    A scene with an unread sentence decides no claim, because the events in that sentence may undo
    other events.

    Args:
        ontology: The tables of the profile.
        scene: Number and clauses of each sentence of the scene; no clauses if it is unread.
        claims: Clauses of each claim, in order; empty if the claim is not to be judged.
    """
    return _EventAudit(ontology, scene, claims).run()


class _EventAudit(ClaimWalk[Clauses, _Unit]):
    """Audit of one trace."""

    def __init__(
        self,
        ontology: Ontology,
        scene: Sequence[tuple[int, Clauses]],
        claims: Sequence[Clauses],
    ) -> None:
        super().__init__(claims)
        self.ontology = ontology
        self.scene = [_Unit(Premise("scene", number), clauses) for number, clauses in scene]

    def run(self) -> TraceResult:
        unread = tuple(unit.premise for unit in self.scene if not unit.clauses)
        if unread:
            unknown = Verdict.UNKNOWN
            result = ClaimResult(unknown, unknown, premises=unread, reason="scene_unread")
            return TraceResult(True, (), [], self.all(result))
        return super().run()

    def decide_scene(self) -> SceneDecision:
        if self.feasible(self.scene):
            return SceneDecision(True)
        clash = tuple(unit.premise for unit in self.scene)
        with self.limited():
            clash = self.needed(self.scene, ())
        return SceneDecision(False, clash)

    # Statements under premises -----------------------------------------------------------

    def verdict(self, units: Sequence[_Unit], hypothesis: Clauses) -> Verdict:
        """Judge a statement under consistent premises. Premises are relevant only if they are about
        the statement's things, or are connected to such premises by shared things.
        """
        premises = tuple(unit.clauses for unit in _about(units, hypothesis))
        verdict = _VERDICTS[can_be(self.ontology, premises, hypothesis)]
        several = sum(len(clause.states) for clause in hypothesis) > 1
        if verdict is Verdict.CONTRADICTED and several and not self.consistent(hypothesis):
            return Verdict.UNKNOWN  # the statement's own relations clash, not those of the premises
        return verdict

    def consistent(self, hypothesis: Clauses) -> bool:
        return can_be(self.ontology, (), hypothesis)[0]

    def feasible(self, units: Sequence[_Unit]) -> bool:
        left = list(units)
        while left:
            related = _about(left, left[0].clauses)
            if not can_be(self.ontology, tuple(unit.clauses for unit in related), ())[0]:
                return False
            left = [unit for unit in left if unit not in related]
        return True

    def needed(self, units: Sequence[_Unit], hypothesis: Clauses) -> tuple[Premise, ...]:
        """Return a set of premises that are all necessary for the verdict on a statement or,
        without a statement, for a clash. Later premises are dropped first.
        """

        def outcome(some: Sequence[_Unit]) -> object:
            return self.verdict(some, hypothesis) if hypothesis else self.feasible(some)

        wanted = outcome(units)
        left = _about(units, hypothesis) if hypothesis else list(units)
        for unit in reversed(left):
            fewer = [other for other in left if other is not unit]
            if outcome(fewer) is wanted:
                left = fewer
        return tuple(unit.premise for unit in left)

    # The claims -----------------------------------------------------------------------------

    def grounded(self, number: int, claim: Clauses) -> Verdict:
        return self.verdict(self.scene, claim)

    def step(
        self, number: int, claim: Clauses, grounded: Verdict, admitted: Sequence[_Unit]
    ) -> Step[_Unit]:
        units = [*self.scene, *admitted]
        result = ClaimResult(self.verdict(units, claim) if admitted else grounded, grounded)
        if result.verdict.determinate:
            result.feasible_after = result.verdict is Verdict.ENTAILED
            return Step(result, explain=partial(self.explain, result, claim, admitted))
        if not self.consistent(claim):
            result.reason = "self_conflict"
            result.feasible_after = False
        return Step(result, _Unit(Premise("claim", number), claim))

    def explain(self, result: ClaimResult, claim: Clauses, admitted: Sequence[_Unit]) -> None:
        alone = result.grounded is result.verdict
        # Prefer the scene's premises, if they suffice.
        units = _about(self.scene if alone else [*self.scene, *admitted], claim)
        result.premises = tuple(unit.premise for unit in units)
        with self.limited():
            result.premises = self.needed(units, claim)
        if result.verdict is Verdict.ENTAILED:
            result.reason = "entailed" if result.premises else "tautology"
            return
        result.reason = "contradicted" if result.premises else "impossible"
        result.repair = None
        if not alone:
            with self.limited():
                result.repair = self.repair(claim, admitted)

    def repair(self, claim: Clauses, admitted: Sequence[_Unit]) -> int | None:
        """Return the minimum number of relation instances to remove from earlier claims to make a
        claim consistent; None if that is impossible.
        """
        instances = [
            (place, number, state)
            for place, unit in enumerate(admitted)
            for number, clause in enumerate(unit.clauses)
            for state in clause.states
        ]
        for count in range(1, len(instances) + 1):
            for removed in combinations(instances, count):
                left = [
                    unit._replace(clauses=_without(unit.clauses, place, removed))
                    for place, unit in enumerate(admitted)
                ]
                units = [*self.scene, *(unit for unit in left if unit.clauses)]
                if self.verdict(units, claim) is not Verdict.CONTRADICTED:
                    return count
        return None


def _without(
    clauses: Clauses, place: int, removed: Collection[tuple[int, int, tuple[str, ...]]]
) -> Clauses:
    """Return the clauses of a claim without the removed states. Clauses that lose all their states
    are dropped.
    """
    left = []
    for number, clause in enumerate(clauses):
        states = tuple(state for state in clause.states if (place, number, state) not in removed)
        if states or not clause.states:
            left.append(replace(clause, states=states))
    return tuple(left)


def _about(units: Sequence[_Unit], statement: Clauses) -> list[_Unit]:
    """Return the premises about a statement's things, and further premises connected to them by
    shared things. If one premise describes the way back of another, return all premises.
    """
    if any(clause.back for unit in units for clause in unit.clauses):
        return list(units)
    named = [{name.lower() for name in things(unit.clauses)} for unit in units]
    reached = {name.lower() for name in things(statement)}
    found: set[int] = set()
    while new := [n for n, has in enumerate(named) if n not in found and has & reached]:
        found.update(new)
        reached.update(*(named[n] for n in new))
    return [unit for n, unit in enumerate(units) if n in found]


@lru_cache(maxsize=8)
def _background(ontology: Ontology) -> str:
    texts = ("compared", "way", "verb", "inflected", "times")
    lines = [ontology.encoding.closure_facts]
    lines += [f"negation({r},{s})." for r, s in ontology.relations.negation.items()]
    for (name, _), rows in sorted(ontology.events.items()):
        if name not in texts:
            lines += [f"{name}({','.join(row)})." for row in rows]
    return "".join(lines)
