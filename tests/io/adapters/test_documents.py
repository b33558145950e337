"""Long arrays, item by item, wherever the pieces are cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbouq.errors import RecordError
from symbouq.io.adapters.documents import array_items

JSON = st.recursive(
    st.none() | st.integers() | st.text(alphabet='[]{},:"\\ samplé', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["samples", "a", '"[']), inner, max_size=3)
    ),
    max_leaves=10,
)


def pieces(text: bytes, size: int) -> list[bytes]:
    return [text[n : n + size] for n in range(0, len(text), size)]


@given(st.lists(JSON, max_size=4), st.integers(1, 40), st.sampled_from([None, 1]))
def test_items_of_an_array(items: list[Any], size: int, indent: int | None) -> None:
    text = json.dumps(items, indent=indent, ensure_ascii=False).encode()
    assert [json.loads(item) for item in array_items(pieces(text, size))] == items


@given(JSON, st.lists(JSON, max_size=3), JSON, st.integers(1, 40), st.sampled_from([None, 2]))
def test_items_of_a_member(
    before: Any, items: list[Any], after: Any, size: int, indent: int | None
) -> None:
    log = {"samples:": before, "x": {"samples": before}, "samples": items, "more": after}
    text = json.dumps(log, indent=indent).encode()
    assert [json.loads(item) for item in array_items(pieces(text, size), "samples")] == items


def test_items_before_a_break_are_given() -> None:
    found = array_items([b'[{"a": 1}, {"b": ', b'"x'])
    assert next(found) == b'{"a": 1}'
    with pytest.raises(RecordError, match="the file breaks off before its JSON is complete"):
        next(found)


def test_no_such_member() -> None:
    assert list(array_items([b'{"a": [1, 2]}'], "samples")) == []
    assert list(array_items([b'[["samples", [1]]]'], "samples")) == []


@given(JSON, st.lists(JSON, max_size=3), st.integers(1, 40), st.sampled_from([None, 2]))
def test_items_of_a_member_of_a_member(
    before: Any, items: list[Any], size: int, indent: int | None
) -> None:
    held = {"a": {"samples": before}, "samples": items}
    text = json.dumps({"samples": [before], "results": held}, indent=indent).encode()
    found = array_items(pieces(text, size), "samples", within=2)
    assert [json.loads(item) for item in found] == items
