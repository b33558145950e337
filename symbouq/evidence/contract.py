"""Output contract of traces: the instruction for the model, and the schema of structured output
(appendices Generation and Alignment, Prompt Contracts).
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

STEPS = 6
"""Most reasoning strings of a trace."""
STEP_LENGTH = 96
"""Most characters of a reasoning string."""
CONCLUSION_LENGTH = 64
"""Most characters of the conclusion."""


def string_schema(length: int) -> dict[str, Any]:
    """JSON Schema of a non-empty string of at most `length` characters."""
    return {"type": "string", "minLength": 1, "maxLength": length, "pattern": _pattern(length)}


def _pattern(length: int) -> str:
    # Some engines let control characters and empty strings through where only a length is given.
    # Quotes and backslashes are those that JSON escapes: without them a string stands in the text
    # as it is, and tokens are aligned with it. The first character is no space.
    barred = r"\x00-\x1F\x7F-\x9F\"\\"
    return rf"^[^\s{barred}][^{barred}]{{0,{length - 1}}}$"


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reasoning": {
            "type": "array",
            "items": string_schema(STEP_LENGTH),
            "minItems": 1,
            "maxItems": STEPS,
        },
        "conclusion": string_schema(CONCLUSION_LENGTH),
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

_PLACEHOLDERS = ("atomic spatial step", "...", "final answer")
"""What stands in it for a step, for further ones and for the conclusion."""

FREE_FORM = (
    "Think step by step in plain sentences, then give the final answer on a last line that "
    'starts with "Answer:".'
)
"""The instruction for free-form traces."""

REVISION = "An earlier answer was:\n{answer}\n{finding}\nGive the whole answer again, without that."
"""What is added to a question whose answer is to be given again."""
CONFLICT = "Logic shows that a step of it cannot be right:\n{conflict}"
"""The finding on an answer with a conflict."""
MISSHAPEN = "It does not have the form that was asked for."
"""The finding on a text that is no trace."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid", strict=True, regex_engine="rust-regex"))
class Structured:
    """A structured trace, valid under `SCHEMA`.

    Raises:
        ValueError: If a string, or their number, does not keep to the schema.
    """

    reasoning: Annotated[
        tuple[Annotated[str, Field(pattern=_pattern(STEP_LENGTH))], ...],
        Field(min_length=1, max_length=STEPS),
    ]
    conclusion: Annotated[str, Field(pattern=_pattern(CONCLUSION_LENGTH))]

    @property
    def copied(self) -> bool:
        """Whether a string is a placeholder of the instruction: valid, but empty of meaning."""
        said = {text.strip().lower().rstrip(".") for text in (*self.reasoning, self.conclusion)}
        return not said.isdisjoint(text.rstrip(".") for text in _PLACEHOLDERS)

    def encoded(self) -> str:
        """The trace as the JSON text that a model should write."""
        value = {"reasoning": list(self.reasoning), "conclusion": self.conclusion}
        return json.dumps(value, ensure_ascii=False)

    @classmethod
    def of(cls, text: str) -> Structured | None:
        """The trace in a text; None if the text is not valid under `SCHEMA`."""
        try:
            return TypeAdapter(cls).validate_json(text)
        except ValidationError:
            return None


LONGEST = len(Structured(("x" * STEP_LENGTH,) * STEPS, "x" * CONCLUSION_LENGTH).encoded())
"""Characters of the longest structured trace."""
