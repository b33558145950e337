"""Generate a model's traces for the instances in files. Each batch is written when it is
finished.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from pydantic_core import from_json, to_json

from symbouq.errors import RecordError
from symbouq.evidence.contract import FREE_FORM, LONGEST, SCHEMA, STRUCTURED, Structured
from symbouq.evidence.generation.engine import Completion, Engine, Request
from symbouq.evidence.generation.prompts import user_message
from symbouq.evidence.generation.resumable import HASH, ResumableFile
from symbouq.io.adapters.chat import token
from symbouq.io.stream import read_lines
from symbouq.records import Instance, parse_record
from symbouq.records.generated import ANSWER, RELATIONAL

FREE_TOKENS = 1024
"""Default maximum number of tokens of a free-form trace."""

_DIGITS = 6
"""Decimal places of log-probabilities."""
_WRITTEN = ("id", "model", *ANSWER, *RELATIONAL)
"""Fields of an instance that are not copied to its trace."""

Status = Literal["valid", "invalid", "truncated", "failed"]


@dataclass(frozen=True)
class Settings:
    """Settings of a run that determine its traces, in addition to the engine and the model.

    Attributes:
        samples: Number of additional traces per instance, sampled at `temperature`.
        temperature: Temperature of the samples.
        seed: Seed for the samples, combined with the instance's id and the sample's number.
        free_form: Whether traces are prose without a schema.
        max_tokens: Maximum tokens of a trace; None: for structured traces, the length in characters
            of the longest one plus one; for free-form traces, `FREE_TOKENS`.
    """

    samples: int = 10
    temperature: float = 1.0
    seed: int = 0
    free_form: bool = False
    max_tokens: int | None = None

    @property
    def length(self) -> int:
        """Maximum tokens of a trace."""
        return self.max_tokens or (FREE_TOKENS if self.free_form else LONGEST + 1)


@dataclass
class Progress:
    """State of a run.

    Attributes:
        total: Number of instances.
        kept: Number of traces written by earlier runs.
        statuses: Number of traces written by this run, by status.
        copied: Number of these traces that repeat the instruction's placeholders.
        tokens: Number of generated tokens, including samples.
        seconds: Generation time in seconds; on a cluster, it includes loading models.
    """

    total: int
    kept: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    copied: int = 0
    tokens: int = 0
    seconds: float = 0.0

    @property
    def done(self) -> int:
        """Number of written traces."""
        return self.kept + self.statuses.total()

    @property
    def speed(self) -> float:
        """Tokens per second."""
        return self.tokens / self.seconds if self.seconds else 0.0


def read_instances(
    files: Iterable[str], limit: int | None = None
) -> tuple[list[Instance], list[RecordError]]:
    """Read up to `limit` instances from files. Collect errors for records that cannot be turned
    into a prompt.
    """
    instances: dict[str, Instance] = {}
    failed: list[RecordError] = []
    for line in chain.from_iterable(map(read_lines, files)):
        if len(instances) == limit:
            break
        if isinstance(line, RecordError):
            failed.append(line)
            continue
        try:
            instance = parse_record(Instance, line.content, line.file, line.number)
            if instance.id in instances:
                raise RecordError(f"id {instance.id!r} occurs before; a run needs it once")
            user_message(instance)  # report unusable records before loading the model
        except RecordError as error:
            failed.append(RecordError(error.message, line.file, line.number))
        else:
            instances[instance.id] = instance
    return list(instances.values()), failed


def run_settings(engine: Engine, settings: Settings, **more: Any) -> dict[str, Any]:
    """Settings of the engine and run that determine the traces, as stored in each record. The last
    entry is a hash of the others.
    """
    contract = to_json([FREE_FORM] if settings.free_form else [STRUCTURED, SCHEMA])
    decided = {
        **engine.identity,
        "contract": hashlib.sha256(contract).hexdigest(),
        **asdict(settings),
        "max_tokens": settings.length,
        **more,
    }
    return {**decided, HASH: hashlib.sha256(to_json(decided)).hexdigest()}


def generate(instances: Sequence[Instance], maker: Maker, out: str | Path) -> Iterator[Progress]:
    """Write a record for every instance that is not yet in the file.

    The batches depend only on the plan and the order of the instances. An incomplete batch is
    generated again as a whole, so an interrupted run ends with the same file.

    Yields:
        The progress, at the start and after each batch.

    Raises:
        SymboUQError: If the file cannot be used, or nothing can be generated.
    """
    yield from continued(instances, maker.plan, out, partial(map, maker))


def generate_on_ray(
    instances: Sequence[Instance],
    load: Callable[[], Engine],
    settings: Settings,
    out: str | Path,
    workers: int | None = None,
    gpus: float | None = None,
) -> Iterator[Progress]:
    """Like `generate`, but on the workers of a Ray cluster. Each worker loads the model once.

    Only this process writes the file. By default, there are as many workers as fit on the cluster.
    If it has GPUs, each worker gets one.

    Raises:
        SymboUQError: As in `generate`, or if Ray is missing, fails or has too few GPUs.
    """
    from symbouq.io import cluster

    with cluster.crew(workers, gpus) as crew:
        plan = crew.submit(lambda: Generator(load(), settings).plan, crew.gpus).result()
        parts = partial(crew.each, lambda: Generator(load(), settings))
        yield from continued(instances, plan, out, parts)


class Plan(NamedTuple):
    """A run's settings (`run_settings`) and batch size."""

    decided: dict[str, Any]
    size: int


class Made(NamedTuple):
    """The records for a batch, and the number of tokens generated for them."""

    records: list[dict[str, Any]]
    tokens: int


class Maker(Protocol):
    """Makes records for batches of instances."""

    plan: Plan

    def __call__(self, instances: Sequence[Instance]) -> Made:
        """Make records for the given instances.

        Raises:
            SymboUQError: If nothing can be generated.
        """


class Generator:
    """Makes traces for batches of instances."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings
        size = max(1, engine.batch_size // (1 + settings.samples))
        self.plan = Plan(run_settings(engine, settings), size)

    def __call__(self, instances: Sequence[Instance]) -> Made:
        """Make traces for the given instances."""
        requests = [requests_of(instance, self._settings) for instance in instances]
        completions = self._engine.generate(list(chain.from_iterable(requests)))
        left = iter(completions)
        decided = self.plan.decided
        records = [
            trace_of(instance, list(islice(left, len(asked))), self._engine, decided)
            for instance, asked in zip(instances, requests, strict=True)
        ]
        return Made(records, sum(completion.length for completion in completions))


def continued(
    instances: Sequence[Instance],
    plan: Plan,
    out: str | Path,
    make: Callable[[Iterable[Sequence[Instance]]], Iterator[Made]],
) -> Iterator[Progress]:
    """Write the batches that are missing from a file. The arguments and the progress are as in
    `generate`.

    Raises:
        SymboUQError: If the file cannot be used, or if `make` raises this error.
    """
    parts = [instances[n : n + plan.size] for n in range(0, len(instances), plan.size)]
    with ResumableFile(out, plan.decided) as file:
        progress = Progress(len(instances), sum(each.id in file.done for each in instances))
        yield progress
        missing = [part for part in parts if not all(each.id in file.done for each in part)]
        began = time.monotonic()  # on a cluster, the workers load the model later
        for records, tokens in make(missing) if missing else ():
            for record in records:
                generation = record["generation"]
                if record["id"] not in file.done:
                    progress.statuses[generation["status"]] += 1
                    progress.copied += generation.get("copied", False)
            progress.tokens += tokens
            file.append(records)
            progress.seconds = time.monotonic() - began
            yield progress


def requests_of(instance: Instance, settings: Settings) -> list[Request]:
    """Requests for an instance: the trace first, then its samples."""
    message = user_message(instance, settings.free_form)
    schema = None if settings.free_form else SCHEMA
    request = partial(Request, message, settings.length, schema)
    seeds = [_seed(settings.seed, instance.id, n) for n in range(settings.samples)]
    return [request(), *(request(settings.temperature, seed, scored=False) for seed in seeds)]


def trace_of(
    instance: Instance,
    completions: Sequence[Completion],
    engine: Engine,
    decided: dict[str, Any],
) -> dict[str, Any]:
    """Build a trace's record. `symbouq.records.Trace` describes the shared fields."""
    trace, *samples = completions
    free_form = decided["free_form"]
    fields = from_json(instance.model_dump_json(exclude_unset=True))
    return {
        "id": instance.id,
        **{name: value for name, value in fields.items() if name not in _WRITTEN},
        "model": engine.model_name,
        **response_fields(trace, free_form),
        "tokens": [
            token(
                each.text,
                _rounded(each.logprob),
                [token(other.text, _rounded(other.logprob)) for other in each.top],
            )
            for each in trace.tokens
        ],
        "samples": [
            {
                **response_fields(sample, free_form),
                "status": status_of(sample, free_form),
                "logprob": _rounded(sample.logprob),
                "length": sample.length,
            }
            for sample in samples
        ],
        "generation": {
            **decided,
            "version": engine.version,
            "device": engine.device,
            "prompt_tokens": trace.prompt_tokens,
            "token_ids": trace.token_ids,
            "status": status_of(trace, free_form),
            **({"copied": True} if not free_form and is_copied(trace) else {}),
            **({"error": trace.error} if trace.error else {}),
        },
    }


def status_of(completion: Completion, free_form: bool) -> Status:
    """Status of a completion: `valid`, or the reason why the text is not a valid trace."""
    if completion.finish == "failed":
        return "failed"
    whole = completion.finish == "stop" and bool(completion.text.strip())
    if whole if free_form else Structured.of(completion.text) is not None:
        return "valid"
    return "truncated" if completion.finish == "length" else "invalid"


def is_copied(completion: Completion) -> bool:
    """Whether the text is a structured trace that copies placeholders from the instruction."""
    structured = Structured.of(completion.text)
    return structured is not None and structured.copied


def response_fields(completion: Completion, free_form: bool) -> dict[str, Any]:
    """Fields of a trace that hold the generated text and, for a structured trace, its claims."""
    structured = None if free_form else Structured.of(completion.text)
    if structured is None:
        return {"response": completion.text}
    claims = {"reasoning": list(structured.reasoning), "conclusion": structured.conclusion}
    return {**claims, "response": completion.text}


def _seed(seed: int, identity: str, sample: int) -> int:
    digest = hashlib.sha256(to_json([seed, identity, sample])).digest()
    return int.from_bytes(digest[:8], "big") >> 1  # engines take signed 64-bit numbers


def _rounded(logprob: float | None) -> float | None:
    return None if logprob is None else round(logprob, _DIGITS) + 0.0  # no negative zero
