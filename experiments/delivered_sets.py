"""The set of relations that a response delivers as its answer.

A response names relations all along; delivered is what it commits to at its end. It is
looked for in this order: a box, what follows "answer", the last sentence or list that
says which relations are possible, the last one that concludes at all. In it, labels count
that are not denied, not given in explanation, and said of x and z.

The rules were fixed on the half of the ids whose first SHA-256 byte is even. Of 60 sets of
the other half (`--sample 60`), judged by eye, 59 were right and one was doubtful. Reading
the rows there that differ from the source's own heuristic, and tests with responses of our
own, then showed 23 faults among all 2,326 answers (twelve took TPP(z,x) for TPP(x,z)). They
were mended; since then neither half is unseen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Row = dict[str, Any]


class Mention(NamedTuple):
    """A label in a text: offsets, and the label as the answer space spells it."""

    start: int
    end: int
    label: str


Mentions = tuple[int, list[Mention]]
"""How indirect the naming is (0 is the calculus' own way), and the mentions."""


@dataclass(frozen=True)
class Calculus:
    """How responses about a calculus name its relations.

    Attributes:
        space: The labels.
        directions: Those that "all eight" means.
        mentions: Finds them in a text.
    """

    space: frozenset[str]
    directions: frozenset[str]
    mentions: Callable[[str], Mentions]

    def labels(self, text: str) -> frozenset[str]:
        """All labels that a text mentions."""
        return frozenset(mention.label for mention in self.mentions(text)[1])


_RCC8 = re.compile(
    r"(?<![A-Za-z])(?P<name>N?TPP|DC|EC|PO|EQ)(?P<inverse>[iI]|\^\{?-1\}?|⁻¹|-1)?(?![A-Za-z])"
    r"(?:\s*\[(?P<first>[xyz]),(?P<second>[xyz])\])?"
)


def _rcc8_mentions(text: str) -> Mentions:
    """Names of RCC-8; `TPP[z,x]` says `TPPi[x,z]`, and other pairs are premises."""
    found = []
    for match in _RCC8.finditer(text):
        name, inverse = match["name"], bool(match["inverse"])
        pair = match["first"], match["second"]
        if pair == ("z", "x"):
            inverse = not inverse
        elif pair not in ((None, None), ("x", "z")):
            continue
        if name.endswith("TPP") and inverse:
            name += "i"
        found.append(Mention(match.start(), match.end(), name))
    return 0, found


_TILE = r"NE|NW|SE|SW|N|S|E|W|B"
_TILES_TOGETHER = re.compile(rf"\b(?:{_TILE})(?::(?:{_TILE})\b)+")
_OF_A_PAIR = re.compile(
    r"\b([xyzab])\"?\s+(?:is |lies |being |must be |directly |could be |can be )*(?:to )?(?:the )?"
    rf"\"?(?:{_TILE}|north(?:east|west)?|south(?:east|west)?|east|west|bounding box)\"?"
    r"(?:\s+of)?(?: region)?\s+([xyzab])\b",
    re.IGNORECASE,
)
_ABBREVIATED = re.compile(rf"(?<![\w'-])({_TILE})(?![\w']|-[A-Za-z])")
_CAPITALISED = re.compile(
    r"(?<![\w-])((?:North|South)(?:[Ee]ast|[Ww]est)?|East|West|Bounding [Bb]ox)(?!\w|-[A-Za-z])"
)
_IN_WORDS = re.compile(
    r"(?<![\w-])((?:north|south)(?:east|west)?|east|west|bounding box)(?!\w|-[A-Za-z])"
)
_INDIRECT = 2
"""The rank of naming a relation in lower case."""

_TILE_WORDS = {
    "north": "N",
    "northeast": "NE",
    "east": "E",
    "southeast": "SE",
    "south": "S",
    "southwest": "SW",
    "west": "W",
    "northwest": "NW",
    "bounding box": "B",
}


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _tile_mentions(text: str, ways: Sequence[re.Pattern[str]]) -> Mentions:
    """Tiles, named in the first of some ways that occurs; several tiles together are none of
    the answer space, and tiles of a pair other than x and z are premises.
    """
    text = _TILES_TOGETHER.sub(_blank, text)
    text = _OF_A_PAIR.sub(
        lambda m: m[0] if (m[1].lower(), m[2].lower()) == ("x", "z") else _blank(m), text
    )
    for rank, way in enumerate(ways):
        found = [
            Mention(m.start(), m.end(), _TILE_WORDS.get(m[1].lower(), m[1]))
            for m in way.finditer(text)
        ]
        if found:
            return rank, found
    return len(ways), []


_RCC8_LABELS = frozenset(("DC", "EC", "PO", "TPP", "NTPP", "TPPi", "NTPPi", "EQ"))
_TILE_LABELS = frozenset(_TILE_WORDS.values())


def calculus_of(row: Row) -> Calculus:
    """How a row's response names relations: by abbreviation where the prompt defines them,
    else in words.
    """
    if row["meta"]["calculus"] == "rcc8":
        return Calculus(_RCC8_LABELS, _RCC8_LABELS, _rcc8_mentions)
    ways = [_ABBREVIATED, _CAPITALISED, _IN_WORDS]
    if not with_definitions(row):
        ways = [_CAPITALISED, _ABBREVIATED, _IN_WORDS]
    return Calculus(_TILE_LABELS, _TILE_LABELS - {"B"}, lambda text: _tile_mentions(text, ways))


def with_definitions(row: Row) -> bool:
    """Whether the prompt defines the relations."""
    return "no formal definitions" not in row["prompt_style"]


_LAYOUT = (
    (r"<\|im_end\|>", ""),
    (r"[\u2010-\u2015\u2212]", "-"),
    (r"\u2019", "'"),
    (r"[\u00a0\u2000-\u200b\u202f\u2060]", " "),
    (r"\\(?:text|mathbf|mathrm|textbf|mathit|mathsf|operatorname|emph)\s*\{([^{}]*)\}", r"\1"),
    (r"\\(?:boxed|fbox)\s*\{((?:[^{}]|\{[^{}]*\})*)\}", r"⟦\1⟧"),
    (r"\\(?:right|to|implies|R)\w*", "→"),
    (r"\\quad|\\qquad|\\[,;:! ]|~", " "),
    (r"\\[()\[\]]|\$+", ""),
    (r"\\([{}_&%#])", r"\1"),
    (r"\b((?:inf|sup)\w*) ?\(([a-zA-Z])\)", r"\1\2"),
    (r"\(\s*([xyz])\s*,\s*([xyz])\s*\)", r"[\1,\2]"),
    (r"(?m)^(\s*)[*+•▪◦·](?=\s)", r"\1-"),
    (r"\*+|`+|(?<!\w)_+|_+(?!\w)", ""),
    (r"(?i)\b(north|south)[ -]+(east|west)(?:ern)?\b", r"\1\2"),
    (r"\be\.g\.,?|\bi\.e\.,?|\betc\.(?!\s+[A-Z])", ""),
)
"""Markdown, LaTeX and typography, and what stands for them in plain text. ⟦⟧ is a box, []
holds a relation's arguments, so that () is left for asides.
"""

_DENIAL = re.compile(
    r"impossib|not (?:be )?possible|not \w+ possible|cannot|can't|can not|could not|"
    r"\brul(?:ed|es|ing|e)\b|exclud|violat|contradict|inconsisten|incompatib|\bno other\b|"
    r"none of|\bnot\b|\bnever\b|forbid|invalid|eliminat|\bfail|\bneither\b|\bno\b|requir|"
    r"\bwithout\b|preclud|prevent|rather than",
    re.IGNORECASE,
)
_PLAIN_DENIAL = re.compile(
    r"impossib|not possible|n't possible|\bnot\b|ruled out|cannot|can't|excluded|contradict|"
    r"violat|\bno\b(?! other)",
    re.IGNORECASE,
)
_NO_DENIAL = re.compile(
    r"(?:do(?:es)? not|don't|not|without|no) "
    r"(?:lead(?:ing)? to |creat\w+ |caus\w+ |produc\w+ )?(?:any |a )?"
    r"(?:contradict\w*|conflict\w*|inconsisten\w*|ruled out|excluded|eliminated|violat\w*)"
    r"[^,.;]*|not only|(?:not|isn't|aren't) (?:\w+ )?(?:constrain\w*|determine\w*|fix\w*)|"
    r"(?:and )?no others\b|no (?:further|additional|other) (?:\w+ )?constraints?|"
    r"whether or not|not necessarily|no further",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:all|any|each|every|any one)\b(?: one)?(?: of)?(?: the| these| those)?"
    r"(?P<which>(?: (?:nine|9|eight|8|possible|single-tile|single|tile|cardinal(?:-box|-direction)?"
    r"|basic|atomic|direction(?:al)?|RCC-8|other|listed|of|the))*) "
    r"(?:relations?|relationships?|directions?|ways|possibilities|configurations|RCC-8|tiles|"
    r"orientations|options)",
    re.IGNORECASE,
)
_AND_BOX = re.compile(
    r"directions?,? (?:and|including|plus|as well as) (?:the )?\"?bounding box", re.IGNORECASE
)
_EXCEPT = re.compile(r"\b(?:except|excluding|other than|apart from|but not|save)\b", re.IGNORECASE)
_REASON = re.compile(r"\b(?:because|since|due to)\b|⇒|=>", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:as long as|so that|given (?:that|x)|depending on|when|if)\b", re.IGNORECASE
)
_CLAUSE = re.compile(
    r"(?=;|, but\b|\bbut not\b|\bwhile\b|\bwhereas\b|\band no\b|, with no\b|, not\b|\band not\b|"
    r"\brather than\b|, which\b|\bexcluding\b)",
    re.IGNORECASE,
)
_OPENING_CLAUSE = re.compile(
    r"\s*(?:because|since|as|if|when|given)\b.*?,\s+(?=(?:then )?(?:(?:region )?x "
    r"(?:can|could|may|must|is|will|would)\b|(?:the )?(?:only|possible)\b))",
    re.IGNORECASE,
)
_EXPLAINS = re.compile(r"because|reason|\bwhy\b|expla", re.IGNORECASE)
_DENYING_ASIDE = re.compile(r"\(\s*(?:impossible|not|no|never|ruled out|excluded)\b", re.IGNORECASE)
_ASIDE = re.compile(r"\((?!\s*(?:making|giving|yielding|so |thus |hence |→))[^()]*\)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"“A-Z(])")
_ITEM = re.compile(r"(\s*)(?:-|\(?\d+[.)]|\(?[a-zivx]+\))\s+")
_ITEM_RESULT = re.compile(r"(?:\bgiving\b|\bmaking\b|\byielding\b|\byields\b|→|->)(.*)$", re.DOTALL)
_ITEM_IF = re.compile(r"if\b.*?(?:\bthen\b|:|,)(.*)$", re.IGNORECASE | re.DOTALL)
_ITEM_REST = re.compile(
    r"[:(]|\bif\b|\bwhen\b|\bbecause\b| - |\bwhere\b|\bas\b|\bwhile\b|\bdue\b|\bsince\b"
)
_ITEM_DEFINES = re.compile(r"\W*[\w ]+ means\b")
_ITEM_CONCLUDES = re.compile(r"possible (?:\w+ )?relation|Therefore|Thus|Hence|only possible")
_JOINING = re.compile(
    rf"\b(?:or|and|of|x|z|is|region|either|{_TILE})\b|[\s,.;:{{}}()\[\]'\"“”#|-]", re.IGNORECASE
)
_ANSWER = re.compile(
    r"(?im)^\W*(?:the )?(?:final |correct )*answer\W*$|\banswers?\s*(?:is|are)?\s*:|"
    r"\banswers? (?:is|are)\b"
)
_ANNOUNCES = re.compile(
    r"possib(?:le|ilities)\b|only (?:\w+[- ]){0,4}(?:relation|option|direction|single|ones|way)|"
    r"(?:relation|direction|relationship)s?\b(?: \w+)* "
    r"(?:is|are|can be|could be|include|remain|hold|would be|will be)\b|can only be|"
    r"following (?:\w+ )?(?:position|relation|direction)|are (?:exactly|precisely)|"
    r"remaining (?:\w+ )*(?:are|is)\b|conclu",
    re.IGNORECASE,
)
_COMMENTS = re.compile(r"(?:These|Those|This|Each|Such)\b")
_INTENDS = re.compile(r"\b(?:need|have|want) to (?:determine|find|identify|analy[sz]e)\b")
_CONCLUDES = re.compile(
    r"\b(?:hence|therefore|thus|so|consequently|conclu\w+|exactly|precisely|satisf\w+|match\w*|is|"
    r"making|ways?|following|either|can|could|may|must|depends?|var(?:y|ies)|cases?|scenarios?|"
    r"remaining|all)\b",
    re.IGNORECASE,
)


class Unit(NamedTuple):
    """A sentence, or an item of a list, with the width of its indentation."""

    text: str
    item: bool
    indent: int = 0


def _units(text: str) -> list[Unit]:
    """A text's sentences and list items; an indented line goes on with the item before it."""
    found: list[Unit] = []
    fresh = True
    for line in text.split("\n"):
        if not line.strip():
            fresh = True
            continue
        if line.strip(" ,;") in ("or", "and"):
            continue
        marker = _ITEM.match(line)
        if marker is not None:
            found.append(Unit(line[marker.end() :], True, len(marker[1])))
        elif found and found[-1].item and line.startswith("  ") and not fresh:
            found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{line}")
        else:
            found += [Unit(s, False) for s in _SENTENCE_END.split(line.strip())]
        fresh = False
    return found


class Delivery:
    """Reads the set of relations that a response delivers.

    Args:
        calculus: How the response names relations.
    """

    def __init__(self, calculus: Calculus) -> None:
        self._calculus = calculus

    def read(self, response: str) -> frozenset[str] | None:
        """The delivered set; None where none is found."""
        text = response
        for pattern, replacement in _LAYOUT:
            text = re.sub(pattern, replacement, text)
        found = self._boxed(text)
        text = text.replace("⟦", "").replace("⟧", "")
        found = found or self._after_mark(text)
        found = found or self._concluded(_units(text), announced=True)
        return found or self._concluded(_units(text), announced=False) or None

    def _boxed(self, text: str) -> frozenset[str]:
        """The last boxes, where nothing but joining words stands between them."""
        boxes = list(re.finditer(r"⟦([^⟦⟧]*)⟧", text))
        last: list[str] = []
        following = len(text)
        for box in reversed(boxes):
            between = text[box.end() : following]
            if last and re.sub(r"\b(?:and|or)\b|[\s,.;]", "", between):
                break
            last.append(box[1])
            following = box.start()
        return self._union(map(self._calculus.labels, last)) or self._union(map(self._stated, last))

    def _after_mark(self, text: str) -> frozenset[str]:
        """What follows the last "answer" that relations follow."""
        for mark in reversed(list(_ANSWER.finditer(text))):
            tail = text[mark.end() :]
            line = re.split(r"(?<=[a-zA-Z)])\. ", tail.split("\n")[0])[0]
            found = self._stated(line) or self._first(_units(tail))
            if found:
                return found
        return frozenset()

    def _first(self, units: Sequence[Unit]) -> frozenset[str]:
        """The first list or sentence, near the start, that states relations."""
        for n, unit in enumerate(units[:5]):
            if self._listing(unit):
                end = n
                while end < len(units) and self._listing(units[end]):
                    end += 1
                return self._listed(units[n:end])
            if found := self._stated(unit.text):
                return found
        return frozenset()

    def _concluded(self, units: Sequence[Unit], announced: bool) -> frozenset[str]:
        """The last list or sentence that says what is possible, or that concludes at all."""
        opening = _ANNOUNCES if announced else _CONCLUDES
        last = len(units)
        while last:
            unit = units[last - 1]
            if self._listing(unit):
                first = last - 1
                while first and self._listing(units[first - 1]):
                    first -= 1
                intro = units[first - 1].text if first else ""
                found = self._list_after(intro, units[first:last], announced)
                last = first
            else:
                last -= 1
                found = frozenset()
                skipped = _INTENDS.search(unit.text) or (announced and _COMMENTS.match(unit.text))
                if opening.search(unit.text) and not skipped:
                    found = self._stated(unit.text, indirect=not announced)
            if found:
                return found
        return frozenset()

    def _list_after(self, intro: str, listed: Sequence[Unit], announced: bool) -> frozenset[str]:
        """The relations of a list, where its introduction opens it."""
        denied = _PLAIN_DENIAL.search(_NO_DENIAL.sub(" ", _ASIDE.sub(" ", intro)))
        opens = _ANNOUNCES.search(intro)
        if not announced:
            opens = opens or _CONCLUDES.search(intro) or re.search(r":\s*$", intro)
        # After a full sentence that states relations itself, a list explains.
        explains = _EXPLAINS.search(intro) or (intro.rstrip().endswith(".") and self._stated(intro))
        bare = not any(unit.item for unit in listed)
        if bare or (opens and not denied and not explains):
            found = self._listed(listed)
            if found:
                return found
        for unit in reversed(listed):
            if unit.item and _ITEM_CONCLUDES.search(unit.text):
                found = self._stated(unit.text, indirect=not announced)
                if found:
                    return found
        return frozenset()

    def _listing(self, unit: Unit) -> bool:
        """Whether a unit is an item, or labels and nothing else but asides."""
        if unit.item:
            return True
        rest = re.sub(r"\([^()]*\)", " ", unit.text)
        mentions = self._calculus.mentions(rest)[1]
        for mention in reversed(mentions):
            rest = rest[: mention.start] + rest[mention.end :]
        rest = _JOINING.sub("", re.sub("bounding box", "", rest, flags=re.IGNORECASE))
        return bool(mentions) and not rest

    def _listed(self, units: Sequence[Unit]) -> frozenset[str]:
        """The relations of a list; sub-items count where their item has none."""
        shallow = min(unit.indent for unit in units)
        found: frozenset[str] = frozenset()
        parent: frozenset[str] = frozenset()
        for unit in units:
            if not unit.item:
                found |= self._calculus.labels(unit.text)
            elif unit.indent == shallow:
                parent = self._item(unit.text)
                found |= parent
            elif not parent:
                found |= self._item(unit.text)
        return found

    def _item(self, text: str) -> frozenset[str]:
        """The relation of a list item: what its case gives, else what it opens with."""
        if _ITEM_DEFINES.match(text):
            return frozenset()
        outside = _ASIDE.sub(" ", re.split(r"\bbut\b", text)[0])
        if _PLAIN_DENIAL.search(_NO_DENIAL.sub(" ", outside)) or _DENYING_ASIDE.search(text):
            return frozenset()
        conditional = text.lower().startswith("if")
        result = _ITEM_RESULT.search(text) or _ITEM_IF.match(text)
        if result and (mentions := self._calculus.mentions(result[1])[1]):
            return frozenset(m.label for m in mentions[: 1 if conditional else None])
        rank, opening = self._calculus.mentions(_ITEM_REST.split(text)[0])
        best, mentions = self._calculus.mentions(text)
        if not opening or best < rank:
            opening = mentions[:1]
        return frozenset(mention.label for mention in opening)

    def _stated(self, sentence: str, indirect: bool = True) -> frozenset[str]:
        """The relations that a sentence says to be possible.

        Args:
            sentence: The sentence.
            indirect: Whether names in lower case count, which describe more than they name.
        """
        text = self._assertion(sentence)
        every_one, but = _ALL.search(text), _EXCEPT.search(text)
        if every_one and but and but.start() > every_one.start():
            gone = self._calculus.labels(text[but.end() :])
            if gone and not self._calculus.labels(text[: but.start()]):
                return self._calculus.space - gone
        found: frozenset[str] = frozenset()
        for clause in _CLAUSE.split(text):
            every_one = _ALL.search(clause)
            outside = _ASIDE.sub(_blank, clause)
            if _DENIAL.search(outside):
                continue
            if every_one and _AND_BOX.search(clause):
                return self._calculus.space
            rank, mentions = self._calculus.mentions(outside)
            best, inside = self._calculus.mentions(clause)
            if not mentions or best < rank:
                rank, mentions = best, inside
            if mentions and (indirect or rank < _INDIRECT):
                found |= {mention.label for mention in mentions}
            elif every_one and "other" not in every_one["which"]:
                eight = re.search(r"eight|\b8\b", every_one["which"])
                return self._calculus.directions if eight else self._calculus.space
        return found

    def _assertion(self, sentence: str) -> str:
        """A sentence without its reasons and conditions, and without phrases that only look
        like denials.
        """
        text = _OPENING_CLAUSE.sub("", _NO_DENIAL.sub(" ", sentence))
        outside = _ASIDE.sub(_blank, text)
        reason = _REASON.search(outside)
        if reason and re.search(r"\w", text[: reason.start()]):
            text = text[: reason.start()]
        condition = _CONDITION.search(outside)
        if condition:
            head = text[: condition.start()]
            if self._calculus.labels(head) or _ALL.search(head):
                text = head
        return text

    @staticmethod
    def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
        return frozenset().union(*sets)
