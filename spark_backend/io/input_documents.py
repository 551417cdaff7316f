"""Input documents, each named by one path, with their lines, tables, or files in other syntaxes."""

from __future__ import annotations

import hashlib
import re
from functools import reduce
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.rdf.formats import find_format
from kg_reasoner.spark_backend.failures import plain_failures, shown
from kg_reasoner.spark_backend.io.literal_paths import without_patterns
from kg_reasoner.spark_backend.io.workers import COLUMNS, FAULT, Manner, blocks_of_documents, terms_of_lines

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["BlankNodes", "InputFormat", "InputPath"]

InputFormat: TypeAlias = Literal[
    "ntriples", "nquads", "parquet", "turtle", "trig", "rdfxml", "jsonld", "n3", "owlxml", "functional", "manchester", "obo"
]
BlankNodes: TypeAlias = Literal["document", "file", "shared"]

_TRIPLES: Final = r"\.(?:nt|ntriples)(?:\.[a-z0-9]+)?$"
_PARQUET: Final = re.compile(r"\.parquet$", re.IGNORECASE)
_OTHER_RDF: Final = re.compile(
    r"\.(?:ttl|turtle|trig|rdf|owl|xml|jsonld|json-ld|n3|owx|ofn|omn|obo)(\.gz|\.zst|\.bz2|\.xz)?$", re.IGNORECASE
)
_NOT_UNPACKED: Final = re.compile(r"\.(?:xz|lzma|zip|7z)$", re.IGNORECASE)
"""Compressed files that Spark takes for text: none of their lines would be a statement, and a policy may be to skip such lines."""
_STATEMENTS: Final = ", ".join(f"{name} string" for name in (*COLUMNS, FAULT))
_DIGITS: Final = 16


class InputPath:
    """The file, folder or pattern named by one path."""

    def __init__(self, spark: SparkSession, path: str, format: InputFormat | None, blank_nodes: BlankNodes) -> None:
        self._spark = spark
        self._path = path
        self._pattern = without_patterns(path)
        self._blank_nodes = blank_nodes
        with plain_failures(f"read {path}", LoadError):
            files = self._source("text").inputFiles()
        if not files:
            raise LoadError(f"cannot read {path}: it contains no file", hint="names that begin with . or _ do not count")
        kinds = {_kind(file) for file in files} if format is None else {_KINDS.get(format, "whole")}
        if len(kinds) > 1:
            raise LoadError(
                f"cannot read {path}: it contains {_NAMES[min(kinds)]} and {_NAMES[max(kinds)]}",
                hint="give them different names, or give the format",
            )
        (kind,) = kinds
        packed = next(filter(_NOT_UNPACKED.search, files), None)
        if kind == "lines" and packed is not None:
            raise LoadError(f"cannot read {shown(packed)}: Spark does not unpack it", hint="compress it with gzip or bzip2")
        self.is_parquet = kind == "table"
        self.is_whole = kind == "whole"
        """Whether files are read as a whole, by the loader of their syntax."""
        self._syntax = find_format(format) if self.is_whole and format is not None else None
        self._format = format
        named_triples = re.compile(_TRIPLES, re.IGNORECASE)
        self.has_quads = format == "nquads" or (format != "ntriples" and not all(map(named_triples.search, files)))
        if self.is_parquet:
            self._check_columns()

    def _source(self, kind: str) -> DataFrame:
        reader = self._spark.read.format(kind).option("recursiveFileLookup", "true")
        return reader.option("ignoreCorruptFiles", "false").option("ignoreMissingFiles", "false").load(self._pattern)

    def _check_columns(self) -> None:
        with plain_failures(f"read {self._path}", LoadError):
            types = {field.name: field.dataType.simpleString() for field in self._source("parquet").schema.fields}
        missing = [name for name in COLUMNS[:3] if types.get(name) != "string"]
        if missing or types.get("graph", "string") != "string":
            raise LoadError(
                f"cannot read {self._path}: no text column {missing[0] if missing else 'graph'!r} in it, only {', '.join(types)}",
                hint=f"tables of triples have the columns {', '.join(COLUMNS[:3])}, those of quads {COLUMNS[3]} as well",
            )

    def identity(self) -> list[tuple[str, ...]]:
        """Return how the document is read, and the names, sizes and times of its files."""
        files = self._source("binaryFile").select("path", "length", "modificationTime")
        with plain_failures(f"read {self._path}", LoadError):
            found = sorted(tuple(map(str, row)) for row in files.collect())
        return [(self._path, str(self._format), self._blank_nodes), *found]

    def table(self) -> DataFrame:
        """Return the terms of a table, unchanged."""
        table = self._source("parquet")
        return table.select(*COLUMNS) if "graph" in table.columns else table.select(*COLUMNS[:3], _null().alias("graph"))

    def statements(self, *, all_good: bool = False, faults_only: bool = False) -> DataFrame:
        """Return the terms of statements and what is not a statement, with the options of `workers.terms_of_lines`."""
        from pyspark.sql import functions as F

        if self.is_whole:
            own = self._scope_of_file(F.col("path")).alias("scope")
            files = self._source("binaryFile").select(F.col("path").alias("file"), own, "content")
            return files.mapInArrow(blocks_of_documents(self._syntax, faults_only=faults_only), _STATEMENTS)
        source = self._source("parquet" if self.is_parquet else "text")
        columns = {"line": self._line(source).cast("binary")}
        scope, quads = self._scope(), self._quads()
        columns |= {name: self._by_file(name) for name, value in (("scope", scope), ("quads", quads)) if value is None}
        manner = Manner(scope or "", quads or False)
        lines = source.select(*(column.alias(name) for name, column in columns.items()))
        return lines.mapInArrow(terms_of_lines(manner, all_good=all_good, faults_only=faults_only), _STATEMENTS)

    def places(self) -> DataFrame:
        """Return the lines, how they are read (``scope``, ``quads``), and their places: ``file``, ``block`` and ``place`` in it."""
        from pyspark.sql import functions as F

        source = self._source("parquet" if self.is_parquet else "text")
        scope, quads = self._scope(), self._quads()
        return source.select(
            self._line(source).cast("binary").alias("line"),
            (self._by_file("scope") if scope is None else F.lit(scope)).alias("scope"),
            (self._by_file("quads") if quads is None else F.lit(quads)).alias("quads"),
            F.col("_metadata.file_path").alias("file"),
            F.col("_metadata.file_block_start").alias("block"),
            F.monotonically_increasing_id().alias("place"),
        )

    def _line(self, source: DataFrame) -> Column:
        from pyspark.sql import functions as F

        if not self.is_parquet:
            return F.col("value")
        terms = F.concat_ws(" ", *(name for name in COLUMNS if name in source.columns), F.lit("."))
        complete = reduce(lambda one, other: one & other, [F.col(name).isNotNull() for name in COLUMNS[:3]])
        return F.when(complete, terms)

    def _scope(self) -> str | None:
        """Return the prefix for labels of blank nodes, or None if each file has its own."""
        if self.is_parquet or self._blank_nodes == "shared":
            return ""
        return None if self._blank_nodes == "file" else f"b{hashlib.sha256(self._path.encode()).hexdigest()[:_DIGITS]}_"

    def _quads(self) -> bool | None:
        """Return whether lines may have a graph, or None if that depends on the file."""
        return None if self._format is None and not self.is_parquet and self.has_quads else self.has_quads

    def _by_file(self, name: str) -> Column:
        """Return the column ``scope`` or ``quads`` of a line's file."""
        from pyspark.sql import functions as F

        file = F.col("_metadata.file_path")
        if name == "quads":
            return ~F.lower(file).rlike(_TRIPLES)
        return F.concat(self._scope_of_file(file), F.lit("_"))

    def _scope_of_file(self, file: Column) -> Column:
        from pyspark.sql import functions as F

        return F.concat(F.lit("b"), F.sha2(file.cast("binary"), 256).substr(1, _DIGITS))


_KINDS: Final = {"parquet": "table", "ntriples": "lines", "nquads": "lines"}
_NAMES: Final = {"table": "Parquet", "lines": "lines (N-Triples or N-Quads)", "whole": "files in other syntaxes"}


def _kind(file: str) -> str:
    """Return how a file is read, according to its name."""
    return "table" if _PARQUET.search(file) else "whole" if _OTHER_RDF.search(file) else "lines"


def _null() -> Column:
    from pyspark.sql import functions as F

    return F.lit(None).cast("string")
