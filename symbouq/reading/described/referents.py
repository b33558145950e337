"""Resolve noun phrases to the things in a text.

A phrase may introduce a thing ("a square", "another square", "two squares", a new name) or refer to
a known thing ("the square", "this block", "it", "square number two"). If several things fit equally
well, the confidence is lower.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from symbouq.ontology.tables import Ontology
from symbouq.reading.described.syntax import (
    ADDITIVE,
    ANY,
    BARE,
    BOTH,
    DEFINITE,
    DEMONSTRATIVE,
    EVERY,
    INDEFINITE,
    NONE,
    OTHER,
    PARTITIVE,
    PRONOUN,
    RECIPROCAL,
    Clause,
    Naming,
    Parse,
    Phrase,
    Predicate,
    Topic,
)

_HULL = "(hull)"
"""Kind of a thing that spans other things. There is no noun for this kind."""
_AMBIGUOUS = 0.5
"""Confidence factor if several things fit a phrase."""
_COUNTED = 0.7
"""Confidence factor if "two squares" is interpreted as two known squares."""
_SITUATED = 0.9
"""Confidence factor if the place of a thing is only implied."""
_PRONOUN = 0.7
_SKIPPED = 0.7
"""Confidence factor for each word that was not understood."""


@dataclass
class Thing:
    """A thing mentioned in a text.

    Attributes:
        kind: Its kind according to its noun; empty if only a name is known.
        attributes: Maps a dimension to the value.
        names: Its names as written.
        number: Its number among similar things in the same container, from 1.
        container: The thing that it is in, needed for numbering; None while unknown.
        sentence: Number of the sentence that introduced it.
    """

    kind: str
    attributes: dict[str, str]
    names: list[str]
    number: int
    container: int | None
    sentence: int


@dataclass(frozen=True)
class Edge:
    """A relation between two things.

    Attributes:
        subject: Number of the thing that is placed.
        relation: The canonical relation.
        object: Number of the thing relative to which the subject is placed.
        first: First of the tokens that state it.
        last: Last of the tokens that state it.
        confidence: Confidence in (0, 1].
    """

    subject: int
    relation: str
    object: int
    first: int
    last: int
    confidence: float


@dataclass
class Discourse:
    """The things that a text has mentioned, and the statements about them.

    Args:
        ontology: The tables of the profile.
        things: The things, numbered by their position.
        said: The statements about the things.
        between: Maps an ordered pair of things to the relations stated from the first to the
            second.
        salient: The things, starting with the one mentioned most recently.
        centre: The things that the last sentence's pronouns referred to.
        container: The container that the text is currently about.
        topic: The container in the heading of a list.
        recent: The things in the last sentence that had things: the subjects if there were several,
            otherwise all things.
        sentence: Number of sentences so far.
        titles: Titles already used for things in records.
    """

    ontology: Ontology
    things: list[Thing] = field(default_factory=list)
    said: set[tuple[int, str, int]] = field(default_factory=set)
    between: dict[tuple[int, int], tuple[str, ...]] = field(default_factory=dict)
    salient: list[int] = field(default_factory=list)
    centre: list[int] = field(default_factory=list)
    container: int | None = None
    topic: int | None = None
    recent: list[int] = field(default_factory=list)
    sentence: int = 0
    titles: list[str] = field(default_factory=list)

    def copy(self) -> Discourse:
        """Return an independent copy."""
        return Discourse(
            self.ontology,
            [replace(t, names=list(t.names), attributes=dict(t.attributes)) for t in self.things],
            set(self.said),
            dict(self.between),
            list(self.salient),
            list(self.centre),
            self.container,
            self.topic,
            list(self.recent),
            self.sentence,
            list(self.titles),
        )

    def __len__(self) -> int:
        return len(self.things)

    @property
    def names(self) -> frozenset[str]:
        """All names, in lower case."""
        return frozenset(name.lower() for thing in self.things for name in thing.names)

    def is_container(self, number: int) -> bool:
        """Whether a thing is a container."""
        return self.things[number].kind in self.ontology.lexicon.container

    def relation_to(self, relation: str, object: int) -> str:
        """Return the meaning of a relation for the given object, since the meaning may be different
        for a container.
        """
        if self.is_container(object):
            return self.ontology.lexicon.of_container.get(relation, relation)
        return relation

    # Reading a sentence ---------------------------------------------------------------

    def interpret(self, parse: Parse, narrating: bool = True) -> list[Edge]:
        """Add the statements of a sentence. The things in it are introduced or looked up.

        Args:
            parse: The sentence.
            narrating: Whether "a square" introduces a thing, as in a scene. In reasoning about a
                scene, the phrase may refer to a known square.
        """
        return _Interpretation(self, narrating).interpret(parse)

    def focus(self, phrases: Sequence[Phrase]) -> None:
        """Make the things in the given phrases the topic, as a heading does."""
        found = [n for phrase in phrases for n in range(len(self.things)) if self.fits(phrase, n)]
        self.centre = []
        self.salient = [*dict.fromkeys([*found, *self.salient])]
        places = [p for phrase in phrases for clause in phrase.clauses for p in clause.objects]
        containers = [
            *{
                n
                for phrase in (*phrases, *places)
                for n in range(len(self.things))
                if self.is_container(n) and self.fits(phrase, n)
            }
        ]
        self.topic = containers[0] if len(containers) == 1 else None
        self.container = self.topic if self.topic is not None else self.container

    # Things -----------------------------------------------------------------------------

    def find_named(self, name: str, kind: str = "") -> int | None:
        """Return the thing with the given name."""
        wanted = name.lower()
        return next(
            (
                n
                for n, thing in enumerate(self.things)
                if thing.names
                and wanted in map(str.lower, thing.names)
                and (not kind or not thing.kind or self.covers(kind, thing.kind))
            ),
            None,
        )

    def covers(self, general: str, kind: str) -> bool:
        """Whether a noun may refer to things of the given kind."""
        return kind == general or kind in self.ontology.lexicon.covers.get(general, ())

    def fits(self, phrase: Phrase, number: int) -> bool:
        """Whether a thing fits the description in a phrase, ignoring relative clauses."""
        thing = self.things[number]
        if phrase.kind and not self.covers(phrase.kind, thing.kind):
            return False
        if not phrase.kind and not phrase.names and self.is_container(number):
            return phrase.determiner in (PRONOUN, DEMONSTRATIVE)
        if phrase.number and thing.number != phrase.number:
            return False
        if phrase.names and not any(
            name.lower() == other.lower() for name in phrase.names for other in thing.names
        ):
            return False
        return all(thing.attributes.get(d) == value for d, value in phrase.attributes)

    def numbered(self, phrase: Phrase, fits: Sequence[int]) -> list[int]:
        """Narrow the things that fit a numbered phrase to things with similar ones in the same
        place, since only such things are numbered. If none remain, return all the given things.
        """
        if not phrase.number or len(fits) < 2:
            return list(fits)
        described = [(t.kind, t.attributes, t.container) for t in self.things]
        counted = [n for n in fits if described.count(described[n]) > 1]
        return counted or list(fits)

    def may_fit(self, phrase: Phrase, number: int) -> bool:
        """Whether a phrase may refer to a thing that was described in less detail: "an orange
        thing" and "the orange shape".
        """
        thing = self.things[number]
        if phrase.names or (phrase.number and phrase.number != thing.number) or not thing.kind:
            return False
        if phrase.kind and not (
            self.covers(thing.kind, phrase.kind) or self.covers(phrase.kind, thing.kind)
        ):
            return False
        return all(thing.attributes.get(d, value) == value for d, value in phrase.attributes)

    def introduce(
        self, phrase: Phrase, container: int | None, second: bool = False, name: str = ""
    ) -> int:
        """Introduce a thing for a phrase. After "another", numbering starts at two."""
        thing = Thing(
            phrase.kind,
            dict(phrase.attributes),
            [name] if name else [],
            phrase.number or (2 if second else 1),
            container,
            self.sentence,
        )
        thing.number = self._free(thing)
        self.things.append(thing)
        return len(self.things) - 1

    def titled(self, title: str, phrase: Phrase | None) -> int:
        """Introduce a thing with its title in a record."""
        if phrase is None:
            thing = Thing("", {}, [title], 1, None, 0)
        else:
            names = list(phrase.names)
            thing = Thing(phrase.kind, dict(phrase.attributes), names, phrase.number or 1, None, 0)
        self.things.append(thing)
        self.titles.append(title)
        return len(self.things) - 1

    def hull(self, parts: Sequence[int]) -> int | None:
        """Return the thing that spans exactly the given things; None for fewer than two."""
        if len(set(parts)) < 2:
            return None
        name = " and ".join(self._described(self.things[n]) for n in sorted(set(parts)))
        for number, thing in enumerate(self.things):
            if thing.kind == _HULL and thing.names == [name]:
                return number
        self.things.append(Thing(_HULL, {}, [name], 1, None, self.sentence))
        return len(self.things) - 1

    def _free(self, thing: Thing) -> int:
        taken = {
            other.number
            for other in self.things
            if other is not thing
            and (other.kind, other.attributes) == (thing.kind, thing.attributes)
            and other.container == thing.container
        }
        number = thing.number
        while number in taken:
            number += 1
        return number

    def locate(self, number: int, container: int) -> None:
        """Record the container of a thing. All unnamed things without a known place are assumed to
        be in the same container.
        """
        if self.things[number].container is not None or self.is_container(number):
            return
        for n, thing in enumerate(self.things):
            if thing.container is None and not self.is_container(n) and not thing.names:
                thing.container = container
                thing.number = self._free(thing)

    def title(self, number: int) -> str:
        """Return a thing's title in records: its name, or a description. Titles are unique and
        never change.
        """
        if number >= len(self.titles):
            plain = [self._described(thing) for thing in self.things]
            for n in range(len(self.titles), len(self.things)):
                self.titles.append(self._told_apart(n, plain))
        return self.titles[number]

    def _told_apart(self, number: int, plain: Sequence[str]) -> str:
        thing = self.things[number]
        text = plain[number]
        alike = [n for n, other in enumerate(plain) if other == text]
        if len(alike) > 1 and not thing.names:
            peers = [n for n in alike if self.things[n].container == thing.container]
            if len(peers) > 1:
                text = f"{text} number {thing.number}"
            if len(peers) < len(alike) and thing.container is not None:
                text = f"{text} in {plain[thing.container]}"
        while text in self.titles:
            text += "'"
        return text

    @staticmethod
    def _described(thing: Thing) -> str:
        if thing.names:
            plain = not thing.kind or thing.kind == _HULL
            return thing.names[0] if plain else f"{thing.kind} {thing.names[0]}"
        return " ".join([*thing.attributes.values(), thing.kind or "thing"])

    def certain(self, subject: int, relation: str, object: int) -> bool:
        """Whether a relation or its converse was stated or follows from a stated relation."""
        converse = self.ontology.relations.converse
        ways = [
            *self.between.get((subject, object), ()),
            *(converse.get(r, "") for r in self.between.get((object, subject), ())),
        ]
        return any(relation in self.ontology.relations.implied.get(way, ()) for way in ways)

    def record(self, said: Iterable[tuple[int, str, int]]) -> None:
        """Add statements about things."""
        for u, r, v in said:
            if (u, r, v) not in self.said:
                self.said.add((u, r, v))
                self.between[u, v] = (*self.between.get((u, v), ()), r)

    def is_stated(self, subject: int, relation: str, object: int) -> bool | None:
        """Return True if a relation was stated, and None if it is open."""
        return self.certain(subject, relation, object) or None

    def satisfying(self, phrase: Phrase, numbers: Iterable[int]) -> list[int]:
        """Return those of the given things for which a phrase's relative clauses are certain. If
        possible, return only things for which the clauses were stated in the same words.
        """
        found = list(numbers)
        for clause in phrase.clauses:
            found = [n for n in found if self._meets(n, clause)]
            found = [n for n in found if self._meets(n, clause, outright=True)] or found
        return found

    def _meets(self, number: int, clause: Predicate, outright: bool = False) -> bool:
        for phrase in clause.objects:
            if phrase.determiner == PRONOUN:
                continue
            others = [n for n in range(len(self.things)) if n != number and self.fits(phrase, n)]
            others = self.satisfying(phrase, others)
            if not any(self._is(number, clause.relation, n, outright) for n in others):
                return clause.negated
        return not clause.negated

    def _is(self, subject: int, relation: str, object: int, outright: bool) -> bool:
        if outright:
            return (subject, relation, object) in self.said
        relation = self.relation_to(relation, object)
        return self.certain(subject, self.ontology.lexicon.loosely.get(relation, relation), object)


@dataclass(frozen=True)
class _Use:
    """The use of a phrase: its relation to other phrases or things, and whether its thing contains
    them.
    """

    relation: str
    phrases: tuple[Phrase, ...] = ()
    things: tuple[int, ...] = ()
    holds: bool = False


class _Interpretation:
    """Interpreter for one sentence."""

    def __init__(self, discourse: Discourse, narrating: bool) -> None:
        self.of = discourse
        self.narrating = narrating
        self.statements: list[Edge] = []
        self.subjects: list[int] = []
        self.others: list[int] = []
        self.inner: list[int] = []
        self.found: dict[int, tuple[tuple[int, ...], float]] = {}
        self.heads: list[int] = []
        self.nested = 0
        self.denied = False
        self.continued: list[int] = []
        self.tied: dict[int, list[int]] = {}
        self.place: int | None = None
        self.topic: int | None = None

    def interpret(self, parse: Parse) -> list[Edge]:
        discourse = self.of
        discourse.sentence += 1
        for clause in parse.clauses:
            if isinstance(clause, Naming):
                self._name(clause)
            elif isinstance(clause, Topic) and clause.heading:
                discourse.focus([clause.phrase])
                self.topic = self._told_apart(clause.phrase)
            elif isinstance(clause, Topic):
                self._turned(clause.phrase)
            else:
                self._clause(clause)
        self._situate()
        factor = _SKIPPED ** min(parse.skipped, 6)
        mentioned = [*dict.fromkeys([*self.subjects, *self.others, *self.inner])]
        discourse.salient = [*mentioned, *(n for n in discourse.salient if n not in mentioned)]
        discourse.centre = self.continued
        if mentioned:
            subjects = [*dict.fromkeys(self.subjects)]
            discourse.recent = subjects if len(subjects) > 1 else mentioned
        new = [n for n in mentioned if discourse.is_container(n) and self._is_new(n)]
        if self.place is not None:
            discourse.container = self.place
        elif new:
            discourse.container = new[-1]
        found: dict[tuple[int, str, int], Edge] = {}
        for s in self.statements:
            if s.subject != s.object:
                found.setdefault((s.subject, s.relation, s.object), s)
        discourse.record(found)
        return [
            Edge(s.subject, s.relation, s.object, s.first, s.last, round(s.confidence * factor, 4))
            for s in found.values()
        ]

    def _turned(self, phrase: Phrase) -> None:
        """Record the thing to which the text turns its attention: "I looked at block A"."""
        discourse = self.of
        self.topic = self._told_apart(phrase)
        if self.topic is not None:
            discourse.centre = []
            discourse.salient = [*dict.fromkeys([self.topic, *discourse.salient])]

    def _told_apart(self, phrase: Phrase) -> int | None:
        """The only thing that fits a phrase with a name or a noun; otherwise None."""
        fits = [n for n in range(len(self.of)) if self.of.fits(phrase, n)]
        return fits[0] if len(fits) == 1 and (phrase.names or phrase.kind) else None

    def _situate(self) -> None:
        """If the profile allows it, assign a container to new things without a stated place: the
        container of related things, otherwise the one that the text is about.
        """
        discourse = self.of
        relation = discourse.ontology.lexicon.situated
        if not relation or not self.narrating:
            return
        within, converse = (
            discourse.ontology.relations.within,
            discourse.ontology.relations.converse,
        )
        placed = {s.subject for s in self.statements if s.relation in within}
        placed.update(s.object for s in self.statements if converse.get(s.relation) in within)
        pending = [
            n
            for n in range(len(discourse.things))
            if self._is_new(n) and n not in placed and not discourse.is_container(n)
        ]
        for n in pending:
            related = [s for s in self.statements if n in (s.subject, s.object)]
            partners = [s.object if s.subject == n else s.subject for s in related]
            places = [discourse.things[m].container for m in partners]
            place = next((p for p in places if p is not None), discourse.container)
            if place is None or not related:
                continue
            discourse.locate(n, place)
            first, last = related[0].first, related[0].last
            self.statements.append(Edge(n, relation, place, first, last, _SITUATED))

    def _is_new(self, number: int) -> bool:
        return self.of.things[number].sentence == self.of.sentence

    def _name(self, naming: Naming) -> None:
        """Give names to the latest unnamed things, if there are as many things as names."""
        unnamed = [n for n in range(len(self.of.things)) if not self.of.things[n].names]
        containers = [n for n in unnamed if self.of.is_container(n)] or unnamed
        for n, name in zip(containers[-len(naming.names) :], naming.names, strict=False):
            self.of.things[n].names.append(name)

    def _clause(self, clause: Clause) -> None:
        converse = self.of.ontology.relations.converse
        uses: dict[int, list[_Use]] = {}
        self.denied = not self.narrating and (
            any(p.negated for p in clause.predicates)
            or any(phrase.determiner == NONE for phrase in clause.subjects)
        )
        phrases = {phrase.start: phrase for phrase in clause.subjects}
        for predicate in clause.predicates:
            if predicate.negated:
                phrases |= {phrase.start: phrase for phrase in predicate.objects}
                continue  # "not in A" leaves the place open
            for phrase in clause.subjects:
                use = _Use(predicate.relation, predicate.objects)
                uses.setdefault(phrase.start, []).append(use)
            for phrase in predicate.objects:
                phrases[phrase.start] = phrase
                use = _Use(
                    converse.get(predicate.relation, ""),
                    clause.subjects,
                    holds=predicate.relation in self.of.ontology.relations.within,
                )
                uses.setdefault(phrase.start, []).append(use)
        # Find named and described things first, since "it" refers to none of them.
        turns = sorted(phrases.values(), key=lambda p: self._turn(p, uses.get(p.start, [])))
        for phrase in turns:
            self._find(phrase, uses.get(phrase.start, []))
        subjects = self._things(clause.subjects)
        self.subjects += subjects
        for predicate in clause.predicates:
            objects = self._things(predicate.objects)
            self.others += objects
            for phrase in predicate.objects:
                # "X touches and it is above Z": the omitted thing differs from "it".
                self.tied.setdefault(phrase.start, []).extend(subjects)
            confidence = self._confidence([*clause.subjects, *predicate.objects])
            self._state(subjects, predicate, objects, confidence, clause)
        self._list(clause, subjects)

    def _list(self, clause: Clause, subjects: Sequence[int]) -> None:
        """For a line in a list under the heading of a container, add the statement that the
        container has the thing. Any other sentence ends the list.
        """
        discourse = self.of
        relation = discourse.ontology.relations.converse.get(discourse.ontology.lexicon.having)
        if not clause.strained:
            about = any(phrase.start < 0 for phrase in clause.subjects)
            discourse.topic = discourse.topic if about else None
            return
        if self.narrating or relation is None:
            return
        containers = [n for n in subjects if discourse.is_container(n)]
        if containers:
            discourse.topic = containers[0] if not clause.predicates else None
            return
        topic = discourse.topic
        if topic is None:
            return
        placed = {
            s.subject for s in self.statements if s.relation in discourse.ontology.relations.within
        }
        self.statements += [
            Edge(n, relation, topic, clause.start, clause.end - 1, _SITUATED)
            for n in subjects
            if n not in placed
        ]

    def _turn(self, phrase: Phrase, uses: Sequence[_Use]) -> tuple[int, int, int]:
        """Return a sort key for looking up the phrases in a clause. Phrases with a relative clause
        come after other phrases, and later if more things fit. "This" and "it" come last, but
        before new things.
        """
        if phrase.determiner in (DEMONSTRATIVE, PRONOUN):
            partners = [partner for use in uses for partner in use.phrases]
            news = bool(partners) and all(p.determiner in _NEW for p in partners)
            turn = -1 if news else 2 + (phrase.determiner == PRONOUN)
            return turn, 0, phrase.start
        fits = [n for n in range(len(self.of.things)) if self.of.fits(phrase, n)]
        met = len(self.of.satisfying(phrase, fits)) if phrase.clauses else 0
        # In reasoning, unambiguous phrases show the places of things in other phrases.
        met = met if self.narrating else len(fits)
        return int(bool(phrase.clauses)), met, phrase.start

    def _things(self, phrases: Sequence[Phrase]) -> list[int]:
        return [n for phrase in phrases for n in self.found[phrase.start][0]]

    def _confidence(self, phrases: Sequence[Phrase]) -> float:
        confidence = 1.0
        for phrase in phrases:
            confidence *= self.found[phrase.start][1]
        return confidence

    def _state(
        self,
        subjects: Sequence[int],
        predicate: Predicate,
        objects: Sequence[int],
        confidence: float,
        clause: Clause | None = None,
    ) -> None:
        ontology = self.of.ontology
        if predicate.attributes:
            for number in subjects if self.narrating and not predicate.negated else ():
                self.of.things[number].attributes |= dict(predicate.attributes)
            return
        if not predicate.objects and predicate.relation in ontology.relations.within:
            # "It touches the bottom edge": the edge of the thing it is in.
            homes = [self.of.things[n].container for n in subjects]
            objects = [home for home in dict.fromkeys(homes) if home is not None]
        if (
            clause is not None
            and clause.strained
            and not self.narrating
            and all(p.determiner == DEFINITE and self._is_general(p) for p in clause.subjects)
        ):
            return  # "the objects in A" only names things
        relation: str | None = predicate.relation
        if predicate.objects and all(p.determiner == NONE for p in predicate.objects):
            return
        if predicate.negated and not self.narrating and any(map(_is_any, predicate.objects)):
            return
        if predicate.negated:
            relation = ontology.relations.negation.get(predicate.relation)
        if relation is None:
            return
        reciprocal = any(p.determiner == RECIPROCAL for p in predicate.objects)
        symmetric = relation in ontology.relations.symmetric
        if reciprocal and not symmetric:
            return  # "stacked on top of each other" leaves the order open
        if reciprocal or (not predicate.objects and symmetric):
            pairs = [(u, v) for n, u in enumerate(subjects) for v in subjects[n + 1 :]]
        else:
            pairs = [(u, v) for u in subjects for v in objects]
        within = ontology.relations.within
        if len(subjects) > 1 and len(objects) > 1:
            # "The squares in A and B": each square is in one of them.
            things = self.of.things
            known: list[tuple[int, int]] = []
            if relation in within:
                known = [(u, v) for u, v in pairs if things[u].container == v]
            elif ontology.relations.converse.get(relation) in within:
                known = [(u, v) for u, v in pairs if things[v].container == u]
            pairs = known or pairs
        start = clause.start if clause is not None else predicate.start
        end = clause.end if clause is not None else predicate.end
        if relation in ontology.lexicon.grouped:
            # "Between A and B": the relation is to an extra thing that spans A and B.
            whole = self.of.hull(objects)
            spans = ontology.lexicon.grouped[relation]
            if whole is not None and subjects:
                found = [(whole, spans, n) for n in objects] + [
                    (u, relation, whole) for u in subjects
                ]
                self.statements += [Edge(*t, start, end - 1, confidence) for t in found]
            return
        said = relation
        if ontology.relations.converse.get(relation) in within and self._aside(predicate):
            pairs = [(u, v) for u, v in pairs if self.of.is_container(u)]
        for u, v in pairs:
            relation = self.of.relation_to(said, v)
            if not self.narrating:  # words are used more loosely in reasoning than in a scene
                relation = ontology.lexicon.loosely.get(relation, relation)
            if relation in within and self.of.is_container(v):
                self.of.locate(u, v)
            elif ontology.relations.converse.get(relation) in within and self.of.is_container(u):
                self.of.locate(v, u)
            self.statements.append(Edge(u, relation, v, start, end - 1, confidence))

    def _aside(self, predicate: Predicate) -> bool:
        """Whether "has" refers to things beside a thing: "X has Y above it"."""
        return any(
            other.determiner == PRONOUN and clause.relation not in self.of.ontology.relations.within
            for phrase in predicate.objects
            for clause in phrase.clauses
            for other in clause.objects
        )

    # Finding ----------------------------------------------------------------------------

    def _find(self, phrase: Phrase, uses: Sequence[_Use]) -> None:
        """Find or introduce the things of a phrase. If its relative clauses are new information,
        add them as statements.
        """
        if phrase.start in self.found:
            return
        numbers, confidence, stated = self._looked_up(phrase, uses)
        self.found[phrase.start] = (numbers, confidence)
        converse = self.of.ontology.relations.converse
        for inner in phrase.clauses:
            if not stated or self.denied:
                continue
            self.heads += numbers
            self.nested += 1
            for other in inner.objects:
                holds = inner.relation in self.of.ontology.relations.within
                self._find(other, [_Use(converse.get(inner.relation, ""), (), numbers, holds)])
            self.nested -= 1
            self.heads = self.heads[: len(self.heads) - len(numbers)]
            objects = self._things(inner.objects)
            self.inner += objects
            self._state(numbers, inner, objects, confidence * self._confidence(inner.objects))

    def _looked_up(
        self, phrase: Phrase, uses: Sequence[_Use]
    ) -> tuple[tuple[int, ...], float, bool]:
        """The things of a phrase, the confidence in them, and whether its relative clauses are new
        information.
        """
        discourse = self.of
        determiner = phrase.determiner
        if determiner in (RECIPROCAL, NONE) or (not self.narrating and self._is_vague(phrase)):
            return (), 1.0, False
        pointing = determiner == DEFINITE and phrase.kind in discourse.ontology.lexicon.container
        if pointing and (phrase.names or phrase.clauses or phrase.number or phrase.plural):
            pointing = False
        if determiner in (PRONOUN, DEMONSTRATIVE) or pointing:
            numbers, confidence = self._referred(phrase, uses)
            if determiner == PRONOUN and not self.heads:
                self.continued += numbers
            if numbers or not phrase.kind:
                return numbers, confidence, False
        if phrase.names:
            if not self.narrating and self._is_abstract(phrase):
                return (), 1.0, False  # "the scene A"
            return (*self._named(phrase), True)
        place = self._place(phrase, uses)
        if determiner in (INDEFINITE, ADDITIVE) and (self.narrating or determiner == ADDITIVE):
            if not self.narrating and self._is_abstract(phrase):
                return (), 1.0, False
            count = max(1, phrase.count)
            known = self._counted(phrase) if count > 1 and place is None else ()
            if known:
                return known, _COUNTED, False
            made = tuple(
                discourse.introduce(phrase, place, determiner == ADDITIVE and count == 1)
                for _ in range(count)
            )
            return made, 1.0, True
        fits = [n for n in range(len(discourse.things)) if discourse.fits(phrase, n)]
        loosely = [n for n in range(len(discourse.things)) if discourse.may_fit(phrase, n)]
        if not self.narrating:
            # "Another is medium and blue": in its own block, this is the medium blue circle, even
            # if there are circles elsewhere.
            block = place if place is not None else discourse.container
            local = [
                n for n in loosely if block is not None and discourse.things[n].container == block
            ]
            if local and not any(discourse.things[n].container == block for n in fits):
                fits = local
        fits = fits or loosely
        if not self.narrating and not fits and self._is_abstract(phrase):
            return (), 1.0, False
        if phrase.clauses:
            fits = [n for n in fits if n not in self._partners(uses)] or fits
        if determiner == OTHER:
            spoken = [n for n in discourse.salient if n in fits][:1]
            fits = [n for n in fits if n not in (*self._mentioned(), *spoken)] or fits
        if determiner == PARTITIVE and self.narrating:
            told = {
                n
                for u, r, v in discourse.said
                for n in (u, v)
                if r in discourse.ontology.relations.displacement
            }
            fits = [n for n in fits if n not in told][:1] or fits
        loose = determiner == BARE and not phrase.clauses
        if self.narrating and discourse.ontology.lexicon.situated and loose:
            # Blocks are described one after the other, so things outside this one have not been
            # mentioned.
            here = (place if place is not None else discourse.container, None)
            fits = [n for n in fits if discourse.things[n].container in here]
        met = discourse.satisfying(phrase, fits) if phrase.clauses else fits
        # In reasoning, a relative clause is a claim about the thing.
        stated = bool(phrase.clauses) and not (met and self.narrating)
        if not self.narrating and not met and phrase.plural and not phrase.count:
            return (), 1.0, False  # they are distinguished only by "which ones"
        chosen, confidence = self._chosen(phrase, met or fits, place, uses)
        if not chosen:
            count = max(1, phrase.count) if not phrase.number else 1
            made = tuple(discourse.introduce(phrase, place) for _ in range(count))
            return made, 1.0, True
        return chosen, confidence, stated

    def _is_vague(self, phrase: Phrase) -> bool:
        """Whether a phrase is about things in general: "objects between them"."""
        several = phrase.determiner in (BARE, INDEFINITE) and not phrase.count
        return phrase.determiner == ANY or (several and self._is_general(phrase))

    def _is_general(self, phrase: Phrase) -> bool:
        """Whether a plural phrase has a noun that may fit everything in the scene."""
        ontology = self.of.ontology
        general = phrase.kind in ontology.lexicon.container or any(
            kind != phrase.kind for kind in ontology.lexicon.covers.get(phrase.kind, ())
        )
        return general and phrase.plural and not phrase.names and not phrase.attributes

    def _is_abstract(self, phrase: Phrase) -> bool:
        """Whether a noun in reasoning is outside the lexicon and does not refer to a thing in the
        scene: "the question", "this relationship".
        """
        covers = self.of.ontology.lexicon.covers
        kinds = {thing.kind for thing in self.of.things if thing.kind}
        return (
            bool(phrase.kind)
            and phrase.kind not in kinds | covers.keys()
            and kinds <= covers.keys()
        )

    def _counted(self, phrase: Phrase) -> tuple[int, ...]:
        """The things that "two squares" refers to, if exactly two squares are known and no place
        for new squares is stated. The result is empty if the phrase introduces new squares.
        """
        discourse = self.of
        here = [
            n
            for n, thing in enumerate(discourse.things)
            if thing.container in (discourse.container, None)
            and thing.sentence < discourse.sentence
            and not discourse.is_container(n)
            and discourse.fits(phrase, n)
        ]
        return tuple(here) if len(here) == phrase.count else ()

    def _mentioned(self) -> set[int]:
        return {n for numbers, _ in self.found.values() for n in numbers}

    def _named(self, phrase: Phrase) -> tuple[tuple[int, ...], float]:
        found: list[int] = []
        for name in phrase.names:
            known = self.of.find_named(name, phrase.kind)
            if known is None:
                known = self.of.introduce(phrase, None, name=name)
                if not phrase.kind:
                    self.of.things[known].kind = self._kind_of_names()
            elif phrase.kind and not self.of.things[known].kind:
                self.of.things[known].kind = phrase.kind
            found.append(known)
        return tuple(found), 1.0

    def _kind_of_names(self) -> str:
        """The kind that all named things have in common; empty if there is none."""
        kinds = {thing.kind for thing in self.of.things if thing.names and thing.kind}
        return kinds.pop() if len(kinds) == 1 else ""

    def _place(self, phrase: Phrase, uses: Sequence[_Use]) -> int | None:
        """The container of a phrase's thing: the stated container, or the container of a thing
        related to it in a relative clause; None if neither is known.
        """
        discourse = self.of
        if phrase.kind in discourse.ontology.lexicon.container:
            return None
        within = discourse.ontology.relations.within
        own = [_Use(clause.relation, clause.objects) for clause in phrase.clauses]
        for use in (*own, *uses):
            if (
                discourse.ontology.lexicon.of_container.get(use.relation, use.relation)
                not in within
            ):
                continue
            self.nested += use in own
            for partner in use.phrases:
                self._find(partner, [_Use("", holds=True)])
            self.nested -= use in own
            for n in (*self._things(use.phrases), *use.things):
                if discourse.is_container(n):
                    self.place = n
                    return n
        tied = [n for use in uses for n in use.things if not discourse.is_container(n)]
        if tied:
            return discourse.things[tied[0]].container
        return None

    def _referred(self, phrase: Phrase, uses: Sequence[_Use]) -> tuple[tuple[int, ...], float]:
        """Resolve "it", "they" or "this block" to the most salient thing that fits."""
        discourse = self.of
        taken = self._partners(uses)
        taken.update(n for use in uses for p in use.phrases for n in self.tied.get(p.start, ()))
        pool = [*reversed(self.heads), *self.subjects]
        if self.nested:
            # In a relative clause, the subject of the sentence is preferred to things mentioned
            # earlier.
            pool += [n for start in sorted(self.found) for n in self.found[start][0]]
        pool += [*discourse.salient, *reversed([*self.subjects, *self.others])]
        pool = [n for n in dict.fromkeys(pool) if n not in taken]
        fits = [n for n in pool if discourse.fits(phrase, n) or discourse.may_fit(phrase, n)]
        if not phrase.kind:
            # Consecutive pronouns have the same antecedent (centering: Grosz, Joshi & Weinstein
            # 1995).
            fits.sort(key=lambda n: (n not in self.heads, n not in discourse.centre))
            fits = self._level(uses, fits)
        if not fits:
            return (), 1.0
        # "As for block A, it ..." names what "it" means.
        sure = 1.0 if phrase.kind or fits[0] == self.topic else _PRONOUN
        if phrase.plural and not phrase.kind:
            # "They" are several things in this sentence or the last, of any kind.
            for group in (self.subjects, discourse.recent):
                several = [n for n in dict.fromkeys(group) if n in fits]
                if len(several) > 1:
                    return tuple(several), sure
            if not self.narrating:
                return (), sure
        if phrase.plural or phrase.count > 1:
            first = discourse.things[fits[0]]
            group = [n for n in fits if discourse.things[n].kind == first.kind]
            return tuple(group[: phrase.count] if phrase.count else group), sure
        return tuple(fits[:1]), sure

    def _partners(self, uses: Sequence[_Use]) -> set[int]:
        """The things that a phrase is related to. The phrase itself cannot refer to any of them."""
        found = {n for use in uses for n in use.things}
        for use in uses:
            for partner in use.phrases:
                found.update(self.found.get(partner.start, ((), 1.0))[0])
        return found

    def _level(self, uses: Sequence[_Use], fits: list[int]) -> list[int]:
        """Narrow a pronoun's possible antecedents: to containers if it contains something,
        otherwise to things like its partner. If none remain, return all the given things.
        """
        discourse = self.of
        within = discourse.ontology.relations.within
        converse = discourse.ontology.relations.converse
        relations = [use.relation for use in uses]
        if any(converse.get(use.relation) in within or use.holds for use in uses):
            wanted = [n for n in fits if discourse.is_container(n)]
        elif any(discourse.ontology.lexicon.of_container.get(r, r) in within for r in relations):
            wanted = fits
        else:
            levels = {discourse.is_container(n) for n in self._partners(uses)}
            ahead = [p for use in uses for p in use.phrases if p.start not in self.found]
            levels.update(p.kind in discourse.ontology.lexicon.container for p in ahead)
            wanted = [n for n in fits if discourse.is_container(n) in levels]
        return wanted or fits

    def _chosen(
        self, phrase: Phrase, fits: Sequence[int], place: int | None, uses: Sequence[_Use]
    ) -> tuple[tuple[int, ...], float]:
        things = self.of.things
        fits = list(fits)
        if phrase.determiner == EVERY:
            return tuple(fits), 1.0
        older = [n for n in fits if things[n].sentence < self.of.sentence]
        if phrase.determiner in (DEFINITE, BARE) and older:
            fits = older
        places: tuple[int | None, ...] = (
            place if place is not None else self.of.container,
            None,
        )
        partners = {things[n].container for n in self._partners(uses)} - {None}
        if not self.narrating and partners:
            places = (*partners,)
        own = _Use("", tuple(p for clause in phrase.clauses for p in clause.objects))
        homes = [n for n in self._partners((*uses, own)) if self.of.is_container(n)]
        if not self.narrating and phrase.plural and len(homes) > 1:
            places = (*homes,)
        here = [n for n in fits if things[n].container in places]
        here = here or self.of.numbered(phrase, fits)
        if phrase.determiner == BOTH or (phrase.plural and phrase.count != 1) or phrase.count > 1:
            return tuple(here[-phrase.count :] if phrase.count else here), 1.0
        if len(here) <= 1:
            return tuple(here), 1.0
        free = [n for n in here if n not in self._mentioned()] or here
        news = [n for n in free if not self._said(n, uses)] or free
        if phrase.determiner == BARE and not phrase.number:
            # Take the latest ones without statements, by number.
            latest = max(things[n].sentence for n in news)
            last = [n for n in news if things[n].sentence == latest]
            return (min(last, key=lambda n: things[n].number),), _AMBIGUOUS
        ranks = {n: rank for rank, n in enumerate(self.of.salient)}
        ranked = sorted(news, key=lambda n: ranks.get(n, len(ranks)))
        return (ranked[0],), 1.0 if len(news) == 1 else _AMBIGUOUS

    def _said(self, number: int, uses: Sequence[_Use]) -> bool:
        """Whether a relation between the given thing and one of its partners was stated before."""
        partners = self._partners(uses)
        between = self.of.between
        return any((number, p) in between or (p, number) in between for p in partners)


def _is_any(phrase: Phrase) -> bool:
    """Whether a negated phrase is meant as "none at all": "it has not a square"."""
    return phrase.determiner in (ANY, INDEFINITE, BARE) and not phrase.names and not phrase.number


_NEW = frozenset((INDEFINITE, ADDITIVE))
"""Determiners that introduce new things."""
