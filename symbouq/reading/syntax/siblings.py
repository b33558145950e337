"""Things distinguished from others of their kind: "another box", "the second one"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symbouq.reading.stems import singular_of
from symbouq.reading.syntax.extraction import CONTEXT, Phrase
from symbouq.reading.syntax.resolved import Resolve
from symbouq.reading.syntax.sentences import Sentence, Sentences
from symbouq.reading.syntax.things import Things

_LAST = -1


class Siblings:
    """Resolver for noun phrases that distinguish a thing from its siblings, that is, from other
    things of the same kind.

    Args:
        things: The things in the trace.
        sentences: The sentence reader, which knows the words for order and contrast.
        resolve: Resolver for the other noun phrases in a sentence.
        introducing: Whether the text may introduce things. This is true for a scene and false for a
            claim.
    """

    def __init__(
        self, things: Things, sentences: Sentences, resolve: Resolve, introducing: bool
    ) -> None:
        lexeme = sentences.ontology.wording.lexeme
        self._things = things
        self._resolve = resolve
        self._number = sentences.preparation.amounts.number
        self._introducing = introducing
        self._ranks = {
            **sentences.ontology.lexicon.ordinal,
            **dict.fromkeys(lexeme.get("final", ()), _LAST),
        }
        self._additive = lexeme.get("additive", frozenset())
        self._other = lexeme.get("other", frozenset())
        self._telling = self._additive | self._other | self._ranks.keys()
        # In the current sentence: things introduced by noun phrases, and things they refer to.
        self._sentence: Sentence | None = None
        self._new: dict[int, int] = {}
        self._found: dict[tuple[int, int], tuple[int, ...] | None] = {}
        # In the previous sentence: its things, the counted ones, and the last noun in a topic
        # position and in any other position.
        self._before: set[int] = set()
        self._counted: set[int] = set()
        self._nouns: dict[bool, str] = {}

    def resolved(
        self, sentence: Sentence, phrase: Phrase, other: int, noun: str
    ) -> tuple[int, ...] | None:
        """Return the thing that a noun phrase distinguishes from its siblings. The result is empty
        if the thing is unknown, and None if the noun phrase is of another type.

        Args:
            sentence: The sentence.
            phrase: The noun phrase.
            other: Head of the related noun phrase, which must refer to a different thing.
            noun: Last plural noun in the text; empty if there is none.
        """
        mark, *told = self._words(sentence, phrase)
        without_noun = phrase.kind in ("group", "elliptic")
        if mark not in self._telling or not (told or without_noun):
            return None
        self._begin(sentence)
        if phrase.head in self._new:
            return (self._new[phrase.head],)
        # "Another box" is a new thing, whatever it is related to.
        key = phrase.head, CONTEXT if phrase.kind == "indefinite" else other
        if key not in self._found:
            nouns = self._understood(sentence, phrase, noun) if without_noun else [""]
            kinds = [[*told, *understood.split()] for understood in nouns]
            found = (self._of_kind(sentence, phrase, other, mark, kind) for kind in kinds if kind)
            first = next(filter(None, found), None) if without_noun else next(found, None)
            self._found[key] = first
        return self._found[key]

    def is_any(self, sentence: Sentence, words: Sequence[str]) -> bool:
        """Whether "the box" or "the older box" may refer to any of several known things."""
        kinds = self._things.told_apart(words)
        self._begin(sentence)
        return any(len({*self._things.like(kind)} - {*self._new.values()}) > 1 for kind in kinds)

    def remember(
        self, sentence: Sentence, named: Sequence[Phrase], meant: Iterable[Iterable[int]]
    ) -> None:
        """Record the noun phrases in a sentence that each refer to a single thing, with the things
        that they refer to.
        """
        self._before = set().union(*meant)
        self._counted = self._counted_by(sentence, named, CONTEXT)
        self._nouns |= {leads(p): sentence.named[p.head][1] for p in named}

    def _begin(self, sentence: Sentence) -> None:
        if self._sentence is not sentence:
            self._sentence, self._new, self._found = sentence, {}, {}

    def _words(self, sentence: Sentence, phrase: Phrase) -> list[str]:
        """The words of a noun phrase, starting with the distinguishing one."""
        if phrase.kind == "group":
            near = [
                w.text.lower() for w in sentence.words[max(0, phrase.head - 1) : phrase.head + 1]
            ]
            return [next((text for text in near if text in self._other), "")]
        words = " ".join(sentence.words[n].text for n in phrase.words).lower().split()
        # "A further jug": the parser takes the article for a letter.
        return words[1:] if words[0] == "a" and self._additive.intersection(words[1:2]) else words

    def _understood(self, sentence: Sentence, phrase: Phrase, noun: str) -> list[str]:
        """The nouns that may be omitted in a noun phrase, the most likely first. In "the key is in
        one box, the lock in the other", the noun in the same grammatical role comes first.
        """
        of_topic = leads(phrase)
        here = sorted(self._named(sentence, phrase), key=leads, reverse=of_topic)
        nouns = [sentence.named[p.head][1] for p in here]
        return list(filter(None, [*nouns, self._nouns.get(of_topic, ""), noun]))

    def _of_kind(
        self, sentence: Sentence, phrase: Phrase, other: int, mark: str, kind: Sequence[str]
    ) -> tuple[int, ...] | None:
        """The thing of the given kind that `mark` ("another", "second", "other") distinguishes from
        its siblings. The related noun phrase at `other` must refer to a different thing.
        """
        *told, noun = kind
        kind = [*told, singular_of(noun)]
        like = self._things.like(kind)
        if phrase.kind == "indefinite" or mark in self._additive:
            if not like or self._ranks.get(mark) == 1:
                return None
            if self._introduces(sentence):
                return self._introduced(phrase, mark, kind)
            found = self._things.introduced([mark, *kind])
            return found if len(found) == 1 else ()
        if mark in self._ranks:
            return self._ranked(mark, kind, like)
        return self._rest(sentence, phrase, other, mark, kind)

    def _introduces(self, sentence: Sentence) -> bool:
        return self._introducing and not sentence.asked

    def _introduced(self, phrase: Phrase, mark: str, kind: Sequence[str]) -> tuple[int, ...]:
        self._new[phrase.head] = self._things.introduce([mark, *kind], kind)
        return (self._new[phrase.head],)

    def _ranked(
        self, mark: str, kind: Sequence[str], like: Sequence[int]
    ) -> tuple[int, ...] | None:
        """Resolve "the second box" among boxes that were introduced one after the other."""
        found = self._things.introduced([mark, *kind])
        if found:
            return found if len(found) == 1 else ()
        if len(like) < 2 or kind not in self._things.told_apart(kind):
            return None
        rank = self._ranks[mark]
        if any(self._things.row_of(thing) for thing in like) or rank > len(like):
            return ()
        return (like[rank if rank == _LAST else rank - 1],)

    def _rest(
        self, sentence: Sentence, phrase: Phrase, other: int, mark: str, kind: Sequence[str]
    ) -> tuple[int, ...] | None:
        """Resolve "the other box". If there are two boxes, it is the one not mentioned just before.
        If only one box has been mentioned, it is a new box. In that case, if the phrase has no
        noun, the first box must have been mentioned as "ONE box".
        """
        named = self._named(sentence, phrase)
        spoken = self._things_of(sentence, named, phrase.head)
        related = sentence.says.phrases.get(other)
        if related is not None and not related.plural and related.kind != "group":
            spoken |= {*self._resolve(sentence, other, CONTEXT)}
        counted = self._counted | self._counted_by(sentence, named, phrase.head)
        like = self._things.like(kind)
        has_another = counted if phrase.kind in ("group", "elliptic") else spoken | self._before
        if len(like) == 1 and like[0] in has_another and self._introduces(sentence):
            return self._introduced(phrase, mark, kind)
        if len(like) != 2:
            return () if like else None
        for of in (spoken, self._before):
            left = [thing for thing in like if thing not in of]
            if len(left) < 2:
                return tuple(left)
        return self._things.introduced([mark, *kind])[:1]

    @staticmethod
    def _named(sentence: Sentence, phrase: Phrase) -> list[Phrase]:
        phrases = sentence.says.phrases.values()
        return [p for p in phrases if p.names and not p.plural and p.head < phrase.head]

    def _things_of(self, sentence: Sentence, phrases: Iterable[Phrase], other: int) -> set[int]:
        return {thing for p in phrases for thing in self._resolve(sentence, p.head, other)}

    def _counted_by(self, sentence: Sentence, phrases: Iterable[Phrase], other: int) -> set[int]:
        """The things that a sentence mentions as one of several: "ONE box"."""
        ones = (p for p in phrases if self._number(_before(sentence, p)) == 1)
        return self._things_of(sentence, ones, other)


def _before(sentence: Sentence, phrase: Phrase) -> str:
    return sentence.words[max(0, min(phrase.words) - 1)].text.lower()


def leads(phrase: Phrase) -> bool:
    """Whether a noun phrase is the topic of its clause."""
    return phrase.role in ("subject", "introduced")
