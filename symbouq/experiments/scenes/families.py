"""The five families of scenes, with their questions and reasoning."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_uppercase
from typing import Any

from symbouq.evidence.contract import STEP_LENGTH, Structured
from symbouq.experiments.scenes.geometry import (
    DIRECTIONS,
    OPPOSITE,
    STEPS,
    Boxes,
    Fact,
    converse,
    direction,
)
from symbouq.experiments.scenes.wording import PLAIN, SCENE, Wordings, atom, sentence

NINE = tuple(STEPS)
SIDES = ("left", "right", "above", "below")
NESTING = ("inside", "contains", "outside", "touching", "overlapping")
DISTANCES = ("near", "far", "touching", "DK")
JUDGEMENTS = ("entailment", "neutral", "contradiction")

_COLOURS = ("red", "blue", "green", "black", "white", "yellow")
_SHAPES = ("circle", "square", "triangle", "star")
_PLACES = ("meadow", "garden", "yard", "hall", "court", "field", "camp", "market")
_OBJECTS = ("bench", "pond", "tree", "lamp", "statue", "well", "table", "stone")


@dataclass(frozen=True)
class Problem:
    """A scene, a question, its answer and sound reasoning.

    Attributes:
        hops: Number of stated facts needed for the answer.
        scene: The sentences, in random order.
        question: The question, or the statement to judge.
        answer: The right label, or a list of labels if answers are sets.
        reasoning: Sound steps. In the family `blocks`, a few are longer than the contract allows.
        facts: Stated facts, one per sentence, in their canonical direction.
    """

    family: str
    hops: int
    scene: tuple[str, ...]
    question: str
    answer: str | list[str]
    answer_space: tuple[str, ...]
    reasoning: tuple[str, ...]
    facts: tuple[Fact, ...]

    @property
    def conclusion(self) -> str:
        """The answer as worded in a trace."""
        return self.answer if isinstance(self.answer, str) else ", ".join(self.answer)

    @property
    def trace(self) -> Structured:
        """Return a trace with the sound reasoning and the right answer."""
        return Structured(self.reasoning, self.conclusion)

    def record(self, identity: str) -> dict[str, Any]:
        """Return the problem as a record, including the facts from which the truth of claims is
        determined.
        """
        return {
            "id": identity,
            "dataset": f"scenes-{self.family}",
            "hops": self.hops,
            "scene": list(self.scene),
            "question": self.question,
            "answer": self.answer,
            "answer_space": list(self.answer_space),
            "meta": {"family": self.family, "facts": [list(fact) for fact in self.facts]},
        }


def chains(hops: int, draw: random.Random, wordings: Wordings = SCENE) -> Problem:
    """Make a chain of unit steps between letters. The question is where the first letter is
    relative to the last.
    """
    names = draw.sample(ascii_uppercase, hops + 1 + draw.choice((0, 1, 1, 2)))
    path, others = names[: hops + 1], names[hops + 1 :]
    ways = [way for way in NINE if way in wordings and way != "overlap"]
    links = [(u, draw.choice(ways), v) for u, v in pairwise(path)]
    if "overlap" in wordings and draw.random() < 0.1:
        u, _, v = links[-1]
        links[-1] = (u, "overlap", v)
    asides = [(name, draw.choice(ways), draw.choice(path)) for name in others]
    facts = _stated([*links, *asides], draw, wordings)
    first, last = path[0], path[-1]
    question = draw.choice(
        (
            f"What is the relation of the agent {first} to the agent {last}?",
            f"Where is {first} from {last}?",
            f"What is the relation of {first} to {last}?",
        )
    )
    steps = _read(links[0], facts)
    so_far = links[0]
    for number, link in enumerate(links[1:], start=2):
        joined = (first, _sum(links[:number]), link[2])
        steps += [*_read(link, facts), f"{atom(so_far)} and {atom(link)}, so {atom(joined)}"]
        so_far = joined
    return _problem("chains", hops, facts, draw, question, _sum(links), NINE, steps, wordings)


def blocks(hops: int, draw: random.Random) -> Problem:
    """Make coloured shapes in adjacent blocks. The question is which relations hold.

    Questions with one hop are about two shapes in a block, with two hops about a shape and a block,
    and with three hops about shapes in different blocks.
    """
    names = [f"block {letter}" for letter in draw.sample(ascii_uppercase[:6], 3)]
    shapes = draw.sample([f"the {c} {s}" for c in _COLOURS for s in _SHAPES], 4)
    ways = tuple(DIRECTIONS[s] for s in DIRECTIONS if s != (0, 0))
    across = (names[0], draw.choice(ways), names[1])
    within = (shapes[0], draw.choice(ways), shapes[2])
    lying = [(shapes[n], "inside", names[m]) for n, m in ((0, 0), (1, 1), (2, 0), (3, 2))]
    beside = (names[2], draw.choice(ways), names[1])
    facts = _stated([across, within, *lying[:3], beside, lying[3]], draw)
    u, v = shapes[0], shapes[2]
    if hops == 1:
        steps = _read(within, facts)
    else:
        steps = _read(lying[0], facts)
        for link, v in ((across, names[1]), (lying[1], shapes[1]))[: hops - 1]:
            steps += _applied(link, facts, (u, across[1], v))
    boxes = Boxes(facts)
    answer = [side for side in SIDES if boxes.holds(u, side, v)]
    question = f"Where is {u} relative to {v}?"
    space = (*SIDES, "inside", "contains")
    return _problem("blocks", hops, facts, draw, question, answer, space, steps, PLAIN)


def regions(hops: int, draw: random.Random) -> Problem:
    """Make nested places. The question is whether one is inside, around, outside or touching
    another.
    """
    names = [f"the {name}" for name in draw.sample([*_PLACES, *_OBJECTS], 6)]
    kind = draw.choice(("inside", "contains", "outside") if hops > 1 else NESTING[:4])
    aside = (names[5], draw.choice(("inside", "outside")), names[4])
    if kind in ("inside", "contains"):
        nested = names[: hops + 1]
        links = [(u, "inside", v) for u, v in pairwise(nested)]
        facts = _stated([*links, aside], draw)
        u, v = nested[0], nested[-1]
        steps = _read(links[0], facts)
        for link in links[1:]:
            steps += _applied(link, facts, (u, "inside", link[2]))
        if kind == "contains":
            steps.append(f"{atom((u, 'inside', v))}, so {atom((v, 'contains', u))}")
            u, v = v, u
    else:
        inner, u, second, v = names[:4]
        links = [(u, kind, v), (inner, "inside", u), (second, "inside", v)][:hops]
        facts = _stated([*links, aside], draw)
        if hops == 1:
            steps = _read(links[0], facts)
        else:
            u = inner
            steps = [*_read(links[1], facts), *_applied(links[0], facts, (u, kind, v))]
        if hops > 2:
            v = second
            steps += _applied(links[2], facts, (u, kind, v))
    question = f"What is the relation of {u} to {v}?"
    return _problem("regions", hops, facts, draw, question, [kind], NESTING, steps)


def distances(hops: int, draw: random.Random) -> Problem:
    """Make things in places that are near or far. The question is how far one thing is from
    another, if this can be determined.
    """
    places = [f"the {name}" for name in draw.sample(_PLACES, 3)]
    things = [f"the {name}" for name in draw.sample(_OBJECTS, 4)]
    relation = draw.choice(("near", "far", "touching") if hops == 1 else ("far", "far", "near"))
    links = [
        (places[0], relation, places[1]),
        (things[0], "inside", places[0]),
        (things[1], "inside", places[1]),
    ][:hops]
    aside = (things[2], draw.choice(("near", "touching")), things[3])
    facts = _stated([*links, aside, (things[3], "inside", places[2])], draw)
    u, v = places[0], places[1]
    if hops == 1:
        steps = _read(links[0], facts)
    else:
        u = things[0]
        steps = _read(links[1], facts)
        for link, v in ((links[0], places[1]), (links[-1], things[1]))[: hops - 1]:
            steps += _applied(link, facts, (u, "far", v) if relation == "far" else None)
    boxes = Boxes(facts)
    answer = [label for label in DISTANCES[:3] if boxes.holds(u, label, v)] or ["DK"]
    question = f"How far is {u} from {v}?"
    return _problem("distances", hops, facts, draw, question, answer, DISTANCES, steps)


def inference(hops: int, draw: random.Random) -> Problem:
    """Make a statement to be judged by premises: entailed, contradicted, or neither."""
    names = [f"the {name}" for name in draw.sample([*_OBJECTS, *_PLACES], hops + 3)]
    side = draw.choice(SIDES)
    label = draw.choice(JUDGEMENTS)
    path = names[: hops + 1]
    links = [(u, side, v) for u, v in pairwise(path)]
    if label == "neutral":
        # Reverse one link, so that nothing follows about the two ends.
        cut = draw.randrange(hops)
        u, _, v = links[cut]
        links[cut] = (u, OPPOSITE[side], v) if hops > 1 else (u, side, names[-2])
    facts = _stated([*links, (names[-1], draw.choice(SIDES), draw.choice(path[:-1]))], draw)
    u, v = path[0], path[-1]
    boxes = Boxes(facts)
    stated = (u, side if label != "contradiction" else OPPOSITE[side], v)
    if boxes.holds(*stated):
        label = "entailment"
    else:
        label = "contradiction" if boxes.excluded(*stated) else "neutral"
    steps = _read(links[0], facts)
    for link in links[1:]:
        joined = (u, side, link[2])
        steps += _applied(link, facts, joined if boxes.holds(*joined) else None)
    statement = f"{u[0].upper()}{atom(stated)[1:]}."
    return _problem("inference", hops, facts, draw, statement, label, JUDGEMENTS, steps, PLAIN)


FAMILIES: dict[str, Callable[[int, random.Random], Problem]] = {
    "chains": chains,
    "blocks": blocks,
    "regions": regions,
    "distances": distances,
    "inference": inference,
}
"""The families by name. Each makes a problem with the given number of hops, from 1 to 3."""


def problems(
    family: str, count: int | None, seed: int, hops: Sequence[int] = (1, 2, 3)
) -> Iterator[Problem]:
    """Yield `count` problems of a family, determined by the seed; if `count` is None, the sequence
    is endless. The values in `hops` are used in turn.
    """
    for number in itertools.count() if count is None else range(count):
        draw = random.Random(f"{family}/{seed}/{number}")
        yield FAMILIES[family](hops[number % len(hops)], draw)


def _problem(
    family: str,
    hops: int,
    facts: Sequence[Fact],
    draw: random.Random,
    question: str,
    answer: str | list[str],
    answer_space: tuple[str, ...],
    steps: Sequence[str],
    wordings: Wordings = SCENE,
) -> Problem:
    scene = tuple(sentence(fact, draw, wordings) for fact in facts)
    return Problem(family, hops, scene, question, answer, answer_space, tuple(steps), tuple(facts))


def _stated(facts: Sequence[Fact], draw: random.Random, wordings: Wordings = SCENE) -> list[Fact]:
    return [
        converse(fact) if OPPOSITE[fact[1]] in wordings and draw.random() < 0.5 else fact
        for fact in draw.sample(list(facts), len(facts))
    ]


def _sum(links: Sequence[Fact]) -> str:
    return direction(*(sum(steps) for steps in zip(*(STEPS[r] for _, r, _ in links), strict=True)))


def _turned(fact: Fact, facts: Sequence[Fact]) -> list[str]:
    """Return the steps that derive `fact` from its converse in the scene: one step, or two if one
    would be too long for the contract. If the scene states `fact` itself, there are none.
    """
    if fact in facts:
        return []
    step = f"{atom(converse(fact))}, so {atom(fact)}"
    return [step] if len(step) <= STEP_LENGTH else [atom(converse(fact)), atom(fact)]


def _read(fact: Fact, facts: Sequence[Fact]) -> list[str]:
    return _turned(fact, facts) or [atom(fact)]


def _applied(fact: Fact, facts: Sequence[Fact], conclusion: Fact | None) -> list[str]:
    end = f", so {atom(conclusion)}" if conclusion else ""
    return [*_turned(fact, facts), f"{atom(fact)}{end}"]
