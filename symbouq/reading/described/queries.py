"""Parse questions about described things into queries.

A question asks for the relation between two things, for the truth of a clause, or for the options
or the things of a kind for which a predicate holds. Its noun phrases may be quantified ("all",
"any", "a"). `Scene` resolves the noun phrases and evaluates clauses in Kleene's three-valued logic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from symbouq.ontology.tables import Ontology, Triple
from symbouq.ontology.words import AUXILIARY, PICKING
from symbouq.reading.described.referents import Discourse
from symbouq.reading.described.syntax import (
    BARE,
    BOTH,
    DEFINITE,
    EVERY,
    NONE,
    PRONOUN,
    RECIPROCAL,
    Clause,
    Phrase,
    Predicate,
    Sentence,
)
from symbouq.reading.lexicon import Token

Holds = Callable[[int, str, int], "bool | None"]
"""Function that returns whether a relation between two things is certain (True), impossible (False)
or open (None).
"""


@dataclass(frozen=True)
class Query:
    """A parsed question.

    Attributes:
        pair: The two phrases whose relation the question asks for, the figure first.
        clause: The clause that the question asks about.
        about: The kind of thing to pick: "which block".
        predicates: The predicates that must hold for a thing to be picked.
        options: The things to choose from.
    """

    pair: tuple[Phrase, Phrase] | None = None
    clause: Clause | None = None
    about: Phrase | None = None
    predicates: tuple[Predicate, ...] = ()
    options: tuple[Phrase, ...] = ()


def parsed(ontology: Ontology, tokens: Sequence[Token], names: frozenset[str]) -> Query:
    """Parse a question into a query. If the question cannot be parsed, the query is empty.

    Args:
        ontology: The tables of the profile.
        tokens: The tokens of the question.
        names: Known names, in lower case.
    """
    if not tokens:
        return Query()
    auxiliaries = ontology.words(AUXILIARY)
    first = tokens[0]
    polar = first.kind == "copula" or first.head in auxiliaries
    # Drop "do", so that the question reads like a statement.
    said = [t for t in tokens if t.head not in auxiliaries or t.kind == "negation"]
    sentence = _Question(ontology, said[1:] if first.kind == "copula" else said, names)
    if polar:
        return sentence.polar()
    picking = sentence.picking() if first.head in ontology.words(PICKING) else None
    if picking is not None and picking.about is not None:
        # "What is the relaton between X and Y?" does not pick a "relaton".
        picking = picking if picking.about.kind in ontology.lexicon.covers else None
    return picking or sentence.related()


def phrase(ontology: Ontology, tokens: Sequence[Token], names: frozenset[str]) -> Phrase | None:
    """Parse a text that consists of one noun phrase. Return None for other texts."""
    sentence = Sentence(ontology, tokens, names)
    return next((p for p, end in sentence.phrases(0) if end == len(sentence.tokens)), None)


class _Question(Sentence):
    """Parser for a single question."""

    @property
    def _stop(self) -> int:
        """Position of the question mark, or the end."""
        marks = [n for n in range(len(self.tokens)) if self.kind(n) == "?"]
        return marks[0] if marks else len(self.tokens)

    def polar(self) -> Query:
        """`Is X left of Y?`, `Is there any X that ...?`, `Does X touch Y?`"""
        start = self._skip(0, "existential", ",")
        found = [
            Clause(subjects, predicates, start, last)
            for subjects, end in self.lists(start)
            for predicates, last in [((), end), *self.predicates(end, verbless=True)]
        ]
        # Words left over were not understood, and the question may be about them.
        found = [c for c in found if self._skip(c.end, ",", "?") >= len(self.tokens)]
        if not found or "or" in map(self.kind, range(len(self.tokens))):
            return Query()
        within = self.ontology.relations.within

        def worth(clause: Clause) -> tuple[int, bool, bool, int]:
            """Prefer the longest parse. In "left of the square in A", the question is about "left
            of", not "in A".
            """
            placing = any(p.relation in within for p in clause.predicates)
            length = sum(phrase.end - phrase.start for phrase in clause.subjects)
            return clause.end, bool(clause.predicates), not placing, -length

        return Query(clause=max(found, key=worth))

    def related(self) -> Query:
        """`Where is X relative to Y?`, `What is the relation between X and Y?`"""
        best: tuple[int, Phrase, Phrase, bool] | None = None
        first = self._next_phrase(0)
        if first is None:
            return Query()
        turned = "reference" in [self.kind(n) for n in range(first)]
        for one, end in self.phrases(first):
            second = self._skip(end, ",", "and", "link", "reference", "copula")
            if second == end:
                continue
            for two, last in self.phrases(second):
                if best is None or last > best[0]:
                    best = last, one, two, turned
        if best is None:
            return Query()
        _, one, two, turned = best
        return Query(pair=(two, one) if turned else (one, two))

    def _next_phrase(self, position: int) -> int | None:
        """Return the position of the next noun phrase, preferably with a known noun or name."""
        starts = [n for n in range(position, self._stop) if self.phrases(n)]
        known = [n for n in starts if self._is_known(self.phrases(n)[0][0])]
        return next(iter(known or starts), None)

    def _is_known(self, phrase: Phrase) -> bool:
        covers = self.ontology.lexicon.covers
        return bool(phrase.names or phrase.attributes) or phrase.kind in covers

    def picking(self) -> Query | None:
        """`Which block has X?`, `What is left of X? A or B?`"""
        position = self._skip(0, "relative", "existential")
        about: Phrase | None = None
        core = self._core(position)
        if core is not None and core.kind and core.end < self._stop:
            about, position = core, core.end
        found = [item for item in self.predicates(position) if item[1] <= self._stop]
        if not found:
            return None
        # Options may follow a comma: "left of X, A or B?"
        ends = {",", "?", ""}
        best = min(
            found,
            key=lambda item: (
                self.kind(item[1]) not in ends,
                sum(len(predicate.objects) for predicate in item[0]),
                -item[1],
            ),
        )
        options = self._options(best[1])
        if about is None and not options:
            return None
        if "or" in map(self.kind, range(best[1], len(self.tokens))) and len(options) < 2:
            return Query(about=about)
        return Query(about=about, predicates=best[0], options=options)

    def _options(self, position: int) -> tuple[Phrase, ...]:
        found: list[Phrase] = []
        while (start := self._phrase_at(position)) is not None:
            phrase, position = self.phrases(start)[0]
            found.append(phrase)
        return tuple(found)

    def _phrase_at(self, position: int) -> int | None:
        for n in range(position, len(self.tokens)):
            if self.phrases(n):
                return n
        return None


# Meaning -------------------------------------------------------------------------------


class Value(NamedTuple):
    """A three-valued truth value with the relations that support it.

    Attributes:
        truth: True, False, or None if open.
        support: The relations behind it, as (subject, relation, object).
    """

    truth: bool | None
    support: frozenset[Triple] = frozenset()

    def negated(self) -> Value:
        """Return the negation, with the same support."""
        return self if self.truth is None else Value(not self.truth, self.support)


class Scene:
    """The things in a text, and the truth of statements about them.

    Args:
        discourse: The things.
        holds: Function that returns whether a relation is certain (True), impossible (False) or
            open (None).
    """

    def __init__(self, discourse: Discourse, holds: Holds) -> None:
        self.discourse = discourse
        self._holds = holds

    def related(self, subject: int, relation: str, object: int) -> Value:
        """Whether a relation holds between two things."""
        truth = self._holds(subject, relation, object)
        return Value(truth, frozenset([(subject, relation, object)] if truth is not None else ()))

    def picked(self, phrase: Phrase, holder: int | None = None) -> dict[int, Value]:
        """Return the things that a phrase refers to: those for which its relative clauses hold. If
        there are none, return those for which the clauses may hold.

        Args:
            phrase: The phrase.
            holder: Antecedent of "it" in a relative clause: "block A with a square in it".
        """
        discourse = self.discourse
        numbers = range(len(discourse))
        fits = [n for n in numbers if discourse.fits(phrase, n)]
        fits = fits or [n for n in numbers if discourse.may_fit(phrase, n)]
        found: dict[int, Value] = {}
        for n in discourse.numbered(phrase, fits):
            value = all_of(
                [self.predicated(n, clause, holder, wide=True) for clause in phrase.clauses]
            )
            if value.truth is not False or phrase.names:
                found[n] = value
        sure = {n: value for n, value in found.items() if value.truth} or found
        if phrase.determiner in _SINGLE and len(sure) > 1:
            # "The square in A" is the one stated to be in A, not one that is in A only through
            # another thing.
            said = discourse.satisfying(phrase, sure)
            sure = {n: sure[n] for n in said} or sure
        return sure

    def couples(self, first: Phrase, second: Phrase) -> list[tuple[int, int]]:
        """Return the pairs of things that two phrases refer to. Unless a phrase is plural, there is
        only one pair.
        """
        found = [(u, v) for u in self.picked(first) for v in self.picked(second) if u != v]
        if not found or first.plural or second.plural:
            keep = found if first.plural else [c for c in found if c[0] == found[0][0]]
            return keep if second.plural else [c for c in keep if c[1] == found[0][1]]
        near = [c for c in found if self._together(*c)]
        return (near or found)[:1]

    def _together(self, first: int, second: int) -> bool:
        things = self.discourse.things
        return things[first].container == things[second].container

    def predicated(
        self, number: int, predicate: Predicate, holder: int | None = None, wide: bool = False
    ) -> Value:
        """Whether a predicate holds for a thing."""

        def related(other: int) -> Value:
            return self._asked(number, predicate.relation, other, wide)

        if predicate.relation in self.discourse.ontology.lexicon.grouped:
            value = self._between(number, predicate)
            return value.negated() if predicate.negated else value
        values: list[Value] = []
        if predicate.attributes:
            has = self.discourse.things[number].attributes
            values += [Value(has.get(d) == value) for d, value in predicate.attributes]
        for phrase in predicate.objects:
            # "It has a square inside of it" states one relation twice.
            clauses = [c for c in phrase.clauses if not self._repeats(c, predicate)]
            phrase = replace(phrase, clauses=tuple(clauses))
            if phrase.determiner == PRONOUN:
                values += [related(holder)] if holder is not None else []
            else:
                values.append(self._over(phrase, related, number))
        value = all_of(values) if values else Value(None)
        return value.negated() if predicate.negated else value

    def _between(self, number: int, predicate: Predicate) -> Value:
        """Whether a thing lies between two others, that is, whether they are on opposite sides of
        it.
        """
        moves = self.discourse.ontology.relations.displacement
        straight = [relation for relation, count in moves.items() if count == 1]
        sides = [list(self.picked(phrase)) for phrase in predicate.objects]
        first, last = sides[0], sides[-1]
        return any_of(
            [
                all_of([self.related(u, relation, number), self.related(number, relation, v)])
                for relation in straight
                for u in first
                for v in last
                if len({u, v, number}) == 3
            ]
        )

    def _repeats(self, clause: Predicate, predicate: Predicate) -> bool:
        """Whether a relative clause about "it" only repeats the predicate."""
        pronouns = [phrase.determiner == PRONOUN for phrase in clause.objects]
        converse = self.discourse.ontology.relations.converse.get(clause.relation)
        return converse == predicate.relation and bool(pronouns) and all(pronouns)

    def _asked(self, subject: int, relation: str, object: int, wide: bool = False) -> Value:
        if subject == object:
            return Value(False)
        relation = self.discourse.relation_to(relation, object)
        if wide:
            relation = self.discourse.ontology.lexicon.loosely.get(relation, relation)
        return self.related(subject, relation, object)

    def chosen(self, number: int, predicates: Sequence[Predicate], complete: bool = True) -> Value:
        """Whether a thing satisfies the predicates, so that it is part of the answer.

        Args:
            number: The thing.
            predicates: The predicates.
            complete: Whether unstated relations count as false. A question that asks for things
                assumes that the text states everything.
        """
        values: list[Value] = []
        for predicate in predicates:
            value = self.predicated(number, replace(predicate, negated=False))
            sure = value if value.truth or not complete else Value(False)
            values.append(sure.negated() if predicate.negated else sure)
        return all_of(values)

    def holding(self, clause: Clause) -> Value:
        """Whether a clause holds. A clause without predicates states that its things exist."""
        objects = [o for p in clause.predicates for o in p.objects]
        if any(phrase.determiner == RECIPROCAL for phrase in objects):
            return self._mutual(clause)

        def test(number: int) -> Value:
            return all_of([self.predicated(number, p) for p in clause.predicates])

        return all_of([self._over(phrase, test, None) for phrase in clause.subjects])

    def _mutual(self, clause: Clause) -> Value:
        things = [n for phrase in clause.subjects for n in self.picked(phrase)]
        pairs = [(u, v) for n, u in enumerate(things) for v in things[n + 1 :]]
        return all_of(
            [
                value.negated() if p.negated else value
                for p in clause.predicates
                for u, v in pairs
                for value in [self._asked(u, p.relation, v)]
            ]
        )

    def _over(self, phrase: Phrase, test: Callable[[int], Value], excluded: int | None) -> Value:
        """Apply a test to the things of a phrase according to the phrase's quantifier. "All"
        includes the thing itself, so nothing is left of all things.
        """
        meant = self.picked(phrase, excluded)
        if phrase.determiner in (EVERY, BOTH):
            if not meant:
                return Value(False)
            return all_of([all_of([value, test(n)]) for n, value in meant.items()])
        if not meant and phrase.determiner in _SINGLE:
            return Value(None)  # there is no such thing to judge
        found = any_of([all_of([value, test(n)]) for n, value in meant.items() if n != excluded])
        return found.negated() if phrase.determiner == NONE else found


_SINGLE = frozenset((DEFINITE, BARE))


def all_of(values: Sequence[Value]) -> Value:
    """Return the conjunction in Kleene's logic."""
    for value in values:
        if value.truth is False:
            return value
    if any(value.truth is None for value in values):
        return Value(None)
    return Value(True, frozenset().union(*(value.support for value in values)))


def any_of(values: Sequence[Value]) -> Value:
    """Return the disjunction in Kleene's logic."""
    return all_of([value.negated() for value in values]).negated()
