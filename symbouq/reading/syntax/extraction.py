"""Turn parsed sentences into triplets over their words, with the rules in `rules/reading.lp`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import clingo

from symbouq.errors import OntologyError
from symbouq.ontology.slicing import Slices
from symbouq.ontology.source import ground, new_control, rule_files
from symbouq.ontology.store import Store
from symbouq.ontology.tables import Ontology
from symbouq.reading.stems import singular_of, stems
from symbouq.reading.syntax.preparation import Word

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

STRIDE = 1000
"""Distance between the token numbers of successive sentences. No sentence has more tokens."""

CONTEXT = -1
"""Token that stands for the topic of the text before a sentence."""

SURE = 3
"""Highest cost at which a reading is still used."""

NOMINAL = frozenset(("NOUN", "PROPN"))
_MODIFIERS = frozenset(("compound", "amod", "nmod", "nummod", "poss", "quantmod", "det"))
_NOMINAL_ROLES = frozenset(("pobj", "nsubj", "nsubjpass", "dobj", "attr", "conj"))
_ADPOSITIONS = ("ADP", "SCONJ")  # "upon" is tagged as either
_SMALL = frozenset(("ADP", "ADV", "DET", "PART", "ADJ", "NUM"))
_LISTING = frozenset(
    (",", "and", "then", ">", "<", "finally", "followed", "by", "next", "lastly", "first")
)
_ORDER = ("trigger", "figure", "ground", "negative")
_MOVING = frozenset(("transfer", "travelling", "putting"))
"""Classes of verbs with a subject or object that moves."""
_TENSES = {"VBD": "past", "VBP": "present", "VBZ": "present"}
_TOLD = frozenset(("VBZ", "VBD", "VBN"))
"""Part-of-speech tags of verbs that report an action, in the active or the passive."""
_COMPANIONS = frozenset(("with", "on", "onto", "upon", "to", "at", "against"))
"""Prepositions that may introduce a verb's ground if the verb's expression contains no preposition.
"""


@dataclass(frozen=True)
class Triplet:
    """A relation stated in a sentence, given by three words: indicator, figure and ground.

    Attributes:
        trigger: The word that expresses the relation.
        figure: Head of the thing that is placed, or `CONTEXT`.
        ground: Head of the thing relative to which the figure is placed, or `CONTEXT`.
        relations: The relations.
        cost: How far the reading departs from the simplest one.
        negative: Whether the relation is denied.
        force: Its force; `asserted` by default.
        unsure: Whether the sentence may have content that was not read.
        modal: In a question, whether it asks for `possible`, `necessary` or `impossible`.
        frame: How a side is defined: `own` (the ground's own side, "on ITS left"), `aboard` (by a
            vessel, "on the PORT side"), `seen` (by the person that the text follows, "on the
            left"), `of` (possibly by a ground) or `hour` (by a clock face); otherwise, by the
            text's viewpoint.
        until: Whether the relation held only until the move that the sentence reports.
        former: Whether the relation is stated as a past state: "was above".
    """

    trigger: int
    figure: int
    ground: int
    relations: tuple[str, ...]
    cost: int
    negative: bool
    force: str
    unsure: bool = False
    modal: str = ""
    frame: str = ""
    until: bool = False
    former: bool = False


_NAMELESS = ("pronoun", "wanted", "group", "elliptic", "shared", "universal")


@dataclass(frozen=True)
class Phrase:
    """A pronoun, or a noun phrase that may refer to a thing.

    Attributes:
        head: Head of the noun phrase.
        words: The words that name the thing, without article.
        kind: `pronoun`, `definite`, `indefinite`, `plural`, `name`, `person` (the speaker or the
            addressee), `wanted` ("what", "who"), `group` (things mentioned before: "both", "the
            other two", "the latter"), `elliptic` (without a noun of its own: "the blue one"),
            `shared` (a place identified by another thing in it: "the same drawer as the pen") or
            `universal` ("nothing").
        role: Its role in the sentence: `subject`, `introduced` ("there is a lamp"), `object` (of a
            verb), `oblique` (a pronoun after a preposition) or `other`.
        count: The number of things that the phrase refers to, if stated.
        plural: Whether the phrase refers to several things.
        rest: Whether the phrase refers to things not yet mentioned: "the OTHER two".
        pick: The index of the thing picked from a group: 0 ("the former") or -1 ("the LATTER").
    """

    head: int
    words: tuple[int, ...]
    kind: str
    role: str
    count: int | None = None
    plural: bool = False
    rest: bool = False
    pick: int | None = None

    @property
    def names(self) -> bool:
        """Whether the phrase itself identifies a thing, unlike "it" and "what"."""
        return self.kind not in _NAMELESS

    @property
    def person(self) -> bool:
        """Whether the phrase refers to the speaker or the addressee. "It" and "she" cannot refer to
        them.
        """
        return self.kind == "person"


class Place(NamedTuple):
    """A thing's place on a scale, as stated in a sentence.

    Attributes:
        figure: Head of the thing.
        scale: The scale.
        number: The number of the place.
        told: The word that states the place, or the noun that this word modifies: "the top SHELF".
    """

    figure: int
    scale: str
    number: int
    told: int


class Counted(NamedTuple):
    """A trigger with a relation that is stated for a number of things.

    Attributes:
        trigger: The word that expresses the relation.
        figure: The counting word for the things that are placed, if any.
        ground: The counting word for the grounds, if any.
        other: Head of the thing at the other end of the relation, if only one end is counted.
    """

    trigger: int
    figure: int | None
    ground: int | None
    other: int | None


class Step(NamedTuple):
    """A turn of a thing.

    Attributes:
        moved: Head of the thing that turns.
        told: The word for the direction of the turn.
        kind: `turn` (to a side), `about`, `face` (to a side), `course` (the same, for a moving
            thing), `face_away` or `course_away` (from a side) or `face_other`.
    """

    moved: int
    told: int
    kind: str


@dataclass(frozen=True)
class Extracted:
    """The content of a sentence.

    Attributes:
        triplets: The relations that it states, in terms of its words.
        phrases: Its noun phrases, by their heads.
        places: The places of things stated in it.
        sequences: The direction in which numbered things are arranged: their noun, the thing at an
            end (the noun itself if the numbering begins there), the word for the end, and the
            relation of the thing at this end to the others.
        aliases: Noun phrases that identify a thing by its place, each with the noun phrase that
            says what the thing is: "the top book is the atlas".
        moves: Noun phrases for things that move or are moved.
        acting: Noun phrases for persons, to judge by what they do.
        resettled: Noun phrases for things whose later place is told: "later it was on B".
        turns: Noun phrases for things that turn.
        spills: Noun phrases for things of which nothing is in or on them any longer.
        present: Noun phrases for things that are spoken of in the present tense.
        groups: Coordinated noun phrases, in order: "A, B and C".
        members: Maps a noun phrase for several things to the noun phrases that list them one by
            one: "two pots, a red one and a blue one".
        parts: Maps a noun phrase for a part to the noun phrases for its whole.
        swaps: Noun phrases for things that swap places.
        steps: The turns of things, in order.
        counts: Triggers with relations that are stated for a number of things.
        among: Maps a counting word to the noun phrases for the things it counts.
        held_by: Maps a counting word to the noun phrases for the containers or supports of the
            things it counts.
        seen_by: The viewpoint of the sentence, and whether it is certain.
        extremes: A word for the first place on a scale, the noun phrase for the thing at this
            place, and the noun phrase for the things among which it is first.
        amended: Omitted words. Each entry has a word, the text to supply, and whether this text
            replaces the word instead of preceding it.
        rest: Words about places that were not read.
        bare: Expressions that contribute nothing about the things, whatever was read.
        described: Maps an expression that identifies a thing, "the lamp ABOVE B is red", to the
            verb of the statement about this thing. An expression without such a verb is mapped to
            itself.
    """

    triplets: tuple[Triplet, ...]
    phrases: Mapping[int, Phrase]
    places: tuple[Place, ...] = ()
    aliases: tuple[tuple[int, int], ...] = ()
    moves: frozenset[int] = frozenset()
    acting: frozenset[int] = frozenset()
    resettled: frozenset[int] = frozenset()
    turns: frozenset[int] = frozenset()
    spills: frozenset[int] = frozenset()
    present: frozenset[int] = frozenset()
    groups: tuple[tuple[int, ...], ...] = ()
    members: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    parts: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    swaps: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    counts: tuple[Counted, ...] = ()
    among: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    held_by: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    extremes: tuple[tuple[int, int, int], ...] = ()
    seen_by: tuple[tuple[int, bool], ...] = ()
    amended: tuple[tuple[int, int | str, bool], ...] = ()
    sequences: tuple[tuple[int, int, int, str], ...] = ()
    rest: frozenset[int] = frozenset()
    bare: frozenset[int] = frozenset()
    described: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


_PICKED = ((0, "former"), (-1, "latter"))
"""Positions in a group of things, each with the class of words for it."""
_MODAL = ("impossible", "possible", "necessary")
_FORCES = ("asked", "supposed", "doubted", "glossed", *_MODAL)
"""The forces. If a triplet has several, the first in this order applies."""


class Extraction:
    """Extractor of triplets.

    Args:
        ontology: The tables of the profile.
        verbs: Maps verb expressions, as tuples of words, to relations.
        adpositions: The same for expressions that the parser already recognizes as prepositions.
    """

    def __init__(
        self,
        ontology: Ontology,
        verbs: Mapping[tuple[str, ...], str],
        adpositions: Mapping[tuple[str, ...], str],
    ) -> None:
        self._converse = ontology.relations.converse
        self._symmetric = {r for r, s in ontology.relations.mirror.items() if r == s}
        self._symmetric |= {
            r for r in ontology.wording.understood_as if ontology.understood(r) in self._symmetric
        }
        self._partly = ontology.wording.partly_as
        self._through = ontology.wording.through_as
        self._excludes = ontology.relations.excludes
        self._joins = ontology.relations.join
        self.ordinals = ontology.lexicon.ordinal
        self.numerals = ontology.lexicon.numeral
        self._directional = set(ontology.relations.displacement)
        self._classes: dict[str, list[str]] = {}
        for name, texts in ontology.wording.lexeme.items():
            for text in texts:
                self._classes.setdefault(text, []).append(name)
        self._verbs: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for words, relation in verbs.items():
            self._verbs.setdefault(words[0], []).append((words, relation))
        for options in self._verbs.values():
            options.sort(key=lambda option: -len(option[0]))
        self.adpositions = {" ".join(words): r for words, r in adpositions.items()}
        self.senses = ontology.wording.sense
        self.persons = ontology.wording.person
        self.goals = ontology.wording.lexeme.get("goal", frozenset())
        self.turning = {"sideways", "oclock", "aboard", "jointly", "far_across", "along_street"}
        self.pairs = ontology.wording.lexeme.get("pair", frozenset())
        self.inner_sides = ontology.wording.inner_sides

    def excluding(self, r: str, s: str) -> bool:
        """Whether two relations exclude each other and cannot be joined into one."""
        return s in self._excludes.get(r, ()) and not self._joins.get((r, s))

    def extracted(self, sentences: Sequence[tuple[Sequence[Word], Doc, bool]]) -> list[Extracted]:
        """Extract the content of each sentence.

        Args:
            sentences: For each sentence, its words, its parse, and whether it is a question.

        Raises:
            OntologyError: If the rules do not determine the content of a sentence.
        """
        batch = [
            _Facts(self, number * STRIDE, words, doc, asked)
            for number, (words, doc, asked) in enumerate(sentences)
        ]
        control, complaints = new_control("-Wno-atom-undefined")
        facts = [fact for of_sentence in batch for fact in of_sentence.facts]
        control.add("base", [], reading_slices().beside(facts) + "".join(facts))
        ground(control, complaints, "reading")
        atoms = _decoded(control, len(batch))
        return [self._said(atoms[n], facts, n * STRIDE) for n, facts in enumerate(batch)]

    def facts(self, words: Sequence[Word], doc: Doc, asked: bool) -> list[str]:
        """Express a sentence as facts for `rules/reading.lp`. Tokens are numbered from 0."""
        return _Facts(self, 0, words, doc, asked).facts

    def _said(self, atoms: Atoms, facts: _Facts, base: int) -> Extracted:
        phrases = facts.phrases

        def of(name: str, *heads: int) -> list[tuple[Any, ...]]:
            """Return the rows of a predicate that have noun phrases as arguments at the given
            positions.
            """
            return [row for row in atoms[name] if all(row[n] in phrases for n in heads)]

        ends: dict[int, dict[str, int]] = {}
        for trigger, word, end in of("counts"):
            ends.setdefault(trigger, {})[end] = word
        for trigger, head in of("other_end", 1):
            ends.setdefault(trigger, {})["other"] = head
        amended = {(at, False): what for at, what in of("understood")}
        amended |= {(at, True): what for at, what in of("instead")}
        seen_by = {(*row, True) for row in of("seen_by")} | {
            (*row, False) for row in of("seen_for")
        }
        return Extracted(
            triplets=self._triplets(atoms, facts, base),
            phrases=phrases,
            places=tuple(sorted({Place(*row) for row in of("place", 0)})),
            aliases=tuple(sorted(of("alias", 0, 1))),
            moves=frozenset(moved for (moved,) in of("moves", 0)),
            acting=frozenset(head for (head,) in of("acting", 0)),
            resettled=frozenset(head for (head,) in of("resettled", 0)),
            turns=frozenset(head for (head,) in of("turns", 0)),
            spills=frozenset(head for (head,) in of("spills", 0)),
            present=frozenset(head for (head,) in of("present", 0)),
            groups=_groups(_linked(of("also", 0, 1))),
            members=_linked(of("member", 0, 1)),
            parts=_linked(of("belongs", 0, 1)),
            swaps=_linked(of("swaps", 0, 1)),
            steps=tuple(sorted((Step(*row) for row in of("step", 0)), key=attrgetter("told"))),
            counts=tuple(
                Counted(t, found.get("figure"), found.get("ground"), found.get("other"))
                for t, found in sorted(ends.items())
            ),
            among=_linked(of("among", 1)),
            held_by=_linked(of("held_by", 1)),
            extremes=tuple(sorted(of("extreme", 1, 2))),
            seen_by=tuple(sorted(seen_by)),
            amended=tuple((at, what, instead) for (at, instead), what in sorted(amended.items())),
            sequences=tuple(sorted(of("sequence"))),
            rest=frozenset(word for (word,) in of("rest")),
            bare=frozenset(word for (word,) in of("bare")),
            described=_linked(of("described")),
        )

    def _triplets(self, atoms: Atoms, facts: _Facts, base: int) -> tuple[Triplet, ...]:
        negative, partial, unsure, turned, until, former = (
            {trigger for (trigger,) in atoms[name]}
            for name in ("negative", "partial", "unsure", "denies_again", "until", "former")
        )
        frame: dict[int, str] = dict(atoms["frame"])
        through, forces = _linked(atoms["via"]), _linked(atoms["force"])
        found: dict[tuple[int, ...], Triplet] = {}
        for name in ("says", "again"):
            for row in atoms[name]:
                t, figure, ground, cost = row
                if not {figure, ground} <= {CONTEXT, *facts.phrases}:
                    continue  # The rules mistook a word for a thing.
                relations = facts.relations[base + t]
                if t in partial and t not in negative:
                    relations = tuple(self._partly.get(r, "") for r in relations)
                for part in through.get(t, ()):
                    relations = tuple(self._through.get((part, r), "") for r in relations)
                denied = t in (turned if name == "again" else negative)
                told = forces.get(t, ())
                said = next((force for force in _FORCES if force in told), "asserted")
                modal = next((f for f in _MODAL if f in told), "") if said == "asked" else ""
                found[t, figure, ground, denied] = Triplet(
                    *(t, figure, ground, relations, cost, denied, said, t in unsure),
                    modal,
                    frame.get(t, ""),
                    t in until,
                    t in former,
                )
        return tuple(sorted(found.values(), key=attrgetter(*_ORDER)))


_SHOWN = {
    **dict.fromkeys(("says", "again"), "tttn"),
    **dict.fromkeys(("negative", "partial", "unsure", "denies_again", "until", "moves"), "t"),
    **dict.fromkeys(("acting", "former", "present", "resettled", "spills", "turns"), "t"),
    **dict.fromkeys(("seen_by", "seen_for", "rest", "bare"), "t"),
    **dict.fromkeys(("via", "force", "frame", "understood", "instead"), "ts"),
    **dict.fromkeys(("alias", "also", "member", "belongs", "swaps", "described"), "tt"),
    **dict.fromkeys(("other_end", "among", "held_by"), "tt"),
    **dict.fromkeys(("step", "counts"), "tts"),
    "extreme": "ttt",
    "sequence": "ttts",
    "place": "tsnt",
}
"""The predicates shown by `rules/reading.lp`, each with the kinds of its arguments. The first
argument is a token in the sentence. The kinds are token, symbol or text (or a token instead of a
text), and number.
"""

Atoms = Mapping[str, Sequence[tuple[Any, ...]]]
"""The output of the rules for one sentence: each predicate with the arguments of its atoms. Tokens
are numbered from 0.
"""


def _decoded(control: clingo.Control, count: int) -> Sequence[Atoms]:
    """Collect the output of a grounded program for each sentence.

    Raises:
        OntologyError: If the rules do not determine whether an atom holds.
    """
    found: list[dict[str, list[tuple[Any, ...]]]] = [defaultdict(list) for _ in range(count)]
    for name, kinds in _SHOWN.items():
        for atom in control.symbolic_atoms.by_signature(name, len(kinds)):
            if not atom.is_fact:
                raise OntologyError(
                    f"{name}/{len(kinds)} of the reading rules depends on its own negation or "
                    "aggregate, so that grounding does not decide it",
                    "rules/reading.lp",
                )
            arguments = atom.symbol.arguments
            row = tuple(map(_value, kinds, arguments))
            found[arguments[0].number // STRIDE][name].append(row)
    return found


def _value(kind: str, argument: clingo.Symbol) -> int | str:
    if argument.type is clingo.SymbolType.Number:
        number = argument.number
        return number if kind == "n" or number < 0 else number % STRIDE
    return argument.string if argument.type is clingo.SymbolType.String else str(argument)


def _linked(rows: Iterable[tuple[Any, ...]]) -> dict[Any, tuple[Any, ...]]:
    """Map each first argument to its second arguments, in order."""
    found: dict[Any, set[Any]] = defaultdict(set)
    for first, second in rows:
        found[first].add(second)
    return {first: tuple(sorted(seconds)) for first, seconds in found.items()}


class _Facts:
    """A sentence expressed as facts.

    Args:
        of: The extractor, which has the word classes and the verbs.
        base: The number of its first token.
        words: Its words.
        doc: Its parse.
        asked: Whether it is a question.

    Attributes:
        facts: The facts, each ending in a full stop.
        relations: The relations that each trigger expresses.
        phrases: The noun phrases.
    """

    def __init__(
        self, of: Extraction, base: int, words: Sequence[Word], doc: Doc, asked: bool
    ) -> None:
        self._of = of
        self._base = base
        self._asked = asked
        self._words = words
        self.relations: dict[int, tuple[str, ...]] = {}
        self.phrases: dict[int, Phrase] = {}
        self._triggers: list[int] = []
        self._things: list[int] = []
        self._light: dict[int, int] = {}  # objects that belong to a verb: "share a BORDER"
        self._brought: set[int] = set()  # prepositions that belong to a verb: "extend INTO"
        self.facts: list[str] = [f"asked({base // STRIDE})."] if asked else []
        for word, token in sorted(
            zip(words, doc, strict=True), key=lambda pair: pair[1].pos_ not in ("VERB", "AUX")
        ):
            self._token(word, token)
        for token in doc:
            self._adposition(token)
        for noun, verb in self._light.items():
            self._say(f"light({base + verb},{base + noun}).")
            self._say(
                *(
                    f"companion({base + verb},{base + c.i})."
                    for c in doc[noun].children
                    if c.lower_ == "with"
                )
            )
        self._order(doc)

    def _say(self, *facts: str) -> None:
        self.facts += facts

    def _token(self, word: Word, token: Token) -> None:
        t = self._base + token.i
        lower = word.text.lower()
        lemma = token.lemma_.lower()
        if word.category and word.shown.lower() != lower:
            lemma = lower  # the lemma of the shown word is irrelevant
        texts = [] if word.label else [lower, lemma]  # "A" is not an article where it is a name
        # The stand-in verb has its own lemma, and that of a verb may be wrong ("rid" for "rides").
        if not word.category and (token.pos_ == "VERB" or token.lower_ != word.shown.lower()):
            texts += stems(lower)
        if word.category == "position":
            texts = [lower.split()[0]]  # "TO (2, 4)"
        names = {name for text in texts for name in self._of._classes.get(text, ())}
        if word.relations:  # "to the LEFT of"
            said = lower.split()
            said += [" ".join(said[n:]) for n in range(1, len(said))]  # "right AT THE FAR END OF"
            names |= self._of.turning & {n for w in said for n in self._of._classes.get(w, ())}
        self._say(
            f"pos({t},{_quoted(token.pos_.lower())}).",
            f"word({t},{_quoted(lower)}).",
            f"lemma({t},{_quoted(lemma)}).",
            *(f"class({t},{name})." for name in names),
            *(f"tells({t},{scale},{number})." for scale, number in word.places),
            *([f"ordinal({t},{self._of.ordinals[lower]})."] if lower in self._of.ordinals else []),
            *([f"amount({t})."] if word.amounts else []),
            *([f"measure({t})."] if word.measure else []),
        )
        if token.tag_ == "VBN":
            self._say(f"participle({t}).")
        if token.tag_ in _TENSES:
            self._say(f"tense({t},{_TENSES[token.tag_]}).")
        if token.head.i == token.i:
            self._say(f"root({t}).")
        else:
            self._say(f"dep({t},{self._base + token.head.i},{_quoted(token.dep_)}).")
        if token.i in self._brought:
            return
        if token.dep_ == "prt" and word.category == "preposition":
            return  # "when you come IN"
        if word.category and token.i not in self._light and not self._is_plain(word, token):
            # "the upper shelf": the side belongs to a name.
            naming = word.category == "side" and self._modifies(token, "amod", "compound", "nmod")
            bare = word.category in ("reference", "position")
            occasional = word.category == "preposition" and self._is_occasion(token)
            if (word.relations or bare) and not naming and not occasional:
                self._trigger(t, word.category, word.relations)
                if word.category == "term":
                    figure, ground = (self._words[token.i + n].text for n in (-1, 1))
                    self._say(f"formula({t},{_quoted(figure)},{_quoted(ground)}).")
                if word.denied:
                    self._say(f"set_against({t}).")
            return
        verb = self._verb(token)
        if verb is not None:
            relation, companion = verb
            self._trigger(t, "verb", (relation,))
            brought = {companion} if companion else _COMPANIONS
            companions = [
                c.i
                for c in (token.subtree if companion else token.children)
                if self._text(c).split()[-1] in brought
                and (_is_own(c, token) if companion else c.i > token.i)
            ]
            self._brought.update(n for n in companions if not self._words[n].category)
            self._say(
                *(f"companion({t},{self._base + n})." for n in companions),
                *([f"bound({t})."] if companion else []),
            )
            return
        self._noun(word, token, names)

    def _is_plain(self, word: Word, token: Token) -> bool:
        """Whether an expression is used as an ordinary verb or as part of a name here."""
        if word.shown.lower() != word.text.lower() or word.category in ("locative", "preposition"):
            return False
        if word.category == "noun" and token.dep_ == "poss":
            return True  # "my neighbour's car"
        if word.category == "mutual":
            stated = token.tag_ == "VBN" or token.dep_ in ("acomp", "attr", "advcl")
            verbal = token.pos_ in ("VERB", "NOUN") and not stated
            return self._modifies(token, "amod") or verbal
        return token.pos_ not in NOMINAL or token.dep_ in ("compound", "amod")

    def _modifies(self, token: Token, *roles: str) -> bool:
        """Whether a token modifies, in one of the given roles, a noun that is not an expression."""
        head = token.head
        nominal = head.pos_ in NOMINAL or head.lower_ in ("one", "ones")
        return token.dep_ in roles and nominal and not self._words[head.i].category

    def _trigger(self, t: int, category: str, relations: tuple[str, ...]) -> None:
        self._say(f"trigger({t},{category}).", *(f"expresses({t},{r})." for r in relations))
        if category == "reference":
            return
        self.relations[t] = relations
        if category == "position":
            self._triggers.append(t)
            return
        if category not in ("locative", "stretch", "effort"):  # used for things anywhere
            self._triggers.append(t)
        if self._of._directional.issuperset(relations):
            self._say(f"directional({t}).")
        if relations and self._of.inner_sides.issuperset(relations):
            self._say(f"inner({t}).")
        if self._of._symmetric.issuperset(relations):
            self._say(f"symmetrical({t}).")
        if all(self._of._partly.get(r) == r for r in relations):
            self._say(f"by_part({t}).")
        if any(self._of.excluding(r, s) for r, s in combinations(relations, 2)):
            self._say(f"alternatives({t}).")

    def _verb(self, token: Token) -> tuple[str, str] | None:
        """The relation expressed by a verb, and the preposition in this expression."""
        if token.dep_ in ("aux", "auxpass", "compound", "amod", "poss", "det"):
            return None
        if token.pos_ not in ("VERB", "AUX") and token.dep_ not in ("ROOT", "relcl", "acl"):
            return None
        parts = [
            t
            for t in reversed(list(token.subtree))
            if t.i > token.i or (t.i < token.i and not _has_object(t))
        ]
        below = {self._text(t): t for t in parts}
        below |= {
            part.lemma_.lower(): part
            for part in parts
            if part.head.i == token.i and not self._words[part.i].category  # no stand-ins
        }
        for words, relation in self._options(token):
            if len(words) == 1:
                return relation, ""
            said = _parts(words[1:], below)
            if not said or said[0].head.i != token.i:
                continue
            if said[0].pos_ in NOMINAL:
                self._light[said[0].i] = token.i
            own = (t.i for t in said if self._words[t.i].category or t.pos_ in _ADPOSITIONS)
            self._brought.update(own)
            tied = said[-1].pos_ in _ADPOSITIONS and said[0].pos_ not in NOMINAL
            return relation, words[-1] if tied else ""
        return None

    def _options(self, token: Token) -> list[tuple[tuple[str, ...], str]]:
        """The expressions that may begin with a given verb, the longest first."""
        text, lemma = self._text(token), token.lemma_.lower()
        lemmas = [lemma]
        if token.lower_ != text:  # shown as another verb, since the parser does not know it
            lemmas = sorted(stems(text))
        elif token.pos_ != "VERB":
            lemmas.append(singular_of(lemma))
        return [option for name in lemmas for option in self._of._verbs.get(name, ())]

    def _is_owned(self, text: str) -> bool:
        """Whether an expression contains a possessive: "up and to ITS left"."""
        classes = (self._of._classes.get(word, ()) for word in text.lower().split())
        return any("possessive" in names for names in classes)

    def _text(self, token: Token) -> str:
        return self._words[token.i].text.lower()

    def _adposition(self, token: Token) -> None:
        """Read a preposition that expresses a place only with certain objects: "ON the desk", but
        not "on Monday". Its meaning depends on the object.
        """
        text = self._text(token)
        relation = self._of.adpositions.get(text)
        if relation is None or token.pos_ not in _ADPOSITIONS or token.dep_ == "agent":
            return
        if self._words[token.i].category or token.i in self._brought:
            return
        moving = token.head.tag_ in _TOLD and _MOVING & self._classes_of(token.head)
        if text in self._of.goals and not moving:
            return  # "carried TO the door", not "attached TO the door", "you walk TO the door"
        ground = _object(token)
        if ground is None or ground.i not in self.phrases or self._is_occasion(token):
            return
        bare = not any(c.dep_ in _MODIFIERS for c in ground.children)
        if bare and ground.tag_ == "NN" and not self._words[ground.i].label:
            return  # "cheek BY jowl"
        counted = [t for t in ground.children if t.lower_ in self._of.ordinals]
        graded = bool(counted) or any(self._words[t.i].places for t in (ground, *ground.children))
        if self._in_class(token.head, "unplaced") or (
            token.i and self._in_class(token.nbor(-1), "unplaced")
        ):
            return
        kinds = [*sorted(self._classes_of(ground)), *(["graded"] if graded else [])]
        senses = (self._of.senses.get((text, kind)) for kind in kinds)
        relation = next((sense for sense in senses if sense), relation)
        self._trigger(self._base + token.i, "preposition", (relation,))
        self._say(f"adposition({self._base + token.i}).")

    def _is_occasion(self, token: Token) -> bool:
        """Whether a preposition introduces a time, a manner or a reason: "IN summer", "ON foot"."""
        ground = _object(token)
        if ground is None:
            return False
        if self._is_ranked(ground) and self._is_directional(token):
            return False  # "above the first", unlike "at first"
        bare = not any(c.dep_ in _MODIFIERS for c in ground.children)
        dated = any(self._in_class(t, "occasion") for t in ground.children if t.dep_ == "compound")
        first, *rest = self._text(ground).split()
        numbered = [word for word in rest if word.isdecimal()]  # "in MINUTE 70"
        labelled = bool(numbered) and "occasion" in self._of._classes.get(first, ())
        occasion = dated or labelled or self._in_class(ground, "occasion")
        return occasion or (bare and self._in_class(ground, "manner"))

    def _is_formation(self, token: Token) -> bool:
        """Whether a noun describes the arrangement of several things: "in a ROW"."""
        articles = [c.lower_ for c in token.children if c.dep_ == "det"]
        return token.dep_ == "pobj" and "a" in articles

    def _in_class(self, token: Token, name: str) -> bool:
        return name in self._classes_of(token)

    def _classes_of(self, token: Token) -> set[str]:
        """The classes of a singular or plural word. "Ward 5" has the classes of "ward", a
        letter that is a name has none.
        """
        if self._words[token.i].label and len(self._text(token)) == 1:
            return set()
        named = [word for word in self._text(token).split() if not word.isdecimal()]
        text = named[-1] if named else self._text(token)
        texts = (text, text.removesuffix("s"), token.lemma_.lower())
        return {name for text in texts for name in self._of._classes.get(text, ())}

    def _noun(self, word: Word, token: Token, names: set[str]) -> None:
        t = self._base + token.i
        if token.i in self._light or not any(c.isalnum() for c in word.text):
            return
        if self._is_event(token):
            return
        if token.lower_ in self._of.persons and not word.label:
            if self._is_placed(token):
                self._say(f"mention({t}).")
                self._things.append(t)
                self.phrases[token.i] = Phrase(token.i, (token.i,), "person", _role(token))
            self._say(f"person({t}).")
            return
        pronoun = bool(names & {"pronoun", "possessive"})
        if pronoun:
            self._things.append(t)
            role = "other" if "animate" in names and token.dep_ == "pobj" else _role(token)
            plural = "several" in names
            self.phrases[token.i] = Phrase(token.i, (token.i,), "pronoun", role, plural=plural)
            return
        if self._asked and "asking" in names and token.pos_ == "PRON":
            self.phrases[token.i] = Phrase(token.i, (token.i,), "wanted", "other")
            return
        empty = token.dep_ == "acomp"  # "A is empty", not "to empty A" or "the empty A"
        if "universal" in names and (empty or token.pos_ == "PRON") and not self._asked:
            if not empty:
                self._say(f"mention({t}).")
                self._things.append(t)
            self.phrases[token.i] = Phrase(token.i, (token.i,), "universal", _role(token))
            return
        if not word.label and self._is_group(token, names):
            self._say(f"mention({t}).", f"group({t}).")
            self._things.append(t)
            self.phrases[token.i] = self._group(token)
            return
        elliptic = None if word.label else self._elliptic(token)
        if elliptic is not None:
            self._say(f"mention({t}).")
            self._things.append(t)
            self.phrases[token.i] = elliptic
            return
        if not word.label:
            same = any(c.lower_ == "same" and c.dep_ == "amod" for c in token.children)
            if same and any(c.lower_ == "as" for c in token.doc[token.i + 1 :]):
                # "in the same room as B"
                self._say(f"mention({t}).")
                self._things.append(t)
                self.phrases[token.i] = Phrase(token.i, (token.i,), "shared", "other")
                return
            owned = any(child.dep_ in ("det", "poss") for child in token.children)
            if "motion" in names and not owned:
                return  # "drive south"
            modified = any(c.dep_ == "compound" and c.pos_ == "NOUN" for c in token.children)
            if word.measure or names & {"neutral", "reciprocal", "many", "far_measure"}:
                return
            if "collective" in names and (
                any(c.lower_ == "of" for c in token.children) or self._is_formation(token)
            ):
                return  # "a ROW of hooks", "they stand in a ROW"
            if "abstract" in names and not modified:
                return
            nominal = token.pos_ in NOMINAL or (
                token.pos_ in ("ADJ", "VERB", "ADV", "NUM")
                and token.dep_ in _NOMINAL_ROLES
                and any(child.dep_ == "det" for child in token.children)
            )
            finite = token.tag_ in ("VBZ", "VBD")  # "a desk RUNS along the wall", taken for a noun
            if not nominal or (finite and any(c.dep_ == "compound" for c in token.children)):
                return
            head = token.head
            within = token.dep_ in ("compound", "amod", "nmod") and head.pos_ in NOMINAL
            within = within and not _is_listed(token)
            owner = "whereabouts" in self._of._classes.get(head.lemma_.lower(), ())
            measured = self._words[head.i].measure  # "moves A one CELL to the left"
            if within and not (owner or measured or self._words[head.i].category):
                return
        self._say(f"mention({t}).", *([f"label({t})."] if word.label else []))
        self._things.append(t)
        phrase = self.phrases[token.i] = self._phrase(word, token)
        if phrase.plural:
            self._say(f"several({t}).")

    def _is_placed(self, token: Token) -> bool:
        """Whether the sentence places the speaker or the addressee: "behind ME", "on YOUR left",
        "YOU have it on the right", but not "YOU see that ...".
        """
        head = token.head
        category = self._words[head.i].category
        if token.dep_ == "poss":
            return category == "side"
        if token.dep_ == "pobj":
            return category == "preposition"
        settled = self._classes_of(head) & {"copula", "have"} or head.tag_ == "VBG"
        told = any(c.dep_ in ("ccomp", "xcomp", "csubj") for c in head.children)
        between = token.doc[token.i + 1 : head.i]
        adjoined = token.i < head.i and all(t.pos_ in ("AUX", "ADV", "PART") for t in between)
        return token.dep_ == "nsubj" and bool(settled) and adjoined and not told

    def _is_event(self, token: Token) -> bool:
        """Whether a noun at the start of a sentence gives a time: "Before the MOVE, ..."."""
        opening = token.head
        if token.dep_ != "pobj" or not self._in_class(opening, "temporal"):
            return False
        return opening.i == next((w.i for w in opening.doc if w.text.isalnum()), 0)

    def _is_group(self, token: Token, names: set[str]) -> bool:
        """Whether a word stands for several things by itself: "BOTH are red", "above all THREE"."""
        counts = self._count(token) not in (None, 1)
        ones = "neutral" in names and (token.tag_ == "NNS" or self._is_rest(token))
        named = self._of._classes.get(token.lower_, ())
        others = {"group", "other", "former", "latter"}.intersection(named)
        if any(t.lower_ in ("each", "one") and t.i == token.i - 1 for t in token.children):
            return False  # "each other"
        of_whole = any(t.lower_ == "of" for t in token.children)
        if of_whole and token.lower_ in ("all", "none"):
            return False  # "all of the lawn"
        if counts and token.dep_ == "pobj" and token.head.lower_ != "of":
            # "at three" is a time, "above the three" is not.
            counts = any(t.i < token.i for t in token.children)
        if not (others or counts or ones):
            return False
        return token.dep_ in _NOMINAL_ROLES or token.dep_ in ("appos", "ROOT", "npadvmod", "dep")

    def _group(self, token: Token) -> Phrase:
        """The noun phrase for a word that stands for several things."""
        counts = [self._count(t) for t in (token, *token.children) if t.i <= token.i]
        count = next((n for n in counts if n is not None), None)
        if count is None and any(self._in_class(t, "pair") for t in (token, *token.children)):
            count = 2
        rest = self._is_rest(token)
        pick = next((n for n, name in _PICKED if self._in_class(token, name)), None)
        if count is None and ((rest and token.tag_ != "NNS") or pick is not None):
            count = 1
        return Phrase(token.i, (token.i,), "group", _role(token), count, True, rest, pick)

    def _elliptic(self, token: Token) -> Phrase | None:
        """The noun phrase for "one" if its modifiers identify the thing: "the BLUE one". Likewise
        for a word that identifies a thing on its own: "the SECOND", "ANOTHER".
        """
        if self._tells_alone(token):
            return Phrase(token.i, (token.i,), "elliptic", _role(token))
        told = [
            c.i
            for c in token.children
            if c.i < token.i
            and not self._in_class(c, "pointing")
            and (
                c.dep_ == "amod"
                or (c.dep_ in ("compound", "nmod") and self._words[c.i].category == "side")
            )
        ]
        told += [c.i for c in token.children if c.i < token.i and self._in_class(c, "additive")]
        article = any(c.dep_ == "det" and c.i <= min([*told, token.i]) for c in token.children)
        if not (self._in_class(token, "ellipsis") and told and article):
            return None
        return Phrase(token.i, tuple(told), "elliptic", _role(token))

    def _tells_alone(self, token: Token) -> bool:
        """Whether a word stands for a thing and distinguishes it from others of its kind."""
        if token.dep_ not in _NOMINAL_ROLES or token.doc[max(0, token.i - 1)].lower_ == "one":
            return False  # "one another"
        if token.pos_ in ("DET", "PRON") and self._in_class(token, "additive"):
            return True
        timed = token.dep_ == "pobj" and not self._is_directional(token.head)  # "in the second"
        return self._is_ranked(token) and not timed

    def _is_directional(self, token: Token) -> bool:
        relations = self._words[token.i].relations
        return bool(relations) and self._of._directional.issuperset(relations)

    def _is_ranked(self, token: Token) -> bool:
        """Whether a word identifies a thing by rank alone: "the first"."""
        ranked = self._text(token) in self._of.ordinals or self._in_class(token, "final")
        before = [c.lower_ for c in token.children if c.i < token.i]
        return ranked and before == ["the"] and not any(c.lower_ == "of" for c in token.children)

    def _count(self, token: Token) -> int | None:
        text = self._text(token)
        return self._of.numerals.get(text) if not self._words[token.i].label else None

    def _is_rest(self, token: Token) -> bool:
        """Whether a noun phrase refers to things that were not mentioned yet."""
        texts = (t.lemma_.lower() for t in (token, *token.children) if t.i <= token.i)
        return any("other" in self._of._classes.get(text, ()) for text in texts)

    def _phrase(self, word: Word, token: Token) -> Phrase:
        inner = [token.i]
        articles: set[str] = set()
        plural = token.tag_ == "NNS" and not word.label
        count: int | None = None
        rest = False
        for child in token.children:
            if child.lower_ == "of" and child.dep_ == "prep" and not self._words[child.i].category:
                inner += _of(child)
            if child.i > token.i or child.dep_ not in _MODIFIERS or _is_listed(child):
                continue
            if (word.label or token.dep_ == "poss") and self._opens(child):
                continue
            if (
                self._words[child.i].category == "term"
                or self._words[child.i + 1].category == "term"
            ):
                continue
            if child.dep_ == "det":
                articles.add(child.lower_)
                inner += [child.i] if child.lower_ == "another" else []
            elif child.lower_ == "one" and child.dep_ == "nummod":
                continue  # "the middle one Green"
            elif plural and child.dep_ == "nummod" and self._count(child) is not None:
                count = self._count(child)
            elif plural and "other" in self._of._classes.get(child.lemma_.lower(), ()):
                rest = True
            elif not self._words[child.i].category or self._words[child.i].category == "side":
                pieces = [t.i for t in child.subtree]
                owner = self._words[child.i]
                names = self._of._classes.get("" if owner.label else owner.text.lower(), ())
                if not {"possessive", "article", "pointing"} & set(names):
                    told = (token.doc[n] for n in pieces if token.doc[n].dep_ != "det")
                    inner += [t.i for t in told if child.dep_ != "poss" or not self._opens(t)]
        kind = "name" if word.label or token.pos_ == "PROPN" else "definite"
        if articles & {"a", "an", "another", "some", "any"}:
            kind = "indefinite"
        elif (
            token.tag_ == "NNS"
            and not word.label
            and (
                articles & {"these", "those", "both", "all", "every"}
                or any(c.dep_ == "nummod" for c in token.children)
            )
        ):
            kind = "plural"
        if not articles.isdisjoint(self._of.pairs):
            count = 2
        named = (n for n in sorted(set(inner)) if any(c.isalnum() for c in self._words[n].text))
        words = tuple(named) or (token.i,)
        return Phrase(token.i, words, kind, _role(token), count, plural, rest)

    def _opens(self, token: Token) -> bool:
        """Whether a word before a name is not part of the name: an item number, "(3) Area 1", or a
        verb that opens the sentence, "Draw node A", "Put Anna's desk".
        """
        numbers = token.i + 1 < len(token.doc) and token.doc[token.i + 1].text == ")"
        bids = self._in_class(token, "bidding") or self._in_class(token, "putting")
        return numbers or (token.i == 0 and bids)

    def _order(self, doc: Doc) -> None:
        """Add facts about the order of the words."""
        base = self._base
        things, triggers = sorted(self._things), sorted(self._triggers)
        for first, second in pairwise(triggers):
            self._say(f"before({first},{second}).")
        marks = sorted([(t, False) for t in things] + [(t, True) for t in triggers])
        for (a, is_trigger), (b, next_is_trigger) in pairwise(marks):
            if not next_is_trigger:
                self._say(f"follows({a},{b}).")
            elif not is_trigger and doc[a - base].dep_ != "poss":
                self._say(f"precedes({b},{a}).")
            if next_is_trigger and not is_trigger and doc[a - base].dep_ == "poss":
                # "B on its left": the thing with this side is not the thing that is there.
                owner = [m for m in things if m < a]
                if owner and not any(owner[-1] < t < b for t in triggers):
                    self._say(f"precedes({b},{owner[-1]}).")
                    between = doc[owner[-1] - base + 1 : b - base]
                    if all(x.pos_ in _SMALL or x.dep_ in _MODIFIERS for x in between):
                        self._say(f"adjoins({owner[-1]},{b}).")
            elif is_trigger != next_is_trigger:
                between = doc[a - base + 1 : b - base]
                if all(token.pos_ in _SMALL or token.dep_ in _MODIFIERS for token in between):
                    self._say(f"adjoins({a},{b}).")
        for t in triggers:
            n = t - base
            turned = tuple(self._of._converse.get(r, "") for r in self.relations[t])
            self._say(*(f"opposite({t},{u})." for u in triggers if self.relations[u] == turned))
            before = next(
                (x for x in reversed(doc[:n]) if x.pos_ not in ("ADP", "DET", "ADV", "PUNCT")), None
            )
            if before is not None and before.lower_ == "but":
                self._say(f"contrasted({t}).")
            comma = n == 0 or all(x.text in (",", ";", "and", "but") for x in doc[n - 1 : n])
            if comma:
                self._say(f"opening({t}).")
            if n and doc[n - 1].text == "(":
                self._say(f"bracketed({t}).")
            if n > 1 and doc[n - 1].text in (":", "\u2013", "\u2014") and t - 2 in things:
                self._say(f"headed({t},{t - 2}).")
            if self._words[n].category == "side" and self._is_owned(self._words[n].text):
                self._say(f"owned_side({t}).")
            after = [token.lower_ for token in doc[n + 1 : n + 3]]
            demonstrative = bool(after) and doc[n + 1].dep_ == "det"  # "under THAT gallery"
            if (
                after[1:] != ["of"]
                and not demonstrative
                and "relative" in self._of._classes.get(after[0] if after else "", ())
            ):
                self._say(f"then_relative({t}).")
        for token in doc:
            t = base + token.i
            names = {token.lemma_.lower(), self._words[token.i].text.lower()}
            if any(
                {"origin", "arriving", "have", "with"} & set(self._of._classes.get(n, ()))
                for n in names
            ):
                later = [m for m in things if m > t and doc[m - base].dep_ != "poss"]
                self._say(*(f"next({t},{m})." for m in later[:1]))
        for a, b in pairwise(things):
            between = doc[a - base + 1 : b - base]
            if any(token.lower_ in ("and", "&") for token in between):
                self._say(f"together({a},{b}).")
            if all(token.dep_ in _MODIFIERS or token.text == "," for token in between):
                self._say(f"beside({a},{b}).")
            if any(token.lower_ in _LISTING for token in between) and all(
                token.lower_ in _LISTING or token.dep_ in _MODIFIERS for token in between
            ):
                self._say(f"listed({a},{b}).")


def _groups(coordinated: Mapping[int, Collection[int]]) -> tuple[tuple[int, ...], ...]:
    """The complete groups of coordinated noun phrases, without repetitions."""
    found = {tuple(sorted({head, *others})) for head, others in coordinated.items()}
    return tuple(sorted(g for g in found if not any(set(g) < set(other) for other in found)))


@cache
def reading_rules() -> str:
    """Return the text of `rules/reading.lp`."""
    return "".join(file.read_text("utf-8") for file in rule_files("reading"))


@cache
def reading_slices() -> Slices:
    """Return the parts of `rules/reading.lp`. Only a few of them apply to a given sentence."""
    rules = reading_rules()
    return Slices(rules, Store("slices", rules))


def _parts(names: Sequence[str], below: Mapping[str, Token]) -> list[Token]:
    """The tokens that follow a verb in its expression; empty unless all of them are found. The last
    words may form a single token: "apart from".
    """
    for n in range(len(names)):
        texts = [*names[: len(names) - n - 1], " ".join(names[len(names) - n - 1 :])]
        if all(text in below for text in texts):
            return [below[text] for text in texts]
    return []


def _of(preposition: Token) -> list[int]:
    """The words that "of" adds to a name: the words of its object, without further modifiers."""
    words = [preposition.i]
    pending = [t for t in preposition.children if t.dep_ == "pobj"]
    while pending:
        token = pending.pop()
        words.append(token.i)
        pending += [
            c
            for c in token.children
            if (c.dep_ in _MODIFIERS and c.dep_ != "det")
            or c.dep_ == "case"
            or c.lower_ == "of"
            or (token.lower_ == "of" and c.dep_ == "pobj")
        ]
    return words


def _object(token: Token) -> Token | None:
    return next((c for c in token.children if c.dep_ == "pobj"), None)


def _has_object(token: Token) -> bool:
    """Whether a preposition has an object that is not a pronoun: "ON the map, A borders B"."""
    return token.pos_ == "ADP" and any(
        c.dep_ == "pobj" and c.tag_ not in ("WDT", "WP", "PRP") for c in token.children
    )


def _is_own(part: Token, verb: Token) -> bool:
    """Whether there is no other verb between a verb and one of its dependents."""
    above = list(part.ancestors)
    return not any(t.pos_ in ("VERB", "AUX") for t in above[: above.index(verb)])


def _quoted(text: str) -> str:
    escaped = text.replace("\0", " ").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _is_listed(token: Token) -> bool:
    """Whether a noun is an item of a list, "dress, coat, hat", that the parser mistakes for part of
    the last item.
    """
    listed = token.dep_ in ("compound", "nmod") and token.pos_ in NOMINAL
    return listed and token.i + 1 < len(token.doc) and token.nbor().text == ","


def _role(token: Token) -> str:
    if token.dep_ == "ROOT":
        return "subject"  # of a verb that the parser took for something else, or of no verb
    if token.dep_ in ("nsubj", "nsubjpass"):
        head = token.head
        aside = head.dep_ == "relcl" or any(c.lower_ == "where" for c in head.children)
        return "other" if aside else "subject"
    if token.dep_ in ("attr", "dobj") and any(c.dep_ == "expl" for c in token.head.children):
        return "introduced"
    verb = token.head if token.dep_ == "dobj" else token.head.head
    told = token.dep_ in ("dobj", "pobj") and verb.dep_ == "ROOT" and verb.tag_ == "VB"
    if told and token.pos_ != "PRON" and not any(c.dep_ in ("nsubj", "aux") for c in verb.children):
        return "introduced"  # "Look at the lamp."
    brought = token.dep_ == "pobj" and token.head.lower_ == "with" and verb.pos_ == "VERB"
    if token.dep_ == "dobj" or (brought and not any(c.dep_ == "dobj" for c in verb.children)):
        return "object"  # "She came back with a box and opened it."
    if token.dep_ == "pobj" and token.pos_ == "PRON":
        return "oblique"
    return "other"
