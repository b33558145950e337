"""What a language model reads in a text: its replies, and the lines of a file that keeps them."""

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
"""How a claim is made: what is necessary, possible or impossible, and alternatives, which are said
to be all that is open, are judged over the worlds that the context leaves, and enter none; what is
supposed, asked, quoted or retracted states nothing."""

Unexpressible = Literal["no-relation", "number", "frame", "change", "quantifier", "reference"]
"""Why the words of a place are in no relation: the ontology has none for them; they are a number,
of another frame of reference, of a change or a time, a quantifier over things that are not
listed, or it is not clear what they refer to."""

Words = str | Annotated[list[int], Field(min_length=2, max_length=2)]
"""Words of a sentence as they stand there, or their character offsets, start and end."""


class _Part(Record):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class ThingMention(_Part):
    """A thing that a sentence mentions."""

    id: str
    """The thing, by the same id in the whole trace."""
    words: Words
    """The words that mention it."""


class RelationReading(_Part):
    """A relation that a sentence speaks of."""

    words: Words
    """The words that say it."""
    stance: Stance = "asserted"
    """How it is said."""
    polarity: Literal["affirmed", "denied"] = "affirmed"
    """Whether it is said to hold or not to hold."""
    subject: str
    """Id of the thing placed."""
    relation: str
    """The relation's canonical name."""
    object: str | Annotated[list[str], Field(min_length=2)]
    """Id of the thing that it is placed by; the ids of all of them, for a relation such as
    *between*."""
    amount: str = ""
    """By how much: "60 cm", "at least 2 blocks"; empty where the sentence does not say."""


class PlaceReading(_Part):
    """A place on a scale that a sentence gives to a thing: "row 3", "second from the left"."""

    words: Words
    """The words that say it."""
    thing: str
    """Id of the thing."""
    scale: str
    """The scale, by its name in the ontology."""
    number: Annotated[int, Field(ge=-999, le=999)]
    """The number on it."""
    of: str = ""
    """Id of what the places belong to; empty where nothing says."""


class HeadingReading(_Part):
    """Where a sentence says that a thing faces, looks or goes."""

    words: Words
    """The words that say it."""
    thing: str
    """Id of the thing."""
    direction: str
    """The direction, by its name in the ontology."""


class UnexpressedReading(_Part):
    """Words about a place that are in none of the relations."""

    words: Words
    """The words."""
    reason: Unexpressible
    """Why."""


class SentenceReading(_Part):
    """What is read in one sentence."""

    sentence: str
    """Its label in the text that was given: `S2`."""
    things: list[ThingMention] = Field(default_factory=list)
    """The things that it mentions."""
    relations: list[RelationReading] = Field(default_factory=list)
    """What it says of them."""
    places: list[PlaceReading] = Field(default_factory=list)
    """The places on scales that it gives to things."""
    headings: list[HeadingReading] = Field(default_factory=list)
    """Where it says that things face."""
    count: list[int] = Field(default_factory=list, max_length=2)
    """How many of its counted relations hold, at least and at most; empty where it has none."""
    unexpressed: list[UnexpressedReading] = Field(default_factory=list)
    """What of it is in no relation."""


class Reply(_Part):
    """A language model's reading of some sentences of a trace."""

    sentences: list[SentenceReading]
    """The sentences, in order."""
    asks: list[str] = Field(default_factory=list, max_length=2)
    """Ids of the two things whose relation the question asks for; empty where it does not."""
    answer: str = ""
    """Label of the sentence that delivers the answer; empty where none does."""


class ReadingsRecord(Record):
    """The replies that a trace is read by (`symbouq.reading.model`)."""

    model: str
    """The language model."""
    prompt: str
    """Version of the prompt that it was given."""
    second_opinion: bool = False
    """Whether the parser-based reader reads the trace as well, and is compared."""
    alone: bool = False
    """Whether the model was shown each sentence alone, and so there is a request for each."""
    replies: list[Annotated[list[Reply], Field(min_length=1)]]
    """The replies to each request, in the order in which they are made: several where the model
    was asked more than once."""


class StoredReading(Record):
    """One line of a file of readings: one reply to one request."""

    id: str
    """Id of the trace that it was read for first."""
    part: Literal["scene", "claims"]
    """What of the trace was read."""
    text: str
    """SHA-256 of the text that was read."""
    model: str
    """The language model."""
    prompt: str
    """Version of the prompt: SHA-256 of instructions and schema, 16 digits."""
    ontology: str
    """SHA-256 of the ontology's files."""
    sample: Annotated[int, Field(ge=0)] = 0
    """Number of the reply, where the model is asked several times."""
    reply: Reply
    """The reply; it may be edited by hand."""
    usage: dict[str, Any] = Field(default_factory=dict)
    """Tokens of prompt and reply, as the server counts them."""
