"""Input records: questions and traces, as text or as relations."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from symbouq.records.base import EncodableLabels, EncodableText, Record, all_encodable
from symbouq.records.reading import ReadingsRecord, Stance

ClaimType = Literal["reasoning", "conclusion"]
Bound = Literal["<", "<=", ">", ">="]
ClaimStance = Stance | Literal["unnecessary", "undetermined", "counted"]


class RelationRecord(Record):
    """Canonical relation between two things, with its position in the text."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    subject: EncodableText
    """The thing that is placed."""
    relation: EncodableText
    """Canonical name of the relation."""
    object: EncodableText
    """The thing relative to which it is placed."""
    offset: dict[str, int | float | dict[Bound, int | float]] | None = None
    """Amount. Maps an axis (x to the right, y upwards) to the subject's position minus the
    object's, `{"x": -3}`, or to bounds on it, `{"x": {"<": -3}}`, with <, <=, > or >=.
    """
    unit: str | None = None
    """Unit of `offset`, which must be a unit of the profile; absent if the text states no unit."""
    sentence: Annotated[int, Field(ge=1)] | None = None
    """Number of the scene sentence or claim that states it, from 1."""
    span: Annotated[list[int], Field(min_length=2, max_length=2)] | None = None
    """Character offsets (start, end) within that sentence or claim."""
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Share of such readings that are right. A claim with a confidence below 0.75 is kept out of
    the context (docs/reading.md).
    """
    grounded: bool | None = None
    """Whether the scene or question names both things; computed if absent."""


def _from_triple(value: Any) -> Any:
    """Convert a `[subject, relation, object]` list to the object form."""
    if isinstance(value, list | tuple):
        if len(value) != 3 or not all(isinstance(part, str) for part in value):
            raise ValueError("a relation is [subject, relation, object], three strings")
        return {"subject": value[0], "relation": value[1], "object": value[2]}
    return value


Relation = Annotated[RelationRecord, BeforeValidator(_from_triple)]


class ClauseRecord(Record):
    """Clause of a sentence about events (`symbouq.reading.clauses.Clause`)."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    agent: EncodableText = ""
    """The agent."""
    verb: EncodableText = ""
    """Verb of the ontology; empty for a state."""
    strange: bool = False
    """Whether the verb is missing from the ontology."""
    tense: Literal["now", "past"] = "past"
    """Tense."""
    aspect: Literal["simple", "progressive", "perfect"] = "simple"
    """Aspect."""
    negative: bool = False
    """Whether the clause is negated."""
    patient: EncodableText = ""
    """The patient."""
    states: list[Annotated[list[str], Field(min_length=1)]] = Field(default_factory=list)
    """Propositions: `rel` with relation, subject and object; `seen`, the same from a viewpoint;
    `amid`, `divided` or `nearer` with their things."""
    goes: list[tuple[str, str]] = Field(default_factory=list)
    """Ways with their grounds."""
    located: list[tuple[str, str]] = Field(default_factory=list)
    """Relations that describe where the event happens, with their grounds."""
    within: list[tuple[str, str]] = Field(default_factory=list)
    """Pairs of grounds that surround the place of the event."""
    started: list[tuple[str, str]] = Field(default_factory=list)
    """Relations that describe where the movement starts, with their grounds."""
    back: bool = False
    """Whether the clause reverses the previous way."""
    often: Annotated[int, Field(ge=1, le=1000)] = 1
    """Minimum number of times that the event happens."""


class ClaimRecord(Record):
    """Claim that is given by its relations."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    type: ClaimType = "reasoning"
    """`reasoning` or `conclusion`."""
    text: EncodableText = ""
    """The claim in words, for the report only."""
    stance: ClaimStance = "asserted"
    """Stance. `necessary`, `possible`, `impossible`, `unnecessary` and `undetermined` claims, and
    lists of possible relations (`alternatives`), are judged over the possible layouts. They are not
    added to a context, and neither are `counted` claims. `supposed`, `asked`, `quoted` and
    `retracted` text makes no claim.
    """
    least: Annotated[int, Field(ge=0)] | None = None
    """Minimum number of true relations, for a `counted` claim."""
    most: Annotated[int, Field(ge=0)] | None = None
    """Maximum number of true relations, for a `counted` claim."""
    reason: Literal["", "unread", "uncertain", "in-part", "not-in-profile", "denied"] = ""
    """Why a claim that mentions a place states no relation."""
    rest: list[str] = Field(default_factory=list)
    """Unread words about places. A claim with such words is never entailed."""
    relations: list[Relation] = Field(default_factory=list)
    """Relations that the claim states; empty if none is supported."""
    events: list[ClauseRecord] = Field(default_factory=list)
    """The same content as clauses, in a profile for events."""

    @model_validator(mode="after")
    def _has_no_relation_of_its_own(self) -> Self:
        if {"subject", "relation", "object"} & (self.model_extra or {}).keys():
            raise ValueError("a claim has a list of `relations`, each with subject and object")
        return self


def _identity(value: Any) -> Any:
    """Convert an id to text. Whole numbers become their digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return all_encodable(value)


def _steps(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError("a list of claims is expected; put free text into `response`")
    return value


class Instance(Record):
    """Scene and question that a trace reasons about."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    id: Annotated[str, Field(min_length=1), BeforeValidator(_identity)]
    """Id, unique within its file."""
    scene: list[EncodableText] | EncodableText | None = None
    """Trusted description: a list of sentences, or a string that is split into sentences."""
    scene_relations: list[Relation] | None = None
    """The scene as relations. If given, the text is not parsed."""
    scene_events: list[list[ClauseRecord]] | None = None
    """The same content as clauses, one list per sentence, in a profile for events."""
    question: EncodableText = ""
    """The question. It determines which pair of things a bare label describes."""
    dataset: EncodableText | None = None
    """Name of the dataset, which determines the profile and the reader."""
    profile: EncodableText | None = None
    """Profile for this record; overrides that of its dataset."""
    readings: ReadingsRecord | None = None
    """Readings of the text by a language model. They are checked and used instead of parsing."""

    @model_validator(mode="before")
    @classmethod
    def _is_no_audit(cls, value: Any) -> Any:
        if isinstance(value, dict) and "constraint_rule" in value and "scene" in value:
            match value.get("source"):
                case {"file": str(file), "line": int(line)}:
                    raise ValueError(f"an audit, not a trace; its trace is {file}:{line}")
            raise ValueError("an audit, not a trace; give the file of traces that was audited")
        return value

    @model_validator(mode="after")
    def _has_scene(self) -> Self:
        if self.scene_relations is None and self.scene is None:
            raise ValueError("a record needs `scene` (text) or `scene_relations`")
        return self


class ReaderRecord(Record):
    """Reader of a trace's text."""

    pipeline: str = ""
    """Pipeline that parsed the text; empty if only a model read it."""
    version: str = ""
    """Version of the pipeline."""
    model: str | None = None
    """Language model that read the text, if any."""
    prompt: str | None = None
    """Version of its prompt."""


class Trace(Instance):
    """Reasoning trace, as text or as relations."""

    reasoning: Annotated[list[EncodableText], BeforeValidator(_steps)] | None = None
    """Claims in order, with `conclusion`, if the trace is segmented."""
    conclusion: EncodableText | None = None
    """Delivered answer."""
    response: EncodableText | None = None
    """The model's free text. It is split into claims if there is no `conclusion`."""
    truncated: bool = False
    """Whether the output was cut off or is empty. There is then no answer and no score, and an
    unfinished last sentence is not judged.
    """
    claims: list[ClaimRecord] | None = None
    """Claims as relations, in order; the last one is the conclusion."""
    complete: bool = True
    """For traces given as relations: whether the relations are all that the scene states about
    places. If not, missing relations decide nothing.
    """
    faults: list[EncodableText] = Field(default_factory=list)
    """For traces given as relations: parts of the text that could not be read."""
    reader: ReaderRecord | None = None
    """For traces given as relations: reader of the original text."""
    model: str | None = None
    """Model that wrote the trace."""
    answer_space: EncodableLabels = None
    """Possible labels, against which an answer without a relation is judged."""
    answer: Any = None
    """Right answer, for evaluation only: the audit never reads it."""
    correct: Any = None
    """Whether the delivered answer is right, for evaluation only."""
    tokens: Any = None
    """Generated tokens with log-probabilities; not read by the audit."""
    samples: Any = None
    """Other responses to the same question; not read by the audit."""
    scores: Any = None
    """Other scores by name; not read by the audit."""

    @model_validator(mode="after")
    def _has_claims(self) -> Self:
        if self.claims is not None and self.scene_relations is None:
            raise ValueError("`claims` need `scene_relations`")
        given = (self.claims, self.response, self.conclusion)
        blank = not self.claims and not any((self.response or "").split())
        if self.response is not None and blank and not self.reasoning and not self.conclusion:
            self.truncated = True
        if all(each is None for each in given) and not self.truncated:
            raise ValueError(
                "a trace needs `response`, or `reasoning` with `conclusion`, or "
                "`scene_relations` with `claims`"
            )
        return self

    @property
    def structured(self) -> bool:
        """Whether the trace is given as relations, so that nothing is parsed."""
        return self.claims is not None
