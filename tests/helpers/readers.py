"""Auditors and readers, each created by the first test that needs it."""

from __future__ import annotations

from functools import cache

from symbouq.auditing.auditor import TraceAuditor
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.tables import Ontology
from symbouq.reading.described.reader import DescribedReader
from symbouq.reading.events.reader import EventReader
from symbouq.reading.syntax.pipeline import pipeline
from symbouq.reading.syntax.reader import SyntaxReader
from symbouq.reading.syntax.sentences import Sentences

auditor = cache(TraceAuditor)


def reader_of(ontology: Ontology) -> SyntaxReader:
    return SyntaxReader(ontology, Sentences(ontology, pipeline()))


@cache
def parsed(profile: str = "nine-way") -> SyntaxReader:
    return reader_of(OntologyLibrary().ontology(profile))


@cache
def described() -> DescribedReader:
    return DescribedReader(OntologyLibrary().ontology("spartun"))


@cache
def events() -> EventReader:
    return EventReader(OntologyLibrary().ontology("event"))


READERS = {"parsed": parsed, "described": described, "events": events}
