"""Which trained pipeline serves, and what is said where there is none."""

from __future__ import annotations

import re

import pytest

from symbouq.errors import install_command
from symbouq.reading.syntax import pipeline as module
from symbouq.reading.syntax.pipeline import Pipeline, PipelineError, installed, pipeline


def test_one_is_installed_and_parses() -> None:
    found = installed()
    assert found is not None
    assert (pipeline().name, pipeline().version) == found
    (doc,) = pipeline().parsed([["The", "mug", "is", "red", "."]])
    assert [token.dep_ for token in doc] == ["det", "nsubj", "ROOT", "acomp", "punct"]


def test_official_names_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.metadata, "version", lambda name: f"of {name}")
    assert installed() == ("en_core_web_sm", "of en-core-web-sm")


def test_without_any_the_message_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIPELINES", ())
    with pytest.raises(PipelineError, match=re.escape(install_command("english"))):
        Pipeline()


def test_a_pipeline_that_cannot_be_loaded() -> None:
    with pytest.raises(PipelineError, match="'en_no_such' cannot be loaded"):
        Pipeline("en_no_such")


def test_after_an_error_words_are_read_again() -> None:
    parser = pipeline()
    with pytest.raises(ZeroDivisionError), parser.passing():
        parser.nlp.tokenizer("Quillwort is by the flabbergaster.")
        raise ZeroDivisionError
    with parser.passing():
        doc = parser.nlp.tokenizer("Quillwort is by the flabbergaster.")
        assert doc[0].text == "Quillwort"
