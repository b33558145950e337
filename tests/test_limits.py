"""Limits on what one trace may cost."""

from __future__ import annotations

import itertools
import os
import signal
import threading
from collections.abc import Iterator

import clingo
import pytest

from symbouq import limits
from symbouq.auditing import auditor, relations
from symbouq.auditing.relations import ClaimInput, audit_relations
from symbouq.auditing.verdicts import TraceResult, Verdict
from symbouq.errors import OntologyError
from symbouq.limits import LimitError, apart, check_time, meter, running, time_limit, turn
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.tables import Triple
from symbouq.records import Trace

PIGEONS = """
pigeon(1..11). hole(1..10). 1 { at(P, H) : hole(H) } 1 :- pigeon(P).
:- at(P, H), at(Q, H), P < Q.
"""
PATHS = """
node(1..300). { edge(X, Y) } :- node(X), node(Y).
path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z).
"""

RCC8 = OntologyLibrary().ontology("rcc8")
SCENE: list[tuple[int, list[Triple]]] = [
    (1, [(0, "ntpp", 1)]), (2, [(1, "tpp", 2)]), (3, [(2, "ec", 3)]), (4, [(4, "po", 3)])
]  # fmt: skip
CLAIMS: list[list[Triple]] = [
    [(0, "ntpp", 2)], [(4, "dc", 0)], [(0, "dc", 3)], [(4, "ntppi", 1)], [(1, "eq", 3)]
]  # fmt: skip


@pytest.fixture(autouse=True)
def clock_of_limits() -> None:
    """Leaves limits the clock on the wall: what is interrupted here ends no other way."""


def test_a_search_is_interrupted() -> None:
    control = clingo.Control()
    control.add("base", [], PIGEONS)
    control.ground()
    with time_limit(0.1), running(control):
        assert control.solve().interrupted


def test_a_later_limit_does_not_wait_for_an_earlier_one() -> None:
    for seconds in (60, 0.1):
        control = clingo.Control()
        control.add("base", [], "p." if seconds == 60 else PIGEONS)
        control.ground()
        with time_limit(seconds), running(control):
            assert control.solve().interrupted == (seconds != 60)


def test_grounding_ends_at_the_limit() -> None:
    control = clingo.Control()
    meter(control)
    control.add("base", [], PATHS)
    with time_limit(0.1), pytest.raises(LimitError):
        control.ground()


def test_grounding_ends_where_the_program_grows_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_GROUND_RULES", 5_000)
    control = clingo.Control()
    meter(control)
    control.add("base", [], PATHS)
    with pytest.raises(LimitError):
        control.ground()


def test_waiting_for_a_turn_costs_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    held, waiting, clock = threading.Event(), threading.Event(), [0]
    monkeypatch.setattr(limits, "monotonic", lambda: clock[0])
    turns = limits._turns

    class Watched:
        """Tells when somebody waits for it."""

        def acquire(self, blocking: bool = True) -> bool:
            if blocking:
                waiting.set()
            return turns.acquire(blocking)

        release = staticmethod(turns.release)

    def hold() -> None:
        with turn():
            held.set()
            waiting.wait()
            clock[0] += 100

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    monkeypatch.setattr(limits, "_turns", Watched())
    with time_limit(10), turn():
        check_time()
        with turn():  # turns nest
            clock[0] += 9
            check_time()
            clock[0] += 2
            with pytest.raises(LimitError):
                check_time()
    thread.join()


def test_limits_nest_and_end() -> None:
    check_time()
    with time_limit(60), time_limit(0):
        with time_limit(None), pytest.raises(LimitError):
            check_time()
        with time_limit(60), pytest.raises(LimitError):
            check_time()
    check_time()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A clock that goes on by one second at each look."""
    relations._memory_of.cache_clear()
    ticks = itertools.count()
    monkeypatch.setattr(limits, "monotonic", lambda: next(ticks))
    monkeypatch.setattr(limits._watchdog, "watch", lambda *_: None)
    monkeypatch.setattr(limits._watchdog, "release", lambda _: None)
    yield
    relations._memory_of.cache_clear()


def test_what_was_decided_in_time_is_kept(clock: None) -> None:
    whole = audit_relations(RCC8, SCENE, map(ClaimInput, CLAIMS))
    # What lies within 2 keeps off 3, which touches it; what contains 1 contains 0, and that was
    # claimed to keep off 4; what is in 2 is not 3.
    assert [claim.verdict for claim in whole.claims] == [
        Verdict.ENTAILED, Verdict.UNKNOWN, Verdict.ENTAILED, Verdict.CONTRADICTED, Verdict.NOT_EVALUABLE
    ]  # fmt: skip
    assert whole.claims[3].repair == 1
    complete = 0
    decided = []
    for seconds in range(0, 200, 4):
        relations._memory_of.cache_clear()
        with time_limit(seconds):
            found = audit_relations(RCC8, SCENE, map(ClaimInput, CLAIMS))
        complete += not found.timed_out
        decided.append(_check(found, whole))
    assert complete > 12
    # The longer it takes the more is decided, from nothing to everything.
    assert decided == sorted(decided)
    assert (decided[0], decided[-1]) == (0, len(CLAIMS))


def _check(found: TraceResult, whole: TraceResult) -> int:
    """How many verdicts there are; each is that of the whole audit."""
    pairs = list(zip(found.claims, whole.claims, strict=True))
    if not found.timed_out:
        assert found == whole
    for claim, expected in pairs:
        if claim.reason == "timed_out":
            assert found.timed_out
            assert claim.verdict in (Verdict.UNKNOWN, expected.verdict)
            assert claim.grounded in (Verdict.UNKNOWN, expected.grounded)
        else:
            assert (claim.verdict, claim.grounded) == (expected.verdict, expected.grounded)
            assert claim.repair == expected.repair or (found.timed_out and claim.repair is None)
            assert set(expected.premises) <= set(claim.premises)
    return sum(claim.reason != "timed_out" for claim, _ in pairs)


def test_a_scene_known_to_contradict_itself_is_said_to(clock: None) -> None:
    scene: list[tuple[int, list[Triple]]] = [*SCENE, (5, [(0, "tpp", 3)]), (6, [(2, "ec", 4)])]
    whole = audit_relations(RCC8, scene, map(ClaimInput, CLAIMS))
    assert not whole.feasible
    # What lies within 2 is no part of what touches it.
    assert [premise.number for premise in whole.clash] == [1, 2, 3, 5]
    known = []
    for seconds in range(0, 80, 2):
        relations._memory_of.cache_clear()
        with time_limit(seconds):
            found = audit_relations(RCC8, scene, map(ClaimInput, [*CLAIMS, []]))
        known.append(not found.feasible)
        assert found.timed_out or known[-1]
        assert found.claims[-1].reason == "unparsed"
        if known[-1]:
            assert set(whole.clash) <= set(found.clash)
            assert found.timed_out or found.clash == whole.clash
    assert known == sorted(known)
    assert not known[0]
    assert known[-1]


def test_what_was_not_decided_in_time_is_not_remembered(clock: None) -> None:
    with time_limit(20):
        assert audit_relations(RCC8, SCENE, map(ClaimInput, CLAIMS)).timed_out
    found = audit_relations(RCC8, SCENE, map(ClaimInput, CLAIMS))
    relations._memory_of.cache_clear()
    assert found == audit_relations(RCC8, SCENE, map(ClaimInput, CLAIMS))


def test_what_was_decided_stands_where_there_is_no_time_to_judge_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_late(*_: object) -> None:
        raise LimitError

    monkeypatch.setattr(auditor, "with_alternatives", too_late)
    monkeypatch.setattr(auditor, "judge_answer", too_late)
    trace = Trace.model_validate(
        {
            "id": "t",
            "scene_relations": [["cup", "left", "jar"]],
            "claims": [{"relations": [["jar", "right", "cup"]]}],
        }
    )
    audit = auditor.TraceAuditor("nine-way", partial=True).audited(trace)
    assert audit["timed_out"]
    assert [claim["verdict"] for claim in audit["claims"]] == ["entailed"]
    with pytest.raises(LimitError):
        auditor.TraceAuditor("nine-way").audited(trace)


# Work in a process of its own ----------------------------------------------------------


def _endless() -> None:
    while True:
        pass


def _refuse() -> None:
    raise OntologyError("no", "a.lp", 3, code="form")


def test_work_apart_gives_what_it_gives_here() -> None:
    given = list(range(100_000))
    assert apart(lambda: [os.getpid(), *given])[1:] == given
    assert apart(os.getpid) != os.getpid()
    with pytest.raises(OntologyError) as refused:
        apart(_refuse)
    assert (refused.value.file, refused.value.line, refused.value.code) == ("a.lp", 3, "form")


@pytest.mark.parametrize(
    "work", [_endless, lambda: bytearray(1 << 30), lambda: os.kill(os.getpid(), signal.SIGKILL)]
)
def test_work_apart_ends_at_its_limits(monkeypatch: pytest.MonkeyPatch, work: object) -> None:
    monkeypatch.setattr(limits, "COMPILING", 1)
    monkeypatch.setattr(limits, "_ROOM", 1 << 28)
    with pytest.raises(LimitError):
        apart(work)  # type: ignore[arg-type]  # any work


def test_a_process_that_is_stuck_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_STUCK", 0)
    with pytest.raises(LimitError):
        apart(signal.pause)


def test_a_signal_ends_work_apart() -> None:
    def end(*_: object) -> None:
        raise InterruptedError("ended")

    before = signal.signal(signal.SIGUSR1, end)
    parent = os.getpid()
    reader, writer = os.pipe()

    def work() -> None:
        os.write(writer, str(os.getpid()).encode())
        os.kill(parent, signal.SIGUSR1)
        _endless()

    with os.fdopen(reader) as pids:
        try:
            with pytest.raises(InterruptedError):
                apart(work)
        finally:
            signal.signal(signal.SIGUSR1, before)
            os.close(writer)
        pid = int(pids.read())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
