"""Parse sentences into clauses over noun phrases.

A clause is a subject with predicates, and a predicate is a relation with its objects. Subject and
objects are noun phrases, which may contain clauses ("the square which is above it"). The grammar is
a recursive descent over lexical items. If there are several parses, the one with the fewest skipped
words is chosen. The grammar covers both orders ("below X is Y"), coordinated phrases, relations and
clauses, a ground that two clauses share ("X is covered by and Y is in Z"), reduced relative clauses
("the square in block A") and naming ("three blocks, called A, B and C").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from symbouq.ontology.tables import Ontology
from symbouq.ontology.words import PARTICIPLE
from symbouq.reading.bounds import LONGEST_SENTENCE
from symbouq.reading.lexicon import LexicalEntry, Token

DEFINITE, DEMONSTRATIVE, INDEFINITE, ADDITIVE = (
    "definite",
    "demonstrative",
    "indefinite",
    "additive",
)
EVERY, ANY, BOTH, NONE, BARE = "every", "any", "both", "none", "bare"
PRONOUN, RECIPROCAL, OTHER = "pronoun", "reciprocal", "other"
PARTITIVE = "partitive"

_DETERMINERS = (DEFINITE, DEMONSTRATIVE, INDEFINITE, ADDITIVE, EVERY, ANY, BOTH)


@dataclass(frozen=True)
class Predicate:
    """A relation with its objects, or attributes: "is big and yellow".

    Attributes:
        relation: The canonical relation; empty for attributes.
        objects: Noun phrases for its objects, if any.
        negated: Whether it is denied.
        start: Position of its first token.
        end: Position after its last token.
        attributes: Each attribute's dimension and value.
    """

    relation: str
    objects: tuple[Phrase, ...]
    negated: bool
    start: int
    end: int
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Phrase:
    """A noun phrase.

    Attributes:
        determiner: `definite`, `demonstrative`, `indefinite`, `additive` ("another"), `other` ("the
            other"), `partitive` ("one of the"), `every`, `any`, `both`, `none`, `bare`, `pronoun`
            or `reciprocal`.
        start: Position of its first token.
        end: Position after its last token.
        kind: The kind of thing given by its noun; empty without a noun.
        attributes: Each adjective's dimension and value.
        plural: Whether it is plural.
        count: The stated number of things; 0 if not stated.
        number: The thing's number among similar things; 0 if not stated.
        names: Its names.
        given: Whether the phrase introduces these names for its things ("called A").
        clauses: The predicates in its relative clauses.
    """

    determiner: str
    start: int
    end: int
    kind: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    plural: bool = False
    count: int = 0
    number: int = 0
    names: tuple[str, ...] = ()
    given: bool = False
    clauses: tuple[Predicate, ...] = ()


@dataclass(frozen=True)
class Clause:
    """A subject with predicates. A clause without predicates states that the subject exists.

    Attributes:
        subjects: Its subjects.
        predicates: Its predicates.
        start: Position of its first token.
        end: Position after its last token.
        strained: Whether its grammar is doubtful: "there is X is below Y".
    """

    subjects: tuple[Phrase, ...]
    predicates: tuple[Predicate, ...]
    start: int
    end: int
    strained: bool = False


@dataclass(frozen=True)
class Naming:
    """Names given to things mentioned before: "we call them A and B"."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Topic:
    """The topic of the following text, "Block A: ...", or a thing to which the text turns its
    attention: "I looked at block A".

    Attributes:
        phrase: The thing.
        heading: Whether it is a heading.
    """

    phrase: Phrase
    heading: bool = True


@dataclass(frozen=True)
class Parse:
    """A parsed sentence.

    Attributes:
        clauses: Its clauses, namings and topics, in order.
        skipped: Number of words that were not understood.
        whole: Whether the clauses cover the whole sentence.
        tokens: The tokens that positions refer to.
    """

    clauses: tuple[Clause | Naming | Topic, ...]
    skipped: int
    whole: bool
    tokens: tuple[Token, ...]


class _Related(NamedTuple):
    """A relation without its object, and whether it can be used without one: `on the left`,
    `touching the bottom edge`.
    """

    relation: str
    negated: bool
    start: int
    end: int
    verb: bool
    alone: bool


_SILENT = frozenset(
    (
        *("filler", "clock", "hour", "clockless", "citation", "modal", "answer", "former"),
        *("inference", "reason", "abbreviation", "gloss", "clipping", "numero"),
    )
)
_JOINING = ("and", "contrast")
"""Words that join clauses; only "and" joins noun phrases."""
_OF_WHICH = frozenset((DEFINITE, DEMONSTRATIVE))
_BEFORE_PREDICATE = frozenset(
    ("copula", "'s", "negation", "stating", "existential", "both", "every", ":", "reflexive")
)
_CLOSING = frozenset(("and", "contrast", ",", ";", "?", ""))
_BEFORE_RELATION = frozenset(
    ("copula", "negation", "relative", "by", "link", "and", "contrast", ",", "definite")
)
_ALTERNATIVES = 12
"""Maximum number of readings for a phrase."""


class Grammar:
    """Parser for sentences, with the tables of one profile.

    Args:
        ontology: The tables. They contain the kinds of things and containers, and the combinations
            of directions.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology

    def parse(
        self, tokens: Sequence[Token], names: frozenset[str] = frozenset(), naming: bool = True
    ) -> Parse:
        """Parse a sentence into clauses.

        Args:
            tokens: Its tokens.
            names: Known names, in lower case.
            naming: Whether unknown capitalized words are names.
        """
        if len(tokens) > LONGEST_SENTENCE:
            return Parse((), len(tokens), False, tuple(tokens))
        return Sentence(self.ontology, tokens, names, naming).parse()

    def phrases(self, tokens: Sequence[Token], names: frozenset[str] = frozenset()) -> list[Phrase]:
        """Return the noun phrases in a text that is not a sentence, such as a heading."""
        sentence = Sentence(self.ontology, tokens, names, naming=False)
        found: list[Phrase] = []
        position = 0
        while position < len(sentence.tokens):
            fits = sentence.phrases(position)
            if fits:
                found.append(fits[0][0])
            position = fits[0][1] if fits else position + 1
        return found


class Sentence:
    """Parser of one sentence.

    Args:
        ontology: As in `Grammar`.
        tokens: The tokens.
        names: Known names, in lower case.
        naming: Whether unknown capitalized words are names.
    """

    def __init__(
        self,
        ontology: Ontology,
        tokens: Sequence[Token],
        names: frozenset[str],
        naming: bool = True,
    ) -> None:
        self.ontology = ontology
        self.names = names
        self.naming = naming
        self._participles = ontology.words(PARTICIPLE)
        said = _without_asides(_observed(list(self._said(tokens))))
        self.tokens = self._without_brackets([*self._without_epithets(said)])
        self._phrases: dict[int, list[tuple[Phrase, int]]] = {}
        self._lists: dict[tuple[int, bool], list[tuple[tuple[Phrase, ...], int]]] = {}
        self._clauses: dict[int, list[tuple[Clause, int]]] = {}

    def _without_brackets(self, tokens: Sequence[Token]) -> list[Token]:
        """Remove unclosed brackets, and bracketed words without a relation, such as synonyms. Move
        a bracketed sentence to the end: "X (it is in A) is above Y".
        """
        kept: list[Token] = []
        apart: list[Token] = []
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.text == "(":
                ends = (n for n in range(position, len(tokens)) if tokens[n].text == ")")
                end = next(ends, None)
                inner = tokens[position + 1 : end] if end is not None else ()
                if end is not None:
                    if 1 <= len(inner) <= 2 and self._holds(kept[-1:]):
                        kept.append(inner[-1])  # "the same block (A)"
                    elif self._relates(inner):
                        first = next(t.kind for t in inner if t.kind not in _BEFORE_RELATION)
                        if first == "relation":
                            kept += tokens[position : end + 1]
                        else:
                            apart += [tokens[end]._replace(text=";"), *inner]
                    position = end + 1
                    continue
            elif token.text != ")":
                kept.append(token)
            position += 1
        return kept + apart

    def _without_epithets(self, tokens: Sequence[Token]) -> Iterator[Token]:
        """Remove a side that is only part of a container's name: "in the HIGHER block B"."""
        for before, token, after in zip((None, *tokens), tokens, (*tokens[1:], None), strict=False):
            entry = token.entry if token.kind == "relation" else None
            called = entry is not None and entry.relation in self.ontology.relations.displacement
            called = called and before is not None and before.kind == "definite"
            if not (called and after is not None and self._holds([after])):
                yield token

    def _holds(self, tokens: Sequence[Token]) -> bool:
        nouns = [token.entry.value for token in tokens if token.entry is not None]
        return not self.ontology.lexicon.container.isdisjoint(nouns)

    def _relates(self, tokens: Sequence[Token]) -> bool:
        """Whether the tokens contain a relation that has an object or needs none."""
        spots = [n for n, token in enumerate(tokens) if token.kind == "relation"]
        if not spots:
            return False
        entry = tokens[spots[-1]].entry
        assert entry is not None  # only lexicon entries are relations
        edges = self.ontology.lexicon.of_container.values()
        return entry.relation in edges or any(
            token.kind not in _BEFORE_RELATION | {"relation"} for token in tokens[spots[0] :]
        )

    def _said(self, tokens: Sequence[Token]) -> Iterator[Token]:
        """The relevant tokens. Hours on a clock face are replaced by directions."""
        position = 0
        while position < len(tokens):
            token = tokens[position]
            position += 1
            if token.kind in ("number", "numeral"):
                last = position
                if [t.text for t in tokens[position : position + 2]] == [":", "00"]:
                    last = position + 2
                end = last
                while end < len(tokens) and tokens[end].kind == "hour":
                    end += 1
                hour = token.entry.value if token.entry is not None else token.text
                # A number with many digits is not an hour, and Python refuses to convert thousands
                # of digits.
                relation = self.ontology.lexicon.clock.get(int(hour)) if len(hour) <= 2 else None
                if relation is not None and end > position:
                    entry = LexicalEntry("relation", relation, place=True)
                    yield token._replace(kind="relation", end=tokens[end - 1].end, entry=entry)
                    position = end
                    continue
            if not self._silent(token):
                yield token

    @staticmethod
    def _silent(token: Token) -> bool:
        if token.kind == "mark":
            return token.text not in (",", "?", "'s", ";", ":", "#", "(", ")")
        return token.kind in _SILENT or (
            token.kind == "content" and token.head.endswith("ly") and token.text == token.head
        )

    # Tokens --------------------------------------------------------------------------

    def kind(self, position: int) -> str:
        """Return a token's kind. For a mark, return its text; past the end, return ""."""
        if not 0 <= position < len(self.tokens):
            return ""
        token = self.tokens[position]
        return token.text if token.kind == "mark" else token.kind

    def _text(self, position: int) -> str:
        return self.tokens[position].text if position < len(self.tokens) else ""

    def _value(self, position: int) -> str:
        entry = self.tokens[position].entry
        return entry.value if entry is not None else ""

    def _skip(self, position: int, *kinds: str) -> int:
        while self.kind(position) in kinds:
            position += 1
        return position

    # Sentences -----------------------------------------------------------------------

    def parse(self) -> Parse:
        """Return all clauses, from left to right. Words that do not fit into any clause are
        skipped.
        """
        found: list[Clause | Naming | Topic] = []
        skipped = 0
        whole = True
        position = 0
        while position < len(self.tokens):
            taken = self._naming(position) or self._best(position) or self._topic(position)
            if taken is None and not self.naming and self.phrases(position):
                found.append(Topic(self.phrases(position)[0][0], heading=False))
            if taken is None:
                skipped += self.kind(position) == "content"
                whole = whole and self.kind(position) in (",", *_JOINING, "?")
                position += 1
                continue
            clauses, position = taken
            found += clauses
        return Parse(tuple(found), skipped, whole, tuple(self.tokens))

    def _best(self, position: int) -> tuple[list[Clause | Naming | Topic], int] | None:
        best: tuple[list[Clause], int] | None = None
        worth = (0, 0)
        for chain, end in self._chains(position):
            strain = sum(clause.strained for clause in chain)
            if best is None or (end, -strain) > worth:
                best, worth = (chain, end), (end, -strain)
            if end >= len(self.tokens) and not strain:
                break
        if best is None:
            return None
        return list(self._sharing(best[0])), best[1]

    def _chains(self, position: int, depth: int = 0) -> Iterator[tuple[list[Clause], int]]:
        for clause, end in self.clauses(position):
            follows = self._skip(end, ",", ";", *_JOINING, "relative", "link")
            if follows > end and depth < 6:
                for rest, last in self._chains(follows, depth + 1):
                    yield [clause, *rest], last
            yield [clause], end

    def _sharing(self, clauses: Sequence[Clause]) -> Iterator[Clause]:
        """If a clause has no ground, use the ground of a later clause: "X is covered by and Y is in
        Z". No ground is needed for an edge, since it belongs to the container of the thing.
        """
        edges = self.ontology.lexicon.of_container.values()
        for n, clause in enumerate(clauses):
            objects: tuple[Phrase, ...] = ()
            for later in clauses[n + 1 :]:
                objects = next((p.objects for p in later.predicates if p.objects), ())
                if objects:
                    break
            predicates = tuple(
                replace(p, objects=objects)
                if objects and not p.objects and not p.attributes and p.relation not in edges
                else p
                for p in clause.predicates
            )
            yield replace(clause, predicates=predicates)

    def _naming(self, position: int) -> tuple[list[Clause | Naming | Topic], int] | None:
        """`we call them A, B and C`."""
        if self.kind(position) != "naming" or self.kind(position + 1) != "pronoun":
            return None
        names, end = self._names(position + 2)
        return ([Naming(names)], end) if names else None

    def _topic(self, position: int) -> tuple[list[Clause | Naming | Topic], int] | None:
        """`Block A: ...`, `As for block A, ...`"""
        marks = (":", ",") if self.kind(position) == "topical" else (":",)
        for phrase, end in self.phrases(position + len(marks) - 1):
            if self.kind(end) in marks:
                return [Topic(phrase)], end + 1
        return None

    # Clauses -------------------------------------------------------------------------

    def clauses(self, position: int) -> list[tuple[Clause, int]]:
        """Return the clauses that may begin at a position, the most preferred first."""
        if position not in self._clauses:
            self._clauses[position] = []  # a clause cannot begin with itself
            found = [
                *self._existential(position),
                *self._inverted(position),
                *self._direct(position),
                *self._placed(position),
                *self._identity(position),
                *self._relationship(position),
                *self._fragment(position),
            ]
            found.sort(key=_preference)
            self._clauses[position] = found[: 2 * _ALTERNATIVES]
        return self._clauses[position]

    def _existential(self, position: int) -> Iterator[tuple[Clause, int]]:
        """`there is X`, `we have X`, optionally with predicates of X."""
        start = position
        position = self._skip(position, *_JOINING, ",", "link", "negation")
        if self.kind(position) != "existential":
            return
        position = self._skip(position + 1, ",")
        for listed, end in self.lists(position):
            subjects = tuple(map(_introduced, listed))
            yield Clause(subjects, (), start, end), end
            strained = self.kind(self._skip(end, ",")) == "copula"
            for predicates, last in self.predicates(end, verbless=True):
                yield Clause(subjects, predicates, start, last, strained), last

    def _inverted(self, position: int) -> Iterator[tuple[Clause, int]]:
        """`below X is Y`, `below X there is Y`."""
        for relations, middle in self._relations(position):
            for objects, end in self.lists(middle):
                verb = self._skip(end, ",")
                after = self._skip(verb, "copula", "existential", "stating", ":")
                if after == verb:
                    continue
                for subjects, last in self.lists(self._skip(after, ",")):
                    predicates = tuple(
                        Predicate(r.relation, objects, r.negated, r.start, last) for r in relations
                    )
                    yield Clause(subjects, predicates, position, last), last
                    for more, stop in self.predicates(last):
                        # "In A there is X is left of Y"
                        yield Clause(subjects, (*predicates, *more), position, stop, True), stop

    def _direct(self, position: int) -> Iterator[tuple[Clause, int]]:
        """`X is below Y`, `X touches Y and covers Z`."""
        for subjects, end in self.lists(position):
            bare = self._relation(end, False)
            strained = bare is not None and not bare.verb
            for predicates, last in self.predicates(end):
                level = [self._on_a_level(s, p) for s in subjects for p in predicates]
                if not all(level) and (level[0] or strained):
                    continue  # "A has a star above a circle, left of a square"
                yield Clause(subjects, predicates, position, last, strained), last
            verb = self._skip(end, "copula")
            if self.kind(verb) == "stating":
                yield Clause(subjects, (), position, verb + 1), verb + 1
                for predicates, last in self.predicates(verb + 1, verbless=True):
                    yield Clause(subjects, predicates, position, last), last

    def _placed(self, position: int) -> Iterator[tuple[Clause, int]]:
        """`in block A, X is below Y`: X is in A, too."""
        for relations, middle in self._relations(position):
            if relations[-1].relation not in self.ontology.relations.within:
                continue
            for places, end in self.lists(middle):
                if self.kind(end) != ",":
                    continue
                head = tuple(Predicate(r.relation, places, False, r.start, end) for r in relations)
                for clause, last in self._direct(end + 1):
                    predicates = (*head, *clause.predicates)
                    yield Clause(clause.subjects, predicates, position, last, clause.strained), last

    def _identity(self, position: int) -> Iterator[tuple[Clause, int]]:
        """`X is the square above Y`, `the square above Y is X`: both mean that X is above Y."""
        for one, end in self.phrases(position):
            verb = self._skip(end, "copula")
            if verb == end or one.determiner == DEMONSTRATIVE:
                continue
            for other, last in self.phrases(verb):
                if other.determiner == BARE and not other.kind and not other.names:
                    continue  # "is small"
                if one.clauses and other.determiner != PRONOUN:
                    yield Clause((other,), one.clauses, position, last), last
                elif other.clauses and not one.clauses:
                    yield Clause((one,), other.clauses, position, last), last

    def _relationship(self, position: int) -> Iterator[tuple[Clause, int]]:
        """`the relationship between X and Y is "near"`: X is near Y."""
        noun = self._skip(position, "definite")
        between = self.tokens[noun + 1].entry if self.kind(noun + 1) == "relation" else None
        if self.kind(noun) != "relating" or between is None:
            return
        if between.relation not in self.ontology.lexicon.grouped:
            return
        for pair, end in self.lists(noun + 2):
            verb = self._skip(end, "copula", ":", ",")
            found = self._relations(verb) if verb > end and len(pair) == 2 else []
            for relations, last in found:
                if relations[0].start > verb:
                    continue  # "is left in A"
                predicates = tuple(
                    Predicate(r.relation, pair[1:], r.negated, r.start, last) for r in relations
                )
                yield Clause(pair[:1], predicates, position, last), last

    def _fragment(self, position: int) -> Iterator[tuple[Clause, int]]:
        """A line in a list: `Contains X`, about the topic of the list, or `X near Y`, where "near
        Y" identifies X.
        """
        first = self._relation(position, False) if position == 0 else None
        if first is not None and first.verb:
            about = Phrase(PRONOUN, -1, -1)
            for predicates, last in self.predicates(position):
                yield Clause((about,), predicates, position, last), last
        for subjects, last in self.lists(position):
            if last == len(self.tokens) and (position == 0 or subjects[0].clauses):
                yield Clause(subjects, (), position, last, strained=True), last

    def predicates(
        self, position: int, verbless: bool = False, single: bool = False
    ) -> list[tuple[tuple[Predicate, ...], int]]:
        """Return the predicates that may follow a subject.

        Args:
            position: Start of the predicates.
            verbless: Whether they have no verb. There may be a comma before them.
            single: Whether they end at a comma, as in a relative clause.
        """
        found: list[tuple[tuple[Predicate, ...], int]] = []
        if verbless:
            position = self._skip(position, ",")
        denied = False
        begin = position
        while self.kind(begin) in _BEFORE_PREDICATE:
            denied = denied or self.kind(begin) == "negation"
            begin += 1
            if self.kind(begin - 1) == "stating":
                begin = self._skip(begin, ",")  # "it is present, near Y"
        if begin > position and self.kind(begin) == "content" and self._relation(begin + 1, False):
            begin += 1  # "is floating above"
        if begin > position and self.kind(begin) == "attribute":
            found += self._ascribed(position, begin, denied, single)
        for relations, middle in self._relations(begin, denied):
            groups = self.lists(middle, commas=not single)
            if any(self.kind(n) == "possessive" for n in range(begin, middle)):
                groups = [((Phrase(PRONOUN, middle - 1, middle),), middle)]
            for objects, end in groups:
                head = tuple(
                    Predicate(r.relation, objects, r.negated, r.start, end) for r in relations
                )
                commas = () if single else (",",)
                follows = self._skip(end, *commas, *_JOINING)
                if follows > end:
                    for rest, last in self.predicates(follows, single=single):
                        found.append(((*head, *rest), last))
                found.append((head, end))
            alone = all(r.alone for r in relations) and self.kind(middle) in (")", *_CLOSING)
            if alone if single else self.kind(middle) in _CLOSING:
                # The ground follows in the next clause, or is understood.
                head = tuple(
                    Predicate(r.relation, (), r.negated, r.start, middle) for r in relations
                )
                found.append((head, middle))
        found.sort(key=lambda item: -item[1])
        return found[:_ALTERNATIVES]

    def _ascribed(
        self, start: int, position: int, denied: bool, single: bool
    ) -> Iterator[tuple[tuple[Predicate, ...], int]]:
        """`is big and yellow`, optionally with further predicates."""
        attributes: list[tuple[str, str]] = []
        end = position
        while self.kind(position) == "attribute":
            dimension, _, value = self._value(position).partition(":")
            attributes.append((dimension, value))
            end = position + 1
            position = self._skip(end, ",", "and")
        if self.kind(end) == "noun":
            return  # "is a big square" is an identity
        head = Predicate("", (), denied, start, end, tuple(attributes))
        yield (head,), end
        follows = self._skip(end, ",", *_JOINING, "relative")
        if follows > end:
            for rest, last in self.predicates(follows, single=single):
                yield (head, *rest), last

    # Relations -----------------------------------------------------------------------

    def _relations(
        self, position: int, denied: bool = False
    ) -> list[tuple[tuple[_Related, ...], int]]:
        """The relations that share an object, `below and to the left of`, longest first."""
        first = self._relation(position, denied)
        if first is None:
            return []
        found: list[tuple[tuple[_Related, ...], int]] = [((first,), first.end)]
        while True:
            relations, end = found[-1]
            # "far above" and "far and above" mean the same.
            follows = self._skip(self._skip(end, ",", *_JOINING), "copula")
            another = self._relation(follows, denied)
            if another is None:
                break
            if follows == end and another.relation in self.ontology.relations.within:
                relations = ()  # "far to the left within A": in A
            found.append(((*relations, another), another.end))
        found.reverse()
        return found

    def _relation(self, position: int, denied: bool) -> _Related | None:
        """A single relation: `to the left of`, `touching`, `not far from`."""
        start = position
        while self.kind(position) == "negation":
            denied, position = True, position + 1
        spot = position
        while self._leads(spot):
            spot += 1
        if self.kind(spot) == "possessive" and spot > position:
            spot += 1  # "to its left"
        if self.kind(spot) != "relation":
            return None
        entry = self.tokens[spot].entry
        assert entry is not None  # only lexicon entries are relations
        relation = entry.relation
        end = spot + 1
        while self.kind(end) == "relation":
            after = self.tokens[end].entry
            assert after is not None
            joint = self.ontology.relations.join.get((relation, after.relation))
            if joint is None:
                break
            relation, end = joint, end + 1
        tied = self._skip(end, "link", "reference", "by")
        edge = relation in self.ontology.lexicon.of_container.values()
        alone = edge or (entry.place and tied == end)
        end = self._skip(tied, ":")  # "Block A contains: ..."
        return _Related(relation, denied, start, end, entry.finite, alone)

    def _leads(self, position: int) -> bool:
        """Whether a token may precede the word for a relation: `to the`."""
        kind = self.kind(position)
        if kind in ("by", "link", "definite", "indefinite"):
            return True
        entry = self.tokens[position].entry if kind == "relation" else None
        if entry is None or not entry.adjacent:
            return False
        after = self._skip(position + 1, "definite", "indefinite", "by")
        follows = self.tokens[after].entry if self.kind(after) == "relation" else None
        return follows is not None  # "in the front of"

    # Noun phrases --------------------------------------------------------------------

    def lists(self, position: int, commas: bool = True) -> list[tuple[tuple[Phrase, ...], int]]:
        """Return the noun phrases from a position: `A`, `A and B`, `A, B and C`, the longest list
        first.

        Args:
            position: Start of the phrases.
            commas: Whether there may be a comma before the "and". In a relative clause, such a
                comma ends the clause.
        """
        if (position, commas) in self._lists:
            return self._lists[position, commas]
        found: list[tuple[tuple[Phrase, ...], int]] = []
        for phrase, end in self.phrases(position):
            comma = self._skip(end, ",")
            last = self._skip(comma, "and")
            if last > end and (commas or comma == end or last == comma):
                # "X, Y, and Z" is a list in a relative clause, too.
                for rest, stop in self.lists(last, commas or last == comma > end):
                    # A comma joins phrases only if an "and" follows.
                    if (last > comma or len(rest) > 1) and self._alike(phrase, rest[0]):
                        found.append(((phrase, *rest), stop))
            found.append(((phrase,), end))
        found.sort(key=lambda item: -item[1])
        self._lists[position, commas] = found[:_ALTERNATIVES]
        return self._lists[position, commas]

    def _alike(self, one: Phrase, other: Phrase) -> bool:
        """Whether two phrases may be coordinated: block with block, shape with shape."""
        containers = self.ontology.lexicon.container
        if not one.kind and not other.kind:
            return True
        holding = [bool(phrase.names) or phrase.kind in containers for phrase in (one, other)]
        known = all(phrase.kind or phrase.names for phrase in (one, other))
        return not known or holding[0] == holding[1]

    def _on_a_level(self, core: Phrase, clause: Predicate) -> bool:
        """Whether a relation is suitable for the given phrases: blocks are beside blocks."""
        ontology = self.ontology
        if (
            core.kind in ontology.lexicon.container
            and clause.relation in ontology.lexicon.of_container.values()
        ):
            return False  # the edges of a block are touched from inside
        within = ontology.relations.within
        crossing = {clause.relation, ontology.relations.converse.get(clause.relation, "")} & within
        if crossing or core.kind not in ontology.lexicon.container:
            return True
        kinds = [phrase.kind for phrase in clause.objects if phrase.kind]
        return not kinds or any(kind in ontology.lexicon.container for kind in kinds)

    def phrases(self, position: int) -> list[tuple[Phrase, int]]:
        """Return the noun phrases that may begin at a position, the longest first."""
        if position in self._phrases:
            return self._phrases[position]
        self._phrases[position] = []
        core = self._core(position)
        found: list[tuple[Phrase, int]] = []
        if core is not None:
            found.append((core, core.end))
            for clauses, end in self._relative(core.end, core):
                if not all(self._on_a_level(core, clause) for clause in clauses):
                    continue  # "the circle in block C, which is left of the star"
                found.append((replace(core, clauses=clauses, end=end), end))
        found.sort(key=lambda item: -item[1])
        self._phrases[position] = found[:_ALTERNATIVES]
        return self._phrases[position]

    def _relative(self, position: int, core: Phrase) -> Iterator[tuple[tuple[Predicate, ...], int]]:
        """Yield the predicates of a relative clause, whether full, reduced or in brackets."""
        if self.kind(position) == "(":
            position = self._skip(position + 1, "relative") - 1
            for clauses, end in self.predicates(position + 1, single=True):
                if self.kind(end) == ")":
                    yield clauses, end + 1
            return
        if self.kind(position) == "with":
            # "block A with a square (in it)"
            relation = self.ontology.lexicon.having
            for objects, end in self.lists(position + 1) if relation else ():
                yield (Predicate(relation, objects, False, position, end),), end
            return
        pronoun = self._skip(position, ",")
        if self.kind(pronoun) == "relative" and self.kind(pronoun + 1) == "existential":
            # "block A, which mentions a square"
            for objects, end in self.lists(pronoun + 2) if self.ontology.lexicon.having else ():
                said = (Predicate(self.ontology.lexicon.having, objects, False, pronoun, end),)
                yield said, self._closed(end) if pronoun > position else end
        elif self.kind(pronoun) == "relative":
            for clauses, end in self.predicates(pronoun + 1, single=True):
                yield clauses, self._closed(end) if pronoun > position else end
        elif self.kind(position) == "," and self.kind(pronoun) in ("copula", "relation"):
            # "Block B, positioned to the right of block A, has ..."
            for clauses, end in self.predicates(pronoun, single=True):
                if self.kind(end) == ",":
                    yield clauses, end + 1
        elif core.determiner != PRONOUN or self.kind(position) != "relation":
            start = position
            while self._text(position).lower() in self._participles:
                position += 1
            reduced = self._relation(position, False)
            if reduced is not None and (position > start or not reduced.verb):
                for clauses, end in self.predicates(position, single=True):
                    yield from self._resumed(clauses, end)
                    yield clauses, end

    def _closed(self, end: int) -> int:
        """The position after a comma that ends a clause before the verb: "X, which is above Y, is
        left of Z".
        """
        if self.kind(end) != ",":
            return end
        follows = self.tokens[end + 1].entry if end + 1 < len(self.tokens) else None
        verb = self.kind(end + 1) == "copula" or (follows is not None and follows.finite)
        return end + 1 if verb else end

    def _resumed(
        self, clauses: tuple[Predicate, ...], end: int
    ) -> Iterator[tuple[tuple[Predicate, ...], int]]:
        """`the square in block A, which is near Y`: the second clause cannot be about block A."""
        resumes = self._skip(end, ",")
        if resumes == end or self.kind(resumes) != "relative":
            return
        containers = self.ontology.lexicon.container
        within = self.ontology.relations.within
        if all(p.relation in within for p in clauses):
            for more, last in self.predicates(resumes + 1, single=True):
                if not any(p.kind in containers or p.names for m in more for p in m.objects):
                    yield (*clauses, *more), self._closed(last)

    def _core(self, position: int) -> Phrase | None:
        kind = self.kind(position)
        if kind == "pronoun":
            plural = self.tokens[position].head in ("they", "them")
            return Phrase(PRONOUN, position, position + 1, plural=plural)
        if kind == "possessive" and self.kind(position + 1) in ("relation", "copula"):
            return Phrase(PRONOUN, position, position + 1)  # "its" written for "it"
        if kind == "reflexive":
            return Phrase(NONE, position, position + 1)  # no thing is related to itself
        if kind == "reciprocal":
            return Phrase(RECIPROCAL, position, position + 1)
        start = position
        determiner = BARE
        count = number = 0
        partitive = False
        while True:
            kind = self.kind(position)
            if kind == "negation" and self.kind(position + 1) in (EVERY, ANY, INDEFINITE):
                determiner, position = NONE, position + 1  # "not all"
            elif kind == "possessive" and self.kind(position + 1) == "noun":
                determiner, position = DEFINITE, position + 1  # "its block"
            elif kind in _DETERMINERS or kind == "denial":
                if self._is_name(position):
                    break
                said = NONE if kind == "denial" else kind
                determiner = _stronger(determiner, said)
                position += 1
            elif kind == "numeral" and not self._is_name(position):
                count = int(self._value(position))
                position += 1
                if self.kind(position) == "link" and self.kind(position + 1) in _OF_WHICH:
                    partitive, position = True, position + 2  # "one of the"
            elif kind == "ordinal":
                number, position = int(self._value(position)), position + 1
            else:
                break
        attributes, position = self._attributes(position)
        modified = self._skip(position, "content")
        known = determiner in (DEFINITE, DEMONSTRATIVE, EVERY) or self._marked(modified + 1)
        if known and not self.naming and self.kind(modified) in ("noun", "attribute"):
            # "The leftmost square"; but "a different block" is another one, unless it has a name.
            more, position = self._attributes(modified)
            attributes += more
        noun = ""
        plural = False
        names: tuple[str, ...] = ()
        given = False
        if self.kind(position) == "noun":
            entry = self.tokens[position].entry
            assert entry is not None
            noun, plural = entry.value, entry.plural
            position += 1
            names, given, position = self._named(position, noun, plural)
            number, position = self._numbered(position, number)
            if not names:
                names, given, position = self._named(position, noun, plural)
        elif attributes and self.kind(position) == "content":
            noun, position = self._stranger(position)  # "a red vase"
            number, position = self._numbered(position, number)
        elif attributes:
            if self.kind(position) == "numeral" and self._value(position) == "1":
                position += 1  # "the yellow one"
            number, position = self._numbered(position, number)
        elif self._marked(position) or (
            self._is_name(position) and determiner == BARE and not count
        ):
            names, position = (self.tokens[position].text,), position + 1
        elif determiner == DEMONSTRATIVE:
            return Phrase(DEMONSTRATIVE, start, position)
        elif (count == 1 or number) and determiner in (DEFINITE, ADDITIVE):
            pass  # "the one", "the second one"
        elif determiner == ADDITIVE and self.kind(position) == "copula":
            pass  # "another is ..."
        elif determiner != BARE and self.kind(position) == "content":
            noun, position = self._stranger(position)
            names, given, position = self._named(position, noun, plural)
            number, position = self._numbered(position, number)
        else:
            return None
        if partitive:
            determiner, plural = PARTITIVE, count > 1
        elif count and determiner == BARE and not number:
            determiner = INDEFINITE
        return Phrase(
            determiner,
            start,
            position,
            noun,
            tuple(attributes),
            plural,
            count,
            number,
            names,
            given,
        )

    def _attributes(self, position: int) -> tuple[list[tuple[str, str]], int]:
        found: list[tuple[str, str]] = []
        while self.kind(position) == "attribute" or (
            found and self.kind(position) == "," and self.kind(position + 1) == "attribute"
        ):
            if self.kind(position) == "attribute":
                dimension, _, value = self._value(position).partition(":")
                found.append((dimension, value))
            position += 1
        return found, position

    def _stranger(self, position: int) -> tuple[str, int]:
        """A noun that the lexicon lacks: `the desk lamp`."""
        start = position
        while self.kind(position) == "content":
            position += 1
        words = [token.text for token in self.tokens[start:position]]
        return " ".join(words).lower(), position

    def _numbered(self, position: int, number: int) -> tuple[int, int]:
        """`number two`, `#2`."""
        if self.kind(position) in ("numbering", "#") and self.kind(position + 1) == "numeral":
            return int(self._value(position + 1)), position + 2
        return number, position

    def _named(self, position: int, noun: str, plural: bool) -> tuple[tuple[str, ...], bool, int]:
        """Names after a noun: `block A`, `blocks A and B`, `a box called one`."""
        spot = self._skip(position, ",")
        if self.kind(spot) == "naming":
            names, end = self._names(spot + 1)
            return (names, True, end) if names else ((), False, position)
        if noun in self.ontology.lexicon.container or self._marked(position):
            names, end = self._names(position, many=plural)
            if (
                not names
                and noun in self.ontology.lexicon.container
                and self._text(position) == "A"
            ):
                names, end = ("A",), position + 1
            if names:
                return names, False, end
            if plural and spot > position:
                names, end = self._names(spot, many=True)
                if len(names) > 1:
                    return names, True, end  # "three blocks, A, B and C"
        return (), False, position

    def _names(self, position: int, many: bool = True) -> tuple[tuple[str, ...], int]:
        names: list[str] = []
        end = position
        while self._may_name(position):
            names.append(self.tokens[position].text)
            end = position + 1
            if not many:
                break
            position = self._skip(end, ",", "and")
            if position == end:
                break
        return tuple(names), end

    def _may_name(self, position: int) -> bool:
        kind = self.kind(position)
        if kind == "numeral":
            return self.kind(position + 1) not in ("noun", "attribute")
        return self._marked(position) or self._is_name(position)

    def _marked(self, position: int) -> bool:
        """Whether a token is spelled like a name: `A`, `AAA`, `X1`."""
        if not 0 <= position < len(self.tokens):
            return False
        token = self.tokens[position]
        text = token.text
        if token.kind == "mark" or text == "I" or not text[0].isupper() or not text.isupper():
            return False
        if text == "A":
            return self.kind(position + 1) not in ("noun", "attribute", "ordinal", "content")
        return token.kind == "content" or (len(text) == 1 and token.kind != "relation")

    def _is_name(self, position: int) -> bool:
        """Whether a token is a name on its own."""
        if self._marked(position):
            return True
        if self.kind(position) not in ("numeral", "content", "indefinite"):
            return False
        token = self.tokens[position]
        if token.kind == "indefinite" and self.kind(position + 1) == "content":
            return False
        if self.naming and token.kind == "content" and token.text[:1].isupper() and position:
            return True
        return token.head in self.names and self.kind(position + 1) not in ("noun", "attribute")


def _observed(tokens: Sequence[Token]) -> list[Token]:
    """Remove observers. "In A, the text mentions a square" and "I note that there is a square" both
    mean that the square exists.
    """
    kept: list[Token] = []
    start = 0
    for n, token in enumerate(tokens):
        if token.kind == "relative" and n - start < 6 and tokens[start].kind == "pronoun":
            kept = [t for t in kept if t.start < tokens[start].start]  # "it is mentioned that"
            continue
        if token.kind not in ("copula", "stating", "content"):
            start = n
        after = tokens[n + 1].kind if n + 1 < len(tokens) else ""
        if token.kind == "observing":
            if after not in ("relative", "existential", "mark"):
                kept.append(token._replace(kind="existential"))
        elif not (
            (token.kind in ("source", "pronoun") and after == "observing")
            or (token.kind == "relative" and n and tokens[n - 1].kind == "observing")
        ):
            kept.append(token)
    return kept


def _without_asides(tokens: Sequence[Token]) -> list[Token]:
    """Remove asides without content, together with their commas: "X, however, is left of Y"."""
    empty = {
        n + step
        for n in range(len(tokens) - 1)
        if tokens[n].text == tokens[n + 1].text == ","
        for step in (0, 1)
    }
    return [token for n, token in enumerate(tokens) if n not in empty]


def _stronger(before: str, now: str) -> str:
    """Combine two successive determiners: `all the`, `the other`, `two other`."""
    if {before, now} == {DEFINITE, ADDITIVE}:
        return OTHER
    order = (NONE, EVERY, BOTH, ANY, OTHER, ADDITIVE, DEMONSTRATIVE, DEFINITE, INDEFINITE, BARE)
    return min(before, now, key=order.index)


def _introduced(phrase: Phrase) -> Phrase:
    """Make a phrase after "there is" introduce a thing, even without an article."""
    if phrase.determiner == BARE and phrase.kind and not phrase.names and not phrase.number:
        return replace(phrase, determiner=INDEFINITE)
    return phrase


def _preference(item: tuple[Clause, int]) -> tuple[int, bool, bool]:
    """A sort key for clauses. The longest clauses come first, then clauses with predicates of their
    own, then clauses with verbless parts in a noun phrase.
    """
    clause, end = item
    return -end, not _says_more(clause), clause.strained and bool(clause.predicates)


def _says_more(clause: Clause) -> bool:
    """Whether a clause has predicates of its own. "There is X in Y" has one, but "there is X with Y
    in it" has none, since its end is about Y.
    """
    objects = [phrase for predicate in clause.predicates for phrase in predicate.objects]
    return any(phrase.determiner != PRONOUN for phrase in objects)
