"""Claims to tokens, by the characters that both cover."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from symbouq.errors import RecordError
from symbouq.evidence.generation.tokens import decoded
from symbouq.evidence.signals.alignment import claim_extents, token_spans


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
def tokenizer(tiny: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny)


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
