"""Audits as checks: what fails, how many may, and the files that continuous integration reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from symbouq_cli.audit import audit as audit_command
from symbouq_cli.main import main

from symbouq.auditing.verdicts import Verdict
from symbouq.report.checks import Checks, github, junit, sarif

GOOD = {
    "id": "good",
    "scene": "A is above B.",
    "reasoning": ["B is below A."],
    "conclusion": "above",
}
BAD = {"id": "bad", "scene": "A is above B.", "reasoning": ["A is below B."], "conclusion": "below"}
OPEN = {
    "id": "open",
    "scene": "A is above B.",
    "reasoning": ["C is left of A."],
    "conclusion": "left",
}
CUT = {**GOOD, "id": "cut", "truncated": True}


def audit(name: str, *claims: tuple[str, str], context: str = "assumed") -> dict[str, Any]:
    return {
        "id": name,
        "context": context,
        "claims": [
            {"index": n, "verdict": assumed, "grounded_verdict": grounded, "text": f"t{n}", "message": "m"}
            for n, (assumed, grounded) in enumerate(claims, start=1)
        ],
    }  # fmt: skip


def test_claims_fail_by_the_verdict_of_the_audits_context() -> None:
    claims = [
        ("contradicted", "unknown"),
        ("not-evaluable", "contradicted"),
        ("entailed", "entailed"),
    ]
    failing = {"assumed": [1], "grounded": [2], "non-committal": [1, 2]}
    for context, expected in failing.items():
        checks = Checks()
        checks.add(audit("a", *claims, context=context), "f", 1)
        assert [failure.index for failure in checks.cases[0].failures] == expected


@pytest.mark.parametrize(
    ("share", "exceeds"), [(0.0, True), (0.2, True), (0.25, False), (1.0, False)]
)
def test_a_share_may_fail(share: float, exceeds: bool) -> None:
    checks = Checks([Verdict.CONTRADICTED])
    checks.add(audit("a", ("contradicted", "contradicted"), ("entailed", "entailed")), "f", 1)
    checks.add(audit("b", ("unknown", "unknown"), ("unknown", "unknown")), "f", 2)
    assert checks.message == "1 of 4 claims are contradicted (25.0%)"
    assert checks.exceed(share) is exceeds


def test_nothing_checked_passes() -> None:
    assert not Checks().exceed(0)
    assert Checks().message == "0 of 0 claims are contradicted (0.0%)"


def test_junit_has_a_suite_a_file_and_a_case_a_trace() -> None:
    checks = Checks([Verdict.CONTRADICTED, Verdict.UNKNOWN])
    checks.add(audit("a", ("contradicted", "unknown"), ("unknown", "unknown")), "x/f.jsonl", 3)
    checks.add(audit("b", ("entailed", "entailed")), "x/f.jsonl", 4)
    checks.add_error("x/g.jsonl", 1, "", 'no "id"')
    root = ElementTree.fromstring(junit(checks))
    counts = {"tests": "3", "failures": "1", "errors": "1", "skipped": "0"}
    assert root.attrib == {"name": "symbouq audit", **counts}
    first, second = root
    counts = {"tests": "2", "failures": "1", "errors": "0", "skipped": "0"}
    assert first.attrib == {"name": "x/f.jsonl", **counts}
    bad, good = first
    assert bad.attrib == {"name": "a", "classname": "x/f.jsonl", "file": "x/f.jsonl", "line": "3"}
    (failure,) = bad
    assert failure.attrib == {
        "type": "contradicted",
        "message": 'claim 1, "t1", is contradicted: m',
    }
    assert failure.text == 'claim 1, "t1", is contradicted: m\nclaim 2, "t2", is unknown: m'
    assert not list(good)
    (unread,) = second
    assert unread.get("name") == "line 1"
    assert unread[0].attrib == {"message": 'no "id"'}


def test_junit_skips_a_trace_of_which_nothing_is_decided() -> None:
    checks = Checks()
    checks.add(audit("a", ("unknown", "unknown"), ("not-evaluable", "unknown")), "f", 1)
    checks.add(audit("b", ("unknown", "unknown"), ("entailed", "unknown")), "f", 2)
    checks.add(audit("c"), "f", 3)
    root = ElementTree.fromstring(junit(checks))
    assert (root.get("failures"), root.get("skipped")) == ("0", "2")
    ((first, second, third),) = root
    assert [(each.tag, each.attrib) for each in first] == [
        ("skipped", {"message": "no claim was decided; claim 1: m"})
    ]
    assert not list(second)
    assert third[0].attrib == {"message": "no claim was decided; it makes no claims"}


def test_a_failure_of_an_undecided_trace_is_a_failure() -> None:
    checks = Checks([Verdict.UNKNOWN])
    checks.add(audit("a", ("unknown", "unknown")), "f", 1)
    root = ElementTree.fromstring(junit(checks))
    assert (root.get("failures"), root.get("skipped")) == ("1", "0")
    assert [each.tag for each in root[0][0]] == ["failure"]


def test_junit_without_records_is_no_pass() -> None:
    root = ElementTree.fromstring(junit(Checks()))
    assert (root.get("tests"), root.get("errors")) == ("1", "1")
    assert root[0][0][0].attrib == {"message": "no trace was audited"}


@pytest.mark.parametrize(
    ("share", "short"), [(0.0, False), (0.5, False), (0.51, True), (1.0, True)]
)
def test_a_share_must_be_decided(share: float, short: bool) -> None:
    checks = Checks()
    checks.add(audit("a", ("contradicted", "unknown"), ("entailed", "unknown")), "f", 1)
    checks.add(audit("b", ("unknown", "entailed"), ("not-evaluable", "unknown")), "f", 2)
    assert checks.decided_message == "2 of 4 claims are decided (50.0%)"
    assert checks.fall_short(share) is short


@pytest.mark.parametrize(("count", "share"), [(7, 0.07), (29, 0.29)])
def test_a_share_that_is_met_exactly_holds(count: int, share: float) -> None:
    # As floats, 100 times 0.07 is more than 7, and 100 times 0.29 less than 29.
    checks = Checks()
    claims = [("contradicted", "unknown")] * count + [("unknown", "unknown")] * (100 - count)
    checks.add(audit("a", *claims), "f", 1)
    assert not checks.fall_short(share)
    assert not checks.exceed(share)


def test_no_audited_trace_falls_short_of_any_share() -> None:
    checks = Checks()
    assert checks.fall_short(0)
    checks.add_error("f", 1, "", "unreadable")
    assert checks.fall_short(0)
    checks.add(audit("a", ("unknown", "unknown")), "f", 2)
    assert not checks.fall_short(0)


def test_annotations_are_escaped_as_github_reads_them() -> None:
    checks = Checks([Verdict.CONTRADICTED])
    record = audit("a:1, 5%", ("contradicted", "unknown"), ("unknown", "unknown"))
    record["claims"][0] |= {"text": "A: 50%,\r\nB", "message": "m"}
    checks.add(record, "x,y:z%.jsonl", 3)
    checks.add_error("g.jsonl", 2, "", "unreadable")
    assert [*github(checks)] == [
        "::error file=x%2Cy%3Az%25.jsonl,line=3,title=contradicted claim in a%3A1%2C 5%25"
        '::claim 1, "A: 50%25,%0D%0AB", is contradicted: m',
        "::error file=g.jsonl,line=2,title=unaudited record::unreadable",
    ]


def test_what_no_xml_can_hold_is_replaced() -> None:
    checks = Checks()
    record = audit("a\x00", ("contradicted", "contradicted"))
    record["claims"][0]["text"] = "A \x1b is <below> \ud800 & B"
    checks.add(record, "f", 1)
    ((case,),) = ElementTree.fromstring(junit(checks))
    assert case.get("name") == "a\ufffd"
    assert "A \ufffd is <below> \ufffd & B" in (case[0].text or "")


def test_sarif_has_a_result_a_claim_at_the_traces_line() -> None:
    checks = Checks()
    checks.add(audit("a", ("contradicted", "unknown")), "f.jsonl", 3)
    checks.add_error("g.jsonl", 2, "", "unreadable")
    (run,) = json.loads(sarif(checks))["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == "contradicted"
    assert rule["shortDescription"]["text"] == "Contradicted claim"
    assert all(rule[each]["text"] for each in ("fullDescription", "help"))
    (result,) = run["results"]
    assert result["ruleId"] == "contradicted"
    assert result["message"]["text"] == 'a: claim 1, "t1", is contradicted: m'
    assert result["partialFingerprints"] == {"symbouq/v1": "a/1/contradicted"}
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("f.jsonl", 3)
    (fault,) = run["invocations"][0]["toolExecutionNotifications"]
    assert fault["message"]["text"] == "unreadable"


def test_the_command_knows_the_verdicts() -> None:
    (option,) = (each for each in audit_command.params if each.name == "fail_on")
    assert [*option.type.choices] == [*Verdict]  # type: ignore[attr-defined]


def run(folder: Path, *arguments: str, lines: tuple[Any, ...] = (GOOD, BAD, OPEN)) -> Result:
    traces = folder / "traces.jsonl"
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    traces.write_text("".join(f"{text}\n" for text in texts))
    options = ["--profile", "nine-way", "--jobs", "1", "--out", str(folder / "audits.jsonl")]
    return CliRunner().invoke(main, ["audit", str(traces), *options, *arguments])


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param((), 0, marks=pytest.mark.slow),
        (("--fail-on", "contradicted"), 3),
        (("--fail-on", "contradicted", "--fail-over", "0.5"), 0),
        pytest.param(
            ("--fail-on", "contradicted", "--fail-on", "unknown", "--fail-over", "0.5"),
            3,
            marks=pytest.mark.slow,
        ),
        pytest.param(("--fail-on", "not-evaluable"), 0, marks=pytest.mark.slow),
    ],
)
def test_the_command_ends_with_3_where_a_gate_does_not_hold(
    tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    done = run(tmp_path, *arguments)
    assert done.exit_code == code, done.output
    assert len((tmp_path / "audits.jsonl").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("arguments", "lines", "code", "told"),
    [
        (("--min-decided", "0.3"), (GOOD, OPEN), 3, "1 of 4 claims are decided (25.0%)"),
        (("--min-decided", "0.25"), (GOOD, OPEN), 0, "1 of 4 claims are decided (25.0%)"),
        (("--min-decided", "0"), (), 3, "0 of 0 claims are decided (0.0%)"),
        (("--min-decided", "0.25", "--fail-on", "unknown"), (GOOD, OPEN), 3, "are unknown (75.0%)"),
        (("--min-decided", "0", "--fail-on", "contradicted"), (OPEN,), 0, "0 of 2 claims are"),
    ],
)
def test_the_command_ends_with_3_where_too_little_is_decided(
    tmp_path: Path, arguments: tuple[str, ...], lines: tuple[Any, ...], code: int, told: str
) -> None:
    done = run(tmp_path, *arguments, lines=lines)
    assert done.exit_code == code, done.output
    assert told in done.stderr
    assert ("does not hold" in done.stderr) == (arguments[1] == "0.3" or not lines)


@pytest.mark.parametrize("lines", [(), (OPEN,), ("{",), (CUT,)])
def test_nothing_decided_is_no_pass(tmp_path: Path, lines: tuple[Any, ...]) -> None:
    done = run(tmp_path, "--fail-on", "contradicted", lines=lines)
    assert done.exit_code == 3, done.output
    assert "nothing is decided, which is no pass" in done.stderr
    if CUT not in lines:  # it has verdicts, but no answer
        said = "nothing was judged" if not lines else "No "
        assert said in done.stderr


def test_a_trace_that_was_cut_off_is_skipped(tmp_path: Path) -> None:
    done = run(tmp_path, "--junit", "-", lines=(CUT, GOOD))
    cases = ElementTree.fromstring(done.stdout).iter("testcase")
    skipped = [case.find("skipped") for case in cases]
    assert [each is not None for each in skipped] == [True, False]
    assert "truncated" in done.stderr


def test_annotations_go_to_standard_error_and_sarif_to_standard_output(tmp_path: Path) -> None:
    done = run(tmp_path, "--github", "--sarif", "-", lines=(GOOD, BAD))
    assert done.exit_code == 0, done.output
    told = [line for line in done.stderr.splitlines() if line.startswith("::")]
    assert [line.partition(" file=")[0] for line in told] == ["::error"]
    assert "traces.jsonl,line=2,title=contradicted claim in bad::claim 1, " in told[0]
    assert len(json.loads(done.stdout)["runs"][0]["results"]) == 1


def test_a_record_that_cannot_be_audited_is_an_error(tmp_path: Path) -> None:
    files = "--junit", str(tmp_path / "j.xml"), "--sarif", str(tmp_path / "s.json")
    done = run(tmp_path, *files, lines=(GOOD, "{"))
    assert done.exit_code == 1
    root = ElementTree.fromstring((tmp_path / "j.xml").read_bytes())
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "0", "1")
    (log,) = json.loads((tmp_path / "s.json").read_text())["runs"]
    assert not log["results"]
    assert len(log["invocations"][0]["toolExecutionNotifications"]) == 1
    told = run(tmp_path, "--github", lines=(GOOD, "{"))
    assert told.exit_code == 1
    assert "traces.jsonl,line=2,title=unaudited record::not valid JSON" in told.stderr
    # The gate is the stronger word.
    assert run(tmp_path, "--fail-on", "contradicted", lines=(BAD, "{")).exit_code == 3


def test_a_page_and_checks_go_together(tmp_path: Path) -> None:
    page, xml = tmp_path / "page.html", tmp_path / "j.xml"
    done = run(tmp_path, "--report", str(page), "--junit", str(xml))
    assert done.exit_code == 0, done.output
    assert "<html" in page.read_text()
    assert ElementTree.fromstring(xml.read_bytes()).get("failures") == "1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--junit", "{}/traces.jsonl"), "is one of the input files"),
        (("--junit", "{0}/x", "--sarif", "{0}/x"), "--junit and --sarif name the same file"),
        (("--sarif", "{}/audits.jsonl"), "--sarif and --out name the same file"),
        (("--sarif", "-", "--junit", "-"), "--junit and --sarif name the same file"),
        (("--sarif", "-", "--out", "-"), "--sarif and --out name the same file"),
        (("--min-decided", "2"), "--min-decided"),
        (("--fail-on", "wrong"), "is not one of 'entailed', 'contradicted'"),
        (("--fail-over", "2"), "--fail-over"),
        (("--fail-over", "0.1"), "--fail-over needs --fail-on"),
    ],
)
def test_options_that_do_not_go_together(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = run(tmp_path, *(argument.format(tmp_path) for argument in arguments))
    assert done.exit_code == 2
    assert message in done.output
