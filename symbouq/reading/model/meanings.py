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
            yield f"- {' / '.join(each)}{_parts(ontology, relation, places[relation])}"


def axes(ontology: Ontology) -> list[str]:
    """Return the direction of each axis, if given in the ontology: `x to the right`."""
    places = _places(ontology)
    used = {place[0] for relation in offered(ontology) for place in places[relation].split()}
    return [f"{axis} {text}" for axis, text in ontology.tables.rows("grows") if axis in used]


def _worded(ontology: Ontology, relation: str) -> str:
    """Return the wordings for a relation other than its name. Wordings that are unique to the
    relation are preferred.
    """
    shared = Counter(t for r in offered(ontology) for t in ontology.lexicon.wording.get(r, ()))
    texts = ontology.lexicon.wording.get(relation, ())
    own = [text for text in texts if shared[text] == 1]
    return ", ".join(f'"{t}"' for t in own or texts if t.replace(" ", "_") != relation)


def _parts(ontology: Ontology, relation: str, places: str) -> str:
    parts = [
        places,
        "`object` lists both" if relation in ontology.lexicon.grouped else "",
    ]
    return "".join(f"; {part}" for part in parts if part)


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
