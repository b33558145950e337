"""Pieces of vocabularies, as tokenizers spell them, and the texts that they stand for."""

from __future__ import annotations

import pytest

from symbouq.evidence.signals.pieces import spelling, texts_of


def read(pieces: list[str], text: str) -> list[str] | None:
    spelled = spelling(pieces, text)
    return None if spelled is None else texts_of(pieces, spelled)


@pytest.mark.parametrize(
    ("pieces", "texts"),
    [
        (["A", "Ġis", "Ġleft", ".", "Ċ"], ["A", " is", " left", ".", "\n"]),
        (["Ġcaf", "Ã©"], [" caf", "é"]),
        (["ĠA", "âĢ", "Ļ", "s"], [" A", "", "’", "s"]),
        (["Ġ", "ðŁ", "ĺ", "Ģ"], [" ", "", "", "\N{GRINNING FACE}"]),
        (["Ġend", "<|im_end|>"], [" end", "<|im_end|>"]),
        (["ĠA", "âĢ"], [" A", "\N{REPLACEMENT CHARACTER}"]),
        (["▁A", "▁is", "▁left", ".", "<0x0A>"], [" A", " is", " left", ".", "\n"]),
        (["▁", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>"], [" ", "", "", "", "\N{GRINNING FACE}"]),
        (["▁é", "Ġ"], [" é", "Ġ"]),
    ],
)
def test_pieces_are_read_back(pieces: list[str], texts: list[str]) -> None:
    assert read(pieces, "") == texts


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["A", " is", " left"], "A is left"),
        (["Ġ is", " a letter"], "Ġ is a letter"),
        (["▁", " is", " a block"], "▁ is a block"),
        (["caf", "é"], "café"),
        (["A", "##s"], "As"),
        ([], ""),
    ],
)
def test_texts_are_left_alone(pieces: list[str], text: str) -> None:
    assert read(pieces, text) is None
