"""Scenes whose things have names: sentences to relations, questions to the pair asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from symbouq.ontology.tables import Ontology
from symbouq.ontology.words import WAYS
from symbouq.reading.faults import SCENE_SENTENCE, reading
from symbouq.reading.lexicon import Token, kind_at, text_at
from symbouq.reading.named.grammar import Grammar, Item, Placement
from symbouq.reading.named.mentions import Names, discover, follows_name, key_of, measured, runs
from symbouq.reading.parsed import Question
from symbouq.reading.segments import unretracted
from symbouq.reading.traces import (
    NAMED_BY_QUESTION,
    Mention,
    Scene,
    TraceReader,
    too_long,
    triples,
)

_STOPS = frozenset((".", "!", ";", "\n"))
_UNKNOWN = Item("other")


class NamedReader(TraceReader[Names]):
    """Reads traces whose things have names.

    Args:
        ontology: The tables of the profile.
    """

    def __init__(self, ontology: Ontology) -> None:
        super().__init__(ontology)
        # Sentences repeat their build with other names; remembered within bounds.
        self._read_shape = lru_cache(maxsize=4096)(Grammar(ontology).read)

    def question(self, scene: Sequence[str], question: str) -> Question:
        """Reads a question about a scene: what it asks about, and what it asks to be
        confirmed.

        Args:
            scene: The scene's sentences.
            question: The question, or a statement to be judged.
        """
        _, spellings, asked = self._read_scene(tuple(unretracted(scene)), question)
        with reading("the question", question):
            tokens = self._without_question_words(self.lexicon.tokens(question))
            if tokens and tokens[-1].text == "?":
                # "Is A left of B?" has the verb in front; as a statement it comes after A.
                verbs = [n for n, token in enumerate(tokens) if token.kind == "copula"]
                tokens = [t for n, t in enumerate(tokens[:-1]) if verbs[:1] != [n] or n > 1]
            names = spellings.copy()
            states = self._mentions(tokens, names, len(names))
            return Question(question, asked, triples(states))

    def _scene(self, scene: tuple[str, ...], question: str) -> Scene[Names]:
        with reading("the scene", " ".join(scene)):
            *found, last = self.lexicon.tokens_of_each([*scene, question])
        with reading("the question", question):
            last = measured(last, self.ontology)
            asked_tokens = [] if too_long(last) else self._without_question_words(last)
        tokens: list[Sequence[Token]] = []
        for number, (text, said) in enumerate(zip(scene, found, strict=True), start=1):
            part = f"{SCENE_SENTENCE} {number}"
            with reading(part, text):
                tokens.append(measured(said, self.ontology))
            self._readable(part, text, tokens[-1], Names())
        with reading("the scene", " ".join(scene)):
            names = discover(tokens, asked_tokens)
        stated = self._chained(SCENE_SENTENCE, scene, tokens, names, len(names))
        with reading("the question", question):
            return stated, names, self._asked(asked_tokens, names)

    # Sentences -----------------------------------------------------------------------

    def _mentions(
        self, tokens: Sequence[Token], names: Names, known: int, antecedent: str | None = None
    ) -> tuple[Mention, ...]:
        tokens = measured(tokens, self.ontology)
        if not _may_relate(tokens):
            return ()
        items, things, places = self._items(tokens, names, new=True)
        kinds = {item.kind for item in items}
        if "relation" not in kinds:
            return ()
        if antecedent is not None and not kinds.isdisjoint(("pronoun", "possessive")):
            thing = names.thing(antecedent)
            if thing not in things:
                things.append(thing)
            items.insert(0, Item("antecedent", thing=things.index(thing)))
            places.insert(0, (0, 0))
        readings: list[Placement] = self._read_shape(tuple(items))
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
        return tuple(self._grouped(found, names) if self.ontology.lexicon.grouped else found)

    def _grouped(self, mentions: Sequence[Mention], names: Names) -> Iterator[Mention]:
        """Mentions with the landmarks of a grouping relation taken together: "X is between
        Y and Z" places X by a thing of its own that spans Y and Z.
        """
        groups: dict[tuple[str, str, tuple[int, int]], list[Mention]] = {}
        for m in mentions:
            if m.relation in self.ontology.lexicon.grouped:
                groups.setdefault((m.subject, m.relation, m.span), []).append(m)
        for first in mentions:
            if first.relation not in self.ontology.lexicon.grouped:
                yield first
                continue
            group = groups.pop((first.subject, first.relation, first.span), [])
            if len(group) < 2:
                continue  # between what else? Nothing that a relation of two can say
            group.sort(key=lambda m: names.thing(m.object))
            whole = " and ".join(m.object for m in group)
            names.add(key_of(whole.split()), whole)
            for m in group:
                spans = self.ontology.lexicon.grouped[first.relation]
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
                stands_alone = kind_at(tokens, position) in ("mark", "")  # "No, ..."
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
        for n, (first, last) in enumerate(places):
            if items[n].kind == "link":
                words = {tokens[first].text.lower(), tokens[last].text.lower()}
                role = next(
                    (w for w in WAYS if words & self.ontology.lexicon.word.get(w, set())), ""
                )
                items[n] = items[n]._replace(way=role)
            entry = tokens[first].entry
            if entry is not None and entry.adjacent and not _precedes_landmark(items, n):
                items[n] = _ITEMS["by"]
        return items, things, places

    @staticmethod
    def _term(tokens: Sequence[Token], position: int, names: Names) -> tuple[int, int, int] | None:
        """The things of `R(A, B)` and the position after it, if two names stand so after a
        relation.
        """
        if text_at(tokens, position + 1) != "(":
            return None
        first = names.match(tokens, position + 2) if position + 2 < len(tokens) else None
        if first is None or text_at(tokens, first[1]) != "," or first[1] + 1 >= len(tokens):
            return None
        second = names.match(tokens, first[1] + 1)
        if second is None or text_at(tokens, second[1]) != ")":
            return None
        return first[0], second[0], second[1] + 1

    def _grouping(self, token: Token) -> bool:
        entry = token.entry
        return entry is not None and entry.relation in self.ontology.lexicon.grouped

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
            if first and kind_at(tokens, run.end) not in ("copula", "have", "relation"):
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
        if kind_at(tokens, after) == "or":
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
        if hour is None or kind_at(tokens, after) != "and":
            return None
        other, end = self._hour_at(tokens, after + 1)
        if other is None or not (dial or self._marked(tokens, end)):
            return None
        item = self._direction(hour, other)
        return (item, end) if item is not None else None

    def _hour_at(self, tokens: Sequence[Token], position: int) -> tuple[str | None, int]:
        """The direction of the hour at a token, and the position after it."""
        if kind_at(tokens, position) != "number":
            return None, position
        number = tokens[position].text
        after = position + 1
        if after + 1 < len(tokens) and tokens[after].text == ":" and tokens[after + 1].text == "00":
            after += 2
        before = tokens[position - 1].text if position else ""
        if kind_at(tokens, after) == "clockless" or before in ("(", "-", "+"):
            return None, after
        # A number of many digits is no hour, and Python converts none of thousands.
        return self.ontology.lexicon.clock.get(int(number)) if len(number) <= 2 else None, after

    @staticmethod
    def _marked(tokens: Sequence[Token], position: int) -> bool:
        return kind_at(tokens, position) in ("hour", "reference")

    def _direction(self, first: str, second: str) -> Item | None:
        relation = first if first == second else self.ontology.relations.join.get((first, second))
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
                while kind_at(tokens, before) == "article":
                    before -= 1
                turned = (
                    kind_at(tokens, before) == "link" and kind_at(tokens, matched[1]) == "copula"
                )
            thing, position = matched
            if thing not in order:
                order.append(thing)
        if len(order) < 2:
            return None
        first, second = order[:2]
        if reference == 0 or turned:  # "Relative to B, where is A?"
            first, second = second, first
        return names.spellings[first], names.spellings[second]

    def _label(
        self, tokens: Sequence[Token], names: Names, asked: tuple[str, str]
    ) -> tuple[Mention, ...]:
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
        confidence = round(readings[0].confidence * NAMED_BY_QUESTION, 4)
        return (Mention(asked[0], readings[0].relation, asked[1], span, confidence, True),)


def _may_relate(tokens: Sequence[Token]) -> bool:
    """Whether a text can state a relation at all: it has a relation's phrase, or hours."""
    for position, token in enumerate(tokens):
        if token.kind == "relation":
            assert token.entry is not None  # only the lexicon makes relations
            if not token.entry.adjacent or kind_at(tokens, position + 1) not in ("mark", ""):
                return True
        elif token.kind == "number" and (
            kind_at(tokens, position + 1) in ("hour", "or", "and", "reference")
            or text_at(tokens, position + 1) == ":"
            or kind_at(tokens, position - 1) == "by"
        ):
            return True
    return False


def _precedes_landmark(items: Sequence[Item], position: int) -> bool:
    """Whether a thing comes next that is no possessor: "in B", not "in B's corner"."""
    following = [item.kind for item in items[position + 1 : position + 3]]
    return following[:1] == ["thing"] and following[1:] != ["'s"]


def _is_article(tokens: Sequence[Token], position: int) -> bool:
    """Whether a capital A that is also a name is the article of what follows."""
    return tokens[position].text == "A" and kind_at(tokens, position + 1) == "kind"


def _item(token: Token, before: Sequence[Item]) -> Item | None:
    """A token that is no thing and no number as an item; None if it says nothing."""
    kind = token.kind
    if kind == "relation":
        entry = token.entry
        assert entry is not None  # only the lexicon makes relations
        return Item("relation", relation=entry.relation, place=entry.place)
    if kind == "content":
        return _UNKNOWN
    if kind != "mark":
        return Item("copula") if token.text == "'s" else _ITEMS.get(kind)
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
        "and", "or", "link", "by", "respective", "arrival", "motion",
        "retraction", "gloss", ".", "?", ",", "=", "'s",
    )
}  # fmt: skip
