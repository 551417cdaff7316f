"""Records in JSON: ``{"Ok": {"value": 1}}``, ``{"value": 1}`` for a type with one constructor, and ``"None"`` without fields."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from kg_reasoner.program import TypeDefinition, Variant

__all__ = ["members_of_record", "record_in_json"]

_EXAMPLES: Final = 3
"""The number of forms that a message shows."""


def members_of_record(value: object, definition: TypeDefinition) -> tuple[Variant, list[object]]:
    """Return the constructor of a record in JSON, and its fields in order.

    Raises:
        ValueError: The value is not a record of the type.
    """
    variants = {variant.name: variant for variant in definition.variants}
    if isinstance(value, str) and value in variants and not variants[value].fields:
        return variants[value], []
    if isinstance(value, dict):
        only = definition.variants[0] if len(variants) == 1 else None
        if only is not None and not (len(value) == 1 and only.name in value):
            return only, _fields(value, only)
        name = next(iter(value), None)
        if len(value) == 1 and name in variants:
            return variants[name], _fields(value[name], variants[name])
    raise ValueError(f"{_shown(value)} is not a value of {definition.name}, which is written {_forms(definition)}")


def _fields(value: object, variant: Variant) -> list[object]:
    names = [field.name for field in variant.fields]
    if not isinstance(value, dict) or sorted(value) != sorted(names):
        listed = ", ".join(names) or "no fields"
        raise ValueError(f"{_shown(value)} does not have the fields of {variant.name}: {listed}")
    return [value[name] for name in names]


def record_in_json(definition: TypeDefinition, variant: Variant, members: Sequence[str]) -> str:
    """Return a record in JSON, given its members in JSON."""
    name = json.dumps(variant.name, ensure_ascii=False)
    if not variant.fields:
        return name
    pairs = zip((json.dumps(field.name, ensure_ascii=False) for field in variant.fields), members, strict=True)
    fields = f"{{{', '.join(f'{key}: {member}' for key, member in pairs)}}}"
    return fields if len(definition.variants) == 1 else f"{{{name}: {fields}}}"


def _forms(definition: TypeDefinition) -> str:
    """Return the forms of a type's values, for messages."""
    forms = [record_in_json(definition, variant, ["..."] * len(variant.fields)) for variant in definition.variants[:_EXAMPLES]]
    return " or ".join(forms) + (" ..." if len(definition.variants) > _EXAMPLES else "")


def _shown(value: object) -> str:
    if isinstance(value, str):
        return repr(str(value))
    if isinstance(value, dict):
        return f"an object with {', '.join(map(str, value))}" if value else "an empty object"
    return "an array" if isinstance(value, list) else json.dumps(value, default=str)
