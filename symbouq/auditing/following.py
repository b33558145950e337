"""Traces in the making, audited claim by claim as they are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic_core import from_json

from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import RecordError
from symbouq.limits import time_limit
from symbouq.records import Trace, make_record


class FollowedTrace:
    """A trace that grows, with its audit so far.

    Args:
        auditor: The auditor.
        trace: The trace; scene and question are taken from it, and the reasoning that it has.

    Attributes:
        audit: The audit so far, in the shape of `symbouq.records.Audit`: the sentences are its
            reasoning, and its conclusion, which is yet to come, is empty.

    Raises:
        RecordError: If the trace cannot be audited.
    """

    def __init__(self, auditor: TraceAuditor, trace: Trace) -> None:
        if trace.scene_relations is not None or trace.response is not None:
            raise RecordError("a trace that is followed has `scene` and `question`, in words")
        self._auditor = auditor
        self._trace = trace
        self._sentences = list(trace.reasoning or ())
        self.audit = self._audited(self._sentences)

    def _audited(self, sentences: list[str]) -> dict[str, Any]:
        told = {"reasoning": sentences, "conclusion": "", "claims": None}
        return self._auditor.audited(self._trace.model_copy(update=told))

    def add(self, sentence: str) -> list[dict[str, Any]]:
        """The claims that a further sentence brings, and those of before that it changes: it may
        take one back.

        Args:
            sentence: The sentence.

        Raises:
            RecordError: If the trace cannot be audited with it.
        """
        before, sentences = self.audit["claims"][:-1], [*self._sentences, sentence]
        self.audit = self._audited(sentences)  # a sentence that fails is not taken
        self._sentences = sentences
        claims = self.audit["claims"][:-1]
        return [claim for n, claim in enumerate(claims) if claim not in before[n : n + 1]]


def followed(
    auditor: TraceAuditor, lines: Iterable[str], file: str, timeout: float | None = None
) -> Iterator[dict[str, Any]]:
    """The claims of traces that are read line by line: each as the record of an audit has it, with
    the trace's `id` and its `constraint_rule` so far.

    Args:
        auditor: The auditor.
        lines: A line with a JSON object begins a trace, with `scene` and `question`; every other
            line that is not empty is its next sentence.
        file: Where they come from, for messages.
        timeout: Seconds that a line may take; what was decided by then is given.

    Raises:
        RecordError: At the first line that cannot be used.
    """
    trace: FollowedTrace | None = None
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        try:
            if text.startswith("{"):
                begun = {"id": f"line-{number}", "reasoning": [], "conclusion": ""}
                record = make_record(Trace, begun | from_json(text))
                with time_limit(timeout):
                    trace, name = FollowedTrace(auditor, record), record.id
            elif text and trace is None:
                raise RecordError("the first line is a trace: an object with `scene`")
            elif text and trace is not None:
                with time_limit(timeout):
                    claims = trace.add(text)
                for claim in claims:
                    yield {"id": name, "constraint_rule": trace.audit["constraint_rule"], **claim}
        except (RecordError, ValueError) as error:
            raise RecordError(getattr(error, "message", str(error)), file, number) from None
