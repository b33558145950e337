"""A backbone's training corpus: prompts with sound traces as answers."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from symbouq.auditing.auditor import TraceAuditor
from symbouq.evidence.contract import STRUCTURED
from symbouq.evidence.generation.prompts import user_message
from symbouq.experiments.scenes.families import FAMILIES, Problem, chains
from symbouq.experiments.scenes.geometry import STEPS
from symbouq.experiments.scenes.wording import Wordings, atom
from symbouq.records import Instance, Trace, make_record

SHARES = {"chains": 0.5, "blocks": 0.15, "regions": 0.1, "distances": 0.1, "inference": 0.15}
"""Share of each family of scenes in the corpus."""

RESTATED = 0.2
"""Share of pairs for the side task."""

RESTATING = "Restate every fact of the scene plainly."
"""The side task. Learning to read single facts is what helps a small model most."""


class Pair(NamedTuple):
    """A user message and the answer to be learned."""

    prompt: str
    completion: str


def pair(problem: Problem) -> Pair:
    """Turn a problem into a prompt with its sound trace as the answer."""
    instance = make_record(Instance, problem.record("training"))
    return Pair(user_message(instance), problem.trace.encoded())


def restating(problem: Problem) -> Pair:
    """Turn a problem's scene into the side task."""
    return Pair(
        f"{RESTATING}\nScene: {' '.join(problem.scene)}",
        ". ".join(atom(fact) for fact in problem.facts) + ".",
    )


def instructions() -> list[str]:
    """Return the fixed parts of prompts: the contract, and the task description of every family."""
    easiest = [family(1, random.Random(0)) for family in FAMILIES.values()]
    tasks = [pair(problem).prompt.partition("\n")[0] for problem in easiest]
    return list(dict.fromkeys([STRUCTURED, RESTATING, *tasks]))


def corpus(
    seed: int, hops: Sequence[int] = (1, 2, 3), wordings: Wordings | None = None
) -> Iterator[Pair]:
    """Yield an endless sequence of pairs, determined by the seed.

    The number of hops is drawn uniformly from `hops`; a number that is repeated there is drawn more
    often. Three in four chains use `wordings`.
    """
    draw = random.Random(f"corpus/{seed}")
    while True:
        family = draw.choices(list(SHARES), list(SHARES.values()))[0]
        if family == "chains" and wordings and draw.random() < 0.75:
            problem = chains(draw.choice(hops), draw, wordings)
        else:
            problem = FAMILIES[family](draw.choice(hops), draw)
        try:
            made = restating(problem) if draw.random() < RESTATED else pair(problem)
        except ValidationError:  # a few sound steps are longer than the contract allows
            continue
        yield made


def wordings_of(rows: Iterable[Instance]) -> dict[str, list[str]]:
    """Collect wordings for each direction from the questions in a benchmark's training split.

    The sentences are parsed by the auditor. A sentence that states one direction between two
    letters becomes a wording.
    """
    auditor = TraceAuditor()
    wordings: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        fields = {"id": row.id, "dataset": row.dataset, "scene": row.scene, "conclusion": "none"}
        trace = make_record(Trace, fields)
        parsed = auditor.parser_for(trace).record(trace, auditor.parsed(trace))
        counts = Counter(fact["sentence"] for fact in parsed["scene_relations"])
        for fact in parsed["scene_relations"]:
            u, v, number = fact["subject"], fact["object"], fact["sentence"]
            relation = fact["relation"].replace("same_position", "overlap").replace("_", "-")
            text = parsed["scene"][number - 1].replace("{", "(").replace("}", ")")
            wording = _letter(v).sub("{v}", _letter(u).sub("{u}", text))
            alone = counts[number] == 1 and relation in STEPS and len(u) == len(v) == 1
            if alone and "{u}" in wording:
                wordings[relation].add(wording)
    return {relation: sorted(wordings[relation]) for relation in sorted(wordings)}


def _letter(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(name)}\b")
