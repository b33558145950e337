"""Messages of findings, from the ontology's templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import starmap
from typing import Any

from symbouq.auditing.quantities import amount_text
from symbouq.auditing.verdicts import ClaimResult, Clashes, Premise, TraceResult
from symbouq.ontology.tables import Ontology, Triple
from symbouq.reading.text import Claim, triples


class Messages:
    """Builder of the messages for one trace's audit.

    Args:
        ontology: The tables of the profile, with the templates.
        names: Names of things, indexed by slot.
    """

    def __init__(self, ontology: Ontology, names: Sequence[str]) -> None:
        self._ontology = ontology
        self._names = names

    def relation(self, triple: Triple) -> str:
        """State a relation as a short sentence: `A is above B`."""
        u, r, v = triple
        return self._sentence(self._names[u], r, self._names[v])

    def _sentence(self, figure: str, relation: str, ground: str) -> str:
        return f"{figure} is {self._wording(relation)} {ground}"

    def _wording(self, relation: str) -> str:
        return self._ontology.lexicon.wording.get(relation, (relation.replace("_", " "),))[0]

    def message(
        self, claim: Claim, finding: ClaimResult, result: TraceResult, conflict: int
    ) -> str:
        """Return the message about a claim."""
        if finding.reason == "unparsed":
            return self._ontology.messages.message.get("unparsed", "unparsed")
        premises = result.clash if finding.reason == "blocked_scene" else finding.premises
        # State "A is between B and C" only once, without the thing that spans B and C.
        spanning = self._ontology.lexicon.grouped.values()
        said = [s for s in claim.relations if s.relation not in spanning] or claim.relations
        stated = _listed(starmap(self._sentence, triples(said)))
        text = self._filled(
            finding.reason,
            claim=stated,
            relation=stated if finding.fault is None else self.relation(finding.fault),
            premises=_listed(map(_spoken, premises)),
            conflict=str(conflict),
            bounds=_bounds(claim),
            answer=", ".join(finding.answer or ()),
            given=", ".join(finding.given) or "none",
        )
        own = finding.fault[1] if finding.fault is not None else ""
        # A clash appears in both orientations; prefer the claim's own.
        text = self._with_reason(text, sorted(finding.clashes, key=lambda c: own not in c[1]))
        taken = [
            self._filled("presumed", first=self._wording(first), second=self._wording(second))
            for first, second in finding.presumed
        ]
        return " ".join([text, *taken])

    def scene_clash(self, result: TraceResult) -> str:
        """Return the message about an infeasible scene."""
        text = self._filled("clash", premises=_listed(map(_spoken, result.clash)))
        return self._with_reason(text, result.clash_reasons)

    def _filled(self, message: str, **values: str) -> str:
        template = self._ontology.messages.message.get(message, message)
        # Names may contain braces: only the template's own braces mark fields.
        parts = []
        for piece in template.split("{"):
            field, brace, rest = piece.partition("}")
            parts.append(values.get(field, "") + rest if brace else piece)
        return "".join(parts)

    def _with_reason(self, text: str, clashes: Clashes) -> str:
        for code, relations in clashes:
            template = self._ontology.messages.reason.get(code)
            if template is not None:
                first, second = (*relations, "", "")[:2]
                reason = template.replace("{first}", first).replace("{second}", second)
                return f"{text.removesuffix('.')}: {reason.replace('_', ' ')}."
        return text


def _bounds(claim: Claim) -> str:
    if claim.count is None:
        return ""
    least, most = claim.count
    if most == 0:
        return "None"
    if least == most:
        return f"Exactly {least}"
    return f"At least {least}" if most >= len(claim.relations) else f"From {least} to {most}"


def claim_text(claim: Mapping[str, Any]) -> str:
    """Return the text of a claim record, or its relations if it has no text."""
    return claim["text"] or "; ".join(map(relation_text, claim["relations"])) or "(no answer)"


def relation_text(relation: Mapping[str, Any]) -> str:
    """Return a relation record as text: `A above B`, `A above B by 3 m`."""
    amount = amount_text(relation)
    text = f"{relation['subject']} {relation['relation']} {relation['object']}"
    return f"{text} by {amount}" if amount else text


def _spoken(premise: Premise) -> str:
    return f"{premise.source} {premise.number}"


def _listed(texts: Iterable[str]) -> str:
    items = list(texts)
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
