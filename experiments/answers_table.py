"""What the scene alone answers: the results table of the five benchmarks.

    python experiments/answers_table.py --data FOLDER [--files validation|test|all]
                                        [--misses FILE]

One row per file and question type: the shares answered right, answered wrong and
abstained from, beside three trivial baselines: always no, always the commonest label of
the row, always unknown. No model is asked; the scene is read and solved. An answer is right
where its set of labels is the gold set. `--misses` writes the id of every question that is
not answered right, with the gold and the given answer.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter, defaultdict
from pathlib import Path

from common import gold, rows

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
    """Counts of one row of the table."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.golds: Counter[frozenset[str]] = Counter()

    def share(self, outcome: str) -> str:
        """The share of an outcome."""
        return f"{self.outcomes[outcome] / self.outcomes.total():.1%}"

    def baselines(self) -> list[str]:
        """The shares right by always no, the commonest label, always unknown."""
        total = self.golds.total()
        no = self.golds[frozenset(["No"])] + self.golds[frozenset(["contradiction"])]
        unknown = self.golds[frozenset(["DK"])] + self.golds[frozenset(["neutral"])]
        commonest = self.golds.most_common(1)[0][1]
        return [f"{count / total:.1%}" if count else "-" for count in (no, commonest, unknown)]


def outcome(given: list[str], wanted: frozenset[str], status: str) -> str:
    """`right`, `wrong` or `abstained`."""
    if status == "answered":
        return "right" if frozenset(given) == wanted else "wrong"
    return "abstained"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("SYMBOUQ_DATA"), help="folder of data")
    parser.add_argument("--files", choices=("validation", "test", "all"), default="test")
    parser.add_argument("--only", default="", help="files whose name holds this")
    parser.add_argument("--misses", type=Path, help="where to write what is not right")
    options = parser.parse_args()
    if not options.data:
        parser.error("--data is needed where SYMBOUQ_DATA is not set")
    names = [n for kind, ns in FILES.items() if options.files in (kind, "all") for n in ns]
    auditor = TraceAuditor()
    misses: list[str] = []
    print("| file | type | n | right | wrong | abstained | no | commonest | unknown |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in names:
        if options.only not in name:
            continue
        tallies: defaultdict[str, Tally] = defaultdict(Tally)
        for row in rows(Path(options.data) / f"{name}.jsonl.gz"):
            wanted = gold(row)
            tally = tallies[row["meta"].get("qtype", "") if "meta" in row else ""]
            try:
                found = answer(auditor, Instance.model_validate(row))
                given, status = found.answer, found.status
            except RecordError as error:
                given, status = [str(error)], "error"
            result = outcome(given, wanted, status)
            tally.outcomes[result] += 1
            tally.golds[wanted] += 1
            if result != "right":
                miss = {"id": row["id"], "gold": sorted(wanted), "given": given, "status": status}
                misses.append(json.dumps(miss))
        for kind, tally in sorted(tallies.items()):
            shares = [tally.share(o) for o in ("right", "wrong", "abstained")]
            cells = [name, kind, str(tally.outcomes.total()), *shares, *tally.baselines()]
            print(f"| {' | '.join(cells)} |", flush=True)
    if options.misses is not None:
        options.misses.write_text("\n".join(misses) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
