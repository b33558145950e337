"""Makes splits that are the same on every machine and never divide a scene between splits.

A scene is identified by a hash of its words and by its name in the release. All questions about a
scene stay together. Scenes are taken in the order of a seeded hash. From the last scene of a split,
questions are taken in the order of another hash until the split has exactly the requested size (if
there are enough questions).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from symbouq.experiments.benchmarks.items import BenchmarkError, Item

ORDER = ("train", "validation", "test")

Group = list[Item]
"""All questions about one scene."""


@dataclass
class Cut:
    """The questions of each split, and notes. `unused` is the number of questions in no split,
    `overlapping` the number of questions omitted because their scene is in another split.
    """

    rows: dict[str, list[Item]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unused: int = 0
    overlapping: int = 0


def grouped(items: Sequence[Item]) -> list[Group]:
    """Group questions by scene, in order of first appearance."""
    parents: dict[str, str] = {}

    def root(key: str) -> str:
        while parents.setdefault(key, key) != key:
            parents[key] = parents[parents[key]]
            key = parents[key]
        return key

    for item in items:
        if item.story is not None:
            parents[root(f"story {item.story}")] = root(item.scene_key)
    found: dict[str, Group] = defaultdict(list)
    for item in items:
        found[root(item.scene_key)].append(item)
    return list(found.values())


def separate(groups: Sequence[Group], drop: bool) -> tuple[list[Group], int]:
    """Separate the release's splits. Return groups of questions, each in at most one split, and the
    number of dropped questions.

    With `drop`, a scene that is in several splits is kept only in one: in test if possible,
    otherwise in validation.

    Raises:
        BenchmarkError: If a scene is in two splits and `drop` is not set.
    """
    kept: list[Group] = []
    clashes: list[Group] = []
    for group in groups:
        named = {item.split for item in group if item.split}
        if len(named) > 1:
            clashes.append(group)
            last = max(named, key=ORDER.index)
            group = [item for item in group if item.split in (last, None)]
        kept.append(group)
    if clashes and not drop:
        raise BenchmarkError(_overlap(clashes))
    return kept, sum(map(len, groups)) - sum(map(len, kept))


def _overlap(clashes: Sequence[Group]) -> str:
    shown = [
        ", ".join(f"{item.id} ({item.split})" for item in group if item.split)
        for group in clashes[:10]
    ]
    more = f"; and {len(clashes) - 10} more" if len(clashes) > 10 else ""
    scenes = f"{len(clashes)} scene{'s are' if len(clashes) > 1 else ' is'}"
    return (
        f"{scenes} in two splits of the source: {'; '.join(shown)}{more}. `--overlap drop` keeps "
        "such a scene in the later split alone (test, then validation), `--pool` draws new splits"
    )


def cut(
    items: Sequence[Item],
    sizes: Mapping[str, int] | None,
    seed: int = 0,
    pool: bool = False,
    drop: bool = False,
) -> Cut:
    """Split a benchmark. If `sizes` is None, the release's own splits are kept.

    If the release lacks a split, it is drawn from rows without a split, otherwise from the rest of
    training. Validation is drawn from test as a last resort. Such cases are mentioned in the notes.
    If there are too few rows, they are shared evenly. With `pool`, rows are drawn regardless of
    their split. `drop` is as in `separate`.

    Raises:
        BenchmarkError: If a scene is in two splits.
    """
    done = Cut()
    groups = grouped(items)
    if not pool:
        groups, done.overlapping = separate(groups, drop)
        if done.overlapping:
            done.notes.append(
                f"{done.overlapping} rows were left out: their scene is in a later split too"
            )
    by_split: dict[str, list[Group]] = defaultdict(list)
    for group in _ordered(groups, seed):
        named = "" if pool else next((i.split for i in group if i.split), "")
        by_split[named or ""].append(group)
    if sizes is None:
        for name in (*ORDER, ""):
            if by_split[name]:
                done.rows[name or "all"] = [item for group in by_split[name] for item in group]
        _restore_order(done, items)
        return done
    _draw(done, by_split, sizes)
    for name, wanted in sizes.items():
        have = len(done.rows.get(name, ()))
        if have < wanted:
            done.notes.append(f"{name} has {have} of the {wanted} rows asked for")
    _restore_order(done, items)
    done.unused = len(items) - done.overlapping - sum(map(len, done.rows.values()))
    return done


_DONORS = {"train": ("",), "validation": ("", "train", "test"), "test": ("", "train")}
"""For each split, the sources of rows if the release lacks this split. The empty string stands for
rows without a split."""


def _draw(done: Cut, by_split: dict[str, list[Group]], sizes: Mapping[str, int]) -> None:
    """Fill the splits. A split that the release lacks is filled from the first source with rows."""
    plan: dict[str, dict[str, int]] = defaultdict(dict)
    for name, size in sizes.items():
        donors = (name,) if by_split[name] else _DONORS[name]
        donor = next((d for d in donors if by_split[d]), None)
        if donor is None:
            done.notes.append(f"the source has no rows for {name}")
            continue
        plan[donor][name] = size
        if donor not in ("", name):
            done.notes.append(f"{name} is drawn from the source's {donor}")
    for donor, wanted in plan.items():
        _take(done, by_split[donor], wanted)


def _take(done: Cut, groups: list[Group], wanted: Mapping[str, int]) -> None:
    """Move whole scenes from a list into splits. Only the last scene of each split may be taken in
    part.

    If there are too few rows, all incomplete splits get the same number.
    """
    left = sum(map(len, groups))
    by_size = sorted(wanted, key=wanted.__getitem__)
    for place, name in enumerate(by_size):
        share = min(wanted[name], left // (len(by_size) - place))
        left -= share
        rows: list[Item] = []
        while groups and len(rows) < share:
            rows.extend(groups.pop(0)[: share - len(rows)])
        if rows:
            done.rows[name] = rows


def _ordered(groups: Iterable[Group], seed: int) -> list[Group]:
    def rank(key: str) -> str:
        return hashlib.sha256(f"{seed}\n{key}".encode()).hexdigest()

    return sorted(
        (
            sorted(group, key=lambda item: (rank(item.pair_key), item.id))
            for group in groups
            if group
        ),
        key=lambda group: rank(min(item.scene_key for item in group)),
    )


def _restore_order(done: Cut, items: Sequence[Item]) -> None:
    place = {id(item): number for number, item in enumerate(items)}
    names = sorted(done.rows, key=lambda n: (ORDER.index(n) if n in ORDER else 9, n))
    done.rows = {n: sorted(done.rows[n], key=lambda item: place[id(item)]) for n in names}


def check_apart(rows: Mapping[str, Sequence[Item]]) -> None:
    """Check that the written splits have no scene in common.

    Raises:
        BenchmarkError: If two splits have a scene in common.
    """
    first: dict[str, tuple[str, str]] = {}
    for name, items in rows.items():
        for item in items:
            for key in (item.scene_key, item.story):
                split, other = first.setdefault(key, (name, item.id)) if key else (name, item.id)
                if split != name:
                    raise BenchmarkError(f"{item.id} ({name}) has the scene of {other} ({split})")
