"""Show the relations of a profile and their composition: `symbouq rules show` and `rules table`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from symbouq.errors import OntologyError
from symbouq.logic.worlds import composition_table, worlds
from symbouq.ontology.compilation import solved_tables
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.source import ROLES, Place, shown, vocabulary
from symbouq.ontology.tables import Ontology


@dataclass(frozen=True)
class RelationSheet:
    """All information about a relation in a profile.

    Attributes:
        readings: Bounds on each axis, by role; empty if the closure decides the relation.
        properties: Stated properties such as `symmetric`.
        converse: The converse, if it has a name.
        follows: Other relations that follow for the same pair.
        clashes: Relations that exclude this relation.
        composes: Relations that stay possible when this one is composed with each relation of its
            family.
        phrases: Phrases that are read as this relation.
        wordings: Phrases for the relation in generated text.
        stated_in: Files that mention the relation, with lines.
    """

    name: str
    profile: str
    family: str
    readings: dict[str, tuple[str, ...]]
    properties: tuple[str, ...]
    converse: str | None
    follows: tuple[str, ...]
    clashes: tuple[str, ...]
    composes: dict[str, tuple[str, ...]]
    phrases: tuple[str, ...]
    wordings: tuple[str, ...]
    stated_in: tuple[str, ...]


_PROPERTIES = ("symmetric", "reflexive", "transitive", "strict", "functional")


def sheet(library: OntologyLibrary, relation: str, profile: str | None = None) -> RelationSheet:
    """Collect all information about a relation in a profile.

    Raises:
        OntologyError: If the profile does not have this relation.
    """
    ontology = library.ontology(profile)
    try:
        name = ontology.canonical(relation)
    except KeyError as error:
        raise OntologyError(error.args[0]) from error
    alone = worlds(ontology, [(0, name, 1)], (0, 1))
    possible, certain = (alone.possible, alone.certain) if alone is not None else ((), ())
    rows = library.rows
    places = {
        place
        for fact, place in library.source.facts.items()
        if any(
            kind == "relation" and str(value) == name
            for kind, value in zip(
                vocabulary()[fact.name, len(fact.arguments)], fact.arguments, strict=True
            )
        )
    }
    return RelationSheet(
        name=name,
        profile=ontology.profile,
        family=ontology.relations.family[name],
        readings=_readings(library, ontology, name),
        properties=tuple(p for p in _PROPERTIES if (name,) in rows[p, 1]),
        converse=ontology.relations.converse.get(name),
        follows=tuple(r for r in certain if r != name),
        clashes=tuple(r for r in ontology.relations.family if r not in possible),
        composes=_composed(ontology, name),
        phrases=tuple(sorted(text for text, r in ontology.lexicon.phrase.items() if r == name)),
        wordings=ontology.lexicon.wording.get(name, ()),
        stated_in=_grouped(places),
    )


def _grouped(places: Iterable[Place]) -> tuple[str, ...]:
    """List positions by file, as `file:3,5,6`."""
    lines: dict[str, list[int]] = defaultdict(list)
    for place in sorted(places):
        lines[place.file].append(place.line)
    return tuple(f"{shown(file)}:{','.join(map(str, some))}" for file, some in lines.items())


def _composed(ontology: Ontology, first: str) -> dict[str, tuple[str, ...]]:
    """Return a row of a composition table, without cells that exclude no relation."""
    members = [
        r for r, f in ontology.relations.family.items() if f == ontology.relations.family[first]
    ]
    row = {}
    for second in members:
        pair = worlds(ontology, [(0, first, 1), (1, second, 2)], (0, 2), members)
        if pair is not None and len(pair.possible) < len(members):
            row[second] = pair.possible
    return row


def _readings(
    library: OntologyLibrary, ontology: Ontology, relation: str
) -> dict[str, tuple[str, ...]]:
    bounds: dict[tuple[str, str, str, str], dict[str, str]] = defaultdict(dict)
    profile = ontology.profile.replace("-", "_")
    for row in solved_tables(library.source, profile, library.name).rows:
        if row.name in ("at_least", "at_most"):
            role, name, axis, end, other, bound = map(str, row.arguments)
            if name == relation:
                bounds[role, axis, end, other][row.name] = bound
    order = list(ontology.encoding.coordinates)
    texts: dict[str, list[str]] = defaultdict(list)
    for (role, axis, end, other), limits in sorted(
        bounds.items(), key=lambda item: (order.index(item[0][1:3]), item[0])
    ):
        low, high = limits.get("at_least"), limits.get("at_most")
        parts = [f"{sign} {limit}" for sign, limit in ((">=", low), ("<=", high)) if limit]
        bound = f"= {low}" if low == high else " and ".join(parts)
        sides = "subject - object" if end == "point" else f"{end} of subject - {other} of object"
        texts[role].append(f"{axis}: {sides} {bound}")
    return {role: tuple(texts[role]) for role in ROLES if role in texts}


@dataclass(frozen=True)
class Table:
    """A composition table: for (first, second), the relations of the family that stay possible."""

    family: str
    members: tuple[str, ...]
    cells: dict[tuple[str, str], tuple[str, ...]]

    @property
    def decides(self) -> bool:
        """Whether any cell excludes a relation."""
        return any(len(cell) < len(self.members) for cell in self.cells.values())

    def rows(self) -> list[list[str]]:
        """Return the table as strings: a header, then a row for each first relation."""
        rows = [["", *self.members]]
        for first in self.members:
            cells = [self.cells[first, second] for second in self.members]
            everything = len(self.members)
            rows.append([first, *("any" if len(c) == everything else " ".join(c) for c in cells)])
        return rows


def tables(ontology: Ontology, family: str | None = None) -> list[Table]:
    """Return the composition tables of a family, or of every family in which some pair excludes a
    relation.

    Raises:
        OntologyError: If the profile has no such family.
    """
    families = list(dict.fromkeys(ontology.relations.family.values()))
    if family is not None and family not in families:
        names = ", ".join(families)
        raise OntologyError(f"profile {ontology.profile} has no family {family!r}; it has: {names}")
    computed = [
        Table(
            name,
            tuple(r for r, f in ontology.relations.family.items() if f == name),
            composition_table(ontology, name),
        )
        for name in ([family] if family is not None else families)
    ]
    return [table for table in computed if family is not None or table.decides]


def as_markdown(rows: Sequence[Sequence[str]]) -> str:
    """Format rows as a Markdown table; the first row is the header."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
