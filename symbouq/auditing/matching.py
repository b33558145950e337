"""From the text of a delivered answer to the labels that it commits to, or to none.

The paper compares answers "after deterministic normalization" and says no more; this is
the project's. No model is asked and the right answer is never looked at: a text and the
labels that an answer may have go in, labels or None come out. None is what refuses, keeps
its options open, or names nothing; an empty result is an answer too where the space has
sets ("no block").

What the functions share:

- The answer is what follows the last "answer is", "answer:", "I chose" or box; else what
  follows the last "therefore" or "so"; else the first sentence where it holds nothing but
  labels; else the last one. Lines with a confidence and bracketed remarks do not count,
  and reasons ("because ...") end it.
- Case, punctuation, markup, articles and hyphens do not matter; synonyms do what the label
  does ("north-west" is `upper-left`, "on top of" is `above`).
- A denied label is not delivered ("not left but right" is `right`), nor is one that only
  may hold ("could be left"); "left or right" commits to nothing. "Probably left" commits.
- Where one label is asked for, two different ones are none.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Kind = Literal["single", "set", "sequence"]
"""Whether an answer is one label, several in any order, or several in order."""

Delivered = tuple[str, ...] | None
"""The labels that a text commits to, as the answer space spells them; None for none."""


@dataclass(frozen=True)
class AnswerSpace:
    """What an answer may be.

    Attributes:
        name: Which function reads it: `directions`, `yes-no`, `entailment`,
            `consistency`, `relations`, `composition`, `blocks`, `moves` or `choice`.
        labels: The labels.
        kind: One label, a set, or a sequence.
    """

    name: str
    labels: tuple[str, ...]
    kind: Kind


def space_of(labels: Iterable[str], kind: Kind | None = None) -> AnswerSpace:
    """The answer space with these labels.

    Args:
        labels: What an answer may be.
        kind: One label, a set or a sequence; by default what is usual for the labels.
    """
    given = tuple(labels)
    low = {_plain(label) for label in given}
    if {"upper left", "lower right"} <= low:
        found: tuple[str, Kind] = "directions", "single"
    elif {"yes", "no"} <= low:
        found = "yes-no", "single"
    elif "entailment" in low or "contradiction" in low:
        found = "entailment", "single"
    elif "satisfiable" in low:
        found = "consistency", "single"
    elif low == {"n", "s", "e", "w"}:
        found = "moves", "sequence"
    elif low & {"ntpp", "nw"} and "left" not in low:
        found = "composition", "set"
    elif low & {"left", "above", "inside", "near", "near to", "dc", "ec", "outside"}:
        found = "relations", "set"
    elif given and all(re.fullmatch(r"[A-Z]+|[a-z]", label) for label in given):
        found = "blocks", "set"
    else:
        found = "choice", "single"
    return AnswerSpace(found[0], given, kind or found[1])


def delivered(text: str, space: AnswerSpace | Iterable[str], question: str = "") -> Delivered:
    """The labels that an answer commits to.

    Args:
        text: The delivered answer: a label, a sentence, or a whole response.
        space: The answer space, or its labels.
        question: The question, by which a direction that is stated the other way round
            ("Y is left of X" where X was asked about) is turned.

    Returns:
        Labels as the space spells them, sets in the space's order; None where the text
        commits to no answer.
    """
    space = space if isinstance(space, AnswerSpace) else space_of(space)
    return MATCHERS[space.name](text, space, question)


def agrees(labels: Delivered, answer: Any, kind: Kind) -> bool:
    """Whether delivered labels are the right answer; no label never is.

    Args:
        labels: What was delivered.
        answer: The right label, or a list of them.
        kind: Whether order counts.
    """
    if labels is None:
        return False
    gold = tuple(answer) if isinstance(answer, list | tuple) else (answer,)
    return labels == gold if kind == "sequence" else set(labels) == set(gold)


# The part of a text that answers -------------------------------------------------------

_MARKERS = re.compile(
    r"\b(?:answ(?:ers?|ering)?|choice|relation(?:ship)?)\b(?:\s+(?!is\b|are\b|was\b)[\w'()\"-]+){0,9}?"
    r"\s*(?:\d+\s*)?(?:\b(?:is|are|was|would be)\b\s*:?|[:=])"
    r"|\bI\s+(?:choose|chose|select(?:ed)?|answer(?:ed)?|pick(?:ed)?|conclude(?:d)?)\b(?:\s+that\b)?",
    re.IGNORECASE,
)
_STRONG = re.compile(r"answ", re.IGNORECASE)
_THEREFORE = re.compile(
    r"(?:\b(?:therefore|thus|hence|consequently|in conclusion)\b|(?:^|[.,;]\s+)so\b)[,:]?\s*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])|\n+")
_REASON = re.compile(
    r"\s*(?:[,;]|\s[-\u2013\u2014])?\s*"
    r"\b(?:because|since|given that|due to|based on|as it|as the)\b.*"
    r"|\s[-\u2013\u2014]\s.*",
    re.IGNORECASE | re.DOTALL,
)
_CONFIDENCE = re.compile(
    r"^\W*(?:(?:my\s+)?(?:confidence|certainty|score)\b.*|\d+(?:[./]\d+)?\s*%?\W*)$", re.IGNORECASE
)
_SHORT = 3
"""Words of a last line that is taken for the answer, whatever was concluded before it."""
_KEYS = ("final_answer", "answer", "conclusion", "label", "prediction")


class _Part(NamedTuple):
    """Sentences that may answer, the one that counts first.

    Attributes:
        sentences: The sentences.
        marked: Whether the text says itself that this is the answer.
    """

    sentences: tuple[str, ...]
    marked: bool


_PLAINER = {ord(k): v for k, v in zip("‘’“”‐‑", "''\"\"--", strict=True)}  # noqa: RUF001


def _cleaned(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).translate(_PLAINER)
    text = re.sub(r"\\(?:text|mathrm|mathbf)\s*\{([^{}]*)\}", r"\1", text)
    boxes = re.findall(r"\\boxed\s*\{([^{}]*)\}", text)
    if boxes:
        text = f"answer: {boxes[-1]}"
    text = re.sub(r"\*+|`+|(?<!\w)_+|_+(?!\w)|^#+\s*", "", text, flags=re.MULTILINE)
    # A question that is quoted is not an answer.
    text = re.sub(r"\"[^\"\n]{0,300}\?\"", "", text)
    lines = [line for line in text.splitlines() if not _CONFIDENCE.match(line.strip())]
    return "\n".join(lines).strip() if lines else text.strip()


def _from_json(text: str) -> str:
    """The answer of a response that is JSON; other text as it is."""
    body = re.sub(r"^\s*```(?:json)?|```\s*$", "", text).strip()
    if body[:1] not in ("{", "["):
        return text
    value: Any
    try:
        value = json.loads(body)
    except ValueError:
        try:  # as Python writes it
            value = json.loads(body.replace("'", '"'))
        except ValueError:
            return text
    if isinstance(value, dict):
        named = [value[key] for key in _KEYS if key in value]
        if not named:
            return ""
        value = named[0]
    if isinstance(value, list):
        value = ", ".join(str(item) for item in value) or "none"
    return f"answer: {value}"


def _part(text: str) -> _Part:
    text = _cleaned(_from_json(text))
    marks = list(_MARKERS.finditer(text))
    marks = [m for m in marks if _STRONG.search(m.group())] or marks[-1:]
    for mark in reversed(marks):
        rest = text[mark.end() :].lstrip(" \t:\n")
        listed = re.match(r"\[([^\]]*)\]", rest)
        first = listed.group(1) if listed else _SENTENCE.split(rest)[0]
        # "Answer:" may also head the steps that lead to it.
        steps = not listed and re.fullmatch(r".*:\s*|\d+[.)]|[-*]", first.strip(), re.DOTALL)
        if re.search(r"\w", first) and not steps:
            return _Part((_without_reason(first),), True)
        if listed:
            return _Part(("none",), True)
    conclusions = list(_THEREFORE.finditer(text))
    short_end = len(re.findall(r"\w+", text.splitlines()[-1])) <= _SHORT if text else False
    if conclusions and not short_end:
        first = _SENTENCE.split(text[conclusions[-1].end() :])[0]
        if re.search(r"\w", first):
            return _Part((_without_reason(first),), True)
    sentences = [s.strip() for s in _SENTENCE.split(text) if s.strip()]
    if not sentences:
        return _Part((), False)
    return _Part(tuple(_without_reason(s) for s in (sentences[0], sentences[-1])), False)


def _without_reason(text: str) -> str:
    inner = re.fullmatch(r"\s*\(([^()]*)\)\W*", text)
    text = inner.group(1) if inner else re.sub(r"\([^()]*\)", " ", text)
    shorter = _REASON.sub("", text, count=1)
    return shorter if re.search(r"\w", shorter) else text


# Words ---------------------------------------------------------------------------------

_FILLER_WORDS = (
    "a an the is are of to at on in and it its answer final option label position direction "
    "side relation relations so therefore be that this both all them"
)
_FILLERS = frozenset(_FILLER_WORDS.split())


def _plain(text: str) -> str:
    """Lower case, without hyphens and doubled spaces."""
    return " ".join(re.sub(r"[-_\s]+", " ", text.casefold()).split())


def _tokens(text: str) -> list[str]:
    low = _plain(text).replace("cannot", "can not")
    low = re.sub(r"\bcan't\b", "can not", low)
    low = re.sub(r"(?<=\w)n't\b", " not", low)
    low = re.sub(r"'s\b", "", low)
    return re.findall(r"[^\W_]+|[,;:.!?/&]", low)


class _Event(NamedTuple):
    """Something in a text that bears on the answer.

    Attributes:
        kind: `label`, `not`, `may`, `or`, `pause`, `stop` or `word`.
        meaning: For a label, what it means.
    """

    kind: str
    meaning: tuple[str, ...] = ()


Lexicon = Mapping[tuple[str, ...], tuple[str, ...]]
"""Words to what they mean."""

_OPERATORS: dict[tuple[str, ...], str] = {
    **{
        tuple(words.split()): "not"
        for words in ("not", "never", "without", "neither", "nor", "rather than", "instead of")
    },
    **{
        tuple(words.split()): "may"
        for words in ("may", "might", "could", "maybe", "perhaps", "possibly", "either")
    },
    ("or",): "or",
    ("/",): "or",
    **{(word,): "stop" for word in ("but", "however", ";", ".", "?", "!")},
    **{(word,): "pause" for word in (",", ":")},
    ("not", "only"): "word",
    ("no",): "not",
}


def _events(tokens: Sequence[str], lexicon: Lexicon) -> list[_Event]:
    """What a text holds, longest phrases first."""
    longest = max(map(len, lexicon), default=1)
    found: list[_Event] = []
    place = 0
    while place < len(tokens):
        for size in range(min(max(longest, 2), len(tokens) - place), 0, -1):
            words = tuple(tokens[place : place + size])
            if words in lexicon:
                found.append(_Event("label", lexicon[words]))
            elif words in _OPERATORS:
                found.append(_Event(_OPERATORS[words]))
            else:
                continue
            place += size
            break
        else:
            if tokens[place] not in _FILLERS and not tokens[place].isdigit():
                found.append(_Event("word", (tokens[place],)))
            place += 1
    return found


def _committed(events: Sequence[_Event], hedged: bool = False) -> list[str] | None:
    """The meanings that a text commits to, in order; None where it offers a choice.

    Args:
        events: What the text holds.
        hedged: Whether "may" and "or" are how this question is answered.
    """
    kept: list[str] = []
    denied = may = False
    last: tuple[str, ...] | None = None
    offered = False
    for event in events:
        if event.kind == "not":
            denied = True
        elif event.kind == "may":
            may = True
        elif event.kind == "or":
            offered = True
        elif event.kind in ("pause", "stop"):
            denied = False
            if event.kind == "stop":
                may, offered, last = False, False, None
        elif event.kind == "label" and not denied and (hedged or not may):
            if offered and not hedged and last is not None and event.meaning != last:
                return None
            offered = False
            kept.extend(event.meaning)
            last = event.meaning
    return kept


def _is_bare(events: Sequence[_Event]) -> bool:
    """Whether a text holds labels and nothing else."""
    return any(e.kind == "label" for e in events) and all(e.kind != "word" for e in events)


def _lexicon(table: Mapping[str, str], also: Mapping[str, tuple[str, ...]] = {}) -> Lexicon:
    """Words by meaning, written as `meaning: a|b c|d`."""
    found = {
        tuple(words.split()): (meaning,)
        for meaning, phrases in table.items()
        for words in phrases.split("|")
    }
    return {**found, **{tuple(words.split()): meaning for words, meaning in also.items()}}


_OPEN = re.compile(
    r"\b(?:can not (?:be )?(?:\w+ )?(?:determined?|known?|tell|told|say|said|inferred|infer|"
    r"concluded?|decided?|established)|(?:not possible|impossible|no way) to (?:\w+ )?(?:determine|"
    r"tell|say|know|infer|conclude|decide|answer)|not (?:enough|sufficient) (?:information|info|"
    r"data|detail|details|evidence)|insufficient (?:information|info|data|detail|evidence)|no "
    r"(?:enough|sufficient) information|(?:do|does|did) not (?:know|say|specify|state|provide|"
    r"mention)|(?:is|are) not (?:specified|stated|given|mentioned|clear|known|determined|"
    r"provided)|not sure|unsure|unknown|unclear|undetermined|undeterminable|indeterminate|"
    r"ambiguous|inconclusive|dk|do n t know|dont know|uncertain)\b"
)
_DECLINED = re.compile(
    r"\b(?:sorry|apologi[sz]e|as an ai|(?:can|will|could) not (?:answer|help|assist|comply|"
    r"provide)|(?:am|are|is) (?:unable|not able) to|refuse|decline to|n / a)\b"
)


def _opening(tokens: Sequence[str]) -> str | None:
    """`declined`, `open`, or None where a text does neither."""
    text = " ".join(tokens)
    if _OPEN.search(text):
        return "open"
    return "declined" if _DECLINED.search(text) else None


def _by_meaning(labels: Iterable[str], lexicon: Lexicon) -> dict[frozenset[str], str]:
    """The labels by what they mean."""
    found: dict[frozenset[str], str] = {}
    for label in labels:
        events = [e for e in _events(_tokens(label), lexicon) if e.kind == "label"]
        meaning = frozenset(m for e in events for m in e.meaning)
        found[meaning or frozenset({_plain(label)})] = label
    return found


def _chosen(part: _Part, lexicon: Lexicon) -> tuple[str, list[_Event]]:
    """The sentence that answers, with its events."""
    for sentence in part.sentences[:-1]:
        events = _events(_tokens(sentence), lexicon)
        if _is_bare(events):
            return sentence, events
    sentence = part.sentences[-1]
    return sentence, _events(_tokens(sentence), lexicon)


# One function for each answer space ----------------------------------------------------

_UP = "above|over|top|upper|up|north|northern|higher|upward|upwards|atop|12 o clock|12 o'clock"
_DOWN = "below|under|beneath|underneath|bottom|lower|down|south|southern|downward|downwards"
_LEFT = "left|west|western|leftward|lefthand|leftmost"
_RIGHT = "right|east|eastern|rightward|righthand"
_DIAGONALS = {
    f"{spelled}": meaning
    for meaning, spellings in {
        ("above", "left"): ("northwest", "nw", "northwestern", "upleft", "topleft", "upperleft"),
        ("above", "right"): ("northeast", "ne", "northeastern", "topright", "upperright"),
        ("below", "left"): ("southwest", "sw", "southwestern", "bottomleft", "lowerleft"),
        ("below", "right"): ("southeast", "se", "southeastern", "bottomright", "lowerright"),
    }.items()
    for spelled in spellings
}
_SAME = (
    "overlap|overlaps|overlapping|overlapped|same position|same location|same place|same spot|"
    "same point|same cell|same coordinates|coincide|coincides|coincident"
)
_DIRECTIONS = _lexicon(
    {"above": _UP, "below": _DOWN, "left": _LEFT, "right": _RIGHT, "same": _SAME},
    {**_DIAGONALS, "right next to": ()},
)
_OPPOSITE = {"above": "below", "below": "above", "left": "right", "right": "left", "same": "same"}


def directions(text: str, space: AnswerSpace, question: str = "") -> Delivered:
    """One of the nine directions: a side, a height, both, or the same place."""
    part = _part(text)
    if not part.sentences:
        return None
    sentence, events = _chosen(part, _DIRECTIONS)
    if _opening(_tokens(sentence)):
        return None
    meanings = _committed(events)
    if not meanings:
        return None
    meaning = frozenset(meanings)
    if {"above", "below"} <= meaning or {"left", "right"} <= meaning:
        return None
    if _turned(sentence, question):
        meaning = frozenset(_OPPOSITE[m] for m in meaning)
    label = _by_meaning(space.labels, _DIRECTIONS).get(meaning)
    return None if label is None else (label,)


def _turned(sentence: str, question: str) -> bool:
    """Whether a sentence places the second thing asked about by the first."""
    asked = re.findall(r"\b(?:agent|object|entity)\s+(\w+)", question)
    if len(asked) != 2 or asked[0] == asked[1]:
        return False
    places = [[m.start() for m in re.finditer(rf"\b{name}\b", sentence)] for name in asked]
    if not all(places):
        return False
    between = sentence[places[1][0] + len(asked[1]) : places[0][0]]
    label_between = any(e.kind == "label" for e in _events(_tokens(between), _DIRECTIONS))
    return places[1][0] < places[0][0] and label_between


_YES = frozenset(["yes", "yeah", "yep", "true", "correct", "affirmative"])
_NO = frozenset(["no", "nope", "false", "incorrect", "untrue", "negative"])


def yes_no(text: str, space: AnswerSpace, question: str = "") -> Delivered:
    """Yes or no, and where the space has it, that it cannot be known."""
    part = _part(text)
    labels = {_plain(label): label for label in space.labels}
    unsure = next((labels[k] for k in ("dk", "don't know", "unknown") if k in labels), None)

    def said(word: str) -> Delivered:
        return (labels[word],) if word in labels else None

    for number, sentence in enumerate(part.sentences):
        tokens = _tokens(sentence)
        words = [t for t in tokens if t.isalpha()]
        if not words:
            continue
        follows = tokens[tokens.index(words[0]) + 1 :][:1]
        ends = not follows or not follows[0].isalpha()
        if words[0] in _YES | _NO and (ends or words[0] in ("yes", "true", "false", "correct")):
            if len(follows) == 1 and follows[0] == "/":
                return None
            if follows == ["or"] or set(words[1:3]) & {"or"}:
                return None
            return said("yes" if words[0] in _YES else "no")
        if number < len(part.sentences) - 1:
            continue
        opening = _opening(tokens)
        if opening is not None:
            return (unsure,) if unsure and opening == "open" else None
        return said(_yes_or_no(tokens))
    return None


def _yes_or_no(tokens: Sequence[str]) -> str:
    """`yes` or `no` where one of them alone is said in a sentence."""
    found: set[str] = set()
    denied = may = False
    for place, token in enumerate(tokens):
        after = tokens[place + 1 : place + 2]
        if token in ("not", "never"):
            denied = True
        elif token in ("may", "might", "could", "maybe", "perhaps", "possibly", "either"):
            may = True
        elif not token.isalpha():
            denied = False
        elif token in _YES or (
            token in _NO and (token != "no" or not (after and after[0].isalpha()))
        ):
            found.add("no" if (token in _NO) != denied else "yes")
    return found.pop() if len(found) == 1 and not may else ""


_ENTAILMENT = _lexicon(
    {
        "entailment": "entailment|entailed|entails|entail|entailing",
        "contradiction": "contradiction|contradicted|contradicts|contradict|contradictory|"
        "contradicting",
        "neutral": "neutral|neutrality",
    }
)


def entailment(text: str, space: AnswerSpace, question: str = "") -> Delivered:
    """Entailment, contradiction or neutral; what cannot be known is neutral."""
    part = _part(text)
    if not part.sentences:
        return None
    labels = _by_meaning(space.labels, _ENTAILMENT)
    sentence, events = _chosen(part, _ENTAILMENT)
    tokens = _tokens(sentence)
    opening = _opening(tokens)
    if opening == "declined":
        return None
    found = set(_committed(events) or ())
    named = {m for e in events if e.kind == "label" for m in e.meaning}
    if not found and "neither" in tokens and {"entailment", "contradiction"} <= named:
        found = {"neutral"}
    if opening == "open":
        found |= {"neutral"}
    label = labels.get(frozenset(found)) if len(found) == 1 else None
    return None if label is None else (label,)


_CONSISTENCY = _lexicon(
    {
        "yes": "yes|satisfiable|consistent|compatible|possible|can all|can hold|can be true",
        "no": "unsatisfiable|inconsistent|incompatible|impossible|contradictory|contradiction|"
        "contradict|unsat",
    }
)


def consistency(text: str, space: AnswerSpace, question: str = "") -> Delivered:
    """Whether statements can hold together: `satisfiable` (yes) or `unsatisfiable` (no)."""
    part = _part(text)
    labels = {_plain(label): label for label in space.labels}
    for number, sentence in enumerate(part.sentences):
        tokens = _tokens(sentence)
        if not tokens:
            continue
        first, after = tokens[0], "".join(tokens[1:2])
        if after not in ("or", "/") and (first == "yes" or (first == "no" and not after.isalpha())):
            return (labels["satisfiable" if first == "yes" else "unsatisfiable"],)
        events = _events(tokens, _CONSISTENCY)
        if number < len(part.sentences) - 1 and not _is_bare(events):
            continue
        if _opening(tokens):
            return None
        found: set[str] = set()
        denied = False
        for event in events:
            if event.kind in ("may", "or"):
                return None
            if event.kind in ("pause", "stop"):
                denied = False
            elif event.kind == "not":
                denied = True
            elif event.kind == "label":
                found.add("no" if (event.meaning == ("no",)) != denied else "yes")
        if not found and re.search(r"\bcan not (?:all |both )?(?:be|hold)\b", " ".join(tokens)):
            found = {"no"}
        if len(found) != 1:
            return None
        return (labels["satisfiable" if found == {"yes"} else "unsatisfiable"],)
    return None


_RELATIONS = _lexicon(
    {
        "above": _UP,
        "below": _DOWN,
        "left": _LEFT,
        "right": _RIGHT,
        "same": f"{_SAME}|eq|equal|equals|identical",
        "behind": "behind|back of",
        "front": "front|ahead",
        "near": "near|near to|close|close to|nearby|next to|nearer",
        "far": "far|far from|far away|farther|distant|further",
        "ec": "ec|externally connected|outside and touching|touching|touch|touches|in contact",
        "dc": "dc|disconnected|outside|disjoint",
        "po": "po|partially overlapping|partially overlap|partially overlaps|partial overlap",
        "tpp": "tpp|inside and touching|covered by|tangential proper part",
        "ntpp": "ntpp|inside|within|contained in|contained by|non tangential proper part",
        "tppi": "tppi|contains and touches|contains and touching|covers|covering|"
        "tangential proper part inverse|tpp 1",
        "ntppi": "ntppi|contains|contain|containing|non tangential proper part inverse|ntpp 1",
    },
    {**_DIAGONALS, "right next to": ("near",), "right edge": (), "left edge": ()},
)


def relations(text: str, space: AnswerSpace, question: str = "") -> Delivered:
    """The relations that hold, as a set, or the one that does.

    Names of a space are understood whichever spelling of the benchmarks it has: RCC-8
    codes, SpaRP's words or SpartQA's; "touching" is external contact. Where don't-know is
    a label, what cannot be known is that label, and it never stands beside others.
    """
    part = _part(text)
    if not part.sentences:
        return None
    sentence, events = _chosen(part, _RELATIONS)
    labels = {
        meaning: label
        for meanings, label in _by_meaning(space.labels, _RELATIONS).items()
        for meaning in (meanings if len(meanings) == 1 else ("+".join(sorted(meanings)),))
    }
    unsure = next((x for x in space.labels if _plain(x) in ("dk", "don't know")), None)
    found = [m for m in _committed(events) or () if m in labels]
    opening = _opening(_tokens(sentence))
    if opening is not None:
        return (unsure,) if unsure and opening == "open" and not found else None
    return _one_or_all([labels[m] for m in found], space)


def _one_or_all(found: Collection[str], space: AnswerSpace) -> Delivered:
    """Labels in the space's order; None for none, and for several where one is asked."""
    kept = tuple(label for label in space.labels if label in found)
    return kept if kept and (space.kind != "single" or len(kept) == 1) else None


_TILES = {
    "N": "north|northern",
    "S": "south",
    "E": "east",
    "W": "west",
    "NE": "northeast|north east",
    "NW": "northwest|north west",
    "SE": "southeast|south east",
    "SW": "southwest|south west",
    "B": "bounding box|same tile|central tile",
}


def composition(text: str, space: AnswerSpace, question: str = "") -> Delivered:
    """The relations that are possible: here "may" and "or" are part of an answer."""
    part = _part(text)
    if not part.sentences:
        return None
    sentence = re.sub(
        r"(?i)\b(n?tpp)\s*(?:\^\s*\{?\s*-\s*1\s*\}?|⁻¹|-1)", r"\1i", part.sentences[-1]
    )
    tokens = _tokens(sentence)
    opening = _opening(tokens)
    if opening is not None:
        return None
    text_low = " ".join(tokens)
    names = {label.casefold() for label in space.labels}
    if re.search(r"\b(?:all|any)(?: of)?(?: the)? (?:\w+ )?relations?\b", text_low) and not (
        names & set(tokens)
    ):
        return space.labels
    if "ntpp" in names:
        lexicon = _lexicon({"eq": "equal|identical"}, dict(_rcc8()))
        events = _events(tokens, lexicon)
    else:
        # Tiles are capitals: "b is north of c" names no tile B.
        words = _lexicon(_TILES)
        capitals = re.findall(r"\b[A-Z]{1,2}\b", sentence)
        if any(c in space.labels for c in capitals):
            return _one_or_all([c for c in capitals if c in space.labels], space)
        events = _events(tokens, words)
    found = _committed(events, hedged=True) or ()
    by_name = {_plain(label): label for label in space.labels}
    return _one_or_all([by_name[_plain(m)] for m in found if _plain(m) in by_name], space)


def _rcc8() -> Iterable[tuple[str, tuple[str, ...]]]:
    wanted = {"dc", "ec", "po", "tpp", "ntpp", "tppi", "ntppi"}
    for words, meaning in _RELATIONS.items():
        if meaning and meaning[0] in wanted:
            yield " ".join(words), meaning
    yield "eq", ("eq",)


def blocks(text: str, space: AnswerSpace, question: str = "") -> Delivered:
    """The blocks that a question is true of, by name; "none" is the empty answer."""
    part = _part(text)
    if not part.sentences:
        return None
    for number, sentence in enumerate(part.sentences):
        tokens = _tokens(sentence)
        known = {label.casefold(): label for label in space.labels}
        bare = all(
            t in known or not t.isalpha() or t in ("and", "block", "blocks", "or") for t in tokens
        )
        if number < len(part.sentences) - 1 and not (bare and tokens):
            continue
        opening = _opening(tokens)
        if opening is not None:
            return None
        if bare:
            lexicon: Lexicon = {(low,): (label,) for low, label in known.items()}
            found = _committed(_events(_kept(tokens), lexicon))
        else:
            found = _committed(_block_events(sentence, space.labels))
        if found is None:
            return None
        if found:
            return _one_or_all(found, space)
        text_low = " ".join(tokens)
        if re.search(r"\b(?:none|no blocks?|neither|nothing|no such block|empty)\b", text_low):
            return ()
        if re.search(r"\b(?:all|both|every|each)\b(?: \w+){0,3} blocks?\b|^all\b", text_low):
            return space.labels
    return None


def _kept(tokens: Iterable[str]) -> list[str]:
    return [t for t in tokens if t not in ("block", "blocks", "and")]


def _block_events(sentence: str, labels: Collection[str]) -> list[_Event]:
    """Names of blocks in running text, where a capital A may be an article."""
    events: list[_Event] = []
    words = re.findall(r"[\w']+|[,;:.!?/]", sentence)
    for place, word in enumerate(words):
        before = words[place - 1].casefold() if place else ""
        after = words[place + 1] if place + 1 < len(words) else ""
        named = before in ("block", "blocks", "box", "boxes", "and", "or", ",", "in", "is")
        article = word == "A" and not named and after.islower() and after not in ("and", "or", "is")
        if word in labels and not article:
            events.append(_Event("label", (word,)))
        elif word.casefold() == "no" and after.islower():
            events.append(_Event("word", ("no",)))
        else:
            low = _tokens(word) or [word]
            events.extend(_Event(_OPERATORS.get((t,), "word"), (t,)) for t in low)
    return events


_MOVES = {"n": "north", "s": "south", "e": "east", "w": "west"}


def moves(text: str, space: AnswerSpace, question: str = "") -> Delivered:
    """Moves in order, as words or as letters between commas."""
    part = _part(text)
    if not part.sentences:
        return None
    sentence = part.sentences[0] if part.marked else part.sentences[-1]
    tokens = _tokens(re.sub(r"->|→|=>|>", ",", sentence))
    if _opening(tokens) or "or" in tokens:
        return None
    letters = {_plain(label): label for label in space.labels}
    plain = [t for t in tokens if t not in ("then", "and", ",", ".", ";", ":", "go")]
    if plain and all(t in letters for t in plain):
        return tuple(letters[t] for t in plain)
    lexicon = _lexicon(_MOVES)
    found = _committed(_events(tokens, lexicon))
    return tuple(letters[m] for m in found) if found else None


_ARTICLES = re.compile(r"\b(?:a|an|the|that|which)\b\s*")


def choice(text: str, space: AnswerSpace, question: str = "") -> Delivered:
    """One of the options that the question itself gives, by its own words."""
    part = _part(text)
    if not part.sentences:
        return None
    sentence = part.sentences[0] if part.marked else part.sentences[-1]
    tokens = _tokens(sentence)
    if _opening(tokens):
        return None
    plain = {label: _option(label) for label in space.labels}
    both = next((x for x in space.labels if plain[x].startswith("both")), None)
    none = next((x for x in space.labels if plain[x].startswith(("none", "neither"))), None)
    lexicon: dict[tuple[str, ...], tuple[str, ...]] = {
        tuple(words.split()): (label,) for label, words in plain.items() if words
    }
    for label, words in (
        *((both, w) for w in ("both", "both of them", "both objects", "both of these")),
        *((none, w) for w in ("none", "none of them", "neither", "neither of them", "neither one")),
    ):
        if label is not None:
            lexicon[tuple(words.split())] = (label,)
    events = _events(_option(" ".join(tokens)).split(), lexicon)
    found = _committed(events)
    if found is None:
        return None
    distinct = list(dict.fromkeys(found))
    options = [label for label in distinct if label not in (both, none)]
    if both in distinct and none not in distinct:
        return (both,) if both is not None else None
    if none in distinct:
        return (none,) if none is not None and (distinct[0] == none or not options) else None
    if len(options) == 2 and both is not None:
        return (both,)
    return (options[0],) if len(options) == 1 else None


def _option(label: str) -> str:
    """An option without articles, with its numbers as digits."""
    words = " ".join(_tokens(label))
    words = _ARTICLES.sub("", words)
    for number, word in enumerate(("one", "two", "three", "four", "five", "six"), start=1):
        words = re.sub(rf"\bnumber {word}\b", f"number {number}", words)
    return words


MATCHERS: dict[str, Callable[[str, AnswerSpace, str], Delivered]] = {
    "directions": directions,
    "yes-no": yes_no,
    "entailment": entailment,
    "consistency": consistency,
    "relations": relations,
    "composition": composition,
    "blocks": blocks,
    "moves": moves,
    "choice": choice,
}
"""The functions by the names of their answer spaces."""
