"""Find scene and question in a prompt.

The convention for a prompt without separate fields:

- The question is the last sentence that ends in a question mark.
- The scene is the text before it. It begins after the last few-shot example, or after a label such
  as `Story:` that follows this example. An example ends with the paragraph that contains an earlier
  question or an `Answer:`, or with a rule such as `###`.
- If there is no text before the question, the scene is the text after it, up to an `Answer:`.
- In chat messages, the user's last one counts. If this message has no scene, all system and user
  messages are used together.

A pattern with groups `scene` and `question` replaces this convention; its last match counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from symbouq.errors import RecordError
from symbouq.io.messages import written
from symbouq.io.values import decoded, described

_SCENE = r"stor(?:y|ies)|context|scene|passage|text|description|facts?|premises?|input|situation"
_QUESTION = r"questions?|q|query"
_HEADED = r"(?:#+|\*\*)[ \t]*(?:%s)\b[ \t]*\d*[*:]*"
_PLAIN = r"(?:%s)\b[ \t]*\d*[ \t]*:"


def _label(names: str, before: str = r"^[ \t]*", after: str = "") -> re.Pattern[str]:
    """Return the pattern for labels such as `Story:`, `Question 2:`, `**Answer:**` and `###
    Context`.
    """
    return re.compile(
        rf"{before}(?:{_HEADED % names}|{_PLAIN % names}){after}", re.IGNORECASE | re.MULTILINE
    )


_SCENE_LABEL = _label(_SCENE)
_ANSWER_LABEL = _label(r"(?:final )?answer|output|response|solution")
_SHORT_ANSWER_LABEL = _label("a")
_QUESTION_LABEL = _label(_QUESTION, r"(?<!\S)")
_LAST_QUESTION_LABEL = _label(_QUESTION, r"(?<!\S)", r"\s*\Z")
_RULE = re.compile(r"^[ \t]*([-=#*_~])\1{2,}[ \t]*$", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?][\"')\]*]*\s+|\n")
_BLANK = re.compile(r"\n[ \t]*\n")
_MARKUP = re.compile(
    r"<\|(?:im_start|start_header_id|header_start|start)\|>[ \t]*\w*(?:<\|[^|<>]*\|>)?"
    r"|<start_of_turn>\w*|<end_of_turn>|<\|[^|<>]{1,40}\|>|\[/?INST\]|<</?SYS>>|</?s>|<bos>|<eos>"
)
"""Matches the marks that chat templates put between messages, with the name of the role."""


def split_prompt(prompt: Any, pattern: str | None = None) -> tuple[str, str]:
    """Return the scene and question of a prompt; empty if they are not found.

    Args:
        prompt: A text, or chat messages. Messages may also be encoded as JSON.
        pattern: A regular expression to use instead of the convention.

    Raises:
        RecordError: If the prompt has another type, or the pattern matches nothing.
    """
    texts = list(_texts(prompt))
    if pattern is not None:
        return _matched(texts, pattern)
    scene = question = ""
    for text in texts:
        scene, question = _by_convention(text)
        if scene:
            break
    return scene, question


def _texts(prompt: Any) -> Iterator[str]:
    """Yield the texts that may contain scene and question, the most likely one first."""
    if isinstance(prompt, str) and prompt.lstrip().startswith(("[{", "[\n")):
        try:
            prompt = decoded(prompt.encode())
        except (RecordError, UnicodeEncodeError):
            yield prompt
            return
    if isinstance(prompt, str):
        yield prompt
        return
    if not isinstance(prompt, list) or not all(isinstance(m, dict) for m in prompt):
        raise RecordError(
            f"prompt: expected a text or a list of messages, found {described(prompt)}"
        )
    asked = [m for m in prompt if m.get("role") in ("system", "developer", "user")]
    yield from (written(m).text for m in asked[-1:])
    yield "\n\n".join(written(m).text for m in asked)


def _matched(texts: list[str], pattern: str) -> tuple[str, str]:
    for text in texts:
        for match in reversed(list(re.finditer(pattern, text))):
            groups = match.groupdict(default="")
            return groups["scene"].strip(), groups.get("question", "").strip()
    raise RecordError(f"the prompt has nothing that --prompt-split {pattern!r} matches")


def _by_convention(text: str) -> tuple[str, str]:
    text = _MARKUP.sub("\n\n", text)
    mark = text.rfind("?")
    if mark < 0:
        return _scene(text), ""
    ends = [m.end() for p in (_SENTENCE_END, _QUESTION_LABEL) for m in p.finditer(text, 0, mark)]
    begin = max(ends, default=0)
    scene = _scene(_LAST_QUESTION_LABEL.sub("", text[:begin]))
    if not scene:
        after = text[mark + 1 :]
        answer = _ANSWER_LABEL.search(after)
        scene = _scene(after[: answer.start()] if answer else after)
    return scene, text[begin : mark + 1].strip()


def _scene(text: str) -> str:
    start = _example_end(text)
    label = _SCENE_LABEL.search(text, start)
    return text[label.end() if label else start :].strip()


def _example_end(text: str) -> int:
    rules = [(m.end(), True) for m in _RULE.finditer(text)]
    labels = [_ANSWER_LABEL]
    if _QUESTION_LABEL.search(text):  # otherwise `A:` may be a thing in the scene
        labels.append(_SHORT_ANSWER_LABEL)
    answers = [(m.end(), False) for label in labels for m in label.finditer(text)]
    asked = [(m.end(), False) for m in re.finditer(r"\?", text)]
    last, is_rule = max([(0, True), *rules, *answers, *asked])
    if is_rule:
        return last
    blank = _BLANK.search(text, last)
    line = text.find("\n", last)
    ends = [blank.end() if blank else len(text), line + 1 if line >= 0 else len(text)]
    if (last, False) in asked:
        ends.append(last)
    return next((end for end in ends if text[end:].strip()), len(text))
