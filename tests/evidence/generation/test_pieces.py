from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from symbouq.evidence.generation.pieces import Pieces

transformers = pytest.importorskip("transformers", reason="the extra `models` is not installed")


@pytest.fixture(scope="module")
def tokenizer(tiny: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(tiny)


def metaspace() -> Any:
    """A tokenizer that drops the space before a text, as those of SentencePiece do."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    vocabulary = {"<unk>": 0, "▁a": 1, "▁left": 2, "▁of": 3, "ish": 4}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Metaspace()
    words.decoder = decoders.Metaspace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words)


@pytest.mark.parametrize("text", ["A is left of B.", " two  spaces ", "naïve café", "→ ∀x", ""])
def test_texts_join_to_the_text(tokenizer: Any, text: str) -> None:
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert "".join(Pieces(tokenizer).texts(ids)) == text


def test_a_character_belongs_to_the_token_that_completes_it(tokenizer: Any) -> None:
    ids = tokenizer("∀x", add_special_tokens=False)["input_ids"]
    assert len(ids) == 4  # three bytes and a letter
    assert Pieces(tokenizer).texts(ids) == ["", "", "∀", "x"]


def test_a_character_that_breaks_off(tokenizer: Any) -> None:
    ids = tokenizer("x∀", add_special_tokens=False)["input_ids"][:-1]
    assert Pieces(tokenizer).texts(ids) == ["x", "", "�"]


def test_leading_spaces() -> None:
    pieces = Pieces(metaspace())
    assert pieces.texts([2, 4, 3, 1]) == ["left", "ish", " of", " a"]
    assert [pieces.alone(n) for n in (2, 4)] == [" left", "ish"]


def test_alternatives_of_no_probability_are_left_out(tokenizer: Any) -> None:
    a, b = (tokenizer(c, add_special_tokens=False)["input_ids"][0] for c in "AB")
    (token,) = Pieces(tokenizer).tokens([(a, -0.5, [(a, -0.5), (b, -math.inf)])])
    assert token == (a, "A", -0.5, ((a, "A", -0.5),))
