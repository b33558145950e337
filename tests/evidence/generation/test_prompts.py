"""Golden renderings in the styles of the four families' templates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from symbouq.errors import SymboUQError
from symbouq.evidence.generation.prompts import Chat

transformers = pytest.importorskip("transformers", reason="the extra `models` is not installed")

MISTRAL = (
    "{{ bos_token }}{% for m in messages %}"
    "{% if m['role'] == 'user' %}{{ '[INST] ' + m['content'] + '[/INST]' }}"
    "{% elif m['role'] == 'assistant' %}{{ ' ' + m['content'] + eos_token }}"
    "{% else %}{{ raise_exception('Only user and assistant roles are supported') }}{% endif %}"
    "{% endfor %}"
)
LLAMA = (
    "{% if not date_string is defined %}{% set date_string = strftime_now('%d %b %Y') %}{% endif %}"
    "{{ bos_token }}{{ '<|start_header_id|>system<|end_header_id|>\n\n' }}"
    "{{ 'Today Date: ' + date_string + '\n\n<|eot_id|>' }}"
    "{% for m in messages %}"
    "{{ '<|start_header_id|>' + m['role'] + '<|end_header_id|>\n\n' + m['content'] | trim + '<|eot_id|>' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)
GEMMA = (
    "{{ bos_token }}"
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for m in messages %}"
    "{% set role = 'model' if m['role'] == 'assistant' else m['role'] %}"
    "{{ '<start_of_turn>' + role + '\n' + m['content'] | trim + '<end_of_turn>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)
QWEN = (
    "{% for m in messages %}"
    "{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
    "{% if enable_thinking is defined and enable_thinking is false %}{{ '<think>\n\n</think>\n\n' }}{% endif %}"
    "{% endif %}"
)
MESSAGE = "Where is A from B?\nScene: A is left of B."


def tokenizer(template: str | None, bos: str | None = None) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = Tokenizer(models.WordLevel({"<unk>": 0}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, bos_token=bos, eos_token="<end>", chat_template=template
    )


@pytest.mark.parametrize(
    ("template", "bos", "expected"),
    [
        (MISTRAL, "<s>", f"<s>[INST] {MESSAGE}[/INST]"),
        (
            LLAMA,
            "<|begin_of_text|>",
            "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n"
            "Today Date: 26 Jul 2024\n\n<|eot_id|>"
            f"<|start_header_id|>user<|end_header_id|>\n\n{MESSAGE}<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n",
        ),
        (
            GEMMA,
            "<bos>",
            f"<bos><start_of_turn>user\n{MESSAGE}<end_of_turn>\n<start_of_turn>model\n",
        ),
        (
            QWEN,
            None,
            f"<|im_start|>user\n{MESSAGE}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
        ),
    ],
    ids=["mistral", "llama", "gemma", "qwen"],
)
def test_golden_rendering(template: str, bos: str | None, expected: str) -> None:
    assert Chat(tokenizer(template, bos)).render(MESSAGE) == expected


def test_special_tokens_are_those_of_the_template_alone(tiny: Path) -> None:
    loaded = transformers.AutoTokenizer.from_pretrained(tiny)
    ids = Chat(loaded).ids("A")
    assert loaded.convert_ids_to_tokens(ids) == [
        "<|bos|>",
        "<|user|>",
        "A",
        "<|end|>",
        "<|assistant|>",
    ]


def test_no_template_says_what_to_do() -> None:
    with pytest.raises(SymboUQError, match=r"no chat template.*--chat-template FILE"):
        Chat(tokenizer(None))


def test_several_templates_and_no_default() -> None:
    several: Any = {"tools": QWEN, "search": QWEN}
    with pytest.raises(SymboUQError, match=r"--chat-template FILE"):
        Chat(tokenizer(several))
    assert Chat(tokenizer({"tools": QWEN, "default": GEMMA})).hash == Chat(tokenizer(GEMMA)).hash  # type: ignore[arg-type]


def test_template_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "chat.jinja"
    file.write_text(GEMMA)
    chat = Chat(tokenizer(None, "<bos>"), str(file))
    assert chat.render("A?").startswith("<bos><start_of_turn>user\nA?")
    assert chat.hash == Chat(tokenizer(GEMMA)).hash != Chat(tokenizer(QWEN)).hash


def test_template_that_fails(tmp_path: Path) -> None:
    refusing = "{{ raise_exception('not today') }}"
    with pytest.raises(SymboUQError, match="the chat template fails: not today"):
        Chat(tokenizer(refusing)).render("A?")
    with pytest.raises(SymboUQError, match="the chat template fails"):
        Chat(tokenizer("{% for %}")).render("A?")


def test_template_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SymboUQError, match=r"missing\.jinja: the chat template cannot be read"):
        Chat(tokenizer(None), str(tmp_path / "missing.jinja"))
