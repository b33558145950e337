"""Reader of traces about described things."""

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
"""Parsed sentences of a text, each with its statements."""
_STOPS = frozenset((".", "!", ";", "\n"))
_VOID = frozenset(
    ("hedge", "condition", "supposition", "inquiry", "or", "respective", "retraction")
)
"""Kinds of words that keep a sentence from stating anything."""
_UNLABELLED = _VOID | {"negation", "denial"}
"""Kinds of words that a label cannot contain."""


@dataclass(frozen=True)
class DescribedQuestion(Question):
    """Question about described things.

    Attributes:
        query: The query.
        things: Things of the scene, by number.
        scene: Statements of the scene, each with the number of its sentence.
        phrase: Function that parses a text that is one noun phrase, such as an answer that names a
            thing; otherwise it returns None.
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
        # Many traces ask about one scene, so scenes are cached, within bounds.
        self._taken = lru_cache(maxsize=1024)(self._take)
        self._read_scene = lru_cache(maxsize=1024)(self._scene)

    # Scenes and questions --------------------------------------------------------------

    def question(self, scene: Sequence[str], question: str) -> DescribedQuestion:
        """Read a question about a scene, with the scene's things."""
        _, discourse = self._taken(tuple(scene))
        said = [
            (number, (s.subject, s.relation, s.object))
            for number, found in enumerate(self.statements(scene), start=1)
            for s in found
        ]
        return self._asking(question, discourse.copy(), said)

    def statements(self, scene: Sequence[str]) -> list[list[Edge]]:
        """Statements of each scene sentence, about the numbered things of its question."""
        stated, _ = self._taken(tuple(scene))
        return [[s for _, found in text for s in found] for text in stated]

    def question_about(
        self, scene: Sequence[tuple[int, tuple[str, str, str]]], question: str
    ) -> DescribedQuestion:
        """Read a question about a scene given as relations.

        Args:
            scene: The relations with their numbers; things are named by descriptions.
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
        """Noun phrase of a text that consists of one, such as an answer that names a thing;
        otherwise None.

        Args:
            text: The text.
            names: Known names, in lower case.
        """
        tokens = [token for token in self.lexicon.tokens(text) if token.text != "?"]
        return queries.phrase(self.ontology, tokens, names)

    def _take(self, scene: tuple[str, ...]) -> tuple[tuple[_Stated, ...], Discourse]:
        """Statements of each scene sentence, and the scene's things."""
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
        """Query of a question about the things of a scene."""
        with reading("the question", question):
            tokens = self.lexicon.tokens(question)
            if len(tokens) > LONGEST_SENTENCE:
                return queries.Query()
            return queries.parsed(self.ontology, tokens, discourse.names)

    def stated(
        self, tokens: Sequence[Token], discourse: Discourse, narrating: bool
    ) -> Iterator[tuple[Parse, list[Edge]]]:
        """Statements of a text, sentence by sentence."""
        for sentence in self._sentences(_stating(tokens), discourse.names):
            parse = self.grammar.parse(sentence, discourse.names, narrating)
            yield parse, discourse.interpret(parse, narrating)

    def _sentences(
        self, tokens: Sequence[Token], names: frozenset[str]
    ) -> Iterator[Sequence[Token]]:
        """Split a text at full stops that follow a sentence: "In C, which is right of B. there is
        ..." is one sentence.
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
        """Statements of each scene sentence, the things, and the pair of the question."""
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
        """Pair of a question, if it is clear."""
        if query.pair is None:
            return None
        scene = queries.Scene(discourse, discourse.is_stated)
        first, second = (list(scene.picked(phrase)) for phrase in query.pair)
        if not first or not second or first[0] == second[0]:
            return None
        return discourse.title(first[0]), discourse.title(second[0])


class _ClaimParser(LexicalParser):
    """Parser of claims about a scene of described things."""

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
        """Content of the tokens of a text or part of one."""
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
        """Whether a claim's things are certain. They are not if it lists several new things,
        explains some in brackets, or says "these two objects" or "the block".
        """
        introduced = sum(token.kind in ("indefinite", "additive") for token in tokens)
        glossed = any(token.text == "(" for token in tokens)
        phrases = self._of.grammar.phrases(tokens, self._discourse.names)
        return introduced <= _INTRODUCED and not glossed and not any(map(self._points, phrases))

    def _points(self, phrase: Phrase) -> bool:
        """Whether a phrase points at things mentioned before."""
        if phrase.names or phrase.clauses or phrase.number or phrase.attributes:
            return False
        several = phrase.determiner == DEMONSTRATIVE and (phrase.plural or phrase.count > 1)
        place = phrase.kind in self._of.ontology.lexicon.container
        return several or (place and phrase.determiner in (DEFINITE, DEMONSTRATIVE))

    def unreadable(self, sentence: LexicalSentence) -> str:
        """Why a sentence exceeds a limit; empty if it does not."""
        return full(self._discourse) or super().unreadable(sentence)

    @property
    def goes_on(self) -> bool:
        """Whether a heading named the topic of the next lines."""
        return self._discourse.topic is not None

    def head(self, tokens: Sequence[Token]) -> None:
        """Process a heading, which names the things of the following text."""
        self._discourse.focus(self._of.grammar.phrases(tokens, self._discourse.names))

    def labelled(self, tokens: Sequence[Token], pair: tuple[str, str]) -> Sequence[Statement]:
        """Relations of a pair for a bare label (`upper-left`, "above and to the right")."""
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
            and token.entry.relation not in self._of.ontology.lexicon.grouped  # "between" them
        )


def full(discourse: Discourse) -> str:
    """Why no more of a text is read; empty if it has few enough things."""
    most = f"for its text speaks of more than {MOST_THINGS} things"
    return most if len(discourse) > MOST_THINGS else ""


def spoken(
    parse: Parse, statements: Sequence[Edge], discourse: Discourse, known: int
) -> tuple[Statement, ...]:
    """Statements as relations between titles, with their character spans.

    Args:
        parse: The parsed sentence.
        statements: Its statements.
        discourse: The things.
        known: Number of things in scene and question.
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
"""Kinds of words of which a sentence with a relation has at least one."""


_INTRODUCED = 2
"""Maximum number of things that a claim may introduce, "a circle above a square", without being a
list."""
_UNSURE = 0.7
"""Maximum confidence of statements about uncertain things."""


def _doubted(statement: Statement) -> Statement:
    return replace(statement, confidence=min(statement.confidence, _UNSURE))


_BESIDE = frozenset(("content", "citation", "source"))
_LABEL = 1
"""Maximum number of words of these kinds in an answer that is only a label."""

_OPEN = frozenset(("condition", "supposition"))
"""Kinds of words that affect a whole sentence."""


def _stating(tokens: Sequence[Token]) -> list[Token]:
    """Parts of a text that state something: "X is in A, but Y may be in B"."""
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
