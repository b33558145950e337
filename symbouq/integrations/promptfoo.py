"""An assertion for promptfoo. A file next to its configuration contains

    from symbouq.integrations.promptfoo import get_assert

and is named in the configuration: `assert: [{type: python, value: file://audit.py, config:
{profile: everyday}}]`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from symbouq.auditing.explain import claims_told
from symbouq.io.adapters.prompts import split_prompt
from symbouq.io.messages import is_truncated
from symbouq.rewards import TIMEOUT, UNDECIDED, reward

_GIVEN = ("answer", "answer_space", "dataset", "profile")


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """Audit an output. It passes if no claim is contradicted and the answer is not wrong.

    `scene` and `question` and, if known, `answer`, `answer_space`, `dataset` and `profile` are
    settings of the assertion (`config`) or variables of the test. Without `scene`, both are found
    in the prompt. The score is the `total` of `symbouq.rewards`, or 0.5 if nothing is decided.
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
        output if isinstance(output, str) else json.dumps(output) if output else "",
        question,
        timeout=given.get("timeout", TIMEOUT),
        truncated=is_truncated(context.get("providerResponse")),
        **{name: given.get(name) for name in _GIVEN},
    )
    if found.audit is None or found.truncated:
        return {"pass": False, "score": 0.0, "reason": f"not scored: {found.fault}"}
    return {
        "pass": found.first_error is None and found.outcome != 0,
        "score": UNDECIDED if found.total is None else found.total,
        "reason": "\n".join(claims_told(found.audit)),
        "namedScores": {name: value for name, value in found.values.items() if value == value},
    }
