"""Differences between two files of readings, made by different models or prompt versions."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

from symbouq.errors import RecordError, SymboUQError
from symbouq.io.readings import ReadingsFile
from symbouq.io.stream import Line, read_lines
from symbouq.records import RelationReading, Reply, SentenceReading, StoredReading, parse_record
from symbouq.records.reading import Words


@dataclass(frozen=True)
class SentenceDifference:
    """Sentence that is read differently in two files.

    Attributes:
        id: Id of the trace.
        part: `scene` or `claims`.
        sample: Number of the reply.
        sentence: Label of the sentence.
        was: Readings only in the first file.
        now: Readings only in the second file.
    """

    id: str
    part: str
    sample: int
    sentence: str
    was: tuple[str, ...]
    now: tuple[str, ...]


@dataclass
class ReadingComparison:
    """Differences between two files of readings.

    Attributes:
        replies: Number of replies compared.
        sentences: Number of sentences in them.
        alike: Number of relations in both files, only in the first, and only in the second.
        only: Number of replies only in the first file, and number only in the second.
        differences: Sentences with different readings.
    """

    replies: int = 0
    sentences: int = 0
    alike: tuple[int, int, int] = (0, 0, 0)
    only: tuple[int, int] = (0, 0)
    differences: list[SentenceDifference] = field(default_factory=list)

    @property
    def differ(self) -> bool:
        """Whether the files differ."""
        return bool(self.differences or any(self.only))

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as a JSON object."""
        both, first, second = self.alike
        return {
            "replies": self.replies,
            "sentences": self.sentences,
            "relations": {"both": both, "only_first": first, "only_second": second},
            "only_first": self.only[0],
            "only_second": self.only[1],
            "differences": list(map(asdict, self.differences)),
        }


def are_readings(file: str) -> bool:
    """Whether the first record of a file is a reading. False for a pipe, because it cannot be read
    twice.
    """
    if not Path(file).is_file():
        return False
    for item in read_lines(file):
        if not isinstance(item, Line):
            return False
        try:
            parse_record(StoredReading, item.content)
        except RecordError:
            return False
        return True
    return False


def compared_readings(first: str, second: str) -> ReadingComparison:
    """Compare two files of readings.

    Replies are matched by text, otherwise by trace and part. The text of a request about claims
    contains the names that the scene's reading gives to things, so it can differ between the files.

    Args:
        first: First file of readings.
        second: Second file of readings.

    Raises:
        SymboUQError: If a file cannot be read.
    """
    found = ReadingComparison()
    both = first_alone = second_alone = 0
    for a, b in _paired(_readings(first), _readings(second)):
        if a is None or b is None:
            found.only = (found.only[0] + (b is None), found.only[1] + (a is None))
            continue
        found.replies += 1
        said, says = _said(a.reply), _said(b.reply)
        for label in dict.fromkeys((*said, *says)):
            was, now = said.get(label, set()), says.get(label, set())
            found.sentences += 1
            both += len(was & now)
            first_alone += len(was - now)
            second_alone += len(now - was)
            if was != now:
                gone, new = (tuple(sorted(some)) for some in (was - now, now - was))
                place = b.id, b.part, b.sample, label
                found.differences.append(SentenceDifference(*place, gone, new))
    found.alike = both, first_alone, second_alone
    return found


def _readings(file: str) -> list[StoredReading]:
    with ReadingsFile(Path(file), grows=False) as readings:
        return readings.latest


def _paired(
    first: list[StoredReading], second: list[StoredReading]
) -> Iterator[tuple[StoredReading | None, StoredReading | None]]:
    for key in (attrgetter("text", "sample"), attrgetter("id", "part", "sample")):
        waiting: dict[Any, deque[StoredReading]] = defaultdict(deque)
        for reading in second:
            waiting[key(reading)].append(reading)
        left: list[StoredReading] = []
        for reading in first:
            same = waiting[key(reading)]
            if same:
                yield reading, same.popleft()
            else:
                left.append(reading)
        first, second = left, [reading for some in waiting.values() for reading in some]
    yield from ((reading, None) for reading in first)
    yield from ((None, reading) for reading in second)


def _said(reply: Reply) -> dict[str, set[str]]:
    names: dict[str, str] = {}
    for sentence in reply.sentences:
        for mention in sentence.things:
            names.setdefault(mention.id, _shown(mention.words))
    return {s.sentence: set(_relations(s, names)) for s in reply.sentences}


def _relations(sentence: SentenceReading, names: dict[str, str]) -> Iterator[str]:
    for relation in sentence.relations:
        yield _relation(relation, names)
    for unexpressed in sentence.unexpressed:
        yield f"unexpressed: {_shown(unexpressed.words)} ({unexpressed.reason})"


def _relation(relation: RelationReading, names: dict[str, str]) -> str:
    objects = [relation.object] if isinstance(relation.object, str) else relation.object
    how: list[str] = [] if relation.stance == "asserted" else [relation.stance]
    how += ["denied"] if relation.polarity == "denied" else []
    said = (names.get(relation.subject, relation.subject), relation.relation)
    things = " and ".join(names.get(thing, thing) for thing in objects)
    return f"{' '.join(how)}{': ' if how else ''}{' '.join(said)} {things}"


def _shown(words: Words) -> str:
    return words.lower() if isinstance(words, str) else f"[{words[0]}:{words[1]}]"


def readings_of(first: str, second: str) -> bool:
    """Whether both files contain readings.

    Raises:
        SymboUQError: If only one of the files does.
    """
    kinds = are_readings(first), are_readings(second)
    if kinds[0] != kinds[1]:
        other = second if kinds[0] else first
        raise SymboUQError("holds no readings, and the other file does", other)
    return kinds[0]
