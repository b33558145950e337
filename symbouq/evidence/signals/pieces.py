"""Recovers the text of tokens that are given as vocabulary pieces.

Two spellings are decoded without the tokenizer: GPT-2's, in which characters represent bytes ("Ġis"
is " is"), and SentencePiece's ("▁is" is " is", "<0x0A>" is a byte).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Sequence

_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
"""Bytes that represent themselves in a byte-level vocabulary."""
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]
_BYTE = {chr(byte): byte for byte in _PRINTABLE}
_BYTE |= {chr(0x100 + n): byte for n, byte in enumerate(_OTHERS)}
_SHIFTED = frozenset(chr(0x100 + n) for n in range(len(_OTHERS)))
"""Characters that represent another byte, such as a blank, a control character or a part of a
multi-byte character."""

_SPACE = "\N{LOWER ONE EIGHTH BLOCK}"
_HEX = re.compile(r"<0x([0-9A-Fa-f]{2})>")

Spelling = Callable[[str], bytes]
"""Function from a piece to the bytes that it represents."""


def spelling(pieces: Sequence[str], text: str) -> Spelling | None:
    """Detect how the pieces of the given text are spelled. Return None if they are plain text or
    have an unknown spelling.
    """
    whole = "".join(pieces)
    if _SPACE in whole and _SPACE not in text:
        return _sentence_piece
    shifted = _SHIFTED.intersection(whole)
    if shifted and shifted.isdisjoint(text) and any(map(_is_byte_level, pieces)):
        return _byte_level
    return None


def texts_of(pieces: Sequence[str], spelled: Spelling) -> list[str]:
    """Return the text that each piece adds.

    A character is added by the piece that completes it. Invalid bytes are replaced.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    last = len(pieces) - 1
    return [decoder.decode(spelled(piece), n == last) for n, piece in enumerate(pieces)]


def _is_byte_level(piece: str) -> bool:
    return not _SHIFTED.isdisjoint(piece) and all(character in _BYTE for character in piece)


def _byte_level(piece: str) -> bytes:
    """Return the bytes of a byte-level piece. Special tokens are used literally."""
    if all(character in _BYTE for character in piece):
        return bytes(_BYTE[character] for character in piece)
    return piece.encode("utf-8", "replace")


def _sentence_piece(piece: str) -> bytes:
    if byte := _HEX.fullmatch(piece):
        return bytes.fromhex(byte[1])
    return piece.replace(_SPACE, " ").encode("utf-8", "replace")
