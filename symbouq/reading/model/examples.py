"""Derive examples of readings from an ontology's tests for the meanings of sentences."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from symbouq.ontology.specs import ExpectedReading, Spec
from symbouq.reading.model.dialogue import AT_ONCE, TraceTexts, moved
from symbouq.records.reading import (
    RelationReading,
    Reply,
    SentenceReading,
    ThingMention,
)


def example(spec: Spec) -> tuple[dict[str, str], Reply]:
    """Return the sentences of a test by label, and the correct reply for them.

    Args:
        spec: The test. The meaning of each sentence is in `reads`.
    """
    ids: dict[str, str] = {}
    texts = {f"S{n}": sentence.text for n, sentence in enumerate(spec.reads, start=1)}
    read = [
        SentenceReading.model_validate(
            {
                "sentence": label,
                "things": list(_mentions(sentence.text, sentence.says, ids)),
                **_parts(sentence.says, ids),
            }
        )
        for label, sentence in zip(texts, spec.reads, strict=True)
    ]
    return texts, Reply(sentences=read)


def _parts(says: Iterable[ExpectedReading], ids: Mapping[str, str]) -> dict[str, list[Any]]:
    parts: dict[str, list[Any]] = defaultdict(list)
    for said in says:
        words, things = said.words, [_id(thing.name, ids) for thing in said.things]
        if not said.relation:
            parts["unexpressed"].append({"words": words, "reason": said.stance})
        elif said.stance == "place":
            place = {"words": words, "thing": things[0], "scale": said.relation}
            parts["places"].append({**place, "number": int(said.amount)})
        elif said.stance == "heading":
            way = {"words": words, "thing": things[0], "direction": said.relation}
            parts["headings"].append(way)
        else:
            parts["relations"].append(_relation(said, things))
    return parts


def as_claims(spec: Spec) -> tuple[TraceTexts, list[list[Reply]]]:
    """Return the sentences of a test as claims in a trace without a scene, and the correct replies
    for them.
    """
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
    """The mentions of things in a sentence, each with its article."""
    seen: dict[tuple[str, str], None] = {}
    for said in says:
        for thing in said.things:
            key = ids.setdefault(moved(thing.name), f"t{len(ids) + 1}")
            words = moved(thing.words)
            found = re.search(rf"(?:\b(?:the|an?) )?\b{re.escape(words)}\b", text, re.I)
            if found is not None:
                seen.setdefault((key, found.group()))
    return [ThingMention(id=key, words=words) for key, words in seen]


def _id(name: str, ids: Mapping[str, str]) -> str:
    return ids[moved(name)] + name.removeprefix(moved(name))


def _relation(said: ExpectedReading, things: Sequence[str]) -> RelationReading:
    subject, *objects = things
    return RelationReading.model_validate(
        {
            "words": said.words,
            "stance": said.stance,
            "polarity": "denied" if said.denied else "affirmed",
            "subject": subject,
            "relation": said.relation,
            "object": objects[0] if len(objects) == 1 else objects,
            "amount": said.amount,
        }
    )
