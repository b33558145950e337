"""The schema of a language model's readings, compiled from the ontology in use.

A relation that an ontology adds is in it, with its family and its arity, and no other name can be
generated where the schema is kept to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from symbouq.ontology.tables import Ontology
from symbouq.records.reading import Stance, Unexpressible

_WORDS = r"^[^\x00-\x1f\x7f]{{1,{}}}$"
"""Words in a reply: some engines let control characters through where only a length is given."""
_LONGEST = 160
"""Most characters of words in a reply."""
_MOST = 24
"""Most things, relations and other parts of one sentence; no more than it has words."""


def reply_schema(
    ontology: Ontology, sentences: Mapping[str, str], things: Sequence[str], new: Sequence[str]
) -> dict[str, Any]:
    """JSON Schema of the reading of some sentences (`symbouq.records.reading.Reply`), of the kind
    that OpenAI's structured outputs, vLLM, llama.cpp and llguidance all take.

    Args:
        ontology: The tables of the profile.
        sentences: The sentences by their labels.
        things: Ids of the things that are known.
        new: Ids that new things may be given.
    """
    families: dict[str, list[str]] = defaultdict(list)
    for relation, family in ontology.relations.family.items():
        if relation not in ontology.lexicon.grouped:
            families[family].append(relation)
    grouped = [r for r in ontology.relations.family if r in ontology.lexicon.grouped]
    thing = {"$ref": "#/$defs/thing"}
    said = {
        "words": {"$ref": "#/$defs/words"},
        "stance": {"enum": list(get_args(Stance))},
        "polarity": {"enum": ["affirmed", "denied"]},
        "subject": thing,
    }
    binary = {"anyOf": [{"$ref": f"#/$defs/{family}"} for family in families]}
    kinds = [_object({**said, "relation": binary, "object": thing})]
    if grouped:
        several = {"type": "array", "items": thing, "minItems": 2, "maxItems": 2}
        kinds.append(_object({**said, "relation": {"enum": grouped}, "object": several}))
    words = {"$ref": "#/$defs/words"}
    texts = sentences.values()
    most = min(_MOST, max((len(text.split()) for text in texts), default=_MOST))
    longest = min(_LONGEST, max(map(len, texts), default=_LONGEST))
    sentence = {
        "sentence": {"enum": list(sentences)},
        "things": _array(_object({"id": thing, "words": words}), most),
        "relations": _array({"anyOf": kinds}, most),
        "unexpressed": _array(
            _object({"words": words, "reason": {"enum": list(get_args(Unexpressible))}}),
            most,
        ),
    }
    count = len(sentences)
    whole = {
        "sentences": {"type": "array", "items": _object(sentence), "minItems": count}
        | {"maxItems": count},
        "asks": _array(thing, 2),
        "answer": {"enum": [*sentences, ""]},
    }
    definitions = {
        "words": {"type": "string", "pattern": _WORDS.format(longest)},
        "thing": {"enum": [*things, *new]},
        **{family: {"enum": relations} for family, relations in families.items()},
    }
    return {**_object(whole), "$defs": definitions}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """An object with these properties and no others, all of them there."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _array(items: dict[str, Any], most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": most}
