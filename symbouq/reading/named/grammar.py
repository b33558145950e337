"""How a sentence is put together: lexical items in, relations between things out.

The grammar knows no phrase and no relation. It sees a sentence as a sequence of items
(things, relations, copulas, linking words, ...) and finds for each relation its
trajector (the thing placed) and its landmark (the thing that it is placed by). What it
covers: either order of the two ("A is above B", "above B is A"), landmarks left to be
understood ("A is over there and B is on the left"), small clauses ("A and B are side
by side, with A on the left"), possession ("at B's left", "B has A on its left"),
coordination of things, relations and clauses, relative clauses, pronouns, and the
formula `P = Y + offset(above)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from symbouq.ontology.tables import Ontology
from symbouq.reading.bounds import MOST_PAIRS


class Item(NamedTuple):
    """One item of a sentence.

    Attributes:
        kind: `thing`, `relation`, a word class of the lexicon, a mark, or `other` for a
            word that nobody knows.
        thing: Which thing, for things.
        relation: The canonical relation, for relations.
        place: Whether a relation names a side (its landmark needs a linking word).
        way: Whether a linking word opens the `origin` or the `goal` of a way.
    """

    kind: str
    thing: int = -1
    relation: str = ""
    place: bool = False
    way: str = ""


class Placement(NamedTuple):
    """One relation read from a sentence.

    Attributes:
        subject: The trajector, a thing of the items.
        relation: The canonical relation.
        object: The landmark, a thing of the items.
        confidence: In (0, 1]: what each step of interpretation leaves of 1.
        first: Index of the first item that the reading rests on.
        last: Index of the last one.
    """

    subject: int
    relation: str
    object: int
    confidence: float
    first: int
    last: int


# What a step of interpretation leaves of the confidence.
_PRONOUN = 0.95
_UNDERSTOOD = 0.9
_UNLINKED = 0.9
_UNKNOWN_WORD = 0.95
_UNKNOWN_WORDS_AT_MOST = 6

_PRONOUN_THING = -2
"""Stands for the thing of a pronoun until it is known."""

_ENDS = frozenset((".", "?", "inference", "gloss", "retraction"))
_VERBS = frozenset(("copula", "have"))
_GOING = frozenset(("motion", "arrival"))
_OTHER = Item("other")
_UNSAID = frozenset(
    ("negation", "hedge", "condition", "supposition", "or", "have", "with", "pronoun", "=")
)
"""Kinds of words with which no way is told."""


@dataclass
class _Predication:
    """A relation with the places of its trajector and landmark, filled as they come.

    Attributes:
        subjects: Trajectors; empty until known.
        options: Alternatives of relations, more than one after an "or".
        landmarks: Landmarks; empty until known.
        anchor: Things that a small clause belongs to ("... WITH A on the left").
        tail_of: The predication that this one may turn out to continue.
        negated: Whether the relation is denied.
        linked: Whether a linking word followed the relation.
        place: Whether the last relation names a side.
        inverted: Whether the trajector comes after the verb.
        formula: Whether it is a formula of offsets.
        loose: Whether the things are from "between A and B", not yet a predication.
        verbal: Whether the relation is the verb: "A touches B".
        first: First item.
        last: Last item.
        confidence: As in Placement.
    """

    subjects: tuple[int, ...] = ()
    options: list[list[str]] = field(default_factory=lambda: [[]])
    landmarks: tuple[int, ...] = ()
    anchor: tuple[int, ...] = ()
    tail_of: _Predication | None = None
    negated: bool = False
    linked: bool = False
    place: bool = False
    inverted: bool = False
    formula: bool = False
    loose: bool = False
    verbal: bool = False
    first: int = -1
    last: int = -1
    confidence: float = 1.0

    @property
    def related(self) -> bool:
        return any(self.options)

    @property
    def complete(self) -> bool:
        return bool(self.related and self.subjects and self.landmarks)

    @property
    def waiting(self) -> bool:
        """Whether a relation is open for its landmark."""
        return self.related and not self.landmarks

    @property
    def empty(self) -> bool:
        return not (self.related or self.subjects or self.landmarks)

    def touch(self, position: int) -> None:
        if self.first < 0:
            self.first = position
        self.last = position


class Grammar:
    """Reads sentences under the tables of one profile.

    Args:
        ontology: Gives the joins of directions, denials and converses.
    """

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology

    def read(self, items: Sequence[Item]) -> list[Placement]:
        """The relations that a text states, in order, without repetitions.

        A stop, an inference word, a gloss or a retraction ends a sentence; a pronoun may refer
        across. What a condition or a question says, and what is taken back, is not stated.
        """
        readings: list[Placement] = []
        latest: list[Placement] = []
        memory = [item.thing for item in items[:1] if item.kind == "antecedent"]
        centre: tuple[int, ...] = ()
        supposed = False
        start = len(memory)
        for position in range(start, len(items) + 1):
            end = items[position].kind if position < len(items) else "."
            if end not in _ENDS:
                continue
            part = items[start:position]
            kinds = {item.kind for item in part}
            condition = not kinds.isdisjoint(("condition", "supposition"))
            supposed = supposed or (condition and "centre" not in kinds)
            sentence = _Sentence(self._ontology, part, start, memory, centre)
            found = sentence.read()
            if end == "retraction":
                # What it takes back stands before it, in its sentence or in the last one.
                if "relation" in kinds:
                    readings += latest
                latest = []
            elif part:
                readings += latest
                latest = found if not supposed and end != "?" else []
            memory, centre = sentence.memory, sentence.centre
            # "If, e.g., A is left of B", "perhaps, i.e. if it rains, A is left of B"
            supposed = (supposed and end in ("inference", "gloss")) or (
                end == "gloss" and "hedge" in kinds
            )
            start = position + 1
        return self._without_repetitions(readings + latest)

    def _without_repetitions(self, readings: list[Placement]) -> list[Placement]:
        """Drops what an earlier reading says already, as it is or in converse."""
        mirror = self._ontology.relations.mirror
        seen: set[tuple[int, str, int]] = set()
        kept: list[Placement] = []
        for reading in readings:
            u, r, v = reading.subject, reading.relation, reading.object
            if (u, r, v) in seen:
                continue
            seen.add((u, r, v))
            if r in mirror:
                seen.add((v, mirror[r], u))
            kept.append(reading)
        return kept


class _Sentence:
    """The state of reading one sentence from left to right."""

    def __init__(
        self,
        ontology: Ontology,
        items: Sequence[Item],
        offset: int,
        memory: list[int],
        centre: tuple[int, ...],
    ) -> None:
        self.ontology = ontology
        self.items = items
        self.offset = offset
        self.memory = memory
        self.centre = centre
        self.done: list[_Predication] = []
        self.now = _Predication()
        self.main: tuple[int, ...] = ()
        self.denied = False
        self.void = False
        self.last_thing = -1
        self.respective = any(item.kind == "respective" for item in items)

    # Reading --------------------------------------------------------------------------

    def read(self) -> list[Placement]:
        kinds = [item.kind for item in self.items]
        if self._goes(kinds):
            return self._way(kinds)
        self.items = [item if item.kind not in _GOING else _OTHER for item in self.items]
        kinds = [item.kind for item in self.items]
        position = 0
        while position < len(self.items):
            position = self._step(position)
        self._close()
        strangers = min(kinds.count("other"), _UNKNOWN_WORDS_AT_MOST)
        found = self._resolved()
        if not found or self.void or "hedge" in kinds:
            return []
        factor = _UNKNOWN_WORD**strangers
        return [r._replace(confidence=round(r.confidence * factor, 4)) for r in found]

    def _goes(self, kinds: Sequence[str]) -> bool:
        """Whether the sentence tells a way from one thing to another."""
        ways = {
            item.way
            for n, item in enumerate(self.items)
            if item.way and self._kind(n + 1) == "thing"
        }
        if "motion" in kinds:
            return bool(ways) or "arrival" in kinds
        return "arrival" in kinds and "origin" in ways

    def _way(self, kinds: Sequence[str]) -> list[Placement]:
        """How the end of a way lies to its beginning: "From A, going right leads to B", "B can
        be reached from A by going right". Of ways with more than one direction, and of those
        whose ends are not both said, nothing is read.
        """
        things = [n for n, kind in enumerate(kinds) if kind == "thing"]
        turns = [n for n, kind in enumerate(kinds) if kind == "relation"]
        named = {self.items[n].thing for n in things}
        straight = bool(turns) and turns[-1] - turns[0] == len(turns) - 1
        if len(named) != 2 or not straight or not _UNSAID.isdisjoint(kinds):
            return []
        origins = [n for n in things if self.items[n - 1].way == "origin" and n]
        goals = [n for n in things if n and self._ends(n - 1)]
        if not goals and kinds.count("arrival") == 1 and things[0] < kinds.index("arrival"):
            goals = [n for n in things if n not in origins]  # "B can be reached from A"
        relations = self._joined([self.items[n].relation for n in turns])
        if len(origins) != 1 or len(goals) != 1 or relations is None or len(relations) != 1:
            return []
        if not self.ontology.relations.displacement.get(relations[0]):
            return []
        spots = (*origins, *goals, *turns)
        first, last = self.offset + min(spots), self.offset + max(spots)
        subject, landmark = self.items[goals[0]].thing, self.items[origins[0]].thing
        self.memory = [subject]
        return [Placement(subject, relations[0], landmark, _UNDERSTOOD, first, last)]

    def _ends(self, position: int) -> bool:
        """Whether what stands at a position opens the end of a way."""
        return self.items[position].way == "goal" or self._kind(position) == "arrival"

    def _kind(self, position: int) -> str:
        return self.items[position].kind if 0 <= position < len(self.items) else ""

    def _close(self) -> None:
        if not self.now.empty:
            self.done.append(self.now)

    def _open(self, **fields: object) -> None:
        """Ends the current predication and starts the next one."""
        self._close()
        self.now = _Predication(**fields)  # type: ignore[arg-type]

    def _step(self, position: int) -> int:
        item = self.items[position]
        kind = item.kind
        if kind == "thing":
            return self._things(position)
        if kind == "relation":
            self._relation(position, item)
        elif kind in ("link", "reference"):
            self.now.linked = self.now.linked or self.now.waiting
        elif kind in ("copula", "existential"):
            self._copula(position)
        elif kind == "have":
            self._open(anchor=self.now.subjects)
        elif kind == "with":
            if self._next_thing(position) and self._kind(position - 1) != "other":
                owner = self.now.subjects or self.now.anchor
                self._open(anchor=owner)
        elif kind == "relative":
            if self.last_thing >= 0:
                self.main = self.now.subjects
                self._open(subjects=(self.last_thing,))
        elif kind == "pronoun":
            self._pronoun(position)
        elif kind == "possessive":
            self._possessive(position)
        elif kind == "negation":
            self.denied = True
        elif kind == "or":
            if self.now.related and self._kind(position + 1) in ("relation", "by", "link"):
                self.now.options.append([])
            else:
                self.void = True  # "or" between things or clauses: neither is stated
        elif kind == "centre":
            self.centre = self.now.subjects
            self.now = _Predication()
        elif kind == "=":
            self._equals()
        return position + 1

    def _next_thing(self, position: int) -> bool:
        """Whether a thing comes next that a small clause can be about."""
        return self._kind(position + 1) == "thing"

    def _relation(self, position: int, item: Item) -> None:
        now = self.now
        if now.related and now.landmarks and (now.inverted or not now.subjects):
            self._open()  # "left of B and below C is A", "above A is B and below A is C"
        elif now.complete and now.verbal and self._kind(position - 1) in ("thing", "by", "link"):
            self._open(subjects=now.landmarks)  # "A holds B to the left of C"
        elif now.complete and not now.formula:
            self._open(subjects=self.now.subjects, anchor=self.now.anchor, tail_of=self.now)
        if not self.now.related:
            self.now.verbal = self._kind(position - 1) == "thing" and not item.place
        self.now.options[-1].append(item.relation)
        self.now.place = item.place
        self.now.linked = False
        if self.denied:
            self.now.negated = True
            self.denied = False
        self.now.touch(self.offset + position)

    def _copula(self, position: int) -> None:
        now = self.now
        if not now.subjects and now.related:
            now.inverted = True
        elif now.tail_of is not None and now.complete and self._next_thing(position):
            # "A is left of B and above C is D": the second clause is inverted.
            now.subjects, now.tail_of, now.inverted = (), None, True
        elif now.complete:
            self._open(subjects=self.main or now.subjects)
            self.main = ()

    def _equals(self) -> None:
        if self.now.formula:
            self._open()
        elif self.last_thing >= 0:
            self._open(subjects=(self.last_thing,), formula=True)

    def _possessive(self, position: int) -> None:
        """A side of what was named before: "on its left"."""
        now = self.now
        before = position - 1
        while self._kind(before) in ("by", "link"):
            before -= 1
        if now.complete:
            self._open(subjects=now.subjects, tail_of=now)
        elif now.subjects and not now.anchor and self._kind(before) in ("and", ","):
            self._open()  # "There is A, and to its left is B"
        self.now.landmarks = (_PRONOUN_THING,)
        self.now.touch(self.offset + position)

    def _pronoun(self, position: int) -> None:
        now = self.now
        follows = self._kind(position + 1)
        inverted = follows in ("copula", "existential") and self._next_thing(position + 1)
        if now.waiting and now.subjects and inverted:
            # "There is A, and below it is B": the relation opens a clause of its own.
            options, now.options = now.options, [[]]
            self._open(options=options, landmarks=(_PRONOUN_THING,), inverted=True)
            self.now.touch(self.offset + position)
        elif now.waiting and not (follows in _VERBS and now.subjects):
            now.landmarks = (_PRONOUN_THING,)
            now.confidence *= _PRONOUN
            now.touch(self.offset + position)
        elif follows in _VERBS and (now.complete or now.empty):
            self._open(subjects=(_PRONOUN_THING,), confidence=_PRONOUN)
            self.now.touch(self.offset + position)

    # Things --------------------------------------------------------------------------

    def _coordinated(self, position: int) -> tuple[list[int], int]:
        """The things of `A`, `A and B` or `A, B and C`, and the position after them."""
        things = [self.items[position].thing]
        after = position + 1
        ahead = after
        listed = list(things)
        while True:
            if self._kind(ahead) == "," and self._kind(ahead + 1) == "thing":
                listed.append(self.items[ahead + 1].thing)
                ahead += 2
                continue
            step = ahead + 1 if self._kind(ahead) == "," else ahead
            if self._kind(step) == "and" and self._kind(step + 1) == "thing":
                listed.append(self.items[step + 1].thing)
                return listed, step + 2
            return things, after

    def _things(self, position: int) -> int:
        before = self._kind(position - 1)
        group, after = self._coordinated(position)
        now = self.now
        existing = before == "existential" and self._kind(after) in _VERBS
        if len(group) > 1 and (existing or (now.waiting and self._begins_clause(after))):
            # "A is left of B and C is ...": the second opens a clause of its own.
            group, after = group[:1], position + 1
        things = tuple(group)
        self.last_thing = things[-1]
        here = self.offset + after - 1
        follows = self._kind(after)
        if before == "between":
            if now.empty and len(things) == 2:
                now.subjects, now.landmarks, now.loose = things[:1], things[1:], True
                now.touch(here)
            return after
        if follows == "'s" and self._owns(after + 1):
            self._owner(things, here)
            return after + 1
        if now.loose and not now.related:
            self._open(subjects=things)
        elif now.formula and not now.landmarks:
            now.landmarks = things
        elif now.empty:
            if before == "reference":
                now.landmarks = things
            elif before != "by" or follows in _VERBS:
                now.subjects = things
        elif not now.subjects and (now.inverted or (now.landmarks and not now.related)):
            now.subjects = things
        elif before in ("link", "reference") and not (now.related or now.landmarks):
            now.landmarks = things
        elif now.subjects and not now.related and not now.landmarks and before == "other":
            now.landmarks = things  # an unknown verb: "A faces B from the left"
        elif now.waiting and not self._opens_clause(before, after):
            if now.place and not now.linked:
                now.confidence *= _UNLINKED
            now.landmarks = things
        elif now.related or follows in _VERBS or follows == "relation":
            if before == "by" and (follows not in _VERBS or not now.related):
                return after  # "the book on the table is ..."
            if now.complete and things == now.landmarks and before in ("link", "reference"):
                return after
            self._open(subjects=things, anchor=now.anchor)
        elif before != "by":
            self._open(subjects=things, anchor=now.anchor)
        self.now.touch(here)
        return after

    def _begins_clause(self, after: int) -> bool:
        return self._kind(after) in _VERBS or self._kind(after) == "relation"

    def _opens_clause(self, before: str, after: int) -> bool:
        """Whether the thing that could be the landmark is the next trajector instead."""
        now = self.now
        if self._kind(after) in _VERBS:
            # "the ball near the window is ..." against "A is on the left and B is ..."
            tied = before in ("link", "reference") or (before == "relation" and not now.place)
            return bool(now.subjects) and not tied
        while self._kind(after) in ("by", "link"):
            after += 1
        unlinked = now.place and not now.linked
        return unlinked and self._kind(after) == "relation" and bool(now.subjects)

    def _owns(self, position: int) -> bool:
        """Whether a relation follows that the possessor is the landmark of, and not a
        linking word and a landmark: "A's left of B" is "A is left of B".
        """
        links = self._kind(position + 1) == "link" and self._kind(position + 2) == "thing"
        if self._kind(position) == "relation" and links:
            return False
        return self._kind(position) in ("relation", "other", ",", "link")

    def _owner(self, things: tuple[int, ...], here: int) -> None:
        if self.now.complete:
            self._open(subjects=self.now.subjects)
        self.now.landmarks = things
        self.now.touch(here)

    # Resolution ----------------------------------------------------------------------

    def _resolved(self) -> list[Placement]:
        done = self.done
        for index, predication in enumerate(done):
            self._resolve_pronouns(index, predication)
        for index, predication in enumerate(done):
            self._join_tail(predication)
            if predication.related and not predication.landmarks:
                self._understand_landmark(index, predication)
            if predication.related and not predication.subjects:
                predication.subjects = self._later_subject(index)
        if done:
            self.memory = [
                thing for predication in done for thing in predication.subjects if thing >= 0
            ] or self.memory
        return [reading for predication in done for reading in self._readings(predication)]

    def _resolve_pronouns(self, index: int, predication: _Predication) -> None:
        earlier = [thing for p in self.done[:index] for thing in p.subjects if thing >= 0]
        known = [*self.memory, *earlier]
        if predication.subjects == (_PRONOUN_THING,):
            predication.subjects = tuple(known[-1:])
        if predication.landmarks == (_PRONOUN_THING,):
            own = predication.subjects
            tail = predication.tail_of
            if tail is not None and tail.landmarks:
                predication.landmarks = tail.landmarks
            elif predication.anchor:
                predication.landmarks = tuple(t for t in predication.anchor if t not in own)
            else:
                predication.landmarks = tuple([t for t in known if t not in own][-1:])

    def _join_tail(self, predication: _Predication) -> None:
        """A relation after a complete one belongs to it, unless it found a landmark of
        its own: "above B and to the left (of B)".
        """
        head = predication.tail_of
        if head is None or predication.negated != head.negated:
            return
        if predication.landmarks and predication.landmarks != head.landmarks:
            return
        if len(predication.options) == len(head.options) == 1 and predication.related:
            head.options[0].extend(predication.options[0])
            head.last = max(head.last, predication.last)
            predication.options = [[]]

    def _understand_landmark(self, index: int, predication: _Predication) -> None:
        own = predication.subjects
        if not own:
            return
        predication.confidence *= _UNDERSTOOD
        if len(own) > 1:
            return  # "A and B are touching": paired in _readings
        candidates = [predication.anchor, self.centre]
        before = [p.subjects for p in reversed(self.done[:index])]
        candidates += [things for things in before if len(things) == 2 and own[0] in things]
        candidates += before
        candidates += [p.subjects for p in self.done[index + 1 :]]
        for things in candidates:
            others = tuple(thing for thing in things if thing not in own and thing >= 0)
            if others:
                predication.landmarks = others
                return

    def _later_subject(self, index: int) -> tuple[int, ...]:
        for predication in self.done[index + 1 :]:
            if predication.subjects:
                return predication.subjects
        return ()

    def _joined(self, relations: Sequence[str]) -> list[str] | None:
        """Direction words as the one direction that they make together; other relations
        as they are. None where directions are opposed.
        """
        joins = self.ontology.relations.join
        moves = self.ontology.relations.displacement
        joint = ""
        rest: list[str] = []
        for relation in relations:
            if not moves.get(relation):
                if relation not in rest:
                    rest.append(relation)
            elif not joint:
                joint = relation
            elif (joint, relation) in joins:
                joint = joins[joint, relation]
            elif relation in self.ontology.relations.excludes.get(joint, ()):
                return None
            elif relation not in rest:
                rest.append(relation)
        return [joint, *rest] if joint else rest

    def _readings(self, predication: _Predication) -> list[Placement]:
        if not predication.related:
            return []
        options = [self._joined(option) for option in predication.options if option]
        relations = options[0]
        if relations is None or any(option != relations for option in options):
            return []
        if predication.negated:
            if not all(relation in self.ontology.relations.negation for relation in relations):
                return []
            relations = [self.ontology.relations.negation[relation] for relation in relations]
        sides = [len(predication.subjects), len(predication.landmarks)]
        if sides[0] * (sides[1] or sides[0]) > MOST_PAIRS:
            return []
        pairs = [(u, v) for u in predication.subjects for v in predication.landmarks]
        if self.respective and len(predication.subjects) == len(predication.landmarks):
            pairs = list(zip(predication.subjects, predication.landmarks, strict=True))
        if not predication.landmarks and len(predication.subjects) > 1:
            relations = [r for r in relations if r in self.ontology.relations.symmetric]
            things = predication.subjects
            pairs = [(u, v) for n, u in enumerate(things) for v in things[n + 1 :]]
        return [
            Placement(u, r, v, predication.confidence, predication.first, predication.last)
            for u, v in pairs
            if u >= 0 and v >= 0
            for r in relations
        ]
