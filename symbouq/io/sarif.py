"""SARIF 2.1.0, the format in which code hosts take what a tool found, at files and lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, NamedTuple
from urllib.parse import quote

from symbouq.version import __version__


@dataclass(frozen=True)
class Result:
    """What was found at a place.

    Attributes:
        rule: The rule that says so; empty where something went wrong with the tool's input.
        level: `error`, `warning` or `note`.
        message: What it is.
        file: Its file.
        line: Its line, from 1; 0 where it has none.
        key: What stays the same where the line does not; empty for nothing.
    """

    rule: str
    level: str
    message: str
    file: str
    line: int
    key: str = ""


class Rule(NamedTuple):
    """What code hosts show of a rule.

    Attributes:
        title: Its name in a few words.
        description: What it finds, in a sentence.
        help: What to do about a result.
    """

    title: str
    description: str
    help: str


def sarif_log(
    tool: str, rules: Mapping[str, Rule], results: Sequence[Result], faults: Sequence[Result] = ()
) -> dict[str, Any]:
    """A log of one run.

    Args:
        tool: The name of the tool.
        rules: The rules by their ids; those of the results at least.
        results: What was found.
        faults: What of the input could not be read.
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
    """The path of a file as code hosts show it: from the working folder, where it is in there."""
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
