"""Adapt a text that was read with the tables of one profile to another profile, in which it is
judged.

Words have the same meaning in every profile, but the consequences of the relations depend on the
profile.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TypeVar

from symbouq.ontology.tables import Ontology
from symbouq.reading.text import ASSERTED, Claim, ParsedTrace, Statement, triples

T = TypeVar("T", bound=Hashable)


def transferred(text: ParsedTrace, ontology: Ontology) -> ParsedTrace:
    """Translate a text read with the tables of another profile into relations of this one.

    Directions that are stated together but exclude each other in this profile are joined: "above
    and to the left of". A claim with relations outside the profile has no statements. If it is
    asserted, its reason becomes `not-in-profile`.

    Args:
        text: The text as read.
        ontology: The tables of this profile.
    """
    numbers = dict.fromkeys(number for number, _ in text.scene)
    scene = [(n, s) for n in numbers for s in _together(text.of_sentence(n), ontology)]
    return replace(
        text,
        scene=tuple(scene),
        claims=tuple(_claim(claim, ontology) for claim in text.claims),
        complete=text.complete and numbers.keys() == {number for number, _ in scene},
    )


def _claim(claim: Claim, ontology: Ontology) -> Claim:
    known = all(ontology.understood(m.relation) for m in claim.relations)
    if known:
        return replace(claim, relations=_together(claim.relations, ontology))
    lost = "not-in-profile" if claim.stance == ASSERTED else claim.reason
    return replace(claim, relations=(), reason=lost)


def _together(said: tuple[Statement, ...], ontology: Ontology) -> tuple[Statement, ...]:
    found: list[Statement] = []
    for (subject, relation, object), places in together(triples(said), ontology):
        of = [said[n] for n in places]
        span = min(m.span[0] for m in of), max(m.span[1] for m in of)
        sure = min(m.confidence for m in of)
        found.append(Statement(subject, relation, object, span, sure, of[0].grounded))
    return tuple(found)


def together(
    said: Sequence[tuple[T, str, T]], ontology: Ontology
) -> list[tuple[tuple[T, str, T], list[int]]]:
    """Translate the statements of one sentence into relations of a profile.

    Args:
        said: The statements, in relations of any profile.
        ontology: The tables of the profile.

    Returns:
        The relations of the profile, each with the positions of the original statements. Relations
            outside the profile are omitted.
    """
    joins, excludes = ontology.relations.join, ontology.relations.excludes
    found: dict[tuple[T, str, T], list[int]] = {}
    for n, (u, r, v) in enumerate(said):
        relation = ontology.understood(r)
        if relation is None:
            continue
        places = [n]
        for subject, other, object in list(found):
            joint = joins.get((other, relation))
            if (subject, object) == (u, v) and joint and relation in excludes.get(other, ()):
                places = [*found.pop((u, other, v)), n]
                relation = joint
        found.setdefault((u, relation, v), []).extend(places)
    return list(found.items())
