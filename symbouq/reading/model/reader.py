"""Read traces from a language model's replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from symbouq.errors import RecordError
from symbouq.ontology.tables import Ontology
from symbouq.reading.claims import COUNTED, MODAL, concluded
from symbouq.reading.model.dialogue import (
    Answered,
    Names,
    TraceTexts,
    dialogue,
    moved,
    together,
)
from symbouq.reading.model.distances import APART, located
from symbouq.reading.model.judging import (
    JudgedPlace,
    JudgedRelation,
    JudgedSentence,
    judged,
    uses_compass,
)
from symbouq.reading.segments import ending, unretracted
from symbouq.reading.syntax.positions import Arrangement, Axes, Compared, Placed
from symbouq.reading.text import (
    ASSERTED,
    IN_PART,
    SURE,
    Claim,
    Count,
    ParsedTrace,
    Question,
    Statement,
    grouped,
    triples,
)
from symbouq.records.reading import Reply

_STATING = ("asserted", "necessary")
_SETS = ("alternatives", COUNTED)
_BY_A_PART = ("asserted", "necessary", "possible")
"""Stances for which a claim is wrong if any of its relations is wrong."""
Span = tuple[int, int]


class ModelReader:
    """Reader of traces from a language model's replies.

    Args:
        ontology: The tables of the profile.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology

    def ask(self, texts: TraceTexts, answer: Answered, alone: bool = False) -> list[list[Reply]]:
        """Return the replies to each request about a trace
        (`symbouq.reading.model.dialogue.dialogue`).
        """
        return dialogue(texts, Names(self.ontology.wording.lexeme), answer, alone)

    def read(
        self,
        texts: TraceTexts,
        replies: list[list[Reply]],
        alone: bool = False,
    ) -> ParsedTrace:
        """Read a trace from the replies about it.

        Args:
            texts: The trace's texts.
            replies: The replies to each request, in order.
            alone: Whether each sentence was read alone.

        Raises:
            RecordError: If the numbers of replies and requests differ.
        """
        names, left = Names(self.ontology.wording.lexeme), iter(replies)
        if len(dialogue(texts, names, lambda _: next(left, []), alone)) != len(replies):
            raise RecordError("the readings are of another text: there is not one for each request")
        if not alone:
            return _Reading(self.ontology, texts, replies, names).whole()
        replies = together(texts, names, replies)
        # What one sentence says of a thing in another may be lost.
        return replace(_Reading(self.ontology, texts, replies, names).whole(), complete=False)


class _Reading:
    """One trace as it is being read."""

    def __init__(
        self,
        ontology: Ontology,
        texts: TraceTexts,
        replies: Sequence[Sequence[Reply]],
        names: Names,
    ) -> None:
        self._ontology = ontology
        self._texts = texts
        self._labelled = texts.labelled
        self._sentences = judged(ontology, self._labelled, replies)
        self._names = names
        self._places, self._numbers = arrangement_of(ontology, self._labelled), dict[str, int]()
        firsts = (sentence for given in replies for sentence in given[0].sentences)
        self._known = {m.id for s in firsts if s.sentence[0] in "SQ" for m in s.things}
        self._replies = [given[0] for given in replies]
        self._standing = unretracted(texts.scene)
        self._whole = True
        self.faults = [
            f"{_part(label)}: {_summed(sentence.faults)}"
            for label, sentence in self._sentences.items()
            if sentence.faults
        ]

    def whole(self) -> ParsedTrace:
        """Return the whole trace."""
        scene = tuple(self._scene())
        self._given = [statement for _, statement in scene]
        asked = self._asked()
        claims = self._claims(asked)
        question = self._question(asked)
        return ParsedTrace(
            scene,
            tuple(claims),
            tuple(self.faults),
            complete=self._whole,
            question=lambda: question,
        )

    # Scene and question ------------------------------------------------------------------

    def _scene(self) -> Iterator[tuple[int, Statement]]:
        """Yield the scene's statements with sufficient confidence, each with a sentence number."""
        headings = self._last_headings()
        for number, text in enumerate(self._texts.scene, start=1):
            if self._standing[number - 1] != text:
                self._whole = False
                continue
            sentence = self._sentences[f"S{number}"]
            part, words = f"scene sentence {number}", self._labelled[f"S{number}"]
            if not sentence.read:
                self.faults.append(f"{part}: there is no reading of it")
            self._whole = self._whole and sentence.read and not sentence.in_part
            stated: list[Statement] = []
            for relation in self._usable(f"S{number}"):
                denied = self._denies(relation, sentence)
                if denied is None:
                    self._whole = self._whole and relation.stance not in (COUNTED, "alternatives")
                    continue
                held = self._statements(replace(relation, denied=denied))
                self._whole = self._whole and relation.relation != APART  # not used in a scene
                if held is None or (denied and sentence.rest):
                    told, self._whole = words[slice(*relation.span)], False
                    why = f"{told!r} is denied, and what holds instead is not surely read"
                    self.faults.append(f"{part}: {why}")
                else:
                    stated += held
            self._places.hear(words)
            stated += self._placed(sentence, {frozenset((s.figure, s.ground)) for s in stated})
            stated += (h for n, h in headings if n == number)
            for statement in stated:
                if statement.confidence >= SURE:
                    yield number, statement
                    continue
                self._whole = False
                told = words[slice(*statement.span)]
                self.faults.append(f"{part}: {told!r} is not surely read")

    def _denies(self, relation: JudgedRelation, sentence: JudgedSentence) -> bool | None:
        """Whether a scene sentence denies a relation; None if the relation is neither denied nor
        stated.
        """
        if relation.stance == COUNTED and sentence.count:
            every = sum(r.stance == COUNTED for r in sentence.relations)
            least, most = sentence.count[0], sentence.count[-1]
            return most == 0 if most == 0 or least == every else None
        if relation.stance not in (*_STATING, "impossible"):
            return None
        return relation.denied != (relation.stance == "impossible")

    def _last_headings(self) -> list[tuple[int, Statement]]:
        """The final headings of things, each with the number of the sentence that states it."""
        found: dict[str, tuple[int, Statement]] = {}
        for number in range(1, len(self._texts.scene) + 1):
            for place in self._sentences[f"S{number}"].places:
                if place.number is None and (statement := self._heading(place)) is not None:
                    found[place.thing] = number, statement
        return list(found.values())

    def _heading(self, place: JudgedPlace) -> Statement | None:
        """A heading as a relation between a thing and a point ahead of it."""
        name = self._names.name(place.thing)
        way = self._ontology.wording.exactly_as.get(place.scale, place.scale)
        if name is None:
            return None
        known = place.thing in self._known
        return Statement(f"{name} (ahead)", way, name, place.span, place.confidence, known)

    def _placed(
        self, sentence: JudgedSentence, related: Set[frozenset[str]]
    ) -> Iterator[Statement]:
        """Yield the relations implied by the positions that a scene sentence gives for things."""
        for thing in dict.fromkeys(p.thing for p in sentence.places if p.number is not None):
            name = self._names.name(thing)
            if name is None:
                continue
            places = [p for p in sentence.places if p.thing == thing and p.number is not None]
            number = self._numbers.setdefault(name, len(self._numbers))
            for place in places:
                self._places.put(number, self._of_scale(place))
            for other in self._places.others(number):
                compared = self._places.relation(number, other)
                ground = [*self._numbers][other]
                if compared is not None and frozenset((name, ground)) not in related:
                    sure = min(place.confidence for place in places)
                    yield self._compared_by(name, compared, ground, places[0].span, sure)

    def _of_scale(self, place: JudgedPlace) -> Placed:
        assert place.number is not None  # headings have no number
        return Placed(place.scale, place.number, self._names.name(place.of) or "")

    def _compared_by(
        self, name: str, compared: Compared, ground: str, span: tuple[int, int], sure: float
    ) -> Statement:
        relation, offset, unit = compared
        return Statement(name, relation, ground, span, sure, True, offset, unit)

    def _asked(self) -> tuple[str, str] | None:
        """The names of the pair that the question asks about."""
        for reply in self._replies:
            first, second = (*map(self._names.name, reply.asks), None, None)[:2]
            if first and second:
                return first, second
        return None

    def _question(self, asked: tuple[str, str] | None) -> Question:
        states: list[Statement] = []
        stances: set[str] = set()
        for number in range(1, len(self._texts.question) + 1):
            for relation in self._usable(f"Q{number}"):
                if relation.stance in ("asked", *MODAL, ASSERTED) and relation.confidence >= SURE:
                    stances.update({relation.stance}.intersection(MODAL))
                    states += self._statements(relation) or ()
        stance = stances.pop() if len(stances) == 1 else ASSERTED
        return Question(" ".join(self._texts.question), asked, triples(states), stance)

    # Claims ------------------------------------------------------------------------------

    def _claims(self, asked: tuple[str, str] | None) -> list[Claim]:
        """The claims in order, with the conclusion last."""
        count = len(self._texts.claims)
        labels = [f"C{n}" for n in range(1, count + 1)]
        since = ending(self._texts.claims, self._texts.roles).since if self._texts.roles else 0
        answer = next((r.answer for r in reversed(self._replies) if r.answer in labels[since:]), "")
        if self._texts.concluded:
            answer = f"C{count}"
        made = {label: self._claim(label) for label in labels}
        if answer:
            conclusion = replace(made.pop(answer), type="conclusion")
            return [*made.values(), conclusion]
        return concluded([*made.values()], since, count, asked)

    def _claim(self, label: str) -> Claim:
        """A claim with its statements in one stance, or with the reason why it has none."""
        text = self._labelled[label]
        sentence = self._sentences[label]
        relations = self._usable(label)
        told = {r.stance for r in relations}.intersection((*_STATING, *MODAL, *_SETS))
        stating = [r for r in relations if r.stance in told]
        by_place, lost = self._claimed_places(sentence)
        if not sentence.read or (sentence.faults and not stating and not by_place):
            return Claim("reasoning", text, (), ASSERTED, "unread")
        if not stating and not by_place:
            stances = [r.stance for r in relations]
            reason = IN_PART if (sentence.in_part or lost) and not stances else ""
            return Claim("reasoning", text, (), stances[0] if stances else ASSERTED, reason)
        stance, statements, left = self._stated(stating, by_place)
        rest = (*sentence.rest, *(text[slice(*span)] for span in (*left, *lost)))
        rest = (*rest, sentence.number) if sentence.number else rest
        if not (rest or sentence.in_part):
            count = self._count(stance, sentence, len(statements))
            return Claim("reasoning", text, tuple(statements), stance, "", count)
        # The statements are judged if they hold whatever the rest means.
        bears = sentence.bearing and stance in _BY_A_PART
        denies = any(r.denied or r.stance == "impossible" for r in stating)
        given = tuple(statements) if bears and not denies else ()
        return Claim("reasoning", text, given, stance if given else ASSERTED, IN_PART, None, rest)

    def _count(self, stance: str, sentence: JudgedSentence, relations: int) -> Count | None:
        if stance != COUNTED:
            return None
        least, most = sentence.count if len(sentence.count) == 2 else (0, relations)
        return least, min(most, relations)

    def _stated(
        self, relations: Sequence[JudgedRelation], placed: Sequence[Statement]
    ) -> tuple[str, list[Statement], list[Span]]:
        """The stance of a claim, its statements in this stance, and the position of the rest. If
        there are several stances, the assertions and conclusions from them are used.
        """
        stances: dict[str, list[Statement]] = {ASSERTED: [*placed]} if placed else {}
        spans: dict[str, list[Span]] = {}
        states = bool(placed) or any(r.stance == ASSERTED for r in relations)
        for relation in relations:
            if states and relation.stance in ("necessary", "impossible"):
                # "..., so it must be ..." draws a conclusion
                denied = relation.denied != (relation.stance == "impossible")
                relation = replace(relation, stance=ASSERTED, denied=denied)
            alone = relation.stance == "alternatives" and relation.denied  # "anything but left"
            held = None if alone else self._statements(relation, claimed=True)
            stance = relation.stance if held is not None else ""
            stances.setdefault(stance, []).extend(held or ())
            spans.setdefault(stance, []).append(relation.span)
        chosen = ASSERTED if stances.get(ASSERTED) else next((s for s in stances if s), ASSERTED)
        left = [span for stance, some in spans.items() if stance != chosen for span in some]
        return chosen, stances.get(chosen, []), left

    def _claimed_places(self, sentence: JudgedSentence) -> tuple[list[Statement], list[Span]]:
        """Return the statements that follow from a claim's places and headings, and the spans of
        places and headings that cannot be compared with anything.
        """
        found: list[Statement] = []
        lost: list[Span] = []
        placed: dict[str, list[JudgedPlace]] = {}
        for place in sentence.places:
            if place.number is not None:
                placed.setdefault(place.thing, []).append(place)
            elif (statement := self._heading(place)) is not None:
                found.append(statement)
        names = [*self._numbers]
        for thing, places in placed.items():
            name = self._names.name(thing) or ""
            number = self._numbers.get(name, -1)
            judged = self._places.judged(number, [*map(self._of_scale, places)])
            span, sure = places[0].span, min(place.confidence for place in places)
            if judged is None:
                lost.append(span)
            else:
                other, compared = judged
                found.append(self._compared_by(name, compared, names[other], span, sure))
        return found, lost

    # Relations ---------------------------------------------------------------------------

    def _usable(self, label: str) -> list[JudgedRelation]:
        """The relations in a sentence between things that have names."""
        return [
            relation
            for relation in self._sentences[label].relations
            if all(self._names.name(thing) for thing in (relation.subject, *relation.objects))
        ]

    def _statements(
        self, relation: JudgedRelation, claimed: bool = False
    ) -> list[Statement] | None:
        """Turn a relation from a reply into statements about named things. Return None if there is
        no relation for its denial, or no place for its distance. A denial in a claim is not
        strengthened: a thing that is not near need not be far.
        """
        name = relation.relation
        if relation.denied:
            of = self._ontology
            back = {denial: r for r, denial in of.relations.negation.items()}
            exactly = of.relations.negation.get(name) or back.get(name) or of.denials.get(name)
            denied = exactly if claimed else of.denied(name) or exactly
            if denied is None:
                return None
            name = denied
        figure = self._names.name(relation.subject) or ""
        known = self._known.issuperset(map(moved, (relation.subject, *relation.objects)))
        made = [
            Statement(
                *(figure, name, self._names.name(thing) or "", relation.span, relation.confidence),
                *(known, relation.offset, relation.unit),
            )
            for thing in relation.objects
        ]
        if name == APART:
            found = located(self._ontology, self._given, made[0]) if claimed else None
            return None if found is None and claimed else [*filter(None, [found])]
        return made if len(made) == 1 else list(grouped(self._ontology, made))


def arrangement_of(ontology: Ontology, texts: Mapping[str, str]) -> Arrangement:
    """Return an arrangement that relates things by their places in a text. If the text uses compass
    directions, vertical scales are about height.
    """
    sides = {t: r for t, r in ontology.wording.expression.get("side", {}).items() if " " not in t}
    return Arrangement(ontology, Axes(ontology, sides), uses_compass(ontology, texts))


def _summed(faults: Sequence[str]) -> str:
    first, *others = dict.fromkeys(faults)
    return f"{first}, and {len(others)} more of the kind" if others else first


def _part(label: str) -> str:
    """Return the name of a sentence in messages."""
    of = {"S": f"scene sentence {label[1:]}", "Q": "the question"}
    return of.get(label[0], f"claim {label[1:]}")
