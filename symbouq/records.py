"""The records that go in and come out, one JSON object a line.

Every field is documented in its schema; `json_schema()` exports them. Unknown fields of
an input record are ignored and kept.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_core import from_json

from symbouq.errors import RecordError
from symbouq.features import CLAIM_FEATURES, TRACE_FEATURES
from symbouq.notebook import NotebookAudit

SCHEMA_VERSION = 1
"""Version of the output records."""

Context = Literal["assumed", "grounded", "non-committal"]
"""Which earlier claims a claim is judged with: all of them (Eq. prefix); those that the scene
entails (Eq. trusted); the latter, but what contradicts earlier claims is told (appendix Assumed
and Grounded Contexts)."""
ClaimType = Literal["reasoning", "conclusion"]
VerdictName = Literal["entailed", "contradicted", "unknown", "not-evaluable"]


class _Record(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)


class RelationRecord(_Record):
    """A canonical relation between two things, with where it was read."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    subject: str
    """The thing placed."""
    relation: str
    """The relation's canonical name."""
    object: str
    """The thing that it is placed by."""
    sentence: Annotated[int, Field(ge=1)] | None = None
    """Scene sentence or claim that states it, from 1."""
    span: Annotated[list[int], Field(min_length=2, max_length=2)] | None = None
    """Character offsets, start and end, in that sentence or claim."""
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    """The parser's confidence."""
    grounded: bool | None = None
    """Whether scene or question name both things; worked out where it is absent."""


def _from_triple(value: Any) -> Any:
    """A `[subject, relation, object]` list as the object form."""
    if isinstance(value, list | tuple):
        if len(value) != 3 or not all(isinstance(part, str) for part in value):
            raise ValueError("a relation is [subject, relation, object], three strings")
        return {"subject": value[0], "relation": value[1], "object": value[2]}
    return value


Relation = Annotated[RelationRecord, BeforeValidator(_from_triple)]


class ClauseRecord(_Record):
    """What one clause of a sentence about events says (`symbouq.events.grammar.Clause`)."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    agent: str = ""
    """Who does it."""
    verb: str = ""
    """What happens, a verb of the ontology; empty for a state."""
    strange: bool = False
    """Whether the ontology does not have the verb."""
    tense: Literal["now", "past"] = "past"
    """When it is."""
    aspect: Literal["simple", "progressive", "perfect"] = "simple"
    """How it is told."""
    negative: bool = False
    """Whether it is denied."""
    patient: str = ""
    """What it is done to."""
    states: list[Annotated[list[str], Field(min_length=1)]] = Field(default_factory=list)
    """Propositions: `rel` with relation, subject and object; `seen`, the same with a viewpoint;
    `amid`, `divided` or `nearer` with their things."""
    goes: list[tuple[str, str]] = Field(default_factory=list)
    """Ways with their landmarks."""
    located: list[tuple[str, str]] = Field(default_factory=list)
    """Relations of the event's place, with their landmarks."""
    within: list[tuple[str, str]] = Field(default_factory=list)
    """Pairs of landmarks that the event's place lies between."""
    started: list[tuple[str, str]] = Field(default_factory=list)
    """Relations of the place that it starts from, with their landmarks."""
    back: bool = False
    """Whether it is the way back of what was said before."""
    often: Annotated[int, Field(ge=1, le=1000)] = 1
    """How many times at least."""


class ClaimRecord(_Record):
    """A claim given by its relations."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    type: ClaimType = "reasoning"
    """`reasoning` or `conclusion`."""
    text: str = ""
    """The claim in words, for the report only."""
    stance: Literal["asserted", "supposed", "quoted", "retracted"] = "asserted"
    """What is `supposed`, `quoted`, or `retracted` by what follows, states nothing."""
    relations: list[Relation] = Field(default_factory=list)
    """What it states; empty where nothing supported."""
    events: list[ClauseRecord] = Field(default_factory=list)
    """The same as clauses, in a profile that reads events."""


class Instance(_Record):
    """A scene with a question: what a trace reasons about."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    id: Annotated[str, Field(min_length=1)]
    """Identifies the record within its file."""
    scene: list[str] | str | None = None
    """The trusted description: a list of sentences, or one text that is split."""
    scene_relations: list[Relation] | None = None
    """The scene in relations; then it is not parsed."""
    scene_events: list[list[ClauseRecord]] | None = None
    """The same as clauses, sentence by sentence, in a profile that reads events."""
    question: str = ""
    """What was asked; it may name things and gives bare labels their pair."""
    dataset: str | None = None
    """Chooses the profile, and nothing else."""
    profile: str | None = None
    """Profile of this record, before the one that its dataset chooses."""

    @model_validator(mode="after")
    def _has_scene(self) -> Self:
        if self.scene_relations is None and self.scene is None:
            raise ValueError("a record needs `scene` (text) or `scene_relations`")
        return self


class Trace(Instance):
    """One reasoning trace, in text or in relations."""

    reasoning: list[str] | None = None
    """The claims in order, where the trace is segmented; with `conclusion`."""
    conclusion: str | None = None
    """The delivered answer."""
    response: str | None = None
    """The model's free text, segmented by the parser where no `conclusion` is given."""
    claims: list[ClaimRecord] | None = None
    """The claims in relations, in order; the last one is the conclusion."""
    faults: list[str] = Field(default_factory=list)
    """What of its text could not be read, where the trace comes in relations."""
    model: str | None = None
    """Which model wrote the trace."""
    answer_space: Any = None
    """The labels that an answer may have; not read by the audit."""
    answer: Any = None
    """The gold answer, for evaluation only: the audit never reads it."""
    correct: Any = None
    """Whether the delivered answer is right, for evaluation only likewise."""
    tokens: Any = None
    """The generated tokens with their log-probabilities; not read by the audit."""
    samples: Any = None
    """Further responses to the same question; not read by the audit."""
    scores: Any = None
    """Scores by name from elsewhere; not read by the audit."""

    @model_validator(mode="after")
    def _has_claims(self) -> Self:
        if (self.scene_relations is None) != (self.claims is None):
            raise ValueError("`scene_relations` and `claims` come together")
        if self.claims is None and self.response is None and self.conclusion is None:
            raise ValueError(
                "a trace needs `response`, or `reasoning` with `conclusion`, or "
                "`scene_relations` with `claims`"
            )
        return self

    @property
    def structured(self) -> bool:
        """Whether the trace brings relations, so that nothing is parsed."""
        return self.scene_relations is not None


class AnswerRecord(_Record):
    """The answer to a question from its scene: what `symbouq answer` writes."""

    id: str
    """Id of the record."""
    status: Literal["answered", "open", "inconsistent", "unread"]
    """`answered`; `open` where nothing of the space follows and it has no label for that;
    `inconsistent` where the scene contradicts itself; `unread` where scene or question
    could not be read."""
    answer: list[str]
    """The answer's labels as the space spells them."""
    certain: list[str]
    """Labels that hold in every world of the scene."""
    possible: list[str]
    """Labels that hold in some."""
    impossible: list[str]
    """Labels that hold in none."""
    premises: list[str]
    """What the answer rests on, as `scene:N`."""
    default: bool
    """Whether it was given for want of proof: no, where yes does not follow."""


class OntologyRecord(_Record):
    """Which rules made an audit."""

    name: str
    """`builtin`, or the folder of a user's ontology."""
    profile: str
    """The profile."""
    version: str
    """Version of the ontology's vocabulary."""
    hash: str
    """SHA-256 over the rule and ontology files."""


class SceneAudit(_Record):
    """The scene as the auditor sees it."""

    relations: list[RelationRecord]
    """What it states."""
    feasible: bool
    """Whether it can be true at all."""
    clash: list[str]
    """Premises that contradict each other (a best minimal set), where it cannot."""
    message: str = ""
    """The same in plain words."""


class ClaimAudit(_Record):
    """The auditor's findings on one claim."""

    index: int
    """Number of the claim, from 1."""
    type: ClaimType
    """The last claim is the conclusion."""
    text: str
    """The claim in words."""
    stance: Literal["asserted", "supposed", "quoted", "retracted"] = "asserted"
    """What is `supposed`, `quoted`, or `retracted` by what follows, states nothing."""
    relations: list[RelationRecord]
    """What it states in canonical relations."""
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
    premises: list[str]
    """What a determinate verdict rests on: `scene:N` and `claim:N`."""
    message: str
    """The finding in plain words."""


Share = Annotated[float, Field(ge=0, le=1)]


class ProfileRecord(_Record):
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


class FeatureRecord(_Record):
    """The auditor's features; `names` gives their order, `symbouq.features` what they are."""

    claims: list[list[float]] = Field(json_schema_extra={"names": list(CLAIM_FEATURES)})
    """One list of 23 numbers per claim."""
    trace: list[float] = Field(json_schema_extra={"names": list(TRACE_FEATURES)})
    """16 numbers."""


class Audit(NotebookAudit, _Record):
    """The audit of one trace."""

    id: str
    """The trace's id."""
    source: dict[str, str | int] | None = None
    """File and line that the trace came from."""
    schema_version: int = SCHEMA_VERSION
    """Version of this record."""
    ontology: OntologyRecord
    """Which rules made it."""
    context: Context
    """The context that feeds profile, features and Constraint-Rule."""
    scene: SceneAudit
    """The scene."""
    claims: list[ClaimAudit]
    """The claims, in order."""
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


class Reliability(_Record):
    """How likely a trace's answer is right: what `symbouq predict` writes."""

    id: str
    """The trace's id."""
    reliability: Annotated[float, Field(ge=0, le=1)]
    """The calibrated probability that the delivered answer is right."""
    scores: dict[str, float]
    """The candidate scores, each calibrated on validation."""
    contributions: dict[str, float]
    """What each candidate that the composer reads adds to the log-odds, compared with the mean
    of validation: positive values speak for the answer."""
    profile: ProfileRecord
    """The Determinacy Profile."""
    model_hash: str
    """The hash of the model file."""
    missing: list[str] = Field(default_factory=list)
    """Scores that the model knows and the trace has not; their validation mean stands for them."""


AnyRecord = TypeVar("AnyRecord", bound=_Record)


def parse_record(
    kind: type[AnyRecord], line: bytes, file: str | None = None, number: int | None = None
) -> AnyRecord:
    """One line of a file as a record.

    Raises:
        RecordError: If the line is no JSON object of the record's shape.
    """
    try:
        return make_record(kind, from_json(line, allow_inf_nan=False))
    except ValueError as error:
        raise RecordError(_not_json(line, error), file, number) from error
    except RecordError as error:
        raise RecordError(error.message, file, number) from error


def make_record(kind: type[AnyRecord], value: Any) -> AnyRecord:
    """A record from its fields.

    Raises:
        RecordError: If they do not have the record's shape.
    """
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise RecordError(_explained(error)) from error


def _not_json(line: bytes, error: ValueError) -> str:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as wrong:
        return f"not UTF-8: byte {line[wrong.start]:#04x} at offset {wrong.start}"
    return f"not valid JSON (one object a line is expected): {error}"


def _explained(error: ValidationError) -> str:
    """What is wrong with a record, field by field, shortly."""
    parts: list[str] = []
    for problem in error.errors(include_url=False, include_input=False)[:3]:
        place = ".".join(str(part) for part in problem["loc"] if not _is_internal(part))
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "model_type":
            message = "a record is a JSON object, one a line"
        text = f"{place}: {message}" if place else message
        if text not in parts:
            parts.append(text)
    return "; ".join(parts)


def _is_internal(part: int | str) -> bool:
    return isinstance(part, str) and ("[" in part or part in ("str", "function-before"))


RECORDS: dict[str, type[_Record]] = {
    "trace": Trace,
    "question": Instance,
    "audit": Audit,
    "answer": AnswerRecord,
    "reliability": Reliability,
}
"""The records that commands read and write, by name."""


def json_schema() -> dict[str, Any]:
    """JSON Schema of the input and output records, by name."""
    return {name: model.model_json_schema() for name, model in RECORDS.items()}
