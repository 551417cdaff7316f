"""Values that programs give: terms of any library, or Python values for literals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any, Final

from kg_reasoner.engine.facts.row_encoding import as_term
from kg_reasoner.errors import LoadError
from kg_reasoner.terms import Term, literal, plain_value

__all__ = ["as_value", "expect_bindings", "expect_prefixes", "expect_several"]

_PYTHON_VALUES: Final = (bool, int, float, Decimal, str, date)


def as_value(value: Any) -> Term:
    """Return a term, or the literal of a Python value. Terms of rdflib are strings, too, and taken as terms.

    Raises:
        LoadError: It is neither.
    """
    value = plain_value(value)
    is_python = isinstance(value, _PYTHON_VALUES) and not type(value).__module__.startswith("rdflib")
    return literal(value) if is_python else as_term(value)


def expect_bindings(given: object) -> None:
    """Check that the values of variables are given as a mapping.

    Raises:
        LoadError: They are not.
    """
    if not isinstance(given, Mapping):
        raise LoadError(f"{given!r} is not a mapping from the names of variables to their values")


def expect_prefixes(given: object) -> None:
    """Check that prefixes are given as a mapping of texts.

    Raises:
        LoadError: They are not.
    """
    if not isinstance(given, Mapping) or not all(isinstance(text, str) for item in given.items() for text in item):
        raise LoadError(f"{given!r} is not a mapping from prefixes to namespaces")


def expect_several(given: object, what: str) -> None:
    """Check that several things are given as a collection. Text is not one, because it would be taken for its characters.

    Raises:
        LoadError: A single thing is given: text (terms of rdflib are text, too), bytes, or anything that cannot be iterated over.
    """
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise LoadError(f"{given!r} is not a collection of {what}", hint="give a list, even for a single one")
