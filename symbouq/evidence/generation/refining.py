"""Refined answers. Each answer is audited. If there is a conflict, the question is asked again,
together with a description of the conflict. A control draws the same number of answers without such
descriptions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

from pydantic_core import to_json

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.correctness import answer_label
from symbouq.auditing.explain import conflict_told
from symbouq.auditing.selection import best_of
from symbouq.errors import RecordError
from symbouq.evidence.contract import CONFLICT, MISSHAPEN, REVISION
from symbouq.evidence.generation.engine import Completion, Engine
from symbouq.evidence.generation.run import (
    Made,
    Plan,
    Settings,
    requests_of,
    response_fields,
    run_settings,
    status_of,
    trace_of,
)
from symbouq.limits import LimitError, time_limit
from symbouq.records import Instance, Trace, make_record

TIMEOUT = 5.0
"""Time limit for an audit in seconds. An answer that exceeds it remains undecided."""

_UNDECIDED = 0.5
"""Constraint-Rule score of an undecided answer."""


@dataclass(frozen=True)
class Refinement(Settings):
    """Settings for refined answers.

    Attributes:
        rounds: Maximum number of answers to a question.
        control: Whether to draw the same number of answers without showing the findings.
        profile: Profile for every answer; None: the profile of the question or its dataset, or the
            default.
    """

    samples: int = 0
    rounds: int = 3
    control: bool = False
    profile: str | None = None


class Attempt(NamedTuple):
    """An answer with the findings of its audit.

    Attributes:
        completion: The answer.
        verdicts: Verdicts on the answer's claims; empty without an audit.
        score: Constraint-Rule over the grounded verdicts, in [0, 1].
        conflict: Description of the conflict; empty if no conflict is known.
    """

    completion: Completion
    verdicts: tuple[str, ...] = ()
    score: float = _UNDECIDED
    conflict: str = ""


class Refiner:
    """Makes refined traces in batches of instances.

    Each question is asked until the answer has no conflict, at most `rounds` times. The first
    answer is the most probable one. Later answers are sampled, because a deterministic model would
    repeat itself. The best answer is kept (`symbouq.auditing.selection`, by Constraint-Rule over
    the grounded verdicts).
    """

    def __init__(self, engine: Engine, settings: Refinement, ontology: str | None = None) -> None:
        self._engine = engine
        self._settings = settings
        self._auditor = TraceAuditor(settings.profile, ontology, "grounded")
        wording = hashlib.sha256(to_json([REVISION, CONFLICT, MISSHAPEN])).hexdigest()
        rules = self._auditor.library.ontology().hash
        decided = run_settings(engine, settings, revision=wording, ontology=rules)
        self.plan = Plan(decided, engine.batch_size)

    def __call__(self, instances: Sequence[Instance]) -> Made:
        """Make refined traces for the given instances."""
        first = self._asked([(instance, 0, "") for instance in instances])
        refined = [[attempt] for attempt in first]
        for number in range(1, self._settings.rounds):
            asked = [n for n, attempts in enumerate(refined) if attempts[-1].conflict]
            if not asked:
                break
            questions = [(instances[n], number, _finding(refined[n][-1])) for n in asked]
            for n, attempt in zip(asked, self._asked(questions), strict=True):
                refined[n].append(attempt)
        controls: list[list[Attempt]] = [[] for _ in instances]
        if self._settings.control:
            again = [(n, m) for n, tried in enumerate(refined) for m in range(1, len(tried))]
            drawn = self._asked([(instances[n], number, "") for n, number in again])
            controls = [[attempt] for attempt in first]
            for (n, _), attempt in zip(again, drawn, strict=True):
                controls[n].append(attempt)
        records = [
            self._record(instance, attempts, control)
            for instance, attempts, control in zip(instances, refined, controls, strict=True)
        ]
        # The first attempt is shared with the control. Count it once.
        answers = chain.from_iterable([*refined, *(control[1:] for control in controls)])
        return Made(records, sum(attempt.completion.length for attempt in answers))

    def _asked(self, questions: Sequence[tuple[Instance, int, str]]) -> list[Attempt]:
        """Answer each question, given as (instance, answer number, earlier finding)."""
        every = replace(self._settings, samples=self._settings.rounds - 1)
        requests = []
        for instance, number, finding in questions:
            request = requests_of(instance, every)[number]
            message = "\n".join(filter(None, (request.message, finding)))
            requests.append(replace(request, message=message))
        completions = self._engine.generate(requests)
        return [
            self._attempt(instance, completion)
            for (instance, _, _), completion in zip(questions, completions, strict=True)
        ]

    def _attempt(self, instance: Instance, completion: Completion) -> Attempt:
        status = status_of(completion, self._settings.free_form)
        if status != "valid":
            return Attempt(completion, score=0.0, conflict="" if status == "failed" else MISSHAPEN)
        try:
            trace = make_record(Trace, self._written(instance, completion))
            with time_limit(TIMEOUT):
                audit = self._auditor.audited(trace)
                scene = self._auditor.parser_for(trace).sentences(trace)
        except (RecordError, LimitError):
            return Attempt(completion)
        found = conflict_told(audit, scene)
        return Attempt(
            completion,
            tuple(claim["verdict"] for claim in audit["claims"]),
            audit["constraint_rule"],
            CONFLICT.format(conflict=found) if found else "",
        )

    def _written(self, instance: Instance, completion: Completion) -> dict[str, Any]:
        return trace_of(instance, [completion], self._engine, self.plan.decided)

    def _record(
        self, instance: Instance, attempts: Sequence[Attempt], control: Sequence[Attempt]
    ) -> dict[str, Any]:
        chosen, rounds = self._best(instance, attempts)
        record = self._written(instance, attempts[chosen].completion)
        record |= {"rounds": rounds, "chosen": chosen}
        if control:
            chosen, rounds = self._best(instance, control)
            record["control"] = {"rounds": rounds, "chosen": chosen}
        return record

    def _best(
        self, instance: Instance, attempts: Sequence[Attempt]
    ) -> tuple[int, list[dict[str, Any]]]:
        """Return the number of the best answer, and all answers in their output format."""
        free_form = self._settings.free_form
        written = [
            {
                **response_fields(attempt.completion, free_form),
                "status": status_of(attempt.completion, free_form),
                "verdicts": list(attempt.verdicts),
                "constraint_rule": attempt.score,
                "conflict": attempt.conflict,
            }
            for attempt in attempts
        ]
        fields = {name: getattr(instance, name, None) for name in _ASKED}
        records = [{**fields, **each} for each in written]
        return best_of(records, [attempt.score for attempt in attempts]), written


_ASKED = ("question", "answer_space", "dataset")


def _finding(attempt: Attempt) -> str:
    return REVISION.format(answer=attempt.completion.text, finding=attempt.conflict)


class Comparison(NamedTuple):
    """Comparison of refined traces with their first answers and control answers.

    Attributes:
        known: Number of traces with a known right answer.
        first: Number of right first answers.
        refined: Number of right refined answers.
        control: Number of right control answers; None without a control.
        gained: Number of traces with a right refined answer and a wrong control answer (without a
            control: a wrong first answer).
        lost: Number of traces for which the reverse holds.
    """

    known: int
    first: int
    refined: int
    control: int | None
    gained: int
    lost: int


def compared(records: Iterable[Mapping[str, Any]]) -> Comparison | None:
    """Compare refined traces with their first answers and the control. None if no right answer is
    known.
    """
    rows: list[tuple[bool, bool, bool | None]] = []
    for record in records:
        control = record.get("control")
        try:
            rows.append(
                (
                    _right(record, record["rounds"][0]),
                    _right(record, record["rounds"][record["chosen"]]),
                    _right(record, control["rounds"][control["chosen"]]) if control else None,
                )
            )
        except RecordError:
            continue
    if not rows:
        return None
    pairs = [(refined, first if control is None else control) for first, refined, control in rows]
    controls = [control for _, _, control in rows if control is not None]
    return Comparison(
        known=len(rows),
        first=sum(first for first, _, _ in rows),
        refined=sum(refined for _, refined, _ in rows),
        control=sum(controls) if controls else None,
        gained=sum(refined and not other for refined, other in pairs),
        lost=sum(other and not refined for refined, other in pairs),
    )


def _right(record: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    fields = {name: value for name, value in record.items() if name not in _OF_ANSWERS}
    generation = {"status": answer["status"]}
    return bool(answer_label({**fields, **answer, "generation": generation}))


_OF_ANSWERS = ("response", "reasoning", "conclusion")
