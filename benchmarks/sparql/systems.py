"""One adapter per system. An adapter holds the data and answers queries in one or several forms of result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Final

from benchmarks.measuring.needs import is_installed
from benchmarks.sparql.data import DataSet

__all__ = ["ADAPTERS", "ARROW", "NATIVE", "NEW_TEXT", "RDFLIB", "Adapter"]

NATIVE: Final = "native"
"""The form of result that the system itself returns."""
NEW_TEXT: Final = "new text"
"""The same, for a text that was never seen: nothing is remembered of the query."""
ARROW: Final = "Arrow"
RDFLIB: Final = "rdflib"
"""rdflib's rows, made by iterating the result of ``Graph.query``."""

Rows = Iterable[tuple[object, ...]]


class Adapter(ABC):
    """A system that holds a data set."""

    forks: ClassVar[bool] = True
    """Whether a copy of the process can answer queries; False for systems whose threads would be missing there."""

    @abstractmethod
    def load(self, data: DataSet) -> None:
        """Load the data."""

    @property
    @abstractmethod
    def forms(self) -> Mapping[str, Callable[[str], Any]]:
        """The functions from a query's text to a complete result, by the form of the result. These are measured."""

    @abstractmethod
    def size(self, result: Any) -> int:
        """Return the number of rows or triples of a result; 1 for ASK."""

    @abstractmethod
    def rows(self, result: Any) -> Rows:
        """Return the rows or triples of a result as tuples of values, for `benchmarks.sparql.checksums`. Not measured."""


def graph_rows(result: list[Any]) -> Rows:
    """Return the rows that rdflib's result of any kind of query yields."""
    return (tuple(row) if isinstance(row, tuple) else (row,) for row in result)


class Ours(Adapter):
    """kg_reasoner.

    Its native result is that of ``Reasoner.query(text)``: ids, whose terms are made when they are read.
    """

    def load(self, data: DataSet) -> None:
        from kg_reasoner.rdflib_store import graph_of

        self._numbers = count()
        self.reasoner: Any = data.reasoner()
        self.graph = graph_of(self.reasoner)

    @property
    def forms(self) -> Mapping[str, Callable[[str], Any]]:
        arrow = {ARROW: self._arrow} if is_installed("pyarrow") else {}
        as_graph = {RDFLIB: lambda text: list(self.graph.query(text))}
        return {NATIVE: self.reasoner.query, NEW_TEXT: self._new_text, **as_graph, **arrow}

    def _new_text(self, text: str) -> Any:
        return self.reasoner.query(f"{text}\n# {next(self._numbers)}")

    def _arrow(self, text: str) -> Any:
        result = self.reasoner.query(text)
        return result.to_arrow() if hasattr(result, "to_arrow") else result

    def size(self, result: Any) -> int:
        return len(result) if hasattr(result, "__len__") else 1

    def rows(self, result: Any) -> Rows:
        if hasattr(result, "to_pylist"):  # a table of Arrow
            return (tuple(row.values()) for row in result.to_pylist())
        if hasattr(result, "__iter__"):
            return graph_rows(result)
        return self.rows(result.to_arrow()) if hasattr(result, "to_arrow") else [(result,)]


class Pyoxigraph(Adapter):
    """pyoxigraph's store in memory, and the same store under rdflib (oxrdflib)."""

    def load(self, data: DataSet) -> None:
        import pyoxigraph

        self.store = pyoxigraph.Store()
        self.store.bulk_load(path=data.materialised, format=pyoxigraph.RdfFormat.N_TRIPLES)
        self.store.optimize()

    @property
    def forms(self) -> Mapping[str, Callable[[str], Any]]:
        as_graph = {RDFLIB: self._as_graph} if is_installed("oxrdflib") else {}
        return {NATIVE: self._native, **as_graph}

    def _native(self, text: str) -> list[Any]:
        import pyoxigraph

        result = self.store.query(text)
        return [result] if isinstance(result, pyoxigraph.QueryBoolean) else list(result)

    def _as_graph(self, text: str) -> list[Any]:
        from oxrdflib import OxigraphStore
        from rdflib import Graph
        from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

        return list(Graph(OxigraphStore(store=self.store), DATASET_DEFAULT_GRAPH_ID).query(text))

    def size(self, result: list[Any]) -> int:
        return len(result)

    def rows(self, result: list[Any]) -> Rows:
        import pyoxigraph

        for row in result:
            yield tuple(row) if isinstance(row, tuple | pyoxigraph.QuerySolution | pyoxigraph.Triple) else (row,)


class Maplib(Adapter):
    """maplib, which returns frames of Polars."""

    forks = False

    def load(self, data: DataSet) -> None:
        import maplib

        self.model = maplib.Model()
        self.model.read(data.materialised, format="ntriples")

    @property
    def forms(self) -> Mapping[str, Callable[[str], Any]]:
        return {NATIVE: self._frames}

    def _frames(self, text: str) -> list[Any]:
        result = self.model.query(text)
        return result if isinstance(result, list) else [result]

    def size(self, result: list[Any]) -> int:
        return sum(len(frame) for frame in result)

    def rows(self, result: list[Any]) -> Iterator[tuple[object, ...]]:
        for frame in result:
            yield from frame.iter_rows()


class Rdflib(Adapter):
    """rdflib's store in memory."""

    def load(self, data: DataSet) -> None:
        from rdflib import Graph

        self.graph = Graph().parse(Path(data.materialised), format="nt")

    @property
    def forms(self) -> Mapping[str, Callable[[str], Any]]:
        return {RDFLIB: lambda text: list(self.graph.query(text))}

    def size(self, result: list[Any]) -> int:
        return len(result)

    def rows(self, result: list[Any]) -> Rows:
        return graph_rows(result)


ADAPTERS: Final[Mapping[str, type[Adapter]]] = {"ours": Ours, "pyoxigraph": Pyoxigraph, "maplib": Maplib, "rdflib": Rdflib}
