"""Auditors and readers, each made once, by the first test that needs it."""

from __future__ import annotations

from functools import cache

from symbouq.auditing.auditor import TraceAuditor
from symbouq.ontology.library import OntologyLibrary
from symbouq.reading.described.reader import DescribedReader
from symbouq.reading.events.reader import EventReader
from symbouq.reading.named.reader import NamedReader

auditor = cache(TraceAuditor)


@cache
def named() -> NamedReader:
    return NamedReader(OntologyLibrary().ontology())


@cache
def described() -> DescribedReader:
    return DescribedReader(OntologyLibrary().ontology("spartun"))


@cache
def events() -> EventReader:
    return EventReader(OntologyLibrary().ontology("event"))


READERS = {"named": named, "described": described, "events": events}
