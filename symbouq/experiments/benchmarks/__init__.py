"""The paper's benchmarks: records, reductions, splits and answers from their releases.

`import_benchmark` implements `symbouq data import`; `delivered` turns the text of an answer into
labels. The project contains no benchmark text.
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
