"""Fields of an audit: results with messages, profile, features and score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symbouq.auditing.features import ClaimFacts, features
from symbouq.auditing.messages import Messages
from symbouq.auditing.profile import Profile, determinacy_profile, discounted_profile
from symbouq.auditing.score import constraint_rule
from symbouq.auditing.verdicts import (
    REPAIR_BUDGET,
    ClaimResult,
    TraceResult,
    Verdict,
    reads_assumed,
)
from symbouq.ontology.tables import Ontology
from symbouq.reading.text import Claim, ParsedTrace
from symbouq.records import Context
from symbouq.records.features import TRACE_FEATURES


def describe(
    ontology: Ontology, parsed: ParsedTrace, result: TraceResult, context: Context
) -> dict[str, Any]:
    """Return all fields of an audit that depend on relations and verdicts."""
    claims = result.claims
    assumed = [reads_assumed(c.verdict, c.grounded, context) for c in claims]
    verdicts = [c.verdict if a else c.grounded for c, a in zip(claims, assumed, strict=True)]
    is_parsed = [
        bool(claim.relations) or finding.answer is not None
        for claim, finding in zip(parsed.claims, claims, strict=True)
    ]
    resting = [
        [p.number for p in c.premises if p.source == "claim"] if a else []
        for c, a in zip(claims, assumed, strict=True)
    ]
    facts = [
        _facts(ontology, parsed, claim, finding, verdict, result.feasible, context)
        for claim, finding, verdict in zip(parsed.claims, claims, verdicts, strict=True)
    ]
    scene_relations = [ontology.oriented(triple) for _, triple in parsed.numbered]
    if facts:
        rows, trace_row = features(scene_relations, result.feasible, facts)
        score = constraint_rule(is_parsed, verdicts, [fact.repair for fact in facts])
    else:
        rows, trace_row = [], [0.0] * len(TRACE_FEATURES)
        score = 0.5
    words = Messages(ontology, parsed.names)
    conflict = next((n for n, c in enumerate(claims, start=1) if c.first_conflict), 0)
    return {
        "scene": {
            "relations": [statement.record(n) for n, statement in parsed.scene],
            "feasible": result.feasible,
            "clash": [str(premise) for premise in result.clash],
            "message": "" if result.feasible else words.scene_clash(result),
        },
        "claims": [
            {
                "index": number,
                "type": claim.type,
                "text": claim.text,
                "stance": claim.stance,
                **claim.counted,
                "relations": [statement.record(number) for statement in claim.relations],
                "rest": list(claim.rest) if claim.relations else [],
                "verdict": str(finding.verdict),
                "grounded_verdict": str(finding.grounded),
                "conditional": finding.conditional,
                "repair_cost": finding.bounded_repair,
                "repair_cost_exact": finding.repair,
                "first_conflict": finding.first_conflict,
                "reason": _reason(claim, finding.verdict, finding.reason),
                "grounded_reason": _reason(
                    claim, finding.grounded, finding.grounded_reason or finding.reason
                ),
                "premises": [str(premise) for premise in finding.premises],
                "presumed": [f"{r} implies {s}" for r, s in finding.presumed],
                "message": words.message(claim, finding, result, conflict),
            }
            for number, (claim, finding) in enumerate(
                zip(parsed.claims, claims, strict=True), start=1
            )
        ],
        "conclusion": _conclusion(parsed.claims, claims),
        "profile": _record(determinacy_profile(is_parsed, verdicts)),
        "discounted": _record(discounted_profile(is_parsed, verdicts, resting)),
        "features": {"claims": rows, "trace": trace_row},
        "constraint_rule": score,
        "timed_out": result.timed_out,
        "faults": [*parsed.faults, *_lacking(result)],
    }


def _conclusion(claims: Sequence[Claim], findings: Sequence[ClaimResult]) -> dict[str, str]:
    if not claims:
        return {"by": "none", "text": ""}
    compared = findings[-1].answer is not None
    by = "answer" if compared else "relation" if claims[-1].relations else "none"
    return {"by": by, "text": claims[-1].text}


_OPEN = {
    "self_conflict": "self-conflict",
    "timed_out": "timed-out",
    "uncertain": "uncertain",
    "in_part": "in-part",
    "scene_unread": "scene-unread",
}
"""Maps reasons of findings to reasons of claims. Any other reason means that the context leaves the
claim open.
"""


def _reason(claim: Claim, verdict: Verdict, message: str) -> str:
    """Return the reason for an unknown verdict, given the message that explains it; otherwise
    empty.
    """
    if verdict is not Verdict.UNKNOWN:
        return ""
    if message != "unparsed":
        return _OPEN.get(message, "open")
    stance = "" if claim.stance == "asserted" else claim.stance
    return stance or claim.reason or "no-relation"


def _lacking(result: TraceResult) -> list[str]:
    if not result.timed_out:
        return []
    undecided = result.undecided
    if not undecided:
        return ["the time limit was reached: premises and repairs need not be the best"]
    more = f" and {len(undecided) - 1} more" if len(undecided) > 1 else ""
    return [f"the time limit was reached: no verdict on claim {undecided[0]}{more}"]


def _record(profile: Profile) -> dict[str, float | int]:
    return dict(vars(profile))


def _facts(
    ontology: Ontology,
    parsed: ParsedTrace,
    claim: Claim,
    finding: ClaimResult,
    verdict: Verdict,
    scene_feasible: bool,
    context: Context,
) -> ClaimFacts:
    relations = [statement.relation for statement in claim.relations]
    laid_out = [r for r in relations if r in ontology.relations.displacement]
    families = (ontology.relations.family.get(r, "") for r in relations)
    sorts = map(ontology.relations.sort.get, families)
    repair = finding.bounded_repair
    if not reads_assumed(finding.verdict, finding.grounded, context):
        # Dropping claims cannot repair a scene that contradicts itself.
        repair = REPAIR_BUDGET + 1 if verdict is Verdict.CONTRADICTED else 0
    return ClaimFacts(
        relations=tuple(ontology.oriented(parsed.triple(s)) for s in claim.relations),
        confidences=tuple(s.confidence for s in claim.relations),
        grounded=tuple(s.grounded for s in claim.relations),
        layout=len(laid_out),
        sorts=tuple(sort for sort in sorts if sort),
        verdict=verdict,
        first_conflict=finding.first_conflict and context != "grounded",
        feasible_after=finding.feasible_after if context == "assumed" else scene_feasible,
        repair=repair,
        conclusion=claim.type == "conclusion",
    )
