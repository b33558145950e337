"""One trace in words: claim by claim with verdicts and reasons, and a layout sketch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.messages import claim_text, relation_text
from symbouq.auditing.quantities import quantified
from symbouq.auditing.verdicts import Verdict
from symbouq.errors import RecordError, SymboUQError
from symbouq.io.adapters.inputs import input_name
from symbouq.io.stream import read_lines
from symbouq.limits import turn
from symbouq.logic.programs import layout
from symbouq.ontology.source import ASSERTED, Place, shown
from symbouq.records import Trace, parse_record

if TYPE_CHECKING:  # which loads spaCy
    from symbouq.reading.syntax.derivation import Derivation

_SKETCH_WIDTH = 100
"""Columns that a sketch may take; a wider layout is described by its coordinates."""


@dataclass(frozen=True)
class ExplainedClaim:
    """One claim of an explanation.

    Attributes:
        index: Its number, from 1.
        text: Its text.
        verdict: Under the assumed context.
        notes: What else is to be said about the verdict, starting with a comma.
        message: The finding in plain words.
    """

    index: int
    text: str
    verdict: str
    notes: str
    message: str


@dataclass(frozen=True)
class Explanation:
    """A trace explained, as lines ready to print.

    Attributes:
        title: Id, profile and ontology.
        scene: The scene's premises with what was read from them.
        claims: The claims.
        profile: The profile and the score.
        sketch: A layout of the scene; empty where there is none.
        reading: How each sentence is read; empty unless asked for.
    """

    title: str
    scene: list[str]
    claims: list[ExplainedClaim]
    profile: list[str]
    sketch: list[str]
    reading: list[str] = field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        """All of it but how sentences are read, in order."""
        told = [self.title, *self.scene]
        for claim in self.claims:
            told += ["", f"{claim.index}. {claim.text}", f"   {claim.verdict}{claim.notes}"]
            told += [f"   {claim.message}"]
        told += ["", *self.profile]
        return [*told, "", SKETCHED, *self.sketch] if self.sketch else told


SKETCHED = "One layout of the scene, of possibly many:"
"""What stands above a sketch."""


def chosen(file: str, identity: str | None = None, line: int | None = None) -> Trace:
    """The trace of a file with an id or in a line; without either, the only one.

    Args:
        file: The file.
        identity: The id.
        line: The line, from 1.

    Raises:
        SymboUQError: If there is no such trace, or it is not clear which.
        RecordError: If it cannot be read.
    """
    name = input_name(file)
    found: Trace | None = None
    fault: RecordError | None = None
    for item in read_lines(file):
        number = item.line if isinstance(item, RecordError) else item.number
        if line is not None and number != line:
            continue
        try:
            if isinstance(item, RecordError):
                raise item
            trace = parse_record(Trace, item.content, item.file, item.number)
        except RecordError as error:
            fault = fault or error
            continue
        if line is not None or trace.id == identity:
            return trace
        if identity is None and found is not None:
            raise SymboUQError(
                "has several traces: choose one by its line (FILE:LINE) or --id, take "
                "--first-contradicted, or see them all with --list",
                name,
            )
        found = trace
    if identity is not None:
        raise SymboUQError(f"no readable record has the id {identity!r}", name)
    if found is not None:
        return found
    missing = "holds no trace" if line is None else f"there is no record in line {line}"
    raise fault or SymboUQError(missing, name)


def verdicts_told(audit: Mapping[str, Any]) -> str:
    """How many claims of an audit have each verdict, in words, contradicted ones first."""
    counts = Counter(claim["verdict"] for claim in audit["claims"])
    order = sorted(Verdict, key=lambda verdict: verdict != Verdict.CONTRADICTED)
    told = [f"{counts[each]} {each.replace('-', ' ')}" for each in order if counts[each]]
    clash = [] if audit["scene"]["feasible"] else ["the scene contradicts itself"]
    return ", ".join([*clash, *told]) or "no claims"


@turn()
def explanation_of(auditor: TraceAuditor, trace: Trace, reading: bool = False) -> Explanation:
    """Explains a trace, and says how each sentence is read if that is asked for.

    Raises:
        RecordError: If it cannot be audited.
    """
    record = auditor.audited(trace)
    facts = auditor.library.source.facts
    derivations = auditor.parser_for(trace).derivations(trace, facts) if reading else ()
    rules = record["ontology"]
    return Explanation(
        title=f"{trace.id}  (profile {rules['profile']}, ontology {rules['name']})",
        scene=_scene_lines(auditor, trace, record),
        claims=[_claim(claim) for claim in record["claims"]],
        profile=[
            *(f"{name}: {value:.3g}" for name, value in record["profile"].items()),
            "truncated: no answer and no score"
            if record["truncated"]
            else f"constraint_rule: {record['constraint_rule']:.3g}",
        ],
        sketch=sketch(auditor, trace),
        reading=[line for each in derivations for line in _reading_lines(each)],
    )


def _reading_lines(derivation: Derivation) -> Iterator[str]:
    """A sentence with its parse, what expresses relations in it, and what the rules make of it."""
    yield f"{derivation.text!r}"
    yield f"  {' '.join(derivation.parse)}"
    for trigger in derivation.triggers:
        said = ", ".join(trigger.relations) or "no relation"
        yield f"  {trigger.text!r} ({trigger.category}): {said}{_places(trigger.places)}"
        for step in trigger.steps:
            said = " ".join(filter(None, (step.name, " - ".join(step.words))))
            cost = "" if step.cost is None else f", cost {step.cost}"
            yield f"    {said}{cost}"
            yield from (f"      {name} [{_place(place)}]" for name, place in step.rules)


def _places(places: Iterable[Place]) -> str:
    listed = ", ".join(map(_place, places))
    return f" [{listed}]" if listed else ""


def _place(place: Place) -> str:
    return f"{shown(place.file)}:{place.line}"


def claims_told(audit: Mapping[str, Any]) -> list[str]:
    """The claims of an audit in its dictionary form, each in a line with its verdict and why; above
    them what is wrong with the scene, if anything.
    """
    told = [
        f"{claim['index']}. {claim['verdict']}: {claim['text'] or '(no conclusion)'} "
        f"({claim['message']})"
        for claim in audit["claims"]
    ]
    return [message, *told] if (message := audit["scene"]["message"]) else told


def conflict_told(audit: Mapping[str, Any], scene: Sequence[str]) -> str:
    """The first conflict of an audit in its dictionary form: the claim that is contradicted, or
    contradicts itself, why it cannot hold, and the texts of its premises; empty without one.

    Args:
        audit: The audit.
        scene: The sentences of the scene.
    """
    for claim in audit["claims"]:
        if claim["verdict"] == Verdict.CONTRADICTED or claim["first_conflict"]:
            texts = {"scene": scene, "claim": [each["text"] for each in audit["claims"]]}
            premises = [premise.split(":") for premise in claim["premises"]]
            told = [f"{claim['index']}. {claim['text']} ({claim['message']})"]
            told += [f"{source} {n}: {texts[source][int(n) - 1]}" for source, n in premises]
            return "\n".join(told)
    return ""


def _claim(claim: dict[str, Any]) -> ExplainedClaim:
    notes = f" ({claim['reason']})" if claim["reason"] not in ("", "open") else ""
    if claim["conditional"] or claim["verdict"] != claim["grounded_verdict"]:
        notes += f", {claim['grounded_verdict']} by the scene alone"
    if claim["first_conflict"]:
        notes += ", the first conflict"
    if claim["repair_cost"]:
        exact = claim["repair_cost_exact"]
        notes += f", repaired by removing {exact}" if exact is not None else ", beyond repair"
    text = claim_text(claim)
    return ExplainedClaim(claim["index"], text, claim["verdict"], notes, claim["message"])


def _scene_lines(auditor: TraceAuditor, trace: Trace, record: dict[str, Any]) -> list[str]:
    read: dict[int, list[str]] = {}
    for number, relation in enumerate(record["scene"]["relations"], start=1):
        read.setdefault(relation["sentence"] or number, []).append(relation_text(relation))
    if trace.structured and not trace.scene:
        lines = [f"  {number}. {'; '.join(texts)}" for number, texts in read.items()]
    else:
        lines = [
            f"  {number}. {text}  [{'; '.join(read.get(number, ['nothing read']))}]"
            for number, text in enumerate(auditor.parser_for(trace).sentences(trace), start=1)
        ]
    if record["scene"]["message"]:
        lines.append(record["scene"]["message"])
    return lines


@turn()
def sketch(auditor: TraceAuditor, trace: Trace) -> list[str]:
    """One layout of a trace's scene as text: x to the right, y upwards.

    Things that share a cell are joined by `=`. Empty where the scene places nothing or
    contradicts itself; a list of coordinates where the picture would be too wide, or
    where the profile has other axes than x and y.
    """
    parser = auditor.parser_for(trace)
    ontology, parsed = quantified(parser.ontology, parser.parse(trace))
    atoms = dict.fromkeys(
        (ontology.encoding.readings[ASSERTED, r], u, v) for _, (u, r, v) in parsed.numbered
    )
    places = layout(ontology, atoms) if atoms else None
    if not places:
        return []
    coordinates = ontology.encoding.coordinates
    slots = sorted({slot for slot, _ in places})
    spots = {
        slot: tuple(places.get((slot, n), 0) for n in range(len(coordinates))) for slot in slots
    }
    if set(coordinates) == {("x", "point"), ("y", "point")}:
        rows = _drawn({parsed.names[slot]: spot for slot, spot in spots.items()})
        if max(map(len, rows)) <= _SKETCH_WIDTH:
            return rows
    labels = [axis if end == "point" else f"{axis} {end}" for axis, end in coordinates]
    return [
        f"  {parsed.names[slot]}: "
        + ", ".join(f"{label}={n}" for label, n in zip(labels, spot, strict=True))
        for slot, spot in spots.items()
    ]


def _drawn(spots: dict[str, tuple[int, ...]]) -> list[str]:
    cells: dict[tuple[int, ...], list[str]] = {}
    for name, spot in spots.items():
        cells.setdefault(spot, []).append(name)
    columns = sorted({spot[0] for spot in cells})
    rows = sorted({spot[1] for spot in cells}, reverse=True)
    texts = {spot: "=".join(names) for spot, names in cells.items()}
    widths = {x: max(len(texts.get((x, y), "")) for y in rows) for x in columns}
    return [
        "  " + "  ".join(texts.get((x, y), ".").center(widths[x]) for x in columns).rstrip()
        for y in rows
    ]
