"""Go through a text sentence by sentence, and resolve noun phrases and pronouns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from symbouq.reading.stems import singular_of
from symbouq.reading.syntax.counting import Counting
from symbouq.reading.syntax.extraction import CONTEXT, Phrase, Place, Triplet
from symbouq.reading.syntax.motion import Motion
from symbouq.reading.syntax.positions import Arrangement, Compared, Placed, numbered
from symbouq.reading.syntax.resolved import Resolved
from symbouq.reading.syntax.sentences import POSSESSIVE, Sentence, Sentences
from symbouq.reading.syntax.siblings import Siblings, leads
from symbouq.reading.syntax.tables import Tables
from symbouq.reading.syntax.things import Things
from symbouq.reading.syntax.wholes import Whole
from symbouq.reading.text import Count

_KEPT_APART = 20
"""Maximum number of containers of the same kind that are compared in pairs."""
_FACING = frozenset(("face", "course", "face_away", "course_away"))
"""Kinds of steps that set the heading of a thing."""
_HOLDERS = ("container", "interior", "surface", "component", "slot")
"""Classes of nouns for containers and supports."""
_OWNER = re.compile(r"\b[A-Z]\w+['\u2019]s\b")
_REMEMBERED = 8
"""Maximum number of earlier groups that "both" may refer to."""


class Discourse:
    """The things that a text has mentioned so far, and their state.

    Args:
        things: The things in the trace. Things mentioned in the text are added to them.
        sentences: The sentence reader, which knows which relations can be joined and which exclude
            each other.
        arrangement: The places of things in the text. Without it, places are ignored.
        motion: The headings of things. Without it, turns are ignored.
        judging: For claims, the places of things in the scene.
        turned: For claims, the headings of things in the scene.

    Attributes:
        topic: The thing that the last sentence was about.
        question: The statements that the last sentence asked to have confirmed, if any.
    """

    def __init__(
        self,
        things: Things,
        sentences: Sentences,
        arrangement: Arrangement | None = None,
        motion: Motion | None = None,
        judging: Arrangement | None = None,
        turned: Motion | None = None,
    ) -> None:
        self._arrangement = arrangement
        self._related: set[frozenset[int]] = set()
        self._left: dict[int, int] = {}  # moved things with their former places
        self.things = things
        self._amounts = sentences.preparation.amounts
        self._motion = motion
        self._judging = judging
        self._turned = motion or turned
        self._ontology = sentences.ontology
        self._wording = sentences.ontology.wording
        self._settling = sentences.settling
        self._counting = Counting(things, sentences, self._resolve)
        self._siblings = Siblings(things, sentences, self._resolve, arrangement is not None)
        self._whole = Whole(things, sentences, self._resolve, arrangement is not None)
        self._together = sentences.preparation.together
        self._excluding = sentences.excluding
        self._directions = sentences.preparation.directions
        self._aside = False  # whether the topic is at a side of the ground
        self._containing = sentences.containing
        self._converse = sentences.ontology.relations.converse
        self._sideways = sentences.sideways
        self._fixed = sentences.fixed
        self.present: set[int] = set()  # things that the text speaks of in the present tense
        self.topic: int | None = None
        self.ground: int | None = None
        self._place: int | None = None  # container mentioned last, for "THERE"
        self.question: tuple[Resolved, ...] = ()
        self._groups: list[tuple[int, ...]] = []
        self._named: list[int] = []
        self._subjects: list[int] = []
        self._placed_last: list[int] = []
        self._noun = ""
        self._graded = ""
        self._heard = 0  # number of sentences so far
        self._wanted: list[tuple[Triplet, int]] = []
        self._asking: set[int] = set()  # noun phrases being resolved

    def take(self, sentence: Sentence) -> tuple[Resolved, ...]:
        """Return the statements of a sentence. Pronouns in later sentences may refer to the things
        in it.
        """
        for called, head in sentence.says.aliases:
            self.things.call(sentence.named[called][0], self.things.thing(*sentence.named[head]))
        for head, members in sentence.says.members.items():
            named = [self._resolve(sentence, member, CONTEXT) for member in members]
            listed = list(dict.fromkeys(t for of in named for t in of))
            self.things.gather(sentence.named[head][0], listed)
            self._groups.append(tuple(listed))
        self._heard += 1
        self._whole.open(sentence)
        wanted, self._wanted = self._wanted, []
        said = tuple(
            s.displaced(self._left, self._ontology) if s.triplet.until else s  # before a move
            for s in self._joined(self._said(sentence))
        )
        self._line_up(sentence, said)
        said = said or tuple(self._supplied(sentence, wanted))
        self._related |= {
            frozenset((s.figure, s.ground)) for s in said if s.relation in self._settling
        }
        said += (*self._whole.bounded(sentence, said), *self._counting.first(sentence))
        said += tuple(self._stepped(sentence))
        said += (*self._arranged(sentence, said), *self._contained(sentence))
        if self._judging is not None:
            said += tuple(self._faced(sentence))
            said = self._located(sentence, said, self._judging)
            said = tuple(self._timed(each, sentence.time) for each in said)
        said = tuple(self._viewed(sentence, said))
        if self._arrangement is not None:
            self.present |= self._meant(sentence, sentence.says.present)
            self.things.people.update(self._acting(sentence))
        self._remember(sentence, [s for s in said if not self.things.is_ahead(s.figure)])
        facts = (s for s in said if s.sure and s.triplet.force == "asserted")
        for each in facts if self._arrangement is not None else ():
            converse = self._converse.get(each.relation, "")
            self.things.placed.setdefault(each.figure, set()).add((each.relation, each.ground))
            self.things.placed.setdefault(each.ground, set()).add((converse, each.figure))
        self.question = said if sentence.asked else ()
        self._left = {}
        return said

    def _line_up(self, sentence: Sentence, said: Iterable[Resolved]) -> None:
        """Record an ordered list of things, "from left to right: A, B, C", as a row."""
        if self._arrangement is None:
            return
        rows: dict[int, list[Resolved]] = {}
        for each in said:
            rows.setdefault(each.triplet.trigger, []).append(each)
        for trigger, row in rows.items():
            ordered = sentence.words[trigger].category == "order"
            if ordered or not {s.figure for s in row}.isdisjoint(s.ground for s in row):
                self.things.line_up(thing for s in row for thing in (s.figure, s.ground))

    def moved(self, sentence: Sentence) -> set[int]:
        """Return the things that move, are moved, or swap places with an unknown thing in a
        sentence, and those that may be the unknown thing: others of the same kind, or named
        recently.
        """
        later = {t.figure for t in sentence.says.triplets if t.former and sentence.time == "later"}
        told = sentence.says.moves | sentence.says.resettled | later
        moved = self._meant(sentence, told - {CONTEXT})
        unclear = [(*one, *two) for one, two in self._exchanged(sentence) if not _are_two(one, two)]
        recent = self._named[-_REMEMBERED:] if unclear else ()  # "swaps the crockery around"
        return moved.union(*unclear, recent, *(self._kin(t) for pair in unclear for t in pair))

    def _kin(self, thing: int) -> list[int]:
        """Return the things with the same noun, such as all cups for "the left cup"."""
        return self.things.like([singular_of(self.things.spellings[thing].split()[-1])])

    def changed(self, sentence: Sentence) -> Iterator[tuple[set[int], Collection[str]]]:
        """Yield the things that a sentence empties or that turn in it, each time with the relations
        that other things no longer have to them.
        """
        yield self._meant(sentence, sentence.says.spills), self._wording.carried
        turned = self._meant(sentence, sentence.says.turns)
        # Sides of things with known headings are directions of the text.
        headed = () if self._motion is None else (thing for thing, _ in self._motion.headings())
        yield turned.difference(headed), self._sideways

    def _meant(self, sentence: Sentence, heads: Iterable[int]) -> set[int]:
        """Return the things that noun phrases refer to, or may refer to."""
        meant: set[int] = set()
        for head in heads:
            phrase, known = sentence.says.phrases[head], len(self.things)
            found = self._may_mean(sentence, phrase) or self._resolve(sentence, head, CONTEXT)
            meant.update(found)
            if len(found) < {"pronoun": 1, "group": 2}.get(phrase.kind, 0):
                meant.update(self._antecedents(sentence, head))
            elif self._is_definite_plural(sentence, phrase) and all(t >= known for t in found):
                meant.update(*self._groups[-1:])  # "the fruits" after "an apple and a pear"
                meant.update(*map(self._kin, found))
        return meant

    def _is_definite_plural(self, sentence: Sentence, phrase: Phrase) -> bool:
        """Whether a noun phrase refers to several known things: "THE fruits"."""
        before = sentence.words[max(0, min(phrase.words) - 1)].text.lower()
        return phrase.plural and before in self._wording.lexeme["definite"]

    def _antecedents(self, sentence: Sentence, head: int) -> Iterator[int]:
        """Yield the things that an unclear pronoun may refer to."""
        phrases = sentence.says.phrases
        for before in [p.head for p in phrases.values() if p.names and p.head < head]:
            yield from self._resolve(sentence, before, CONTEXT)
        yield from (thing for thing in (self.topic, self.ground) if thing is not None)
        yield from self._named[-_REMEMBERED:]

    def left_behind(self, thing: int) -> int:
        """Return a new thing that stands for the former place of a moved thing. Earlier statements
        about the moved thing then apply to the new thing.
        """
        place = self.things.before(thing)
        self._left[thing] = place
        if self._arrangement is not None:
            self._arrangement.hand_over(thing, place)
        turned = {thing: place}
        self._related = {frozenset(turned.get(n, n) for n in pair) for pair in self._related}
        return place

    def turn(self, sentence: Sentence) -> None:
        """Update the headings of the things that turn or face somewhere in a scene sentence."""
        if self._motion is None:
            return
        for step in sentence.says.steps:
            word = sentence.words[step.told]
            side = word.relations[0] if len(word.relations) == 1 else ""
            for thing in self._resolve(sentence, step.moved, CONTEXT):
                self._motion.turn(thing, step.kind, side)

    def counted(
        self, sentence: Sentence, contents: Mapping[int, Sequence[int]]
    ) -> tuple[list[Resolved], Count] | None:
        """Return the statements of a sentence about a number of things (`Counting.counted`)."""
        return self._counting.counted(sentence, contents)

    def distinct(
        self, spoken: Sequence[Resolved], kinds: Collection[str]
    ) -> Iterator[tuple[int, int]]:
        """Yield pairs of containers of the same kind, such as two rooms, if the text places
        something in one of this kind. In a pair, neither container is in or on the other, and no
        statement relates the two.
        """
        around = self._containing | self._wording.carried | self._wording.inner_sides
        held: dict[int, set[int]] = {}
        containers = set()
        for said in spoken:
            if said.triplet.negative:
                continue
            if said.relation in around:
                held.setdefault(said.figure, set()).add(said.ground)
            if self._converse.get(said.relation) in around:
                held.setdefault(said.ground, set()).add(said.figure)
            if said.relation in self._containing:
                containers.add(said.ground)
        related = {frozenset((said.figure, said.ground)) for said in spoken}
        for things in self.things.alike(kinds):
            if containers.isdisjoint(things) or len(things) > _KEPT_APART:
                continue
            for one, other in combinations(things, 2):
                nested = other in reached(held, one) or one in reached(held, other)
                if not nested and frozenset((one, other)) not in related:
                    yield one, other

    def swapped(self, sentence: Sentence) -> list[tuple[int, int]]:
        """Return the pairs of things that swap places in a sentence."""
        exchanged = self._exchanged(sentence)
        pairs = [(one[0], two[0]) for one, two in exchanged if _are_two(one, two)]
        for one, two in pairs:
            turned = {one: two, two: one}
            self.things.exchange(one, two)
            self._left |= turned
            if self._arrangement is not None:
                self._arrangement.swap(one, two)
            for thing in turned:
                if self._motion is not None and self._motion.faces(thing):
                    self._motion.turn(thing, "face_other", "")
        return pairs

    def _exchanged(self, sentence: Sentence) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        for head, others in sentence.says.swaps.items():
            for other in others:
                one, two = (self._resolve(sentence, n, CONTEXT) for n in (head, other))
                if any(_graded(sentence, sentence.says.phrases[n]) for n in (head, other)):
                    yield (*one, *two), ()  # the left cup is then no longer the left one
                    continue
                by = {*self._meant(sentence, sentence.says.acting - {head, other})}
                together = head == other and len(one) == 2 and by.isdisjoint(one)  # "swap them"
                yield (one[:1], one[1:]) if together else (one, two)

    def _joined(self, said: Iterable[Resolved]) -> list[Resolved]:
        """Join the directions that a sentence states for the same pair of things: "above B and left
        of it".
        """
        found: list[Resolved] = []
        for each in said:
            for n, other in enumerate(found):
                alike = (other.figure, other.ground) == (each.figure, each.ground)
                alike = alike and other.triplet.negative == each.triplet.negative is False
                alike = alike and other.triplet.force == each.triplet.force
                whole = self._together([other.relation, each.relation]) if alike else None
                if whole is not None:
                    span = min(other.span[0], each.span[0]), max(other.span[1], each.span[1])
                    sure = other.sure and each.sure
                    found[n] = replace(
                        self._amounts_of_both(other, each),
                        relation=whole,
                        span=span,
                        sure=sure,
                        joined=other.joined | {each.triplet.trigger},
                    )
                    break
            else:
                found.append(each)
        return found

    def _amounts_of_both(self, one: Resolved, other: Resolved) -> Resolved:
        """The first of two directions that are to be joined, with the amounts of both."""
        factor = self._amounts.factor(other.unit, one.unit) if one.offset else Fraction(1)
        if factor is None or {s.axis for s in one.offset} & {s.axis for s in other.offset}:
            return replace(one, offset=(), unit="")
        further = (shift._replace(value=shift.value * factor) for shift in other.offset)
        return replace(one, offset=(*one.offset, *further), unit=one.unit or other.unit)

    def _said(self, sentence: Sentence) -> Iterator[Resolved]:
        meant: list[tuple[Triplet, int, int]] = []
        for stated in sentence.says.triplets:
            viewer = self._viewer_of(stated)
            if viewer is not None:
                several = self._resolve(sentence, stated.figure, CONTEXT)
                meant += [(replace(stated, cost=1), one, viewer) for one in several]
                continue
            triplet, whole = self._whole.of_whole(sentence, stated)
            if whole is not None and self._is_askew(stated):
                continue
            if whole is not None:
                several = self._resolve(sentence, triplet.figure, CONTEXT)
                meant += [(triplet, one, whole) for one in several]
                self._whole.hear(triplet.relations, whole)
                continue
            if self._is_wanted(sentence, triplet.figure):
                grounds = self._resolve(sentence, triplet.ground, triplet.figure)
                self._wanted += [(triplet, ground) for ground in grounds]
                continue
            several = self._resolve(sentence, triplet.figure, triplet.ground)
            grounds = self._resolve(sentence, triplet.ground, triplet.figure)
            phrase = sentence.says.phrases.get(triplet.ground)
            if phrase is not None and phrase.kind == "pronoun" and not phrase.plural:
                # "A is at its north end, B at its south end": "its" has one antecedent
                grounds = _only(self._whole.opposed(triplet.relations)) or grounds
            for ground in grounds[:1]:
                self._whole.hear(triplet.relations, ground)
            meant += [(triplet, one, other) for one in several for other in grounds]
        # In "B is in A and B and C touch", the parser may take "A and B" for a list. B would then
        # be in itself.
        misread = {
            triplet.trigger
            for triplet, figure, ground in meant
            if figure == ground
            and not self._several(sentence, triplet)
            and sentence.words[triplet.trigger].category != "side"
        }
        opposed = self._opposed(meant)
        for triplet, figure, ground in meant:
            if figure == ground:
                continue
            heads = [n for n in (triplet.figure, triplet.ground) if n != CONTEXT]
            words = [sentence.words[n] for n in (*heads, triplet.trigger)]
            start, end = min(w.start for w in words), max(w.end for w in words)
            span = sentence.start + start, sentence.start + min(end, len(sentence.text))
            sure = sentence.sure(triplet) and triplet.trigger not in misread
            sure = sure and (figure, ground) not in opposed
            word = sentence.words[triplet.trigger]
            amounts = word.amounts
            for told in triplet.relations:
                seen = self._seen(triplet, told, ground)
                relation = seen or told
                offset, unit = self._amounts.offset(relation, amounts)
                # Ignore a denied direction with an amount.
                measured = bool(amounts) or word.vague
                counts = sure and not (triplet.negative and measured) and seen is not None
                yield Resolved(figure, relation, ground, triplet, span, counts, offset, unit)
                lies = self._lies(triplet, told, ground) if counts else None
                if lies is not None:
                    yield Resolved(figure, lies, ground, triplet, span)

    def _viewer_of(self, triplet: Triplet) -> int | None:
        """Return the viewer for "on the left", if the text follows somebody on their way."""
        alone = triplet.frame in ("seen", "hour") and triplet.ground == CONTEXT != triplet.figure
        alone = alone and not self._wording.inner_sides.issuperset(triplet.relations)
        return self._turned.viewer if alone and self._turned is not None else None

    def _is_askew(self, triplet: Triplet) -> bool:
        """Whether "on the left" may be relative to the topic, and the topic's left is not the
        text's left.
        """
        if triplet.frame != "seen" or self._turned is None or self.topic is None:
            return False
        return any(self._turned.seen(self.topic, r) != r for r in triplet.relations)

    def _seen(self, triplet: Triplet, relation: str, ground: int) -> str | None:
        """Translate a side of a thing to the text's viewpoint; None if unknown."""
        if not triplet.frame or self._turned is None or self._turned.is_deep(relation):
            return relation
        if triplet.frame == "aboard":
            return self._turned.seen(self._aboard(ground), relation)
        viewer = self._turned.viewer
        if triplet.frame == "hour":
            return relation if viewer is None else self._turned.by_clock(viewer, relation)
        seen = relation if viewer is None else self._turned.seen(viewer, relation)
        if triplet.frame == "own":
            own = self._turned.seen(ground, relation)
            return own if seen == relation or self._turned.faces(ground) else None
        # "You drive south. The inn is left of the mill": as the driver sees it. For "a ship sails
        # south", this is unclear.
        told = viewer is None or (
            triplet.frame == "of"
            and ground != viewer
            and self.things.spellings[viewer] not in self.things.persons.values()
        )
        if told and (seen != relation or self._turned.seen(ground, relation) != relation):
            return None
        return seen

    def _lies(self, triplet: Triplet, relation: str, ground: int) -> str | None:
        """The direction of "in front of" or "behind" in a scene if the thing has a heading."""
        if triplet.negative or self._motion is None or not self._motion.is_deep(relation):
            return None
        thing = self._aboard(ground) if triplet.frame == "aboard" else ground
        seen = self._motion.seen(thing, relation)
        return None if seen == relation else seen

    def _aboard(self, ground: int) -> int:
        """The vessel to which port and starboard refer: the ground if it has a heading, otherwise
        the moving thing, otherwise the whole.
        """
        vessels = (ground, self._turned.viewer, self.things.whole) if self._turned else ()
        faces = (v for v in vessels if v is not None and self._turned and self._turned.faces(v))
        return next(faces, ground)

    def headings(self) -> Iterator[Resolved]:
        """Yield the final headings of things. Each is a relation between the thing and a point
        ahead of it.
        """
        for thing, way in self._motion.headings() if self._motion is not None else ():
            triplet = Triplet(0, CONTEXT, CONTEXT, (way,), 1, False, "asserted")
            yield Resolved(self.things.ahead(thing), way, thing, triplet, (0, 0))

    def _faced(self, sentence: Sentence) -> Iterator[Resolved]:
        """Yield the headings that a claim states. They are uncertain for things that have turned
        since.
        """
        for step in sentence.says.steps:
            word = sentence.words[step.told]
            side = word.relations[0] if len(word.relations) == 1 else ""
            heading = self._turned.heading(step.kind, side) if self._turned is not None else None
            if self._turned is None or heading is None or step.kind not in _FACING:
                continue
            way = self._turned.exact(heading)
            for thing in self._resolve(sentence, step.moved, CONTEXT):
                unsure = self._turned.faced(thing, heading)
                triplet = Triplet(
                    step.told, step.moved, CONTEXT, (way,), 1, False, "asserted", unsure
                )
                span = sentence.start + word.start, sentence.start + word.end
                yield Resolved(self.things.ahead(thing), way, thing, triplet, span)

    def _arranged(self, sentence: Sentence, said: Sequence[Resolved]) -> Iterator[Resolved]:
        """Yield relations between the things placed in a sentence and the things placed earlier."""
        if self._arrangement is None:
            return
        self._arrangement.hear(sentence.text)
        for sequence in self._sequences(sentence):
            self._arrangement.number(*sequence)
        told = self._told(sentence)
        for thing, place in self._numbered(sentence, said, self._arrangement):
            told.setdefault(thing, []).append(place)
        for thing, places in told.items():
            for place in places:
                self._arrangement.put(thing, self._placed(sentence, place))
        for each in said:
            if (
                each.relation in self._wording.shares_place
                and each.sure
                and not each.triplet.negative
            ):
                self._arrangement.share(each.ground, each.figure)
        for thing, (place, *_) in told.items():
            for other, compared in self._compared(self._arrangement, thing):
                yield self._by_place(sentence, place, thing, other, compared)

    def _sequences(self, sentence: Sentence) -> Iterator[tuple[str, str, int, bool]]:
        """Yield the direction in which numbered things are arranged, if a sentence describes their
        ends. The result consists of the scale, the relation of a later thing to an earlier one
        (empty if the sentence contradicts itself), the last number, and whether the things may go
        up.
        """
        ways: dict[str, set[str]] = {}
        counts: dict[str, int | None] = {}
        across = False
        codes = [
            numbered(w.text) if w.label or w.text.isdecimal() else None for w in sentence.words
        ]
        for head, at, end, relation in sentence.says.sequences:
            plural = sentence.words[head].text.lower().split()[0]
            noun, (own, number) = singular_of(plural), codes[at] or ("", 1)
            if len(noun) < 2 or (head != at and own not in ("", noun)):
                continue
            scale = self._wording.axis_of.get(plural, noun)
            told = [n for _, n in filter(None, codes[head:])]
            if head == at:
                number = 1 if told[:2] in ([], [1], [1, max(told, default=1)]) else 0  # "6 to 1"
            phrase = sentence.says.phrases.get(head)
            before = sentence.words[max(0, head - 1)].text.lower()
            counts[scale] = phrase.count if phrase is not None else self._amounts.number(before)
            known = number in (1, counts[scale] or max(told, default=1))
            further = self._converse[relation] if number == 1 else relation
            ways.setdefault(scale, set()).add(further if known else "")
            compass = self._wording.lexeme.get("compass", frozenset())
            across = across or not compass.isdisjoint(sentence.words[end].text.lower().split())
        last = max((n for _, n in filter(None, codes)), default=0)
        last = last if last > 1 else 0
        if len(ways) > 1:  # "four rows of seats, numbered 1 to 4"
            ways = {s: of for s, of in ways.items() if counts[s] and last in (0, counts[s])}
        for scale, of in ways.items():
            further = next(iter(of)) if len(ways) == len(of) == 1 else ""
            yield scale, further, counts[scale] or last, not across

    def _numbered(
        self, sentence: Sentence, said: Iterable[Resolved], arrangement: Arrangement
    ) -> Iterator[tuple[int, Place]]:
        """Yield the places of numbered things, and the places of things that the sentence puts in
        them.
        """
        places: dict[int, set[Place]] = {}
        given: dict[int, tuple[str, int]] = {}
        for head, phrase in sentence.says.phrases.items():
            further = self._further(sentence, head)
            alone = phrase.words == (head,)
            label = arrangement.numbered(sentence.words[head].text) if alone else None
            place = label if further is None else further[1:]
            if place is not None:
                given[head] = place
        for head, (scale, n) in given.items():
            for thing in self._resolve(sentence, head, CONTEXT):
                places.setdefault(thing, set()).add(Place(head, scale, n, head))
        for each in said:
            told, relation = each.triplet, each.relation
            if not each.sure or told.negative or told.force != "asserted":
                continue
            for thing, said_of, holder in (
                (each.figure, relation, told.ground),
                (each.ground, self._converse.get(relation, ""), told.figure),
            ):
                if said_of in self._wording.carried and holder in given:
                    there = Place(told.trigger, *given[holder], holder)
                    places.setdefault(thing, set()).add(there)
        for thing, of in places.items():
            if len({place.scale for place in of}) == len(of):
                yield from ((thing, place) for place in of)

    def tabled(self, sentence: Sentence, tables: Tables) -> list[Resolved] | None:
        """Return the statements of a table row; None for other sentences."""
        cells = tables.cells(sentence.text)
        if cells is None or self._arrangement is None or sentence.says.triplets:
            tables.end()
            return None
        found: list[Resolved] = []
        span = sentence.start, sentence.start + len(sentence.text)
        for name, places in tables.row(cells):
            words = name.split()
            thing = self.things.thing(words, words[-1])
            for place in places:
                self._arrangement.put(thing, place)
            for other, (relation, offset, unit) in self._compared(self._arrangement, thing):
                triplet = Triplet(0, CONTEXT, CONTEXT, (relation,), 1, False, "asserted")
                found.append(Resolved(thing, relation, other, triplet, span, True, offset, unit))
        return found

    def _compared(self, arrangement: Arrangement, thing: int) -> Iterator[tuple[int, Compared]]:
        """Yield relations between a thing and other things according to their places, unless the
        text states another relation.
        """
        for other in arrangement.others(thing):
            pair = frozenset((thing, other))
            compared = arrangement.relation(thing, other)
            if compared is not None and pair not in self._related:
                self._related.add(pair)
                yield other, compared

    def _located(
        self, sentence: Sentence, said: Sequence[Resolved], arrangement: Arrangement
    ) -> tuple[Resolved, ...]:
        """Turn the places in a claim into relations to a thing with a known place. If there is no
        such thing, the claim cannot be judged.
        """
        located: list[Resolved] = []
        told = self._told(sentence)
        for thing, places in told.items():
            given = [self._placed(sentence, place) for place in places]
            judged = arrangement.judged(thing, given)
            if judged is not None:
                located.append(self._by_place(sentence, places[0], thing, *judged))
        positions = any(word.category == "position" for word in sentence.words)
        partly = positions and (not told or len(located) < len(told))
        # "On the third floor" when the scene does not mention it: the number determines the place.
        by_place = {each.figure for each in located}
        numbered = {
            s.ground
            for s in said
            if s.figure in by_place and s.ground in by_place and s.ground >= self.things.known
        }
        said = [s for s in said if s.ground not in numbered]
        located = [each for each in located if each.figure not in numbered]
        pairs = {(each.figure, each.ground) for each in said}
        located = [each for each in located if (each.figure, each.ground) not in pairs]
        found = (*said, *([] if partly else located))
        steps = any(step.kind not in _FACING for step in sentence.says.steps)
        if partly or sentence.says.moves or steps:
            # A thing may move on after it arrives.
            return tuple(replace(s, triplet=replace(s.triplet, unsure=True)) for s in found)
        return found

    def _viewed(self, sentence: Sentence, said: Iterable[Resolved]) -> Iterator[Resolved]:
        """Yield a sentence's statements. Left and right are unsure if the sentence has a different
        viewpoint from the text. A sentence without a viewpoint of its own has the text's viewpoint.
        Left and right from a viewpoint do not imply compass directions.
        """
        view, frames, told = self._view(sentence), self.things.frames, self._arrangement is not None
        for each in said:
            if each.relation not in self._sideways:
                yield each
                continue
            compass = not self._fixed.isdisjoint(sentence.word_of(each.triplet).split())
            if told and (compass or sentence.says.seen_by):
                frames.add("compass" if compass else "viewpoint")
            other = "viewpoint" if compass else "compass" if sentence.says.seen_by else ""
            if not told and frames == {other}:
                yield replace(each, sure=False)
                continue
            if compass:
                yield each
                continue
            if told:
                if not self.things.viewed:
                    self.things.view = view
                self.things.viewed = True
            # "Seen from the desk, the lamp is on the left": on the left of the desk.
            same = view in (None, self.things.view, each.figure, each.ground)
            yield each if same else replace(each, sure=False)

    def _view(self, sentence: Sentence) -> int | str | None:
        """The viewpoint stated in a sentence: a thing, or the word for a viewpoint that is not a
        thing.
        """
        for head, surely in sentence.says.seen_by:
            word = sentence.words[head].text.lower()
            if word in self._wording.person or word in self._wording.lexeme.get("viewer", ()):
                continue
            named = head in sentence.says.phrases
            if surely or (named and self.things.find(*sentence.named[head]) is not None):
                meant = self._resolve(sentence, head, CONTEXT) if named else ()
                return meant[0] if len(meant) == 1 else word
        return None

    def _timed(self, said: Resolved, time: str) -> Resolved:
        """Make a claim about an earlier time unsure if the things in the claim have moved since.
        The past tense may also refer to the final state.
        """
        moved = self.things.has_moved(said.figure) or self.things.has_moved(said.ground)
        if time == "then" and moved:
            return replace(said, sure=False)
        if time == "then" or (time == "past" and moved):
            return replace(said, triplet=replace(said.triplet, unsure=True))
        return said

    def _placed(self, sentence: Sentence, place: Place) -> Placed:
        """A place stated in a sentence, with the noun for the object that the place belongs to."""
        frame = sentence.words[place.told]
        named = not (frame.label or frame.places or frame.category)
        of = frame.text.lower() if named else ""
        if of in self._wording.lexeme.get("ellipsis", ()):
            of = self._noun_before(sentence, place.told).lower()
        # "A is on the left and B on the right" puts no other thing on the right.
        row = self._heard if frame.category == "side" else 0
        return Placed(place.scale, place.number, of, place.figure == place.told, row)

    @staticmethod
    def _by_place(
        sentence: Sentence, place: Place, thing: int, other: int, compared: Compared
    ) -> Resolved:
        """Return the relation between two things, given the place that the sentence states."""
        relation, offset, unit = compared
        words = sentence.words[place.figure], sentence.words[place.told]
        start, end = min(w.start for w in words), max(w.end for w in words)
        span = sentence.start + start, sentence.start + end
        triplet = Triplet(place.told, place.figure, CONTEXT, (relation,), 1, False, "asserted")
        return Resolved(thing, relation, other, triplet, span, True, offset, unit)

    def _contained(self, sentence: Sentence) -> Iterator[Resolved]:
        """Yield statements that a part is in its whole, for the parts mentioned in a sentence."""
        if self._arrangement is None:
            return
        for part, wholes in sentence.says.parts.items():
            for whole in wholes:
                for one in self._resolve(sentence, part, whole):
                    for other in self._resolve(sentence, whole, part):
                        pair = frozenset((one, other))
                        if one == other or pair in self._related:
                            continue
                        self._related.add(pair)
                        word = sentence.words[part]
                        span = sentence.start + word.start, sentence.start + word.end
                        triplet = Triplet(part, part, whole, (), 1, False, "asserted")
                        yield Resolved(one, self._wording.part_as, other, triplet, span)

    def _told(self, sentence: Sentence) -> dict[int, list[Place]]:
        """The places stated for each thing in a sentence, one for each scale. A thing that seems to
        have two places on one scale is left out.
        """
        told: dict[int, dict[str, Place]] = {}
        misread: set[int] = set()
        under_way = self._turned is not None and self._turned.viewer is not None
        viewed = {
            s.trigger for s in sentence.says.triplets if s.frame in ("seen", "hour") and under_way
        }
        until = {s.figure for s in sentence.says.triplets if s.until}
        for place in sentence.says.places:
            if place.told in viewed:
                continue
            # "It stood in row 2, but was moved" gives its former place.
            past = self._left if place.figure in until else {}
            things = self._resolve(sentence, place.figure, CONTEXT)
            kind = sentence.says.phrases[place.figure].kind
            if len(things) != 1 or kind in ("plural", "universal"):
                continue
            thing = past.get(things[0], things[0])
            here = told.setdefault(thing, {})
            other = here.get(place.scale)
            if other is not None and other.number != place.number:
                misread.add(thing)
            if other is None or other.figure == other.told:
                here[place.scale] = place  # "the top book is the atlas": the atlas is there, too
        return {thing: [*of.values()] for thing, of in told.items() if thing not in misread}

    def _opposed(self, meant: Iterable[tuple[Triplet, int, int]]) -> set[tuple[int, int]]:
        """Pairs of things with relations that exclude each other in a sentence. One of them was
        misread.
        """
        said: dict[tuple[int, int], set[str]] = {}
        for triplet, figure, ground in meant:
            if triplet.force == "asserted" and not triplet.negative:
                said.setdefault((figure, ground), set()).update(triplet.relations)
        return {
            pair
            for pair, relations in said.items()
            if any(self._excluding(r, s) for r, s in combinations(sorted(relations), 2))
        }

    def _supplied(
        self, sentence: Sentence, wanted: Iterable[tuple[Triplet, int]]
    ) -> Iterator[Resolved]:
        """Yield the statement of a sentence that answers the previous question with a single thing:
        "What is above B? A is."
        """
        named = [p for p in sentence.says.phrases.values() if p.names]
        if len(named) != 1 or sentence.asked or any(word.relations for word in sentence.words):
            return
        span = sentence.start, sentence.start + len(sentence.text)
        thing = self.things.thing(*sentence.named[named[0].head])
        for triplet, ground in wanted:
            given = replace(triplet, force="asserted")
            if thing != ground and not triplet.negative:
                for relation in triplet.relations:
                    yield Resolved(thing, relation, ground, given, span)

    def _resolve(self, sentence: Sentence, head: int, other: int) -> tuple[int, ...]:
        """The things that a noun phrase refers to; empty if unknown."""
        if head == CONTEXT:
            return _only(self._context(sentence, other))
        if head in self._asking:
            return ()  # "next to the row above and next to the other": mutual
        self._asking.add(head)
        try:
            return self._means(sentence, head, other)
        finally:
            self._asking.remove(head)

    def _means(self, sentence: Sentence, head: int, other: int) -> tuple[int, ...]:
        """Resolve a noun phrase that is not being resolved already."""
        phrase = sentence.says.phrases[head]
        if phrase.kind in ("wanted", "shared"):
            return ()
        if phrase.kind == "universal":
            return (self.things.anything(),)
        the_other = phrase.kind == "group" and phrase.rest and phrase.count == 1
        if the_other or not (phrase.plural or phrase.kind == "pronoun"):
            sibling = self._siblings.resolved(sentence, phrase, other, singular_of(self._noun))
            if sibling or (sibling is not None and not the_other):
                return sibling
        if phrase.kind == "group" or (phrase.kind == "pronoun" and phrase.plural):
            group = self._group(sentence, phrase, other)
            if group or phrase.kind == "group":
                return group
        if phrase.kind == "pronoun":
            return _only(self._referent(sentence, head, other))
        if phrase.kind == "elliptic":
            told = [sentence.words[n].text for n in phrase.words]
            return _only(self.things.elliptic(told, self._noun_before(sentence, head)))
        if phrase.plural:
            words, noun, _ = sentence.named[head]
            count = phrase.count
            if phrase.rest and count is not None:
                count += len(self._spoken(sentence, other))  # "the other two cups", of three
            group = self.things.several(words, noun, count)
            if phrase.rest:
                group = self._without(sentence, group, other)
            if group:
                return group
        introduces = self._arrangement is not None and phrase.count is not None
        if (
            phrase.kind == "plural"
            and not introduces
            and self.things.find(*sentence.named[head]) is None
        ):
            return ()
        further = self._further(sentence, head)
        if further is not None:
            return (self.things.thing(further[:1], further[0]),)
        if self._is_any_place(sentence, phrase):
            return ()
        described = self._described(sentence, phrase)
        if described is not None:
            return (described,)
        if phrase.kind == "definite" and self._is_one_with(sentence, head):
            return ()
        if self._may_mean(sentence, phrase):
            return ()
        if phrase.kind == "definite" and self._siblings.is_any(sentence, sentence.named[head][0]):
            return ()
        owner = self._owner(sentence, phrase)
        if owner:
            words, noun, proper = sentence.named[head]
            return (self.things.thing([*owner, "'s", *words], noun, proper),)
        thing = self._named_by(sentence, head)
        if phrase.plural and phrase.count and not self.things.numbers(thing, phrase.count):
            return ()  # "three hens ... four hens"
        possessive = self._possessive(sentence, phrase)
        return (thing,) if not possessive or self.things.suits(thing, possessive) else ()

    def _may_mean(self, sentence: Sentence, phrase: Phrase) -> tuple[int, ...]:
        """The thing that a noun phrase refers to unless it introduces another one: a new name with
        an adjective for a state that may pass, "the EMPTY bowl" after the blue bowl.
        """
        words, noun, proper = sentence.named[phrase.head]
        passing = self._wording.lexeme.get("passing", frozenset())
        lasting = [word for word in words if word.lower() not in passing]
        if phrase.kind != "definite" or lasting in (words, []) or self.things.like(words):
            return ()
        found = self.things.find(lasting, noun, proper)
        named = self.things.spellings[found].lower().split() if found is not None else ()
        return _only(found) if passing.isdisjoint(named) else ()

    def _owner(self, sentence: Sentence, phrase: Phrase) -> list[str]:
        """The name of the person who "his" or "her" before a noun phrase refers to."""
        before = min(phrase.words, default=0) - 1
        if before not in sentence.says.phrases or phrase.count is not None:
            return []
        if self._possessive(sentence, phrase) not in self._wording.lexeme["owning"]:
            return []
        owners = self._resolve(sentence, before, CONTEXT)
        owner = self.things.spellings[owners[0]].split() if len(owners) == 1 else []
        person = owner[-1:] != [] and owner[-1][0].isupper()
        person = person or not self._wording.lexeme["witness"].isdisjoint(owner[-1:])
        return owner if person and "'s" not in " ".join(owner) else []

    def _possessive(self, sentence: Sentence, phrase: Phrase) -> str:
        """The possessive pronoun of a noun phrase; empty if it has none."""
        first = min(phrase.words, default=0)
        texts = [sentence.words[n].text.lower() for n in phrase.words] or [""]
        before = sentence.words[first - 1].text.lower() if first else ""
        if before in self._wording.lexeme.get("possessive", ()):
            return before
        return texts[0] if texts[0] in self.things.persons and POSSESSIVE.isdisjoint(texts) else ""

    def _described(self, sentence: Sentence, phrase: Phrase) -> int | None:
        """Find the thing that a noun phrase identifies by its place, "the box UNDER THE TABLE". If
        the text has placed all such things elsewhere, the phrase introduces a new thing.
        """
        told = {
            (relation, ground)
            for s in sentence.says.triplets
            if s.figure == phrase.head and s.trigger in sentence.says.described
            for ground in self._resolve(sentence, s.ground, phrase.head)
            for relation in s.relations
            if self._converse.get(relation) not in self._containing  # "the basket with the scarf"
        }
        words = sentence.named[phrase.head][0]
        like = self.things.like(words) if told and phrase.kind == "definite" else []
        placed = self.things.placed
        there = [thing for thing in like if told <= placed.get(thing, set())]
        if len(there) == 1:
            return there[0]
        if there or self._arrangement is None or not like or not all(map(placed.get, like)):
            return None
        further = self.things.introduce(["other", *words], words)
        placed[further] = told
        return further

    def _further(self, sentence: Sentence, head: int) -> tuple[str, str, int] | None:
        """The label, scale and number of a place that is a number of steps away from a thing's
        place, "the hole just left of the cup"; None if the place is unknown.
        """
        arrangement = self._arrangement or self._judging
        phrase, noun = sentence.says.phrases[head], sentence.words[head].text.lower()
        if phrase.kind != "definite" or arrangement is None or not arrangement.is_place(noun):
            return None
        words = [*(w.text.lower() for w in sentence.words), "", ""]
        steps = self._amounts.number(words[head + 1])
        trigger = head + (1 if steps is None else 2)
        near = {words[n] for n in phrase.words if n != head}.union(words[trigger].split())
        adjoining = self._wording.lexeme.get("adjoining", frozenset())
        if not adjoining.issuperset(words[n] for n in phrase.words if n != head):
            return None  # "the red hole"
        if steps is None and adjoining.isdisjoint(near):
            return None
        found = {
            arrangement.further(thing, words[head], relation, steps or 1)
            for s in sentence.says.triplets
            if s.trigger == trigger and not s.negative and s.ground not in (head, CONTEXT)
            for relation in s.relations
            for thing in self._resolve(sentence, s.ground, head)
        }
        return found.pop() if len(found) == 1 else None

    def _stepped(self, sentence: Sentence) -> Iterator[Resolved]:
        """Yield the statement that a thing is inside a place counted from another place: "on the
        DECK just below the bridge".
        """
        lexeme, part_as = self._wording.lexeme, self._wording.part_as
        entering = lexeme.get("within", frozenset()) | lexeme.get("upon", frozenset())
        stated = sentence.says.triplets
        for head, phrase in sentence.says.phrases.items():
            opening = sentence.words[max(0, min(phrase.words) - 2)].text.lower()
            told = opening not in entering or any(s.ground == head for s in stated)
            if told or self._further(sentence, head) is None:
                continue
            holders = self._resolve(sentence, head, CONTEXT)
            if len(holders) != 1:
                continue
            (holder,) = holders
            word = sentence.words[head]
            span = sentence.start + word.start, sentence.start + word.end
            for s in stated:
                if s.trigger in (head + 1, head + 2) and s.figure not in (head, CONTEXT):
                    inside = replace(s, ground=head, relations=(part_as,))
                    for thing in self._resolve(sentence, s.figure, s.ground):
                        yield Resolved(thing, part_as, holder, inside, span, sentence.sure(s))

    def _is_any_place(self, sentence: Sentence, phrase: Phrase) -> bool:
        """Whether a noun phrase may refer to any of several numbered places."""
        arrangement = self._arrangement or self._judging
        noun = sentence.words[phrase.head].text
        plain = phrase.kind == "definite" and phrase.words == (phrase.head,)
        numbered_so = plain and arrangement is not None and arrangement.numbered(f"{noun} 1")
        return bool(numbered_so) and self.things.find(*sentence.named[phrase.head]) is None

    def _is_one_with(self, sentence: Sentence, head: int) -> bool:
        """Whether a noun phrase identifies a thing by its contents: "the coach with the buffet"."""
        words, noun, _ = sentence.named[head]
        told = sentence.words[head + 1 : head + 2]
        brought = any(word.text.lower() in self._wording.lexeme.get("with", ()) for word in told)
        found = self.things.find(words, noun)
        new = found is None or 0 < self.things.known <= found
        known = (self.things.is_a(thing, noun) for thing in range(len(self.things)))
        return brought and len(words) == 1 and new and any(known)

    def _named_by(self, sentence: Sentence, head: int) -> int:
        """The thing that a noun phrase refers to by name. It may be a new thing."""
        named = sentence.named[head]
        lexeme = self._wording.lexeme
        classifying = lexeme.get("classifying", frozenset())
        if sentence.says.phrases[head].kind == "definite" and self.things.find(*named) is None:
            holders = lexeme.get("eponymous", frozenset()) | classifying
            thing = self.things.eponym(named[0], holders)
            if thing is None and all(word.lower() in self.things.describing for word in named[0]):
                thing = self.things.elliptic(named[0], "")  # "the RED", of a red folder
            if thing is not None:
                return thing
        titled = self.things.titled(named[0], lexeme.get("titled", frozenset()), classifying)
        return self.things.thing(*named) if titled is None else titled

    def _context(self, sentence: Sentence, other: int) -> int | None:
        """The unmentioned thing to which the noun phrase at `other` is related."""
        phrases = sentence.says.phrases
        if other == CONTEXT or phrases[other].kind != "pronoun":
            # "A is left of B; C, to the right": of B
            return self.ground if sentence.text[:1].islower() and self._aside else self.topic
        # "It is on the left", if "it" is the topic: relative to the topic's ground.
        partner = self._referent(sentence, other, CONTEXT)
        return self.ground if partner == self.topic else self.topic

    def _noun_before(self, sentence: Sentence, head: int) -> str:
        """The noun that "one" stands for: the last plural noun, otherwise the last noun."""
        phrases = [p for p in sentence.says.phrases.values() if p.names and p.head < head]
        elliptic = sentence.says.phrases.get(head)
        if elliptic is not None and _graded(sentence, elliptic):
            # "A jar is in the left compartment, a spoon in the middle one"
            graded = [p for p in phrases if _graded(sentence, p)]
            if graded:
                return sentence.named[graded[-1].head][1]
            if self._graded:
                return self._graded
        # "They put the red cup in the drawer and the green one in the sink"
        contrasted = [p for p in phrases if len(p.words) > 1 and not p.plural]
        several = [p for p in phrases if p.plural and (p.count or not self._noun)]
        if several and (several[-1].count or not contrasted):
            return singular_of(sentence.named[several[-1].head][1])
        if elliptic is not None and elliptic.role == "subject":
            # "The red car is in the left bay, and the green one in the right one"
            phrases = [p for p in phrases if p.role == "subject"] or phrases
        else:
            phrases = contrasted or phrases
        return self._noun or (sentence.named[phrases[-1].head][1] if phrases else "")

    def _group(self, sentence: Sentence, phrase: Phrase, other: int) -> tuple[int, ...]:
        """Resolve "both", "the other two" or "them" to the things coordinated last, otherwise to
        the things mentioned last.
        """
        here = [g for g in self._coordinated(sentence) if g[-1] < phrase.head]
        if phrase.kind == "pronoun":  # "the cups ... they"
            named_here = sentence.says.phrases.values()
            several = (p for p in named_here if p.plural and p.names and p.head != other)
            grouped = {head for group in here for head in group}
            alone = [p.head for p in several if p.head < phrase.head and p.head not in grouped]
            here = sorted([*here, *((head,) for head in alone)], key=max)
            here = here or self._pairs(sentence, phrase.head)
        named = [tuple(t for h in g for t in self._resolve(sentence, h, CONTEXT)) for g in here]
        if phrase.pick is not None:
            pair = next((g for g in [*reversed(named), *reversed(self._groups)] if len(g) == 2), ())
            return pair[phrase.pick :][:1] if pair else self._last(sentence, phrase, other, 2)
        excluded = self._spoken(sentence, other)
        phrases = sentence.says.phrases
        ones = [n for n, p in phrases.items() if p.kind == "elliptic" and n < phrase.head]
        picked = {thing for n in ones for thing in self._resolve(sentence, n, CONTEXT)}
        for group in [*reversed(named), *reversed(self._groups)]:
            if phrase.rest and ones and picked.isdisjoint(group):
                continue  # "Jars on the top one, plates on the other one": not on the jars
            left = tuple(t for t in group if t not in excluded) if phrase.rest else group
            least = 1 if phrase.rest or phrase.kind == "pronoun" else 2
            if phrase.count in (None, len(left)) and len(left) >= least:
                return tuple(t for t in left if t not in excluded)
        if phrase.count is None:
            return ()
        if not phrase.rest:
            return self._last(sentence, phrase, other, phrase.count)
        if ones:
            noun = self._noun_before(sentence, ones[-1])
            alike = self.things.several([noun], noun, phrase.count + len(picked)) if noun else ()
            return tuple(t for t in alike if t not in picked) if picked.issubset(alike) else ()
        if other == CONTEXT or not phrases[other].names:
            return ()
        # "Cup A is between the other two", where the scene has three cups
        noun = sentence.named[other][1]
        alike = self.things.several([noun], noun, phrase.count + len(excluded))
        return tuple(t for t in alike if t not in excluded)

    @staticmethod
    def _pairs(sentence: Sentence, head: int) -> list[tuple[int, ...]]:
        """The two related noun phrases that "them" refers to in "A is left of B, with a gap between
        THEM"; empty if there are more than two.
        """
        named = {n for n, phrase in sentence.says.phrases.items() if phrase.names and n < head}
        related = ((s.figure, s.ground) for s in sentence.says.triplets)
        return [tuple(sorted(pair)) for pair in related if named == set(pair)][-1:]

    def _last(self, sentence: Sentence, phrase: Phrase, other: int, count: int) -> tuple[int, ...]:
        """The last `count` things mentioned before a noun phrase, or the one thing that the phrase
        picks from them ("the latter").
        """
        excluded = self._spoken(sentence, other) if phrase.pick is None else set()
        before = [
            thing
            for head, found in sorted(sentence.says.phrases.items())
            if found.names and not found.plural and head < phrase.head and head != other
            for thing in self._resolve(sentence, head, CONTEXT)
        ]
        for recent in (self._subjects, self._placed_last):
            # "The bed is here, and the desk is there. Between the two ..."
            before = recent if not before and len(recent) == count else before
        last = list(dict.fromkeys(reversed([*self._named, *before])))
        last = [thing for thing in last if thing not in excluded][:count][::-1]
        if len(last) < count:
            return ()
        return tuple(last) if phrase.pick is None else tuple(last[phrase.pick :][:1])

    def _without(self, sentence: Sentence, group: tuple[int, ...], other: int) -> tuple[int, ...]:
        excluded = self._spoken(sentence, other)
        return tuple(thing for thing in group if thing not in excluded)

    def _spoken(self, sentence: Sentence, head: int) -> set[int]:
        """The things that a noun phrase refers to, unless the phrase stands for a group."""
        phrases = sentence.says.phrases
        if head == CONTEXT or phrases[head].kind == "group" or phrases[head].plural:
            return set()
        if phrases[head].kind == "pronoun":
            return set(_only(self._referent(sentence, head, CONTEXT)))
        return set(self._resolve(sentence, head, CONTEXT))

    @staticmethod
    def _coordinated(sentence: Sentence) -> list[tuple[int, ...]]:
        phrases = sentence.says.phrases
        named = (g for g in sentence.says.groups if all(phrases[n].names for n in g))
        return sorted(named, key=lambda group: group[-1])

    @staticmethod
    def _several(sentence: Sentence, triplet: Triplet) -> bool:
        """Whether a noun phrase in a triplet refers to several things."""
        phrases = sentence.says.phrases
        heads = (n for n in (triplet.figure, triplet.ground) if n != CONTEXT)
        return any(phrases[n].kind == "group" or phrases[n].plural for n in heads)

    def _referent(self, sentence: Sentence, head: int, other: int) -> int | None:
        """The antecedent of a pronoun. Within the sentence, a subject pronoun or a possessive
        prefers an earlier subject, then the nearest other thing before the pronoun. An object
        pronoun prefers an earlier object. If the sentence has no such thing, the antecedent is the
        topic of the text, or else a later subject.
        """
        phrases = sentence.says.phrases
        beside = {head for group in sentence.says.groups if other in group for head in group}
        named = [p for p in phrases.values() if p.names and p.head != other and not p.person]
        named = [p for p in named if p.head not in beside]
        text = sentence.words[head].text.lower()
        neuter = text in self._wording.lexeme["neuter"]
        persons = self._persons(sentence) if neuter else set()
        before = [p for p in named if p.head < head]
        opening = sentence.words[before[0].head + 1].text if before else ""
        if opening == ":" and phrases[head].role == "subject":
            return self.things.thing(*sentence.named[before[0].head])  # "The lamp: it is ..."
        fitting = [p for p in before if self._may_stand_for(sentence, text, p)]
        fitting = [p for p in fitting if self.things.find(*sentence.named[p.head]) not in persons]
        animate = text in self._wording.lexeme["animate"]
        if animate:
            fitting = [p for p in fitting if self._is_person(sentence, p)] or fitting
        every_subject = [p for p in before if p.role in ("subject", "introduced")]
        subjects = [p for p in every_subject if p in fitting]
        objects = [p for p in fitting if p.role == "object"]
        others = [p for p in fitting if p.role not in ("subject", "introduced")]
        if subjects:  # "A is on the wall, and B to the right of it": not of the wall
            last = subjects[-1].head
            others = [p for p in others if p.head > last and not self._is_backdrop(sentence, p)]
        elif head < other:  # "To the left of A they put B, and to the right of it C"
            others = [p for p in others if p.role != "object"] or others
        role = phrases[head].role
        oblique = role == "oblique"
        # "A to the left of it, B to the right of it", "they dragged it past A and tied it to B"
        first = objects[-1].head if role == "object" and objects else -1
        for earlier in range(head - 1, first, -1) if role != "subject" else ():
            again = earlier in phrases and phrases[earlier].role == role
            if again and sentence.words[earlier].text.lower() == text and earlier != other:
                said = (s.figure for s in sentence.says.triplets if s.ground == earlier)
                return self._referent(sentence, earlier, next(said, CONTEXT))
        if oblique:
            introduced = [p for p in before if p.role == "introduced"]
            found = introduced or others or subjects
        elif role == "object":
            # "Mia puts it there": "it" is not Mia.
            led = bool(every_subject) and self.topic is not None
            earlier_subjects = [p for p in every_subject[:-1] if p in fitting]
            rest = [p for p in others if not led and p.role != "other"]
            found = objects or earlier_subjects or rest
        else:
            # "On the shelf it is next to ...": not the shelf if there is an earlier topic.
            found = (
                subjects or objects or (others if role != "subject" or self.topic is None else [])
            )
        if found:
            return self.things.thing(*sentence.named[found[-1].head])
        partner = None
        if self._is_named(phrases, other):
            partner = next(iter(self._resolve(sentence, other, head)), None)
        if oblique and other != CONTEXT and phrases[other].role == "subject":
            partner = self.topic if partner is None else partner  # "it is above it"
        if text in self._wording.lexeme.get("locative", ()):
            return self._place
        further = [t for t in (self.topic, self.ground) if t is not None and t != partner]
        if self.topic in persons:  # "Ann put the vase on the shelf. It is blue."
            further = [*self._placed_last[-1:], *further]
        further = [t for t in further if t not in persons]
        if animate:
            people = [t for t in further if t in self.things.people]
            people = people or [t for t in further if self.things.spellings[t].istitle()]
            if not people and _OWNER.search(sentence.text, 0, sentence.words[head].start):
                return None  # "The cat slept in its basket. It is on Ann's bed, and she ..."
            further = people or further  # "The mill is in front of Ann. She ..."
        if len(further) > 1 and further[1] == self._place and self._is_entered(sentence, head):
            return next((thing for thing in further if self._holds(thing)), None)
        for thing in further:
            if text not in self._wording.lexeme["these"] or _is_plural(
                self.things.spellings[thing]
            ):
                return thing
        after = [p for p in named if p.head > head and p.role != "other"]
        return self.things.thing(*sentence.named[after[0].head]) if after else None

    def _is_person(self, sentence: Sentence, phrase: Phrase) -> bool:
        words, noun, proper = sentence.named[phrase.head]
        known = self.things.find(words, noun, proper) in self.things.people
        return known or noun.lower() in self._wording.lexeme["witness"]

    def _persons(self, sentence: Sentence) -> set[int]:
        """Add those who act in a sentence, or whom it calls "he" or "she", to the persons of the
        text, and return all of these.
        """
        animate = self._wording.lexeme["animate"]
        heads = (p.head for p in sentence.says.phrases.values() if p.kind == "pronoun")
        people = (head for head in heads if sentence.words[head].text.lower() in animate)
        meant = (self._referent(sentence, head, CONTEXT) for head in people)
        self.things.people.update(thing for thing in meant if thing is not None)
        self.things.people.update(self._acting(sentence))
        return self.things.people

    def _acting(self, sentence: Sentence) -> Iterator[int]:
        return (self.things.thing(*sentence.named[head]) for head in sentence.says.acting)

    def _may_stand_for(self, sentence: Sentence, pronoun: str, phrase: Phrase) -> bool:
        """Whether a pronoun may refer to a noun phrase: "it" to no person and not to several
        things, "they" not to one.
        """
        noun = sentence.named[phrase.head][1].lower()
        if pronoun in self._wording.lexeme["neuter"]:
            return not phrase.plural and noun not in self._wording.lexeme["witness"]
        if pronoun in self._wording.lexeme["several"]:
            return phrase.plural or _is_plural(noun)
        return True

    def _is_entered(self, sentence: Sentence, head: int) -> bool:
        relations = (s.relations for s in sentence.says.triplets if s.ground == head)
        return any(not self._containing.isdisjoint(said) for said in relations)

    def _holds(self, thing: int) -> bool:
        """Whether a thing contains or supports other things."""
        noun = self.things.spellings[thing].lower().split()[-1]
        return any(noun in self._wording.lexeme.get(name, ()) for name in _HOLDERS)

    def _is_backdrop(self, sentence: Sentence, phrase: Phrase) -> bool:
        """Whether a noun phrase refers to a wall or corner where other things are."""
        noun = sentence.words[phrase.head].text.lower()
        return any(noun in self._wording.lexeme.get(name, ()) for name in ("backdrop", "area"))

    @staticmethod
    def _is_wanted(sentence: Sentence, head: int) -> bool:
        return head != CONTEXT and sentence.says.phrases[head].kind == "wanted"

    @staticmethod
    def _is_named(phrases: Mapping[int, Phrase], head: int) -> bool:
        return head != CONTEXT and phrases[head].names

    def _remember(self, sentence: Sentence, said: Sequence[Resolved]) -> None:
        phrases = [p for p in sentence.says.phrases.values() if p.names and not p.person]
        self._groups += [
            tuple(dict.fromkeys(t for h in g for t in self._resolve(sentence, h, CONTEXT)))
            for g in self._coordinated(sentence)
        ]
        self._groups = self._groups[-_REMEMBERED:]
        plural = [p for p in phrases if p.plural and (p.count or not self._noun)]
        if plural:
            self._noun = singular_of(sentence.named[plural[-1].head][1])
        graded = [p for p in phrases if _graded(sentence, p)]
        if graded:
            self._graded = sentence.named[graded[-1].head][1]
        counted = [p for p in plural if p.count]
        if counted and (not graded or graded[-1].head < counted[-1].head):
            self._graded = ""  # "In the TOP drawer are three compartments. The left one ..."
        entered = [s.ground for s in said if s.relation in self._containing]
        self._place = entered[-1] if entered else self._place
        singular = [p for p in phrases if not p.plural]
        grounds = {s.ground for s in said}
        self._aside = any(s.relation in self._directions for s in said)
        self._placed_last = [*dict.fromkeys(s.figure for s in said if s.figure not in grounds)]
        subjects = [p.head for p in singular if leads(p)]
        meant = {head: self._resolve(sentence, head, CONTEXT) for head in subjects}
        self._subjects = [thing for things in meant.values() for thing in things]
        others = (p.head for p in singular if not leads(p))
        meant |= {head: self._resolve(sentence, head, CONTEXT) for head in others}
        self._named += [t for p in singular for t in meant[p.head]]
        self._siblings.remember(sentence, singular, meant.values())
        subject = self._topic(phrases, sentence)
        if subject is not None and not leads(subject):
            # "It stops at the dock" is about the thing that stops, not the dock.
            subject = self._spoken_of(sentence) or subject
        if subject is not None:
            named = meant.get(subject.head) or self._resolve(sentence, subject.head, CONTEXT)
            topic = next(iter(named), None)
            rest = [s.ground for s in said if s.figure == topic]
            rest += [s.figure for s in said if s.ground == topic]
            self.ground = rest[-1] if rest else self.topic
            self.topic = topic
        elif said:
            self.topic = said[-1].figure

    @staticmethod
    def _spoken_of(sentence: Sentence) -> Phrase | None:
        phrases = sentence.says.phrases.values()
        pronouns = (p for p in phrases if p.kind == "pronoun" and not p.plural)
        return next((p for p in pronouns if p.role == "subject"), None)

    @staticmethod
    def _topic(phrases: Sequence[Phrase], sentence: Sentence) -> Phrase | None:
        """Return the thing that a sentence is about: a new thing, otherwise the subject or object,
        otherwise the last thing.
        """
        for role in ("introduced", "subject", "object"):
            of_role = [p for p in phrases if p.role == role]
            if of_role and not sentence.asked:
                return of_role[0]
        return phrases[-1] if phrases else None


def _is_plural(name: str) -> bool:
    return name.endswith("s")


def _graded(sentence: Sentence, phrase: Phrase) -> bool:
    """Whether a noun phrase identifies a thing by its place: "the LEFT compartment"."""
    return any(sentence.words[n].places for n in phrase.words if n != phrase.head)


def _are_two(one: Sequence[int], two: Sequence[int]) -> bool:
    return len(one) == len(two) == 1 and one != two


def reached(others: Mapping[int, Collection[int]], thing: int) -> set[int]:
    """Return all things reached from a thing, directly or indirectly: its contents or its
    containers.
    """
    found: set[int] = set()
    pending = [thing]
    while pending:
        new = set(others.get(pending.pop(), ())) - found
        found |= new
        pending += new
    return found


def _only(thing: int | None) -> tuple[int, ...]:
    return () if thing is None else (thing,)
