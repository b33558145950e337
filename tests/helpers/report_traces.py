"""Our own traces, made by a small rule: things on a grid, with some facts stated and some claims
wrong.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from symbouq.auditing.auditor import TraceAuditor
from symbouq.records import Trace, make_record
from symbouq.report.entries import entry
from symbouq.report.html import Report

THINGS = [
    "anchor",
    "barrel",
    "candle",
    "drum",
    "easel",
    "ferry",
    "globe",
    "harp",
    "inkwell",
    "jar",
    "kettle",
    "ladder",
    "mirror",
    "needle",
    "oar",
    "piano",
    "quilt",
    "rope",
    "stool",
    "teapot",
    "umbrella",
    "vase",
    "wagon",
]
WORDS = {
    (0, 1): "above",
    (0, -1): "below",
    (-1, 0): "to the left of",
    (1, 0): "to the right of",
    (-1, 1): "to the upper left of",
    (1, 1): "to the upper right of",
    (-1, -1): "to the lower left of",
    (1, -1): "to the lower right of",
}
LABELS = [
    "above",
    "below",
    "left",
    "right",
    "upper-left",
    "upper-right",
    "lower-left",
    "lower-right",
]


def sign(n: int) -> int:
    return (n > 0) - (n < 0)


def said(a: tuple[int, int], b: tuple[int, int]) -> str:
    """Say where the first place lies as seen from the second."""
    return WORDS[sign(a[0] - b[0]), sign(a[1] - b[1])]


def traces(count: int, seed: int = 7) -> Iterator[dict[str, Any]]:
    """Yield labelled traces in text: a chain of things, and claims along it that are occasionally
    wrong.
    """
    chance = random.Random(seed)
    for number in range(count):
        size = chance.randint(3, 6)
        names = chance.sample(THINGS, size)
        places = [(0, 0)]
        while len(places) < size:
            dx, dy = chance.choice(list(WORDS))
            step = chance.randint(1, 2)
            place = (places[-1][0] + step * dx, places[-1][1] + step * dy)
            if place not in places:
                places.append(place)

        scene = [
            f"The {names[n]} is {said(places[n], places[n - 1])} the {names[n - 1]}."
            for n in range(1, size)
        ]
        chance.shuffle(scene)
        skill = chance.choice([0.55, 0.8, 0.97])
        claims = []
        for n in range(1, size):
            word = (
                said(places[n], places[0])
                if chance.random() < skill
                else chance.choice(list(WORDS.values()))
            )
            claims.append(f"The {names[n]} is {word} the {names[0]}.")
            if chance.random() < 0.2:
                claims.append("Now look at the next one.")
        truth = said(places[-1], places[0])
        given = truth if chance.random() < skill else chance.choice(list(WORDS.values()))
        yield {
            "id": f"made-{number + 1}",
            "scene": scene,
            "question": f"Where is the {names[-1]} relative to the {names[0]}?",
            "response": " ".join(claims) + f"\nAnswer: The {names[-1]} is {given} the {names[0]}.",
            "model": "careful" if skill > 0.9 else "hasty",
            "correct": given == truth,
        }


AUDITOR = TraceAuditor()
HOSTILE = (
    "</script><script>window.hit = 1</script><img src=x onerror='hit=1'> \"'&\u2028{{style}} <!--"
)


def hostile(number: int = 0) -> dict[str, Any]:
    """Return a trace in which every text tries to break out of its place in a page."""
    return {
        "id": f"{HOSTILE}{number}",
        "scene": [f"A is above B. {HOSTILE}", f"C is left of D. {HOSTILE}"],
        "question": HOSTILE,
        "reasoning": [HOSTILE, f"A is above B {HOSTILE}"],
        "conclusion": f"B is above A. {HOSTILE}",
        "model": HOSTILE,
        "answer": HOSTILE,
    }


def hostile_relations() -> dict[str, Any]:
    """Return a trace in which the names of things do the same."""
    return {
        "id": "relations",
        "scene_relations": [[HOSTILE, "left", "B"], ["B", "left", HOSTILE + "2"]],
        "claims": [{"text": HOSTILE, "relations": [[HOSTILE + "2", "left", HOSTILE]]}],
        "model": "other",
    }


def written(path: Path, records: list[dict[str, Any]], **options: Any) -> str:
    with Report(path, **options) as report:
        for record in records:
            trace = make_record(Trace, record)
            report.add(entry(AUDITOR, trace, AUDITOR.audited(trace, "f.jsonl", 1)))
    return path.read_text(encoding="utf-8")
