"""Scores from the audit (appendix Symbolic Baselines): a rule, a network over the audit's features,
and a network that combines these features with token features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symbouq.evidence.scorers.base import Scorer
from symbouq.evidence.scorers.learned import PROBE, Learned
from symbouq.evidence.signals.example import Example
from symbouq.records.features import CLAIM_FEATURES, TRACE_FEATURES

if TYPE_CHECKING:
    from torch import Tensor

    from symbouq.evidence.scorers.batches import Batch
    from symbouq.evidence.scorers.networks import Network

_ENTAILED = list(CLAIM_FEATURES).index("entailed")
_CONTRADICTED = list(CLAIM_FEATURES).index("contradicted")


class ConstraintRule(Scorer):
    """The audit's `constraint_rule` (`symbouq.auditing.score`), in [0, 1]. It is the same for every
    claim of a trace.
    """

    name = "Constraint-Rule"
    family = "symbolic"
    needs = frozenset({"audit"})
    orientation = "correctness"

    @classmethod
    def lacks(cls, example: Example) -> str:
        """Describe what the trace lacks: an answer, if its output was cut off."""
        cut = example.audit is not None and example.audit["constraint_rule"] is None
        return "an answer, and its output was cut off" if cut else ""

    def values(self, example: Example) -> float:
        """Return the audit's Constraint-Rule score."""
        assert example.audit is not None  # guaranteed by `needs`
        return float(example.audit["constraint_rule"])


class ConstraintOnly(Learned):
    """A network with one hidden layer over the auditor's 23 features per claim and 16 per trace."""

    name = "Constraint-Only"
    family = "symbolic"
    needs = frozenset({"audit"})

    def build(self, tokens: int, hidden: int, contexts: int = 1) -> Network:
        """Build the network: `standardise` and `head`."""
        from symbouq.evidence.scorers import networks as nets

        def features(batch: Batch) -> Tensor:
            """Join the auditor's features of each claim with those of its trace, `[B, K, 39 C]`."""
            return nets.beside(batch.claim_features, batch.trace_features)

        width = contexts * (len(CLAIM_FEATURES) + len(TRACE_FEATURES))
        return nets.Network(
            lambda net, batch: net.head(net.standardise(features(batch))),
            standardise=nets.Standardise(width, lambda batch: features(batch)[batch.claims]),
            head=nets.head(width, hidden),
        )


class Constraint(Learned):
    """Neural-Seq with encoded auditor features of claims and trace, and a residual. The residual
    adds a weighted sum of the features `entailed` and `contradicted` to the logit. Its learned
    weights are initialised to 1 and -1.
    """

    name = "Constraint"
    family = "symbolic"
    needs = PROBE | {"audit"}

    def build(self, tokens: int, hidden: int, contexts: int = 1) -> Network:
        """Build the network: `claims`, encoders, `joined`, `order`, `head` and `residual`."""
        import torch
        from torch import nn

        from symbouq.evidence.scorers import networks as nets

        def logits(net: Any, batch: Batch) -> Tensor:
            local = torch.cat((net.claims(batch), net.claim_features(batch.claim_features)), -1)
            joined = net.joined(nets.beside(local, net.trace_features(batch.trace_features)))
            verdicts = batch.claim_features[..., [_ENTAILED, _CONTRADICTED]]
            direct = (verdicts @ net.residual).unsqueeze(-1)
            result: Tensor = net.head(net.order(joined, batch.claims)) + direct
            return result

        claim_width, trace_width = contexts * len(CLAIM_FEATURES), contexts * len(TRACE_FEATURES)
        return nets.Network(
            logits,
            claims=nets.ClaimTransformer(tokens, hidden),
            claim_features=nets.encoder(claim_width, hidden, lambda b: b.claim_features[b.claims]),
            trace_features=nets.encoder(trace_width, hidden, lambda b: b.trace_features),
            joined=nn.Linear(3 * hidden, hidden),
            order=nets.ClaimOrder(hidden),
            head=nets.head(2 * hidden, hidden),
            residual=nn.Parameter(torch.tensor([1.0, -1.0])),
        )
