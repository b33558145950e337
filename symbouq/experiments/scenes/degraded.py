"""Hides or blurs more and more sentences of a scene, until the scene no longer decides the
question.

If possible, the first sentence is one that the answer does not need, so the question stays decided.
Next come premises of the answer, then all other sentences. Ties are broken by a hash of only the
scene and the question, so all traces about a question lose the same sentences. Hiding sentences
should never change what the remaining scene means. So a sentence is kept if the scene would have
another meaning without it, for example because other sentences refer to it. A blurred sentence only
denies the converse of the original relation.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from symbouq.auditing.answers import Answer, answer, delivered, space_of
from symbouq.auditing.answers.delivery import usual_labels
from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.correctness import right_labels
from symbouq.errors import RecordError
from symbouq.io.stream import Work
from symbouq.records import Instance, Trace, make_record
from symbouq.reliability.reading import scene_key
from symbouq.reliability.worlds import delivered_text

Record = dict[str, Any]


def degrading(
    first: int,
    last: int | None,
    blur: bool = False,
    profile: str | None = None,
    ontology: str | None = None,
    pipeline: str | None = None,
) -> Work:
    """Make a worker that writes the steps of each record (`degraded`) and collects whether each
    step is decided.
    """
    auditor = TraceAuditor(profile, ontology, pipeline=pipeline)

    def work(instance: Instance, _file: str, _line: int) -> tuple[list[Record], list[bool]]:
        steps = [*degraded(auditor, instance, first, last, blur)]
        return steps, [step["decided"] for step in steps]

    return Work(work, auditor.ahead)


def degraded(
    auditor: TraceAuditor,
    instance: Instance,
    first: int = 0,
    last: int | None = None,
    blur: bool = False,
) -> Iterator[Record]:
    """Yield the steps of a record. At step n, n sentences are hidden: those hidden at step n - 1
    and one more. At least one sentence stays. With `blur`, sentences that state a direction are
    blurred instead, and the key `hidden` becomes `blurred`.

    Each step is the record with the remaining scene and:

    - `step`, and `hidden`: the numbers of the hidden sentences (or of unnumbered relations), from
      1, in order of hiding;
    - `decided`: whether the scene still settles everything about the question that the whole scene
      settles;
    - `gold`: the status of the record's `answer` and of its trace's `delivered` answer: `entailed`,
      `contradicted` or `open`; null if there is none in the answer space;
    - for a trace, `uses`: the claims (from 1) that rest on a hidden sentence, and `used`: whether
      there are any.

    Steps `first` to `last` are yielded; without `last`, the first open step is the last.

    Raises:
        RecordError: If the whole scene cannot be read or contradicts itself, or there is no
            question.
    """
    record = instance.model_dump(exclude_unset=True, exclude={"readings"})
    says = record.keys() & {"response", "conclusion", "claims"}
    trace = make_record(Trace, record) if says else None
    scene = _Scene(auditor, instance, record)
    labels = _labels(auditor, instance)

    def solved(view: Record) -> Answer:
        return answer(auditor, make_record(Instance, view | {"answer_space": labels}))

    whole = found = solved(record)
    if whole.status not in ("answered", "open"):
        fault = {"inconsistent": "contradicts itself"}.get(whole.status, "was not read")
        raise RecordError(f"the scene, or the question, {fault}: nothing can be hidden of it")
    space = space_of(labels, dataset=instance.dataset or "")
    said = {
        "answer": right_labels(record["answer"], labels) if "answer" in record else None,
        "delivered": delivered(delivered_text(trace), space, trace.question) if trace else None,
    }
    uses = _uses(auditor, trace) if trace else {}
    how, change = ("blurred", scene.blurred) if blur else ("hidden", scene.without)
    order, hidden = [*scene.numbers], list[int]()
    random.Random(f"{scene_key(instance)}\n{instance.question}").shuffle(order)
    premises: set[int] = set()
    view = record
    while True:
        left = [n for n in scene.numbers if n not in hidden]
        decided = _decided(found) and set(found.certain) == set(whole.certain)
        if decided:
            named = [int(premise.rpartition(":")[2]) for premise in found.premises]
            # Sentences are renumbered in the remaining scene.
            premises |= {left[n - 1] if hidden and not blur else n for n in named}
        if len(hidden) >= first:
            step: Record = {
                "id": f"{instance.id}/{how}-{len(hidden)}",
                "step": len(hidden),
                how: [*hidden],
                "decided": decided,
                "gold": {name: _standing(given, found, labels) for name, given in said.items()},
            }
            if trace:
                resting = sorted({n for number in hidden for n in uses.get(number, ())})
                step |= {"uses": resting, "used": bool(resting)}
            yield {**view, **step}
        if len(hidden) == last or (last is None and hidden and not decided):
            return
        wanted = bool(hidden)  # the first hidden sentence should not affect the answer
        left.sort(key=lambda n: ((n in premises) != wanted, order.index(n)))
        for number in left if blur or len(left) > 1 else ():
            if blur and number not in scene.vaguer:
                continue
            view = change({*hidden, number})
            found = solved(view)
            if _says_less(found, whole):
                hidden.append(number)
                break
        else:
            return


class _Scene:
    def __init__(self, auditor: TraceAuditor, instance: Instance, record: Record) -> None:
        self._parser, self._instance = auditor.parser_for(instance), instance
        self._record = {**record}
        self._relations = list[tuple[int, Record]]()
        given = instance.scene_relations
        if given is not None and not all(relation.sentence for relation in given):
            self._record.pop("scene", None)  # the scene's own sentences are not used
        if "scene" in self._record:
            self._record["scene"] = self._parser.sentences(instance)
        if given is not None:
            self._relations = [
                (relation.sentence or n, stated)
                for n, (relation, stated) in enumerate(
                    zip(given, record["scene_relations"], strict=True), start=1
                )
            ]
        counted = len(self._record.get("scene") or ())
        self.numbers = sorted({*range(1, counted + 1), *(n for n, _ in self._relations)})

    def without(self, hidden: Collection[int]) -> Record:
        """Return the record without the given sentences. The others are renumbered."""
        left = {n: k for k, n in enumerate((n for n in self.numbers if n not in hidden), start=1)}
        view = {**self._record}
        for name in {"scene", "scene_events"} & view.keys():
            view[name] = [each for n, each in enumerate(view[name], start=1) if n in left]
        if self._relations:
            view["scene_relations"] = [
                {**stated, **({"sentence": left[n]} if stated.get("sentence") else {})}
                for n, stated in self._relations
                if n in left
            ]
        return view

    @cached_property
    def vaguer(self) -> dict[int, list[tuple[str, str, str]]]:
        """For each sentence, the denials that replace its directions when it is blurred. A sentence
        that refers to its things by words other than their names is omitted, because these words
        may be needed.
        """
        ontology, relations = self._parser.ontology, self._parser.ontology.relations
        found: dict[int, dict[frozenset[str], tuple[str, str, str]]] = {}
        for number, stated in self._parser.parse(self._instance).scene:
            name = stated.direction or stated.relation
            converse = relations.converse.get(name, "")
            denial = ontology.denied(converse)
            if denial and name in relations.component and converse in relations.excludes[name]:
                pair = frozenset((stated.figure, stated.ground))
                found.setdefault(number, {})[pair] = (stated.figure, denial, stated.ground)
        texts = dict(enumerate(self._record.get("scene") or (), start=1))
        return {
            number: [*some.values()]
            for number, some in found.items()
            if number not in texts
            or all(
                name.lower() in texts[number].lower()
                for u, _, v in some.values()
                for name in (u, v)
            )
        }

    def blurred(self, numbers: Collection[int]) -> Record:
        """Return the record with the given sentences replaced by their blurred versions."""
        wording = self._parser.ontology.lexicon.wording
        view = {**self._record}
        if "scene" in view:
            view["scene"] = [
                " ".join(f"{u} is {wording[r][0]} {v}." for u, r, v in self.vaguer[n])
                if n in numbers
                else sentence
                for n, sentence in enumerate(view["scene"], start=1)
            ]
        if self._relations:
            view["scene_relations"] = [
                each
                for n in self.numbers
                for each in (
                    [
                        {"subject": u, "relation": r, "object": v, "sentence": n}
                        for u, r, v in self.vaguer[n]
                    ]
                    if n in numbers
                    else [{**stated, "sentence": n} for m, stated in self._relations if m == n]
                )
            ]
        return view


def _labels(auditor: TraceAuditor, instance: Instance) -> list[str]:
    given = getattr(instance, "answer_space", None)
    if given is None:
        parser = auditor.parser_for(instance)
        given = usual_labels(parser.ontology, parser.parse(instance).question())
    if not given:
        raise RecordError("`answer_space` is needed: the question does not say what answers it")
    return [*map(str, given)]


def _decided(found: Answer) -> bool:
    return found.status == "answered" and bool(found.certain)


def _says_less(found: Answer, whole: Answer) -> bool:
    """Whether a part of a scene settles nothing beyond what the whole scene settles."""
    return (
        found.status in ("answered", "open")
        and {*found.certain} <= {*whole.certain}
        and {*found.impossible} <= {*whole.impossible}
    )


def _standing(given: Sequence[str] | None, found: Answer, labels: Sequence[str]) -> str | None:
    """Return the status of an answer in a scene; None if the answer is not a label."""
    if not given or not {*given} <= {*labels}:
        return None
    same = found.status == "answered" and not found.default and {*given} == {*found.answer}
    if same or {*given} <= {*found.certain}:
        return "entailed"
    return "contradicted" if {*given} & {*found.impossible} else "open"


def _uses(auditor: TraceAuditor, trace: Trace) -> Mapping[int, Sequence[int]]:
    """Map each sentence to the reasoning claims with verdicts that depend on it. A claim that
    derives the answer from several sentences merely repeats the conclusion, and is omitted.
    """
    *steps, last = auditor.audited(trace)["claims"] or [None]
    asked = _pairs(last) if last else set()
    uses: dict[int, list[int]] = {}
    for claim in steps:
        premises = claim["premises"]
        if len(premises) > 1 and _pairs(claim) & asked:
            continue
        for source, number in (premise.split(":") for premise in premises):
            if source == "scene":
                uses.setdefault(int(number), []).append(claim["index"])
    return uses


def _pairs(claim: Record) -> set[frozenset[str]]:
    return {frozenset((r["subject"], r["object"])) for r in claim["relations"]}
