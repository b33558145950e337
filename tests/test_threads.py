"""Threads of one process: each gets what it would get alone, whatever the others do meanwhile."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

import symbouq
from symbouq import api
from symbouq.auditing.answers import answer
from symbouq.auditing.explain import explanation_of
from symbouq.ontology import library
from symbouq.ontology.library import OntologyLibrary
from symbouq.reading.syntax.pipeline import pipeline
from symbouq.records import Instance, Trace, make_record
from symbouq.rewards import reward

THREADS = 6
TIMES = 4
"""How often each of the calls is made by all threads together."""

SCENES: list[tuple[Any, Any, dict[str, Any]]] = [
    ("A is above B. B is right of C.", ["A is upper right of C."], {}),
    (
        "The cup is left of the box. The lamp is above the box.",
        "The cup is left of the box, so the lamp is right of the cup. The lamp is below the cup.",
        {},
    ),
    (
        "The red cup is on the table. The dog is under the table.",
        "The cup is above the dog. It is red. So the dog is below the cup.",
        {"question": "Where is the dog?"},
    ),
    ([("a", "left", "b"), ("b", "left", "c")], [[("a", "left", "c")], [("c", "left", "a")]], {}),
    ("X is north of Y. Y is east of Z.", "X is northeast of Z. X is south of Z.", {}),
    (
        "The ball is inside the box. The box is inside the room.",
        ["The ball is inside the room.", "The room is inside the ball."],
        {"profile": "rcc8"},
    ),
    (
        "The sofa faces the window. The lamp is behind the sofa.",
        "The window is in front of the sofa. The lamp is left of the sofa.",
        {"profile": "everyday"},
    ),
    (
        "Daniel went to the kitchen. Daniel took the apple.",
        ["The apple is in the kitchen."],
        {"profile": "bAbI"},
    ),
]


@pytest.fixture
def auditor() -> symbouq.TraceAuditor:
    return symbouq.TraceAuditor()


@pytest.fixture(autouse=True)
def _busy() -> Iterator[None]:
    """Has threads take over from each other far more often than usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def calls(auditor: symbouq.TraceAuditor) -> list[Callable[[], Any]]:
    """What users call, each of which uses what others use too."""
    question = make_record(
        Instance,
        {
            "id": "q",
            "scene": "The cup is left of the box. The lamp is right of the box.",
            "question": "Is the lamp left of the cup?",
            "answer_space": ["yes", "no"],
        },
    )
    trace = make_record(Trace, {"id": "t", "scene": "A is above B.", "response": "B is below A."})
    between = "A is above B. B is left of C.", "A", "C"
    return [
        *(partial(_audited, scene, claims, more) for scene, claims, more in SCENES),
        lambda: symbouq.relations_between(*between),
        lambda: symbouq.follow("A is above B.", "Where is A?").add("B is below A."),
        lambda: reward("A is above B.", "B is below A. Answer: yes").audit,
        lambda: auditor.audit(trace).model_dump(),
        lambda: vars(answer(auditor, question)),
        lambda: explanation_of(auditor, trace).lines,
        lambda: OntologyLibrary().ontology("rcc8").encoding.rules,
    ]


def _audited(scene: Any, claims: Any, more: dict[str, Any]) -> Any:
    return symbouq.audit(scene, claims, **more).model_dump()


@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
def test_each_thread_gets_what_it_gets_alone(auditor: symbouq.TraceAuditor, warm: bool) -> None:
    every = calls(auditor)
    if warm:
        alone = [call() for call in every]
    else:  # nothing is there yet that the threads could share
        api._auditor.cache_clear()
        library._builtin.cache_clear()
        pipeline.cache_clear()
    start = threading.Barrier(THREADS)
    given = [call for _ in range(TIMES) for call in every]
    share = [given[n::THREADS] for n in range(THREADS)]

    def work(mine: list[Callable[[], Any]]) -> list[Any]:
        start.wait()
        return [_tried(call) for call in mine]

    with ThreadPoolExecutor(THREADS) as pool:
        together = list(pool.map(work, share))
    if not warm:
        alone = [call() for call in every]
    found: list[Any] = [None] * len(given)
    for n, results in enumerate(together):
        found[n::THREADS] = results
    raised = [result for result in found if isinstance(result, Exception)]
    differ = [n % len(every) for n, result in enumerate(found) if result != alone[n % len(every)]]
    assert (raised, differ) == ([], [])


def _tried(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return error


def test_the_verdicts_are_told_apart() -> None:
    """What the threads are compared by is worth comparing."""
    verdicts = {c["verdict"] for given in SCENES for c in _audited(*given)["claims"]}
    assert verdicts >= {"entailed", "contradicted", "unknown"}
