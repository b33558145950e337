"""Write audits back to where their traces are stored: as scores in Langfuse, or as annotations in
Phoenix. The id of an audit is the id of the trace there. The hosts' own environment variables give
their addresses and keys (`LANGFUSE_BASE_URL`, `LANGFUSE_PUBLIC_KEY`, `LANGFUSE_SECRET_KEY`;
`PHOENIX_COLLECTOR_ENDPOINT`, `PHOENIX_API_KEY`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from symbouq.integrations.telemetry import NAME, attributes_of

_BATCH = 100
"""Number of audits that are sent together."""
_LOG = logging.getLogger(__name__)
_EVALUATION = "gen_ai.evaluation."


class Scores:
    """Context manager that writes audits back. When it exits, all of them have been sent.

    Args:
        write: Sends what `told` returns for a batch of audits to the host. Returns the number of
            refused audits.

    Attributes:
        added: Number of audits.
        lost: Number of audits that the host has not accepted.
    """

    def __init__(self, write: Callable[[Sequence[dict[str, Any]]], int]) -> None:
        self.added = self.lost = 0
        self._write = write
        self._waiting: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._send()

    def add(self, audit: Mapping[str, Any]) -> None:
        """Send an audit in its dictionary form."""
        self.added += 1
        self._waiting.append(told(audit))
        if len(self._waiting) == _BATCH:
            self._send()

    def _send(self) -> None:
        waiting, self._waiting = self._waiting, []
        try:
            self.lost += self._write(waiting) if waiting else 0
        except Exception as error:  # the host's own exceptions have no common base
            _LOG.warning("%d audits are not written back: %s", len(waiting), error)
            self.lost += len(waiting)


def told(audit: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `trace` of an audit, its `score`, `label` and `explanation` as in an OpenTelemetry
    event, and the rest as `metadata`. Undecided values are None.
    """
    attributes = attributes_of(audit)
    names = {"score": "score.value", "label": "score.label", "explanation": "explanation"}
    values = {name: attributes.get(_EVALUATION + key) for name, key in names.items()}
    others = {name: v for name, v in attributes.items() if not name.startswith(_EVALUATION)}
    return {"trace": audit["id"], **values, "metadata": others}


def langfuse(client: Any = None) -> Scores:
    """Write two scores to Langfuse: `symbouq.audit` and the category `symbouq.audit.verdict`. By
    default, the client is set up from the environment.
    """
    from langfuse import Langfuse
    from langfuse.api import CreateScoreRequest

    host = client or Langfuse(tracing_enabled=False)

    def write(audits: Sequence[dict[str, Any]]) -> int:
        requests = [
            CreateScoreRequest(
                trace_id=each["trace"],
                name=name,
                value=each[key],
                data_type=kind,
                comment=each["explanation"],
                metadata=each["metadata"],
            )
            for each in audits
            for name, key, kind in (
                (NAME, "score", "NUMERIC"),
                (f"{NAME}.verdict", "label", "CATEGORICAL"),
            )
            if each[key] is not None
        ]
        rejected = getattr(host.api.scores.create(request=requests), "rejected", 0)
        return min(rejected, len(audits))

    return Scores(write)


def phoenix(client: Any = None) -> Scores:
    """Write an annotation `symbouq.audit` to Phoenix. It replaces an earlier annotation. By
    default, the client is set up from the environment.
    """
    from phoenix.client import Client

    host = client or Client()

    def annotation(each: dict[str, Any]) -> dict[str, Any]:
        result = {n: each[n] for n in ("score", "label", "explanation") if each[n] is not None}
        kept = {"trace_id": each["trace"], "metadata": each["metadata"], "result": result}
        return {**kept, "name": NAME, "identifier": NAME, "annotator_kind": "CODE"}

    def write(audits: Sequence[dict[str, Any]]) -> int:
        host.traces.log_trace_annotations(trace_annotations=[*map(annotation, audits)])
        return 0

    return Scores(write)
