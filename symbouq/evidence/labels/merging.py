"""Several sources of labels as one: the first that labels a claim wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symbouq.evidence.labels.records import Labels


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


def _merged(sources: Sequence[Labels]) -> Labels:
    first = sources[0]
    for other in sources[1:]:
        first.check_claims(other)
    winners = [
        next((source for source in sources if source.labels[claim] is not None), None)
        for claim in range(len(first.labels))
    ]
    names = [winner.source if winner else None for winner in winners]
    labels = [winner.labels[claim] if winner else None for claim, winner in enumerate(winners)]
    used = dict.fromkeys(name for name in names if name is not None)
    dataset = next((each.dataset for each in sources if each.dataset is not None), None)
    return Labels(first.id, "+".join(used), tuple(labels), dataset, {"sources": names})
