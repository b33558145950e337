"""Results of the profiles on benchmarks and real answers, as Markdown tables.

    python experiments/profiles_table.py --data FOLDER [--section NAME ...]

consistency2d   Scenes read from text under nine-way: satisfiable or not, and whether each
                clash is a minimal one, checked by plain Python.
babi            Task 17 read from text under babi; task 19 read from text under unit-grid.
spartun         "Find the relation" of SpaRTUN and SpaRP under spartun, from the stated
                relations: what is certain, compared with the gold set.
spartqa         "Find the relation" of SpartQA-Auto under spartqa, from the stated relations,
                with a small reader of the questions' descriptions.
qsr             Compositions in rcc8 and cdc, and the sets of relations that language models
                delivered for them.

Some gold labels in SpaRTUN and SpaRP rest on a rule that does not hold in RCC-8 (that a
tangential part of a tangential part is a non-tangential one). `unsound_rows.jsonl` names
these rows; `--list-unsound` writes it anew. `--sample N` prints delivered sets to check by
eye, from the half of the responses on which their reader was not developed.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field
from functools import cache, cached_property
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import click
from common import counted, data_option, rows, share, table
from delivered_sets import Delivery, calculus_of, with_definitions
from stepgame_table import first_half

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.relations import ClaimInput, audit_relations
from symbouq.auditing.verdicts import Verdict
from symbouq.logic.worlds import composition_table, pair_worlds
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.tables import Ontology, Triple
from symbouq.reading.text import ParsedTrace
from symbouq.records import Trace

LIBRARY = OntologyLibrary()
UNSOUND_ROWS = Path(__file__).with_name("unsound_rows.jsonl")

Row = dict[str, Any]


def parsed(auditor: TraceAuditor, row: Row) -> ParsedTrace:
    """Parse the scene and the question of a row, without claims."""
    trace = Trace(
        id=row["id"],
        dataset=row["dataset"],
        scene=row["scene"],
        question=row["question"],
        conclusion="",
    )
    return auditor.parser_for(trace).parse(trace)


class Numbers(dict[str, int]):
    """Numbers names in their order of appearance."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]


# Consistency of points -----------------------------------------------------------------

_COMPASS = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
_POINTS = re.compile(r"(\w+) (?:is to the (north|south)?(east|west)? of|overlaps with) (\w+)\.")


def can_all_hold(sentences: Iterable[str]) -> bool:
    """Whether statements about points can hold together, in plain Python. Things are moved along
    each axis until all statements hold. If the movement ends, the statements can hold together.
    """
    found = [_POINTS.fullmatch(sentence) for sentence in sentences]
    stated = []
    for match in found:
        assert match is not None, "a sentence of another form"
        first, second = (_COMPASS.get(word or "", (0, 0)) for word in match.group(2, 3))
        stated.append((match[1], (first[0] + second[0], first[1] + second[1]), match[4]))
    return all(_ordered([(u, step[axis], v) for u, step, v in stated]) for axis in (0, 1))


def _ordered(stated: Sequence[tuple[str, int, str]]) -> bool:
    """Whether the signs of differences on one axis form no cycle."""
    place: defaultdict[str, int] = defaultdict(int)
    for _ in range(len(stated) + 2):
        before = dict(place)
        for u, sign, v in stated:
            if sign >= 0:
                place[u] = max(place[u], place[v] + sign)
            if sign <= 0:
                place[v] = max(place[v], place[u] - sign)
        if place == before:
            return True
    return False


def is_minimal_clash(sentences: Sequence[str]) -> bool:
    """Whether the statements cannot all hold, but can hold if any one of them is omitted."""
    return not can_all_hold(sentences) and all(
        can_all_hold([*sentences[:n], *sentences[n + 1 :]]) for n in range(len(sentences))
    )


@dataclass
class Consistency:
    """Numbers of scenes: all, those with the gold verdict, infeasible ones, and those with a
    minimal clash.
    """

    rows: int = 0
    right: int = 0
    infeasible: int = 0
    minimal: int = 0


def consistency(data: Path) -> Consistency:
    auditor = TraceAuditor("nine-way")
    counts = Consistency()
    for row in rows(data / "consistency2d" / "consistency2d.jsonl.gz"):
        scene: dict[int, list[Triple]] = defaultdict(list)
        for number, triple in parsed(auditor, row).numbered:
            scene[number].append(triple)
        result = audit_relations(LIBRARY.ontology("nine-way"), list(scene.items()), [])
        counts.rows += 1
        counts.right += result.feasible == (row["answer"] == "satisfiable")
        if not result.feasible:
            counts.infeasible += 1
            clash = [row["scene"][premise.number - 1] for premise in result.clash]
            counts.minimal += is_minimal_clash(clash)
    return counts


def consistency_section(data: Path) -> None:
    """Print the results for consistency2d."""
    counts = consistency(data)
    right = counted(counts.right, counts.rows)
    minimal = counted(counts.minimal, counts.infeasible)
    table(
        "scenes | verdict as gold | infeasible | of these with a minimal clash",
        [(counts.rows, right, counts.infeasible, minimal)],
    )


# bAbI ----------------------------------------------------------------------------------


def positions(data: Path) -> tuple[int, int]:
    """For task 17, count all questions and the questions with the gold answer (yes if entailed,
    otherwise no).
    """
    auditor = TraceAuditor("babi")
    asked = right = 0
    for row in rows(data / "babi" / "babi17_test.jsonl.gz"):
        claim = row["question"].removeprefix("Is ").replace("?", ".")
        trace = Trace(id=row["id"], scene=row["scene"], question=row["question"], conclusion=claim)
        conclusion = auditor.audited(trace)["claims"][-1]
        asked += 1
        right += bool(conclusion["relations"]) and (
            (conclusion["verdict"] == "entailed") == (row["answer"] == "yes")
        )
    return asked, right


_MOVES = {"n": "above", "s": "below", "e": "right", "w": "left"}
_ROUTE = re.compile(r"How do you go from the (\w+) to the (\w+)\?")


@dataclass
class Paths:
    """Counts over the questions of task 19.

    Attributes:
        rows: Number of questions.
        direction: Number of questions for which the net direction of the gold path is entailed
            between its two ends.
        arrives: Number of questions for which it is entailed that the gold path, walked in unit
            steps, ends at the goal.
        only: Number of questions for which the gold path is the only path of this length in which
            each step between rooms follows from a single sentence.
    """

    rows: int = 0
    direction: int = 0
    arrives: int = 0
    only: int = 0


def paths(data: Path) -> Paths:
    """Measure task 19 under unit-grid, as far as a path can be entailed."""
    ontology = LIBRARY.ontology("unit-grid")
    auditor = TraceAuditor("unit-grid")
    counts = Paths()
    for row in rows(data / "babi" / "babi19_test.jsonl.gz"):
        scene = parsed(auditor, row)
        sentences = [(number, [triple]) for number, triple in scene.numbered]
        route = _ROUTE.fullmatch(row["question"])
        assert route is not None, "a question of another form"
        start, goal = (scene.names.index(name) for name in route.groups())
        walked: list[tuple[int, list[Triple]]] = []
        place = start
        for n, move in enumerate(row["answer"]):
            walked.append((len(sentences) + n + 1, [(len(scene.names) + n, _MOVES[move], place)]))
            place = len(scene.names) + n
        net: Triple = (goal, _net(ontology, row["answer"]), start)
        arrival: Triple = (place, "same_position", goal)
        direction = audit_relations(ontology, sentences, [ClaimInput([net])]).claims[0]
        arrives = audit_relations(ontology, [*sentences, *walked], [ClaimInput([arrival])]).claims[
            0
        ]
        found = _walks(ontology, sentences, start, goal, len(row["answer"]))
        counts.rows += 1
        counts.direction += direction.verdict is Verdict.ENTAILED
        counts.arrives += arrives.verdict is Verdict.ENTAILED
        counts.only += found == [tuple(row["answer"])]
    return counts


def _net(ontology: Ontology, moves: Sequence[str]) -> str:
    right = moves.count("e") - moves.count("w")
    up = moves.count("n") - moves.count("s")
    across = "right" if right > 0 else "left" if right < 0 else ""
    along = "above" if up > 0 else "below" if up < 0 else ""
    if across and along:
        return ontology.relations.join[along, across]
    return across or along or "same_position"


def _walks(
    ontology: Ontology,
    sentences: Sequence[tuple[int, list[Triple]]],
    start: int,
    goal: int,
    length: int,
) -> list[tuple[str, ...]]:
    """Return the paths of the given length from start to goal in which each step is entailed by a
    single sentence.
    """
    steps: dict[tuple[int, str], set[int]] = defaultdict(set)
    for sentence in sentences:
        ((u, _, v),) = sentence[1]
        asked = [(a, move, b) for a, b in ((u, v), (v, u)) for move in _MOVES]
        claims: list[list[Triple]] = [[(b, _MOVES[move], a)] for a, move, b in asked]
        result = audit_relations(ontology, [sentence], map(ClaimInput, claims))
        for (a, move, b), claim in zip(asked, result.claims, strict=True):
            if claim.grounded is Verdict.ENTAILED:
                steps[a, move].add(b)
    found = []
    for moves in product(_MOVES, repeat=length):
        places = {start}
        for move in moves:
            places = {b for a in places for b in steps[a, move]}
        if goal in places:
            found.append(moves)
    return found


def babi_section(data: Path) -> None:
    """Print the results for both bAbI tasks."""
    asked, right = positions(data)
    table("task 17 | answered as gold", [(asked, counted(right, asked))])
    print()
    table(
        "task 19 | net direction of the gold path entailed | gold path entailed to end at the goal"
        " | each of its steps entailed by one sentence | no other path of its length is such",
        [astuple(paths(data))],
    )


# SpaRTUN and SpaRP ---------------------------------------------------------------------

FIND_RELATION = (
    "spartun/spartun_validation.jsonl.gz",
    "spartun/spartun_test.jsonl.gz",
    "sparp/sparp_ps1_style_validation.jsonl.gz",
    "sparp/sparp_ps1_style_test.jsonl.gz",
    "sparp/sparp_ps1_published_test.jsonl.gz",
    "sparp/sparp_ps1_published_graph.jsonl.gz",
)
"""The files with stated relations in their rows."""

_SPARP_LABELS = {
    "outside": "dc",
    "outside and touching": "ec",
    "partially overlapping": "po",
    "inside and touching": "tpp",
    "inside": "ntpp",
    "contains and touches": "tppi",
    "contains": "ntppi",
    "overlapping": "eq",
    "in front": "front",
}


def relation_of(label: str) -> str:
    """Return the relation for a label in SpaRTUN or SpaRP."""
    return _SPARP_LABELS.get(label, label)


@dataclass(frozen=True)
class Found:
    """A "find the relation" question, with the relations that are certain and the gold
    relations.
    """

    row: Row
    certain: frozenset[str]
    gold: frozenset[str]

    @property
    def exact(self) -> bool:
        """Whether gold contains exactly what is certain."""
        return self.certain == self.gold


def found_relations(path: Path) -> Iterator[Found]:
    """For each question, yield the relations that are certain, given the stated relations."""
    ontology = LIBRARY.ontology("spartun")
    for row in rows(path):
        meta = row["meta"]
        if meta.get("qtype", "FR") != "FR":
            continue
        things = Numbers()
        scene = [(things[u], r, things[v]) for u, r, v in meta["story_triplets"]]
        pair = (things[meta["query"][0]], things[meta["query"][1]])
        space = [relation_of(label) for label in row["answer_space"]]
        found = pair_worlds(ontology, scene, [pair], space)[pair]
        gold = meta.get("all_relations") or map(relation_of, row["answer"])
        yield Found(row, frozenset(found.certain if found else ()), frozenset(gold))


def unsound_reason(found: Found) -> str | None:
    """Return the reason why the gold set goes beyond RCC-8, or None if the reason is not a chain of
    tpp.

    Gold must exceed what is certain by one relation, ntpp or its inverse; RCC-8 leaves open whether
    this or the tangential relation holds. The two things must be linked by a chain of only tpp.
    """
    if not found.certain <= found.gold or len(found.gold - found.certain) != 1:
        return None
    (claimed,) = found.gold - found.certain
    if claimed not in ("ntpp", "ntppi"):
        return None
    meta = found.row["meta"]
    inner, outer = meta["query"] if claimed == "ntpp" else reversed(meta["query"])
    ontology = LIBRARY.ontology("rcc8")
    things = Numbers()
    facts = [(u, r, v) for u, r, v in meta["story_triplets"] if r in ontology.relations.family]
    scene = [(things[u], r, things[v]) for u, r, v in facts]
    pair = (things[inner], things[outer])
    base = [r for r, family in ontology.relations.family.items() if family == "rcc8"]
    worlds = pair_worlds(ontology, scene, [pair], base)[pair]
    if worlds is None or set(worlds.possible) != {"tpp", "ntpp"}:
        return None
    parts = {(u, v) if r == "tpp" else (v, u) for u, r, v in facts if r in ("tpp", "tppi")}
    chain = _chain(parts, inner, outer)
    if chain is None or len(chain) < 3:
        return None
    steps = " and ".join(f"{u} tpp {v}" for u, v in pairwise(chain))
    return f"gold has {inner} ntpp {outer} from {steps}; RCC-8 leaves tpp and ntpp open"


def _chain(links: set[tuple[str, str]], start: str, end: str) -> list[str] | None:
    """Return the things on a shortest chain of links; None if there is no chain."""
    chains, seen = [[start]], {start}
    for chain in chains:
        if chain[-1] == end:
            return chain
        for u, v in sorted(links):
            if u == chain[-1] and v not in seen:
                seen.add(v)
                chains.append([*chain, v])
    return None


def unsound_rows() -> set[tuple[str, str]]:
    """Return the listed rows, as file and id."""
    lines = UNSOUND_ROWS.read_text(encoding="utf-8").splitlines()
    return {(row["file"], row["id"]) for row in map(json.loads, lines)}


def list_unsound(data: Path) -> None:
    """Write the rows with gold labels based on the unsound rule to `unsound_rows.jsonl`."""
    lines = []
    for file in FIND_RELATION:
        for found in found_relations(data / file):
            reason = None if found.exact else unsound_reason(found)
            if reason is not None:
                lines.append(json.dumps({"file": file, "id": found.row["id"], "reason": reason}))
    UNSOUND_ROWS.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def spartun_section(data: Path) -> None:
    """Print the results for SpaRTUN and SpaRP."""
    listed = unsound_rows()
    body = []
    for file in FIND_RELATION:
        answers = list(found_relations(data / file))
        exact = sum(found.exact for found in answers)
        missed = [found for found in answers if not found.exact]
        explained = sum(unsound_reason(found) is not None for found in missed)
        sound = [found for found in answers if (file, found.row["id"]) not in listed]
        right = sum(found.exact for found in sound)
        cells = [file.removesuffix(".jsonl.gz"), len(answers), counted(exact, len(answers))]
        cells += [f"{explained} of {len(missed)}", len(answers) - len(sound)]
        body.append([*cells, f"{right} of {len(sound)} ({share(right, len(sound))})"])
    table(
        "file | questions | certain = gold | missed for tpp after tpp | listed as unsound"
        " | certain = gold without the listed",
        body,
    )


# SpartQA -------------------------------------------------------------------------------

SPARTQA = ("spartqa/spartqa_auto_validation.jsonl.gz", "spartqa/spartqa_auto_test.jsonl.gz")

_SPARTQA_LABELS = {
    "left": "left",
    "right": "right",
    "above": "above",
    "below": "below",
    "near to": "near",
    "far from": "far",
    "touching": "ec",
}
_ORDINALS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_DESCRIPTION = re.compile(
    r"(?:(?:the|an?) )?(?:(?P<size>small|medium|big) )?(?:(?P<color>black|blue|yellow) )?"
    r"(?P<shape>circle|square|triangle|object|shape|thing)(?: number (?P<number>\w+))?"
    r"(?: (?:that|which) is (?P<clause>.+))?"
)
_PLACED = re.compile(
    r"(?:to the )?(?P<label>left|right|above|below|near to|far from|touching)(?: of)? "
    r"(?P<landmark>.+)"
)
_IN_BLOCK = re.compile(r"in block (\w+)")
_AT_EDGE = re.compile(r"(touching the \w+ edge of) a block")
_ASKED = re.compile(r"What is the relation between (.+) and (.+)\?")


def _attributes(description: re.Match[str]) -> dict[str, object]:
    wanted: dict[str, object] = {
        key: description[key] for key in ("size", "color") if description[key]
    }
    if description["shape"] not in ("object", "shape", "thing"):
        wanted["shape"] = description["shape"]
    if description["number"]:
        wanted["number"] = _ORDINALS[description["number"]]
    return wanted


class Blocks:
    """A SpartQA scene as relations, and the objects that a description in it refers to.

    What the text states is taken from the row's objects (each lies in its block; at an edge, as a
    tangential part) and from the row's relations, all of which are stated (see `unstated`).
    """

    def __init__(self, meta: Row) -> None:
        self.objects: list[Row] = meta["objects"]
        self._ontology = LIBRARY.ontology("spartqa")
        self._things = Numbers()
        self._scene: list[Triple] = []
        for thing in self.objects:
            part = "ntpp" if thing["relation_to_block"] == "in" else "tpp"
            self._scene.append((self._things[thing["id"]], part, self._things[thing["block"]]))
        for u, label, v in meta["relations"]:
            self._scene.append((self._things[u], _SPARTQA_LABELS[label], self._things[v]))
        self._certain: dict[tuple[int, int], frozenset[str]] = {}

    def certain(self, pairs: Iterable[tuple[Row, Row]]) -> list[frozenset[str]]:
        """Return, for each pair of objects, the labels that apply in every world of the scene.

        Raises:
            ValueError: If the scene contradicts itself.
        """
        asked = [(self._things[u["id"]], self._things[v["id"]]) for u, v in pairs]
        new = [pair for pair in dict.fromkeys(asked) if pair not in self._certain]
        space = list(_SPARTQA_LABELS.values())
        for pair, worlds in pair_worlds(self._ontology, self._scene, new, space).items():
            if worlds is None:
                raise ValueError("the scene contradicts itself")
            self._certain[pair] = frozenset(
                label for label, r in _SPARTQA_LABELS.items() if r in worlds.certain
            )
        return [self._certain[pair] for pair in asked]

    def meant(self, description: str) -> list[Row]:
        """Return the objects that fit a description. An object fits a clause if the clause
        certainly holds.

        Raises:
            ValueError: If the description has another form.
        """
        match = _DESCRIPTION.fullmatch(description)
        if match is None:
            raise ValueError(f"not read: {description}")
        wanted = _attributes(match)
        fitting = [
            thing
            for thing in self.objects
            if all(thing[key] == value for key, value in wanted.items())
        ]
        return self._placed(fitting, match["clause"]) if match["clause"] else fitting

    def _placed(self, things: list[Row], clause: str) -> list[Row]:
        if match := _IN_BLOCK.fullmatch(clause):
            return [thing for thing in things if thing["block"] == match[1]]
        if match := _AT_EDGE.fullmatch(clause):
            return [thing for thing in things if thing["relation_to_block"] == match[1]]
        match = _PLACED.fullmatch(clause)
        if match is None:
            raise ValueError(f"not read: {clause}")
        landmarks = self.meant(match["landmark"])
        pairs = [(u, v) for u in things for v in landmarks if u is not v]
        holding = {
            u["id"]
            for (u, _), labels in zip(pairs, self.certain(pairs), strict=True)
            if match["label"] in labels
        }
        return [thing for thing in things if thing["id"] in holding]


_STATED_LABELS = {
    "LEFT": "left",
    "RIGHT": "right",
    "ABOVE": "above",
    "BELOW": "below",
    "NEAR": "near to",
    "FAR": "far from",
    "EC": "touching",
}
_OPPOSITE = {"left": "right", "right": "left", "above": "below", "below": "above"}
_BLOCK_NAME = re.compile(r"(?:block )?([A-C])", re.IGNORECASE)


def unstated(meta: Row) -> int:
    """Count the relations of a row that the text states in neither direction. A relation is stated
    if a triplet from the text contains it between phrases that may refer to the two things.
    """
    objects = {thing["id"]: thing for thing in meta["objects"]}
    said = [
        (first, _STATED_LABELS[label], second)
        for first, label, second, _ in meta["sprl_triplets"]
        if label in _STATED_LABELS
    ]

    def may_mean(phrase: str, thing: str) -> bool:
        words = phrase.lower().split()
        if words == ["it"] or words[0] in ("this", "these"):
            return True
        block = _BLOCK_NAME.fullmatch(phrase)
        if thing not in objects or block:
            return bool(block) and thing == phrase[-1].upper()
        match = _DESCRIPTION.fullmatch(phrase.lower())
        if match is None:
            return False
        return all(value == objects[thing][key] for key, value in _attributes(match).items())

    def is_said(u: str, label: str, v: str) -> bool:
        return any(
            (label == as_label and may_mean(first, u) and may_mean(second, v))
            or (
                _OPPOSITE.get(label, label) == as_label
                and may_mean(first, v)
                and may_mean(second, u)
            )
            for first, as_label, second in said
        )

    return sum(not is_said(u, label, v) for u, label, v in meta["relations"])


@dataclass
class BlockQuestions:
    """Counts over SpartQA's "find the relation" questions.

    Attributes:
        rows: Number of questions.
        relations: Number of relations taken from the rows.
        unstated: Number of these relations that are not stated in the texts.
        resolved: Number of questions in which each of the two descriptions refers to exactly one
            object.
        exact: Number of resolved questions for which the certain labels equal the gold set (for
            don't-know: the empty set).
        missing: Number of resolved questions with a certain label that is not in the gold set.
        beyond: Number of resolved questions with a gold label that is not certain.
        unresolved: Ids of the other questions.
    """

    rows: int = 0
    relations: int = 0
    unstated: int = 0
    resolved: int = 0
    exact: int = 0
    missing: int = 0
    beyond: int = 0
    unresolved: list[str] = field(default_factory=list)


def block_questions(path: Path) -> BlockQuestions:
    counts = BlockQuestions()
    for row in rows(path):
        if row["meta"]["qtype"] != "FR":
            continue
        counts.rows += 1
        counts.relations += len(row["meta"]["relations"])
        counts.unstated += unstated(row["meta"])
        blocks = Blocks(row["meta"])
        asked = _ASKED.fullmatch(row["question"])
        try:
            meant = [blocks.meant(text) for text in asked.groups()] if asked else []
        except ValueError:
            meant = []
        if [len(objects) for objects in meant] != [1, 1]:
            counts.unresolved.append(row["id"])
            continue
        ((first,), (second,)) = meant
        (certain,) = blocks.certain([(first, second)])
        gold = set(row["answer"]) - {"DK"}
        counts.resolved += 1
        counts.exact += certain == gold
        counts.missing += bool(certain - gold)
        counts.beyond += bool(gold - certain)
    return counts


def spartqa_section(data: Path) -> None:
    """Print the results for SpartQA-Auto."""
    found = {file: block_questions(data / file) for file in SPARTQA}
    table(
        "file | questions | relations, not stated | both descriptions mean one object"
        " | of these certain = gold | certain beyond gold | gold beyond certain",
        [
            (
                file.removesuffix(".jsonl.gz"),
                counts.rows,
                f"{counts.relations}, {counts.unstated}",
                counted(counts.resolved, counts.rows),
                counted(counts.exact, counts.resolved),
                counts.missing,
                counts.beyond,
            )
            for file, counts in found.items()
        ],
    )
    unresolved = [row for counts in found.values() for row in counts.unresolved]
    if unresolved:
        print("\nNot resolved: " + ", ".join(unresolved))


# Compositions --------------------------------------------------------------------------

QSR = {
    "rcc8": ("rcc8", "rcc8", "rcc8"),
    "cdc": ("cdc", "cardinal", "cardinal_direction_single_tile"),
}
"""For each calculus: its profile, its family and the name of its gold table."""

QSR_FILES = ("rcc8", "cdc", "rcc8_thinking", "cdc_thinking")


@cache
def compositions(calculus: str) -> dict[tuple[str, str], frozenset[str]]:
    """Return the composition table implied by a profile, with labels in upper case."""
    profile, family, _ = QSR[calculus]
    derived = composition_table(LIBRARY.ontology(profile), family)
    return {
        (first.upper(), second.upper()): frozenset(r.upper() for r in found)
        for (first, second), found in derived.items()
    }


def gold_compositions(data: Path, calculus: str) -> dict[tuple[str, str], frozenset[str]]:
    """Return the gold composition table, with labels in upper case."""
    text = (data / "qsr_composition" / "gold_tables.json").read_text(encoding="utf-8")
    cells: dict[str, list[str]] = json.loads(text)[QSR[calculus][2]]
    found = {}
    for key, labels in cells.items():
        first, second = key.upper().split("|")
        found[first, second] = frozenset(label.upper() for label in labels)
    return found


def delivered_text(row: Row) -> str:
    """Return the message that a model delivered. If there is a final message, `response` contains
    only the model's thinking.
    """
    text: str = row["meta"].get("final_message", row["response"])
    return text


@dataclass(frozen=True)
class Delivered:
    """A response's delivered set, and the labels that are actually possible."""

    row: Row
    delivered: frozenset[str] | None
    possible: frozenset[str]

    @cached_property
    def gold(self) -> frozenset[str]:
        """The row's gold set."""
        return _upper(self.row["answer"])

    @property
    def jaccard(self) -> float:
        """Overlap of the delivered set with the gold set, from 0 to 1."""
        if self.delivered is None:
            return 0.0
        return len(self.delivered & self.gold) / len(self.delivered | self.gold)


def _upper(labels: Iterable[str]) -> frozenset[str]:
    return frozenset(label.upper() for label in labels)


def deliveries(path: Path) -> Iterator[Delivered]:
    """Yield each response's delivered set, with labels in upper case."""
    for row in rows(path):
        meta = row["meta"]
        found = Delivery(calculus_of(row)).read(delivered_text(row))
        cell = compositions(meta["calculus"])[meta["r1"].upper(), meta["r2"].upper()]
        yield Delivered(row, None if found is None else _upper(found), cell)


def _summed(found: Sequence[Delivered]) -> tuple[object, ...]:
    read = [d for d in found if d.delivered is not None]
    exact = sum(d.delivered == d.gold for d in read)
    heuristic = sum(d.delivered == _upper(d.row["meta"]["heuristic_final_answer"]) for d in found)
    return (
        len(found),
        len(read),
        counted(exact, len(read)),
        f"{sum(d.jaccard for d in read) / len(read):.3f}" if read else "-",
        sum(d.possible == d.gold for d in found),
        heuristic,
    )


def qsr_section(data: Path) -> None:
    """Print the results for compositions in both calculi."""
    cells = []
    for calculus, (profile, _, _) in QSR.items():
        gold, derived = gold_compositions(data, calculus), compositions(calculus)
        cells.append((profile, len(gold), sum(derived.get(key) == gold[key] for key in gold)))
    table("profile | cells of the gold table | derived the same", cells)
    header = (
        "rows | set read | of these = gold | mean Jaccard | entailed = gold"
        " | set = source's heuristic"
    )
    by_model: list[tuple[object, ...]] = []
    by_half: list[tuple[object, ...]] = []
    for name in QSR_FILES:
        groups: dict[tuple[str, bool], list[Delivered]] = defaultdict(list)
        halves: dict[bool, list[Delivered]] = {True: [], False: []}
        for found in deliveries(data / "qsr_composition" / f"llm_traces_{name}.jsonl.gz"):
            groups[found.row["model"], with_definitions(found.row)].append(found)
            halves[first_half(found.row["id"])].append(found)
        for (model, defined), members in sorted(groups.items(), key=lambda g: g[0]):
            given = "names only" if name.startswith("rcc8") else ("yes" if defined else "no")
            by_model.append((name, model, given, *_summed(members)))
        for first, members in halves.items():
            by_half.append((name, "developed on" if first else "other", *_summed(members)))
    print()
    table(f"file | model | definitions | {header}", by_model)
    print()
    table(f"file | half of the ids | {header}", by_half)


def sample(data: Path, size: int, seed: int = 2026) -> Iterator[str]:
    """Yield delivered sets with the ends of their responses, to be judged by eye. They are drawn
    from the half of the responses that was not used to develop the reader.
    """
    found = [
        delivery
        for name in QSR_FILES
        for delivery in deliveries(data / "qsr_composition" / f"llm_traces_{name}.jsonl.gz")
        if not first_half(delivery.row["id"])
    ]
    for delivery in random.Random(seed).sample(found, size):
        labels = "unread" if delivery.delivered is None else " ".join(sorted(delivery.delivered))
        yield f"--- {delivery.row['id']} ({delivery.row['model']}): {labels}"
        yield delivered_text(delivery.row).rstrip()[-600:]


SECTIONS: dict[str, Callable[[Path], None]] = {
    "consistency2d": consistency_section,
    "babi": babi_section,
    "spartun": spartun_section,
    "spartqa": spartqa_section,
    "qsr": qsr_section,
}


@click.command()
@data_option
@click.option("--section", multiple=True, type=click.Choice(list(SECTIONS)))
@click.option("--list-unsound", "listing", is_flag=True, help="Write unsound_rows.jsonl.")
@click.option("--sample", "size", type=int, metavar="N", help="Delivered sets to check by eye.")
def main(data: Path, section: tuple[str, ...], listing: bool, size: int | None) -> None:
    """Print the tables as Markdown."""
    if listing:
        list_unsound(data)
        return
    if size is not None:
        print("\n".join(sample(data, size)))
        return
    for name in section or SECTIONS:
        print(f"\n## {name}\n", flush=True)
        SECTIONS[name](data)


if __name__ == "__main__":
    main()
