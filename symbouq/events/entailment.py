"""Entailment over statements about events, as the audit has it over relations: what holds in
every world that their premises allow (`rules/events.lp`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from symbouq.auditor import ClaimResult, Premise, TraceResult, Verdict
from symbouq.events.grammar import Clauses
from symbouq.events.reader import Facts
from symbouq.limits import LimitError
from symbouq.logic import possible_modes
from symbouq.ontology import Ontology

_MODES = ("assert", "deny")

_VERDICTS = {
    (True, False): Verdict.ENTAILED,
    (False, True): Verdict.CONTRADICTED,
    (True, True): Verdict.UNKNOWN,
    (False, False): Verdict.NOT_EVALUABLE,
}
"""Whether a statement can hold and whether it can fail, to what that makes of it."""


class _Unit(NamedTuple):
    """A premise and what it says."""

    premise: Premise
    clauses: Clauses

    @property
    def size(self) -> int:
        """How many relations it states."""
        return sum(len(clause.states) for clause in self.clauses) or 1


@lru_cache(maxsize=4096)
def can_be(
    ontology: Ontology,
    premises: tuple[Clauses, ...],
    hypothesis: Clauses,
    supposing: bool = False,
) -> tuple[bool, bool]:
    """Whether a statement can hold, and whether it can fail, given some premises.

    Args:
        ontology: The tables of the profile.
        premises: What the premises say, in order.
        hypothesis: What the statement says; nothing, to ask whether the premises can be.
        supposing: Whether what is unsaid of the ways of the premises holds.

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
    """Audits statements about events; what `audit_relations` is for relations.

    A scene with a sentence that could not be read decides nothing: what happens in it may
    undo what the others say.

    Args:
        ontology: The tables of the profile.
        scene: What each sentence of the scene says, with its number; nothing where it could
            not be read.
        claims: What each claim says, in order; nothing where it is not to be judged.
    """
    return _EventAudit(ontology, scene, claims).run()


class _EventAudit:
    """One run over one trace."""

    def __init__(
        self,
        ontology: Ontology,
        scene: Sequence[tuple[int, Clauses]],
        claims: Sequence[Clauses],
    ) -> None:
        self.ontology = ontology
        self.scene = [_Unit(Premise("scene", number), clauses) for number, clauses in scene]
        self.claims = claims

    def run(self) -> TraceResult:
        unread = tuple(unit.premise for unit in self.scene if not unit.clauses)
        if unread:
            return TraceResult(True, (), [], [self.open(claim, unread) for claim in self.claims])
        try:
            feasible = self.feasible(self.scene)
            clash = () if feasible else self.needed(self.scene, ())
        except LimitError:
            results = [self.undecided(claim) for claim in self.claims]
            return TraceResult(True, (), [], results, True)
        if not feasible:
            return TraceResult(False, clash, [], [self.blocked(claim) for claim in self.claims])
        return self.walk()

    def verdict(self, units: Iterable[_Unit], hypothesis: Clauses) -> Verdict:
        """What some premises make of a statement."""
        premises = tuple(unit.clauses for unit in units)
        return _VERDICTS[can_be(self.ontology, premises, hypothesis)]

    def feasible(self, units: Iterable[_Unit]) -> bool:
        """Whether some premises can be true together."""
        return can_be(self.ontology, tuple(unit.clauses for unit in units), ())[0]

    def needed(self, units: Sequence[_Unit], hypothesis: Clauses) -> tuple[Premise, ...]:
        """Premises without any of which the statement would come out otherwise; what comes
        last is given up first.
        """
        verdict = self.verdict(units, hypothesis)
        left = list(units)
        for unit in reversed(units):
            fewer = [other for other in left if other is not unit]
            if self.verdict(fewer, hypothesis) is verdict:
                left = fewer
        return tuple(unit.premise for unit in left)

    @staticmethod
    def open(claim: Clauses, unread: tuple[Premise, ...]) -> ClaimResult:
        """A claim about a scene of which a part could not be read."""
        reason = "scene_unread" if claim else "unparsed"
        return ClaimResult(
            Verdict.UNKNOWN,
            Verdict.UNKNOWN,
            premises=unread if claim else (),
            reason=reason,
        )

    @staticmethod
    def undecided(claim: Clauses) -> ClaimResult:
        """A claim that a limit left without a verdict."""
        reason = "timed_out" if claim else "unparsed"
        return ClaimResult(Verdict.UNKNOWN, Verdict.UNKNOWN, reason=reason)

    @staticmethod
    def blocked(claim: Clauses, grounded: Verdict = Verdict.NOT_EVALUABLE) -> ClaimResult:
        """A claim whose context contradicts itself."""
        if not claim:
            return ClaimResult(
                Verdict.UNKNOWN, Verdict.UNKNOWN, feasible_after=False, reason="unparsed"
            )
        reason = "blocked_scene" if grounded is Verdict.NOT_EVALUABLE else "blocked"
        return ClaimResult(Verdict.NOT_EVALUABLE, grounded, feasible_after=False, reason=reason)

    def walk(self) -> TraceResult:
        """The claims in order, each under the scene and the claims before it."""
        results: list[ClaimResult] = []
        admitted: list[_Unit] = []
        feasible = True
        for number, claim in enumerate(self.claims, start=1):
            if not claim:
                results.append(
                    ClaimResult(
                        Verdict.UNKNOWN, Verdict.UNKNOWN, feasible_after=feasible, reason="unparsed"
                    )
                )
                continue
            try:
                grounded = self.verdict(self.scene, claim)
                result = (
                    self.step(claim, grounded, admitted)
                    if feasible
                    else self.blocked(claim, grounded)
                )
            except LimitError:
                results += map(self.undecided, self.claims[number - 1 :])
                return TraceResult(True, (), [], results, True)
            feasible = result.feasible_after
            if feasible and result.verdict is not Verdict.ENTAILED:
                admitted.append(_Unit(Premise("claim", number), claim))
            results.append(result)
        return TraceResult(True, (), [], results)

    def step(self, claim: Clauses, grounded: Verdict, admitted: Sequence[_Unit]) -> ClaimResult:
        """A claim under a feasible assumed context.

        Args:
            claim: The claim.
            grounded: What the scene alone makes of it.
            admitted: The claims of the context.
        """
        units = [*self.scene, *admitted]
        verdict = self.verdict(units, claim)
        result = ClaimResult(verdict, grounded)
        if not verdict.determinate:
            return result
        # From the scene alone, where it decides as much.
        units = self.scene if grounded is verdict else units
        result.premises = self.needed(units, claim)
        if verdict is Verdict.ENTAILED:
            result.reason = "entailed" if result.premises else "tautology"
            return result
        result.reason = "contradicted" if result.premises else "impossible"
        result.feasible_after = False
        result.first_conflict = True
        result.repair = None if grounded is verdict else self.repair(claim, admitted)
        return result

    def repair(self, claim: Clauses, admitted: Sequence[_Unit]) -> int | None:
        """The least number of relations of earlier claims whose removal makes room for a
        claim; None if none does.
        """
        costs: list[int] = []
        for count in range(1, len(admitted) + 1):
            for removed in combinations(admitted, count):
                cost = sum(unit.size for unit in removed)
                if costs and cost >= min(costs):
                    continue
                left = [unit for unit in admitted if unit not in removed]
                if self.verdict([*self.scene, *left], claim) is not Verdict.CONTRADICTED:
                    costs.append(cost)
            if costs and min(costs) <= count + 1:
                break
        return min(costs, default=None)


@lru_cache(maxsize=8)
def _background(ontology: Ontology) -> str:
    """What a profile says of relations and of words, as facts."""
    texts = ("compared", "way", "verb", "inflected", "times")
    lines = [ontology.closure_facts]
    lines += [f"negation({r},{s})." for r, s in ontology.denials.items()]
    for (name, _), rows in sorted(ontology.events.items()):
        if name not in texts:
            lines += [f"{name}({','.join(row)})." for row in rows]
    return "".join(lines)
