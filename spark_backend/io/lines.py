"""Lines of N-Triples and N-Quads to terms, as columns.

Lines in the strict form (canonical escapes, one space between terms, ASCII IRIs, language tags in lower case) are split by Spark's
functions; the compiled reader of the in-process loader accepts the same form. All other lines, called *odd*, are parsed by the
loader in a Python worker. Both give the same texts and reject the same lines.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Final

from kg_reasoner.errors import LoadError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

__all__ = ["COLUMNS", "judged_lines", "odd_lines", "odd_terms", "plain_terms", "sifted"]

COLUMNS: Final = ("subject", "predicate", "object", "graph")
CHANGED: Final = "the input has changed since it was checked; it now has the line: "


def _one_of(characters: str) -> str:
    """Return a class of single characters: Java looks them up in a table, but tests ranges and negations one by one."""
    return "[" + "".join(c if c.isalnum() else f"\\{c}" for c in characters) + "]"


# Java's quantifiers on one character class are loops; a quantified group is a recursion, so its repetitions are limited.
_ALPHANUMERIC: Final = string.ascii_letters + string.digits
_IN_IRI: Final = _one_of(_ALPHANUMERIC + "-._~:/?@!$&'()*+,;=%")
_IRI: Final = f"<{_one_of(string.ascii_letters)}{_one_of(_ALPHANUMERIC + '+.-')}*:{_IN_IRI}*(?:#{_IN_IRI}*)?+>"
_BLANK_NODE: Final = f"_:{_one_of(_ALPHANUMERIC + '_')}+"
_IN_STRING: Final = r'[^"\\\n\r\x{FFFD}]*'  # what is not UTF-8 has become U+FFFD
_STRING: Final = rf'"{_IN_STRING}(?:\\["\\nr]{_IN_STRING}){{0,100}}+"'
_LANGUAGE: Final = r"@[a-z]+(?:-[a-z0-9]+){0,100}+"
_DATATYPE: Final = rf"\^\^(?!<http://www\.w3\.org/2001/XMLSchema#string>|<http://www\.w3\.org/1999/02/22-rdf-syntax-ns#){_IRI}"
_NODE: Final = f"(?:{_IRI}|{_BLANK_NODE})"
_TRIPLE: Final = rf"\A{_NODE} {_IRI} (?:{_IRI}|{_BLANK_NODE}|{_STRING}(?:{_LANGUAGE}|{_DATATYPE})?+)"
PLAIN_TRIPLE: Final = rf"{_TRIPLE} \.\z"
PLAIN_QUAD: Final = rf"{_TRIPLE} {_NODE} \.\z"
_BAD_PERCENT: Final = "%(?![0-9A-Fa-f]{2})"
_NOTHING: Final = r"\A[ \t]*(?:#.*)?\z"


def _is_plain(quads: bool) -> Column:
    from pyspark.sql import functions as F

    line = F.col("line")
    matches = line.rlike(PLAIN_TRIPLE) | (F.col("quads") & line.rlike(PLAIN_QUAD)) if quads else line.rlike(PLAIN_TRIPLE)
    return matches & (~line.contains("%") | ~line.rlike(_BAD_PERCENT))


def odd_lines(lines: DataFrame, quads: bool) -> DataFrame:
    """Return the lines that need a parser, without lines that have no statement.

    `lines` has the columns ``line``, ``scope`` (what the labels of its blank nodes begin with) and ``quads`` (whether a graph may
    follow the triple), and any others. `quads` says whether there is a line that is allowed one.
    """
    from pyspark.sql import functions as F

    return lines.filter(~F.coalesce(_is_plain(quads) | F.col("line").rlike(_NOTHING), F.lit(False)))


def plain_terms(lines: DataFrame, quads: bool, *, alone: bool) -> DataFrame:
    """Return the terms of the plain lines, in `COLUMNS`; ``graph`` is null for the default graph.

    `alone` says that no odd line was there: if one has come since, reading fails, as nothing else would read it.
    """
    from pyspark.sql import functions as F

    wanted = _is_plain(quads)
    if alone:
        changed = F.concat(F.lit(CHANGED), F.col("line"))
        wanted = F.when(wanted, True).when(F.col("line").rlike(_NOTHING), False).otherwise(F.raise_error(changed).cast("boolean"))
    return _split(lines.filter(wanted), quads)


def sifted(lines: DataFrame, quads: bool) -> DataFrame:
    """Return all lines in one pass: `COLUMNS`, null for odd lines, and ``odd``, the line with its columns if it needs a parser,
    else null.
    """
    from pyspark.sql import functions as F

    columns = F.struct(F.col("line").cast("binary").alias("line"), *(name for name in lines.columns if name != "line"))
    is_plain = F.col("is_plain")
    known = lines.withColumn("is_plain", F.coalesce(_is_plain(quads), F.lit(False)))
    is_odd = ~is_plain & ~F.coalesce(F.col("line").rlike(_NOTHING), F.lit(False))
    kept = known.withColumn("odd", F.when(is_odd, columns)).withColumn("line", F.when(is_plain, F.col("line")))
    return _split(kept, quads, "odd")


def _split(lines: DataFrame, quads: bool, *others: str) -> DataFrame:
    """Return the terms of plain lines, and other columns."""
    from pyspark.sql import functions as F

    line = F.col("line")
    graph = F.when(F.col("quads") & ~line.rlike(PLAIN_TRIPLE), F.element_at(F.split(line, " "), -2)) if quads else _null()
    parts = lines.select("scope", graph.alias("graph"), F.split(line, " ", 3).alias("parts"), *others)
    ending = F.coalesce(F.length("graph") + 3, F.lit(2))  # the graph's name and a space, a space, the full stop
    subject, predicate, rest = (F.col("parts")[place] for place in range(3))
    object = rest.substr(F.lit(1), F.length(rest) - ending)
    terms = (subject, predicate, object, F.col("graph"))
    named = parts.select("scope", *(term.alias(name) for name, term in zip(COLUMNS, terms, strict=True)), *others)
    return named.select(*((F.col(name) if name == "predicate" else _scoped(F.col(name))).alias(name) for name in COLUMNS), *others)


def _scoped(term: Column) -> Column:
    from pyspark.sql import functions as F

    label = F.concat(F.lit("_:"), F.col("scope"), term.substr(3, 1 << 30))
    return F.when(term.startswith("_:"), label).otherwise(term)


def _null() -> Column:
    from pyspark.sql import functions as F

    return F.lit(None).cast("string")


def odd_terms(odd: DataFrame, *, all_good: bool = False) -> DataFrame:
    """Return the terms of odd lines that are statements, in `COLUMNS`.

    `all_good` says that there were no others: if one has come since, reading fails.
    """

    def terms(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _terms_of_batches(batches, all_good)

    return _sent(odd).mapInArrow(terms, _SCHEMA)


def judged_lines(odd: DataFrame) -> DataFrame:
    """Return the odd lines with the boolean column ``bad``: the line is not a statement."""
    others = [name for name in odd.columns if name not in _SENT]
    sent = _sent(odd, *others)
    fields = [f"`{field.name}` {field.dataType.simpleString()}" for field in sent.schema.fields]
    return sent.mapInArrow(_judged_batches, ", ".join([*fields, "bad boolean"]))


_SCHEMA: Final = ", ".join(f"{name} string" for name in COLUMNS)


_SENT: Final = ("line", "scope", "quads")


def _sent(odd: DataFrame, *others: str) -> DataFrame:
    """Return the data for workers: the bytes of lines, which may not be UTF-8."""
    from pyspark.sql import functions as F

    return odd.select(F.col("line").cast("binary").alias("line"), *_SENT[1:], *others)


# ---- in the Python workers


def _terms_of_batches(batches: Iterable[pa.RecordBatch], all_good: bool) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in batches:
        columns: tuple[list[str | None], ...] = ([], [], [], [])
        for scope, quads, lines in _runs(batch):
            for texts, graphs in _statements(lines, quads, f"{scope}{{}}".format, all_good):
                for place in range(3):
                    columns[place].extend(texts[place::3])
                columns[3].extend(graph or None for graph in graphs)
        yield pa.RecordBatch.from_arrays([pa.array(column, pa.string()) for column in columns], names=COLUMNS)


def _judged_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in batches:
        bad = [not _is_statement(line, quads) for _, quads, lines in _runs(batch) for line in lines]
        yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(bad, pa.bool_())], names=[*batch.schema.names, "bad"])


def _runs(batch: pa.RecordBatch) -> Iterator[tuple[str, bool, list[bytes]]]:
    """Yield consecutive lines of one scope and one syntax. A row of a table that lacks a term is an empty line."""
    rows = zip(*(batch.column(place).to_pylist() for place in range(3)), strict=True)
    for (scope, quads), run in groupby(rows, key=lambda row: row[1:]):
        yield scope, quads, [line or b"" for line, _, _ in run]


def _statements(
    lines: list[bytes], quads: bool, label: Callable[[str], str], all_good: bool
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield terms and graphs of all lines that are statements: parsed together, and separately only if some are not."""
    parsed = _parsed(lines, quads, label)
    if parsed is not None:
        yield parsed
        return
    for line in lines:
        parsed = _parsed([line], quads, label)
        if parsed is not None:
            yield parsed
        elif all_good:
            raise LoadError(CHANGED + line.decode("utf-8", "replace"))


def _is_statement(line: bytes, quads: bool) -> bool:
    return _parsed([line], quads, str) is not None


def _parsed(lines: list[bytes], quads: bool, label: Callable[[str], str]) -> tuple[list[str], list[str]] | None:
    from kg_reasoner.loaders.rdf.statements import parse_lines

    try:
        texts, graphs = parse_lines(lines, label, quads)
    except (SyntaxError, UnicodeDecodeError, LoadError):
        return None
    return (texts, graphs) if len(graphs) == len(lines) else None
