"""The output contract for traces: the instruction for the model and the schema of its structured
output (appendices Generation and Alignment, Prompt Contracts).
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

STEPS = 6
"""Maximum number of reasoning strings in a trace."""
STEP_LENGTH = 96
"""Maximum number of characters in a reasoning string."""
CONCLUSION_LENGTH = 64
"""Maximum number of characters in the conclusion."""


def string_schema(length: int) -> dict[str, Any]:
    """JSON Schema of a non-empty string of at most `length` characters."""
    return {"type": "string", "minLength": 1, "maxLength": length, "pattern": _pattern(length)}


def _pattern(length: int) -> str:
    # If only a length is given, some engines allow control characters and empty strings. Quotes and
    # backslashes are excluded because JSON escapes them. Without escapes, each string appears
    # verbatim in the response, so tokens can be aligned with it. The first character is never a
    # space.
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
"""The appendix's instruction for structured traces."""

_PLACEHOLDERS = ("atomic spatial step", "...", "final answer")
"""Placeholders in `STRUCTURED` for the first step, the remaining steps and the conclusion."""

FREE_FORM = (
    "Think step by step in plain sentences, then give the final answer on a last line that "
    'starts with "Answer:".'
)
"""The instruction for free-form traces."""

REVISION = "An earlier answer was:\n{answer}\n{finding}\nGive the whole answer again, without that."
"""The text added to a question when its answer is requested again."""
CONFLICT = "Logic shows that a step of it cannot be right:\n{conflict}"
"""The finding for an answer with a conflict."""
MISSHAPEN = "It does not have the form that was asked for."
"""The finding for an answer that is not a valid trace."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid", strict=True, regex_engine="rust-regex"))
class Structured:
    """A structured trace, valid under `SCHEMA`.

    Raises:
        ValueError: If a string or the number of strings violates the schema.
    """

    reasoning: Annotated[
        tuple[Annotated[str, Field(pattern=_pattern(STEP_LENGTH))], ...],
        Field(min_length=1, max_length=STEPS),
    ]
    conclusion: Annotated[str, Field(pattern=_pattern(CONCLUSION_LENGTH))]

    @property
    def copied(self) -> bool:
        """Whether any string in the trace merely copies a placeholder from the instruction."""
        said = {text.strip().lower().rstrip(".") for text in (*self.reasoning, self.conclusion)}
        return not said.isdisjoint(text.rstrip(".") for text in _PLACEHOLDERS)

    def encoded(self) -> str:
        """Return the JSON text that a model should write for this trace."""
        value = {"reasoning": list(self.reasoning), "conclusion": self.conclusion}
        return json.dumps(value, ensure_ascii=False)

    @classmethod
    def of(cls, text: str) -> Structured | None:
        """Parse the trace in `text`. None if the text is not valid under `SCHEMA`."""
        try:
            return TypeAdapter(cls).validate_json(text)
        except ValidationError:
            return None


LONGEST = len(Structured(("x" * STEP_LENGTH,) * STEPS, "x" * CONCLUSION_LENGTH).encoded())
"""Length in characters of the longest possible structured trace."""
