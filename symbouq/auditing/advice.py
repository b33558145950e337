"""Suggest a profile that decides more, measured on a sample of undecided traces."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.summary import Summary, Undecided, decided, parts_read
from symbouq.errors import SymboUQError
from symbouq.ontology.library import OntologyLibrary, builtin
from symbouq.ontology.tables import Ontology
from symbouq.records import Trace

_CLEARLY = 0.2
"""Minimum share of the sample's claims that a suggested profile must decide in addition."""

_MORE = 1.05
"""Minimum ratio of sentences read with a suggested profile to sentences read with the current
profile.
"""

_FEWEST = 3
"""Minimum number of claims that a suggested profile must decide in addition."""


def advice(
    summary: Summary, ontology: str | None = None, pipeline: str | None = None
) -> str | None:
    """Return a one-line suggestion of a profile that reads more sentences or, if most claims are
    undecided, decides clearly more claims. None if there is no such profile.

    Args:
        summary: Counts and undecided traces of a run.
        ontology: Folder of the user's ontology.
        pipeline: Package of the English pipeline, as for the run.
    """
    if not summary.undecided:
        return None
    own = summary.undecided[0].profile
    sample = [one for one in summary.undecided if one.profile == own]
    claims, before, read = (
        sum(each) for each in zip(*((o.claims, o.decided, o.read) for o in sample), strict=True)
    )
    library = OntologyLibrary(ontology) if ontology else builtin()
    open_most = 2 * summary.decided < summary.claims and claims - before >= _FEWEST
    auditors = _others(own, library, library.about if open_most else library.general, pipeline)
    traces = "one trace" if len(sample) == 1 else f"{len(sample)} traces"
    if open_most:
        counts = {name: _counted(sample, auditor)[0] for name, auditor in auditors.items()}
        best = max(counts, key=counts.__getitem__, default=own)
        if counts.get(best, 0) - before >= max(_FEWEST, _CLEARLY * claims):
            return (
                f"Most claims are undecided. Of {claims} in {traces}, profile {best} decides "
                f"{counts[best]} and {own} {before}: {_try(best, library)}"
            )
    general = [name for name in library.general if name in auditors]
    counts = {name: _counted(sample, auditors[name])[1] for name in general}
    best = max(counts, key=counts.__getitem__, default=own)
    if counts.get(best, 0) <= _MORE * read:
        return None
    return (
        f"Some claims are undecided. In {traces}, profile {best} reads more sentences than {own}, "
        f"{counts[best]} against {read}: {_try(best, library)}"
    )


def _try(profile: str, library: OntologyLibrary) -> str:
    about = library.about[profile]
    return f"try --profile {profile}{about and f' ({about})'}."


def senses(summary: Summary, ontology: str | None = None) -> str | None:
    """Return a one-line warning if general scenes use a word that has a different meaning in the
    texts of some dataset; otherwise None.

    Args:
        summary: Counts of a run.
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


def _others(
    own: str, library: OntologyLibrary, profiles: Iterable[str], pipeline: str | None
) -> dict[str, TraceAuditor]:
    """Map each other profile to an auditor, without profiles that presume more about a scene."""
    auditors = {}
    for profile in profiles:
        with suppress(SymboUQError):  # a user's ontology may have an invalid profile
            if profile != own and not _presumes(library.ontology(profile), library.ontology(own)):
                auditors[profile] = TraceAuditor(profile, library, partial=True, pipeline=pipeline)
    return auditors


def _presumes(other: Ontology, own: Ontology) -> bool:
    """Whether `other`, unlike `own`, gives a wording a stronger meaning in a scene than in a claim,
    as for grid steps. Such a profile decides more claims only because it presumes more.
    """
    relations = {relation for _, relation in own.encoding.readings}
    readings = other.encoding.readings
    return any(
        readings["asserted", relation] != readings["queried", relation]
        for _, relation in readings
        if relation in relations
    )


def _counted(sample: Iterable[Undecided], auditor: TraceAuditor) -> tuple[int, int]:
    """Count the decided claims and the sentences read under a profile. Traces that it splits into
    different claims are ignored.
    """
    settled = read = 0
    for one in sample:
        with suppress(SymboUQError):
            audit = auditor.audited(Trace(**one.trace))
            if len(audit["claims"]) == one.claims:
                settled, read = settled + decided(audit), read + parts_read(audit)
    return settled, read
