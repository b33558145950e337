"""The reading of a trace: features by name, possible worlds, decoding scores, never labels."""

from __future__ import annotations

import math
from typing import Any

import pytest
from helpers.labelled_traces import SPACE, trace

from symbouq.auditing.answers import Answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import RecordError
from symbouq.records import Trace
from symbouq.reliability.reading import GROUNDED_RULE, RULE, Reader, feature_names
from symbouq.reliability.worlds import WORLDS, worlds_of


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader("worlds")


def read(reader: Reader, **changes: Any) -> Any:
    return reader.read(Trace.model_validate(trace(0, False) | changes))


def test_features_are_those_of_the_audits(reader: Reader) -> None:
    given = Trace.model_validate(trace(6, False))
    found = dict(zip(feature_names("worlds"), reader.read(given).features, strict=True))
    for context in ("assumed", "grounded"):
        audit = TraceAuditor(context=context).audited(given)  # type: ignore[arg-type]
        rows = audit["features"]["claims"]
        assert found[f"{context}/trace/claims"] == len(rows) == audit["features"]["trace"][1]
        assert found[f"{context}/conclusion/contradicted"] == rows[-1][9]
        entailed = sum(row[8] for row in rows) / len(rows)
        assert found[f"{context}/mean/entailed"] == pytest.approx(entailed)
    assert len(found) == 2 * (16 + 23 + 23) + 8


def test_compositions_see_a_part_of_what_is_read(reader: Reader) -> None:
    given = Trace.model_validate(trace(6, False))
    whole = reader.read(given)
    assert set(whole.scores) == {RULE, GROUNDED_RULE, WORLDS}
    for composition in ("paper", "dual", "worlds"):
        assert whole.seen_as(composition) == Reader(composition).read(given)


def test_scores_are_those_of_the_audits(reader: Reader) -> None:
    given = Trace.model_validate(trace(1, False))
    found = reader.read(given)
    for context, name in (("assumed", RULE), ("grounded", GROUNDED_RULE)):
        audit = TraceAuditor(context=context).audited(given)  # type: ignore[arg-type]
        assert found.scores[name] == audit["constraint_rule"]
    assert found.profile == TraceAuditor().audited(given)["profile"]


def test_labels_are_not_read(reader: Reader) -> None:
    plain = read(reader, answer=None)
    assert plain == read(reader, answer="overlap", correct=True, labels=[1, 0])


def test_traces_of_one_scene_share_a_group(reader: Reader) -> None:
    assert read(reader).group == read(reader, response="Answer: left", id="other").group
    assert read(reader).group == read(reader, scene="A is above B.  B is to the left of C.").group
    assert read(reader).group != read(reader, scene=["A is above B."]).group
    relations = {"scene_relations": [["A", "above", "B"]], "claims": [{"relations": []}]}
    first = reader.read(Trace.model_validate({"id": "r", **relations}))
    assert first.group == reader.read(Trace.model_validate({"id": "s", **relations})).group


def test_a_trace_without_claims_has_zeros(reader: Reader) -> None:
    found = reader.read(Trace.model_validate({"id": "r", "scene_relations": [], "claims": []}))
    assert set(found.features) == {0.0}
    assert (found.scores[RULE], found.scores[WORLDS], found.claims) == (0.5, 0.5, {})


@pytest.mark.parametrize(
    ("chosen", "found", "score"),
    [
        (("left",), Answer("answered", ["left"], ["left"], ["left"], ["right"]), 1.0),
        (("right",), Answer("answered", ["left"], ["left"], ["left"], ["right"]), 0.0),
        (("left",), Answer("open", [], [], ["left", "above-left"], ["right"]), 0.5),
        (("left",), Answer("open", [], [], ["left", "above", "below", "right"], []), 0.25),
        (("no",), Answer("answered", ["no"], [], ["yes"], [], default=True), 1.0),
        ((), Answer("answered", [], [], [], ["A", "B"]), 1.0),
        (("A",), Answer("answered", [], [], [], ["A", "B"]), 0.0),
        (None, Answer("answered", ["left"], ["left"], ["left"], ["right"]), 0.5),
        (("left",), Answer("inconsistent"), 0.5),
        (("left",), Answer("unread"), 0.5),
    ],
)
def test_worlds_by_hand(chosen: tuple[str, ...] | None, found: Answer, score: float) -> None:
    assert worlds_of(chosen, found, 4)[0] == score


def test_worlds_features_by_hand() -> None:
    found = Answer("open", [], [], ["left", "above"], ["right", "below"])
    assert worlds_of(("left",), found, 4)[1] == [1, 0, 0, 0, 0, 0.5, 0, 0]
    found = Answer("answered", ["no"], ["no"], ["no"], ["yes"], default=True)
    assert worlds_of(("yes",), found, 2)[1] == [1, 1, 0, 0, 1, 0.5, 1, 0]
    assert worlds_of(None, Answer("inconsistent"), 2)[1] == [0, 0, 0, 0, 0, 0, 0, 1]


def test_worlds_need_an_answer_space(reader: Reader) -> None:
    assert read(reader, answer_space=SPACE).scores[WORLDS] == 0
    without = read(reader, answer_space=None)
    assert (without.scores[WORLDS], set(without.features[-8:])) == (0.5, {0.0})


def test_scores_of_the_record(reader: Reader) -> None:
    found = read(reader, scores={"judge": 3, "Random": 0.5, "absent": None, RULE: 0.25})
    assert found.scores["judge"] == 3.0
    assert found.scores[RULE] == 0.25
    assert not {"Random", "absent"} & set(found.scores)
    for wrong in ([1], {"judge": "high"}, {"judge": True}):
        with pytest.raises(RecordError, match="scores"):
            read(reader, scores=wrong)


def tokens(text: str, *, top: int | None = 4) -> list[dict[str, Any]]:
    """Words as tokens of probability 1/2, the alternatives at 1/4, 1/8 and 1/16."""
    found = []
    for word in text.replace(" ", "| ").split("|"):
        others = [{"text": f"{word}{n}", "logprob": -n * math.log(2)} for n in (2, 3, 4)]
        token: dict[str, Any] = {"text": word, "logprob": -math.log(2)}
        if top is not None:
            token["top"] = [{"text": word, "logprob": -math.log(2)}, *others][:top]
        found.append(token)
    return found


def test_decoding_scores_by_hand(reader: Reader) -> None:
    text = trace(0, True)["response"]
    found = read(reader, response=text, tokens=tokens(text)).claims
    assert set(found) == {"Perplexity", "Token Entropy", "MCP", "CCP"}
    assert found["Perplexity"] == pytest.approx([2.0] * len(found["Perplexity"]))
    assert found["MCP"] == pytest.approx([0.5] * len(found["MCP"]))
    shares = [8 / 15, 4 / 15, 2 / 15, 1 / 15]
    entropy = -sum(p * math.log(p) for p in shares)
    assert found["Token Entropy"] == pytest.approx([entropy] * len(found["MCP"]))


def test_claims_have_their_own_tokens(reader: Reader) -> None:
    text = trace(0, True)["response"]
    listed = tokens(text)
    for token in listed[:4]:  # the first claim
        token["logprob"] = -math.log(4)
    found = read(reader, response=text, tokens=listed).claims["Perplexity"]
    assert found[0] == pytest.approx(4)
    assert found[-1] == pytest.approx(2)


def test_fewer_probabilities_allow_fewer_scores(reader: Reader) -> None:
    text = trace(0, True)["response"]
    assert set(read(reader, response=text, tokens=tokens(text, top=None)).claims) == {"Perplexity"}
    two = read(reader, response=text, tokens=tokens(text, top=2)).claims["Token Entropy"]
    shares = [2 / 3, 1 / 3]
    assert two[0] == pytest.approx(-sum(p * math.log(p) for p in shares))
    listed = tokens(text)
    listed[0]["logprob"] = None
    assert read(reader, response=text, tokens=listed).claims == {}
    assert read(reader, tokens=[]).claims == {}
    with pytest.raises(RecordError, match="tokens"):
        read(reader, tokens=["word"])


def spelled(listed: list[dict[str, Any]], space: str) -> list[dict[str, Any]]:
    """Tokens with the pieces of a vocabulary as their texts."""
    changed: dict[str, str] = {" ": space, "\n": "Ċ" if space == "Ġ" else "\n"}

    def piece(text: str) -> str:
        return "".join(changed.get(c, c) for c in text)

    return [
        token
        | {"text": piece(token["text"])}
        | {"top": [other | {"text": piece(other["text"])} for other in token["top"]]}
        for token in listed
    ]


@pytest.mark.parametrize("space", ["Ġ", "▁"])
def test_pieces_of_a_vocabulary_are_read(reader: Reader, space: str) -> None:
    text = trace(0, True)["response"]
    listed = tokens(text)
    for token in listed[:4]:  # the first claim
        token["logprob"] = -math.log(4)
    plain = read(reader, response=text, tokens=listed)
    pieces = read(reader, response=text, tokens=spelled(listed, space))
    assert pieces.claims == plain.claims and pieces.fault == ""
    assert plain.claims["Perplexity"][0] == pytest.approx(4)


def test_tokens_of_another_text_give_no_scores_and_say_so(reader: Reader) -> None:
    text = trace(0, True)["response"]
    for strange in ([t | {"text": "##" + t["text"]} for t in tokens(text)], tokens("Nothing.")):
        found = read(reader, response=text, tokens=strange)
        assert found.claims == {}
        assert found.fault == "the claims are not in the text of `tokens`"
    listed = tokens(text)
    listed[0]["logprob"] = None
    assert read(reader, response=text, tokens=listed).fault == "a token has no log-probability"
    assert read(reader, response=text).fault == ""
