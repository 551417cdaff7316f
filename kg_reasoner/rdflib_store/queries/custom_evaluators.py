"""The evaluators of SPARQL that users have registered with rdflib."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.plugins.sparql.sparql import QueryContext

__all__ = ["Evaluator", "foreign_evaluators"]

Evaluator: TypeAlias = "Callable[[QueryContext, CompValue], Any]"
"""A function in ``CUSTOM_EVALS``. It raises NotImplementedError for the parts of a query that it leaves to others."""


def foreign_evaluators() -> tuple[Evaluator, ...]:
    """Return the evaluators in ``CUSTOM_EVALS`` that are not this package's, in the order of their registration.

    Returns:
        The evaluators.
    """
    from rdflib.plugins.sparql import CUSTOM_EVALS

    return tuple(evaluator for evaluator in list(CUSTOM_EVALS.values()) if not _is_ours(evaluator))


def _is_ours(evaluator: Evaluator) -> bool:
    return str(getattr(evaluator, "__module__", "")).partition(".")[0] == "kg_reasoner"
