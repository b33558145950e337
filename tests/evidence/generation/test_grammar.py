from __future__ import annotations

import json
from typing import Any

import pytest
from helpers.extras import need_models

from symbouq.evidence.generation.engine import Request

torch = need_models()

SCHEMA = {"type": "string", "enum": ["a", "b"]}


@pytest.fixture
def matcher(engine: Any) -> Any:
    engine.generate([Request("A?", 1, SCHEMA)])  # compiles on first use
    return engine._grammars.matcher(SCHEMA)


def processor(engine: Any, *matchers: Any) -> Any:
    from symbouq.evidence.generation.grammar import GrammarProcessor

    return GrammarProcessor(list(matchers), engine._ends)


def ids(engine: Any, text: str) -> list[int]:
    found: list[int] = engine.tokenizer(text, add_special_tokens=False)["input_ids"]
    return found


def test_gives_a_copy(engine: Any, matcher: Any) -> None:
    scores = torch.zeros(1, len(engine.tokenizer))
    masked = processor(engine, matcher)(torch.tensor([[1]]), scores)
    assert torch.isinf(masked).any()
    assert not scores.any()
    free = processor(engine, None)(torch.tensor([[1]]), scores)
    assert torch.equal(free, scores)
    assert free.data_ptr() != scores.data_ptr()


def test_room_of_the_model_beyond_the_tokenizer_is_closed(engine: Any, matcher: Any) -> None:
    size = len(engine.tokenizer)
    masked = processor(engine, matcher)(torch.tensor([[1]]), torch.zeros(1, size + 100))
    assert masked.shape == (1, size + 100)
    assert torch.isinf(masked[0, size:]).all()


def test_rows_keep_their_own_state(engine: Any, matcher: Any) -> None:
    quote, a, b = (ids(engine, text)[0] for text in ('"', "a", "b"))
    three = processor(engine, matcher.deep_copy(), None, matcher.deep_copy())
    scores = torch.zeros(3, len(engine.tokenizer))
    three(torch.tensor([[1], [1], [1]]), scores)
    three(torch.tensor([[quote], [a], [quote]]), scores)
    three.keep([1, 2])
    masked = three(torch.tensor([[b], [a]]), scores[:2])
    assert not torch.isinf(masked[0]).any()
    # After `"a`, there is nothing but the closing quote.
    assert (~torch.isinf(masked[1])).nonzero().flatten().tolist() == [quote]
    masked = three(torch.tensor([[b], [quote]]), scores[:2])
    assert (~torch.isinf(masked[1])).nonzero().flatten().tolist() == engine._ends
    assert [three.error(row) for row in (0, 1)] == ["", ""]


def test_a_grammar_that_fails_ends_its_row(engine: Any, matcher: Any) -> None:
    one = processor(engine, matcher)
    scores = torch.zeros(1, len(engine.tokenizer))
    one(torch.tensor([[1]]), scores)
    masked = one(torch.tensor([ids(engine, "c")]), scores)  # which the mask forbade
    assert (~torch.isinf(masked[0])).nonzero().flatten().tolist() == engine._ends
    assert one.error(0)


def test_other_schemas(engine: Any) -> None:
    """Such as a judge's: bounded texts, arrays of a fixed length, numbers from a list."""
    schema = {
        "type": "object",
        "properties": {
            "analysis": {"type": "string", "minLength": 1, "maxLength": 40},
            "verified": {
                "type": "array",
                "items": {"enum": [0, 1]},
                "minItems": 3,
                "maxItems": 3,
            },
        },
        "required": ["analysis", "verified"],
        "additionalProperties": False,
    }
    made = engine.generate([Request("A?", 300, schema, 1.0, seed) for seed in range(20)])
    for one in made:
        assert one.finish == "stop"
        value = json.loads(one.text)
        assert list(value) == ["analysis", "verified"]
        assert 1 <= len(value["analysis"]) <= 40
        assert len(value["verified"]) == 3
        assert set(value["verified"]) <= {0, 1}
