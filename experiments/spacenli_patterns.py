"""Measures how well SpaceNLI is answered, on patterns with known words and on other patterns.

`python experiments/spacenli_patterns.py --data FOLDER` makes a table for each half of the patterns.
A pattern (`meta.pattern`) is in half 0 if the first byte of its id's SHA-256 is even, otherwise in
half 1. Words and rules were developed using only the validation rows of half 0. Half 1 was then
measured once, at commit d3685c4, before anyone looked at its rows:

    validation, 175 rows of 79 patterns: 81.1 % right, 13.7 % wrong, 5.1 % unread
    test, 1,160 rows of the same patterns: 80.8 % right, 13.8 % wrong, 5.4 % unread

With the lexicon of that commit, but counting answers as unread if they are open only because of
unknown words:

    validation: 76.6 % right, 7.4 % wrong, 16.0 % unread
    test: 75.5 % right, 7.8 % wrong, 16.7 % unread

This counting rule was added after looking at rows of half 1, but no words were added. In all
measurements, all answers "entailed" and "contradicted" were right.

With `--leave-out pattern`, each pattern is answered with a lexicon without the entries used only by
this pattern's rows. This concerns facts about verbs and ways, and phrases for relations, but not
rules, grammar or function words. With `--leave-out number`, entries used only by the pattern and
its variants (104, 104a, 104d*) are removed.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from common import data_option, rows, share

from symbouq.auditing.answers import answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.tables import Ontology
from symbouq.reading.events.reader import EventReader
from symbouq.records import Instance

Row = dict[str, Any]
Fact = tuple[str, ...]
"""A predicate (or `phrase`), and its arguments."""


def half(row: Row) -> str:
    """Return the half, 0 or 1, that contains a problem's pattern."""
    return f"half {hashlib.sha256(pattern(row).encode()).digest()[0] % 2}"


def pattern(row: Row) -> str:
    """Return the pattern from which a problem was made."""
    return str(row["meta"]["pattern"])


def number(row: Row) -> str:
    """Return the number at the beginning of a problem's pattern. Variants of a pattern have the
    same number.
    """
    return re.split(r"\D", pattern(row))[0]


FAMILIES = {"pattern": pattern, "number": number}


class Tally:
    """Counts how problems are answered, by group and by label."""

    def __init__(self) -> None:
        self._outcomes: dict[str, Counter[str]] = {}
        self._called: Counter[tuple[str, bool]] = Counter()

    def add(self, auditor: TraceAuditor, row: Row, group: str) -> None:
        """Answer a problem and count the outcome."""
        found = answer(auditor, Instance.model_validate(row))
        given = found.answer[0] if found.status == "answered" else ""
        right = given == row["answer"]
        outcome = found.status if not given else "right" if right else "wrong"
        self._outcomes.setdefault(group, Counter())[outcome] += 1
        self._called[given, right] += 1

    def print(self, name: str) -> None:
        """Print the shares of right, wrong and unread answers, and how often labels are right."""
        for group, counts in sorted(self._outcomes.items()):
            shares = ", ".join(
                f"{key} {share(n, counts.total())}" for key, n in counts.most_common()
            )
            print(f"{name}, {group}, {counts.total()} rows: {shares}")
        for label in ("entailment", "contradiction", "neutral"):
            right, wrong = self._called[label, True], self._called[label, False]
            print(f"{name}, called {label}: {right} of {right + wrong} right")


# Lexicons without what only one pattern uses ------------------------------------------------


class Lacking(OntologyLibrary):
    """The built-in ontology without the given facts about words for events."""

    def __init__(self, missing: Iterable[Fact]) -> None:
        super().__init__()
        self._missing = frozenset(missing)
        self._rest: dict[str, Ontology] = {}

    def ontology(self, profile: str | None = None) -> Ontology:
        """Return the ontology of a profile without the given facts."""
        whole = super().ontology(profile)
        if whole.profile in self._rest:
            return self._rest[whole.profile]
        events = {
            key: [row for row in facts if (key[0], *row) not in self._missing]
            for key, facts in whole.events.items()
        }
        phrases = {
            text: relation
            for text, relation in whole.lexicon.phrase.items()
            if ("phrase", relation, text) not in self._missing
        }
        rest = replace(whole, events=events, phrases=phrases)
        return self._rest.setdefault(whole.profile, rest)


def facts(ontology: Ontology) -> Iterator[Fact]:
    """Yield each fact of the lexicon about verbs, ways and relations."""
    for (name, _), said in ontology.events.items():
        yield from ((name, *row) for row in said)
    yield from (("phrase", relation, text) for text, relation in ontology.lexicon.phrase.items())


def words(reader: EventReader, row: Row) -> set[str]:
    """Return the verbs, ways and relations in a problem, and the words that express them."""
    found: set[str] = set()
    ontology = reader.ontology
    for sentence in (*row["scene"], row["question"]):
        read = {clause.verb for clause in reader.clauses(sentence)} | ontology.events.members(
            "posture"
        )
        for token in reader.words.tokens(sentence):
            if token.entry is not None:
                text = token.text.lower()
                found |= {text, reader.words.ways.get(text, text)}
                found |= read.intersection(token.entry.verbs)
                relation = ontology.lexicon.phrase.get(text, "")
                found |= {relation, ontology.relations.negation.get(relation, "")}
                found |= {ontology.relations.converse.get(relation, "")}
                found |= ontology.relations.implied.get(relation, frozenset())
    return found


def used(ontology: Ontology, fact: Fact, found: set[str]) -> bool:
    """Whether a problem with the given words uses a fact. The problem must contain the word that
    the fact is about, or the phrase in the fact, and all relations in the fact.
    """
    name, about, *rest = fact
    if name in ("way", "compared", "times", "phrase"):
        return rest[-1].lower() in found
    return about in found and all(r in found for r in rest if r in ontology.relations.family)


def left_out(
    reader: EventReader, problems: Iterable[Row], family: Callable[[Row], str]
) -> dict[str, set[Fact]]:
    """Return, for each family of problems, the facts used only by this family."""
    vocabulary: dict[str, list[set[str]]] = {}
    for row in problems:
        vocabulary.setdefault(family(row), []).append(words(reader, row))
    alone: dict[str, set[Fact]] = {name: set() for name in vocabulary}
    for fact in facts(reader.ontology):
        users = [
            name
            for name, sets in vocabulary.items()
            if any(used(reader.ontology, fact, found) for found in sets)
        ]
        if len(users) == 1:
            alone[users[0]].add(fact)
    return alone


@click.command()
@data_option
@click.option("--leave-out", type=click.Choice(list(FAMILIES)), help="Whose words are taken out.")
def main(data: Path, leave_out: str | None) -> None:
    """Print the tables for both files."""
    files = ("validation", "test")
    problems = {n: list(rows(data / f"spacenli/spacenli_{n}.jsonl.gz")) for n in files}
    auditor = TraceAuditor()
    lacking: dict[str, TraceAuditor] = {}
    family = FAMILIES.get(leave_out or "", half)
    if leave_out:
        reader = EventReader(auditor.library.ontology("event"))
        missing = left_out(reader, [row for found in problems.values() for row in found], family)
        lacking = {name: TraceAuditor(ontology=Lacking(gone)) for name, gone in missing.items()}
        losing = sum(map(bool, missing.values()))
        print(f"{losing} of {len(missing)} have use for a fact that no other has")
    for name, found in problems.items():
        tally = Tally()
        for row in found:
            group = "left out" if leave_out else half(row)
            tally.add(lacking.get(family(row), auditor), row, group)
        tally.print(f"spacenli_{name}")


if __name__ == "__main__":
    main()
