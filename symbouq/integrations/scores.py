"""Audits written back to where their traces are kept, by the ids of these: as scores of Langfuse,
as annotations of Phoenix. The id of an audit is that of the trace there.

Where a host is, and what it needs to be told, say its own variables of the environment
(`LANGFUSE_BASE_URL`, `LANGFUSE_PUBLIC_KEY`, `LANGFUSE_SECRET_KEY`; `PHOENIX_COLLECTOR_ENDPOINT`,
`PHOENIX_API_KEY`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

from symbouq.integrations.telemetry import NAME, attributes_of

_BATCH = 100
"""Audits that are sent together."""
_LOG = logging.getLogger(__name__)
_EVALUATION = "gen_ai.evaluation."


class Score(NamedTuple):
    """What is written of a trace: Constraint-Rule, where anything is decided; the verdict on the
    first contradicted claim, or else on the conclusion; why; and by which rules.
    """

    trace: str
    value: float | None
    label: str | None
    why: str | None
    metadata: dict[str, Any]

    @classmethod
    def of(cls, audit: Mapping[str, Any]) -> Self:
        """That of an audit in its dictionary form."""
        told = attributes_of(audit)
        names = ("score.value", "score.label", "explanation")
        value, label, why = (told.get(_EVALUATION + name) for name in names)
        others = {name: told[name] for name in told if not name.startswith(_EVALUATION)}
        return cls(audit["id"], value, label, why, others)


class Scores:
    """Writes audits back; a context manager, at whose end all of them are sent.

    Args:
        write: Has the host keep some, and gives how many it has not taken.

    Attributes:
        added: How many there are.
        lost: How many the host has not taken.
    """

    def __init__(self, write: Callable[[Sequence[Score]], int]) -> None:
        self.added = self.lost = 0
        self._write = write
        self._waiting: list[Score] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._send()

    def add(self, audit: Mapping[str, Any]) -> None:
        """Sends an audit in its dictionary form."""
        self.added += 1
        self._waiting.append(Score.of(audit))
        if len(self._waiting) == _BATCH:
            self._send()

    def _send(self) -> None:
        scores, self._waiting = self._waiting, []
        try:
            self.lost += self._write(scores) if scores else 0
        except Exception as error:  # of the host's own kinds, which share no base
            _LOG.warning("%d audits are not written back: %s", len(scores), error)
            self.lost += len(scores)


def langfuse(client: Any = None) -> Scores:
    """Writes scores of Langfuse: the number `symbouq.audit`, the category `symbouq.audit.verdict`.

    Args:
        client: A client of Langfuse; one that is set by the environment by default.
    """
    from langfuse import Langfuse
    from langfuse.api import CreateScoreRequest

    host = client or Langfuse(tracing_enabled=False)

    def parts(score: Score) -> Iterator[CreateScoreRequest]:
        for name, value in ((NAME, score.value), (f"{NAME}.verdict", score.label)):
            if value is not None:
                yield CreateScoreRequest(
                    trace_id=score.trace,
                    name=name,
                    value=value,
                    data_type="CATEGORICAL" if isinstance(value, str) else "NUMERIC",
                    comment=score.why,
                    metadata=score.metadata,
                )

    def write(scores: Sequence[Score]) -> int:
        requests = [part for score in scores for part in parts(score)]
        rejected = getattr(host.api.scores.create(request=requests), "rejected", 0)
        return min(rejected, len(scores))

    return Scores(write)


def phoenix(client: Any = None) -> Scores:
    """Writes annotations of Phoenix, by code, named `symbouq.audit`: one a trace, the last.

    Args:
        client: A client of Phoenix; one that is set by the environment by default.
    """
    from phoenix.client import Client

    host = client or Client()

    def annotation(score: Score) -> dict[str, Any]:
        result = {"score": score.value, "label": score.label, "explanation": score.why}
        return {
            "trace_id": score.trace,
            "name": NAME,
            "identifier": NAME,
            "annotator_kind": "CODE",
            "result": {name: value for name, value in result.items() if value is not None},
            "metadata": score.metadata,
        }

    def write(scores: Sequence[Score]) -> int:
        host.traces.log_trace_annotations(trace_annotations=[*map(annotation, scores)])
        return 0

    return Scores(write)
