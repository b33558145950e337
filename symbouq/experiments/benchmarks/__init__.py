"""The paper's benchmarks from their releases: records, reductions, splits, answers.

`import_benchmark` is what `symbouq data import` does; `matching.delivered` turns the text of
an answer into labels. No benchmark text is part of the project.
"""

from symbouq.auditing.answers import AnswerSpace, agrees, delivered, space_of
from symbouq.experiments.benchmarks.catalog import BENCHMARKS, Benchmark, Reduction
from symbouq.experiments.benchmarks.importing import Imported, import_benchmark
from symbouq.experiments.benchmarks.items import BenchmarkError, Item

__all__ = [
    "BENCHMARKS",
    "AnswerSpace",
    "Benchmark",
    "BenchmarkError",
    "Imported",
    "Item",
    "Reduction",
    "agrees",
    "delivered",
    "import_benchmark",
    "space_of",
]
