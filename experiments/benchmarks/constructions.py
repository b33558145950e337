"""Which constructions of English are read, for which relations.

    python experiments/benchmarks/constructions.py > docs/rules/constructions.md

Each sentence is a construction of `constructions.toml` with a relation and words. Two claims about it
are audited under the profile `everyday`: one that it entails and one that it contradicts. It is read
where both verdicts are so, misread where one verdict is the opposite, and else left open. What denies
a relation swaps the two claims, as far as they are each other's denials; what leaves it open decides
neither.

Half of the words are for looking at: `--show` prints their sentences that are not read. Of the other
half only the totals count.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from symbouq.auditing.auditor import TraceAuditor
from symbouq.records import Trace

DATA: dict[str, Any] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
READ, OPEN, MISREAD = "read", "left open", "misread"
DRAWS = 1
"""Sentences of a construction and a relation, with each half of the words."""
AT_ONCE = 64
_VERBS = ("v", "vp", "vg", "vt")


@dataclass(frozen=True)
class Sentence:
    """A sentence whose meaning is known.

    Attributes:
        construction: Its construction; `no: ` before it where it denies, `open: ` where it leaves
            open.
        relation: Its relation.
        text: The sentence.
        claims: What a sentence that asserts entails, and what it contradicts.
        held: Whether it has words of the second half.
    """

    construction: str
    relation: str
    text: str
    claims: tuple[str, str]
    held: bool

    @property
    def outcome(self) -> tuple[str, ...]:
        """The verdicts that its claims should have."""
        if self.construction.startswith("open: "):
            return "unknown", "unknown"
        if self.construction.startswith("no: "):
            return ("contradicted",)
        return "entailed", "contradicted"


def half(words: Sequence[Any], held: bool) -> Sequence[Any]:
    """Every second word of a list."""
    return words[held::2]


def filled(text: str, slots: dict[str, str]) -> str:
    """A text with its slots filled in and capitals where sentences begin."""
    text = text.format(**slots)
    return re.sub(r"(^|[.?!] )([a-z])", lambda found: found[1] + found[2].upper(), text)


def drawn(construction: str, text: str, name: str, chance: random.Random, held: bool) -> Sentence:
    """A sentence with words drawn for it."""
    relation, words = DATA["relations"][name], DATA["words"]
    grounds = half(words[relation.get("ground", "grounds")], held)
    figures = [n for n in half(words[relation.get("figure", "figures")], held)]
    number = relation.get("grounds", 1)
    ground = chance.sample(list(grounds), number)
    x, w = chance.sample([n for n in figures if n not in ground], 2)
    first, last = f"the {ground[0]}", f"the {ground[-1]}"
    slots = {
        "x": f"the {x}",
        "w": f"the {w}",
        "xn": x,
        "a": f"{'an' if x[0] in 'aeiou' else 'a'} {x}",
    }
    slots |= {"y": f"{first} and {last}" if number > 1 else first, "y1": first, "y2": last}
    slots |= dict(zip(_VERBS, chance.choice(half(words["postures"], held)), strict=True))
    slots |= {
        "p": chance.choice(half(words["participles"], held)),
        "b": chance.choice(half(words["puttings"], held)),
    }
    slots["r"] = chance.choice(relation["r"])
    claims = filled(relation["true"], slots), filled(relation["false"], slots)
    return Sentence(construction, name, filled(text, slots), claims, held)


def suits(construction: str, text: str, name: str) -> bool:
    """Whether English has a construction with a relation."""
    relation = DATA["relations"][name]
    if relation.get("grounds", 1) > 1:  # "it" and "has" are of one thing
        return " it" not in text.split("{r}")[-1] and not text.startswith("{y}")
    if "verb" in relation:  # areas neither stand nor are they put
        return not re.search(r"\{(v|vp|vg|vt|p|b)\}", text) and "{r} {y} " not in text
    return True


def sentences() -> Iterator[Sentence]:
    """The sentences of the table, the same at every call."""
    for name, relation in DATA["relations"].items():
        shapes = DATA["constructions"] | (DATA["verbal"] if "verb" in relation else {})
        for construction, text in shapes.items():
            if suits(construction, text, name):
                chance = random.Random(f"{construction} {name}")
                for held in (False, True):
                    for _ in range(DRAWS):
                        yield drawn(construction, text, name, chance, held)


def fronted() -> Iterator[Sentence]:
    """60 verbs that open a sentence, with 10 relations each."""
    verbs = DATA["fronted"]
    for verb in (*verbs["participles"], *verbs["gerunds"]):
        for name in verbs["prepositions"]:
            text = f"{verb} {{r}} {{y}} is {{a}}."
            yield drawn(verb, text, name, random.Random(f"{verb} {name}"), False)


def outcomes(given: Sequence[Sentence]) -> list[str]:
    """How each sentence is read."""
    auditor = TraceAuditor(profile="everyday")
    traces = [
        Trace(
            id=str(n),
            dataset="",
            scene=[s.text],
            question="",
            reasoning=list(s.claims),
            conclusion="",
        )
        for n, s in enumerate(given)
    ]
    found = []
    for start in range(0, len(traces), AT_ONCE):
        auditor.ahead(traces[start : start + AT_ONCE])
        for sentence, trace in zip(given[start:], traces[start : start + AT_ONCE]):
            verdicts = [c["grounded_verdict"] for c in auditor.audited(trace)["claims"]]
            found.append(_outcome(sentence.outcome, verdicts))
    return found


def _outcome(wanted: Sequence[str], verdicts: Sequence[str]) -> str:
    pairs = list(zip(wanted, verdicts))
    if all(w == v for w, v in pairs):
        return READ
    wrong = any(v in ("entailed", "contradicted") and v != w for w, v in pairs)
    return MISREAD if wrong else OPEN


def table(given: Sequence[Sentence], found: Sequence[str]) -> str:
    """Sentences read, of those with each construction and relation, as Markdown."""
    cells: dict[tuple[str, str], Counter[str]] = {}
    for sentence, outcome in zip(given, found, strict=True):
        cells.setdefault((sentence.construction, sentence.relation), Counter())[outcome] += 1
    relations = list(DATA["relations"])
    lines = [
        "| construction | " + " | ".join(relations) + " |",
        "|---" * (len(relations) + 1) + "|",
    ]
    for construction in DATA["constructions"] | DATA["verbal"]:
        row = [_cell(cells.get((construction, relation))) for relation in relations]
        lines.append(f"| {construction} | " + " | ".join(row) + " |")
    return "\n".join(lines)


def _cell(counts: Counter[str] | None) -> str:
    if counts is None:
        return ""
    return f"{counts[READ]}/{counts.total()}" + "!" * counts[MISREAD]


@click.command()
@click.option(
    "--show", is_flag=True, help="Print the sentences of the first half that are not read."
)
@click.option("--only", default="", help="Only constructions with this text in their name.")
def main(show: bool, only: str) -> None:
    """Print the table."""
    given = [s for s in [*sentences(), *fronted()] if only in s.construction]
    found = outcomes(given)
    if show:
        for sentence, outcome in zip(given, found, strict=True):
            if outcome != READ and not sentence.held:
                click.echo(
                    f"{outcome}\t{sentence.construction}\t{sentence.relation}\t{sentence.text}"
                )
        return
    click.echo(table(given, found))


if __name__ == "__main__":
    main()
