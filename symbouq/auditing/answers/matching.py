"""Find the labels to which a delivered answer commits.

The paper compares answers "after deterministic normalization" and gives no details. This module
defines the project's rules, which use no model and never look at the right answer. The input is an
answer with the possible labels. The output is the labels, or None for refusals, for answers that
keep options open, and for answers without a label. If the answers are sets, an empty result is an
answer, too ("no block").

- The answer is the first of these: the one found by `symbouq.reading.segments.answering`; the text
  after the last "therefore" or "so"; the first sentence if it consists of labels; the last
  sentence. Lines that state a confidence are ignored, and so are bracketed remarks. Reasons
  ("because ...") end the answer.
- A label matches its own spelling and its words in the ontology: the phrases of its relation, or
  the words for its meaning (`ontology/labels.lp`). Case, punctuation, markup, articles and hyphens
  do not matter.
- A denied label is not delivered ("not left but right" is `right`), nor is a merely possible one
  ("could be left"); "left or right" commits to nothing. "Probably left" commits. These words are in
  `ontology/answers.lp`.
- If one label is expected, two different labels give None.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, takewhile
from typing import Any, Literal, NamedTuple

from symbouq.auditing.answers.text import (
    answering_part,
    answering_sentences,
    closing_sentence,
)
from symbouq.auditing.answers.words import (
    Words,
    cues,
    form,
    implications,
    meaning_of,
    meanings,
    plain,
    relation_named,
    senses,
    tokenized,
    words_of,
)
from symbouq.limits import check_time
from symbouq.ontology.library import builtin
from symbouq.ontology.tables import Ontology
from symbouq.reading.bounds import shortened
from symbouq.reading.segments import chosen, gist, judges, lettered, refuses

Kind = Literal["single", "set", "sequence"]
"""Whether an answer is one label, several labels in any order, or several labels in a certain
order.
"""

Delivered = tuple[str, ...] | None
"""Labels to which an answer commits, spelled as in the answer space; None without a commitment."""

_JUDGEMENTS: dict[str, frozenset[str]] = {
    "yes-no": frozenset(("yes", "no")),
    "entailment": frozenset(("entailment", "contradiction")),
    "consistency": frozenset(("satisfiable", "unsatisfiable")),
}
"""Maps an answer space to the meanings of its labels."""
_OPPOSITE = {"yes": "no", "satisfiable": "unsatisfiable"}
_OPPOSITE |= {other: meaning for meaning, other in _OPPOSITE.items()}
_CONSISTENT = {
    "yes": "satisfiable",
    "no": "unsatisfiable",
    "contradiction": "unsatisfiable",
}
"""Maps the meaning of a label to its equivalent in questions about consistency."""


@dataclass(frozen=True)
class AnswerSpace:
    """Possible labels of an answer.

    Attributes:
        name: The kind of question: `directions`, `yes-no`, `entailment`, `consistency`,
            `relations`, `composition`, `blocks`, `moves` or `choice`.
        labels: The labels.
        kind: One label, a set, or a sequence.
        dataset: The dataset for which the ontology may have special word senses, which take
            precedence.
        given: Whether the question lists the labels; otherwise they are the default labels.
    """

    name: str
    labels: tuple[str, ...]
    kind: Kind
    dataset: str = ""
    given: bool = True


def space_of(labels: Iterable[str], kind: Kind | None = None, dataset: str = "") -> AnswerSpace:
    """Build the answer space for the given labels.

    Args:
        labels: The possible labels.
        kind: One label, a set or a sequence; by default, the usual kind for the labels.
        dataset: The question's dataset.
    """
    name, usual = _usual(labels := tuple(labels), dataset)
    return AnswerSpace(name, labels, kind or usual, dataset)


def delivered(text: str, space: AnswerSpace | Iterable[str], question: str = "") -> Delivered:
    """Return the labels to which an answer commits.

    Args:
        text: The delivered answer: a label, a sentence, or a whole response.
        space: The answer space, or its labels.
        question: The question. An answer that states the direction in reverse ("Y is left of X"
            where X was asked about) is turned around.

    Returns:
        Labels as spelled in the answer space, sets in its order; None without a commitment.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
    """
    text = shortened(text)
    matcher = _matcher(space if isinstance(space, AnswerSpace) else space_of(space))
    listings = question, text, lettered([*matcher.space.labels])

    def is_label(sentence: str) -> bool:
        return matcher.is_label(sentence) or chosen(sentence, *listings) != ""

    text = answering_part(text, is_label, matcher.space.kind == "set")
    if not matcher.judged and refuses(closing_sentence(text)):
        return None
    if not any(map(str.isalnum, text)):
        return None
    words = [word for word in text.split() if any(map(str.isalnum, word))]
    if all(map(judges, words)):
        text = words[-1]  # "Yes ... no."
    if matcher.space.kind == "set":
        lines = [line for line in text.splitlines() if line.strip()]
        bare = list(takewhile(_is_bare, (matcher.events(_unlisted(n)) for n in lines)))
        if 1 < len(lines) == len(bare):
            return matcher.labels(text, list(chain.from_iterable(bare)), question)
    *earlier, last = answering_sentences(text, matcher.space.kind == "set") or ("",)
    for sentence in earlier:
        events = matcher.events(sentence)
        if _is_bare(events) or matcher.leads(events):
            found = matcher.labels(sentence, events, question)
            if found is not None or not last:
                return found
    found = matcher.labels(last, matcher.events(last), question)
    option = chosen(last, *listings) if found is None else ""
    if option:
        return matcher.labels(option, matcher.events(option), question)
    if found is None:
        # "..., so A is above B. No, it is not left of it."
        closing = closing_sentence(text)
        events = matcher.events(closing)
        return matcher.labels(closing, events, question) if matcher.leads(events) else None
    return found


def _unlisted(line: str) -> str:
    line = line.lstrip()
    mark = _ITEM.match(line)
    return line if mark is None else line[mark.end() :]


def agrees(labels: Delivered, answer: Any, kind: Kind) -> bool:
    """Whether the delivered labels are the right answer; False if there are none.

    Args:
        labels: The delivered labels.
        answer: The right label, or a list of them.
        kind: One label, a set or a sequence.
    """
    if labels is None:
        return False
    gold = tuple(answer) if isinstance(answer, list | tuple) else (answer,)
    return labels == gold if kind == "sequence" else set(labels) == set(gold)


def labels_named(text: str, labels: Sequence[str]) -> tuple[str, ...]:
    """Return the labels that the whole text stands for: "near" stands for `near to`, and
    "upper-left" for `left` and `above` if these are labels. Empty if it stands for no label.
    """
    return (text,) if text in labels else _matcher(space_of(labels)).named(text)


def _relations(labels: Sequence[str], dataset: str) -> tuple[Ontology | None, dict[str, str]]:
    """Find the profile in which most labels are distinct relations, and map the labels to these
    relations.

    In a tie, prefer the dataset's profile, then the default profile, then a calculus with questions
    about possible relations. The profile is None if fewer than half of the labels are relations.
    """
    library = builtin()
    best: dict[str, str] = {}
    chosen = None
    if 2 * sum(plain(label) in senses() for label in labels) >= len(labels):
        default, *others = library.profiles
        others.sort(key=lambda profile: profile not in library.asking_possible)
        for profile in dict.fromkeys((library.profile_of(dataset), default, *others)):
            ontology = library.ontology(profile)
            named = {relation_named(ontology, label): label for label in reversed(labels)}
            named.pop(None, None)
            if len(named) > len(best):
                best = {label: relation for relation, label in named.items() if relation}
                chosen = ontology
            if len(best) == len(labels):
                break
    return (chosen, best) if best and 2 * len(best) >= len(labels) else (None, {})


@lru_cache(maxsize=4096)
def _usual(labels: tuple[str, ...], dataset: str) -> tuple[str, Kind]:
    """Return the kind of question for the given labels, and the usual kind of its answers."""
    meanings = {meaning_of(label) for label in labels}
    for name, judged in _JUDGEMENTS.items():
        if judged <= meanings or (name != "yes-no" and judged & meanings):
            return name, "single"
    ontology, relations = _relations([x for x in labels if not meaning_of(x)], dataset)
    letters = all(re.fullmatch(r"[A-Z]+|[a-z]", label) for label in labels)
    steps = _steps(ontology, relations.values()) if ontology else set()
    if letters and all(len(label) == 1 for label in labels):
        return ("moves", "sequence") if steps and set(relations.values()) == steps else _BLOCKS
    if ontology is None:
        return _BLOCKS if letters and labels else ("choice", "single")
    if ontology.profile in builtin().asking_possible:
        return "composition", "set"
    diagonal = any(
        ontology.relations.displacement.get(relation) == 2 for relation in relations.values()
    )
    return ("directions", "single") if diagonal else ("relations", "set")


def _steps(ontology: Ontology, relations: Iterable[str]) -> set[str]:
    """Return the directions along one axis that belong to the families of the given relations."""
    families = {ontology.relations.family[relation] for relation in relations}
    moves = ontology.relations.displacement
    return {
        r for r, axes in moves.items() if axes == 1 and ontology.relations.family[r] in families
    }


_BLOCKS: tuple[str, Kind] = ("blocks", "set")


class _Event(NamedTuple):
    """Word or phrase in a text that affects the answer.

    Attributes:
        role: `label`, a role of `cue/2`, or `word` for any other word.
        labels: The labels that the word or phrase stands for, if its role is `label`.
        spelled: Whether it is spelled exactly like the label.
    """

    role: str
    labels: tuple[str, ...] = ()
    spelled: bool = False


_WORD = _Event("word")
_ITEM = re.compile(r"(?:[-*\u2022]|\(?\d{1,3}[.)])[ \t]+")
"""List marker."""
_APART = 3
"""Maximum number of separate words that are also recognised when written as one."""

_BETWEEN_LOOKS = 1_024
"""Number of words processed between two checks of the clock."""


_IN_ANSWERS = (
    *("filler", "denial", "determiner", "hedge", "choice", "pause", "stop"),
    *("other", "open", "unsure", "declined", "all"),
)
"""Roles of `cue/2` that affect the labels of an answer. Other roles announce or end the answer."""


@cache
def _cue_events() -> dict[Words, _Event]:
    opened = {form(text): _Event("open") for text, m in meanings().items() if m == "open"}
    return opened | {form(text): _Event(role) for role in _IN_ANSWERS for text in cues()[role]}


def _is_bare(events: Sequence[_Event]) -> bool:
    roles = {event.role for event in events}
    return "label" in roles and "word" not in roles and "other" not in roles


class _Matcher:
    """Matcher for words that stand for the labels of one answer space."""

    def __init__(self, space: AnswerSpace) -> None:
        self.space = space
        self.judged = space.name in _JUDGEMENTS
        self._of_meaning = {m: label for label in space.labels if (m := meaning_of(label))}
        unmeant = [label for label in space.labels if not meaning_of(label)]
        self._ontology, self._relation = (
            _relations(unmeant, space.dataset)
            if space.name in ("directions", "relations", "composition", "moves")
            else (None, {})
        )
        self._label_of = {relation: label for label, relation in self._relation.items()}
        self._parts = {
            whole: frozenset(pair)
            for pair, whole in (self._ontology.relations.join if self._ontology else {}).items()
            if len(set(pair)) == 2 and whole not in pair
        }
        self._events = {**_cue_events(), **self._forms()}
        self._longest = max(2, *map(len, self._events))
        # Treat "north-east", "north east" and "northeast" as one word.
        self._joined = {
            "".join(words): event
            for words, event in self._events.items()
            if event.role == "label" and min(map(len, words)) > 1
        }
        self._known = {word for words in self._events for word in words}

    def _forms(self) -> dict[Words, _Event]:
        """Return the words that stand for labels. The labels' own spellings come last."""
        forms: dict[Words, _Event] = {}
        if self._ontology is not None:
            for text, relations in senses().items():
                if (event := self._sense(text, relations)) is not None:
                    forms[form(text)] = event
                inverse = [c for r in relations if (c := self._ontology.relations.converse.get(r))]
                if inverse and (event := self._standing_for(inverse)) is not None:
                    forms[form(f"{text} inverse")] = event
            for hour, relation in self._ontology.lexicon.clock.items():
                if (event := self._standing_for([relation])) is not None:
                    forms[form(f"{hour} o'clock")] = event
        for text, meaning in meanings().items():
            if (meant := self._meant(meaning, text)) is not None:
                forms[form(text)] = _Event("label", meant)
        for label in self.space.labels:
            forms[form(label)] = _Event("label", (label,), spelled=True)
        for label, relation in self._relation.items():
            assert self._ontology is not None  # relations imply an ontology
            other = self._label_of.get(self._ontology.relations.converse.get(relation, ""))
            if other is not None:
                forms[form(f"{label} inverse")] = _Event("label", (other,), spelled=True)
        return forms

    def _meant(self, meaning: str, text: str) -> tuple[str, ...] | None:
        if meaning == "none" and self.space.name == "blocks":
            return ()
        if meaning == "open":
            return None  # these words are cues, unlike the label's own spelling
        label = self._of_meaning.get(meaning)
        if label is None and (meaning == "contradiction" or text == meaning):
            label = self._of_meaning.get(_CONSISTENT.get(meaning, ""))
        return None if label is None else (label,)

    def _sense(self, text: str, relations: Sequence[str]) -> _Event | None:
        """Return the labels for a phrase for relations, in the space's profile if possible.

        None if the phrase has no meaning there. Words that count only before a ground ("in the
        box") stand for no label.
        """
        assert self._ontology is not None  # relations imply an ontology
        if text in self._ontology.lexicon.adjacent or text in self._ontology.words("have"):
            return None
        own = relation_named(self._ontology, text)
        verb = text in self._ontology.lexicon.finite and " " not in text
        event = self._standing_for([own, *relations] if own else relations, loosely=not verb)
        return _WORD if event is None and own else event

    def _standing_for(self, relations: Sequence[str], loosely: bool = True) -> _Event | None:
        """Return the labels for the first relation that has labels: its own, or the labels of its
        components ("north-west" is above and left), or, if `loosely`, the labels of its
        consequences.
        """
        assert self._ontology is not None  # relations imply an ontology
        for relation in relations:
            implied = self._ontology.relations.implied.get(relation) or implications().get(relation)
            for others in ({relation}, self._parts.get(relation, ()), (loosely and implied) or ()):
                labels = tuple(x for x in self.space.labels if self._relation.get(x) in others)
                if labels:
                    return _Event("label", labels)
        return None

    def named(self, text: str) -> tuple[str, ...]:
        role, labels, _ = self._event(form(text)) or _WORD
        unsettled = self._of_meaning.get("open")
        return (unsettled,) if role in ("open", "unsure") and unsettled else labels

    # Events in a sentence ---------------------------------------------------------------

    def events(self, sentence: str) -> list[_Event]:
        """Return the events of a sentence. Single letters match labels in either case if the
        sentence consists of labels, otherwise only in the label's case.
        """
        tokens = [t for t in tokenized(sentence) if self._counts(t.casefold())]
        found = list(self._scanned(tokens, strict=False))
        return found if _is_bare(found) else list(self._scanned(tokens, strict=True))

    def is_label(self, sentence: str) -> bool:
        return _is_bare(self.events(sentence[slice(*gist(sentence))]))

    def _counts(self, word: str) -> bool:
        """Whether a word affects the answer. Articles, numbers and adverbs do so only if they are
        part of a known form.
        """
        passed_over = word in cues()["article"] or word.endswith("ly")
        passed_over = passed_over or word.isdigit() or word in words_of("quantity")
        return not passed_over or word in self._known

    def _scanned(self, tokens: Sequence[str], strict: bool) -> Iterator[_Event]:
        words = [token.casefold() for token in tokens]
        last = next((n for n in reversed(range(len(words))) if self._is_label(words[n])), -1)
        place = looked = 0
        while place < len(words):
            if place >= looked:
                check_time()
                looked = place + _BETWEEN_LOOKS
            for size in range(min(self._longest, len(words) - place), 0, -1):
                event = self._event(words[place : place + size])
                if event is not None:
                    break
            else:
                event, size = _WORD, 1
            own = self._event(words[place : place + 1])
            if own is not None and own.spelled and own.labels == event.labels:
                event = own  # "SE of z"
            before, place = place, place + size
            if size == 1:
                event = self._single(event, tokens, before, last > before, strict)
            yield event

    def _event(self, words: Sequence[str]) -> _Event | None:
        """Return the event for the given words, whether they are written together or apart."""
        event = self._events.get(tuple(words))
        if event is None and len(words) <= _APART and min(map(len, words), default=0) > 1:
            event = self._joined.get("".join(words))
        return event

    def _is_label(self, token: str) -> bool:
        return bool((self._event((token.casefold(),)) or _WORD).labels)

    def _single(
        self, event: _Event, tokens: Sequence[str], place: int, labelled: bool, strict: bool
    ) -> _Event:
        """Return the event for a single word, which may be a denial, a determiner or an article
        instead of a label.

        Args:
            event: The event.
            tokens: Words of the text.
            place: Index of the word.
            labelled: Whether a later word stands for labels.
            strict: Whether single letters are labels only in the label's case.
        """
        token, first = tokens[place], place == 0
        word = token.casefold()
        follows = tokens[place + 1] if place + 1 < len(tokens) else ""
        if word in cues()["denial"] and labelled:
            return _Event("denial")  # "neither A nor B"; on its own, "neither" means none of them
        if word in cues()["determiner"] and follows.isalpha():
            denies = self._ontology is not None or self._is_label(follows)
            return _Event("denial") if denies else _WORD
        if strict and len(word) == 1 and event.role == "label":
            linking = (*cues()["link"], *cues()["choice"], "and")
            article = first and word in cues()["article"] and follows not in linking
            if token not in self.space.labels or (article and follows.islower()):
                return _WORD
        if event.role == "all" and strict and not first:
            return _Event("filler")
        return event

    # Commitment of a sentence ---------------------------------------------------------------

    def leads(self, events: Sequence[_Event]) -> bool:
        """Whether a sentence begins with a judgement and contains no other: "No, ..."."""
        following = [event.role for event in events[1:3]]
        ends = not following or following[0] in ("pause", "stop") or self.space.name == "yes-no"
        opens = bool(events) and events[0].role == "label"
        return self.judged and opens and ends and "choice" not in following

    def labels(self, sentence: str, events: Sequence[_Event], question: str) -> Delivered:
        if self.space.given:
            events = [e._replace(role="open") if e.role == "unsure" else e for e in events]
        roles = {event.role for event in events}
        if self.leads(events):
            return events[0].labels
        if not roles.isdisjoint(("declined", "unsure")):
            return None
        named = self._committed(events)
        unsettled = self._of_meaning.get("open")
        if "open" in roles:
            order = [event.role for event in events if event.role in ("open", "label")]
            settled = named and not self.judged and order[0] == "label"
            return None if settled or not unsettled else (unsettled,)
        if named is None:
            return None
        mentioned = {e.labels for e in events if e.role == "label"}
        if not named and () not in mentioned:
            denied = {x for labels in mentioned for x in labels} | {unsettled}
            if self.judged and unsettled and denied == set(self.space.labels):
                return (unsettled,)
            listed = self.space.name in ("blocks", "composition")
            return self.space.labels if "all" in roles and listed else None
        if self.space.kind == "sequence":
            return tuple(named)
        if self._turned(sentence, question):
            named = [self._opposite(label) for label in named]
        return self._chosen(named)

    def _committed(self, events: Sequence[_Event]) -> list[str] | None:
        """Return the labels to which the events commit, in order; None if they offer a choice."""
        hedged = self.space.name == "composition"
        # "It is north of z, so NE" first paraphrases the label.
        paraphrased = hedged and not any(event.spelled for event in events)
        kept: list[str] = []
        denied = may = offered = False
        last: tuple[str, ...] | None = None
        for role, labels, spelled in events:
            if role == "denial":
                denied = True
            elif role == "hedge":
                may = True
            elif role == "choice":
                offered = True
            elif role in ("pause", "stop"):
                denied = False
                if role == "stop":
                    may, offered, last = False, False, None
            elif hedged and role == "label" and not (spelled or paraphrased):
                continue
            elif role == "label" and (hedged or not may):
                if denied and self.judged:
                    labels = tuple(x for x in map(self._denied, labels) if x)
                elif denied:
                    continue
                if offered and not hedged and last is not None and labels != last:
                    return None
                offered = False
                kept.extend(labels)
                last = labels
        return kept

    def _denied(self, label: str) -> str | None:
        return self._of_meaning.get(_OPPOSITE.get(meaning_of(label) or "", ""))

    def _opposite(self, label: str) -> str:
        """Return the label with the two things swapped: left for right."""
        assert self._ontology is not None  # only directions are swapped
        converse = self._ontology.relations.converse.get(self._relation.get(label, ""), "")
        return self._label_of.get(converse, label)

    def _turned(self, sentence: str, question: str) -> bool:
        """Whether a sentence gives the position of the question's second thing relative to the
        first.
        """
        if self.space.name != "directions":
            return False
        asked = [word.casefold() for word in tokenized(question) if self._names(word)]
        said = tokenized(sentence)
        named = [n for n, word in enumerate(said) if word.casefold() in asked]
        if len(named) != 2 or len({said[n].casefold() for n in named}) != 2:
            return False
        first, second = (asked.index(said[n].casefold()) for n in named)
        between = " ".join(said[named[0] + 1 : named[1]])
        return first > second and any(event.role == "label" for event in self.events(between))

    def _names(self, word: str) -> bool:
        if word in cues()["article"]:  # "A" may be a name
            return False
        word = word.casefold()
        told = word in self._known or word in words_of("kind") or word in cues()["noun"]
        return word.isalnum() and not told

    def _chosen(self, named: Sequence[str]) -> Delivered:
        """Return the answer that consists of the given labels; None if there are too many."""
        both, none = self._of_meaning.get("both"), self._of_meaning.get("none")
        if not named and self.space.name == "blocks":
            return ()
        if none in named and (named[0] == none or set(named) == {none}):
            return (str(none),)
        if none in named:
            return None
        things = {label for label in self.space.labels if label not in (both, none)}
        if both is not None and (both in named or (len(things) > 1 and set(named) == things)):
            return (both,)
        parts = {part for label in named for part in self._parts_of(label)}
        whole = [x for x in self.space.labels if self._parts_of(x) <= parts]
        kept = [x for x in whole if not any(self._parts_of(x) < self._parts_of(y) for y in whole)]
        if len(kept) > 1 and (self.space.kind == "single" or self.judged):
            return None
        return None if len(kept) > 1 and self._of_meaning.get("open") in kept else tuple(kept)

    def _parts_of(self, label: str) -> frozenset[str]:
        """Return the components of a label: above and left for upper-left.

        Possible relations have no components, because only one of them holds.
        """
        relation = self._relation.get(label, label)
        joined = self._parts if self.space.name != "composition" else {}
        return joined.get(relation, frozenset((relation,)))


@lru_cache(maxsize=4096)
def _matcher(space: AnswerSpace) -> _Matcher:
    return _Matcher(space)
