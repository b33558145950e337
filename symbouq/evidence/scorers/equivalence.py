"""Decides whether two answers are equivalent, and whether a sampled answer supports a claim.

Sampling scores use no other linguistic knowledge. The equivalence can be replaced, and its name is
reported with the results.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symbouq.auditing.answers import delivered, space_of
from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.relations import ClaimInput, audit_relations
from symbouq.auditing.verdicts import Verdict
from symbouq.errors import SymboUQError, extra
from symbouq.evidence.scorers.needs import Needs
from symbouq.ontology.tables import Triple
from symbouq.reading.text import triples
from symbouq.records import Trace, make_record

if TYPE_CHECKING:
    from symbouq.ontology.tables import Ontology

Record = Mapping[str, Any]
"""A trace, or a sampled answer to its question together with the scene and the question."""


def answer_of(record: Record) -> str:
    """Return the text of the delivered answer; empty if the generation is invalid or has no
    answer.
    """
    if _status(record) != "valid":
        return ""
    return str(record.get("conclusion") or record.get("response") or "")


def claims_of(record: Record) -> list[str]:
    """Return the texts of a trace's claims, the answer last."""
    if _status(record) != "valid":
        return [""]
    return [*(record.get("reasoning") or ()), answer_of(record)]


def _status(record: Record) -> str:
    generation = record.get("generation") or {}
    return str(record.get("status") or generation.get("status") or "valid")


def _plain(text: str) -> str:
    """Return the text in lower case, without punctuation and extra spaces."""
    kept = "".join(c if c.isalnum() else " " for c in text.casefold())
    return " ".join(kept.split())


# By the auditor ------------------------------------------------------------------------

Named = tuple[str, str, str]
"""A relation between two named things."""


@dataclass(frozen=True)
class _Reading:
    ontology: Ontology
    scene: tuple[tuple[int, Named], ...]
    claims: tuple[tuple[str, frozenset[Named]], ...]


_READ = ("scene", "scene_relations", "question", "dataset", "profile")
_CLAIMS = ("reasoning", "conclusion", "response", "claims")


class AuditorEquivalence:
    """Bidirectional entailment, decided by the auditor's rules under each trace's own profile.

    Two answers mean the same if each, added to the scene, entails the other. An answer that
    contradicts the scene is compared without the scene, because a contradiction entails everything.
    If one of the answers states no relation ("yes"), both must express the same label of the answer
    space, or be equal apart from case and punctuation. An invalid generation counts as an empty
    answer.

    A sample supports a claim if it states or entails the claim's relations. The scene is not used
    for this, because everything that it entails would then be supported. A claim without relations
    is supported by a claim with the same text, and a conclusion without relations by an answer with
    the same meaning.

    The scene affects the result: given the scene, all true answers have the same meaning. With
    `scene=False`, answers are compared without the scene.
    """

    needs: Needs = frozenset()

    def __init__(self, scene: bool = True) -> None:
        self._scene = scene
        self.name = "auditor, in the scene" if scene else "auditor, answers alone"
        # Each trace is compared with all of its samples in turn.
        self._read = lru_cache(maxsize=64)(self._reading)

    @cached_property
    def _auditor(self) -> TraceAuditor:
        return TraceAuditor()  # loading its rules takes a while

    def same(self, first: Record, second: Record) -> bool:
        """Whether two traces for the same question deliver answers with the same meaning."""
        one, other = self._of(first), self._of(second)
        stated, meant = one.claims[-1][1], other.claims[-1][1]
        if stated and meant:
            scene = one.scene if self._scene else ()
            return (
                _verdict(one.ontology, scene, stated, meant)
                is _verdict(one.ontology, scene, meant, stated)
                is Verdict.ENTAILED
            )
        texts = answer_of(first), answer_of(second)
        if _plain(texts[0]) == _plain(texts[1]):
            return True
        space = first.get("answer_space")
        if not isinstance(space, Sequence) or isinstance(space, str) or not space:
            return False
        answers = space_of(map(str, space), dataset=str(first.get("dataset") or ""))
        labels = [delivered(text, answers, first.get("question") or "") for text in texts]
        return labels[0] is not None and labels[0] == labels[1]

    def supports(self, sample: Record, trace: Record, claim: int) -> bool:
        """Whether `sample` supports the given claim of `trace`."""
        own, other = self._of(sample), self._of(trace)
        text, meant = other.claims[claim]
        if meant:
            return _verdict(own.ontology, (), _all_of(own), meant) is Verdict.ENTAILED
        if claim in (-1, len(other.claims) - 1):
            return self.same(sample, trace)
        return _plain(text) in {_plain(stated) for stated, _ in own.claims}

    def contradicts(self, sample: Record, trace: Record, claim: int) -> float:
        """Return 1 if the claims in `sample` contradict the given claim; for a conclusion without
        relations, return 1 if the sample's answer has another meaning. Otherwise return 0.
        """
        own, other = self._of(sample), self._of(trace)
        meant = other.claims[claim][1]
        if meant:
            return float(_verdict(own.ontology, (), _all_of(own), meant) is Verdict.CONTRADICTED)
        is_answer = claim in (-1, len(other.claims) - 1)
        return float(is_answer and bool(answer_of(sample)) and not self.same(sample, trace))

    def _of(self, record: Record) -> _Reading:
        fields = {key: record[key] for key in _READ if record.get(key) is not None}
        if record.get("claims") is not None or _status(record) == "valid":
            fields |= {key: record[key] for key in _CLAIMS if record.get(key) is not None}
        return self._read(json.dumps(fields, sort_keys=True))

    def _reading(self, fields: str) -> _Reading:
        record = {"id": "answer", **json.loads(fields)}  # no field is null here
        if not record.keys() & {"conclusion", "response", "claims"}:
            record["conclusion"] = ""
        if "conclusion" in record:
            record.pop("response", None)
        trace = make_record(Trace, record)
        parsed = self._auditor.parser_for(trace).parse(trace)

        return _Reading(
            self._auditor.parser_for(trace).ontology,
            tuple((n, (s.figure, s.relation, s.ground)) for n, s in parsed.scene),
            tuple((claim.text, frozenset(triples(claim.relations))) for claim in parsed.claims),
        )


def _all_of(reading: _Reading) -> frozenset[Named]:
    return frozenset().union(*(relations for _, relations in reading.claims))


def _verdict(
    ontology: Ontology,
    scene: Sequence[tuple[int, Named]],
    stated: frozenset[Named],
    meant: frozenset[Named],
) -> Verdict:
    """Return the verdict on the relations `meant`, given the relations `stated` and the scene. The
    scene is not used if `stated` contradicts it.
    """
    slots: dict[str, int] = {}

    def numbered(relation: Named) -> Triple:
        subject, relation_name, thing = relation
        first, second = (slots.setdefault(name, len(slots)) for name in (subject, thing))
        return first, relation_name, second

    facts = [(number, [numbered(relation)]) for number, relation in scene]
    own = [numbered(relation) for relation in sorted(stated)]
    asked = [numbered(relation) for relation in sorted(meant)]
    oriented = ontology.oriented
    if {oriented(triple) for triple in asked} <= {oriented(triple) for triple in own}:
        return Verdict.ENTAILED
    last = max((number for number, _ in facts), default=0)
    premise = [(last + n, [triple]) for n, triple in enumerate(own, start=1)]
    audit = audit_relations(ontology, [*facts, *premise], [ClaimInput(asked)]).whole()
    if facts and not audit.feasible:
        audit = audit_relations(ontology, premise, [ClaimInput(asked)]).whole()
    return audit.claims[0].verdict


# By an entailment model ----------------------------------------------------------------


class NLIEquivalence:
    """Bidirectional entailment by a transformers sequence classifier, as in Kuhn et al. (2023).
    Each answer is preceded by its question. Entailment holds if it is the most likely class.

    A sample supports a claim if the sample's claims together entail it. The classifier needs a
    class with a name that begins with "entail" and, for `contradicts`, another with a name that
    begins with "contradict".

    Raises:
        SymboUQError: If a package is missing, or the model cannot be read or has no such class.
    """

    needs: Needs = frozenset({"nli"})

    def __init__(self, folder: str | Path, device: str = "cpu") -> None:
        with extra("models"):
            import torch
            from transformers import AutoModelForSequenceClassification, AutoTokenizer
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder)
            model = AutoModelForSequenceClassification.from_pretrained(folder)
        except (OSError, ValueError) as error:
            raise SymboUQError(f"{folder} holds no entailment model: {error}") from error
        names = {str(name).casefold(): n for n, name in model.config.id2label.items()}
        entailed = [n for name, n in names.items() if name.startswith("entail")]
        if len(entailed) != 1:
            raise SymboUQError(
                f"{folder}: one class is to be called entailment, there are {', '.join(names)}"
            )
        self._entailment = entailed[0]
        # In models with two classes, the second one is often called not_entailment.
        contradicted = (n for name, n in names.items() if name.startswith("contradict"))
        self._contradiction = next(contradicted, None)
        self.name = f"nli, {Path(folder).name}"
        model = model.to(device).eval()

        @lru_cache(maxsize=4096)
        def logits(premise: str, hypothesis: str) -> list[float]:
            pair = tokenizer(premise, hypothesis, return_tensors="pt", truncation=True).to(device)
            with torch.inference_mode():
                found: list[float] = model(**pair).logits[0].tolist()
            return found

        self.logits: Callable[[str, str], list[float]] = logits

    def entails(self, premise: str, hypothesis: str) -> bool:
        """Whether entailment is the most likely class."""
        logits = self.logits(premise, hypothesis)
        return bool(logits[self._entailment] == max(logits))

    def same(self, first: Record, second: Record) -> bool:
        """Whether two traces for the same question deliver answers with the same meaning."""
        one, other = answer_of(first), answer_of(second)
        if not one or not other:
            return one == other
        question = first.get("question") or ""
        texts = f"{question} {one}".strip(), f"{question} {other}".strip()
        return texts[0] == texts[1] or (self.entails(*texts) and self.entails(*texts[::-1]))

    def supports(self, sample: Record, trace: Record, claim: int) -> bool:
        """Whether the claims in `sample` entail the given claim of `trace`."""
        premise = " ".join(filter(None, claims_of(sample)))
        return bool(premise) and self.entails(premise, claims_of(trace)[claim])

    def contradicts(self, sample: Record, trace: Record, claim: int) -> float:
        """Return the probability of contradiction, relative to entailment, between the claims in
        `sample` and the given claim (Manakul et al., 2023). Return 0 if the sample has no claims.

        Raises:
            SymboUQError: If the model has no contradiction class.
        """
        if self._contradiction is None:
            raise SymboUQError(f"{self.name}: no class is called contradiction")
        premise = " ".join(filter(None, claims_of(sample)))
        if not premise:
            return 0.0
        logits = self.logits(premise, claims_of(trace)[claim])
        return 1 / (1 + math.exp(logits[self._entailment] - logits[self._contradiction]))


Equivalence = AuditorEquivalence | NLIEquivalence
"""Equivalence used by the sampling scores. It decides whether two traces for the same question
deliver answers with the same meaning, and whether a sample supports or contradicts a claim
(numbered from 0)."""
