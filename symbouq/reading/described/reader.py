"""Read traces about described things."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from symbouq.ontology.tables import Ontology
from symbouq.reading.bounds import LONGEST_SENTENCE, MOST_STOPS, MOST_THINGS
from symbouq.reading.claims import NAMED_BY_QUESTION, Reading
from symbouq.reading.described import queries
from symbouq.reading.described.referents import Discourse, Edge
from symbouq.reading.described.syntax import DEFINITE, DEMONSTRATIVE, Grammar, Parse, Phrase
from symbouq.reading.faults import SCENE_SENTENCE, ReadingError, readable, reading
from symbouq.reading.lexical import LexicalParser, LexicalReader, LexicalSentence, check_length
from symbouq.reading.lexicon import Token
from symbouq.reading.segments import unretracted
from symbouq.reading.text import Question, Statement
from symbouq.reading.traces import Setting, Told

_Stated = tuple[tuple[Parse, list[Edge]], ...]
"""The parsed sentences of a text, each with its statements."""
_STOPS = frozenset((".", "!", ";", "\n"))
_VOID = frozenset(
    ("hedge", "condition", "supposition", "inquiry", "or", "respective", "retraction")
)
"""Kinds of words that prevent a sentence from making a statement."""
_UNLABELLED = _VOID | {"negation", "denial"}
"""Kinds of words that cannot occur in a label."""


@dataclass(frozen=True)
class DescribedQuestion(Question):
    """A question about described things.

    Attributes:
        query: The query.
        things: The things in the scene, by number.
        scene: The statements of the scene, each with the number of its sentence.
        phrase: Function that parses a text consisting of one noun phrase, such as an answer that
            mentions a thing. It returns None for other texts.
    """

    query: queries.Query = field(kw_only=True)
    things: Discourse = field(kw_only=True)
    scene: Sequence[tuple[int, tuple[int, str, int]]] = field(kw_only=True)
    phrase: Callable[[str], Phrase | None] = field(kw_only=True)


class DescribedReader(LexicalReader):
    """Reader of traces with described things.

    Args:
        ontology: The tables of a profile with descriptions.
    """

    def __init__(self, ontology: Ontology) -> None:
        super().__init__(ontology)
        self.grammar = Grammar(ontology)
        # Many traces ask about one scene, so a limited number of scenes is cached.
        self._taken = lru_cache(maxsize=1024)(self._take)
        self._read_scene = lru_cache(maxsize=1024)(self._scene)

    # Scenes and questions --------------------------------------------------------------

    def question(self, scene: Sequence[str], question: str) -> DescribedQuestion:
        """Read a question about a scene. The result includes the scene's things."""
        _, discourse = self._taken(tuple(scene))
        said = [
            (number, (s.subject, s.relation, s.object))
            for number, found in enumerate(self.statements(scene), start=1)
            for s in found
        ]
        return self._asking(question, discourse.copy(), said)

    def statements(self, scene: Sequence[str]) -> list[list[Edge]]:
        """Return the statements of each scene sentence. Things are numbered as in a question about
        the scene.
        """
        stated, _ = self._taken(tuple(scene))
        return [[s for _, found in text for s in found] for text in stated]

    def question_about(
        self, scene: Sequence[tuple[int, tuple[str, str, str]]], question: str
    ) -> DescribedQuestion:
        """Read a question about a scene that is given as relations.

        Args:
            scene: The numbered relations. Descriptions serve as names for the things.
            question: The question.
        """
        discourse = Discourse(self.ontology)
        names = {name: None for _, (u, _, v) in scene for name in (u, v)}
        numbers = {name: discourse.titled(name, self.phrase(name, frozenset())) for name in names}
        said = [(n, (numbers[u], r, numbers[v])) for n, (u, r, v) in scene]
        discourse.record([triple for _, triple in said])
        return self._asking(question, discourse, said)

    def _asking(
        self,
        question: str,
        discourse: Discourse,
        scene: Sequence[tuple[int, tuple[int, str, int]]],
    ) -> DescribedQuestion:
        query = self._query(question, discourse)
        return DescribedQuestion(
            question,
            self._pair(query, discourse),
            query=query,
            things=discourse,
            scene=scene,
            phrase=lambda text: self.phrase(text, discourse.names),
        )

    def phrase(self, text: str, names: frozenset[str]) -> Phrase | None:
        """Parse a text that consists of one noun phrase, such as an answer that mentions a thing.
        Return None for other texts.

        Args:
            text: The text.
            names: Known names, in lower case.
        """
        tokens = [token for token in self.lexicon.tokens(text) if token.text != "?"]
        return queries.phrase(self.ontology, tokens, names)

    def _take(self, scene: tuple[str, ...]) -> tuple[tuple[_Stated, ...], Discourse]:
        """Return the statements of each scene sentence, and the things in the scene."""
        discourse = Discourse(self.ontology)
        with reading("the scene", " ".join(scene)):
            tokens = self.lexicon.tokens_of_each(scene)
        stated: list[_Stated] = []
        for number, (text, said) in enumerate(zip(scene, tokens, strict=True), start=1):
            part = f"{SCENE_SENTENCE} {number}"
            check_length(part, text, said)
            if full(discourse):
                raise ReadingError(part, full(discourse), text)
            with reading(part, text):
                stated.append(tuple(self.stated(said, discourse, narrating=True)))
        return tuple(stated), discourse

    def _query(self, question: str, discourse: Discourse) -> queries.Query:
        with reading("the question", question):
            tokens = self.lexicon.tokens(question)
            if len(tokens) > LONGEST_SENTENCE:
                return queries.Query()
            return queries.parsed(self.ontology, tokens, discourse.names)

    def stated(
        self, tokens: Sequence[Token], discourse: Discourse, narrating: bool
    ) -> Iterator[tuple[Parse, list[Edge]]]:
        """Yield the parsed sentences of a text, each with its statements."""
        for sentence in self._sentences(_stating(tokens), discourse.names):
            parse = self.grammar.parse(sentence, discourse.names, narrating)
            yield parse, discourse.interpret(parse, narrating)

    def _sentences(
        self, tokens: Sequence[Token], names: frozenset[str]
    ) -> Iterator[Sequence[Token]]:
        """Split a text at full stops, but not before a sentence is complete: "In C, which is right
        of B. there is ..." is one sentence.
        """
        start = stops = 0
        for n, token in enumerate(tokens[:-1]):
            if token.text in _STOPS and n > start:
                parse = self.grammar.parse(tokens[start:n], names)
                stops += 1
                if (parse.clauses and parse.whole) or stops > MOST_STOPS:
                    yield tokens[start:n]
                    start, stops = n + 1, 0
        yield tokens[start:]

    def setting(self, told: Told) -> Setting:
        """Read scene and question of a trace."""
        read, scene, question, lost = readable(
            self._read_scene, unretracted(told.scene), told.question
        )
        stated, discourse, pair = read
        return Setting(
            stated,
            pair,
            lambda: self.question(scene, question),
            lambda: _ClaimParser(self, discourse.copy(), pair, question),
            lost=tuple(lost),
        )

    def _scene(
        self, scene: tuple[str, ...], question: str
    ) -> tuple[tuple[tuple[Statement, ...], ...], Discourse, tuple[str, str] | None]:
        """Return the statements of each scene sentence, the things, and the pair that the question
        asks about.
        """
        stated, discourse = self._taken(scene)
        discourse = discourse.copy()
        query = self._query(question, discourse)
        known = len(discourse)
        statements: list[tuple[Statement, ...]] = []
        for number, (text, parts) in enumerate(zip(scene, stated, strict=True), start=1):
            with reading(f"{SCENE_SENTENCE} {number}", text):
                statements.append(
                    tuple(m for part in parts for m in spoken(*part, discourse, known))
                )
        with reading("the question", question):
            return tuple(statements), discourse, self._pair(query, discourse)

    @staticmethod
    def _pair(query: queries.Query, discourse: Discourse) -> tuple[str, str] | None:
        """The titles of the pair that a question asks about; None if it is unclear."""
        if query.pair is None:
            return None
        scene = queries.Scene(discourse, discourse.is_stated)
        first, second = (list(scene.picked(phrase)) for phrase in query.pair)
        if not first or not second or first[0] == second[0]:
            return None
        return discourse.title(first[0]), discourse.title(second[0])


class _ClaimParser(LexicalParser):
    """Parser for claims about a scene with described things."""

    def __init__(
        self,
        of: DescribedReader,
        discourse: Discourse,
        pair: tuple[str, str] | None,
        question: str,
    ) -> None:
        super().__init__(of, pair, question)
        self._of = of
        self._discourse = discourse
        self._known = len(discourse)

    def read(self, tokens: Sequence[Token], text: str) -> Reading:
        """Read a text or part of a text, given as tokens."""
        relating = any(token.kind in _RELATING for token in tokens)
        if not (relating or self.goes_on) or any(token.text == "?" for token in tokens):
            return Reading()
        visible = [token.text for token in tokens if token.text.isprintable()]
        stated = list(self._of.stated(tokens, self._discourse, narrating=False))
        found = [m for part in stated for m in spoken(*part, self._discourse, self._known)]
        if visible[-1:] == [":"]:
            self.head(tokens)
            return Reading()
        return Reading(found if self._is_plain(tokens) else [*map(_doubted, found)])

    def _is_plain(self, tokens: Sequence[Token]) -> bool:
        """Whether it is certain which things a claim is about. It is uncertain if the claim lists
        several new things, explains things in brackets, or contains "these two objects" or "the
        block".
        """
        introduced = sum(token.kind in ("indefinite", "additive") for token in tokens)
        glossed = any(token.text == "(" for token in tokens)
        phrases = self._of.grammar.phrases(tokens, self._discourse.names)
        return introduced <= _INTRODUCED and not glossed and not any(map(self._points, phrases))

    def _points(self, phrase: Phrase) -> bool:
        """Whether a phrase refers back to things mentioned before."""
        if phrase.names or phrase.clauses or phrase.number or phrase.attributes:
            return False
        several = phrase.determiner == DEMONSTRATIVE and (phrase.plural or phrase.count > 1)
        place = phrase.kind in self._of.ontology.lexicon.container
        return several or (place and phrase.determiner in (DEFINITE, DEMONSTRATIVE))

    def unreadable(self, sentence: LexicalSentence) -> str:
        """Return the limit that a sentence exceeds; empty if there is none."""
        return full(self._discourse) or super().unreadable(sentence)

    @property
    def goes_on(self) -> bool:
        """Whether a heading has set the topic of the next lines."""
        return self._discourse.topic is not None

    def head(self, tokens: Sequence[Token]) -> None:
        """Read a heading and make its things the topic of the following text."""
        self._discourse.focus(self._of.grammar.phrases(tokens, self._discourse.names))

    def labelled(self, tokens: Sequence[Token], pair: tuple[str, str]) -> Sequence[Statement]:
        """Read a bare label (`upper-left`, "above and to the right") as relations between the given
        pair.
        """
        kinds = [token.kind for token in tokens]
        if not _UNLABELLED.isdisjoint(kinds) or sum(kind in _BESIDE for kind in kinds) > _LABEL:
            return ()
        return tuple(
            Statement(
                pair[0],
                token.entry.relation,
                pair[1],
                (token.start, token.end),
                NAMED_BY_QUESTION,
                True,
            )
            for token in tokens
            if token.kind == "relation"
            and token.entry is not None
            and token.entry.relation not in self._of.ontology.lexicon.grouped  # not "between"
        )


def full(discourse: Discourse) -> str:
    """Return the reason why the rest of a text is not read; empty if the number of things in the
    text is within the limit.
    """
    most = f"for its text speaks of more than {MOST_THINGS} things"
    return most if len(discourse) > MOST_THINGS else ""


def spoken(
    parse: Parse, statements: Sequence[Edge], discourse: Discourse, known: int
) -> tuple[Statement, ...]:
    """Turn the statements of a sentence into relations between titles, with character spans.

    Args:
        parse: The parsed sentence.
        statements: The statements of the sentence.
        discourse: The things.
        known: Number of things in the scene and the question.
    """
    return tuple(
        Statement(
            discourse.title(s.subject),
            s.relation,
            discourse.title(s.object),
            (parse.tokens[s.first].start, parse.tokens[s.last].end),
            s.confidence,
            s.subject < known and s.object < known,
        )
        for s in statements
    )


_RELATING = frozenset(("relation", "hour", "with", "observing"))
"""Kinds of words that express relations. Any sentence with a relation contains such a word."""


_INTRODUCED = 2
"""Maximum number of new things in a claim that is not a list: "a circle above a square"."""
_UNSURE = 0.7
"""Maximum confidence in statements about uncertain things."""


def _doubted(statement: Statement) -> Statement:
    return replace(statement, confidence=min(statement.confidence, _UNSURE))


_BESIDE = frozenset(("content", "citation", "source"))
_LABEL = 1
"""Maximum number of relating words in an answer that is only a label."""

_OPEN = frozenset(("condition", "supposition"))
"""Kinds of words that affect a whole sentence."""


def _stating(tokens: Sequence[Token]) -> list[Token]:
    """Keep the parts of a text that make statements: "X is in A, but Y may be in B"."""
    if any(token.kind in _OPEN for token in tokens):
        return []
    parts: list[list[Token]] = [[]]
    reasons = False
    for token in tokens:
        reasons = reasons or (token.kind == "reason" and len(parts) == 1)
        if token.kind == "contrast" or token.text == ";" or (reasons and token.text == ","):
            parts.append([])
        parts[-1].append(token)
    return [t for part in parts if not any(t.kind in _VOID for t in part) for t in part]
