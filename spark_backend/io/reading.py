"""Triples from files: N-Triples, N-Quads and Parquet, as many and as large as Spark can read.

`read_triples` checks every line when it is called, so errors in the data are reported with file and line before hours of work. With
a folder to store them, the triples are parsed in the same pass and read from there. Without one, the DataFrame reads the files
again whenever it is computed.

**Blank nodes** belong to their document. A document is what one path names: a file, or a folder or pattern whose files are its
parts. Label ``x`` becomes ``b<16 digits>_x``, where the digits are a checksum of the given path: the same in every run.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from kg_reasoner import __version__
from kg_reasoner.errors import LoadError, UnknownNameError
from kg_reasoner.spark_backend.failures import plain_failures
from kg_reasoner.spark_backend.io.bad_lines import checked
from kg_reasoner.spark_backend.io.lines import COLUMNS, odd_lines, odd_terms, plain_terms, sifted
from kg_reasoner.spark_backend.io.sources import BlankNodes, Document, InputFormat
from kg_reasoner.spark_backend.io.workspace import Workspace
from kg_reasoner.spark_backend.requirements import require_pyspark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["BlankNodes", "InputFormat", "Paths", "read_triples"]

Paths: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"
"""Files, folders (all files below them), patterns (``data/*.nt.gz``), at any address that Spark can read."""


def read_triples(
    spark: SparkSession,
    paths: Paths,
    *,
    bad_lines: str = "raise",
    format: InputFormat | None = None,
    blank_nodes: BlankNodes = "document",
    graphs: bool = False,
    keep: str | os.PathLike[str] | None = None,
) -> DataFrame:
    """Return the triples of files, in the columns ``subject``, ``predicate``, ``object``; duplicates stay.

    Args:
        spark: The session to read with.
        paths: What to read; files that end in ``.gz`` or ``.bz2`` are unpacked, names that begin with ``.`` or ``_`` passed over.
        bad_lines: What happens to lines that are not statements: ``"raise"`` an error for the first one; ``"skip"`` them, their
            number goes to the log; or a folder to be made, which gets them as lines of JSON with ``file`` and ``line``. Rows of
            Parquet whose columns are not terms are bad lines too.
        format: The format of all files; by default determined by the name. Files of other names, such as ``part-00000``, hold
            N-Triples or N-Quads.
        blank_nodes: Whose the labels are: each path's (``"document"``), each file's (``"file"``; as in process, where a folder is
            many documents), or everybody's (``"shared"``: labels stay as they are, the same label is the same node wherever it is).
            In Parquet, they always stay as they are.
        graphs: Add the column ``graph``, null in the default graph. Without it, the triples of all graphs are there.
        keep: A folder that gets the triples as Parquet, so that texts are read once; on a cluster, a place that all executors can
            write to. If the triples of the same files (by name, size and time) are there from an earlier call, they are taken as
            they are. Tables are not kept: they are read where they stand.

    Raises:
        MissingExtraError: Pyspark is not installed.
        LoadError: A file does not exist, cannot be read or is in another format; or a line is bad, with ``"raise"``.
        OutputError: The folder for bad lines already exists, or a folder cannot be written.
        UnknownNameError: The format or the scope of blank nodes is unknown.
    """
    require_pyspark()
    _check_name("format", format or "parquet", InputFormat)
    _check_name("scope of blank nodes", blank_nodes, BlankNodes)
    documents = [Document(spark, path, format, blank_nodes) for path in _listed(paths)]
    if not documents:
        raise LoadError("no path is given")
    if keep is None or all(document.is_parquet for document in documents):
        triples = _read_in_place(documents, bad_lines)
    else:
        triples = _read_and_kept(documents, bad_lines, Workspace(spark, keep, resume=True))
    return triples.select(*(COLUMNS if graphs else COLUMNS[:3]))


def _listed(paths: Paths) -> list[str]:
    return [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]


def _check_name(kind: str, name: str, names: Any) -> None:
    if name not in get_args(names):
        raise UnknownNameError(kind, name, get_args(names))


def _read_in_place(documents: Sequence[Document], policy: str) -> DataFrame:
    """Return the triples after a check of every line, to be parsed on demand."""
    lines, quads = _lines(documents)
    odd = odd_lines(lines, quads)
    found = checked(lines, odd, policy)
    if found.odd == 0 and all(document.is_parquet for document in documents):
        return _together(document.table() for document in documents)
    plain = plain_terms(lines, quads, alone=found.odd == 0)
    return plain.unionByName(odd_terms(odd, all_good=policy == "raise")) if found.odd > found.bad else plain


def _read_and_kept(documents: Sequence[Document], policy: str, workspace: Workspace) -> DataFrame:
    """Return the triples, parsed and stored in the pass that checks every line."""
    identity = json.dumps([__version__, policy, *(document.identity() for document in documents)])
    workspace.begin(hashlib.sha256(identity.encode()).hexdigest(), start_over=True)
    lines, quads = _lines(documents)
    with plain_failures("read the triples", LoadError):
        kept = workspace.step("lines", lambda: sifted(lines, quads), counted="odd")
        plain = kept.rows.where("subject IS NOT NULL").select(*COLUMNS)
        if not kept.values:
            return plain
        odd = kept.rows.where("odd IS NOT NULL").select("odd.*")

        def parsed() -> DataFrame:
            checked(lines, odd, policy)
            return odd_terms(odd, all_good=policy == "raise")

        return plain.unionByName(workspace.step("odd", parsed).rows)


def _lines(documents: Sequence[Document]) -> tuple[DataFrame, bool]:
    """Return the lines of all documents, and whether some documents allow a graph after the triple."""
    return _together(document.lines() for document in documents), any(document.has_quads for document in documents)


def _together(frames: Iterable[DataFrame]) -> DataFrame:
    return reduce(lambda one, other: one.unionByName(other), frames)
