"""Sentences for the generated scenes, with `{u}` and `{v}` for the things.

In scenes, a relation has many wordings, but in reasoning only one. So steps can be judged without a
parser.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from symbouq.experiments.scenes.geometry import Fact

Wordings = Mapping[str, Sequence[str]]
"""Sentences for each relation, with `{u}` and `{v}` for the things."""

_SIDEWAYS = (
    "{u} is {side} of {v}.",
    "{u} is to the {side} of {v}.",
    "{u} stands on the {side} side of {v}.",
    "{u} and {v} are in a row, and {u} is on the {side}.",
    "{u} lies due {wind} of {v}.",
    "{u} is at the {hour} o'clock position of {v}.",
    "Look {side} from {v} and you see {u}.",
    "{v} has {u} directly to its {side}.",
)
_UPRIGHT = (
    "{u} is {plain} {v}.",
    "{u} is directly {plain} {v}.",
    "{u} stands straight {plain} {v}.",
    "{u} and {v} are in a column, and {u} is at the {end}.",
    "{u} lies due {wind} of {v}.",
    "{u} is at the {hour} o'clock position of {v}.",
    "Look {way} from {v} and you see {u}.",
    "{v} has {u} right {plain} it.",
)
_SLANTING = (
    "{u} is {half}-{side} of {v}.",
    "{u} is {plain} and to the {side} of {v}.",
    "{u} stands {side} of {v} and {plain} it.",
    "{u} is to the {end} {side} of {v}.",
    "{u} is diagonally {plain} {v} on the {side}.",
    "{u} lies {wind} of {v}.",
    "{u} is at {v}'s {hour} position.",
    "Go {way} and {side} from {v} to find {u}.",
)
_UP = {"plain": "above", "end": "top", "way": "up", "half": "upper"}
_DOWN = {"plain": "below", "end": "bottom", "way": "down", "half": "lower"}
_DIRECTIONS = {
    "left": (_SIDEWAYS, {"side": "left", "wind": "west", "hour": "9"}),
    "right": (_SIDEWAYS, {"side": "right", "wind": "east", "hour": "3"}),
    "above": (_UPRIGHT, {**_UP, "wind": "north", "hour": "12"}),
    "below": (_UPRIGHT, {**_DOWN, "wind": "south", "hour": "6"}),
    "upper-left": (_SLANTING, {**_UP, "side": "left", "wind": "northwest", "hour": "10:30"}),
    "upper-right": (_SLANTING, {**_UP, "side": "right", "wind": "northeast", "hour": "1:30"}),
    "lower-left": (_SLANTING, {**_DOWN, "side": "left", "wind": "southwest", "hour": "7:30"}),
    "lower-right": (_SLANTING, {**_DOWN, "side": "right", "wind": "southeast", "hour": "4:30"}),
}

SCENE: Wordings = {
    **{
        name: tuple(template.format(u="{u}", v="{v}", **words) for template in templates)
        for name, (templates, words) in _DIRECTIONS.items()
    },
    "overlap": (
        "{u} is at the same place as {v}.",
        "{u} and {v} are in the same spot.",
        "{u} is where {v} is.",
    ),
    "inside": ("{u} is in {v}.", "{u} is inside {v}.", "{u} lies within {v}.", "{v} has {u}."),
    "contains": ("{u} contains {v}.", "{v} is inside {u}.", "There is {v} in {u}."),
    "near": ("{u} is near {v}.", "{u} is close to {v}."),
    "far": ("{u} is far from {v}.", "{u} is far away from {v}."),
    "touching": ("{u} touches {v}.", "{u} is touching {v}."),
    "outside": ("{u} is outside {v}.", "{u} is disconnected from {v}."),
}
"""The wordings of each relation in scenes."""

PLAIN: Wordings = {relation: wordings[:1] for relation, wordings in SCENE.items()}
"""The first wording of each relation."""

_PREDICATES = {
    **{relation: f"is {relation} of" for relation in _DIRECTIONS},
    "above": "is above",
    "below": "is below",
    "overlap": "is at the same place as",
    "inside": "is inside",
    "contains": "contains",
    "near": "is near",
    "far": "is far from",
    "touching": "is touching",
    "outside": "is outside",
}
"""The plain wording of each relation in reasoning."""


def sentence(fact: Fact, draw: random.Random, wordings: Wordings = SCENE) -> str:
    """Write a fact as a sentence for a scene, in a random wording."""
    u, relation, v = fact
    text = draw.choice(wordings[relation]).format(u=u, v=v)
    return text[0].upper() + text[1:]


def atom(fact: Fact) -> str:
    """Write a fact in the plain wording used in reasoning, without a full stop."""
    u, relation, v = fact
    return f"{u} {_PREDICATES[relation]} {v}"


def facts_of(step: str) -> list[Fact] | None:
    """Read the facts that a step states in plain wording, joined by `and`, `so` and commas. Return
    None for any other wording.
    """
    text = step.strip().rstrip(".").replace(", so ", " and ").replace(", and ", " and ")
    read = [_fact(part.strip()) for part in text.split(" and ")]
    facts = [fact for fact in read if fact]
    return facts if len(facts) == len(read) else None


def _fact(text: str) -> Fact | None:
    for relation, predicate in _PREDICATES.items():
        u, _, v = text.partition(f" {predicate} ")
        if u and v:
            return u, relation, v
    return None
