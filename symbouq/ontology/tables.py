"""Tables of one profile: all knowledge of the readers and the audit about relations and words.

A table is named after a predicate of `rules/vocabulary.lp` or, if rules derive it, of
`rules/compile/output.lp`.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, TypeVar, get_type_hints

from symbouq.ontology.source import ROLES, Row, Signature, table_groups

Triple = tuple[int, str, int]
"""(subject slot, relation name, object slot)."""

_T = TypeVar("_T")


class Tables(dict[Signature, list[Row]]):
    """Maps a predicate and its arity to rows: the profile's vocabulary facts and derived ones.
    Arguments for a profile are left out.
    """

    def rows(self, predicate: str) -> list[Row]:
        """Return the rows of a predicate of any arity."""
        return [row for (name, _), rows in self.items() if name == predicate for row in rows]

    def members(self, predicate: str) -> frozenset[str]:
        """Return the first arguments of a predicate's rows."""
        return frozenset(row[0] for row in self.rows(predicate))


def _group(kind: type[_T], tables: Tables) -> _T:
    """Build a group of tables. Each field is annotated with the function that builds it from the
    rows of a predicate, by default the predicate with the field's name.
    """
    made = {}
    for name, annotation in get_type_hints(kind, include_extras=True).items():
        make, *signature = annotation.__metadata__
        made[name] = make(tables.get(signature[0], []) if signature else tables.rows(name))
    return kind(**made)


def _members(rows: list[Row]) -> frozenset[str]:
    return frozenset(row[0] for row in rows)


def _texts(rows: list[Row]) -> frozenset[str]:
    return frozenset(row[0].lower() for row in rows)


def _first(rows: list[Row]) -> str:
    return rows[0][0] if rows else ""


def _pairs(rows: list[Row]) -> frozenset[tuple[str, str]]:
    return frozenset((first, second) for first, second in rows)


def _mapping(rows: list[Row]) -> dict[str, str]:
    return {first: second for first, second in rows}  # noqa: C416 (rows of any length)


def _mappings(rows: list[Row]) -> dict[str, tuple[str, ...]]:
    of: dict[str, tuple[str, ...]] = {}
    for first, second in rows:
        of[first] = (*of.get(first, ()), second)
    return of


def _by_pair(rows: list[Row]) -> dict[tuple[str, str], str]:
    return {(first, second): third for first, second, third in rows}


def _counts(rows: list[Row]) -> dict[str, int]:
    return {first: int(number) for first, number in rows}


def _components(rows: list[Row]) -> dict[str, dict[str, int]]:
    of: dict[str, dict[str, int]] = defaultdict(dict)
    for relation, axis, sign in rows:
        of[relation][axis] = int(sign)
    return dict(of)


def _units(rows: list[Row]) -> dict[str, tuple[str, int]]:
    return {text.lower(): (kind, int(parts)) for kind, parts, text in rows}


def _by_number(rows: list[Row]) -> dict[int, str]:
    return {int(number): second for number, second in rows}


def _by_name(rows: list[Row]) -> dict[str, str]:
    return {name.lower(): value for name, value in rows}


def _by_text(rows: list[Row]) -> dict[str, str]:
    return {text.lower(): first for first, text in rows}


def _numbers(rows: list[Row]) -> dict[str, int]:
    return {text.lower(): int(number) for number, text in rows}


def _sets(rows: Iterable[Row]) -> dict[str, frozenset[str]]:
    members: dict[str, set[str]] = defaultdict(set)
    for first, second in rows:
        members[first].add(second)
    return {first: frozenset(others) for first, others in members.items()}


def _classes(rows: list[Row]) -> dict[str, frozenset[str]]:
    return _sets((name, text.lower()) for name, text in rows)


def _by_data_set(rows: list[Row]) -> dict[str, dict[str, str]]:
    of: dict[str, dict[str, str]] = defaultdict(dict)
    for data_set, relation, text in rows:
        of[data_set.lower()][text.lower()] = relation
    return dict(of)


def _expressions(rows: list[Row]) -> dict[str, dict[str, str]]:
    of: dict[str, dict[str, str]] = defaultdict(dict)
    for relation, category, text in rows:
        of[category][text.lower()] = relation
    return dict(of)


def _scaled(rows: list[Row]) -> tuple[tuple[str, int | None, str], ...]:
    return tuple(
        (scale, int(number[0]) if number else None, text.lower()) for scale, *number, text in rows
    )


def _ranked(rows: list[Row]) -> dict[str, tuple[str, ...]]:
    texts: dict[str, tuple[str, ...]] = {}
    for first, _rank, text in sorted(rows, key=lambda row: int(row[1])):
        texts[first] = (*texts.get(first, ()), text)
    return texts


def _nouns(rows: list[Row]) -> dict[str, tuple[str, bool]]:
    return {
        text.lower(): (kind, text == plural)
        for kind, singular, plural in rows
        for text in (plural, singular)
    }


def _attributes(rows: list[Row]) -> dict[str, tuple[str, str]]:
    return {text.lower(): (dimension, value) for dimension, value, text in rows}


@dataclass(frozen=True, eq=False)
class Relations:
    """Properties of a profile's relations, and relations between them.

    Attributes:
        family: Relation -> its family.
        sort: Family -> the kind under which an audit's features count its relations.
        converse: Relation -> its converse; a symmetric relation is its own converse.
        mirror: Relation -> its converse, if swapping the things is equivalent.
        suffices: (trusted, claimed) pairs of relations; the first implies the second for the same
            things.
        excludes: Relation -> the relations that exclude it.
        implied: Relation -> its consequences, which include the relation itself.
        presumed: Pairs of relations; the first implies the second by default (presumes/3).
        negation: Relation -> the relation that states its negation.
        functional: Relations for which a subject has one object at a time.
        within: Relations for which the subject lies within the object.
        join: Two directions -> the direction that has the components of both.
        displacement: Relation decided by the layout -> the number of axes on which it separates the
            things.
        component: Direction -> the sign of its component on each axis.
    """

    family: Annotated[dict[str, str], _mapping]
    sort: Annotated[dict[str, str], _mapping]
    converse: Annotated[dict[str, str], _mapping]
    mirror: Annotated[dict[str, str], _mapping]
    suffices: Annotated[frozenset[tuple[str, str]], _pairs]
    excludes: Annotated[dict[str, frozenset[str]], _sets]
    implied: Annotated[dict[str, frozenset[str]], _sets]
    presumed: Annotated[frozenset[tuple[str, str]], _pairs]
    negation: Annotated[dict[str, str], _mapping]
    functional: Annotated[frozenset[str], _members]
    within: Annotated[frozenset[str], _members]
    join: Annotated[dict[tuple[str, str], str], _by_pair]
    displacement: Annotated[dict[str, int], _counts]
    component: Annotated[dict[str, dict[str, int]], _components]

    @cached_property
    def symmetric(self) -> frozenset[str]:
        """Relations that equal their converse."""
        return frozenset(r for r, s in self.converse.items() if r == s)


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Phrases and words of a profile; phrases for lookup are in lower case.

    Attributes:
        phrase: Phrase -> its relation.
        phrase_of: Dataset -> the phrases that have a special sense in its texts.
        clock: Hour on a clock face -> its direction.
        wording: Relation -> the phrases that express it in generated text.
        grouped: Relation with grounds that form a group -> the group's relation to each ground.
        place: Phrases for a side that need a linking word before their ground.
        finite: Phrases that are finite verbs.
        adjacent: Phrases that count only directly before their ground.
        label: Answer label -> its meaning: `yes`, `no`, `open`, ...
        relation_label: Answer label -> its relation, in addition to names and phrases.
        loosely: Relation -> its meaning in descriptions of things.
        vague: Relations with words that may have a narrower meaning.
        of_container: Relation -> its meaning if the object is a container.
        having: Relation between a block "with a square" and the square; empty if not stated.
        situated: Implicit relation between a thing without a stated place and the container that
            the text is about; empty if there is none.
        noun: Noun -> its kind, and whether it is plural.
        attribute: Adjective -> its dimension and value.
        covers: Kind -> the kinds that its nouns may refer to.
        container: Kinds of things that contain others.
        numeral: Word -> its number.
        ordinal: Ordinal word -> its number.
        texts: Dataset -> the reader for its texts: `described` or `parsed`.
    """

    phrase: Annotated[dict[str, str], _by_text]
    phrase_of: Annotated[dict[str, dict[str, str]], _by_data_set]
    clock: Annotated[dict[int, str], _by_number]
    wording: Annotated[dict[str, tuple[str, ...]], _ranked]
    grouped: Annotated[dict[str, str], _mapping]
    place: Annotated[frozenset[str], _texts]
    finite: Annotated[frozenset[str], _texts]
    adjacent: Annotated[frozenset[str], _texts]
    label: Annotated[dict[str, str], _by_text, ("label", 2)]
    relation_label: Annotated[dict[str, str], _by_text, ("label", 3)]
    loosely: Annotated[dict[str, str], _mapping]
    vague: Annotated[frozenset[str], _members]
    of_container: Annotated[dict[str, str], _mapping]
    having: Annotated[str, _first]
    situated: Annotated[str, _first]
    noun: Annotated[dict[str, tuple[str, bool]], _nouns]
    attribute: Annotated[dict[str, tuple[str, str]], _attributes]
    covers: Annotated[dict[str, frozenset[str]], _sets]
    container: Annotated[frozenset[str], _members]
    numeral: Annotated[dict[str, int], _numbers]
    ordinal: Annotated[dict[str, int], _numbers]
    texts: Annotated[dict[str, str], _by_name]


@dataclass(frozen=True, eq=False)
class Wording:
    """Words that the parser-based reader knows for every relation, in lower case.

    Attributes:
        expression: Category -> its phrases, with the relations that they express.
        lexeme: Class of words that express no relation -> the words in this class.
        denied_as: Relation -> the meaning of its denial.
        partly_as: Relation of a part -> the relation of the whole.
        through_as: Kind of part and the relation to it -> the relation between the things.
        understood_as: Relation -> its substitute in a profile without it.
        central: Relations of things in the middle of another thing.
        bounding: Relations to the boundary of a thing that stand for the same side inside the
            thing.
        part_as: Relation of parts to wholes.
        distinct: Implicit relation between two containers of the same kind; empty if there is none.
        exactly_as: Direction -> its exact form.
        levels: Exact direction -> its meaning for things that nothing is in or on.
        upright_as: Relation -> the meaning that its non-compass words have in a text that uses the
            compass.
        blurred: Words, each with another relation that may hold between the things.
        tall: Vertical scales, which are independent of north.
        sense: Adposition and a class of words -> the relation that the adposition expresses with a
            ground of that class.
        carried: Relations of things that move along with another thing.
        within_as: Direction -> the relation for a thing that is inside another, on that side.
        scale: Scale -> the relation of a greater position to a smaller one.
        shares_place: Relations of things that share another thing's place: row, column,
            coordinates.
        axis_of: Word for an axis -> its scale.
        aligned: Relation -> the axis on which its things coincide.
        notation: Notation, with letters for names and directions -> its meaning.
        level: Words for the same place on a scale -> the scale.
        metric: Scale with equidistant places -> their unit.
        clockwise: Direction -> the direction to the right of someone who faces it.
        quarters: Side -> the number of clockwise quarter turns towards it.
        person: Pronoun or possessive of the first or second person -> that person's name.
        crosses: Scale -> the scale across it, which is needed to compare its places.
        region: Scales on which a place can itself be a thing: "row 3".
        scaled: Scale, number (None if the text counts) and words.
        unit: Word for a unit -> its kind of measure and its size in smallest parts.
    """

    expression: Annotated[dict[str, dict[str, str]], _expressions]
    lexeme: Annotated[dict[str, frozenset[str]], _classes]
    denied_as: Annotated[dict[str, str], _mapping]
    partly_as: Annotated[dict[str, str], _mapping]
    through_as: Annotated[dict[tuple[str, str], str], _by_pair]
    understood_as: Annotated[dict[str, str], _mapping]
    within_as: Annotated[dict[str, tuple[str, ...]], _mappings]
    central: Annotated[frozenset[str], _members]
    bounding: Annotated[frozenset[str], _members]
    part_as: Annotated[str, _first]
    distinct: Annotated[str, _first]
    exactly_as: Annotated[dict[str, str], _mapping]
    levels: Annotated[dict[str, str], _mapping]
    upright_as: Annotated[dict[str, str], _mapping]
    blurred: Annotated[frozenset[tuple[str, str]], _pairs]
    tall: Annotated[frozenset[str], _members]
    sense: Annotated[dict[tuple[str, str], str], _by_pair]
    carried: Annotated[frozenset[str], _members]
    scale: Annotated[dict[str, str], _mapping]
    shares_place: Annotated[frozenset[str], _members]
    axis_of: Annotated[dict[str, str], _by_text]
    aligned: Annotated[dict[str, str], _mapping]
    notation: Annotated[dict[str, str], _mapping]
    level: Annotated[dict[str, str], _by_text]
    metric: Annotated[dict[str, str], _mapping]
    clockwise: Annotated[dict[str, str], _mapping]
    quarters: Annotated[dict[str, int], _counts]
    person: Annotated[dict[str, str], _by_text]
    crosses: Annotated[dict[str, str], _mapping]
    region: Annotated[frozenset[str], _members]
    scaled: Annotated[tuple[tuple[str, int | None, str], ...], _scaled]
    unit: Annotated[dict[str, tuple[str, int]], _units]

    @cached_property
    def inner_sides(self) -> frozenset[str]:
        """Relations that place one thing inside another."""
        told = frozenset(side for sides in self.within_as.values() for side in sides)
        return told | self.central if told else told


@dataclass(frozen=True, eq=False)
class Messages:
    """Templates for the audit's explanations.

    Attributes:
        message: Message name -> its template.
        reason: Clash code -> its template.
    """

    message: Annotated[dict[str, str], _mapping]
    reason: Annotated[dict[str, str], _mapping]


@dataclass(frozen=True, eq=False)
class Encoding:
    """Relations of a profile, as facts for the rules that audit a trace.

    Attributes:
        readings: (role, relation) -> its reading, a number. Roles with the same meaning share it.
        patterns: Each reading as facts for `rules/layout.lp` and `rules/closure.lp`, with `{key}`
            in place of its number.
        axes: Axes on which each reading bounds coordinates.
        relational: Readings that the closure decides rather than the layout.
        closure_facts: The relational axioms (inverse, ... incompatible) as facts.
        rules: Audit rules of a user's ontology.
        coordinates: (axis, end) of each coordinate of a thing, a `point` or the `low`
            and `high` ends of an extent; coordinate i of the rule programs is
            `coordinates[i - 1]`.
        extent_facts: The facts about relations for `rules/extent.lp`; empty if things are points.
        hull_facts: The facts for `rules/hull.lp`; empty if things are points.
        spanning: Readings through which one thing may span others.
        ends: Axis -> the fact that names its low and high coordinate; empty if things are points.
        denying: Readings that only negate another reading.
    """

    readings: dict[tuple[str, str], int]
    patterns: tuple[str, ...]
    axes: tuple[frozenset[str], ...]
    relational: frozenset[int]
    closure_facts: str
    rules: str
    coordinates: tuple[tuple[str, str], ...]
    extent_facts: str
    hull_facts: str
    spanning: frozenset[int]
    ends: dict[str, str]
    denying: frozenset[int] = frozenset()

    @cached_property
    def facts(self) -> tuple[str, ...]:
        """Facts of each reading."""
        return tuple(p.replace("{key}", str(key)) for key, p in enumerate(self.patterns))

    def closes(self, keys: Collection[int]) -> bool:
        """Whether atoms with these readings need the relational closure."""
        return bool(self.rules) or not self.relational.isdisjoint(keys)

    def denies(self, keys: Collection[int]) -> bool:
        """Whether one of these readings is a denial."""
        return not self.denying.isdisjoint(keys)

    def spans(self, keys: Collection[int]) -> bool:
        """Whether atoms with these readings can make things with an extent span others."""
        return bool(self.rules) or not self.spanning.isdisjoint(keys)


@dataclass(frozen=True, eq=False)
class Ontology:
    """Tables of one profile.

    Attributes:
        profile: Name of the profile, with dashes, as users write it.
        name: `builtin`, or the path of the user's folder.
        hash: SHA-256 over the rule and ontology files, hexadecimal.
        extent: Whether things have an extent.
        state_updates: Whether the scene's latest statement of a functional relation about a subject
            replaces the earlier ones.
        coherent: Whether plain-text scenes are assumed to be consistent.
        describes: Whether texts describe things instead of naming them.
        eventful: Whether texts are about events.
        relations: Properties of the relations.
        lexicon: Phrases and words.
        wording: Phrases and words of the parser-based reader.
        messages: Explanations.
        encoding: The facts for the rules that audit a trace.
        events: Rows of the predicates about events; empty if texts are not about events.
        tables: Rows of every predicate.
        denials: Relation -> its denial, unless the denial is one of the profile's relations.
    """

    profile: str
    name: str
    hash: str
    extent: bool
    state_updates: bool
    coherent: bool
    describes: bool
    eventful: bool
    relations: Relations
    lexicon: Lexicon
    wording: Wording
    messages: Messages
    encoding: Encoding
    events: Tables
    tables: Tables
    denials: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, tables: Tables, profile: str, name: str, digest: str, rules: str) -> Ontology:
        """Build an ontology from a profile's tables.

        Args:
            tables: The tables.
            profile: Name of the profile.
            name: Name of the ontology in audits.
            digest: Hash of the ontology in audits.
            rules: Audit rules of the ontology.
        """
        tables = _renamed(tables)
        events = (key for key, group in table_groups().items() if group == "events")
        return cls(
            profile=profile.replace("_", "-"),
            name=name,
            hash=digest,
            extent=("extent", 1) in tables,
            state_updates=("state_updates", 1) in tables,
            coherent=("coherent", 1) in tables,
            describes=("describes", 1) in tables,
            eventful=("eventful", 1) in tables,
            relations=_group(Relations, tables),
            lexicon=_group(Lexicon, tables),
            wording=_group(Wording, tables),
            messages=_group(Messages, tables),
            encoding=_encoding(tables, rules),
            events=Tables({key: tables[key] for key in events if key in tables}),
            tables=tables,
        )

    def words(self, word_class: str) -> frozenset[str]:
        """Return the words of a class, as spelled, for the grammars of described things and of
        events. `CLASS_form` takes precedence, for classes that have another list for the parser's
        rules.
        """
        lexeme = self.wording.lexeme
        return lexeme.get(f"{word_class}_form") or lexeme.get(word_class, frozenset())

    def knows(self, relation: str) -> bool:
        """Whether the profile has a relation or its denial."""
        return relation in self.relations.family or relation in self._denying

    @cached_property
    def _denying(self) -> frozenset[str]:
        return frozenset(self.denials.values())

    def oriented(self, triple: Triple) -> Triple:
        """Orient a relation between numbered things so that the lower number comes first, if it has
        a mirror image: `A left B` and `B right A` have one form.
        """
        u, r, v = triple
        mirror = self.relations.mirror
        return (v, mirror[r], u) if u > v and r in mirror else triple

    def reads(self, dataset: str | None) -> str | None:
        """Return the reader for a dataset's texts, if the ontology states it."""
        return self.lexicon.texts.get((dataset or "").lower())

    def understood(self, relation: str) -> str | None:
        """Return the relation that a relation's words express in the profile, if any."""
        said = (relation, self.wording.understood_as.get(relation, ""))
        return next((r for r in said if self.knows(r)), None)

    def denied(self, relation: str) -> str | None:
        """Return the denial of a relation. None for an unknown relation or one with several
        grounds.
        """
        stated = self.relations.negation.get(relation) or self.wording.denied_as.get(relation)
        return stated or self.denials.get(relation)

    def canonical(self, relation: str) -> str:
        """Return the ontology's name for a relation (`upper_left` for `upper-left`).

        Raises:
            KeyError: If there is no such relation. The message suggests the nearest name.
        """
        name = relation.strip().lower().replace("-", "_")
        if self.knows(name):
            return name
        near = difflib.get_close_matches(name, self.relations.family, n=1, cutoff=0.0)
        raise KeyError(
            f"unknown relation {relation!r} in profile {self.profile}"
            + (f"; did you mean {near[0]!r}?" if near else "")
        )


_AXIOMS = (
    "inverse", "symmetric", "reflexive", "transitive", "implies", "made_of", "composition",
    "strict", "functional", "incompatible",
)  # fmt: skip
"""Predicates about relations that `rules/closure.lp` reads."""


def _facts(tables: Tables, *predicates: str) -> str:
    return "".join(
        f"{predicate}({','.join(row)})."
        for predicate in predicates
        for row in tables.rows(predicate)
    )


def _renamed(tables: Tables) -> Tables:
    """Rename word/2, the former name of lexeme/2 for forms as spelled, to lexeme/2."""
    rows = tables.get(("lexeme", 2), [])
    classes = {name for name, _ in rows}
    forms = (
        (f"{name}_form" if f"{name}_form" in classes else name, text)
        for name, text in tables.get(("word", 2), ())
    )
    return Tables(tables | {("lexeme", 2): [*rows, *forms]})


def _encoding(tables: Tables, rules: str) -> Encoding:
    numbers = {(axis, end): int(number) for axis, end, number in tables.rows("coordinate")}

    def bounds(predicate: str, axis: str, end: str, other: str, value: str, *of: str) -> str:
        coordinates = (str(numbers[axis, end]), str(numbers[axis, other]))
        return f"{predicate}({','.join((*of, *coordinates, value))})."

    texts: dict[tuple[str, str], str] = defaultdict(str)
    axes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for predicate in ("at_least", "at_most"):
        for role, relation, axis, *rest in tables.rows(predicate):
            axes[role, relation].add(axis)
            texts[role, relation] += bounds(predicate, axis, *rest, "{key}")
    for predicate in ("relational", "needs", "bars"):
        for relation, *others in tables.rows(predicate):
            for role in ROLES:
                texts[role, relation] += f"{predicate}({{key}},{','.join(others or [relation])})."
    bounded = tables.rows("may_bound")
    if rules:  # a rule may derive anything from a relation
        held_axes = {row[1] for end in ("least", "most") for row in tables.rows(f"held_at_{end}")}
        bounded = [(r, axis) for r in tables.members("relational") for axis in held_axes]
    for relation, axis in bounded:
        for role in ROLES:
            axes[role, relation].add(axis)
    readings: dict[tuple[str, str], int] = {}
    keys: dict[tuple[str, str], int] = {}
    patterns: list[str] = []
    reading_axes: list[frozenset[str]] = []
    for relation, _family in tables.rows("family"):
        for role in ROLES:
            key = keys.setdefault((relation, texts[role, relation]), len(patterns))
            readings[role, relation] = key
            if key == len(patterns):
                patterns.append(texts[role, relation])
                reading_axes.append(frozenset(axes[role, relation]))
    held = "".join(
        bounds(predicate, axis, *rest, relation)
        for predicate in ("held_at_least", "held_at_most")
        for relation, axis, *rest in tables.rows(predicate)
    )
    lows = {axis: number for (axis, end), number in numbers.items() if end == "low"}
    extent = ("extent", 1) in tables
    return Encoding(
        readings=readings,
        patterns=tuple(patterns),
        axes=tuple(reading_axes),
        relational=frozenset(
            readings[role, r] for role in ROLES for r in tables.members("relational")
        ),
        closure_facts=_facts(tables, *_AXIOMS) + held,
        rules=rules,
        coordinates=tuple(sorted(numbers, key=lambda place: numbers[place])),
        extent_facts=_facts(tables, "nested") if extent else "",
        hull_facts=_facts(tables, "hull", "grouped", "occupies") if extent else "",
        spanning=frozenset(readings[role, r] for role in ROLES for r in tables.members("may_span")),
        ends={axis: f"ends({low},{numbers[axis, 'high']})." for axis, low in lows.items()},
    )
