"""Audit traces claim by claim while they are being written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic_core import from_json

from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import RecordError
from symbouq.limits import time_limit
from symbouq.records import Trace, make_record


class FollowedTrace:
    """A growing trace with its audit so far.

    Args:
        auditor: The auditor.
        trace: The trace so far: scene, question and any reasoning.

    Attributes:
        audit: The audit so far, in the shape of `symbouq.records.Audit`. The sentences are its
            reasoning, and its conclusion is still empty.

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
        """Add a sentence. Return the claims in the sentence, and any earlier claims that it
        changes, for example by retracting one.

        Args:
            sentence: The sentence.

        Raises:
            RecordError: If the extended trace cannot be audited.
        """
        before, sentences = self.audit["claims"][:-1], [*self._sentences, sentence]
        self.audit = self._audited(sentences)  # a sentence that fails is not added
        self._sentences = sentences
        claims = self.audit["claims"][:-1]
        return [claim for n, claim in enumerate(claims) if claim not in before[n : n + 1]]


def followed(
    auditor: TraceAuditor, lines: Iterable[str], file: str, timeout: float | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the claims of traces read line by line, in the shape used in audits. Each claim also
    has the trace's `id` and the trace's `constraint_rule` so far.

    Args:
        auditor: The auditor.
        lines: Lines of input. A JSON object with `scene` and `question` begins a trace; every other
            non-empty line is the trace's next sentence.
        file: Name of the input, for messages.
        timeout: Time limit per line, in seconds. Verdicts decided by then are returned.

    Raises:
        RecordError: At the first invalid line.
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
