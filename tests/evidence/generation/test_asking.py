from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from symbouq.errors import SymboUQError
from symbouq.evidence.generation.asking import EngineAsker
from symbouq.evidence.generation.engine import Completion, Request
from symbouq.io.chat import Answer, UnansweredError

ASKED = [{"role": "system", "content": "Read."}, {"role": "user", "content": "The cup."}]
SCHEMA = {
    "type": "object",
    "properties": {"a": {"enum": ["x", "y"]}},
    "required": ["a"],
    "additionalProperties": False,
}


class Scripted:
    """An engine that answers with what it is told, when it is let."""

    def __init__(self, *completions: Completion) -> None:
        self.completions = list(completions)
        self.batches: list[list[Request]] = []
        self.go = threading.Event()
        self.go.set()

    def generate(self, requests: list[Request]) -> list[Completion]:
        self.batches.append(list(requests))
        self.go.wait()
        return [self.completions.pop(0) for _ in requests]


def done(text: str, finish: Any = "stop", error: str = "") -> Completion:
    return Completion(text, (), finish, 7, error)


def test_an_engine_answers() -> None:
    engine = Scripted(done("Hi."), done("Hi", "length"))
    asker = EngineAsker("small", lambda: engine)  # type: ignore[arg-type, return-value]
    assert asker.ask(ASKED, SCHEMA, 50, 0) == Answer("Hi.", 7, 0)
    assert asker.ask(ASKED, SCHEMA, 50, 2).cut
    first, second = (batch[0] for batch in engine.batches)
    assert (first.message, first.max_tokens, first.schema) == ("Read.\n\nThe cup.", 50, SCHEMA)
    assert (first.temperature, second.seed, second.temperature > 0) == (0, 2, True)


def test_questions_that_wait_are_answered_together() -> None:
    engine = Scripted(*[done(str(n)) for n in range(4)])
    engine.go.clear()
    asker = EngineAsker("small", lambda: engine)  # type: ignore[arg-type, return-value]
    threads = [threading.Thread(target=asker.ask, args=(ASKED, SCHEMA, 50, n)) for n in range(4)]
    threads[0].start()
    while not engine.batches:
        pass
    for thread in threads[1:]:
        thread.start()
    while asker._waiting.qsize() < 3:
        pass
    engine.go.set()
    for thread in threads:
        thread.join()
    assert [len(batch) for batch in engine.batches] == [1, 3]


def test_what_fails_is_told() -> None:
    engine = Scripted(done("", "failed", "out of memory"))
    with pytest.raises(UnansweredError, match="out of memory"):
        EngineAsker("small", lambda: engine).ask(ASKED, SCHEMA, 50, 0)  # type: ignore[arg-type, return-value]

    def broken() -> Any:
        raise SymboUQError("no such model")

    with pytest.raises(SymboUQError, match="no such model"):
        EngineAsker("small", broken).ask(ASKED, SCHEMA, 50, 0)


def test_a_model_is_held_to_the_schema(engine: Any) -> None:
    answer = EngineAsker("tiny", lambda: engine).ask(ASKED, SCHEMA, 50, 0)
    assert json.loads(answer.text)["a"] in ("x", "y") and answer.reply_tokens > 0
