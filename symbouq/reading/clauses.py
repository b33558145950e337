"""Clauses about events, exchanged between reader and logic."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Clause:
    """Clause about events.

    Attributes:
        agent: The agent; for a passive, the agent named with "by", if any.
        verb: The verb; empty for a state.
        strange: Whether the lexicon lacks the verb.
        tense: `now` or `past`.
        aspect: `simple`, `progressive` or `perfect`.
        negative: Whether it is negated.
        patient: The patient.
        states: Propositions that hold: a predicate and its terms.
        goes: Ways with their grounds.
        located: Relations of the event's place, with their grounds.
        within: Pairs of grounds on either side of the event's place.
        started: Relations of the starting place, with their grounds.
        back: Whether it reverses the previous way.
        often: Minimum number of times.
    """

    agent: str = ""
    verb: str = ""
    strange: bool = False
    tense: str = "past"
    aspect: str = "simple"
    negative: bool = False
    patient: str = ""
    states: tuple[tuple[str, ...], ...] = ()
    goes: tuple[tuple[str, str], ...] = ()
    located: tuple[tuple[str, str], ...] = ()
    within: tuple[tuple[str, str], ...] = ()
    started: tuple[tuple[str, str], ...] = ()
    back: bool = False
    often: int = 1


Clauses = tuple[Clause, ...]
"""Clauses of a sentence; empty if it cannot be parsed."""
