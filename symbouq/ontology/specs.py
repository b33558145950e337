"""The format of `.test` files: expectations as text, next to the rules.

A `.test` file holds tests such as

    test: a box keeps the place of the crate around it
    profile: spartun
    scene:
      The box is inside the crate.
      The crate is left of the sofa.
    claims:
      entailed: The box is left of the sofa. by scene 1, scene 2
      todo unknown: The box is near the sofa.

Lines that end in a full stop are sentences for the parser; other lines are relations (`box inside
crate; box near sofa`). A test uses either sentences or relations. A claim begins with its verdict,
or with `unread` if it has no relation; `by` introduces its premises. Claims under `claims:` are
judged independently. Claims under `steps:` are judged in order, like those of a trace: the verdict
is that in the assumed context, `(grounded VERDICT)` may follow, and claims may be premises.
`pairs:` has lines such as `possible x z: dc ec` and `certain x z: dc`. `clash: scene 1, scene 2`
states that these sentences contradict each other. If `answers:` (labels, separated by commas) and
`answer:` (one or more expected labels, or `nothing`) are given, the question is answered, too; the
last claim is then the delivered answer.

Alternatively, a test states the readings of sentences:

    reads:
      The cup is in the box, and it is not next to the lamp.
        cup inside box "in"
        denied: cup=it next_to lamp "next to"

The relations of a sentence follow below it, each with its words at the end. Names of several words
are in single quotes. The stance (`possible`, `supposed`, ...) and `denied` go before a colon. After
`=` come the words that mention a thing, if they differ from its name. `by "AMOUNT"` before the
words gives an amount. `place: THING SCALE NUMBER "WORDS"` gives a place on a scale, and `heading:
THING DIRECTION "WORDS"` gives the direction in which a thing faces. `THING-before` stands for the
thing's place before it moved. `unexpressed REASON: "WORDS"` marks words that no relation can
express. These tests are also shown to language models as examples.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, get_args

from symbouq.errors import OntologyError, SymboUQError
from symbouq.ontology.source import check_file, data_folder
from symbouq.records import Stance, Trace, make_record
from symbouq.records.reading import Unexpressible

VERDICTS = ("entailed", "contradicted", "unknown", "not-evaluable", "unread")

_FIELDS = ("profile", "dataset", "question", "answers", "answer")
_BLOCKS = ("scene", "claims", "steps", "pairs", "reads")
_CLAIM = re.compile(
    r"(?P<todo>todo\s+)?(?P<verdict>[a-z-]+)(?:\s+\(grounded\s+(?P<grounded>[a-z-]+)\))?\s*:\s*"
    r"(?P<text>.*?)(?:\s+by\s+(?P<premises>(?:scene|claim)\s+\d+(?:\s*,\s*(?:scene|claim)\s+\d+)*))?"
)
_PAIR = re.compile(
    r"(?P<todo>todo\s+)?(?P<mode>possible|certain)\s+(?P<pair>.*?)\s*:\s*(?P<relations>.*)"
)


_OF_ONE = {"place": 3, "heading": 2}
"""Maps each kind of reading about one thing to its number of arguments."""
_READING = re.compile(
    r"(?:(?:unexpressed\s+(?P<reason>[a-z-]+)|(?P<stance>(?!denied)[a-z]+)?\s*(?P<denied>denied)?)"
    r"\s*:\s*)?(?P<said>[^\"]*?)\s*(?:by\s+\"(?P<amount>[^\"]+)\"\s*)?\"(?P<words>[^\"]+)\""
)


class SpecError(SymboUQError):
    """A test file that cannot be read."""


@dataclass(frozen=True)
class ExpectedClaim:
    """Claim in a test, with its expected verdict.

    Attributes:
        line: Line of the claim.
        text: The claim, in plain text or as relations.
        verdict: The verdict (in the assumed context, for a step), or `unread`.
        grounded: The grounded verdict, if the test states it.
        premises: The premises, if the test states them.
        todo: Whether the claim is known to be missed.
    """

    line: int
    text: str
    verdict: str
    grounded: str | None = None
    premises: tuple[str, ...] | None = None
    todo: bool = False


@dataclass(frozen=True)
class ExpectedPair:
    """Pair in a test, with the relations expected to be possible or certain."""

    line: int
    mode: str
    pair: tuple[str, str]
    relations: tuple[str, ...]
    todo: bool = False


class Mentioned(NamedTuple):
    """A thing in a reading: its name, and the words that mention it."""

    name: str
    words: str


@dataclass(frozen=True)
class ExpectedReading:
    """A relation stated by a sentence, or words that no relation expresses.

    Attributes:
        line: Line of the reading.
        stance: The stance; the reason for unexpressed words; `place` or `heading` for readings
            about one thing.
        denied: Whether the sentence denies it.
        things: Subject and objects; empty for unexpressed words.
        relation: The relation; empty for unexpressed words.
        words: The words that state it.
        amount: The amount, or the number of a place.
    """

    line: int
    stance: str
    denied: bool
    things: tuple[Mentioned, ...]
    relation: str
    words: str
    amount: str = ""


@dataclass(frozen=True)
class ExpectedSentence:
    """A sentence with its expected reading.

    Attributes:
        line: Line of the sentence.
        text: The sentence.
        says: Its readings, in order.
        todo: Whether the parser-based reader is known to miss it.
    """

    line: int
    text: str
    says: list[ExpectedReading] = field(default_factory=list)
    todo: bool = False


@dataclass
class Spec:
    """One test.

    Attributes:
        file: File of the test.
        line: Line with the name of the test.
        name: Name of the test.
        options: `profile`, `dataset`, `question`, `answers` and `answer`, if given.
        scene: The scene's lines.
        claims: The claims, in order.
        steps: Whether claims are judged in order, each after the earlier ones.
        pairs: Expectations about pairs.
        reads: Sentences with their readings.
        clash: Premises of the scene that contradict each other, if any.
    """

    file: str
    line: int
    name: str
    options: dict[str, str] = field(default_factory=dict)
    scene: list[str] = field(default_factory=list)
    claims: list[ExpectedClaim] = field(default_factory=list)
    steps: bool = False
    pairs: list[ExpectedPair] = field(default_factory=list)
    reads: list[ExpectedSentence] = field(default_factory=list)
    clash: tuple[str, ...] | None = None

    @property
    def expects(self) -> bool:
        """Whether the test expects anything beyond a consistent scene."""
        asked = self.claims or self.pairs or self.reads or self.clash or "answer" in self.options
        return bool(asked)

    @property
    def in_words(self) -> bool:
        """Whether the test consists of plain text rather than relations."""
        return any(map(_is_words, [*self.scene, *(claim.text for claim in self.claims)]))

    def trace(self) -> Trace:
        """Return the trace that the test audits.

        Raises:
            SpecError: If a line is not a relation, or if words and relations are mixed. The error
                has no position.
        """
        options = {k: v for k, v in self.options.items() if k not in ("answers", "answer")}
        record: dict[str, Any] = {"id": self.name, **options}
        if self.reads:
            if self.scene or self.claims or self.pairs:
                raise SpecError("a test says what sentences read as, or what follows from a scene")
            texts = [sentence.text for sentence in self.reads]
            return make_record(Trace, {**record, "scene": [], "reasoning": texts, "conclusion": ""})
        if "answers" in self.options:
            record["answer_space"] = listed(self.options["answers"])
        texts = [claim.text for claim in self.claims]
        if self.in_words:
            for line in [*self.scene, *texts]:
                if not _is_words(line):
                    raise SpecError(
                        f"{line!r} does not end in a full stop: a test is in words or in "
                        "relations, not both"
                    )
            record |= {
                "scene": self.scene,
                "reasoning": texts[:-1],
                "conclusion": "".join(texts[-1:]),
            }
        else:
            record["scene_relations"] = [
                {**relation, "sentence": number}
                for number, line in enumerate(self.scene, start=1)
                for relation in _relations(line)
            ]
            record["claims"] = [{"relations": _relations(text)} for text in texts]
            if texts:
                record["claims"][-1]["type"] = "conclusion"
        return make_record(Trace, record)


def _is_words(line: str) -> bool:
    return line.endswith((".", "?", "!"))


def _relations(line: str) -> list[dict[str, str]]:
    relations = []
    for part in filter(None, map(str.strip, line.split(";"))):
        words = _split(part)
        if len(words) != 3:
            raise SpecError(
                f"{part!r} is no relation: write SUBJECT RELATION OBJECT, names of several "
                "words in quotes, or a sentence with a full stop"
            )
        relations.append(dict(zip(("subject", "relation", "object"), words, strict=True)))
    return relations


def _split(text: str) -> list[str]:
    """Split the text into words; a quoted part is one word. Empty if a quote is not closed."""
    try:
        return shlex.split(text)
    except ValueError:
        return []


def discovered(folder: str | None) -> list[Spec]:
    """Return the tests in an ontology folder, or the built-in ones.

    Raises:
        SpecError: If a test file cannot be read.
    """
    roots = [Path(folder)] if folder else [data_folder("ontology"), data_folder("rules")]
    files = [(root, file) for root in roots for file in sorted(root.rglob("*.test"))]
    return [spec for root, file in files for spec in parsed(file, root)]


def parsed(file: Path, folder: Path | None = None) -> list[Spec]:
    """Return the tests in a file.

    Args:
        file: The file.
        folder: The folder that must contain it, if any.

    Raises:
        SpecError: At the first line that has an invalid format.
    """
    try:
        check_file(file, folder)
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except OntologyError as error:
        raise SpecError(error.message, error.file) from error
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"cannot be read: {error}", str(file)) from error
    specs: list[Spec] = []
    block = ""
    for number, raw in enumerate(lines, start=1):
        if raw.strip() and not raw.strip().startswith("#"):
            try:
                block = _take(specs, block, raw, str(file), number)
            except SpecError as error:
                raise SpecError(error.message, str(file), number) from error
    return specs


def _take(specs: list[Spec], block: str, raw: str, file: str, number: int) -> str:
    line = raw.strip()
    key, _, rest = line.partition(":")
    rest = rest.strip()
    if key == "test" and rest:
        if same := [spec.line for spec in specs if spec.name == rest]:
            raise SpecError(f"the test of line {same[0]} has the name {rest!r}, too: change one")
        specs.append(Spec(file, number, rest))
        return ""
    if not specs:
        raise SpecError("a test begins with `test: NAME`")
    spec = specs[-1]
    if raw[0] not in " \t":
        if key in _FIELDS and rest:
            spec.options[key] = rest
        elif key == "clash" and rest:
            spec.clash = _premises(rest)
        elif key not in _BLOCKS or rest:
            keys = ", ".join(f"`{name}:`" for name in ("test", *_FIELDS, *_BLOCKS, "clash"))
            raise SpecError(f"{line!r} is none of {keys}")
        return key
    if block == "scene":
        spec.scene.append(line)
    elif block in ("claims", "steps"):
        steps = block == "steps"
        if spec.claims and spec.steps != steps:
            raise SpecError("a test has claims, each on its own, or steps, one after the other")
        spec.steps = steps
        spec.claims.append(_claim(line, number, steps))
    elif block == "pairs":
        spec.pairs.append(_pair(line, number))
    elif block == "reads":
        _take_reading(spec, line, number)
    else:
        raise SpecError(f"{line!r} stands in no block")
    return block


def _premises(text: str) -> tuple[str, ...]:
    return tuple(re.sub(r"\s+", ":", part.strip()) for part in text.split(","))


def _claim(line: str, number: int, steps: bool) -> ExpectedClaim:
    match = _CLAIM.fullmatch(line)
    if match is None or match["verdict"] not in VERDICTS:
        verdicts = ", ".join(VERDICTS)
        raise SpecError(
            f"{line!r} is no claim: write VERDICT: CLAIM, the verdict one of {verdicts}"
        )
    todo, verdict, grounded, text, premises = match.groups()
    if grounded is not None and grounded not in VERDICTS:
        raise SpecError(f"unknown verdict {grounded!r}")
    if not steps and (grounded or "claim" in (premises or "")):
        raise SpecError("a claim of its own rests on the scene alone; write `steps:` for `claims:`")
    expected = _premises(premises) if premises else None
    return ExpectedClaim(number, text, verdict, grounded, expected, bool(todo))


def _take_reading(spec: Spec, line: str, number: int) -> None:
    """Add a line of `reads:`: a sentence, or a reading of the previous one."""
    if not line.endswith('"'):
        text = line.removeprefix("todo ")
        if not _is_words(text):
            raise SpecError(f"{line!r} is no sentence, which ends in a full stop")
        spec.reads.append(ExpectedSentence(number, text, todo=text != line))
    elif not spec.reads:
        raise SpecError("what a sentence reads as stands under the sentence")
    else:
        spec.reads[-1].says.append(_reading(line, number))


def _reading(line: str, number: int) -> ExpectedReading:
    match = _READING.fullmatch(line)
    said = _split(match["said"]) if match is not None else []
    stances = (*get_args(Stance), *_OF_ONE)
    for group, known in (("stance", stances), ("reason", get_args(Unexpressible))):
        given = match[group] if match is not None else None
        if given and given not in known:
            raise SpecError(f"{given!r} is none of {', '.join(known)}")
    if match is not None and match["reason"] and not said:
        return ExpectedReading(number, match["reason"], False, (), "", match["words"])
    of_one = _OF_ONE.get(match["stance"] or "") if match is not None else None
    if match is not None and of_one == len(said):
        thing, scale, *count = said
        mentioned = (_mentioned(thing),)
        told = match["stance"], False, mentioned, scale, match["words"], "".join(count)
        return ExpectedReading(number, *told)
    if match is None or match["reason"] or of_one or len(said) < 3:
        raise SpecError(
            f'{line!r} is no reading: write SUBJECT RELATION OBJECT "WORDS", before it the '
            'stance and a colon where it is not asserted, or unexpressed REASON: "WORDS"'
        )
    subject, relation, *objects = said
    things = tuple(_mentioned(name) for name in (subject, *objects))
    stance = match["stance"] or "asserted"
    amount = match["amount"] or ""
    return ExpectedReading(
        number, stance, bool(match["denied"]), things, relation, match["words"], amount
    )


def _mentioned(text: str) -> Mentioned:
    name, _, words = text.partition("=")
    return Mentioned(name, words or name)


def _pair(line: str, number: int) -> ExpectedPair:
    match = _PAIR.fullmatch(line)
    things = _split(match["pair"]) if match is not None else []
    if match is None or len(things) != 2:
        raise SpecError(
            f"{line!r} is no pair: write `possible SUBJECT OBJECT: RELATIONS` or "
            "`certain SUBJECT OBJECT: RELATIONS`"
        )
    relations = tuple(match["relations"].split())
    return ExpectedPair(
        number, match["mode"], (things[0], things[1]), relations, bool(match["todo"])
    )


def listed(text: str) -> list[str]:
    """Return the items of a list that is separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]
