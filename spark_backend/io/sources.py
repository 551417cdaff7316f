"""Input documents, each named by one path, with their lines or tables."""

from __future__ import annotations

import hashlib
import re
from functools import reduce
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from kg_reasoner.errors import LoadError
from kg_reasoner.spark_backend.failures import plain_failures, shown
from kg_reasoner.spark_backend.io.lines import COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["BlankNodes", "Document", "InputFormat"]

InputFormat: TypeAlias = Literal["ntriples", "nquads", "parquet"]
BlankNodes: TypeAlias = Literal["document", "file", "shared"]

_TRIPLES: Final = r"\.(?:nt|ntriples)(?:\.[a-z0-9]+)?$"
_PARQUET: Final = re.compile(r"\.parquet$", re.IGNORECASE)
_OTHER_RDF: Final = re.compile(r"\.(?:ttl|turtle|trig|rdf|owl|xml|jsonld|n3|owx)(?:\.gz|\.bz2)?$", re.IGNORECASE)
_DIGITS: Final = 16


class Document:
    """The file, folder or pattern named by one path."""

    def __init__(self, spark: SparkSession, path: str, format: InputFormat | None, blank_nodes: BlankNodes) -> None:
        self._spark = spark
        self._path = path
        self._blank_nodes = blank_nodes
        with plain_failures(f"read {path}", LoadError):
            files = self._source("text").inputFiles()
        if not files:
            raise LoadError(f"cannot read {path}: it contains no file", hint="names that begin with . or _ do not count")
        other = next(filter(_OTHER_RDF.search, files), None) if format is None else None
        if other is not None:
            raise LoadError(
                f"cannot read {shown(other)}: on Spark, only N-Triples, N-Quads and Parquet are read",
                hint="convert it to N-Triples first; an ontology may be passed as such, in any syntax",
            )
        tables = [file for file in files if _PARQUET.search(file)] if format is None else files if format == "parquet" else []
        if tables and len(tables) < len(files):
            raise LoadError(f"cannot read {path}: it contains Parquet and other files", hint="name them apart, or give the format")
        self.is_parquet = bool(tables)
        self._format = format
        named_triples = re.compile(_TRIPLES, re.IGNORECASE)
        self.has_quads = format == "nquads" or (format != "ntriples" and not all(map(named_triples.search, files)))
        if self.is_parquet:
            self._check_columns()

    def _source(self, kind: str) -> DataFrame:
        reader = self._spark.read.format(kind).option("recursiveFileLookup", "true")
        return reader.option("ignoreCorruptFiles", "false").option("ignoreMissingFiles", "false").load(self._path)

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

    def lines(self) -> DataFrame:
        """Return the lines with the columns that `odd_lines` requires, and their places: ``file``, ``block`` and ``place`` in
        it.
        """
        from pyspark.sql import functions as F

        source = self._source("parquet" if self.is_parquet else "text")
        file = F.col("_metadata.file_path")
        if self._format is None and not self.is_parquet and self.has_quads:
            quads = ~F.lower(file).rlike(_TRIPLES)
        else:
            quads = F.lit(self.has_quads)
        return source.select(
            self._line(source).alias("line"),
            self._scope(file).alias("scope"),
            quads.alias("quads"),
            file.alias("file"),
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

    def _scope(self, file: Column) -> Column:
        """Return the prefix for labels of blank nodes."""
        from pyspark.sql import functions as F

        if self.is_parquet or self._blank_nodes == "shared":
            return F.lit("")
        if self._blank_nodes == "file":
            return F.concat(F.lit("b"), F.sha2(file, 256).substr(1, _DIGITS), F.lit("_"))
        return F.lit(f"b{hashlib.sha256(self._path.encode()).hexdigest()[:_DIGITS]}_")


def _null() -> Column:
    from pyspark.sql import functions as F

    return F.lit(None).cast("string")
