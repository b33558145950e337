"""Sentences of the generated scenes: `{u}` stands to `{v}` in a relation.

A relation has many wordings in scenes, and one plain wording in reasoning, so that a step can
be judged without a parser.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from symbouq.experiments.scenes.geometry import Fact

_AXIAL = {
    "left": ("left", "west", "9", ""),
    "right": ("right", "east", "3", ""),
    "above": ("top", "north", "12", "above"),
    "below": ("bottom", "south", "6", "below"),
}
_DIAGONAL = {
    "upper-left": ("above", "left", "top", "northwest", "10:30"),
    "upper-right": ("above", "right", "top", "northeast", "1:30"),
    "lower-left": ("below", "left", "bottom", "southwest", "7:30"),
    "lower-right": ("below", "right", "bottom", "southeast", "4:30"),
}


def _sideways(word: str, wind: str, hour: str) -> tuple[str, ...]:
    return (
        f"{{u}} is {word} of {{v}}.",
        f"{{u}} is to the {word} of {{v}}.",
        f"{{u}} stands on the {word} side of {{v}}.",
        f"{{u}} and {{v}} are in a row, and {{u}} is on the {word}.",
        f"{{u}} lies due {wind} of {{v}}.",
        f"{{u}} is at the {hour} o'clock position of {{v}}.",
        f"Look {word} from {{v}} and you see {{u}}.",
        f"{{v}} has {{u}} directly to its {word}.",
    )


def _upright(word: str, wind: str, hour: str, plain: str) -> tuple[str, ...]:
    return (
        f"{{u}} is {plain} {{v}}.",
        f"{{u}} is directly {plain} {{v}}.",
        f"{{u}} stands straight {plain} {{v}}.",
        f"{{u}} and {{v}} are in a column, and {{u}} is at the {word}.",
        f"{{u}} lies due {wind} of {{v}}.",
        f"{{u}} is at the {hour} o'clock position of {{v}}.",
        f"Look {'up' if word == 'top' else 'down'} from {{v}} and you see {{u}}.",
        f"{{v}} has {{u}} right {plain} it.",
    )


def _slanting(plain: str, side: str, word: str, wind: str, hour: str) -> tuple[str, ...]:
    name = "upper" if word == "top" else "lower"
    return (
        f"{{u}} is {name}-{side} of {{v}}.",
        f"{{u}} is {plain} and to the {side} of {{v}}.",
        f"{{u}} stands {side} of {{v}} and {plain} it.",
        f"{{u}} is to the {word} {side} of {{v}}.",
        f"{{u}} is diagonally {plain} {{v}} on the {side}.",
        f"{{u}} lies {wind} of {{v}}.",
        f"{{u}} is at {{v}}'s {hour} position.",
        f"Go {'up' if word == 'top' else 'down'} and {side} from {{v}} to find {{u}}.",
    )


Wordings = Mapping[str, Sequence[str]]
"""Sentences by relation, with `{u}` and `{v}`."""

SCENE: Wordings = {
    **{
        name: _upright(*words) if words[3] else _sideways(*words[:3])
        for name, words in _AXIAL.items()
    },
    **{name: _slanting(*words) for name, words in _DIAGONAL.items()},
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
"""Wordings of a relation in a scene."""

STEP: Mapping[str, str] = {
    "left": "left of",
    "right": "right of",
    "above": "above",
    "below": "below",
    "upper-left": "upper-left of",
    "upper-right": "upper-right of",
    "lower-left": "lower-left of",
    "lower-right": "lower-right of",
    "overlap": "at the same place as",
    "inside": "inside",
    "contains": "containing",
    "near": "near",
    "far": "far from",
    "touching": "touching",
    "outside": "outside",
}
"""The plain wording of a relation in reasoning, after `is`."""


PLAIN: Wordings = {relation: wordings[:1] for relation, wordings in SCENE.items()}
"""The first wording of each."""


def sentence(fact: Fact, draw: random.Random, wordings: Wordings = SCENE) -> str:
    """A fact as a sentence of a scene.

    Args:
        fact: What is to be said.
        draw: Chooses the wording.
        wordings: Wordings of each relation that may be drawn.
    """
    u, relation, v = fact
    text = draw.choice(wordings[relation]).format(u=u, v=v)
    return text[0].upper() + text[1:]


def atom(fact: Fact) -> str:
    """A fact in the plain wording of reasoning, without full stop."""
    u, relation, v = fact
    return f"{u} contains {v}" if relation == "contains" else f"{u} is {STEP[relation]} {v}"


def facts_of(step: str) -> list[Fact] | None:
    """The facts that a step states, in the plain wording; None if any of it is worded otherwise.

    Args:
        step: A reasoning string, atoms joined by `and`, `so` and commas.
    """
    found: list[Fact] = []
    text = step.strip().rstrip(".").replace(", so ", " and ").replace(", and ", " and ")
    for part in text.split(" and "):
        fact = _fact(part.strip())
        if fact is None:
            return None
        found.append(fact)
    return found


def _fact(text: str) -> Fact | None:
    for relation, words in sorted(STEP.items(), key=lambda item: -len(item[1])):
        link = " contains " if relation == "contains" else f" is {words} "
        u, found, v = text.partition(link)
        if found and u and v:
            return u, relation, v
    return None
