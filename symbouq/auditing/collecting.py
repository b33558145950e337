"""Collect a language model's readings for the traces in files, from a file of readings or from the
model itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType
from typing import Self

from pydantic_core import from_json, to_json

from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import RecordError, SymboUQError, internal
from symbouq.io.chat import Answer, Asker, UnansweredError
from symbouq.io.readings import ReadingsFile
from symbouq.io.settings import ReaderSettings
from symbouq.io.stream import Batch, Line
from symbouq.reading.model.asking import asked
from symbouq.reading.model.dialogue import (
    AT_ONCE,
    ModelRequest,
    Shared,
    TraceTexts,
    left_to_parser,
    shared,
)
from symbouq.reading.model.prompt import SCHEMA_DIGITS, Prompt, prompt_of
from symbouq.reading.parser import TraceParser
from symbouq.records import Instance, Reply, StoredReading, Trace, parse_record

_PATIENCE = 5
"""Number of consecutive unanswered requests after which no more are sent."""


@dataclass
class Tally:
    """Counts of collected readings.

    Attributes:
        traces: Number of traces with all readings.
        failed: Number of traces that lack readings.
        asked: Number of replies from the model.
        kept: Number of replies from the file.
        left: Number of claims about which the model was not asked.
        other: Number of replies from the file that used another version of the prompt or ontology.
        prompt_tokens: Number of tokens read by the model.
        reply_tokens: Number of tokens written by the model.
    """

    traces: int = 0
    failed: int = 0
    asked: int = 0
    kept: int = 0
    left: int = 0
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


@dataclass(frozen=True)
class _Task:
    """What a model is asked about an instance."""

    instance: Instance
    parser: TraceParser
    prompt: Prompt
    texts: TraceTexts


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
        settings: Settings of the model reader.
        second_opinion: Whether the parser also reads the traces.
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
        settings: ReaderSettings,
        second_opinion: bool = False,
        kind: type[Instance] = Trace,
        tell: Callable[[Tally], None] = lambda tally: None,
    ) -> None:
        self.tally = Tally()
        self._auditor = auditor
        self._file = file
        self._model = model
        self._asker = asker
        self._settings = settings
        self._second_opinion = second_opinion
        self._kind = kind
        self._tell = tell
        self._prompts: dict[str, Prompt] = {}
        self._waiting: dict[tuple[str, str, int], Future[Reply]] = {}
        self._failing = _Failing()
        self._lock = threading.RLock()
        self._threads = ThreadPoolExecutor(settings.concurrency, "reading")

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
        if self._settings.share and self._asker is not None:
            self._ask_together(item for item in batch if isinstance(item, Line))
        done = [
            self._threads.submit(self._line, item) if isinstance(item, Line) else item
            for item in batch
        ]
        return [item.result() if isinstance(item, Future) else item for item in done]

    def _line(self, line: Line) -> Line | RecordError:
        try:
            record = self._unread(line)
            if record is None:
                return line
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
        if readings is None:
            return line
        content = {**from_json(line.content), "readings": readings}
        return line._replace(content=to_json(content))

    def _unread(self, line: Line) -> Instance | None:
        """The record of a line that needs readings; None if it has them, is given as relations, or
        is invalid, which is reported by the line's consumer.
        """
        try:
            record = parse_record(self._kind, line.content, line.file, line.number)
        except RecordError:
            return None
        given = record.readings is not None or record.scene_relations is not None
        return None if given else record

    def _task(self, instance: Instance) -> _Task:
        """Prepare what is asked about an instance."""
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
        if self._second_opinion and self._settings.ask == "undecided":
            decided = (
                self._auditor.decided_by_parser(instance) if isinstance(instance, Trace) else ()
            )
            pronouns = ontology.wording.lexeme["pronoun"]
            texts = replace(texts, left=left_to_parser(texts.claims, decided, pronouns))
        return _Task(instance, parser, prompt, texts)

    def _readings(self, instance: Instance) -> dict[str, object] | None:
        """Return the readings of an instance; None if the model need not be asked."""
        task = self._task(instance)
        with self._lock:
            self.tally.left += len(task.texts.left)
        if task.texts.settled:
            return None
        replies = task.parser.model_reader.ask(
            task.texts, partial(self._samples, task), self._settings.alone
        )
        return {
            "model": self._model,
            "prompt": task.prompt.version,
            "second_opinion": self._second_opinion,
            "alone": self._settings.alone,
            "left": task.texts.left,
            "replies": replies,
        }

    def _samples(self, task: _Task, request: ModelRequest) -> list[Reply]:
        return [self._reply(task, request, n) for n in range(self._settings.samples)]

    def _reply(self, task: _Task, request: ModelRequest, sample: int) -> Reply:
        """Return a reply from the file, from another thread's request, or from a new request."""
        key = request.text, task.prompt.version, sample
        with self._lock:
            found = self._stored(task, request, sample)
            if found is not None:
                made_by = task.prompt.version, task.prompt.ontology.hash
                self.tally.kept += 1
                self.tally.other += (found.prompt, found.ontology) != made_by
                return found.reply
            waiting = self._waiting.get(key)
            if waiting is None:
                mine = self._waiting[key] = Future[Reply]()
        if waiting is not None:
            return waiting.result()
        try:
            (reply,) = self._asked(task, Shared([request]), sample)
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._waiting[key]
        mine.set_result(reply)
        return reply

    def _stored(self, task: _Task, request: ModelRequest, sample: int) -> StoredReading | None:
        text, model, version = request.text, self._model, task.prompt.version
        found = self._file.find(text, sample, model, version, task.prompt.ontology.hash)
        if found is None and (self._asker is None or self._settings.reuse):
            same = None if self._asker is None else version[:SCHEMA_DIGITS]
            found = self._file.find(text, sample, model, same, None)
        return found

    def _asked(self, task: _Task, shared: Shared, sample: int) -> list[Reply]:
        """Send a request, and store the replies to the traces' own requests."""
        request, prompt = shared.request, task.prompt
        if self._asker is None:
            raise RecordError(
                f"{self._file.path} has no reading {sample + 1} of its {request.part} by "
                f"{self._model}: say with --endpoint, or by a model's folder, who is to read it, "
                "or by `samples`, `alone` and `ask` of --reader-settings how the readings were made"
            )
        budget = self._settings.token_budget
        if budget is not None and self.tally.tokens >= budget:
            raise RecordError(f"not read: {budget} tokens, the most that were allowed, are used")
        if self._failing.why:
            raise RecordError(f"not read: {self._failing.why}")
        answers: list[Answer] = []

        def spend(answer: Answer) -> None:
            answers.append(answer)
            with self._lock:
                self._failing.count = 0
                self.tally.prompt_tokens += answer.prompt_tokens
                self.tally.reply_tokens += answer.reply_tokens

        how = prompt.instructions, request, prompt.ontology, self._settings.reply_tokens, sample
        try:
            reply = asked(self._asker, *how, spend)
        except UnansweredError as error:
            with self._lock:
                self._failing.count += not answers
                if self._failing.count >= _PATIENCE:
                    self._failing.why = error.message
            raise RecordError(f"not read: {error.message}") from error
        except SymboUQError as error:
            self._failing.why = error.message
            raise RecordError(f"not read: {error.message}") from error
        replies = shared.replies(reply) if len(shared.requests) > 1 else [reply]
        usage = {
            "prompt_tokens": sum(answer.prompt_tokens for answer in answers),
            "reply_tokens": sum(answer.reply_tokens for answer in answers),
        }
        with self._lock:
            for own, part in zip(shared.requests, replies, strict=True):
                stored = StoredReading(
                    id=task.instance.id,
                    part=own.part,
                    text=own.text,
                    model=self._model,
                    prompt=prompt.version,
                    ontology=prompt.ontology.hash,
                    sample=sample,
                    reply=part,
                    usage=usage,
                )
                usage = {}  # counted once
                try:
                    self._file.add(stored)
                except SymboUQError as error:
                    self._failing.why = str(error)  # no more replies if they cannot be stored
                    raise
            self.tally.asked += 1
            self._tell(self.tally)
        return replies

    # Requests for several traces ----------------------------------------------------------

    def _ask_together(self, lines: Iterable[Line]) -> None:
        """Ask about the claims of traces over one scene in shared requests. A trace whose readings
        are not complete afterwards is asked about alone.
        """
        groups: dict[object, list[_Task]] = {}
        for line in lines:
            with suppress(Exception):  # reported when the line is read
                record = self._unread(line)
                if record is None:
                    continue
                task = self._task(record)
                texts = task.texts
                once = len(texts.requested) - len(texts.scene) <= AT_ONCE
                if texts.concluded and once and not texts.settled:
                    key = task.parser, (*texts.scene,), (*texts.question,)
                    groups.setdefault(key, []).append(task)
        several = [tasks for tasks in groups.values() if len(tasks) > 1]
        for done in [self._threads.submit(self._ask_for, tasks) for tasks in several]:
            done.result()

    def _ask_for(self, tasks: Sequence[_Task]) -> None:
        """Ask about the claims of traces over one scene."""
        own: dict[str, ModelRequest] = {}

        def answer(task: _Task, request: ModelRequest) -> list[Reply]:
            if request.part == "scene":
                return self._samples(task, request)
            own[request.text] = request
            return []

        with suppress(SymboUQError):  # reported when the traces are read
            for task in tasks:
                task.parser.model_reader.ask(task.texts, partial(answer, task))
            for sample in range(self._settings.samples):
                missing = [r for r in own.values() if self._stored(tasks[0], r, sample) is None]
                for several in shared(missing):
                    self._asked(tasks[0], several, sample)
