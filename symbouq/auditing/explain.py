"""Explain one trace: its claims with verdicts and reasons, and a layout sketch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap
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
from symbouq.ontology.source import Place, shown
from symbouq.ontology.tables import Ontology
from symbouq.reading.faults import SCENE_SENTENCE
from symbouq.reading.force import forces_of
from symbouq.reading.text import ASSERTED, Claim, ParsedTrace
from symbouq.records import Trace, parse_record
from symbouq.records.audit import ProfileRecord

if TYPE_CHECKING:  # this import loads spaCy
    from symbouq.reading.syntax.derivation import Derivation

_SKETCH_WIDTH = 100
"""Maximum width of a sketch in columns. Wider layouts are described axis by axis."""
_PARTLY = re.compile(rf"{SCENE_SENTENCE} (\d+): not all is read, nothing is based on (.+)")
"""Matches an audit's fault that quotes unread words of a scene sentence."""


@dataclass(frozen=True)
class ExplainedClaim:
    """One claim in an explanation.

    Attributes:
        index: Number of the claim, from 1.
        text: Text of the claim.
        verdict: Verdict in the assumed context.
        notes: Remarks on the verdict, starting with a comma.
        message: The finding in plain words.
    """

    index: int
    text: str
    verdict: str
    notes: str
    message: str


@dataclass(frozen=True)
class Explanation:
    """Explanation of a trace, as printable lines.

    Attributes:
        title: Id, profile and ontology.
        scene: The scene's premises with their relations.
        claims: The claims.
        profile: The profile and the score.
        sketch: A layout of the scene; empty if none can be drawn.
        reading: How each sentence is read; empty unless requested.
    """

    title: str
    scene: list[str]
    claims: list[ExplainedClaim]
    profile: list[str]
    sketch: list[str]
    reading: list[str] = field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        """All lines, in order."""
        told = [self.title, *self.scene, *(("", *self.reading) if self.reading else ())]
        for claim in self.claims:
            told += ["", f"{claim.index}. {claim.text}", f"   {claim.verdict}{claim.notes}"]
            told += [f"   {claim.message}"]
        told += ["", *self.profile]
        return [*told, "", SKETCHED, *self.sketch] if self.sketch else told


SKETCHED = "One layout of the scene, of possibly many:"
"""Heading of a sketch."""


def chosen(file: str, identity: str | None = None, line: int | None = None) -> Trace:
    """Return the trace of a file with the given id or line; by default, the only one.

    Args:
        file: The file.
        identity: The id.
        line: The line, from 1.

    Raises:
        SymboUQError: If there is no such trace, or there are several.
        RecordError: If the trace cannot be read.
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
    """State the number of claims with each verdict in an audit, contradicted claims first."""
    counts = Counter(claim["verdict"] for claim in audit["claims"])
    order = sorted(Verdict, key=lambda verdict: verdict != Verdict.CONTRADICTED)
    told = [f"{counts[each]} {each.replace('-', ' ')}" for each in order if counts[each]]
    clash = [] if audit["scene"]["feasible"] else ["the scene contradicts itself"]
    return ", ".join([*clash, *told]) or "no claims"


@turn()
def explanation_of(auditor: TraceAuditor, trace: Trace, reading: bool = False) -> Explanation:
    """Explain a trace, optionally with the reading of each sentence.

    Raises:
        RecordError: If the trace cannot be audited.
    """
    record = auditor.audited(trace)
    facts = auditor.library.source.facts
    derivations = auditor.parser_for(trace).derivations(trace, facts) if reading else ()
    rules = record["ontology"]
    parsed = auditor.parsed(trace)
    unread = _Unread(auditor, trace)
    return Explanation(
        title=f"{trace.id}  (profile {rules['profile']}, ontology {rules['name']})",
        scene=_scene_lines(auditor, trace, record, unread),
        claims=[
            _claim(claim, unread.of(read))
            for claim, read in zip(record["claims"], parsed.claims, strict=True)
        ],
        profile=[
            *starmap(_measure, record["profile"].items()),
            "truncated: no answer and no score"
            if record["truncated"]
            else f"constraint_rule: {record['constraint_rule']:.3g}  (0 to 1, higher is better)",
        ],
        sketch=sketch(auditor, trace),
        reading=[line for each in derivations for line in _reading_lines(each)],
    )


def _measure(name: str, value: float) -> str:
    description = ProfileRecord.model_fields[name].description or ""
    return f"{name}: {value:.3g}  ({description[0].lower()}{description[1:-1]})"


def _reading_lines(derivation: Derivation) -> Iterator[str]:
    """Yield lines about a sentence: its parse, the expressions in it that state relations, and the
    resulting relations.
    """
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
    """List the claims of an audit (a dictionary), one per line, with verdict and reason. A conflict
    in the scene comes first.
    """
    told = [
        f"{claim['index']}. {claim['verdict']}: {claim['text'] or '(no conclusion)'} "
        f"({claim['message']})"
        for claim in audit["claims"]
    ]
    return [message, *told] if (message := audit["scene"]["message"]) else told


def conflict_told(audit: Mapping[str, Any], scene: Sequence[str]) -> str:
    """Describe the first conflict of an audit (a dictionary): the contradicted or
    self-contradictory claim, the reason, and the texts of its premises. Empty without a conflict.

    Args:
        audit: The audit.
        scene: Sentences of the scene.
    """
    for claim in audit["claims"]:
        if claim["verdict"] == Verdict.CONTRADICTED or claim["first_conflict"]:
            texts = {"scene": scene, "claim": [each["text"] for each in audit["claims"]]}
            premises = [premise.split(":") for premise in claim["premises"]]
            told = [f"{claim['index']}. {claim['text']} ({claim['message']})"]
            told += [f"{source} {n}: {texts[source][int(n) - 1]}" for source, n in premises]
            return "\n".join(told)
    return ""


class _Unread:
    """The unread parts of one trace's scene and claims, with reasons."""

    def __init__(self, auditor: TraceAuditor, trace: Trace) -> None:
        self._parser, self._trace = auditor.parser_for(trace), trace
        self._ontology, library = self._parser.ontology, auditor.library
        self._denies = forces_of(self._ontology).denies_plainly
        # Profiles made for one dataset are not suggested for other texts.
        others = map(library.ontology, library.general)
        phrases = {text for other in others for text in other.lexicon.phrase}
        foreign = sorted(phrases - self._ontology.lexicon.phrase.keys(), key=len, reverse=True)
        self._foreign = re.compile(rf"\b(?:{'|'.join(map(re.escape, foreign)) or '(?!)'})\b", re.I)

    def of(self, claim: Claim) -> str:
        """Describe the unread parts of a claim, with reasons; empty if the whole claim is read."""
        if not claim.text or (claim.relations and not claim.rest):
            return ""
        kind, words = claim.reason, claim.rest
        if claim.stance != ASSERTED:
            kind = "in-part" if claim.relations else claim.stance
        elif kind in ("", "unread") and (foreign := self._foreign.findall(claim.text)):
            kind, words = "not-in-profile", tuple(dict.fromkeys(foreign))
        elif kind in ("", "unread") and words and self._denies(claim.text):
            kind = "denied"
        told = {
            "": "not parsed",
            "unread": "not parsed",
            "in-part": "not read",
            "not-in-profile": f"not in profile {self._ontology.profile}",
        }.get(kind, kind)
        return f"{told}: {', '.join(map(repr, words or (claim.text,)))}"

    def of_scene(self, sentence: str) -> str:
        record = self._trace.model_dump(include={"id", "dataset", "profile"})
        trace = Trace(**record, scene=[sentence], reasoning=[sentence], conclusion="")
        claim = self._parser.parse(trace).claims[0]
        if claim.relations and claim.stance != ASSERTED:
            spans = dict.fromkeys(claim.text[slice(*s.span)] for s in claim.relations)
            return f"uncertain, {claim.stance}: {', '.join(map(repr, spans))}"
        return self.of(claim)


def _claim(claim: dict[str, Any], unread: str) -> ExplainedClaim:
    def told(verdict: str, reason: str) -> str:
        because = f" ({claim[reason]})" if claim[reason] not in ("", "open") else ""
        return f"{claim[verdict]}{because}"

    verdict = claim["verdict"]
    notes = told("verdict", "reason").removeprefix(verdict)
    if claim["conditional"] or verdict != claim["grounded_verdict"]:
        notes += f", {told('grounded_verdict', 'grounded_reason')} by the scene alone"
    if claim["first_conflict"]:
        notes += ", first contradiction" if verdict == Verdict.CONTRADICTED else ", first conflict"
    if claim["repair_cost"]:
        exact = claim["repair_cost_exact"]
        dropped = (
            f"{exact} earlier claim{'s' * (exact != 1)} fixes"
            if exact
            else "earlier claims won't fix"
        )
        notes += f"; dropping {dropped} it"
    more = f" {unread[0].upper()}{unread[1:]}." if unread else ""
    message = claim["message"] + more
    return ExplainedClaim(claim["index"], claim_text(claim), verdict, notes, message)


def _scene_lines(
    auditor: TraceAuditor, trace: Trace, record: dict[str, Any], unread: _Unread
) -> list[str]:
    faults = record["faults"]
    read: dict[int, list[str]] = {}
    # State "A is between B and C" once, without the thing that spans B and C.
    spanning = auditor.parser_for(trace).ontology.lexicon.grouped.values()
    for number, relation in enumerate(record["scene"]["relations"], start=1):
        if relation["relation"] in spanning and relation["sentence"]:
            continue
        read.setdefault(relation["sentence"] or number, []).append(relation_text(relation))
    if trace.structured and not trace.scene:
        lines = [f"  {number}. {'; '.join(texts)}" for number, texts in read.items()]
    else:
        lines = []
        partly = {int(found[1]): found[2] for found in map(_PARTLY.match, faults) if found}
        for number, text in enumerate(auditor.parser_for(trace).sentences(trace), start=1):
            told = read.get(number, [])
            if number in partly or not told:
                words = f"not read: {partly[number]}" if number in partly else "no relation"
                told = [*told, unread.of_scene(text) or words]
            lines.append(f"  {number}. {text}  [{'; '.join(told)}]")
    lines += [f"  ? {trace.question}"] if trace.question else []
    lines += [fault for fault in faults if not _PARTLY.match(fault)]
    if record["scene"]["message"]:
        lines.append(record["scene"]["message"])
    return lines


@turn()
def sketch(auditor: TraceAuditor, trace: Trace) -> list[str]:
    """Draw one layout of a trace's scene as text: x to the right, y upwards.

    Things in the same cell are joined by `=`. The result is empty if the scene gives no positions
    or contradicts itself. A layout is described in words, one line per axis, if it is too wide, has
    axes other than x and y, or has things with an extent.
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
    return _told(ontology, parsed, spots)


def _told(
    ontology: Ontology, parsed: ParsedTrace, spots: Mapping[int, tuple[int, ...]]
) -> list[str]:
    """Describe a layout in words: the order of things on each axis, and the scene's other
    relations.
    """
    encoding, wording = ontology.encoding, ontology.lexicon.wording
    component, phrases = ontology.relations.component, Counter(ontology.lexicon.phrase.values())
    rows: list[str] = []
    for axis in dict.fromkeys(axis for axis, _ in encoding.coordinates):
        ends = [n for n, (own, _) in enumerate(encoding.coordinates) if own == axis]
        bound = dict.fromkeys(
            slot
            for _, (u, r, v) in parsed.numbered
            if axis in encoding.axes[encoding.readings[ASSERTED, r]]
            for slot in (u, v)
        )
        spans = sorted((spots[s][ends[0]], spots[s][ends[-1]], parsed.names[s]) for s in bound)
        steps: list[tuple[int, list[str]]] = []
        for low, high, name in spans:
            if steps and (low < steps[-1][0] or (low, high) == (steps[-1][0],) * 2):
                steps[-1] = max(steps[-1][0], high), [*steps[-1][1], name]
            else:
                steps.append((high, [name]))
        signs = {r: {a: n for a, n in component[r].items() if n} for r in component if r in wording}
        before = [r for r in signs if signs[r] == {axis: -1}]
        if len(steps) > 1 and before:
            chain = ", ".join(
                f"({', '.join(names)})" if names[1:] else names[0] for _, names in steps
            )
            rows.append(
                f"  each {wording[max(before, key=phrases.__getitem__)][0]} the next: {chain}"
            )
    rows += [
        f"  {statement.figure} is {wording.get(r, (r.replace('_', ' '),))[0]} {statement.ground}"
        for _, statement in parsed.scene
        if (r := statement.relation) not in component and r not in ontology.lexicon.grouped.values()
    ]
    return list(dict.fromkeys(rows))


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
