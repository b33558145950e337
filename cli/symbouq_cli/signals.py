"""`symbouq signals`: probabilities, hidden states and attention of a model.

Exit codes: 0 everything was read, 1 some traces failed, 2 nothing could be written.
"""

from __future__ import annotations

from typing import Any

import click

from symbouq_cli.generate import NETWORK
from symbouq_cli.labels import AUDITS, TRACES
from symbouq_cli.options import count_option, finish, option
from symbouq_cli.terminal import tell, tell_faults


@click.command()
@TRACES
@option(
    "--model",
    metavar="DIR",
    required=True,
    help="Model that wrote the traces: a folder or Hugging Face id.",
)
@option(
    "--out",
    "folder",
    metavar="FOLDER",
    required=True,
    type=click.Path(file_okay=False),
    help="Folder of the cache. A stopped run resumes from it.",
)
@AUDITS
@option(
    "--lookback",
    type=click.Choice(["heads", "pooled"]),
    default="heads",
    help="Keep the lookback ratio of every head, or the mean per layer.",
)
@count_option(
    "--batch-tokens",
    "tokens",
    default=4096,
    help="Tokens per batch; memory grows with it.",
)
@count_option(
    "--shard", default=128, help="Traces per shard. A stopped run repeats at most one shard."
)
@NETWORK
def signals(traces: str, model: str, folder: str, audits: str | None, **options: Any) -> None:
    """Cache the signals of generated TRACES for the scorers.

    For each generated token, one pass through the model gives its log-probability, the four
    largest probabilities, the final hidden state and the lookback ratios. Claims are aligned with
    their tokens.

    Example: symbouq signals traces.jsonl --model backbone --out signals
    """
    import time

    from symbouq.evidence.signals.extract import Extraction, Extractor
    from symbouq_cli.run import progress

    start = time.monotonic()
    with progress() as advance:
        done = Extractor(model, Extraction(**options)).write(traces, folder, audits, advance)
    tell_faults(done.failed)
    tell(
        f"{done.traces} traces, {done.tokens} tokens in {time.monotonic() - start:.1f} s"
        + (f"; {done.kept} shards already existed" if done.kept else "")
    )
    finish(bool(done.failed))
