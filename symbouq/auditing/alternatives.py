"""Lists of possible relations: "the possible relations are DC, EC and PO".

Such a claim is entailed if the relations that are possible in the worlds of its context are exactly
the listed relations. It is contradicted if a listed relation is impossible, or if another relation
of the same family is also possible. These rules apply only to a family in which the relations
exclude each other and cover all cases: directions of a plane, or a profile whose questions ask
which relations are possible. Otherwise, the claim stays open if all of its relations are possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from symbouq.auditing.verdicts import Verdict
from symbouq.logic.programs import Atom
from symbouq.logic.worlds import worlds_of_context
from symbouq.ontology.library import builtin
from symbouq.ontology.source import QUERIED
from symbouq.ontology.tables import Ontology, Triple


class Alternatives(NamedTuple):
    """Result for a list of possible relations.

    Attributes:
        verdict: The verdict.
        open: The possible relations of the same family, if they differ from the listed ones.
    """

    verdict: Verdict
    open: tuple[str, ...] = ()


def judge_alternatives(
    ontology: Ontology, context: Sequence[Atom], claim: Sequence[Triple]
) -> Alternatives:
    """Judge a list of possible relations between two things.

    Args:
        ontology: The tables of the profile.
        context: Atoms of a feasible context.
        claim: The listed relations; if these relate several pairs or belong to several families,
            the claim is open.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
    """
    pairs = {(u, v) for u, _, v in claim}
    named = {r for _, r, _ in claim}
    families = {ontology.relations.family[r] for r in named}
    if len(pairs) != 1 or len(families) != 1:
        return Alternatives(Verdict.UNKNOWN)
    (pair,), (family,) = pairs, families
    members = tuple(r for r, other in ontology.relations.family.items() if other == family)
    found = worlds_of_context(ontology, context, [pair], members)[pair]
    possible = () if found is None else found.possible
    exclusive = _excludes_itself(ontology, members)
    if not named.issubset(possible) or (exclusive and len(possible) > len(named)):
        return Alternatives(Verdict.CONTRADICTED, possible)
    exhaustive = ontology.profile in builtin().asking_possible or named.issubset(
        ontology.relations.displacement
    )
    return Alternatives(Verdict.ENTAILED if exclusive and exhaustive else Verdict.UNKNOWN)


@lru_cache(maxsize=1024)
def _excludes_itself(ontology: Ontology, members: tuple[str, ...]) -> bool:
    pair = (0, 1)
    for member in members:
        context = [(ontology.encoding.readings[QUERIED, member], *pair)]
        found = worlds_of_context(ontology, context, [pair], members)[pair]
        if found is not None and found.possible != (member,):
            return False
    return True
