"""The record of an audit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from symbouq.records.base import Record
from symbouq.records.features import CLAIM_FEATURES, TRACE_FEATURES
from symbouq.records.trace import ClaimStance, ClaimType, ReaderRecord, RelationRecord

SCHEMA_VERSION = 1
"""Version of the output records."""

Context = Literal["assumed", "grounded", "non-committal"]
"""Which earlier claims a claim is judged with: all of them (Eq. prefix); those that the scene
entails (Eq. trusted); the latter, but what contradicts earlier claims is told (appendix Assumed
and Grounded Contexts)."""
Answers = Literal["answer", "relation"]
"""How the conclusion is judged: where it states no relation, as an answer to the question, by what
the scene settles; or by its relations alone, as the paper does, where every claim with relations
enters the contexts, however surely it was read."""
VerdictName = Literal["entailed", "contradicted", "unknown", "not-evaluable"]

Share = Annotated[float, Field(ge=0, le=1)]


class OntologyRecord(Record):
    """Which rules made an audit."""

    name: str
    """`builtin`, or the folder of a user's ontology."""
    profile: str
    """The profile."""
    version: str
    """Version of the ontology's vocabulary."""
    hash: str
    """SHA-256 over the rule and ontology files."""


class SceneAudit(Record):
    """The scene as the auditor sees it."""

    relations: list[RelationRecord]
    """What it states."""
    feasible: bool
    """Whether it can be true at all."""
    clash: list[str]
    """Premises that contradict each other (a best minimal set), where it cannot."""
    message: str = ""
    """The same in plain words."""


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
    """The auditor's findings on one claim."""

    index: int
    """Number of the claim, from 1."""
    type: ClaimType
    """The last claim is the conclusion."""
    text: str
    """The claim in words."""
    stance: ClaimStance = "asserted"
    """What is `necessary`, `possible`, `impossible`, `unnecessary` or `undetermined`, and
    `alternatives`, which are said to be all that is open, are judged over the worlds that the
    context leaves, and enter none; nor does what is `counted`; what is `supposed`, `asked`,
    `quoted`, or `retracted` by what follows, states nothing."""
    least: int | None = None
    """Of what is `counted`, how many relations are said to hold at least."""
    most: int | None = None
    """How many at most."""
    relations: list[RelationRecord]
    """What it states in canonical relations."""
    rest: list[str] = Field(default_factory=list)
    """The words about places of which nothing was read; with any, the claim is never entailed."""
    verdict: VerdictName
    """Under the assumed context."""
    grounded_verdict: VerdictName
    """Under the grounded context."""
    conditional: bool
    """Whether a determinate verdict does not survive under the grounded context."""
    repair_cost: int
    """The paper's bounded value, 0 to 4."""
    repair_cost_exact: int | None = None
    """The exact repair distance; null where no removal of claims repairs it, or, in an audit
    that has `timed_out`, where none was found in time."""
    first_conflict: bool
    """Whether adding this claim first makes the context infeasible."""
    reason: Reason = ""
    """Why the verdict is unknown: the context leaves it open; the claim's relations cannot hold
    together, were not decided in time, or rest on what was not read of the scene; no relation is
    stated; one is, but is not read, not surely read, read in part, not in the profile, or denied
    without a relation for that; or the claim is supposed, asked, quoted or retracted. Empty for
    other verdicts."""
    grounded_reason: Reason = ""
    """Why the grounded verdict is unknown, in the same words."""
    premises: list[str]
    """What a determinate verdict rests on: `scene:N` and `claim:N`."""
    presumed: list[str] = Field(default_factory=list)
    """The defaults of the world that it rests on besides: `on_top_of implies borne_by`."""
    message: str
    """The finding in plain words."""


class ProfileRecord(Record):
    """The Determinacy Profile (or its discounted variant)."""

    symbolizability: Share
    """Share of claims that state a supported relation."""
    unknown_rate: Share
    """Share of those that are unknown."""
    determinacy: Share
    """Share of those that are entailed or contradicted."""
    applicability: Share
    """Share of all claims that are entailed or contradicted."""
    unparsed: int
    """1 if no claim states a supported relation, else 0."""


class FeatureRecord(Record):
    """The auditor's features; `names` is their order, `symbouq.records.features` defines them."""

    claims: list[list[float]] = Field(json_schema_extra={"names": list(CLAIM_FEATURES)})
    """One list of 23 numbers per claim."""
    trace: list[float] = Field(json_schema_extra={"names": list(TRACE_FEATURES)})
    """16 numbers."""


class ConclusionRecord(Record):
    """How the conclusion was judged."""

    by: Literal["relation", "answer", "none"]
    """Its `relation`s were decided like those of any claim; it was compared, as an `answer`, with
    what the scene settles, which the paper does not do; or `none`: there was nothing to judge."""
    text: str
    """Its text; empty where there is no claim."""


class Audit(Record):
    """The audit of one trace."""

    id: str
    """The trace's id."""
    source: dict[str, str | int] | None = None
    """File and line that the trace came from."""
    schema_version: int = SCHEMA_VERSION
    """Version of this record."""
    ontology: OntologyRecord
    """Which rules made it."""
    reader: ReaderRecord | None = None
    """What read the text; null where there was none."""
    context: Context
    """The context that feeds profile, features and Constraint-Rule."""
    scene: SceneAudit
    """The scene."""
    claims: list[ClaimAudit]
    """The claims, in order."""
    conclusion: ConclusionRecord | None = None
    """How the last claim was judged."""
    profile: ProfileRecord
    """The Determinacy Profile."""
    discounted: ProfileRecord
    """The profile with the penalty of unverified premises passed on."""
    features: FeatureRecord
    """Inputs of the learned constraint scores."""
    constraint_rule: Share
    """The training-free Constraint-Rule score, in [0, 1]."""
    timed_out: bool = False
    """Whether the time limit was reached: claims whose message says so have no verdict, and
    premises and repairs need not be the best."""
    faults: list[str] = Field(default_factory=list)
    """What was not read (by a fault of the reader's, or for its length), or not decided in
    time."""
