"""Transitive closures of graphs that one process holds, though not the closure: tasks search from the nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from kg_reasoner.spark_backend.exec.facts.skew import tasks_of_shuffles
from kg_reasoner.spark_backend.io.columns import TRIPLE_COLUMNS
from kg_reasoner.spark_backend.plan.graph_search import StepGraph

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["searched"]

ROWS: Final = 100_000
"""The minimum number of pairs in a batch."""

SEARCHES: Final = 1000
"""The minimum number of searches in a task."""


def searched(spark: SparkSession, graph: StepGraph) -> DataFrame:
    """Return the triples of the transitive closure that are not among the steps, each once."""
    count = len(graph.searches)
    tasks = max(1, min(count // SEARCHES, 4 * tasks_of_shuffles(spark)))
    numbers = spark.range(0, count, 1, tasks)
    return numbers.mapInArrow(_searching(graph), ", ".join(f"{name} string" for name in TRIPLE_COLUMNS))


def _searching(graph: StepGraph) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function from batches with numbers of searches to batches of triples."""

    def triples(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np
        import pyarrow as pa

        names = pa.array(graph.names, pa.string())

        def made() -> pa.RecordBatch:
            sizes = [len(ends) for ends in found]
            heads = np.array([graph.searches[number] for number in done], np.int64).reshape(-1, 2)
            ends = np.fromiter((end for some in found for end in some), np.int64, sum(sizes))
            ids = (np.repeat(heads[:, 1], sizes), np.repeat(heads[:, 0], sizes), ends)
            return pa.RecordBatch.from_arrays([names.take(pa.array(some)) for some in ids], names=list(TRIPLE_COLUMNS))

        done, found, rows = list[int](), list[list[int]](), 0
        for batch in batches:
            for number in batch.column(0).to_pylist():
                done.append(number)
                found.append(graph.ends(number))
                rows += len(found[-1])
                if rows >= ROWS:
                    yield made()
                    done, found, rows = [], [], 0
        yield made()

    return triples
