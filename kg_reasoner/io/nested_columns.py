"""Columns of lists, sets and optional values as columns of Arrow.

A column of a relation that is declared as ``list<t>`` or ``set<t>`` is a column of Arrow's lists, and one of ``optional<t>`` has
nulls, if `t` is a list or set itself, or a type of integers, strings, IRIs, doubles, booleans or dates, and if all values fit.
Others are columns of texts: values of a declared datatype that Arrow's type does not have are their lexical forms.
`kg_reasoner.tables.table_facts` reads them back in columns of these types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.expressions.structures import decode
from kg_reasoner.expressions.types import python_value
from kg_reasoner.expressions.values import value_of
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.cells.table_terms import parts_of
from kg_reasoner.storage.grouping import distinct_ids
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, XSD, Literal, Term, literal, term_from_text

if TYPE_CHECKING:
    import pyarrow

__all__ = ["with_nested_columns"]

_DATATYPES: Final = {
    **{name: XSD[name].value for name in ("integer", "decimal", "double", "float", "boolean", "date", "dateTime")},
    **dict.fromkeys(("signed", "unsigned"), XSD.integer.value),
}
"""The types whose terms are literals of one datatype that Arrow has a type for."""


def with_nested_columns(table: pyarrow.Table, types: Sequence[str], ids: Ids, dictionary: Dictionary) -> pyarrow.Table:
    """Return a table of facts with lists and nulls in its columns of collections and optional values, and with lexical forms in
    columns of literals that Arrow's types cannot represent.

    Args:
        table: The table, in which such values are texts.
        types: The declared types of its columns.
        ids: The facts, shape (n, arity).
        dictionary: The dictionary of the ids.
    """
    import pyarrow

    for place, type_ in enumerate(types):
        name = parts_of(type_)[0]
        metadata = table.schema.field(place).metadata or {}
        if name in _DATATYPES and metadata.get(b"form") == b"term":
            numbers, places = distinct_ids(ids[:, place])
            terms = [term_from_text(text) for text in dictionary.texts_of(numbers)]
            array = pyarrow.array([term.lexical for term in terms if isinstance(term, Literal)]).take(pyarrow.array(places))
            field = pyarrow.field(table.column_names[place], array.type, metadata={"form": "literal", "datatype": _DATATYPES[name]})
            table = table.set_column(place, field, array)
        if name not in ("list", "set", "optional"):
            continue
        kind = _arrow_type(type_)
        if kind is None:
            continue
        numbers, places = distinct_ids(ids[:, place])
        try:
            values = [_value(term_from_text(text), type_) for text in dictionary.texts_of(numbers)]
            array = pyarrow.array(values, kind).take(pyarrow.array(places))
        except (TypeError, ValueError, OverflowError, RecursionError, pyarrow.ArrowException):
            continue  # a value that Arrow's type does not have
        table = table.set_column(place, pyarrow.field(table.column_names[place], kind), array)
    return table


def _arrow_type(type_: str) -> Any:
    """Return the type of Arrow for values of a type, or None if there is none."""
    import pyarrow

    name, *inner = parts_of(type_)
    if name in ("list", "set", "optional") and len(inner) == 1:
        within = None if parts_of(inner[0])[0] == "optional" else _arrow_type(inner[0])  # a null within would have no meaning
        return within if name == "optional" or within is None else pyarrow.list_(within)
    return {
        "integer": pyarrow.int64(),
        "signed": pyarrow.int64(),
        "unsigned": pyarrow.int64(),
        "string": pyarrow.string(),
        "iri": pyarrow.string(),
        "double": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
        "date": pyarrow.date32(),
    }.get(name)


def _value(term: Term, type_: str) -> Any:
    """Return the Python value of a term of a type.

    Raises:
        TypeError: It is not of the type, or would be read as another term.
    """
    name, *inner = parts_of(type_)
    if name in ("list", "set", "optional"):
        found = decode(term)
        members = () if found is None else found.members
        if name == "optional":
            if found is None or found.constructor not in ("Some", "None"):
                raise TypeError(f"{term} is not optional")
            value = _value(members[0], inner[0]) if members else None
            if value == "":  # an empty cell is the value that is missing
                raise TypeError("an empty text that is there")
            return value
        if found is None or found.kind != name:
            raise TypeError(f"{term} is not a {name}")
        return [_value(member, inner[0]) for member in members]
    if name == "iri" and isinstance(term, IRI):
        return term.value
    value = python_value(term)
    if isinstance(value, Term | bytes) or (name in ("integer", "double", "signed", "unsigned") and not _is_canonical(term)):
        raise TypeError(f"{term} has no value of Arrow's")
    return value


def _is_canonical(term: Term) -> bool:
    """Return whether the value of a number is written as in this literal."""
    return isinstance(term, Literal) and value_of(term) is not None and literal(python_value(term)) == term
