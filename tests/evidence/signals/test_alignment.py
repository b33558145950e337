"""Claims to tokens, by the characters that both cover."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from symbouq.errors import RecordError
from symbouq.evidence.signals.alignment import claim_extents, decoded, token_spans


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


def test_strings_of_a_structured_response() -> None:
    #           0123456789012345678901234567890123456789012345
    response = '{"reasoning": ["A is up.","B"], "conclusion":"up"}'
    assert claim_extents(response, ["A is up.", "B", "up"], True) == [(16, 24), (27, 28), (46, 48)]


def test_escapes_are_part_of_their_claim() -> None:
    response = '{"reasoning":["say \\"up\\" \\u00e9\\\\"],"conclusion":"\\n"}'
    steps = ['say "up" \u00e9\\', "\n"]
    (first, second) = claim_extents(response, steps, True)
    assert response[slice(*first)] == 'say \\"up\\" \\u00e9\\\\'
    assert response[slice(*second)] == "\\n"


def test_keys_in_another_order_and_indented() -> None:
    response = json.dumps({"conclusion": "up", "reasoning": ["conclusion", "x"]}, indent=2)
    found = claim_extents(response, ["conclusion", "x", "up"], True)
    assert [response[a:b] for a, b in found] == ["conclusion", "x", "up"]
    assert found[2] < found[0] < found[1]


def test_claims_that_are_not_the_strings_are_refused() -> None:
    with pytest.raises(RecordError, match="not the strings"):
        claim_extents('{"reasoning":["a"],"conclusion":"b"}', ["a", "c"], True)


def test_free_claims_are_found_in_order() -> None:
    response = "A is up. So. A is up. Answer: A is up."
    claims = ["A is up.", "A is up.", "Answer: A is up."]
    assert claim_extents(response, claims, False) == [(0, 8), (13, 21), (22, 38)]


def test_a_conclusion_before_its_reasons_is_found_outside_of_them() -> None:
    response = "left. It is left. A is left of B."
    claims = ["It is left.", "A is left of B.", "left."]
    assert claim_extents(response, claims, False)[-1] == (0, 5)


def test_an_answer_that_is_missing_has_no_characters() -> None:
    assert claim_extents("Hm. Well.", ["Hm.", "Well.", ""], False) == [(0, 3), (4, 9), (0, 0)]


def test_claims_of_another_response_are_refused() -> None:
    with pytest.raises(RecordError, match="claim 2"):
        claim_extents("Hm. Well.", ["Hm.", "Hm.", ""], False)
    with pytest.raises(RecordError, match="conclusion"):
        claim_extents("Hm. Well.", ["Hm.", "right"], False)


def test_a_token_belongs_to_each_claim_that_it_touches() -> None:
    tokens = [(0, 2), (2, 5), (5, 5), (5, 8), (8, 9)]
    claims = [(0, 3), (3, 6), (5, 8), (0, 0), (9, 12)]
    assert token_spans(tokens, claims) == [(0, 2), (1, 4), (3, 4), (0, 0), (0, 0)]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pytest.importorskip("torch", reason="the extra `models` is not installed")
    pytest.importorskip("transformers", reason="the extra `models` is not installed")
    from helpers.tiny_model import tiny_model
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny_model(tmp_path_factory.mktemp("tiny")))


@pytest.mark.parametrize("step", ["The lamp is above the desk.", 'say "\u00e9" \U0001f600\\', "z"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_spans_of_a_real_tokenizer_hold_their_claims(
    tokenizer: Any, step: str, ascii_only: bool
) -> None:
    claims = [step, step, "upper left"]
    response = json.dumps(
        {"reasoning": claims[:-1], "conclusion": claims[-1]}, ensure_ascii=ascii_only
    )
    ids = [*tokenizer.encode(response, add_special_tokens=False), tokenizer.eos_token_id]
    text, extents = decoded(tokenizer, ids)
    assert text == response
    wanted = claim_extents(response, claims, True)
    for (start, stop), (first, last) in zip(token_spans(extents, wanted), wanted, strict=True):
        part = tokenizer.decode(ids[start:stop])
        assert response[first:last] in part
        # no token more than needed at either side
        assert response[first:last] not in tokenizer.decode(ids[start + 1 : stop])
        assert response[first:last] not in tokenizer.decode(ids[start : stop - 1])


def test_a_tokenizer_with_words_marked_by_an_underscore_and_single_bytes() -> None:
    pytest.importorskip("transformers", reason="the extra `models` is not installed")
    from tokenizers import Tokenizer, decoders, models
    from transformers import PreTrainedTokenizerFast

    pieces = ["<unk>", "\u2581up", "\u2581", "<0xC3>", "<0xA9>", "t", "</s>"]
    tokenizer = Tokenizer(models.BPE({p: n for n, p in enumerate(pieces)}, [], unk_token="<unk>"))
    strip = [decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), *strip]
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>")
    text, extents = decoded(fast, [1, 2, 3, 4, 5, 1, 6])
    assert text == "up \u00e9t up"
    assert extents == [(0, 2), (2, 3), (3, 4), (3, 4), (4, 5), (5, 8), (8, 8)]
