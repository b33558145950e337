"""Things of one kind that a text tells apart by their order, or by each other: "another box", "the
second one", "the other".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from symbouq.reading.stems import singular_of
from symbouq.reading.syntax.extraction import Phrase
from symbouq.reading.syntax.sentences import Sentence, Sentences
from symbouq.reading.syntax.things import Things

_LAST = -1
_OTHER = "other"


class Siblings:
    """The things of a text that others of their kind are told from.

    Args:
        things: The things of the trace.
        sentences: Has the words for them.
        introducing: Whether the text may speak of new ones, as a scene does and a claim does not.
    """

    def __init__(self, things: Things, sentences: Sentences, introducing: bool) -> None:
        lexeme = sentences.ontology.wording.lexeme
        self._things = things
        self._introducing = introducing
        self._ranks = {
            **sentences.ontology.lexicon.ordinal,
            **dict.fromkeys(lexeme.get("final", ()), _LAST),
        }
        self._additive = lexeme.get("additive", frozenset())
        self._other = lexeme.get("other", frozenset())
        self._sentence: Sentence | None = None
        self._here: dict[int, int] = {}  # head of a noun phrase of the sentence to its new thing
        self._found: dict[tuple[int, int], tuple[int, ...] | None] = {}

    def tells(self, sentence: Sentence, phrase: Phrase) -> bool:
        """Whether a noun phrase may tell a thing from others of its kind."""
        mark, *told = self._words(sentence, phrase)
        known = mark in self._ranks or mark in self._additive or mark in self._other
        return known and (bool(told) or phrase.kind in ("group", "elliptic"))

    def _words(self, sentence: Sentence, phrase: Phrase) -> list[str]:
        """The words of a noun phrase, the one that tells its thing first."""
        if phrase.kind == "group":
            return [_OTHER]
        words = " ".join(sentence.words[n].text for n in phrase.words).lower().split()
        # "A further jug", where the parser takes the article for a letter
        return words[1:] if words[0] == "a" and self._additive.intersection(words[1:2]) else words

    def found(self, sentence: Sentence) -> dict[tuple[int, int], tuple[int, ...] | None]:
        """What noun phrases of a sentence were found to mean: by their head, and that of what they
        are related to.
        """
        self._begun(sentence)
        return self._found

    def _begun(self, sentence: Sentence) -> dict[int, int]:
        """What noun phrases of a sentence have introduced so far."""
        if self._sentence is not sentence:
            self._sentence, self._here, self._found = sentence, {}, {}
        return self._here

    def resolved(
        self,
        sentence: Sentence,
        phrase: Phrase,
        nouns: Sequence[str],
        spoken: Sequence[Collection[int]],
        ones: Collection[int],
    ) -> tuple[int, ...] | None:
        """The thing that a noun phrase tells from its siblings; none where nothing tells which it
        is; None of a noun phrase that tells a thing otherwise.

        Args:
            sentence: The sentence.
            phrase: The noun phrase.
            nouns: The noun of its kind; where it has none, those that may be understood.
            spoken: Things that the text speaks of before, the nearest first: those of the sentence,
                those of the one before.
            ones: Those of them that the text counts, "ONE box", so that there is another.
        """
        if self._begun(sentence).get(phrase.head) is not None:
            return (self._here[phrase.head],)
        mark, *told = self._words(sentence, phrase)
        if phrase.kind not in ("group", "elliptic"):
            return self._sibling(phrase, mark, told, spoken, spoken)
        kinds = ([*told, *noun.split()] for noun in nouns if noun)
        found = (self._sibling(phrase, mark, kind, spoken, [ones]) for kind in kinds)
        return next(filter(None, found), None)

    def _sibling(
        self,
        phrase: Phrase,
        mark: str,
        kind: Sequence[str],
        spoken: Sequence[Collection[int]],
        ones: Sequence[Collection[int]],
    ) -> tuple[int, ...] | None:
        """The same of a noun phrase by the word that tells the thing, and those of its kind."""
        *told, noun = kind
        kind = [*told, singular_of(noun)]
        like = self._things.like(kind)
        if phrase.kind == "indefinite" or mark in self._additive:
            new = mark in self._additive or mark in self._other or self._ranks.get(mark, 0) > 1
            return self._another(phrase.head, mark, kind) if new and like else None
        if mark in self._ranks:
            return self._ranked(mark, kind, like)
        if mark not in self._other:
            return None
        if len(like) == 1 and self._introduces() and any(like[0] in of for of in ones):
            self._here[phrase.head] = self._things.introduce([mark, *kind], kind)
            return (self._here[phrase.head],)
        return self._rest(mark, kind, like, spoken)

    def is_any(self, sentence: Sentence, words: Sequence[str]) -> bool:
        """Whether "the box" may be one or the other of those that the text has told apart."""
        if not self._things.is_told_apart(words):
            return False
        return len(set(self._things.like(words)) - {*self._begun(sentence).values()}) > 1

    def _introduces(self) -> bool:
        """Whether the sentence may speak of new things, as a question does not."""
        return self._introducing and self._sentence is not None and not self._sentence.asked

    def _another(self, head: int, mark: str, kind: Sequence[str]) -> tuple[int, ...]:
        """What "another box" is: a new thing; in a claim, the one that was introduced so."""
        if not self._introduces():
            found = self._things.introduced([mark, *kind])
            return found if len(found) == 1 else ()
        self._here[head] = self._things.introduce([mark, *kind], kind)
        return (self._here[head],)

    def _ranked(
        self, mark: str, kind: Sequence[str], like: Sequence[int]
    ) -> tuple[int, ...] | None:
        """What "the second box" is, of boxes that the text has introduced one after the other."""
        found = self._things.introduced([mark, *kind])
        if found:
            return found if len(found) == 1 else ()
        if len(like) < 2 or not self._things.is_told_apart(kind):
            return None
        rank = self._ranks[mark]
        if any(self._things.row_of(thing) for thing in like) or rank > len(like):
            return ()
        return (like[rank if rank == _LAST else rank - 1],)

    def _rest(
        self,
        mark: str,
        kind: Sequence[str],
        like: Sequence[int],
        spoken: Sequence[Collection[int]],
    ) -> tuple[int, ...] | None:
        """What "the other box" is: of two, the one that the text does not speak of just before."""
        if len(like) != 2:
            return () if like else None
        for of in spoken:
            left = [thing for thing in like if thing not in of]
            if len(left) < 2:
                return tuple(left)
        return self._things.introduced([mark, *kind])[:1]
