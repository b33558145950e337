"""How well questions are answered from the scene alone: the results table for the five benchmarks.

    python experiments/answers_table.py --data FOLDER [--files validation|test|all]
                                        [--misses FILE]

There is one row per file and question type. It shows the shares of questions that are answered
right, answered wrong, and not answered. Three trivial baselines are shown for comparison: always
no, always the row's most common label, and always unknown. No language model is used: the scene is
parsed and solved. An answer is right if its set of labels equals the gold set. `--misses` writes
the id of every question that is not answered right, with the gold answer and the given answer.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from common import data_option, gold, rows, share, table

from symbouq.auditing.answers import answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import RecordError
from symbouq.records import Instance

FILES = {
    "validation": (
        "stepgame/validation",
        "spartun/spartun_validation",
        "spartqa/spartqa_auto_validation",
        "sparp/sparp_ps1_style_validation",
        "sparp/sparp_ps1_published_validation",
        "spacenli/spacenli_validation",
    ),
    "test": (
        "stepgame/test",
        "spartun/spartun_test",
        "spartun/spartun_published_100",
        "spartqa/spartqa_auto_test",
        "spartqa/spartqa_human",
        "sparp/sparp_ps1_style_test",
        "sparp/sparp_ps1_published_test",
        "spacenli/spacenli_test",
        "resq/resq",
        "babi/babi17_test",
        "consistency2d/consistency2d",
    ),
}


class Tally:
    """The counts behind one row of the table."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.golds: Counter[frozenset[str]] = Counter()

    def add(self, auditor: TraceAuditor, row: dict[str, Any]) -> Iterator[str]:
        """Answer a question. If the answer is not right, yield a line that describes it."""
        wanted = gold(row)
        try:
            found = answer(auditor, Instance.model_validate(row))
            given, status = found.answer, found.status
        except RecordError as error:
            given, status = [str(error)], "error"
        result = "abstained"
        if status == "answered":
            result = "right" if frozenset(given) == wanted else "wrong"
        self.outcomes[result] += 1
        self.golds[wanted] += 1
        if result != "right":
            miss = {"id": row["id"], "gold": sorted(wanted), "given": given, "status": status}
            yield json.dumps(miss)

    def cells(self) -> list[str]:
        """Return the number of questions, the share of each outcome, and the share of right answers
        for each baseline: always no, the most common label, always unknown.
        """
        total, golds = self.golds.total(), self.golds
        no = golds[frozenset(["No"])] + golds[frozenset(["contradiction"])]
        unknown = golds[frozenset(["DK"])] + golds[frozenset(["neutral"])]
        outcomes = [self.outcomes[each] for each in ("right", "wrong", "abstained")]
        baselines = [no, golds.most_common(1)[0][1], unknown]
        return [
            str(total),
            *(share(count, total) for count in outcomes),
            *(share(count, total) if count else "-" for count in baselines),
        ]


@click.command()
@data_option
@click.option("--files", type=click.Choice((*FILES, "all")), default="test")
@click.option("--only", default="", help="Files whose name holds this.")
@click.option("--misses", type=click.Path(path_type=Path), help="Where to write what is not right.")
def main(data: Path, files: str, only: str, misses: Path | None) -> None:
    """Print the table."""
    auditor = TraceAuditor()
    missed: list[str] = []

    def body() -> Iterator[list[str]]:
        for name in (n for kind, names in FILES.items() if files in (kind, "all") for n in names):
            tallies: defaultdict[str, Tally] = defaultdict(Tally)
            for row in rows(data / f"{name}.jsonl.gz") if only in name else ():
                missed.extend(tallies[row.get("meta", {}).get("qtype", "")].add(auditor, row))
            for kind, tally in sorted(tallies.items()):
                yield [name, kind, *tally.cells()]

    table("file | type | n | right | wrong | abstained | no | commonest | unknown", body(), left=2)
    if misses is not None:
        misses.write_text("\n".join(missed) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
