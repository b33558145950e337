"""Denied relations: `not_left` holds wherever `left` does not, and likewise for every relation.

A relation that has a negation in the ontology (negation/2) gets no other denial.
"""

from __future__ import annotations

from dataclasses import replace

from symbouq.ontology.source import QUERIED, ROLES
from symbouq.ontology.tables import Ontology

_NOT = "not_"


def with_denials(ontology: Ontology) -> Ontology:
    """Extend an ontology by denials of its relations.

    Denials belong to no family, so they are skipped by code that iterates over all relations.

    Args:
        ontology: The tables of a profile.
    """
    relations, encoding = ontology.relations, ontology.encoding
    grouped = ontology.lexicon.grouped
    apart = {*relations.negation, *relations.negation.values(), *grouped.values()}
    denials = {
        relation: _NOT + relation
        for relation in relations.family
        if relation not in apart and _NOT + relation not in relations.family
    }
    readings, patterns, axes = dict(encoding.readings), [*encoding.patterns], [*encoding.axes]
    keys: dict[int, int] = {}
    for relation, denial in denials.items():
        denied = encoding.readings[QUERIED, relation]
        if denied not in keys:
            keys[denied] = len(patterns)
            facts = encoding.patterns[denied].replace("{key}", str(denied))
            patterns.append(f"denies({{key}},{denied}).{facts}")
            axes.append(encoding.axes[denied])
        for role in ROLES:
            readings[role, denial] = keys[denied]

    mirror = {
        denials[r]: denials[s] for r, s in relations.mirror.items() if r in denials and s in denials
    }
    wording = {
        denial: tuple(f"not {text}" for text in ontology.lexicon.wording.get(relation, (relation,)))
        for relation, denial in denials.items()
    }
    return replace(
        ontology,
        denials=denials,
        relations=replace(relations, mirror={**relations.mirror, **mirror}),
        lexicon=replace(
            ontology.lexicon,
            wording={**ontology.lexicon.wording, **wording},
            grouped=grouped | {denials[r]: spans for r, spans in grouped.items()},
        ),
        encoding=replace(
            encoding,
            readings=readings,
            patterns=tuple(patterns),
            axes=tuple(axes),
            relational=encoding.relational.union(
                k for r, k in keys.items() if r in encoding.relational
            ),
            spanning=encoding.spanning.union(k for r, k in keys.items() if r in encoding.spanning),
            denying=frozenset(keys.values()),
        ),
    )
