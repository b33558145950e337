"""Tables: coordinates, grids, and what is neither."""

from __future__ import annotations

from symbouq.api import TraceAuditor
from symbouq.ontology.library import builtin
from symbouq.reading.syntax.positions import Placed
from symbouq.reading.syntax.tables import Tables
from symbouq.records import Trace

ONTOLOGY = builtin().ontology("everyday")


def rows(*lines: str) -> list[tuple[str, list[Placed]]]:
    tables = Tables(ONTOLOGY)
    found = []
    for line in lines:
        cells = tables.cells(line)
        assert cells is not None
        found += list(tables.row(cells))
    return found


def test_a_head_that_names_axes_gives_coordinates() -> None:
    found = rows(
        "| Widget | x | y (px) |", "|---|:--|---|", "| Save | 12 | 8 |", "| Logo | - | 8 |"
    )
    assert found == [("Save", [Placed("x", 12), Placed("y", 8)])]


def test_in_a_grid_things_stand_where_they_are_written() -> None:
    found = rows("| | left | right |", "| row 1 | (empty) | Mail |", "| row 2 | Clock | |")
    assert found == [
        ("Mail", [Placed("column", 2), Placed("row", 1)]),
        ("Clock", [Placed("column", 1), Placed("row", 2)]),
    ]


def test_other_tables_place_nothing() -> None:
    assert rows("| Name | Colour |", "| cup | red |") == []
    assert Tables.cells("a | b") is None


def test_a_row_that_says_how_things_lie_is_read() -> None:
    audit = TraceAuditor("nine-way").audit(
        Trace(
            id="t",
            scene=["| Thing | Place | Other |", "| Lamp | right of | Sofa |"],
            question="Where is the lamp relative to the sofa?",
            reasoning=[],
            conclusion="The lamp is to the left of the sofa.",
        )
    )
    assert [claim.verdict for claim in audit.claims] == ["contradicted"]
