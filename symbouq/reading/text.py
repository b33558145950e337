"""What a text states: the types that readers hand on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from symbouq.ontology.measures import Offset
from symbouq.ontology.tables import Ontology
from symbouq.reading.clauses import Clauses
from symbouq.reading.parsed import ASSERTED, Count, Events, Question


@dataclass(frozen=True)
class Mention:
    """A relation read from text.

    Attributes:
        subject: The thing placed.
        relation: The canonical relation.
        object: The thing that it is placed by.
        span: Character offsets of the words that it was read from.
        confidence: In (0, 1].
        grounded: Whether scene or question name both things.
        offset: Axis to how much further the subject is than the object.
        unit: The unit of the offset; empty where the text has none.
    """

    subject: str
    relation: str
    object: str
    span: tuple[int, int]
    confidence: float
    grounded: bool
    offset: Offset = ()
    unit: str = ""


def grouped(ontology: Ontology, group: Sequence[Mention]) -> Iterator[Mention]:
    """What "A is between B and C" says: A is related to a thing of its own that spans B and C.
    Of one landmark alone a relation of two can say nothing.

    Args:
        ontology: The tables of the profile.
        group: One relation of one thing to each of its landmarks, in order.
    """
    if len(group) > 1:
        whole = " and ".join(mention.object for mention in group)
        spans = ontology.lexicon.grouped[group[0].relation]
        for mention in group:
            yield replace(mention, subject=whole, relation=spans)
        yield replace(group[0], object=whole)


def triples(mentions: Iterable[Mention]) -> tuple[tuple[str, str, str], ...]:
    """Relations without what else is known of them: subject, relation and object of each."""
    return tuple((m.subject, m.relation, m.object) for m in mentions)


@dataclass(frozen=True)
class Claim:
    """A claim of a response: its type, its text and what it states.

    Its stance is `asserted`; `necessary`, `possible`, `impossible`, `unnecessary` or
    `undetermined`; `counted`, where it says how many of its relations hold; `supposed` (under an
    "if" or "suppose"), `asked`, `quoted` (nothing but somebody's words) or `retracted` (taken back
    by what follows), which state nothing. Where nothing is stated, its reason may say why:
    `unread`, `uncertain`, `not-in-profile`. Its rest are its words about places of which nothing
    was read; with a rest its reason is `in-part`. Where the profile reads events, it has clauses.
    """

    type: str
    text: str
    relations: tuple[Mention, ...]
    stance: str = ASSERTED
    reason: str = ""
    count: Count | None = None
    rest: tuple[str, ...] = ()
    events: Clauses = ()


@dataclass(frozen=True)
class Text:
    """A trace's texts, read.

    Attributes:
        scene: What each scene sentence states.
        claims: The claims, the conclusion last.
        asked: The pair that the question asks about: subject and object.
        faults: What could not be read, by an internal error or for its length, one message
            each; a claim among them states nothing.
        events: The same as clauses, where the profile reads events.
        whole: Whether all that the scene says of places is read; None where a reader cannot tell.
        lost: The faults of scene and question.
        question: Reads the question.
    """

    scene: tuple[tuple[Mention, ...], ...]
    claims: tuple[Claim, ...]
    asked: tuple[str, str] | None
    faults: tuple[str, ...] = ()
    events: Events | None = None
    whole: bool | None = None
    lost: tuple[str, ...] = ()
    question: Callable[[], Question] = field(default=lambda: Question(""), compare=False)
