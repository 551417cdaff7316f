"""Definitions that a text may refer to: the types, functions and declarations of the program that it is added to, and its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from kg_reasoner.data_classes import dataclass
from kg_reasoner.expressions.types import Types
from kg_reasoner.program import Column, Program, TypeDefinition, Variant

__all__ = ["Known"]

_OPTIONAL = TypeDefinition("optional", (Variant("Some", (Column("value"),)), Variant("None", ())))
"""The constructors that need no definition."""


@dataclass
class Known:
    """Definitions by their names.

    Attributes:
        types: The types and their constructors.
        functions: Functions by name: `LanguageFunction` or `PythonFunction`.
        reductions: Aggregate functions of the program by name: `Reduction`, `WithState`.
        columns: The columns of declared relations.
    """

    types: Types = field(default_factory=Types)
    functions: dict[str, Any] = field(default_factory=dict)
    reductions: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, tuple[Column, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, program: Program, functions: Mapping[str, Any] | None = None, reductions: Mapping[str, Any] | None = None) -> Known:
        """Return the definitions of a program and those that were registered beside it."""
        return cls(
            Types(program.types),
            {**{definition.name: definition.callee for definition in program.functions}, **(functions or {})},
            {**{definition.name: definition.callee for definition in program.reductions}, **(reductions or {})},
            {declaration.predicate: declaration.columns for declaration in program.declarations},
        )

    def variant(self, name: str) -> Variant | None:
        """Return the constructor of a name."""
        found = self.types.constructors.get(name)
        if found is not None:
            return found[1]
        return next((variant for variant in _OPTIONAL.variants if variant.name == name), None)
