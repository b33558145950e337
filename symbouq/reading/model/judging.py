"""Replies judged before they are used: what stands there, what is repeated, what another reader
reads otherwise.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from symbouq.ontology.tables import Ontology
from symbouq.reading.force import SUPPOSED, asks, forces_of
from symbouq.reading.model.dialogue import span_of, words_of
from symbouq.records.reading import RelationReading, Reply, SentenceReading

CONFIRMED, REPEATED, ONCE, DOUBTED = 0.98, 0.95, 0.9, 0.5
"""Confidence of a relation that the parser-based reader reads as well, that every sample has, of
which there was one sample, and that something speaks against."""

_UNSTATING = frozenset(("supposed", "asked", "quoted", "retracted"))
"""Stances that state nothing."""

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
        past_number: Whether it has a number that is read past.
    """

    read: bool = False
    relations: tuple[JudgedRelation, ...] = ()
    faults: tuple[str, ...] = ()
    in_part: bool = False
    past_number: bool = False


def judged(
    ontology: Ontology, texts: Mapping[str, str], replies: Sequence[Sequence[Reply]]
) -> dict[str, JudgedSentence]:
    """The sentences of a trace by their labels, as replies read them.

    Args:
        ontology: The tables of the profile.
        texts: The sentences.
        replies: The replies to each request; the first sample of each is judged by the others.
    """
    every = [sentence for given in replies for sentence in given[0].sentences]
    things = {mention.id for sentence in every for mention in sentence.things}
    found = dict.fromkeys(texts, JudgedSentence())
    known: set[str] = set()
    for first, *others in replies:
        says = [_said_by(ontology, first, other, texts, known) for other in others]
        for sentence in first.sentences:
            label = sentence.sentence
            if label in found:
                standing = _standing(ontology, sentence, texts[label], things)
                found[label] = _sure(ontology, standing, says)
            known.update(mention.id for mention in sentence.things)
    return found


def _sure(
    ontology: Ontology, sentence: JudgedSentence, says: Sequence[Collection[Said]]
) -> JudgedSentence:
    """A sentence with the confidence of its relations, by what other samples say."""
    relations = [replace(r, confidence=_confidence(ontology, r, says)) for r in sentence.relations]
    clashing = _clashing(ontology, relations)
    sure = (replace(r, confidence=DOUBTED) if n in clashing else r for n, r in enumerate(relations))
    return replace(sentence, relations=tuple(sure))


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
        relation = _relation(ontology, reading, sentence, text)
        if relation is None:
            faults.append(f"{reading.relation!r} is no relation of the profile of so many things")
        elif relation.span == (0, 0):
            faults.append(f"{reading.words!r} is read, and does not stand there")
        elif not {relation.subject, *relation.objects}.issubset(things):
            faults.append(f"{reading.words!r} is read of what is no thing of the trace")
        elif absent.isdisjoint((relation.subject, *relation.objects)):
            relations.append(relation)
    in_part = bool(sentence.unexpressed or faults)
    past_number = _has_number(ontology, sentence, text)
    return JudgedSentence(True, tuple(relations), tuple(faults), in_part, past_number)


def _relation(
    ontology: Ontology, reading: RelationReading, sentence: SentenceReading, text: str
) -> JudgedRelation | None:
    """A relation as the ontology names it, with the stance that its words allow; None where the
    ontology has none of the name and arity.
    """
    try:
        name = ontology.canonical(reading.relation)
    except KeyError:
        return None
    objects = (reading.object,) if isinstance(reading.object, str) else tuple(reading.object)
    if (len(objects) > 1) != (name in ontology.lexicon.grouped):
        return None
    span = span_of(reading.words, text) or (0, 0)
    stance = _stance(ontology, reading, sentence, text, span)
    denied = reading.polarity == "denied"
    if stance == "impossible" and not denied and forces_of(ontology).denies_plainly(text):
        stance, denied = "asserted", True
    return JudgedRelation(stance, denied, reading.subject, name, objects, span, ONCE)


def _stance(
    ontology: Ontology,
    reading: RelationReading,
    sentence: SentenceReading,
    text: str,
    span: tuple[int, int],
) -> str:
    """How a relation is said: as a model has it, but for what by its words no reader takes for
    stated. A scene may tell by instructions what it is like.
    """
    if reading.stance in _UNSTATING or sentence.sentence.startswith("Q"):
        return reading.stance
    forces = forces_of(ontology)
    told = sentence.sentence.startswith("S") and not asks(text)
    if told:
        return SUPPOSED if forces.supposes(text) else reading.stance
    named = (span_of(mention.words, text) for mention in sentence.things)
    return forces.unstated(text, span, [span for span in named if span]) or reading.stance


def _has_number(ontology: Ontology, sentence: SentenceReading, text: str) -> bool:
    """Whether a sentence has a number that is no part of what it calls a thing."""
    rest = text
    for mention in sentence.things:
        # Each mention is of one place, the first where nothing is blanked yet.
        if span := span_of(mention.words, rest):
            rest = f"{rest[: span[0]]}{' ' * (span[1] - span[0])}{rest[span[1] :]}"
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
    return REPEATED if all(_repeats(ontology, sample, said) for sample in repeated) else DOUBTED


def _repeats(ontology: Ontology, sample: Collection[Said], said: Said) -> bool:
    """Whether a sample says something, or what suffices for it: "directly above" for "above", left
    and below for "to the lower left".
    """
    stance, polarity, (u, r, v) = said
    if said in sample or polarity == "denied":
        return said in sample
    of_pair = {s for how, no, (x, s, y) in sample if (how, no, x, y) == (stance, polarity, u, v)}
    joined = {ontology.relations.join.get(pair) for pair in combinations(sorted(of_pair), 2)}
    return any((s, r) in ontology.relations.suffices for s in of_pair) or r in joined


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


def _said_by(
    ontology: Ontology,
    first: Reply,
    other: Reply,
    texts: Mapping[str, str],
    known: Collection[str],
) -> set[Said]:
    """What another sample says of the things of the first one. In which of its sentences does not
    matter: that is a matter of taste.

    Args:
        ontology: The tables of the profile.
        first: The first sample.
        other: The other one.
        texts: The sentences.
        known: Ids of the things that both were told.
    """
    same = _same_things(first, other, texts)
    said: set[Said] = set()
    for sentence in other.sentences:
        for reading in sentence.relations:
            text = texts.get(sentence.sentence, "")
            relation = _relation(ontology, reading, sentence, text)
            if relation is None:
                continue
            subject, *objects = (
                thing if thing in known else same.get(thing, thing)
                for thing in (relation.subject, *relation.objects)
            )
            said.add(_said(ontology, replace(relation, subject=subject, objects=tuple(objects))))
    return said


def _same_things(first: Reply, other: Reply, texts: Mapping[str, str]) -> dict[str, str]:
    """Thing of another sample to that of the first one which the same words mention: most often,
    and of as many the one of the same id.
    """
    mentions: dict[str, list[tuple[tuple[int, int], str]]] = defaultdict(list)
    for sentence in first.sentences:
        for mention in sentence.things:
            span = span_of(mention.words, texts.get(sentence.sentence, ""))
            if span is not None:
                mentions[sentence.sentence].append((span, mention.id))
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in other.sentences:
        for mention in sentence.things:
            span = span_of(mention.words, texts.get(sentence.sentence, "")) or (0, 0)
            for (start, end), thing in mentions[sentence.sentence]:
                if start < span[1] and span[0] < end:  # "the tall tree" and "tree" end alike
                    votes[mention.id][thing] += 2 if end == span[1] else 1
    return {
        thing: max(counts, key=lambda known: (counts[known], known == thing))
        for thing, counts in votes.items()
    }
