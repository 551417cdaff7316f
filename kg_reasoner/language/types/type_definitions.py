"""Checks of the types that a program defines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kg_reasoner.errors import RuleSyntaxError
from kg_reasoner.program import TypeDefinition

__all__ = ["check_definitions"]


def check_definitions(new: Iterable[TypeDefinition], known: Mapping[str, TypeDefinition]) -> None:
    """Check that no type is another name of itself, and that each constructor belongs to one type.

    Args:
        new: The definitions to check.
        known: All definitions by name, with the new ones.

    Raises:
        RuleSyntaxError: One of them does not hold; the error is at the first violation.
    """
    owners: dict[str, TypeDefinition] = {}
    for definition in known.values():
        for variant in definition.variants:
            owners.setdefault(variant.name, definition)
    for definition in new:
        names = [definition.name]
        while (alias := known[names[-1]].alias) in known:
            if alias in names:
                cycle = " -> ".join((*names, alias))
                hint = "a type may refer to itself within a structure, as in list<t>, or in the field of a constructor"
                raise RuleSyntaxError(f"{definition.name} is another name of itself: {cycle}", definition.span, hint)
            names.append(alias)
        for variant in definition.variants:
            owner = owners[variant.name]
            if owner.name != definition.name:
                message = f"{variant.name} is a constructor of {owner.name}, too"
                raise RuleSyntaxError(message, definition.span, "choose another name")
            columns = [field.name for field in variant.fields]
            for column in columns:
                if columns.count(column) > 1:
                    raise RuleSyntaxError(f"{variant.name} has two fields {column}", definition.span)
