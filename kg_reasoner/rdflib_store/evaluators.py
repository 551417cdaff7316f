"""The evaluator of SPARQL that is registered with rdflib, and those of the user, which are asked before it.

rdflib asks the functions in ``rdflib.plugins.sparql.CUSTOM_EVALS`` in the order of their registration, and takes the first answer.
This package's evaluator is registered when rdflib loads its plugins, before any that a program registers, and it answers for most
parts of a query. For a query over a store of this package, it therefore asks the others first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.rdflib_store.queries.custom_evaluators import Evaluator, foreign_evaluators
from kg_reasoner.rdflib_store.queries.query_dataset import DatasetStore

if TYPE_CHECKING:
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.plugins.sparql.sparql import QueryContext

__all__ = ["NAME", "Evaluator", "evaluate", "foreign_evaluators"]

NAME: Final = "KGReasoner"
"""The name under which this package's evaluator is registered."""

_ALONE: Final = ("BGP", "ServiceGraphPattern")
"""Parts that this package evaluates while others are registered: those without parts inside, for which the others are not asked."""


def evaluate(context: QueryContext, part: CompValue) -> Any:
    """Return the solutions of a part of a query over a store of this package: those of the first other evaluator that answers.

    If none does, they are those of `kg_reasoner.rdflib_store.sparql.evaluate`. While others are registered, this package does not
    evaluate several parts in one step, so that the others are asked for each of them.

    Raises:
        NotImplementedError: No evaluator takes the part, or the store is another one; rdflib continues.
        NotAllowedError: The owner of the store has not allowed a SERVICE.
    """
    from kg_reasoner.rdflib_store import sparql

    if not isinstance(getattr(context.graph, "store", None), DatasetStore):
        raise NotImplementedError
    foreign = foreign_evaluators()
    for evaluator in foreign:
        try:
            return evaluator(context, part)
        except NotImplementedError:
            continue
    if foreign and part.name not in _ALONE:
        raise NotImplementedError
    return sparql.evaluate(context, part)
