"""Reads traces by a language model's replies, with the parser-based reader as second opinion."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace

from symbouq.errors import RecordError
from symbouq.ontology.tables import Ontology
from symbouq.reading.claims import COUNTED, MODAL, concluded
from symbouq.reading.model.dialogue import ModelRequest, Names, TraceTexts, dialogue, together
from symbouq.reading.model.judging import (
    CONFIRMED,
    DOUBTED,
    JudgedRelation,
    judged,
)
from symbouq.reading.segments import ending, unretracted
from symbouq.reading.text import (
    ASSERTED,
    IN_PART,
    SURE,
    Claim,
    ParsedTrace,
    Question,
    Statement,
    grouped,
    triples,
)
from symbouq.records.reading import Reply

_DOUBTING = 0.95
"""The least confidence of the other reader with which it doubts a relation."""

_STATING = ("asserted", "necessary")
_DENIED = "denied"
_OPPOSITE = {
    "asserted": _DENIED,
    "necessary": "impossible",
    "impossible": "necessary",
    "possible": "unnecessary",
}
"""What is said of a relation by denying it in some stance."""
_NONE = (0, 0)
"""How many of the relations that are denied hold."""


class ModelReader:
    """Reads traces by replies.

    Args:
        ontology: The tables of the profile.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self._pronouns = ontology.words("pronoun")
        self._articles = sorted(ontology.wording.lexeme.get("article", frozenset()))

    def requests(
        self, texts: TraceTexts, alone: bool = False
    ) -> Generator[ModelRequest, Sequence[Reply], None]:
        """What a language model is asked about a trace, request by request
        (`symbouq.reading.model.dialogue.dialogue`).
        """
        return dialogue(texts, self._names(), alone)

    def read(
        self,
        texts: TraceTexts,
        replies: Sequence[Sequence[Reply]],
        second: ParsedTrace | None = None,
        alone: bool = False,
    ) -> ParsedTrace:
        """A trace, read.

        Args:
            texts: Its texts.
            replies: The replies to each request, in order.
            second: What the parser-based reader reads in the same sentences.
            alone: Whether each sentence was read alone.

        Raises:
            RecordError: If there are not as many replies as requests.
        """
        names = self._names()
        if _requests(dialogue(texts, names, alone), replies) != len(replies):
            raise RecordError("the readings are of another text: there is not one for each request")
        if alone:
            replies = together(texts, names, replies)
        return _Reading(self.ontology, texts, replies, names, second).whole()

    def _names(self) -> Names:
        return Names(self._pronouns, self._articles)


def _requests(
    asking: Generator[ModelRequest, Sequence[Reply], None], replies: Sequence[Sequence[Reply]]
) -> int:
    """How many requests are made, up to one without a reply."""
    if next(asking, None) is None:
        return 0
    for number, reply in enumerate(replies, start=1):
        try:
            asking.send(reply)
        except StopIteration:
            return number
    return len(replies) + 1


class _Reading:
    """One trace while it is read."""

    def __init__(
        self,
        ontology: Ontology,
        texts: TraceTexts,
        replies: Sequence[Sequence[Reply]],
        names: Names,
        second: ParsedTrace | None,
    ) -> None:
        self._ontology = ontology
        self._texts = texts
        self._labelled = texts.labelled
        self._sentences = judged(ontology, self._labelled, replies)
        self._names = names.of
        self._called = _called(replies, names)
        self._known = _mentioned(replies, ("S", "Q"))
        self._replies = [given[0] for given in replies]
        self._second = second
        self._standing = unretracted(texts.scene)
        self._whole = True
        self.faults = [
            f"{_part(label)}: {_summed(sentence.faults)}"
            for label, sentence in self._sentences.items()
            if sentence.faults
        ]

    def whole(self) -> ParsedTrace:
        """The trace."""
        scene = tuple(
            (number, statement)
            for number in range(1, len(self._texts.scene) + 1)
            for statement in self._scene_statements(number)
        )
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

    def _scene_statements(self, number: int) -> Iterator[Statement]:
        """What a sentence of the scene surely states, unless the scene takes back some of it."""
        if self._standing[number - 1] != self._texts.scene[number - 1]:
            self._whole = False
            return
        others = self._second.of_sentence(number) if self._second is not None else ()
        sentence = self._sentences[f"S{number}"]
        self._whole = self._whole and sentence.read and not sentence.in_part
        for relation in self._compared(f"S{number}", others, ASSERTED):
            if relation.stance not in (*_STATING, "impossible"):
                self._whole = self._whole and relation.stance != "alternatives"
                continue
            if relation.confidence < SURE:
                self._whole = False
                words = self._labelled[f"S{number}"][slice(*relation.span)]
                self.faults.append(f"scene sentence {number}: {words!r} is not surely read")
                continue
            holds = self._holding(relation)
            self._whole = self._whole and holds is not None
            if holds is None:
                words = self._labelled[f"S{number}"][slice(*relation.span)]
                why = f"{words!r} is denied, and what holds instead is not surely read"
                self.faults.append(f"scene sentence {number}: {why}")
            else:
                yield from self._mentions(relation, holds)

    def _asked(self) -> tuple[str, str] | None:
        """The names of the pair that the question asks about."""
        for reply in self._replies:
            pair = [self._names[thing] for thing in reply.asks if thing in self._names]
            if len(pair) == 2:
                return pair[0], pair[1]
        return None

    def _question(self, asked: tuple[str, str] | None) -> Question:
        states: list[Statement] = []
        stances: set[str] = set()
        for number in range(1, len(self._texts.question) + 1):
            for relation in self._sentences[f"Q{number}"].relations:
                asks = relation.stance in ("asked", *MODAL, ASSERTED)
                holds = self._denied(relation.relation) if relation.denied else relation.relation
                if asks and holds is not None and relation.confidence >= SURE:
                    stances.update({relation.stance}.intersection(MODAL))
                    states += self._mentions(relation, holds)
        stance = stances.pop() if len(stances) == 1 else ASSERTED
        return Question(" ".join(self._texts.question), asked, triples(states), stance)

    # Claims ------------------------------------------------------------------------------

    def _claims(self, asked: tuple[str, str] | None) -> list[Claim]:
        """The claims in order, the conclusion last."""
        count = len(self._texts.claims)
        labels = [f"C{n}" for n in range(1, count + 1)]
        since = ending(self._texts.claims, self._texts.roles).since if self._texts.roles else 0
        answer = next((r.answer for r in reversed(self._replies) if r.answer in labels[since:]), "")
        if self._texts.concluded:
            answer = f"C{count}"
        others = list(self._second.claims) if self._second is not None else []
        others += [Claim("reasoning", "", ())] * (count - len(others))
        made = {
            label: self._claim(label, other) for label, other in zip(labels, others, strict=False)
        }
        if answer:
            conclusion = replace(made.pop(answer), type="conclusion")
            return [*made.values(), conclusion]
        return concluded([*made.values()], since, count, asked)

    def _claim(self, label: str, other: Claim) -> Claim:
        """A claim: what it states in one stance, or why it states nothing."""
        text = self._labelled[label]
        sentence = self._sentences[label]
        none = other.stance == COUNTED and other.count == _NONE
        stance = ASSERTED if none else other.stance
        none = none or stance == "impossible"
        relations = self._compared(label, other.relations, stance, none)
        stating = [r for r in relations if r.stance in (*_STATING, *MODAL, "alternatives")]
        if not sentence.read or (sentence.faults and not stating):
            return Claim("reasoning", text, (), ASSERTED, "unread")
        if not stating:
            stances = [r.stance for r in relations]
            reason = IN_PART if sentence.in_part and not stances else ""
            return Claim("reasoning", text, (), stances[0] if stances else ASSERTED, reason)
        stated = self._stated(stating)
        if sentence.in_part or sentence.past_number or stated is None:
            return Claim("reasoning", text, (), ASSERTED, IN_PART)
        stance, mentions = stated
        if stance == _DENIED:
            return Claim("reasoning", text, tuple(mentions), COUNTED, "", _NONE)
        return Claim("reasoning", text, tuple(mentions), stance)

    def _stated(self, relations: Sequence[JudgedRelation]) -> tuple[str, list[Statement]] | None:
        """The stance and the relations of a claim; None where they have no stance in common."""
        opposites = [self._opposite(r.relation) if r.denied else r.relation for r in relations]
        plain = all(r.denied and r.stance == ASSERTED for r in relations)
        if plain and not all(opposites):  # "neither in B nor above it"
            opposites = [None] * len(relations)
        elif not plain:
            opposites = [self._denied(r.relation) if r.denied else r.relation for r in relations]
        stances: dict[str, list[tuple[JudgedRelation, str]]] = {}
        for relation, holds in zip(relations, opposites, strict=True):
            if holds is not None:
                stances.setdefault(relation.stance, []).append((relation, holds))
            elif relation.stance in _OPPOSITE:
                stance = _OPPOSITE[relation.stance]
                stances.setdefault(stance, []).append((relation, relation.relation))
            else:
                return None  # "could be anything but"
        said = stances.get(ASSERTED, [])
        if said:  # "..., so it must be ..." draws a conclusion
            said += stances.pop("necessary", [])
        for refused in (_DENIED, "impossible"):
            # "A is left of B, not right of it" says nothing more
            if said and all(self._follows(each, said) for each in stances.get(refused, ())):
                stances.pop(refused, None)
        if len(stances) != 1:
            return None
        ((stance, held),) = stances.items()
        if stance == "unnecessary" and len(held) > 1:
            return None  # of several, each need not hold
        return stance, [m for relation, holds in held for m in self._mentions(relation, holds)]

    def _opposite(self, relation: str) -> str | None:
        """The relation that holds exactly where another does not, if the ontology has one."""
        negation = self._ontology.relations.negation.get(relation)
        return negation if negation in self._ontology.relations.family else None

    def _follows(
        self,
        denied: tuple[JudgedRelation, str],
        said: Sequence[tuple[JudgedRelation, str]],
    ) -> bool:
        """Whether what is denied is excluded by what is said of the same pair."""
        relation, name = denied
        excludes = self._ontology.relations.excludes
        return any(
            (other.subject, other.objects) == (relation.subject, relation.objects)
            and (name in excludes.get(holds, ()) or holds in excludes.get(name, ()))
            for other, holds in said
        )

    # Relations ---------------------------------------------------------------------------

    def _holding(self, relation: JudgedRelation) -> str | None:
        """The relation that holds where one is stated or denied, if one relation says it."""
        denied = relation.denied != (relation.stance == "impossible")
        return self._denied(relation.relation) if denied else relation.relation

    def _denied(self, relation: str) -> str | None:
        negation = self._ontology.denied(relation)
        return negation if negation in self._ontology.relations.family else None

    def _mentions(self, relation: JudgedRelation, name: str) -> list[Statement]:
        """A relation of a reply as one of named things."""
        every = (relation.subject, *relation.objects)
        mentions = [
            Statement(
                self._names[relation.subject],
                name,
                self._names[thing],
                relation.span,
                relation.confidence,
                self._known.issuperset(every),
            )
            for thing in relation.objects
        ]
        return mentions if len(mentions) == 1 else list(grouped(self._ontology, mentions))

    def _compared(
        self, label: str, others: Sequence[Statement], stance: str, none: bool = False
    ) -> list[JudgedRelation]:
        """A sentence's relations, each as sure as the other reader has it.

        Args:
            label: The sentence.
            others: What the other reader reads in it.
            stance: In which stance.
            none: Whether that is that none of it holds.
        """
        sure = [other for other in others if other.confidence >= SURE]
        relations = [r for r in self._sentences[label].relations if r.subject in self._names]
        relations = [r for r in relations if all(thing in self._names for thing in r.objects)]
        return [self._confirmed(relation, sure, stance, none) for relation in relations]

    def _confirmed(
        self, relation: JudgedRelation, others: Sequence[Statement], stance: str, none: bool
    ) -> JudgedRelation:
        """A relation, surer where another reader has it, doubted where that one excludes it."""
        if len(relation.objects) > 1:
            return relation
        said: dict[tuple[str, bool], float] = {}
        for other in others:
            name = self._of_pair(other, relation)
            if name is not None:
                said[self._settled(name, none)] = other.confidence
        refused = relation.denied != (relation.stance == "impossible")
        own = holds, denied = self._settled(relation.relation, refused)
        if own in said and stance == relation.stance:
            return replace(relation, confidence=max(relation.confidence, CONFIRMED))
        excluded = self._ontology.relations.excludes.get(holds, frozenset())
        against = (
            {(holds, not denied)} if denied else {(holds, True), *((r, False) for r in excluded)}
        )
        doubts = any(said[each] >= _DOUBTING for each in against & said.keys())
        return replace(relation, confidence=DOUBTED) if doubts else relation

    def _settled(self, relation: str, denied: bool) -> tuple[str, bool]:
        """A relation and whether it is denied; its opposite, which is not, where there is one."""
        opposite = self._denied(relation) if denied else None
        return opposite or relation, denied and opposite is None

    def _of_pair(self, other: Statement, relation: JudgedRelation) -> str | None:
        """The relation of a mention, as one of a pair of things; None where it is of others."""
        figures, grounds = self._called[relation.subject], self._called[relation.objects[0]]
        figure, ground = other.figure.lower(), other.ground.lower()
        if figure in figures and ground in grounds:
            return other.relation
        if figure in grounds and ground in figures:
            return self._ontology.relations.converse.get(other.relation)
        return None


def _called(replies: Sequence[Sequence[Reply]], names: Names) -> Mapping[str, set[str]]:
    """The words that each thing is called by, without articles and letter case."""
    called: dict[str, set[str]] = {thing: {names.plain(name)} for thing, name in names.of.items()}
    for given in replies:
        for sentence in given[0].sentences:
            for mention in sentence.things:
                if isinstance(mention.words, str):
                    called.setdefault(mention.id, set()).add(names.plain(mention.words))
    return called


def _mentioned(replies: Sequence[Sequence[Reply]], marks: Sequence[str]) -> set[str]:
    """The ids of the things that sentences of some kinds mention."""
    return {
        mention.id
        for given in replies
        for sentence in given[0].sentences
        if sentence.sentence[0] in marks
        for mention in sentence.things
    }


def _summed(faults: Sequence[str]) -> str:
    """Some messages as one."""
    first, *others = dict.fromkeys(faults)
    return f"{first}, and {len(others)} more of the kind" if others else first


def _part(label: str) -> str:
    """What messages call a sentence."""
    number = int(label[1:])
    if label[0] == "S":
        return f"scene sentence {number}"
    return "the question" if label[0] == "Q" else f"claim {number}"
