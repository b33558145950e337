"""A filter and a metric for tasks of lm-evaluation-harness. `symbouq_audit` audits the responses,
and `symbouq` reports the rewards.

Harness versions with plugins find both by name. For other versions, this module has to be imported,
for example by the file from which a task takes its functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_filter, register_metric

from symbouq.errors import SymboUQError
from symbouq.rewards import reward

_FIELDS = ("scene", "question", "answer", "answer_space", "dataset", "profile")
"""Fields that the filter looks up in the row of a task."""


class AuditedText(str):
    """A response with its rewards. A response that the harness creates from the right answer has no
    rewards.

    Attributes:
        values: The rewards by their names (`symbouq.rewards.Reward.values`).
    """

    values: dict[str, float] | None = None


@register_filter("symbouq_audit")
class AuditFilter(Filter):
    """Filter that audits each response against the scene in its row.

    Args:
        fields: Names of the columns that hold `scene`, `question`, `answer`, `answer_space`,
            `dataset` and `profile`, if they have other names. All columns except that of `scene`
            may be missing.

    Raises:
        SymboUQError: If there are other arguments.
    """

    def __init__(self, **fields: str) -> None:
        super().__init__()
        if unknown := fields.keys() - {*_FIELDS}:
            raise SymboUQError(
                f"the filter symbouq_audit has no argument {min(unknown)}; it has "
                f"{', '.join(_FIELDS)}, each the name of a column"
            )
        self._columns = {name: fields.get(name, name) for name in _FIELDS}

    def apply(
        self, resps: Sequence[Sequence[str]], docs: Sequence[Mapping[str, Any]]
    ) -> list[list[AuditedText]]:
        """Return the audited responses for each row.

        Args:
            resps: The responses for each row.
            docs: The rows.

        Raises:
            SymboUQError: If a row has no scene.
        """
        return [
            [self._audited(response, doc) for response in responses]
            for responses, doc in zip(resps, docs, strict=True)
        ]

    def _audited(self, response: str, doc: Mapping[str, Any]) -> AuditedText:
        column = self._columns["scene"]
        if doc.get(column) is None:
            raise SymboUQError(
                f"a row has no column {column!r}: name that of the scene, as "
                "{function: symbouq_audit, scene: COLUMN}"
            )
        given = {name: doc[column] for name, column in self._columns.items() if column in doc}
        text = AuditedText(response)
        text.values = rewarded(given, response)
        return text


@register_metric(metric="symbouq", higher_is_better=True, aggregation="nanmean")
def audited(references: Sequence[Any], predictions: Sequence[str], **_: Any) -> dict[str, float]:
    """Return the rewards of a response that the filter has audited.

    Raises:
        SymboUQError: If the filter has not audited it.
    """
    values = getattr(predictions[0], "values", None)
    if values is None:
        raise SymboUQError("the metric symbouq reads what the filter symbouq_audit gives: name it")
    return dict(values)


def rewarded(doc: Mapping[str, Any], response: str) -> dict[str, float]:
    """Return the rewards of a response (`symbouq.rewards.reward`). Undecided values are NaN and are
    left out of the means.

    Args:
        doc: The question: `scene`, and any other arguments of `reward`.
        response: The response.
    """
    given: dict[str, Any] = {name: doc.get(name) for name in _FIELDS[2:]}
    return reward(doc["scene"], response, doc.get("question") or "", **given).values
