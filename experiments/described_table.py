"""Described scenes and the real reasoning about them: three tables.

    python experiments/described_table.py --data FOLDER relations [--files validation|test]
    python experiments/described_table.py --data FOLDER traces
    python experiments/described_table.py --data FOLDER claims [--misses]

`relations`: what is read from the scenes against the relations that the generators say they
state (`story_triplets` of SpaRTUN and SpaRP, `sprl_triplets` of SpartQA), as micro precision,
recall and F1. Things are paired with the generator's by how they are described; of things
described alike, so that most relations agree. A relation and its converse are one.

`traces`: per model, the share of claims that are parsed, the verdicts of the parsed claims
in the grounded context, and how well Constraint-Rule and the verdict on the delivered
answer rank right answers before wrong ones (AUROC).

`claims`: what is read from twice 150 sentences of that reasoning, drawn with a seed from those
that have a word of place, against the relations that `described_claims.jsonl` and
`described_claims_unseen.jsonl` say they assert (annotated by a language model from the text
alone, without looking at the parse). The reading was developed on the first; the second was
measured before any of it was looked at.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, permutations, product
from pathlib import Path
from typing import Any

from common import auroc, gold, rows

from symbouq.auditing.answers import Answer, agrees, answer, delivered, space_of
from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.summary import Summary
from symbouq.ontology.tables import Ontology
from symbouq.reading.described.reader import DescribedReader
from symbouq.reading.described.referents import Discourse, Statement
from symbouq.reading.described.syntax import DEMONSTRATIVE, PRONOUN, Phrase
from symbouq.records import Instance, Trace

RELATIONS = {
    "validation": (
        "spartun/spartun_validation",
        "spartqa/spartqa_auto_validation",
        "sparp/sparp_ps1_style_validation",
    ),
    "test": (
        "spartun/spartun_test",
        "spartqa/spartqa_auto_test",
        "sparp/sparp_ps1_style_test",
        "sparp/sparp_ps1_published_test",
    ),
}
TRACES = (
    "spartqa/llm_traces_spartqa_human",
    "spartun/llm_traces_spartun",
    "sparp/llm_traces_sparp_ps1",
)
ANNOTATED = {
    "seen": Path(__file__).with_name("described_claims.jsonl"),
    "unseen": Path(__file__).with_name("described_claims_unseen.jsonl"),
}
"""Sentences that the reading was developed on, and others, drawn and annotated apart from it."""
IMAGE = "-1"
"""The generator's id of the whole picture, which is no thing of the scene."""
UNDERSTOOD = 0.9
"""Confidence of what a scene leaves to be understood, which the generators do not list."""

Triple = tuple[Any, str, Any]


# Relations ---------------------------------------------------------------------------------


def one_way(ontology: Ontology, triple: Triple) -> Triple:
    """A relation or its converse, whichever is first."""
    u, r, v = triple
    turned = (v, ontology.relations.converse.get(r, r), u)
    return min(triple, turned, key=str)


def described(discourse: Discourse, number: int) -> str:
    """A thing as its kind, names and attributes."""
    thing = discourse.things[number]
    return " ".join([*sorted(thing.attributes.values()), thing.kind, *thing.names])


def of_phrase(phrase: Phrase) -> str:
    """A phrase in the same form."""
    values = sorted(value for _, value in phrase.attributes)
    return " ".join([*values, phrase.kind, *phrase.names])


def pairings(ours: dict[str, list[int]], theirs: dict[str, list[str]]) -> Iterator[dict[str, int]]:
    """The ways to pair the generator's things with ours, description by description."""
    groups: list[list[dict[str, int]]] = []
    for description, names in theirs.items():
        numbers = ours.get(description, [])
        longer = [*numbers, *[-1] * (len(names) - len(numbers))]
        ways = {tuple(way) for way in islice(permutations(longer, len(names)), 720)}
        groups.append([dict(zip(names, way, strict=True)) for way in sorted(ways)])
    for way in islice(product(*groups), 20_000):
        yield {name: number for part in way for name, number in part.items()}


def story_matches(
    reader: DescribedReader, row: dict[str, Any], found: Sequence[Statement], discourse: Discourse
) -> tuple[int, int, int, int]:
    """Relations read that the story states, relations read, and the other way round."""
    ontology = reader.ontology
    stated = [tuple(t) for t in row["meta"]["story_triplets"] if IMAGE not in t]
    entities: dict[str, str] = row["meta"]["entities"]
    theirs: defaultdict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(x for u, _, v in stated for x in (u, v)):
        phrase = reader.phrase(entities[name].split(" of b")[0], discourse.names)
        assert phrase is not None
        theirs[of_phrase(phrase)].append(name)
    ours: defaultdict[str, list[int]] = defaultdict(list)
    for number in range(len(discourse)):
        ours[described(discourse, number)].append(number)
    read = {one_way(ontology, (s.subject, s.relation, s.object)) for s in found}
    best, wanted = 0, {one_way(ontology, t) for t in stated}
    for way in pairings(ours, theirs):
        said = {one_way(ontology, (way[u], r, way[v])) for u, r, v in stated}
        best = max(best, len(said & read))
        if best == len(wanted):
            break
    return best, len(read), best, len(wanted)


_SPRL = {"NTPP": "inside", "NTPPI": "contains", "EC": "ec", "NEAR": "near", "FAR": "far"}


def phrase_matches(
    reader: DescribedReader, row: dict[str, Any], found: Sequence[Statement], discourse: Discourse
) -> tuple[int, int, int, int]:
    """The same against relations between phrases of the text: a phrase may mean any thing
    that fits it, "it" any thing at all.
    """
    ontology = reader.ontology
    edges = {r for r, s in ontology.lexicon.of_container.items()} | set(
        ontology.lexicon.of_container.values()
    )

    def means(phrase: Phrase | None) -> set[int]:
        every = set(range(len(discourse)))
        if phrase is None or phrase.determiner in (PRONOUN, DEMONSTRATIVE):
            return every
        return {n for n in every if discourse.fits(phrase, n)} or every

    def agree(statement: Statement, triplet: tuple[set[int], str, set[int]]) -> bool:
        first, relation, second = triplet
        ways = [
            (statement.subject, statement.relation, statement.object),
            (
                statement.object,
                ontology.relations.converse.get(statement.relation, ""),
                statement.subject,
            ),
        ]
        if relation == "TPP":
            return statement.subject in first and statement.relation in {*edges, "tpp"}
        name = _SPRL.get(relation, relation.lower())
        return any(u in first and r == name and v in second for u, r, v in ways)

    triplets: dict[str, tuple[set[int], str, set[int]]] = {}
    for trajector, relation, landmark, _ in row["meta"]["sprl_triplets"]:
        first = reader.phrase(trajector, discourse.names)
        second = reader.phrase(landmark, discourse.names)
        triplets[f"{trajector} {relation} {landmark}"] = (means(first), relation, means(second))
    said = [s for s in found if s.confidence != UNDERSTOOD]
    right = sum(any(agree(s, t) for t in triplets.values()) for s in said)
    recalled = sum(any(agree(s, t) for s in said) for t in triplets.values())
    return right, len(said), recalled, len(triplets)


def relations(data: Path, files: Iterable[str]) -> None:
    """Prints the table of relations."""
    auditor = TraceAuditor()
    print("| file | scenes | precision | recall | F1 |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in files:
        counts: Counter[str] = Counter()
        seen: set[tuple[str, ...]] = set()
        for row in rows(data / f"{name}.jsonl.gz"):
            key = tuple(row["scene"])
            if key in seen:
                continue
            seen.add(key)
            instance = Instance.model_validate(row)
            reader = auditor.parser_for(instance).reader_for(instance)
            assert isinstance(reader, DescribedReader)
            discourse = reader.question(row["scene"], row["question"]).things
            found = [s for statements in reader.statements(row["scene"]) for s in statements]
            match = story_matches if "story_triplets" in row["meta"] else phrase_matches
            right, read, recalled, wanted = match(reader, row, found, discourse)
            counts.update(right=right, read=read, recalled=recalled, wanted=wanted)
        precision = counts["right"] / counts["read"]
        recall = counts["recalled"] / counts["wanted"]
        f1 = 2 * precision * recall / (precision + recall)
        print(f"| {name} | {len(seen)} | {precision:.3f} | {recall:.3f} | {f1:.3f} |", flush=True)


# Traces ------------------------------------------------------------------------------------


def answer_value(labels: Sequence[str] | None, found: Answer) -> float:
    """The verdict on a delivered answer: 1 where the scene entails it, 0 where it rules it
    out, 0.5 where it leaves it open.
    """
    if labels is None:
        return 0.5
    if found.status == "answered" and set(labels) == set(found.answer):
        return 1.0
    if set(labels) <= set(found.certain) and labels:
        return 1.0
    return 0.0 if set(labels) & set(found.impossible) else 0.5


def first_answer(row: dict[str, Any]) -> str:
    """What the model answered before it explained itself, or at the end of its reasoning."""
    meta = row["meta"]
    if "first_answer" in meta:
        chosen = meta["first_selected"]
        return ", ".join(chosen) if isinstance(chosen, list) else str(chosen)
    return ", ".join(meta["final_answer"])


def traces(data: Path) -> None:
    """Prints the table of traces."""
    auditor = TraceAuditor()
    print("| file | model | n | right | parsed | EN / CO / UN / NO | rule | answer |")
    print("| --- | --- | ---: | ---: | ---: | --- | ---: | ---: |")
    for name in TRACES:
        groups: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows(data / f"{name}.jsonl.gz"):
            groups[row["model"].split("/")[-1]].append(row)
        groups["all"] = [row for group in groups.values() for row in group]
        for model, group in sorted(groups.items()):
            summary = Summary()
            labels: list[bool] = []
            rule: list[float] = []
            verdicts: list[float] = []
            for row in group:
                audit = auditor.audited(Trace.model_validate(row))
                summary.add(Summary.of(audit))
                space = space_of(row["answer_space"])
                chosen = delivered(first_answer(row), space, row["question"])
                labels.append(agrees(chosen, sorted(gold(row)), "set"))
                rule.append(audit["constraint_rule"])
                found = answer(auditor, Instance.model_validate(row))
                verdicts.append(answer_value(chosen, found))
            shares = summary.shares(summary.grounded).values()
            cells = [
                name.split("llm_traces_")[1],
                model,
                str(len(group)),
                f"{sum(labels) / len(labels):.1%}",
                f"{summary.parsed / summary.claims:.1%}",
                " / ".join(f"{100 * share:.1f}" for share in shares),
                f"{auroc(rule, labels):.3f}",
                f"{auroc(verdicts, labels):.3f}",
            ]
            print(f"| {' | '.join(cells)} |", flush=True)


# Annotated claims --------------------------------------------------------------------------

_COARSE = {
    **dict.fromkeys(("ntpp", "tpp", "inside", "proper_part", "part"), ("inside",)),
    **dict.fromkeys(("ntppi", "tppi", "contains", "proper_whole", "whole"), ("contains",)),
    **dict.fromkeys(("touching", "connected"), ("ec",)),
    "disconnected": ("dc",),
    "on_top_of": ("above",),
    "touching_top": ("ec", "above"),
    "touching_bottom": ("ec", "below"),
    "touching_left": ("ec", "left"),
    "touching_right": ("ec", "right"),
}
"""Relations as coarse as the annotations."""
_TURNED = {"contains": "inside", "right": "left", "below": "above", "behind": "front"}


def coarse(triples: Iterable[Sequence[str]]) -> set[tuple[str, str, str]]:
    """Relations between titles, as coarse as the annotations and one way round."""
    found: set[tuple[str, str, str]] = set()
    for u, relation, v in triples:
        for name in _COARSE.get(relation, (relation,)):
            turned = _TURNED.get(name)
            first, second = sorted((u, v)) if name in ("near", "far", "ec", "dc") else (u, v)
            found.add((second, turned, first) if turned is not None else (first, name, second))
    return found


def claims(data: Path, misses: bool) -> None:
    """Prints the table of annotated claims, and with `misses` each claim that is misread."""
    auditor = TraceAuditor()
    traces_of: dict[str, dict[str, dict[str, Any]]] = {}
    print("| claims | n | stating a relation | of those read | precision | recall | F1 |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for title, path in ANNOTATED.items():
        wanted = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        counts: Counter[str] = Counter()
        for annotation in wanted:
            name = annotation["file"]
            if name not in traces_of:
                traces_of[name] = {row["id"]: row for row in rows(data / f"{name}.jsonl.gz")}
            audit = auditor.audited(Trace.model_validate(traces_of[name][annotation["id"]]))
            claim = next((c for c in audit["claims"] if is_annotated(c, annotation)), None)
            found = claim["relations"] if claim else []
            read = coarse((r["subject"], r["relation"], r["object"]) for r in found)
            stated = coarse(annotation["relations"])
            right = len(read & stated)
            counts.update(right=right, read=len(read), stated=len(stated))
            counts.update(stating=bool(stated), found=bool(stated and read))
            if misses and read != stated:
                place = f"{annotation['id']} {annotation['claim']}"
                print(place, claim["text"] if claim else None, stated - read, read - stated)
        precision, recall = counts["right"] / counts["read"], counts["right"] / counts["stated"]
        f1 = 2 * precision * recall / (precision + recall)
        share = counts["found"] / counts["stating"]
        cells = [title, len(wanted), counts["stating"], f"{share:.1%}"]
        cells += [f"{value:.3f}" for value in (precision, recall, f1)]
        print(f"| {' | '.join(map(str, cells))} |")


def is_annotated(claim: dict[str, Any], annotation: dict[str, Any]) -> bool:
    """Whether a claim is the annotated one: by its text where the annotation has its hash, since
    numbers depend on how responses are cut.
    """
    if "text_sha" in annotation:
        text = claim["text"].strip().encode()
        return hashlib.sha256(text).hexdigest()[:12] == annotation["text_sha"]
    return bool(claim["index"] == annotation["claim"])


def main() -> None:
    """Prints the table asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=("relations", "traces", "claims"))
    parser.add_argument("--data", default=os.environ.get("SYMBOUQ_DATA"), help="folder of data")
    parser.add_argument("--files", choices=("validation", "test"), default="test")
    parser.add_argument("--misses", action="store_true", help="print the claims that are misread")
    options = parser.parse_args()
    if not options.data:
        parser.error("--data is needed where SYMBOUQ_DATA is not set")
    if options.table == "relations":
        relations(Path(options.data), RELATIONS[options.files])
    elif options.table == "traces":
        traces(Path(options.data))
    else:
        claims(Path(options.data), options.misses)


if __name__ == "__main__":
    main()
