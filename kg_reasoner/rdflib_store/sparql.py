"""SPARQL for rdflib's evaluator: queries over stores of this package are evaluated by `kg_reasoner.sparql`.

rdflib asks this module, its `rdf.plugins.sparqleval` extension, for each part of a query. It takes over for graphs over stores of
this package: whole queries, and patterns that another evaluator passes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, cast

from kg_reasoner.rdflib_store.queries.query_dataset import DatasetStore

if TYPE_CHECKING:
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.plugins.sparql.sparql import FrozenBindings, QueryContext

_QUERIES: Final = ("SelectQuery", "AskQuery", "ConstructQuery", "DescribeQuery")


def evaluate(context: QueryContext, part: CompValue) -> Any:
    """Return the solutions of a part of a query over a store of this package, in the form of rdflib's evaluator.

    Raises:
        NotImplementedError: The store is another one; rdflib continues.
        NotAllowedError: The owner of the store has not allowed a SERVICE.
    """
    store = getattr(context.graph, "store", None)
    if not isinstance(store, DatasetStore):
        raise NotImplementedError
    bindings = {str(name): value for name, value in dict(context.bindings).items()}
    if part.name in _QUERIES:
        return _whole(context, store, part, bindings)
    return _solutions(context, store, part, bindings)


def _whole(context: QueryContext, store: DatasetStore, part: CompValue, bindings: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a whole query in rdflib's form."""
    from kg_reasoner.rdflib_store.queries.sparql_dataset import evaluated, rdflib_result

    base = getattr(context.prologue, "base", None)
    result = rdflib_result(store.dataset, evaluated(store.dataset, cast(Any, context.graph), part, bindings, base))
    found: dict[str, Any] = {"type_": result.type}
    if result.type == "SELECT":
        found |= {"vars_": result.vars, "bindings": result.bindings}
    elif result.type == "ASK":
        found["askAnswer"] = result.askAnswer
    else:
        found["graph"] = result.graph
    return found


def _solutions(context: QueryContext, store: DatasetStore, part: CompValue, bindings: dict[str, Any]) -> Iterator[FrozenBindings]:
    """Yield the solutions of a pattern, each with the outer bindings."""
    from rdflib.plugins.sparql.sparql import FrozenBindings

    from kg_reasoner.errors import UnsupportedError
    from kg_reasoner.rdflib_store.queries.sparql_dataset import evaluated_pattern, rdflib_result
    from kg_reasoner.sparql.translate import translate_pattern

    try:
        answer = evaluated_pattern(store.dataset, cast(Any, context.graph), translate_pattern(part), bindings)
    except UnsupportedError:
        raise NotImplementedError from None
    outside = dict(context.bindings)
    return (FrozenBindings(context, {**outside, **solution}) for solution in rdflib_result(store.dataset, answer).bindings)
