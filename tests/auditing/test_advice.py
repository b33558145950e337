"""Advice on the profile, with its numbers counted by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from helpers.writers import lines
from symbouq_cli.main import main

from symbouq.auditing.advice import advice
from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.summary import SAMPLED, Summaries, Summary
from symbouq.ontology.library import builtin
from symbouq.records import Trace

BEHIND = {
    "scene": "The fern is behind the stool. The stool is behind the crate.",
    "question": "Where is the fern relative to the crate?",
    "response": "The stool is in front of the fern. The fern is behind the crate.\nAnswer: behind",
}
"""Three claims; nine-way, which has no depth, decides none, half-plane all of them."""

ABOVE = {
    "scene": "The kite is above the shed.",
    "question": "Where is the kite relative to the shed?",
    "response": "The shed is below the kite.\nAnswer: above",
}
"""Two claims, both of which any profile with directions decides."""


@pytest.fixture(autouse=True)
def no_advice() -> None:
    """Put the advice back that other tests leave out."""


def traces(*records: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"id": str(n), **record} for n, record in enumerate(records, start=1)]


def summary(*records: dict[str, Any], profile: str = "nine-way") -> Summary:
    auditor = TraceAuditor(profile)
    total = Summary()
    for record in traces(*records):
        trace = Trace(**record)
        total.add(Summary.of(auditor.audited(trace), trace))
    return total


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


def test_a_profile_that_decides_more_is_named_with_its_numbers() -> None:
    assert advice(summary(BEHIND, BEHIND)) == (
        "Most claims are undecided. Of 6 in 2 traces, profile everyday decides 6 and nine-way 0: "
        f"try --profile everyday ({builtin().about['everyday']})."
    )


def test_the_sample_is_the_first_undecided_traces() -> None:
    found = summary(ABOVE, *[BEHIND] * (SAMPLED + 3))
    assert [one.trace["id"] for one in found.undecided] == [str(n) for n in range(2, SAMPLED + 2)]
    assert {one[1:] for one in found.undecided} == {("nine-way", 3, 0, 0)}


def test_text_that_another_profile_alone_reads_is_always_told() -> None:
    # Of BEHIND nine-way reads nothing; everyday reads two sentences and its claims.
    for records, total in (((ABOVE, ABOVE, BEHIND), 5), (({**BEHIND, "response": "Hm."},), 2)):
        told = advice(summary(*records))
        assert told is not None
        assert told.startswith(
            "Some claims are undecided. In one trace, profile everyday reads more sentences than "
            f"nine-way, {total} against 0: try --profile everyday ("
        )
    assert "gives up" in told


def test_no_advice_where_all_is_read_and_most_decided() -> None:
    open_one = ABOVE | {"response": "The shed is below the kite. The shed is left of the tree."}
    found = summary(ABOVE, open_one)
    assert found.undecided
    assert advice(found) is None


@pytest.mark.parametrize(
    "records",
    [
        [],
        [ABOVE | {"response": "Hm."}] * 5,  # no profile decides it
    ],
)
def test_no_advice_without_a_clear_gain(records: list[dict[str, Any]]) -> None:
    assert advice(summary(*records)) is None


def test_no_advice_to_presume_more() -> None:
    # On a grid each step has a length, so that there and back again is the same place.
    walk = {
        "scene": "A is above B. B is left of C. C is below D. D is right of E.",
        "question": "Where is A relative to E?",
        "response": "A is at the same place as E. D is right of A. A is above E.\nAnswer: overlap",
    }
    own = TraceAuditor("nine-way")
    grid = TraceAuditor("unit-grid")
    trace = Trace(id="1", **walk)
    decided = [
        sum(c["verdict"] in ("entailed", "contradicted") for c in a.audited(trace)["claims"])
        for a in (own, grid)
    ]
    assert decided[1] > decided[0]
    assert "unit-grid" not in (advice(summary(*[walk] * 3)) or "")


def test_traces_in_relations_are_not_sampled() -> None:
    relations = [{"subject": "A", "relation": "left", "object": "B"}]
    claims = [{"relations": [{"subject": "B", "relation": "above", "object": "A"}]}]
    assert summary({"scene_relations": relations, "claims": claims}).undecided == []


def test_large_traces_are_not_sampled() -> None:
    long = BEHIND | {"response": "The fern is behind the crate.\n" * 61}
    assert summary(long).undecided == []


def test_long_traces_are_not_sampled() -> None:
    told = "Hm, let me think about the fern again. " * 250
    assert summary(BEHIND | {"response": f"{told}\n{BEHIND['response']}"}).undecided == []
    assert summary(BEHIND | {"response": f"{told[:400]}\n{BEHIND['response']}"}).undecided != []


def test_a_total_is_without_the_traces() -> None:
    total = Summary.total([summary(BEHIND)])
    assert "undecided" not in total
    assert Summary.from_total(json.loads(json.dumps(total))).claims == 3


@pytest.mark.parametrize("report", [False, True])
def test_the_advice_of_a_run(report: bool, tmp_path: Path) -> None:
    path = lines(tmp_path / "in.jsonl", *traces(*[BEHIND] * 40))
    options = ["--report", tmp_path / "report.html"] if report else []
    first = run("audit", path, "--jobs", "1", *options)
    assert first.exit_code == 0, first.stderr
    assert first.stderr.splitlines()[-1] == (
        "Most claims are undecided. Of 24 in 8 traces, profile everyday decides 24 and nine-way 0: "
        f"try --profile everyday ({builtin().about['everyday']})."
    )
    assert "--profile" not in first.stdout
    taken = run("audit", path, "--jobs", "1", "--profile", "everyday")
    assert "undecided" not in taken.stderr


@pytest.mark.slow
def test_processes_change_nothing(tmp_path: Path) -> None:
    path = lines(tmp_path / "in.jsonl", *traces(*[ABOVE, BEHIND, BEHIND] * 60))
    alone, many = (run("audit", path, "--jobs", str(n)).stderr for n in (1, 3))
    assert alone == many
    assert "--profile everyday" in alone


def test_a_worker_keeps_no_more_traces_than_a_run_does() -> None:
    trace = Trace(id="t", scene="A is near B.", reasoning=[], conclusion="A is left of B.")
    audit = TraceAuditor().audited(trace)
    summaries = Summaries()
    made = [summaries.of(audit, trace) for _ in range(SAMPLED + 5)]
    assert [len(summary.undecided) for summary in made] == [1] * SAMPLED + [0] * 5
    assert sum(summary.claims for summary in made) == SAMPLED + 5


def test_shards_name_their_contradicted_traces() -> None:
    """As JSON, the way from a shard to the table; of twelve the first ten are named."""
    claim = {"index": 2, "text": "A is below B.", "relations": [], "verdict": "contradicted"}
    claim["premises"] = ["scene:1", "claim:1"]
    audits = [
        {"source": {"file": "t", "line": n}, "claims": [claim], "scene": {"feasible": True}}
        for n in range(1, 13)
    ]
    total = json.loads(json.dumps(Summary.total(map(Summary.of, audits))))
    summary = Summary.from_total(total)
    assert (summary.traces, summary.contradicted) == (12, 12)
    assert summary.wrong == [("t", n, 2, "A is below B.", "scene 1, claim 1") for n in range(1, 11)]
    summary.add(Summary.from_total(total))
    assert (summary.contradicted, len(summary.wrong)) == (24, 10)
