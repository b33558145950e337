"""Compile the schema of a language model's readings from the ontology in use.

The schema contains every relation in the ontology, including added ones, with its arity. If the
schema is enforced, the model cannot generate any other name. The schema is the same for every
request of a profile, so servers compile it once and may cache everything before the first message.
"""

from __future__ import annotations

from typing import Any, get_args

from symbouq.ontology.tables import Ontology
from symbouq.records.reading import Stance, Unexpressible

EARLIER = "-before"
"""Suffix to the id of a thing that has moved. An id with this suffix stands for the former place.
"""

EVERY = "any"
"""Id of the thing that denials for every thing are about: "nothing is in the box"."""

_WORDS = r"^[^\x00-\x1f\x7f]{1,160}$"
"""Pattern for words in a reply. Some engines allow control characters if only a length is given."""
_AMOUNT = r"^([^\x00-\x1f\x7f]{1,40})?$"
_THING = rf"^(t[1-9][0-9]{{0,2}}({EARLIER})?|{EVERY})$"
_MOST = 24
"""Maximum number of things, relations or other parts in a sentence, and of sentences in a request.
"""


def offered(ontology: Ontology) -> list[str]:
    """Return the relations that may be used in a reply: all relations of the profile except
    relations that are expressed in another way there (`withheld`).
    """
    withheld = {relation for (relation,) in ontology.tables.rows("withheld")}
    return [relation for relation in ontology.relations.family if relation not in withheld]


def scales(ontology: Ontology) -> list[str]:
    """Return the scales for numbered places in texts."""
    return sorted({scale for scale, _, text in ontology.wording.scaled if "#" in text})


def directions(ontology: Ontology) -> list[str]:
    """Return the directions that things may face."""
    return sorted(ontology.wording.clockwise)


def reply_schema(ontology: Ontology) -> dict[str, Any]:
    """Return the JSON Schema for a reply (`symbouq.records.reading.Reply`), in a form that OpenAI's
    structured outputs, vLLM, llama.cpp and llguidance all accept.
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
        several = {**_array(thing), "minItems": 2}
        kinds.append(_object({**said, "relation": {"enum": grouped}, "object": several}))
    reason = {"enum": list(get_args(Unexpressible))}
    sentence = {
        "sentence": {"type": "string", "pattern": "^[SQC][1-9][0-9]{0,3}$"},
        "things": _array(_object({"id": thing, "words": words})),
        "relations": _array({"anyOf": kinds}),
    }
    if counted := scales(ontology):
        number = {"type": "integer", "minimum": -999, "maximum": 9999}
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
    patterns = (("words", _WORDS), ("thing", _THING))
    definitions = {name: {"type": "string", "pattern": pattern} for name, pattern in patterns}
    return {**_object(whole), "$defs": definitions}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object that has exactly the given properties, all of them required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _array(items: dict[str, Any], most: int = _MOST) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": most}
