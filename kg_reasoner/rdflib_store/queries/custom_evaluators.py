"""The evaluators of SPARQL that users have registered with rdflib."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

__all__ = ["Evaluator", "foreign_evaluators"]

Evaluator: TypeAlias = Callable[[Any, Any], Any]
"""A function in ``CUSTOM_EVALS``, of a QueryContext and a part of a query; NotImplementedError leaves it to others."""


def foreign_evaluators() -> tuple[Evaluator, ...]:
    """Return the evaluators in ``CUSTOM_EVALS`` that are not this package's, in the order of their registration.

    Returns:
        The evaluators.
    """
    from rdflib.plugins.sparql import CUSTOM_EVALS

    return tuple(evaluator for evaluator in list(CUSTOM_EVALS.values()) if not _is_ours(evaluator))


def _is_ours(evaluator: Evaluator) -> bool:
    return str(getattr(evaluator, "__module__", "")).partition(".")[0] == "kg_reasoner"
