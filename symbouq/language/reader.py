"""Sentences to relations, questions to the pair asked for, responses to claims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from symbouq.language.grammar import Grammar, Item, Reading
from symbouq.language.lexicon import Analysis, Lexicon, Token
from symbouq.language.mentions import Names, discover, follows_name, key_of, runs
from symbouq.ontology import Ontology

_STOPS = frozenset((".", "!", ";", "\n"))
_SILENT = frozenset(
    (
        "article",
        "reason",
        "kind",
        "filler",
        "modal",
        "retraction",
        "clock",
        "clockless",
        "hour",
        "citation",
        "answer",
    )
)
_UNKNOWN = Item("other")

_NAMED_BY_QUESTION = 0.8
"""Confidence of a bare label, whose things are those of the question."""


@dataclass(frozen=True)
class Mention:
    """A relation read from text.

    Attributes:
        subject: The thing placed.
        relation: The canonical relation.
        object: The thing that it is placed by.
        span: Character offsets of the words that it was read from.
        confidence: In (0, 1].
        grounded: Whether scene or question name both things.
    """

    subject: str
    relation: str
    object: str
    span: tuple[int, int]
    confidence: float
    grounded: bool


ASSERTED, SUPPOSED, RETRACTED = "asserted", "supposed", "retracted"


@dataclass(frozen=True)
class Claim:
    """A claim of a response: its type, its text and what it states.

    Its stance is `asserted`, `supposed` (under an "if" or "suppose") or `retracted` (taken
    back by what follows); only what is asserted states anything.
    """

    type: str
    text: str
    relations: tuple[Mention, ...]
    stance: str = ASSERTED


@dataclass(frozen=True)
class Text:
    """A trace's texts, read.

    Attributes:
        scene: What each scene sentence states.
        claims: The claims, the conclusion last.
        asked: The pair that the question asks about: subject and object.
    """

    scene: tuple[tuple[Mention, ...], ...]
    claims: tuple[Claim, ...]
    asked: tuple[str, str] | None


@dataclass(frozen=True)
class Question:
    """A question, read.

    Attributes:
        scene: What each scene sentence states.
        pair: The pair that it asks about, subject and object, if it names two things.
        states: What it states or asks to be confirmed: "Is A left of B?".
    """

    scene: tuple[tuple[Mention, ...], ...]
    pair: tuple[str, str] | None
    states: tuple[Mention, ...]


class Reader:
    """Reads traces under the tables of one profile.

    Args:
        ontology: The tables of the profile.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self.lexicon = Lexicon(ontology)
        self._grammar = Grammar(ontology)
        # Sentences repeat their build with other names, and many traces answer questions
        # about one scene; both are remembered, within bounds.
        self._read_shape = lru_cache(maxsize=4096)(self._grammar.read)
        self._read_scene = lru_cache(maxsize=1024)(self._scene)

    # Whole traces --------------------------------------------------------------------

    def read(
        self,
        scene: Sequence[str],
        question: str,
        reasoning: Sequence[str] | None = None,
        conclusion: str | None = None,
        response: str | None = None,
    ) -> Text:
        """Reads one trace: its claims either given one by one or as free text.

        Args:
            scene: The scene's sentences.
            question: The question, possibly empty.
            reasoning: The reasoning claims, with `conclusion`.
            conclusion: The delivered answer.
            response: Free text, segmented into claims; its answer is the last one.
        """
        stated, spellings, asked = self._read_scene(tuple(scene), question)
        names = spellings.copy()
        known = len(names)
        if response is not None:
            claims = self._segmented(response, names, known, asked)
        else:
            steps = list(reasoning or ())
            read = self._chained(self.lexicon.tokens_of_each(steps), names, known)
            claims = [Claim("reasoning", *step) for step in zip(steps, read, strict=True)]
            text = conclusion or ""
            given = self.lexicon.tokens(text)
            claims.append(
                self._answer(given[_announcement(given) or 0 :], text, 0, names, known, asked)
            )
        return Text(stated, tuple(claims), asked)

    def question(self, scene: Sequence[str], question: str) -> Question:
        """Reads a question about a scene: what it asks about, and what it asks to be
        confirmed.

        Args:
            scene: The scene's sentences.
            question: The question, or a statement to be judged.
        """
        stated, spellings, asked = self._read_scene(tuple(scene), question)
        tokens = self._without_question_words(self.lexicon.tokens(question))
        if tokens and tokens[-1].text == "?":
            # "Is A left of B?" has the verb in front; as a statement it comes after A.
            verbs = [n for n, token in enumerate(tokens) if token.kind == "copula"]
            tokens = [t for n, t in enumerate(tokens[:-1]) if verbs[:1] != [n] or n > 1]
        names = spellings.copy()
        return Question(stated, asked, self._mentions(tokens, names, len(names)))

    def _scene(
        self, scene: tuple[str, ...], question: str
    ) -> tuple[tuple[tuple[Mention, ...], ...], Names, tuple[str, str] | None]:
        """What the scene states, the names in it, and the pair asked for."""
        *tokens, last = self.lexicon.tokens_of_each([*scene, question])
        asked_tokens = self._without_question_words(last)
        names = discover(tokens, asked_tokens)
        stated = self._chained(tokens, names, len(names))
        return stated, names, self._asked(asked_tokens, names)

    def split(self, scene: str) -> list[str]:
        """The sentences of a scene given as one string."""
        analysis = self.lexicon.analysed(scene)
        spans = [analysis.stripped(*span) for span in self.lexicon.sentences(analysis)]
        return [scene[start:end] for start, end in spans if start < end]

    # Sentences -----------------------------------------------------------------------

    def _chained(
        self, texts: Sequence[Sequence[Token]], names: Names, known: int
    ) -> tuple[tuple[Mention, ...], ...]:
        """What each of some texts in sequence states; a pronoun may refer back."""
        found: list[tuple[Mention, ...]] = []
        antecedent: str | None = None
        for tokens in texts:
            found.append(self._mentions(tokens, names, known, antecedent))
            antecedent = found[-1][-1].subject if found[-1] else antecedent
        return tuple(found)

    def _mentions(
        self, tokens: Sequence[Token], names: Names, known: int, antecedent: str | None = None
    ) -> tuple[Mention, ...]:
        """The relations that a text states about things.

        Args:
            tokens: The tokens of the text.
            names: The trace's names; new ones are added.
            known: How many of them scene and question have.
            antecedent: What a pronoun refers to that has none in the text.
        """
        if not _may_relate(tokens):
            return ()
        items, things, places = self._items(tokens, names, new=True)
        kinds = {item.kind for item in items}
        if "relation" not in kinds:
            return ()
        if antecedent is not None and not kinds.isdisjoint(("pronoun", "possessive")):
            thing = names.spellings.index(antecedent)
            if thing not in things:
                things.append(thing)
            items.insert(0, Item("antecedent", thing=things.index(thing)))
            places.insert(0, (0, 0))
        readings: list[Reading] = self._read_shape(tuple(items))
        found = [
            Mention(
                names.spellings[things[r.subject]],
                r.relation,
                names.spellings[things[r.object]],
                (tokens[places[r.first][0]].start, tokens[places[r.last][1]].end),
                r.confidence,
                things[r.subject] < known and things[r.object] < known,
            )
            for r in readings
        ]
        return tuple(self._grouped(found, names) if self.ontology.grouped else found)

    def _grouped(self, mentions: Sequence[Mention], names: Names) -> Iterator[Mention]:
        """Mentions with the landmarks of a grouping relation taken together: "X is between
        Y and Z" places X by a thing of its own that spans Y and Z.
        """
        waiting = list(mentions)
        while waiting:
            first = waiting.pop(0)
            if first.relation not in self.ontology.grouped:
                yield first
                continue
            group = [first]
            group += [
                m
                for m in waiting
                if (m.subject, m.relation, m.span) == (first.subject, first.relation, first.span)
            ]
            waiting = [m for m in waiting if m not in group]
            if len(group) == 1:
                continue  # between what else? Nothing that a relation of two can say
            group.sort(key=lambda m: names.spellings.index(m.object))
            whole = " and ".join(m.object for m in group)
            names.add(key_of(whole.split()), whole)
            for m in group:
                spans = self.ontology.grouped[first.relation]
                yield replace(m, subject=whole, relation=spans)
            yield replace(first, object=whole)

    def _items(
        self, tokens: Sequence[Token], names: Names, new: bool
    ) -> tuple[list[Item], list[int], list[tuple[int, int]]]:
        """Tokens as items of the grammar.

        Returns:
            The items, whose things are numbered in order of appearance; the thing of
            each such number; and the first and last token of each item.
        """
        strangers = self._strangers(tokens, names) if new else {}
        items: list[Item] = []
        places: list[tuple[int, int]] = []
        things: list[int] = []
        local: dict[int, int] = {}
        dial = any(token.kind in ("clock", "centre") for token in tokens)
        position = 0
        while position < len(tokens):
            token = tokens[position]
            first = position
            matched = strangers.get(position)
            if names.may_start(token) and not _is_article(tokens, position):
                matched = names.match(tokens, position) or matched
            position += 1
            term = self._term(tokens, first, names) if token.kind == "relation" else None
            if term is not None:
                # "R(A, B)" as "A R B", a clause of its own; what denies it goes before.
                subject, other, position = term
                for thing in (subject, other):
                    if local.setdefault(thing, len(things)) == len(things):
                        things.append(thing)
                if items and items[-1].kind not in ("negation", "hedge", "condition"):
                    items.append(_ITEMS["inference"])
                    places.append((first, first))
                related = _item(token, items)
                assert related is not None  # a relation is an item
                items += (Item("thing", thing=local[subject]), related)
                places += ((first, position - 1), (first, position - 1))
                item: Item | None = Item("thing", thing=local[other])
            elif matched is not None:
                thing, position = matched
                number = local.setdefault(thing, len(things))
                if number == len(things):
                    things.append(thing)
                item = Item("thing", thing=number)
            elif token.kind == "number":
                item, position = self._hour(tokens, first, dial)
            elif token.kind == "denial":
                stands_alone = _kind(tokens, position) in ("mark", "")  # "No, ..."
                item = None if stands_alone else _ITEMS["negation"]
            elif (token.kind == "between" or self._grouping(token)) and (
                hours := self._hours(tokens, position, dial)
            ):
                item, position = hours
            else:
                item = _item(token, items)
            if item is not None:
                items.append(item)
                places.append((first, position - 1))
        for n, (first, _) in enumerate(places):
            entry = tokens[first].entry
            if entry is not None and entry.adjacent and not _precedes_landmark(items, n):
                items[n] = _ITEMS["by"]
        return items, things, places

    @staticmethod
    def _term(tokens: Sequence[Token], position: int, names: Names) -> tuple[int, int, int] | None:
        """The things of `R(A, B)` and the position after it, if two names stand so after a
        relation.
        """
        if _text(tokens, position + 1) != "(":
            return None
        first = names.match(tokens, position + 2) if position + 2 < len(tokens) else None
        if first is None or _text(tokens, first[1]) != "," or first[1] + 1 >= len(tokens):
            return None
        second = names.match(tokens, first[1] + 1)
        if second is None or _text(tokens, second[1]) != ")":
            return None
        return first[0], second[0], second[1] + 1

    def _grouping(self, token: Token) -> bool:
        entry = token.entry
        return entry is not None and entry.relation in self.ontology.grouped

    def _strangers(self, tokens: Sequence[Token], names: Names) -> dict[int, tuple[int, int]]:
        """Names that scene and question do not have, by the token where they start."""
        if not any(token.kind == "content" and not names.may_start(token) for token in tokens):
            return {}
        found: dict[int, tuple[int, int]] = {}
        for run in runs(tokens):
            if not run.placed or not (run.marked or run.proper):
                continue
            if follows_name(run, tokens, names):
                continue
            if run.words == ("A",) or any(
                names.match(tokens, n) for n in range(run.start, run.end)
            ):
                continue
            first = run.start == 0 and not run.marked and len(run.words[0]) > 2
            if first and _kind(tokens, run.end) not in ("copula", "have", "relation"):
                continue  # the first word of a sentence is capitalised anyway
            found[run.start] = (names.add(key_of(run.words), " ".join(run.words)), run.end)
        return found

    # Hours ---------------------------------------------------------------------------

    def _hour(self, tokens: Sequence[Token], position: int, dial: bool) -> tuple[Item | None, int]:
        """A number as the direction of an hour, with the position after it: `9`, `9:00`
        and `4 or 5`; None where the number is no hour.
        """
        hour, after = self._hour_at(tokens, position)
        if hour is None or (position and tokens[position - 1].kind == "citation"):
            return None, after
        if _kind(tokens, after) == "or":
            other, end = self._hour_at(tokens, after + 1)
            if other is not None and (dial or self._marked(tokens, end)):
                return self._direction(hour, other), end
        coloned = after > position + 1
        before = tokens[position - 1] if position else None
        tied = before is not None and (
            before.kind == "by" or (before.entry is not None and before.entry.adjacent)
        )
        if self._marked(tokens, after) or coloned or (dial and tied):
            return self._direction(hour, hour), after
        return None, after

    def _hours(self, tokens: Sequence[Token], position: int, dial: bool) -> tuple[Item, int] | None:
        """`between 2 and 3` as a direction, from the token after "between"."""
        hour, after = self._hour_at(tokens, position)
        if hour is None or _kind(tokens, after) != "and":
            return None
        other, end = self._hour_at(tokens, after + 1)
        if other is None or not (dial or self._marked(tokens, end)):
            return None
        item = self._direction(hour, other)
        return (item, end) if item is not None else None

    def _hour_at(self, tokens: Sequence[Token], position: int) -> tuple[str | None, int]:
        """The direction of the hour at a token, and the position after it."""
        if _kind(tokens, position) != "number":
            return None, position
        number = int(tokens[position].text)
        after = position + 1
        if after + 1 < len(tokens) and tokens[after].text == ":" and tokens[after + 1].text == "00":
            after += 2
        before = tokens[position - 1].text if position else ""
        if _kind(tokens, after) == "clockless" or before in ("(", "-", "+"):
            return None, after
        return self.ontology.hours.get(number), after

    @staticmethod
    def _marked(tokens: Sequence[Token], position: int) -> bool:
        return _kind(tokens, position) in ("hour", "reference")

    def _direction(self, first: str, second: str) -> Item | None:
        relation = first if first == second else self.ontology.joins.get((first, second))
        return Item("relation", relation=relation, place=True) if relation else None

    # Questions and answers -----------------------------------------------------------

    def _without_question_words(self, tokens: list[Token]) -> list[Token]:
        asking = self.lexicon.asking
        return [
            token
            if token.text.lower() not in asking or token.kind in ("copula", "reference")
            else token._replace(kind="filler", entry=None)
            for token in tokens
        ]

    def _asked(self, tokens: Sequence[Token], names: Names) -> tuple[str, str] | None:
        """The pair of things that a question is about, the one asked for first."""
        order: list[int] = []
        position = 0
        reference = -1
        turned = False
        while position < len(tokens):
            matched = names.match(tokens, position)
            if matched is None or _is_article(tokens, position):
                if tokens[position].kind == "reference" and not order:
                    reference = len(order)
                position += 1
                continue
            if not order:  # "On which side of B is A?"
                before = position - 1
                while _kind(tokens, before) == "article":
                    before -= 1
                turned = _kind(tokens, before) == "link" and _kind(tokens, matched[1]) == "copula"
            thing, position = matched
            if thing not in order:
                order.append(thing)
        if len(order) < 2:
            return None
        first, second = order[:2]
        if reference == 0 or turned:  # "Relative to B, where is A?"
            first, second = second, first
        return names.spellings[first], names.spellings[second]

    def _answer(
        self,
        tokens: Sequence[Token],
        text: str,
        offset: int,
        names: Names,
        known: int,
        asked: tuple[str, str] | None,
    ) -> Claim:
        """The conclusion: what an answer states, or the label that it gives to the pair
        that the question asks about.

        Args:
            tokens: The tokens of the answer, without what announces it.
            text: The text of the claim.
            offset: Where the claim's text starts in the text of the tokens.
            names: The trace's names.
            known: How many of them scene and question have.
            asked: The question's pair.
        """
        mentions = self._mentions(tokens, names, known)
        if not mentions and asked is not None:
            mentions = self._label(tokens, names, asked)
        return Claim("conclusion", text, _shifted(mentions, offset))

    def _label(
        self, tokens: Sequence[Token], names: Names, asked: tuple[str, str]
    ) -> tuple[Mention, ...]:
        """A bare label (`upper-left`, "above and to the right") as a relation."""
        items, things, places = self._items(tokens, names, new=False)
        kinds = {item.kind for item in items}
        about = [names.spellings[thing] for thing in things]
        named = about == [asked[0]] or (about == [asked[1]] and "pronoun" in kinds)
        if (
            (things and not named)
            or not kinds.isdisjoint(("hedge", "negation", "condition", "supposition"))
            or "relation" not in kinds
        ):
            return ()
        # "left, above" gives two answers, "above and left" one.
        label = [
            _ITEMS["or"] if item.kind == "," else item
            for item, follows in zip(items, [*items[1:], _UNKNOWN], strict=True)
            if item.kind in ("relation", "or", "other")
            or (item.kind == "," and follows.kind == "relation")
        ]
        readings = self._read_shape(
            (Item("thing", thing=0), *label, Item("reference"), Item("thing", thing=1))
        )
        if len(readings) != 1:
            return ()
        spots = [
            place for item, place in zip(items, places, strict=True) if item.kind == "relation"
        ]
        span = (tokens[spots[0][0]].start, tokens[spots[-1][1]].end)
        confidence = round(readings[0].confidence * _NAMED_BY_QUESTION, 4)
        return (Mention(asked[0], readings[0].relation, asked[1], span, confidence, True),)

    # Responses -----------------------------------------------------------------------

    def _segmented(
        self, response: str, names: Names, known: int, asked: tuple[str, str] | None
    ) -> list[Claim]:
        """Free text as ordered claims, the delivered answer last. An answer is what is
        announced as one (the last time), or a bare label at the end, or a response of
        one sentence; without one the conclusion is empty.
        """
        analysis = self.lexicon.analysed(response)
        spans = [
            (*span, *self._trimmed(response, *analysis.stripped(*span)))
            for span in self.lexicon.sentences(analysis)
        ]
        spans = [span for span in spans if _has_words(response[span[2] : span[3]])]
        answer = self._answer_span(analysis, spans, names, asked)
        claims: list[Claim] = []
        antecedent: str | None = None
        supposing = False
        conclusion = Claim("conclusion", "", ())
        skipped = -1
        for n, (first, last, start, end) in enumerate(spans):
            if n == answer:
                tokens = self.lexicon.itemized(analysis, first, last)
                given = _without_reasons(tokens[_announcement(tokens) or 0 :])
                if not any(token.kind != "mark" for token in given) and n + 1 < len(spans):
                    skipped = n + 1
                    given = self.lexicon.itemized(analysis, *spans[skipped][:2])
                    end = spans[skipped][3]
                conclusion = self._answer(given, response[start:end], start, names, known, asked)
                continue
            if n == skipped or _is_heading(response[start:end]):
                continue
            kinds = self.lexicon.kinds(analysis, first, last)
            if "retraction" in kinds:
                _retract(claims)
            supposing = "supposition" in kinds or (
                supposing and ("modal" in kinds or self._infers(analysis, first, last))
            )
            if supposing:
                claims.append(Claim("reasoning", response[start:end], (), SUPPOSED))
            elif kinds.isdisjoint(_STATING):
                claims.append(Claim("reasoning", response[start:end], ()))
            else:
                for part in _parts(self.lexicon.itemized(analysis, first, last), start, end):
                    tokens, begin, stop = part
                    read = self._mentions(tokens, names, known, antecedent)
                    antecedent = read[-1].subject if read else antecedent
                    conditional = any(token.kind == "condition" for token in tokens)
                    stance = SUPPOSED if conditional and not read else ASSERTED
                    text = response[begin:stop]
                    claims.append(Claim("reasoning", text, _shifted(read, begin), stance))
        return [*claims, conclusion]

    def _infers(self, analysis: Analysis, first: int, last: int) -> bool:
        """Whether a sentence opens by drawing on what precedes it: "Then ..."."""
        opening = self.lexicon.itemized(analysis, first, last)[:1]
        return bool(opening) and opening[0].kind == "inference"

    def _answer_span(
        self,
        analysis: Analysis,
        spans: Sequence[tuple[int, int, int, int]],
        names: Names,
        asked: tuple[str, str] | None,
    ) -> int | None:
        """Which sentence delivers the answer: the last that announces one, else a bare
        label at the end, else the only sentence.
        """
        for n in range(len(spans) - 1, -1, -1):
            first, last = spans[n][:2]
            if "answer" in self.lexicon.kinds(analysis, first, last):
                tokens = self.lexicon.itemized(analysis, first, last)
                if _announcement(tokens) is not None:
                    return n
        if len(spans) == 1:
            tokens = self.lexicon.itemized(analysis, *spans[0][:2])
            return 0 if not any(token.kind in ("inference", "reason") for token in tokens) else None
        if spans and asked is not None:
            tokens = self.lexicon.itemized(analysis, *spans[-1][:2])
            if self._is_label(tokens, names, asked):
                return len(spans) - 1
        return None

    def _is_label(self, tokens: Sequence[Token], names: Names, asked: tuple[str, str]) -> bool:
        """Whether a sentence is an answer label and nothing else."""
        silent = all(token.kind in _LABEL_KINDS for token in tokens)
        return silent and bool(self._label(tokens, names, asked))

    @staticmethod
    def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
        """A span without the bullet or list number in front."""
        bullet = _BULLET.match(text, start, end)
        return (bullet.end(), end) if bullet else (start, end)


_STATING = frozenset(("relation", "clock", "hour", "reference"))
"""Kinds of words without which a sentence states no relation."""

_BULLET = re.compile(r"(?:[-*#>•+]+\s*)*(?:\d+[.):]\s+)?")
_HEADING = re.compile(r"[^:]{1,40}:\W*")

_LABEL_KINDS = frozenset(
    ("relation", "mark", "and", "or", "link", "article", "filler", "by", "inference", "copula")
)


def _retract(claims: list[Claim]) -> None:
    """Takes back the last claim that states anything."""
    for position in range(len(claims) - 1, -1, -1):
        if claims[position].relations:
            claims[position] = replace(claims[position], relations=(), stance=RETRACTED)
            return


def _without_reasons(tokens: list[Token]) -> list[Token]:
    """An answer without the reasons given for it: "left, because ..."."""
    for position, token in enumerate(tokens):
        if token.kind == "reason" and position:
            return tokens[:position]
    return tokens


def _may_relate(tokens: Sequence[Token]) -> bool:
    """Whether a text can state a relation at all: it has a relation's phrase, or hours."""
    for position, token in enumerate(tokens):
        if token.kind == "relation":
            assert token.entry is not None  # only the lexicon makes relations
            if not token.entry.adjacent or _kind(tokens, position + 1) not in ("mark", ""):
                return True
        elif token.kind == "number" and (
            _kind(tokens, position + 1) in ("hour", "or", "and", "reference")
            or _text(tokens, position + 1) == ":"
            or _kind(tokens, position - 1) == "by"
        ):
            return True
    return False


def _precedes_landmark(items: Sequence[Item], position: int) -> bool:
    """Whether a thing comes next that is no possessor: "in B", not "in B's corner"."""
    following = [item.kind for item in items[position + 1 : position + 3]]
    return following[:1] == ["thing"] and following[1:] != ["'s"]


def _shifted(mentions: Sequence[Mention], offset: int) -> tuple[Mention, ...]:
    if not offset:
        return tuple(mentions)
    return tuple(replace(m, span=(m.span[0] - offset, m.span[1] - offset)) for m in mentions)


def _announcement(tokens: Sequence[Token]) -> int | None:
    """The position after "Answer:", "the answer is" or the like; None without one."""
    for position, token in enumerate(tokens):
        if token.kind != "answer":
            continue
        after = position + 1
        if token.text.lower().endswith(" is"):
            return after + (_text(tokens, after) == ":")
        while _kind(tokens, after) == "number" or _text(tokens, after) in ("*", "_", ")"):
            after += 1
        if _text(tokens, after) in (":", "=", "{") or _kind(tokens, after) == "copula":
            return after + 1
        if all(other.kind == "mark" for other in (*tokens[:position], *tokens[after:])):
            return after
    return None


def _parts(tokens: list[Token], start: int, end: int) -> list[tuple[list[Token], int, int]]:
    """A sentence as its claims, with their character spans: split where an inference
    word follows a statement.
    """
    parts: list[list[Token]] = [[]]
    stated = False
    for token in tokens:
        if token.kind == "inference" and stated:
            parts.append([])
            stated = False
        stated = stated or token.kind == "relation"
        parts[-1].append(token)
    edges = [start, *(part[0].start for part in parts[1:]), end]
    return [
        (part, begin, _closed(part, begin, stop))
        for part, (begin, stop) in zip(parts, pairwise(edges), strict=True)
    ]


def _closed(part: Sequence[Token], begin: int, stop: int) -> int:
    """Where a part's last item ends, at most at its edge."""
    visible = [token.end for token in part if token.text != "\n"]
    return max(begin, min(stop, visible[-1])) if visible else stop


def _has_words(text: str) -> bool:
    return any(character.isalpha() for character in text)


def _is_heading(text: str) -> bool:
    """Whether a line announces what follows it: "Reasoning:"."""
    return _HEADING.fullmatch(text) is not None


def _kind(tokens: Sequence[Token], position: int) -> str:
    return tokens[position].kind if 0 <= position < len(tokens) else ""


def _text(tokens: Sequence[Token], position: int) -> str:
    return tokens[position].text if 0 <= position < len(tokens) else ""


def _is_article(tokens: Sequence[Token], position: int) -> bool:
    """Whether a capital A that is also a name is the article of what follows."""
    return tokens[position].text == "A" and _kind(tokens, position + 1) == "kind"


def _item(token: Token, before: Sequence[Item]) -> Item | None:
    """A token that is no thing and no number as an item; None if it says nothing."""
    kind = token.kind
    if kind == "relation":
        entry = token.entry
        assert entry is not None  # only the lexicon makes relations
        return Item("relation", relation=entry.relation, place=entry.place)
    if kind == "content":
        return _UNKNOWN
    if kind in _SILENT:
        return None
    if kind != "mark":
        return Item("copula") if token.text == "'s" else _ITEMS[kind]
    if token.text in _STOPS:
        return _ITEMS["."]
    if token.text == "'s":
        return _ITEMS["'s"] if before and before[-1].kind == "thing" else _ITEMS["copula"]
    return _ITEMS.get(token.text)


_ITEMS = {
    kind: Item(kind)
    for kind in (
        "hedge", "centre", "existential", "inference", "reference", "condition", "supposition",
        "negation",
        "reciprocal", "between", "have", "copula", "relative", "possessive", "pronoun", "with",
        "and", "or", "link", "by", "respective", ".", "?", ",", "=", "'s",
    )
}  # fmt: skip
