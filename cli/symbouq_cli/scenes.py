"""`symbouq scenes`: questions about scenes of the project's own."""

from __future__ import annotations

import click

from symbouq_cli.options import out_option

_FAMILIES = ("chains", "blocks", "regions", "distances", "inference")


@click.command()
@click.argument("family", type=click.Choice(_FAMILIES))
@click.option(
    "--count",
    type=click.IntRange(min=1),
    default=300,
    show_default=True,
    help="How many questions to make.",
)
@click.option("--seed", default=2026, show_default=True, help="The same seed, the same scenes.")
@click.option(
    "--hops",
    multiple=True,
    type=click.IntRange(1, 3),
    help="Facts that the answer takes; may be repeated.  [default: 1, 2 and 3 in turn]",
)
@click.option("--sound", is_flag=True, help="Add the sound reasoning, as `reasoning`.")
@out_option("-")
def scenes(
    family: str, count: int, seed: int, hops: tuple[int, ...], sound: bool, out: str
) -> None:
    """Make COUNT questions of a FAMILY, with the facts from which claims can be judged.

    Example: symbouq scenes blocks --count 100 --out blocks.jsonl
    """
    import json

    from symbouq.experiments.scenes.families import problems
    from symbouq.io.output import record_output

    with record_output(out) as stream:
        for number, problem in enumerate(problems(family, count, seed, hops or (1, 2, 3))):
            record = problem.record(f"{family}-{seed}-{number:05d}")
            if sound:
                record |= {"reasoning": problem.reasoning, "conclusion": problem.conclusion}
            stream.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
