"""Prepare text for the parser: replace names and expressions by single words that the parser tags
correctly.

A trained parser misreads single letters ("A" as a determiner), sides ("is left of" as a passive)
and labels ("Box 14"). Therefore every expression for a relation is replaced by a single word that
the parser always tags as a preposition or a noun. Every label is replaced by a first name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import cycle, pairwise
from string import ascii_uppercase
from typing import Any, NamedTuple

from symbouq.ontology.tables import Ontology
from symbouq.reading.stems import singular_of, stems
from symbouq.reading.syntax.amounts import Amount
from symbouq.reading.syntax.names import Name, Names, by_first, looks_like_verb
from symbouq.reading.syntax.positions import Axes, Places, Positions

STAND_INS = ("Anna", "Bob", "Carol", "Dave", "Emma", "Frank", "Grace", "Henry", "Kate", "Paul")
"""First names shown in place of labels."""

STANDARD_NOUNS = ("table", "bottle", "basket", "piano", "candle", "ladder", "bucket", "carpet")
"""Nouns shown in place of names with an article."""

SHOWN = {
    "preposition": "at",
    "reference": "at",
    "side": "side",
    "between": "border",
    "noun": "container",
    "pairing": "distance",
    "order": "orderly",
    "mutual": "adjacent",
    "term": "Smith",
    "locative": "where",
    "stretch": "they",
    "effort": "ages",
    "position": "here",
}
"""Words shown in place of expressions, by category."""

_ADJECTIVE = "blue"
"""The word shown in place of a side that identifies a thing: "the RIGHT-HAND one"."""

_SUPPOSING = "Suppose"
"""The word shown in place of a verb of supposing at the start of a sentence."""

_STAYING = "kept"
"""The word shown in place of "left" if a thing was left somewhere."""

_EXTREME = "highest"
"""The word shown in place of "leftmost" and similar words."""

_AMBIGUOUS = frozenset(("mutual", "between", "noun", "pairing"))
"""Categories with single words that are shown unchanged, since these may be verbs or names."""


class Word(NamedTuple):
    """A word as shown to the parser.

    Attributes:
        text: The text that it stands for.
        shown: The text shown to the parser.
        start: Character offset in the sentence.
        end: Character offset of its end.
        category: The way in which it expresses relations; empty if it does not.
        relations: The relations that it expresses together.
        label: Whether it is a name on its own.
        measure: Whether it is part of a measure.
        denied: Whether the word is denied by contrast: "rather than INSIDE".
        places: The places that it states: "row 3", "leftmost".
        amounts: The amounts of its relations. For the unit of a measure, this is the measure.
        left_out: The contrast after this word that is not shown to the parser: "the heron, NOT THE
            STORK, stands there".
        vague: Whether its amount is not read: "about 3 m left of", "40 metres from".
    """

    text: str
    shown: str
    start: int
    end: int
    category: str = ""
    relations: tuple[str, ...] = ()
    label: bool = False
    measure: bool = False
    denied: bool = False
    places: Places = ()
    amounts: tuple[Amount, ...] = ()
    vague: bool = False
    left_out: str = ""

    def spelled(self, letters: Mapping[int, str]) -> Word:
        """Return the word with replaced letter names.

        Args:
            letters: Maps the code point of each letter used as a name to its replacement.
        """
        if not (_LONE_LETTER.search(self.text) or _LONE_LETTER.search(self.left_out)):
            return self
        text, shown, left_out = (
            _LONE_LETTER.sub(lambda found: found.group().translate(letters), told)
            for told in (self.text, self.shown, self.left_out)
        )
        return self._replace(text=text, shown=shown, left_out=left_out)

    @property
    def open(self) -> bool:
        """Whether the word leaves open which of its relations holds: "left or right of"."""
        return self.category in ("preposition", "side", "mutual") and not self.relations


class Piece(NamedTuple):
    """A token of a text.

    Attributes:
        text: Its text.
        start: Its character offset.
        relation: The relation that it stands for in a formula.
        argument: Whether it is an argument in a formula.
    """

    text: str
    start: int
    relation: str = ""
    argument: bool = False


_LONE_LETTER = re.compile(r"(?<![^\W_])[A-Z](?![^\W_]|['\u2019])")
"""A letter on its own, which may be a name."""
_WORDS_AND_HYPHENS = re.compile(r"[A-Za-z]+|-")
_DIRECTIONS = ("R", "S")
"""Letters that stand for direction words in a notation."""
_REMEMBERED = 8_000
"""Maximum number of prepared sentences in the cache."""

_TERM = re.compile(
    r"(?<![A-Za-z])(?P<name>[A-Za-z][A-Za-z_]{0,40})"
    r"(?P<inverse>\^? ?\{?-1\}?|\u207b\u00b9)?(?: (?<=[A-Zi1] ))?"
    r"\(\s*(?:[Tt]he )?(?P<figure>\w+)\s*,\s*(?:the )?(?P<ground>\w+)\s*\)"
)
"""A relation written as a formula: "DC(x,y)", or "EC (x,y)" with a space in place of a LaTeX brace.
"""


_IDENTIFIER = re.compile(r"(?<![\w-])[^\W_]+(?:[_-]+[^\W_]+)+(?:\.[a-z]{2,4}(?!\w))?(?![\w-])")
"""A name with joined parts: "bed_room_1", "server-rack-2", "img_1.png"."""
_NUMBERED = re.compile(
    r"(?<![\w-])([^\W\d_]{2,}) ?[(\[](\d{1,3}|[A-Za-z]|[a-z]+(?: [a-z]+)?)[)\]](?!\w)(?= ?(\w*))"
)
"""A noun with a number or description in brackets, "cube (2)", and the word after the brackets."""


_UNNAMED = (
    *("article", "condition", "supposition", "doubtful", "inferring", "negation", "temporal"),
    "putting",
)
"""Classes of words that may begin a clause but not a name."""


class _Item(NamedTuple):
    """Successive tokens with a common code letter. The patterns for compound expressions are
    matched against these codes.
    """

    code: str
    first: int
    last: int
    relation: str = ""
    category: str = ""
    places: Places = ()


# Codes of items: S side, P preposition, L link, T goal, I opening, D article, C and, O or, X
# instead, Q beside, F degree, N part, H hyphen, M measure, R reference, A label, B name with an
# article, Z skipped, 0 negation in several words, V "left" for leaving a thing, J other terms in
# several words, = equals, E other expression, W other word.
_SIDE = "(?:[FM]*Q?[IT]?D?[FM]*Q?S(?:(?:H|[IT]D?)?[FM]*S)*(?:H?Q|H?N)*)"
_ONE = f"(?:{_SIDE}|[FM]*P)"
_COMPOUND = re.compile(f"({_ONE}(?:[,COXHF]{{1,4}}{_ONE})*)(,?F*[LTR])?")
"""Sides and prepositions that form one expression, with the words that link them to a ground: "two
steps up and to the left of".
"""
_PART = re.compile(f"([,COXHF]*)({_ONE})")
_ORDER = re.compile("([LW])?D?(S)(?:Q|N)?H?[TL]H?D?(S)N?")

_PIECES = re.compile(
    r"[\u00ac\u2310\u2260!~](?=\s?[\w(])|(?<![^\W_])\d*[A-Za-z](?=\.$)|[*#_`|]+|-?\d+(?=,-?\d{1,2}$)|,(?=-?\d{1,2}$)|[^\s*#_`|:]+|:"
)
_CODE = re.compile(r"[A-HJ-Z]|\d+[A-Za-z]?|[A-Z]{1,2}-?\d+|[IVX]{2,4}|I[VX]|[A-Z]\d*")
_LISTED = re.compile(r"\d+[A-Za-z]?|[A-Z]{1,2}-?\d+|[A-Z]")
"""A number or letter in a list of labels: "gates B2 and B6"."""
_CODED_NAME = re.compile(r"[A-Z]\d{1,3}")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_MARKUP = frozenset(
    ("*", "**", "***", "`", "_", "__", "#", "##", "###", "|", '"', "``", "''", "\u201c", "\u201d")
)
_OPENING = frozenset("IDFT")
"""Codes of words that may come before a side or a place."""
_TYING = frozenset((",", "and", "of", "in", "the", "/"))
"""Words that may join the numbers of one place: "row 3 of column 2"."""
_OBJECT = 4
"""Maximum number of words in the object between a verb and its particle."""
_COMMAS = frozenset((",", "\u2014", "\u2013", ";"))
_AFTER_I = frozenset(("", "is", ",", ".", "?", "and", "'s", "\u2019s"))
"""Words after "I" that show that "I" is a name and not the speaker."""
_SINGULAR_UNITS = frozenset(("a", "an", "one"))
_LONGEST_CLOCK = 6
"""Maximum number of words, such as "o'clock", that mark a number as an hour."""
_CONTENT = 3
"""Maximum number of words for the material of a distance: "miles of OPEN OCEAN"."""
_MEANS = 3
"""Maximum number of words for the means of travel: "two hours BY TRAIN"."""
_LONGEST_DISTANCE = 9
"""Maximum number of words in a distance: "no more than a few minutes' walk away"."""


def _joined(tokens: Sequence[Piece]) -> tuple[int, str]:
    """The offset of the first of the given tokens, and the joined text of those that were not
    inserted.
    """
    first = tokens[0].start if tokens else 0
    text = ""
    for n, token in enumerate(tokens):
        if _is_put_in(tokens, n):
            continue
        text += " " * (token.start - first - len(text)) + token.text
    return first, text


def _spelled(tokens: Sequence[Piece], letters: Mapping[str, str]) -> tuple[Piece, ...]:
    """Replace letters that are names."""
    return tuple(
        piece._replace(
            text=_LONE_LETTER.sub(
                lambda found: letters.get(found.group(), found.group()), piece.text
            )
        )
        if _LONE_LETTER.search(piece.text)
        else piece
        for piece in tokens
    )


def _notation(written: str) -> re.Pattern[str]:
    """Compile a notation, "A = B + offset(R) ...", to a regular expression with optional spaces."""
    parts = []
    for sign in re.findall(r"\.\.\.|\w+|[^\w\s]|\s+", written):
        if sign.isspace():
            parts.append(r"\s*")
        elif sign in _DIRECTIONS:
            parts.append(rf"(?P<{sign}>[A-Za-z][A-Za-z -]{{0,30}})")
        elif len(sign) == 1 and sign.isalpha():
            parts.append(rf"(?P<{sign}>\w+)")
        else:
            parts.append(r"(?:[\s\d()+=,*/-]*[\d)])?" if sign == "..." else re.escape(sign))
    return re.compile(r"(?<!\w)" + "".join(parts))


def _is_put_in(tokens: Sequence[Piece], at: int) -> bool:
    """Whether a token was inserted for an omitted word. Such a token has the offset of the next
    token.
    """
    return at + 1 < len(tokens) and tokens[at + 1].start == tokens[at].start


class Expressions:
    """The expressions of a profile: those in the ontology, and the profile's own phrases.

    Args:
        ontology: The tables of the profile.
        tokenized: Function that splits a text as the parser's tokenizer does.

    Attributes:
        of: Maps a category to its phrases, as tuples of words, with their relations.
    """

    def __init__(self, ontology: Ontology, tokenized: Callable[[str], Iterable[str]]) -> None:
        self.of: dict[str, dict[tuple[str, ...], str]] = {}
        known: dict[str, str] = {}
        for category, texts in ontology.wording.expression.items():
            for text, relation in texts.items():
                self.of.setdefault(category, {})[tuple(tokenized(text))] = relation
                if category != "verb":
                    known.setdefault(text, category)
        for text, relation in ontology.lexicon.phrase.items():
            category = known.get(text) or _category(text, ontology)
            words = tuple(tokenized(text))
            self.of.setdefault(category, {})[words] = relation
            for phrases in self.of.values():
                if words in phrases:
                    phrases[words] = relation

    def __getitem__(self, category: str) -> Mapping[tuple[str, ...], str]:
        return self.of.get(category, {})


def _category(text: str, ontology: Ontology) -> str:
    """The category of a phrase, according to the ontology."""
    if text in ontology.lexicon.place:
        return "side"
    return "verb" if text in ontology.lexicon.finite else "preposition"


class Preparation:
    """Preparer of sentences for the parser.

    Args:
        ontology: The tables of the profile.
        tokenized: Function that splits a text as the parser's tokenizer does.
    """

    def __init__(self, ontology: Ontology, tokenized: Callable[[str], Iterable[str]]) -> None:
        self.expressions = Expressions(ontology, tokenized)
        self.extents = frozenset(self.expressions["extent"].values())
        self._join = ontology.relations.join
        self.directions = ontology.relations.displacement.keys()
        self.grouped = frozenset(ontology.lexicon.grouped)
        self._within = ontology.wording.within_as
        self._inner_sides = ontology.wording.inner_sides
        self._exactly = ontology.wording.exactly_as
        self._classes = ontology.wording.lexeme
        self.units = frozenset(ontology.wording.unit)
        self._units = self.units.union(ontology.words("unit"), self._classes.get("unit", ()))
        self._quantities = ontology.words("quantity")
        self._leading, self._measuring = (
            frozenset().union(*(self._classes.get(name, ()) for name in names))
            for names in (("leading", "great"), ("near_measure", "far_measure"))
        )
        sides = self.expressions["side"].items()
        self.sides = {words[0]: relation for words, relation in sides if len(words) == 1}
        self.axes = Axes(ontology, self.sides)
        self.amounts = self.axes.amounts
        self._directional = {"-"} | {
            words[0]
            for category in ("side", "preposition")
            for words, relation in self.expressions[category].items()
            if len(words) == 1 and relation in self.directions
        }
        self._clock = ontology.lexicon.clock
        self._converse = ontology.relations.converse
        self._terms = {name.replace("_", ""): name for name in ontology.relations.family}
        self._citing = ontology.words("citation")
        self._phrases: dict[str, list[tuple[tuple[str, ...], str, str]]] = {}
        for category in SHOWN:
            for words, relation in self.expressions[category].items():
                self._phrases.setdefault(words[0], []).append((words, category, relation))
        joined = {
            tuple(tokenized(text)): shown
            for name, shown in _JOINED.items()
            for text in self._classes.get(name, ())
            if " " in text
        }
        self._joined_as = {" ".join(words): shown for words, shown in joined.items()}
        coded = dict.fromkeys(joined, "J") | {
            tuple(tokenized(text)): code
            for name, code in reversed(_CODES)
            for text in self._classes.get(name, ())
        }
        self._coded: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for words, code in coded.items():
            self._coded.setdefault(words[0], []).append((words, code))
        for phrases in self._phrases.values():
            phrases.sort(key=lambda option: -len(option[0]))
        for codes in self._coded.values():
            codes.sort(key=lambda option: -len(option[0]))
        self._verbs = {words[0] for words in self.expressions["verb"]}
        self._functions = {
            words[0]
            for table in (coded, self.expressions["preposition"], self.expressions["side"])
            for words in table
            if table is not coded or len(words) == 1
        }
        for name in _FUNCTIONS:
            self._functions |= self._classes.get(name, frozenset())
        # "Vertex to vertex with": such nouns may open labels, too.
        self._functions -= self._classes.get("part", frozenset())
        self._functions -= self._classes.get("lettered", frozenset())
        self._common = frozenset().union(
            *(self._classes.get(name, frozenset()) for name in _COMMON),
            *(
                words
                for table in self.expressions.of.values()
                for words in table
                if len(words) == 1
            ),
        )
        unnamed = (self._classes.get(name, frozenset()) for name in ("degree", "doubtful"))
        self._bounding = self._functions.union(*unnamed)
        numerals = ontology.lexicon.numeral.keys()
        ranked = frozenset().union(*(self._classes.get(name, ()) for name in _RANKED))
        self.names = Names(self._bounding, self._common, numerals, ranked)
        self.positions = Positions(ontology, tokenized)
        self.persons = ontology.wording.person
        self.regions = ontology.wording.region
        known = frozenset().union(
            *self._classes.values(), self._phrases, self._coded, self._units, self._quantities,
            map(str.lower, self._terms), ontology.wording.axis_of, numerals,
        )  # fmt: skip
        self._notations = [(_notation(t), meant) for t, meant in ontology.wording.notation.items()]
        self._nameable = tuple(c for c in ascii_uppercase if c.lower() not in known)
        self._prepared: dict[tuple[Any, ...], list[Word]] = {}

    def words(
        self,
        tokens: Sequence[Piece],
        heads: frozenset[str] = frozenset(),
        names: frozenset[Name] = frozenset(),
        proper: bool = False,
    ) -> list[Word]:
        """Return a sentence's words as shown to the parser. Sentences that differ only in letter
        names are prepared only once.

        Args:
            tokens: The sentence's tokens.
            heads: Nouns known to begin labels: "box" in "Box 14".
            names: Names to show as a single word each.
            proper: Whether to show these names as first names without an article, instead of as
                nouns.
        """
        letters = {} if heads or names else self._letters(tokens)
        alike = _spelled(tokens, letters) if letters else tuple(tokens)
        key = alike, heads, names, proper
        if key not in self._prepared:
            if len(self._prepared) >= _REMEMBERED:
                self._prepared.clear()
            self._prepared[key] = self._words(*key)
        words = self._prepared[key]
        if not letters:
            return list(words)
        back = {ord(other): letter for letter, other in letters.items()}
        return [word.spelled(back) for word in words]

    def _letters(self, tokens: Sequence[Piece]) -> dict[str, str]:
        """Map each letter used as a name in a sentence to its replacement."""
        found = _LONE_LETTER.findall(" ".join(token.text for token in tokens))
        lone = dict.fromkeys(letter for letter in found if letter in self._nameable)
        return dict(zip(lone, self._nameable, strict=False))

    def _words(
        self,
        tokens: Sequence[Piece],
        heads: frozenset[str],
        names: frozenset[Name],
        proper: bool,
    ) -> list[Word]:
        """Prepare a sentence that is not in the cache."""
        first, text = _joined(tokens)
        found: list[tuple[int, int, list[Piece]]] = []
        for term in _TERM.finditer(text):
            relation = self._named(term["name"], bool(term["inverse"]))
            if relation:
                figure, named, ground = (first + term.start(n) for n in ("figure", 0, "ground"))
                parts = [
                    Piece(term["figure"], figure, argument=True),
                    Piece(term["name"], named, relation),
                    Piece(term["ground"], ground, argument=True),
                ]
                found.append((named, first + term.end(), parts))
        for written, meaning in self._notations:
            for match in written.finditer(text):
                parts = self._spelled_out(match, meaning, first)
                if parts:
                    found.append((first + match.start(), first + match.end(), parts))
        for name in (*_IDENTIFIER.finditer(text), *_NUMBERED.finditer(text)):
            if self._identifies(name, heads):
                begin, end = first + name.start(), first + name.end()
                found.append((begin, end, [Piece(name.group(), begin, argument=True)]))
        pieces: list[Piece] = []
        last = first
        for begin, end, parts in sorted(found, key=lambda part: (part[0], -part[1])):
            if begin >= last:
                put = (
                    t for n, t in enumerate(tokens) if t.start == begin and _is_put_in(tokens, n)
                )
                pieces += [*self._plain(tokens, last, begin), *put, *parts]
                last = end
        pieces += self._plain(tokens, last, max((t.start + len(t.text) for t in tokens), default=0))
        return _Sentence(self, pieces, heads, names, proper).words()

    def _spelled_out(self, written: re.Match[str], meaning: str, first: int) -> list[Piece]:
        """Convert a notation to tokens. The result is empty if the text in the position of a
        direction is not a direction.
        """
        pieces = []
        for word in meaning.split():
            given = written.groupdict().get(word)
            if given is None:
                pieces.append(Piece(word, first + written.start()))
                continue
            start = first + written.start(word)
            parts = list(_WORDS_AND_HYPHENS.finditer(given)) if word in _DIRECTIONS else []
            if not self._directional.issuperset(part.group().lower() for part in parts):
                return []
            pieces += [Piece(part.group(), start + part.start()) for part in parts] or [
                Piece(given, start, argument=True)
            ]
        return pieces

    def _identifies(self, name: re.Match[str], heads: frozenset[str]) -> bool:
        """Whether joined words are a single name, unlike "upper_left". The number of a cited
        sentence is not part of a name. `heads` are the nouns known to begin labels, with a bracket
        if their numbers are in brackets.
        """
        if name.re is _NUMBERED:
            return f"{name[1].lower()} (" in heads
        parts = re.split("[_-]+", name.group())
        known = self._functions.issuperset(map(str.lower, parts)) or self._named(name.group())
        if "_" in name.group():
            return not known
        return len(parts) > 1 and parts[0].isalpha() and parts[-1][0].isdecimal()

    def numbered(self, tokens: Sequence[Piece]) -> Iterator[tuple[str, str, bool]]:
        """Yield the nouns that have numbers in brackets, "cube (2)": the noun, the number, and
        whether the number is certainly part of the name and not a citation. This is certain if a
        verb follows, or if there is no article before the noun.
        """
        text = _joined(tokens)[1]
        for found in _NUMBERED.finditer(text):
            noun, code, after = (part.lower() for part in found.groups())
            if noun in self._bounding or (self.is_verb(noun) and looks_like_verb(noun)):
                continue
            before = text[: found.start()].lower().split()[-1:]
            articles = self._classes.get("article", frozenset())
            bare = not before or (before[0] in self._functions and before[0] not in articles)
            verbal = after in self._classes.get("auxiliary", ()) or self.is_verb(after)
            yield noun, code, (bare or verbal) and (len(code) == 1 or code.isdecimal())

    @staticmethod
    def _plain(tokens: Sequence[Piece], first: int, end: int) -> Iterator[Piece]:
        """Yield the tokens, or parts of tokens, between two character offsets."""
        for token in tokens:
            if token.start >= end or token.start + len(token.text) <= first:
                continue
            text = token.text[: end - token.start]
            for piece in _PIECES.finditer(text, max(0, first - token.start)):
                if piece.group() not in _MARKUP:
                    yield Piece(piece.group(), token.start + piece.start())

    def is_verb(self, text: str) -> bool:
        """Whether a word may be a form of a verb for a relation."""
        return bool(stems(text) & self._verbs)

    def is_name_part(self, word: Word) -> bool:
        """Whether a word may be part of the name that follows it: "shell" in "shell casing 1"."""
        text = word.text.lower()
        return text.isalpha() and not word.category and text not in self._bounding

    def _named(self, name: str, inverse: bool = False) -> str:
        """The relation for a name in a formula; empty if there is no such relation."""
        relation = "" if name in _LETTERS else self._terms.get(name.replace("_", "").lower(), "")
        return self._converse.get(relation, "") if inverse else relation

    def together(self, relations: Sequence[str]) -> str | None:
        """Return the single relation that combines the given relations, or None."""
        whole: str | None = None
        for relation in relations:
            whole = (
                relation if whole in (None, relation) else self._join.get((str(whole), relation))
            )
            if whole is None:
                return None
        return whole


_JOINED = {
    "condition": "if",
    "between": "between",
    "exchange": "met",
    "settling": "lies",
    "succession": "met",
    "doubtful": "perhaps",
    "conditional": "if",
    "exclusive": "even",
}
"""Maps classes of phrases to the single word that replaces the phrase for the parser."""

_CODES = (
    ("skipped", "Z"),
    ("initially", "Z"),
    ("later", "Z"),
    ("denying", "0"),
    ("reference", "R"),
    ("link", "L"),
    ("goal", "T"),
    ("opening", "I"),
    ("instead", "X"),
    ("article", "D"),
    ("beside", "Q"),
    ("and", "C"),
    ("or", "O"),
    ("degree", "F"),
    ("part", "N"),
    ("hyphen", "H"),
    ("equals", "="),
)
"""Classes of words and their codes. The first class that a word belongs to applies."""


_FUNCTIONS = (
    "auxiliary", "with", "relative", "asking", "pronoun", "possessive", "between", "condition",
    "negation", "denial", "inferring", "numbering", "supposition", "topical",
)  # fmt: skip
"""Further classes of words that cannot be part of a label."""

_COMMON = (
    "abstract", "centre", "dial", "expanse", "neutral", "part", "portion", "quantifier",
    "reciprocal", "shell", "slot", "spot", "totality", "trip", "whereabouts",
)  # fmt: skip
"""Classes of words that cannot end a name, since they have a meaning only in relation to a whole.
"""


_RANKED = ("slot", "container", "component", "chamber", "collective")
"""Classes of nouns for things that come in rows: seats, drawers."""

_UNNUMBERED = ("article", "possessive", "pointing", "bidding", "putting", "transfer")
"""Classes of words after which a number word is a count, not a label."""


class _Sentence:
    """A sentence in preparation."""

    def __init__(
        self,
        of: Preparation,
        pieces: Sequence[Piece],
        heads: frozenset[str],
        names: frozenset[Name],
        proper: bool,
    ) -> None:
        self.of = of
        self.proper = proper
        self.names = by_first(names)
        self.texts = [piece.text for piece in pieces]
        self.lower = [text.lower() for text in self.texts]
        self.pieces = list(pieces)
        self.spans = [(piece.start, piece.start + len(piece.text)) for piece in pieces]
        self.heads = heads

    def words(self) -> list[Word]:
        self.items: list[_Item] = []
        at = 0
        axes = {turning.start: turning.end for turning in self.of.axes.found(self.texts)}
        while at < len(self.texts):
            if at in axes:  # "with y growing upwards"
                self.items.append(_Item("Z", at, axes[at] - 1))
                at = axes[at]
                continue
            begin = at + (self.lower[at] == "the")
            end = self._name_end(begin)
            if end:
                self._name(at, begin, end)
                at = end
                continue
            self._count_in_words(at)
            self._distribute(at)
            item = self._titled(at) or self._item(at)
            self.items.append(item)
            at = item.last + 1
        self._openings()
        self._particles()
        self._departures()
        self._orders()
        return _turned(_without_asides(_of_all(self._collapsed()), self._comments))

    def _is(self, word: str, name: str) -> bool:
        return word in self.of._classes.get(name, ())

    def _comments(self, word: Word) -> bool:
        """Whether a word denies or doubts the text before it."""
        text = word.text.lower()
        return any(self._is(text, name) for name in ("comment", "falsity", "doubtful"))

    def _at(self, position: int) -> str:
        return self.lower[position] if 0 <= position < len(self.lower) else ""

    # Items ---------------------------------------------------------------------------

    def _item(self, at: int) -> _Item:
        relation = self.pieces[at].relation or self._infix(at)
        if relation:
            return _Item("E", at, at, relation, "term")
        if self.pieces[at].argument:
            return _Item("A", at, at)
        listed = self._listed(at)
        if listed:
            return _Item("S", at, at, listed, "side")
        position = self._position(at)
        if position is not None:
            return position
        distance = self._distance(at)
        if distance is not None:
            return distance
        same = self._same(at) or self._expanse(at) or self._stretch(at)
        if same is not None:
            return same
        hour = self._hour(at) or self._between_hours(at) or self._bearing(at)
        if hour is not None:
            return hour
        end, phrase = self._measure_end(at), self._phrase(at)
        if phrase is not None and self._bounds_measure(phrase):
            return phrase._replace(code="Z", relation="", category="")
        if end > at and (phrase is None or phrase.last < end):  # "zero points in common"
            return _Item("M", at, end - 1)
        after_side = bool(self.items) and self.items[-1].code == "S"
        if after_side and self._is(self._at(at), "ellipsis") and self._names_part():
            return _Item("N", at, at)
        coded = self._code(at)
        label = self._label_end(at)
        longest = max((item.last for item in (phrase, coded) if item), default=at - 1)
        letter = len(self.texts[at]) == 1 and not (phrase and self._at(at + 1) == "of")
        if label and (label > longest + 1 or letter):
            return _Item("A", at, label - 1)
        if phrase is not None and (coded is None or coded.last <= phrase.last):
            return phrase
        if coded is not None:
            return coded
        return _Item("," if self.lower[at] in _COMMAS else "W", at, at)

    def _position(self, at: int) -> _Item | None:
        """A place stated by a number: "at (2, 5)", "second from the left". "Row 3" is treated as a
        name, since it may be a thing itself.
        """
        coded = self._code(at)
        if coded is not None and coded.code == "Z":
            return None  # "with row 1 at the bottom"
        begin = at + self._is(self.lower[at], "opening")
        begin += self._at(begin) == "the"
        end, places = self._position_from(begin)
        if not places and begin > at:
            end, places = self._square(begin)
        if not places:
            return None
        then = end
        while self._at(then) in _TYING:
            then += 1
            further, others = self._position_from(then)
            if others and not {s for s, _ in places} & {s for s, _ in others}:
                end, then, places = further, further, (*places, *others)
        if all(scale in self.of.regions for scale, _ in places):
            return _Item("A", at, end - 1, places=places) if begin == at else None
        return _Item("E", at, end - 1, category="position", places=places)

    def _position_from(self, at: int) -> tuple[int, Places]:
        return self.of.positions.found(self.lower, at) if at < len(self.lower) else (at, ())

    def _square(self, at: int) -> tuple[int, Places]:
        """The square of a board with the given word as its name: "e4"."""
        begin = at + self._is(self._at(at), "square")
        text = self.texts[begin] if begin < len(self.texts) else ""
        return begin + 1, self.of.positions.square(text)

    def _infix(self, at: int) -> str:
        """The relation symbol between two names: "x NE y"."""
        text = self.texts[at]
        between = bool(self.items) and self.items[-1].code == "A" and at + 1 < len(self.texts)
        if between and text[0].isupper() and self._label_end(at + 1):
            return self.of._named(text)
        return ""

    def _listed(self, at: int) -> str:
        """The relation for a letter in a list of relations: "N, NW and W"."""
        text = self.texts[at]
        if len(text) > 1 or not text.isupper() or not self.of._named(text):
            return ""
        for step in (-1, 1):
            beside = at + step
            while 0 <= beside < len(self.texts) and self._separates(beside):
                beside += step
            other = self.texts[beside] if 0 <= beside < len(self.texts) else ""
            if beside != at + step and other.isupper() and self.of._named(other):
                return self.of._named(text)
        return ""

    def _separates(self, at: int) -> bool:
        return self.lower[at] in _COMMAS or self._code_at(at) in ("C", "O")

    def _phrase(self, at: int) -> _Item | None:
        for words, category, relation in self.of._phrases.get(self._at(at), ()):
            end = at + len(words)
            if words[1:] and tuple(self.lower[at:end]) != words:
                continue
            if category == "noun" and self._is(" ".join(words), "beside"):
                continue
            placed = words[1:] and self._is(words[-1], "opening")
            if placed and (then := self._phrase(end - 1)) and then.last >= end:
                continue  # "kept IN FRONT OF"
            if not at and self._is(words[0], "denial") and category == "preposition":
                continue  # "No part of A touches B"
            if category == "side" and (self._is_named(at, end) or self._is_hyphened(at)):
                continue
            elliptic = self._is_elliptic(end) and not self._names_part()
            if category == "side" and (elliptic or (words[1:] and self._is_told_apart(end))):
                continue  # "in the MIDDLE one", "in the MIDDLE seat"
            if self.items and self.items[-1].code == "S" and self._is(words[0], "part"):
                continue  # "in the northern part of B"
            if self._is(words[0], "portion") and self._is_partitive(at - 1):
                continue  # "the part of B that ..."
            short = category == "side" and len(" ".join(words)) < 3 and words != ("up",)
            lone = len(words[0]) == 1 and self._at(end) != "of"
            if short and (lone or not self.texts[at].isupper() or self._at(at + 1) == "."):
                continue  # "NE", not "ne"
            code = {"preposition": "P", "side": "S"}.get(category, "E")
            return _Item(code, at, end - 1, relation, category)
        return None

    def _is_elliptic(self, at: int) -> bool:
        """Whether "one" stands for a thing: "the left ONE", but not "left ONE cell"."""
        return self._is(self._at(at), "ellipsis") and not self._unit(at + 1)

    def _is_told_apart(self, at: int) -> bool:
        """Whether a noun stands for things that come in rows: seats, drawers."""
        return any(self._is(stem, kind) for stem in stems(self._at(at)) for kind in _RANKED)

    def _is_hyphened(self, at: int) -> bool:
        """Whether a side is the second part of a name: "the centre-BACK", but not "top-LEFT"."""
        first = self._at(at - 2)
        sided = (first,) in self.of.expressions["side"] or self._is(first, "degree")
        return self._at(at - 1) == "-" and first.isalpha() and not sided

    def _names_part(self) -> bool:
        """Whether an earlier side modifies a word for a part: "the western CORNER ... the eastern
        one".
        """
        return any(a.code == "S" and b.code == "N" for a, b in pairwise(self.items))

    def _is_partitive(self, at: int) -> bool:
        """Whether "part" is used for a thing, judging by the words before it: "the part", "with a
        part".
        """
        if self._at(at) in ("a", "an"):
            at -= 1
        before = self._at(at)
        return not before.isalpha() or self._is(before, "partitive")

    def _is_named(self, first: int, end: int) -> bool:
        """Whether a side belongs to a proper name: "South Street"."""
        after = self.texts[end] if end < len(self.texts) else ""
        capitals = self.texts[first][:1].isupper() and after[:1].isupper() and len(after) > 1
        return (
            capitals and not after.isupper() and (first > 0 or self._at(end + 1) not in ("", ","))
        )

    def _code(self, at: int) -> _Item | None:
        for words, code in self.of._coded.get(self.lower[at], ()):
            if not words[1:] or tuple(self.lower[at : at + len(words)]) == words:
                return _Item(code, at, at + len(words) - 1)
        return None

    def _same(self, at: int) -> _Item | None:
        """The relation for a place that is shared with another thing: "at exactly the same spot
        as".
        """
        end = at
        while self._code_at(end) in _OPENING or self._at(end) in ("one", "and", "single"):
            end += 1
        relation = self.of.expressions["spot"].get((self._at(end),))
        if relation is None or not self._is(self._at(end + 1), "spot"):
            return None
        end += 1
        while self._is(self._at(end + 1), "spot"):
            end += 1  # "centre point"
        if self._at(end + 1) == "as":
            return _Item("P", at, end + 1, relation, "preposition")
        return _Item("E", at, end, relation, "between")

    def _expanse(self, at: int) -> _Item | None:
        """A distance between two things that is described as great or small: "the DISTANCE between
        A and B is enormous".
        """
        if not (self._is(self._at(at), "expanse") and self._at(at + 1) in ("between", "from")):
            return None
        sizes = {name for name in ("great", "small") for word in self.lower if self._is(word, name)}
        relation = self.of.expressions["extent"].get((sizes.pop(),)) if len(sizes) == 1 else None
        category = "between" if self._at(at + 1) == "between" else "effort"
        return _Item("E", at, at, relation, category) if relation else None

    def _stretch(self, at: int) -> _Item | None:
        """A measure of the distance between two things, "MANY LEAGUES part A from B", or of the
        effort of going from one to the other, "it takes AN HOUR to walk from A to B".
        """
        opens = self._leads(at) or self._is(self._at(at), "far_measure")
        if not opens or (at and self._scales(at - 1)) or self._is_denied(at):
            return None
        end = at
        while end < len(self.lower) and self._scales(end) and not self._label_end(end):
            end += 1
        relation, phrase = self._distance_of(self.lower[at:end]), self._phrase(at)
        if not relation or (phrase is not None and phrase.last >= end - 1):
            return None
        content = _CONTENT if self._at(end - 1) == "of" else 0
        for n in range(end, end + content + 1):
            if self._is(self._at(n), "spanning"):
                return _Item("E", at, n - 1, relation, "stretch")
            if self._at(n) == "between":
                return _Item("E", at, end - 1, relation, "effort")
        for n in range(end, end + _MEANS + 1):
            after = self._at(n + 1)
            led = after in self.of.persons and self._is(self._at(n).removesuffix("s"), "leading_to")
            if led or (self._at(n) == "to" and self._is_move(after)):
                return _Item("E", at, end - 1, relation, "effort")
        return None

    def _is_denied(self, at: int) -> bool:
        """Whether the words before the given position may deny the text that follows."""
        return any(self._is(w, name) for w in self.lower[:at] for name in ("negation", "denial"))

    def _code_at(self, at: int) -> str:
        item = self._code(at) if at < len(self.lower) else None
        return item.code if item is not None and item.first == item.last else ""

    def _direction_of(self, at: int) -> str | None:
        """The direction of the hour given by a number."""
        word = self._at(at)
        numerals = self.of.positions.numerals
        hour = int(word) if word.isdecimal() and len(word) <= 2 else numerals.get(word)
        return self.of._clock.get(hour) if hour is not None else None

    def _between_hours(self, at: int) -> _Item | None:
        """The direction between two hours: "between 1 and 2 o'clock", "between 1 and 2"."""
        if self.lower[at] != "between" or self._at(at + 2) != "and":
            return None
        first, second = self._direction_of(at + 1), self._direction_of(at + 3)
        if not (first and second):
            return None
        end = self._clock_end(at + 4)
        timed = end > at + 4
        relation = first if first == second else self.of._join.get((first, second))
        if relation is None or not (timed or any(self._is(word, "dial") for word in self.lower)):
            return None
        last = end - 1
        code, category = ("S", "side") if self._at(last + 1) == "of" else ("P", "preposition")
        return _Item(code, at, last, relation, category)

    def _hour(self, at: int) -> _Item | None:
        """The direction of an hour: "3 o'clock", "3:00", or "at 3" with a word for a clock."""
        relation = self._direction_of(at)
        if relation is None:
            return None
        end = at + 1
        other = self._direction_of(at + 2) if self._at(at + 1) == "or" else None
        if other is not None:  # "at 4 or 5 relative to B"
            relation = relation if other == relation else self.of._join.get((relation, other))
            end = at + 3
        follows = self._code(end) if end < len(self.lower) else None
        referred = self._at(at - 1) == "at" and follows is not None and follows.code == "R"
        if relation is None or (other is not None and not referred and self._clock_end(end) == end):
            return None
        timed = self.lower[end : end + 2] == [":", "00"]
        end += 2 if timed else 0
        fronted = self._at(at - 1) == "at" and not self._at(at - 2).isalpha()
        if timed and fronted and not self._is(self._at(end), "link"):
            return None  # "At 9:00 the crane lifts A"
        marked = self._clock_end(end)
        if marked > end:
            return _Item("S", at, marked - 1, relation, "side")
        plain = self._at(at - 1) in ("at", "the") and not self._at(end).isalpha()
        dialled = plain and any(self._is(word, "dial") for word in self.lower)
        dialled = dialled or referred
        return _Item("S", at, end - 1, relation, "side") if timed or dialled else None

    def _clock_end(self, at: int) -> int:
        """The end of the words that mark the number before them as an hour, "o'clock", "position of
        a clock face". If there are no such words, the position itself.
        """
        for end in range(min(len(self.lower), at + _LONGEST_CLOCK), at, -1):
            if self._is(" ".join(self.lower[at:end]), "hour"):
                return end
        return at

    def _bearing(self, at: int) -> _Item | None:
        """The direction of a bearing, clockwise from the top: "a bearing of 090 degrees"."""
        word = self.lower[at]
        if not word.isdecimal() or len(word) > 3 or int(word) % 45 or int(word) > 360:
            return None
        if self._at(at + 1) not in ("degrees", "\u00b0", "deg"):
            return None
        relation = self.of._clock.get(round(int(word) / 30 + 0.01) % 12)
        if relation is None:
            return None
        begin = len(self.items)
        while begin and self._is(" ".join(self.lower[self.items[begin - 1].first : at]), "bearing"):
            begin -= 1
        first = self.items[begin].first if begin < len(self.items) else at
        del self.items[begin:]
        return _Item("S", first, at + 1, relation, "side")

    def _measure_end(self, at: int) -> int:
        """The end of the measure at a position, "two steps". If no measure begins there, the
        position itself.
        """
        end = self._count_end(at)
        if end == at or not self._unit(end):
            return at
        if self._counts_things(at, end) or self._forms(at, end):
            return at
        onward = self._is(self._at(end + 1), "onward")
        bounded = self._is(self._at(at - 1), "inexact") or self._at(at - 1) == "by"
        alone = not (onward or bounded) and self._phrase(end + 1) is None
        if self.lower[at] in _SINGULAR_UNITS and alone:
            follows = self._code(end + 1) if end + 1 < len(self.lower) else None
            if follows is None or follows.code not in "FIT":
                return at  # "a block" may be a thing
        joined = self._is(self._at(end + 1), "and") or self._is(self._at(end + 1), "ranging")
        then = end + 1 + joined
        other = self._count_end(then)
        alike = self.of.amounts.factor(self._at(end), self._at(other)) is not None
        end = other + 1 if other > then and alike else end + 1  # "3 m 50 cm", "3 m to 4 m"
        return end + self.of.amounts.limited(self.lower[end : end + 2])

    def _count_end(self, at: int) -> int:
        """The end of the number at a position, "two hundred", "minus 3", "3 to 5". If no number
        begins there, the position itself.
        """
        first = end = at + self._is(self._at(at), "minus")
        while end < len(self.lower):
            if self._counts(end):
                end += 1
            elif end > first and self._joins(first, end):
                end += 2
            else:
                break
        return end if end > first else at

    def _joins(self, first: int, at: int) -> bool:
        """Whether a token joins numbers into a single number or a range: "3 TO 5", "10 ^ 3", "two
        hundred AND ten", "3,5". The numbers begin at `first`.
        """
        amounts, word = self.of.amounts, self._at(at)
        before, after = self._at(at - 1), self._at(at + 1)
        if self._is(word, "and"):
            if self._at(first - 1) == "between" and self._counts(at + 1):
                return True
            halved = self._is(after, "half") or self._is(self._at(at + 2), "half")
            return (amounts.scales(before) and self._counts(at + 1)) or halved
        if not (amounts.counts(before) and at + 1 < len(self.lower) and amounts.counts(after)):
            return False
        tight = self.spans[at - 1][1] == self.spans[at][0] and (
            self.spans[at][1] == self.spans[at + 1][0]
        )
        if word == "," and not tight:
            return False
        told = self._is(before, "ellipsis") and at == first + 1 and bool(self.items)
        coded = self.items[-1].code if told else ""
        if coded in ("D", "S") or (coded == "W" and not self._is_function(self._at(first - 1))):
            return False  # "of the red one or two steps above it"
        return self._is(word, "ranging")

    def _counts_things(self, at: int, end: int) -> bool:
        """Whether an apparent measure is a count of things: "there are three SHELVES"."""
        noun = singular_of(self._at(end))
        thing = any(self._is(noun, name) for name in ("slot", "container", "component"))
        told = any(self._is(self._at(at - 1), name) for name in ("standing", "possessing"))
        return thing and told and not self._directs(end + 1)  # "three shelves IN the pantry"

    def _directs(self, at: int) -> bool:
        """Whether a direction begins at a position. The words before it may be a distance."""
        phrase = self._phrase(at)
        told = phrase is not None and phrase.relation in self.of.directions
        return told or self._code_at(at) in tuple("FT")

    def _bounds_measure(self, phrase: _Item) -> bool:
        """Whether an expression is a bound for the measure after it: "just UNDER four m above it",
        "BETWEEN 2 and 4 m above it".
        """
        first = phrase.last + 1
        end = self._measure_end(first) if self._is(self._at(phrase.last), "inexact") else first
        return end > first and self._directs(end)

    def _forms(self, at: int, end: int) -> bool:
        """Whether an apparent measure is a place: "in A ROW above B", "on A FLOOR above B"."""
        one = self._is(self._at(at), "indefinite")
        if self._is(self._at(at - 1), "within"):
            return one or self._is(self._at(end), "collective")
        return one and self._at(at - 1) == "on"

    def _amounts(self, item: _Item) -> tuple[Amount, ...]:
        """The amounts in a measure; empty if it is inexact."""
        words = self.lower[item.first : item.last + 1]
        return self.of.amounts.of(words, self.lower[: item.first])

    def _counts(self, at: int) -> bool:
        word = self.lower[at]
        return self.of.amounts.counts(word) or word in self.of._quantities

    def _unit(self, at: int) -> bool:
        return self._at(at) in self.of._units

    def _distance(self, at: int) -> _Item | None:
        """A distance in terms of measure or effort: "a stone's throw from", "within walking
        distance of", "at a great distance from".
        """
        denied = self._at(at) == "not"
        if denied and self._at(at + 1) == "within":
            return None
        if not self.lower[at][:1].isalnum() or (
            len(self.texts[at]) == 1 and self.texts[at].isupper()
        ):
            return None  # "where is M from B"
        if not (denied or self._leads(at) or self._measures(at)):
            return None
        before = self._at(at - 1)
        if before in ("not", "n't", "than") and self._at(at) != "within":
            return None
        if at and self._leads(at - 1):
            return None  # no distance begins earlier, so this is not the rest of one
        if denied:
            least = self._distance_from(at, at + 1)
            near = self.of.expressions["extent"].get(("small",))
            # "not a yard from" is near; "not a mile from" may not be
            return least if least is not None and least.relation == near else None
        return self._distance_from(at, at)

    def _distance_from(self, first: int, at: int) -> _Item | None:
        """The item for a distance. The item begins at `first`, and the words of the distance at
        `at`.
        """
        words: list[str] = []
        for end in range(at, min(len(self.lower), at + _LONGEST_DISTANCE)):
            word = self.lower[end]
            if word == "away" and self._at(end + 1) not in ("from", "of") and self._started(first):
                relation = self._distance_of(words)
                if relation:
                    return _Item("E", first, end, relation, "side")
            if word == "apart" and self._at(end + 1) != "from":
                relation = self._distance_of(words)
                if relation:
                    return _Item("E", first, end, relation, "mutual")
            if word == "from" or (word == "of" and "within" in words):
                relation = self._distance_of(words)
                if relation:
                    return _Item("P", first, end, relation, "preposition")
            if not self._scales(end):
                return None
            words.append(word)
        return None

    def _started(self, at: int) -> bool:
        """Whether a starting point precedes a position: "FROM the mill, it is ..."."""
        return any(self._is(word, "origin") for word in self.lower[:at])

    def _distance_of(self, words: Sequence[str]) -> str:
        """The relation expressed by a distance; empty if unclear."""
        return self.of.expressions["extent"].get((self._extent(words),), "")

    def _extent(self, words: Sequence[str]) -> str:
        """Return whether a distance is `great` or `small`; empty if unclear."""

        def of(name: str) -> bool:
            return any(self._is(word, name) for word in words)

        distant = not {"distance", "remove", "way"}.isdisjoint(words)
        within = "within" in words and not {"distance", "reach", "range"}.isdisjoint(words)
        if of("many") or any(w[:1].isdecimal() and len(w) > 2 and "." not in w for w in words):
            return "great" if of("far_measure") else ""
        if of("far_measure") and of("approximate"):
            return ""
        if of("far_measure") or (of("great") and of("trip")):
            return "great"
        if of("near_measure") or within or (of("small") and (distant or of("trip"))):
            return "small"
        return "great" if of("great") and distant else ""

    def _is_measured(self, words: Sequence[str]) -> bool:
        """Whether a distance is told in units: "forty metres from", "a mile away from". If the
        profile has no units, these only mean near or far.
        """
        if not self.of.units:
            return False
        counted = any(map(self.of.amounts.counts, words)) and not self.of._units.isdisjoint(words)
        one = words[1:2] and words[1] in self.of.units and self._is(words[0], "indefinite")
        return counted or bool(one)

    def _measures(self, at: int) -> bool:
        return self._at(at) in self.of._measuring

    def _leads(self, at: int) -> bool:
        word = self._at(at)
        if self._is(word, "shortened") and self._is(self._at(at - 1), "pronoun"):
            return False  # "IT'S a short walk from"
        return word in self.of._leading or word[:1].isdecimal()

    def _scales(self, at: int) -> bool:
        word = self._at(at)
        return self._leads(at) or self._measures(at) or self._is(word, "small")

    # Labels --------------------------------------------------------------------------

    def _count_in_words(self, at: int) -> None:
        """Replace number words after a noun by digits: "house FOUR", "bays ONE and TWO", but not
        "the red ONE", "he took TWO".
        """
        first, noun, number = self._at(at - 1), self._at(at), self.of.amounts.number
        if number(self._at(at + 1)) is None:
            return
        opens = not at or self.items[-1].code != "W" or self._stemmed(first, "copula")
        if not opens or not noun.isalpha() or self._is_function(noun) or self._is(first, "hyphen"):
            return  # "the right-hand ONE"
        if any(self._is(word, name) for word in (first, noun) for name in _UNNUMBERED):
            return
        end = at + 1
        while number(self._at(end)) is not None:
            tied = self._at(end + 1) in (",", "and") and number(self._at(end + 2)) is not None
            end += 1 + tied
        follows = self._at(end)
        if follows != "of" and (not follows.isalpha() or self._is_function(follows)):
            for n in range(at + 1, end, 2):
                self.texts[n] = self.lower[n] = str(number(self.lower[n]))

    def _distribute(self, at: int) -> None:
        """Repeat the noun before each label in a list: "gates B2 and B6"."""
        noun = singular_of(self._at(at))
        if noun == self._at(at) or not noun.isalpha() or not self._opens_label(at):
            return
        told = not self.items or self.items[-1].code in "DPLTC,"
        if self._is_function(self._at(at)) or (self._is_verb(noun) and not told):
            return  # "it TOUCHES B2 and B6"
        codes = [at + 1]
        while (after := codes[-1] + 1) + 1 < len(self.texts):
            after += self._code_at(after) in ("C", "O") and self._at(after - 1) == ","
            tied = self._at(after) == "," or self._code_at(after) in ("C", "O")
            further = (
                after + 1 + (self._at(after) == "," and self._code_at(after + 1) in ("C", "O"))
            )
            if not tied or not self._is_listed_code(further):
                break
            codes.append(further)
        last = codes[-1] + 1
        named = self._is_listed_code(codes[0]) and len(codes) > 1
        measured = self._at(last) in self.of._units or self._clock_end(last) > last
        if not named or measured or self._code_at(codes[-1] - 1) not in ("C", "O"):
            return
        text = self.texts[at][: len(noun)]
        self._put(at, text, self.spans[at])
        for code in reversed(codes[1:]):
            start = self.spans[code][0]
            self._put(code, text.lower(), (start, start), further=True)

    def _is_listed_code(self, at: int) -> bool:
        text = self.texts[at] if at < len(self.texts) else ""
        return bool(_LISTED.fullmatch(text)) and text != "I"

    def _put(self, at: int, text: str, span: tuple[int, int], further: bool = False) -> None:
        """Replace the token at a position, or insert one before it if `further`."""
        end = at if further else at + 1
        self.texts[at:end] = [text]
        self.lower[at:end] = [text.lower()]
        self.spans[at:end] = [span]
        self.pieces[at:end] = [Piece(text, span[0])]
        self.heads |= {text.lower()}

    def _titled(self, at: int) -> _Item | None:
        """A proper name that contains a word of an expression, "the FAR Field", "NORTH End", or
        that follows a noun for its kind, "the star VEGA", "the ferry ALBA".
        """
        first = at + self._precedes_name(at)
        end = first
        while (
            end < len(self.texts)
            and self._is_capital(end)
            and (end == first or self._is_content(end))
        ):
            end += 1
        if end == first or (end < len(self.texts) and _CODE.fullmatch(self.texts[end])):
            return None
        if first > at:
            named = self._is_content(first) and self.texts[at].islower()
            return self._named_item(at, end) if named else None
        after = self._at(end)
        lexical = self._is_function(self._at(at)) or self._at(at) in self.of._phrases
        if end - at < 2 or not lexical or any(self._is(self._at(at), name) for name in _UNNAMED):
            return None
        article = self._is(self._at(at - 1), "article")
        copula = self._is(after, "auxiliary") or self._stemmed(after, "copula")
        parts = any(self._is(w, c) for w in self.lower[at + 1 : end] for c in ("part", "inner"))
        if parts and (after == "of" or (article and not copula)):
            return None  # "in the Left Corner"
        if self.items:
            tied = self.items[-1].code in "LTCPI," or self.items[-1].category == "side"
            return self._named_item(at, end) if article or tied else None
        figure = copula and end + 1 < len(self.texts) and self._places_at(end + 1)
        return self._named_item(at, end) if figure else None

    def _precedes_name(self, at: int) -> bool:
        """Whether a noun gives the kind of the thing named after it. For an unknown noun, this is
        assumed only if no clause can begin with the name, unlike in "the cup ANNA bought".
        """
        if self._is(self._at(at), "naming"):
            return True
        if not (self.texts[at].islower() and len(self.texts[at]) > 2 and self._is_content(at)):
            return False
        if not self._is(self._at(at - 1), "article") or not self._named_at(at + 1):
            return False
        end = at + 1
        while self._named_at(end):
            end += 1
        opened = at == 2 and self._phrase(0) is not None  # "In the drawing Alba is above it"
        after = self._at(end)
        joins = after in ("", ".") or self._code_at(end) in tuple(",CO")
        joins = joins or self._phrase(end) is not None or self._is(after, "auxiliary")
        return not opened and (joins or self._stemmed(after, "copula"))

    def _named_at(self, at: int) -> bool:
        return at < len(self.texts) and self._is_capital(at) and self._is_content(at)

    def _places_at(self, at: int) -> bool:
        while self._code_at(at) in _OPENING:
            at += 1
        return at < len(self.lower) and (self._phrase(at) is not None or self._measure_end(at) > at)

    def _named_item(self, at: int, end: int) -> _Item:
        """A proper name as an item, without the article before it."""
        if self.items and self._at(at - 1) == "the" and self.items[-1].code == "D":
            self.items[-1] = _Item("Z", at - 1, at - 1)
        return _Item("A", at, end - 1)

    def _is_capital(self, at: int) -> bool:
        text = self.texts[at]
        return text.isalpha() and text[0].isupper() and text[1:].islower()

    def _is_content(self, at: int) -> bool:
        """Whether a word is neither part of an expression nor a function word."""
        word = self.lower[at]
        return not self._is_function(word) and self._phrase(at) is None

    def _name_end(self, at: int) -> int:
        """The end of the repeated name at a position; 0 if no such name begins there."""
        for name in self.names.get(self._at(at), ()):
            end = at + len(name)
            article = self._at(at - 1) == "the" or self._is(name[0], "possessive")
            if article and tuple(self.lower[at:end]) == name and self._ends_name(end):
                return end
        return 0

    def _ends_name(self, at: int) -> bool:
        word, after = self._at(at), self._at(at + 1)
        if not word.isalpha():
            return not (word[:1].isdecimal() or word == "-")
        if len(word) == 1 or word == "of":
            return False
        if word in self.of._bounding or self._is_verb(word):
            return True
        return looks_like_verb(word) and not self._is(after, "auxiliary")

    def _name(self, at: int, begin: int, end: int) -> None:
        """Add a name. If the name is shown as a noun, keep its article."""
        if self.proper or begin == at:
            self.items += [_Item("Z", at, at)] if begin > at else []
            self.items.append(_Item("A", begin, end - 1))
        else:
            self.items += [_Item("D", at, at), _Item("B", begin, end - 1)]

    def _label_end(self, at: int) -> int:
        """The end of the label at a position, "A", "Box 14", "tile X"; 0 without a label."""
        text, after = self.texts[at], self.texts[at + 1] if at + 1 < len(self.texts) else ""
        if self.heads and f"{self.lower[at]} {after.lower()}" in self.heads:
            return self._label_end(at + 1)
        if len(text) == 1 and text.isalpha():
            return at + 1 if self._is_letter(at) else 0
        if _CODED_NAME.fullmatch(text):
            return at + 1
        lettered = after.isalpha() and len(after) == 1 and self._is(self.lower[at], "lettered")
        if not (_CODE.fullmatch(after) or lettered):
            return 0
        bound = self._is_function(self.lower[at]) or self._is(self.lower[at], "doubtful")
        verb, ending = self.lower[at][:-3], self.lower[at][-3:]
        faces = self._is(verb, "facing") or self._is(f"{verb}e", "facing")
        bound = bound or (faces and ending == "ing")
        if not text.isalpha() or (bound and self.lower[at] not in self.heads):
            return 0
        if self._is_move(self.lower[at]) or self._stemmed(self.lower[at], "have"):
            return 0
        follows = self._at(at + 2)
        bids = any(self._is(self.lower[at], name) for name in ("bidding", "putting"))
        if not at and bids and not (self._is_verb(follows) or self._is(follows, "auxiliary")):
            return 0  # "Put B to the right of H", but "Set 3 is right of H"
        named = bool(self.items) and self.items[-1].code == "A"
        if named and (self._is_verb(self.lower[at]) or looks_like_verb(self.lower[at])):
            return 0  # "A overlaps B2"
        if not after[-1:].isdecimal() and not self._opens_label(at):
            return 0
        occasional = self._is(self.lower[at], "occasion")  # "on Monday I"
        lettered = lettered or (self._is(self.lower[at], "kind") and self._is_letter(at + 1))
        if after == "I" and (occasional or (self.texts[at].islower() and not lettered)):
            return 0
        measured = follows in self.of._units and self.lower[at] not in self.heads
        if measured or self._clock_end(at + 2) > at + 2 or self.lower[at] in self.of._citing:
            return 0
        if follows == ":" and self._at(at + 3).isdecimal():
            return 0
        if after == "A" and follows.isalpha() and not self._is_function(follows):
            return 0
        return at + 2

    def _opens_label(self, at: int) -> bool:
        """Whether a noun can begin a label here. After another noun or a name, the word may be a
        verb.
        """
        if self.lower[at] in self.heads or at == 0 or not self.items:
            return True
        before = self.items[-1]
        text = self.texts[before.last]
        if before.code == "A":
            return False
        if not text.isalpha() or before.code != "W":
            return True
        return self._is_function(text.lower()) or self._is_verb(text.lower())

    def _is_letter(self, at: int) -> bool:
        text, after = self.texts[at], self._at(at + 1)
        axis = self._at(at + 2) if after == "-" else after
        if text.islower() and self._is(axis, "axial"):
            return False
        if text.islower() and (text in "ai" or self._at(at - 1) in ("'", "\u2019")):
            return False
        if text == "I":
            placing = self._is_verb(after) or self._stemmed(after, "copula")
            third_person = after.endswith("s") and placing
            # "has I above it": the speaker would be "me".
            owned = self._is(self._at(at - 1), "possessing") and not self._is(after, "auxiliary")
            # "I on the left"
            sided = self._code_at(at + 1) in tuple("IT") and self._code_at(at + 2) == "D"
            # "B and I are"
            other = self.texts[at - 2] if at > 1 and self._at(at - 1) == "and" else ""
            paired = len(other) == 1 and other.isupper()
            # "Where is I from B", "the relation of I to B": the speaker would be "me".
            tied = self._code_at(at - 1) in tuple("LT") and not self._is(after, "auxiliary")
            tied = tied or self._at(at - 1) == "is"
            return third_person or owned or sided or paired or tied or after in _AFTER_I
        if text == "A":
            if self._is(after, "homonym"):
                return False  # "A well"
            verbal = self._is_verb(after) or (
                after.endswith("s") and self._stemmed(after, "copula")
            )
            return not after.isalpha() or self._is_function(after) or verbal
        return True

    def _is_function(self, word: str) -> bool:
        return word in self.of._functions

    def _is_move(self, word: str) -> bool:
        return self._is(word, "arriving") or self._is(word, "motion")

    def _is_under_way(self, position: int) -> bool:
        """Whether a verb of motion precedes a position, with no other verb in between."""
        for item in reversed(self.items[:position]):
            word = self.lower[item.last]
            if self._stemmed(word, "motion"):
                return True
            if self._is_verb(word) or self._is(word, "auxiliary"):
                return False
        return False

    def _is_verb(self, word: str) -> bool:
        return self.of.is_verb(word)

    # Words ---------------------------------------------------------------------------

    def _openings(self) -> None:
        """Treat "in" as the beginning of an expression for a side: "in the upper left"."""
        code = "".join(item.code for item in self.items)
        for n, item in enumerate(self.items):
            text = " ".join(self.lower[item.first : item.last + 1])
            opens = item.code == "P" and self._is(text, "opening")
            side = re.match("D?[FM]*S+", code[n + 1 :])
            if opens and side and not self._tells_apart(n + 1 + side.end()):
                self.items[n] = _Item("I", *item[1:3])

    def _tells_apart(self, position: int) -> bool:
        """Whether a side identifies the thing mentioned at a position: "in the left DRAWER"."""
        item = self.items[position] if position < len(self.items) else None
        word = self.lower[item.first] if item is not None and item.code == "W" else ""
        verbal = self._is_function(word) or self._is_verb(word) or looks_like_verb(word)
        return word.isalpha() and not verbal and not self._is(word, "copula")

    def _particles(self) -> None:
        """Recognize particles and degrees that look like sides: "up" in "takes up the middle",
        "right" in "right above".
        """
        code = "".join(item.code for item in self.items)
        for n, item in enumerate(self.items):
            graded = bool(item.category) and self._code_at(item.first) == "F"
            side = re.compile("[IT]?D?[FM]*S").match(code, n + 1) if graded else None
            if side and not self._tells_apart(side.end()):
                self.items[n] = _Item("F", *item[1:3])  # "far left of"
            word = self.lower[item.first]
            if (item.code != "S" and word != "off") or item.first != item.last:
                continue
            if word == "off" and not self._at(item.last + 1).isalpha():
                self.items[n] = _Item("W", *item[1:3])  # "the light is off"
                continue
            follows = self.items[n + 1].code if n + 1 < len(self.items) else ""
            before = self.items[n - 1] if n else None
            upward = follows == "S" and self._at(item.last + 1) in ("up", "down")
            ordered = code[max(0, n - 2) : n] == "ST"  # "left to right in the bay"
            exactly = (
                word == "right"
                and code[n + 1 : n + 3] == "ID"
                and code[n - 1 : n] in ("", "W", ",")
            )
            if (word in ("right", "up", "down") and follows == "P" and not ordered) or (
                word == "right" and (upward or exactly)
            ):
                self.items[n] = _Item("F", *item[1:3])
            elif (
                word in ("up", "down", "back", "off")
                and before is not None
                and before.code in "WN"  # "end" is a part of a side, too
                and (
                    (follows == "D" and word != "off")
                    or (word == "back" and follows in tuple("PIT"))
                    or self._stemmed(self.lower[before.last].removesuffix("ing"), "phrasal")
                    or self._parted(before)
                )
            ):
                self.items[n] = _Item("W", *item[1:3])

    def _departures(self) -> None:
        """Treat "left" as a verb where it is not linked to a ground with an article: "the fox LEFT
        the henhouse".
        """
        code = "".join(item.code for item in self.items)
        for n in range(1, len(self.items) - 1):
            item, before = self.items[n], self.lower[self.items[n - 1].last]
            if item.code != "S" or not self._is(self._at(item.first), "departure"):
                continue
            named = code[n - 1] == "A" or (code[n - 1] == "W" and not self._is_function(before))
            denied = self._is(before, "negation") or self._is(before, "auxiliary")
            after = self.lower[self.items[n + 1].first]
            staying = code[n + 1] == "P" or any(self._is(after, c) for c in ("within", "upon"))
            undergone = self._is(before, "undergoing") and staying  # "it was LEFT in the depot"
            if undergone or (
                self._is(after, "moved") and code[n - 1] not in "DIT"
            ):  # "and LEFT it there"
                self.items[n] = _Item("V", *item[1:3])
            elif self._is(before, "auxiliary") and after in self.of.persons:
                self.items[n] = _Item("W", *item[1:3])  # "I also LEFT you a note"
            elif (named and code[n + 1] == "D") or (denied and code[n + 1] in "DA"):
                self.items[n] = _Item("W", *item[1:3])

    def _parted(self, item: _Item) -> bool:
        """Whether an item is the end of the words between a verb and its particle: "hangs IT up",
        "puts the red CRATE down". With "push", the particle is a direction.
        """
        verb = self._at(item.first - 1)
        pushed = self._stemmed(verb, "motion")
        if self._is(self.lower[item.last], "moved"):
            return not pushed
        first = item.first
        while first > max(0, item.first - _OBJECT) and not self._determines(first):
            first -= 1
        return self._determines(first) and self._stemmed(self._at(first - 1), "putting")

    def _determines(self, at: int) -> bool:
        return self._is(self._at(at), "article") or self._is(self._at(at), "possessive")

    def _stemmed(self, word: str, name: str) -> bool:
        """Whether a base form of a word is of a class."""
        return any(self._is(stem, name) for stem in stems(word))

    def _orders(self) -> None:
        """Combine "from left to right" into one item with the relation of the first side."""
        code = "".join(item.code for item in self.items)
        for run in reversed(list(_ORDER.finditer(code))):
            first, second = self.items[run.start(2)], self.items[run.start(3)]
            if (first.relation, second.relation) in self.of._join:
                continue
            if "L" in code[run.start(2) : run.end()] and self._tells_apart(run.end()):
                continue  # "left of the FRONT desk"
            fronted = run.group(1) and self.lower[self.items[run.start()].first] == "from"
            begin = run.start() if fronted else run.start(2)
            spans = self.items[begin].first, self.items[run.end() - 1].last
            self.items[begin : run.end()] = [_Item("E", *spans, first.relation, "order")]

    def _collapsed(self) -> list[Word]:
        self.made: list[Word] = []
        code = "".join(item.code for item in self.items)
        names = cycle(STAND_INS)
        stand_ins: dict[str, str] = {}
        nouns: dict[str, str] = {}
        position = 0
        while position < len(self.items):
            compound = _COMPOUND.match(code, position)
            if (
                compound is not None
                and compound[1].startswith(("ID", "TD"))
                and ",C" in compound[1]
            ):
                # "At the bottom, and above it": the side has no ground yet.
                compound = _COMPOUND.match(code, position, code.index(",C", position))
            elif compound is not None and "C" in compound[1] and self._opens_next(compound):
                end = compound.start() + compound[1].rindex("C")
                end -= code[end - 1] == ","
                compound = _COMPOUND.match(code, position, end)
            if compound is not None:
                contrasted = position > 0 and self._contrasts(self.items[position - 1])
                position = self._compound(compound)
                if contrasted:
                    self.made[-1] = self.made[-1]._replace(denied=True)
                continue
            item = self._bare(self.items[position])
            position += 1
            text = " ".join(self.texts[item.first : item.last + 1])
            if item.code == "Z":
                continue
            if text in ("a", "an") and code[position : position + 1] == "P":
                continue  # "is a part of"
            if self._is(text.lower(), "shortened") and self._places(code, position):
                self._add(item, item, "is")
                continue
            if item.code == "F" and self._is_noun(code, position - 1):
                self._add(item, item, STANDARD_NOUNS[-1])
                continue
            if item.code == "0":
                self._add(item, item, "not")
                continue
            if not self.made and item.code == "W" and self._is(text.lower(), "supposition"):
                self._add(item, item, _SUPPOSING)  # "Assume D is ...", taken for a name
                continue
            if item.code == "V":
                self._add(item, item, _STAYING)
                continue
            if item.code == "J":
                self._add(item, item, self.of._joined_as[text.lower()])
                continue
            if item.code == "A":
                name = stand_ins.get(text) or stand_ins.setdefault(text, next(names))
                self._add(item, item, name, label=True, places=item.places)
            elif item.code == "B":
                name = nouns.setdefault(text, STANDARD_NOUNS[len(nouns) % len(STANDARD_NOUNS)])
                self._add(item, item, name, label=True)
            elif item.category:
                shown = SHOWN[item.category]
                if item.category == "position" and self._opens_clause(position - 1):
                    shown = "it"
                if item.category in _AMBIGUOUS and item.first == item.last:
                    shown = text
                said = (item.relation,) if item.relation else ()
                self._add(
                    item, item, shown, category=item.category, relations=said, places=item.places
                )
            elif item.code == "Q" and self._is(self._at(item.last + 1), "shortened"):
                self._each(item)  # "the NEIGHBOUR's cat"
            elif item.code == "Q":
                relation = self.of.expressions["noun"].get((text.lower(),))
                said = (relation,) if relation else ()
                self._add(
                    item, item, SHOWN["noun"], category="noun" if said else "", relations=said
                )
            elif item.code == "R":
                self._add(item, item, SHOWN["reference"], category="reference")
            elif item.code == "=" and not self._is(self._at(item.first - 1), "article"):
                self._add(item, item, "is")  # but "a LIE"
            else:
                self._each(item, measure=item.code == "M", counts=item.code == "M")
        return self.made

    def _opens_next(self, compound: re.Match[str]) -> bool:
        """Whether the last part of a compound begins a clause of its own: "in the centre, and
        BEHIND her stands B".
        """
        at = self.items[compound.end() - 1].last + 1
        for word in self.lower[at : at + _FRONTED]:
            if not word.replace("'", "").replace("-", "").isalnum() or self._is(word, "relative"):
                return False
            if self._is(word, "standing"):
                return True
        return False

    def _opens_clause(self, position: int) -> bool:
        first = self.items[position].first
        before = self.items[position - 1] if position else None
        return not self._is(self.lower[first], "opening") and (
            before is None or before.code in ",C" or self.lower[before.last] in (":", "while")
        )

    def _is_noun(self, code: str, position: int) -> bool:
        """Whether a degree word stands for a thing: "the WELL"."""
        word = self.lower[self.items[position].first]
        return self._is(word, "homonym") and bool(re.match("D.(?:[W,P=]|$)", code[position - 1 :]))

    def _bare(self, item: _Item) -> _Item:
        """An item without its noun if the letter after it is enough as a name: "object B"."""
        kind = item.code == "A" and self._is(singular_of(self.lower[item.first]), "kind")
        lettered = item.last == item.first + 1 and self.texts[item.last].isalpha()
        return item._replace(first=item.last) if kind and lettered else item

    def _places(self, code: str, position: int) -> bool:
        """Whether a place follows: "'s left of", "'s on the", but not "'s left"."""
        compound = _COMPOUND.match(code, position)
        if compound is not None:
            return bool(compound[2] or compound[1].endswith("P"))
        at = self.items[position].first if position < len(self.items) else 0
        adposition = (self._at(at),) in self.of.expressions["adposition"]
        return adposition and code[position + 1 : position + 2] == "D"

    def _contrasts(self, item: _Item) -> bool:
        """Whether an item contrasts the text before it with a denied alternative after it: "rather
        than".
        """
        return item.code == "X" and item.last > item.first

    def _add(
        self,
        first: _Item,
        last: _Item,
        shown: str,
        category: str = "",
        relations: tuple[str, ...] = (),
        label: bool = False,
        measure: bool = False,
        places: Places = (),
        amounts: tuple[Amount, ...] = (),
        vague: bool = False,
    ) -> None:
        start, end = self.spans[first.first][0], self.spans[last.last][1]
        text = " ".join(self.texts[first.first : last.last + 1])
        shown = shown.capitalize() if not self.made and not label else shown
        words = self.lower[first.first : last.last + 1]
        if not (vague or self.of.extents.isdisjoint(relations)):
            vague = self._is_measured(words)
        if first.first == last.last and category in ("", "side"):
            places = places or self.of.positions.single.get(text.lower(), ())
        self.made.append(
            Word(
                *(text, shown, start, end, category, relations, label, measure),
                places=places,
                amounts=amounts,
                vague=vague,
            )
        )

    def _each(self, item: _Item, measure: bool = False, counts: bool = False) -> None:
        """Add an item's words one by one. If `counts` is set, the last word gets the amounts."""
        told = self._amounts(item) if counts else ()
        told = () if _is_backward(told) else told
        for n in range(item.first, item.last + 1):
            amounts = told if n == item.last else ()
            text, (start, end) = self.texts[n], self.spans[n]
            places = self.of.positions.single.get(text.lower(), ())
            shown = _EXTREME if text.lower().endswith("most") and places else text
            self.made.append(
                Word(text, shown, start, end, measure=measure, places=places, amounts=amounts)
            )

    def _amounts_in(self, items: Sequence[_Item]) -> Iterator[tuple[Amount, ...]]:
        """Yield the amounts of each direction among the items. An inexact amount is empty."""
        amounts: tuple[Amount, ...] | None = None
        for item in items:
            if item.code == "M":
                amounts = self._amounts(item)
            elif item.code in "SP" and amounts is not None:
                yield tuple(amount._replace(relation=item.relation) for amount in amounts)
                amounts = None

    def _compound(self, compound: re.Match[str]) -> int:
        """Add a compound expression as one word. Return the position after it."""
        compound = self._without_aside(compound)
        first, last = compound.span(1)
        if self._is_elliptic(self.items[last - 1].last + 1) and compound.string[last - 1] != "P":
            return self._told_by(first, last)
        relations: list[str] = []
        measured: list[tuple[Amount, ...]] = []
        contrasted: list[_Item] = []
        choice = False
        denied = bool(self.made) and self.made[-1].text.lower() == "not"
        for part in _PART.finditer(compound.string, first, last):
            inner = self.items[part.start(2) : part.end(2)]
            tied = self.items[part.start(1) : part.end(1)]
            if relations and denied and any(self.lower[item.first] == "but" for item in tied):
                relations = []  # "not to the right but to the left of"
                self.made.pop()
                denied = False
            said = [item.relation for item in inner if item.code in "SP"]
            measured += self._amounts_in(inner)
            choice = choice or "O" in part.group(1)
            if "X" not in part.group(1) or not relations:
                relations.append(self._joined(said))
            elif self.of._converse.get(self._joined(said)) not in relations:  # no converse
                contrasted += [*tied, *inner]
        amounts = tuple(amount for each in measured for amount in each)
        joined = () if choice or _is_backward(amounts) else self._all_joined(relations)
        codes = compound.string[first:last]
        exact = any(
            code == "F"
            and self._is(" ".join(self.lower[item.first : item.last + 1]), "exact")
            and then != "M"  # "exactly 3 m above" may be to a side, too
            for code, then, item in zip(codes, codes[1:] + " ", self.items[first:last], strict=True)
        )
        vague = not all(measured)
        told = () if choice or vague else amounts
        # Without units, amounts are ignored unless they are bounds.
        measures = (n for n, code in zip(self.items[first:last], codes, strict=True) if code == "M")
        bounded = any(self._is(self._at(item.first - 1), "inexact") for item in measures)
        vague = vague and (self.of.amounts.measures or bounded)
        link = compound.group(2)
        if link and "T" in link:
            if self.lower[self.items[last - 1].last] in ("up", "down", "back"):
                link = None  # "walks up to B"
            elif self._is_move(self._at(self.items[compound.end() - 1].last + 1)):
                link = None  # "walk north to reach B"
            elif self._is_under_way(first):
                link = None  # "the path climbs north to B", "they walked from A straight east to B"
            elif measured and compound.string[last - 1] == "S":
                link = None  # "from A it is 3 m west to B"
        prepositional = compound.string[last - 1] == "P"
        if prepositional or link:
            stop = last if prepositional else compound.end()
            ending = self.lower[self.items[last - 1].last]
            if compound.string[first] == "D" and self._is(ending, "portion"):
                joined = ()  # "covers the left half of B"
            ends = self.items[first], self.items[stop - 1]
            places: Places = ()
            degrees = len(codes) - len(codes.lstrip("FM"))  # "RIGHT at the top of"
            if self._is_within(self.items[first + degrees], ends[1]):
                joined = self._within(joined)
                exact = False
                words = self.lower[ends[0].first : ends[1].last]
                places = self._places_of(words)
            if exact:
                joined = self._exactly(joined)
            # The parser itself recognizes the prepositions with two grounds.
            shown = "between" if self.of.grouped.issuperset(joined) else SHOWN["preposition"]
            self._add(
                *ends,
                shown,
                category="preposition",
                relations=joined,
                places=places,
                amounts=told,
                vague=vague,
            )
            self._leave_out(contrasted)
            return stop
        begin = first
        while compound.string[begin] in "ITDFM" and "S" in compound.string[begin:last]:
            self._each(self.items[begin], measure=compound.string[begin] == "M")
            begin += 1
        ends = self.items[begin], self.items[last - 1]
        opened = begin > first and self._opens_inside(self.items[first])
        bounded = self._is(self.lower[ends[1].last], "inner")  # "in the southern part"
        bounded = bounded or self._is(self.lower[ends[0].first - 1], "inner")  # "at the far left"
        if opened and (bounded or self._says_inside()):
            joined = self._within(joined)
        elif exact:
            joined = self._exactly(joined)
        # "In the middle" is an adverb; "side" only after other words.
        adverb = self._is(self.lower[ends[0].first], "opening")
        shown = SHOWN["position" if adverb else "side"]
        sides = [item for item in self.items[begin:last] if item.code == "S"]
        words = self.lower[sides[0].first : sides[0].last + 1] if len(sides) == 1 else []
        self._add(
            *ends,
            shown,
            category="side",
            relations=joined,
            places=self._places_of(words),
            amounts=told,
            vague=vague,
        )
        self._leave_out(contrasted)
        return last

    def _leave_out(self, items: Sequence[_Item]) -> None:
        """Record the given items after the last word as unread."""
        if items:
            said = " ".join(self.texts[items[0].first : items[-1].last + 1])
            self.made[-1] = self.made[-1]._replace(left_out=said)

    def _without_aside(self, compound: re.Match[str]) -> re.Match[str]:
        """A compound without the part that refers to another ground. In "ON THE RIGHT, next to B",
        the first part is a side of the whole.
        """
        opening, *more = _PART.finditer(compound.string, *compound.span(1))
        first, end = opening.span(2)
        if (
            more
            and more[0].group(1) == ","
            and more[0].group(2).endswith("P")
            and re.fullmatch("ID[FM]*S+N?", opening.group(2))
            and self._opens_inside(self.items[first])
        ):
            return _COMPOUND.match(compound.string, first, end) or compound
        return compound

    def _told_by(self, first: int, last: int) -> int:
        """Add a side that identifies a thing, "the RIGHT-HAND one". Return the next position."""
        while self.items[first].code in "IDT":
            self._each(self.items[first])
            first += 1
        words = self.lower[self.items[first].first : self.items[last - 1].last + 1]
        places = self._places_of(words)
        self._add(self.items[first], self.items[last - 1], _ADJECTIVE, places=places)
        return last

    def _places_of(self, words: Iterable[str]) -> Places:
        return tuple(place for word in words for place in self.of.positions.single.get(word, ()))

    def _exactly(self, relations: Sequence[str]) -> tuple[str, ...]:
        """Forms that make a direction exact: "DIRECTLY above", "DUE north"."""
        exactly = self.of._exactly
        return tuple(exactly.get(r, r) for r in relations)

    def _within(self, relations: Sequence[str]) -> tuple[str, ...]:
        """The inner sides of a thing that correspond to the given outer sides."""
        within = self.of._within
        return tuple(dict.fromkeys(s for r in relations for s in within.get(r, (r,))))

    def _says_inside(self) -> bool:
        """Whether the last place that was stated is a side inside a thing: "on the left of the
        page, and C ON THE RIGHT".
        """
        said = next((w.relations for w in reversed(self.made) if w.relations), ())
        return bool(said) and self.of._inner_sides.issuperset(said)

    def _opens_inside(self, first: _Item) -> bool:
        """Whether a word may introduce a place inside a thing: "AT the northern tip"."""
        opening = self.lower[first.first]
        return self._is(opening, "within") or self._is(opening, "upon")

    def _is_within(self, first: _Item, last: _Item) -> bool:
        """Whether a side is inside a thing: "in the north of the park", "on the left of a page"."""
        opening, *words = self.lower[first.first : last.last + 1]
        if not self.of._within or words[-1:] != ["of"] or not self._is(words[0], "article"):
            return False
        noun = next((w for w in self.lower[last.last + 1 :] if not self._is(w, "article")), "")
        bounded = self._is(noun, "surface")
        bounded = bounded or (opening == "at" and self._is(noun, "interior"))
        common = self._is(self._at(last.last + 1), "article")
        bounded = bounded or (common and any(self._is(word, "extremity") for word in words))
        inner = any(self._is(word, "inner") for word in words)
        if self._is(opening, "goal") and inner:
            return self._conveys(first.first)  # "he moved it TO the left end of the shelf"
        return self._is(opening, "within") or (self._is(opening, "upon") and (bounded or inner))

    def _conveys(self, position: int) -> bool:
        before = (stem for word in self.lower[:position] for stem in stems(word))
        return any(self._is(stem, "transfer") or self._is(stem, "putting") for stem in before)

    def _joined(self, relations: Sequence[str]) -> str:
        """Combine sides, "upper left", into one direction. If they cannot be combined, return the
        last one.
        """
        whole = relations[0]
        for relation in relations[1:]:
            whole = self.of._join.get((whole, relation), relation)
        return whole

    def _all_joined(self, relations: Sequence[str]) -> tuple[str, ...]:
        """Combine directions that belong together; keep other relations as they are."""
        found: list[str] = []
        for relation in relations:
            for n, other in enumerate(found):
                whole = self.of._join.get((other, relation))
                if whole:
                    found[n] = whole
                    break
            else:
                found.append(relation)
        return tuple(found)


def _is_backward(amounts: Iterable[Amount]) -> bool:
    """Whether an amount is zero or negative: "minus 3 m to the right"."""
    return any(amount.value <= 0 for amount in amounts)


_CONTRASTED = 5
"""Maximum number of words for a thing mentioned in contrast: ", and not the old stork,"."""
_FRONTED = 7
"""Maximum number of words between a fronted place and the verb of its clause."""
_GLOSS = 2
"""Maximum number of words in a gloss in brackets: "Exhibit 5 (glove)"."""


def _without_asides(words: Sequence[Word], comments: Callable[[Word], bool]) -> list[Word]:
    """Remove things mentioned in contrast, "the heron, not the stork, that stands there", and
    glosses, "Exhibit 5 (glove)". Both mislead the parser.

    Args:
        words: The words.
        comments: Function that returns whether a word turns a gloss into a comment on the text
            before it.
    """
    kept: list[Word] = []
    at = 0
    while at < len(words):
        texts = [word.text.lower() for word in words[at : at + 3]]
        opening = 2 if texts[:2] == [",", "not"] else 3 if texts == [",", "and", "not"] else 0
        if opening:
            end = _aside(words, at + opening, _CONTRASTED, (",", "."), labels=True, sides=True)
            if end and kept:
                said = " ".join(word.text for word in words[at + 1 : end])
                kept[-1] = kept[-1]._replace(left_out=said)
            if end:
                at = end + (words[end].text == ",")
                continue
        if texts[:1] == ["("] and kept:
            # "SE (south east) of B", "left of B (W, NW)"
            sides = any(word.category for word in kept[-3:])
            end = _aside(words, at + 1, _GLOSS, (")",), bool(kept[-1].category), sides)
            if end and not any(map(comments, words[at + 1 : end])):
                at = end + 1
                continue
        kept.append(words[at])
        at += 1
    return kept


def _aside(
    words: Sequence[Word],
    begin: int,
    most: int,
    ends: Sequence[str],
    labels: bool = False,
    sides: bool = False,
) -> int:
    """The end of an aside that contains no expression; 0 if there is none.

    Args:
        words: The words.
        begin: Position of its first word.
        most: Maximum number of words.
        ends: Tokens that end it.
        labels: Whether labels are allowed in it.
        sides: Whether sides are allowed in it.
    """
    for end in range(begin, min(len(words), begin + most + 1)):
        word = words[end]
        if word.text in ends:
            return end if end > begin else 0
        if (labels and word.label) or (sides and word.category == "side"):
            continue
        if word.category or word.label or not word.text.replace("-", "").isalpha():
            return 0
    return 0


def _of_all(words: Sequence[Word]) -> list[Word]:
    """Replace a preposition before "all" by another one, since the parser mistakes "at all" for an
    adverb.
    """
    following = [*(word.text.lower() for word in words[1:]), ""][: len(words)]
    return [
        word._replace(shown="under")
        if word.shown == SHOWN["preposition"] and after == "all"
        else word
        for word, after in zip(words, following, strict=True)
    ]


def _turned(words: Sequence[Word]) -> list[Word]:
    """Turn an initial "not in B but beside it" into "in B and beside it", and mark the first part
    as denied. Otherwise the parser would attach the "not" to the verb.
    """
    texts = [word.text.lower() for word in words]
    if texts[:1] not in (["not"], ["neither"]) or "but" not in texts:
        return list(words)
    but = texts.index("but")
    figure = words[but - 1].category or any(w.category == "preposition" for w in words[1:but])
    if not figure or not any(w.category for w in words[but:]):
        return list(words)  # "not the front desk but ..."
    made: list[Word] = []
    for n, word in enumerate(words[:but]):
        if n == 0 or (texts[n] in ("not", "nor") and texts[n - 1] in (",", "and")):
            continue
        shown = word.shown.capitalize() if not made else word.shown
        made.append(word._replace(shown=shown, denied=bool(word.category)))
    return [*made, words[but]._replace(shown="and"), *words[but + 1 :]]
