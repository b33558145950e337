"""Judge claims about one scene, using only this scene."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symbouq.auditing.answers.answer import Answer, Labels
from symbouq.auditing.relations import ClaimInput, audit_relations
from symbouq.auditing.verdicts import TraceResult
from symbouq.ontology.tables import Ontology, Triple


class SceneJudge:
    """Auditor of claims about one scene.

    Args:
        ontology: The tables of the profile.
        stated: The scene's relations with their sentence numbers.
    """

    def __init__(self, ontology: Ontology, stated: Iterable[tuple[int, Triple]]) -> None:
        self._ontology = ontology
        self._scene: dict[int, list[Triple]] = {}
        for number, triple in stated:
            self._scene.setdefault(number, []).append(triple)

    def audit(self, claim: Sequence[Triple], stance: str = "asserted") -> TraceResult:
        """Audit one claim about the scene.

        Args:
            claim: The relations of the claim.
            stance: The stance: asserted, possible, necessary or impossible.

        Raises:
            LimitError: If a surrounding `time_limit` is over.
        """
        scene = list(self._scene.items())
        return audit_relations(self._ontology, scene, [ClaimInput(claim, stance)]).whole()

    def premises(self, triples: Iterable[Triple]) -> list[str]:
        """Return the premises, as `scene:N`, of relations that follow from the scene."""
        premises: dict[str, None] = {}
        for triple in triples:
            premises.update(dict.fromkeys(map(str, self.audit([triple]).claims[0].premises)))
        return list(premises)

    def answer(self, labels: Labels) -> Answer | None:
        """Return the answer if the scene was not read or contradicts itself, or if the question is
        about its consistency; otherwise return None.
        """
        if not self._scene:
            return Answer("unread")
        scene = self.audit([])
        premises = [str(premise) for premise in scene.clash]
        if "satisfiable" in labels.meanings:
            return labels.consistency(scene.feasible, premises)
        return None if scene.feasible else Answer("inconsistent", premises=premises)
