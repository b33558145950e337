"""Audit records."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from symbouq.records.base import Record
from symbouq.records.features import CLAIM_FEATURES, TRACE_FEATURES
from symbouq.records.trace import ClaimStance, ClaimType, ReaderRecord, RelationRecord

SCHEMA_VERSION = 1
"""Version of the output records."""

Context = Literal["assumed", "grounded", "non-committal"]
"""Earlier claims that form the context of a claim. `assumed`: all of them (Eq. prefix); `grounded`:
those that the scene entails (Eq. trusted); `non-committal`: the same as `grounded`, but
contradictions of earlier claims are reported (appendix Assumed and Grounded Contexts).
"""
Answers = Literal["answer", "relation"]
"""How to judge the conclusion. `answer` compares a conclusion without a relation with the answer
that follows from the scene. `relation` judges relations only, as the paper does, and admits every
claim that has relations to the contexts.
"""
VerdictName = Literal["entailed", "contradicted", "unknown", "not-evaluable"]

Share = Annotated[float, Field(ge=0, le=1)]


class OntologyRecord(Record):
    """Rules used in an audit."""

    name: str
    """`builtin`, or the folder of your ontology."""
    profile: str
    """Profile."""
    version: str
    """Version of the ontology's vocabulary."""
    hash: str
    """SHA-256 of the rule and ontology files."""


class SceneAudit(Record):
    """Findings on the scene."""

    relations: list[RelationRecord]
    """Relations of the scene."""
    feasible: bool
    """Whether the scene is consistent."""
    clash: list[str]
    """Minimal set of conflicting premises of an inconsistent scene."""
    message: str = ""
    """The clash in plain words."""


Reason = Literal[
    "",
    "open",
    "self-conflict",
    "timed-out",
    "scene-unread",
    "no-relation",
    "unread",
    "uncertain",
    "in-part",
    "not-in-profile",
    "denied",
    "supposed",
    "asked",
    "quoted",
    "retracted",
]


class ClaimAudit(Record):
    """Findings on one claim."""

    index: int
    """Number of the claim, from 1."""
    type: ClaimType
    """`reasoning`, or `conclusion` for the last claim."""
    text: str
    """The claim in words."""
    stance: ClaimStance = "asserted"
    """Stance. `necessary`, `possible`, `impossible`, `unnecessary` and `undetermined` claims, and
    lists of possible relations (`alternatives`), are judged over the possible layouts. They are not
    added to a context, and neither are `counted` claims. `supposed`, `asked`, `quoted` and
    `retracted` text makes no claim.
    """
    least: int | None = None
    """Minimum number of true relations, for a `counted` claim."""
    most: int | None = None
    """Maximum number of true relations, for a `counted` claim."""
    relations: list[RelationRecord]
    """Canonical relations that the claim states."""
    rest: list[str] = Field(default_factory=list)
    """Unread words about places. A claim with such words is never entailed."""
    verdict: VerdictName
    """Verdict in the assumed context."""
    grounded_verdict: VerdictName
    """Verdict in the grounded context."""
    conditional: bool
    """Whether the verdict decides the claim but is different in the grounded context."""
    repair_cost: int
    """The paper's bounded repair cost, 0 to 4."""
    repair_cost_exact: int | None = None
    """Exact repair cost. Null if no removal of claims helps, or if time ran out before one was
    found (`timed_out`).
    """
    first_conflict: bool
    """Whether this claim is the first to make the context inconsistent."""
    reason: Reason = ""
    """Why the verdict is unknown: the context leaves the claim open; its relations conflict, were
    not decided in time or depend on unread text; no relation is stated; a relation is unread,
    uncertain, read only in part, not in the profile, or denied although no relation expresses the
    denial; or the claim is supposed, asked, quoted or retracted. Empty for other verdicts.
    """
    grounded_reason: Reason = ""
    """Why the grounded verdict is unknown, with the same values."""
    premises: list[str]
    """Premises of a decided verdict: `scene:N` and `claim:N`."""
    presumed: list[str] = Field(default_factory=list)
    """Defaults that the verdict also depends on, such as `on_top_of implies borne_by`."""
    message: str
    """The finding in plain words."""


class ProfileRecord(Record):
    """The Determinacy Profile (or its discounted variant)."""

    symbolizability: Share
    """Share of claims with a supported relation."""
    unknown_rate: Share
    """Share of claims with a supported relation that are unknown."""
    determinacy: Share
    """Share of claims with a supported relation that are entailed or contradicted."""
    applicability: Share
    """Share of all claims that are entailed or contradicted."""
    unparsed: int
    """1 if no claim has a supported relation, otherwise 0."""


class FeatureRecord(Record):
    """Features of the auditor, in the order of `names`; `symbouq.records.features` defines them."""

    claims: list[list[float]] = Field(json_schema_extra={"names": list(CLAIM_FEATURES)})
    """One list of 23 numbers per claim."""
    trace: list[float] = Field(json_schema_extra={"names": list(TRACE_FEATURES)})
    """16 numbers."""


class ConclusionRecord(Record):
    """How the conclusion was judged."""

    by: Literal["relation", "answer", "none"]
    """`relation`: its relations were judged like those of any claim; `answer`: it was compared with
    the scene's own answer, unlike in the paper; `none`: there was nothing to judge.
    """
    text: str
    """Text of the conclusion; empty if there is no claim."""


class Audit(Record):
    """Audit of one trace."""

    id: str
    """Id of the trace."""
    source: dict[str, str | int] | None = None
    """File and line of the trace."""
    schema_version: int = SCHEMA_VERSION
    """Version of this record."""
    ontology: OntologyRecord
    """Rules used."""
    reader: ReaderRecord | None = None
    """Reader of the text; null if nothing was read."""
    context: Context
    """Context used for profile, features and Constraint-Rule."""
    scene: SceneAudit
    """The scene."""
    claims: list[ClaimAudit]
    """The claims, in order."""
    conclusion: ConclusionRecord | None = None
    """How the last claim was judged."""
    profile: ProfileRecord
    """The Determinacy Profile."""
    discounted: ProfileRecord
    """Variant of the profile in which a claim counts as much as its weakest premise."""
    features: FeatureRecord
    """Inputs of the learned constraint scores."""
    constraint_rule: Share | None
    """The training-free score Constraint-Rule, from 0 to 1; null for a `truncated` trace."""
    truncated: bool = False
    """Whether the trace's output was cut off or is empty. There is then no answer and no score."""
    timed_out: bool = False
    """Whether time ran out. Claims with a message about the limit then have no verdict, and
    premises and repairs may not be the best ones.
    """
    faults: list[str] = Field(default_factory=list)
    """Parts that were not read, because of an error or their length, or that were not decided in
    time.
    """
