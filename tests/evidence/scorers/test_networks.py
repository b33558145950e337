"""Each architecture is what its name says: parameter counts, what each reads, hand-made values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

import pytest
import torch
from helpers.synthetic import split
from torch import Tensor, nn

from symbouq.evidence.scorers.batches import Batch, collate
from symbouq.evidence.scorers.learned import Learned
from symbouq.evidence.scorers.methods.neural import MLP
from symbouq.evidence.scorers.networks import ClaimTransformer, Layer, Network, Standardise
from symbouq.evidence.scorers.registry import SCORERS
from symbouq.records.features import CLAIM_FEATURES

NETWORKS = {name: kind().build for name, kind in SCORERS.items() if issubclass(kind, Learned)}
WIDTH = 16
TOKENS = 6 + 4 + 2
"""Features of a token of `synthetic.split`: hidden, top, lookback."""

MARKED = {"UHead", "Neural-Seq", "Constraint"}
ORDERED = {"Neural-Seq", "Constraint"}
AUDITED = {"Constraint-Only", "Constraint"}
CONTRASTED = {"Factoscope"}
PROBES = set(NETWORKS) - {"Constraint-Only"}


def network(name: str, seed: int = 0) -> Network:
    torch.manual_seed(seed)
    return NETWORKS[name](TOKENS, WIDTH).eval()


def batch(count: int = 6, seed: int = 0) -> Batch:
    return collate([item.example for item in split(count, seed)])


def logits(of: Network, given: Batch) -> Tensor:
    with torch.no_grad():
        return of(given)[given.claims]


def same(first: Tensor, second: Tensor) -> bool:
    return torch.allclose(first, second, atol=1e-5)


# Sizes ---------------------------------------------------------------------------------

TABLE = {
    "Constraint-Only": 0.01,
    "MLP": 1.16,
    "UHead": 3.95,
    "Factoscope": 4.08,
    "Neural-Seq": 6.55,
    "Constraint": 6.97,
}
"""Millions of parameters of Table efficiency."""


@pytest.mark.parametrize("name", NETWORKS)
def test_parameters_are_the_papers_within_ten_percent(name: str) -> None:
    # Hidden states 4,096 wide, four top probabilities, lookback ratios of 32 layers.
    with torch.device("meta"):
        made = NETWORKS[name](4096 + 4 + 32, 256)
    assert made.parameter_count / 1e6 == pytest.approx(TABLE[name], rel=0.1)


@pytest.mark.parametrize("name", sorted(AUDITED))
def test_features_of_two_contexts_stand_side_by_side(name: str) -> None:
    items = [item.example for item in split(4, 1)]
    both = [
        replace(
            example,
            audit={
                "features": {
                    "claims": [[*row, *row] for row in (example.audit or {})["features"]["claims"]],
                    "trace": 2 * (example.audit or {})["features"]["trace"],
                }
            },
        )
        for example in items
    ]
    given = collate(both)
    assert given.claim_features.shape[-1] == 2 * 23
    assert given.trace_features.shape[-1] == 2 * 16
    torch.manual_seed(0)
    made = NETWORKS[name](TOKENS, WIDTH, 2).eval()
    other = Batch(*(getattr(given, field.name).clone() for field in fields(Batch)))
    other.claim_features[..., 23:] += 1
    assert not same(logits(made, given), logits(made, other))


def test_parameters_by_hand() -> None:
    # Two hidden layers over the tokens' features, one over the 39 auditor features.
    assert network("MLP").parameter_count == (12 * 16 + 16) + (16 * 16 + 16) + (16 + 1)
    assert network("Constraint-Only").parameter_count == (39 * 16 + 16) + (16 + 1)


# What each reads: taking it away changes those that need it, and no others ---------------


def changes(change: Callable[[Network, Batch], Batch]) -> set[str]:
    """The networks whose logits change."""
    found = set()
    for name in NETWORKS:
        made, given = network(name), batch()
        before = logits(made, given)
        with torch.no_grad():
            after = logits(made, change(made, given))
        if not same(before, after):
            found.add(name)
    return found


def test_the_span_marker() -> None:
    def unmarked(made: Network, given: Batch) -> Batch:
        for module in made.modules():
            if isinstance(module, ClaimTransformer):
                module.marker.zero_()
        return given

    assert changes(unmarked) == MARKED


def test_without_its_marker_a_claim_is_like_any_other() -> None:
    made, given = network("UHead"), batch()
    row = logits(made, given)[: int(given.claims[0].sum())]
    assert len(row) > 1
    assert not same(row, row[:1].expand_as(row))
    with torch.no_grad():
        made.claims.marker.zero_()
    row = logits(made, given)[: len(row)]
    assert same(row, row[:1].expand_as(row))


def test_the_order_of_claims() -> None:
    def backwards(given: Batch, values: Tensor) -> Tensor:
        """Claims of each trace in reverse, its padding where it was."""
        out = values.clone()
        for n, count in enumerate(given.claims.sum(1).tolist()):
            out[n, :count] = values[n, :count].flip(0)
        return out

    found = set()
    for name in NETWORKS:
        made, given = network(name), batch()
        turned = replace(
            given,
            spans=backwards(given, given.spans),
            claim_features=backwards(given, given.claim_features),
        )
        with torch.no_grad():
            before, after = made(given), backwards(given, made(turned))
        if not same(before[given.claims], after[given.claims]):
            found.add(name)
    assert found == ORDERED


def test_the_auditor_input() -> None:
    def blank(_: Network, given: Batch) -> Batch:
        return replace(
            given,
            claim_features=torch.zeros_like(given.claim_features),
            trace_features=torch.zeros_like(given.trace_features),
        )

    def traceless(_: Network, given: Batch) -> Batch:
        return replace(given, trace_features=torch.zeros_like(given.trace_features))

    assert changes(blank) == AUDITED
    assert changes(traceless) == AUDITED


def test_the_contrast() -> None:
    def local_only(made: Network, given: Batch) -> Batch:
        if hasattr(made, "contrast"):
            made.contrast.weight.zero_()
        return given

    assert changes(local_only) == CONTRASTED


def test_the_contrast_is_with_the_rest_of_the_trace() -> None:
    # The means alone, without a Transformer in between: tokens outside the claim count through
    # the contrast only.
    torch.manual_seed(0)
    made, given = NETWORKS["Factoscope"](TOKENS, TOKENS).eval(), batch(1, seed=3)
    made.trace.forward = lambda batch: batch.tokens
    first = given.spans[0, 0]
    elsewhere = replace(given, tokens=torch.where(first[None, :, None], given.tokens, 1.0))
    with torch.no_grad():
        assert not same(made(given)[0, 0], made(elsewhere)[0, 0])
        made.contrast.weight.zero_()
        assert same(made(given)[0, 0], made(elsewhere)[0, 0])


def test_the_tokens() -> None:
    def blank(_: Network, given: Batch) -> Batch:
        return replace(given, tokens=torch.zeros_like(given.tokens))

    assert changes(blank) == PROBES


def test_an_mlp_reads_the_claims_own_tokens_alone() -> None:
    def elsewhere(_: Network, given: Batch) -> Batch:
        claimed = given.spans.any(1).unsqueeze(-1)
        return replace(given, tokens=torch.where(claimed, given.tokens, 7.0))

    assert changes(elsewhere) == PROBES - {"MLP"}


def test_the_residual_is_direct() -> None:
    names = list(CLAIM_FEATURES)
    entailed, contradicted = names.index("entailed"), names.index("contradicted")
    made, given = network("Constraint"), batch()
    # What the features say through the encoders is held fixed.
    with torch.no_grad():
        for parameter in made.claim_features.parameters():
            parameter.zero_()
    before = logits(made, given)
    features = given.claim_features.clone()
    features[..., entailed] += 1
    assert same(logits(made, replace(given, claim_features=features)), before + 1)
    features[..., contradicted] += 3
    assert same(logits(made, replace(given, claim_features=features)), before - 2)
    with torch.no_grad():
        made.residual.zero_()
    assert same(logits(made, replace(given, claim_features=features)), logits(made, given))


# Parts on hand-made values -------------------------------------------------------------


def test_padding_does_not_matter() -> None:
    examples = [item.example for item in split(7, seed=5)]
    for name in NETWORKS:
        made = network(name)
        together = logits(made, collate(examples))
        alone = torch.cat([logits(made, collate([example])) for example in examples])
        assert same(together, alone), name


def test_a_claim_without_tokens_is_the_whole_trace() -> None:
    example = split(1, seed=2)[0].example
    assert example.signals is not None
    length = len(example.signals.logprobs)
    found = []
    for last in ((0, 0), (0, length)):
        spans = [*example.signals.spans[:-1], last]
        given = replace(example, signals=replace(example.signals, spans=spans))
        found.append(collate([given]))
    assert torch.equal(found[0].spans, found[1].spans)
    assert found[0].spans[0, len(example.claims) - 1].all()


def test_an_mlp_by_hand() -> None:
    made = MLP().build(2, 4).eval()
    identity = torch.tensor([[1.0, 0], [0, 1], [0, 0], [0, 0]])
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.zero_()
        made.layers[0].weight.copy_(identity)
        made.layers[3].weight.copy_(torch.eye(4))
        made.layers[6].weight.copy_(torch.tensor([[1.0, -2.0, 0, 0]]))
    tokens = torch.tensor([[[1.0, 5.0], [3.0, 1.0], [100.0, 100.0]]])
    given = Batch(
        tokens=tokens,
        present=torch.ones(1, 3, dtype=torch.bool),
        spans=torch.tensor([[[True, True, False]]]),
        claims=torch.ones(1, 1, dtype=torch.bool),
        claim_features=torch.zeros(1, 1, 23),
        trace_features=torch.zeros(1, 16),
    )
    # The mean of the claim's tokens is (2, 3).
    gelu = nn.functional.gelu
    expected = gelu(gelu(torch.tensor(2.0))) - 2 * gelu(gelu(torch.tensor(3.0)))
    assert made(given).item() == pytest.approx(expected.item())


def test_standardising() -> None:
    one = batch(3, seed=1)
    two = batch(2, seed=2)
    made = Standardise(TOKENS, lambda given: given.tokens[given.present])
    made.fit([one, two])
    rows = torch.cat([given.tokens[given.present] for given in (one, two)])
    assert torch.allclose(made.mean, rows.mean(0), atol=1e-6)
    assert torch.allclose(made.deviation, rows.std(0, unbiased=False), atol=1e-5)
    constant = Standardise(23, lambda given: torch.full((5, 23), 0.1))
    constant.fit([one])
    assert torch.equal(constant.deviation, torch.ones(23))
    assert torch.allclose(constant(torch.full((1, 23), 0.3)), torch.tensor(0.2))


def test_a_layer_is_pytorchs() -> None:
    # The same computation as torch.nn.TransformerEncoderLayer with the same weights.
    torch.manual_seed(0)
    made = Layer(WIDTH).eval()
    theirs = nn.TransformerEncoderLayer(
        WIDTH, 4, 8 * WIDTH, 0.1, "gelu", batch_first=True, norm_first=True
    ).eval()
    with torch.no_grad():
        attention = theirs.self_attn
        attention.in_proj_weight.copy_(torch.cat((made.query.weight, made.key_value.weight)))
        attention.in_proj_bias.copy_(torch.cat((made.query.bias, made.key_value.bias)))
        attention.out_proj.load_state_dict(made.attended.state_dict())
        theirs.linear1.load_state_dict(made.feed[0].state_dict())
        theirs.linear2.load_state_dict(made.feed[3].state_dict())
        tokens = torch.randn(3, 5, WIDTH)
        present = torch.tensor([[True] * 5, [True] * 3 + [False] * 2, [True] * 4 + [False]])
        expected = theirs(tokens, src_key_padding_mask=~present)
        found = made(tokens, present)
        assert torch.allclose(found[present], expected[present], atol=1e-5)
        assert torch.allclose(made(tokens, present, first=True), found[:, :1], atol=1e-6)
