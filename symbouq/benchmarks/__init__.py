"""The paper's benchmarks from their releases: records, reductions, splits, answers.

`import_benchmark` is what `symbouq data import` does; `matching.delivered` turns the text of
an answer into labels. No benchmark text is part of the project.
"""

from symbouq.benchmarks.catalog import BENCHMARKS, Benchmark, Reduction
from symbouq.benchmarks.importing import Imported, import_benchmark
from symbouq.benchmarks.items import BenchmarkError, Item
from symbouq.benchmarks.matching import AnswerSpace, agrees, delivered, space_of

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
