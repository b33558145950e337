"""Read traces with a trained parser: from scene, question and claims to relations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

from symbouq.limits import check_time
from symbouq.ontology.tables import Ontology
from symbouq.reading.claims import (
    COUNTED,
    MODAL,
    NAMED_BY_QUESTION,
    QUOTED,
    Reading,
)
from symbouq.reading.faults import SCENE_SENTENCE, InternalError, ReadingError, readable, reading
from symbouq.reading.force import ASKED, SUPPOSED, forces_of, is_quoted, unmarked
from symbouq.reading.lexicon import Lexicon
from symbouq.reading.segments import answered, broken, taken_back
from symbouq.reading.syntax.discourse import Discourse
from symbouq.reading.syntax.extraction import CONTEXT, Triplet
from symbouq.reading.syntax.motion import Motion
from symbouq.reading.syntax.names import Name
from symbouq.reading.syntax.positions import Arrangement
from symbouq.reading.syntax.resolved import Resolved
from symbouq.reading.syntax.sentences import Group, Sentence, Sentences
from symbouq.reading.syntax.tables import Tables
from symbouq.reading.syntax.things import Things
from symbouq.reading.text import ASSERTED, Count, Question, Statement, grouped, triples
from symbouq.reading.traces import Setting, Told, TraceReader

CONFIDENCE = {
    -3: 0.95,
    -2: 0.9,
    -1: 0.95,
    0: 0.95,
    1: 0.95,
    2: 0.9,
    3: 0.9,
    4: 0.74,
    5: 0.74,
    6: 0.74,
    7: 0.74,
}
"""Maps the cost of a reading to the measured share of correct readings among those with this cost.
"""

_UNSURE = 0.74
"""Maximum confidence of a reading that the rules mark as unsure, and of a denial of a relation that
is only close to the wording. Measured in the same way.
"""

_STANCES = {"asked": ASKED, "supposed": SUPPOSED, "doubted": QUOTED}
"""Maps the force of a claim's triplets to the stance of a claim that has no other triplets."""
_STATED = ("asserted", "necessary", "impossible")
"""Forces of statements that are taken to hold in a scene, or in an answer to the question."""
_NUMBER = re.compile(r"\W*\d+\W*")
_WORD = re.compile(r"[\w']+")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True)
class _Scene:
    """A scene and its question, after reading."""

    stated: tuple[tuple[Statement, ...], ...]
    faults: tuple[str, ...]
    things: Things
    question: Question
    arrangement: Arrangement
    motion: Motion
    upright: bool
    worded: dict[tuple[int, int], set[tuple[str, str]]]


class SyntaxReader(TraceReader):
    """Reader of traces with named things.

    Args:
        ontology: The tables of the profile.
        sentences: Reader of sentences that uses the same tables.

    Attributes:
        sentences: As given.
        pipeline: The parser.
    """

    def __init__(self, ontology: Ontology, sentences: Sentences) -> None:
        self.ontology = ontology
        self.sentences = sentences
        self.pipeline = sentences.pipeline
        lexemes = ontology.wording.lexeme
        self.forces = forces_of(ontology)
        self._articles = lexemes.get("article", frozenset())
        self._compass = lexemes.get("compass", frozenset())
        self._plane = self._compass | lexemes.get("oclock", frozenset()) | _flat(ontology)
        self._inferring = lexemes.get("inferring", frozenset())
        self._affirming = lexemes.get("affirmation", frozenset())
        self._refusing = lexemes.get("refusal", frozenset())
        # Many traces ask about one scene, so a limited number of scenes is cached.
        self._read_scene = lru_cache(maxsize=1024)(self._scene)

    @cached_property
    def lexicon(self) -> Lexicon:
        """The phrases of the profile, used to count the phrases in a text."""
        return Lexicon(self.ontology)

    # Whole traces --------------------------------------------------------------------

    def split(self, scene: str) -> list[str]:
        """Split a scene, given as one string, into sentences."""
        return [scene[start:end] for start, end in self.sentences.cut(scene)]

    def question(self, scene: Sequence[str], question: str) -> Question:
        """Read a question about a scene."""
        return self._read_scene(tuple(scene), question, self._names([*scene, question])).question

    def setting(self, told: Told) -> Setting:
        """Read the scene and question of a trace."""
        (_, spoken), *claimed = self._groups(told)
        names = claimed[0][1]

        def scene_of(scene: tuple[str, ...], question: str) -> _Scene:
            return self._read_scene(scene, question, spoken)

        read, *_, lost = readable(scene_of, told.scene, told.question)
        self._ahead(claimed)  # the question comes second: without the scene, nothing can be decided
        whole = all(read.stated) and not (lost or read.faults)
        return Setting(
            read.stated,
            read.question.pair,
            lambda: read.question,
            lambda: _ClaimParser(self, read, names),
            read.faults,
            tuple(lost),
            whole,
        )

    def held(self, scene: _Scene) -> dict[int, list[int]]:
        """Map each thing to its contents according to the scene."""
        number = {name: n for n, name in enumerate(scene.things.spellings)}
        found: dict[int, list[int]] = {}
        for statement in (s for told in scene.stated for s in told):
            ends = statement.figure, statement.ground
            if statement.relation in self.sentences.containing and number.keys() >= set(ends):
                thing, holder = (number[name] for name in ends)
                found.setdefault(holder, []).append(thing)
        return found

    def ahead(self, traces: Iterable[Told]) -> None:
        """Read the sentences of several traces in the same batches and cache them for later calls
        of `read`.
        """
        self._ahead([group for told in traces for group in self._groups(told)])

    def sentences_of(self, told: Told) -> list[Sentence]:
        """Return the sentences of scene, question and claims. Sentences with the same text appear
        only once.
        """
        read = (
            sentence
            for texts, names in self._groups(told)
            for sentences in self.sentences.read(texts, names)
            for sentence in sentences
        )
        return list({sentence.text: sentence for sentence in read}.values())

    def _ahead(self, groups: Sequence[Group]) -> None:
        # An error here occurs again when the text is read on its own, and is reported then.
        with suppress(Exception):
            self.sentences.ahead(groups)

    def _groups(self, told: Told) -> list[Group]:
        """Group the texts that are read together, and return each group with its repeated names.
        The first group consists of scene and question, the second of the claims.
        """
        scene, question, steps, conclusion, response, truncated, _ = told
        given = [*map(broken, scene), question]
        names = self._names([*given, *(steps or ()), conclusion or "", response or ""])
        spoken = " ".join(given).lower()
        groups = [(tuple(given), frozenset(n for n in names if " ".join(n) in spoken))]
        claims = self.claims_of(steps, conclusion, response, truncated)
        groups.append((tuple(map(broken, claims.texts)), names))
        if claims.conclusion:
            groups.append(((answered(claims.conclusion)[0],), names))
        return groups

    def _names(self, texts: Iterable[str]) -> frozenset[Name]:
        return self.sentences.preparation.names.of(texts)

    def _scene(self, scene: tuple[str, ...], question: str, names: frozenset[Name]) -> _Scene:
        check_time()
        with reading("the scene", " ".join(scene)):
            *read, asked = self.sentences.read([*map(broken, scene), question], names)
        upright = not self._compass.isdisjoint(_WORD.findall(" ".join(scene).lower()))
        *read, asked = self.framed([*read, asked], upright)
        things = Things(
            self.ontology.wording.person,
            self.ontology.lexicon.attribute,
            self.ontology.wording.lexeme.get("naming", frozenset()),
        )
        arrangement = Arrangement(self.ontology, self.sentences.preparation.axes, upright)
        motion = Motion(self.ontology)
        discourse = Discourse(things, self.sentences, arrangement, motion)
        tables = Tables(self.ontology)
        spoken: list[list[Resolved]] = []
        taken: Sequence[Resolved] = ()
        first: list[int] = []  # for each thing, the first sentence that mentions it
        worded: dict[tuple[int, int], set[tuple[str, str]]] = {}
        faults: list[str] = []
        retracted = taken_back(scene)
        timed = (s for sentences in read for s in sentences if not s.says.moves)
        phases = {phase for sentence in timed for phase in sentence.phases}
        narrated = not all(_is_speech(s) for sentences in read for s in sentences)
        passing: tuple[str, ...] = ()  # A statement about one phase may be false in another.
        for number, (text, sentences) in enumerate(zip(scene, read, strict=True), start=1):
            part, gone = f"{SCENE_SENTENCE} {number}", retracted[number - 1]
            check_time()
            for fault in (sentence.fault for sentence in sentences if sentence.fault):
                raise InternalError(part, fault, text)
            if any(sentence.too_long for sentence in sentences):
                raise ReadingError(part, "for it is longer than any that is read", text)
            with reading(part, text):
                spoken.append([])
                for sentence in sentences:
                    if _within(sentence.start, gone):
                        # The replacement may refer to things in the retracted words.
                        taken = self.said(discourse, sentence) or taken
                        continue
                    passing = (sentence.phases or passing) if len(phases) > 1 else ()
                    speech = (sentence.text,) if narrated and _is_speech(sentence) else ()
                    if passing or speech:
                        if self.said(discourse, sentence):
                            words = ", ".join(map(repr, passing or speech))
                            faults.append(f"{part}: not all is read, nothing is based on {words}")
                        continue
                    row = discourse.tabled(sentence, tables)
                    if row is not None:
                        spoken[-1] += row
                        continue
                    for changed, relations in discourse.changed(sentence):
                        former = {thing: things.before(thing) for thing in changed}
                        spoken = [
                            [s.given_up(former, relations, self.ontology) for s in said]
                            for said in spoken
                        ]
                    discourse.turn(sentence)
                    moved, swaps = discourse.moved(sentence), discourse.swapped(sentence)
                    for one, two in swaps:
                        spoken = self._displaced(spoken, {one: two, two: one})
                    for thing in moved:
                        place = discourse.left_behind(thing)
                        spoken = self._displaced(spoken, {thing: place})
                    told = self.said(discourse, sentence)
                    corrected: Sequence[Resolved] = ()
                    if taken and _lacks_subject(sentence):
                        ends = taken[-1].figure, taken[-1].ground
                        of = things.spellings[ends[0]], things.spellings[ends[1]]
                        corrected = self.completed(discourse, sentence, of, names)
                    taken = ()
                    told = [s for s in corrected or told if not _within(s.span[0], gone)]
                    here = self._counted(discourse, sentence, told)
                    spoken[-1] += here
                    for said in (s for s in here if not s.triplet.negative):
                        wording = sentence.word_of(said.triplet), said.relation
                        worded.setdefault((said.figure, said.ground), set()).add(wording)
                    happens = moved or swaps or corrected
                    unread = () if happens else self.rest(sentence, here, things)
                    if unread:
                        words = ", ".join(repr(word) for _, word in unread)
                        faults.append(f"{part}: not all is read, nothing is based on {words}")
            first += [number - 1] * (len(things) - len(first))
        spoken = self._superseded(spoken, discourse.present, things)
        with reading("the scene", " ".join(scene)):
            for (one, other), relation in self._kept_apart(discourse, spoken):
                where = max(first[one], first[other])
                triplet = Triplet(0, CONTEXT, CONTEXT, (relation,), 1, False, "asserted")
                spoken[where].append(Resolved(one, relation, other, triplet, (0, 0)))
            spoken = self._levelled(spoken)
            if spoken:
                spoken[-1] += discourse.headings()
            stated = [tuple(self.statements(said, things)) for said in spoken]
        for fault in (sentence.fault for sentence in asked if sentence.fault):
            raise InternalError("the question", fault, question)
        with reading("the question", question):
            order: list[int] = []
            states: list[Resolved] = []
            modals: set[str] = set()
            for sentence in asked:
                said_here = discourse.take(sentence)
                states += [_confirmed(s) for s in said_here if s.triplet.force == "asked"]
                modals.update(s.triplet.modal for s in said_here if s.triplet.force == "asked")
                states += [s for s in said_here if s.triplet.force != "asked"]
                order += self._asked(sentence, discourse)
        things.known = len(things)
        pair = tuple(dict.fromkeys(order))[:2]
        about = (things.spellings[pair[0]], things.spellings[pair[1]]) if len(pair) == 2 else None
        stated_things = tuple(
            tuple(replace(m, grounded=True) for m in statements) for statements in stated
        )
        stance = (modals.pop() if len(modals) == 1 else "") or ASSERTED
        asks = Question(question, about, triples(self.statements(states, things)), stance)
        return _Scene(
            *(stated_things, tuple(faults), things, asks),
            *(arrangement, motion, upright, worded),
        )

    def _counted(
        self, discourse: Discourse, sentence: Sentence, said: Sequence[Resolved]
    ) -> Sequence[Resolved]:
        """Return the statements of a scene sentence. "None of the cups is in A" denies each
        relation. Any other quantifier leaves open which relations hold. Such relations are omitted,
        like possible or uncertain ones.
        """
        if self.has(sentence, "unnecessary") or self.has(sentence, "undetermined"):
            return []
        if not sentence.says.counts or sentence.asked:
            return said
        counted = discourse.counted(sentence, {})
        if counted is None:
            return said
        relations, (least, most) = counted
        if most == 0:
            return [replace(s, triplet=replace(s.triplet, negative=True)) for s in relations]
        return relations if least == len(relations) else []

    def framed(self, read: list[list[Sentence]], upright: bool) -> list[list[Sentence]]:
        """Adapt sentences to a scene in which height may be a separate axis."""
        upright_as = self.ontology.wording.upright_as
        if not upright or not upright_as:
            return read
        return [[s.upright(upright_as, self._plane) for s in sentences] for sentences in read]

    def _displaced(
        self, spoken: Iterable[Iterable[Resolved]], turned: Mapping[int, int]
    ) -> list[list[Resolved]]:
        return [[s.displaced(turned, self.ontology) for s in said] for said in spoken]

    def _superseded(
        self, spoken: Sequence[Sequence[Resolved]], present: Collection[int], things: Things
    ) -> list[list[Resolved]]:
        """Apply past states to the former places of things that the text also speaks of in the
        present tense.
        """
        states = (s for said in spoken for s in said if s.triplet.former)
        placed = {thing for s in states for thing in (s.figure, s.ground)}
        turned = {thing: things.before(thing) for thing in sorted(placed.intersection(present))}
        return [
            [s.displaced(turned, self.ontology) if s.triplet.former else s for s in said]
            for said in spoken
        ]

    def _kept_apart(
        self, discourse: Discourse, spoken: Sequence[Sequence[Resolved]]
    ) -> Iterator[tuple[tuple[int, int], str]]:
        """Yield pairs of containers of the same kind, with the relation that the profile assumes
        between them.
        """
        relation = self.ontology.wording.distinct
        if relation:
            kinds = self.ontology.wording.lexeme.get("container", frozenset())
            for pair in discourse.distinct([s for said in spoken for s in said], kinds):
                yield pair, relation

    def _levelled(self, spoken: Iterable[Sequence[Resolved]]) -> list[list[Resolved]]:
        """Add the level forms of exact directions to a scene's statements, but only for things with
        nothing in or on them.
        """
        wording, relations = self.ontology.wording, self.ontology.relations
        around = wording.carried | self.sentences.containing | wording.inner_sides
        told = [list(said) for said in spoken]
        stated = [s for said in told for s in said]
        holding = {s.ground for s in stated if s.relation in around}
        holding |= {s.figure for s in stated if relations.converse.get(s.relation) in around}
        for said in told:
            said += [
                replace(s, relation=wording.levels[s.relation], offset=(), unit="")
                for s in said
                if s.relation in wording.levels
                and not s.triplet.negative
                and holding.isdisjoint((s.figure, s.ground))
            ]
        return told

    def _asked(self, sentence: Sentence, discourse: Discourse) -> list[int]:
        """The things that a question asks about: the figure, then the ground."""
        order: list[int] = []
        whereabouts = self.ontology.wording.lexeme.get("whereabouts", ())
        phrases = {
            head: phrase
            for head, phrase in sentence.says.phrases.items()
            if phrase.names and sentence.words[head].text.lower() not in whereabouts
        }
        # "The florist's shop": the question is not about the florist
        owners = {n for phrase in phrases.values() for n in phrase.words if n != phrase.head}
        for head, phrase in sorted(phrases.items()):
            if head in owners:
                continue
            thing = discourse.things.thing(*sentence.named[head])
            if thing in order:
                continue
            first = phrase.words[0] - 1
            while first >= 0 and sentence.words[first].text.lower() in self._articles:
                first -= 1
            before = sentence.words[first] if first >= 0 else None
            after = sentence.words[head + 1].text.lower() if head + 1 < len(sentence.words) else ""
            ground = before is not None and (
                before.category in ("reference", "preposition")
                or before.text.lower() in ("of", "from")
            )
            if not order and ground and after in ("is", "are", ",", "does"):
                order.append(-1)  # "Relative to B, where is A?"
            order.append(thing)
        if order[:1] == [-1]:
            order = [*order[2:3], order[1], *order[3:]]
        return order

    # Sentences -----------------------------------------------------------------------

    def said(self, discourse: Discourse, sentence: Sentence) -> list[Resolved]:
        """Return the statements of a sentence, including the statements in the preceding question
        that it confirms.
        """
        asked = discourse.question
        said = list(discourse.take(sentence))
        if asked and not sentence.asked:
            told = self.confirms(sentence) or self._opens(sentence) in self._refusing
            if told and not any(s.triplet.negative for s in asked):
                turned = not self.confirms(sentence)
                span = sentence.start, sentence.start + len(sentence.text)
                confirmed = (replace(_confirmed(s, turned), span=span) for s in asked)
                said = [*confirmed, *said]
        return said

    def completed(
        self,
        discourse: Discourse,
        sentence: Sentence,
        taken: tuple[str, str],
        names: frozenset[Name],
    ) -> list[Resolved]:
        """Complete a correction that has no subject, "..., no wait, right of the box", with the
        figure of the corrected statement.

        Args:
            discourse: The discourse so far.
            sentence: The correction.
            taken: Figure and ground of the corrected statement.
            names: Names that the trace repeats.
        """
        figure, ground = taken
        pronouns = self.ontology.words("pronoun")
        words = (ground if word.text.lower() in pronouns else word.text for word in sentence.words)
        (whole,) = self.sentences.read([" ".join([figure, "is", *words])], names)
        span = sentence.start, sentence.start + len(sentence.text)
        return [
            replace(each, span=span)
            for part in whole
            for each in self.said(discourse, part)
            if discourse.things.spellings[each.figure] == figure
        ]

    def has(self, sentence: Sentence, name: str) -> bool:
        """Whether a sentence contains a word or phrase from the named word class."""
        text = sentence.text.lower()
        return any(words in text for words in self.ontology.wording.lexeme.get(name, ()))

    def confirms(self, sentence: Sentence) -> bool:
        """Whether a sentence confirms the preceding question."""
        return self._opens(sentence) in self._affirming

    @staticmethod
    def _opens(sentence: Sentence) -> str:
        """A sentence's words before its first punctuation mark, in lower case."""
        comma = (n for n, word in enumerate(sentence.words) if not word.text[-1:].isalpha())
        return " ".join(w.text.lower() for w in sentence.words[: next(comma, None)])

    def statements(
        self,
        said: Iterable[Resolved],
        things: Things,
        forces: Collection[str] = _STATED,
    ) -> Iterator[Statement]:
        """Yield the relations of the profile that are stated by triplets with one of the given
        forces.

        Args:
            said: The triplets.
            things: The things of the trace.
            forces: The forces. If the only force is modal, a denied triplet keeps its relation.
                Otherwise the relation is replaced by its denial.
        """
        modal = len(forces) == 1 and not set(forces).isdisjoint(MODAL)
        groups: dict[tuple[int, str, int], list[tuple[int, Statement]]] = {}
        for each in said:
            triplet = each.triplet
            confidence = CONFIDENCE.get(triplet.cost)
            if confidence is None or not each.sure or triplet.force not in forces:
                continue
            relation: str | None = each.relation
            if triplet.negative and not modal:
                relation = self.ontology.denied(each.relation)
            understood = self.ontology.understood(relation) if relation else None
            if understood is None:
                continue
            if triplet.unsure:
                confidence = min(confidence, _UNSURE)
            if (triplet.negative or triplet.force == "impossible") and (
                understood != relation or each.relation in self.ontology.lexicon.vague
            ):
                confidence = min(confidence, _UNSURE)  # a narrower relation is denied
            statement = Statement(
                things.spellings[each.figure],
                understood,
                things.spellings[each.ground],
                each.span,
                confidence,
                max(each.figure, each.ground) < things.known,
                *((each.offset, each.unit) if understood == each.relation else ()),
            )
            if understood in self.ontology.lexicon.grouped:
                key = each.figure, understood, triplet.trigger
                groups.setdefault(key, []).append((each.ground, statement))
            else:
                yield statement
        for group in groups.values():
            yield from grouped(self.ontology, [statement for _, statement in sorted(group)])

    def rest(
        self,
        sentence: Sentence,
        said: Sequence[Resolved],
        things: Things,
        forces: Collection[str] = _STATED,
    ) -> tuple[tuple[int, str], ...]:
        """Return the words about places that were not read in a sentence, with their offsets. Their
        relation is not among the statements, or not for all of its things.

        Args:
            sentence: The sentence.
            said: Its triplets.
            things: The things of the trace.
            forces: Forces that count as stating.
        """
        unread = set(sentence.says.rest)
        unread.update(n for n, word in enumerate(sentence.words) if word.open or word.vague)
        here = {(s.trigger, s.figure, s.ground) for s in sentence.says.triplets}
        # leave out confirmed statements of the question before it
        said = [s for s in said if (s.triplet.trigger, s.triplet.figure, s.triplet.ground) in here]
        described = [sentence.says.described.get(s.triplet.trigger, ()) for s in said]
        if things.known and all(described):
            # "The lamp above B is red": the actual content of the claim was not read.
            unread.update(n for of in described for n in of if not sentence.words[n].relations)
        if self.sentences.preparation.amounts.measures:
            unread.update(
                s.triplet.trigger
                for s in said
                if sentence.words[s.triplet.trigger].amounts and not s.offset
            )
        grouped_as = self.ontology.lexicon.grouped
        grouped = {s.triplet.trigger for s in said if s.relation in grouped_as}
        spoken = [
            s
            for s in said
            if s.triplet.trigger in grouped
            or any(True for _ in self.statements([s], things, forces))
        ]
        triggers = {n for s in spoken for n in (s.triplet.trigger, *s.joined)}
        triggers |= {s.triplet.trigger for s in said if self._is_covered(s, spoken)}
        for stated in sentence.says.triplets:
            located = stated.ground in triggers  # "on the third FLOOR"
            if stated.trigger not in triggers and not located:
                unread.add(stated.trigger)
        phrases = sentence.says.phrases
        terms = {n for n, word in enumerate(sentence.words) if word.category == "term"}
        for trigger in triggers:  # "left of B and C" with an unknown C
            of = [s for s in spoken if s.triplet.trigger == trigger]
            named_so = (s for s in spoken if s.triplet.trigger in {trigger, *terms})
            known = {n for s in named_so for n in (s.figure, s.ground)}
            heads = {n for s in of for n in (s.triplet.figure, s.triplet.ground)}
            for group in sentence.says.groups:
                others = () if heads.isdisjoint(group) else set(group) - heads
                named = (n for n in others if phrases[n].names)
                unread.update(n for n in named if things.find(*sentence.named[n]) not in known)
        unread -= sentence.says.bare
        if self.confirms(sentence):
            unread -= {n for n, word in enumerate(sentence.words) if word.relations}
        start = sentence.start
        words = [(word.start, word.text) for n, word in enumerate(sentence.words) if n in unread]
        words += [(word.end, word.left_out) for word in sentence.words if word.left_out]
        return tuple((start + at, text) for at, text in sorted(words))

    def _is_covered(self, said: Resolved, others: Iterable[Resolved]) -> bool:
        """Whether a relation outside the profile follows from the other triplets: "left of B and at
        the same height", if left implies level.
        """
        axis = self.ontology.wording.aligned.get(said.relation)
        if axis is None or said.relation in self.ontology.relations.family:
            return False
        encoding, component = self.ontology.encoding, self.ontology.relations.component
        pair = {said.figure, said.ground}
        level = {o.relation for o in others if {o.figure, o.ground} == pair}
        level = {relation for relation in level if component.get(relation, {}).get(axis) == 0}
        return bool(level) and all(
            axis in encoding.axes[key]
            for (_, relation), key in encoding.readings.items()
            if relation in level
        )

    def unread(self, said: Sequence[Resolved], sentence: Sentence) -> str:
        """Return the reason why an assertion that mentions a place has no statements."""
        asserted = [s for s in said if s.triplet.force in ("asserted", *MODAL)]
        if not asserted:
            return "unread" if any(word.relations for word in sentence.words) else ""
        known = self.ontology.relations.family
        if all(s.triplet.negative and s.relation in known for s in asserted):
            return "denied"
        sure = [s for s in asserted if s.sure and s.triplet.cost in CONFIDENCE]
        return "not-in-profile" if sure else "uncertain"

    def label(self, text: str, things: Things, asked: tuple[str, str]) -> tuple[Statement, ...]:
        """Read a bare label, "upper-left", as the relation of the pair asked about."""
        relations: list[str] = []
        for sentence in self.sentences.read([text])[0]:
            for head, phrase in sentence.says.phrases.items():
                if not phrase.names:
                    continue
                named = things.find(*sentence.named[head])
                if named is None or things.spellings[named] not in asked:
                    return ()
            for word in sentence.words:
                if word.category in ("side", "preposition", "verb", "mutual", "between"):
                    relations += word.relations
                elif word.text.lower() in ("or", "not", "neither", "no", "cannot"):
                    return ()
        relation = self.sentences.preparation.together(relations)
        if relation is None or relation not in self.ontology.relations.family:
            return ()
        span = (0, len(text))
        return (Statement(asked[0], relation, asked[1], span, NAMED_BY_QUESTION, True),)


def _flat(ontology: Ontology) -> set[str]:
    """Units of scales that are not vertical, such as rows and columns (but not storeys)."""
    wording = ontology.wording
    kinds = {
        wording.unit[unit][0]
        for scale, unit in wording.metric.items()
        if scale not in wording.tall and unit in wording.unit
    }
    return {unit for unit, (kind, _) in wording.unit.items() if kind in kinds}


def _confirmed(said: Resolved, turned: bool = False) -> Resolved:
    """A question's triplet turned into an assertion, or into a denial if `turned`."""
    triplet = said.triplet
    negative = triplet.negative != turned
    return replace(said, triplet=replace(triplet, force="asserted", negative=negative))


def _opening(sentence: Sentence) -> list[str]:
    return _WORD.findall(sentence.text[unmarked(sentence.text) :].lower())[:3]


def _is_speech(sentence: Sentence) -> bool:
    return is_quoted(sentence.text, 0, len(sentence.text))


def _lacks_subject(sentence: Sentence) -> bool:
    """Whether a sentence has no named subject for its statements about places, if any."""
    return all(triplet.figure < 0 for triplet in sentence.says.triplets)


def _within(place: int, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)


def _is_term(sentence: Sentence) -> bool:
    """Whether a sentence is only a formula, "TPP(x,z)", as in a list."""
    words = [word for word in sentence.words if word.text[-1:].isalnum()]
    return len(words) == 3 and words[1].category == "term"


def _plainly(said: Resolved) -> Resolved:
    """A triplet turned into an assertion, even if it is denied or doubted."""
    return replace(said, triplet=replace(said.triplet, force=ASSERTED, negative=False))


def _cited(said: Resolved) -> Resolved:
    """Mark a triplet as the explanation of a term. It then states nothing about the scene."""
    force = "doubted" if said.triplet.force in (*_STATED, "glossed") else said.triplet.force
    return replace(said, triplet=replace(said.triplet, force=force))


def _restated(said: Resolved) -> Resolved:
    """Mark a triplet as the explanation of a formula that is stated in the scene. The triplet is
    asserted, but too uncertain to contradict anything.
    """
    if said.triplet.force != "glossed":
        return said
    return replace(said, triplet=replace(said.triplet, force=ASSERTED, unsure=True))


def _unsure(said: Resolved) -> Resolved:
    return replace(said, triplet=replace(said.triplet, unsure=True))


class _ClaimParser:
    """Parser for the sentences of one trace's claims (`symbouq.reading.claims.SentenceParser`).

    Args:
        of: The reader.
        scene: The scene with its question.
        names: Names that the trace repeats.

    Attributes:
        pair: The pair that the question asks about.
        asks_whether: Whether it is a yes/no question.
    """

    def __init__(self, of: SyntaxReader, scene: _Scene, names: frozenset[Name]) -> None:
        self._of = of
        self._scene = scene
        given = [statement for statements in scene.stated for statement in statements]
        converse = of.ontology.relations.converse
        self._given = {(m.figure, m.relation, m.ground) for m in given}
        self._given |= {(m.ground, converse.get(m.relation, ""), m.figure) for m in given}
        self._contents = of.held(scene)
        self._names = names
        self._things = scene.things.copy()
        self._things.known = len(self._things)
        self.pair = scene.question.pair
        self.asks_whether = bool(scene.question.states)
        self._discourse = self._opened()
        self._supposed: frozenset[str] = frozenset()
        self._glossed = False
        self._conditional = False
        self._example = False
        self._numbered = False

    def _opened(self) -> Discourse:
        """Start a new discourse about the scene."""
        return Discourse(
            self._things,
            self._of.sentences,
            judging=self._scene.arrangement,
            turned=self._scene.motion,
        )

    def sentences(self, texts: Sequence[str]) -> list[list[Sentence]]:
        """Read the sentences of each text."""
        return self._of.framed(self._of.sentences.read(texts, self._names), self._scene.upright)

    def unreadable(self, sentence: Sentence) -> str:
        """Return the limit that a sentence exceeds; empty if there is none."""
        return "for it is longer than any that is read" if sentence.too_long else ""

    def is_whole(self, sentence: Sentence) -> bool:
        """Whether the statements about places in a sentence have a subject."""
        return not _lacks_subject(sentence)

    def completed(self, sentence: Sentence, pair: tuple[str, str]) -> list[Statement]:
        """Complete a sentence that has no subject with the first thing of the pair."""
        said = self._of.completed(self._discourse, sentence, pair, self._names)
        return list(self._of.statements(said, self._things, (ASSERTED,)))

    def may_be_label(self, sentence: Sentence) -> bool:
        """Whether a sentence may be a label because it has no relation between named things."""
        return all(triplet.ground == CONTEXT for triplet in sentence.says.triplets)

    def label(self, text: str, pair: tuple[str, str]) -> tuple[Statement, ...]:
        """Read a bare label, "upper-left", as a relation of the given pair."""
        return self._of.label(text, self._things, pair)

    def answer(self, sentences: Sequence[Sentence]) -> Reading:
        """Return the statements of an answer's sentences."""
        discourse = self._opened()
        discourse.topic = self._discourse.topic
        said = [
            each
            for sentence in sentences
            for each in self._said(discourse, sentence)
            if not self._bids(sentence, each)
        ]
        if len(sentences) == 1:
            told = self._counted(discourse, sentences[0], said)
            if told is not None:
                return told
        stance = ASSERTED
        stated = list(self._of.statements(said, self._things, (ASSERTED, "necessary")))
        if stated:  # then with statements marked as impossible, too
            stated = list(self._of.statements(said, self._things))
        for modal in ("impossible", "possible"):
            if not stated:
                stance, stated = modal, list(self._of.statements(said, self._things, (modal,)))
        forces = _STATED if stance == ASSERTED else (stance,)
        rest = tuple(
            word for each in sentences for word in self._of.rest(each, said, self._things, forces)
        )
        unread = any(word.relations for sentence in sentences for word in sentence.words)
        reason = "unread" if unread and not stated else ""
        return Reading(stated, stance if stated else ASSERTED, reason, rest=rest)

    def parse(self, sentence: Sentence, gap: str) -> list[Reading]:
        """Read a sentence part by part: "A is left of B, so C is left of B" has two parts."""
        read = self._asserted(sentence, gap)
        starts = [] if read.count else self._cuts(sentence, read.statements)
        edges = [sentence.start, *starts, sentence.start + len(sentence.text)]
        return [
            replace(
                read,
                statements=[m for m in read.statements if begin <= m.span[1] - 1 < end],
                rest=tuple((at, word) for at, word in read.rest if begin <= at < end),
                begin=begin,
            )
            for begin, end in pairwise(edges)
        ]

    def _cuts(self, sentence: Sentence, relations: Sequence[Statement]) -> list[int]:
        """Return the positions in a sentence at which an inference begins after a relation."""
        starts = [
            sentence.start + word.start
            for word in sentence.words[1:]
            if word.text.lower() in self._of._inferring
            and word.text.lower() not in ("because", "since")
        ]
        ends = sorted(m.span[1] for m in relations)
        return [s for s in starts if ends and ends[0] <= s < ends[-1]]

    def _asserted(self, sentence: Sentence, gap: str) -> Reading:
        said = self._said(self._discourse, sentence)
        meaning = self._of.ontology.wording.lexeme.get("meaning", ())
        first = _opening(sentence)[:1]
        glosses = not set(first).isdisjoint(meaning) or self._defines(_opening(sentence))
        chained = self._glossed and glosses
        glosses = chained or any(each.triplet.force == "glossed" for each in said)
        if glosses and self._restates(sentence, said):
            chained = glosses = False
            said = [_restated(each) for each in said]
        self._glossed = glosses or self._of.has(sentence, "equivalence")
        if glosses:  # "x must be in z, which means TPP(x,z)" asserts only the first part.
            explained = (chained or s.triplet.force == "glossed" for s in said)
            said = [_cited(s) if cites else s for s, cites in zip(said, explained, strict=True)]
        # Text after a condition may depend on it, within the same paragraph.
        self._conditional = self._conditional and not _PARAGRAPH.search(gap)
        self._example = self._example and not self._of.has(sentence, "generality")
        if self._conditional or self._example:
            said = [_unsure(each) for each in said]
        self._example = self._example or self._of.has(sentence, "example")
        # An item in a list of possible relations may be rejected later.
        if self._numbered or unmarked(sentence.text):
            said = [_unsure(s) if s.triplet.force == "possible" else s for s in said]
        self._numbered = _NUMBER.fullmatch(sentence.text) is not None
        self._conditional = self._conditional or any(
            each.triplet.force == "supposed" for each in said
        )
        if self._is_supposed(sentence, said, gap):
            return Reading(stance=SUPPOSED)
        if _is_term(sentence):
            return Reading(stance=QUOTED)
        unbidden = [each for each in said if not self._bids(sentence, each)]
        if said and not unbidden:
            return Reading(stance=ASKED)
        said = unbidden
        told = self._counted(self._discourse, sentence, said)
        if told is not None:
            return told
        whole = said
        if any(s.triplet.force in MODAL for s in said):
            said = self._without_reasons(sentence, said)
        if sentence.says.rest:  # the denial may be about the words that were not read
            said = [_unsure(s) if s.triplet.negative else s for s in said]
        forces = [s.triplet.force for s in said]
        for stance in (ASSERTED, *(force for force in MODAL if force in forces)):
            statements = list(self._of.statements(said, self._things, (stance,)))
            if statements:
                forces_read = (stance,) if len(said) == len(whole) else (stance, ASSERTED)
                rest = self._of.rest(sentence, whole, self._things, forces_read)
                return Reading(statements, stance, rest=rest)
        if sentence.asked and any(word.relations for word in sentence.words):
            return Reading(stance=ASKED)
        stance = next((_STANCES[f] for f in forces if f in _STANCES), ASSERTED)
        rest = self._of.rest(sentence, said, self._things) if stance == ASSERTED else ()
        return Reading([], stance, self._of.unread(said, sentence), rest=rest)

    def _restates(self, sentence: Sentence, said: Sequence[Resolved]) -> bool:
        """Whether a sentence only explains formulas that are stated in the scene: "TPP(x,y) means
        that x is in y".
        """
        terms = [s for s in said if sentence.words[s.triplet.trigger].category == "term"]
        statements = self._of.statements(map(_restated, terms), self._things)
        told = {(m.figure, m.relation, m.ground) for m in statements}
        return bool(told) and told <= self._given

    def _bids(self, sentence: Sentence, said: Resolved) -> bool:
        """Whether a sentence asks somebody to make its statement true. Route directions do not
        count.
        """
        if said.triplet.trigger in sentence.says.bare:
            return False
        named = (
            (word.start, word.start + len(word.text))
            for phrase in sentence.says.phrases.values()
            for word in (sentence.words[n] for n in phrase.words)
        )
        span = said.span[0] - sentence.start, said.span[1] - sentence.start
        return self._of.forces.bids(sentence.text, span, named)

    def _counted(
        self, discourse: Discourse, sentence: Sentence, said: Sequence[Resolved]
    ) -> Reading | None:
        """Read a sentence about what is necessary or known, or about how many of its relations
        hold. The stance is `unnecessary`, `undetermined` or `counted`, or `asserted` if all
        relations hold. Return None for other sentences.
        """
        told = [s.triplet for s in said]
        one = len({s.trigger for s in told}) == 1
        if one and not sentence.asked and self._of.has(sentence, "unnecessary"):
            return self._all_of([_plainly(each) for each in said], "unnecessary")
        if sentence.asked or any(s.force in ("asked", *MODAL) for s in told):
            return None
        if one and self._of.has(sentence, "undetermined"):
            plain = [_plainly(each) for each in said]
            return self._all_of(plain, "undetermined")
        if any(s.force == "supposed" for s in told):
            return None
        counted = discourse.counted(sentence, self._contents)
        if counted is None:
            return None
        relations, count = counted
        whole = count[0] == len(relations)
        return self._all_of(relations, ASSERTED if whole else COUNTED, count)

    def _all_of(
        self, said: Sequence[Resolved], stance: str, count: Count | None = None
    ) -> Reading | None:
        """A reading with the given stance; None if one of its relations is outside the profile."""
        statements = list(self._of.statements(said, self._things, (ASSERTED,)))
        if len(statements) < len(said):
            return None
        return Reading(statements, stance, "", count if stance == COUNTED else None)

    def _without_reasons(self, sentence: Sentence, said: Sequence[Resolved]) -> list[Resolved]:
        """Remove reason clauses ("because ...", or "since ..." at the start) from a statement that
        something is necessary or possible.
        """
        reasons = self._of.ontology.wording.lexeme.get("reason", ())
        if sentence.words and sentence.words[0].text.lower() in reasons:
            modal_ones = [s for s in said if s.triplet.force in MODAL]
            return modal_ones or list(said)
        begins = [word.start for word in sentence.words[1:] if word.text.lower() in reasons]
        start = sentence.start + min(begins, default=len(sentence.text))
        before = [s for s in said if s.span[0] < start]
        modal = any(s.triplet.force in MODAL for s in before)
        return before if modal else list(said)

    def _said(self, discourse: Discourse, sentence: Sentence) -> list[Resolved]:
        """The triplets of a sentence. They are uncertain if the scene's wording is ambiguous."""
        said = self._of.said(discourse, sentence)
        return [_unsure(s) if self._is_blurred(s, sentence) else s for s in said]

    def _is_blurred(self, said: Resolved, sentence: Sentence) -> bool:
        """Whether scene and claim may have different words for one relation between two things."""
        blurred, relations = self._of.ontology.wording.blurred, self._of.ontology.relations
        converse, word, relation = relations.converse, sentence.word_of(said.triplet), said.relation
        there = self._scene.worded.get((said.figure, said.ground), set())
        compass = not self._of.sentences.fixed.isdisjoint(word.split())
        if (word, relation) in there or (compass and relation not in relations.within):
            return False  # stated in the same words; "on the shelf" is not north of the shelf
        turned = self._scene.worded.get((said.ground, said.figure), set())
        return any((w, relation) in blurred or (word, r) in blurred for w, r in there) or any(
            (w, converse.get(relation)) in blurred or (word, converse.get(r)) in blurred
            for w, r in turned
        )

    def _defines(self, words: Iterable[str]) -> bool:
        """Whether one of the words introduces a definition."""
        defining = self._of.ontology.wording.lexeme.get("defining", ())
        return any(word.lower().removesuffix("s") in defining for word in words)

    def _is_supposed(self, sentence: Sentence, said: Sequence[Resolved], gap: str) -> bool:
        """Whether a sentence belongs to a supposition. A supposition continues as long as later
        text makes conclusions from it, and through the items of a list that it introduces. A
        supposition that is an example continues to the end of the paragraph.
        """
        of_class = self._of.ontology.wording.lexeme
        words = _opening(sentence)
        first = words[0] if words else ""
        opens = self._of.forces.supposes(sentence.text)
        example = first in of_class.get("exemplifying", ()) and ":" in sentence.text
        drawn = first in of_class.get("drawing", ()) or "would" in words
        line = "\n" not in gap
        # The rest of an item's line belongs to the item.
        in_list = "listed" in self._supposed and (
            bool(unmarked(sentence.text)) or (line and "item" in self._supposed)
        )
        goes_on = (
            ("drawn" in self._supposed and drawn)
            or ("meant" in self._supposed and first in of_class.get("meaning", ()))
            or in_list
            or ("paragraph" in self._supposed and (line or not _PARAGRAPH.search(gap)))
        )
        supposed = opens or example or goes_on
        # What follows "TPP(x, z):" or "For A to be above B, ..." is a supposition, too.
        forces = {s.triplet.force for s in said}
        heading = sentence.text.rstrip("* ").endswith(":")
        defined = heading and self._defines(word.text for word in sentence.words)
        headed = heading and any(word.category == "term" for word in sentence.words)
        needed = first == "for" and forces == {"supposed"}
        scope = set(self._supposed if goes_on else ())
        if in_list:
            scope.add("item")
        if opens or example or headed or needed:
            scope.add("drawn")
        if not forces.isdisjoint(("supposed", "doubted")):
            scope.add("meant")
        if (heading and scope and (defined or "asserted" not in forces)) or opens:
            scope.add("listed")
        if example:
            scope.add("paragraph")
        if self._of.has(sentence, "refuting"):  # "That contradicts the story."
            scope.clear()
        self._supposed = frozenset(scope)
        return supposed
