"""FILTER and BIND as columns with SPARQL's semantics, on texts of terms.

Comparing a variable with an IRI for (in)equality is a comparison of texts. All other expressions are compiled as in the in-process
reasoner and run row by row in Spark's Python workers, where the package must be installed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING

from kg_reasoner.expressions.compile import compile_expression, compile_filter
from kg_reasoner.program import Bind, Call, Expression, Filter, Variable, variables_of
from kg_reasoner.terms import IRI, BlankNode, term_from_text, term_text

if TYPE_CHECKING:
    from pyspark.sql import Column

__all__ = ["condition", "says_different", "value"]


def condition(part: Filter, names: Mapping[Variable, str]) -> Column:
    """Return a column that is true for the rows accepted by a filter; `names` are the columns of variables."""
    from pyspark.sql import functions as F

    if isinstance(part.expression, Call) and part.expression.name == "&&":
        both = [condition(Filter(argument), names) for argument in part.expression.arguments]
        return reduce(lambda left, right: left & right, both)
    simple = _comparison_of_names(part.expression)
    if simple is not None:
        operator, variable, term = simple
        column = F.col(names[variable])
        return column == F.lit(term_text(term)) if operator == "=" else column != F.lit(term_text(term))
    distinct = _distinct_terms(part.expression)
    if distinct is not None:
        left, right = (F.col(names[variable]) for variable in distinct)
        return left != right
    variables = tuple(dict.fromkeys(variables_of(part.expression)))
    columns = [F.col(names[variable]) for variable in variables]
    passes = F.udf(_passes(part.expression, variables), "boolean")(*columns)
    if says_different(part.expression) and len(columns) == 2:
        # Spark tests what needs no Python first: equal texts are equal, except those of NaN; and names of different texts differ.
        left, right = columns
        both_literals = left.startswith('"') & right.startswith('"')
        return ((left != right) | left.contains("NaN")) & F.when(both_literals, passes).otherwise(F.lit(True))
    return passes


def value(part: Bind, names: Mapping[Variable, str]) -> Column:
    """Return a column with the text of the result of a BIND; null for an error."""
    from pyspark.sql import functions as F

    variables = tuple(dict.fromkeys(variables_of(part.expression)))
    compute = F.udf(_value(part.expression, variables), "string")
    return compute(*(F.col(names[variable]) for variable in variables))


def _comparison_of_names(expression: Expression) -> tuple[str, Variable, IRI | BlankNode] | None:
    """Return the parts of ``?x = <iri>`` and ``?x != <iri>`` in either order: IRIs are equal if their texts are."""
    if not isinstance(expression, Call) or expression.name not in ("=", "!="):
        return None
    left, right = expression.arguments
    if isinstance(right, Variable):
        left, right = right, left
    return (expression.name, left, right) if isinstance(left, Variable) and isinstance(right, IRI | BlankNode) else None


def _distinct_terms(expression: Expression) -> tuple[Variable, Variable] | None:
    """Return the variables of ``!SAMETERM(?x, ?y)``."""
    inner = expression.arguments[0] if isinstance(expression, Call) and expression.name == "!" else None
    if not isinstance(inner, Call) or inner.name != "SAMETERM":
        return None
    left, right = inner.arguments
    return (left, right) if isinstance(left, Variable) and isinstance(right, Variable) else None


def says_different(expression: Expression) -> bool:
    """Return whether an expression is ``?x != ?y``."""
    if not isinstance(expression, Call) or expression.name != "!=":
        return False
    return all(isinstance(argument, Variable) for argument in expression.arguments)


def _passes(expression: Expression, variables: tuple[Variable, ...]) -> Callable[..., bool]:
    """Return a function of texts that Spark can send to its workers, where it is compiled once."""
    compiled: list[Callable[..., bool]] = []

    def passes(*texts: str) -> bool:
        if not compiled:
            compiled.append(compile_filter(expression, variables))
        return compiled[0]([term_from_text(text) for text in texts])

    return passes


def _value(expression: Expression, variables: tuple[Variable, ...]) -> Callable[..., str | None]:
    compiled: list[Callable[..., object]] = []

    def compute(*texts: str) -> str | None:
        if not compiled:
            compiled.append(compile_expression(expression, variables))
        term = compiled[0]([term_from_text(text) for text in texts])
        return None if term is None else term_text(term)  # type: ignore[arg-type]  # a term

    return compute
