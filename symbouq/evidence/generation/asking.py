"""Lets the model reader send its questions to a local engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any

from symbouq.evidence.generation.engine import Completion, Engine, Request
from symbouq.io.chat import TEMPERATURE, Answer, Message, UnansweredError


class EngineAsker:
    """Asks an engine's model. The engine is loaded when the first question is asked.

    Questions asked by several threads at the same time are answered in one batch.
    """

    def __init__(self, model: str, load: Callable[[], Engine]) -> None:
        self.model = model
        self._load = load
        self._engine: Engine | None = None
        self._running = Lock()
        self._waiting: SimpleQueue[tuple[Request, Future[Completion]]] = SimpleQueue()

    def ask(
        self, messages: Sequence[Message], schema: Mapping[str, Any], most: int, sample: int
    ) -> Answer:
        """Return the model's answer (`symbouq.io.chat.Asker`).

        Raises:
            SymboUQError: If the engine cannot be loaded or cannot generate.
            UnansweredError: If this request has no answer.
        """
        # Send only a user message, because some templates reject a system role.
        text = "\n\n".join(message["content"] for message in messages)
        request = Request(text, most, schema, TEMPERATURE if sample else 0.0, sample)
        mine: Future[Completion] = Future()
        self._waiting.put((request, mine))
        with self._running:
            if not mine.done():
                self._run()
        done = mine.result()
        if done.finish == "failed":
            raise UnansweredError(done.error)
        return Answer(done.text, done.prompt_tokens, len(done.tokens), done.finish == "length")

    def _run(self) -> None:
        together: list[tuple[Request, Future[Completion]]] = []
        try:
            while True:
                together.append(self._waiting.get_nowait())
        except Empty:
            pass
        try:
            self._engine = self._engine or self._load()
            done = self._engine.generate([request for request, _ in together])
        except Exception as error:  # every waiting thread receives the error
            for _, future in together:
                future.set_exception(error)
        else:
            for (_, future), completion in zip(together, done, strict=True):
                future.set_result(completion)
