"""Public functions of `symbouq`: audit a trace, list the possible relations of a scene, and show
audits in a notebook.
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
    """Audit of one trace. Notebooks show it as HTML."""

    def _repr_html_(self) -> str:
        return audit_html(self.model_dump())

    def to_frame(self) -> DataFrame:
        """Return the claims as a pandas frame, with the columns of `claims_frame`.

        Raises:
            SymboUQError: If pandas is not installed.
        """
        return claims_frame([self.model_dump()])

    def plot(self) -> Figure:
        """Plot the claims' verdicts in both contexts, in order.

        Raises:
            SymboUQError: If matplotlib is not installed.
        """
        return plot_claims(self.model_dump())


class TraceAuditor(auditing.TraceAuditor):
    """Auditor that returns records. For arguments, see `symbouq.auditing.auditor.TraceAuditor`."""

    def audit(self, trace: Trace) -> Audit:
        """Audit a trace.

        Raises:
            RecordError: If the trace cannot be audited.
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
    """Audit one trace. Threads may call this function; they take turns.

    Examples:
        >>> import symbouq
        >>> result = symbouq.audit("A is above B. B is right of C.", ["A is upper right of C."])
        >>> result.claims[-1].verdict
        'entailed'

    Args:
        scene: The trusted description: a string, a list of sentences, or a list of `(subject,
            relation, object)`.
        claims: The reasoning: a string, a list of claims that ends with the conclusion, or, for a
            scene given as relations, a list of lists of relations.
        question: The question. It determines which pair of things a bare label such as "left"
            describes.
        profile: Name of the profile; by default the dataset's, or `nine-way`.
        dataset: Name of the dataset, which may determine the profile.
        ontology: Folder of your ontology.
        context: Context from which the verdicts for the profile, the features and the score are
            taken.
        answers: How to judge the conclusion; `relation` is the paper's strict auditor.
        timeout: Time limit in seconds. When time runs out, the audit keeps the verdicts decided so
            far and sets `timed_out`.

    Raises:
        LimitError: If time runs out before the trace is read.
        OntologyError: If the ontology or the profile is invalid.
        RecordError: If the arguments are not a valid trace, or a relation is not in the profile.
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
    """Start the audit of a trace that is still being written.

    Examples:
        >>> import symbouq
        >>> trace = symbouq.follow("A is above B. B is right of C.", "Where is A relative to C?")
        >>> [claim["verdict"] for claim in trace.add("A is upper right of C.")]
        ['entailed']

    Args:
        scene: The trusted description: a string, or a list of sentences.
        question: The question.
        profile: Name of the profile; by default `nine-way`.
        ontology: Folder of your ontology.
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
    """Return the possible and certain relations between two things in a scene.

    Examples:
        >>> import symbouq
        >>> found = symbouq.relations_between("A is above B. B is left of C.", "A", "C")
        >>> found.certain
        ('upper_left',)

    Args:
        scene: A string, a list of sentences, or a list of `(subject, relation, object)`.
        subject: A thing in the scene, by its name.
        object: Another thing.
        profile: Name of the profile; by default the dataset's, or `nine-way`.
        dataset: Name of the dataset, which may determine the profile.
        ontology: Folder of your ontology.

    Returns:
        The possible and the certain relations, or None if the scene contradicts itself.

    Raises:
        OntologyError: If the ontology or the profile is invalid.
        RecordError: If the scene cannot be read or lacks one of the things.
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
    """Compute `relations_between` with an existing auditor.

    Args:
        auditor: The auditor.
        scene: As in `relations_between`.
        subject: As in `relations_between`.
        object: As in `relations_between`.
        fields: Further fields of the record, such as `dataset` and `profile`.

    Raises:
        RecordError: As in `relations_between`.
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
    """Return an auditor with the given options. If a rule file changes, create a new one."""
    return TraceAuditor(profile, ontology, context, partial=True, answers=answers)
