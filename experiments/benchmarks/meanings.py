"""Tests whether sentences are understood correctly, by comparing verdicts with a reference.

    python experiments/benchmarks/meanings.py [--sentences N] [--seed S] [--jobs N]
        [--only TEXT] [--examples FILE]

N sentences (default: 20,000) are made from the shapes in `sentences.toml`: denials, bounds,
quantifiers, retractions, viewpoints, doubt, conditions. A sentence is used as a claim about a plain
scene, as part of a scene with plain claims, or as several successive claims. For each sentence, the
script has a formula, or the information that it asserts nothing. Given the formulas, `layouts.py`
decides what is entailed, contradicted and open. The script and `layouts.py` share no code with the
package. If a sentence has several sound readings in English, a verdict is right if it is right for
one of them.

The sentences are audited under the profile `everyday`. A determinate verdict is false if it is not
right for any reading. A wrong finding about whether the scene is possible is also false. The same
seed gives the same sentences. `--only` selects the shapes with TEXT in their name; `--examples`
writes false verdicts to a file.

The script prints a Markdown table. The exit code is 1 if any verdict or finding is false.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import click
from layouts import And, Formula, Not, Within, possible
from sentences import DATA, SHAPES, TEMPLATES, Reading, Relation, Slots, Template, directions

from symbouq.auditing.jobs import auditing
from symbouq.io.stream import Job, process
from symbouq.records import Trace

COLUMNS = ("right", "rightly open", "abstained")
"""Right: the verdict of at least one reading. Rightly open: unknown, and open in at least one
reading. Abstained: unknown, although the claim is decided in every reading."""
FALSE = ("false entailed", "false contradicted", "false clash", "missed clash")
"""Verdicts that are wrong in every reading; possible scenes found infeasible; and impossible scenes
found feasible and without a fault."""

WORLDS = ({"extents": False}, {"extents": True}, {"extents": True, "apart": True})
"""Possible assumptions about things: they are points; they have extents; or they have extents, and
two things contain the same thing only if one is inside the other."""

# Truth ---------------------------------------------------------------------------------


@cache
def verdicts(scene: tuple[Formula, ...], readings: tuple[Reading, ...]) -> frozenset[str]:
    """The possible verdicts on a claim, one per reading; empty if the scene is impossible."""
    found = set()
    for world in WORLDS:
        if possible(scene, **world):
            for reading in readings:
                can_hold = possible([*scene, reading.formula], **world)
                can_fail = possible([*scene, Not(reading.formula)], **world)
                found.add(reading.verdict(can_hold, can_fail))
    return frozenset(found)


@cache
def consistent(scene: tuple[Formula, ...]) -> frozenset[bool]:
    """Whether a scene is possible, with points and with extended things."""
    worlds = WORLDS[1:2] if any(isinstance(part, Within) for part in scene) else WORLDS[:2]
    return frozenset(possible(scene, **world) for world in worlds)


# Scenes --------------------------------------------------------------------------------

_COMPASS = DATA["relations"] | DATA["compass"]


class Draw:
    """A plain scene, and the random choices for a sentence about it.

    Args:
        chance: Random generator for the choices.
        needs: Requirements of the sentence, as in `Template`.
    """

    def __init__(self, chance: random.Random, needs: frozenset[str]) -> None:
        self.chance = chance
        self.needs = needs
        self.compass = chance.random() < 0.15 and "sideways" not in needs
        self.kind = ""
        self.group: tuple[str, ...] = ()
        shape = next((SHAPES[need] for need in needs if need in SHAPES), None)
        if "plural" in needs:
            shape = SHAPES[chance.choice(("gate B2", "room 402", "Lot 15"))]
        names = self._group() if "group" in needs else self._names(shape)
        self.holder = ""
        if "inside" in needs or (needs <= {"direction"} and chance.random() < 0.2):
            used = {word for name in names for word in name.lower().split()}
            self.holder = chance.choice(
                [h for h in DATA["holders"] if h.lower().split()[-1] not in used]
            )
        self.things = [*names, *([self.holder] if self.holder else [])]
        self.aliases = self._aliases(names)
        depth = not self.compass and chance.random() < 0.3
        self.axes = ["x", "y", "z"] if depth else ["x", "y"]
        self.places = {
            axis: dict(zip(names, chance.sample(range(9), len(names)), strict=True))
            for axis in self.axes
        }
        self.unit = chance.choice(list(DATA["units"]))
        self.scale = chance.choice((1, 1, 1, 1, 500, 1500))
        self.fact = chance.choice(("near", "far", "near", "touching"))
        self.facts: list[tuple[Relation, int | None]] = []
        self._draw_facts(names)

    def _names(self, shape: tuple[str, ...] | None) -> list[str]:
        chance = self.chance
        shapes = (
            [shape] if shape else chance.sample(list(SHAPES.values()), chance.choice((1, 1, 2, 3)))
        )
        number = chance.choice((3, 4, 4, 5))
        pool = [name for each in shapes for name in chance.sample(each, min(4, len(each)))]
        if len(pool) < number and not shape:
            pool += chance.sample(SHAPES["nouns"], number)
        names = list(dict.fromkeys(pool))
        chance.shuffle(names)
        return names[:number]

    def _group(self) -> list[str]:
        self.kind, self.group = self.chance.choice(list(DATA["groups"].items()))
        used = {word for name in self.group for word in name.split()} - {"the"}
        free = [s for s in SHAPES.values() if not any(used & set(name.split()) for name in s)]
        return [*self.group, *self.chance.sample(self.chance.choice(free), 2)]

    def _aliases(self, names: Sequence[str]) -> dict[str, str]:
        found = {}
        for name in names:
            word = DATA["aliases"].get(name, "").split(" ")[-1]
            if word and sum(word in other.split(" ") for other in self.things) == 1:
                found[name] = DATA["aliases"][name]
        return found

    def _draw_facts(self, names: list[str]) -> None:
        chance = self.chance
        main = "x" if "sideways" in self.needs else chance.choice(self.axes)
        if self.group:
            landmark, other = names[3:]
            pairs = [(each, landmark) for each in (*self.group, other)]
        else:
            pairs = [(names[n], names[chance.randrange(n)]) for n in range(1, len(names))]
            if chance.random() < 0.25:
                pairs.pop(chance.randrange(len(pairs)))
            if chance.random() < 0.5:
                first, second = chance.sample(names, 2)
                pairs.append((first, second))
        for pair in pairs:
            axis = (
                main
                if chance.random() < (0.8 if self.group else 0.65)
                else chance.choice(self.axes)
            )
            relation = self.true(axis, *pair)
            if "diagonal" in self.needs and chance.random() < 0.6:
                relation = self.diagonal(*pair)
            far = "amount" in self.needs and len(relation.axes) == 1 and chance.random() < 0.8
            if "fact" in self.needs and chance.random() < 0.6:
                relation = Relation(self.fact, *pair)
            self.facts.append((relation, self.distance(relation) if far else None))
        if self.holder:
            self.facts.append((Relation("inside", chance.choice(names), self.holder), None))
            outer = chance.choice(names)
            if all(f.subject != outer for f, _ in self.facts if f.name == "inside"):
                side = chance.choice(directions(self.axes))
                self.facts.append((Relation(side, self.holder, outer), None))
        self.facts = list(dict.fromkeys(self.facts))
        chance.shuffle(self.facts)

    def true(self, axis: str, subject: str, object: str) -> Relation:
        """Return the true relation of two things on the given axis."""
        beyond = self.places[axis][subject] > self.places[axis][object]
        return Relation(directions([axis])[beyond], subject, object)

    def diagonal(self, subject: str, object: str) -> Relation:
        """Return the true relation of two things on two axes."""
        x, y = (self.places[axis][subject] > self.places[axis][object] for axis in "xy")
        return Relation(f"{('lower', 'upper')[y]} {('left', 'right')[x]}", subject, object)

    def distance(self, relation: Relation) -> int:
        """Return the true distance between the two things, in the scene's unit."""
        places = self.places[relation.axes[0]]
        return self.scale * abs(places[relation.subject] - places[relation.object])

    # Relations for a sentence

    def relation(self, true: bool, needs: frozenset[str] = frozenset()) -> Relation:
        """Choose a relation: one that is stated, its converse, its opposite, or any."""
        chance = self.chance
        kind = chance.random()
        if "inside" in needs:
            stated = [f for f, _ in self.facts if f.name == "inside"]
            things = [thing for thing in self.things if thing != self.holder]
            return (
                stated[0] if kind < 0.5 else Relation("inside", chance.choice(things), self.holder)
            )
        stated = [f for f, _ in self.facts if self._fits(f, needs)]
        if stated and kind < 0.75:
            found = chance.choice(stated)
            if kind < 0.4 or (kind >= 0.5 and true) or not found.axes:
                return found
            return found.converse if kind < 0.5 and not self.group else found.opposite
        points = [thing for thing in self.things if thing != self.holder]
        subject, object = chance.sample(points, 2)
        if self.group:
            subject, object = chance.choice(self.group), self.things[3]
        if "fact" in needs:
            return Relation(self.fact, subject, object)
        if "diagonal" in needs:
            found = self.diagonal(subject, object)
            return found if true else found.opposite
        axis = "x" if "sideways" in needs else chance.choice(self.axes)
        return (
            self.true(axis, subject, object)
            if true
            else Relation(chance.choice(directions([axis])), subject, object)
        )

    def _fits(self, f: Relation, needs: frozenset[str]) -> bool:
        if self.group and f.subject not in self.group:
            return False
        if "amount" in needs and self.holder in (f.subject, f.object):
            return False
        if "fact" in needs or "diagonal" in needs:
            return len(f.axes) == (2 if "diagonal" in needs else 0) and f.name != "inside"
        if "sideways" in needs:
            return f.axes == ("x",)
        return len(f.axes) == 1 or (not needs and f.name == "inside")

    def slots(self, true: bool) -> Slots | None:
        """Choose the relations and words for a sentence; None if they do not fit."""
        chance, needs = self.chance, self.needs
        f = self.relation(true, needs - {"group"} - set(SHAPES))
        if "plural" in needs:
            f = self.true(chance.choice(self.axes), *chance.sample(self.things, 2))
        others = [
            t for t in self.group or self.things if t not in (f.subject, f.object, self.holder)
        ]
        if not others:
            return None
        chance.shuffle(others)
        pair = set(f.pair)
        free = [r for r in (self.relation(true) for _ in range(20)) if set(r.pair) != pair]
        axes = [axis for axis in self.axes if axis not in f.axes]
        if not free or not axes:
            return None
        u, v = (Relation(f.name, others[n % len(others)], f.object) for n in (0, 1))
        axis = chance.choice(axes)
        q = Relation(chance.choice(directions([axis])), f.subject, f.object)
        t = Relation(chance.choice(directions([axis])), f.object, v.subject)
        if true and self.holder not in pair:
            q, t = self.true(axis, *f.pair), self.true(axis, f.object, v.subject)
        relations = {"f": f, "g": free[0], "u": u, "v": v, "q": q, "t": t, "o": f.opposite}
        relations["h"] = Relation(q.name, f.subject, v.subject)
        relations["b"] = Relation(f.name, f.subject, u.subject)
        steps = chance.choice((-2, -1, 0, 0, 0, 1, 2))
        amount = self.scale
        if "amount" in needs:
            amount = max(self.scale, self.distance(f) + steps * self.scale)
        text = self._text(relations, amount)
        if text is None:
            return None
        unit = DATA["units"][self.unit]
        group = tuple(Relation(f.name, thing, f.object) for thing in self.group)
        everything = tuple(Relation(f.name, t, f.object) for t in self.things if t != f.object)
        return Slots(relations, group, everything, amount * unit, unit, text)

    def _text(self, relations: dict[str, Relation], amount: int) -> dict[str, str] | None:
        f, g, t = relations["f"], relations["g"], relations["t"]
        words = self.words(f.name)
        text = {
            "x": self.name(f.subject), "y": self.name(f.object),
            "r": words, "R": words[0].upper() + words[1:],
            "z": self.name(g.subject), "w": self.name(g.object), "s": self.words(g.name),
            "u": self.name(relations["u"].subject), "v": self.name(relations["v"].subject),
            "q": self.words(relations["q"].name), "o": self.words(relations["o"].name),
            "k": self.words(t.name), "l": self.name(t.object), "is": self.any("verbs"),
            "unit": self.unit, "n": self.number(amount), "m": self.number(amount + 2),
            "kind": self.kind, "kinds": f"{self.kind}s",
            "who": self.any("people"), "cond": self.any("conditions"),
        }  # fmt: skip
        if "plural" in self.needs:
            (noun, first), (other, second) = (
                n.rsplit(" ", 1) for n in (f.subject, relations["u"].subject)
            )
            if noun != other:
                return None
            text["plural"] = f"{noun}s {first} and {second}"
        return text

    # Words

    def name(self, thing: str) -> str:
        """Choose a name for a thing."""
        return (
            self.aliases[thing] if thing in self.aliases and self.chance.random() < 0.4 else thing
        )

    def any(self, kind: str) -> str:
        """Choose a word from a list."""
        return self.chance.choice(DATA[kind])

    def words(self, relation: str) -> str:
        """Choose words for a relation."""
        return self.chance.choice((_COMPASS if self.compass else DATA["relations"])[relation])

    def number(self, number: int) -> str:
        """Choose a spelling for a number."""
        if number and number % 1000 == 0 and self.chance.random() < 0.1:
            return f"{number // 1000} x 10^3"
        if number < len(DATA["numbers"]) and self.chance.random() < 0.3:
            return DATA["numbers"][number]
        return f"{number:,}" if self.chance.random() < 0.5 else str(number)

    def said(self, relation: Relation, amount: int | None = None) -> str:
        """State a relation in a plain sentence."""
        far = "" if amount is None else f"{self.number(amount)} {self.unit} "
        if amount is not None and self.unit in ("m", "metres") and self.chance.random() < 0.2:
            far = f"{100 * amount} cm "
        name, landmark = self.name(relation.subject), self.name(relation.object)
        return sentence(f"{name} is {far}{self.words(relation.name)} {landmark}.")


def sentence(text: str) -> str:
    """Capitalise the first word of the given text, if it is written with a capital at the start of
    a sentence.
    """
    first = re.search(r"[\w.#-]+", text)
    if first is None or len(first[0]) == 1 or re.search(r"[\d_.]", first[0]):
        return text
    return text[: first.start()] + text[first.start()].upper() + text[first.start() + 1 :]


# Records -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A record with the right verdicts.

    Attributes:
        template: Name of the sentence's shape.
        host: Where the sentence occurs: claim, scene or steps.
        text: The sentence.
        record: The record, a trace.
        right: For each claim, the verdicts of all readings; empty if the scene is impossible.
        consistent: For each reading, whether the scene is possible.
    """

    template: str
    host: str
    text: str
    record: dict[str, Any]
    right: tuple[frozenset[str], ...]
    consistent: frozenset[bool]


@cache
def places(seed: int, only: str) -> list[tuple[Template, str]]:
    """Return all pairs of a shape and a place where it may occur, in random order."""
    found = [(t, host) for t in TEMPLATES if only in t.name for host in t.hosts]
    random.Random(seed).shuffle(found)
    return found


def case(seed: int, number: int, only: str = "") -> Case:
    """Make the record with the given number."""
    chance = random.Random(f"{seed}-{number}")
    every = places(seed, only)
    template, host = every[number % len(every)]
    for _ in range(500):
        found = _drawn(chance, template, host, number)
        if found is not None:
            return found
    raise RuntimeError(f"no sentence is found for {template.name!r}")


def _drawn(chance: random.Random, template: Template, host: str, number: int) -> Case | None:
    draw = Draw(chance, template.needs)
    slots = draw.slots(true=host == "scene" and chance.random() < 0.7)
    if slots is None or not _distinct(template, slots):
        return None
    parts = [sentence(part.strip()) for part in template.text.format(**slots.text).split("|")]
    facts = draw.facts
    claims: list[tuple[str, tuple[Reading, ...]]]
    if host == "scene":
        readings = tuple(dict.fromkeys(means(slots) for means in template.scene))
        facts = [each for each in facts if _kept(chance, each[0], draw, slots)]
        claims = [
            (draw.said(*each), (asserted(*each, draw),)) for each in _asked(draw, slots, template)
        ]
        worlds = [(*(fact(*each, draw) for each in facts), r.premise) for r in readings]
    elif host == "claim":
        claims = [(" ".join(parts), tuple(dict.fromkeys(means(slots) for means in template.claim)))]
        worlds = [tuple(fact(*each, draw) for each in facts)]
    else:
        claims = [
            (part, tuple(m(slots) for m in means))
            for part, means in zip(parts, template.steps, strict=True)
        ]
        worlds = [tuple(fact(*each, draw) for each in facts)]
    told = [draw.said(*each) for each in facts]
    if host == "scene":
        place = chance.randrange(len(told) + 1)
        told[place:place] = parts
    fits = frozenset().union(*map(consistent, worlds))
    if fits != {True} and not (
        host == "scene" and template.hosts == ("scene",) and fits == {False}
    ):
        return None
    right = tuple(
        frozenset().union(*(verdicts(world, meant) for world in worlds)) for _, meant in claims
    )
    texts = [text for text, _ in claims]
    record = {
        "id": str(number),
        "scene": told if chance.random() < 0.5 else " ".join(told),
        "question": "",
        "reasoning": texts,
        "conclusion": "",
    }
    if host == "claim" and chance.random() < 0.5:
        record |= {"reasoning": [], "conclusion": texts[0]}
    return Case(template.name, host, " ".join(parts), record, right, fits)


def _distinct(template: Template, slots: Slots) -> bool:
    r = slots.relations
    things = {"x": r["f"].subject, "y": r["f"].object, "u": r["u"].subject, "v": r["v"].subject}
    used = [thing for slot, thing in things.items() if f"{{{slot}}}" in template.text]
    if "{l}" in template.text and r["t"].object in used:
        return False
    elsewhere = template.name.startswith("view") and {r["g"].subject, r["g"].object} & set(used)
    return len(set(used)) == len(used) and not ("{z}" in template.text and elsewhere)


def fact(relation: Relation, amount: int | None, draw: Draw) -> Formula:
    """Return the formula of a plain sentence."""
    if amount is None:
        return relation.formula
    far = amount * DATA["units"][draw.unit]
    return And((relation.formula, relation.by(True, far), relation.by(False, far)))


def asserted(relation: Relation, amount: int | None, draw: Draw) -> Reading:
    """Return the reading of a plain sentence."""
    return Reading("asserted", fact(relation, amount, draw))


def _kept(chance: random.Random, stated: Relation, draw: Draw, slots: Slots) -> bool:
    """Whether to keep a fact in the scene next to the sentence. It must not repeat too much of the
    sentence's content.
    """
    if draw.group:
        return not set(stated.axes) & set(slots.relations["f"].axes)
    return stated.name == "inside" != slots.relations["f"].name or chance.random() < 0.5


def _asked(draw: Draw, slots: Slots, template: Template) -> list[tuple[Relation, int | None]]:
    """Choose plain claims about the content of a sentence in a scene, and one other claim."""
    r = slots.relations
    letters = [
        x
        for x, slot in {"g": "{s}", "u": "{u}", "q": "{q}", "t": "{k}"}.items()
        if slot in template.text
    ]
    chosen = draw.chance.choice([r["f"], *(r[letter] for letter in letters), *slots.group])
    asked: list[tuple[Relation, int | None]] = [
        (each, None)
        for each in (
            chosen,
            chosen.opposite,
            draw.chance.choice((chosen.converse, chosen.converse.opposite)),
        )
    ]
    if chosen.name in ("near", "far"):
        asked.append((Relation({"near": "far", "far": "near"}[chosen.name], *chosen.pair), None))
    if template.name.startswith("view"):
        asked.append((Relation("behind", *r["f"].pair), None))
    if "amount" in template.needs:
        amount = slots.amount // slots.unit
        leading = int(f"{amount:,}".split(",")[0])
        more = draw.chance.choice((amount, amount + draw.scale, leading))
        asked.append((r["f"], more))
    asked.append((draw.relation(False), None))
    return list(dict.fromkeys(asked))


# The run -------------------------------------------------------------------------------


def judged(found: Case, audit: dict[str, Any]) -> Iterator[tuple[str, int | None, str]]:
    """Judge an audit. Yield triples: the column of the table, the position of the claim (None for a
    finding about the scene), and the finding.
    """
    feasible = audit["scene"]["feasible"]
    if found.consistent == {True} and not feasible:
        yield "false clash", None, "infeasible"
    if found.consistent == {False} and feasible and not audit["faults"]:
        yield "missed clash", None, "feasible"
    for place, right in enumerate(found.right):
        claim = audit["claims"][place]
        # Later claims are judged by the grounded verdict, because earlier claims may be false.
        got = claim["grounded_verdict" if place else "verdict"]
        if not right:
            continue
        if got in ("entailed", "contradicted"):
            yield ("right" if got in right else f"false {got}"), place, got
        else:
            yield ("rightly open" if "unknown" in right else "abstained"), place, got


@dataclass
class Found:
    """Counts by shape and place; false findings as JSON objects."""

    counts: dict[str, Counter[str]]
    wrong: list[dict[str, Any]]


def run(sentences: int, seed: int, jobs: int, only: str = "") -> Found:
    """Make sentences, audit them and judge the audits.

    Args:
        sentences: Number of sentences.
        seed: Seed for all choices.
        jobs: Number of processes that audit.
        only: Text that must occur in a shape's name.
    """
    found = Found({}, [])
    job = Job(auditing, ("everyday", None, "assumed"), Trace, timeout=60.0)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sentences.jsonl"
        cases = [case(seed, number, only) for number in range(sentences)]
        lines = [json.dumps(each.record) + "\n" for each in cases]
        file.write_text("".join(lines), encoding="utf-8")
        for outcome in process([str(file)], job, jobs):
            _note(found, cases[outcome.number - 1], outcome.output, outcome.error)
    return found


def _note(found: Found, each: Case, output: bytes | None, error: str | None) -> None:
    counts = found.counts.setdefault(f"{each.template} ({each.host})", Counter())
    counts["sentences"] += 1
    claims = [text for text in (*each.record["reasoning"], each.record["conclusion"]) if text]
    about = {"shape": each.template, "host": each.host, "sentence": each.text}
    if output is None:
        counts["abstained"] += len(each.right)
        found.wrong.append({"kind": "error", **about, "got": error, "scene": each.record["scene"]})
        return
    for kind, place, got in judged(each, json.loads(output)):
        counts[kind] += 1
        if kind in FALSE:
            truth = each.consistent if place is None else each.right[place]
            claim = None if place is None else claims[place]
            told = {
                "scene": each.record["scene"],
                "claim": claim,
                "got": got,
                "truth": sorted(truth),
            }
            if each.host == "steps":
                told["claims"] = claims
            found.wrong.append({"kind": kind, **about, **told})


def table(counts: dict[str, Counter[str]]) -> str:
    """Render counts as Markdown."""
    columns = ("sentences", *COLUMNS, *FALSE)
    total = sum(counts.values(), Counter())
    rows = [*sorted(counts.items()), ("all", total)]
    lines = [f"| shape (where) | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for name, row in rows:
        lines.append(f"| {name} | {' | '.join(str(row[column]) for column in columns)} |")
    return "\n".join(lines)


@click.command()
@click.option("--sentences", default=20_000)
@click.option("--seed", default=2026)
@click.option("--jobs", default=2)
@click.option("--only", default="", metavar="TEXT", help="Only shapes named so.")
@click.option("--examples", type=click.Path(path_type=Path), help="Where what is false goes.")
def main(sentences: int, seed: int, jobs: int, only: str, examples: Path | None) -> None:
    """Audit sentences with known meaning."""
    if not places(seed, only):
        raise click.UsageError(f"no shape has {only!r} in its name")
    start = time.monotonic()
    found = run(sentences, seed, jobs, only)
    print(table(found.counts))
    false = sum(row[column] for row in found.counts.values() for column in FALSE)
    print(f"\n{sentences} sentences in {time.monotonic() - start:.0f} s, {false} false")
    if examples:
        lines = [json.dumps(each, ensure_ascii=False) + "\n" for each in found.wrong]
        examples.write_text("".join(lines), encoding="utf-8")
    sys.exit(1 if false else 0)


if __name__ == "__main__":
    main()
