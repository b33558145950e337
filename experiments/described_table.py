"""Measures the reading of described scenes and of real reasoning about them, in three tables.

    python experiments/described_table.py --data FOLDER relations [--files validation|test]
    python experiments/described_table.py --data FOLDER traces
    python experiments/described_table.py --data FOLDER claims [--misses]

`relations`: the relations read from the scenes, compared with the stated relations as listed by the
generators (`story_triplets` of SpaRTUN and SpaRP, `sprl_triplets` of SpartQA), as micro precision,
recall and F1. Things are matched with the generator's things by their descriptions. Things with the
same description are matched so that as many relations as possible agree. A relation and its
converse count as the same.

`traces`: for each model, the share of parsed claims, the verdicts on them in the grounded context,
and how well right answers are ranked before wrong ones (AUROC) by Constraint-Rule and by the
verdict on the delivered answer.

`claims`: the relations read from two samples of 150 sentences of that reasoning, drawn at random
from the sentences that contain a spatial word. They are compared with the relations in
`described_claims.jsonl` and `described_claims_unseen.jsonl`, which a language model annotated from
the text alone, without seeing the parse. The reader was developed on the first sample. The second
sample was measured before anyone looked at it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, permutations, product
from pathlib import Path
from typing import Any

import click
from common import auroc, data_option, f1_cells, gold, rows, share, table

from symbouq.auditing.answers import Answer, agrees, answer, delivered, space_of
from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.summary import Summary
from symbouq.ontology.tables import Ontology
from symbouq.reading.described.reader import DescribedReader
from symbouq.reading.described.referents import Discourse, Edge
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
"""Sentences on which the reader was developed, and sentences drawn and annotated independently of
it."""
IMAGE = "-1"
"""The generator's id of the whole picture, which is not a thing in the scene."""
UNDERSTOOD = 0.9
"""Confidence of relations that are only implied by a scene. The generators do not list such
relations."""

Triple = tuple[Any, str, Any]


# Relations ---------------------------------------------------------------------------------


def one_way(ontology: Ontology, triple: Triple) -> Triple:
    """Return a relation or its converse, whichever comes first."""
    u, r, v = triple
    turned = (v, ontology.relations.converse.get(r, r), u)
    return min(triple, turned, key=str)


def described(discourse: Discourse, number: int) -> str:
    """Describe a thing by its attributes, kind and names."""
    thing = discourse.things[number]
    return " ".join([*sorted(thing.attributes.values()), thing.kind, *thing.names])


def of_phrase(phrase: Phrase) -> str:
    """Describe a phrase in the same form as a thing."""
    values = sorted(value for _, value in phrase.attributes)
    return " ".join([*values, phrase.kind, *phrase.names])


def pairings(ours: dict[str, list[int]], theirs: dict[str, list[str]]) -> Iterator[dict[str, int]]:
    """Yield the ways to match the generator's things with ours, description by description."""
    groups: list[list[dict[str, int]]] = []
    for description, names in theirs.items():
        numbers = ours.get(description, [])
        longer = [*numbers, *[-1] * (len(names) - len(numbers))]
        ways = {tuple(way) for way in islice(permutations(longer, len(names)), 720)}
        groups.append([dict(zip(names, way, strict=True)) for way in sorted(ways)])
    for way in islice(product(*groups), 20_000):
        yield {name: number for part in way for name, number in part.items()}


def story_matches(
    reader: DescribedReader, row: dict[str, Any], found: Sequence[Edge], discourse: Discourse
) -> tuple[int, int, int, int]:
    """Return four counts: relations read that are stated, all relations read, stated relations that
    were read, and all stated relations.
    """
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
    reader: DescribedReader, row: dict[str, Any], found: Sequence[Edge], discourse: Discourse
) -> tuple[int, int, int, int]:
    """Count as in `story_matches`, for relations between phrases of the text. A phrase may refer to
    any thing that fits it, and "it" to any thing at all.
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

    def agree(statement: Edge, triplet: tuple[set[int], str, set[int]]) -> bool:
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


def relations(data: Path, files: Iterable[str]) -> Iterator[list[object]]:
    """Measure how well the relations in the given files are read."""
    auditor = TraceAuditor()
    for name in files:
        counts: Counter[str] = Counter()
        scenes = {tuple(row["scene"]): row for row in reversed([*rows(data / f"{name}.jsonl.gz")])}
        for row in scenes.values():
            instance = Instance.model_validate(row)
            reader = auditor.parser_for(instance).reader_for(instance)
            assert isinstance(reader, DescribedReader)
            discourse = reader.question(row["scene"], row["question"]).things
            found = [s for statements in reader.statements(row["scene"]) for s in statements]
            match = story_matches if "story_triplets" in row["meta"] else phrase_matches
            right, read, recalled, wanted = match(reader, row, found, discourse)
            counts.update(right=right, read=read, recalled=recalled, wanted=wanted)
        yield [name, len(scenes), *f1_cells(**counts)]


# Traces ------------------------------------------------------------------------------------


def answer_value(labels: Sequence[str] | None, found: Answer) -> float:
    """Return the verdict on a delivered answer: 1 if it is entailed by the scene, 0 if it is
    excluded, 0.5 if it is open.
    """
    if labels is None:
        return 0.5
    if found.status == "answered" and set(labels) == set(found.answer):
        return 1.0
    if set(labels) <= set(found.certain) and labels:
        return 1.0
    return 0.0 if set(labels) & set(found.impossible) else 0.5


def first_answer(row: dict[str, Any]) -> str:
    """Return the model's answer before its explanation, or else at the end of its reasoning."""
    meta = row["meta"]
    if "first_answer" in meta:
        chosen = meta["first_selected"]
        return ", ".join(chosen) if isinstance(chosen, list) else str(chosen)
    return ", ".join(meta["final_answer"])


def traces(data: Path) -> Iterator[list[str]]:
    """Measure how reasoning about described scenes is read and judged, by model."""
    auditor = TraceAuditor()
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
                share(sum(labels), len(labels)),
                share(summary.parsed, summary.claims),
                " / ".join(f"{100 * share:.1f}" for share in shares),
                f"{auroc(rule, labels):.3f}",
                f"{auroc(verdicts, labels):.3f}",
            ]
            yield cells


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
"""For each relation, the coarser ones used in the annotations."""
_TURNED = {"contains": "inside", "right": "left", "below": "above", "behind": "front"}


def coarse(triples: Iterable[Sequence[str]]) -> set[tuple[str, str, str]]:
    """Convert relations between titles to the coarser relations in the annotations, all in one
    direction.
    """
    found: set[tuple[str, str, str]] = set()
    for u, relation, v in triples:
        for name in _COARSE.get(relation, (relation,)):
            turned = _TURNED.get(name)
            first, second = sorted((u, v)) if name in ("near", "far", "ec", "dc") else (u, v)
            found.add((second, turned, first) if turned is not None else (first, name, second))
    return found


def claims(data: Path, misses: bool) -> Iterator[list[object]]:
    """Measure how well annotated claims are read. If `misses`, print each one that is misread."""
    auditor = TraceAuditor()
    traces_of: dict[str, dict[str, dict[str, Any]]] = {}
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
        f1 = f1_cells(counts["right"], counts["read"], counts["right"], counts["stated"])
        found_share = share(counts["found"], counts["stating"])
        yield [title, len(wanted), counts["stating"], found_share, *f1]


def is_annotated(claim: dict[str, Any], annotation: dict[str, Any]) -> bool:
    """Whether an annotation belongs to a claim. If the annotation contains a hash of the text, it
    decides, because claim numbers depend on how responses are split.
    """
    if "text_sha" in annotation:
        text = claim["text"].strip().encode()
        return hashlib.sha256(text).hexdigest()[:12] == annotation["text_sha"]
    return bool(claim["index"] == annotation["claim"])


@click.command()
@click.argument("which", metavar="TABLE", type=click.Choice(("relations", "traces", "claims")))
@data_option
@click.option("--files", type=click.Choice(list(RELATIONS)), default="test")
@click.option("--misses", is_flag=True, help="Print the claims that are misread.")
def main(which: str, data: Path, files: str, misses: bool) -> None:
    """Print the requested table."""
    if which == "relations":
        table("file | scenes | precision | recall | F1", relations(data, RELATIONS[files]), left=1)
    elif which == "traces":
        header = "file | model | n | right | parsed | EN / CO / UN / NO | rule | answer"
        table(header, traces(data))
    else:
        header = "claims | n | stating a relation | of those read | precision | recall | F1"
        table(header, claims(data, misses), left=1)


if __name__ == "__main__":
    main()
