"""The schema of a language model's readings, compiled from the ontology in use.

A relation that an ontology adds is in it, with its arity, and no other name can be generated where
the schema is kept to. It is the same for every request of a profile, so that servers compile it
once, and may keep what they worked out for all that stands before the first message.
"""

from __future__ import annotations

from typing import Any, get_args

from symbouq.ontology.tables import Ontology
from symbouq.records.reading import Stance, Unexpressible

EARLIER = "-before"
"""What follows the id of a thing that has moved, for where it was before."""

_WORDS = r"^[^\x00-\x1f\x7f]{1,160}$"
"""Words in a reply: some engines let control characters through where only a length is given."""
_AMOUNT = r"^([^\x00-\x1f\x7f]{1,40})?$"
_THING = rf"^t[1-9][0-9]{{0,2}}({EARLIER})?$"
_MOST = 24
"""Most things, relations and other parts of one sentence, and most sentences of one request."""


def offered(ontology: Ontology) -> list[str]:
    """The relations that a reply may name: all of the profile but those that are said otherwise in
    it (`withheld`).
    """
    withheld = {relation for (relation,) in ontology.tables.rows("withheld")}
    return [relation for relation in ontology.relations.family if relation not in withheld]


def scales(ontology: Ontology) -> list[str]:
    """The scales on which texts count places."""
    return sorted({scale for scale, _, text in ontology.wording.scaled if "#" in text})


def directions(ontology: Ontology) -> list[str]:
    """The directions in which things may face."""
    return sorted(ontology.wording.clockwise)


def reply_schema(ontology: Ontology) -> dict[str, Any]:
    """JSON Schema of the reading of some sentences (`symbouq.records.reading.Reply`), of the kind
    that OpenAI's structured outputs, vLLM, llama.cpp and llguidance all take.

    Args:
        ontology: The tables of the profile.
    """
    words, thing = {"$ref": "#/$defs/words"}, {"$ref": "#/$defs/thing"}
    said = {
        "words": words,
        "stance": {"enum": list(get_args(Stance))},
        "polarity": {"enum": ["affirmed", "denied"]},
        "subject": thing,
    }
    measured = {"amount": {"type": "string", "pattern": _AMOUNT}} if ontology.wording.unit else {}
    names = offered(ontology)
    binary = [relation for relation in names if relation not in ontology.lexicon.grouped]
    grouped = [relation for relation in names if relation in ontology.lexicon.grouped]
    kinds = [_object({**said, "relation": {"enum": binary}, "object": thing, **measured})]
    if grouped:
        several = {"type": "array", "items": thing, "minItems": 2, "maxItems": 2}
        kinds.append(_object({**said, "relation": {"enum": grouped}, "object": several}))
    reason = {"enum": list(get_args(Unexpressible))}
    sentence = {
        "sentence": {"type": "string", "pattern": "^[SQC][1-9][0-9]{0,3}$"},
        "things": _array(_object({"id": thing, "words": words})),
        "relations": _array({"anyOf": kinds}),
    }
    if counted := scales(ontology):
        number = {"type": "integer", "minimum": -999, "maximum": 999}
        place = {"words": words, "thing": thing, "scale": {"enum": counted}, "number": number}
        of = {"type": "string", "pattern": rf"^({_THING[1:-1]})?$"}
        sentence["places"] = _array(_object({**place, "of": of}))
    if ways := directions(ontology):
        heading = {"words": words, "thing": thing, "direction": {"enum": ways}}
        sentence["headings"] = _array(_object(heading))
    sentence["count"] = _array({"type": "integer", "minimum": 0, "maximum": _MOST}, 2)
    sentence["unexpressed"] = _array(_object({"words": words, "reason": reason}))
    whole = {
        "sentences": _array(_object(sentence)),
        "asks": _array(thing, 2),
        "answer": {"type": "string", "pattern": "^([SQC][1-9][0-9]{0,3})?$"},
    }
    definitions = {
        "words": {"type": "string", "pattern": _WORDS},
        "thing": {"type": "string", "pattern": _THING},
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


def _array(items: dict[str, Any], most: int = _MOST) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": most}
