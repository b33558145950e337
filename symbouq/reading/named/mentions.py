"""Which words name things: discovery in scene and question, recognition anywhere.

A name is a run of words that the lexicon does not have, in a place where a thing can
stand: after an article or a noun like "object", capitalised, before a verb, or next to
a relation. Names that recur decide between readings ("A sprawls" next to "A").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from symbouq.ontology.tables import Ontology
from symbouq.reading.lexicon import Token

Key = tuple[str, ...]
"""A name as it is compared: lower case, unless it is a word of one or two letters."""

_AFTER_NAME = frozenset(("copula", "have", "relation", "relative"))
_BEFORE_NAME = frozenset(("link", "reference", "relation", "with", "have", "existential"))


_APART = frozenset(("article", "kind", "filler", "abbreviation", "gloss", "measure"))
"""Kinds of words that may stand between a name and what says that it is one."""

_NOUNS = frozenset(("clock", "hour", "clockless", "kind"))
"""Words of the lexicon that are nouns and so may be inside a name."""


class Run(NamedTuple):
    """A run of words that may hold a name.

    Attributes:
        start: Index of its first token.
        end: Index after its last token.
        words: The words as written.
        marked: Whether an article or a kind noun precedes.
        placed: Whether it stands where a thing can stand.
    """

    start: int
    end: int
    words: tuple[str, ...]
    marked: bool
    placed: bool

    @property
    def proper(self) -> bool:
        """Whether it looks like a proper name: a capital, a digit or an underscore."""
        return _is_proper(self.words)

    @property
    def is_name(self) -> bool:
        """Whether it is taken for the name of a thing."""
        if self.marked and self.proper:
            return True
        return self.placed and (self.marked or self.proper or len(self.words) == 1)


def _is_proper(words: Sequence[str]) -> bool:
    return any(word != word.lower() or not word.isalpha() for word in words)


def key_of(words: Sequence[str]) -> Key:
    """How a name is compared: a short single word exactly, others without case."""
    if len(words) == 1 and len(words[0]) <= 2:
        return (words[0],)
    return tuple(word.lower() for word in words)


def runs(tokens: Sequence[Token]) -> list[Run]:
    """The runs of unknown words in a text's tokens."""
    found: list[Run] = []
    position = 0
    while position < len(tokens):
        start = position
        end = _run_end(tokens, start)
        if end == start:
            position += 1
            continue
        words = tuple(token.text for token in tokens[start:end])
        marked = start > 0 and tokens[start - 1].kind in ("article", "kind")
        placed = _placed(tokens, start, end, marked or _is_proper(words))
        found.append(Run(start, end, words, marked, placed))
        position = end
    return found


def _placed(tokens: Sequence[Token], start: int, end: int, named: bool) -> bool:
    """Whether a run stands where a thing can: before a verb or a relation, after a
    linking word or a relation, in a list, or (a name that looks like one) after the verb
    of an inverted sentence.
    """
    if _in_term(tokens, start):
        return True
    outer = start - 1
    while outer >= 0 and tokens[outer].kind in _APART:
        outer -= 1
    while end < len(tokens) and tokens[end].kind in ("filler", "measure"):
        end += 1
    before = _place(tokens[outer]) if outer >= 0 else ""
    after = _place(tokens[end]) if end < len(tokens) else ""
    adverbial = before == "copula" or after in ("link", "relation", "by")
    if not named and adverbial and before in ("copula", "relation", "and", "by"):
        return False  # "further", "slightly" and the like
    if before in _BEFORE_NAME or after in _AFTER_NAME:
        return True
    if not before and start and tokens[start - 1].kind == "article":
        return True  # "The book on the table is ..."
    return before == "and" or after in ("and", ",", "'s") or (before == "copula" and named)


def _in_term(tokens: Sequence[Token], start: int) -> bool:
    """Whether a run stands in a term, as A or B in "R(A, B)"."""
    before = [token.text for token in tokens[max(0, start - 3) : start]]
    if before[-1:] == ["("]:
        opening = start - 1
    elif before[:1] == ["("] and before[-1:] == [","]:
        opening = start - 3
    else:
        return False
    return opening > 0 and tokens[opening - 1].kind == "relation"


def _place(token: Token) -> str:
    return token.text if token.kind == "mark" else token.kind


def _run_end(tokens: Sequence[Token], start: int) -> int:
    """The end of the run that starts here; the start itself if there is none."""
    first = tokens[start]
    if first.text == "A" and first.kind == "article":
        return start + 1 if _stands_alone(tokens, start) else start
    end = start
    if first.kind == "relation" and start and tokens[start - 1].kind == "article":
        # "the upper shelf": the direction belongs to the name.
        while end < len(tokens) and tokens[end].kind == "relation":
            end += 1
        noun = tokens[end] if end < len(tokens) else None
        after = tokens[end + 1].kind if end + 1 < len(tokens) else ""
        if noun is None or noun.kind != "content" or not noun.text.islower() or after == "link":
            return start  # "the upper edge of B" is a direction
    elif first.kind == "number" and start and tokens[start - 1].kind == "kind":
        return start + 1  # "agent 7"
    elif first.kind != "content":
        return start
    while end < len(tokens):
        kind = tokens[end].kind
        goes_on = end > start and end + 1 < len(tokens) and tokens[end + 1].kind == "content"
        if kind == "content" or (kind == "number" and end > start):
            end += 1
        elif end > start and tokens[end].text == "A" and _stands_alone(tokens, end):
            end += 1  # "Block A"
        elif goes_on and (kind in _NOUNS or tokens[end].text in ("'s", "-")):
            end += 2  # "clock tower", "Alice's house", "T-shirt"
        else:
            break
    return end


def _stands_alone(tokens: Sequence[Token], position: int) -> bool:
    """Whether a capital A is a name, and not the article of what follows."""
    after = tokens[position + 1] if position + 1 < len(tokens) else None
    return after is None or after.kind not in ("content", "kind", "number")


class Names:
    """The names of a trace's things, recognised in any of its texts.

    Args:
        names: Key and spelling of each name, in order; the position is the thing.
    """

    def __init__(self, names: Iterable[tuple[Key, str]] = ()) -> None:
        self.spellings: list[str] = []
        self._things: dict[Key, int] = {}
        self._spelled: dict[str, int] = {}
        # First word to the lengths of the names that start with it, the longest first.
        self._lengths: dict[str, tuple[int, ...]] = {}
        for key, spelling in names:
            self.add(key, spelling)

    def copy(self) -> Names:
        """The same names, to be added to independently."""
        twin = Names()
        twin.spellings = list(self.spellings)
        twin._things = dict(self._things)
        twin._spelled = dict(self._spelled)
        twin._lengths = dict(self._lengths)
        return twin

    def add(self, key: Key, spelling: str) -> int:
        """The thing of a name, which is new or known."""
        thing = self._things.get(key)
        if thing is None:
            thing = self._things[key] = len(self.spellings)
            self.spellings.append(spelling)
            self._spelled.setdefault(spelling, thing)
            head = key[0].lower()
            lengths = {*self._lengths.get(head, ()), len(key)}
            self._lengths[head] = tuple(sorted(lengths, reverse=True))
        return thing

    def thing(self, spelling: str) -> int:
        """The thing that is spelled so, the first if there are several."""
        return self._spelled[spelling]

    def __len__(self) -> int:
        return len(self.spellings)

    def __contains__(self, key: object) -> bool:
        return key in self._things

    def may_start(self, token: Token) -> bool:
        """Whether some name starts with the token's first word."""
        return token.head in self._lengths

    def match(self, tokens: Sequence[Token], start: int) -> tuple[int, int] | None:
        """The longest name that starts at a token: its thing and the end."""
        lengths = self._lengths.get(tokens[start].head, ())
        if lengths[:1] == (1,):
            thing = self._things.get(key_of((tokens[start].text,)))
            return (thing, start + 1) if thing is not None else None
        words: list[str] = []
        ends: dict[int, int] = {}
        position = start
        while lengths and len(words) < lengths[0] and position < len(tokens):
            # A phrase of the lexicon may hold several words of the name.
            words += tokens[position].text.lower().split()
            position += 1
            ends.setdefault(len(words), position)
        for length in lengths:
            end = ends.get(length)
            if end is not None:
                key = key_of((tokens[start].text,)) if length == 1 else tuple(words[:length])
                thing = self._things.get(key)
                if thing is not None:
                    return thing, end
        return None


def measured(tokens: Sequence[Token], ontology: Ontology) -> list[Token]:
    """Tokens with every measure as one: "40 ft", "three blocks", "a 10-minute walk". It is no
    thing, and what it measures is a direction or nothing: "within 40 ft of" and "40 ft away
    from" say of no relation that it holds.

    Args:
        tokens: The tokens.
        ontology: Gives the words of measures, and the directions.
    """
    units = ontology.lexicon.word.get("unit", frozenset())
    if not any(token.head in units or token.kind == "clipping" for token in tokens):
        return list(tokens)
    kept: list[Token] = []
    position = 0
    while position < len(tokens):
        end = _measure_end(
            tokens, position, units, ontology.lexicon.word.get("quantity", frozenset())
        )
        if end == position:
            kept.append(tokens[position])
            position += 1
            continue
        before = kept[-1].entry if kept else None
        if before is not None and before.relation and not before.place:
            kept.pop()
        first, last = tokens[position], tokens[end - 1]
        kept.append(Token("measure", first.text, first.start, last.end, first.head))
        position = end
        after = tokens[end].entry if end < len(tokens) else None
        if (
            after is not None
            and after.relation
            and not ontology.relations.displacement.get(after.relation)
        ):
            position += 1
    return kept


_THINGS_FOLLOW = frozenset(("copula", "have", "existential", "relative"))
"""Kinds of words before which "three blocks" are things."""


def _unit(token: Token) -> str:
    return token.text.lower().removesuffix(".")


def _measure_end(
    tokens: Sequence[Token], start: int, units: Container[str], quantities: Container[str]
) -> int:
    """The position after a measure that begins at a position; the position, if none does."""
    end = start
    article = tokens[start].kind == "article" and tokens[start].text.lower() in ("a", "an")
    while end < len(tokens) and _counts(tokens[end], quantities):
        end += 1
        if end + 1 < len(tokens) and _counts(tokens[end + 1], quantities):
            mark, inside = tokens[end], tokens[end - 1].end == tokens[end].start
            inside = inside and mark.end == tokens[end + 1].start  # "1,000", "3.5", "40-50"
            if (inside and mark.kind in ("mark", "gloss")) or mark.kind in ("link", "or"):
                end += 1
    last = end
    while end > start and last < len(tokens):
        spot = last + (tokens[last].text == "-")
        if spot >= len(tokens) or _unit(tokens[spot]) not in units:
            break
        last = spot + 1
    if last == end or (last < len(tokens) and tokens[last].kind in _THINGS_FOLLOW):
        return start
    if article and (not start or tokens[start - 1].kind not in ("copula", "filler")):
        return start  # "a block left of A" is a thing
    return last


def _counts(token: Token, quantities: Container[str]) -> bool:
    return token.kind == "number" or token.text.lower() in quantities


def discover(scene: Sequence[Sequence[Token]], question: Sequence[Token]) -> Names:
    """The names of the things that scene and question speak of, in order.

    Args:
        scene: The tokens of each scene sentence.
        question: The tokens of the question.
    """
    texts = [*scene, question]
    found = [runs(tokens) for tokens in texts]
    seen: Counter[Key] = Counter(
        key for text in found for key in {key_of(run.words) for run in text if run.is_name}
    )
    names = Names()
    for tokens, text in zip(texts, found, strict=True):
        verbless = not any(token.kind in ("copula", "have") for token in tokens)
        for run in text:
            words = _name_in(run, tokens, seen, verbless)
            if words:
                names.add(key_of(words), " ".join(words).replace(" 's", "'s").replace(" - ", "-"))
    return names


def follows_name(run: Run, tokens: Sequence[Token], known: Container[Key]) -> bool:
    """Whether a capital A before a run is no article but the name of a thing, so that
    the run is none: "A sprawls below B".
    """
    before = tokens[run.start - 1] if run.start else None
    return before is not None and before.text == "A" and ("A",) in known and not run.proper


def _name_in(
    run: Run, tokens: Sequence[Token], seen: Counter[Key], verbless: bool
) -> tuple[str, ...]:
    """The part of a run that is a name; empty if none is."""
    words = run.words
    if follows_name(run, tokens, seen):
        return ()
    for size in range(len(words) - 1, 0, -1):
        # "A sprawls" next to "A": what follows a known name is a verb.
        part = words[:size]
        if seen[key_of(part)] and (not run.marked or seen[key_of(words)] <= 1):
            return part
    if verbless and len(words) > 1 and _verb_like(words[-1]) and run.end < len(tokens):
        return words[:-1]
    return words if run.is_name else ()


def _verb_like(word: str) -> bool:
    return word.islower() and word.endswith(("s", "ed"))
