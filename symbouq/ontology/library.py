"""The ontology: checked `.lp` files, solved once, and held as tables.

Everything that the audit and the parser know about relations comes from here;
`rules/compile.lp` derives the tables of one profile from the facts.
"""

from __future__ import annotations

import difflib
import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import clingo
from clingo import ast

from symbouq.errors import OntologyError
from symbouq.limits import LimitError, meter, untimed
from symbouq.ontology.source import (
    PRIVATE,
    ROLES,
    Place,
    Rows,
    Rule,
    Signature,
    Source,
    atoms_in,
    complaint,
    data_folder,
    digest,
    fact_of,
    ground,
    lp_files,
    new_control,
    plain,
    public,
    signature,
    statements,
    vocabulary,
)
from symbouq.ontology.wellformed import check_derived, read_source

Triple = tuple[int, str, int]
"""(subject slot, relation name, object slot)."""

ASSERTED, QUERIED = ROLES
VERSION = "1"
"""Version of the ontology's vocabulary; it changes when old files stop working."""


@dataclass(frozen=True, eq=False)
class Ontology:
    """The tables of one profile.

    Attributes:
        profile: Name of the profile, with dashes as users write it.
        name: `builtin`, or the path of the user's folder.
        hash: SHA-256 over the rule and ontology files, hexadecimal.
        families: Relation name to family.
        readings: (role, relation) to its reading, a number; where a relation says the
            same in both roles, they share it.
        facts: What each reading says, as facts for `rules/layout.lp` and
            `rules/closure.lp`.
        axes: The axes on which each reading bounds coordinates.
        closed_keys: The readings that closure, and not the layout, decides.
        closure_facts: The relational axioms (inverse, ... incompatible) as facts.
        rules: Rules that a user's ontology adds to the audit's.
        coordinates: (axis, end) of each coordinate of a thing, a `point` or the `low`
            and `high` ends of an extent; coordinate i of the rule programs is
            `coordinates[i - 1]`.
        extent: Whether things have an extent.
        extent_facts: What `rules/extent.lp` needs to know of relations; empty for points.
        ends: Axis to what it needs to know of the two ends there.
        functional: The relations of which a subject has one object at a time.
        updates: Whether the scene's latest statement of a functional relation of a
            subject replaces the earlier ones.
        converse: Relation to its converse (a symmetric one to itself).
        mirror: The converse, where swapping the things says exactly the same.
        suffices: (trusted, claimed) pairs of relations of which, over one pair of
            things, the first suffices for the second.
        excludes: Relation to those that no pair can have with it at once.
        joins: Two directions to the one that has the components of both.
        moves: Relation that the layout alone decides to the number of axes on which it
            is not equality.
        phrases: Surface phrase (lower case) to relation.
        hours: Hour of a clock face to direction.
        wordings: Relation to the phrases that express it in generated text.
        grouped: Relation whose landmarks are one thing to what that is to each of them.
        denials: Relation to the one that states its absence.
        words: Word class to its words.
        places: Phrases that name a side; their landmark needs a linking word.
        finite: Phrases that are finite verbs.
        adjacent: Phrases that count only right before their landmark.
        messages: Message name to template.
        reasons: Clash code to template.
        labels: Answer label (lower case) to what it means: `yes`, `no`, `open`, ...
        relation_labels: Answer label to the relation that it stands for, beside names
            and phrases.
        within: The relations of which the subject lies within the object.
        implied: Relation to those that hold wherever it does, itself included.
        loosely: Relation to what it means where things are described by it.
        of_container: Relation to what it is where its object is a container.
        having: What a block "with a square" is to the square; empty where nothing says.
        situated: What a thing introduced without a place is to the container that the text
            is about; empty where nothing is understood.
        described: Whether scenes describe their things, and do not only name them.
        nouns: Noun (lower case) to its kind, and whether it is a plural.
        attributes: Adjective to its dimension and its value there.
        covers: Kind to the kinds that its nouns may mean.
        containers: The kinds of things that other things are in.
        numerals: Word to number.
        ordinals: Word to the number that it counts to.
        eventful: Whether texts say what happens where.
        events: The facts about words of events: predicate and arity to rows.
    """

    profile: str
    name: str
    hash: str
    families: dict[str, str]
    readings: dict[tuple[str, str], int]
    facts: tuple[str, ...]
    axes: tuple[frozenset[str], ...]
    closed_keys: frozenset[int]
    closure_facts: str
    rules: str
    coordinates: tuple[tuple[str, str], ...]
    extent: bool
    extent_facts: str
    ends: dict[str, str]
    functional: frozenset[str]
    updates: bool
    converse: dict[str, str]
    mirror: dict[str, str]
    suffices: frozenset[tuple[str, str]]
    excludes: dict[str, frozenset[str]]
    joins: dict[tuple[str, str], str]
    moves: dict[str, int]
    phrases: dict[str, str]
    hours: dict[int, str]
    wordings: dict[str, tuple[str, ...]]
    grouped: dict[str, str]
    denials: dict[str, str]
    words: dict[str, frozenset[str]]
    places: frozenset[str]
    finite: frozenset[str]
    adjacent: frozenset[str]
    messages: dict[str, str]
    reasons: dict[str, str]
    labels: dict[str, str]
    relation_labels: dict[str, str]
    within: frozenset[str]
    implied: dict[str, frozenset[str]]
    loosely: dict[str, str]
    of_container: dict[str, str]
    having: str
    situated: str
    described: bool
    nouns: dict[str, tuple[str, bool]]
    attributes: dict[str, tuple[str, str]]
    covers: dict[str, frozenset[str]]
    containers: frozenset[str]
    numerals: dict[str, int]
    ordinals: dict[str, int]
    eventful: bool
    events: Rows

    @cached_property
    def symmetric(self) -> frozenset[str]:
        """The relations that equal their converse."""
        return frozenset(r for r, s in self.converse.items() if r == s)

    def closes(self, keys: Collection[int]) -> bool:
        """Whether atoms with these readings need the relational closure."""
        return bool(self.rules) or not self.closed_keys.isdisjoint(keys)

    def marked(self, predicate: str) -> frozenset[str]:
        """What a predicate about words of events is said of, its first argument."""
        found = (rows for (name, _), rows in self.events.items() if name == predicate)
        return frozenset(row[0] for rows in found for row in rows)

    def oriented(self, triple: tuple[int, str, int]) -> tuple[int, str, int]:
        """A relation over numbered things, or its mirror image where that puts the lower
        number first: `A left B` and `B right A` have one form.
        """
        u, r, v = triple
        return (v, self.mirror[r], u) if u > v and r in self.mirror else triple

    def canonical(self, relation: str) -> str:
        """The relation's name as the ontology spells it (`upper-left` is `upper_left`).

        Raises:
            KeyError: If there is none; the message suggests the nearest.
        """
        name = relation.strip().lower().replace("-", "_")
        if name in self.families:
            return name
        near = difflib.get_close_matches(name, self.families, n=1, cutoff=0.0)
        raise KeyError(
            f"unknown relation {relation!r} in profile {self.profile}"
            + (f"; did you mean {near[0]!r}?" if near else "")
        )


class OntologyLibrary:
    """The built-in ontology, with a user's folder on top of it where one is given.

    A folder with a fact `extends(PROFILE)` adds to the built-in ontology and makes
    that profile its default; a folder without one replaces the built-in ontology. A
    relation that the folder declares with family/2 is its own: what the built-in
    ontology says of a relation of that name is set aside.

    Args:
        folder: The user's folder of `.lp` files, read recursively.

    Raises:
        OntologyError: If a file has a syntax error, an undefined predicate, an
            unknown relation or an argument of the wrong kind.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        builtin = lp_files(data_folder("ontology"))
        source, files = read_source(builtin, folder)
        name = "builtin" if folder is None else str(folder)
        self._take(source, name, digest([*files, *lp_files(data_folder("rules"))]))

    @classmethod
    def of(cls, source: Source, name: str, digest: str) -> OntologyLibrary:
        """The ontology of statements that are already read.

        Args:
            source: The statements.
            name: What it is called in audits.
            digest: Its hash in audits.
        """
        library = cls.__new__(cls)
        library._take(source, name, digest)
        return library

    def _take(self, source: Source, name: str, digest: str) -> None:
        self.source = source
        self.name = name
        self._hash = digest
        self._compiled: dict[str, Ontology] = {}
        rows = self.source.rows
        self._datasets = {name.lower(): profile for name, profile in rows["dataset", 2]}
        self._default = self.source.extended or next(
            (p for (p,) in rows["default_profile", 1]), None
        )
        profiles = (profile for (profile,) in rows["profile", 1])
        self.profiles = sorted(profiles, key=lambda profile: (profile != self._default, profile))

    def profile_of(self, dataset: str | None) -> str:
        """The profile for traces of a dataset: what a `dataset` fact says, else the
        default profile.

        Raises:
            OntologyError: If the ontology has no default profile.
        """
        chosen = self._datasets.get((dataset or "").lower(), self._default)
        if chosen is None:
            raise OntologyError(f"ontology {self.name} has no fact default_profile(PROFILE)")
        return chosen.replace("_", "-")

    def ontology(self, profile: str | None = None) -> Ontology:
        """The tables of a profile (the default one, unless named).

        Raises:
            OntologyError: If the profile does not exist.
        """
        wanted = (profile or self.profile_of(None)).strip().lower().replace("-", "_")
        if wanted not in self.profiles:
            known = ", ".join(p.replace("_", "-") for p in self.profiles)
            raise OntologyError(f"unknown profile {profile!r}; there are: {known}")
        if wanted not in self._compiled:
            with untimed():
                self._compiled[wanted] = self._compile(wanted)
        return self._compiled[wanted]

    def _compile(self, profile: str) -> Ontology:
        return tables_of(self.source, profile, self.name, self._hash)


def tables_of(source: Source, profile: str, name: str, digest: str) -> Ontology:
    """The tables of a profile: what `rules/compile.lp` shows, as an Ontology.

    Raises:
        OntologyError: If a rule of the ontology cannot be grounded.
    """
    solved = solved_tables(source, profile, name)
    for finding in solved.findings:
        if finding.severity == "error" and finding.place.file in source.own:
            raise OntologyError(finding.message, *finding.place, code=finding.code)
    return solved_ontology(source, solved, profile, name, digest)


def solved_ontology(
    source: Source, solved: Solved, profile: str, name: str, digest: str
) -> Ontology:
    """The tables of a profile from what the rules make of it."""
    rows: Rows = defaultdict(list)
    for symbol in sorted(solved.rows):
        rows[symbol.name, len(symbol.arguments)].append(tuple(map(plain, symbol.arguments)))
    if (profile,) in rows["reads_events", 1]:
        for key in EVENTS:
            rows[key] += source.rows[key]
        for fact in solved.derived:
            rows[fact.name, len(fact.arguments)].append(tuple(map(plain, fact.arguments)))
    return _tables(profile.replace("_", "-"), name, digest, solved.rules, rows)


class FoundByRule(NamedTuple):
    """What `rules/check.lp` finds: code and severity of the check, place and message."""

    code: str
    severity: str
    place: Place
    message: str


@dataclass(frozen=True)
class Solved:
    """What the rules make of a profile of an ontology.

    Attributes:
        rows: What `rules/compile.lp` shows.
        derived: The facts of the vocabulary that rules of the ontology add.
        findings: What `rules/check.lp` finds.
        rules: The rules that join the audit's, with the facts that they read, as text.
    """

    rows: list[clingo.Symbol]
    derived: list[clingo.Symbol]
    findings: list[FoundByRule]
    rules: str


@cache
def compiling_rules() -> tuple[ast.AST, ...]:
    """The statements of the rules that tables are made by."""
    folder = data_folder("rules")
    defined: list[ast.AST] = []
    texts = "".join(f"#defined {name}/{arity}." for name, arity in vocabulary())
    ast.parse_string(texts, defined.append)
    return (*statements([folder / "compile.lp", folder / "check.lp"]), *defined)


MOST_RULES = 200_000
"""Most rules of a profile's tables once they are grounded; the built-in ones have 8,000."""


def _ground(control: clingo.Control, complaints: list[str], source: Source, name: str) -> None:
    """Grounds a program that rules of an ontology are part of.

    Raises:
        OntologyError: If a rule cannot be grounded, or the program grows very large.
    """
    meter(control, MOST_RULES)
    try:
        ground(control, complaints, name)
    except LimitError as error:
        message = f"the rules make more than {MOST_RULES:,} rules once they are grounded"
        heads = [(t, rule.place) for rule in source.rules for t in atoms_in([rule.statement.head])]
        if not heads:
            raise OntologyError(message, code="growth") from error
        atoms = control.symbolic_atoms
        many: Counter[Signature] = Counter()
        for own, arity, _ in atoms.signatures:
            many[own.removeprefix(PRIVATE), arity] += sum(1 for _ in atoms.by_signature(own, arity))
        most, place = max(heads, key=lambda head: many[signature(head[0])])
        message += f"; most of them conclude {most.name}/{len(most.arguments)}"
        raise OntologyError(message, *place, code="growth") from error


def compiling_program(source: Source, profile: str, name: str, further: str = "") -> clingo.Control:
    """The program that makes the tables of a profile, ready to be solved.

    Args:
        source: The ontology's statements.
        profile: The profile.
        name: What the ontology is called in complaints.
        further: Rules that observe the program.

    Raises:
        OntologyError: If a rule of the ontology cannot be grounded.
    """
    control, complaints = new_control()
    with ast.ProgramBuilder(control) as builder:
        for statement in compiling_rules():
            builder.add(statement)
    # As syntax trees, so that a complaint names their file and line.
    _add(control, [rule for rule in source.rules if not rule.audit], complaints, name)
    concluded = "".join(f"led_to({relation})." for relation in sorted(source.concluded))
    control.add("base", [], f"{source.text} {concluded} selected({profile}). {further}")
    _ground(control, complaints, source, name)
    return control


def solved_tables(source: Source, profile: str, name: str) -> Solved:
    """What the rules make of a profile of an ontology.

    Raises:
        OntologyError: If a rule of the ontology cannot be grounded, derives what is no fact of
            the vocabulary, or leaves open what the tables are.
    """
    control = compiling_program(source, profile, name)
    control.configuration.solve.models = 2  # type: ignore[union-attr]
    derived = source.derived
    inputs = {key if key in vocabulary() else (PRIVATE + key[0], key[1]) for key in source.inputs}
    models = []
    with control.solve(yield_=True) as handle:
        for model in handle:
            asked = model.symbols(atoms=True) if derived or inputs else ()
            models.append((model.symbols(shown=True), asked))
    if len(models) != 1:
        many = "have no model" if not models else "can be read in several ways"
        message = f"the rules for profile {profile} {many}: negation runs in a circle"
        raise OntologyError(message, *source.rules[0].place if source.rules else ())
    ((shown, atoms),) = models
    added = [
        atom
        for atom in atoms
        if (atom.name, len(atom.arguments)) in derived and atom not in source.facts
    ]
    check_derived(source, added)
    read = [atom for atom in atoms if (atom.name, len(atom.arguments)) in inputs]
    tables: list[clingo.Symbol] = []
    findings: list[clingo.Symbol] = []
    for symbol in shown:
        (findings if symbol.name == "finding" else tables).append(symbol)
    return Solved(
        tables,
        added,
        [_finding(source, symbol) for symbol in findings],
        _audit_rules(source, read, name),
    )


def _add(control: clingo.Control, rules: Iterable[Rule], complaints: list[str], name: str) -> None:
    """Adds rules of an ontology to a program.

    Raises:
        OntologyError: If a rule cannot be grounded.
    """
    try:
        with ast.ProgramBuilder(control) as builder:
            for rule in rules:
                builder.add(rule.private)
    except RuntimeError as error:
        raise complaint(complaints, str(error), name) from error


def _audit_rules(source: Source, read: Iterable[clingo.Symbol], name: str) -> str:
    """The rules that join the audit's, with the facts that they read.

    Raises:
        OntologyError: If they cannot be grounded.
    """
    rules = [rule for rule in source.rules if rule.audit]
    if not rules:
        return ""
    inputs = "".join(f"#defined {PRIVATE}{key[0]}/{key[1]}." for key in source.inputs)
    for atom in read:
        own = clingo.Function(PRIVATE + public(atom)[0], atom.arguments)
        inputs += f"{own}."
    control, complaints = new_control()
    control.load(str(data_folder("rules") / "closure.lp"))
    control.add("base", [], inputs)
    _add(control, rules, complaints, name)
    _ground(control, complaints, source, name)
    return source.audit + inputs


def _finding(source: Source, symbol: clingo.Symbol) -> FoundByRule:
    """An atom finding/4 of `rules/check.lp`."""
    code, at, text, arguments = symbol.arguments
    message = text.string.format(*map(plain, arguments.arguments))
    severity = checks()[code.string].severity
    return FoundByRule(code.string, severity, source.place(at), message)


class Check(NamedTuple):
    """One check: its severity and how to mend what it finds."""

    severity: str
    mend: str


@cache
def checks() -> dict[str, Check]:
    """Every check by its code (`rules/check.lp`)."""
    found = {}
    for statement in statements([data_folder("rules") / "check.lp"]):
        fact = fact_of(statement)
        if fact is not None and fact.name == "check":
            code, severity, mend = clingo.parse_term(str(fact)).arguments
            found[code.string] = Check(str(severity), mend.string)
    return found


_AXIOMS = (
    ("inverse", 2),
    ("symmetric", 1),
    ("reflexive", 1),
    ("transitive", 1),
    ("implies", 2),
    ("made_of", 2),
    ("composition", 3),
    ("strict", 1),
    ("functional", 1),
    ("incompatible", 2),
)
"""What `rules/closure.lp` is told about relations: predicates and arities."""


_HELD = (("held_at_least", 5), ("held_at_most", 5))
"""What directions that follow say of coordinates: predicates and arities."""


EVENTS = frozenset(
    (
        ("seen_inverse", 2), ("ray", 1), ("betweenness", 1), ("divided", 1), ("enclosure", 1),
        ("short", 1), ("long", 1), ("compared", 2), ("way", 2), ("passes", 3), ("lacks", 3),
        ("leaves_open", 2), ("way_of", 2), ("way_back", 2), ("origin", 1), ("widens", 1),
        ("parting", 1), ("opposed", 2), ("verb", 2), ("inflected", 3), ("manner_of", 2),
        ("sets_going", 2), ("incorporates", 2), ("places", 3), ("perceives", 1), ("mutual", 1),
        ("opaque", 1), ("posture", 1), ("times", 2), ("returning", 1), ("contrasts", 2),
        ("separating", 1), ("construes", 3),
    )
)  # fmt: skip
"""What is said of words of events: predicates and arities."""


def _tables(profile: str, name: str, digest: str, rules: str, rows: Rows) -> Ontology:
    """The rows that `rules/compile.lp` shows, as the tables of an Ontology."""
    numbers = {(axis, end): int(n) for axis, end, n in rows["coordinate_number", 3]}
    bounds: dict[tuple[str, str], list[str]] = defaultdict(list)
    bound_axes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for predicate in ("at_least", "at_most"):
        for role, relation, axis, end, other, value in rows[predicate, 6]:
            places = f"{numbers[axis, end]},{numbers[axis, other]}"
            bound_axes[role, relation].add(axis)
            bounds[role, relation].append(f"{predicate}({{key}},{places},{value}).")
    families = dict(_pairs(rows["in_use", 2]))
    closed = {relation for (relation,) in rows["closed", 1]}
    for relation in closed:
        said = [f"closure({{key}},{relation})."]
        said += [f"needs({{key}},{other})." for r, other in rows["needed", 2] if r == relation]
        said += [f"bars({{key}},{other})." for r, other in rows["denied", 2] if r == relation]
        for role in ROLES:
            bounds[role, relation] += said
            bound_axes[role, relation] |= _led_axes(rows, relation, bool(rules))
    readings: dict[tuple[str, str], int] = {}
    facts: list[str] = []
    axes: list[frozenset[str]] = []
    shared: dict[tuple[str, tuple[str, ...]], int] = {}
    for relation in families:
        for role in ROLES:
            texts_said = tuple(bounds[role, relation])
            if (relation, texts_said) not in shared:
                shared[relation, texts_said] = len(facts)
                facts.append("".join(texts_said).replace("{key}", str(len(facts))))
                axes.append(frozenset(bound_axes[role, relation]))
            readings[role, relation] = shared[relation, texts_said]
    closure_facts = "".join(
        f"{predicate}({','.join(row)})." for predicate, n in _AXIOMS for row in rows[predicate, n]
    )
    for predicate, arity in _HELD:
        for relation, axis, end, other, value in rows[predicate, arity]:
            places = f"{numbers[axis, end]},{numbers[axis, other]}"
            closure_facts += f"{predicate}({relation},{places},{value})."
    extent = ("with_extent", 0) in rows
    extent_facts = ""
    ends: dict[str, str] = {}
    if extent:
        lows = ((axis, n) for (axis, end), n in numbers.items() if end == "low")
        ends = {axis: f"ends({n},{numbers[axis, 'high']})." for axis, n in lows}
        for predicate, arity in (("nested", 2), ("hull", 1)):
            rows_of = rows[predicate, arity]
            extent_facts += "".join(f"{predicate}({','.join(row)})." for row in rows_of)
    excludes: dict[str, set[str]] = defaultdict(set)
    for first, second in rows["excludes", 2]:
        excludes[first].add(second)
    converse = dict(_pairs(rows["converse", 2]))
    implied: dict[str, set[str]] = defaultdict(set)
    for relation, other in rows["follows", 2]:
        implied[relation].add(other)
        if relation in converse and other in converse:
            implied[converse[relation]].add(converse[other])
    covers: dict[str, set[str]] = defaultdict(set)
    for general, kind in rows["covers", 2]:
        covers[general].add(kind)
    words: dict[str, set[str]] = defaultdict(set)
    for word_class, word in rows["word", 2]:
        words[word_class].add(word.lower())
    wordings: dict[str, list[str]] = defaultdict(list)
    for relation, _rank, wording in sorted(rows["says", 3], key=lambda row: int(row[1])):
        wordings[relation].append(wording)

    def texts(predicate: str) -> frozenset[str]:
        return frozenset(text.lower() for (text,) in rows[predicate, 1])

    return Ontology(
        profile=profile,
        name=name,
        hash=digest,
        families=families,
        readings=readings,
        facts=tuple(facts),
        axes=tuple(axes),
        closed_keys=frozenset(readings[role, r] for role in ROLES for r in closed),
        closure_facts=closure_facts,
        rules=rules,
        coordinates=tuple(sorted(numbers, key=lambda place: numbers[place])),
        extent=extent,
        extent_facts=extent_facts,
        ends=ends,
        functional=frozenset(relation for (relation,) in rows["functional", 1]),
        updates=("latest_counts", 0) in rows,
        converse=converse,
        mirror=dict(_pairs(rows["mirror", 2])),
        suffices=frozenset(_pairs(rows["suffices", 2])),
        excludes={relation: frozenset(others) for relation, others in excludes.items()},
        joins={(first, second): joint for first, second, joint in rows["join", 3]},
        moves={relation: int(count) for relation, count in rows["moves", 2]},
        phrases={text.lower(): relation for relation, text in rows["reads", 2]},
        hours={int(hour): relation for hour, relation in rows["hour", 2]},
        wordings={relation: tuple(texts) for relation, texts in wordings.items()},
        grouped=dict(_pairs(rows["together", 2])),
        denials=dict(_pairs(rows["denies", 2])),
        words={name: frozenset(members) for name, members in words.items()},
        places=texts("place"),
        finite=texts("finite"),
        adjacent=texts("adjacent"),
        messages=dict(_pairs(rows["message", 2])),
        reasons=dict(_pairs(rows["reason", 2])),
        labels={text.lower(): meaning for meaning, text in rows["label", 2]},
        relation_labels={text.lower(): relation for relation, text in rows["stands_for", 2]},
        within=frozenset(relation for (relation,) in rows["within", 1]),
        implied={relation: frozenset(others) for relation, others in implied.items()},
        loosely=dict(_pairs(rows["meant_loosely", 2])),
        of_container=dict(_pairs(rows["of_container", 2])),
        having=next((relation for (relation,) in rows["has", 1]), ""),
        situated=next((relation for (relation,) in rows["understood", 1]), ""),
        described=("described", 0) in rows,
        nouns={
            text.lower(): (kind, text == plural)
            for kind, singular, plural in rows["noun", 3]
            for text in (plural, singular)
        },
        attributes={text.lower(): (name, value) for name, value, text in rows["attribute", 3]},
        covers={kind: frozenset(of) for kind, of in covers.items()},
        containers=frozenset(kind for (kind,) in rows["container", 1]),
        numerals={text.lower(): int(n) for n, text in rows["numeral", 2]},
        ordinals={text.lower(): int(n) for n, text in rows["ordinal", 2]},
        eventful=bool(rows["reads_events", 1]),
        events={key: rows[key] for key in EVENTS if key in rows},
    )


def _led_axes(rows: Rows, relation: str, ruled: bool) -> set[str]:
    """The axes on which a relation may bound things by the directions that follow from it, by
    way of other relations too; where an ontology has rules of its own, that may be any.
    """
    bounds = [(row[0], row[1]) for key in _HELD for row in rows[key]]
    found = {relation}
    before = 0
    while bounds and len(found) > before:
        before = len(found)
        steps = [*rows["follows", 2], *rows["converse", 2], *rows["made_of", 2]]
        found |= {other for first, other in steps if first in found}
        found |= {first for first, other in rows["made_of", 2] if other in found}
        found |= {r for first, second, r in rows["composition", 3] if {first, second} & found}
    return {axis for r, axis in bounds if ruled or r in found}


def _pairs(rows: Iterable[tuple[str, ...]]) -> list[tuple[str, str]]:
    """Rows of two columns, typed as such."""
    return [(first, second) for first, second in rows]
