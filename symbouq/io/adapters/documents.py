"""Read the values of JSON documents that are too long to be read at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from symbouq.errors import RecordError
from symbouq.io.adapters import limits

EACH = "*"
"""Step of a path that stands for every item of a list."""

Item = tuple[int, bytes | RecordError]
"""The line on which a value begins, from 1, and the bytes of the value, or the error if there are
none.
"""

_OUTSIDE = re.compile(rb'["{}\[\],]')
_INSIDE = re.compile(rb'["\\]')
_NAMED = re.compile(rb'"([^"\\]*)"\s*:\s*\Z')
_REACH = 80
"""Number of bytes before a list or an object that are searched for the name of its field."""


def path_of(text: str) -> tuple[str, ...]:
    """Convert the given text to the path of a list's items. A final `*` may be left out."""
    steps = tuple(step for step in text.split(".") if step)
    return steps if steps[-1:] == (EACH,) else (*steps, EACH)


def items(chunks: Iterable[bytes], path: Sequence[str] = ()) -> Iterator[Item]:
    """Yield the encoded values at a path, with no more than one in memory. A value that is too long
    becomes an error.

    Args:
        chunks: The bytes of one JSON document or, without a path, of several one after the other.
        path: Names of fields, and `*` for each item of a list. It ends with `*`. If it is empty,
            the documents themselves are the values.

    Raises:
        RecordError: If a document is incomplete, or something follows the only one.
    """
    last = 0
    for line, item in _items(chunks, path):
        # If several values begin on a line, each still gets its own number.
        last = max(line, last + 1)
        yield last, item


def _items(chunks: Iterable[bytes], path: Sequence[str]) -> Iterator[Item]:
    opened = bytearray()  # the brackets that are open
    matched = 0  # how many of them, counted from the first, lie on the path
    quoted = escaped = done = False
    assembly = limits.Assembly()
    line = first = 1
    before = b""
    for chunk in chunks:
        position = start = counted = 0
        while position < len(chunk):
            if done and chunk[position:].strip():
                raise RecordError("something follows the end of its JSON, and is not read")
            if escaped:
                escaped = False
                position += 1
                continue
            mark = (_INSIDE if quoted else _OUTSIDE).search(chunk, position)
            if mark is None:
                break
            here, position = mark.span()
            sign = mark.group()
            if sign == b"\\":
                escaped = True
                continue
            if sign == b'"':
                quoted = not quoted
                continue
            depth = len(opened)
            listed = bool(path) and matched == depth == len(path) and opened.endswith(b"[")
            begins = ends = False
            if sign in b"{[":
                if matched == depth < len(path):
                    reach = (before + chunk[max(0, here - _REACH) : here])[-_REACH:]
                    matched += not depth or _leads(path[depth - 1], opened[-1], reach)
                    begins = matched == depth + 1 == len(path) and sign == b"["
                opened += sign
                begins = begins or not (path or depth)
            elif sign == b",":
                begins = ends = listed
            elif depth:
                opened.pop()
                matched = min(matched, len(opened))
                done = bool(path) and not opened
                ends = listed if path else not opened
            if ends:
                assembly.add(chunk[start : here if path else position])
                item = assembly.take()
                if isinstance(item, RecordError):
                    yield first, item
                elif stripped := item.lstrip():
                    yield first + item[: -len(stripped)].count(b"\n"), item
            if begins:
                start = position if path else here
                line, counted = line + chunk.count(b"\n", counted, start), start
                first = line
        collecting = matched == len(path) <= len(opened)
        if opened and collecting and (not path or opened[len(path) - 1] == ord("[")):
            assembly.add(chunk[start:])
        line += chunk.count(b"\n", counted)
        before = (before + chunk)[-_REACH:]
    if opened or quoted:
        raise RecordError("the file breaks off before its JSON is complete")


def _leads(step: str, parent: int, before: bytes) -> bool:
    """Whether a step of a path leads to the list or object that begins inside a bracket, given the
    bytes before it.
    """
    if step == EACH or parent == ord("["):
        return step == EACH and parent == ord("[")
    named = _NAMED.search(before)
    return named is not None and named[1].decode(errors="replace") == step
