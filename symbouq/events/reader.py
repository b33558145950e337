"""Texts about events, read: the reader of their profile, and what a text says as facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from symbouq.events.grammar import Clause, Sentence
from symbouq.events.words import EventLexicon
from symbouq.language.reader import Reader
from symbouq.language.traces import reading
from symbouq.ontology import Ontology


class EventReader(Reader):
    """Reads what happens where; claims of a trace are read by their phrases alone.

    Args:
        ontology: The tables of the profile.
    """

    def __init__(self, ontology: Ontology) -> None:
        super().__init__(ontology)
        self.words = EventLexicon(ontology)
        self._read = lru_cache(maxsize=1000)(self._parsed)

    def clauses(self, sentence: str, meaning: str = "") -> tuple[Clause, ...]:
        """What a sentence says; nothing if it cannot be parsed.

        Args:
            sentence: The sentence.
            meaning: The verb that one which the lexicon lacks is taken for, if any.

        Raises:
            ReadingError: At an internal error.
        """
        with reading("a sentence", sentence):
            return self._read(sentence, meaning)

    def _parsed(self, sentence: str, meaning: str) -> tuple[Clause, ...]:
        tokens = self.words.tokens(sentence.replace("_", " "))
        return Sentence(self.words, tokens, meaning).clauses()


class Facts:
    """The clauses of a text as the facts that `rules/events.lp` takes. Things, and verbs that
    the lexicon lacks, are numbered: what a text calls them never reaches the solver.
    """

    def __init__(self) -> None:
        self._things: dict[str, int] = {}
        self._strange: dict[str, int] = {}
        self._lines: list[str] = []
        self._clauses = 0

    @property
    def text(self) -> str:
        """The facts."""
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
        """Adds the clauses of one sentence.

        Args:
            role: `premise` or `hypothesis`.
            clauses: What the sentence says.
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
        for way, landmark in clause.goes:
            yield f"goes({d},{way},{self._thing(landmark)})"
        for relation, landmark in clause.located:
            yield f"located({d},{relation},{self._thing(landmark)})"
        for one, other in clause.within:
            yield f"within({d},{self._thing(one)},{self._thing(other)})"
        for relation, landmark in clause.started:
            yield f"started({d},{relation},{self._thing(landmark)})"
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
