"""The words of a profile for events: forms of verbs, relations, ways, and function words."""

from __future__ import annotations

from symbouq.ontology.tables import Ontology
from symbouq.ontology.words import EVENTFUL
from symbouq.reading.lexicon import LexicalEntry, Lexicon

BASE, PRESENT, PAST, PARTICIPLE, GERUND = "base", "present", "past", "participle", "gerund"

_VOWELS = "aeiou"


class EventLexicon(Lexicon):
    """Words for events, matched by spaCy.

    Attributes:
        forms: Maps a word, in lower case, to the possible (verb, form) pairs.
        ways: Maps a preposition to its way.
        comparisons: Maps words for comparing distances to the relation for a short or long
            distance.
        counts: Maps words that count events to the number.
        movers: Verbs for movement.
        meanings: One representative verb for each meaning.
    """

    def __init__(self, ontology: Ontology) -> None:
        rows = ontology.events
        self.ways = {text.lower(): way for way, text in rows.get(("way", 2), ())}
        self.comparisons = {text.lower(): r for r, text in rows.get(("compared", 2), ())}
        self.counts = {text.lower(): int(n) for n, text in rows.get(("times", 2), ())}
        irregular: dict[str, dict[str, str]] = {}
        for verb, form, text in rows.get(("inflected", 3), ()):
            irregular.setdefault(verb, {})[form] = text.lower()
        self.forms: dict[str, list[tuple[str, str]]] = {}
        for verb, text in rows.get(("verb", 2), ()):
            for form, spelled in inflections(text.lower(), irregular.get(verb, {})).items():
                self.forms.setdefault(spelled, []).append((verb, form))
        self.movers = _movers(ontology)
        self.meanings = _meanings(ontology)
        super().__init__(ontology)

    def _listed(self) -> dict[str, LexicalEntry]:
        listed: dict[str, LexicalEntry] = {}
        for word_class in EVENTFUL:
            for text in sorted(self.ontology.words(word_class)):
                listed.setdefault(text, LexicalEntry(word_class))
        listed |= {text: LexicalEntry("times", value=str(n)) for text, n in self.counts.items()}
        for text, pairs in self.forms.items():
            listed[text] = LexicalEntry("verb", verbs=tuple(verb for verb, _ in pairs))
        listed |= {text: LexicalEntry("way", value=way) for text, way in self.ways.items()}
        for text, relation in self.ontology.lexicon.phrase.items():
            listed[text] = LexicalEntry("relation", relation, value=self.ways.get(text, ""))
        listed |= {text: LexicalEntry("comparing", value=r) for text, r in self.comparisons.items()}
        return listed


def inflections(base: str, irregular: dict[str, str]) -> dict[str, str]:
    """Return the forms of a verb: the given irregular ones, otherwise regular ones."""
    stem = base
    if base.endswith("e"):
        stem = base[:-1]
    elif _doubles(base):
        stem = base + base[-1]
    soft = base.endswith("y") and base[-2] not in _VOWELS
    past = base[:-1] + "ied" if soft else stem + "ed"
    third = base + ("es" if base.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")
    return {
        BASE: base,
        PRESENT: base[:-1] + "ies" if soft else third,
        PAST: past,
        PARTICIPLE: past,
        GERUND: base + "ing" if base.endswith("ee") else stem + "ing",
    } | irregular


def _doubles(base: str) -> bool:
    """Whether the last letter is doubled before an ending, as in `put` and `jog`, but not `kick`,
    `open` or `play`.
    """
    vowels = sum(letter in _VOWELS for letter in base)
    return (
        len(base) > 2
        and vowels == 1
        and base[-2] in _VOWELS
        and base[-1] not in (*_VOWELS, "w", "x", "y")
    )


def _movers(ontology: Ontology) -> frozenset[str]:
    """The verbs with an agent or patient that moves, including manners of such verbs."""
    movers = {verb for verb, _ in ontology.events.get(("sets_going", 2), ())}
    manners = ontology.events.get(("manner_of", 2), ())
    while more := {verb for verb, kind in manners if kind in movers} - movers:
        movers |= more
    return frozenset(movers)


def _meanings(ontology: Ontology) -> tuple[str, ...]:
    """Choose one verb from each set of verbs with the same facts except for the name."""
    found: dict[frozenset[tuple[str, ...]], str] = {}
    said: dict[str, set[tuple[str, ...]]] = {
        verb: set() for verb in ontology.events.members("verb")
    }
    for (name, _), rows in ontology.events.items():
        if name not in ("verb", "inflected"):
            for verb, *rest in rows:
                if verb in said:
                    said[verb].add((name, *rest))
    for verb in sorted(said):
        found.setdefault(frozenset(said[verb]), verb)
    return tuple(found.values())
