"""Plain-text scenes that are assumed to be consistent, so that conflicts indicate misreadings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from symbouq.auditing.verdicts import TraceResult
from symbouq.ontology.tables import Ontology
from symbouq.reading.text import SURE, ParsedTrace

Decide = Callable[[ParsedTrace], TraceResult]


def certain(ontology: Ontology, parsed: ParsedTrace) -> ParsedTrace:
    """Remove uncertain relations from a scene in profiles that state `coherent`: they support no
    verdict.
    """
    if not ontology.coherent:
        return parsed
    sure = tuple(row for row in parsed.scene if row[1].confidence >= SURE)
    return replace(parsed, scene=sure, complete=parsed.complete and len(sure) == len(parsed.scene))


def coherent(
    ontology: Ontology, parsed: ParsedTrace, decide: Decide
) -> tuple[ParsedTrace, TraceResult]:
    """Remove conflicting sentences from a scene, and return the trace with its result.

    In open text, a conflicting scene is more often misread than wrong. Its conflicting sentences
    are therefore left out, and the audit reports the conflict. This applies only to profiles that
    state `coherent`.

    Args:
        ontology: The tables of the profile.
        parsed: The trace.
        decide: Function that decides a trace.
    """
    result = decide(parsed)
    while ontology.coherent and not result.feasible and result.clash:
        doubtful = {premise.number for premise in result.clash}
        named = ", ".join(map(str, sorted(doubtful)))
        fault = (
            f"scene {named}: contradictory as read, and not used; reword it, or give the scene "
            "as relations"
        )
        parsed = replace(
            parsed,
            scene=tuple(row for row in parsed.scene if row[0] not in doubtful),
            faults=(*parsed.faults, fault),
            complete=False,
        )
        result = decide(parsed)
    return parsed, result
