"""Scenes in words that are taken to be free of contradiction: what conflicts was misread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from symbouq.auditing.verdicts import TraceResult
from symbouq.ontology.tables import Ontology
from symbouq.reading.text import SURE, ParsedTrace

Decide = Callable[[ParsedTrace], TraceResult]


def coherent(
    ontology: Ontology, parsed: ParsedTrace, decide: Decide
) -> tuple[ParsedTrace, TraceResult]:
    """A trace without what its scene does not surely say, and its result.

    Nothing is based on what was not surely read. Where open text is read, a scene in conflict has
    more often been misread than miswritten: of the sentences of a conflict none is relied on
    either, and the audit says so. Profiles that do not state `coherent` take scenes as they are.

    Args:
        ontology: The tables of the profile.
        parsed: The trace.
        decide: Decides it.
    """
    if ontology.coherent:
        sure = tuple(row for row in parsed.scene if row[1].confidence >= SURE)
        complete = parsed.complete and len(sure) == len(parsed.scene)
        parsed = replace(parsed, scene=sure, complete=complete)
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
