"""Writing of triples to files, completely or not at all.

Spark writes a folder of many files. If this process and Spark share the file system (a laptop, a mounted volume), the folder is
written under a temporary name beside its place and moved when it is complete: before that, and after any error, the previous
content is unchanged. Other addresses (HDFS, S3, ...) do not support moving: the folder has its final name at once, and is complete
when it has the file ``_SUCCESS``, which Spark writes last. After an error, ``_SUCCESS`` is missing, and the previous content is
lost if it was to be overwritten.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from kg_reasoner.errors import OutputError, UnknownNameError
from kg_reasoner.lazy_modules import LazyModule
from kg_reasoner.spark_backend.failures import plain_failures
from kg_reasoner.spark_backend.io.columns import PARQUET_OPTIONS

if TYPE_CHECKING:
    from pyspark import sql
else:
    sql = LazyModule("pyspark.sql")

__all__ = ["Files", "OutputFormat", "expect_free", "write", "write_whole"]

OutputFormat: TypeAlias = Literal["parquet", "ntriples", "nquads"]

Files: TypeAlias = int | Literal["auto"]
"""About how many files."""


def write(
    triples: sql.DataFrame,
    path: str | os.PathLike[str],
    format: OutputFormat = "parquet",
    *,
    overwrite: bool = False,
    compression: str | None = None,
    files: Files | None = None,
    distinct: bool = False,
) -> int:
    """Write triples to a folder; return their number.

    Args:
        triples: A DataFrame with the columns ``subject``, ``predicate``, ``object``. Parquet keeps all other columns; N-Quads take
            the graph from the column ``graph``, N-Triples leave it out.
        path: The folder to be made.
        format: How. Triples that are not RDF, because a literal is the subject or something else than an IRI the predicate, are
            left out of N-Triples and N-Quads.
        overwrite: Replace an existing folder, which is an error by default.
        compression: A codec such as ``gzip``; by default, Parquet is compressed by Spark's setting, and text is not.
        files: The approximate number of files of similar size. With ``auto``, they have about the size at which Spark's adaptive
            execution aims (`spark.sql.adaptive.advisoryPartitionSizeInBytes`, 64 MB); if it is switched off, there are as many as a
            shuffle has partitions. They are sorted by predicate, subject and object, so that readers of Parquet, Delta or Iceberg
            skip files and row groups; this shuffles all triples, and leaves out repeated ones. By default, the files are those of
            Spark's tasks.
        distinct: Write repeated triples once, without sorting them into files.

    Returns:
        The number of triples.

    Raises:
        OutputError: The folder exists and may not be overwritten, or it cannot be written.
        UnknownNameError: The format is unknown.
    """
    if format not in get_args(OutputFormat):
        raise UnknownNameError("output format", format, get_args(OutputFormat))
    target = os.fspath(path)
    if files is not None:
        order = ("predicate", "subject", "object")
        # Equal triples are in one range, so that they are found without another shuffle.
        parts = triples.repartitionByRange(*order) if files == "auto" else triples.repartitionByRange(files, *order)
        triples = parts.distinct().sortWithinPartitions(*order)
    elif distinct:
        triples = triples.distinct()
    if format == "parquet":
        return write_whole(triples, target, "parquet", overwrite=overwrite, compression=compression)
    return write_whole(_as_lines(triples, format), target, "text", overwrite=overwrite, compression=compression)


def _as_lines(triples: sql.DataFrame, format: OutputFormat) -> sql.DataFrame:
    from pyspark.sql import functions as F

    names = ["subject", "predicate", "object"]
    if format == "nquads" and "graph" in triples.columns:
        names.append("graph")  # where it is null, `concat_ws` leaves it out
    rdf = triples.filter(~F.col("subject").startswith('"') & F.col("predicate").startswith("<"))
    return rdf.select(F.concat_ws(" ", *names, F.lit(".")).alias("value"))


def expect_free(spark: sql.SparkSession, target: str) -> None:
    """Check that a folder does not exist, as far as this process can see. To be called before the work.

    Raises:
        OutputError: The folder exists.
    """
    place = _shared_place(spark, target)
    if place is not None:
        _expect_free(place, target)


def _expect_free(place: Path, target: str) -> None:
    if place.exists():
        raise OutputError(f"cannot write {target}: it already exists; overwrite it, or choose another folder")


def write_whole(frame: sql.DataFrame, target: str, source: str, *, overwrite: bool = False, compression: str | None = None) -> int:
    """Write a DataFrame to a folder with one of Spark's data sources; return the number of rows. See the top of this file.

    Raises:
        OutputError: The folder exists and may not be overwritten, or it cannot be written.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    spark = frame.sparkSession
    seen = Observation()
    writer = frame.observe(seen, F.count(F.lit(1)).alias("rows")).write.format(source)
    if source == "parquet":
        writer = writer.options(**PARQUET_OPTIONS)
    if compression is not None:
        writer = writer.option("compression", compression)
    place = _shared_place(spark, target)
    with plain_failures(f"write {target}", OutputError):
        if place is None:
            writer.mode("overwrite" if overwrite else "error").save(target)
            return int(seen.get["rows"])
        if not overwrite:
            _expect_free(place, target)
        temporary = place.with_name(f"{place.name}.{secrets.token_hex(4)}.tmp")
        try:
            writer.mode("error").save(str(temporary))
            rows = int(seen.get["rows"])
            _check(temporary, target, rows)
            _move(temporary, place)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return rows


def _shared_place(spark: sql.SparkSession, target: str) -> Path | None:
    """Return the place of a folder in this process's file system, or None if Spark takes the path for a different one.

    The test creates a file here and looks for it there: on a cluster, ``/data`` may be a folder of HDFS.

    Raises:
        OutputError: The folder that it is to be in cannot be made.
    """
    from pyspark.errors import AnalysisException

    local = re.sub("^file:(?://)?(?=/)", "", target)
    if re.match("[a-z][a-z0-9+.-]*:", local):
        return None
    scheme = "file://" if local != target else ""
    with tempfile.NamedTemporaryFile(prefix="kg_reasoner_") as probe:
        try:
            if not all(file.startswith("file:") for file in spark.read.text(scheme + probe.name).inputFiles()):
                return None
        except AnalysisException:  # there is no such file
            return None
    place = Path(os.path.abspath(local))  # noqa: PTH100 (a link stays a link)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}: {error.filename}") from error
    return place


def _check(folder: Path, target: str, rows: int) -> None:
    """Check that all files are present: executors on other machines write to their own disks unless the folder is shared."""
    if not (folder / "_SUCCESS").exists() or (rows and not any(folder.glob("part-*"))):
        raise OutputError(f"cannot write {target}: the executors do not write to the driver's file system; name a shared one")


def _move(temporary: Path, place: Path) -> None:
    """Move a folder to its place. A previous folder stays until then, and is restored if the move fails."""
    if not place.exists():
        temporary.rename(place)
        return
    old = temporary.with_suffix(".old")
    place.rename(old)
    try:
        temporary.rename(place)
    except BaseException:
        old.rename(place)
        raise
    if old.is_dir():
        shutil.rmtree(old, ignore_errors=True)
    else:
        old.unlink()
