"""Find the whole that a text is about, such as a room. "On the left" is a side of the whole, and
"the west wall" is its boundary.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from symbouq.reading.stems import singular_of
from symbouq.reading.syntax.extraction import CONTEXT, Triplet
from symbouq.reading.syntax.resolved import Resolve, Resolved
from symbouq.reading.syntax.sentences import Sentence, Sentences
from symbouq.reading.syntax.things import Things

_UNKNOWN = 7
"""Cost of a statement about an unknown whole."""


class Whole:
    """Reader of statements about the whole.

    Args:
        things: The things in the trace, including the whole.
        sentences: The sentence reader, which knows the words for sides and boundaries.
        resolve: Resolver for noun phrases.
        telling: Whether the text is a scene. The whole of a scene may be unnamed.
    """

    def __init__(
        self, things: Things, sentences: Sentences, resolve: Resolve, telling: bool
    ) -> None:
        self._things = things
        self._resolve = resolve
        self._telling = telling
        self._wording = sentences.ontology.wording
        self._sides = sentences.preparation.sides
        self._excluding = sentences.excluding
        self._sided: tuple[int, tuple[str, ...]] | None = None

    def open(self, sentence: Sentence) -> None:
        """If the text mentions exactly one room, page or similar thing, use it as the whole."""
        if not self._telling or self._things.whole is not None:
            return
        beside = {triplet.figure for triplet in sentence.says.triplets} | {
            triplet.ground
            for triplet in sentence.says.triplets
            if not self._wording.inner_sides.issuperset(triplet.relations)
        }
        named = [
            head
            for head, phrase in sentence.says.phrases.items()
            if phrase.names and not phrase.plural and head not in beside
            if self._has(sentence, head, self._class("surface"))
        ]
        meant = self._resolve(sentence, named[0], CONTEXT) if len(named) == 1 else ()
        if len(meant) == 1:
            (self._things.whole,) = meant

    def of_whole(self, sentence: Sentence, triplet: Triplet) -> tuple[Triplet, int | None]:
        """Complete a triplet about a side of the whole, "on the left" or "in the lower right
        corner". Return the triplet and the whole. For other triplets, return the unchanged triplet
        and None.
        """
        word = sentence.words[triplet.trigger]
        relations = triplet.relations
        central = bool(relations) and all(r in self._wording.central for r in relations)
        if word.category != "side" or not relations or triplet.figure == CONTEXT:
            return triplet, None
        if triplet.ground != CONTEXT:
            if self._has(sentence, triplet.ground, self._class("surface")):
                # "The page has a logo at the top": the logo is at the top, inside the page.
                inner = self._within(sentence, triplet)
                return replace(triplet, relations=inner or relations), None
            holds = self._has(sentence, triplet.ground, self._class("container"))
            holds = holds or sentence.says.phrases[triplet.ground].role == "subject"
            if not central or holds:
                return triplet, None
        if central and not self._wording.within_as:
            return replace(triplet, cost=_UNKNOWN), None
        relations = self._within(sentence, triplet)
        if not relations:
            return triplet, None  # "to the left" is relative to the last thing
        whole = self.opposed(relations)
        if whole is None:
            whole = self._things.surroundings() if self._telling else self._things.whole
        cost = 1 if whole is not None else _UNKNOWN
        return replace(triplet, relations=relations, cost=cost), whole

    def _within(self, sentence: Sentence, triplet: Triplet) -> tuple[str, ...]:
        """The inner sides that a triplet is about, "at the very top"; empty for other triplets."""
        if self._wording.inner_sides.issuperset(triplet.relations):
            return triplet.relations
        words = (w.text.lower() for w in sentence.words[: triplet.trigger])
        before = [word for word in words if word not in self._class("degree")][-2:]
        opens = len(before) == 2 and before[0] in self._class("within") | self._class("upon")
        if not opens or before[1] not in self._class("article"):
            return ()
        sides = (self._wording.within_as.get(relation, ()) for relation in triplet.relations)
        return tuple(dict.fromkeys(side for of in sides for side in of))

    def hear(self, relations: tuple[str, ...], whole: int) -> None:
        """Record that the text has mentioned the given sides of a thing: "at the left end of the
        shelf".
        """
        if relations and self._wording.inner_sides.issuperset(relations):
            self._sided = whole, relations

    def opposed(self, relations: Collection[str]) -> int | None:
        """Return the thing that a side belongs to if the text has just mentioned another side of
        it: "the right end" after the left end or the middle. Otherwise return None.
        """
        if self._sided is None or not self._wording.inner_sides.issuperset(relations):
            return None
        whole, told = self._sided
        opposite = any(self._excluding(r, s) for r in relations for s in told)
        middles = [not self._wording.central.isdisjoint(of) for of in (relations, told)]
        return whole if opposite or sum(middles) == 1 else None

    def bounded(self, sentence: Sentence, said: Sequence[Resolved]) -> Iterator[Resolved]:
        """Yield statements about boundaries such as "the west wall", and about things at a
        boundary. Both are inside the bounded thing, on the given side.
        """
        if not self._telling or not self._wording.within_as:
            return
        for each in said:
            head = each.triplet.ground
            counts = each.sure and not each.triplet.negative
            if head == CONTEXT or not counts or each.relation not in self._wording.bounding:
                continue
            sides = self._sides_of(sentence, head)
            whole = self._bounded_by(sentence, head) if sides else each.ground
            for side in sides:
                for thing in (each.ground, each.figure):
                    if thing != whole:
                        yield replace(
                            each, figure=thing, relation=side, ground=whole, offset=(), unit=""
                        )

    def _sides_of(self, sentence: Sentence, head: int) -> tuple[str, ...]:
        """The inner sides for the boundary that a noun phrase refers to; empty for other noun
        phrases.
        """
        if not self._has(sentence, head, self._class("boundary")):
            return ()
        texts = (sentence.words[n].text.lower() for n in sentence.says.phrases[head].words)
        named = (self._wording.within_as.get(self._sides.get(text, ""), ()) for text in texts)
        return tuple(side for sides in named for side in sides)

    def _bounded_by(self, sentence: Sentence, head: int) -> int:
        """The thing that a boundary belongs to: the one stated in the noun phrase, otherwise the
        whole.
        """
        for owner in sentence.says.parts.get(head, ()):
            for thing in self._resolve(sentence, owner, head):
                return thing
        return self._things.surroundings()

    def _class(self, name: str) -> frozenset[str]:
        return self._wording.lexeme.get(name, frozenset())

    def _has(self, sentence: Sentence, head: int, nouns: Collection[str]) -> bool:
        noun = sentence.words[head].text.lower().split()[-1]
        return noun in nouns or singular_of(noun) in nouns
