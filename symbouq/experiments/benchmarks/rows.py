"""Converts the rows of a release to questions, according to the declared layouts.

If a row fits no layout, the error states which fields were expected and which were found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from symbouq.auditing.answers import Kind, labels_named, space_of
from symbouq.errors import RecordError, internal
from symbouq.experiments.benchmarks.catalog import BENCHMARKS, LAYOUTS, Benchmark, Layout
from symbouq.experiments.benchmarks.files import hub_rows, rows_of, split_named, suffix, text_of
from symbouq.experiments.benchmarks.items import Item, Scene

Row = dict[str, Any]
Found = Item | RecordError


class _Origin(NamedTuple):
    """Origin of a row. `split` is set if the file name contains the name of a split."""

    benchmark: Benchmark
    file: str
    line: int
    key: str
    split: str | None

    @property
    def stem(self) -> str:
        """Prefix for the ids of the questions in this row."""
        stem = Path(self.file).name.split(".")[0]
        return stem if stem.startswith(self.benchmark.name) else f"{self.benchmark.name}-{stem}"

    def fault(self, message: str) -> RecordError:
        """Make an error that points to this row."""
        return RecordError(message, self.file, self.line)


def read_file(path: Path, benchmark: Benchmark) -> Iterator[Found]:
    """Yield the questions in a file (possibly compressed) in order, and an error for each part that
    cannot be read.
    """
    text, fault = text_of(path)
    try:
        yield from _read(text, path, benchmark)
    except Exception as error:
        # A bug in this package must not stop the other files. Report it like any other error.
        yield RecordError(internal(error), str(path), 1)
    if fault is not None:
        yield RecordError(fault, str(path), text.count("\n") + 1)


def read_hub(name: str, benchmark: Benchmark) -> Iterator[Found]:
    """Yield the questions of a Hugging Face dataset (`hub_rows`).

    Raises:
        BenchmarkError: If the `datasets` library is missing or the dataset cannot be loaded.
    """
    for split, (row, line, key) in hub_rows(name):
        yield from _items(row, _Origin(benchmark, f"{name}/{split}", line, key, split_named(split)))


def unrepeated(found: Iterable[Found]) -> tuple[list[Item], list[RecordError]]:
    """Separate questions from errors. A repeated id is an error."""
    items: dict[str, Item] = {}
    failed: list[RecordError] = []
    for one in found:
        if isinstance(one, RecordError):
            failed.append(one)
        elif (first := items.setdefault(one.id, one)) is not one:
            message = f"id {one.id!r} occurs before, at {first.file}:{first.line}"
            failed.append(RecordError(message, one.file, one.line))
    return list(items.values()), failed


def _read(text: str, path: Path, benchmark: Benchmark) -> Iterator[Found]:
    split = split_named(path.name.split(".")[0])
    if suffix(path) == ".txt":
        if "babi" in benchmark.layouts:
            yield from _babi(text, _Origin(benchmark, str(path), 1, "", split))
        else:
            yield RecordError(_unexpected(benchmark, "a text file"), str(path), 1)
        return
    for placed in rows_of(text, path, lambda row: _layout(row) is not None):
        if isinstance(placed, RecordError):
            yield placed
        else:
            yield from _items(
                placed.row, _Origin(benchmark, str(path), placed.line, placed.key, split)
            )


def _layout(row: Mapping[str, Any]) -> str | None:
    """Return the first layout for which a row has all fields, or None."""
    for layout_name, layout in LAYOUTS.items():
        asked = [(layout.questions,)] if layout.questions else [layout.question, layout.answer]
        if all(any(name in row for name in names) for names in (layout.scene, *asked)):
            return layout_name
    return None


def _unexpected(benchmark: Benchmark, found: str) -> str:
    expected = "; or ".join(LAYOUTS[name].expected for name in benchmark.layouts)
    return f"no layout of {benchmark.name}: expected {expected}; found {found}"


def _items(row: Any, origin: _Origin) -> Iterator[Found]:
    if not isinstance(row, dict):
        yield origin.fault(_unexpected(origin.benchmark, f"a {type(row).__name__}"))
        return
    name = _layout(row)
    if name is None or name not in origin.benchmark.layouts:
        found = ", ".join(list(row)[:12]) or "no field"
        yield origin.fault(_unexpected(origin.benchmark, found))
        return
    layout = LAYOUTS[name]
    try:
        if not layout.questions:
            yield _record(row, origin) if name == "records" else _item(row, row, layout, origin)
            return
        _scene(row, layout)  # read again for each question, but its errors are reported once
        if not isinstance(row[layout.questions], list):
            raise RecordError(f"`{layout.questions}` is no list")
    except RecordError as error:
        yield origin.fault(error.message)
        return
    for number, question in enumerate(row[layout.questions]):
        if not isinstance(question, dict):
            yield origin.fault(f"question {number} is no object")
            continue
        try:
            yield _item(row, question, layout, origin, number)
        except RecordError as error:
            name = question.get(layout.question_id, number)
            yield origin.fault(f"question {name}: {error.message}")


def _item(
    row: Row, fields: Row, layout: Layout, origin: _Origin, number: int | None = None
) -> Item:
    """Read a question according to the given layout.

    `fields` are the question's own fields, or the fields of the row. If a row contains several
    questions, `number` is the position of this one.
    """
    for names in (layout.question, layout.answer):
        if not any(name in fields for name in names):
            found = ", ".join(fields) or "no field"
            raise RecordError(f"expected question and answer; found {found}")
    benchmark = origin.benchmark
    choices = fields.get(layout.choices)
    choices = list(choices) if _is_texts(choices) and choices else None
    qtype = ""
    if layout.qtype:
        qtype, labels = _typed(str(fields.get(layout.qtype, "")).upper(), choices, benchmark)
    else:
        labels = choices or list(benchmark.spaces[layout.space])
    space = space_of(labels)
    answer = _value(fields, layout.answer)
    if layout.coded and (not isinstance(answer, str) or answer.strip().isdigit()):
        raise RecordError(
            f"`{layout.answer[0]}` is a word ({', '.join(labels)}); found {answer!r}, whose "
            "meaning the layout does not say"
        )
    if layout.listed:
        answer = [_chosen(a, choices) for a in (answer if isinstance(answer, list) else [answer])]
    if qtype == "CO" and len(answer) > 1:
        raise RecordError(f"a CO question has one answer; found {_value(fields, layout.answer)!r}")
    named, asked = _value(row, layout.story_id), fields.get(layout.question_id, number)
    if layout.paired and None in (named, asked):
        named = asked = None
    grouped = named is not None or number is not None
    story = f"{origin.stem}-{origin.key if named is None else named}"
    own = row.get(layout.id)
    left_out = {
        *(*layout.scene, *layout.question, *layout.answer, layout.choices, layout.qtype),
        *layout.left_out,
    }
    return Item(
        id=str(own) if own not in (None, "") else story if asked is None else f"{story}-{asked}",
        dataset=benchmark.name + _part(row, labels, layout, origin),
        scene=_scene(row, layout),
        question=_text(fields, layout.question),
        answer=_in_space(answer, labels, space.name),
        labels=labels,
        kind="single" if qtype == "CO" else space.kind,
        meta={
            **({"qtype": qtype} if layout.qtype else {}),
            **({k: v for k, v in fields.items() if k not in left_out} if layout.rest else {}),
            **_hops(fields, layout, origin),
        },
        split=origin.split,
        story=story if grouped else None,
        file=origin.file,
        line=origin.line,
    )


def _part(row: Row, labels: Sequence[str], layout: Layout, origin: _Origin) -> str:
    if not layout.part:
        return ""
    named = re.search(layout.part, f"{origin.file} {row.get(layout.part_of, '')}")
    first = set(labels) == set(origin.benchmark.spaces[layout.space])
    number = named.group(1) if named else "1" if first else ""
    return f"_{layout.part_names}{number}" if number else ""


def _record(row: Row, origin: _Origin) -> Item:
    known = {"id", "dataset", "scene", "question", "answer", "answer_space", "meta"}
    benchmark, layout = origin.benchmark, LAYOUTS["records"]
    labels = row.get(layout.choices)
    if not _is_texts(labels) or not labels:
        if len(benchmark.spaces) > 1:
            raise RecordError(
                f"no `answer_space`, and {benchmark.name} has several "
                f"({', '.join(benchmark.spaces)}); found {', '.join(row)}"
            )
        (labels,) = benchmark.spaces.values()
    meta = dict(row["meta"]) if isinstance(row.get("meta"), dict) else {}
    kind = meta.pop("answer_kind", None)
    meta.pop("pair", None)
    space = space_of(labels)
    named = meta.get("split")
    return Item(
        id=_text(row, ("id",)) if "id" in row else f"{origin.stem}-{origin.key}",
        dataset=row["dataset"] if isinstance(row.get("dataset"), str) else benchmark.name,
        scene=_scene(row, layout),
        question=_text(row, layout.question, empty=True),
        answer=_in_space(row["answer"], list(labels), space.name),
        labels=list(labels),
        kind=kind if kind in get_args(Kind) else space.kind,
        meta=meta,
        split=split_named(named) if isinstance(named, str) else origin.split,
        extra={k: v for k, v in row.items() if k not in known},
        file=origin.file,
        line=origin.line,
    )


def _typed(qtype: str, choices: list[str] | None, benchmark: Benchmark) -> tuple[str, list[str]]:
    relations = benchmark.spaces.get("FR", BENCHMARKS["spartun"].spaces["FR"])
    if not qtype and choices is not None:
        name = space_of(choices).name
        qtype = {"relations": "FR", "yes-no": "YN", "blocks": "FB"}.get(name, "CO")
        return qtype, list(relations) if qtype == "FR" else choices
    labels = {"FR": relations, "YN": benchmark.spaces["YN"], "": benchmark.spaces["YN"]}.get(
        qtype, choices
    )
    if labels is None:
        raise RecordError(f"a {qtype} question needs `candidate_answers`")
    return qtype, list(labels)


_BABI_LINE = re.compile(r"\s*(\d{1,9})\s+(.*\S)\s*$", re.ASCII)


def _babi(text: str, origin: _Origin) -> Iterator[Found]:
    """Yield questions from bAbI's numbered lines. Each comes with the sentences before it; line 1
    starts a new story.
    """
    benchmark = origin.benchmark
    task = _task(origin.file)
    story = asked = 0
    sentences: dict[int, str] = {}
    for place, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        here = origin._replace(line=place)
        match = _BABI_LINE.match(line)
        if match is None:
            yield here.fault(
                f"expected a number and a sentence (bAbI's text layout); found {line[:60]!r}"
            )
            continue
        index, said = int(match.group(1)), match.group(2)
        if index == 1:
            story, asked, sentences = story + 1, 0, {}
        if "\t" not in said:
            sentences[index] = said.strip()
            continue
        question, answer, *more = (cell.strip() for cell in said.split("\t"))
        try:
            if not sentences:
                raise RecordError("a question without a sentence before it")
            part, labels, right = _babi_answer(benchmark, answer)
        except RecordError as error:
            yield here.fault(error.message)
            continue
        order = list(sentences)
        support = [int(n) for n in (more[0].split() if more else ()) if _is_number(n)]
        hops = {"hops": int(task)} if task and benchmark.name == "stepgame" else {}
        if benchmark.name == "babi":
            part = task if task and part == "19" else part
        yield Item(
            id=f"{benchmark.name}-{Path(origin.file).name.split('.')[0]}-{story}-{asked}",
            dataset=f"{benchmark.name}{part}" if benchmark.name == "babi" else benchmark.name,
            scene=list(sentences.values()),
            question=question,
            answer=right,
            labels=labels,
            kind=space_of(labels).kind,
            meta={
                "supporting_sentences": [order.index(n) for n in support if n in sentences],
                **hops,
            },
            split=origin.split,
            story=f"{origin.file}#{story}",
            file=origin.file,
            line=place,
        )
        asked += 1


def _babi_answer(benchmark: Benchmark, text: str) -> tuple[str, list[str], str | list[str]]:
    """Return the name of the answer space, its labels, and the answer expressed with these
    labels.
    """
    if len(benchmark.spaces) == 1:
        ((name, labels),) = benchmark.spaces.items()
        return name, list(labels), _in_space(text, list(labels), "")
    parts = [part.strip() for part in text.casefold().split(",")]
    for name, labels in benchmark.spaces.items():
        if set(parts) <= set(labels):
            moves = space_of(labels).kind == "sequence"
            if moves or len(parts) == 1:
                return name, list(labels), parts if moves else parts[0]
    raise RecordError(f"expected yes, no or moves (n, s, e, w; tasks 17 and 19); found {text!r}")


# Fields --------------------------------------------------------------------------------


def _value(row: Row, names: Sequence[str]) -> Any:
    """Return the value of the first of the given fields that the row has, or None."""
    return next((row[name] for name in names if name in row), None)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,9}", text) is not None


def _is_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(v, str) for v in value)


def _task(file: str) -> str:
    """Return the task number in a file name, such as 3 for `qa3_train.json`."""
    task = re.search(r"qa(\d+)", Path(file).name)
    return task.group(1) if task else ""


def _hops(fields: Row, layout: Layout, origin: _Origin) -> dict[str, Any]:
    hops = _value(fields, layout.hops)
    if hops is None and layout.task_hops:
        hops = _task(origin.file) or None
    if hops is None:
        return {}
    return {"hops": int(hops) if isinstance(hops, str) and _is_number(hops) else hops}


def _text(row: Row, names: Sequence[str], empty: bool = False) -> str:
    value = _value(row, names)
    if not isinstance(value, str) or not (value.strip() or empty):
        raise RecordError(f"`{names[0]}` is a text; found {value!r}")
    return value.strip()


_INNER_END = re.compile(r"[.!?]\s+[A-Z]")


def _scene(row: Row, layout: Layout) -> Scene:
    """Read the scene. Return a list if each item is one sentence, otherwise a single text."""
    value = _value(row, layout.scene)
    if not isinstance(value, str) and not _is_texts(value):
        raise RecordError(f"a scene is a text or a list of texts; found {type(value).__name__}")
    parts = [" ".join(part.split()) for part in ([value] if isinstance(value, str) else value)]
    parts = [part for part in parts if part]
    if not parts:
        raise RecordError("the scene is empty")
    if len(parts) > 1 or not _INNER_END.search(parts[0]):
        return parts
    sentences = re.split(r"(?<=\.)\s+", parts[0])
    return sentences if len(sentences) == row.get(layout.sentences) else parts[0]


def _chosen(answer: Any, choices: list[str] | None) -> Any:
    """If an answer is a position in the list of choices, replace it by that choice."""
    if isinstance(answer, bool) or not isinstance(answer, int):
        return answer
    if choices is None or not 0 <= answer < len(choices):
        raise RecordError(f"answer {answer} is no position in `candidate_answers` {choices}")
    return choices[answer]


def _in_space(answer: Any, labels: list[str], space: str) -> Any:
    """Spell an answer as in the given answer space. If the release's answer is a list, so is the
    result.
    """
    many = isinstance(answer, list | tuple)
    found: list[str] = []
    for one in answer if many else [answer]:
        named = labels_named(one, labels) if isinstance(one, str) else ()
        if len(named) != 1:
            raise RecordError(f"answer {one!r} is no label of its space: {', '.join(labels)}")
        if named[0] not in found or space == "moves":
            found.append(named[0])
    if many and not found and space != "blocks":
        raise RecordError("the answer is empty")
    return found if many else found[0]
