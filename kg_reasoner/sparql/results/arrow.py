"""Results as tables of Arrow.

The type of a column depends on its terms; `form` in the metadata of its field says what they are:

* ``resource``: IRIs without angle brackets and blank nodes as ``_:label``, encoded with a dictionary;
* ``literal``: literals of one `datatype` (and, with rdf:langString, of one `language`). Numbers, truth values, dates and points in
  time are values of Arrow's types, see `kg_reasoner.sparql.results.arrow_values`, and any other literals are their lexical forms;
* ``term``: the N-Triples forms of any terms;
* ``unbound``: no solution binds the variable.

Strings are encoded with a dictionary where at least half of them are repeated. Unbound variables are null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.errors import MissingExtraError
from kg_reasoner.sparql.results.arrow_values import native_values
from kg_reasoner.sparql.results.result_columns import Columns, distinct
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.sparql.solutions.table import UNBOUND
from kg_reasoner.storage.arrays import Flags, Ids
from kg_reasoner.terms import RDF, XSD, unescape

if TYPE_CHECKING:
    import pyarrow

__all__ = ["EXTRA", "arrow_table"]

EXTRA: Final = "results"
"""The extra of this package that installs Arrow."""

_LARGEST: Final = (1 << 31) - 1
"""The number of bytes in an array of Arrow's ``string``; ``large_string`` holds more."""


def arrow_table(columns: Columns) -> pyarrow.Table:
    """Return columns as a table of Arrow.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("a result as a table of Arrow", EXTRA) from None
    fields, arrays = [], []
    for name, ids in zip(columns.names, columns.ids, strict=True):
        array, metadata = _column(ids, columns.terms)
        fields.append(pyarrow.field(name, array.type, metadata=metadata))
        arrays.append(array)
    if not arrays:  # Arrow takes the number of rows from a column
        return pyarrow.table({"": pyarrow.nulls(columns.size)}).select([])
    return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))


def _column(ids: Ids, terms: QueryTerms) -> tuple[Any, dict[str, str]]:
    """Return a column as an array of Arrow, and the metadata of its field."""
    import pyarrow

    found = distinct(ids)
    if not len(found.ids):
        return pyarrow.nulls(len(ids), pyarrow.string()), {"form": "unbound"}
    is_unbound = found.places < 0
    bound = len(ids) - int(np.count_nonzero(is_unbound))
    places = _numbers(found.places, ~is_unbound if bound < len(ids) else None)
    texts = _texts(found.ids, terms)
    values, metadata = _values(texts, terms.first_bytes(found.ids))
    if not _is_text(values):
        return values.take(places), metadata
    if metadata["form"] == "resource" or 2 * len(values) <= bound:
        return pyarrow.DictionaryArray.from_arrays(places, _compact(values)), metadata
    return _compact(values.take(places)), metadata


def _numbers(numbers: npt.NDArray[Any], are_known: Flags | None = None) -> Any:
    """Return integers as an array of Arrow, which is null where they are not known. ``pyarrow.array`` would import pandas."""
    import pyarrow

    known = None if are_known is None else pyarrow.py_buffer(np.packbits(are_known, bitorder="little"))
    data = pyarrow.py_buffer(np.ascontiguousarray(numbers))
    return pyarrow.Array.from_buffers(pyarrow.from_numpy_dtype(numbers.dtype), len(numbers), [known, data])


def _texts(ids: Ids, terms: QueryTerms) -> Any:
    """Return the N-Triples forms of distinct ids, gathered from the bytes of the dictionary."""
    import pyarrow

    offsets, data = terms.dictionary.buffers()
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(data)]
    known = pyarrow.Array.from_buffers(pyarrow.large_string(), len(offsets) - 1, buffers)
    if not len(ids) or int(ids.min()) >= 0:
        return known.take(_numbers(ids))
    local = np.flatnonzero(ids < UNBOUND)
    own = pyarrow.array(terms.texts(ids[local]), pyarrow.large_string())
    stored = known.take(_numbers(ids[ids >= 0]))
    order = np.empty(len(ids), np.int64)
    order[ids >= 0] = np.arange(len(stored))
    order[local] = len(stored) + np.arange(len(own))
    return pyarrow.concat_arrays([stored, own]).take(_numbers(order))


def _values(texts: Any, first: Any) -> tuple[Any, dict[str, str]]:
    """Return the values of a column for N-Triples forms with given first bytes, and the column's metadata."""
    import pyarrow.compute as pc

    is_literal = first == ord('"')
    if not is_literal.any():
        bare = _sliced(texts, 1, -1)
        if (first == ord("<")).all():
            return bare, {"form": "resource"}
        return pc.if_else(pc.starts_with(texts, "<"), bare, texts), {"form": "resource"}
    sample = texts[0].as_py()
    ending = sample[sample.rindex('"') :] if is_literal.all() else ""
    if not ending or not pc.all(pc.ends_with(texts, ending)).as_py():
        return texts, {"form": "term"}
    lexical = _unescaped(_sliced(texts, 1, -len(ending.encode())))
    if ending.startswith('"@'):
        return lexical, {"form": "literal", "datatype": RDF.langString.value, "language": ending[2:]}
    datatype = ending[4:-1] or XSD.string.value
    values = native_values(lexical, datatype)
    if values is None:
        return texts, {"form": "term"}
    return values, {"form": "literal", "datatype": datatype}


def _sliced(texts: Any, start: int, stop: int) -> Any:
    """Return texts without bytes at both ends, which are ASCII."""
    import pyarrow
    import pyarrow.compute as pc

    return pc.binary_slice(texts.view(pyarrow.large_binary()), start, stop).view(pyarrow.large_string())


def _unescaped(lexical: Any) -> Any:
    """Return texts with the escapes of N-Triples replaced."""
    import pyarrow
    import pyarrow.compute as pc

    has_escapes = pc.match_substring(lexical, "\\")
    if not pc.any(has_escapes).as_py():
        return lexical
    replaced = [unescape(text) for text in lexical.filter(has_escapes).to_pylist()]
    return pc.replace_with_mask(lexical, has_escapes, pyarrow.array(replaced, pyarrow.large_string()))


def _is_text(values: Any) -> bool:
    import pyarrow

    return bool(pyarrow.types.is_large_string(values.type))


def _compact(texts: Any) -> Any:
    """Return texts as Arrow's ``string`` if they are small enough for it."""
    import pyarrow
    import pyarrow.compute as pc

    total = pc.sum(pc.binary_length(texts)).as_py() or 0
    return texts.cast(pyarrow.string()) if total <= _LARGEST else texts
