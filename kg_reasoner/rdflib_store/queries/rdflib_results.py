"""The answers of queries as rdflib's results, whose rows and graphs are made when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableSequence
from typing import TYPE_CHECKING, Any, cast

from rdflib import Graph, Variable
from rdflib.plugins.sparql.processor import SPARQLResult
from rdflib.plugins.sparql.sparql import FrozenDict
from rdflib.query import ResultRow
from rdflib.term import BNode, Node

from kg_reasoner.errors import UnsupportedError
from kg_reasoner.sparql.results.result import AskResult, GraphResult, SelectResult
from kg_reasoner.sparql.results.result import QueryResult as NativeResult

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["QueryResult"]


class _Solution(FrozenDict):
    """A solution as rdflib's evaluator makes it: hashable, with values by variable or by name."""

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, Node):
            key = Variable(key)
        return self._d[key] if isinstance(key, (BNode, Variable)) else key


class QueryResult(SPARQLResult):
    """The result of a query for rdflib, with the conversions of the reasoner's own result.

    Args:
        native: The reasoner's result.
    """

    def __init__(self, native: NativeResult) -> None:
        self.native = native
        """The result as `kg_reasoner.api.reasoner.Reasoner.query` returns it."""
        self._rows: list[Mapping[Variable, Node]] | None = None
        self._graph: Graph | None = None
        found: dict[str, Any] = {"type_": native.type}
        if isinstance(native, AskResult):
            found["askAnswer"] = native.truth
        elif isinstance(native, SelectResult):
            found["vars_"] = list(map(Variable, native.variables))
        super().__init__(found)

    def __reduce__(self) -> tuple[Any, ...]:
        return QueryResult, (self.native,), None if self._bindings is None else {"_bindings": self._bindings}

    @property
    def bindings(self) -> MutableSequence[Mapping[Variable, Any]]:
        """The solutions as mappings."""
        if self._bindings is not None:
            return self._bindings
        if self._rows is None:
            native, names = self.native, self.vars or []
            rows = native.rows("rdflib") if isinstance(native, SelectResult) else ()
            pairs = (zip(names, row, strict=True) for row in rows)
            self._rows = [_Solution((name, node) for name, node in row if node is not None) for row in pairs]
        return cast("MutableSequence[Mapping[Variable, Any]]", self._rows)

    @bindings.setter
    def bindings(self, found: Any) -> None:
        if found is not None:  # rdflib sets the bindings of every result, these to None
            self._bindings = list(found)

    @property
    def graph(self) -> Graph | None:
        """The graph of CONSTRUCT and DESCRIBE."""
        if self._graph is None and isinstance(self.native, GraphResult):
            self._graph = self.native.to_graph()
        return self._graph

    @graph.setter
    def graph(self, found: Graph | None) -> None:
        self._graph = found

    def __iter__(self) -> Iterator[Any]:
        native = self.native
        if isinstance(native, GraphResult) and self._graph is None:
            return native.triples("rdflib")  # a graph of rdflib takes longer to make than to read
        if not isinstance(native, SelectResult) or self._bindings is not None:
            return super().__iter__()
        nothing = (None,) * len(native.variables)
        kind = type("ResultRow", (ResultRow,), {"labels": {name: place for place, name in enumerate(native.variables)}})
        make = tuple.__new__
        # rdflib leaves empty solutions out
        return (make(kind, values) for values in native.tuples("rdflib") if values != nothing)

    def __len__(self) -> int:
        native = self.native
        if isinstance(native, AskResult) or self._graph is not None or self._bindings is not None:
            return super().__len__()
        return len(native)

    # --- conversions ------------------------------------------------------------------------------------------------

    def to_arrow(self) -> pyarrow.Table:
        """See `kg_reasoner.sparql.results.result.SelectResult.to_arrow`.

        Raises:
            UnsupportedError: The query is an ASK.
            MissingExtraError: pyarrow is not installed.
        """
        return self._of_table("table of Arrow").to_arrow()

    def to_polars(self) -> polars.DataFrame:
        """See `kg_reasoner.sparql.results.result.SelectResult.to_polars`.

        Raises:
            UnsupportedError: The query is an ASK.
            MissingExtraError: polars or pyarrow is not installed.
        """
        return self._of_table("data frame").to_polars()

    def to_pandas(self) -> pandas.DataFrame:
        """See `kg_reasoner.sparql.results.result.SelectResult.to_pandas`.

        Raises:
            UnsupportedError: The query is an ASK.
            MissingExtraError: pandas or pyarrow is not installed.
        """
        return self._of_table("data frame").to_pandas()

    def _of_table(self, wanted: str) -> SelectResult | GraphResult:
        if isinstance(self.native, AskResult):
            raise UnsupportedError(f"the result of ASK is a truth value, of which there is no {wanted}")
        return self.native

    @property
    def write(self) -> Callable[..., None]:
        """Write the result, see the method of `native`."""
        return self.native.write

    def _repr_html_(self) -> str:
        return self.native._repr_html_()

    def __repr__(self) -> str:
        return f"<QueryResult over {self.native!r}>"
