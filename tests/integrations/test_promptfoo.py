from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from symbouq.integrations.promptfoo import get_assert

SCENE = "The lamp is above the desk. The desk is left of the door."
ASKED = "Where is the lamp relative to the door?"
RIGHT = "The lamp is upper left of the door. Answer: upper left"
WRONG = "The lamp is below the door. Answer: below"


def asserted(output: Any, **variables: Any) -> dict[str, Any]:
    return get_assert(output, {"vars": {"scene": SCENE, "question": ASKED} | variables})


def test_what_is_right_passes_with_its_scores() -> None:
    found = asserted(RIGHT, answer="upper-left")
    assert (found["pass"], found["score"]) == (True, 1.0)
    assert found["namedScores"] == dict.fromkeys(
        ("outcome", "process", "free_of_errors", "determinacy"), 1.0
    )
    assert "1. entailed: The lamp is upper left of the door." in found["reason"]


def test_an_output_may_be_an_object() -> None:
    steps = {"reasoning": ["The lamp is below the door."], "conclusion": "upper left"}
    assert "1. contradicted" in asserted(steps)["reason"]
    for nothing in (None, "", {}):
        found = asserted(nothing)
        assert (found["pass"], found["reason"]) == (
            False,
            "not scored: it was cut off, or is empty",
        )


def test_what_is_wrong_fails_with_the_reason() -> None:
    found = asserted(WRONG)
    assert (found["pass"], found["score"]) == (False, 0.0)
    assert "1. contradicted: The lamp is below the door." in found["reason"]
    assert asserted("Answer: upper left", answer="left")["pass"] is False


def test_what_is_not_decided_passes_by_halves() -> None:
    found = asserted("The mat is near the lamp.")
    assert (found["pass"], found["score"]) == (True, 0.5)
    json.dumps(found, allow_nan=False)


def test_scene_and_question_may_stand_in_the_prompt() -> None:
    given = {"prompt": f"{SCENE}\n\n{ASKED}", "vars": {}}
    assert get_assert(WRONG, given)["pass"] is False
    assert "no scene" in get_assert(WRONG, {"prompt": "", "vars": {}})["reason"]


def test_settings_of_the_assertion_go_first() -> None:
    given = {"scene": ["NTPP(x,y).", "DC(y,z)."], "question": "How are x and z related?"}
    found = get_assert("DC(x,z).", {"vars": given, "config": {"profile": "rcc8"}})
    assert (found["pass"], found["score"]) == (True, 1.0)
    assert get_assert("x", {"vars": given, "config": {"scene": 3}})["reason"].startswith(
        "not scored"
    )


def test_what_was_cut_off_does_not_pass() -> None:
    context = {"vars": {"scene": SCENE}, "providerResponse": {"finishReason": "length"}}
    found = get_assert(RIGHT, context)
    assert (found["pass"], found["reason"]) == (False, "not scored: it was cut off, or is empty")
    assert get_assert(RIGHT, context | {"providerResponse": {"finishReason": "stop"}})["pass"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("promptfoo") is None, reason="promptfoo is not installed")
def test_promptfoo_itself_takes_it(tmp_path: Path) -> None:
    (tmp_path / "audit.py").write_text("from symbouq.integrations.promptfoo import get_assert\n")
    config = {
        "prompts": ["{{said}}"],
        "providers": ["echo"],
        "defaultTest": {
            "vars": {"scene": SCENE, "question": ASKED},
            "assert": [{"type": "python", "value": "file://audit.py"}],
        },
        "tests": [{"vars": {"said": RIGHT}}, {"vars": {"said": WRONG}}],
    }
    (tmp_path / "promptfooconfig.json").write_text(json.dumps(config))
    off = ("DISABLE_TELEMETRY", "DISABLE_UPDATE", "DISABLE_REMOTE_GENERATION", "SELF_HOSTED")
    environment = os.environ | {f"PROMPTFOO_{name}": "1" for name in off}
    environment |= {
        "PROMPTFOO_PYTHON": sys.executable,
        "PROMPTFOO_CONFIG_DIR": str(tmp_path / "own"),
    }
    command = ["promptfoo", "eval", "-c", "promptfooconfig.json", "-o", "out.json", "--no-cache"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    out = json.loads((tmp_path / "out.json").read_text())
    results = {each["vars"]["said"]: each["gradingResult"] for each in out["results"]["results"]}
    assert results[RIGHT]["pass"] is True, done.stdout + done.stderr
    assert results[WRONG]["pass"] is False
    assert "contradicted: The lamp is below" in results[WRONG]["reason"]
