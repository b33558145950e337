"""Traces read sentence by sentence by a trained parser: scene, question and claims to relations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from symbouq.limits import LimitError, check_time, late
from symbouq.ontology.tables import Ontology
from symbouq.reading.lexicon import Lexicon
from symbouq.reading.syntax.discourse import Discourse, Said
from symbouq.reading.syntax.sentences import Sentence, Sentences
from symbouq.reading.syntax.things import Things
from symbouq.reading.traces import (
    ASSERTED,
    NAMED_BY_QUESTION,
    QUOTED,
    RETRACTED,
    SUPPOSED,
    Claim,
    Mention,
    Question,
    ReadingError,
    Text,
    reading,
)

CONFIDENCE = {-2: 0.9, -1: 0.95, 0: 0.98, 1: 0.95, 2: 0.9, 3: 0.8}
"""The cost of a reading to the share of such readings that are right; others are not asserted."""

_STANCES = {"asked": SUPPOSED, "supposed": SUPPOSED, "doubted": QUOTED, "possible": SUPPOSED}
_THINKING = re.compile(r"</?(?:think|thinking|thought|reasoning|answer)>", re.IGNORECASE)
_BULLET = re.compile(r"\s*(?:[-*#>•+]+\s+)*(?:\(?\d+[.):]\s+)?")
_MARKS = " \t\n:*_`\"'.,;$#{}()[]=\\"


@dataclass(frozen=True)
class _Scene:
    """A scene and its question, read."""

    stated: tuple[tuple[Mention, ...], ...]
    things: Things
    asked: tuple[str, str] | None
    states: tuple[Mention, ...]


class SyntaxReader:
    """Reads traces whose things have names, whoever wrote them.

    Args:
        ontology: The tables of the profile.
        sentences: Reads sentences under the same tables.

    Attributes:
        sentences: The same.
        pipeline: The parser.
    """

    def __init__(self, ontology: Ontology, sentences: Sentences) -> None:
        self.ontology = ontology
        self.sentences = sentences
        self.pipeline = sentences.pipeline
        words = ontology.lexicon.word
        self._retracting = tuple(sorted(words.get("retraction", ()), key=len, reverse=True))
        self.supposing = tuple(text for text in words.get("supposition", ()) if " " in text)
        lexemes = ontology.wording.lexeme
        self._announcing = _announcement(lexemes.get("announcing", ()))
        self._articles = lexemes.get("article", frozenset())
        self._inferring = lexemes.get("inferring", frozenset())
        self._affirming = lexemes.get("affirmation", frozenset())
        self._refusing = lexemes.get("refusal", frozenset())
        # Many traces answer questions about one scene; remembered within bounds.
        self._read_scene = lru_cache(maxsize=1024)(self._scene)

    @cached_property
    def lexicon(self) -> Lexicon:
        """The profile's phrases, by which it is counted which of them a text has."""
        return Lexicon(self.ontology)

    # Whole traces --------------------------------------------------------------------

    def split(self, scene: str) -> list[str]:
        """The sentences of a scene given as one string."""
        return [scene[start:end] for start, end in self.sentences.cut(scene)]

    def question(self, scene: Sequence[str], question: str) -> Question:
        """Reads a question about a scene: what it asks about, and what it asks to be
        confirmed.
        """
        read = self._read_scene(tuple(scene), question)
        return Question(read.stated, read.asked, read.states)

    def read(
        self,
        scene: Sequence[str],
        question: str,
        reasoning: Sequence[str] | None = None,
        conclusion: str | None = None,
        response: str | None = None,
    ) -> Text:
        """Reads one trace, as `symbouq.reading.traces.TraceReader.read` does.

        Raises:
            ReadingError: At an internal error in the scene or the question.
        """
        read = self._read_scene(tuple(scene), question)
        things = read.things.copy()
        things.known = len(things)
        claims = _Claims(self, things, read.asked)
        if response is not None:
            claims.segment(response)
        else:
            claims.take(reasoning or (), conclusion or "")
        return Text(read.stated, tuple(claims.made), read.asked, tuple(claims.faults))

    def _scene(self, scene: tuple[str, ...], question: str) -> _Scene:
        check_time()
        with reading("the scene", " ".join(scene)):
            *read, asked = self.sentences.read([*scene, question])
        things = Things()
        discourse = Discourse(things, self.sentences.preparation.together)
        stated = []
        for number, (text, sentences) in enumerate(zip(scene, read, strict=True), start=1):
            part = f"scene sentence {number}"
            if any(sentence.too_long for sentence in sentences):
                raise ReadingError(part, "for it is longer than any that is read", text)
            with reading(part, text):
                said = [s for sentence in sentences for s in self.said(discourse, sentence)]
            stated.append(tuple(self.mentions(said, things)))
        with reading("the question", question):
            order: list[int] = []
            states: list[Said] = []
            for sentence in asked:
                said_here = discourse.take(sentence)
                states += [_confirmed(s) for s in said_here if s.statement.force == "asked"]
                states += [s for s in said_here if s.statement.force != "asked"]
                order += self._asked(sentence, discourse)
        things.known = len(things)
        pair = tuple(dict.fromkeys(order))[:2]
        names = (things.spellings[pair[0]], things.spellings[pair[1]]) if len(pair) == 2 else None
        stated_things = tuple(
            tuple(replace(m, grounded=True) for m in mentions) for mentions in stated
        )
        return _Scene(stated_things, things, names, tuple(self.mentions(states, things)))

    def _asked(self, sentence: Sentence, discourse: Discourse) -> list[int]:
        """The things of a question in the order in which it asks for them."""
        order: list[int] = []
        for head, phrase in sorted(sentence.says.phrases.items()):
            if phrase.kind == "pronoun":
                continue
            thing = discourse.things.thing(*sentence.named(head))
            if thing in order:
                continue
            first = phrase.words[0] - 1
            while first >= 0 and sentence.words[first].text.lower() in self._articles:
                first -= 1
            before = sentence.words[first] if first >= 0 else None
            after = sentence.words[head + 1].text.lower() if head + 1 < len(sentence.words) else ""
            landmark = before is not None and (
                before.category in ("reference", "preposition") or before.text.lower() == "of"
            )
            if not order and landmark and after in ("is", "are", ",", "does"):
                order.append(-1)  # "Relative to B, where is A?"
            order.append(thing)
        if order[:1] == [-1]:
            order = [*order[2:3], order[1], *order[3:]]
        return order

    # Sentences -----------------------------------------------------------------------

    def said(self, discourse: Discourse, sentence: Sentence) -> list[Said]:
        """What a sentence says of things, with what it confirms of the question before it."""
        asked = discourse.question
        said = list(discourse.take(sentence))
        if asked and not sentence.asked:
            comma = (n for n, word in enumerate(sentence.words) if not word.text[-1:].isalpha())
            opening = " ".join(w.text.lower() for w in sentence.words[: next(comma, None)])
            told = opening in self._affirming or opening in self._refusing
            if told and not any(s.statement.negative for s in asked):
                turned = opening in self._refusing
                span = sentence.start, sentence.start + len(sentence.text)
                confirmed = (replace(_confirmed(s, turned), span=span) for s in asked)
                said = [*confirmed, *said]
        return said

    def mentions(self, said: Iterable[Said], things: Things, offset: int = 0) -> Iterator[Mention]:
        """What is asserted, as relations of the profile."""
        for each in said:
            statement = each.statement
            confidence = CONFIDENCE.get(statement.cost)
            if confidence is None or statement.force not in ("asserted", "necessary"):
                continue
            relation: str | None = each.relation
            if statement.negative:
                relation = self._denied(each.relation)
            if relation is not None and relation not in self.ontology.relations.family:
                relation = self.ontology.wording.understood_as.get(relation)
            if relation is None or relation not in self.ontology.relations.family:
                continue
            yield Mention(
                things.spellings[each.placed],
                relation,
                things.spellings[each.landmark],
                (each.span[0] - offset, each.span[1] - offset),
                confidence,
                max(each.placed, each.landmark) < things.known,
            )

    def unread(self, said: Sequence[Said], sentence: Sentence) -> str:
        """Why nothing is stated by a sentence that asserts something, if it speaks of a place."""
        asserted = [s for s in said if s.statement.force in ("asserted", "necessary")]
        if not asserted:
            return "unread" if any(word.relations for word in sentence.words) else ""
        sure = [s for s in asserted if s.statement.cost in CONFIDENCE]
        return "not-in-profile" if sure else "uncertain"

    def _denied(self, relation: str) -> str | None:
        """What holds where a relation is said not to hold, if one relation says it."""
        negation = self.ontology.relations.negation.get(relation)
        return negation or self.ontology.wording.denied_as.get(relation)

    def label(self, text: str, things: Things, asked: tuple[str, str]) -> tuple[Mention, ...]:
        """A bare label, "upper-left", as a relation of the pair that the question asks for."""
        relations: list[str] = []
        for sentence in self.sentences.read([text])[0]:
            for head, phrase in sentence.says.phrases.items():
                if phrase.kind == "pronoun":
                    continue
                named = things.find(*sentence.named(head))
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
        return (Mention(asked[0], relation, asked[1], span, NAMED_BY_QUESTION, True),)


def _confirmed(said: Said, turned: bool = False) -> Said:
    """What a question asks, as asserted; the other way round if it is turned."""
    statement = said.statement
    negative = statement.negative != turned
    return replace(said, statement=replace(statement, force="asserted", negative=negative))


def _announcement(texts: Iterable[str]) -> re.Pattern[str]:
    """What announces an answer: one of some nouns before a colon or "is", or heading its line;
    and what can only do that.
    """
    options = "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))
    noun = rf"(?:{options})\W{{0,4}}(?::|=|\bis\b|\bare\b)"
    return re.compile(
        rf"\b{noun}|^\W*(?:{options})\W*$|\\boxed|\bI (?:choose|chose|pick|select)\b",
        re.IGNORECASE | re.MULTILINE,
    )


def _after(announcing: re.Pattern[str], text: str) -> str:
    """What a text says after it has announced the answer; all of it, if it announces none."""
    announced = list(announcing.finditer(text))
    rest = text[announced[-1].end() if announced else 0 :].strip(_MARKS)
    for word in ("is ", "are ", "that ", "text{"):
        rest = rest[len(word) :] if announced and rest.lower().startswith(word) else rest
    return rest.strip(_MARKS)


_ANSWERS = ("final_answer", "answer", "conclusion", "result", "label")


def _structured(response: str) -> tuple[list[str], str] | None:
    """The steps and the answer of a response that is a JSON object, fenced or not."""
    first, last = response.find("{"), response.rfind("}")
    outside = response[:first] + response[last + 1 :]
    if first < 0 or last < first or any(c.isalpha() for c in outside.replace("json", "")):
        return None
    try:
        record = json.loads(response[first : last + 1])
    except (ValueError, RecursionError):
        return None
    answers = [record[key] for key in _ANSWERS if key in record]
    answer = ", ".join(text for given in answers[:1] for text in _strings(given))
    steps = [s for key, value in record.items() if key not in _ANSWERS for s in _strings(value)]
    return steps, answer


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


class _Claims:
    """The claims of a trace.

    Args:
        of: The reader.
        things: The things of scene and question, to which those of the claims are added.
        asked: The pair that the question asks about.

    Attributes:
        made: The claims so far.
        faults: What could not be read.
    """

    def __init__(self, of: SyntaxReader, things: Things, asked: tuple[str, str] | None) -> None:
        self._of = of
        self._things = things
        self._asked = asked
        self._discourse = Discourse(things, of.sentences.preparation.together)
        self._supposing = False
        self._bearing: list[int] = []
        self.made: list[Claim] = []
        self.faults: list[str] = []

    def take(self, steps: Sequence[str], conclusion: str) -> None:
        """Claims that are given one by one, the conclusion last."""
        read = self._sentences("the claims", steps)
        for step, sentences in zip(steps, read, strict=True):
            relations: list[Mention] = []
            stance, reason = ASSERTED, ""
            for sentence in sentences:
                if self._in_time(f"claim {len(self.made) + 1}"):
                    found, stance, reason = self._read(sentence, 0)
                    relations += found
            if not relations and any(self._retracts(s.text) for s in sentences):
                self._take_back()
            self._add("reasoning", step, relations, stance, reason)
        self._conclude(conclusion)

    def segment(self, response: str) -> None:
        """A response's sentences as claims, the delivered answer last."""
        given = _structured(response)
        if given is not None:
            self.take(*given)
            return
        text = _THINKING.sub(lambda tag: " " * len(tag.group()), response)
        (sentences,) = self._sentences("the response", [text])
        answer = self._answer(sentences)
        delivered = self._delivered(sentences, answer)
        for n, sentence in enumerate(sentences):
            if n in delivered:
                continue
            if not self._in_time(f"claim {len(self.made) + 1}"):
                continue
            self._sentence(sentence)
        if delivered:
            start, last = sentences[delivered[0]].start, sentences[delivered[-1]]
            self._conclude(text[start : last.start + len(last.text)])
        else:
            self._last_about()

    def _sentences(self, part: str, texts: Sequence[str]) -> list[list[Sentence]]:
        """The sentences of each of some texts; none of any, with a fault, where that fails."""
        try:
            with reading(part, " ".join(texts)):
                return self._of.sentences.read(texts)
        except ReadingError as error:
            self.faults.append(str(error))
        except LimitError:
            self._in_time(part)
        return [[] for _ in texts]

    def _in_time(self, part: str) -> bool:
        if not late():
            return True
        fault = f"{part} and what follows it: not read, the time limit was reached"
        if not any("time limit" in other for other in self.faults):
            self.faults.append(fault)
        return False

    # Sentences -----------------------------------------------------------------------

    def _read(self, sentence: Sentence, offset: int) -> tuple[list[Mention], str, str]:
        """The relations that a sentence asserts, its stance, and why it asserts none."""
        if sentence.too_long:
            part = f"claim {len(self.made) + 1}"
            error = ReadingError(part, "for it is longer than any that is read", sentence.text)
            self.faults.append(str(error))
            return [], ASSERTED, "unread"
        said = self._of.said(self._discourse, sentence)
        if self._suppose(sentence, said):
            return [], SUPPOSED, ""
        mentions = list(self._of.mentions(said, self._things, offset))
        forces = [s.statement.force for s in said]
        stance = ASSERTED
        if forces and not mentions:
            stance = next((_STANCES[f] for f in forces if f in _STANCES), ASSERTED)
        return mentions, stance, "" if mentions else self._of.unread(said, sentence)

    def _suppose(self, sentence: Sentence, said: Sequence[Said]) -> bool:
        """Whether a sentence belongs to a supposition, which goes on while it is drawn on."""
        words = [word.text.lower() for word in sentence.words[:3]]
        lexemes = self._of.ontology.wording.lexeme
        opens = not lexemes.get("supposition", frozenset()).isdisjoint(words)
        opens = opens or any(phrase in sentence.text.lower() for phrase in self._of.supposing)
        drawn = bool(words) and (words[0] in ("then", "so") or "would" in words)
        first = words[0].split()[0] if words else ""
        cases = first in lexemes.get("enumerating", ()) and ":" in sentence.text
        self._supposing = opens or cases or (self._supposing and drawn)
        return self._supposing

    def _sentence(self, sentence: Sentence) -> None:
        """Adds the claim or the claims of a sentence: "A is left of B, so C is left of B" has
        two.
        """
        bullet = _BULLET.match(sentence.text)
        skipped = bullet.end() if bullet else 0
        text, offset = sentence.text[skipped:], sentence.start + skipped
        if self._retracts(text):
            self._take_back()
        relations, stance, reason = self._read(sentence, offset)
        cuts = self._cuts(sentence, relations, skipped)
        begin = 0
        for cut in (*cuts, len(text)):
            part = [m for m in relations if begin <= m.span[1] - 1 < cut]
            moved = [replace(m, span=(max(0, m.span[0] - begin), m.span[1] - begin)) for m in part]
            self._add("reasoning", text[begin:cut].strip(), moved, stance, reason)
            begin = cut

    def _cuts(self, sentence: Sentence, relations: Sequence[Mention], skipped: int) -> list[int]:
        """Where an inference begins in the middle of a sentence, after a relation."""
        starts = [
            word.start - skipped
            for word in sentence.words[1:]
            if word.text.lower() in self._of._inferring
            and word.text.lower() not in ("because", "since")
        ]
        ends = sorted(m.span[1] for m in relations)
        return [s for s in starts if ends and ends[0] <= s < ends[-1]]

    def _add(
        self, kind: str, text: str, relations: Sequence[Mention], stance: str, reason: str
    ) -> None:
        if relations or stance != ASSERTED:
            self._bearing.append(len(self.made))
        if relations:
            stance, reason = ASSERTED, ""
        self.made.append(Claim(kind, text, tuple(relations), stance, reason))

    def _retracts(self, text: str) -> bool:
        lower = text.lower()
        return any(
            phrase in lower for phrase in self._of._retracting if " " in phrase or len(phrase) > 5
        )

    def _take_back(self) -> None:
        """Takes back the last claim that speaks of a relation; where it states none, nothing."""
        if self._bearing:
            taken = self._bearing.pop()
            if self.made[taken].relations:
                self.made[taken] = replace(self.made[taken], relations=(), stance=RETRACTED)

    # Answers -------------------------------------------------------------------------

    def _answer(self, sentences: Sequence[Sentence]) -> int | None:
        """Which sentence delivers the answer: the last that announces one, else the last, if
        it is a label, else the only one.
        """
        for n in range(len(sentences) - 1, -1, -1):
            if self._of._announcing.search(sentences[n].text):
                return n
        if len(sentences) == 1:
            return 0
        if sentences and self._asked is not None:
            last = sentences[-1]
            if not last.says.statements and self._of.label(last.text, self._things, self._asked):
                return len(sentences) - 1
        return None

    def _delivered(self, sentences: Sequence[Sentence], answer: int | None) -> list[int]:
        """The sentences that the answer takes up: with what follows a heading."""
        if answer is None:
            return []
        said = _after(self._of._announcing, sentences[answer].text)
        if said or answer + 1 == len(sentences):
            return [answer]
        return [answer, answer + 1]

    def _conclude(self, text: str) -> None:
        """Adds the conclusion: what an answer states, or the label that it gives to the pair
        that the question asks about.
        """
        given = _after(self._of._announcing, text)
        begin = text.rindex(given) if given else len(text)
        relations: list[Mention] = []
        sentences: Sequence[Sentence] = ()
        if given and self._in_time("the conclusion"):
            (sentences,) = self._sentences("the conclusion", [given])
            relations = self._stated(sentences, given, begin)
        unread = any(word.relations for sentence in sentences for word in sentence.words)
        reason = "unread" if unread and not relations else ""
        self.made.append(Claim("conclusion", text, tuple(relations), reason=reason))

    def _stated(self, sentences: Sequence[Sentence], given: str, begin: int) -> list[Mention]:
        stated: list[Mention] = []
        discourse = Discourse(self._things, self._of.sentences.preparation.together)
        discourse.topic = self._discourse.topic
        for sentence in sentences:
            said = self._of.said(discourse, sentence)
            stated += self._of.mentions(said, self._things)
        if not stated and self._asked is not None:
            stated = list(self._of.label(given, self._things, self._asked))
        return [replace(m, span=(m.span[0] + begin, m.span[1] + begin)) for m in stated]

    def _last_about(self) -> None:
        """Without an announced answer, the last claim about the pair asked for is it."""
        for n in range(len(self.made) - 1, -1, -1):
            claim = self.made[n]
            pairs = [{m.subject, m.object} for m in claim.relations]
            if self._asked is not None and set(self._asked) in pairs:
                if n + 1 == len(self.made):
                    self.made.pop()
                self.made.append(replace(claim, type="conclusion"))
                return
        self.made.append(Claim("conclusion", "", ()))
