"""Collect a language model's readings for the traces in files, from a file of readings or from the
model itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from pydantic_core import from_json, to_json

from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import RecordError, SymboUQError, internal
from symbouq.io.chat import Answer, Asker, UnansweredError
from symbouq.io.readings import ReadingsFile
from symbouq.io.stream import Batch, Line
from symbouq.ontology.tables import Ontology
from symbouq.reading.model.asking import asked
from symbouq.reading.model.dialogue import ModelRequest
from symbouq.reading.model.prompt import SCHEMA_DIGITS, Prompt, prompt_of
from symbouq.records import Instance, Reply, StoredReading, Trace, parse_record

_PATIENCE = 5
"""Number of consecutive unanswered requests after which no more are sent."""


@dataclass(frozen=True)
class Collecting:
    """Options for collecting readings.

    Attributes:
        second_opinion: Whether the parser also reads the traces.
        samples: Number of replies to each request.
        most: Maximum number of tokens in a reply.
        budget: Maximum number of tokens read and written; None for no limit.
        concurrency: Number of simultaneous requests.
        alone: Whether the model sees each sentence in a separate request.
        reuse: Whether to accept readings made with earlier instructions but the same schema.
    """

    second_opinion: bool = False
    samples: int = 2
    most: int = 8192
    budget: int | None = None
    concurrency: int = 8
    alone: bool = False
    reuse: bool = False


@dataclass
class Tally:
    """Counts of collected readings.

    Attributes:
        traces: Number of traces with all readings.
        failed: Number of traces that lack readings.
        asked: Number of replies from the model.
        kept: Number of replies from the file.
        other: Number of replies from the file that used another version of the prompt or ontology.
        prompt_tokens: Number of tokens read by the model.
        reply_tokens: Number of tokens written by the model.
    """

    traces: int = 0
    failed: int = 0
    asked: int = 0
    kept: int = 0
    other: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Number of tokens read and written by the model."""
        return self.prompt_tokens + self.reply_tokens


@dataclass
class _Failing:
    """The reason to stop asking, and the number of consecutive unanswered requests."""

    why: str = ""
    count: int = 0


class Collector:
    """Context manager that adds readings to records.

    Readings are written to the file before they are used. If part of a trace has no reading, the
    trace fails with the reason, but its other readings are kept.

    Args:
        auditor: Auditor that determines a record's profile.
        file: File of readings.
        model: Name of the model, as recorded in the file.
        asker: Client of the model. None to use only readings from the file, including those made
            with another version of the prompt or ontology.
        how: Options.
        kind: Type of the records.
        tell: Called whenever the tally changes.

    Attributes:
        tally: Counts so far.
    """

    def __init__(
        self,
        auditor: TraceAuditor,
        file: ReadingsFile,
        model: str,
        asker: Asker | None,
        how: Collecting,
        kind: type[Instance] = Trace,
        tell: Callable[[Tally], None] = lambda tally: None,
    ) -> None:
        self.tally = Tally()
        self._auditor = auditor
        self._file = file
        self._model = model
        self._asker = asker
        self._how = how
        self._kind = kind
        self._tell = tell
        self._prompts: dict[str, Prompt] = {}
        self._waiting: dict[tuple[str, str, int], Future[Reply]] = {}
        self._failing = _Failing()
        self._lock = threading.RLock()
        self._threads = ThreadPoolExecutor(how.concurrency, "reading")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._failing.why = "the run was ended"
        # Replies in progress are already paid for, so wait for them and keep them.
        self._threads.shutdown(wait=True, cancel_futures=True)

    def batch(self, batch: Batch) -> Batch:
        """Add readings to a batch of lines. A line without readings is replaced by the reason."""
        done = [
            self._threads.submit(self._line, item) if isinstance(item, Line) else item
            for item in batch
        ]
        return [item.result() if isinstance(item, Future) else item for item in done]

    def _line(self, line: Line) -> Line | RecordError:
        try:
            record = parse_record(self._kind, line.content, line.file, line.number)
        except RecordError:
            return line  # the consumer of the line reports it
        if record.readings is not None or record.scene_relations is not None:
            return line
        try:
            readings = self._readings(record)
        except Exception as error:  # an internal error must not affect other records
            with self._lock:
                self.tally.failed += 1
                self._tell(self.tally)
            message = error.message if isinstance(error, SymboUQError) else internal(error)
            return RecordError(message, line.file, line.number)
        with self._lock:
            self.tally.traces += 1
            self._tell(self.tally)
        content = {**from_json(line.content), "readings": readings}
        return line._replace(content=to_json(content))

    def _readings(self, instance: Instance) -> dict[str, object]:
        with self._lock:  # create parsers and prompts once
            parser = self._auditor.parser_for(instance)
            ontology = parser.ontology
            if ontology.eventful:
                raise RecordError(
                    f"profile {ontology.profile} reads events, which no language model is asked "
                    "about: leave --reader away"
                )
            if ontology.profile not in self._prompts:
                folder = None if ontology.name == "builtin" else ontology.name
                self._prompts[ontology.profile] = prompt_of(ontology, folder)
            prompt = self._prompts[ontology.profile]
            texts = parser.texts(instance)

        def answer(request: ModelRequest) -> list[Reply]:
            samples = range(self._how.samples)
            return [self._reply(instance.id, request, prompt, ontology, n) for n in samples]

        replies = parser.model_reader.ask(texts, answer, self._how.alone)
        return {
            "model": self._model,
            "prompt": prompt.version,
            "second_opinion": self._how.second_opinion,
            "alone": self._how.alone,
            "replies": replies,
        }

    def _reply(
        self, identity: str, request: ModelRequest, prompt: Prompt, ontology: Ontology, sample: int
    ) -> Reply:
        """Return a reply from the file, from another thread's request, or from a new request."""
        key = request.text, prompt.version, sample
        with self._lock:
            found = self._found(request, prompt, ontology, sample)
            if found is not None:
                return found
            waiting = self._waiting.get(key)
            if waiting is None:
                mine = self._waiting[key] = Future[Reply]()
        if waiting is not None:
            return waiting.result()
        try:
            reply = self._asked(identity, request, prompt, ontology, sample)
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._waiting[key]
        mine.set_result(reply)
        return reply

    def _found(
        self, request: ModelRequest, prompt: Prompt, ontology: Ontology, sample: int
    ) -> Reply | None:
        text, model = request.text, self._model
        found = self._file.find(text, sample, model, prompt.version, ontology.hash)
        if found is None and (self._asker is None or self._how.reuse):
            same = None if self._asker is None else prompt.version[:SCHEMA_DIGITS]
            found = self._file.find(text, sample, model, same, None)
            self.tally.other += found is not None
        self.tally.kept += found is not None
        return found.reply if found is not None else None

    def _asked(
        self, identity: str, request: ModelRequest, prompt: Prompt, ontology: Ontology, sample: int
    ) -> Reply:
        if self._asker is None:
            raise RecordError(
                f"{self._file.path} has no reading {sample + 1} of its {request.part} by "
                f"{self._model}: say with --endpoint, or by a model's folder, who is to read it, "
                "or by `samples` and `alone` of --reader-settings how the readings were made"
            )
        budget = self._how.budget
        if budget is not None and self.tally.tokens >= budget:
            raise RecordError(f"not read: {budget} tokens, the most that were allowed, are used")
        if self._failing.why:
            raise RecordError(f"not read: {self._failing.why}")
        instructions = prompt.instructions
        answers: list[Answer] = []

        def spend(answer: Answer) -> None:
            answers.append(answer)
            with self._lock:
                self._failing.count = 0
                self.tally.prompt_tokens += answer.prompt_tokens
                self.tally.reply_tokens += answer.reply_tokens

        try:
            reply = asked(
                self._asker, instructions, request, ontology, self._how.most, sample, spend
            )
        except UnansweredError as error:
            with self._lock:
                self._failing.count += not answers
                if self._failing.count >= _PATIENCE:
                    self._failing.why = error.message
            raise RecordError(f"not read: {error.message}") from error
        except SymboUQError as error:
            self._failing.why = error.message
            raise RecordError(f"not read: {error.message}") from error
        stored = StoredReading(
            id=identity,
            part=request.part,
            text=request.text,
            model=self._model,
            prompt=prompt.version,
            ontology=ontology.hash,
            sample=sample,
            reply=reply,
            usage={
                "prompt_tokens": sum(answer.prompt_tokens for answer in answers),
                "reply_tokens": sum(answer.reply_tokens for answer in answers),
            },
        )
        with self._lock:
            try:
                self._file.add(stored)
            except SymboUQError as error:
                self._failing.why = str(error)  # no more replies if they cannot be stored
                raise
            self.tally.asked += 1
            self._tell(self.tally)
        return reply
