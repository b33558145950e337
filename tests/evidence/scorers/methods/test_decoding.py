"""Decoding scores on values that were worked out by hand, and beside well-known libraries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.stats
from helpers.synthetic import example, signals, tokens
from sklearn.metrics import log_loss

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.base import Scorer
from symbouq.evidence.scorers.methods.decoding import CCP, FLOOR, MCP, Perplexity, TokenEntropy
from symbouq.evidence.signals.example import Example

HALF, QUARTER = math.log(0.5), math.log(0.25)
NEVER = -math.inf


def of(scorer: Scorer, given: Example) -> list[float]:
    (values,) = scorer.score([given])
    return values.tolist()


# Perplexity ----------------------------------------------------------------------------


def test_perplexity_is_exp_of_the_mean() -> None:
    # Claim 1: (ln 2 + ln 4) / 2 = 1.5 ln 2. Claim 2 has one token. Claim 3 has none: all four
    # tokens, (ln 2 + ln 4 + ln 4 + 0) / 4 = 1.25 ln 2.
    given = example(signals([HALF, QUARTER, QUARTER, 0.0], [(0, 2), (2, 3), (0, 0)]))
    assert of(Perplexity(), given) == pytest.approx([2**1.5, 4.0, 2**1.25], rel=1e-6)


def test_perplexity_of_an_impossible_token_is_floored() -> None:
    given = example(signals([NEVER, 0.0, -1e9], [(0, 2), (1, 2), (2, 3)]))
    expected = [math.exp(-FLOOR / 2), 1.0, math.exp(-FLOOR)]
    assert of(Perplexity(), given) == pytest.approx(expected)
    assert math.isfinite(expected[2])


def test_perplexity_is_that_of_the_log_loss() -> None:
    # scikit-learn's log_loss is the mean negative log-likelihood of the true classes.
    probabilities = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.3, 0.5]])
    chosen = [0, 2, 1]
    logprobs = np.log(probabilities[range(3), chosen])
    (value,) = of(Perplexity(), example(signals(logprobs, [(0, 3)])))
    assert value == pytest.approx(math.exp(log_loss(chosen, probabilities)), rel=1e-6)


# Token Entropy -------------------------------------------------------------------------


def test_entropy_is_of_the_renormalised_four() -> None:
    top = [[0.4, 0.4, 0.0, 0.0], [0.1, 0.1, 0.1, 0.1], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    spans = [(0, 1), (0, 2), (2, 3), (3, 4), (4, 4)]
    given = example(signals([0.0] * 4, spans, top))
    log2, log4 = math.log(2), math.log(4)
    expected = [log2, (log2 + log4) / 2, 0.0, log4, (log2 + log4 + 0 + log4) / 4]
    assert of(TokenEntropy(), given) == pytest.approx(expected)


def test_entropy_is_scipys() -> None:
    # scipy.stats.entropy renormalises too.
    top = np.sort(np.random.default_rng(1).random((7, 4)) / 4, axis=1)[:, ::-1]
    given = example(signals([0.0] * 7, [(1, 6)], top))
    expected = scipy.stats.entropy(top[1:6].astype(np.float32), axis=1).mean()
    assert of(TokenEntropy(), given) == pytest.approx([expected], rel=1e-6)


# MCP -----------------------------------------------------------------------------------


def test_mcp_is_one_minus_the_mean_top_probability() -> None:
    top = [[0.5, 0.2, 0.2, 0.1], [0.9, 0.1, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]]
    # The chosen tokens' own probabilities do not matter.
    given = example(signals([NEVER, NEVER, 0.0], [(0, 2), (2, 3), (0, 0)], top))
    assert of(MCP(), given) == pytest.approx([0.3, 0.75, 1 - 1.65 / 3], rel=1e-6)


def test_each_token_has_a_value() -> None:
    top = [[0.5, 0.2, 0.2, 0.1], [0.9, 0.1, 0.0, 0.0]]
    given = example(signals([math.log(0.5), math.log(0.25)], [(0, 1), (1, 2)], top))
    assert MCP().token_values(given).tolist() == pytest.approx([0.5, 0.1], rel=1e-6)
    expected = [math.log(2), math.log(4)]
    assert Perplexity().token_values(given).tolist() == pytest.approx(expected, rel=1e-6)


# CCP -----------------------------------------------------------------------------------

ABOVE = (" above", math.log(0.5), [(" above", math.log(0.5)), (" below", math.log(0.25)),
                                    (" Above", math.log(0.125)), (",", math.log(0.125))])  # fmt: skip
"""Means the same: 0.5 + 0.125; competes: 0.25; another kind: the comma."""
COMMA = (",", HALF, [(",", HALF), (" left", HALF)])
RARE = ("7", math.log(0.1), [("8", math.log(0.6)), ("9", math.log(0.2)), ("x", math.log(0.1))])
"""Not among its own top tokens; the letter is of another kind."""
SURE = (' left"', math.log(0.9), [(' left"', math.log(0.9)), (" left", math.log(0.1))])


def ccp(given: list[Any], spans: list[tuple[int, int]]) -> list[float]:
    record = {"tokens": tokens(*given)}
    logprobs = [token[1] for token in given]
    return of(CCP(), example(signals(logprobs, spans), record=record))


def test_ccp_is_the_negative_log_of_the_product() -> None:
    above, rare = -math.log(0.625 / 0.875), -math.log(0.1 / 0.9)
    found = ccp([ABOVE, COMMA, RARE, SURE], [(0, 1), (0, 3), (1, 2), (3, 4), (0, 0)])
    assert found == pytest.approx([above, above + rare, 0.0, 0.0, above + rare])


def test_ccp_orders_as_fadeeva() -> None:
    # Their CCP of the claim is one minus the product over its words.
    product = (0.625 / 0.875) * (0.1 / 0.9)
    (value,) = ccp([ABOVE, COMMA, RARE], [(0, 3)])
    assert 1 - math.exp(-value) == pytest.approx(1 - product)


def test_ccp_is_not_perplexity() -> None:
    # Doubt about wording: the same meaning in two spellings. Doubt about the claim: two meanings.
    wording = ("left", HALF, [("left", HALF), ("Left", HALF)])
    claim = ("left", HALF, [("left", HALF), ("right", HALF)])
    assert ccp([wording, claim], [(0, 1), (1, 2)]) == pytest.approx([0.0, math.log(2)])
    given = example(signals([HALF, HALF], [(0, 1), (1, 2)]))
    assert of(Perplexity(), given) == pytest.approx([2.0, 2.0], rel=1e-6)


def test_ccp_of_impossible_tokens() -> None:
    chosen = ("left", NEVER, [("right", 0.0)])
    alternative = ("left", 0.0, [("left", 0.0), ("right", NEVER)])
    doubt, none = ccp([chosen, alternative], [(0, 1), (1, 2)])
    assert doubt == pytest.approx(-FLOOR)
    assert none == pytest.approx(0.0, abs=1e-30)


def test_ccp_without_competition_is_the_binary_log_loss() -> None:
    # With one competitor, the ratio is a softmax of two; log_loss takes its logarithm.
    p, q = 0.3, 0.5
    token = ("a", math.log(p), [("b", math.log(q)), ("a", math.log(p))])
    (value,) = ccp([token], [(0, 1)])
    assert value == pytest.approx(log_loss([1], [[q / (p + q), p / (p + q)]], labels=[0, 1]))


def test_ccp_says_which_texts_it_misses() -> None:
    given = signals([HALF], [(0, 1)])
    with pytest.raises(SymboUQError, match="trace t: CCP needs `tokens`"):
        CCP().score([example(given)])
    with pytest.raises(SymboUQError, match="CCP needs `text`, `logprob` and `top`"):
        CCP().score([example(given, record={"tokens": [{"text": "a", "logprob": HALF}]})])


# What all share ----------------------------------------------------------------------


@pytest.mark.parametrize("scorer", [Perplexity(), TokenEntropy(), MCP(), CCP()])
def test_what_cannot_be_scored(scorer: Scorer) -> None:
    with pytest.raises(SymboUQError, match=r"trace t: .* needs the probabilities of its tokens"):
        scorer.score([example(claims=2)])
    with pytest.raises(SymboUQError, match="needs the probabilities of its tokens"):
        scorer.score([example(signals([], [(0, 0)]))])
    with pytest.raises(SymboUQError, match="spans within its 1 tokens"):
        scorer.score([example(signals([0.0], [(0, 2)]))])


def test_what_is_no_number() -> None:
    nan = math.nan
    with pytest.raises(SymboUQError, match="a log-probability is not a number"):
        Perplexity().score([example(signals([nan], [(0, 1)]))])
    for scorer in (MCP(), TokenEntropy()):
        with pytest.raises(SymboUQError, match="a top probability is not in"):
            scorer.score([example(signals([0.0], [(0, 1)], [[nan, 0, 0, 0]]))])


def test_ccp_by_likelihood_sums_what_the_tokens_lack() -> None:
    # ln 2 + ln 4, then ln 4, then all three; no alternatives are asked for.
    given = example(signals([HALF, QUARTER, QUARTER], [(0, 2), (2, 3), (0, 0)]))
    values = of(CCP("likelihood"), given)
    assert values == pytest.approx([3 * math.log(2), 2 * math.log(2), 5 * math.log(2)], rel=1e-6)
