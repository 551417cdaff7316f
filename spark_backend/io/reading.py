"""Triples from files: N-Triples, N-Quads and Parquet, as many and as large as Spark can read, and files in other syntaxes.

`read_triples` checks every line when it is called, so errors in the data are reported with file and line before hours of work. With
a folder to store them, the triples are parsed in the same pass and read from there. Without one, the DataFrame reads the files
again whenever it is computed.

**Blank nodes** belong to their document. A document is what one path names: a file, or a folder or pattern whose files are its
parts; in syntaxes other than lines, always a file. Label ``x`` becomes ``b<16 digits>_x``, where the digits are a checksum of the
given path: the same in every run.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from kg_reasoner import __version__
from kg_reasoner.errors import LoadError, UnknownNameError
from kg_reasoner.lazy_modules import LazyModule
from kg_reasoner.spark_backend.failures import plain_failures
from kg_reasoner.spark_backend.io.bad_lines import set_aside
from kg_reasoner.spark_backend.io.columns import local_frame
from kg_reasoner.spark_backend.io.input_documents import BlankNodes, InputFormat, InputPath
from kg_reasoner.spark_backend.io.workers import BAD, COLUMNS, FAULT, ODD
from kg_reasoner.spark_backend.io.workspace import WorkDirectory
from kg_reasoner.spark_backend.requirements import require_pyspark

if TYPE_CHECKING:
    from pyspark import sql
else:
    sql = LazyModule("pyspark.sql")

__all__ = ["BlankNodes", "InputFormat", "Paths", "read_triples"]

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""Files, folders (all files below them), patterns (``data/*.nt.gz``), at any address that Spark can read."""


def read_triples(
    spark: sql.SparkSession,
    paths: Paths,
    *,
    bad_lines: str = "raise",
    format: InputFormat | None = None,
    blank_nodes: BlankNodes = "document",
    graphs: bool = False,
    keep: str | os.PathLike[str] | None = None,
) -> sql.DataFrame:
    """Return the triples of files, in the columns ``subject``, ``predicate``, ``object``; duplicates stay.

    Args:
        spark: The session to read with.
        paths: What to read; files that end in ``.gz`` or ``.bz2`` are unpacked, names that begin with ``.`` or ``_`` passed over.
        bad_lines: What happens to lines that are not statements: ``"raise"`` an error for the first one; ``"skip"`` them, their
            number goes to the log; or a folder to be made, which gets them as lines of JSON with ``file`` and ``line``. Rows of
            Parquet whose columns are not terms are bad lines too.
        format: The format of all files; by default determined by the name. Files of other names, such as ``part-00000``, hold
            N-Triples or N-Quads. Files in other syntaxes are read as a whole by one task each, have blank nodes of their own, and
            are refused if they are not in their syntax, whatever the policy for bad lines.
        blank_nodes: Whose the labels are: each path's (``"document"``), each file's (``"file"``; as in process, where a folder is
            many documents), or all files' (``"shared"``: labels stay as they are, the same label is the same node wherever it is).
            In Parquet, they always stay as they are.
        graphs: Add the column ``graph``, null in the default graph. Without it, the triples of all graphs are there.
        keep: A folder that gets the triples as Parquet, so that texts are read once; on a cluster, a place that all executors can
            write to. If the triples of the same files (by name, size and time) are there from an earlier call, they are taken as
            they are. Tables are not kept: they are read where they stand.

    Returns:
        The triples.

    Raises:
        MissingExtraError: Pyspark is not installed.
        LoadError: A file does not exist, cannot be read or is in another format; or a line is bad, with ``"raise"``.
        OutputError: The folder for bad lines already exists, or a folder cannot be written.
        UnknownNameError: The format or the scope of blank nodes is unknown.
    """
    require_pyspark()
    _check_name("format", format or "parquet", InputFormat)
    _check_name("scope of blank nodes", blank_nodes, BlankNodes)
    documents = [InputPath(spark, path, format, blank_nodes) for path in _listed(paths)]
    if not documents:
        raise LoadError("no path is given")
    if keep is None or all(document.is_parquet for document in documents):
        triples = _read_in_place(documents, bad_lines)
    else:
        triples = _read_and_kept(documents, bad_lines, WorkDirectory(spark, keep, resume=True))
    return triples.select(*(COLUMNS if graphs else COLUMNS[:3]))


def _listed(paths: Paths) -> list[str]:
    return [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]


def _check_name(kind: str, name: str, names: Any) -> None:
    if name not in get_args(names):
        raise UnknownNameError(kind, name, get_args(names))


def _read_in_place(documents: Sequence[InputPath], policy: str) -> sql.DataFrame:
    """Return the triples after a check of everything, to be parsed on demand."""
    with plain_failures("read the triples", LoadError):
        found = _faults(_together(document.statements(faults_only=True) for document in documents))
    _handle(found, documents, policy)
    if not found and all(document.is_parquet for document in documents):
        return _together(document.table() for document in documents)
    statements = _together(document.statements(all_good=policy == "raise") for document in documents)
    return statements.where(f"{FAULT} IS NULL").select(*COLUMNS)


def _read_and_kept(documents: Sequence[InputPath], policy: str, workspace: WorkDirectory) -> sql.DataFrame:
    """Return the triples, parsed and stored in the pass that checks everything."""
    identity = json.dumps([__version__, policy, *(document.identity() for document in documents)])
    workspace.begin(hashlib.sha256(identity.encode()).hexdigest(), start_over=True)
    with plain_failures("read the triples", LoadError):
        kept = workspace.step("statements", lambda: _together(document.statements() for document in documents), counted=FAULT)
        if not kept.values:
            return kept.rows.select(*COLUMNS)

        def handled() -> sql.DataFrame:
            faults = _faults(kept.rows)
            _handle(faults, documents, policy)
            return local_frame(workspace.spark, list(faults.items()), "fault string, rows long")

        workspace.step("faults", handled)
        return kept.rows.where(f"{FAULT} IS NULL").select(*COLUMNS)


def _faults(statements: sql.DataFrame) -> dict[str, int]:
    """Return the faults, each with its number of rows."""
    rows = statements.where(f"{FAULT} IS NOT NULL").groupBy(FAULT).count().collect()
    return {row[FAULT]: row["count"] for row in rows}


def _handle(faults: Mapping[str, int], documents: Sequence[InputPath], policy: str) -> None:
    """Refuse documents that are not in their syntax, and handle bad lines according to the policy."""
    refused = sorted(fault for fault in faults if fault not in (BAD, ODD))
    if refused:
        raise LoadError(refused[0])
    if BAD in faults:
        set_aside(_together(document.places() for document in documents if not document.is_whole), policy)


def _together(frames: Iterable[sql.DataFrame]) -> sql.DataFrame:
    return reduce(lambda one, other: one.unionByName(other), frames)
