"""Measures the speed of the audit, and of auditors in plain Python and with z3 for comparison.

    python experiments/benchmarks/audit_speed.py --data FOLDER [--section NAME ...]

Sections: `end-to-end` (text in, JSONL out, over the distinct real chain-of-thought traces in
FOLDER/stepgame, each once), `described` (scenes that describe their things, by step), `logic`
(relations in, verdicts out, against two opponents on the same traces, once with one claim in five
wrong and once with none), `regions` (likewise in RCC-8, against path consistency), `profiles` (the
same traces under other profiles), `growth` (cost by number of entities and claims), `start`
(start-up of the command), `call` (`symbouq.audit` on a scene already known), `memory` (resident
memory over 100,000 traces), `shares` (where real traces in words spend CPU time, with ratios to the
parser alone and to a blank tokenizer with the plain-Python auditor). The tables are Markdown.
"""

from __future__ import annotations

import cProfile
import gc
import json
import os
import platform
import pstats
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import click
import clingo
from common import data_option, rows, table
from opponents import (
    VECTORS,
    PathConsistency,
    Triple,
    plain_python,
    plain_python_explaining,
    z3_auditor,
)
from pydantic_core import to_json

import symbouq
from symbouq.auditing import auditor as auditor_module
from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.jobs import auditing
from symbouq.auditing.relations import ClaimInput, audit_relations
from symbouq.io.stream import BATCH, Job, process
from symbouq.logic.worlds import composition_table
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.store import Shelf
from symbouq.ontology.tables import Ontology
from symbouq.reading.parser import TraceParser
from symbouq.reading.syntax import extraction
from symbouq.reading.syntax.cutting import spans
from symbouq.reading.syntax.extraction import Extraction
from symbouq.reading.syntax.pipeline import pipeline
from symbouq.reading.syntax.sentences import Sentences
from symbouq.reading.without_torch import spacy
from symbouq.records import Trace

SEED = 2026


def real_traces(data: Path) -> list[dict[str, Any]]:
    """Read the distinct chain-of-thought traces, file by file."""
    seen: set[tuple[str, str]] = set()
    traces = []
    for file in sorted((data / "stepgame").glob("llm_traces_*cot*.jsonl.gz")):
        for trace in rows(file):
            key = (json.dumps(trace["scene"]) + trace["question"], trace["response"])
            if key not in seen:
                seen.add(key)
                traces.append({**trace, "id": f"{file.name}:{trace['id']}"})
    return traces


def drawn_traces(
    data: Path, count: int, wrong: float = 0.2
) -> list[tuple[list[Triple], list[Triple]]]:
    """Draw traces of relations about real scenes. Each has six claims taken from one layout of the
    scene. A share `wrong` of the claims is changed to a wrong direction.
    """
    rng = random.Random(SEED)
    auditor = TraceAuditor("nine-way")
    drawn = []
    for trace in real_traces(data):
        parsed = auditor.parser_for(Trace.model_validate(trace)).parse(Trace.model_validate(trace))
        scene = [triple for _, triple in parsed.numbered]
        places = _layout(scene)
        if places is None or len(places) < 3:
            continue
        claims = []
        for _ in range(6):
            u, v = rng.sample(sorted(places), 2)
            right = _direction(places[u], places[v])
            other = rng.choice([name for name in VECTORS if name != right])
            claims.append((u, other if rng.random() < wrong else right, v))
        drawn.append((scene, claims))
        if len(drawn) == count:
            break
    return drawn


def _layout(scene: Sequence[Triple]) -> dict[int, tuple[int, int]] | None:
    places = {thing: [0, 0] for u, _, v in scene for thing in (u, v)}
    for _ in range(len(places) + 1):
        changed = False
        for u, name, v in scene:
            for axis in (0, 1):
                sign = VECTORS[name][axis]
                a, b = places[u], places[v]
                if sign >= 0 and a[axis] < b[axis] + sign:
                    a[axis] = b[axis] + sign
                    changed = True
                if sign <= 0 and b[axis] < a[axis] - sign:
                    b[axis] = a[axis] - sign
                    changed = True
        if not changed:
            return {thing: (spot[0], spot[1]) for thing, spot in places.items()}
    return None


def _direction(a: tuple[int, int], b: tuple[int, int]) -> str:
    signs = tuple((p > q) - (p < q) for p, q in zip(a, b, strict=True))
    return next(name for name, vector in VECTORS.items() if vector == signs)


def ours(
    scene: Sequence[Triple], claims: Sequence[Triple], ontology: Ontology | None = None
) -> list[tuple[str, str, int | None]]:
    """Run only the package's logic. Its cache of scenes has no effect, because each scene occurs
    once.
    """
    premises = [(n, [z]) for n, z in enumerate(scene, start=1)]
    result = audit_relations(ontology or _ONTOLOGY, premises, [ClaimInput([z]) for z in claims])
    return [(str(c.verdict), str(c.grounded), c.repair) for c in result.claims]


_ONTOLOGY = OntologyLibrary().ontology("nine-way")


def timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def logic(data: Path) -> None:
    auditors = {
        "SymboUQ, with premises": ours,
        "plain Python, with premises": plain_python_explaining,
        "plain Python, without premises": plain_python,
        "z3, without premises": z3_auditor,
    }
    times: dict[str, list[str]] = {name: [] for name in auditors}
    for wrong in (0.2, 0.0):
        traces = drawn_traces(data, 1000, wrong)
        distinct = list({(tuple(scene), tuple(claims)): None for scene, claims in traces})
        _compared(auditors, distinct[:200])
        gc.freeze()  # as in the command's processes
        rest = distinct[200:]
        for name, run in auditors.items():
            part = rest if not name.startswith("z3") else rest[:200]
            times[name].append(f"{_once(run, part):.2f}")
    print(f"\n### Logic alone: {len(distinct)} traces, six claims each, one process, ms a trace\n")
    body = ([name, *cells] for name, cells in times.items())
    table("auditor | one claim in five wrong | all from one layout", body)


Auditor = Callable[[Sequence[Triple], Sequence[Triple]], list[tuple[str, str, "int | None"]]]


def _compared(auditors: Mapping[str, Auditor], traces: Sequence[Any]) -> None:
    found = [[run(scene, claims) for scene, claims in traces] for run in auditors.values()]
    assert all(each == found[0] for each in found)


def _once(run: Auditor, traces: Sequence[Any]) -> float:
    """Return the milliseconds per trace. Each trace is audited only once, because its scene is
    cached afterwards.
    """
    return timed(lambda: [run(*trace) for trace in traces]) / len(traces) * 1e3


def regions(_data: Path) -> None:
    """Measure scenes of twelve circles with twenty relations and forty claims. Claims after the
    first contradicted claim are not judged.
    """
    ontology = OntologyLibrary().ontology("rcc8")
    closed = PathConsistency(composition_table(ontology, "rcc8"))

    def audited(scene: Sequence[Triple], claims: Sequence[Triple]) -> Any:
        return ours(scene, claims, ontology)

    print("\n### RCC-8: twelve circles, forty claims, ms a trace (100 traces)\n")
    body = []
    for name, wrong, late in (
        ("all true", 0.0, False),
        ("the last one contradicts", 0.0, True),
        ("one in five wrong", 0.2, False),
    ):
        traces = [_circles(seed, wrong, late, closed.relations) for seed in range(110)]
        _compared({"": audited, "closed": closed}, traces[:10])
        body.append([name, *(f"{_once(run, traces[10:]):.1f}" for run in (audited, closed))])
    table("claims | SymboUQ, with premises | path consistency, without", body)
    torn = [_circles(seed, 0.4, False, closed.relations) for seed in range(20)]
    spent = _once(lambda scene, claims: audited([*scene, *claims], []), torn)
    print(f"\nScenes of sixty relations, sixteen of them wrong: {spent:.0f} ms to the best clash.")


def _circles(
    seed: int, wrong: float, late: bool, relations: Sequence[str]
) -> tuple[list[Triple], list[Triple]]:
    rng = random.Random(SEED + seed)
    circles = [(rng.randrange(9), rng.randrange(9), rng.randint(1, 4)) for _ in range(12)]

    def lying(u: int, v: int) -> str:
        (x, y, r), (a, b, s) = circles[u], circles[v]
        apart = (x - a) ** 2 + (y - b) ** 2
        if circles[u] == circles[v]:
            return "eq"
        if apart >= (r + s) ** 2:
            return "dc" if apart > (r + s) ** 2 else "ec"
        if apart > (r - s) ** 2:
            return "po"
        touching = apart == (r - s) ** 2
        return ("tpp" if touching else "ntpp") + ("" if r < s else "i")

    pairs = [(u, v) for u in range(12) for v in range(u)]
    stated = rng.sample(pairs, 20)
    claims = []
    for _ in range(40):
        u, v = rng.sample(range(12), 2)
        right = lying(u, v)
        other = rng.choice([name for name in relations if name != right])
        claims.append((u, other if rng.random() < wrong else right, v))
    if late:
        u, _, v = claims[0]
        claims[-1] = (u, rng.choice([name for name in relations if name != lying(u, v)]), v)
    return [(u, lying(u, v), v) for u, v in stated], claims


def profiles(data: Path) -> None:
    """Measure the cost of each profile. The claims are taken from layouts in the strict reading.
    Under unit-grid, many of these scenes contradict themselves, and the conflict must be found.
    """
    distinct = list({(tuple(s), tuple(c)): None for s, c in drawn_traces(data, 1000)})[200:]
    print(f"\n### Profiles: the logic alone over {len(distinct)} of the same traces\n")
    body = []
    for profile in ("nine-way", "unit-grid", "story", "half-plane", "babi", "everyday", "spartun"):
        library = OntologyLibrary()
        making = timed(lambda library=library, profile=profile: library.ontology(profile))
        ontology = library.ontology(profile)
        ours(*distinct[0], ontology)
        spent = timed(lambda o=ontology: [ours(*trace, o) for trace in distinct[1:]])
        per_trace = spent / len(distinct[1:])
        body.append([profile, f"{making * 1e3:.0f}", f"{per_trace * 1e3:.2f}"])
    table("profile | tables made, ms | ms a trace", body)


def end_to_end(data: Path) -> None:
    traces = real_traces(data)
    print(f"\n### End to end: {len(traces)} distinct real traces, each once\n")
    print("| processes | traces/s | median of |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "traces.jsonl"
        file.write_text("".join(json.dumps(t) + "\n" for t in traces), encoding="utf-8")
        warm = Path(folder) / "warm.jsonl"
        warm.write_text(json.dumps(traces[0]) + "\n", encoding="utf-8")
        job = Job(auditing, (None, None, "assumed"), Trace)
        for processes in sorted({1, os.cpu_count() or 1}):
            rates = []
            for _ in range(3):
                start = 0.0
                with (Path(folder) / "out.jsonl").open("wb") as out:
                    for n, outcome in enumerate(process([str(file)], job, processes)):
                        if n == 0:
                            start = time.perf_counter()  # excluding start-up
                        assert outcome.output is not None, outcome.error
                        out.write(outcome.output + b"\n")
                # When the first result arrives, every process has finished about one batch, which
                # is not counted.
                before = BATCH * processes if processes > 1 else 1
                rates.append((len(traces) - before) / (time.perf_counter() - start))
            print(f"| {processes} | {statistics.median(rates):.0f} | {len(rates)} |")


def described(data: Path) -> None:
    """Measure scenes that describe their things: SpaRTUN's test questions. The reasoning follows
    the path given in the dataset, worded like the profile's relations.
    """
    ontology = OntologyLibrary().ontology("spartun")
    records = []
    for row in rows(data / "spartun" / "spartun_test.jsonl.gz"):
        names = row["meta"]["entities"]

        def said(u: str, relation: str, v: str, names: dict[str, str] = names) -> str:
            wording = ontology.lexicon.wording[relation][0]
            return f"{names.get(u, 'it')} is {wording} {names.get(v, 'it')}."

        first, second = row["meta"]["query"]
        told = {key: row[key] for key in ("id", "dataset", "scene", "question")}
        told["reasoning"] = [said(*fact) for fact in row["meta"]["chain_facts"]]
        records.append(told | {"conclusion": said(first, row["meta"]["all_relations"][0], second)})
    traces = [Trace.model_validate(record) for record in records]

    def ready() -> TraceAuditor:
        auditor = TraceAuditor()
        auditor.audited(traces[0])
        return auditor

    auditor = ready()
    reading = timed(lambda: [auditor.parser_for(trace).parse(trace) for trace in traces])
    auditor, profile = ready(), cProfile.Profile()
    whole = timed(lambda: profile.runcall(lambda: [auditor.audited(trace) for trace in traces]))
    spent: dict[str, float] = {}
    for (_, _, name), (_, _, own, _, _) in pstats.Stats(profile).stats.items():
        for step in ("ground", "solve", "add"):
            if f"clingo_control_{step}" in name:
                spent[step] = spent.get(step, 0.0) + own
    auditor = ready()
    plain = timed(lambda: [auditor.audited(trace) for trace in traces])
    found = {"reading (warm)": reading, **{f"clingo, {k}": t for k, t in spent.items()}}
    found |= {"whole audit, profiled": whole, "whole audit": plain}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spartun.jsonl"
        file.write_text("\n".join(map(json.dumps, records)) + "\n")
        command = [str(Path(sys.executable).parent / "symbouq"), "audit", str(file)]
        out = str(Path(folder) / "out.jsonl")
        for jobs in (1, 2):
            arguments = [*command, "--out", out, "--jobs", str(jobs)]
            took = timed(lambda a=arguments: subprocess.run(a, capture_output=True, check=True))
            found[f"command, {jobs} processes"] = took
    print(f"\n### Described scenes: {len(traces)} SpaRTUN traces\n")
    body = ([name, f"{took / len(traces) * 1e3:.2f}"] for name, took in found.items())
    table("step | ms a trace", body)


def growth(_data: Path) -> None:
    print(
        "\n### Growth: ms a trace (median of 3), a random layout, one relation more than things\n"
    )
    claims = (10, 30, 100)

    def cell(things: int, count: int) -> str:
        drawn = [_random_trace(things, count, seed) for seed in range(3)]
        times = [timed(lambda trace=trace: ours(*trace)) for trace in drawn]
        return f"{statistics.median(times) * 1e3:.1f}"

    body = ([n, *(cell(n, count) for count in claims)] for n in (5, 10, 20, 50, 100, 200))
    table("things | " + " | ".join(f"{k} claims" for k in claims), body)


def _random_trace(things: int, claims: int, seed: int) -> tuple[list[Triple], list[Triple]]:
    """Make a connected scene and claims from random positions. One claim in five is wrong."""
    rng = random.Random(SEED * 1000 + seed * 100 + things)
    places = {n: (rng.randrange(things), rng.randrange(things)) for n in range(things)}
    pairs = [(n, rng.randrange(n)) for n in range(1, things)]
    pairs += [(0, things - 1), (1, things - 1)]
    scene = [(u, _direction(places[u], places[v]), v) for u, v in pairs]
    drawn = []
    for _ in range(claims):
        u, v = rng.sample(range(things), 2)
        name = _direction(places[u], places[v])
        drawn.append((u, rng.choice(list(VECTORS)) if rng.random() < 0.2 else name, v))
    return scene, drawn


def start(_data: Path) -> None:
    asked = {"id": "1", "scene": ["A is above B."], "response": "Answer: above"}
    told = {"id": "1", "scene_relations": [["A", "above", "B"]]}
    records = {
        "one trace in relations": told | {"claims": [{"relations": [["B", "below", "A"]]}]},
        "one trace in words": asked | {"question": "Where is A relative to B?"},
    }
    program = str(Path(sys.executable).parent / "symbouq")
    commands = {"symbouq --help": [program, "--help"]}
    print("\n### Start-up: seconds, median of 5\n")
    with tempfile.TemporaryDirectory() as folder:
        for name, record in records.items():
            file = Path(folder) / f"{name}.jsonl"
            file.write_text(json.dumps(record) + "\n")
            commands[name] = [program, "audit", str(file)]

        def cell(command: list[str]) -> str:
            times = [
                timed(lambda: subprocess.run(command, capture_output=True, check=True))
                for _ in range(5)
            ]
            return f"{statistics.median(times):.2f}"

        table("command | s", ([name, cell(command)] for name, command in commands.items()))


def call(_data: Path) -> None:
    scene = ["A is left of B.", "B is above C.", "C is left of D."]
    claims = ["A is left of B.", "A is above C.", "A is above D."]
    relations = [["A", "left", "B"], ["B", "above", "C"]]
    claimed = [[["A", "above", "C"]], [["A", "left", "B"]]]
    print("\n### `symbouq.audit` of a known scene, ms a call\n\n| trace | ms |\n|---|---|")
    for name, given in (("in words", (scene, claims)), ("in relations", (relations, claimed))):
        symbouq.audit(*given)
        spent = timed(lambda g=given: [symbouq.audit(*g) for _ in range(1000)])
        print(f"| {name} | {spent:.2f} |")


def memory(data: Path) -> None:
    """Measure the resident memory of one process over 100,000 traces, each with new names."""
    traces = real_traces(data)
    auditor = TraceAuditor()
    print("\n### Memory: MiB resident after so many traces, new names in each\n")
    print("| traces | MiB |\n|---|---|")
    for n, trace in enumerate(renamed(traces, 100_000), start=1):
        auditor.audited(trace)
        if n in (1_000, 5_000, 10_000, 25_000, 50_000, 75_000, 100_000):
            print(f"| {n:,} | {_resident():.0f} |", flush=True)


def renamed(traces: Sequence[dict[str, Any]], count: int) -> Iterator[Trace]:
    """Repeat the traces in turn, each time with new names."""
    for n in range(count):
        trace = traces[n % len(traces)]
        text = json.dumps({key: trace[key] for key in ("scene", "question", "response")})
        for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
            text = text.replace(f" {letter} ", f" {letter}x{n} ").replace(
                f'"{letter} ', f'"{letter}x{n} '
            )
        yield Trace.model_validate({"id": str(n), "dataset": "stepgame", **json.loads(text)})


def _resident() -> float:
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmRSS"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


KINDS = {
    "StepGame": "stepgame/llm_traces_*cot*.jsonl.gz",
    "RCC-8": "qsr_composition/llm_traces_rcc8*.jsonl.gz",
    "cardinal": "qsr_composition/llm_traces_cdc*.jsonl.gz",
    "SpartQA": "spartqa/llm_traces*.jsonl.gz",
}
"""Kinds of real traces, timed separately, and their files."""
STAGES = {
    "cutting, words": [(Sentences, "_read")],
    "parser": [(Sentences, "_docs")],
    "facts, slices": [(Extraction, "extracted")],
    "clingo": [(extraction, "ground"), (clingo.Control, "add")],
    "its atoms": [(extraction, "_decoded"), (Extraction, "_said")],
    "discourse": [(TraceParser, "parse"), (TraceParser, "ahead")],
    "logic": [(auditor_module, "decide")],
    "answer": [(auditor_module, "judge_answer")],
    "description": [(auditor_module, "describe")],
    "JSON": [(sys.modules[__name__], "to_json")],
}
"""Stages of an audit, with the functions that belong to each."""


@contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Measure CPU seconds by stage. The time of a stage excludes other stages called from it."""
    spent = dict.fromkeys(STAGES, 0.0)
    running: list[str] = []
    since = time.process_time()

    def switch() -> None:
        nonlocal since
        now = time.process_time()
        if running:
            spent[running[-1]] += now - since
        since = now

    def timing(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            switch()
            running.append(stage)
            try:
                return function(*arguments, **named)
            finally:
                switch()
                running.pop()

        return run

    places = [(stage, *place) for stage, found in STAGES.items() for place in found]
    before = [getattr(owner, name) for _, owner, name in places]
    for (stage, owner, name), function in zip(places, before, strict=True):
        setattr(owner, name, timing(stage, function))
    try:
        yield spent
    finally:
        for (_, owner, name), function in zip(places, before, strict=True):
            setattr(owner, name, function)


def cpu(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def shares(data: Path) -> None:
    """Measure 100 traces of each kind, drawn evenly and read together."""
    body, blank = [], spacy.blank("en")
    pipeline().nlp("It is warm.")
    for kind, pattern in KINDS.items():
        records = [row for file in sorted(data.glob(pattern)) for row in rows(file)]
        traces = [*map(Trace.model_validate, records[:: max(1, len(records) // 100)])][:100]
        texts = [
            [*([t.scene] if isinstance(t.scene, str) else t.scene or ()), t.response or ""]
            for t in traces
        ]
        auditor = TraceAuditor()
        auditor.audited(traces[0])

        def audit(auditor: TraceAuditor = auditor, traces: list[Trace] = traces) -> None:
            auditor.ahead(traces)
            for trace in traces:
                to_json(auditor.audited(trace))

        with watched() as spent:
            whole = cpu(audit)
        parser = auditor.parser_for(traces[0])
        given = []
        for trace in traces:
            parsed = parser.parse(trace)
            scene = [triple for _, triple in parsed.numbered]
            claims = [parsed.triple(s) for claim in parsed.claims for s in claim.relations]
            given.append([[z for z in part if z[1] in VECTORS] for part in (scene, claims)])
        sentences = {
            text[start:end] for told in texts for text in told for start, end in spans(text)
        }
        parsing = cpu(lambda s=sentences: [*pipeline().nlp.pipe(s)])
        tokens = cpu(lambda t=texts: [[*blank.tokenizer.pipe(told)] for told in t])
        plain = cpu(lambda g=given: [plain_python(*each) for each in g if all(each)])
        other = whole - sum(spent.values())
        each = [whole, *spent.values(), other]
        body.append(
            [kind, f"{whole / len(traces) * 1e3:.1f}"]
            + [f"{100 * part / whole:.0f}" for part in each[1:]]
            + [f"{whole / parsing:.1f}", f"{whole / (tokens + plain):.0f}"]
        )
    print("\n### Shares: real traces in words, one process\n")
    head = ["kind", "ms a trace", *(f"{stage}, %" for stage in STAGES), "rest, %"]
    table(" | ".join([*head, "÷ parser alone", "÷ blank, plain Python"]), body)


SECTIONS = {
    "start": start,
    "call": call,
    "logic": logic,
    "regions": regions,
    "profiles": profiles,
    "end-to-end": end_to_end,
    "described": described,
    "growth": growth,
    "memory": memory,
    "shares": shares,
}


@click.command()
@data_option
@click.option("--section", type=click.Choice(list(SECTIONS)), multiple=True)
def main(data: Path, section: tuple[str, ...]) -> None:
    """Measure and print."""
    # What an earlier run read would hide what reading costs.
    setattr(Shelf, "load", lambda *_: {})  # noqa: B010
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}")
    for name in section or SECTIONS:
        SECTIONS[name](data)


if __name__ == "__main__":
    main()
