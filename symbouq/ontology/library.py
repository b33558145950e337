"""Ontologies: checked `.lp` files and the tables of each profile, compiled once.

All that the audit and the readers know about relations comes from here.
"""

from __future__ import annotations

import os
from functools import cached_property, lru_cache, partial
from typing import Any

from symbouq.errors import OntologyError
from symbouq.limits import turn, untimed
from symbouq.ontology.compilation import tables_of, within_limit
from symbouq.ontology.denials import with_denials
from symbouq.ontology.source import (
    Rows,
    Source,
    check_file,
    data_folder,
    digest,
    files_stamp,
    lp_files,
    user_files,
)
from symbouq.ontology.store import Store, listed, unlisted
from symbouq.ontology.tables import Ontology, Tables
from symbouq.ontology.wellformed import read_source

VERSION = "1"
"""Version of the ontology's vocabulary. It is increased when older ontology files no longer work.
"""


class OntologyLibrary:
    """The built-in ontology, optionally extended or replaced by a user's folder.

    A folder with a fact `extends(PROFILE)` adds to the built-in ontology and makes that profile its
    default. A folder without such a fact replaces the built-in ontology. If the folder declares a
    relation with family/2, it replaces the built-in relation of that name with all facts about it.

    Args:
        folder: The user's folder of `.lp` files, read recursively.

    Attributes:
        name: Name of the ontology in audits.
        rows: Facts of the ontology by predicate, with arguments as text.
        profiles: Names of the profiles, the default one first.

    Raises:
        OntologyError: If a file has a syntax error, an undefined predicate, an
            unknown relation or an argument of the wrong kind.
    """

    @turn()
    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        builtin = lp_files(data_folder("ontology"))
        rules = lp_files(data_folder("rules"))
        own = user_files(folder) if folder is not None else []
        for file in own:
            check_file(file, folder)
        self.name = "builtin" if folder is None else str(folder)
        self._folder = folder
        self._store: Store | None = Store("ontologies", digest([*builtin, *own, *rules]))
        kept = self._store.load("library")
        if kept is None:
            self.source, files = read_source(builtin, folder)
            kept = {
                "hash": digest([*files, *rules]),
                "extended": self.source.extended,
                "rows": listed(self.source.rows),
            }
            self._store.save("library", kept)
        self._take(unlisted(kept["rows"]), kept["extended"], kept["hash"])

    @classmethod
    def of(cls, source: Source, name: str, digest: str) -> OntologyLibrary:
        """Create a library from statements that are already parsed.

        Args:
            source: The statements.
            name: Name of the ontology in audits.
            digest: Hash of the ontology in audits.
        """
        library = cls.__new__(cls)
        library.name, library.source, library._store = name, source, None
        library._take(source.rows, source.extended, digest)
        return library

    def _take(self, rows: Rows, extended: str | None, digest: str) -> None:
        self.rows = rows
        self._hash = digest
        self._compiled: dict[tuple[str, bool], Ontology] = {}
        self._datasets = {name.lower(): profile for name, profile in rows["dataset", 2]}
        self._default = extended or next((p for (p,) in rows["default_profile", 1]), None)
        profiles = (profile for (profile,) in rows["profile", 1])
        self.profiles = sorted(profiles, key=lambda profile: (profile != self._default, profile))

    @cached_property
    def asking_possible(self) -> frozenset[str]:
        """Profiles in which questions ask for the possible relations."""
        return frozenset(profile for (profile,) in self.rows["asks_possible", 1])

    @cached_property
    def general(self) -> list[str]:
        """Profiles that were not made for a dataset, spelled as users write them."""
        special = set(self._datasets.values())
        return [profile.replace("_", "-") for profile in self.profiles if profile not in special]

    @cached_property
    def about(self) -> dict[str, str]:
        """Maps each profile, spelled as users write it, to its purpose; empty if not stated."""
        told = {row[0]: row[1] for row in self.rows["about", 2]}
        return {profile.replace("_", "-"): told.get(profile, "") for profile in self.profiles}

    @cached_property
    def source(self) -> Source:
        """The statements. They are parsed only when needed, because a cached ontology works without
        them.

        Raises:
            OntologyError: As on loading, if a file has changed since.
        """
        return read_source(lp_files(data_folder("ontology")), self._folder)[0]

    def profile_of(self, dataset: str | None) -> str:
        """Return the profile for traces of a dataset: from the dataset's `dataset` fact, otherwise
        the default profile.

        Raises:
            OntologyError: If the ontology has no default profile.
        """
        chosen = self._datasets.get((dataset or "").lower(), self._default)
        if chosen is None:
            raise OntologyError(f"ontology {self.name} has no fact default_profile(PROFILE)")
        return chosen.replace("_", "-")

    @turn()
    def ontology(self, profile: str | None = None, literal: bool = False) -> Ontology:
        """Return the tables of a profile, by default those of the default profile.

        Args:
            profile: Name of the profile.
            literal: Whether to omit world defaults (presumes/3).

        Raises:
            OntologyError: If the profile does not exist.
        """
        wanted = (profile or self.profile_of(None)).strip().lower().replace("-", "_")
        if wanted not in self.profiles:
            known = ", ".join(p.replace("_", "-") for p in self.profiles)
            raise OntologyError(f"unknown profile {profile!r}; there are: {known}")
        key = wanted, literal
        if key not in self._compiled:
            with untimed():
                self._compiled[key] = self._compile(wanted, literal)
        return self._compiled[key]

    def _compile(self, profile: str, literal: bool) -> Ontology:
        name = f"literal-{profile}" if literal else profile
        kept = self._store.load(name) if self._store is not None else None
        if kept is None:
            kept = within_limit(self.source, partial(self._made, profile, literal))
            if self._store is not None:
                self._store.save(name, kept)
        tables = Tables(unlisted(kept["tables"]))
        return with_denials(Ontology.of(tables, profile, self.name, self._hash, kept["rules"]))

    def _made(self, profile: str, literal: bool) -> dict[str, Any]:
        """Compile a profile, and return the form that is cached."""
        made = tables_of(self.source, profile, self.name, self._hash, literal)
        return {"tables": listed(made.tables), "rules": made.encoding.rules}


def builtin() -> OntologyLibrary:
    """Return the built-in ontology, read once per process and again when its files change."""
    return _builtin(files_stamp(None))


@lru_cache(maxsize=1)
def _builtin(_stamp: object) -> OntologyLibrary:
    return OntologyLibrary()
