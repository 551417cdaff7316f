"""Bad lines: reported with their place, and handled according to a policy."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from kg_reasoner.errors import LoadError, OutputError
from kg_reasoner.loaders.rdf.readers.statements import check_line
from kg_reasoner.loaders.rdf.readers.syntax import parser_error
from kg_reasoner.loaders.rdf.sources import Document
from kg_reasoner.spark_backend.failures import plain_failures, shown
from kg_reasoner.spark_backend.io.triple_files import write_whole
from kg_reasoner.spark_backend.io.workers import faults_of_lines
from kg_reasoner.spark_backend.run_progress import LOGGER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["set_aside"]


def set_aside(lines: DataFrame, policy: str) -> None:
    """Handle the lines that are not statements, at least one, according to the policy of `reading.read_triples`.

    `lines` has the columns ``line``, ``scope``, ``quads``, ``file``, ``block`` and ``place``.

    Raises:
        LoadError: The policy is ``"raise"``, or the lines cannot be read.
        OutputError: The folder for bad lines already exists, or cannot be written.
    """
    from pyspark.sql import functions as F

    bad = lines.mapInArrow(faults_of_lines, lines.schema)
    with plain_failures("read the triples", LoadError):
        first = F.min(F.struct("file", "block", "place", "line", "quads"))
        row: Any = bad.agg(F.count("*").alias("bad"), first.alias("first")).first()
        error = _error(row["first"], _line_number(lines, row["first"]))
    if policy == "raise":
        raise error
    if policy != "skip":
        with plain_failures(f"write the bad lines to {policy}", OutputError):
            write_whole(bad.select("file", F.col("line").cast("string").alias("line")), policy, "json")
    where = "skipped" if policy == "skip" else f"written to {policy}"
    LOGGER.warning("%d bad lines were %s; the first: %s", row.bad, where, str(error).splitlines()[0])


def _line_number(lines: DataFrame, first: Any) -> int:
    """Return the number of a line in its file, counted from 1. Within a block of a file, places ascend."""
    from pyspark.sql import functions as F

    block, place = F.col("block"), F.col("place")
    until = (block < first.block) | ((block == first.block) & (place <= first.place))
    return lines.filter((F.col("file") == first.file) & until).count()


def _error(first: Any, number: int) -> LoadError:
    """Return the error for the first bad line, with the message of the in-process loader."""
    document = Document(shown(first.file), None, io.RawIOBase, False)
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
