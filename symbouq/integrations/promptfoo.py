"""An assertion of promptfoo, for a file beside its configuration that says

    from symbouq.integrations.promptfoo import get_assert

and is named there: `assert: [{type: python, value: file://audit.py, config: {profile: everyday}}]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symbouq.auditing.explain import claims_told
from symbouq.io.adapters.prompts import split_prompt
from symbouq.rewards import TIMEOUT, UNDECIDED, reward

_GIVEN = ("answer", "answer_space", "dataset", "profile")


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """The audit of an output: it passes where no claim is contradicted and the answer is not wrong.

    `scene` and `question`, and where they are known `answer`, `answer_space`, `dataset` and
    `profile`, are variables of the test, or settings of the assertion (`config`), which go first;
    without `scene`, scene and question are found in the prompt. The score is the `total` of
    `symbouq.rewards`, and a half where nothing was decided.

    Args:
        output: What the provider gave.
        context: What promptfoo knows of the test.
    """
    given = {**(context.get("vars") or {}), **(context.get("config") or {})}
    scene, question = given.get("scene"), given.get("question") or ""
    if not scene:
        scene, question = split_prompt(str(context.get("prompt") or ""))
    if not scene:
        reason = "there is no scene: name it as the variable `scene`"
        return {"pass": False, "score": 0.0, "reason": reason}
    found = reward(
        scene,
        output,
        question,
        timeout=given.get("timeout", TIMEOUT),
        **{name: given.get(name) for name in _GIVEN},
    )
    if found.audit is None:
        return {"pass": False, "score": 0.0, "reason": f"not audited: {found.fault}"}
    return {
        "pass": found.first_error is None and found.outcome != 0,
        "score": UNDECIDED if found.total is None else found.total,
        "reason": "\n".join(claims_told(found.audit)),
        "namedScores": {name: value for name, value in found.values.items() if value == value},
    }
