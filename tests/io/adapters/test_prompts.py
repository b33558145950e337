"""Where a prompt holds scene and question."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbouq.errors import RecordError
from symbouq.io.adapters.prompts import split_prompt

SCENE = "The cup is left of the pot. The pot is below the lid."
QUESTION = "Where is the cup relative to the lid?"
OTHER = "The hat is on the hook."

PROMPTS = {
    "one line": f"{SCENE} {QUESTION}",
    "one paragraph": f"{SCENE}\n{QUESTION}",
    "two paragraphs": f"{SCENE}\n\n{QUESTION}\n",
    "labels": f"Story: {SCENE}\nQuestion: {QUESTION}\nAnswer:",
    "labels on one line": f"Context: {SCENE} Question: {QUESTION} Answer:",
    "labels on lines of their own": f"### Story\n{SCENE}\n\n### Question\n{QUESTION}\n\n### Answer\n",
    "bold labels": f"**Scene:** {SCENE}\n\n**Question:** {QUESTION}",
    "numbered labels": f"Story 3: {SCENE}\nQuestion 3: {QUESTION}",
    "short labels": f"{SCENE}\nQ: {QUESTION}\nA:",
    "short labels without space": f"{SCENE}\nQ:{QUESTION}",
    "an instruction before a label": f"Is it clear what to do?\n\nStory: {SCENE}\n{QUESTION}",
    "a format after the question": f"{SCENE}\n{QUESTION} Choose from left, right.\nAnswer:",
    "the question first": f"{QUESTION}\n{SCENE}",
    "the question first, labels": f"Question: {QUESTION}\nStory: {SCENE}\nAnswer:",
    "an example, blank lines": f"Story: {OTHER}\nQuestion: Where is it?\nAnswer: hook\n\n"
    f"Story: {SCENE}\nQuestion: {QUESTION}\nAnswer:",
    "an example, no labels": f"{OTHER} Where is it?\nhook\n\n{SCENE} {QUESTION}",
    "an example, no blank line": f"{OTHER} Where is it?\nAnswer: hook\n{SCENE} {QUESTION}",
    "an example, short labels": f"{OTHER}\nQ: Where is it?\nA: hook\n\n{SCENE}\nQ: {QUESTION}\nA:",
    "an example on the same line": f"{OTHER} Where is it? {SCENE} {QUESTION}",
    "an example with steps": f"{OTHER} Where is it?\nAnswer: step 1\nstep 2\n\n{SCENE}\n{QUESTION}",
    "a rule": f"{OTHER}\n###\n{SCENE}\n{QUESTION}",
    "a rule of dashes": f"{OTHER}\n\n-----\n\n{SCENE}\n\n{QUESTION}",
    "a chat template": f"<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nStory: {SCENE}\n"
    f"{QUESTION}<|im_end|>\n<|im_start|>assistant\n",
    "headers": "<|start_header_id|>user<|end_header_id|>\n\n"
    f"{SCENE}\n{QUESTION}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    "instruction marks": f"<s>[INST] {SCENE} {QUESTION} [/INST]",
    "turns": f"<start_of_turn>user\n{SCENE}\n{QUESTION}<end_of_turn>\n<start_of_turn>model\n",
    "messages": [{"role": "user", "content": f"{SCENE} {QUESTION}"}],
    "messages with an example": [
        {"role": "system", "content": "Answer in one word."},
        {"role": "user", "content": f"{OTHER} Where is it?"},
        {"role": "assistant", "content": "hook"},
        {"role": "user", "content": f"{SCENE}\n{QUESTION}"},
    ],
    "a scene in the system's message": [
        {"role": "system", "content": SCENE},
        {"role": "user", "content": QUESTION},
    ],
    "parts": [
        {"role": "user", "content": [{"type": "text", "text": SCENE}, {"text": QUESTION}]},
    ],
    "encoded messages": json.dumps([{"role": "user", "content": f"{SCENE} {QUESTION}"}]),
}


@pytest.mark.parametrize("name", PROMPTS)
def test_scene_and_question_are_found(name: str) -> None:
    assert split_prompt(PROMPTS[name]) == (SCENE, QUESTION)


def test_without_a_question_all_is_scene() -> None:
    assert split_prompt(f"Premise: {SCENE}") == (SCENE, "")
    assert split_prompt("") == ("", "")


def test_without_a_scene_none_is_made_up() -> None:
    assert split_prompt(QUESTION) == ("", QUESTION)
    # A second question about the same story: the story is not guessed at.
    two = f"{SCENE}\nQuestion: Where is the pot?\nAnswer: below\nQuestion: {QUESTION}"
    assert split_prompt(two) == ("", QUESTION)


def test_things_called_a_are_no_answers() -> None:
    scene = "A: above B.\nC: left of A."
    assert split_prompt(f"{scene}\nWhere is C?") == (scene, "Where is C?")


def test_the_thing_before_a_colon_stays_in_the_question() -> None:
    assert split_prompt(f"{SCENE} Relative to B: where is A?")[1] == "Relative to B: where is A?"


def test_a_pattern_takes_the_place_of_the_convention() -> None:
    text = "Given <A is above B.> ask <Is B below A?> Given <C is left of D.> ask <Is it?> now"
    pattern = r"Given <(?P<scene>[^>]*)> ask <(?P<question>[^>]*)>"
    assert split_prompt(text, pattern) == ("C is left of D.", "Is it?")
    assert split_prompt(text, r"<(?P<scene>C[^>]*)>") == ("C is left of D.", "")
    with pytest.raises(RecordError, match="has nothing that --prompt-split 'x<' matches"):
        split_prompt(text, "x<")


@pytest.mark.parametrize(
    ("prompt", "found"), [(7, "a number"), ([1], "a list that starts"), ({}, "an empty object")]
)
def test_other_prompts_are_refused(prompt: Any, found: str) -> None:
    with pytest.raises(RecordError, match=f"expected a text or a list of messages, found {found}"):
        split_prompt(prompt)


@given(st.lists(st.sampled_from(["Q:", "A:", "Story:", "?", ".", "\n", "\n\n", "###", "x"])))
def test_any_text_is_survived(parts: list[str]) -> None:
    text = " ".join(parts)
    scene, question = split_prompt(text)
    assert scene in text
    assert question in text
