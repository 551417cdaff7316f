"""Cells of a table of facts as terms.

The type of its column (`kg_reasoner.program.Column`) determines how a cell is read:

=======  ===========================================================================================================================
iri      ``<http://example.org/a>``, the same without the brackets, or a name with a prefix that the program declares
string   any text, unchanged
integer  ``7``, ``-7``; ``007`` is the literal 7
decimal  ``7``, ``7.50``
double   ``7``, ``7.5``, ``75e-1``, ``INF``, ``NaN``; each becomes the literal that the engine computes, ``7.5E0``
boolean  ``true``, ``false``, ``1``, ``0``; ``True`` and ``False``, as pandas writes them
float    as ``double``, in its lexical form; ``date`` and ``dateTime``: ``2026-01-02``, ``2026-01-02T03:04:05Z``
list     an array in JSON, ``["a", "b"]``, or a literal of the list in N-Triples form; so are ``set`` and ``tuple``; ``map`` is an
         object, or an array of pairs. A text in it is a cell of the members' type, ``null`` is a missing optional value
record   an object in JSON with its fields, ``{"value": 1}``, that of its constructor if the type has several, ``{"Ok": {"value":
         1}}``, or a name without fields, ``None``; or a literal in N-Triples form. An enumeration has the cells of its values
any      a term in N-Triples form if it begins with ``<``, ``_:`` or a quotation mark (its datatype may be a name with a prefix);
         a number as in Turtle (``7``, ``7.5``, ``7.5e0``), in its lexical form; otherwise a string
=======  ===========================================================================================================================

`cell_texts` writes terms as cells, each of which is read as the same term. `is_of_type` decides which terms have a type: those
that a cell can denote, in any valid lexical form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from kg_reasoner.errors import ReasonerError
from kg_reasoner.expressions.structures import NAMESPACE, encode, is_structure
from kg_reasoner.expressions.types import Types, parts
from kg_reasoner.expressions.values import value_of
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.program import TypeDefinition
from kg_reasoner.storage.cells.plain_cells import DECIMAL, DOUBLE, FORMS, INTEGER, TURTLE_DECIMAL, TURTLE_DOUBLE, plain_cell
from kg_reasoner.storage.cells.record_cells import members_of_record
from kg_reasoner.terms import IRI, XSD, BlankNode, Literal, Term, is_iri, literal, term_from_text

__all__ = [
    "COLLECTIONS",
    "NOTHING",
    "NO_TYPES",
    "Vocabulary",
    "cell_reader",
    "collection",
    "is_of_type",
    "optional_of",
    "parts_of",
    "something",
    "text_reader",
    "with_article",
]

COLLECTIONS: Final = ("list", "set", "tuple", "map")
"""The types whose cells are in JSON."""
NOTHING: Final = encode("record", (), "None")
"""The optional value that is missing."""

NO_TYPES: Final = Types()


class Vocabulary(dict[str, str]):
    """The names to which cells refer: prefixes, with their namespaces, and the types of a program."""

    def __init__(self, prefixes: Mapping[str, str], types: Types = NO_TYPES) -> None:
        super().__init__(prefixes)
        self.types = types


_RECORD: Final = f"^^<{NAMESPACE}record>"

_PREFIXED_DATATYPE: Final = regular_expression(r'(".*"\^\^)([A-Za-z][\w.\-]*)?:([\w.\-]*)', re.DOTALL)
_BLANK_LABEL: Final = regular_expression(r"[^\W_][\w.\-]*|_[\w.\-]*")
_SURROGATE: Final = regular_expression("[\ud800-\udfff]")
_BOOLEANS: Final = {"true": True, "1": True, "True": True, "false": False, "0": False, "False": False}

_NOUNS: Final = {
    "iri": "an IRI",
    "string": "a string",
    "integer": "an integer",
    "decimal": "a decimal number",
    "double": "a double",
    "boolean": "a boolean",
    "any": "a term",
}


def with_article(type_: str) -> str:
    """Return the noun phrase for a column type in messages."""
    return _NOUNS.get(type_, f"{'an' if type_[:1] in 'aeiou' else 'a'} {type_}")


def is_of_type(term: Term, type_: str) -> bool:
    """Return whether a term is allowed in a column of a type.

    >>> is_of_type(literal(7), "integer"), is_of_type(literal(7), "decimal"), is_of_type(literal("7"), "string")
    (True, False, True)
    """
    if type_ not in _NOUNS:
        return Types().type_of(type_).accepts(term)
    if type_ == "any":
        return True
    if type_ == "iri":
        return isinstance(term, IRI)
    if not isinstance(term, Literal) or term.language is not None:
        return False
    if type_ == "string":
        return term.datatype == XSD.string.value
    datatype, form = FORMS[type_]
    return term.datatype == datatype and form.fullmatch(term.lexical) is not None


def optional_of(type_: str) -> str | None:
    """Return the type of the values in an optional type, or None for another type.

    >>> optional_of("optional<list<integer>>"), optional_of("integer")
    ('list<integer>', None)
    """
    name, *parameters = parts(type_)
    return parameters[0] if name == "optional" and len(parameters) == 1 else None


def cell_reader(type_: str, prefixes: Mapping[str, str]) -> Callable[[str], Term]:
    """Return the function that reads a cell in a column of a type; it raises ValueError with a message about the cell.

    Args:
        type_: The type.
        prefixes: Namespaces of prefixes; a `Vocabulary` has the types that a program defines, too.
    """
    types = _types_of(prefixes)
    type_ = types.meant(type_)
    if (definition := types.definitions.get(type_)) is not None:
        return _enumeration_reader(definition) if definition.values else _structure_reader(type_, prefixes)
    readers: dict[str, Callable[[str], Term]] = {
        "iri": lambda cell: _read_iri(cell, prefixes),
        "string": Literal,
        "integer": _read_integer,
        "decimal": _read_decimal,
        "double": _read_double,
        "boolean": _read_boolean,
        "any": lambda cell: _read_any(cell, prefixes),
        "date": lambda cell: _read_valid(cell, "date"),
        "dateTime": lambda cell: _read_valid(cell, "dateTime"),
        "float": lambda cell: _read_valid(cell, "float"),
    }
    if type_.startswith(("signed<", "unsigned<")):
        return _read_integer
    if (inner := optional_of(type_)) is not None:
        return _optional_reader(cell_reader(inner, prefixes), empty=NOTHING)
    if parts(type_)[0] in COLLECTIONS and len(parts(type_)) > 1:
        return _structure_reader(type_, prefixes)
    return readers.get(type_, readers["any"])


class _JsonNumber(str):
    """The text of a number in JSON."""

    __slots__ = ()


def _types_of(prefixes: Mapping[str, str]) -> Types:
    return prefixes.types if isinstance(prefixes, Vocabulary) else NO_TYPES


def _enumeration_reader(definition: TypeDefinition) -> Callable[[str], Term]:
    """Return the function that reads a value of an enumeration."""
    cells = [plain_cell(value, "any") for value in definition.values]
    values = dict(zip(cells, definition.values, strict=True))
    for value in definition.values:
        if isinstance(value, Literal):
            values.setdefault(value.lexical, value)

    def reader(cell: str) -> Term:
        found = values.get(cell)
        if found is None:
            raise ValueError(f"{cell!r} is not a value of {definition.name}: {', '.join(cells)}")
        return found

    return reader


def _structure_reader(type_: str, prefixes: Mapping[str, str]) -> Callable[[str], Term]:
    """Return the function that reads a collection or a record of a type: JSON, or a literal in N-Triples form."""
    types = _types_of(prefixes)
    accepts = _acceptance(type_, types)
    definition = types.definitions.get(type_)
    names = {variant.name for variant in definition.variants} if definition is not None else set()

    def reader(cell: str) -> Term:
        try:
            if cell in names:
                term = _of_json(cell, type_, prefixes)
            else:
                term = term_from_text(cell) if cell.startswith('"') else _of_json(_read_json(cell, type_, types), type_, prefixes)
        except RecursionError:
            raise ValueError(f"{cell[:20]!r}... is nested too deep") from None
        if not accepts(term):
            raise ValueError(f"{cell!r} is not {with_article(type_)}")
        return term

    return reader


def _acceptance(type_: str, types: Types) -> Callable[[Term], bool]:
    """Return whether terms are of a type, as far as that is known."""

    def accepts(term: Term) -> bool:
        try:
            return types.type_of(type_).accepts(term)
        except ReasonerError:  # the program defines a part of it: the facts are checked
            return is_structure(term)

    return accepts


def _read_json(cell: str, type_: str, types: Types) -> object:
    try:
        value = json.loads(cell, parse_int=_JsonNumber, parse_float=_JsonNumber, parse_constant=_JsonNumber)
    except ValueError:
        value = None
    if isinstance(value, list | dict):
        if "\\u" in cell and _SURROGATE.search(json.dumps(value, ensure_ascii=False, default=str)):
            raise ValueError(f"{cell!r} has half of a surrogate pair, which is not a character")
        return value
    definition = types.definitions.get(type_)
    if definition is not None:
        members_of_record(cell, definition)
    form = '{"key": ...}' if parts(type_)[0] == "map" else "[...]"
    raise ValueError(f"{cell!r} is not {with_article(type_)}, which is written in JSON: {form}")


def _of_json(value: object, type_: str, prefixes: Mapping[str, str]) -> Term:
    """Return the term of a value in JSON, as one of a type."""
    types = _types_of(prefixes)
    type_ = types.meant(type_)
    definition = types.definitions.get(type_)
    if definition is not None and definition.variants and not (isinstance(value, str) and value.startswith('"')):
        variant, fields = members_of_record(value, definition)
        members = [_of_json(field, column.type, prefixes) for field, column in zip(fields, variant.fields, strict=True)]
        return encode("record", members, variant.name)
    kind, *inner = parts(type_)
    if kind == "optional" and inner:
        return NOTHING if value is None else something(_of_json(value, inner[0], prefixes))
    if isinstance(value, bool) and kind in ("any", "term", "boolean"):
        return literal(value)
    if isinstance(value, _JsonNumber) and kind != "string":
        return cell_reader(type_, prefixes)(value)
    if isinstance(value, str) and not isinstance(value, _JsonNumber) and kind not in COLLECTIONS:
        return cell_reader(type_, prefixes)(value) if kind not in ("any", "term") else Literal(value)
    if kind == "any":
        kind, inner = "map" if isinstance(value, dict) else "list", ["any", "any"]
    pairs = kind == "map" and (isinstance(value, dict) or _is_pairs(value)) and len(inner) == 2
    if pairs:
        items = value.items() if isinstance(value, dict) else value
        typed = [(member, inner[place]) for pair in items for place, member in enumerate(pair)]  # type: ignore[attr-defined]
    elif isinstance(value, list) and kind in ("list", "set", "tuple") and (kind != "tuple" or len(value) == len(inner)):
        typed = list(zip(value, inner if kind == "tuple" else inner * len(value), strict=False))
    else:
        shape = (
            "an object"
            if isinstance(value, dict)
            else f"an array of {len(value)}"
            if isinstance(value, list)
            else json.dumps(value)
        )
        raise ValueError(f"{shape} is not {with_article(type_)}")
    return encode(kind, [_of_json(member, name, prefixes) for member, name in typed])


def _is_pairs(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)


def _optional_reader(read: Callable[[str], Term], empty: Term | None) -> Callable[[str], Term]:
    """Return the function that reads an optional value: a record as it is, or a value of another type."""

    def reader(cell: str) -> Term:
        if not cell and empty is not None:
            return empty
        return term_from_text(cell) if cell.endswith(_RECORD) else something(read(cell))

    return reader


def something(term: Term) -> Literal:
    """Return the optional value that is a term."""
    return encode("record", [term], "Some")


def collection(kind: str, terms: Iterable[Term]) -> Literal:
    """Return the ``list`` or ``set`` of some terms."""
    return encode(kind, terms)


def parts_of(type_: str) -> list[str]:
    """Return the name of a type and its parameters."""
    return parts(type_)


def text_reader(inner: str, prefixes: Mapping[str, str]) -> Callable[[str], Term]:
    """Return the function that reads a text that is not a cell, in a column of optional values: an empty text is a value."""
    return _optional_reader(cell_reader(inner, prefixes), empty=None)


def _read_valid(cell: str, type_: str) -> Term:
    term = Literal(cell, XSD[type_].value)
    if value_of(term) is None:
        raise ValueError(f"{cell!r} is not {with_article(type_)}")
    return term


def _read_iri(cell: str, prefixes: Mapping[str, str]) -> Term:
    if cell.startswith("<"):
        return term_from_text(cell)
    prefix, colon, local = cell.partition(":")
    if colon and prefix in prefixes:
        cell = prefixes[prefix] + local
    if not is_iri(cell):
        raise ValueError(f"{cell!r} is not an absolute IRI")
    return IRI(cell)


def _read_integer(cell: str) -> Term:
    if not INTEGER.fullmatch(cell):
        raise ValueError(f"{cell!r} is not {with_article('integer')}")
    digits = cell.lstrip("+-").lstrip("0") or "0"
    return Literal(f"-{digits}" if cell.startswith("-") and digits != "0" else digits, XSD.integer.value)


def _read_decimal(cell: str) -> Term:
    if not DECIMAL.fullmatch(cell):
        raise ValueError(f"{cell!r} is not {with_article('decimal')}")
    return Literal(cell, XSD.decimal.value)


def _read_double(cell: str) -> Term:
    if not DOUBLE.fullmatch(cell):
        raise ValueError(f"{cell!r} is not {with_article('double')}")
    return literal(float(cell))


def _read_boolean(cell: str) -> Term:
    if cell not in _BOOLEANS:
        raise ValueError(f"{cell!r} is not {with_article('boolean')}: true, false, 1 or 0")
    return literal(_BOOLEANS[cell])


def _read_any(cell: str, prefixes: Mapping[str, str]) -> Term:
    if cell.startswith("_:"):
        if not _BLANK_LABEL.fullmatch(cell, 2):
            raise ValueError(f"{cell!r} is not a valid blank node label; put quotation marks around a string that begins with _:")
        return BlankNode(cell[2:])
    if cell.startswith(("<", '"')):
        named = _PREFIXED_DATATYPE.fullmatch(cell)
        if named:
            prefix = named[2] or ""
            if prefix not in prefixes:
                raise ValueError(f"the program does not declare the prefix {prefix}:")
            cell = f"{named[1]}<{prefixes[prefix]}{named[3]}>"
        return term_from_text(cell)
    if cell and cell[-1] in ".0123456789":
        if INTEGER.fullmatch(cell):
            return Literal(cell, XSD.integer.value)
        if TURTLE_DECIMAL.fullmatch(cell):
            return Literal(cell, XSD.decimal.value)
        if TURTLE_DOUBLE.fullmatch(cell):
            return Literal(cell, XSD.double.value)
    return Literal(cell)
