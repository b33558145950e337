"""Clauses about events, passed from the reader to the logic."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Clause:
    """A clause about an event or a state.

    Attributes:
        agent: The agent; for a passive, the agent named with "by", if any.
        verb: The verb; empty for a state.
        strange: Whether the lexicon lacks the verb.
        tense: `now` or `past`.
        aspect: `simple`, `progressive` or `perfect`.
        negative: Whether the clause is negated.
        patient: The patient.
        states: Propositions that hold. Each is a predicate with its terms.
        goes: Ways of moving, each with its ground.
        located: Relations that describe the place of the event, each with its ground.
        within: Pairs of grounds between which the event takes place.
        started: Relations that describe the starting place, each with its ground.
        back: Whether the agent goes back the way it came.
        often: Minimum number of times that the event happens.
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
"""The clauses of a sentence; empty if it cannot be parsed."""
