"""Measures how fast the report's page is, and how much it costs to make.

    python experiments/benchmarks/report_page.py [--traces N]

The example traces are repeated to make N traces (default: 2,000). A Markdown table shows the time
and peak memory of the audit with and without `--report`, and the size of the page. It also shows,
in headless Chromium (packages chromium and chromium-driver, selenium), how long the page takes to
become usable, how long opening a trace and a first search take, and the script's heap.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click

EXAMPLES = Path(__file__).parents[2] / "examples" / "traces.jsonl"
ROUNDS = 5


def written(folder: Path, count: int) -> Path:
    """Write a file with `count` traces."""
    records = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]
    path = folder / "traces.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for n in range(count):
            record = records[n % len(records)]
            record = {**record, "id": f"{record['id']}-{n}", "correct": n % 3 > 0}
            stream.write(json.dumps(record) + "\n")
    return path


def audited(traces: Path, *options: str) -> tuple[float, float]:
    """Measure the seconds and MiB that a process takes to audit."""
    code = (
        "import resource, sys; from symbouq_cli.main import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    command = ["audit", str(traces), "--jobs", "1", "--out", str(traces.parent / "out.jsonl")]
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *command, *options], capture_output=True, text=True, check=True
    )
    return time.perf_counter() - start, float(done.stdout.split()[-1])


def browsed(page: Path) -> dict[str, float]:
    """Measure the median times in the browser in ms, and its heap in MiB."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu"):
        options.add_argument(f"--{argument}")
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver: Any = webdriver.Chrome(options=options, service=service)
    timed = "const start = performance.now(); {}; return performance.now() - start"
    found: dict[str, list[float]] = {"interactive": [], "a trace": [], "first search": []}
    try:
        for _ in range(ROUNDS):
            driver.get(page.as_uri())
            ready = driver.execute_script("return document.documentElement.dataset.ready")
            found["interactive"].append(float(ready))
            click = "document.querySelectorAll('.traces > li')[30].click()"
            found["a trace"].append(driver.execute_script(timed.format(click)))
            found["first search"].append(driver.execute_script(timed.format("searchable()")))
        driver.get(page.as_uri())
        heap = driver.execute_script("return performance.memory.usedJSHeapSize") / 2**20
    finally:
        driver.quit()
    return {**{name: statistics.median(times) for name, times in found.items()}, "heap": heap}


@click.command()
@click.option("--traces", "count", default=2000)
def main(count: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        traces, page = written(folder, count), folder / "report.html"
        plain = audited(traces)
        told = audited(traces, "--report", str(page))
        rows = [
            ("audit alone", f"{plain[0]:.1f} s, {plain[1]:.0f} MiB"),
            ("audit with report", f"{told[0]:.1f} s, {told[1]:.0f} MiB"),
            ("size of the page", f"{page.stat().st_size / 2**20:.1f} MiB"),
        ]
        found = browsed(page)
        rows += [(name, f"{value:.0f} ms") for name, value in found.items() if name != "heap"]
        rows.append(("heap", f"{found['heap']:.0f} MiB"))
    print(f"| {count:,} traces | |\n|---|---|")
    for name, value in rows:
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
