"""Networks over the backbone's signals (appendix Neural Baselines).

A token's features are its hidden state, its four top probabilities and its lookback ratios.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symbouq.evidence.scorers.learned import PROBE, Learned

if TYPE_CHECKING:
    from torch import Tensor

    from symbouq.evidence.scorers.batches import Batch
    from symbouq.evidence.scorers.networks import Network


class _Probe(Learned):
    family = "neural"
    needs = PROBE


class Factoscope(_Probe):
    """Compares the mean over a claim's tokens (local) with the mean over the whole trace (global).

    A Transformer without a span marker reads the trace. One hidden layer receives the local mean.
    Another receives the contrast: global mean, difference and product.
    """

    name = "Factoscope"

    def build(self, tokens: int, hidden: int, contexts: int = 1) -> Network:
        """Build the network: `trace`, `local`, `contrast` and `head`."""
        import torch
        from torch import nn

        from symbouq.evidence.scorers import networks as nets

        def logits(net: Any, batch: Batch) -> Tensor:
            tokens = net.trace(batch)
            local = nets.mean(tokens, batch.spans)
            whole = nets.mean(tokens, batch.present.unsqueeze(1)).expand_as(local)
            contrast = torch.cat((whole, local - whole, local * whole), -1)
            result: Tensor = net.head(net.local(local) + net.contrast(contrast))
            return result

        return nets.Network(
            logits,
            trace=nets.TraceTransformer(tokens, hidden),
            local=nn.Linear(hidden, hidden),
            contrast=nn.Linear(3 * hidden, hidden, bias=False),
            head=nn.Sequential(nn.GELU(), nn.Dropout(nets.DROPOUT), *nets.head(hidden, hidden)),
        )


class UHead(_Probe):
    """A claim Transformer with a span marker, followed by a head."""

    name = "UHead"

    def build(self, tokens: int, hidden: int, contexts: int = 1) -> Network:
        """Build the network: `claims` and `head`."""
        from symbouq.evidence.scorers import networks as nets

        return nets.Network(
            lambda net, batch: net.head(net.claims(batch)),
            claims=nets.ClaimTransformer(tokens, hidden),
            head=nets.head(hidden, hidden),
        )


class NeuralSeq(_Probe):
    """Claims with span markers pass through a Transformer and then, in the order of generation,
    through a bidirectional LSTM. The network uses nothing from the auditor.
    """

    name = "Neural-Seq"

    def build(self, tokens: int, hidden: int, contexts: int = 1) -> Network:
        """Build the network: `claims`, `order` and `head`."""
        from symbouq.evidence.scorers import networks as nets

        return nets.Network(
            lambda net, batch: net.head(net.order(net.claims(batch), batch.claims)),
            claims=nets.ClaimTransformer(tokens, hidden),
            order=nets.ClaimOrder(hidden),
            head=nets.head(2 * hidden, hidden),
        )


class MLP(_Probe):
    """The mean of a claim's tokens, followed by a perceptron with two hidden layers."""

    name = "MLP"

    def build(self, tokens: int, hidden: int, contexts: int = 1) -> Network:
        """Build the network: `standardise` and `layers`."""
        from torch import nn

        from symbouq.evidence.scorers import networks as nets

        return nets.Network(
            lambda net, batch: net.layers(net.standardise(nets.mean(batch.tokens, batch.spans))),
            standardise=nets.Standardise(tokens, nets.token_rows),
            layers=nn.Sequential(
                nn.Linear(tokens, hidden),
                nn.GELU(),
                nn.Dropout(nets.DROPOUT),
                *nets.head(hidden, hidden),
            ),
        )
