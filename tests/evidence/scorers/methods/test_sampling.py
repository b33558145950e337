"""Sampling scores on hand-derived values, with an equivalence that is plain to see."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, get_args

import pytest
import scipy.stats
from helpers.synthetic import example

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.backbone import TOKENS, TransformersBackbone
from symbouq.evidence.scorers.base import Scorer
from symbouq.evidence.scorers.equivalence import Record
from symbouq.evidence.scorers.methods.sampling import (
    OPENING,
    PROMPT,
    READOUT,
    PTrue,
    SelfCheckGPT,
    SemanticEntropy,
    classes,
    p_true_message,
)
from symbouq.evidence.scorers.needs import Needs
from symbouq.evidence.scorers.settings import Resources, SelfCheck
from symbouq.evidence.signals.example import Example


class Spelling:
    """Answers mean the same if they begin with the same letter; a sample supports what it says."""

    name = "first letters"
    needs: Needs = frozenset()

    def same(self, first: Record, second: Record) -> bool:
        return first["conclusion"][:1] == second["conclusion"][:1]

    def supports(self, sample: Record, trace: Record, claim: int) -> bool:
        return [*trace["reasoning"], trace["conclusion"]][claim] in sample["says"]

    def contradicts(self, sample: Record, trace: Record, claim: int) -> float:
        return {"no": 1.0, "hardly": 0.75}.get(sample["conclusion"], 0.0)


def sampled(*answers: str) -> Example:
    samples = tuple({"conclusion": answer} for answer in answers)
    return example(claims=3, samples=samples)


@pytest.mark.parametrize(
    ("answers", "counts"),
    [
        (["left"], [1]),
        (["left", "Left"], [1, 1]),
        (["left", "l", "right", "r", "lo", "above", "le", "lef", "rig", "ab"], [5, 3, 2]),
    ],
)
def test_semantic_entropy(answers: list[str], counts: list[int]) -> None:
    (values,) = SemanticEntropy(Spelling()).score([sampled(*answers)])
    total = sum(counts)
    by_hand = -sum(n / total * math.log(n / total) for n in counts)
    # scipy's entropy of the counts is the same quantity.
    assert values.tolist() == pytest.approx([by_hand] * 3)
    assert values[0] == pytest.approx(scipy.stats.entropy(counts))


def test_classes_are_by_first_members() -> None:
    found = classes(sampled("left", "right", "lower", "above").samples, Spelling())
    assert [[m["conclusion"] for m in members] for members in found] == [
        ["left", "lower"],
        ["right"],
        ["above"],
    ]


def test_semantic_entropy_by_the_auditor() -> None:
    # "left", in two words and in converse, against "right": 3 of 4.
    asked = {"scene": "A is left of B. B is left of C.", "question": "Where is A from C?"}
    answers = ("left", "C is right of A", "A is to the left of C", "right")
    samples = tuple({**asked, "reasoning": [], "conclusion": a} for a in answers)
    scorer = SemanticEntropy()
    assert scorer.equivalence.name == "auditor, in the scene"
    (values,) = scorer.score([example(claims=1, samples=samples)])
    assert values[0] == pytest.approx(scipy.stats.entropy([3, 1]))


def test_selfcheck_is_the_share_that_does_not_support() -> None:
    samples = ({"says": ["claim 1", "claim 2"]}, {"says": ["claim 2"]}, {"says": []}, {"says": ["claim 2"]})  # fmt: skip
    given = example(claims=3, samples=samples, record={"response": "whatever"})
    (values,) = SelfCheckGPT(Spelling()).score([given])
    assert values.tolist() == pytest.approx([1 - 1 / 4, 1 - 3 / 4, 1.0])


def test_selfcheck_is_the_mean_probability_of_contradiction() -> None:
    given = example(claims=1, samples=sampled("no", "hardly", "left", "left").samples)
    (values,) = SelfCheckGPT(Spelling(), "contradiction").score([given])
    assert values.tolist() == [(1 + 0.75) / 4]


def test_the_resources_name_the_form_of_selfcheck() -> None:
    forms = get_args(SelfCheck)
    made = [SelfCheckGPT.make(0, None, Resources(Spelling(), selfcheck=form)) for form in forms]
    assert [scorer.form for scorer in made] == ["support", "contradiction"]


def test_selfcheck_by_what_the_auditor_finds_contradicted() -> None:
    asked = {"scene": "A is left of B.", "question": "Where is A from C?"}
    samples = (
        {**asked, "reasoning": ["A is left of B", "B is above D"], "conclusion": "upper left"},
        {**asked, "reasoning": ["A is right of B"], "conclusion": "right"},
    )
    record = {**asked, "reasoning": ["B is left of A", "B is below D"], "conclusion": "left"}
    given = Example("t", record, ("B is left of A", "B is below D", "left"), samples=samples)
    (values,) = SelfCheckGPT(form="contradiction").score([given])
    # The second says nothing of D; of A and C each says another direction.
    assert values.tolist() == [0.5, 0.5, 1.0]


def test_selfcheck_by_the_auditor() -> None:
    asked = {"scene": "A is left of B. B is left of C.", "question": "Where is A from C?"}
    samples = (
        {**asked, "reasoning": ["A is left of B"], "conclusion": "left"},
        {**asked, "reasoning": ["B is left of C"], "conclusion": "right"},
    )
    record = {**asked, "reasoning": ["B is right of A"], "conclusion": "left"}
    given = Example("t", record, ("B is right of A", "left"), samples=samples)
    (values,) = SelfCheckGPT().score([given])
    assert values.tolist() == [0.5, 0.5]


class Oracle:
    """A backbone with fixed answers."""

    name = "oracle"

    def __init__(self, answers: Sequence[tuple[float, float]]) -> None:
        self.answers = list(answers)
        self.asked: list[Sequence[str]] = []

    def continuations(
        self, messages: Sequence[str], opening: str, texts: Sequence[str]
    ) -> list[list[float]]:
        assert (opening, texts) == (OPENING, READOUT)
        self.asked.append(messages)
        return [[math.log(p) for p in self.answers.pop(0)] for _ in messages]


def test_selfcheck_of_an_output_that_was_cut_off() -> None:
    """Its audit has the claims that it got to; the record says that it is not valid."""
    scene = {"scene": ["A is left of B.", "B is above C."], "question": "Where is A from C?"}
    record = {**scene, "response": "A is left of B. C is", "generation": {"status": "truncated"}}
    sample = {**scene, "reasoning": ["A is left of B."], "conclusion": "upper left"}
    given = Example("t", record, ("A is left of B.", "C is below B.", "C is"), samples=(sample,))
    (values,) = SelfCheckGPT().score([given])
    assert values.tolist() == [0.0, 1.0, 1.0]


def test_p_true_is_the_share_of_false() -> None:
    # Neither probability need be large: only their ratio counts.
    oracle = Oracle([(0.6, 0.2), (1e-9, 3e-9), (0.1, 0.1)])
    given = [sampled("a"), sampled("b"), sampled("c")]
    found = PTrue(oracle, batch=2).score([*given, example(claims=0, id="failed")])
    assert [values.tolist() for values in found[:3]] == [
        pytest.approx([0.25] * 3),
        pytest.approx([0.75] * 3),
        pytest.approx([0.5] * 3),
    ]
    assert not len(found[3])
    assert [len(messages) for messages in oracle.asked] == [2, 1]


def test_p_true_asks_about_the_delivered_answer() -> None:
    record = {"scene": ["A is left of B.", "B is left of C."], "question": "Where is A from C?"}
    samples = ({"conclusion": "left"}, {"conclusion": "x", "status": "invalid"}, {"conclusion": "right"})  # fmt: skip
    given = Example("t", record, ("A is left of B", "left"), samples=samples)
    assert p_true_message(given) == (
        "Scene: A is left of B. B is left of C.\n"
        "Question: Where is A from C?\n"
        "Here are some brainstormed ideas: left; right\n"
        "Possible answer: left\n"
        "Is the possible answer:\n(A) True\n(B) False"
    )
    assert PROMPT.endswith("(B) False")


@pytest.mark.parametrize("scorer", [SemanticEntropy(Spelling()), SelfCheckGPT(Spelling()), PTrue()])
def test_samples_are_needed(scorer: Scorer) -> None:
    with pytest.raises(SymboUQError, match="needs further answers to its question"):
        scorer.score([example()])


SILENT: list[tuple[dict[str, Any], ...]] = [
    ({"conclusion": ""},) * 5,
    ({"conclusion": "  "}, {"response": ""}),
    ({"response": "A is left of", "status": "truncated"}, {"conclusion": "", "reasoning": []}),
    ({"reasoning": ["A is left of B"], "conclusion": "left", "generation": {"status": "failed"}},),
]


@pytest.mark.parametrize("samples", SILENT)
@pytest.mark.parametrize(
    "scorer",
    [
        SemanticEntropy(Spelling()),
        SelfCheckGPT(Spelling()),
        SelfCheckGPT(Spelling(), "contradiction"),
        PTrue(Oracle([(0.5, 0.5)])),
    ],
)
def test_samples_that_say_nothing_are_no_evidence(
    scorer: Scorer, samples: tuple[dict[str, Any], ...]
) -> None:
    given = example(claims=2, samples=samples)
    assert scorer.lacks(given).endswith(f"in one of its {len(samples)} samples")
    with pytest.raises(SymboUQError, match=r"trace .*: .* needs an? (answer|claim) in one of its"):
        scorer.score([given])
    assert scorer.lacks(example(claims=2, samples=(*samples, {"conclusion": "left"}))) == ""


def test_steps_without_an_answer_check_claims_alone() -> None:
    given = example(claims=2, samples=({"reasoning": ["A is left of B"], "conclusion": ""},) * 2)
    assert SelfCheckGPT(Spelling()).lacks(given) == ""
    assert SemanticEntropy(Spelling()).lacks(given) and PTrue().lacks(given)


def test_an_empty_sample_is_a_meaning_beside_answers() -> None:
    (values,) = SemanticEntropy(Spelling()).score([sampled("left", "left", "left", "")])
    assert values[0] == pytest.approx(scipy.stats.entropy([3, 1]))


def test_p_true_needs_a_backbone() -> None:
    with pytest.raises(SymboUQError, match="needs the backbone"):
        PTrue().score([sampled("a")])


# A model of transformers ---------------------------------------------------------------


@pytest.fixture(scope="module")
def backbone() -> TransformersBackbone:
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = ["<unk>", "<user>", "is", "it", ":", "True", "False", "so", "?"]
    tokenizer = Tokenizer(models.WordLevel({w: n for n, w in enumerate(words)}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=8, intermediate_size=8, num_hidden_layers=1,
        num_attention_heads=2,
    )  # fmt: skip
    return TransformersBackbone(
        "tiny",
        LlamaForCausalLM(config),
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>"),
        lambda message: f"<user> {message} ",
    )


def test_continuations_are_the_models(backbone: TransformersBackbone) -> None:
    import torch

    messages = ["it is so ?", "so ?"]
    found = backbone.continuations(messages, ":", (" True", " False so"))
    for message, (true, false) in zip(messages, found, strict=True):
        ids = backbone._tokenizer(f"<user> {message} : False so")["input_ids"]
        with torch.no_grad():
            logprobs = backbone._model(torch.tensor([ids])).logits[0].log_softmax(-1)
        at = len(ids) - 3  # the colon
        assert true == pytest.approx(logprobs[at, 5].item(), abs=1e-5)
        assert false == pytest.approx((logprobs[at, 6] + logprobs[at + 1, 7]).item(), abs=1e-5)


def test_messages_of_all_lengths_are_read_as_alone(
    backbone: TransformersBackbone, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = [" ".join(["is it so ?"] * count) for count in (3, 1, 9, 2, 1)]
    each = [backbone.continuations([message], ":", READOUT)[0] for message in messages]
    alone = [pytest.approx(pair, abs=1e-5) for pair in each]
    assert backbone.continuations(messages, ":", READOUT) == alone
    monkeypatch.setattr(backbone, "_tokens", 20)
    assert backbone.continuations(messages, ":", READOUT) == alone


def test_what_does_not_fit_is_read_in_halves(
    backbone: TransformersBackbone, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = ["is it so ?", "it is so ?", "so it is ?", "is so it ?"]
    together = backbone.continuations(messages, ":", READOUT)
    expected = [pytest.approx(pair, abs=1e-5) for pair in together]
    model, sizes = backbone._model, []

    class Narrow:
        device = model.device

        def __init__(self, most: int) -> None:
            self.most = most

        def __call__(self, input_ids: Any, **others: Any) -> Any:
            sizes.append(len(input_ids))
            if len(input_ids) > self.most:
                raise MemoryError
            return model(input_ids=input_ids, **others)

    monkeypatch.setattr(backbone, "_tokens", TOKENS)
    monkeypatch.setattr(backbone, "_model", Narrow(1))
    assert backbone.continuations(messages, ":", READOUT) == expected
    assert sizes == [4, 2, 1, 1, 1, 1]
    monkeypatch.setattr(backbone, "_model", Narrow(0))
    with pytest.raises(SymboUQError, match="tiny: a message of 6 tokens does not fit into memory"):
        backbone.continuations(messages, ":", READOUT)


def test_readouts_must_differ(backbone: TransformersBackbone) -> None:
    with pytest.raises(SymboUQError, match="tokenizer of tiny reads"):
        backbone.continuations(["so"], ":", ("maybe", "perhaps"))
