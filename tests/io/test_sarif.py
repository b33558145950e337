"""What a tool found, as code hosts read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from symbouq.io.sarif import Result, Rule, sarif_log


def test_a_log_has_rules_results_and_faults() -> None:
    rules = {"one": Rule("a", "b", "c"), "two": Rule("Short", "It is so.", "Do that.")}
    found = Result("two", "warning", "bad", "x/f.lp", 4, "x/two")
    log = sarif_log("tool", rules, [found], [Result("", "error", "no file", "g", 0)])
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert run["tool"]["driver"]["name"] == "tool"
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]] == {
        "id": "two",
        "shortDescription": {"text": "Short"},
        "fullDescription": {"text": "It is so."},
        "help": {"text": "Do that."},
    }
    assert (result["ruleId"], result["level"], result["message"]["text"]) == (
        "two",
        "warning",
        "bad",
    )
    assert result["partialFingerprints"] == {"symbouq/v1": "x/two"}
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 4}
    (told,) = run["invocations"]
    assert told["executionSuccessful"] is False
    (fault,) = told["toolExecutionNotifications"]
    assert "ruleId" not in fault
    assert "region" not in fault["locations"][0]["physicalLocation"]


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("{}/x/f one.lp", "x/f%20one.lp"),
        ("x/f.lp", "x/f.lp"),
        ("/elsewhere/f.lp", "file:///elsewhere/f.lp"),
    ],
)
def test_paths_are_told_from_the_working_folder(
    file: str, uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = sarif_log(
        "tool", {"a": Rule("", "", "")}, [Result("a", "note", "", file.format(tmp_path), 1)]
    )
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == uri
