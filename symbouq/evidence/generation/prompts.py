"""Prompts for generation: the user message and its tokens.

A prompt is one user message. There is no system message, because some chat templates reject it. The
prompt lists the allowed answers but does not reveal the right one.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from symbouq.auditing.answers import space_of
from symbouq.errors import RecordError, SymboUQError
from symbouq.evidence.contract import FREE_FORM, STRUCTURED
from symbouq.records import Instance

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

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
"""Task description for each answer space named in `symbouq.auditing.answers`."""

_CHOICE = {
    "single": "Conclude with one of: {}.",
    "set": "Conclude with one or more of: {}.",
    "sequence": "Conclude with a sequence of: {}.",
}
"""Instructions that list the labels, for each kind of answer."""

_DATE = "26 Jul 2024"
"""Fixed date for templates that contain the current date, so that prompts do not change daily."""


def user_message(instance: Instance, free_form: bool = False) -> str:
    """Write the user message for a question. It lists the labels if `answer_space` is a list.

    Raises:
        RecordError: If the scene is given only as relations.
    """
    if instance.scene is None:
        raise RecordError(f"record {instance.id}: a prompt needs `scene` in text")
    scene = instance.scene if isinstance(instance.scene, str) else " ".join(instance.scene)
    task = _TASKS["choice"]
    labels = getattr(instance, "answer_space", None)
    if isinstance(labels, list) and labels:
        space = space_of(map(str, labels))
        task = f"{_TASKS[space.name]} {_CHOICE[space.kind].format(', '.join(space.labels))}"
    asked = [f"Question: {instance.question}"] if instance.question else []
    return "\n".join([task, *asked, f"Scene: {scene}", FREE_FORM if free_form else STRUCTURED])


class Chat:
    """Chat template for a model: the model's own template, or one from a Jinja file.

    Thinking mode is switched off. A schema leaves no room for thoughts, and in free-form traces the
    text itself is the reasoning.

    Raises:
        SymboUQError: If there is no template, or the file cannot be read.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, file: str | None = None) -> None:
        self._tokenizer = tokenizer
        self._name = file or tokenizer.name_or_path
        self._template = _template(tokenizer, file)

    @property
    def hash(self) -> str:
        """Hexadecimal SHA-256 of the template."""
        return hashlib.sha256(self._template.encode()).hexdigest()

    def render(self, message: str) -> str:
        """Render the prompt for a user message, up to the start of the model's reply.

        Raises:
            SymboUQError: If the template cannot render it.
        """
        from jinja2 import TemplateError

        try:
            rendered = self._tokenizer.apply_chat_template(
                [{"role": "user", "content": message}],
                chat_template=self._template,
                tokenize=False,
                add_generation_prompt=True,
                date_string=_DATE,
                enable_thinking=False,
            )
        except TemplateError as error:
            raise SymboUQError(f"the chat template fails: {error}", self._name) from error
        return str(rendered)

    def ids(self, message: str) -> list[int]:
        """Return the token ids of the rendered prompt. No special tokens are added to those in the
        template.

        Raises:
            SymboUQError: If the template cannot render it.
        """
        prompt = self.render(message)
        ids: list[int] = self._tokenizer(prompt, add_special_tokens=False)["input_ids"]
        return ids


def _template(tokenizer: PreTrainedTokenizerBase, file: str | None) -> str:
    if file is not None:
        try:
            return Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise SymboUQError(f"the chat template cannot be read: {reason}", file) from error
    if not tokenizer.chat_template:
        raise SymboUQError(
            "the tokenizer has no chat template, so the model cannot be asked as it was "
            "trained to be; give a Jinja template as a file (--chat-template FILE)",
            tokenizer.name_or_path,
        )
    try:
        return tokenizer.get_chat_template()
    except ValueError as error:  # there are several templates, and none is the default
        raise SymboUQError(f"{error} (--chat-template FILE)", tokenizer.name_or_path) from error
