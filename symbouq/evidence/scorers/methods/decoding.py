"""Scores from decoding probabilities (appendix Training-Free Baselines). All of them are
uncertainties.

They use the tokens aligned with a claim, or all tokens of the trace if no token is aligned with the
claim. The definitions follow the paper. Each docstring explains how scores of the same name in
other libraries differ.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.base import Scorer
from symbouq.evidence.scorers.settings import ClaimProbability, Resources, Settings
from symbouq.evidence.signals.example import Example, Signals
from symbouq.metrics import Values

FLOOR = float(np.log(np.finfo(np.float32).tiny))
"""The lowest log-probability used: the logarithm of the smallest normal float32 (-87.3). Lower
values, including minus infinity, result from underflow or a mask, and are replaced by this
value."""


class _TokenStatistic(Scorer):
    """A score with one number per token, reduced over the tokens of each claim."""

    family = "decoding"
    needs = frozenset({"tokens"})

    def values(self, example: Example) -> Values:
        """Combine the values of the tokens into one value per claim.

        Raises:
            SymboUQError: If a probability is not a number.
        """
        assert example.signals is not None  # guaranteed by `needs`
        values = self.token_values(example)
        spans = example.signals.spans
        parts = (values[start:stop] if stop > start else values for start, stop in spans)
        return np.array([self._reduced(part) for part in parts], np.float64)

    def token_values(self, example: Example) -> Values:
        """Compute the value of each token.

        Raises:
            SymboUQError: If a probability is not a number.
        """
        assert example.signals is not None  # guaranteed by `needs`
        return self._of_tokens(example, example.signals)

    def _of_tokens(self, example: Example, signals: Signals) -> Values:
        raise NotImplementedError

    def _reduced(self, values: Values) -> float:
        return float(values.mean())


def _log_probabilities(example: Example, values: Any) -> Values:
    logprobs = np.asarray(values, np.float64)
    if np.isnan(logprobs).any():
        raise SymboUQError(f"trace {example.id}: a log-probability is not a number")
    return np.maximum(logprobs, FLOOR)


class Perplexity(_TokenStatistic):
    """exp of the mean negative log-likelihood of a claim's n tokens, `exp(-(1/n) * sum(log p(x_t |
    x_<t)))`.

    In lm-polygraph, the score of this name is the mean negative log-likelihood without exp. Values
    lie in [1, e^87.3]; see `FLOOR` for how probability zero is treated.
    """

    name = "Perplexity"

    def _of_tokens(self, example: Example, signals: Signals) -> Values:
        return -_log_probabilities(example, signals.logprobs)

    def _reduced(self, values: Values) -> float:
        return float(np.exp(values.mean()))


def _top(example: Example, signals: Signals) -> Values:
    top = np.asarray(signals.top, np.float64)
    if not np.isfinite(top).all() or (top < 0).any():
        raise SymboUQError(f"trace {example.id}: a top probability is not in [0, 1]")
    return top


class TokenEntropy(_TokenStatistic):
    """Mean over a claim's tokens of the entropy of the four top probabilities, in nats: `H_t =
    -sum(q_i * log q_i)` with `q_i = p_i / (p_1 + ... + p_4)`.

    Without renormalisation, a flat distribution with little mass in the top four would look
    certain. With it, values lie in [0, log 4]. In lm-polygraph, the entropy covers the whole
    vocabulary. If all four probabilities are 0, the value is log 4.
    """

    name = "Token Entropy"

    def _of_tokens(self, example: Example, signals: Signals) -> Values:
        top = _top(example, signals)
        mass = top.sum(axis=1, keepdims=True)
        shares = np.divide(top, mass, out=np.full_like(top, 1 / top.shape[1]), where=mass > 0)
        logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
        return np.asarray(-(shares * logs).sum(axis=1), np.float64)


class MCP(_TokenStatistic):
    """One minus the largest token probability, averaged over a claim's tokens.

    The largest probability belongs to the most likely token, even if another token was generated.
    Scores with similar names in other libraries sum or multiply the probabilities of the generated
    tokens.
    """

    name = "MCP"

    def _of_tokens(self, example: Example, signals: Signals) -> Values:
        return np.asarray(1 - _top(example, signals)[:, 0], np.float64)


class CCP(_TokenStatistic):
    """Claim Conditioned Probability as the negative logarithm of a claim's probability,

    `CCP(c) = -sum over the tokens t of c of log(S_t / (S_t + D_t))`.

    `S_t` is the probability of the generated token and of alternatives with the same meaning. `D_t`
    is the probability of competing alternatives, which differ in meaning but are of the same kind.
    Alternatives of another kind would change the topic, not the claim, and are ignored. So the
    value measures only doubt about the claim, whereas Perplexity also measures doubt about the
    wording. The tokens are summed, because a claim is right only if all of its tokens are.

    Fadeeva et al. (2024) replace a word by each of its alternatives x^k. An NLI model decides
    whether the result entails (e), contradicts (c) or is neutral to the claim. They define
    `CCP_word = sum(P(x^k): e) / sum(P(x^k): e or c)` and `CCP_claim = 1 - product(CCP_word)`. The
    value here is `-log(1 - CCP_claim)`, which ranks claims in the same order. There are two
    approximations: only the top four tokens are used as alternatives, and spelling rules replace
    the NLI model. Two tokens have the same meaning if their texts are equal apart from case, spaces
    and surrounding punctuation. They are of the same kind if both have letters, or if both have
    digits but no letters. A token without letters and digits claims nothing and contributes 0.

    Texts and log-probabilities come from the record's `tokens`. If the generated token is not among
    the top four, it is added to them.

    The paper (appendix Baselines) uses "a claim-aligned negative-log-probability reduction inspired
    by" this score. This reduction is available as the form `likelihood`, `-sum(log p(x_t))`, which
    needs no alternatives.
    """

    name = "CCP"
    options = ("ccp",)

    def __init__(self, form: ClaimProbability = "alternatives") -> None:
        self.form = form

    @classmethod
    def make(cls, seed: int, settings: Settings | None, resources: Resources) -> Self:
        """Create a scorer with the form specified in the resources."""
        return cls(resources.ccp)

    def _of_tokens(self, example: Example, signals: Signals) -> Values:
        if self.form == "likelihood":
            return -_log_probabilities(example, signals.logprobs)
        tokens = example.record.get("tokens")
        if not isinstance(tokens, list) or len(tokens) != len(signals.logprobs):
            raise SymboUQError(
                f"trace {example.id}: CCP needs `tokens`, the texts of its "
                f"{len(signals.logprobs)} tokens with their top alternatives"
            )
        return np.array([_doubt(example, token) for token in tokens], np.float64)

    def _reduced(self, values: Values) -> float:
        return float(values.sum())


def _doubt(example: Example, token: dict[str, Any]) -> float:
    try:
        text, logprob = token["text"], token["logprob"]
        others = [(other["text"], other["logprob"]) for other in token["top"]]
    except (KeyError, TypeError) as error:
        raise SymboUQError(
            f"trace {example.id}: CCP needs `text`, `logprob` and `top` of each token"
        ) from error
    meaning = _meaning(text)
    kind = _kind(meaning)
    if kind is None:
        return 0.0
    own = next((n for n, (other, _) in enumerate(others) if other == text), None)
    if own is not None:
        del others[own]
    logprobs = _log_probabilities(example, [logprob, *(value for _, value in others)])
    probabilities = np.exp(logprobs)
    same = competing = 0.0
    for other, probability in zip([text, *(t for t, _ in others)], probabilities, strict=True):
        if _meaning(other) == meaning:
            same += probability
        elif _kind(_meaning(other)) == kind:
            competing += probability
    return float(np.log1p(competing / same))


def _meaning(text: str) -> str:
    letters = [n for n, character in enumerate(text) if character.isalnum()]
    return text[letters[0] : letters[-1] + 1].casefold() if letters else ""


def _kind(meaning: str) -> str | None:
    if not meaning:
        return None
    return "word" if any(character.isalpha() for character in meaning) else "number"
