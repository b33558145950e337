"""Judge replies before they are used. A reading should be in the text, be repeated in other
samples, and agree with another reader.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

from symbouq.ontology.measures import Offset, Shift
from symbouq.ontology.tables import Ontology
from symbouq.reading.force import SUPPOSED, asks, forces_of
from symbouq.reading.model.dialogue import moved, span_of, with_ids, words_of
from symbouq.reading.model.distances import APART
from symbouq.reading.model.schema import directions, scales
from symbouq.reading.syntax.amounts import Amount, Amounts
from symbouq.records.reading import (
    HeadingReading,
    PlaceReading,
    RelationReading,
    Reply,
    SentenceReading,
)

CONFIRMED, REPEATED, ONCE, DOUBTED = 0.98, 0.95, 0.9, 0.5
"""Confidence in a reading that is confirmed by the parser-based reader, in a relation found in
every sample, in a relation from a single sample, and in a relation with evidence against it.
"""

_UNSTATING = frozenset(("supposed", "asked", "quoted", "retracted"))
"""Stances of sentences that make no statement."""

_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?!\w)")
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_LISTED = re.compile(r"\s*(?:[-*#>•+]+\s*)*(?:(?:step|claim)?\s*\(?\d+[.):]\s+)?", re.IGNORECASE)
_OCLOCK = re.compile(r"\d+\s*o\W?\s*clock", re.IGNORECASE)
_AMOUNT_WORD = re.compile(r"\d[\d.,/]*|[^\W\d_]+|[^\w\s]")
_JUDGED_BY_A_PART = ("number", "no-relation")
"""Reasons for unexpressed words that do not affect other readings of the sentence."""

Said = tuple[str, str, tuple[str, str, str]]
"""Stance, polarity and relation of a reading, in the same form for a relation and its converse. For
a place or a heading, its kind takes the place of the stance.
"""


@dataclass(frozen=True)
class JudgedRelation:
    """A usable relation from a reply.

    Attributes:
        stance: The stance of the relation in the sentence.
        denied: Whether the sentence denies the relation.
        subject: Id of the thing that is placed.
        relation: The relation's name in the ontology.
        objects: Ids of the things relative to which the subject is placed.
        span: Position of the words that state it.
        confidence: Confidence in (0, 1].
        offset: The subject's distance on each axis.
        unit: The unit of the offset.
    """

    stance: str
    denied: bool
    subject: str
    relation: str
    objects: tuple[str, ...]
    span: tuple[int, int]
    confidence: float
    offset: Offset = ()
    unit: str = ""


@dataclass(frozen=True)
class JudgedPlace:
    """A reading about a single thing: a place on a scale, or a direction that the thing faces.

    Attributes:
        thing: Id of the thing.
        scale: The scale, or the direction of a heading.
        number: The number of the place; None for a heading.
        of: Id of the thing that the place belongs to; empty if not stated.
        span: Position of the words that state it.
        confidence: Confidence in (0, 1].
    """

    thing: str
    scale: str
    number: int | None
    of: str
    span: tuple[int, int]
    confidence: float = ONCE

    @property
    def said(self) -> Said:
        """The reading, in comparable form."""
        kind = "faces" if self.number is None else "place"
        return kind, self.of, (self.thing, self.scale, str(self.number))


@dataclass(frozen=True)
class JudgedSentence:
    """A sentence with its judged readings.

    Attributes:
        read: Whether the reply contains the sentence.
        relations: Its usable relations.
        places: Its usable places and headings.
        count: The minimum and maximum number of its counted relations that hold; empty if it has no
            counted relations.
        faults: A message for each unusable part of the reply.
        rest: Words about places that were not read.
        in_part: Whether part of its content about places is not covered by any relation.
        number: A number in the sentence that was not read; empty if there is none.
        bearing: Whether the truth of the sentence implies its readings, whatever the unread rest
            means.
    """

    read: bool = False
    relations: tuple[JudgedRelation, ...] = ()
    places: tuple[JudgedPlace, ...] = ()
    count: tuple[int, ...] = ()
    faults: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    in_part: bool = False
    number: str = ""
    bearing: bool = True


def judged(
    ontology: Ontology, texts: Mapping[str, str], replies: Sequence[Sequence[Reply]]
) -> dict[str, JudgedSentence]:
    """Judge the readings in the samples of each reply for a trace, the first sample by comparison
    with the others. Return the judged sentences by label, as the texts are given.
    """
    ontology = ontology if uses_compass(ontology, texts) else _flat(ontology)
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


@lru_cache(maxsize=64)
def _flat(ontology: Ontology) -> Ontology:
    """Return an ontology for texts in which what is above may be north."""
    return replace(ontology, wording=replace(ontology.wording, upright_as={}))


def uses_compass(ontology: Ontology, texts: Mapping[str, str]) -> bool:
    """Whether a scene uses compass directions for places."""
    scene = " ".join(text for label, text in texts.items() if label.startswith("S"))
    classes = (ontology.words(name) for name in ("compass", "compass_side"))
    return not frozenset().union(*classes).isdisjoint(_WORD.findall(scene.lower()))


def _sure(
    ontology: Ontology, sentence: JudgedSentence, says: Sequence[Collection[Said]]
) -> JudgedSentence:
    """Add confidence to a sentence's relations and places, according to the other samples."""
    relations = [replace(r, confidence=_confidence(ontology, r, says)) for r in sentence.relations]
    clashing = _clashing(ontology, relations)
    sure = (replace(r, confidence=DOUBTED) if n in clashing else r for n, r in enumerate(relations))
    places = [
        replace(p, confidence=REPEATED if all(p.said in sample for sample in says) else DOUBTED)
        for p in sentence.places * bool(says)
    ]
    return replace(sentence, relations=tuple(sure), places=tuple(places) or sentence.places)


def _standing(
    ontology: Ontology,
    sentence: SentenceReading,
    text: str,
    things: Collection[str],
) -> JudgedSentence:
    """Keep the readings of a sentence that occur in its text, are known to the ontology, and are
    about things.
    """
    faults = [
        f"{mention.words!r} is read as a thing, and does not stand there"
        for mention in sentence.things
        if not words_of(mention, text)
    ]
    absent = {mention.id for mention in sentence.things if not words_of(mention, text)}
    absent -= {mention.id for mention in sentence.things if words_of(mention, text)}
    rest = [words_of(each, text) or str(each.words) for each in sentence.unexpressed]

    def stands(words: object, span: tuple[int, int], *of: str) -> bool:
        """Whether the sentence contains the words and the things of a reading."""
        of = tuple(moved(thing) for thing in of)
        if span == (0, 0):
            faults.append(f"{words!r} is read, and does not stand there")
        elif not things_there.issuperset(of):
            faults.append(f"{words!r} is read of what is no thing of the trace")
        else:
            return absent.isdisjoint(of)
        return False

    things_there = set(things)
    relations: list[JudgedRelation] = []
    for reading in sentence.relations:
        relation = _relation(ontology, reading, sentence, text)
        if relation is None:
            faults.append(f"{reading.relation!r} is no relation of the profile of so many things")
        elif stands(reading.words, relation.span, relation.subject, *relation.objects):
            if reading.amount and (relation.denied or not relation.offset):
                rest.append(reading.amount)
            if not (reading.amount and relation.denied):
                relations.append(relation)
    places: list[JudgedPlace] = []
    for place in _of_one(sentence):
        found = _place(ontology, place, text)
        if found is None:
            faults.append(f"{place.words!r} is read by no scale or direction of the profile")
        elif stands(place.words, found.span, *filter(None, (found.thing, found.of))):
            places.append(found)
    number = _number(ontology, sentence, text)
    reasons = {each.reason for each in sentence.unexpressed}
    declared = bool(rest) or "number" in reasons
    return JudgedSentence(
        True,
        tuple(relations),
        tuple(places),
        tuple(sentence.count),
        tuple(faults),
        tuple(dict.fromkeys(rest)),
        bool(sentence.unexpressed or rest or faults),
        number,
        reasons <= {*_JUDGED_BY_A_PART} and (declared or not number),
    )


def _of_one(sentence: SentenceReading) -> list[PlaceReading | HeadingReading]:
    """A sentence's readings about single things."""
    return [*sentence.places, *sentence.headings]


def _place(
    ontology: Ontology, reading: PlaceReading | HeadingReading, text: str
) -> JudgedPlace | None:
    """Judge a place or heading; None if the ontology lacks the scale or direction."""
    span = span_of(reading.words, text) or (0, 0)
    if isinstance(reading, HeadingReading):
        known = reading.direction in directions(ontology)
        return JudgedPlace(reading.thing, reading.direction, None, "", span) if known else None
    if reading.scale not in scales(ontology):
        return None
    return JudgedPlace(reading.thing, reading.scale, reading.number, reading.of, span)


def _offset(ontology: Ontology, reading: RelationReading, relation: str) -> tuple[Offset, str]:
    """Parse a relation's amount and return offset and unit. Both are empty if the amount is
    inexact, or if the relation has no single direction.
    """
    amounts = amounts_of(ontology)
    words = _AMOUNT_WORD.findall(reading.amount.lower())
    numbers = (n for n, word in enumerate(words) if amounts.counts(word) or word in ("a", "an"))
    for first in range(next(numbers, 0) + 1):
        found: tuple[Amount, ...] = amounts.of(words[first:], words[:first])
        if found and relation == APART and len({amount.unit for amount in found}) == 1:
            return tuple(Shift("", a.value, a.sense) for a in found), found[0].unit
        if found:
            return amounts.offset(relation, [a._replace(relation=relation) for a in found])
    return (), ""


def _relation(
    ontology: Ontology,
    reading: RelationReading,
    sentence: SentenceReading,
    text: str,
) -> JudgedRelation | None:
    """Judge a relation: use its name in the ontology, and a stance that is consistent with its
    words. Return None if the ontology has no relation of this name and arity. In a text that uses
    the compass, "above" and other words for height do not mean north.
    """
    try:
        name = ontology.canonical(reading.relation)
    except KeyError:
        return None
    objects = (reading.object,) if isinstance(reading.object, str) else tuple(reading.object)
    if (len(objects) > 1) != (name in ontology.lexicon.grouped):
        return None
    span = span_of(reading.words, text) or (0, 0)
    if _of_height(ontology, text[slice(*span)].lower()):
        name = ontology.wording.upright_as.get(name, name)
    stance = _stance(ontology, reading, sentence, text, span)
    denied = reading.polarity == "denied"
    named = [mention.words for mention in sentence.things]
    if (
        stance == "impossible"
        and not denied
        and not forces_of(ontology).modal(_without(text, named))
    ):
        stance, denied = "asserted", True
    offset, unit = _offset(ontology, reading, name) if reading.amount else ((), "")
    subject = reading.subject
    return JudgedRelation(stance, denied, subject, name, objects, span, ONCE, offset, unit)


def _of_height(ontology: Ontology, words: str) -> bool:
    """Whether the given words are about height: "above", "the bottom shelf", but not "north of",
    nor "past" or "ahead of" for someone who faces north.
    """
    phrases, heights = ontology.lexicon.phrase, ontology.wording.upright_as
    found = _WORD.findall(words)
    parts = (" ".join(found[n:m]) for n in range(len(found)) for m in range(n + 1, len(found) + 1))
    level = (ontology.words(name) for name in ("compass", "en_route"))
    if not frozenset().union(*level).isdisjoint(found):
        return False
    said = {phrases[part] for part in parts if part in phrases}
    for of in ontology.wording.expression.values():
        said |= {of[word] for word in found if word in of}
    return not said or not said.isdisjoint({*heights, *heights.values()})


def _stance(
    ontology: Ontology,
    reading: RelationReading,
    sentence: SentenceReading,
    text: str,
    span: tuple[int, int],
) -> str:
    """The stance of a relation. If the wording shows that nothing is stated, the stance is taken
    from the wording, otherwise from the model. A scene may be written as instructions.
    """
    if reading.stance in _UNSTATING or sentence.sentence.startswith("Q"):
        return reading.stance
    forces = forces_of(ontology)
    told = sentence.sentence.startswith("S") and not asks(text)
    if told:
        return SUPPOSED if forces.supposes(text) else reading.stance
    named = (span_of(mention.words, text) for mention in sentence.things)
    return forces.unstated(text, span, [span for span in named if span]) or reading.stance


def _number(ontology: Ontology, sentence: SentenceReading, text: str) -> str:
    """A number in a sentence that is not part of any reading; empty if there is none."""
    amounts = [relation.amount for relation in sentence.relations if relation.amount]
    of_places = [place.words for place in sentence.places]
    rest = _without(text, [*(m.words for m in sentence.things), *amounts, *of_places])
    rest = _OCLOCK.sub(" ", _LISTED.sub(" ", rest, count=1))
    numerals = ontology.lexicon.numeral
    figures = (number for number in _NUMBER.findall(rest) if number not in map(str, sentence.count))
    words = (word for word in _WORD.findall(rest.lower()) if numerals.get(word, 1) > 1)
    words = (word for word in words if numerals[word] not in sentence.count)
    return next(figures, "") or next(words, "")


def _without(text: str, parts: Iterable[str | Sequence[int]]) -> str:
    """Replace the given parts of a text by blanks."""
    for words in parts:
        # Each part blanks its first occurrence that is not blank yet.
        if span := span_of(words, text):
            text = f"{text[: span[0]]}{' ' * (span[1] - span[0])}{text[span[1] :]}"
    return text


def _said(ontology: Ontology, relation: JudgedRelation) -> Said:
    """Return a relation in comparable form. If it has a converse, its things are in alphabetical
    order.
    """
    stance = "denied" if relation.denied else "affirmed"
    u, r, v = relation.subject, relation.relation, " ".join(sorted(relation.objects))
    mirror, offset = ontology.relations.mirror, relation.offset
    if u > v and r in mirror:
        turned = offset if r == APART else tuple(shift.turned() for shift in offset)
        u, r, v, offset = v, mirror[r], u, turned
    if offset:  # with another amount, it is a different statement
        v = f"{v} {sorted(offset)} {relation.unit}"
    return relation.stance, stance, (u, r, v)


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
    """Whether a sample contains a given reading, or readings that imply it: "directly above"
    implies "above"; left and below imply "to the lower left".
    """
    stance, polarity, (u, r, v) = said
    if said in sample or polarity == "denied":
        return said in sample
    of_pair = {s for how, no, (x, s, y) in sample if (how, no, x, y) == (stance, polarity, u, v)}
    joined = {ontology.relations.join.get(pair) for pair in combinations(sorted(of_pair), 2)}
    return any((s, r) in ontology.relations.suffices for s in of_pair) or r in joined


def _clashing(ontology: Ontology, relations: Sequence[JudgedRelation]) -> set[int]:
    """The positions of asserted relations that exclude each other for the same pair."""
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
    """Return the readings in another sample about the things in the first sample, of which both
    were given the `known` ones. They may be in different sentences, since readers may differ.
    """
    same = _same_things(first, other, texts)
    said: set[Said] = set()
    for sentence in with_ids(other, lambda t: t if t in known else same.get(t, t)).sentences:
        text = texts.get(sentence.sentence, "")
        relations = (_relation(ontology, r, sentence, text) for r in sentence.relations)
        said.update(_said(ontology, relation) for relation in relations if relation is not None)
        places = (_place(ontology, place, text) for place in _of_one(sentence))
        said.update(place.said for place in places if place is not None)
    return said


@lru_cache(maxsize=64)
def amounts_of(ontology: Ontology) -> Amounts:
    """The parser for amounts in the units of a profile."""
    return Amounts(ontology)


def _same_things(first: Reply, other: Reply, texts: Mapping[str, str]) -> dict[str, str]:
    """Map each thing in another sample to the thing in the first sample that is most often
    mentioned with the same words. In a tie, the thing with the same id is preferred.
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
                if start < span[1] and span[0] < end:  # "the tall tree" and "tree": the same end
                    votes[mention.id][thing] += 2 if end == span[1] else 1
    return {
        thing: max(counts, key=lambda known: (counts[known], known == thing))
        for thing, counts in votes.items()
    }
