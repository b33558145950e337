"""Long documents, value by value, wherever the pieces are cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbouq.errors import RecordError
from symbouq.io.adapters.documents import items, path_of

JSON = st.recursive(
    st.none() | st.integers() | st.text(alphabet='[]{},:"\\ samplé', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["samples", "a", '"[']), inner, max_size=3)
    ),
    max_leaves=10,
)
LISTS = st.lists(JSON, max_size=4)
SIZES = st.integers(1, 40)
INDENTS = st.sampled_from([None, 1])


def pieces(text: bytes, size: int) -> list[bytes]:
    return [text[n : n + size] for n in range(0, len(text), size)]


def found(text: bytes, size: int, *path: str) -> list[Any]:
    return [json.loads(item) for _, item in items(pieces(text, size), path)]


@given(LISTS, SIZES, INDENTS)
def test_items_of_an_array(listed: list[Any], size: int, indent: int | None) -> None:
    text = json.dumps(listed, indent=indent, ensure_ascii=False).encode()
    assert found(text, size, "*") == listed


@given(JSON, LISTS, JSON, SIZES, INDENTS)
def test_items_of_a_member(
    before: Any, listed: list[Any], after: Any, size: int, indent: int | None
) -> None:
    log = {"samples:": before, "x": {"samples": before}, "samples": listed, "more": after}
    assert found(json.dumps(log, indent=indent).encode(), size, "samples", "*") == listed


@given(JSON, LISTS, LISTS, SIZES, INDENTS)
def test_items_of_members_of_items(
    before: Any, one: list[Any], two: list[Any], size: int, indent: int | None
) -> None:
    held = [{"a": {"samples": before}, "samples": one}, before, {"samples": two}]
    expected = one + two
    if isinstance(before, dict) and isinstance(before.get("samples"), list):
        expected = one + before["samples"] + two
    text = json.dumps({"samples": [before], "runs": held}, indent=indent).encode()
    assert found(text, size, "runs", "*", "samples", "*") == expected


@given(st.lists(st.dictionaries(st.sampled_from("ab"), JSON), max_size=4), SIZES)
def test_documents_one_after_the_other_have_their_true_lines(
    listed: Sequence[Any], size: int
) -> None:
    texts = [json.dumps(each, indent=1) for each in listed]
    begun = [1 + sum(text.count("\n") + 1 for text in texts[:n]) for n in range(len(texts))]
    given = list(items(pieces("\n".join(texts).encode(), size)))
    assert [(line, json.loads(item)) for line, item in given] == [*zip(begun, listed, strict=True)]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (b'[{"a": 1}, {"b": 2}, 3]', [1, 2, 3]),
        (b'[\n{"a": 1},\n\n{"b": 2}\n]', [2, 4]),
        (b'[{\n"a": 1}, {"b": 2},\n{}]', [1, 2, 3]),
    ],
)
def test_numbers_are_lines_and_no_two_are_the_same(text: bytes, numbers: list[int]) -> None:
    for size in (1, 3, 100):
        assert [number for number, _ in items(pieces(text, size), "*")] == numbers


def test_items_before_a_break_are_given() -> None:
    given = items([b'[{"a": 1}, {"b": ', b'"x'], "*")
    assert next(given) == (1, b'{"a": 1}')
    with pytest.raises(RecordError, match="the file breaks off before its JSON is complete"):
        next(given)


def test_what_follows_a_document_is_told() -> None:
    given = items([b"[1] ", b"[2]"], "*")
    assert next(given) == (1, b"1")
    with pytest.raises(RecordError, match="something follows"):
        list(given)


def test_no_such_member() -> None:
    assert list(items([b'{"a": [1, 2]}'], ("samples", "*"))) == []
    assert list(items([b'[["samples", [1]]]'], ("samples", "*"))) == []


def test_paths() -> None:
    assert path_of("runs.*.results") == path_of("runs.*.results.*") == ("runs", "*", "results", "*")
