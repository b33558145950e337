"""Describe the meanings of an ontology's relations in words for a language model, compiled from
wordings and axioms.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from symbouq.ontology.source import QUERIED
from symbouq.ontology.tables import Ontology
from symbouq.reading.model.schema import offered

_SEPARATE = (("low", "high"), ("point", "point"))
"""Pairs of ends of subject and object. If there is a distance between the ends in such a pair, the
two things are apart.
"""


def relation_meanings(ontology: Ontology) -> Iterator[str]:
    """Yield a line for each relation offered to a model, together with its converse. The line
    contains the name, the wordings, and the position of the subject on each axis.
    """
    names = offered(ontology)
    places, converse = _places(ontology), ontology.relations.converse
    told: set[str] = set()
    for relation in names:
        other = converse.get(relation, relation)
        pair = [relation] if other == relation or other not in names else [relation, other]
        if relation not in told:
            told.update(pair)
            each = (f"{name} {_worded(ontology, name)}".strip() for name in pair)
            several = "`object` lists them" if relation in ontology.lexicon.grouped else ""
            yield "; ".join(filter(None, [f"- {' / '.join(each)}", places[relation], several]))


def axes(ontology: Ontology) -> list[str]:
    """Return the direction of each axis, if given in the ontology: `x to the right`."""
    places = _places(ontology)
    used = {place[0] for relation in offered(ontology) for place in places[relation].split()}
    return [f"{axis} {text}" for axis, text in ontology.tables.rows("grows") if axis in used]


def _worded(ontology: Ontology, relation: str) -> str:
    """Return a wording for a relation, preferably a unique one, that does not contain its name."""
    shared = Counter(t for r in offered(ontology) for t in ontology.lexicon.wording.get(r, ()))
    name, texts = f" {relation.replace('_', ' ')} ", ontology.lexicon.wording.get(relation, ())
    others = sorted((t for t in texts if name not in f" {t} "), key=lambda t: shared[t] > 1)
    return f'"{others[0]}"' if others else ""


def _places(ontology: Ontology) -> dict[str, str]:
    """Map each relation to the position of the subject on each axis: `x< y=`; empty if there is no
    such position.
    """
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
        sign = "=" if relation in ontology.relations.symmetric else _sign(sides)
        placed[relation] += f" {axis}{sign}"
    return defaultdict(str, {relation: text.strip() for relation, text in placed.items()})


def _sign(sides: dict[str, set[tuple[str, str]]]) -> str:
    if "least apart" in sides:
        return ">"
    if "most apart" in sides:
        return "<"
    least, most = sides.get("least", set()), sides.get("most", set())
    return "=" if least == most else " within"
