"""SARIF 2.1.0: findings at files and lines, in the format that code hosts read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, NamedTuple
from urllib.parse import quote

from symbouq.version import __version__


@dataclass(frozen=True)
class Result:
    """Finding at a position in a file.

    Attributes:
        rule: The violated rule; empty for an error in the tool's input.
        level: `error`, `warning` or `note`.
        message: The finding in words.
        file: File of the finding.
        line: Line of the finding, from 1; 0 if there is none.
        key: Text that identifies the finding even if its line changes; may be empty.
    """

    rule: str
    level: str
    message: str
    file: str
    line: int
    key: str = ""


class Rule(NamedTuple):
    """Description of a rule on code hosts.

    Attributes:
        title: Name of the rule in a few words.
        description: What the rule finds, in a sentence.
        help: What to do about a result.
    """

    title: str
    description: str
    help: str


def sarif_log(
    tool: str, rules: Mapping[str, Rule], results: Sequence[Result], faults: Sequence[Result] = ()
) -> dict[str, Any]:
    """Build the log of one run.

    Args:
        tool: Name of the tool.
        rules: Rules by id, including the rule of every result.
        results: The findings.
        faults: Parts of the input that cannot be read.
    """
    numbers = {rule: number for number, rule in enumerate(rules)}
    driver = {
        "name": tool,
        "version": __version__,
        "rules": [
            {
                "id": name,
                "shortDescription": {"text": rule.title},
                "fullDescription": {"text": rule.description},
                "help": {"text": rule.help},
            }
            for name, rule in rules.items()
        ],
    }
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "results": [
            {"ruleId": each.rule, "ruleIndex": numbers[each.rule], **_told(each)}
            | ({"partialFingerprints": {"symbouq/v1": each.key}} if each.key else {})
            for each in results
        ],
        "invocations": [
            {
                "executionSuccessful": not faults,
                "toolExecutionNotifications": [_told(fault) for fault in faults],
            }
        ],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }


def shown_path(file: str) -> PurePath:
    """Return the path of a file as code hosts show it: relative to the working folder, if inside
    it.
    """
    path = PurePath(file)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        return path.relative_to(Path.cwd())
    return path


def _told(result: Result) -> dict[str, Any]:
    path = shown_path(result.file)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if result.line > 0:
        place["region"] = {"startLine": result.line}
    return {
        "level": result.level,
        "message": {"text": result.message},
        "locations": [{"physicalLocation": place}],
    }
