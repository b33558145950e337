"""The paper's benchmarks: importing releases, reducing answer spaces, and making splits.

`import_benchmark` implements `symbouq data import`. `delivered` finds the labels in the text of an
answer. The project contains no text from the benchmarks.
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
