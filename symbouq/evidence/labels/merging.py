"""Several sources of labels as one: the first that labels a claim wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symbouq.errors import SymboUQError
from symbouq.evidence.labels.records import Label, Labels


def merge(sources: Sequence[Mapping[str, Labels]]) -> list[Labels]:
    """The labels of every trace that some source knows.

    Each record's `source` names the sources that it has labels of, and its `sources` says
    for each claim which one that was.

    Args:
        sources: Labels by id; the first one goes before the others.

    Raises:
        SymboUQError: If two sources do not agree on how many claims a trace has.
    """
    ids = dict.fromkeys(identity for source in sources for identity in source)
    return [_merged([source[i] for source in sources if i in source]) for i in ids]


def _merged(given: Sequence[Labels]) -> Labels:
    first = given[0]
    for other in given[1:]:
        if len(other.labels) != len(first.labels):
            raise SymboUQError(
                f"trace {first.id} has {len(first.labels)} claims by {first.source} and "
                f"{len(other.labels)} by {other.source}"
            )
    labels: list[Label] = []
    names: list[str | None] = []
    for claim in range(len(first.labels)):
        found = next((each for each in given if each.labels[claim] is not None), None)
        labels.append(found.labels[claim] if found is not None else None)
        names.append(found.source if found is not None else None)
    used = dict.fromkeys(name for name in names if name is not None)
    dataset = next((each.dataset for each in given if each.dataset is not None), None)
    return Labels(first.id, "+".join(used), tuple(labels), dataset, {"sources": names})
