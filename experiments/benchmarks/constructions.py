"""Tests which English constructions are understood, and for which relations.

    python experiments/benchmarks/constructions.py > docs/rules/constructions.md

Each sentence combines a construction from `constructions.toml` with a relation and words. Two
claims about the sentence are audited under the profile `everyday`: one that it entails and one that
it contradicts. The sentence counts as read if both verdicts are right, as misread if a verdict is
the opposite, and otherwise as open. If a sentence denies the relation, the first claim must be
contradicted. If it leaves the relation open, neither claim may be decided.

Half of the words are used for development: `--show` prints the sentences with these words that are
not read. For the other half, which is held back, only totals are shown.
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
AT_ONCE = 64
"""Number of sentences that are parsed together."""
_DETERMINATE = ("entailed", "contradicted")
_HEAD = """# Constructions

See which constructions of English the reader understands, for which relations, under the profile
`everyday`. `python experiments/benchmarks/constructions.py` composes each sentence from a
construction, a relation and words, so its meaning is known. A cell counts the sentences read, out
of two with different words. An exclamation mark means a misread sentence; an empty cell means
that the construction does not exist with the relation. `no:` marks constructions that deny the
relation, `open:` those that leave it open.
"""


@dataclass(frozen=True)
class Sentence:
    """A sentence with known meaning.

    Attributes:
        construction: Name of its construction, with the mark.
        relation: Relation that the sentence is about.
        text: The sentence.
        claims: Claims that the sentence entails and contradicts, if it asserts the relation.
        held: Whether its words are held back.
    """

    construction: str
    relation: str
    text: str
    claims: tuple[str, str]
    held: bool

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The right verdicts on the claims; only that on the first claim if the sentence denies the
        relation.
        """
        if self.construction.startswith("open: "):
            return "unknown", "unknown"
        return ("contradicted",) if self.construction.startswith("no: ") else _DETERMINATE


def drawn(construction: str, text: str, name: str, held: bool) -> Sentence:
    """Make a sentence with randomly drawn words. The words are the same in every call."""
    chance = random.Random(f"{construction} {name} {held}")
    relation = DATA["relations"][name]

    def words(kind: str) -> list[Any]:
        return list(DATA["words"][kind][held::2])

    grounds = chance.sample(words(relation.get("ground", "grounds")), relation.get("grounds", 1))
    figures = [n for n in words(relation.get("figure", "figures")) if n not in grounds]
    x, w = chance.sample(figures, 2)
    slots = {"xn": x, "a": f"{'an' if x[0] in 'aeiou' else 'a'} {x}", "x": f"the {x}"}
    slots |= {"w": f"the {w}", "y": " and ".join(f"the {n}" for n in grounds)}
    slots |= {"y1": f"the {grounds[0]}", "y2": f"the {grounds[-1]}"}
    slots |= dict(zip(("v", "vp", "vg", "vt"), chance.choice(words("postures")), strict=True))
    slots |= {"p": chance.choice(words("participles")), "b": chance.choice(words("puttings"))}
    slots["r"] = chance.choice(relation["r"])
    claims = filled(relation["true"], slots), filled(relation["false"], slots)
    return Sentence(construction, name, filled(text, slots), claims, held)


def filled(text: str, slots: dict[str, str]) -> str:
    """Fill in the slots of `text`, and capitalise the beginnings of sentences."""
    text = text.format(**slots)
    return re.sub(r"(^|[.?] )([a-z])", lambda found: found[1] + found[2].upper(), text)


def suits(text: str, name: str) -> bool:
    """Whether a construction exists in English with the given relation."""
    relation = DATA["relations"][name]
    if relation.get("grounds", 1) > 1:  # "it" can refer to only one thing
        return " it" not in text.split("{r}")[-1] and not text.startswith("{y}")
    if "verb" in relation:  # areas do not "stand" and cannot be "put" somewhere
        return not re.search(r"\{(v|vp|vg|vt|p|b)\}", text) and "{r} {y} " not in text
    return True


def sentences() -> Iterator[Sentence]:
    """Yield the sentences of the table."""
    for name, relation in DATA["relations"].items():
        shapes = DATA["constructions"] | (DATA["verbal"] if "verb" in relation else {})
        for construction, text in shapes.items():
            if suits(text, name):
                yield drawn(construction, text, name, held=False)
                yield drawn(construction, text, name, held=True)


def fronted() -> Iterator[Sentence]:
    """Yield sentences that open with one of 60 verbs before a place, each with 10 relations."""
    given = DATA["fronted"]
    for n, verb in enumerate((*given["participles"], *given["gerunds"])):
        for name in given["relations"]:
            yield drawn(verb, f"{verb} {{r}} {{y}} is {{a}}.", name, held=bool(n % 2))


def outcomes(given: Sequence[Sentence]) -> list[str]:
    """Determine how each sentence is read."""
    auditor = TraceAuditor(profile="everyday")
    blank = {"dataset": "", "question": "", "conclusion": ""}
    traces = [
        Trace(id=str(n), scene=[s.text], reasoning=list(s.claims), **blank)
        for n, s in enumerate(given)
    ]
    found = []
    for n, (sentence, trace) in enumerate(zip(given, traces, strict=True)):
        if n % AT_ONCE == 0:
            auditor.ahead(traces[n : n + AT_ONCE])
        verdicts = [claim["grounded_verdict"] for claim in auditor.audited(trace)["claims"]]
        found.append(outcome(sentence.verdicts, verdicts))
    return found


def outcome(wanted: Sequence[str], verdicts: Sequence[str]) -> str:
    """Return how a sentence was read, given the verdicts on its claims. Additional claims are
    ignored.
    """
    pairs = list(zip(wanted, verdicts, strict=False))
    if all(w == v for w, v in pairs):
        return READ
    return MISREAD if any(v in _DETERMINATE and v != w for w, v in pairs) else OPEN


def table(rows: Sequence[str], given: Sequence[Sentence], found: Sequence[str]) -> str:
    """Count the sentences read for each row and relation, as Markdown."""
    cells: dict[tuple[str, str], Counter[str]] = {}
    for sentence, result in zip(given, found, strict=True):
        cells.setdefault((sentence.construction, sentence.relation), Counter())[result] += 1
    relations = list(DATA["relations"])
    lines = [" | ".join(("| construction", *relations)) + " |", "|---" * (len(relations) + 1) + "|"]
    for row in rows:
        counts = (cells.get((row, relation), Counter()) for relation in relations)
        shown = (f"{c[READ]}/{c.total()}{'!' * c[MISREAD]}" if c else "" for c in counts)
        lines.append(" | ".join((f"| {row}", *shown)) + " |")
    return "\n".join(lines)


def totals(given: Sequence[Sentence], found: Sequence[str]) -> str:
    """Write how many sentences are read and misread, for each half of the words."""
    parts = []
    for held, name in ((False, "of the words looked at"), (True, "of the words held back")):
        counts = Counter(o for s, o in zip(given, found, strict=True) if s.held is held)
        read = f"{counts[READ]} of {counts.total()} read, {counts[MISREAD]} misread"
        parts.append(f"{name}, {read}")
    return "Sentences " + "; ".join(parts) + "."


def page(given: Sequence[Sentence], found: Sequence[str]) -> str:
    """Write the page of the documentation."""
    verbs = {verb for kind in ("participles", "gerunds") for verb in DATA["fronted"][kind]}
    pairs = list(zip(given, found, strict=True))
    shapes = [pair for pair in pairs if pair[0].construction not in verbs]
    places = [pair for pair in pairs if pair[0].construction in verbs]
    missed = Counter(s.construction for s, o in places if o != READ)
    names = ", ".join(f"{verb} ({n})" for verb, n in sorted(missed.items())) or "none"
    rows = [*DATA["constructions"], *DATA["verbal"]]
    parts = [_HEAD, totals(*zip(*shapes, strict=True)), "", table(rows, *zip(*shapes, strict=True))]
    parts += ["", "## Sixty verbs before a place", ""]
    parts += ['"Perched on the oven is a globe": 40 participles and 20 forms in -ing, with ten']
    parts += ["relations each.", "", totals(*zip(*places, strict=True))]
    parts += [f"Not read, by verb: {names}."]
    return "\n".join(parts)


@click.command()
@click.option("--show", is_flag=True, help="Print sentences of the first half that are not read.")
@click.option("--only", default="", help="Only constructions with this text in their name.")
def main(show: bool, only: str) -> None:
    """Print the page."""
    given = [s for s in (*sentences(), *fronted()) if only in s.construction]
    found = outcomes(given)
    if not show:
        click.echo(page(given, found))
    for s, result in zip(given, found, strict=True):
        if show and result != READ and not s.held:
            click.echo(f"{result}\t{s.construction}\t{s.relation}\t{s.text}")


if __name__ == "__main__":
    main()
