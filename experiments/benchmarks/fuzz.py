"""Tests whether any content of a record can crash a command or make it hang.

    python experiments/benchmarks/fuzz.py [--records N] [--seed S] [--limit SECONDS] [--jobs N]

N records (default: 1,000) with generated scenes and reasoning, in every profile, are written in the
adapters' formats and then corrupted (bytes, JSON structure, types, signs, numbers, nesting, words
of the ontology in meaningless places, long texts). In total, N records are processed with `audit`,
`parse`, `answer`, `predict` and `data import`. Each record must be processed or rejected with a
one-line message. No record may cause an internal error or take longer than the limit (10 s). The
same seed gives the same records, regardless of the number of processes. Each fault is reported with
the number of its file, which can be made and read again with `--file`.

The script prints a Markdown table and the faults. The exit code is 1 if there are any faults.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import click

from symbouq.auditing.jobs import answering, auditing, parsing
from symbouq.errors import SymboUQError
from symbouq.experiments.benchmarks import BenchmarkError, import_benchmark
from symbouq.experiments.scenes.families import problems
from symbouq.io.adapters.inputs import ReadOptions, TraceFile
from symbouq.io.pool import Pool
from symbouq.io.stream import Job, Worker, read_lines
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.source import data_folder, lp_files
from symbouq.records import Instance, Trace

COMMANDS = ("audit", "parse", "answer", "predict", "data import")
FORMATS = ("symbouq", "lm-eval", "openai", "vllm", "inspect")
DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
RECORDS = 20
"""Number of records in a file."""
_FAMILIES = ("chains", "blocks", "regions", "distances", "inference")
_DIE = 6
"""A process that hangs is killed after this many times the limit."""
_GRACE = 2.0
"""When a record reaches the time limit, it must be finished within this many additional seconds."""

Record = dict[str, Any]


@dataclass
class Found:
    """Results for the records in some files.

    Attributes:
        records: Number of records processed, by command.
        refused: Number of rejections. One corrupted record may cause several.
        stopped: Number of records that were only partly decided because of the time limit.
        slowest: Seconds for the slowest record, by command.
        faults: Descriptions of faults, with the file.
    """

    records: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    stopped: Counter[str] = field(default_factory=Counter)
    slowest: dict[str, float] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def add(self, other: Found) -> None:
        """Add the results for other files."""
        self.records += other.records
        self.refused += other.refused
        self.stopped += other.stopped
        for command, seconds in other.slowest.items():
            self.slowest[command] = max(seconds, self.slowest.get(command, 0.0))
        self.faults += other.faults


# Records -------------------------------------------------------------------------------


@cache
def words() -> list[str]:
    """Return words that have a meaning in the ontology, and signs that occur in texts."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in lp_files(data_folder("ontology")))
    found = {*re.findall(r'"([^"]+)"', text), *re.findall(r"[a-z][a-z_]+", text)}
    signs: list[str] = DATA["signs"]
    return sorted(found) + signs


@cache
def profiles() -> list[str]:
    """All profiles."""
    return sorted(OntologyLibrary(None).profiles)


def trace(chance: random.Random, number: int) -> Record:
    """Make a sound record, with a response that is right or wrong."""
    (problem,) = problems(chance.choice(_FAMILIES), 1, chance.randrange(1 << 30), (1, 2, 3))
    record: Record = problem.record(str(number))
    record["response"] = "\n".join([*problem.reasoning, problem.conclusion])
    if chance.random() < 0.5:
        record["profile"] = chance.choice(profiles())
    if chance.random() < 0.2:
        relations = [[a, chance.choice(("above", "left", "inside")), b] for a, b in ("AB", "BC")]
        del record["response"]
        record |= {"scene_relations": relations, "claims": [{"relations": relations[:1]}]}
    return record


def completed(record: Record) -> tuple[str, str]:
    """Return a record's prompt and response as strings."""
    scene = record.get("scene")
    told = " ".join(map(str, scene)) if isinstance(scene, list) else str(scene)
    return f"Story: {told}\nQuestion: {record.get('question')}", str(record.get("response"))


def shaped(form: str, record: Record) -> Record:
    """Convert a record to the given format."""
    prompt, response = completed(record)
    name, message = record.get("id"), {"role": "assistant", "content": response}
    match form:
        case "symbouq":
            return dict(record)
        case "lm-eval":
            row = {"doc_id": name, "doc": record, "target": record.get("answer")}
            return row | {"arguments": {"gen_args_0": {"arg_0": prompt}}, "resps": [[response]]}
        case "openai":
            messages = [{"role": "user", "content": prompt}]
            body = {"id": name, "choices": [{"message": message}]}
            return {"custom_id": name, "messages": messages, "response": {"body": body}}
        case "vllm":
            return {"request_id": name, "prompt": prompt, "outputs": [{"text": response}]}
    output = {"choices": [{"message": {"content": response}}]}
    return {"id": name, "epoch": 1, "input": prompt, "output": output}


def as_row(record: Record, benchmark: str) -> Record:
    """Convert a record to a row of the given benchmark's release."""
    scene, question, answer = (record.get(name) for name in ("scene", "question", "answer"))
    space = record.get("answer_space")
    asked = {"question": question, "answer": answer, "candidate_answers": space, "q_id": 1}
    texts = {"context": scene, "question": question}
    return {
        "stepgame": {"story": scene, "question": question, "label": answer, "k_hop": 2},
        "spartun": {"story": scene, "questions": [asked]},
        "spacenli": {"premises": scene, "hypothesis": question, "label": answer},
        "sparp": {**texts, "targets": answer, "target_choices": space},
    }.get(benchmark, record)


# Spoiling ------------------------------------------------------------------------------


def spoilt_text(chance: random.Random, text: str) -> str:
    """Insert an unexpected string into the given text."""
    place = chance.randrange(len(text) + 1)
    match chance.randrange(9):
        case 0:
            odd = " ".join(chance.choices(words(), k=chance.randrange(1, 6)))
            return f"{text[:place]} {odd} {text[place:]}"
        case 1:
            parts = text.split()
            chance.shuffle(parts)
            return " ".join(parts)
        case 2:
            return " ".join(chance.choices([*words(), *text.split()], k=chance.randrange(1, 40)))
        case 3:
            signs = DATA["characters"]
            return text[:place] + "".join(chance.choices(signs, k=3)) + text[place:]
        case 4:
            return text[:place] + chance.choice(("\ud800", "\udfff", "\\", '"', "{", "\x85")) + text
        case 5:
            return text[:place] + chance.choice(words()).replace("_", " ").title() + text[place:]
        case 6:
            return f"{text} " * chance.choice((2, 3, 10, 30))
        case 7:
            return (
                text[:place] + chance.choice(("9" * 5000, "x" * 10_000, "( " * 500)) + text[place:]
            )
        case _:
            return (
                text[:place].replace(".", chance.choice(("", "?", ";", ",", "\n"))) + text[place:]
            )


def odd_value(chance: random.Random) -> Any:
    """Make a value of a random kind."""
    deep: Any = chance.choice(words())
    for _ in range(chance.choice((3, 60, 150, 250))):
        deep = [deep] if chance.random() < 0.5 else {"scene": deep}
    numbers = [0, -1, 1 << 80, 0.5, -0.0, 1e308, float("nan"), float("inf")]
    kinds: list[Any] = [None, True, *numbers, "", [], {}]
    return chance.choice([*kinds, deep, chance.choice(words()), [chance.choice(words())] * 3])


def spoilt(chance: random.Random, value: Any) -> Any:
    """Replace one part of a JSON value by something else."""
    if isinstance(value, str) and chance.random() < 0.9:
        return spoilt_text(chance, value)
    if not value or not isinstance(value, dict | list) or chance.random() < 0.08:
        return odd_value(chance)
    made = value.copy()
    place = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
    act = chance.random()
    if act < 0.1:
        del made[place]
    elif act < 0.15 and isinstance(made, list):
        made *= chance.choice((2, 20))
    elif act < 0.15:
        made[chance.choice(words())] = odd_value(chance)
    else:
        made[place] = spoilt(chance, value[place])
    return made


def spoilt_bytes(chance: random.Random, content: bytes) -> bytes:
    """Replace some of the given bytes."""
    made = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 8))):
        place = chance.randrange(len(made) + 1)
        match chance.randrange(5):
            case 0:
                made[place : place + 1] = chance.randbytes(1)
            case 1:
                made[place:place] = chance.choice((b'"', b"{", b"]", b"\n", b"\0", b"\xff", b"\\u"))
            case 2:
                del made[place : place + chance.choice((1, 10, 1000))]
            case 3:
                made[place:place] = made[place : place + chance.choice((1, 10, 1000))]
            case _:
                made[place:place] = chance.choice((b"9" * 5000, b"[" * 5000, b" " * 100_000))
    return bytes(made)


# Files ---------------------------------------------------------------------------------


def as_table(records: list[Record]) -> bytes:
    """Write records as CSV."""
    names = list(dict.fromkeys(name for record in records for name in record))
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(names)
    for record in records:
        cells = (record.get(name) for name in names)
        texts = ("" if cell is None else cell for cell in cells)
        table.writerow([t if isinstance(t, str) else json.dumps(t) for t in texts])
    return text.getvalue().encode(errors="replace")


def made(chance: random.Random, number: int, folder: Path) -> tuple[str, str]:
    """Write a file of corrupted records. Return its path and, if the file imitates a benchmark, the
    name of the benchmark.
    """
    command = COMMANDS[number % len(COMMANDS)]
    records = [trace(chance, n) for n in range(RECORDS)]
    # `answer` needs an answer space, which exists only in SymboUQ's own format.
    own = command == "answer" and chance.random() < 0.8
    form = "symbouq" if own else chance.choice(FORMATS)
    benchmark = chance.choice(("records", "stepgame", "spartun", "spacenli", "sparp", "babi"))
    if command == "data import":
        spoiled = [as_row(record, benchmark) for record in records]
    else:
        spoiled = [shaped(form, record) for record in records]
    for place, record in enumerate(spoiled):
        for _ in range(chance.choice((0, 1, 1, 2, 5))):
            spoiled[place] = record = spoilt(chance, record)
    lines = [json.dumps(record).encode() for record in spoiled]
    lines = [spoilt_bytes(chance, line) if chance.random() < 0.15 else line for line in lines]
    name, content = "f.jsonl", b"\n".join(lines) + b"\n"
    kind = chance.random()
    if form == "inspect" and command != "data import":
        log = b'{"version": 2, "status": "success", "eval": {}, "samples": ['
        name, content = "f.json", log + b",\n".join(lines) + b"]}"
    elif kind < 0.15:
        name, content = "f.json", b"[" + b",\n".join(lines) + b"]"
    elif kind < 0.3:
        rows = [row for row in spoiled if isinstance(row, dict)]
        name, content = "f.csv", as_table(rows)
    elif kind < 0.35 and command == "data import":
        name, content = "qa17_test.txt", b"\n".join(lines).replace(b'"', b"\t")
    if chance.random() < 0.1:
        content = spoilt_bytes(chance, content)
    if chance.random() < 0.1:
        name, content = f"{name}.gz", gzip.compress(content, 1, mtime=0)
        content = spoilt_bytes(chance, content) if chance.random() < 0.5 else content
    path = folder / name
    path.write_bytes(content)
    known = {"records": "spartqa"}
    return str(path), known.get(benchmark, benchmark)


# Reading -------------------------------------------------------------------------------


class Fuzzing:
    """The work of one process, which receives the numbers of files.

    Args:
        seed: Seed of all files.
        limit: Maximum seconds for a record.
        model: A reliability model. Without it, `predict` is replaced by `audit`.
    """

    def __init__(self, seed: int, limit: float, model: str | None) -> None:
        self._seed = seed
        self._limit = limit
        jobs = {
            "audit": Job(auditing, (None, None, "assumed"), Trace),
            "parse": Job(parsing, (None, None), Trace),
            "answer": Job(answering, (None, None), Instance),
        }
        jobs["predict"] = jobs["audit"]
        if model is not None:
            from symbouq.reliability.jobs import predicting

            jobs["predict"] = Job(predicting, (model, None, None), Trace)
        self._workers = {name: Worker(replace(job, timeout=limit)) for name, job in jobs.items()}

    def __call__(self, numbers: Iterable[int]) -> Iterator[Found]:
        """Make the files, read each, and apply its command to its records."""
        return map(self._found, numbers)

    def _found(self, number: int) -> Found:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # so that the signal ends the process
        found = Found()
        command = COMMANDS[number % len(COMMANDS)]
        with tempfile.TemporaryDirectory() as name:
            chance = random.Random(f"{self._seed}-{number}")
            path, benchmark = made(chance, number, Path(name))
            if command == "data import":
                self._import(found, number, path, benchmark)
            else:
                self._read(found, number, command, path)
        found.records[command] += RECORDS
        return found

    def _read(self, found: Found, number: int, command: str, path: str) -> None:
        worker = self._workers[command]
        given = 0
        for item in read_lines(TraceFile(path, ReadOptions())):
            given += 1
            signal.setitimer(signal.ITIMER_REAL, _DIE * self._limit)
            start = time.perf_counter()
            (outcome,) = worker([item])
            seconds = time.perf_counter() - start
            signal.setitimer(signal.ITIMER_REAL, 0)
            place = f"record {outcome.number}"
            self._note(found, number, command, seconds, outcome.error, place)
            found.stopped[command] += any("time limit" in fault for fault in outcome.faults)
            found.faults += [
                f"file {number}: {command} {place}: {fault[:300]!r}"
                for fault in outcome.faults
                if "internal error" in fault
            ]
            if outcome.output is not None:
                json.loads(outcome.output)
        if not found.faults and path.endswith(".jsonl"):
            lines = sum(bool(line.strip()) for line in Path(path).read_bytes().split(b"\n"))
            recognised = "doc_id" in Path(path).read_text("utf-8", "replace").partition("\n")[0]
            if given != lines and not recognised and not Path(path).read_bytes().startswith(b"["):
                found.faults.append(f"file {number}: {command}: {given} of {lines} lines came out")

    def _import(self, found: Found, number: int, path: str, benchmark: str) -> None:
        signal.setitimer(signal.ITIMER_REAL, _DIE * self._limit)
        start = time.perf_counter()
        folder = str(Path(path).parent / "out")
        errors: list[str] = []
        try:
            done = import_benchmark(benchmark, path, folder, split="none")
            errors += [str(error) for error in done.failed]
            for file in Path(folder).glob("*.gz"):
                for line in gzip.decompress(file.read_bytes()).splitlines():
                    json.loads(line)
        except BenchmarkError as error:
            errors.append(str(error))
        except SymboUQError as error:
            errors.append(f"internal error: {type(error).__name__}: {error}")
        except Exception as error:
            errors.append(f"internal error: {type(error).__name__}: {error}")
        seconds = (time.perf_counter() - start) / RECORDS
        signal.setitimer(signal.ITIMER_REAL, 0)
        for error in errors or [None]:
            self._note(found, number, "data import", seconds, error, "")

    def _note(
        self, found: Found, number: int, command: str, seconds: float, error: str | None, place: str
    ) -> None:
        found.slowest[command] = max(seconds, found.slowest.get(command, 0.0))
        where = f"file {number}: {command} {place}".rstrip()
        if error is not None:
            found.refused[command] += 1
            if "internal error" in error or "\n" in error:
                found.faults.append(f"{where}: {error[:300]!r}")
        if seconds > self._limit + _GRACE:
            found.faults.append(f"{where}: {seconds:.1f} s")


def lost(number: int, how: str) -> Found:
    """Return the result for a file that made its process die."""
    command = COMMANDS[number % len(COMMANDS)]
    fault = f"file {number}: {command}: the process died, {how}"
    return Found(Counter({command: RECORDS}), faults=[fault])


def fitted(folder: Path) -> str | None:
    """Fit a reliability model; None if the packages for it are not installed."""
    try:
        from symbouq.reliability.model import fit
        from symbouq.reliability.reading import Reader
    except ImportError:
        return None
    chance = random.Random(0)
    reader = Reader("dual")
    readings, labels = [], []
    for number, problem in enumerate(problems("chains", 40, 1, (1, 2))):
        right = bool(number % 2)
        record = problem.record(str(number))
        wrong = chance.choice([label for label in problem.answer_space if label != problem.answer])
        record["response"] = f"Answer: {problem.answer if right else wrong}"
        readings.append(reader.read(Trace.model_validate(record)))
        labels.append(int(right))
    path = folder / "model.json"
    fit(readings, labels, "dual", reader.ontology_hash).save(path)
    return str(path)


@click.command()
@click.option("--records", default=1000)
@click.option("--seed", default=2026)
@click.option("--limit", default=10.0, metavar="SECONDS")
@click.option("--jobs", default=2)
@click.option("--file", type=int, help="Only this one, in this process.")
def main(records: int, seed: int, limit: float, jobs: int, file: int | None) -> None:
    """Run the commands on corrupted records."""
    total, start = Found(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        make = partial(Fuzzing, seed, limit, fitted(Path(folder)))
        if file is not None:
            total.add(next(make()([file])))
        else:
            with Pool(jobs, make, lost) as pool:
                for done in pool.map([number] for number in range(-(-records // RECORDS))):
                    for found in done:
                        total.add(found)
    print("| command | records | refusals | stopped in time | slowest, s |\n|---|---|---|---|---|")
    for command in COMMANDS:
        counts = (total.records[command], total.refused[command], total.stopped[command])
        slowest = f"{total.slowest.get(command, 0.0):.2f}"
        print(f"| {command} | {' | '.join(map(str, counts))} | {slowest} |")
    print(f"\n{total.records.total()} records in {time.monotonic() - start:.0f} s")
    print("\n".join([f"{len(total.faults)} faults", *total.faults]))
    sys.exit(1 if total.faults else 0)


if __name__ == "__main__":
    main()
