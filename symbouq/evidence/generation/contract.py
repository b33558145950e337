"""What a generating model is told and what it may write (appendices Generation and Alignment,
Prompt Contracts).

A prompt is one user message, without a system role: some chat templates refuse one. The
allowed answers are told, the reference answer never is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symbouq.auditing.matching import space_of
from symbouq.errors import RecordError
from symbouq.records import Instance

STEPS = 6
"""Most reasoning strings of a trace."""
STEP_LENGTH = 96
"""Most characters of a reasoning string."""
CONCLUSION_LENGTH = 64
"""Most characters of the conclusion."""

TEXT_PATTERN = r"^[A-Za-z0-9,.'():;\-][A-Za-z0-9 ,.'():;\-]{0,%d}$"
"""What a string may hold. Some engines let control characters and empty strings through
where only a length is given, so the characters are named, and the first is no space."""


def _string(length: int) -> dict[str, Any]:
    return {
        "type": "string",
        "minLength": 1,
        "maxLength": length,
        "pattern": TEXT_PATTERN % (length - 1),
    }


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reasoning": {
            "type": "array",
            "items": _string(STEP_LENGTH),
            "minItems": 1,
            "maxItems": STEPS,
        },
        "conclusion": _string(CONCLUSION_LENGTH),
    },
    "required": ["reasoning", "conclusion"],
    "additionalProperties": False,
}
"""JSON Schema of a structured trace."""

STRUCTURED = (
    "Return an object with this shape: "
    '{"reasoning":["atomic spatial step", "..."], "conclusion":"final answer"}. '
    "Include 1-6 short, non-empty reasoning steps and exactly one short, non-empty conclusion."
)
"""The instruction of the appendix for structured traces."""

FREE_FORM = (
    "Think step by step in plain sentences, then give the final answer on a last line that "
    'starts with "Answer:".'
)
"""The instruction for free-form traces."""

_TASKS = {
    "directions": "Where is the first thing from the second?",
    "yes-no": "Answer the question by the scene.",
    "entailment": "Does the statement follow from the scene?",
    "consistency": "Can the scene be true?",
    "relations": "Which relations hold between the things?",
    "composition": "Which relations can hold between the things?",
    "blocks": "Which blocks fit?",
    "moves": "Which way leads there?",
    "choice": "Choose the answer by the scene.",
}
"""The task of each answer space, as `symbouq.auditing.matching` names them."""

_CHOICE = {
    "single": "Conclude with one of: {}.",
    "set": "Conclude with one or more of: {}.",
    "sequence": "Conclude with a sequence of: {}.",
}


def user_message(instance: Instance, answer_space: Sequence[str], free_form: bool = False) -> str:
    """The whole user message for a question.

    Args:
        instance: Scene and question.
        answer_space: The labels that an answer may have; empty where anything may be said.
        free_form: Whether the model writes prose in place of the structured object.

    Raises:
        RecordError: If the scene is given in relations only.
    """
    if instance.scene is None:
        raise RecordError(f"record {instance.id}: a prompt needs `scene` in text")
    scene = instance.scene if isinstance(instance.scene, str) else " ".join(instance.scene)
    task = _TASKS["choice"]
    if answer_space:
        space = space_of(answer_space)
        task = f"{_TASKS[space.name]} {_CHOICE[space.kind].format(', '.join(space.labels))}"
    asked = [f"Question: {instance.question}"] if instance.question else []
    return "\n".join([task, *asked, f"Scene: {scene}", FREE_FORM if free_form else STRUCTURED])


@dataclass(frozen=True)
class Structured:
    """A structured trace as a model wrote it.

    Attributes:
        reasoning: The reasoning strings.
        conclusion: The delivered answer.
    """

    reasoning: tuple[str, ...]
    conclusion: str

    def encoded(self) -> str:
        """The trace as the JSON text that a model is to write."""
        value = {"reasoning": list(self.reasoning), "conclusion": self.conclusion}
        return json.dumps(value, ensure_ascii=False)

    @classmethod
    def of(cls, text: str) -> Structured | None:
        """The trace that a text holds, or None if it is not one under `SCHEMA`."""
        try:
            value = json.loads(text)
        except ValueError:
            return None
        if not isinstance(value, dict) or value.keys() != {"reasoning", "conclusion"}:
            return None
        steps, conclusion = value["reasoning"], value["conclusion"]
        if not isinstance(steps, list) or not 1 <= len(steps) <= STEPS:
            return None
        if not all(_fits(step, STEP_LENGTH) for step in steps):
            return None
        if not _fits(conclusion, CONCLUSION_LENGTH):
            return None
        return cls(tuple(steps), conclusion)


def _fits(text: Any, length: int) -> bool:
    return isinstance(text, str) and bool(re.search(TEXT_PATTERN % (length - 1), text))
