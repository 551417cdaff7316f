"""Bad lines: detected, reported with their place, and handled according to a policy."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kg_reasoner.errors import LoadError, OutputError
from kg_reasoner.loaders.rdf.sources import Document
from kg_reasoner.loaders.rdf.statements import check_line
from kg_reasoner.loaders.rdf.syntax import parser_error
from kg_reasoner.spark_backend.failures import plain_failures, shown
from kg_reasoner.spark_backend.io.lines import judged_lines
from kg_reasoner.spark_backend.io.writing import write_whole
from kg_reasoner.spark_backend.progress import LOGGER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Found", "checked"]


@dataclass(frozen=True, slots=True)
class Found:
    """The numbers of lines of two kinds."""

    odd: int
    """Lines that are not plain."""
    bad: int
    """Those of them that are not statements."""


def checked(lines: DataFrame, odd: DataFrame, policy: str) -> Found:
    """Parse the odd lines, and handle bad ones according to the policy of `reading.read_triples`.

    Raises:
        LoadError: A line is bad, and the policy is ``"raise"``, or the lines cannot be read.
        OutputError: The folder for bad lines already exists, or cannot be written.
    """
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
    return Found(row.odd, row.bad)


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
