"""From a user message to the tokens that a model is given."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symbouq.errors import SymboUQError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_DATE = "26 Jul 2024"
"""For templates that tell the date: a prompt must not depend on the day."""


class Chat:
    """A model's chat template.

    A message is the user's; there is no system message, which some templates refuse.
    Models that can think before they answer are told not to where the text has a schema,
    which leaves no room for thoughts; for free text the template decides.

    Args:
        tokenizer: The model's tokenizer.
        file: A file with a Jinja template, in place of the tokenizer's own.

    Raises:
        SymboUQError: If there is no template, or its file cannot be read.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, file: str | None = None) -> None:
        self._tokenizer = tokenizer
        self._name = file or tokenizer.name_or_path
        self._template = _read(file) if file is not None else _own(tokenizer)

    @property
    def hash(self) -> str:
        """SHA-256 of the template, as hexadecimal digits."""
        return hashlib.sha256(self._template.encode()).hexdigest()

    def render(self, message: str, structured: bool) -> str:
        """The whole prompt, up to where the model's text begins.

        Args:
            message: The user message.
            structured: Whether the text has a schema.

        Raises:
            SymboUQError: If the template cannot render it.
        """
        from jinja2 import TemplateError

        options: dict[str, Any] = {"date_string": _DATE}
        if structured:
            options["enable_thinking"] = False
        try:
            rendered = self._tokenizer.apply_chat_template(
                [{"role": "user", "content": message}],
                chat_template=self._template,
                tokenize=False,
                add_generation_prompt=True,
                **options,
            )
        except TemplateError as error:
            raise SymboUQError(f"the chat template fails: {error}", self._name) from error
        return str(rendered)

    def ids(self, message: str, structured: bool) -> list[int]:
        """The same as tokens; special tokens are those that the template writes.

        Raises:
            SymboUQError: If the template cannot render it.
        """
        prompt = self.render(message, structured)
        ids: list[int] = self._tokenizer(prompt, add_special_tokens=False)["input_ids"]
        return ids


def _own(tokenizer: PreTrainedTokenizerBase) -> str:
    if not tokenizer.chat_template:
        raise SymboUQError(
            "the tokenizer has no chat template, so the model cannot be asked as it was "
            "trained to be; give a Jinja template as a file (--chat-template FILE)",
            tokenizer.name_or_path,
        )
    try:
        return tokenizer.get_chat_template()
    except ValueError as error:  # several, and none of them is the one to take
        raise SymboUQError(f"{error} (--chat-template FILE)", tokenizer.name_or_path) from error


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SymboUQError(f"the chat template cannot be read: {reason}", file) from error
