"""Parse sentences about events into clauses.

A sentence is a noun phrase and a verb with objects, prepositional phrases and counts. Nouns and
names are an open class: a noun phrase begins with a determiner or a capital letter, and ends where
the rest of the sentence can be parsed. All parses are tried. Parses with the shortest noun phrases
come first. The first parse that covers the whole sentence is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from symbouq.reading.bounds import LONGEST_SENTENCE, MOST_WAYS
from symbouq.reading.clauses import Clause, Clauses
from symbouq.reading.events.words import BASE, GERUND, PARTICIPLE, PAST, PRESENT, EventLexicon
from symbouq.reading.lexicon import Token

Names = tuple[str, ...]
"""The names in a noun phrase, or in several noun phrases joined by "and"."""

_AUXILIARIES = ("being", "having", "doing")
"""Word classes that come before a verb or a place."""

_LONGEST_NAME = 5
"""Maximum number of words in a noun phrase."""


Parse = tuple[Clauses, int]
"""Clauses, and the position after them."""


@dataclass(frozen=True)
class _Noun:
    """A noun phrase: its names, and the statements of its modifiers."""

    names: Names
    said: tuple[Clause, ...]
    end: int


class Sentence:
    """Parser for one sentence.

    Args:
        lexicon: The words of the profile.
        tokens: The tokens of the sentence.
        meaning: Verb to assume for unknown verbs, if any.
    """

    def __init__(self, lexicon: EventLexicon, tokens: Sequence[Token], meaning: str = "") -> None:
        self._lexicon = lexicon
        self._meaning = meaning
        ontology = lexicon.ontology
        self._between = ontology.events.members("betweenness")
        self._divided = ontology.events.members("divided")
        self._sides = frozenset(r for row in ontology.events["seen_inverse", 2] for r in row)
        self._movers = lexicon.movers
        self._opaque = ontology.events.members("opaque")
        self._perceiving = ontology.events.members("perceives")
        self._mutual = ontology.events.members("mutual")
        self._returning = ontology.events.members("returning")
        self._elsewhere = ontology.events.members("incorporates") - ontology.events.members(
            "places"
        )
        self._known = ontology.events.members("verb")
        self._posture = ontology.events.members("posture")
        self._short = ontology.events.members("short")
        self._origin = ontology.events.members("origin")
        self._construing = ontology.events.members("construes")
        self._parting = ontology.events.members("parting")
        self._words = ontology.words
        self._past_form = ontology.words("past_form")
        ending = len(tokens)
        while ending and tokens[ending - 1].text in (".", "!"):
            ending -= 1
        self._tokens = tokens[:ending]
        self._ways = 0

    def clauses(self) -> tuple[Clause, ...]:
        """Return the clauses of the sentence; empty if it cannot be parsed or is too long."""
        if len(self._tokens) > LONGEST_SENTENCE:
            return ()
        for clauses, end in self._sentence():
            if end == len(self._tokens):
                return clauses
        return ()

    # Tokens ------------------------------------------------------------------------------

    def _kind(self, position: int) -> str:
        return self._tokens[position].kind if position < len(self._tokens) else ""

    def _text(self, position: int) -> str:
        if position >= len(self._tokens):
            return ""
        return " ".join(self._tokens[position].text.lower().split())

    def _is(self, position: int, word_class: str) -> bool:
        """Whether a token belongs to a word class, possibly among others."""
        return self._text(position) in self._words(word_class)

    def _forms(self, position: int) -> list[tuple[str, str]]:
        """The verb forms that a token may be. An unknown word may be a verb without spatial meaning
        if it is spelled like a verb.
        """
        text = self._text(position)
        known = self._lexicon.forms.get(text)
        if known is not None:
            return known
        if self._kind(position) == "content" and text.isalpha() and text.islower():
            verb = self._meaning or text
            if text.endswith("ed"):
                return [(verb, PAST), (verb, PARTICIPLE)]
            if text.endswith("ing"):
                return [(verb, GERUND)]
        return []

    def _skip_asides(self, position: int) -> int:
        """The position after adverbs without spatial meaning. Any word that ends in "-ly" is such
        an adverb, except for hedges.
        """
        while self._kind(position) == "aside" or (
            self._kind(position) == "content"
            and self._tokens[position].text.islower()
            and self._text(position).endswith("ly")
        ):
            position += 1
        return position

    # Noun phrases --------------------------------------------------------------------------

    def _nouns(self, position: int, modified: bool = False) -> Iterator[_Noun]:
        """Yield the noun phrases from a position, possibly joined by "and".

        Args:
            position: Start of the phrases.
            modified: Whether they may have modifiers.
        """
        for noun in self._noun(position, modified):
            yield noun
            comma = noun.end + (self._text(noun.end) == ",")
            last = comma + (self._kind(comma) == "and")
            if last > noun.end:
                for rest in self._nouns(last, modified):
                    # A comma joins phrases only if "and" follows.
                    if last > comma or len(rest.names) > 1:
                        yield _Noun(noun.names + rest.names, noun.said + rest.said, rest.end)

    def _noun(self, position: int, modified: bool) -> Iterator[_Noun]:
        self._ways += 1
        if self._ways > MOST_WAYS:
            return
        for end in self._ends(position):
            first = position + self._is(position, "determiner")
            # Keep a capital letter, since it distinguishes a name from a description.
            named = self._capital(end - 1)
            spelled = " ".join(self._tokens[n].text for n in range(first, end))
            name = spelled.replace(" 's", "'s")
            name = name if named else name.lower()
            yield _Noun((name,), (), end)
            if modified:
                for said, last in self._modifiers(name, end):
                    yield _Noun((name,), said, last)

    def _ends(self, position: int) -> Iterator[int]:
        """Yield the positions at which a noun phrase may end."""
        start = position
        after_preposition = position and self._kind(position - 1) in ("relation", "way")
        bare = after_preposition and self._kind(position) == "content"
        owned = False
        if self._is(position, "determiner"):
            position += 1
        elif not self._capital(position) and not bare:
            return
        for end in range(position + 1, position + _LONGEST_NAME):
            kind = self._kind(end - 1)
            owner = self._text(end - 1) == "'s" and self._kind(end) in ("content", "verb")
            nominal = kind in ("content", "verb", "number") or owner
            if not nominal and (end - 1 > position or not kind):
                return
            owned = owned or owner
            if start == position and not self._capital(end - 1) and not owned and not bare:
                return
            if not owner:
                yield end

    def _capital(self, position: int) -> bool:
        if not 0 <= position < len(self._tokens) or self._is(position, "determiner"):
            return False
        return self._tokens[position].text[:1].isupper()

    def _modifiers(self, name: str, position: int) -> Iterator[Parse]:
        """Yield the modifiers of a noun phrase: "in the jacket", "who is in the jacket"."""
        if self._kind(position) == "relation":
            yield from self._places((name,), position, Clause(tense="now"))
        comma = position + (self._text(position) == ",")
        if self._is(comma, "relative"):
            for clauses, end in self._predicate((name,), comma + 1):
                yield clauses, end + (comma > position and self._text(end) == ",")

    # Sentences ---------------------------------------------------------------------------

    def _sentence(self) -> Iterator[Parse]:
        if self._kind(0) == "existential":
            past = self._text(0).split()[-1] in self._past_form
            for noun in self._nouns(1):
                frame = Clause(tense="past" if past else "now")
                yield from self._places(noun.names, noun.end, frame)
            return
        for noun in self._nouns(0, modified=True):
            for clauses, end in self._predicates(noun.names, noun.end):
                yield noun.said + clauses, end

    def _predicates(self, subjects: Names, position: int) -> Iterator[Parse]:
        """Yield the predicates of the given subjects: "walked in and came back"."""
        for clauses, end in self._predicate(subjects, position):
            yield clauses, end
            joint = end + (self._text(end) == ",")
            if self._kind(joint) == "and":
                for more, last in self._predicates(subjects, joint + 1):
                    yield clauses + more, last

    def _predicate(self, subjects: Names, position: int) -> Iterator[Parse]:
        position = self._skip_asides(position)
        kind, text = self._kind(position), self._text(position)
        contracted = kind == "negation" and text.endswith(("n't", " not"))
        if contracted:
            text = text.removesuffix(" not").removesuffix("n't")
            kind = next((c for c in _AUXILIARIES if text in self._words(c)), "")
        past = text in self._past_form
        frame = Clause(tense="past" if past else "now", negative=contracted)
        if kind in _AUXILIARIES:
            after = self._skip_asides(position + 1)
            if self._kind(after) == "negation":
                frame, after = replace(frame, negative=True), self._skip_asides(after + 1)
            if kind == "being":
                yield from self._being(subjects, after, frame)
            elif kind == "having":
                yield from self._having(subjects, after, frame)
            else:
                yield from self._verb(subjects, after, frame, (BASE,))
            return
        yield from self._verb(subjects, position, replace(frame, tense="past"), (PAST,))
        yield from self._verb(subjects, position, replace(frame, tense="now"), (PRESENT, BASE))

    def _being(self, subjects: Names, position: int, frame: Clause) -> Iterator[Parse]:
        """Yield the possible continuations after "is": a place, a gerund or a passive."""
        yield from self._places(subjects, position, frame)
        progressive = replace(frame, aspect="progressive")
        yield from self._verb(subjects, position, progressive, (GERUND,))
        if self._text(position) == "being":
            yield from self._passive(subjects, position + 1, progressive)
        yield from self._passive(subjects, position, frame)

    def _having(self, subjects: Names, position: int, frame: Clause) -> Iterator[Parse]:
        """Yield the possible continuations after "has": a participle."""
        perfect = replace(frame, aspect="perfect")
        yield from self._verb(subjects, position, perfect, (PARTICIPLE,))
        if self._text(position) == "been":
            yield from self._places(subjects, position + 1, replace(frame, tense="past"))
            yield from self._passive(subjects, position + 1, perfect)
            progressive = replace(frame, aspect="progressive")
            yield from self._verb(subjects, position + 1, progressive, (GERUND,))

    def _verb(
        self, subjects: Names, position: int, frame: Clause, forms: tuple[str, ...]
    ) -> Iterator[Parse]:
        """Yield a verb in one of the given forms, with objects and prepositional phrases."""
        for verb, form in self._forms(position):
            if form not in forms:
                continue
            after = self._skip_asides(position + 1)
            if verb in self._posture:
                yield from self._places(subjects, after, frame)
                continue
            strange = verb not in self._known
            clause = replace(frame, verb=verb, strange=strange, back=verb in self._returning)
            if verb in self._opaque:
                # Something wanted or believed need not be true.
                yield tuple(replace(clause, agent=s) for s in subjects), len(self._tokens)
                continue
            for noun in self._nouns(after):
                yield from self._rest(subjects, noun.names, noun.end, clause)
                if verb in self._perceiving:
                    yield from self._witnessed(subjects, noun, clause)
            yield from self._rest(subjects, ("",), after, clause)

    def _witnessed(self, subjects: Names, noun: _Noun, clause: Clause) -> Iterator[Parse]:
        """Yield the clauses for an action that somebody perceives: "saw the cat jump over the
        fence".
        """
        perceived = tuple(
            replace(clause, agent=s, patient=name) for s in subjects for name in noun.names
        )
        for aspect, form in (("simple", BASE), ("progressive", GERUND)):
            frame = Clause(tense=clause.tense, aspect=aspect)
            for clauses, end in self._verb(noun.names, noun.end, frame, (form,)):
                yield perceived + clauses, end

    def _passive(self, subjects: Names, position: int, frame: Clause) -> Iterator[Parse]:
        for verb, form in self._forms(position):
            if form != PARTICIPLE:
                continue
            after = self._skip_asides(position + 1)
            if verb in self._posture:
                yield from self._places(subjects, after, frame)
                continue
            resulting = frame.tense == "now" and frame.aspect == "simple"
            aspect = "perfect" if resulting else frame.aspect
            strange = verb not in self._known
            clause = replace(frame, verb=verb, strange=strange, aspect=aspect)
            for clauses, end in self._rest(("",), subjects, after, clause, passive=True):
                yield clauses, end
                if self._is(end, "passive_agent"):
                    for noun in self._nouns(end + 1):
                        yield tuple(replace(c, agent=noun.names[0]) for c in clauses), noun.end

    def _rest(
        self,
        agents: Names,
        patients: Names,
        position: int,
        clause: Clause,
        passive: bool = False,
    ) -> Iterator[Parse]:
        """Yield the parses of the prepositional phrases, adverbs and counts after a verb and its
        object. A parse has one clause for each agent and patient.
        """
        for whole, end in self._adjuncts(position, clause, passive):
            if whole.located and whole.verb in self._elsewhere and any(patients):
                continue  # leaving a thing somewhere is not going there
            if whole.verb in self._mutual and len(agents) == 2 and patients == ("",):
                yield (replace(whole, agent=agents[0], patient=agents[1]),), end
                continue
            yield (
                tuple(replace(whole, agent=a, patient=p) for a in agents for p in patients),
                end,
            )

    def _adjuncts(
        self, position: int, clause: Clause, passive: bool = False
    ) -> Iterator[tuple[Clause, int]]:
        position = self._skip_asides(position)
        if passive and self._is(position, "passive_agent"):
            yield clause, position
            return
        if self._kind(position) == "backwards":
            yield from self._adjuncts(position + 1, replace(clause, back=True), passive)
        least = position + (self._kind(position) == "at_least")
        if self._kind(least) == "times":
            count = self._lexicon.counts[self._text(least)]
            yield from self._adjuncts(least + 1, replace(clause, often=count), passive)
        if self._kind(position) == "likeness":
            # "Ran like the wind" states nothing about the wind.
            for noun in self._nouns(position + 1):
                yield from self._adjuncts(noun.end, clause, passive)
        if self._is(position, "infinitive") and self._infinitive(position + 1):
            yield clause, len(self._tokens)  # the purpose may not come true
        way, relation = self._preposition(position, clause)
        if way in self._origin and self._kind(position + 1) == "relation":
            start = self._lexicon.ontology.lexicon.phrase[self._text(position + 1)]
            for noun in self._nouns(position + 2):
                started = (*clause.started, *((start, name) for name in noun.names))
                yield from self._adjuncts(noun.end, replace(clause, started=started), passive)
        if self._lexicon.ontology.lexicon.phrase.get(self._text(position)) in self._between:
            for noun in self._nouns(position + 1):
                if len(noun.names) == 2:
                    pair = (noun.names[0], noun.names[1])
                    yield from self._adjuncts(
                        noun.end, replace(clause, within=(*clause.within, pair)), passive
                    )
        if way or relation:
            for noun in self._nouns(position + 1):
                added = clause
                for name in noun.names:
                    if way:
                        added = replace(added, goes=(*added.goes, (way, name)))
                    else:
                        added = replace(added, located=(*added.located, (relation, name)))
                yield from self._adjuncts(noun.end, added, passive)
        yield clause, position

    def _infinitive(self, position: int) -> bool:
        return self._text(position) == "be" or BASE in [f for _, f in self._forms(position)]

    def _preposition(self, position: int, clause: Clause) -> tuple[str, str]:
        """The way or the relation that a preposition expresses for an event. An ambiguous
        preposition expresses a way if something moves, or is perceived beyond the ground.
        """
        if self._kind(position) not in ("relation", "way"):
            return "", ""
        text = self._text(position)
        way = self._lexicon.ways.get(text, "")
        relation = self._lexicon.ontology.lexicon.phrase.get(text, "")
        if relation in self._between or relation in self._divided:
            return "", ""
        moving = clause.verb in self._movers or (clause.strange and way in self._construing)
        if way and (moving or not relation or way in self._parting | self._origin):
            return way, ""
        return "", relation

    # Places --------------------------------------------------------------------------------

    def _places(self, subjects: Names, position: int, frame: Clause) -> Iterator[Parse]:
        for states, end in self._place(subjects, self._skip_asides(position)):
            clauses = tuple(replace(frame, states=(state,)) for state in states)
            yield clauses, self._skip_asides(end)
            for more, last in self._places(subjects, end, frame):
                yield clauses + more, last

    def _place(self, subjects: Names, position: int) -> Iterator[tuple[list[tuple[str, ...]], int]]:
        if self._kind(position) == "comparing":
            yield from self._comparison(subjects[0], position)
        if self._kind(position) not in ("relation", "way"):
            return
        text = self._text(position)
        relation = self._lexicon.ontology.lexicon.phrase.get(text, "")
        way = self._lexicon.ways.get(text, "")
        if relation and len(subjects) == 2:
            # "are far from each other", "are different towns"
            end = position + 1
            if relation in self._lexicon.ontology.relations.symmetric:
                while self._kind(end) == "content":
                    end += 1
            if self._kind(end) == "reciprocal":
                end += 1
            if end == len(self._tokens):
                one, other = subjects
                yield [("rel", relation, one, other), ("rel", relation, other, one)], end
        for noun in self._nouns(position + 1):
            grounds = noun.names
            if relation in self._between:
                if len(grounds) == 2:
                    yield [("amid", s, *grounds) for s in subjects], noun.end
                continue
            if relation in self._divided and len(subjects) == 2:
                yield [("divided", *subjects, grounds[0])], noun.end
            if self._is(noun.end, "viewing"):
                for viewer in self._noun(noun.end + 1, modified=False):
                    seen = viewer.names[0]
                    if relation in self._sides:
                        states: list[tuple[str, ...]] = [
                            ("seen", relation, s, y, seen) for s in subjects for y in grounds
                        ]
                        yield states, viewer.end
                    elif way in self._parting or relation in self._divided:
                        yield [("divided", s, seen, grounds[0]) for s in subjects], viewer.end
            if relation and relation not in self._divided:
                yield [("rel", relation, s, y) for s in subjects for y in grounds], noun.end

    def _comparison(
        self, subject: str, position: int
    ) -> Iterator[tuple[list[tuple[str, ...]], int]]:
        """`closer to A than to B`, `closer to A than B`."""
        short = self._lexicon.comparisons[self._text(position)] in self._short
        for first in self._noun(position + 1, modified=False):
            if self._kind(first.end) != "comparison":
                continue
            after = first.end + 1
            to = self._text(after) in self._lexicon.ways
            for second in self._noun(after + to, modified=False):
                near = (subject, first.names[0])
                far = (subject, second.names[0]) if to else (second.names[0], first.names[0])
                yield [("nearer", *(near + far if short else far + near))], second.end
