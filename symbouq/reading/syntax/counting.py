"""Read quantifiers: "none of the cups", "nothing in B", "the first of four"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from symbouq.reading.syntax.extraction import CONTEXT, Triplet
from symbouq.reading.syntax.resolved import Resolve, Resolved
from symbouq.reading.syntax.sentences import Sentence, Sentences
from symbouq.reading.syntax.things import Things
from symbouq.reading.text import Count

_MOST_PAIRS = 40
"""Maximum number of pairs of things in one counted statement."""


class Counting:
    """Reader of quantifiers that uses the rules in `rules/reading/counts.lp`.

    Args:
        things: The things in the trace.
        sentences: The sentence reader, which knows the counting words.
        resolve: Resolver for noun phrases.
    """

    def __init__(self, things: Things, sentences: Sentences, resolve: Resolve) -> None:
        self._things = things
        self._resolve = resolve
        self._amounts = sentences.preparation.amounts
        self._first_on = sentences.first_on
        self._none, self._barred = sentences.nothing, sentences.barred
        self._classes = sentences.ontology.wording.lexeme

    def counted(
        self, sentence: Sentence, contents: Mapping[int, Sequence[int]]
    ) -> tuple[list[Resolved], Count] | None:
        """Return the statements that a sentence counts, with the minimum and maximum number of them
        that are true: "exactly two of the cups are in A". Return None for a sentence without a
        quantifier.

        Args:
            sentence: The sentence.
            contents: Maps each thing to its known contents.
        """
        if len(sentence.says.counts) != 1 or sentence.asked:
            return None
        ((trigger, by, of, other),) = sentence.says.counts
        words = [word.text.lower() for word in sentence.words]
        said = (s.relations for s in sentence.says.triplets if s.trigger == trigger)
        relations = sentence.words[trigger].relations or next(said, ())
        if len(relations) != 1 or not self._barred.isdisjoint(words):
            return None
        others = () if other is None else self._resolve(sentence, other, CONTEXT)
        figures = others if by is None else self._domain(sentence, by, contents)
        grounds = others if of is None else self._domain(sentence, of, contents)
        pairs = [(one, two) for one in figures for two in grounds if one != two]
        if not pairs or len(pairs) > _MOST_PAIRS:
            return None
        counts = [self._count(words, n, len(pairs)) for n in (by, of) if n is not None]
        single = len(figures if by is None else grounds) == 1 or len(counts) == 2
        if any(count is None for count in counts) or len(set(counts)) > 1:
            return None
        (count,) = set(counts)
        assert count is not None
        if not (single or count[0] == len(pairs) or count[1] == 0):
            return None  # if there are several grounds, the count may apply to each
        word = sentence.words[trigger]
        span = sentence.start + word.start, sentence.start + word.end
        triplet = Triplet(trigger, CONTEXT, CONTEXT, relations, 1, False, "asserted")
        return [Resolved(one, relations[0], two, triplet, span) for one, two in pairs], count

    def first(self, sentence: Sentence) -> Iterator[Resolved]:
        """Yield statements about the thing at the end of a scale, as in "A is the leftmost of the
        four cups". In "A is the leftmost one", A is compared with the other things in its row.
        """
        done: set[tuple[int, int]] = set()
        for word, head, group in sentence.says.extremes:
            first = self._resolve(sentence, head, CONTEXT if group == head else group)
            things = self._several_of(sentence, group) if group != head else ()
            if len(first) == 1 and len(things) < 2:
                things = self._things.row_of(first[0])
            told = sentence.words[word]
            scale = next((scale for scale, number in told.places if number == 1), "")
            relation = told.relations[0] if told.category else self._first_on.get(scale)
            if len(first) != 1 or len(things) < 2 or first[0] not in things:
                continue
            told_all = group != head and sentence.says.phrases[group].count is not None
            if not (told_all or self._things.counted_from_one(things)):
                continue  # "layer 3 is the topmost layer", where the text tells of 3, 4 and 5
            span = sentence.start + told.start, sentence.start + told.end
            for other in things:
                if other != first[0] and relation is not None and (first[0], other) not in done:
                    done.add((first[0], other))
                    triplet = Triplet(word, head, group, (relation,), 1, False, "asserted")
                    yield Resolved(first[0], relation, other, triplet, span)

    def _domain(
        self, sentence: Sentence, word: int, contents: Mapping[int, Sequence[int]]
    ) -> tuple[int, ...]:
        """The things that a quantifier applies to; empty unless all of them are known."""
        held: dict[int, None] = {}
        for head in sentence.says.held_by.get(word, ()):
            for holder in self._resolve(sentence, head, CONTEXT):
                held.update(dict.fromkeys(contents.get(holder, ())))
        if held:
            return tuple(held)
        heads = sentence.says.among.get(word, ())
        if len(heads) == 1:
            return self._several_of(sentence, heads[0])
        each = [self._resolve(sentence, head, CONTEXT) for head in heads]
        return tuple({thing: None for of in each for thing in of}) if all(each) else ()

    def _several_of(self, sentence: Sentence, head: int) -> tuple[int, ...]:
        """The things of the kind given by a noun phrase: "the three cups", "cup"."""
        phrase = sentence.says.phrases[head]
        _, noun, _ = sentence.named[head]
        told = (sentence.words[n] for n in phrase.words)
        words = [word for each in told if not each.places for word in each.text.split()]
        count = phrase.count or self._amounts.number(words[0].lower() if words else "")
        things: tuple[int, ...] = ()
        if phrase.kind in ("group", "pronoun"):
            things = self._resolve(sentence, head, CONTEXT)
        else:
            kind = [word for word in words if self._amounts.number(word.lower()) is None]
            things = self._things.several(kind, noun, count) if kind else ()
        if not things and count is not None:
            things = self._things.every(count)  # "the four vehicles": a van, a car, ...
        return things if len(things) > 1 else ()

    def _count(self, words: Sequence[str], at: int, total: int) -> Count | None:
        """The minimum and maximum number that a quantifier allows for `total` things. None if some
        of the things seem to be unknown: "two of the cups" implies more than two.
        """
        if words[at] in self._none:
            return 0, 0
        number = self._amounts.number(words[at])
        everyone = bool(at) and words[at - 1] in self._classes.get("totality", ())
        if number is None or (everyone and number == total):
            return total, total
        count = self._counted_as(words, at, number, total)
        return count if count[0] < total else None

    def _counted_as(self, words: Sequence[str], at: int, number: int, total: int) -> Count:
        """The minimum and maximum expressed by a number and the words before it."""
        match self._amounts.sense(words[:at]):
            case ">=":
                return number, total
            case ">":
                return number + 1, total
            case "<=":
                return 0, number
            case "<":
                return 0, number - 1
            case None:
                return 0, total
        exact = bool(at) and words[at - 1] in self._classes.get("exactness", ())
        return number, number if exact else total
