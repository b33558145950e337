"""A metric for deepeval: `assert_test(case, [SpatialAudit(profile="everyday")])`."""

from __future__ import annotations

import asyncio
from typing import Any

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from symbouq.auditing.explain import claims_told
from symbouq.io.adapters.prompts import split_prompt
from symbouq.rewards import TIMEOUT, reward


class SpatialAudit(BaseMetric):
    """Metric that audits the claims of an answer about a scene. The scene is the `context` of the
    test case, otherwise the text before the question in its `input`. The right answer, if known, is
    its `expected_output`.

    The score is the `total` of `symbouq.rewards`; its parts are in `score_breakdown`, the claims in
    `reason`. By default, a test case passes if no claim is contradicted and the answer is right. A
    case in which nothing is decided is skipped.
    """

    def __init__(
        self, threshold: float = 1.0, profile: str | None = None, timeout: float | None = TIMEOUT
    ) -> None:
        self.threshold = threshold
        self._profile = profile
        self._timeout = timeout

    @property
    def __name__(self) -> str:
        return "Spatial audit"

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """Return the score of a test case; None if nothing is decided."""
        scene, question = test_case.context, test_case.input
        if not scene:
            scene, question = split_prompt(test_case.input)
        found = reward(
            scene,
            test_case.actual_output or "",
            question,
            answer=test_case.expected_output,
            profile=self._profile,
            timeout=self._timeout,
        )
        self.score = found.total
        self.score_breakdown = {n: value for n, value in found.values.items() if value == value}
        self.reason = "\n".join(claims_told(found.audit)) if found.audit else found.fault
        self.skipped = found.total is None
        self.is_successful()
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """Do the same as `measure` without blocking other work."""
        return await asyncio.to_thread(self.measure, test_case)
