"""The layouts that benchmarks are released in, and how their rows are read.

How sure each is:

- `records`: the layout of this project, which it also writes. Certain.
- `stepgame`: `{id: {story, question, label, k_hop}}`, a list of such rows, or one a line.
  Seen in the release (2024). Split and hops from names such as `qa3_train.json`.
- `babi`: numbered lines; a question, its answer and the supporting lines, separated by tabs;
  a line numbered 1 starts a story. Seen (bAbI; StepGame's `babi_format`).
- `stories`: SpartQA, SpaRTUN, ReSQ: `{"data": [{"story": [...], "questions": [{"q_id",
  "q_type", "question", "answer", "candidate_answers"}]}]}`. The fields are those that the
  authors' own readers use; that an integer answer is a position in `candidate_answers`, from
  0, is taken from how copies of the data are used. ReSQ's release was not seen.
- `questions`: the same, one question a row (copies on the Hugging Face hub).
- `nli`: the generator's `{"data": [{"id", "premises", "hypothesis", "label"}]}`, or rows
  with `premise`/`premises`, `hypothesis` and `label`, as JSON, JSON Lines, CSV or TSV. The
  JSON form is that of the generator's source; CSV and the number codes (0 entailment, 1
  neutral, 2 contradiction) are a convention of other data, so a code is refused.
- `sparp`: rows with `context`, `question`, `targets`, `target_choices`, as the dataset card
  has them. Rows themselves were not seen.

A row of another shape is an error that says what was expected and what was found.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from symbouq.auditing.matching import space_of
from symbouq.errors import RecordError, internal
from symbouq.experiments.benchmarks.catalog import (
    ENTAILMENT,
    NINE,
    SPARP,
    SPARTQA,
    SPARTUN,
    Benchmark,
)
from symbouq.experiments.benchmarks.items import BenchmarkError, Item, Scene
from symbouq.io.adapters import limits
from symbouq.io.adapters.base import opened
from symbouq.io.adapters.tables import spelled

EXTRA = "formats"
"""The extra that brings the `datasets` library."""

SPLITS = ("train", "validation", "test")

Row = dict[str, Any]
Found = Item | RecordError

EXPECTED = {
    "records": "id, dataset, scene, question, answer and answer_space",
    "stepgame": "story, question and label",
    "babi": "numbered lines of text (.txt)",
    "stories": "story and questions (each with question, answer, q_type, candidate_answers)",
    "questions": "story, question and answer",
    "nli": "premise (or premises), hypothesis and label",
    "sparp": "context, question and targets",
}
_FIELDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "records": (("scene",), ("question",), ("answer",)),
    "stories": (("story",), ("questions",)),
    "stepgame": (("story",), ("question",), ("label",)),
    "questions": (("story",), ("question",), ("answer",)),
    "sparp": (("context",), ("question",), ("targets",)),
    "nli": (("premise", "premises"), ("hypothesis",), ("label", "gold_label")),
}
_TABLES = (".csv", ".tsv")
_ENDINGS = (".json", ".jsonl", ".txt", *_TABLES)


class Placed(NamedTuple):
    """A row of a file with where it stands.

    Attributes:
        row: The row.
        line: Its line, from 1.
        key: Its name, where the file is an object of rows.
    """

    row: Any
    line: int
    key: str


class _Origin(NamedTuple):
    """Where a row comes from."""

    benchmark: Benchmark
    file: str
    line: int
    key: str
    split: str | None


# Files ---------------------------------------------------------------------------------


def files_of(path: Path) -> tuple[list[Path], list[Path]]:
    """The files that are read, and those of a folder that are not.

    Args:
        path: A file, which is read in any case, or a folder, of which traces
            (`llm_traces_*`), annotations and other formats are left out.

    Raises:
        BenchmarkError: If there is nothing to read.
    """
    if path.is_file():
        return [path], []
    every = sorted(p for p in path.rglob("*") if p.is_file())
    read = [p for p in every if _suffix(p) in _ENDINGS and not _is_other(p)]
    if not read:
        endings = ", ".join(_ENDINGS)
        raise BenchmarkError(
            f"no file of a benchmark in it (expected {endings}, also with .gz; found "
            f"{', '.join(p.name for p in every[:5]) or 'nothing'})",
            str(path),
        )
    return read, [p for p in every if p not in read]


def _is_other(path: Path) -> bool:
    name = path.name.casefold()
    return bool(
        re.match(
            r"(llm_traces_|label_audit|relation_phrasings|gold_tables|manifest|readme|word2id"
            r"|annotation|sprl|licen[cs]e|config)",
            name,
        )
        or re.search(r"_annotation|_sprl|problem_patterns", name)
    )


def _suffix(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return Path(name).suffix.casefold()


def split_named(name: str) -> str | None:
    """The split that a file, or a field, is named after."""
    words = re.findall(r"[a-z]+", name.casefold())
    for split, names in (
        ("train", {"train", "training"}),
        ("validation", {"valid", "validation", "val", "dev"}),
        ("test", {"test"}),
    ):
        if names & set(words):
            return split
    return None


def read_file(path: Path, benchmark: Benchmark) -> Iterator[Found]:
    """The questions of one file, in order, and what of it cannot be read.

    Args:
        path: The file; gzip is read transparently.
        benchmark: Which benchmark it is of.
    """
    file = str(path)
    text, fault = _text_of(path)
    try:
        yield from _read(text, path, benchmark)
    except Exception as error:
        # A fault of ours must not cost the other files; it is reported like any other.
        yield RecordError(internal(error), file, 1)
    if fault is not None:
        yield RecordError(fault, file, text.count("\n") + 1)


def _text_of(path: Path) -> tuple[str, str | None]:
    """The text of a file, as far as it can be read, and why no further.

    Bytes that are no UTF-8 stay as halves of characters, with which their own row fails.
    """
    pieces: list[bytes] = []
    fault = None
    try:
        with opened(str(path.absolute())) as given:
            size = 0
            for piece in given.chunks():
                size += len(piece)
                limits.check_ends(size)  # a release is read as a whole
                pieces.append(piece)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        fault = f"compressed file is damaged: {error}; what stands before is read"
    except OSError as error:
        fault = f"cannot be read: {error.strerror or error}"
    except RecordError as error:
        fault = error.message
    text = b"".join(pieces).decode("utf-8", "surrogateescape")
    # The last line is cut, unless it is all there is.
    return (text[: text.rfind("\n") + 1] or text) if fault else text, fault


def _read(text: str, path: Path, benchmark: Benchmark) -> Iterator[Found]:
    """The questions of a file's text."""
    file = str(path)
    if _suffix(path) == ".txt":
        if "babi" not in benchmark.layouts:
            yield RecordError(_unexpected(benchmark, "a text file"), file, 1)
            return
        yield from _babi(text, benchmark, file)
        return
    split = split_named(path.name.split(".")[0])
    placed = (
        _table(text, file, path)
        if _suffix(path) in _TABLES
        else _rows(text, file, _suffix(path) == ".jsonl")
    )
    for found in placed:
        if isinstance(found, RecordError):
            yield found
            continue
        yield from _items(found.row, _Origin(benchmark, file, found.line, found.key, split))


def read_hub(name: str, benchmark: Benchmark) -> Iterator[Found]:
    """The questions of a dataset on the Hugging Face hub.

    Args:
        name: `owner/name`, or `owner/name:configuration`, with or without `hf:` before it.
        benchmark: Which benchmark it is of.

    Raises:
        BenchmarkError: If the `datasets` library is missing or the dataset cannot be loaded.
    """
    try:
        import datasets  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError as error:
        raise BenchmarkError(
            f"{name} is no file or folder here; to load it from the Hugging Face hub, install the "
            f"`datasets` library: pip install 'symbouq[{EXTRA}]'"
        ) from error
    dataset, _, configuration = name.removeprefix("hf:").partition(":")
    try:
        loaded = datasets.load_dataset(dataset, configuration or None)
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise BenchmarkError(
            f"the Hugging Face dataset {dataset} cannot be loaded: {reason}"
        ) from error
    for split, rows in loaded.items():
        place = f"{name}/{split}"
        for number, row in enumerate(rows, start=1):
            origin = _Origin(benchmark, place, number, str(number), split_named(str(split)))
            yield from _items(dict(row), origin)


def _rows(text: str, file: str, by_line: bool) -> Iterator[Placed | RecordError]:
    """The rows of a JSON document, or of JSON Lines."""
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    try:
        whole_line = isinstance(json.loads(first), dict) and len(lines) > 1
    except (ValueError, RecursionError):
        whole_line = False
    if by_line or whole_line or (len(lines) <= 1 and _is_row(first)):
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield Placed(json.loads(line), number, str(number))
            except (ValueError, RecursionError) as error:
                yield RecordError(f"not valid JSON: {error}", file, number)
        return
    line_of = 1
    try:
        for placed in _document(text):
            line_of = placed.line
            yield placed
    except json.JSONDecodeError as error:
        yield RecordError(
            f"not valid JSON: {error.msg}; what stands before it was read", file, error.lineno
        )
    except (ValueError, RecursionError) as error:
        message = f"not readable JSON: {error}; what stands before it was read"
        yield RecordError(message, file, line_of)


def _is_row(line: str) -> bool:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and _layout(value) is not None


_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"\s*")


def _skip(text: str, place: int) -> int:
    match = _BLANK.match(text, place)
    assert match is not None  # it matches the empty text too
    return match.end()


def _document(text: str) -> Iterator[Placed]:
    """The rows of a list, of an object of rows, or of the list that `data` is.

    One row at a time, so that a document that breaks off gives what it has.
    """
    line, counted = 1, 0

    def at(place: int) -> int:
        nonlocal line, counted
        line += text.count("\n", counted, place)
        counted = place
        return line

    place = _skip(text, 0)
    if text[place : place + 1] == "[":
        yield from _array(text, place, at)
        return
    if text[place : place + 1] != "{":
        raise json.JSONDecodeError("an object or a list is expected", text, place)
    place = _skip(text, place + 1)
    while text[place : place + 1] != "}":
        key, place = _DECODER.raw_decode(text, place)
        place = _skip(text, place)
        if text[place : place + 1] != ":":
            raise json.JSONDecodeError("':' is expected", text, place)
        place = _skip(text, place + 1)
        if key == "data" and text[place : place + 1] == "[":
            yield from _array(text, place, at)
            return
        start = at(place)
        value, place = _DECODER.raw_decode(text, place)
        if isinstance(value, dict):
            yield Placed(value, start, str(key))
        place = _next(text, place, "}")


def _array(text: str, place: int, at: Callable[[int], int]) -> Iterator[Placed]:
    place = _skip(text, place + 1)
    number = 0
    while text[place : place + 1] != "]":
        start = at(place)
        value, place = _DECODER.raw_decode(text, place)
        yield Placed(value, start, str(number))
        number += 1
        place = _next(text, place, "]")


def _next(text: str, place: int, end: str) -> int:
    place = _skip(text, place)
    if text[place : place + 1] == ",":
        return _skip(text, place + 1)
    if text[place : place + 1] != end:
        raise json.JSONDecodeError(f"',' or '{end}' is expected", text, place)
    return place


def _table(text: str, file: str, path: Path) -> Iterator[Placed | RecordError]:
    reader = csv.DictReader(
        io.StringIO(text, newline=""), delimiter="\t" if _suffix(path) == ".tsv" else ","
    )
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            yield RecordError(f"not a valid table: {error}", file, reader.line_num)
            continue
        if row is None:
            return
        cells: Row = {spelled(str(k)): v for k, v in row.items() if k is not None}
        if None in row or None in row.values():
            message = f"the row does not have the header's {len(reader.fieldnames or ())} columns"
            yield RecordError(message, file, reader.line_num)
            continue
        yield Placed(cells, reader.line_num, str(reader.line_num))


# Rows ----------------------------------------------------------------------------------


def _layout(row: Mapping[str, Any]) -> str | None:
    """The layout whose fields a row has."""
    for layout, fields in _FIELDS.items():
        if all(any(name in row for name in names) for names in fields):
            return layout
    return None


def _unexpected(benchmark: Benchmark, found: str) -> str:
    expected = "; or ".join(EXPECTED[layout] for layout in benchmark.layouts)
    return f"no layout of {benchmark.name}: expected {expected}; found {found}"


def _items(row: Any, origin: _Origin) -> Iterator[Found]:
    """The questions of one row."""
    if not isinstance(row, dict):
        message = _unexpected(origin.benchmark, f"a {type(row).__name__}")
        yield RecordError(message, origin.file, origin.line)
        return
    layout = _layout(row)
    if layout is None or layout not in origin.benchmark.layouts:
        found = ", ".join(list(row)[:12]) or "no field"
        yield RecordError(_unexpected(origin.benchmark, found), origin.file, origin.line)
        return
    if layout == "stories":
        yield from _story(row, origin)
        return
    try:
        yield _READERS[layout](row, origin)
    except RecordError as error:
        yield RecordError(error.message, origin.file, origin.line)


def _records(row: Row, origin: _Origin) -> Item:
    known = {"id", "dataset", "scene", "question", "answer", "answer_space", "meta"}
    labels = row.get("answer_space")
    if not _is_texts(labels) or not labels:
        labels = _usual_labels(origin.benchmark, row)
    meta = row.get("meta")
    meta = dict(meta) if isinstance(meta, dict) else {}
    split = origin.split
    if isinstance(meta.get("split"), str):
        split = split_named(meta["split"])
    kind = meta.pop("answer_kind", None)
    meta.pop("pair", None)
    answer = row["answer"]
    space = space_of(labels)
    if kind not in ("single", "set", "sequence"):
        kind = space.kind
    return Item(
        id=_text(row, "id") if "id" in row else f"{_stem(origin)}-{origin.key}",
        dataset=row["dataset"] if isinstance(row.get("dataset"), str) else origin.benchmark.name,
        scene=_scene(row["scene"]),
        question=_text(row, "question", empty=True),
        answer=_in_space(answer, list(labels), space.name),
        labels=list(labels),
        kind=kind,
        meta=meta,
        split=split,
        extra={k: v for k, v in row.items() if k not in known},
        file=origin.file,
        line=origin.line,
    )


def _usual_labels(benchmark: Benchmark, row: Row) -> list[str]:
    """The labels of a record that does not bring them."""
    if len(benchmark.spaces) == 1:
        return list(next(iter(benchmark.spaces.values())))
    raise RecordError(
        f"no `answer_space`, and {benchmark.name} has several "
        f"({', '.join(benchmark.spaces)}); found {', '.join(row)}"
    )


def _stepgame(row: Row, origin: _Origin) -> Item:
    hops: Any = row.get("k_hop", row.get("hops"))
    if hops is None and (named := re.search(r"qa(\d+)", Path(origin.file).name)):
        hops = named.group(1)
    return Item(
        id=f"{_stem(origin)}-{origin.key}",
        dataset="stepgame",
        scene=_scene(row["story"]),
        question=_text(row, "question"),
        answer=_in_space(row["label"], list(NINE), "directions"),
        labels=list(NINE),
        kind="single",
        meta=_without_none({"hops": int(hops) if _is_number(str(hops)) else hops}),
        split=origin.split,
        file=origin.file,
        line=origin.line,
    )


def _story(row: Row, origin: _Origin) -> Iterator[Found]:
    try:
        scene = _scene(row["story"])
    except RecordError as error:
        yield RecordError(error.message, origin.file, origin.line)
        return
    questions = row["questions"]
    if not isinstance(questions, list):
        yield RecordError("`questions` is no list", origin.file, origin.line)
        return
    story = f"{_stem(origin)}-{row.get('identifier', row.get('story_id', origin.key))}"
    for number, question in enumerate(questions):
        if not isinstance(question, dict):
            message = f"question {number} is no object"
            yield RecordError(message, origin.file, origin.line)
            continue
        try:
            yield _asked(question, scene, story, number, origin)
        except RecordError as error:
            message = f"question {question.get('q_id', number)}: {error.message}"
            yield RecordError(message, origin.file, origin.line)


def _asked(question: Row, scene: Scene, story: str, number: int, origin: _Origin) -> Item:
    """One question of SpartQA, SpaRTUN or ReSQ."""
    if "question" not in question or "answer" not in question:
        found = ", ".join(question) or "no field"
        raise RecordError(f"expected question and answer; found {found}")
    benchmark = origin.benchmark
    kind = str(question.get("q_type", "")).upper()
    candidates = question.get("candidate_answers")
    given = list(candidates) if _is_texts(candidates) and candidates else None
    labels = given
    if kind == "FR":
        labels = list(SPARTQA if benchmark.name == "spartqa" else SPARTUN)
    elif kind == "YN" or (given is None and not kind):
        unsure = benchmark.name == "spartqa"
        labels = ["Yes", "No", "DK"] if unsure else ["Yes", "No"]
    elif given is None:
        raise RecordError(f"a {kind or 'nameless'} question needs `candidate_answers`")
    if given is not None and not kind:
        kind = {"relations": "FR", "yes-no": "YN", "blocks": "FB"}.get(space_of(given).name, "CO")
        labels = (
            list(SPARTQA if benchmark.name == "spartqa" else SPARTUN) if kind == "FR" else given
        )
    assert labels is not None  # one of the cases above
    answer = question["answer"]
    answers = answer if isinstance(answer, list) else [answer]
    chosen = [_indexed(a, given) for a in answers]
    if kind == "CO" and len(chosen) > 1:
        raise RecordError(f"a CO question has one answer; found {answer!r}")
    space = space_of(labels)
    meta = {
        k: v
        for k, v in question.items()
        if k not in ("question", "answer", "candidate_answers", "q_id", "q_type")
    }
    return Item(
        id=f"{story}-{question.get('q_id', number)}",
        dataset=benchmark.name,
        scene=scene,
        question=_text(question, "question"),
        answer=_in_space(chosen, labels, space.name),
        labels=labels,
        kind=space.kind if kind != "CO" else "single",
        meta={"qtype": kind, **meta},
        split=origin.split,
        story=story,
        file=origin.file,
        line=origin.line,
    )


def _questions(row: Row, origin: _Origin) -> Item:
    story = f"{_stem(origin)}-{row['story_id']}" if row.get("story_id") is not None else None
    name = story or f"{_stem(origin)}-{origin.key}"
    fields = {k: v for k, v in row.items() if k not in ("story", "story_id", "id")}
    item = _asked(fields, _scene(row["story"]), name, 0, origin)
    item.id = f"{name}-{row['q_id']}" if row.get("q_id") is not None else name
    item.story = story
    return item


def _indexed(answer: Any, candidates: list[str] | None) -> Any:
    """An answer that is a position among the candidates, as the candidate."""
    if isinstance(answer, bool) or not isinstance(answer, int):
        return answer
    if candidates is None or not 0 <= answer < len(candidates):
        raise RecordError(f"answer {answer} is no position in `candidate_answers` {candidates}")
    return candidates[answer]


def _nli(row: Row, origin: _Origin) -> Item:
    premises = row.get("premises", row.get("premise"))
    label = row.get("label", row.get("gold_label"))
    if not isinstance(label, str) or label.strip().isdigit():
        raise RecordError(
            f"`label` is a word (entailment, neutral, contradiction); found {label!r}, whose "
            "meaning the layout does not say"
        )
    known = ("premises", "premise", "hypothesis", "label", "gold_label", "id")
    count = row.get("prem_num")
    scene = _scene(premises)
    if isinstance(scene, str) and isinstance(count, int):
        parts = re.split(r"(?<=\.)\s+", scene)
        scene = parts if len(parts) == count else scene
    return Item(
        id=str(row["id"]) if row.get("id") not in (None, "") else f"{_stem(origin)}-{origin.key}",
        dataset="spacenli",
        scene=scene,
        question=_text(row, "hypothesis"),
        answer=_in_space(label, list(ENTAILMENT), "entailment"),
        labels=list(ENTAILMENT),
        kind="single",
        meta={k: v for k, v in row.items() if k not in known},
        split=origin.split,
        file=origin.file,
        line=origin.line,
    )


def _sparp(row: Row, origin: _Origin) -> Item:
    choices = row.get("target_choices")
    labels = list(choices) if _is_texts(choices) and choices else list(SPARP)
    part = re.search(r"PS\s?([1-4])\b", f"{origin.file} {row.get('source_data', '')}")
    number = part.group(1) if part else "1" if set(labels) == set(SPARP) else ""
    ids = [str(row[k]) for k in ("context_id", "question_id") if row.get(k) is not None]
    targets = row["targets"] if isinstance(row["targets"], list) else [row["targets"]]
    known = ("context", "question", "targets", "target_choices", "target_scores", "canary")
    space = space_of(labels)
    return Item(
        id="-".join([_stem(origin), *(ids if len(ids) == 2 else [origin.key])]),
        dataset=f"sparp_ps{number}" if number else "sparp",
        scene=_scene(row["context"]),
        question=_text(row, "question"),
        answer=_in_space(targets, labels, "relations"),
        labels=labels,
        kind="set" if space.name == "relations" else space.kind,
        meta={
            **{k: v for k, v in row.items() if k not in known},
            **_without_none({"hops": row.get("num_hop")}),
        },
        split=origin.split,
        story=f"{origin.file}#{ids[0]}" if len(ids) == 2 else None,
        file=origin.file,
        line=origin.line,
    )


_READERS: dict[str, Callable[[Row, _Origin], Item]] = {
    "records": _records,
    "stepgame": _stepgame,
    "questions": _questions,
    "nli": _nli,
    "sparp": _sparp,
}

_LINE = re.compile(r"\s*(\d{1,9})\s+(.*\S)\s*$", re.ASCII)


def _babi(text: str, benchmark: Benchmark, file: str) -> Iterator[Found]:
    """Numbered lines; every question sees the sentences before it."""
    name = Path(file).name
    split = split_named(name.split(".")[0])
    task = re.search(r"qa(\d+)", name)
    number = task.group(1) if task else ""
    story, asked = 0, 0
    sentences: dict[int, str] = {}
    for place, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        match = _LINE.match(line)
        if match is None:
            message = f"expected a number and a sentence (bAbI's text layout); found {line[:60]!r}"
            yield RecordError(message, file, place)
            continue
        index, said = int(match.group(1)), match.group(2)
        if index == 1:
            story, asked, sentences = story + 1, 0, {}
        if "\t" not in said:
            sentences[index] = said.strip()
            continue
        cells = [cell.strip() for cell in said.split("\t")]
        try:
            if not sentences:
                raise RecordError("a question without a sentence before it")
            labels, answer = _babi_answer(benchmark, cells[1])
        except RecordError as error:
            yield RecordError(error.message, file, place)
            continue
        order = list(sentences)
        support = [int(n) for n in (cells[2].split() if len(cells) > 2 else ()) if _is_number(n)]
        stem = f"{benchmark.name}-{name.split('.')[0]}"
        dataset = benchmark.name if benchmark.name != "babi" else _babi_name(number, labels)
        yield Item(
            id=f"{stem}-{story}-{asked}",
            dataset=dataset,
            scene=list(sentences.values()),
            question=cells[0],
            answer=answer,
            labels=labels,
            kind=space_of(labels).kind,
            meta={
                "supporting_sentences": [order.index(n) for n in support if n in sentences],
                **({"hops": int(number)} if benchmark.name == "stepgame" and number else {}),
            },
            split=split,
            story=f"{file}#{story}",
            file=file,
            line=place,
        )
        asked += 1


def _babi_name(task: str, labels: list[str]) -> str:
    return "babi17" if "yes" in labels else f"babi{task or 19}"


def _babi_answer(benchmark: Benchmark, text: str) -> tuple[list[str], str | list[str]]:
    """The answer space and the answer of a question in bAbI's text layout."""
    if benchmark.name == "stepgame":
        return list(NINE), _in_space(text, list(NINE), "directions")
    if text.casefold() in ("yes", "no"):
        return ["yes", "no"], text.casefold()
    moves = [move.strip() for move in text.casefold().split(",")]
    if all(move in ("n", "s", "e", "w") for move in moves):
        return ["n", "s", "e", "w"], moves
    raise RecordError(f"expected yes, no or moves (n, s, e, w; tasks 17 and 19); found {text!r}")


# Fields --------------------------------------------------------------------------------


def _stem(origin: _Origin) -> str:
    stem = Path(origin.file).name.split(".")[0]
    return stem if stem.startswith(origin.benchmark.name) else f"{origin.benchmark.name}-{stem}"


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,9}", text) is not None


def _is_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(v, str) for v in value)


def _text(row: Row, name: str, empty: bool = False) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not (value.strip() or empty):
        raise RecordError(f"`{name}` is a text; found {value!r}")
    return value.strip()


_INNER_END = re.compile(r"[.!?]\s+[A-Z]")


def _scene(value: Any) -> Scene:
    """A list where each item is one sentence, and one text otherwise."""
    if isinstance(value, str):
        parts = [" ".join(value.split())]
    elif _is_texts(value):
        parts = [" ".join(str(part).split()) for part in value]
    else:
        raise RecordError(f"a scene is a text or a list of texts; found {type(value).__name__}")
    parts = [part for part in parts if part]
    if not parts:
        raise RecordError("the scene is empty")
    if isinstance(value, str) or (len(parts) == 1 and _INNER_END.search(parts[0])):
        return parts[0] if _INNER_END.search(parts[0]) else parts
    return parts


def _in_space(answer: Any, labels: list[str], space: str) -> Any:
    """An answer in the spelling of its space, a list where the release has a list.

    Raises:
        RecordError: If it is no label of the space.
    """
    spelled = {_key(label): label for label in labels}
    many = isinstance(answer, list | tuple)
    found: list[str] = []
    for one in answer if many else [answer]:
        key = _key(one) if isinstance(one, str) else None
        key = _ALIASES.get(key, key) if key is not None and key not in spelled else key
        if key not in spelled:
            raise RecordError(f"answer {one!r} is no label of its space: {', '.join(labels)}")
        if spelled[key] not in found or space == "moves":
            found.append(spelled[key])
    if many and not found and space != "blocks":
        raise RecordError("the answer is empty")
    return found if many else found[0]


_ALIASES = {
    "near": "near to",
    "far": "far from",
    "don't know": "dk",
    "do not know": "dk",
    "in front": "front",
    "overlapping": "overlap",
    "entails": "entailment",
}


def _key(label: str) -> str:
    return " ".join(re.sub(r"[-_\s]+", " ", label.casefold()).split())


def _without_none(fields: Row) -> Row:
    return {k: v for k, v in fields.items() if v is not None}


def rows_of(found: Iterable[Found]) -> tuple[list[Item], list[RecordError]]:
    """Items and failures apart; an id that occurs before is a failure."""
    items: list[Item] = []
    failed: list[RecordError] = []
    seen: dict[str, Item] = {}
    for one in found:
        if isinstance(one, RecordError):
            failed.append(one)
        elif one.id in seen:
            first = seen[one.id]
            message = f"id {one.id!r} occurs before, at {first.file}:{first.line}"
            failed.append(RecordError(message, one.file, one.line))
        else:
            seen[one.id] = one
            items.append(one)
    return items, failed
