"""Triples from files: N-Triples, N-Quads and Parquet, as many and as large as Spark can read.

Every line is looked at once when `read_triples` is called, so that an error in the data is known before hours of work, with its
file and line. The DataFrame reads the files again whenever it is computed.

**Blank nodes** belong to their document. A document is what one path names: a file, or a folder or pattern whose files are its
parts. Label ``x`` becomes ``b<16 digits>_x``, where the digits are a checksum of the path as it is given: the same in every run.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args
from urllib.parse import unquote

from kg_reasoner.errors import LoadError, OutputError, UnknownNameError
from kg_reasoner.loaders.sources import Document
from kg_reasoner.loaders.statements import check_line
from kg_reasoner.loaders.syntax import parser_error
from kg_reasoner.spark_backend.failures import plain_failures
from kg_reasoner.spark_backend.lines import COLUMNS, judged_lines, odd_lines, odd_terms, plain_terms
from kg_reasoner.spark_backend.progress import LOGGER
from kg_reasoner.spark_backend.writing import write_whole

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["BlankNodes", "InputFormat", "Paths", "read_triples"]

Paths: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"
"""Files, folders (all files below them), patterns (``data/*.nt.gz``), at any address that Spark can read."""

InputFormat: TypeAlias = Literal["ntriples", "nquads", "parquet"]
BlankNodes: TypeAlias = Literal["document", "file", "shared"]

_TRIPLES: Final = r"\.(?:nt|ntriples)(?:\.[a-z0-9]+)?$"
_PARQUET: Final = re.compile(r"\.parquet$", re.IGNORECASE)
_OTHER_RDF: Final = re.compile(r"\.(?:ttl|turtle|trig|rdf|owl|xml|jsonld|n3|owx)(?:\.gz|\.bz2)?$", re.IGNORECASE)
_DIGITS: Final = 16


def read_triples(
    spark: SparkSession,
    paths: Paths,
    *,
    bad_lines: str = "raise",
    format: InputFormat | None = None,
    blank_nodes: BlankNodes = "document",
    graphs: bool = False,
) -> DataFrame:
    """The triples of files, in the columns ``subject``, ``predicate``, ``object``; duplicates stay.

    Args:
        spark: the session to read with.
        paths: what to read; files that end in ``.gz`` or ``.bz2`` are unpacked, names that begin with ``.`` or ``_`` passed over.
        bad_lines: what happens to lines that are no statements: ``"raise"`` an error for the first one; ``"skip"`` them, their
            number goes to the log; or a folder to be made, which gets them as lines of JSON with ``file`` and ``line``. Rows of
            Parquet whose columns are no terms are bad lines too.
        format: of all files; by default told by the name. Files of other names, such as ``part-00000``, hold N-Triples or N-Quads.
        blank_nodes: whose the labels are: each path's (``"document"``), each file's (``"file"``; as in process, where a folder is
            many documents), or everybody's (``"shared"``: labels stay as they are, the same label is the same node wherever it is).
            In Parquet, they always stay as they are.
        graphs: add the column ``graph``, null in the default graph. Without it, the triples of all graphs are there.

    Raises:
        LoadError: there is no such file, it cannot be read or is in another format; or a bad line, with ``"raise"``.
        OutputError: the folder for bad lines is there already, or cannot be written.
        UnknownNameError: there is no such format, or no such scope of blank nodes.
    """
    _check_name("format", format or "parquet", InputFormat)
    _check_name("scope of blank nodes", blank_nodes, BlankNodes)
    documents = [_Document(spark, path, format, blank_nodes) for path in _listed(paths)]
    if not documents:
        raise LoadError("there is nothing to read: no path is given")
    lines = reduce(lambda one, other: one.unionByName(other), [document.lines() for document in documents])
    quads = any(document.has_quads for document in documents)
    odd = odd_lines(lines, quads)
    found = _checked(lines, odd, bad_lines)
    if found.odd == 0 and all(document.is_parquet for document in documents):
        frames = [document.table() for document in documents]
    else:
        frames = [plain_terms(lines, quads, alone=found.odd == 0)]
        if found.odd > found.bad:
            frames.append(odd_terms(odd, all_good=bad_lines == "raise"))
    triples = reduce(lambda one, other: one.unionByName(other), frames)
    return triples.select(*(COLUMNS if graphs else COLUMNS[:3]))


def _listed(paths: Paths) -> list[str]:
    return [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]


def _check_name(kind: str, name: str, names: Any) -> None:
    if name not in get_args(names):
        raise UnknownNameError(kind, name, get_args(names))


class _Document:
    """What one path names."""

    def __init__(self, spark: SparkSession, path: str, format: InputFormat | None, blank_nodes: BlankNodes) -> None:
        self._spark = spark
        self._path = path
        self._blank_nodes = blank_nodes
        with plain_failures(f"read {path}", LoadError):
            files = self._source("text").inputFiles()
        if not files:
            raise LoadError(f"cannot read {path}: there is no file in it", hint="names that begin with . or _ do not count")
        other = next(filter(_OTHER_RDF.search, files), None) if format is None else None
        if other is not None:
            raise LoadError(
                f"cannot read {_shown(other)}: on Spark, only N-Triples, N-Quads and Parquet are read",
                hint="convert it to N-Triples first; an ontology may be passed as such, in any syntax",
            )
        tables = [file for file in files if _PARQUET.search(file)] if format is None else files if format == "parquet" else []
        if tables and len(tables) < len(files):
            raise LoadError(f"cannot read {path}: Parquet is in it beside other files", hint="name them apart, or give the format")
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

    def table(self) -> DataFrame:
        """The terms of a table, as they are."""
        table = self._source("parquet")
        return table.select(*COLUMNS) if "graph" in table.columns else table.select(*COLUMNS[:3], _null().alias("graph"))

    def lines(self) -> DataFrame:
        """The lines with the columns that `odd_lines` wants, and where they are: ``file``, ``block`` and ``place`` in it."""
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
        """What the labels of blank nodes begin with."""
        from pyspark.sql import functions as F

        if self.is_parquet or self._blank_nodes == "shared":
            return F.lit("")
        if self._blank_nodes == "file":
            return F.concat(F.lit("b"), F.sha2(file, 256).substr(1, _DIGITS), F.lit("_"))
        return F.lit(f"b{hashlib.sha256(self._path.encode()).hexdigest()[:_DIGITS]}_")


def _null() -> Column:
    from pyspark.sql import functions as F

    return F.lit(None).cast("string")


# ---- bad lines


@dataclass(frozen=True, slots=True)
class _Found:
    odd: int
    """Lines that are not plain."""
    bad: int
    """Those of them that are no statements."""


def _checked(lines: DataFrame, odd: DataFrame, policy: str) -> _Found:
    """Look at every line, and do with the bad ones what the policy says."""
    from pyspark.sql import functions as F

    judged = judged_lines(odd)
    first = F.min(F.when(F.col("bad"), F.struct("file", "block", "place", "line", "quads")))
    with plain_failures("read the triples", LoadError):
        row: Any = judged.agg(F.count("*").alias("odd"), F.count_if(F.col("bad")).alias("bad"), first.alias("first")).first()
        if row.bad:
            error = _error(row["first"], _line_number(lines, row["first"]))
    if row.bad and policy == "raise":
        raise error
    if row.bad and policy != "skip":
        with plain_failures(f"write the bad lines to {policy}", OutputError):
            write_whole(judged.filter("bad").select("file", F.col("line").cast("string").alias("line")), policy, "json")
    if row.bad:
        where = "skipped" if policy == "skip" else f"written to {policy}"
        LOGGER.warning("%d bad lines were %s; the first: %s", row.bad, where, str(error).splitlines()[0])
    return _Found(row.odd, row.bad)


def _line_number(lines: DataFrame, first: Any) -> int:
    """The number of a line in its file, from 1. Within a block of a file, places ascend."""
    from pyspark.sql import functions as F

    block, place = F.col("block"), F.col("place")
    until = (block < first.block) | ((block == first.block) & (place <= first.place))
    return lines.filter((F.col("file") == first.file) & until).count()


def _error(first: Any, number: int) -> LoadError:
    """What is wrong with the first bad line, in the words of the in-process loader."""
    document = Document(_shown(first.file), None, io.RawIOBase, False)
    if first.line is None:
        return document.error("a term is missing", number, text="")
    text = first.line.decode("utf-8", "replace")
    try:
        check_line(bytes(first.line), first.quads)
    except SyntaxError as error:
        return parser_error(document, error, number, text)
    except LoadError as error:
        return document.error(error.message, number, hint=error.hint, text=text)
    return document.error("this is more than one line", number, text=text)


def _shown(file: str) -> str:
    """A local file without its scheme, and any address as people write it."""
    return unquote(re.sub("^file:/+", "/", file))
