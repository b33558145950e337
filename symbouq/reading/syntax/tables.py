"""Read tables in a text, row by row: grids and lists of coordinates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from symbouq.ontology.tables import Ontology
from symbouq.reading.syntax.positions import Placed

_RULE = re.compile(r":?-+:?")
_NUMBER = re.compile(r"-?\d{1,6}")
_WORD = re.compile(r"\w+")
_ROW, _COLUMN = "row", "column"


class Tables:
    """Reader of tables, row by row.

    If the header contains axis names, as in "| thing | x | y |", the table contains coordinates. If
    the first header cell is empty or contains an axis name, the table is a grid, and things are
    placed as laid out.

    Args:
        ontology: The tables of the profile.
    """

    def __init__(self, ontology: Ontology) -> None:
        self._axis: Mapping[str, str] = ontology.wording.axis_of
        self._empty = ontology.wording.lexeme.get("empty_cell", frozenset())
        self._head: Sequence[str] = ()
        self._rows = 0

    @staticmethod
    def cells(text: str) -> list[str] | None:
        """Split a row such as "| A | B |" into cells. Return None for other text."""
        text = text.strip()
        if len(text) < 2 or text[0] != "|" or text[-1] != "|":
            return None
        return [cell.strip(" *`_") for cell in text[1:-1].split("|")]

    def end(self) -> None:
        """End the current table."""
        self._head, self._rows = (), 0

    def row(self, cells: Sequence[str]) -> Iterator[tuple[str, list[Placed]]]:
        """Yield each thing in a row: its name and its places."""
        if all(_RULE.fullmatch(cell) for cell in cells):
            return
        if not self._head:
            self._head = cells
            return
        self._rows += 1
        axes = {n: axis for n, cell in enumerate(self._head) if n and (axis := self._named(cell))}
        if axes:
            numbers = {n: cells[n] for n in axes if n < len(cells)}
            if cells[0] and all(_NUMBER.fullmatch(number) for number in numbers.values()):
                yield cells[0], [Placed(axes[n], int(number)) for n, number in numbers.items()]
        elif not self._head[0] or self._named(self._head[0]):
            for n, cell in enumerate(cells[1:], start=1):
                if cell.lower().strip("()") not in self._empty and any(map(str.isalnum, cell)):
                    yield cell, [Placed(_COLUMN, n), Placed(_ROW, self._rows)]

    def _named(self, cell: str) -> str:
        """The scale for the axis named in a header cell; empty if the cell names no axis."""
        words = _WORD.findall(cell.lower())
        return self._axis.get(words[0], "") if words else ""
