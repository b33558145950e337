"""Statements about every thing: "nothing is in the box"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from symbouq.ontology.tables import Ontology
from symbouq.reading.text import ANYTHING, IN_PART, Claim, ParsedTrace, Statement


def instantiated(ontology: Ontology, parsed: ParsedTrace) -> ParsedTrace:
    """Replace each denial of a relation for every thing by denials for the things in the trace.

    These are the things that scene or claims mention, except people, backdrops such as a floor, and
    things that the scene places, directly or through other things, relative to the same ground: the
    text may speak of them at another time. A claim about every thing is judged like a claim that is
    read in part, unless the scene states the same or the opposite.

    Args:
        ontology: The tables of the profile.
        parsed: The parsed trace.
    """
    every = [s for _, s in parsed.scene] + [s for c in parsed.claims for s in c.relations]
    if all(ANYTHING not in (s.figure, s.ground) for s in every):
        return parsed
    relations = ontology.relations
    denial_of = ontology.denials | relations.negation
    denials = {*denial_of.values()}

    def turned(s: Statement) -> Statement:
        """The statement with the thing that stands for all others as its figure."""
        if s.ground != ANYTHING or s.relation not in relations.converse:
            return s
        return replace(s, figure=s.ground, relation=relations.converse[s.relation], ground=s.figure)

    said = [(number, turned(s)) for number, s in parsed.scene]
    claims = [tuple(map(turned, claim.relations)) for claim in parsed.claims]
    scene = [(number, s) for number, s in said if s.figure != ANYTHING]
    general = [(n, s) for n, s in said if s.figure == ANYTHING and s.relation in denials]
    known = _things(ontology, (s for _, s in scene))
    things = known | _things(ontology, (s for some in claims for s in some))
    pairs = [(s.figure, s.ground) for _, s in scene if s.relation not in denials]
    for number, denial in general:
        others = things.keys() - _placed(denial.ground, pairs)
        scene += [(number, replace(denial, figure=name)) for name in (ANYTHING, *sorted(others))]
    held = {(s.relation, s.ground) for _, s in general}
    excluded = {(r, ground) for r, d in denial_of.items() for e, ground in held if d == e}

    def judged(claim: Claim, stated: Sequence[Statement]) -> Claim:
        of_all = [s for s in stated if s.figure == ANYTHING]
        if all((s.relation, s.ground) in held | excluded for s in of_all):
            return replace(claim, relations=tuple(stated))
        denied = [s for s in of_all if s.relation in denials]
        each = (replace(s, figure=n) for s in denied for n in known if n != s.ground)
        others = (s for s in stated if s.figure != ANYTHING)
        return replace(claim, relations=(*others, *each), reason=IN_PART)

    return replace(
        parsed,
        scene=tuple(sorted(scene, key=lambda row: row[0])),
        claims=tuple(map(judged, parsed.claims, claims)),
    )


def _things(ontology: Ontology, statements: Iterable[Statement]) -> dict[str, None]:
    """The things in statements that a denial for every thing is about, in order."""
    others = ontology.words("backdrop") | ontology.words("witness") | ontology.wording.person.keys()
    names = (name for s in statements for name in (s.figure, s.ground))
    return {
        name: None
        for name in names
        if name != ANYTHING and name.split()[-1] not in others and not _is_proper(name)
    }


def _is_proper(name: str) -> bool:
    """Whether a name may be that of a person. A single letter is a label."""
    return len(name) > 1 and name[0].isupper()


def _placed(ground: str, pairs: Sequence[tuple[str, str]]) -> set[str]:
    """The ground, the things that are placed relative to it, directly or through other things, and
    the things relative to which it is placed in this way.
    """
    found: set[str] = set()
    for some in (pairs, [(other, one) for one, other in pairs]):
        new = {ground}
        while new:
            found |= new
            new = {one for one, other in some if other in new} - found
    return found
