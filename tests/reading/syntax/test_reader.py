"""Whole traces of open text, and the wordings that people who had not seen the rules wrote.

The rows of `wordings/*_developed.jsonl` were looked at while the rules were made, of those in
`wordings/*_held.jsonl` the totals alone: what is below their floors reads worse than it did.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

import symbouq
from symbouq.api import TraceAuditor
from symbouq.errors import RecordError
from symbouq.records import Instance, Trace

FOLDER = Path(__file__).parents[1] / "wordings"
AUDITORS = {name: TraceAuditor(name) for name in ("nine-way", "half-plane", "everyday")}
SCENE = ["The lamp is above the desk.", "The chair is to the left of the desk."]
QUESTION = "Where is the lamp relative to the chair?"

Claims = list[tuple[str, str, list[tuple[str, str, str]]]]


def trace_of(**fields: Any) -> Trace:
    return Trace.model_validate({"id": "t", "question": QUESTION, "scene": SCENE} | fields)


def audited(profile: str = "nine-way", **fields: Any) -> list[Any]:
    return AUDITORS[profile].audit(trace_of(**fields)).claims


def read(response: str) -> Claims:
    """Type, stance and relations of each claim."""
    return [
        (c.type, c.stance, [(r.subject, r.relation, r.object) for r in c.relations])
        for c in audited(response=response)
    ]


ABOVE, LEFT = ("lamp", "above", "desk"), ("chair", "left", "desk")
ANSWER = ("lamp", "upper_right", "chair")


def test_what_is_read_ahead_is_read_the_same() -> None:
    auditor = TraceAuditor("nine-way")
    traces = [
        trace_of(**{k: row[k] for k in ("scene", "question", "response")})
        for row in rows("traces_developed")[:5]
    ]
    alone = [auditor.audit(trace) for trace in traces]
    auditor.ahead(traces)
    assert [auditor.audit(trace) for trace in traces] == alone


def test_claims_of_a_response() -> None:
    assert read("The lamp is above the desk, so it is upper right of the chair. Answer: left") == [
        ("reasoning", "asserted", [ABOVE]),
        ("reasoning", "asserted", [ANSWER]),
        ("conclusion", "asserted", [("lamp", "left", "chair")]),
    ]


DRESSES = [
    "Answer: upper right",
    "**Final answer:** upper-right",
    "\\boxed{\\text{upper right}}",
    "The answer is that the lamp is to the upper right of the chair.",
    "Conclusion\n\nThe lamp is to the upper right of the chair.",
    "Reasoning is fun.\nUpper right",
    "I chose upper right.",
]


@pytest.mark.parametrize("response", DRESSES)
def test_answers_in_usual_dress(response: str) -> None:
    assert read(response)[-1] == ("conclusion", "asserted", [ANSWER])


def test_without_an_announcement_the_last_claim_about_the_pair_is_the_answer() -> None:
    claims = read("The lamp is above the desk. So the lamp is to the upper right of the chair.")
    assert claims == [("reasoning", "asserted", [ABOVE]), ("conclusion", "asserted", [ANSWER])]


@pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```"])
def test_an_object_has_steps_and_answer(fence: str) -> None:
    steps = ["The lamp is above the desk.", "The chair is left of the desk."]
    response = fence.replace("{}", json.dumps({"steps": steps, "answer": "upper right"}))
    assert [relations for _, _, relations in read(response)] == [[ABOVE], [LEFT], [ANSWER]]


STANCES = {
    "Suppose the lamp is below the desk. Then it is below the chair.": ["supposed", "supposed"],
    "If the lamp is below the desk, it is broken.": ["supposed"],
    "I think that the lamp is below the desk.": ["quoted"],
    "Is the lamp below the desk?": ["asked"],
    "EQ(x, y) would mean that the lamp is below the desk.": ["supposed"],
    "For the lamp to be below the desk, the desk would have to move.": ["supposed"],
    "This rules out that the lamp is below the desk.": ["quoted"],
    "When the lamp is above the desk, it must be above the chair.": ["supposed"],
    "The lamp is below the desk. Wait, that is wrong.": ["retracted", "asserted"],
    "<think>The lamp is above the desk.</think>": ["asserted"],
    # what belongs to a supposition
    "For the lamp to be below the desk:\n- It is below the chair. It hangs right of the desk.\n"
    "The lamp is above the desk.": ["supposed", "supposed", "supposed", "asserted"],
    "Case 1: the lamp is below the desk.\n- It is below the chair.\nIt is above the desk.": [
        "supposed",
        "supposed",
        "asserted",
    ],
    "Case 1: the lamp is below the desk. It is above the desk.": ["supposed", "asserted"],
    "Example 1: at night.\nThe lamp is below the desk.\n\nThe lamp is above the desk.": [
        "supposed",
        "supposed",
        "asserted",
    ],
    "If the lamp is below the desk, all is lost. This means it is below the chair. "
    "The lamp is above the desk.": ["supposed", "supposed", "asserted"],
    "It is above the chair if the lamp is below the desk.": ["supposed"],
    "left(lamp, desk) means:\n- The lamp is left of the desk.\nThe lamp is above the desk.": [
        "quoted",
        "supposed",
        "asserted",
    ],
    "Where the lamp is below the desk, and the chair is left of it.": ["supposed"],
}


@pytest.mark.parametrize("text", STANCES)
def test_stances(text: str) -> None:
    claims = read(f"{text} Answer: left")
    assert [stance for _, stance, _ in claims[:-1]] == STANCES[text]
    stated = [relations for _, stance, relations in claims[:-1] if stance != "asserted"]
    assert not any(stated)


@pytest.mark.parametrize(
    ("text", "verdict", "reason"),
    [
        ("left(chair, desk): the chair is on the left of the desk.", "entailed", ""),
        ("left(chair, desk) means that the chair is right of the desk.", "unknown", "uncertain"),
        ("left(chair, lamp) means that the chair is left of the lamp.", "unknown", "quoted"),
    ],
)
def test_what_explains_a_term_claims_what_the_scene_states(
    text: str, verdict: str, reason: str
) -> None:
    first = audited(response=f"{text} Answer: left")[0]
    assert (first.grounded_verdict, first.reason or "") == (verdict, reason)


def test_what_follows_a_condition_in_its_paragraph_contradicts_nothing() -> None:
    condition = "If the lamp is below the chair, all is lost."

    def verdicts(rest: str) -> list[str]:
        return [c.verdict for c in audited(response=f"{condition}{rest} Answer: left")][:2]

    assert verdicts(" The lamp is below the desk.") == ["unknown", "unknown"]
    assert verdicts(" The lamp is above the desk.") == ["unknown", "entailed"]
    assert verdicts("\n\nThe lamp is below the desk.") == ["unknown", "contradicted"]


def test_an_example_contradicts_nothing_until_the_text_goes_on_in_general() -> None:
    example = "Let me consider an example. The lamp is below the desk."
    found = audited(response=f"{example} Therefore, the lamp is below the chair. Answer: left")
    assert [c.verdict for c in found][1:3] == ["unknown", "contradicted"]


def test_what_is_listed_as_possible_is_not_contradicted() -> None:
    possible = "The lamp could be below the desk."
    assert audited(response=f"Where? {possible} Answer: left")[1].verdict == "contradicted"
    for listed in (f"1. {possible}", f"1.\n{possible}", f"- {possible}"):
        found = audited(response=f"Where?\n{listed}\nAnswer: left")
        assert [c.verdict for c in found if "below" in c.text] == ["unknown"]


def test_what_a_definition_means_is_no_claim() -> None:
    text = "The lamp is low iff it touches the floor. So, it means that the lamp is below the desk."
    assert audited(response=f"{text} Answer: left")[1].verdict == "unknown"


MODAL = {
    "The lamp must be above the desk.": ("necessary", "above", "entailed"),
    "The lamp must be below the desk.": ("necessary", "below", "contradicted"),
    "The desk may be below the lamp.": ("possible", "below", "entailed"),
    "It is possible that the lamp is below the desk.": ("possible", "below", "contradicted"),
    "The lamp cannot be below the desk.": ("impossible", "below", "entailed"),
    "It is impossible for the lamp to be above the desk.": ("impossible", "above", "contradicted"),
    "It is not possible that the lamp is below the desk.": ("impossible", "below", "entailed"),
}


@pytest.mark.parametrize("text", MODAL)
def test_claims_about_worlds(text: str) -> None:
    first = audited(response=f"{text} The chair is left of the desk. Answer: left")[0]
    (relation,) = first.relations
    assert (first.stance, relation.relation, first.grounded_verdict) == MODAL[text]


def test_what_the_scene_leaves_open_decides_nothing_of_things_it_does_not_speak_of() -> None:
    text = "The vase must be above the desk. The vase could be above the desk. Answer: left"
    assert [c.verdict for c in audited(response=text)[:2]] == ["unknown", "unknown"]


def test_a_sentence_that_nothing_is_read_of_leaves_worlds_open() -> None:
    scene = ["The lamp is above the desk.", "The vase glitters."]
    trace = {"id": "t", "question": "Where is the vase relative to the lamp?", "scene": scene}
    steps = {"reasoning": ["The vase must be above the lamp."], "conclusion": "Left."}
    claims = AUDITORS["nine-way"].audit(Trace.model_validate(trace | steps)).claims
    assert (claims[0].stance, claims[0].verdict) == ("necessary", "unknown")


@pytest.mark.parametrize(
    "listed", ["N, NE, and E", "B, W, SW, S, SE, E", "NW or N", "N, S, B", "B; N; NE; and E"]
)
def test_letters_in_a_list_of_tiles_are_no_things(listed: str) -> None:
    fields = {"scene": "x is N of y. y is W of z.", "question": "", "response": f"Left: {listed}."}
    assert not any(c.relations for c in TraceAuditor("cdc").audit(trace_of(**fields)).claims)


def test_letters_beside_no_other_tile_are_things() -> None:
    fields = {"scene": "N is SW of E.", "question": "", "response": "So N is below E."}
    (scene,) = TraceAuditor("cdc").audit(trace_of(**fields)).scene.relations
    assert (scene.subject, scene.relation, scene.object) == ("N", "sw", "E")


def test_a_modal_claim_enters_no_context() -> None:
    text = "The chair could be above the lamp. The chair is below the lamp. Answer: left"
    claims = audited(
        scene=["The lamp is above the desk.", "The chair is near the desk."], response=text
    )
    assert [c.verdict for c in claims[:2]] == ["entailed", "unknown"]


def test_yes_and_no_take_over_what_was_asked() -> None:
    claims = audited(response="Is the lamp above the desk? Yes. Answer: left")
    assert [c.verdict for c in claims][1] == "entailed"


def test_claims_one_by_one() -> None:
    steps = ["The lamp is above the desk.", "Hm.", "The chair is right of the desk."]
    claims = audited(reasoning=steps, conclusion="upper right")
    assert [c.verdict for c in claims] == ["entailed", "unknown", "contradicted", "not-evaluable"]
    assert [c.grounded_verdict for c in claims][-1] == "entailed"


def test_spans_are_offsets_in_the_claim() -> None:
    claims = audited(response="Hm. So, the lamp is above the desk. Answer: left")
    (relation,) = claims[1].relations
    assert claims[1].text[slice(*relation.span)] == "lamp is above the desk"


def test_a_sentence_without_end_costs_its_claim_alone_and_is_an_error_in_the_scene() -> None:
    endless = "the lamp is above the desk and " * 200
    trace = {"id": "t", "question": QUESTION, "reasoning": [endless], "conclusion": "upper right"}
    audit = AUDITORS["nine-way"].audit(Trace.model_validate(trace | {"scene": SCENE}))
    assert [c.verdict for c in audit.claims] == ["unknown", "entailed"]
    assert "longer than any that is read" in audit.faults[0]
    with pytest.raises(RecordError, match="scene sentence 1 is not read"):
        AUDITORS["nine-way"].audit(Trace.model_validate(trace | {"scene": [endless]}))


def test_the_audit_says_which_pipeline_parsed() -> None:
    trace = {"id": "t", "question": "", "scene": SCENE, "reasoning": [], "conclusion": "Hm."}
    audit = AUDITORS["nine-way"].audit(Trace.model_validate(trace))
    assert audit.reader is not None
    assert audit.reader.pipeline.startswith("en_")
    structured = trace | {"scene": None, "scene_relations": [["A", "above", "B"]], "claims": []}
    del structured["reasoning"], structured["conclusion"], structured["scene"]
    assert AUDITORS["nine-way"].audit(Trace.model_validate(structured)).reader is None


def test_questions_about_the_pair() -> None:
    asked = {
        "Where is the lamp relative to the chair?": ("lamp", "chair"),
        "Relative to the chair, where is the lamp?": ("lamp", "chair"),
        "What is the relation of the lamp to the chair?": ("lamp", "chair"),
        "Is the lamp left of the chair?": ("lamp", "chair"),
    }
    for question, pair in asked.items():
        instance = Instance(id="q", question=question, scene=SCENE)
        parsed = AUDITORS["nine-way"].parser_for(instance).parse(instance)
        assert parsed.question().pair == pair, question


# Wordings ------------------------------------------------------------------------------


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


def restated(row: dict[str, Any], claim: str) -> Trace:
    return trace_of(scene=[row["sentence"]], question="", reasoning=[], conclusion=row[claim])


def verdict(auditor: TraceAuditor, trace: Trace) -> str:
    return auditor.audit(trace).claims[-1].grounded_verdict


RELATIVE = ("topology", "depth")
"""Kinds of sentences that are read under half-planes: which profile has the relations."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "right", "misread"),
    [("sentences_developed", 0.85, 0.01), ("sentences_held", 0.74, 0.02)],
)
def test_reworded_sentences(name: str, right: float, misread: float) -> None:
    """Shares of sentences of which a plain restatement is entailed and its opposite contradicted,
    and of those of which the opposite is entailed or the restatement contradicted.
    """
    count: Counter[str] = Counter()
    for profile in ("nine-way", "half-plane"):
        auditor = AUDITORS[profile]
        here = [r for r in rows(name) if (r["kind"] in RELATIVE) == (profile == "half-plane")]
        pairs = [(restated(row, "plain"), restated(row, "wrong")) for row in here]
        auditor.ahead([trace for pair in pairs for trace in pair])
        for plain, wrong in pairs:
            found = verdict(auditor, plain), verdict(auditor, wrong)
            count["all"] += 1
            count["right"] += found == ("entailed", "contradicted")
            count["misread"] += found[0] == "contradicted" or found[1] == "entailed"
    assert count["right"] / count["all"] >= right, count
    assert count["misread"] / count["all"] <= misread, count


@pytest.mark.slow
def test_confidence_is_the_share_of_readings_that_are_right() -> None:
    """Of the relations read in sentences: right is what the plain restatement entails, and of what it
    leaves open all but what a person judged to be misread (`misread.jsonl`).
    """
    misread = {(row["sentence"], *row["relation"]) for row in rows("misread")}
    judged: dict[float, list[bool]] = defaultdict(list)
    given: defaultdict[str, list[tuple[dict[str, Any], Trace]]] = defaultdict(list)
    for row in rows("sentences_developed"):
        profile = "half-plane" if row["kind"] in RELATIVE else "nine-way"
        given[profile].append((row, restated(row, "plain")))
    for profile, pairs in given.items():
        AUDITORS[profile].ahead([trace for _, trace in pairs])
    for profile, row, trace in ((p, *pair) for p, pairs in given.items() for pair in pairs):
        audit = AUDITORS[profile].audit(trace)
        plain = [[r.subject, r.relation, r.object] for r in audit.claims[-1].relations]
        said = [[r.subject, r.relation, r.object] for r in audit.scene.relations]
        if not plain or not said:
            continue
        verdicts = symbouq.audit(plain, [[triple] for triple in said], profile=profile).claims
        for read, claim in zip(audit.scene.relations, verdicts, strict=True):
            triple = (read.subject, read.relation, read.object)
            right = claim.grounded_verdict == "entailed" or (
                claim.grounded_verdict == "unknown" and (row["sentence"], *triple) not in misread
            )
            judged[read.confidence].append(right)
    shares = {c: (sum(found) / len(found), len(found)) for c, found in judged.items()}
    assert sum(count for _, count in shares.values()) > 1000
    for confidence, (share, count) in shares.items():
        error = (confidence * (1 - confidence) / count) ** 0.5  # of a share, by so few readings
        assert abs(share - confidence) <= max(0.05, 2 * error), shares


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [("developed", 75, 0), pytest.param("held", 66, 4, marks=pytest.mark.slow)],
)
def test_answers_of_reworded_traces(name: str, right: int, wrong: int) -> None:
    """How many of 80 final verdicts are right, and determinate and wrong."""
    count: Counter[str] = Counter()
    here = rows(f"traces_{name}")
    traces = [trace_of(**{k: row[k] for k in ("scene", "question", "response")}) for row in here]
    AUDITORS["nine-way"].ahead(traces)
    for row, trace in zip(here, traces, strict=True):
        final = verdict(AUDITORS["nine-way"], trace)
        count["right"] += final == row["final"]
        count["wrong"] += final != row["final"] and final in ("entailed", "contradicted")
    assert count["right"] >= right, count
    assert count["wrong"] <= wrong, count


@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_everyday_scenes(half: int) -> None:
    """Scenes with claims as people and models write them. The rows at even places may be looked at;
    of the others the totals alone.
    """
    count: Counter[str] = Counter()
    here = rows("everyday")[half::2]
    traces = [
        trace_of(
            scene=row["scene"],
            question="",
            reasoning=[claim["text"] for claim in row["claims"]],
            conclusion="Hm.",
        )
        for row in here
    ]
    AUDITORS["everyday"].ahead(traces)
    for row, trace in zip(here, traces, strict=True):
        found = AUDITORS["everyday"].audit(trace).claims
        for given, claim in zip(row["claims"], found, strict=False):
            count[given["verdict"]] += 1
            count[f"{given['verdict']} right"] += claim.grounded_verdict == given["verdict"]
            wrong = claim.grounded_verdict != given["verdict"]
            count["wrong"] += wrong and claim.grounded_verdict in ("entailed", "contradicted")
    assert count["entailed right"] >= 0.67 * count["entailed"], count
    assert count["contradicted right"] >= 0.7 * count["contradicted"], count
    assert count["wrong"] <= 5, count
