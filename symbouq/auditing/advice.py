"""Which profile would decide more of a file, measured on some of its undecided traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.summary import Summary, Undecided, decided
from symbouq.errors import SymboUQError
from symbouq.limits import late, time_limit
from symbouq.ontology.library import OntologyLibrary, builtin
from symbouq.ontology.tables import Ontology
from symbouq.records import Trace

_PATIENCE = 60.0
"""Seconds after which there is no advice. The traces of a sample are small, so that a busy machine
takes a tenth of that: what is advised depends on them alone.
"""

_CLEARLY = 0.2
"""Share of the sample's claims that another profile has to decide beyond those decided."""

_FEWEST = 3
"""How many claims these have to be at least."""


def advice(
    summary: Summary, ontology: str | None = None, pipeline: str | None = None
) -> str | None:
    """One line that names the profile which decides clearly more, None where there is none or most
    claims are decided.

    Args:
        summary: The counts, and the undecided traces, of a run.
        ontology: Folder of the user's ontology.
        pipeline: Package of the English pipeline, as for the run.
    """
    if 2 * summary.decided >= summary.claims or not summary.undecided:
        return None
    own = summary.undecided[0].profile
    sample = [one for one in summary.undecided if one.profile == own]
    if sum(one.claims - one.decided for one in sample) < _FEWEST:
        return None
    counts = _counted(sample, _others(own, ontology, pipeline))
    if counts is None:
        return None
    claims = sum(one.claims for one in sample)
    before = sum(one.decided for one in sample)
    best = max(counts, key=lambda profile: counts[profile], default=own)
    if counts[best] - before < max(_FEWEST, _CLEARLY * claims):
        return None
    return (
        f"Most claims are undecided. Of {claims} claims in {len(sample)} such traces, profile "
        f"{best} decides {counts[best]}, {own} {before}: try --profile {best}."
    )


def senses(summary: Summary, ontology: str | None = None) -> str | None:
    """One line that names a word which the texts of some data sets use for another relation than
    other texts do, where scenes of no data set state that; None where none does.

    Args:
        summary: The counts of a run.
        ontology: Folder of the user's ontology.
    """
    library = OntologyLibrary(ontology) if ontology else builtin()
    for stated, scenes in sorted(summary.stated.items()):
        profile, read = stated.split()
        tables = library.ontology(profile)
        words: dict[tuple[str, str], list[str]] = {}
        for dataset, phrases in sorted(tables.lexicon.phrase_of.items()):
            for text, other in phrases.items():
                if tables.lexicon.phrase.get(text) == read != other:
                    words.setdefault((text, other), []).append(dataset)
        for (text, other), datasets in words.items():
            return (
                f"In {scenes} scenes of no data set {text!r} is read as {read}; in texts of "
                f"{', '.join(datasets)} it means {other}. Name the data set in the records if "
                "yours use it so."
            )
    return None


def _others(own: str, ontology: str | None, pipeline: str | None) -> dict[str, TraceAuditor]:
    """Auditors of the other profiles, by their names, that presume no more of a scene."""
    mine = TraceAuditor(own, ontology)
    library = mine.library
    auditors = {}
    for name in library.profiles:
        profile = name.replace("_", "-")
        with suppress(SymboUQError):  # a user's ontology may have one that cannot be used
            if profile != own and not _presumes(library.ontology(profile), library.ontology(own)):
                auditors[profile] = TraceAuditor(profile, library, partial=True, pipeline=pipeline)
    return auditors


def _presumes(other: Ontology, own: Ontology) -> bool:
    """Whether a profile takes the words of a scene, as far as the one in use has them, for more
    than the same words of a claim, such as for steps of a grid: it decides more by presuming more.
    """
    relations = {relation for _, relation in own.encoding.readings}
    readings = other.encoding.readings
    return any(
        readings["asserted", relation] != readings["queried", relation]
        for _, relation in readings
        if relation in relations
    )


def _counted(sample: Iterable[Undecided], auditors: dict[str, TraceAuditor]) -> Counter[str] | None:
    """How many claims of some traces each profile decides; None where that takes too long."""
    counts: Counter[str] = Counter(dict.fromkeys(auditors, 0))
    with time_limit(_PATIENCE):
        for one in sample:
            counts.update({p: _decided(auditor, one) for p, auditor in auditors.items()})
            if late():
                return None
    return counts


def _decided(auditor: TraceAuditor, one: Undecided) -> int:
    """How many claims of a trace a profile decides; none where it cuts other claims."""
    try:
        audit = auditor.audited(Trace(**one.trace))
    except SymboUQError:
        return 0
    return decided(audit) if len(audit["claims"]) == one.claims else 0
