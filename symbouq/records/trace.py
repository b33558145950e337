"""The records that come in: questions and traces, in text or in relations."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from symbouq.records.base import EncodableLabels, EncodableText, Record, all_encodable
from symbouq.records.reading import ReadingsRecord, Stance

ClaimType = Literal["reasoning", "conclusion"]
Bound = Literal["<", "<=", ">", ">="]
ClaimStance = Stance | Literal["unnecessary", "undetermined", "counted"]


class RelationRecord(Record):
    """A canonical relation between two things, with where it was read."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    subject: EncodableText
    """The thing placed."""
    relation: EncodableText
    """The relation's canonical name."""
    object: EncodableText
    """The thing that it is placed by."""
    offset: dict[str, int | float | dict[Bound, int | float]] | None = None
    """By how much: axis (x to the right, y upwards) to subject minus object, `{"x": -3}`; or to
    bounds of that, `{"x": {"<": -3}}`, with <, <=, > or >=."""
    unit: str | None = None
    """The unit of `offset`, one of the profile's; absent where the text has none."""
    sentence: Annotated[int, Field(ge=1)] | None = None
    """Scene sentence or claim that states it, from 1."""
    span: Annotated[list[int], Field(min_length=2, max_length=2)] | None = None
    """Character offsets, start and end, in that sentence or claim."""
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    """How sure the reading is; below 0.75 the claim contradicts nothing (docs/reading.md)."""
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


class ClauseRecord(Record):
    """One clause of a sentence about events (`symbouq.reading.clauses.Clause`)."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    agent: EncodableText = ""
    """Who does it."""
    verb: EncodableText = ""
    """What happens, a verb of the ontology; empty for a state."""
    strange: bool = False
    """Whether the ontology does not have the verb."""
    tense: Literal["now", "past"] = "past"
    """When it is."""
    aspect: Literal["simple", "progressive", "perfect"] = "simple"
    """How it is told."""
    negative: bool = False
    """Whether it is denied."""
    patient: EncodableText = ""
    """What it is done to."""
    states: list[Annotated[list[str], Field(min_length=1)]] = Field(default_factory=list)
    """Propositions: `rel` with relation, subject and object; `seen`, the same with a viewpoint;
    `amid`, `divided` or `nearer` with their things."""
    goes: list[tuple[str, str]] = Field(default_factory=list)
    """Ways with their grounds."""
    located: list[tuple[str, str]] = Field(default_factory=list)
    """Relations of the event's place, with their grounds."""
    within: list[tuple[str, str]] = Field(default_factory=list)
    """Pairs of grounds that the event's place lies between."""
    started: list[tuple[str, str]] = Field(default_factory=list)
    """Relations of the place that it starts from, with their grounds."""
    back: bool = False
    """Whether it is the way back of what was said before."""
    often: Annotated[int, Field(ge=1, le=1000)] = 1
    """How many times at least."""


class ClaimRecord(Record):
    """A claim given by its relations."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    type: ClaimType = "reasoning"
    """`reasoning` or `conclusion`."""
    text: EncodableText = ""
    """The claim in words, for the report only."""
    stance: ClaimStance = "asserted"
    """What is `necessary`, `possible`, `impossible`, `unnecessary` or `undetermined`, and
    `alternatives`, which are said to be all that is open, are judged over the worlds that the
    context leaves, and enter none; nor does what is `counted`; what is `supposed`, `asked`,
    `quoted`, or `retracted` by what follows, states nothing."""
    least: Annotated[int, Field(ge=0)] | None = None
    """Of what is `counted`, how many relations are said to hold at least: of none, 0."""
    most: Annotated[int, Field(ge=0)] | None = None
    """How many at most."""
    reason: Literal["", "unread", "uncertain", "in-part", "not-in-profile", "denied"] = ""
    """Why text that speaks of a place states nothing."""
    rest: list[str] = Field(default_factory=list)
    """The words about places of which nothing was read; with any, the claim is never entailed."""
    relations: list[Relation] = Field(default_factory=list)
    """What it states; empty where nothing supported."""
    events: list[ClauseRecord] = Field(default_factory=list)
    """The same as clauses, in a profile that reads events."""

    @model_validator(mode="after")
    def _has_no_relation_of_its_own(self) -> Self:
        if {"subject", "relation", "object"} & (self.model_extra or {}).keys():
            raise ValueError("a claim has a list of `relations`, each with subject and object")
        return self


class Instance(Record):
    """A scene with a question: what a trace reasons about."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    id: Annotated[str, Field(min_length=1), BeforeValidator(all_encodable)]
    """Identifies the record within its file."""
    scene: list[EncodableText] | EncodableText | None = None
    """The trusted description: a list of sentences, or one text that is split."""
    scene_relations: list[Relation] | None = None
    """The scene in relations; then it is not parsed."""
    scene_events: list[list[ClauseRecord]] | None = None
    """The same as clauses, sentence by sentence, in a profile that reads events."""
    question: EncodableText = ""
    """What was asked; it may name things and gives bare labels their pair."""
    dataset: EncodableText | None = None
    """Chooses the profile, and nothing else."""
    profile: EncodableText | None = None
    """Profile of this record, before the one that its dataset chooses."""
    readings: ReadingsRecord | None = None
    """What a language model read in its text; then it is that which is judged and used."""

    @model_validator(mode="after")
    def _has_scene(self) -> Self:
        if self.scene_relations is None and self.scene is None:
            raise ValueError("a record needs `scene` (text) or `scene_relations`")
        return self


class ReaderRecord(Record):
    """What read a trace's text."""

    pipeline: str = ""
    """Package of the trained pipeline that parsed it; empty where a model alone read it."""
    version: str = ""
    """Its version."""
    model: str | None = None
    """The language model that read it, if one did."""
    prompt: str | None = None
    """Version of the prompt that it was given."""


class Trace(Instance):
    """One reasoning trace, in text or in relations."""

    reasoning: list[EncodableText] | None = None
    """The claims in order, where the trace is segmented; with `conclusion`."""
    conclusion: EncodableText | None = None
    """The delivered answer."""
    response: EncodableText | None = None
    """The model's free text, segmented by the parser where no `conclusion` is given."""
    claims: list[ClaimRecord] | None = None
    """The claims in relations, in order; the last one is the conclusion."""
    complete: bool = True
    """Whether the scene's relations are all that it says of places, where the trace comes in
    relations; else what they leave open decides nothing."""
    faults: list[EncodableText] = Field(default_factory=list)
    """What of its text could not be read, where the trace comes in relations."""
    reader: ReaderRecord | None = None
    """What read its text, where the trace comes in relations."""
    model: str | None = None
    """Which model wrote the trace."""
    answer_space: EncodableLabels = None
    """The labels that an answer may have, by which an answer that states no relation is judged."""
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
