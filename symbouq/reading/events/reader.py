"""Read texts about events and turn them into facts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from symbouq.errors import RecordError
from symbouq.ontology.tables import Ontology
from symbouq.reading.claims import Reading, shifted
from symbouq.reading.clauses import Clause, Clauses
from symbouq.reading.events.grammar import Sentence
from symbouq.reading.events.words import EventLexicon
from symbouq.reading.faults import SCENE_SENTENCE, readable, reading
from symbouq.reading.lexical import LexicalParser, LexicalReader, LexicalSentence, check_length
from symbouq.reading.lexicon import Token
from symbouq.reading.segments import unretracted
from symbouq.reading.text import Question, Statement, triples
from symbouq.reading.traces import Setting, Told
from symbouq.records import ClauseRecord


@dataclass(frozen=True)
class EventQuestion(Question):
    """A statement about events, to be judged.

    Attributes:
        clauses: Its clauses.
        verbs: The possible meanings of unknown verbs.
        reread: Function that reads scene and statement again, with a given verb assumed for unknown
            verbs; None if the scene has no sentences.
    """

    clauses: Clauses = ()
    verbs: Sequence[str] = ()
    reread: Callable[[str], tuple[Sequence[Clauses], Clauses]] | None = None


class EventReader(LexicalReader):
    """Reader of texts about events.

    Args:
        ontology: The tables of the profile.
    """

    def __init__(self, ontology: Ontology) -> None:
        super().__init__(ontology)
        self.words = EventLexicon(ontology)
        self.read_clauses = lru_cache(maxsize=1000)(self._parsed)

    def question(self, scene: Sequence[str], question: str) -> EventQuestion:
        """Read a statement to be judged against a scene."""

        def reread(verb: str) -> tuple[Sequence[Clauses], Clauses]:
            return [self.clauses(text, verb) for text in scene], self.clauses(question, verb)

        clauses = self.clauses(question)
        return EventQuestion(
            question,
            states=triples(self.relations(clauses, question, ())),
            clauses=clauses,
            verbs=self.words.meanings,
            reread=reread if scene else None,
        )

    def setting(self, told: Told) -> Setting:
        """Read scene and question of a trace."""
        read, scene, question, lost = readable(
            self._clauses_of_each, unretracted(told.scene), told.question
        )
        *described, _ = read
        named = frozenset(n.lower() for clauses in read for n in things(clauses))
        return Setting(
            tuple(map(partial(self.relations, known=named), described, scene)),
            None,
            lambda: self.question(scene, question),
            lambda: _ClaimParser(self, named, question),
            lost=tuple(lost),
            events=tuple(described),
        )

    def _clauses_of_each(self, scene: tuple[str, ...], question: str) -> list[Clauses]:
        """The clauses of each scene sentence, and of the question."""
        found: list[Clauses] = []
        for number, text in enumerate(scene, start=1):
            part = f"{SCENE_SENTENCE} {number}"
            with reading(part, text):
                check_length(part, text, self.lexicon.tokens(text))
                found.append(self.read_clauses(text, ""))
        with reading("the question", question):
            return [*found, self.read_clauses(question, "")]

    def clauses(self, sentence: str, meaning: str = "") -> Clauses:
        """Return the clauses of a sentence; empty if it cannot be parsed.

        Args:
            sentence: The sentence.
            meaning: Verb to assume for unknown verbs, if any.

        Raises:
            InternalError: If an internal error occurs.
        """
        with reading("a sentence", sentence):
            return self.read_clauses(sentence, meaning)

    def relations(
        self, clauses: Clauses, text: str, known: Collection[str]
    ) -> tuple[Statement, ...]:
        """Return the relations between two things that are stated by the clauses."""
        found: list[Statement] = []
        for clause in clauses:
            for kind, *terms in clause.states:
                if kind not in ("rel", "seen"):
                    continue
                relation, subject, other = terms[:3]
                if clause.negative:
                    relation = self.ontology.relations.negation.get(relation, "")
                if relation:
                    grounded = subject.lower() in known and other.lower() in known
                    found.append(Statement(subject, relation, other, (0, len(text)), 1.0, grounded))
        return tuple(found)

    def claimed(self, claim: str) -> str:
        """Return a claim without introductory words ("So ...", "Answer: ...")."""
        opening = (t for t in self.lexicon.tokens(claim) if t.kind not in _OPENING)
        first = next(opening, None)
        return claim[first.start :] if first is not None else ""

    def _parsed(self, sentence: str, meaning: str) -> Clauses:
        if not sentence.strip():
            return ()
        tokens = self.words.tokens(sentence.replace("_", " "))
        return Sentence(self.words, tokens, meaning).clauses()


class _ClaimParser(LexicalParser):
    """Parser for claims about a scene with events."""

    def __init__(self, of: EventReader, named: Collection[str], question: str) -> None:
        super().__init__(of, None, question)
        self._of = of
        self._named = named

    @property
    def goes_on(self) -> bool:
        """Always True, since statements about events need no words for relations."""
        return True

    def read(self, tokens: Sequence[Token], text: str) -> Reading:
        """Read a text or part of a text, given as tokens."""
        clauses = self._of.read_clauses(self._of.claimed(text), "")
        relations = self._of.relations(clauses, text, self._named)
        begin = tokens[0].start if tokens else 0
        return Reading(shifted(relations, -begin), events=clauses if relations else ())

    def completed(self, sentence: LexicalSentence, pair: tuple[str, str]) -> Sequence[Statement]:
        """Return nothing, since an event always states its agent."""
        return ()

    def labelled(self, tokens: Sequence[Token], pair: tuple[str, str]) -> Sequence[Statement]:
        """Return nothing, since there are no labels for events."""
        return ()


_OPENING = frozenset(("inference", "mark", "answer", "copula"))
"""Kinds of words that may introduce a claim."""


def things(clauses: Clauses) -> Iterator[str]:
    """Yield the things in clauses, with repetitions."""
    for clause in clauses:
        yield from filter(None, (clause.agent, clause.patient))
        for kind, *terms in clause.states:
            yield from terms[1:] if kind in ("rel", "seen") else terms
        for _, ground in (*clause.goes, *clause.located, *clause.started):
            yield ground
        for pair in clause.within:
            yield from pair


_TERMS = {"rel": 3, "seen": 4, "amid": 3, "divided": 3, "nearer": 4}
"""Maps the name of a proposition to its number of terms."""


def given_clause(ontology: Ontology, record: ClauseRecord, place: str) -> Clause:
    """Convert a clause from a record.

    Args:
        ontology: The tables of a profile that reads events.
        record: The clause.
        place: The place of the clause in the record, for messages.

    Raises:
        RecordError: If the profile lacks its verb, way, relation or proposition.
    """

    def checked(value: str, known: Collection[str], what: str) -> str:
        if value not in known:
            raise RecordError(f"{place}: unknown {what} {value!r}")
        return value

    def related(value: str) -> str:
        return checked(value, ontology.relations.family, "relation")

    if record.verb and not record.strange:
        checked(record.verb, ontology.events.members("verb"), "verb")
    states = []
    for kind, *terms in record.states:
        checked(kind, _TERMS, "proposition")
        if len(terms) != _TERMS[kind]:
            raise RecordError(f"{place}: {kind} has {_TERMS[kind]} terms, not {len(terms)}")
        if kind in ("rel", "seen"):
            related(terms[0])
        states.append((kind, *terms))
    ways = ontology.events.members("way")
    return Clause(
        **{
            **record.model_dump(exclude={"states"}),
            "states": tuple(states),
            "goes": tuple((checked(way, ways, "way"), thing) for way, thing in record.goes),
            "located": tuple((related(r), thing) for r, thing in record.located),
            "started": tuple((related(r), thing) for r, thing in record.started),
            "within": tuple(record.within),
        }
    )


class Facts:
    """The clauses of a text as facts for `rules/events.lp`. Things and unknown verbs are replaced
    by numbers, so their names are never passed to the solver.
    """

    def __init__(self) -> None:
        self._things: dict[str, int] = {}
        self._strange: dict[str, int] = {}
        self._lines: list[str] = []
        self._clauses = 0

    @property
    def text(self) -> str:
        """All facts, as one text."""
        return "".join(self._lines)

    def _thing(self, name: str) -> str:
        key = name.lower()
        if key not in self._things:
            self._things[key] = len(self._things)
            self._lines.append(f"thing({self._things[key]}).")
            if name != key:
                self._lines.append(f"named({self._things[key]}).")
        return str(self._things[key])

    def add(self, role: str, clauses: Sequence[Clause]) -> None:
        """Add the clauses of a sentence.

        Args:
            role: `premise` or `hypothesis`.
            clauses: Clauses of the sentence.
        """
        before = 0
        for clause in clauses:
            self._clauses += 1
            self._lines += (f"{fact}." for fact in self._said(self._clauses, role, clause, before))
            before = self._clauses if clause.verb else before

    def _said(self, d: int, role: str, clause: Clause, before: int) -> Iterator[str]:
        yield f"{role}({d})"
        yield f"tense({d},{clause.tense})"
        if clause.negative:
            yield f"negative({d})"
        for state in clause.states:
            yield f"state({d},{self._proposition(state)})"
        if not clause.verb:
            return
        if clause.strange:
            number = self._strange.setdefault(clause.verb, len(self._strange))
            yield f"does({d},strange({number}))"
            yield f"strange({d})"
        else:
            yield f"does({d},{clause.verb})"
        yield f"aspect({d},{clause.aspect})"
        for part, name in (("agent", clause.agent), ("patient", clause.patient)):
            if name:
                yield f"role({d},{part},{self._thing(name)})"
        for way, ground in clause.goes:
            yield f"goes({d},{way},{self._thing(ground)})"
        for relation, ground in clause.located:
            yield f"located({d},{relation},{self._thing(ground)})"
        for one, other in clause.within:
            yield f"within({d},{self._thing(one)},{self._thing(other)})"
        for relation, ground in clause.started:
            yield f"started({d},{relation},{self._thing(ground)})"
        if clause.back and before:
            yield f"back_from({d},{before})"
        if clause.often > 1:
            yield f"often({d},{clause.often})"

    def _proposition(self, state: tuple[str, ...]) -> str:
        kind, *terms = state
        relation = [terms.pop(0)] if kind in ("rel", "seen") else []
        things = [self._thing(name) for name in terms]
        if kind == "seen":
            self._lines.append(f"viewpoint({things[-1]}).")
        if kind == "divided":
            things[:2] = sorted(things[:2], key=int)
        return f"{kind}({','.join(relation + things)})"
