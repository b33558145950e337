"""Audits written back to where their traces are kept, by the ids of these: as scores of Langfuse,
as annotations of Phoenix. The id of an audit is that of the trace there.

Where a host is, and what it needs to be told, say its own variables of the environment
(`LANGFUSE_BASE_URL`, `LANGFUSE_PUBLIC_KEY`, `LANGFUSE_SECRET_KEY`; `PHOENIX_COLLECTOR_ENDPOINT`,
`PHOENIX_API_KEY`).
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

from symbouq.integrations.telemetry import NAME, attributes_of

_BATCH = 100
"""Scores that are sent together."""
_LOG = logging.getLogger(__name__)
_EVALUATION = "gen_ai.evaluation."


class Scores(ABC):
    """Writes audits back; a context manager, at whose end all of them are sent.

    Each is Constraint-Rule as a value, where anything is decided, the verdict on the first
    contradicted claim, or else on the conclusion, as a label, and why as an explanation.

    Attributes:
        added: How many there are.
        lost: How many the host has not taken.
    """

    def __init__(self) -> None:
        self.added = self.lost = 0
        self._waiting: list[Mapping[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._send()

    def add(self, audit: Mapping[str, Any]) -> None:
        """Sends an audit in its dictionary form."""
        self.added += 1
        self._waiting.append(audit)
        if len(self._waiting) == _BATCH:
            self._send()

    def _send(self) -> None:
        audits, self._waiting = self._waiting, []
        scores = [score for audit in audits for score in self._scores(audit["id"], _told(audit))]
        try:
            lost = min(self._write(scores), len(audits)) if scores else 0
        except Exception as error:  # of the host's own kinds, which share no base
            _LOG.warning("%d audits are not written back: %s", len(audits), error)
            lost = len(audits)
        self.lost += lost

    @abstractmethod
    def _scores(self, trace: str, told: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What an audit says, in the host's fields."""

    @abstractmethod
    def _write(self, scores: Sequence[dict[str, Any]]) -> int:
        """Has the host keep them; gives how many it has not taken."""


def _told(audit: Mapping[str, Any]) -> dict[str, Any]:
    attributes = attributes_of(audit)
    names = {"value": "score.value", "label": "score.label", "explanation": "explanation"}
    told = {name: attributes.get(_EVALUATION + key) for name, key in names.items()}
    others = {n: value for n, value in attributes.items() if not n.startswith(_EVALUATION)}
    return {**told, "metadata": others}


class LangfuseScores(Scores):
    """Scores of Langfuse: a number, `symbouq.audit`, and a category, `symbouq.audit.verdict`.

    Args:
        client: A client of Langfuse; one that is set by the environment by default.
    """

    def __init__(self, client: Any = None) -> None:
        from langfuse import Langfuse

        super().__init__()
        self._client = client or Langfuse(tracing_enabled=False)

    def _scores(self, trace: str, told: Mapping[str, Any]) -> list[dict[str, Any]]:
        values = {
            (NAME, "NUMERIC"): told["value"],
            (f"{NAME}.verdict", "CATEGORICAL"): told["label"],
        }
        return [
            {
                "trace_id": trace,
                "name": name,
                "value": value,
                "data_type": kind,
                "comment": told["explanation"],
                "metadata": told["metadata"],
            }
            for (name, kind), value in values.items()
            if value is not None
        ]

    def _write(self, scores: Sequence[dict[str, Any]]) -> int:
        from langfuse.api import CreateScoreRequest

        requests = [CreateScoreRequest(**score) for score in scores]
        return getattr(self._client.api.scores.create(request=requests), "rejected", 0)


class PhoenixScores(Scores):
    """Annotations of Phoenix, by code, named `symbouq.audit`: one a trace, the last.

    Args:
        client: A client of Phoenix; one that is set by the environment by default.
    """

    def __init__(self, client: Any = None) -> None:
        from phoenix.client import Client

        super().__init__()
        self._client = client or Client()

    def _scores(self, trace: str, told: Mapping[str, Any]) -> list[dict[str, Any]]:
        result = {
            "score": told["value"],
            "label": told["label"],
            "explanation": told["explanation"],
        }
        return [
            {
                "trace_id": trace,
                "name": NAME,
                "annotator_kind": "CODE",
                "result": {name: value for name, value in result.items() if value is not None},
                "metadata": told["metadata"],
                "identifier": NAME,
            }
        ]

    def _write(self, scores: Sequence[dict[str, Any]]) -> int:
        self._client.traces.log_trace_annotations(trace_annotations=scores)
        return 0
