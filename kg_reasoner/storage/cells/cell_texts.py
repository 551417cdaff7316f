"""Terms as cells of a table of facts, which are read as the same terms (see `table_terms`).

A term that does not have its column's type is written as in an ``any`` column.
"""

from __future__ import annotations

import json
from typing import Final

from kg_reasoner.expressions.structures import decode
from kg_reasoner.expressions.types import Types, parts
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.storage.cells.plain_cells import plain_cell
from kg_reasoner.storage.cells.record_cells import record_in_json
from kg_reasoner.storage.cells.table_terms import COLLECTIONS, NO_TYPES, NOTHING, Vocabulary, cell_reader, optional_of
from kg_reasoner.terms import XSD, Literal, Term, term_text

__all__ = ["format_cell"]

_JSON_NUMBER: Final = regular_expression(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def format_cell(term: Term, type_: str = "any", types: Types = NO_TYPES) -> str:
    """Return the cell that denotes a term in a column of a type (before any quoting of CSV).

    Args:
        term: The term.
        type_: The type.
        types: The types that a program defines.

    >>> terms = Literal("a"), Literal("7"), Literal("7", XSD.integer.value), Literal("true", XSD.boolean.value)
    >>> print(*map(format_cell, terms))
    a "7" 7 "true"^^<http://www.w3.org/2001/XMLSchema#boolean>
    """
    type_ = types.meant(type_)
    if (inner := optional_of(type_)) is not None and (found := _optional_cell(term, inner, types)) is not None:
        return found
    is_structured = parts(type_)[0] in COLLECTIONS or type_ in types.definitions
    if is_structured and (found := _structured_cell(term, type_, types)) is not None:
        return found
    return plain_cell(term, type_)


def _optional_cell(term: Term, inner: str, types: Types) -> str | None:
    """Return the cell of an optional value, or None if it would be read as another term."""
    if term == NOTHING:
        return ""
    found = decode(term)
    if found is None or found.constructor != "Some" or len(found.members) != 1:
        return None
    cell = format_cell(found.members[0], inner, types)
    try:
        return cell if cell and cell_reader(f"optional<{inner}>", Vocabulary({}, types))(cell) == term else None
    except ValueError:
        return None


def _structured_cell(term: Term, type_: str, types: Types) -> str | None:
    """Return a collection, record or value of an enumeration as a cell, or None if it would be read as another term."""
    try:
        definition = types.definitions.get(type_)
        if definition is not None and definition.values:
            text = term.lexical if isinstance(term, Literal) else format_cell(term)
        else:
            text = _json_of(term, type_, types)
            if definition is not None and text.startswith('"'):
                text = json.loads(text)
        return text if cell_reader(type_, Vocabulary({}, types))(text) == term else None
    except (ValueError, RecursionError):
        return None


def _json_of(term: Term, type_: str, types: Types) -> str:
    """Return the JSON of a term of a type.

    Raises:
        ValueError: There is none.
    """
    type_ = types.meant(type_)
    kind, *inner = parts(type_)
    found = decode(term) if isinstance(term, Literal) else None
    definition = types.definitions.get(type_)
    if definition is not None and found is not None and found.kind == "record":
        for variant in definition.variants:
            if variant.name == found.constructor and len(variant.fields) == len(found.members):
                columns = zip(found.members, variant.fields, strict=True)
                return record_in_json(definition, variant, [_json_of(member, column.type, types) for member, column in columns])
    if kind == "optional" and found is not None and found.constructor in ("Some", "None"):
        return _json_of(found.members[0], inner[0], types) if found.members else "null"
    if found is not None and kind == "any":
        kind, inner = found.kind, ["any", "any"]
    if found is not None and found.kind == kind:
        if kind == "map":
            pairs = [
                (_json_of(key, inner[0], types), _json_of(value, inner[1], types))
                for key, value in zip(found.members[::2], found.members[1::2], strict=True)
            ]
            if all(key.startswith('"') for key, _ in pairs):
                return f"{{{', '.join(f'{key}: {value}' for key, value in pairs)}}}"
            return f"[{', '.join(f'[{key}, {value}]' for key, value in pairs)}]"
        if kind in COLLECTIONS:
            names = inner if kind == "tuple" and inner != ["any", "any"] else inner[:1] * len(found.members)
            return f"[{', '.join(_json_of(member, name, types) for member, name in zip(found.members, names, strict=True))}]"
    if not isinstance(term, Literal) and kind != "iri":
        raise ValueError(f"{term} has no form in JSON")
    if isinstance(term, Literal) and term.datatype == XSD.boolean.value and term.lexical in ("true", "false"):
        return term.lexical
    cell = term.lexical if isinstance(term, Literal) else term_text(term)[1:-1]
    return (
        cell
        if isinstance(term, Literal) and kind != "string" and definition is None and _JSON_NUMBER.fullmatch(cell)
        else json.dumps(cell, ensure_ascii=False)
    )
