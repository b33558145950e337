"""Labels the steps of a generated trace according to the layout of its scene.

A step is right if everything it states holds in every layout. Steps that do not use the generator's
plain wording get no label.
"""

from __future__ import annotations

from typing import Any

from symbouq.errors import RecordError
from symbouq.experiments.scenes.geometry import Boxes, Fact, coordinates, direction
from symbouq.experiments.scenes.wording import facts_of


def labels(record: dict[str, Any]) -> list[int | None]:
    """Label each reasoning step in a trace about a generated scene: 1 right, 0 wrong, None
    unreadable.

    The last label, for the conclusion, is None, because answers are compared with the right answer
    instead.

    Raises:
        RecordError: If the record has no `meta.facts` (`Problem.record`).
    """
    meta = record.get("meta") or {}
    if "facts" not in meta or "family" not in meta:
        raise RecordError(f"trace {record.get('id')}: no generated scene (meta.facts is missing)")
    facts: list[Fact] = [(u, relation, v) for u, relation, v in meta["facts"]]
    boxes = Boxes(facts) if meta["family"] != "chains" else None

    def holds(fact: Fact) -> bool:
        if boxes is not None:
            return boxes.holds(*fact)
        u, relation, v = fact
        places = coordinates(facts, v)
        return u in places and direction(*places[u]) == relation

    steps = [facts_of(step) for step in record.get("reasoning") or []]
    return [*(None if stated is None else int(all(map(holds, stated))) for stated in steps), None]
