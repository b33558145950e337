"""Names, order and definitions of an audit's features. The paper names their groups (appendix
Auditor Implementation, "Claim Status and Repair").
"""

from __future__ import annotations

CLAIM_FEATURES: dict[str, str] = {
    # Parsing
    "parsed": "1 if the claim states a supported relation, else 0",
    "relations": "how many relations it states",
    "confidence": "mean confidence of the parser in them; 0 without relations",
    # Grounding
    "grounded": "share of its relations of which scene or question name both things",
    "restated": "share of its relations that the scene states, as they are or in converse",
    "repeated": "share of its relations that an earlier claim states, likewise",
    # Feasibility
    "context_feasible": "1 if the context before the claim is feasible",
    "feasible_after": "1 if the context with the claim is feasible",
    # Status
    "entailed": "1 if the verdict is entailed",
    "contradicted": "1 if the verdict is contradicted",
    "unknown": "1 if the verdict is unknown, unparsed claims included",
    "not_evaluable": "1 if the verdict is not evaluable",
    # First conflict
    "first_conflict": "1 if adding the claim first makes the context infeasible",
    # Repair
    "repair": "the bounded repair value, 0 to 4",
    # Position
    "index": "number of the claim, from 1",
    "position": "number of the claim over the number of claims",
    "since_conflict": "how many claims ago the first conflict was; 0 before it",
    # Claim type
    "conclusion": "1 if the claim is the conclusion",
    # Relation family
    "layout": "share of its relations that the layout decides (directions)",
    "containment": "share of its relations that are of containment (families by sort/2)",
    "distance": "share of its relations that are of distance",
    "topology": "share of its relations that are of topology",
    "location": "share of its relations that say where a thing is, starts or ends",
}
"""Claim features in order. Maps each name to its definition."""

TRACE_FEATURES: dict[str, str] = {
    "context_size": "how many relations the scene states",
    "claims": "how many claims the trace has",
    "relations": "how many relations its claims state",
    "parse_rate": "share of claims that state a relation",
    "grounded_rate": "share of the claims' relations that are grounded; 0 without any",
    "feasible": "1 if the scene with all claims is feasible",
    "entailed_rate": "share of claims that are entailed",
    "contradicted_rate": "share of claims that are contradicted",
    "unknown_rate": "share of claims that are unknown, unparsed ones included",
    "not_evaluable_rate": "share of claims that are not evaluable",
    "conflict_position": "number of the first-conflict claim over the number of claims; "
    "0 if the scene itself is infeasible, 1 + 1/claims without a conflict",
    "repair_max": "largest bounded repair value",
    "repair_mean": "mean bounded repair value over all claims",
    "conclusion_entailed": "1 if the conclusion is entailed",
    "conclusion_contradicted": "1 if the conclusion is contradicted",
    "conclusion_not_evaluable": "1 if the conclusion is not evaluable",
}
"""Trace features in order. Maps each name to its definition."""
