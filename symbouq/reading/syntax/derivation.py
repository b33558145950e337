"""Show how a sentence was read: its parse, the candidates with their costs, and the rules and facts
behind each step.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import clingo
from clingo import ast

from symbouq.ontology.source import Place, ground, new_control, place_of, rule_statements
from symbouq.reading.syntax.extraction import CONTEXT, reading_rules
from symbouq.reading.syntax.sentences import Sentence, Sentences

if TYPE_CHECKING:
    from spacy.tokens import Doc

_STEPS = {
    "figure": "may be the figure",
    "relatum": "may be the ground",
    "ground": "may be the ground",
    "pair": "pair",
    "says": "says",
    "again": "says again",
    "denied": "denied",
    "force": "force",
    "partial": "of a part",
    "via": "by its boundary or interior",
    "unsure": "unsure",
}
"""Maps a predicate of the reading rules to a description of what it means for its first argument, a
trigger.
"""

_COSTED = ("figure", "relatum", "ground", "pair", "says", "again")
"""Predicates with a cost as their last argument."""


@dataclass(frozen=True)
class Step:
    """A conclusion of the rules about a trigger.

    Attributes:
        name: The conclusion: `may be the figure`, `may be the ground`, `pair`, `says`, `force`, ...
        words: The words, or the force, that the conclusion is about.
        cost: The cost, if it is a candidate.
        rules: Names and positions of the rules behind the conclusion.
    """

    name: str
    words: tuple[str, ...]
    cost: int | None
    rules: tuple[tuple[str, Place], ...]


@dataclass(frozen=True)
class Trigger:
    """An expression for one or more relations: a word, or several words taken together.

    Attributes:
        text: Its text.
        category: Its category.
        relations: The relations.
        places: Positions of the facts behind the trigger: for each relation, the longest
            expressions in the trigger. If it has a verb, they may be anywhere in the sentence.
        steps: The rules' conclusions about it.
    """

    text: str
    category: str
    relations: tuple[str, ...]
    places: tuple[Place, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Derivation:
    """The way in which a sentence was read.

    Attributes:
        text: The sentence.
        parse: The words as shown to the parser. Each has its part of speech, its role, and the
            index of its head, counted from 0.
        triggers: The expressions for relations in the sentence.
    """

    text: str
    parse: tuple[str, ...]
    triggers: tuple[Trigger, ...]


def derivation(
    sentences: Sentences, sentence: Sentence, facts: Mapping[clingo.Symbol, Place]
) -> Derivation:
    """Repeat the reading of a sentence, and return its steps.

    Args:
        sentences: The reader that was used for the sentence.
        sentence: The sentence.
        facts: The ontology's facts, with their positions.
    """
    if not sentence.words:
        return Derivation(sentence.text, (), ())
    doc, said = sentences.parsed(sentence)
    control, complaints = new_control()
    control.add("base", [], reading_rules() + _sources() + "".join(said))
    ground(control, complaints, "reading")
    category: dict[int, str] = {}
    relations: dict[int, list[str]] = {}
    for atom in control.symbolic_atoms.by_signature("trigger", 2):
        t, kind = atom.symbol.arguments
        category[t.number] = str(kind)
    for atom in control.symbolic_atoms.by_signature("expresses", 2):
        t, relation = atom.symbol.arguments
        relations.setdefault(t.number, []).append(str(relation))
    steps = _steps(control, sentence)
    triggers = (
        Trigger(
            sentence.words[t].text,
            kind,
            tuple(relations.get(t, ())),
            tuple(_expressing(facts, kind, relations.get(t, ()), t, sentence, doc)),
            tuple(steps.get(t, ())),
        )
        for t, kind in sorted(category.items())
    )
    return Derivation(sentence.text, tuple(_parse(doc)), tuple(triggers))


def _parse(doc: Doc) -> Iterator[str]:
    for token in doc:
        yield f"{token.i}:{token.text}/{token.tag_} {token.dep_}>{token.head.i}"


@cache
def _sources() -> str:
    """Rules that record the rules behind each step: `_by(Step, File, Line)`."""
    lines = []
    for statement in rule_statements("reading"):
        if not makes_a_step(statement):
            continue
        head, (file, line) = statement.head, place_of(statement)
        body = f" :- {'; '.join(map(str, statement.body))}" if statement.body else ""
        lines.append(f"_by({head}, {clingo.String(file)}, {line}){body}.\n")
    return "".join(lines)


def makes_a_step(statement: ast.AST) -> bool:
    """Whether a statement is a rule whose conclusion is about a trigger."""
    if statement.ast_type is not ast.ASTType.Rule:
        return False
    head = statement.head
    return head.ast_type is ast.ASTType.Literal and _predicate(head) in _STEPS


def _predicate(head: ast.AST) -> str:
    symbol = getattr(head.atom, "symbol", None)
    if symbol is not None and symbol.ast_type is ast.ASTType.Pool:
        symbol = symbol.arguments[0]
    return getattr(symbol, "name", "")


def _steps(control: clingo.Control, sentence: Sentence) -> dict[int, list[Step]]:
    order = list(_STEPS)
    rows = [atom.symbol.arguments for atom in control.symbolic_atoms.by_signature("_by", 3)]
    by: dict[tuple[int, str, tuple[str, ...], int | None], set[Place]] = {}
    for atom, file, line in sorted(rows, key=lambda row: (order.index(row[0].name), row)):
        trigger, *rest = atom.arguments
        cost = rest.pop().number if atom.name in _COSTED else None
        words = tuple(_shown(sentence, argument) for argument in rest)
        step = trigger.number, _STEPS[atom.name], words, cost
        by.setdefault(step, set()).add(Place(file.string, line.number))
    found: dict[int, list[Step]] = {}
    for (number, name, words, cost), places in by.items():
        rules = tuple((rule_name(place), place) for place in sorted(places))
        found.setdefault(number, []).append(Step(name, words, cost, rules))
    return found


def rule_name(place: Place) -> str:
    """Return the name of a reading rule: the example in the comment above the rule, or an empty
    string.
    """
    names = _names(place.file)
    above = bisect_right(names, place.line, key=lambda row: row[0])
    return names[above - 1][1] if above else ""


@cache
def _names(file: str) -> list[tuple[int, str]]:
    """A file's comments, each with its line number. A blank line counts as an empty comment."""
    found: list[tuple[int, str]] = []
    inside = False
    for number, line in enumerate(Path(file).read_text(encoding="utf-8").splitlines(), start=1):
        text = line.removeprefix("% ").strip(" .") if line.startswith("% ") else ""
        if text and inside:
            found[-1] = found[-1][0], f"{found[-1][1]} {text}"
        elif text or not line.strip():
            found.append((number, text))
        inside = bool(text)
    return found


def _shown(sentence: Sentence, argument: clingo.Symbol) -> str:
    if argument.type is not clingo.SymbolType.Number:
        return str(argument)
    return "(context)" if argument.number == CONTEXT else sentence.words[argument.number].text


def _expressing(
    facts: Mapping[clingo.Symbol, Place],
    category: str,
    relations: Iterable[str],
    t: int,
    sentence: Sentence,
    doc: Doc,
) -> Iterator[Place]:
    """Yield the positions of the longest expressions for each of a trigger's relations. The words
    of an expression must be in the trigger or, if it has a verb, in the sentence.
    """
    texts = {word.text.lower() for word in sentence.words} | {token.lemma_.lower() for token in doc}
    own = {*sentence.words[t].text.lower().split(), doc[t].lemma_.lower()}
    for relation in relations:
        fitting: list[tuple[int, Place]] = []
        for fact, place in facts.items():
            if fact.name != "expression" or len(fact.arguments) != 3:
                continue
            named, of, text = fact.arguments
            words = text.string.split()
            enough = set(words) <= (own | texts if category == "verb" else own)
            alike = (str(of) == "verb") == (category == "verb")  # "left" makes "left of"
            if str(named) == relation and alike and enough and words[0] in own:
                fitting.append((len(words), place))
        longest = max((length for length, _ in fitting), default=0)
        yield from sorted({place for length, place in fitting if length == longest})
