"""The counterfactual audit (appendix Counterfactual Audit).

Each scene relation that the rest of the scene does not contradict yields two claims about the same
entity strings, in different words. The relation supports one of the claims and excludes the other.
The first must be entailed and the second contradicted. Anything else is a fault of the parser or
the rules.
"""

from __future__ import annotations

from typing import Any

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.verdicts import Verdict
from symbouq.errors import RecordError
from symbouq.io.stream import Work
from symbouq.ontology.tables import Ontology
from symbouq.reading.text import Statement
from symbouq.records import Instance, Trace


def countering(
    profile: str | None, ontology: str | None = None, pipeline: str | None = None
) -> Work:
    """Return a worker that makes and audits the pairs of a trace. It counts all pairs, and the
    claims of either kind that get the expected verdict.
    """
    auditor = TraceAuditor(profile, ontology, pipeline=pipeline)

    def work(
        instance: Instance, file: str, line: int
    ) -> tuple[dict[str, Any], tuple[int, int, int]]:
        pairs = counterfactuals(auditor, instance)
        record = {"id": instance.id, "source": {"file": file, "line": line}, "pairs": pairs}
        entailed = sum(pair["supported"]["verdict"] == Verdict.ENTAILED for pair in pairs)
        refuted = sum(pair["incompatible"]["verdict"] == Verdict.CONTRADICTED for pair in pairs)
        return record, (len(pairs), entailed, refuted)

    return Work(work, auditor.ahead)


def counterfactuals(auditor: TraceAuditor, instance: Instance) -> list[dict[str, Any]]:
    """Return the pairs of a trace with their verdicts; none if the scene is infeasible.

    Each pair is an object with the scene `sentence` and the claims `supported` and `incompatible`.
    Each claim has a `text` and a `verdict` based on the scene alone.
    """
    parser = auditor.parser_for(instance)
    if instance.scene is None:
        raise RecordError("a counterfactual audit needs the scene in words")
    sentences = parser.sentences(instance)
    parsed = parser.parse(_probe(instance, sentences, []))
    wanted: list[tuple[int, str, str]] = []
    for number, stated in parsed.scene:
        other = _incompatible(parser.ontology, stated.relation, number)
        if other is None or stated.figure == stated.ground:
            continue
        avoid = sentences[number - 1] if number <= len(sentences) else ""
        wanted.append(
            (
                number,
                _worded(parser.ontology, stated, stated.relation, avoid),
                _worded(parser.ontology, stated, other, avoid),
            )
        )
    if not wanted:
        return []
    claims = [text for _, supported, incompatible in wanted for text in (supported, incompatible)]
    audit = auditor.audited(_probe(instance, sentences, claims))
    if not audit["scene"]["feasible"]:
        return []
    verdicts = [claim["grounded_verdict"] for claim in audit["claims"]]
    return [
        {
            "sentence": number,
            "supported": {"text": supported, "verdict": verdicts[2 * n]},
            "incompatible": {"text": incompatible, "verdict": verdicts[2 * n + 1]},
        }
        for n, (number, supported, incompatible) in enumerate(wanted)
    ]


def _probe(instance: Instance, sentences: list[str], claims: list[str]) -> Trace:
    return Trace(
        id=instance.id,
        scene=sentences,
        question=instance.question,
        dataset=instance.dataset,
        profile=instance.profile,
        reasoning=claims[:-1],
        conclusion=claims[-1] if claims else "",
    )


def _incompatible(ontology: Ontology, relation: str, number: int) -> str | None:
    """Return a relation that excludes the given one. The choice varies with the sentence."""
    others = sorted(
        o for o in ontology.relations.excludes.get(relation, ()) if o in ontology.lexicon.wording
    )
    return others[number % len(others)] if others else None


def _worded(ontology: Ontology, stated: Statement, relation: str, avoid: str) -> str:
    """State a relation between the same things. If the ontology has several wordings, use one that
    does not occur in the sentence.
    """
    wordings = ontology.lexicon.wording.get(relation, (relation.replace("_", " "),))
    lowered = avoid.lower()
    fresh = [w for w in wordings if w.lower() not in lowered] or list(wordings)
    return f"{stated.figure} is {fresh[0]} {stated.ground}."
