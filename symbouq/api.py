"""The public functions of `symbouq`: one trace audited, the worlds of a scene, audits as records
that a notebook shows.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from symbouq import records
from symbouq.auditing import auditor as auditing
from symbouq.auditing.following import FollowedTrace
from symbouq.errors import RecordError
from symbouq.limits import time_limit, turn
from symbouq.logic.worlds import Worlds, worlds
from symbouq.ontology.source import files_stamp
from symbouq.records import Answers, Context, Trace, make_record
from symbouq.report.notebook import audit_html, claims_frame, plot_claims

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


class Audit(records.Audit):
    """The audit of one trace, which a notebook shows as HTML."""

    def _repr_html_(self) -> str:
        return audit_html(self.model_dump())

    def to_frame(self) -> DataFrame:
        """The claims as a pandas frame, as `claims_frame` has them.

        Raises:
            SymboUQError: If pandas is not installed.
        """
        return claims_frame([self.model_dump()])

    def plot(self) -> Figure:
        """The verdicts of the claims in both contexts, in order, as a matplotlib figure.

        Raises:
            SymboUQError: If matplotlib is not installed.
        """
        return plot_claims(self.model_dump())


class TraceAuditor(auditing.TraceAuditor):
    """Audits traces as records; takes the arguments of `symbouq.auditing.auditor.TraceAuditor`."""

    def audit(self, trace: Trace) -> Audit:
        """The audit of a trace as a record.

        Raises:
            RecordError: If the trace cannot be audited as it is.
        """
        return Audit.model_validate(self.audited(trace))


def audit(
    scene: str | Sequence[str] | Sequence[Sequence[str]],
    claims: str | Sequence[str] | Sequence[Sequence[Sequence[str]]],
    question: str = "",
    *,
    profile: str | None = None,
    dataset: str | None = None,
    ontology: str | os.PathLike[str] | None = None,
    context: Context = "assumed",
    answers: Answers = "answer",
    timeout: float | None = None,
) -> Audit:
    """Audits one trace. Threads may call it: they take turns.

    >>> import symbouq
    >>> result = symbouq.audit("A is above B. B is right of C.", ["A is upper right of C."])
    >>> result.claims[-1].verdict
    'entailed'

    Args:
        scene: The trusted description: one text, a list of sentences, or a list of
            `(subject, relation, object)`.
        claims: The reasoning: one free text, a list of claims of which the last is the
            conclusion, or, for a scene in relations, a list of lists of relations.
        question: What was asked; it may name things and gives bare labels their pair.
        profile: Name of the profile; else the dataset's, or `nine-way`.
        dataset: Name of the dataset, which may choose the profile.
        ontology: Folder of a user's ontology.
        context: Which context's verdicts feed profile, features and score.
        answers: How the conclusion is judged; `relation` is the paper's strict auditor.
        timeout: Seconds that it may take; what was decided by then is in the audit, which
            has `timed_out`.

    Raises:
        LimitError: If the time is over before the trace is read.
        OntologyError: If the ontology or the profile cannot be used.
        RecordError: If the arguments make no trace, or a relation is not in the profile.
    """
    record = {**_scene_record(scene), "question": question, "dataset": dataset}
    if "scene_relations" in record:
        record["claims"] = [{"relations": relations} for relations in claims]
        if record["claims"]:
            record["claims"][-1]["type"] = "conclusion"
    elif isinstance(claims, str):
        record["response"] = claims
    else:
        record["reasoning"] = list(claims[:-1])
        record["conclusion"] = claims[-1] if claims else ""
    folder = os.fspath(ontology) if ontology is not None else None
    with turn():
        auditor = _auditor(profile, folder, context, answers, files_stamp(folder))
        with time_limit(timeout):
            return auditor.audit(make_record(Trace, record))


def follow(
    scene: str | Sequence[str],
    question: str = "",
    *,
    profile: str | None = None,
    ontology: str | os.PathLike[str] | None = None,
    answers: Answers = "answer",
) -> FollowedTrace:
    """Begins the audit of a trace that is still being written.

    >>> import symbouq
    >>> trace = symbouq.follow("A is above B. B is right of C.", "Where is A relative to C?")
    >>> [claim["verdict"] for claim in trace.add("A is upper right of C.")]
    ['entailed']

    Args:
        scene: The trusted description: one text, or a list of sentences.
        question: What was asked.
        profile: Name of the profile; else `nine-way`.
        ontology: Folder of a user's ontology.
        answers: As in `audit`.

    Raises:
        OntologyError: If the ontology or the profile cannot be used.
        RecordError: If the scene cannot be read.
    """
    folder = os.fspath(ontology) if ontology is not None else None
    auditor = _auditor(profile, folder, "assumed", answers, files_stamp(folder))
    record = {**_scene_record(scene), "question": question, "reasoning": [], "conclusion": ""}
    return FollowedTrace(auditor, make_record(Trace, record))


@turn()
def relations_between(
    scene: str | Sequence[str] | Sequence[Sequence[str]],
    subject: str,
    object: str,
    *,
    profile: str | None = None,
    dataset: str | None = None,
    ontology: str | os.PathLike[str] | None = None,
) -> Worlds | None:
    """The relations that a scene leaves open between two things, and those that it settles.

    >>> import symbouq
    >>> found = symbouq.relations_between("A is above B. B is left of C.", "A", "C")
    >>> found.certain
    ('upper_left',)

    Args:
        scene: One text, a list of sentences, or a list of `(subject, relation, object)`.
        subject: A thing of the scene, as it is named there.
        object: Another one.
        profile: Name of the profile; else the dataset's, or `nine-way`.
        dataset: Name of the dataset, which may choose the profile.
        ontology: Folder of a user's ontology.

    Returns:
        The relations that are possible and those that are certain; None if the scene
        contradicts itself.

    Raises:
        OntologyError: If the ontology or the profile cannot be used.
        RecordError: If the scene cannot be read, or has no such thing.
    """
    folder = os.fspath(ontology) if ontology is not None else None
    auditor = _auditor(profile, folder, "assumed", "answer", files_stamp(folder))
    return worlds_between(auditor, scene, subject, object, dataset=dataset)


@turn()
def worlds_between(
    auditor: auditing.TraceAuditor,
    scene: str | Sequence[str] | Sequence[Sequence[str]],
    subject: str,
    object: str,
    **fields: str | None,
) -> Worlds | None:
    """`relations_between` by an auditor that is there.

    Args:
        auditor: The auditor.
        scene: As there.
        subject: As there.
        object: As there.
        fields: Further fields of the record, such as `dataset` and `profile`.

    Raises:
        RecordError: As there.
    """
    record = {**_scene_record(scene), **fields}
    if "scene_relations" in record:
        record["claims"] = []
    else:
        record |= {"reasoning": [], "conclusion": "", "question": f"{subject}, {object}"}
    trace = make_record(Trace, record)
    parsed = auditor.parser_for(trace).parse(trace)
    for name in (subject, object):
        if name not in parsed.names:
            known = ", ".join(parsed.names)
            raise RecordError(f"{name!r} is not in the scene, which has: {known}")
    pair = (parsed.names.index(subject), parsed.names.index(object))
    triples = [triple for _, triple in parsed.numbered]
    return worlds(auditor.parser_for(trace).ontology, triples, pair)


def _scene_record(scene: str | Sequence[str] | Sequence[Sequence[str]]) -> dict[str, Any]:
    """The fields of a trace that a scene fills."""
    if not isinstance(scene, str) and any(not isinstance(item, str) for item in scene):
        return {"id": "trace", "scene_relations": scene}
    return {"id": "trace", "scene": scene if isinstance(scene, str) else list(scene)}


@lru_cache(maxsize=8)
def _auditor(
    profile: str | None,
    ontology: str | None,
    context: Context,
    answers: Answers,
    _stamp: object,
) -> TraceAuditor:
    """The auditor of some options; made anew when a rule file has changed."""
    return TraceAuditor(profile, ontology, context, partial=True, answers=answers)
