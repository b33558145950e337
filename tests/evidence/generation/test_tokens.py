from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from symbouq.evidence.generation.tokens import TokenReader, added_texts, decoded

transformers = pytest.importorskip("transformers", reason="the extra `models` is not installed")


class Bytes:
    """A tokenizer whose token n is the n-th of some byte strings; 9 is special."""

    all_special_ids: ClassVar = [9]

    def __init__(self, *pieces: bytes, strips: bool = False) -> None:
        self.pieces = pieces
        self.strips = strips

    def decode(self, token_ids: Sequence[int], **_: Any) -> str:
        content = b"".join(self.pieces[i] for i in token_ids if i != 9)
        text = content.decode(errors="replace")
        return text.removeprefix(" ") if self.strips else text


def test_tokens_cover_the_characters_that_they_bring() -> None:
    assert decoded(Bytes(b"ab", b"c"), [0, 1, 0]) == ("abcab", [(0, 2), (2, 3), (3, 5)])


def test_every_token_with_bytes_of_a_character_covers_it() -> None:
    # a, e with an acute (c3 a9) in two tokens, b and a smile (f0 9f 98 80) in three
    tokenizer = Bytes(b"a\xc3", b"\xa9", b"b\xf0", b"\x9f\x98", b"\x80c")
    text, extents = decoded(tokenizer, range(5))
    assert text == "a\u00e9b\U0001f600c"
    assert extents == [(0, 2), (1, 2), (2, 4), (3, 4), (3, 5)]


def test_bytes_that_never_make_a_character_stay_in_the_text() -> None:
    assert decoded(Bytes(b"a", b"\xc3"), [0, 1]) == ("a\ufffd", [(0, 1), (1, 2)])
    assert decoded(Bytes(b"a\xc3", b"b"), [0, 1]) == ("a\ufffdb", [(0, 2), (1, 3)])


def test_special_tokens_cover_nothing() -> None:
    assert decoded(Bytes(b"a", b"b"), [9, 0, 9, 1, 9]) == (
        "ab",
        [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)],
    )


def test_a_decoder_that_drops_the_first_space_keeps_the_others() -> None:
    text, extents = decoded(Bytes(b" up", b" ", b" of", strips=True), [0, 1, 2, 0])
    assert text == "up  of up"
    assert extents == [(0, 2), (2, 3), (3, 6), (6, 9)]


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
    assert "".join(added_texts(tokenizer, ids)) == text


def test_a_character_belongs_to_the_token_that_completes_it(tokenizer: Any) -> None:
    ids = tokenizer("∀x", add_special_tokens=False)["input_ids"]
    assert len(ids) == 4  # three bytes and a letter
    assert added_texts(tokenizer, ids) == ["", "", "∀", "x"]


def test_a_character_that_breaks_off(tokenizer: Any) -> None:
    ids = tokenizer("x∀", add_special_tokens=False)["input_ids"][:-1]
    assert added_texts(tokenizer, ids) == ["x", "", "�"]


def test_leading_spaces() -> None:
    tokenizer = metaspace()
    assert added_texts(tokenizer, [2, 4, 3, 1]) == ["left", "ish", " of", " a"]
    assert [TokenReader(tokenizer).alone(n) for n in (2, 4)] == [" left", "ish"]


def test_alternatives_of_no_probability_are_left_out(tokenizer: Any) -> None:
    a, b = (tokenizer(c, add_special_tokens=False)["input_ids"][0] for c in "AB")
    (token,) = TokenReader(tokenizer).tokens([(a, -0.5, [(a, -0.5), (b, -math.inf)])])
    assert token == (a, "A", -0.5, ((a, "A", -0.5),))


def test_a_tokenizer_with_words_marked_by_an_underscore_and_single_bytes() -> None:
    from tokenizers import Tokenizer, decoders, models

    pieces = ["<unk>", "\u2581up", "\u2581", "<0xC3>", "<0xA9>", "t", "</s>"]
    tokenizer = Tokenizer(models.BPE({p: n for n, p in enumerate(pieces)}, [], unk_token="<unk>"))
    strip = [decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), *strip]
    )
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>")
    text, extents = decoded(fast, [1, 2, 3, 4, 5, 1, 6])
    assert text == "up \u00e9t up"
    assert extents == [(0, 2), (2, 3), (3, 4), (3, 4), (4, 5), (5, 8), (8, 8)]
