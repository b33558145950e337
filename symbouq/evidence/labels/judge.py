"""Language models as judges of reasoning steps (appendix Reasoning Verification).

The judge sees the scene, the question and numbered steps, but not the answer. The conclusion is not
judged. The judge writes a short analysis before its labels, because otherwise it tends to accept
unsupported steps. The analysis is stored, but no score uses it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from symbouq.errors import RecordError
from symbouq.evidence.contract import string_schema
from symbouq.evidence.generation.engine import Completion, Engine, Request
from symbouq.evidence.generation.resumable import ResumableFile
from symbouq.evidence.labels.records import Label, Labels, read_claims
from symbouq.io.hashes import file_hash
from symbouq.records.generated import Record

ANALYSIS_LENGTH = 800
"""Maximum number of characters in the analysis."""

INSTRUCTION = (
    "Check the reasoning steps below. The scene and the question are to be trusted. A step is "
    "correct only if it is a valid spatial inference from the scene, the question and the steps "
    "before it. A step that is wrong, is not supported by them or contradicts them is 0, a "
    "correct step is 1. Judge each step on its own and do not use any final answer."
)
"""The instruction for every judge."""

SHAPE = (
    "Return an object with this shape: "
    '{"analysis":"<one short check per step>", "reasoning_verified":[0|1,...]}. '
    f"The analysis has at most {ANALYSIS_LENGTH} characters."
)
"""The instruction about the format of the reply."""


def judge_message(record: Record) -> str:
    """Write the user message that asks for labels for a trace's steps. The message contains only
    the scene, the question and the reasoning.

    Raises:
        RecordError: If the scene is not given as text.
    """
    scene = record.get("scene")
    if not scene:
        raise RecordError(f"trace {record['id']}: a judge needs `scene` in text")
    steps = record["reasoning"]
    question = record.get("question")
    return "\n".join(
        [
            INSTRUCTION,
            f"Scene: {scene if isinstance(scene, str) else ' '.join(scene)}",
            *([f"Question: {question}"] if question else []),
            "Steps:",
            *(f"{number}. {step}" for number, step in enumerate(steps, start=1)),
            SHAPE,
            f"Give {len(steps)} {'value' if len(steps) == 1 else 'values'}, one for each step.",
        ]
    )


def judge_schema(steps: int) -> dict[str, Any]:
    """JSON Schema of a judge's reply about the given number of steps."""
    return {
        "type": "object",
        "properties": {
            "analysis": string_schema(ANALYSIS_LENGTH),
            "reasoning_verified": {
                "type": "array",
                "items": {"type": "integer", "enum": [0, 1]},
                "minItems": steps,
                "maxItems": steps,
            },
        },
        "required": ["analysis", "reasoning_verified"],
        "additionalProperties": False,
    }


class Judge:
    """Labels steps with a language model. The source is called `judge:` followed by the model's
    name.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.batch = engine.batch_size
        self.name = f"judge:{engine.model_name}"

    def settings(self, traces: str) -> dict[str, Any]:
        """Return the settings that determine the labels. They are stored in each record. `traces`
        is the SHA-256 of the traces file.
        """
        contract = json.dumps([INSTRUCTION, SHAPE, judge_schema(1)])
        return {
            **self._engine.identity,
            "contract": hashlib.sha256(contract.encode()).hexdigest(),
            "traces": traces,
        }

    def labels(self, records: Sequence[Record]) -> Iterator[Labels | RecordError]:
        """Yield the labels for traces with claims, in order. The conclusion's label is None.

        If a reply is malformed or cut off, all labels for the trace are None, and the field `judge`
        of the record contains the reason.
        """
        requests = [self._request(record) for record in records]
        asked = [request for request in requests if isinstance(request, Request)]
        completions = iter(self._engine.generate(asked))
        for record, request in zip(records, requests, strict=True):
            if isinstance(request, RecordError):
                yield request
                continue
            completion = None if request is None else next(completions)
            labels, verdict = _verdict(completion, len(record["reasoning"]))
            yield Labels(
                record["id"], self.name, (*labels, None), record.get("dataset"), {"judge": verdict}
            )

    def _request(self, record: Record) -> Request | RecordError | None:
        """Return the request for a trace's labels, or an error. Return None if the trace has no
        steps.
        """
        steps = len(record["reasoning"])
        if not steps:
            return None
        longest = json.dumps({"analysis": "x" * ANALYSIS_LENGTH, "reasoning_verified": [0] * steps})
        try:
            # Each token contains at least one character. One more token ends the text.
            schema = judge_schema(steps)
            return Request(judge_message(record), len(longest) + 1, schema, scored=False)
        except RecordError as error:
            return error


def _verdict(completion: Completion | None, steps: int) -> tuple[list[Label], dict[str, Any]]:
    if completion is None:
        return [], {"status": "no steps"}
    if completion.finish == "failed":
        return [None] * steps, {"status": "failed", "error": completion.error}
    try:
        written = json.loads(completion.text)
        labels = list(written["reasoning_verified"])
        analysis = written["analysis"]
    except (ValueError, KeyError, TypeError):
        labels, analysis = [], None
    if len(labels) != steps or not all(type(v) is int and v in (0, 1) for v in labels):
        status = "truncated" if completion.finish == "length" else "invalid"
        return [None] * steps, {"status": status, "response": completion.text}
    return labels, {"status": "valid", "analysis": analysis}


def judging(
    traces: str | os.PathLike[str],
    judge: Judge,
    out: str | os.PathLike[str],
    audits: str | os.PathLike[str] | None = None,
) -> Iterator[Labels | RecordError]:
    """Label every trace that is not yet in the output file, and write the labels.

    The output is a `ResumableFile`. The claims of free-form responses are taken from audits.

    Yields:
        For each trace, its labels once they are written, or an error.

    Raises:
        SymboUQError: If the output file cannot be used, or was started with a different judge or
            different traces.
    """
    settings = judge.settings(file_hash(traces))
    with ResumableFile(out, settings) as file:
        records = (
            record
            for record in read_claims(traces, audits)
            if isinstance(record, RecordError) or record["id"] not in file.done
        )
        while part := list(islice(records, judge.batch)):
            yield from (item for item in part if isinstance(item, RecordError))
            made = list(judge.labels([item for item in part if not isinstance(item, RecordError)]))
            file.append(
                {**one.record(), "generation": settings} for one in made if isinstance(one, Labels)
            )
            yield from made
