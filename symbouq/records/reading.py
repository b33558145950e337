"""Readings by a language model: its replies, and the lines of the file that stores them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from symbouq.records.base import Record

Stance = Literal[
    "asserted",
    "necessary",
    "possible",
    "impossible",
    "alternatives",
    "counted",
    "supposed",
    "asked",
    "quoted",
    "retracted",
]
"""How a claim is made. Necessary, possible and impossible claims, and lists of alternatives, are
judged over the possible layouts and are not added to a context. Supposed, asked, quoted and
retracted text makes no claim.
"""

Unexpressible = Literal["no-relation", "number", "frame", "change", "quantifier", "reference"]
"""Why words about a place are not a relation: the ontology has no relation for the words; they
state a number, another frame of reference, a change or time, or a quantifier over unlisted things;
or the words are unclear.
"""

Words = str | Annotated[list[int], Field(min_length=2, max_length=2)]
"""Words of a sentence, verbatim or as character offsets (start, end)."""


class _Part(Record):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class ThingMention(_Part):
    """Thing mentioned in a sentence."""

    id: str
    """Id of the thing. It is the same throughout the trace."""
    words: Words
    """Words that mention the thing."""


class RelationReading(_Part):
    """Relation stated in a sentence."""

    words: Words
    """Words that state the relation."""
    stance: Stance = "asserted"
    """Stance."""
    polarity: Literal["affirmed", "denied"] = "affirmed"
    """Whether the relation is asserted or denied."""
    subject: str
    """Id of the thing that is placed."""
    relation: str
    """Canonical name of the relation."""
    object: str | Annotated[list[str], Field(min_length=2)]
    """Id of the thing relative to which it is placed, or several ids for a relation such as
    *between*.
    """
    amount: str = ""
    """Distance, such as "60 cm" or "at least 2 blocks"; empty if not stated."""


class PlaceReading(_Part):
    """Position of a thing on a scale, such as "row 3" or "second from the left"."""

    words: Words
    """Words that state the position."""
    thing: str
    """Id of the thing."""
    scale: str
    """Name of the scale in the ontology."""
    number: Annotated[int, Field(ge=-999, le=9999)]
    """Position on the scale."""
    of: str = ""
    """Id of the thing that the positions belong to; empty if not stated."""


class HeadingReading(_Part):
    """Direction in which a thing faces, looks or goes."""

    words: Words
    """Words that state the direction."""
    thing: str
    """Id of the thing."""
    direction: str
    """Name of the direction in the ontology."""


class UnexpressedReading(_Part):
    """Words about a place that are not part of any relation."""

    words: Words
    """The words."""
    reason: Unexpressible
    """The reason."""


class SentenceReading(_Part):
    """Reading of one sentence."""

    sentence: str
    """Label of the sentence in the request, such as `S2`."""
    things: list[ThingMention] = Field(default_factory=list)
    """Things that the sentence mentions."""
    relations: list[RelationReading] = Field(default_factory=list)
    """Relations that the sentence states."""
    places: list[PlaceReading] = Field(default_factory=list)
    """Positions on scales that the sentence states."""
    headings: list[HeadingReading] = Field(default_factory=list)
    """Directions in which things face."""
    count: list[int] = Field(default_factory=list, max_length=2)
    """How many of the counted relations hold, at least and at most; empty if none are counted."""
    unexpressed: list[UnexpressedReading] = Field(default_factory=list)
    """Words about a place that are not part of any relation."""


class Reply(_Part):
    """A language model's reading of one or more sentences of a trace."""

    sentences: list[SentenceReading]
    """Sentences, in order."""
    asks: list[str] = Field(default_factory=list, max_length=2)
    """Ids of the two things that the question is about; empty if it asks for something else."""
    answer: str = ""
    """Label of the sentence that contains the answer; empty if there is none."""


class ReadingsRecord(Record):
    """Replies of a language model from which a trace is read (`symbouq.reading.model`)."""

    model: str
    """The language model."""
    prompt: str
    """Version of the prompt given to the model."""
    second_opinion: bool = False
    """Whether the parser also reads the trace, for comparison."""
    alone: bool = False
    """Whether the model saw each sentence in a separate request."""
    left: list[str] = Field(default_factory=list)
    """Labels of claims that the model was not asked about, because the parser decides them."""
    replies: list[Annotated[list[Reply], Field(min_length=1)]]
    """Replies to each request, in order. There are several if the model was asked repeatedly."""


class StoredReading(Record):
    """Line of a file of readings: one reply to one request."""

    id: str
    """Id of the trace for which it was first read."""
    part: Literal["scene", "claims"]
    """Part of the trace."""
    text: str
    """SHA-256 of the text."""
    model: str
    """The language model."""
    prompt: str
    """Version of the prompt: 16 digits of the SHA-256 of instructions and schema."""
    ontology: str
    """SHA-256 of the ontology's files."""
    sample: Annotated[int, Field(ge=0)] = 0
    """Number of the reply, if the model was asked repeatedly."""
    reply: Reply
    """The reply; you may edit it."""
    usage: dict[str, Any] = Field(default_factory=dict)
    """Number of tokens in the prompt and the reply, as counted by the server."""
