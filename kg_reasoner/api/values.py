"""Values that programs give: terms of any library, or Python values for literals."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from kg_reasoner.engine.encoding import as_term
from kg_reasoner.terms import Term, literal

__all__ = ["as_value"]

_PYTHON_VALUES: Final = (bool, int, float, Decimal, str)


def as_value(value: Any) -> Term:
    """Return a term, or the literal of a Python value. Terms of rdflib are strings, too, and taken as terms.

    Raises:
        LoadError: It is neither.
    """
    is_python = isinstance(value, _PYTHON_VALUES) and not type(value).__module__.startswith("rdflib")
    return literal(value) if is_python else as_term(value)
