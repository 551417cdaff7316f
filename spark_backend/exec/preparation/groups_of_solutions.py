"""Aggregates on Spark: rules over groups instead, and the groups of a relation of solutions as a DataFrame.

A stratum's groups are computed before its rules are applied, from solutions that are complete by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kg_reasoner.expressions.aggregate_functions import value_of_group
from kg_reasoner.expressions.compile import compile_expression
from kg_reasoner.planning.aggregates.groups import pieces, solutions_of
from kg_reasoner.program import Aggregate, AggregateBinding, Argument, Rule, Variable, variables_of
from kg_reasoner.spark_backend.io.columns import argument_columns, local_frame
from kg_reasoner.terms import XSD, term_from_text, term_text

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["groups", "split_aggregates"]


def split_aggregates(rules: Iterable[Rule]) -> dict[Rule, Rule]:
    """Return the rules with atoms over groups in place of aggregates, and the rules of these groups and their solutions, each with
    the rule that it comes from (see `planning.aggregates.groups`). Constraints remain constraints.

    Args:
        rules: The rules.
    """
    found: dict[Rule, Rule] = {}
    for rule in rules:
        if any(isinstance(part, Aggregate) for part in rule.body):
            *parts, last = (part for part, _ in pieces(rule))
            found |= dict.fromkeys([*parts, Rule(rule.head, last.body, rule.origin)], rule)
        else:
            found[rule] = rule
    return found


def groups(spark: SparkSession, rule: Rule, solutions: DataFrame | None) -> DataFrame:
    """Return the facts of a rule for groups: a row for each group that has all results.

    Args:
        spark: The session.
        rule: The rule.
        solutions: The facts of `solutions_of` it, each once; None for none.
    """
    from pyspark.sql import functions as F

    (part,) = rule.body
    assert isinstance(part, Aggregate)
    atom = solutions_of(rule)
    columns = argument_columns(atom.arity)
    if solutions is None:
        schema = ", ".join(f"{name} string" for name in columns) or "nothing int"
        solutions = local_frame(spark, [], schema).select(*columns)
    places = dict(zip(atom.terms, columns, strict=True))
    gathered = [_gathered(binding, places) for binding in part.bindings]
    names = [f"g{number}" for number in range(len(gathered))]
    rows = solutions.groupBy(*(places[variable] for variable in part.group)).agg(
        *(column.alias(name) for column, name in zip(gathered, names, strict=True))
    )
    results = [_result(binding, name).alias(name) for binding, name in zip(part.bindings, names, strict=True)]
    rows = rows.select(*(places[variable] for variable in part.group), *results)
    for name in names:
        rows = rows.where(F.col(name).isNotNull())
    return rows.toDF(*argument_columns(rule.head.arity))


def _counts(binding: AggregateBinding) -> bool:
    """Return whether a function counts solutions, or terms that each solution has, so that Spark need not gather them."""
    if binding.definition is not None or binding.function != "COUNT":
        return False
    return binding.argument is None or isinstance(binding.argument, Variable)


def _gathered(binding: AggregateBinding, places: Mapping[Argument, str]) -> Column:
    """Return what a function needs of a group: a number, or the values of the variables in its argument for each solution."""
    from pyspark.sql import functions as F

    if not _counts(binding):
        columns = [F.col(places[variable]) for variable in _variables(binding)]
        return F.collect_list(F.array(*columns or [F.lit("")]))
    if binding.argument is None or not binding.distinct:
        return F.count(F.lit(1))
    return F.count_distinct(F.col(places[binding.argument]))  # type: ignore[index]  # a variable


def _result(binding: AggregateBinding, name: str) -> Column:
    """Return the text of a function's result; null for an error."""
    from pyspark.sql import functions as F

    if _counts(binding):
        return F.concat(F.lit('"'), F.col(name).cast("string"), F.lit(f'"^^{term_text(XSD.integer)}'))
    return F.udf(_value(binding, _variables(binding)), "string")(F.col(name))


def _variables(binding: AggregateBinding) -> tuple[Variable, ...]:
    assert binding.argument is not None
    return tuple(dict.fromkeys(variables_of(binding.argument)))


def _value(binding: AggregateBinding, variables: tuple[Variable, ...]) -> Callable[[Sequence[Sequence[str]]], str | None]:
    """Return a function of texts that Spark can send to its workers, where the argument is compiled once."""
    compiled: list[Callable[..., object]] = []

    def compute(solutions: Sequence[Sequence[str]]) -> str | None:
        if not compiled:
            assert binding.argument is not None
            compiled.append(compile_expression(binding.argument, variables))
        values = [compiled[0]([term_from_text(text) for text in texts[: len(variables)]]) for texts in solutions]
        term = value_of_group(binding, values)  # type: ignore[arg-type]  # terms
        return None if term is None else term_text(term)

    return compute
