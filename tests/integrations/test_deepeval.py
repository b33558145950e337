from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "1", "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0"}
pytest.importorskip("deepeval", reason="deepeval is not installed (extra `deepeval`)")

from deepeval import assert_test
from deepeval.test_case import LLMTestCase

from symbouq.integrations.deepeval import SpatialAudit

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the host's own

SCENE = ["The lamp is above the desk.", "The desk is left of the door."]
ASKED = "Where is the lamp relative to the door?"
RIGHT = "The lamp is upper left of the door. Answer: upper left"
WRONG = "The lamp is upper left of the door. So the lamp is below the door. Answer: upper left"


def case(said: str, **more: Any) -> LLMTestCase:
    return LLMTestCase(**{"input": ASKED, "actual_output": said, "context": SCENE} | more)


def test_what_is_right_succeeds() -> None:
    metric = SpatialAudit()
    assert metric.measure(case(RIGHT, expected_output="upper left")) == 1.0
    assert (metric.is_successful(), metric.score_breakdown["outcome"]) == (True, 1.0)
    assert "1. entailed" in (metric.reason or "")
    assert_test(case(RIGHT), [SpatialAudit()])


def test_what_is_wrong_fails_with_the_reason() -> None:
    metric = SpatialAudit()
    score = asyncio.run(metric.a_measure(case(WRONG, expected_output="upper left")))
    assert score is not None and 0 < score < 1
    assert metric.is_successful() is False
    assert "2. contradicted: So the lamp is below the door." in (metric.reason or "")
    assert SpatialAudit(threshold=score).measure(case(WRONG)) is not None
    with pytest.raises(AssertionError, match="Spatial audit"):
        assert_test(case(WRONG), [SpatialAudit()])


def test_what_is_not_decided_is_skipped() -> None:
    metric = SpatialAudit()
    assert metric.measure(case("The mat is near the lamp.")) is None
    assert metric.skipped
    assert_test(
        case("The mat is near the lamp."), [SpatialAudit(), SpatialAudit(profile="everyday")]
    )


def test_the_scene_may_stand_in_the_input() -> None:
    asked = " ".join(SCENE) + "\n\n" + ASKED
    assert SpatialAudit().measure(case(RIGHT, input=asked, context=None)) == 1.0
    metric = SpatialAudit()
    assert metric.measure(case(RIGHT, input="Hello", context=None)) is None
