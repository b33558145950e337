"""Replies judged before they are used: what stands there, what is repeated, what another reader
reads otherwise.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from symbouq.ontology.tables import Ontology
from symbouq.reading.model.dialogue import span_of, words_of
from symbouq.records.reading import RelationReading, Reply, SentenceReading

CONFIRMED, REPEATED, ONCE, DOUBTED = 0.98, 0.95, 0.9, 0.5
"""Confidence of a relation that the parser-based reader reads as well, that every sample has, of
which there was one sample, and that something speaks against."""

_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?!\w)")
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_LISTED = re.compile(r"\s*(?:[-*#>•+]+\s*)*(?:(?:step|claim)?\s*\(?\d+[.):]\s+)?", re.IGNORECASE)
_OCLOCK = re.compile(r"\d+\s*o\W?\s*clock", re.IGNORECASE)

Said = tuple[str, str, tuple[str, str, str]]
"""Stance, polarity and relation of a reading, the same for a relation and its converse."""


@dataclass(frozen=True)
class JudgedRelation:
    """A relation of a reply that can be used.

    Attributes:
        stance: How it is said.
        denied: Whether it is said not to hold.
        subject: Id of the thing placed.
        relation: The relation's name in the ontology.
        objects: Ids of the things that it is placed by.
        span: Where the words that say it stand.
        confidence: How sure it is, in (0, 1].
    """

    stance: str
    denied: bool
    subject: str
    relation: str
    objects: tuple[str, ...]
    span: tuple[int, int]
    confidence: float


@dataclass(frozen=True)
class JudgedSentence:
    """A sentence, judged.

    Attributes:
        read: Whether the reply has it.
        relations: The relations that can be used.
        faults: What of the reply cannot be, a message each.
        in_part: Whether some of what it says of places is in no relation.
    """

    read: bool = False
    relations: tuple[JudgedRelation, ...] = ()
    faults: tuple[str, ...] = ()
    in_part: bool = False


def judged(
    ontology: Ontology, texts: Mapping[str, str], replies: Sequence[Sequence[Reply]]
) -> dict[str, JudgedSentence]:
    """The sentences of a trace by their labels, as replies read them.

    Args:
        ontology: The tables of the profile.
        texts: The sentences.
        replies: The replies to each request; the first sample of each is judged by the others.
    """
    first = _sentences(given[0] for given in replies)
    things = {mention.id for sentence in first.values() for mention in sentence.things}
    samples = min(map(len, replies), default=1)
    others = [
        _aligned(first, _sentences(given[n] for given in replies), texts) for n in range(1, samples)
    ]
    found: dict[str, JudgedSentence] = {}
    for label, text in texts.items():
        if label not in first:
            found[label] = JudgedSentence()
            continue
        sentence = _standing(ontology, first[label], text, things)
        repeated = [
            {_said(ontology, r) for r in _relations(ontology, other.get(label))} for other in others
        ]
        relations = [
            replace(relation, confidence=_confidence(ontology, relation, repeated))
            for relation in sentence.relations
        ]
        clashing = _clashing(ontology, relations)
        found[label] = replace(
            sentence,
            relations=tuple(
                replace(r, confidence=DOUBTED) if n in clashing else r
                for n, r in enumerate(relations)
            ),
        )
    return found


def _sentences(replies: Iterable[Reply]) -> dict[str, SentenceReading]:
    return {sentence.sentence: sentence for reply in replies for sentence in reply.sentences}


def _standing(
    ontology: Ontology, sentence: SentenceReading, text: str, things: Collection[str]
) -> JudgedSentence:
    """A sentence with what of its reading stands in it, is known and is of things."""
    faults = [
        f"{mention.words!r} is read as a thing, and does not stand there"
        for mention in sentence.things
        if not words_of(mention, text)
    ]
    absent = {mention.id for mention in sentence.things if not words_of(mention, text)}
    absent -= {mention.id for mention in sentence.things if words_of(mention, text)}
    relations: list[JudgedRelation] = []
    for reading in sentence.relations:
        relation = _relation(ontology, reading, text)
        if relation is None:
            faults.append(f"{reading.relation!r} is no relation of the profile of so many things")
        elif relation.span == (0, 0):
            faults.append(f"{reading.words!r} is read, and does not stand there")
        elif not {relation.subject, *relation.objects}.issubset(things):
            faults.append(f"{reading.words!r} is read of what is no thing of the trace")
        elif absent.isdisjoint((relation.subject, *relation.objects)):
            relations.append(relation)
    in_part = bool(sentence.unexpressed or faults) or _has_number(ontology, sentence, text)
    return JudgedSentence(True, tuple(relations), tuple(faults), in_part)


def _relations(ontology: Ontology, sentence: SentenceReading | None) -> Iterator[JudgedRelation]:
    for reading in sentence.relations if sentence is not None else ():
        relation = _relation(ontology, reading, "")
        if relation is not None:
            yield relation


def _relation(ontology: Ontology, reading: RelationReading, text: str) -> JudgedRelation | None:
    """A relation as the ontology names it; None where it has none of the name and arity."""
    try:
        name = ontology.canonical(reading.relation)
    except KeyError:
        return None
    objects = (reading.object,) if isinstance(reading.object, str) else tuple(reading.object)
    if (len(objects) > 1) != (name in ontology.lexicon.grouped):
        return None
    return JudgedRelation(
        reading.stance,
        reading.polarity == "denied",
        reading.subject,
        name,
        objects,
        span_of(reading.words, text) or (0, 0),
        ONCE,
    )


def _has_number(ontology: Ontology, sentence: SentenceReading, text: str) -> bool:
    """Whether a sentence has a number that is no part of what it calls a thing."""
    rest = text
    for mention in sentence.things:
        if words := words_of(mention, text):
            rest = rest.replace(words, " ")
    rest = _OCLOCK.sub(" ", _LISTED.sub(" ", rest, count=1))
    numerals = ontology.lexicon.numeral
    return bool(_NUMBER.search(rest)) or any(
        numerals.get(word, 1) > 1 for word in _WORD.findall(rest.lower())
    )


def _said(ontology: Ontology, relation: JudgedRelation) -> Said:
    """What a relation says, its things in alphabetical order where it has a converse."""
    stance = "denied" if relation.denied else "affirmed"
    u, r, v = relation.subject, relation.relation, " ".join(sorted(relation.objects))
    mirror = ontology.relations.mirror
    triple = (v, mirror[r], u) if u > v and r in mirror else (u, r, v)
    return relation.stance, stance, triple


def _confidence(
    ontology: Ontology, relation: JudgedRelation, repeated: Sequence[Collection[Said]]
) -> float:
    if relation.subject in relation.objects:
        return DOUBTED
    if not repeated:
        return ONCE
    said = _said(ontology, relation)
    return REPEATED if all(said in sample for sample in repeated) else DOUBTED


def _clashing(ontology: Ontology, relations: Sequence[JudgedRelation]) -> set[int]:
    """The positions of relations that a sentence asserts of one pair, which cannot have both."""
    pairs: dict[int, tuple[str, str, str]] = {
        n: _said(ontology, relation)[2]
        for n, relation in enumerate(relations)
        if relation.stance == "asserted" and not relation.denied
    }
    excludes = ontology.relations.excludes
    return {
        position
        for (n, (u, r, v)), (m, (x, s, y)) in combinations(pairs.items(), 2)
        if (u, v) == (x, y) and (s in excludes.get(r, ()) or r in excludes.get(s, ()))
        for position in (n, m)
    }


def _aligned(
    first: Mapping[str, SentenceReading],
    other: Mapping[str, SentenceReading],
    texts: Mapping[str, str],
) -> dict[str, SentenceReading]:
    """Another sample with the ids of the first one: of the things that the same words mention."""
    by_words: dict[tuple[str, str], set[str]] = defaultdict(set)
    for label, sentence in first.items():
        for mention in sentence.things:
            by_words[label, words_of(mention, texts.get(label, "")).lower()].add(mention.id)
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for label, sentence in other.items():
        for mention in sentence.things:
            words = words_of(mention, texts.get(label, "")).lower()
            votes[mention.id].update(by_words.get((label, words), ()))
    same = {
        # Of as many, the one of the same id.
        thing: max(counts, key=lambda known: (counts[known], known == thing))
        for thing, counts in votes.items()
        if counts
    }

    def renamed(relation: RelationReading) -> RelationReading:
        objects = relation.object
        objects = (
            same.get(objects, objects)
            if isinstance(objects, str)
            else [same.get(thing, thing) for thing in objects]
        )
        subject = same.get(relation.subject, relation.subject)
        return relation.model_copy(update={"subject": subject, "object": objects})

    return {
        label: sentence.model_copy(update={"relations": [*map(renamed, sentence.relations)]})
        for label, sentence in other.items()
    }
