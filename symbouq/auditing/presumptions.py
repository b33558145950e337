"""Find the world defaults that a verdict depends on because its premises need them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from symbouq.auditing.verdicts import ClaimResult, TraceResult
from symbouq.ontology.tables import Ontology
from symbouq.reading.text import ParsedTrace, Statement

Decide = Callable[[Ontology, ParsedTrace], TraceResult]
"""Function that decides a trace."""


def presume(
    ontology: Ontology,
    literal: Callable[[], Ontology],
    parsed: ParsedTrace,
    result: TraceResult,
    decide: Decide,
) -> None:
    """Add to each determinate verdict the world defaults (presumes/3) that it depends on.

    Args:
        ontology: The tables of the profile.
        literal: Returns the tables without the defaults.
        parsed: The parsed trace.
        result: The verdicts on the trace.
        decide: Function that decides a trace.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
    """
    for claim, finding in zip(parsed.claims, result.claims, strict=True):
        stated = _premises(parsed, finding)
        concerned = _concerned(ontology, {s.direction or s.relation for _, s in stated})
        if not concerned:
            continue
        alone = replace(parsed, scene=tuple(stated), claims=(claim,), complete=True)
        (without,) = decide(literal(), alone).claims
        if without.grounded is not finding.verdict:
            finding.presumed = concerned


def _premises(parsed: ParsedTrace, finding: ClaimResult) -> list[tuple[int, Statement]]:
    """Return the relations of a verdict's premises. Empty if the verdict is not determinate or is
    about an answer, which is not judged by its own relations.
    """
    if not finding.verdict.determinate or finding.answer is not None:
        return []
    numbers = {p.number for p in finding.premises if p.source == "scene"}
    stated = [(number, s) for number, s in parsed.scene if number in numbers]
    last = max(numbers, default=0)
    for premise in finding.premises:
        if premise.source == "claim":
            last += 1
            stated += [(last, s) for s in parsed.claims[premise.number - 1].relations]
    return stated


def _concerned(ontology: Ontology, relations: set[str]) -> tuple[tuple[str, str], ...]:
    """Return the defaults that apply to the given relations: the first relation of a default
    follows from a given relation or from the converse of a given relation.
    """
    converse, implied = ontology.relations.converse, ontology.relations.implied
    either = relations | {converse[r] for r in relations if r in converse}
    held = {s for r in either for s in implied.get(r, (r,))}
    return tuple(sorted(pair for pair in ontology.relations.presumed if pair[0] in held))
