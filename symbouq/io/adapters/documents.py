"""The items of a JSON array too long to be read at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from symbouq.errors import RecordError
from symbouq.io.adapters import limits

_OUTSIDE = re.compile(rb'["{}\[\],]')
_INSIDE = re.compile(rb'["\\]')
_REACH = 80
"""Bytes before an array in which the name that it belongs to stands."""


def array_items(
    chunks: Iterable[bytes], member: str | None = None, within: int = 1
) -> Iterator[bytes | RecordError]:
    """The encoded items of an array, without more than one of them in memory; one that is too long
    is an error.

    Args:
        chunks: The bytes of one JSON document.
        member: The array is that member of an object; by default it is the document.
        within: In how many objects the member lies.

    Raises:
        RecordError: If the document ends before it is complete, or something follows it.
    """
    named = re.compile(rb'"%s"\s*:\s*\Z' % re.escape((member or "").encode()))
    level = 1 if member is None else 1 + within
    depth = 0
    wanted = quoted = escaped = closed = False
    assembly = limits.Assembly()
    before = b""
    for chunk in chunks:
        position = start = 0
        while position < len(chunk):
            if closed:
                if chunk[position:].strip():
                    raise RecordError("something follows the end of its JSON, and is not read")
                break
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
            elif sign == b'"':
                quoted = not quoted
            elif sign in b"{[":
                depth += 1
                if depth == level and sign == b"[":
                    wanted = member is None or bool(
                        named.search((before + chunk[max(0, here - _REACH) : here])[-_REACH:])
                    )
                    start = position
            elif wanted and depth == level and sign in b",]":
                assembly.add(chunk[start:here])
                item = assembly.take()
                if isinstance(item, RecordError) or item.strip():
                    yield item
                start = position
                wanted = sign == b","
                depth -= not wanted
                closed = not depth
            elif sign in b"}]":
                depth -= 1
                closed = not depth
        if wanted:
            assembly.add(chunk[start:])
        before = (before + chunk)[-_REACH:]
    if depth or quoted:
        raise RecordError("the file breaks off before its JSON is complete")
