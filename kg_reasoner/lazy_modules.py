"""Modules that are imported when they are first used, for annotations that name their classes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["LazyModule"]


class LazyModule:
    """Stands for a module whose attributes only annotations name, so that `typing.get_type_hints` finds them.

    Type checkers need the import itself, under TYPE_CHECKING; this is for the other branch. The classes of a library that is not
    installed are `typing.Any`.

    Args:
        name: The name of the module.

    >>> fractions = LazyModule("fractions")
    >>> fractions.Fraction(1, 2)
    Fraction(1, 2)
    >>> LazyModule("no_such_module").Table
    typing.Any
    >>> hasattr(LazyModule("no_such_module"), "__wrapped__")
    False
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # what looks at all objects of a module, as doctest does, is to import nothing
            raise AttributeError(f"{self._name!r} is not asked for {attribute}")
        try:
            module = import_module(self._name)
        except ModuleNotFoundError as error:
            if not f"{self._name}.".startswith(f"{error.name}."):  # the library is there, but lacks another one
                raise
            return Any
        return getattr(module, attribute)
