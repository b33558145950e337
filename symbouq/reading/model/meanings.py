"""What the relations of an ontology mean, in words for a language model: compiled from their
wordings and axioms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from symbouq.ontology.source import QUERIED
from symbouq.ontology.tables import Ontology

_SEPARATE = (("low", "high"), ("point", "point"))
"""Ends of subject and object between which a distance keeps the two apart."""


def relation_meanings(ontology: Ontology) -> Iterator[str]:
    """A line for each family of relations, and one for each of its relations: its name, how it is
    worded, how it places the subject on each axis, and what it is to other relations.
    """
    families: dict[str, list[str]] = defaultdict(list)
    for relation, family in ontology.relations.family.items():
        families[family].append(relation)
    places = _places(ontology)
    for family, relations in sorted(families.items()):
        yield f"{family}:"
        for relation in sorted(relations):
            yield f"- {relation}: {'; '.join(_parts(ontology, relation, places[relation]))}"


def axes(ontology: Ontology) -> list[str]:
    """Which way each axis goes, where the ontology says: `x to the right`."""
    used = {axis for axis, _ in ontology.encoding.coordinates}
    return [f"{axis} {text}" for axis, text in ontology.tables.rows("grows") if axis in used]


def _parts(ontology: Ontology, relation: str, places: str) -> Iterator[str]:
    relations, lexicon = ontology.relations, ontology.lexicon
    if worded := lexicon.wording.get(relation):
        yield ", ".join(f'"{text}"' for text in worded)
    if places:
        yield places
    if relation in lexicon.grouped:
        yield "`object` lists the two things"
    if relation in relations.symmetric:
        yield "symmetric"
    elif relation in relations.converse:
        yield f"converse {relations.converse[relation]}"
    implied = sorted(s for r, s in ontology.tables.rows("implies") if r == relation)
    if implied:
        yield f"implies {', '.join(implied)}"
    if relation in relations.negation:
        yield f"not: {relations.negation[relation]}"


def _places(ontology: Ontology) -> dict[str, str]:
    """Relation to where on each axis it puts the subject: `x< y=`; empty where on none."""
    bounds: dict[tuple[str, str], dict[str, set[tuple[str, str]]]] = defaultdict(dict)
    for side in ("least", "most"):
        for predicate in (f"at_{side}", f"held_at_{side}"):
            for row in ontology.tables.rows(predicate):
                role, relation, axis, end, other, value = row if len(row) == 6 else (QUERIED, *row)
                if role == QUERIED:
                    apart = (end, other) in _SEPARATE and (other == "high" or value != "0")
                    apart = apart or (end, other) == ("high", "low")
                    of = bounds[relation, axis].setdefault(f"{side}{' apart' * apart}", set())
                    of.add((end, other))
    placed: dict[str, str] = defaultdict(str)
    for (relation, axis), sides in sorted(bounds.items()):
        placed[relation] += f" {axis}{_sign(sides)}"
    return defaultdict(str, {relation: text.strip() for relation, text in placed.items()})


def _sign(sides: dict[str, set[tuple[str, str]]]) -> str:
    if "least apart" in sides:
        return ">"
    if "most apart" in sides:
        return "<"
    least, most = sides.get("least", set()), sides.get("most", set())
    return "=" if least == most else " within"
