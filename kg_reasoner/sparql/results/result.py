"""The results of queries: solutions, a truth value, or triples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from kg_reasoner.errors import UnknownNameError
from kg_reasoner.io.atomic_files import Target
from kg_reasoner.lazy_modules import LazyModule
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.queries.query_forms import Answer
from kg_reasoner.sparql.results.data_frames import DataFrames
from kg_reasoner.sparql.results.result_columns import Columns
from kg_reasoner.sparql.results.result_files import File, write
from kg_reasoner.sparql.results.results_formats import solution_parts, truth_text
from kg_reasoner.sparql.results.rows import Row, decoded, row_class
from kg_reasoner.sparql.solutions.rdflib_nodes import NodeCache, NodeReader
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.terms import Triple

if TYPE_CHECKING:
    import pyarrow
    import rdflib
else:
    pyarrow, rdflib = LazyModule("pyarrow"), LazyModule("rdflib")

__all__ = ["AskResult", "GraphResult", "QueryResult", "SelectResult", "result_of"]

Terms: TypeAlias = Literal["kg_reasoner", "rdflib"]
"""The library whose terms are wanted."""

_LIBRARIES = ("kg_reasoner", "rdflib")


class _Result:
    """Information on how a result was found.

    Attributes:
        by_magic: Whether everything was derived for this query by magic sets; if not, see `kg_reasoner.Reasoner.query`.
        derived: The number of facts that were derived for this query and discarded, those of magic sets included.
    """

    by_magic: bool = False
    derived: int = 0


class _Table(_Result, DataFrames):
    """A result with columns of ids. It belongs to the state of the graph in which the query was answered.

    Results can be copied and pickled, with the terms that occur in them; copies have ids of their own.
    """

    def __init__(self, columns: Columns, nodes: NodeCache) -> None:
        self._columns = columns
        self._nodes = nodes

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._columns, NodeCache()), {"by_magic": self.by_magic, "derived": self.derived}

    def __len__(self) -> int:
        return self._columns.size

    def __bool__(self) -> bool:
        return self._columns.size > 0

    @property
    def nbytes(self) -> int:
        """The size of the result in bytes: 4 for each value. Terms are made when they are read, and not kept."""
        return self._columns.nbytes

    @property
    def ids(self) -> Mapping[str, Ids]:
        """The columns as ids of the reasoner's dictionary, by name.

        Unbound variables are -1, and terms that the query has computed and the dictionary does not contain are smaller numbers.
        """
        return dict(zip(self._columns.names, self._columns.ids, strict=True))

    def to_arrow(self) -> pyarrow.Table:
        """Return the result as a table of Arrow, see `kg_reasoner.sparql.results.arrow`.

        Returns:
            The table.

        Raises:
            MissingExtraError: pyarrow is not installed.
        """
        from kg_reasoner.sparql.results.arrow import arrow_table

        return arrow_table(self._columns)

    def tuples(self, terms: Terms = "kg_reasoner") -> Iterator[tuple[Any, ...]]:
        """Yield the rows as plain tuples.

        Args:
            terms: The library whose terms the rows have, ``kg_reasoner`` (`kg_reasoner.terms`) or ``rdflib``.

        Returns:
            An iterator of tuples, with None for unbound variables.

        Raises:
            UnknownNameError: The library is unknown.
        """
        if terms not in _LIBRARIES:
            raise UnknownNameError("kind of terms", str(terms), _LIBRARIES)
        known = self._columns.terms
        decode: Callable[[list[int]], Any] = known.terms
        if terms == "rdflib":
            decode = NodeReader(known, self._nodes).nodes
        return decoded(self._columns, [decode] * len(self._columns.ids))


class SelectResult(_Table):
    """The solutions of a SELECT. Iterating yields a `Row` of terms for each; the terms are made when they are read.

    Args:
        columns: The columns of the variables.
        nodes: The terms of rdflib that other queries have decoded.
    """

    type: Literal["SELECT"] = "SELECT"

    def __init__(self, columns: Columns, nodes: NodeCache) -> None:
        super().__init__(columns, nodes)
        self.variables = columns.names
        """The names of the variables, in the order of the SELECT."""

    def __iter__(self) -> Iterator[Row]:
        return self.rows()

    def rows(self, terms: Terms = "kg_reasoner") -> Iterator[Row]:
        """Yield the solutions.

        Args:
            terms: The library whose terms the rows have, ``kg_reasoner`` (`kg_reasoner.terms`) or ``rdflib``.

        Returns:
            An iterator of rows.

        Raises:
            UnknownNameError: The library is unknown.
        """
        tuples = self.tuples(terms)
        make, kind = tuple.__new__, row_class(self.variables)
        return (make(kind, values) for values in tuples)

    def __repr__(self) -> str:
        return f"<SelectResult of {len(self):,} rows: {' '.join(f'?{name}' for name in self.variables)}>"

    def _repr_html_(self) -> str:
        from kg_reasoner.sparql.results.html_tables import table_page

        return table_page(self._columns, "row")

    def write(self, target: Target | File, format: str | None = None) -> None:
        """Write the solutions in one of the results formats of SPARQL 1.1.

        Args:
            target: The path of a file, which appears when it is complete, compressed as its ending says (``.gz``, ``.zst``,
                ``.bz2``, ``.xz``); ``"-"`` for standard output; or an open file, of bytes or of text.
            format: ``json``, ``xml``, ``csv`` or ``tsv``; by default determined by the file name.

        Raises:
            UnknownNameError: The format is unknown, or cannot be determined.
            OutputError: The file cannot be written, or XML cannot hold a character.
        """
        write(target, format, lambda kind: solution_parts(self._columns, kind))

    def to_json(self) -> str:
        """Return the solutions as SPARQL 1.1 Query Results JSON.

        Returns:
            The text.
        """
        return "".join(solution_parts(self._columns, "json"))

    def to_xml(self) -> str:
        """Return the solutions as SPARQL Query Results XML.

        Returns:
            The text.

        Raises:
            OutputError: XML cannot hold a character.
        """
        return "".join(solution_parts(self._columns, "xml"))

    def to_csv(self) -> str:
        """Return the solutions as SPARQL 1.1 Query Results CSV, which does not tell IRIs from literals.

        Returns:
            The text.
        """
        return "".join(solution_parts(self._columns, "csv"))

    def to_tsv(self) -> str:
        """Return the solutions as SPARQL 1.1 Query Results TSV.

        Returns:
            The text.
        """
        return "".join(solution_parts(self._columns, "tsv"))


class AskResult(_Result):
    """The truth value of an ASK: use it as a bool.

    Args:
        truth: The truth value.
    """

    type: Literal["ASK"] = "ASK"

    def __init__(self, truth: bool) -> None:
        self.truth = truth
        """The truth value."""

    def __bool__(self) -> bool:
        return self.truth

    def __str__(self) -> str:
        return "true" if self.truth else "false"

    def __repr__(self) -> str:
        return f"<AskResult {self}>"

    def _repr_html_(self) -> str:
        return f"<code>{self}</code>"

    def write(self, target: Target | File, format: str | None = None) -> None:
        """Write the truth value in a results format of SPARQL 1.1.

        Args:
            target: As for `SelectResult.write`.
            format: ``json`` or ``xml`` (CSV and TSV have no truth values); by default determined by the file name.

        Raises:
            UnknownNameError: The format is unknown, or cannot be determined.
            OutputError: The file cannot be written.
        """
        write(target, format, lambda kind: [truth_text(self.truth, "xml" if kind == "xml" else "json")], ("json", "xml"))

    def to_json(self) -> str:
        """Return the truth value as SPARQL 1.1 Query Results JSON.

        Returns:
            The text.
        """
        return truth_text(self.truth, "json")

    def to_xml(self) -> str:
        """Return the truth value as SPARQL Query Results XML.

        Returns:
            The text.
        """
        return truth_text(self.truth, "xml")


class GraphResult(_Table):
    """The triples of a CONSTRUCT or DESCRIBE. Iterating yields tuples of three terms, which are made when they are read.

    Args:
        columns: The columns ``subject``, ``predicate`` and ``object``.
        nodes: The terms of rdflib that other queries have decoded.
        prefixes: The prefixes of the query.
        type: The kind of query.
    """

    def __init__(
        self,
        columns: Columns,
        nodes: NodeCache,
        prefixes: Callable[[], Mapping[str, Any]],
        type: Literal["CONSTRUCT", "DESCRIBE"] = "CONSTRUCT",
    ) -> None:
        super().__init__(columns, nodes)
        self.type = type
        self._prefixes = prefixes

    def __reduce__(self) -> tuple[Any, ...]:
        prefixes = {prefix: str(namespace) for prefix, namespace in self._prefixes().items()}
        given = partial(dict[str, str], prefixes)
        return GraphResult, (self._columns, NodeCache(), given, self.type), {"by_magic": self.by_magic, "derived": self.derived}

    def __iter__(self) -> Iterator[Triple]:
        return self.triples()

    def triples(self, terms: Terms = "kg_reasoner") -> Iterator[Any]:
        """Yield the triples.

        Args:
            terms: The library of the terms, ``kg_reasoner`` (`kg_reasoner.terms`) or ``rdflib``.

        Returns:
            An iterator of triples.

        Raises:
            UnknownNameError: The library is unknown.
        """
        return self.tuples(terms)

    def to_graph(self) -> rdflib.Graph:
        """Return the triples as a new graph of rdflib, with the prefixes of the query.

        Returns:
            The graph.
        """
        from rdflib import Graph

        graph = Graph()
        for prefix, namespace in self._prefixes().items():
            graph.bind(prefix, namespace)
        graph.addN((subject, property, value, graph) for subject, property, value in self.triples("rdflib"))
        return graph

    def write(self, target: Target, format: str | None = None) -> None:
        """Write the triples in any RDF syntax, see `kg_reasoner.io.output.triple_writer`.

        Args:
            target: The path of a file, which appears when it is complete, compressed as its ending says (``.gz``, ``.zst``,
                ``.bz2``, ``.xz``); or ``"-"`` for standard output.
            format: The syntax, by name, extension or media type; by default determined by the file name, else N-Triples.

        Raises:
            UnknownNameError: The syntax is unknown.
            OutputError: The file cannot be written.
        """
        from kg_reasoner.io.output import write_triples

        write_triples(self, target, format, {prefix: str(namespace) for prefix, namespace in self._prefixes().items()})

    def __repr__(self) -> str:
        return f"<GraphResult of {len(self):,} triples>"

    def _repr_html_(self) -> str:
        from kg_reasoner.sparql.results.html_tables import table_page

        return table_page(self._columns, "triple")


QueryResult: TypeAlias = SelectResult | AskResult | GraphResult


def result_of(answer: Answer, nodes: NodeCache, prefixes: Callable[[], Mapping[str, Any]] = dict) -> QueryResult:
    """Return the result for an answer.

    Args:
        answer: The answer.
        nodes: The terms of rdflib that other queries have decoded.
        prefixes: Returns the prefixes of the query.
    """
    if answer.truth is not None:
        return AskResult(answer.truth)
    if answer.triples is not None:
        columns = Columns(("subject", "predicate", "object"), answer.triples.T, len(answer.triples), answer.terms)
        return GraphResult(columns, nodes, prefixes, "DESCRIBE" if isinstance(answer.query, algebra.Describe) else "CONSTRUCT")
    table = answer.table
    assert table is not None
    columns = Columns(answer.names, [table.column(name) for name in answer.names], table.size, answer.terms)
    return SelectResult(columns, nodes)
