"""Triples and facts as users give them: DataFrames with the columns for them, or triples of the terms of any library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, Union, cast

from kg_reasoner.api.inputs.given_values import as_value, expect_several
from kg_reasoner.errors import LoadError, plural
from kg_reasoner.language.checks.analysis import arities
from kg_reasoner.lazy_modules import LazyModule
from kg_reasoner.program import Program
from kg_reasoner.spark_backend.io.columns import (
    INFERRED,
    OBJECT,
    PREDICATE,
    SUBJECT,
    TRIPLE_COLUMNS,
    argument_columns,
    triple_frame,
    union,
)
from kg_reasoner.terms import Triple

if TYPE_CHECKING:
    from pyspark import sql
else:
    sql = LazyModule("pyspark.sql")

__all__ = [
    "Ontology",
    "digest_of_facts",
    "expect_materialisation",
    "expect_program",
    "given_facts",
    "given_triples",
    "is_triple",
    "refuse_other_than_triples",
]

Ontology: TypeAlias = Union["sql.DataFrame", Iterable[Triple]]


def expect_program(given: object) -> None:
    """Check that a program is given as an object.

    Raises:
        LoadError: It is not.
    """
    if not isinstance(given, Program):
        hint = 'use rulesets.load("owl2rl").program, or kg_reasoner.language.parser.parse(text) for rules of your own'
        raise LoadError(f"{given!r} is not a Program", hint=hint)


def given_triples(spark: sql.SparkSession, triples: sql.DataFrame | None, ontology: Ontology | None) -> sql.DataFrame:
    """Return all given triples in the three columns.

    Args:
        spark: The session.
        triples: A DataFrame; None for none.
        ontology: A DataFrame, or an iterable of triples of any library's terms, such as a graph of rdflib; None for none.

    Raises:
        LoadError: A DataFrame does not have the columns, or something else is given.
    """
    frames = []
    if triples is not None:
        if not _is_frame(triples):
            hint = "use spark.createDataFrame(...), read_triples(spark, files), or ontology= for triples in memory"
            raise LoadError(f"triples are a DataFrame of Spark, not an object of type {type(triples).__name__}", hint=hint)
        frames.append(_columns_of(triples))
    if ontology is not None:
        frames.append(_columns_of(cast("sql.DataFrame", ontology)) if _is_frame(ontology) else _frame_of(spark, ontology))
    return union(frames) or triple_frame(spark, [])


def given_facts(program: Program, facts: Mapping[str, sql.DataFrame] | None) -> dict[str, sql.DataFrame]:
    """Return the given facts of general predicates.

    Args:
        program: The rules.
        facts: DataFrames by predicate, with a string column for each argument; None for none.

    Raises:
        LoadError: Something else is given.
    """
    known = arities(program)
    for predicate, frame in (facts or {}).items():
        if not _is_frame(frame):
            raise LoadError(f"facts of {predicate} are a DataFrame of Spark, not an object of type {type(frame).__name__}")
        expected = known.get(predicate, len(frame.columns))
        if len(frame.columns) != expected:
            raise LoadError(
                f"the DataFrame for {predicate} has the columns {', '.join(frame.columns)}, but the predicate has arity {expected}"
            )
        others = [f"{name} ({kind})" for name, kind in frame.dtypes if kind != "string"]
        if others:
            raise LoadError(
                f"columns of the DataFrame for {predicate} are not strings: {', '.join(others)}",
                hint='cells are terms in N-Triples form: <http://example.org/a>, _:b, "text"',
            )
    return dict(facts or {})


def digest_of_facts(predicate: str, facts: sql.DataFrame) -> str:
    """Return a text that identifies the facts of a predicate, from one pass over them.

    Raises:
        LoadError: A cell has no term, as far as its first characters tell.
    """
    from pyspark.sql import functions as F

    rows = facts.toDF(*argument_columns(len(facts.columns)))  # of any names, such as one twice
    others = [F.sum(F.when(_is_term(F.col(name)), 0).otherwise(1)).alias(name) for name in rows.columns]
    hashed = rows.select(*rows.columns, F.xxhash64(F.lit(0), *rows.columns).alias("hash"))
    count, digest, *missing = hashed.agg(F.count("*"), F.bit_xor("hash"), *others).collect()[0]
    told = [f"{name} ({plural(number, 'row')})" for name, number in zip(facts.columns, missing, strict=True) if number]
    if told:
        raise LoadError(
            f"the DataFrame for {predicate} has cells without a term, null or another text, in: {', '.join(told)}",
            hint='cells are terms in N-Triples form: <http://example.org/a>, _:b, "text"; frame.dropna() omits rows with nulls',
        )
    return f"{predicate} {count} {digest}"


def expect_materialisation(given: sql.DataFrame) -> None:
    """Check that a DataFrame has the column that tells explicit triples from inferred ones.

    Raises:
        LoadError: It has not.
    """
    if INFERRED not in given.columns:
        raise LoadError(f"the DataFrame is no materialisation: it has the columns {', '.join(given.columns)}, and not {INFERRED}")


def _is_frame(given: object) -> bool:
    """Return whether an object is a DataFrame, of a local session or of Spark Connect, which has its own class."""
    return hasattr(given, "sparkSession")


def _columns_of(given: sql.DataFrame) -> sql.DataFrame:
    names = [name.lower() for name in given.columns]
    if any(names.count(name) != 1 for name in TRIPLE_COLUMNS):
        raise LoadError(
            f"a DataFrame of triples has the columns {', '.join(TRIPLE_COLUMNS)}, not {', '.join(given.columns)}",
            hint=f"rename them: frame.toDF({', '.join(map(repr, TRIPLE_COLUMNS))})" if len(names) == len(TRIPLE_COLUMNS) else None,
        )
    return given.select(*TRIPLE_COLUMNS)


def _frame_of(spark: sql.SparkSession, given: Any) -> sql.DataFrame:
    expect_several(given, "triples")
    return triple_frame(spark, ((as_value(s), as_value(p), as_value(o)) for s, p, o in given))


def is_triple() -> sql.Column:
    """Return a column that is true for rows of texts of terms, as far as their first characters tell; null or false for others."""
    from pyspark.sql import functions as F

    return _is_term(F.col(SUBJECT)) & F.col(PREDICATE).startswith("<") & _is_term(F.col(OBJECT))


def _is_term(text: sql.Column) -> sql.Column:
    """Return a column that is true for texts of terms, as far as their first characters tell; null or false for others."""
    return text.startswith("<") | text.startswith("_:") | text.startswith('"')


def refuse_other_than_triples(triples: sql.DataFrame) -> NoReturn:
    """Raise the error for rows that are not triples.

    Args:
        triples: The triples, among them such a row.

    Raises:
        LoadError: Always; it shows a row.
    """
    from pyspark.sql import functions as F

    row = triples.where(F.when(is_triple(), 0).otherwise(1) == 1).limit(1).collect()[0]
    shown = ", ".join(f"{name} {row[name]!r}" for name in TRIPLE_COLUMNS)
    raise LoadError(
        f"a row of the DataFrame is not a triple: {shown}",
        hint='cells are terms in N-Triples form: <http://example.org/a>, _:b, "text"; read_triples brings tables into it',
    )
