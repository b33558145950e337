"""Examples of readings: the tests of an ontology that say what sentences read as."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from symbouq.ontology.specs import ExpectedReading, Spec
from symbouq.reading.model.dialogue import AT_ONCE, TraceTexts
from symbouq.records.reading import (
    RelationReading,
    Reply,
    SentenceReading,
    ThingMention,
    UnexpressedReading,
)


def example(spec: Spec) -> tuple[dict[str, str], Reply]:
    """The sentences of a test by their labels, and the reply that reads them.

    Args:
        spec: The test; its `reads` says what its sentences read as.
    """
    ids: dict[str, str] = {}
    texts = {f"S{n}": sentence.text for n, sentence in enumerate(spec.reads, start=1)}
    read = [
        SentenceReading(
            sentence=label,
            things=list(_mentions(sentence.text, sentence.says, ids)),
            relations=[_relation(said, ids) for said in sentence.says if said.relation],
            unexpressed=[
                UnexpressedReading.model_validate({"words": said.words, "reason": said.stance})
                for said in sentence.says
                if not said.relation
            ],
        )
        for label, sentence in zip(texts, spec.reads, strict=True)
    ]
    return texts, Reply(sentences=read)


def as_claims(spec: Spec) -> tuple[TraceTexts, list[list[Reply]]]:
    """The sentences of a test as claims of a trace without scene, and replies that read them."""
    texts, reply = example(spec)
    reply.sentences = [
        sentence.model_copy(update={"sentence": sentence.sentence.replace("S", "C")})
        for sentence in reply.sentences
    ]
    claims = TraceTexts((), (), [*texts.values(), ""], True)
    last = SentenceReading(sentence=f"C{len(texts) + 1}")
    whole = [*reply.sentences, last]
    parts = [whole[n : n + AT_ONCE] for n in range(0, len(whole), AT_ONCE)]
    return claims, [[Reply(sentences=part)] for part in parts]


def _mentions(
    text: str, says: Iterable[ExpectedReading], ids: dict[str, str]
) -> Iterable[ThingMention]:
    """The things that a sentence mentions, with an article as it stands there."""
    seen: dict[tuple[str, str], None] = {}
    for said in says:
        for thing in said.things:
            key = ids.setdefault(thing.name, f"t{len(ids) + 1}")
            words = re.search(rf"(?:\b(?:the|an?) )?\b{re.escape(thing.words)}\b", text, re.I)
            if words is not None:
                seen.setdefault((key, words.group()))
    return [ThingMention(id=key, words=words) for key, words in seen]


def _relation(said: ExpectedReading, ids: dict[str, str]) -> RelationReading:
    subject, *objects = (ids[thing.name] for thing in said.things)
    return RelationReading.model_validate(
        {
            "words": said.words,
            "stance": said.stance,
            "polarity": "denied" if said.denied else "affirmed",
            "subject": subject,
            "relation": said.relation,
            "object": objects[0] if len(objects) == 1 else objects,
        }
    )


def sayings(specs: Iterable[Spec], phrases: Mapping[str, str]) -> dict[str, str]:
    """For each relation that the tests have in words, a sentence that says it and no other.

    Args:
        specs: The tests.
        phrases: Phrase, in lower case, to the relation that it says.
    """
    longest = sorted(phrases, key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})\b", re.IGNORECASE)
    found: dict[str, str] = {}
    for spec in specs:
        for text in (*spec.scene, *(claim.text for claim in spec.claims)):
            said = [match.lower() for match in pattern.findall(text)]
            if text.endswith(".") and len(said) == 1:
                found.setdefault(phrases[said[0]], text)
    return found
