"""Clauses about events, as reader and logic exchange them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Clause:
    """A clause about events.

    Attributes:
        agent: Who does it; for a passive, who it is done by, if that is said.
        verb: What happens; empty for a state.
        strange: Whether the lexicon does not have the verb.
        tense: `now` or `past`.
        aspect: `simple`, `progressive` or `perfect`.
        negative: Whether it is denied.
        patient: What it is done to.
        states: Propositions that hold: a predicate and its terms.
        goes: Ways with their grounds.
        located: Relations of the event's place, with their grounds.
        within: Pairs of grounds that the event's place lies between.
        started: Relations of the place that it starts from, with their grounds.
        back: Whether it is the way back of what was said before.
        often: How many times at least.
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
"""A sentence, clause by clause; nothing where it cannot be parsed."""
