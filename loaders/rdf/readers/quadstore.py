"""The quad store of owlready2 to ids: a World, or an Ontology, read from its SQLite tables in blocks.

owlready2 numbers its resources, blank nodes by negative numbers. A literal is a text or a number with the number of its datatype,
or with ``@`` and a language, or with 0 if it is plain. Blank nodes are numbered alike: ``_:owlready1n7`` in the
first World that is read.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.rdf.readers.syntax import Batch
from kg_reasoner.terms import RDF, XSD, Literal, term_text

if TYPE_CHECKING:
    from sqlite3 import Cursor

__all__ = ["QuadStore", "ontology_prefixes", "read_quad_store"]

_scopes: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
"""A number for each World whose blank nodes have been read."""
_numbers: Final = count(1)
_BLOCK: Final = 100_000
_ANONYMOUS: Final = "http://anonymous/"
"""An ontology that every World has."""
_STRING: Final = XSD.string.value
_BOOLEAN: Final = XSD.boolean.value
_DECIMAL: Final = XSD.decimal.value


def ontology_prefixes(source: Any) -> Iterator[tuple[str, str]]:
    """Yield the names of the ontologies of a World, or that of one Ontology, as prefixes, with their namespaces."""
    from owlready2 import Ontology

    for ontology in (source,) if isinstance(source, Ontology) else source.ontologies.values():
        if ontology.base_iri != _ANONYMOUS:
            yield ontology.name, ontology.base_iri


def read_quad_store(source: Any, dictionary: Any, block: int) -> Iterator[Batch]:
    """Yield the triples of a World, or of one Ontology of it, in blocks.

    Args:
        source: The World or Ontology.
        dictionary: Assigns the ids.
        block: The number of triples in a block.
    """
    from owlready2 import Ontology

    is_part = isinstance(source, Ontology)
    store = QuadStore(source.world if is_part else source, dictionary)
    contexts = [source.graph.c] if is_part else None
    for rows in (*store.relations(contexts, block), *store.values(contexts, block)):
        yield rows[:, 1:], None


class QuadStore:
    """Reads the quad store of a World.

    Args:
        world: The World.
        dictionary: Assigns the ids of its terms.
    """

    def __init__(self, world: Any, dictionary: Any) -> None:
        self.world = world
        self._dictionary = dictionary
        self._scope = _scopes.setdefault(world, next(_numbers))
        self._ids: dict[int, int] = {}
        self._iris: dict[int, str] = {}
        self._literals: dict[tuple[type, Any, Any], int] = {}
        self.stored_as: dict[int, tuple[Any, Any]] = {}
        """The value and the datatype by which the World has a literal, by its id."""

    def version(self) -> tuple[object, int]:
        """Return a value that differs after each change of the World by this process: its database, and a number.

        Raises:
            LoadError: The World is closed.
        """
        self._execute("SELECT 1")
        return self.world.graph.db, int(self.world.graph.db.total_changes)

    def _execute(self, query: str, given: Sequence[int] = ()) -> Cursor:
        from sqlite3 import ProgrammingError

        try:
            found: Cursor = self.world.graph.db.execute(query, given)
        except ProgrammingError as error:
            raise LoadError(f"the World cannot be read: {error}", hint="a closed World cannot be read") from None
        return found

    def relations(self, contexts: Iterable[int] | None = None, block: int = _BLOCK) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the quads without literals as blocks of rows: context, and the ids of subject, property and object."""
        for rows in self._blocks("c, s, p, o", "objs", contexts, block):
            table = np.array(rows, np.int64).reshape(-1, 4)
            yield np.column_stack([table[:, 0], self.encoded(table[:, 1:])]).astype(np.int32)

    def values(self, contexts: Iterable[int] | None = None, block: int = _BLOCK) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the quads with literals likewise."""
        for rows in self._blocks("c, s, p, o, d", "datas", contexts, block):
            table = np.array([row[:3] for row in rows], np.int64).reshape(-1, 3)
            literals = self._encoded_literals([row[3:] for row in rows])
            yield np.column_stack([table[:, 0], self.encoded(table[:, 1:]), literals]).astype(np.int32)

    def _blocks(self, columns: str, table: str, contexts: Iterable[int] | None, block: int) -> Iterator[list[Any]]:
        where, given = "", list[int]()
        if contexts is not None:
            given = sorted(contexts)
            where = f" WHERE c IN ({','.join('?' * len(given))})"
        cursor = self._execute(f"SELECT {columns} FROM {table}{where}", given)
        while rows := cursor.fetchmany(block):
            yield rows

    # --- terms

    def iri(self, number: int) -> str:
        """Return the IRI of a resource."""
        if number not in self._iris:
            cursor = self._execute("SELECT storid, iri FROM resources")
            while rows := cursor.fetchmany(_BLOCK):
                self._iris.update(rows)
        return self._iris[number]

    def forget_renamed(self) -> bool:
        """Forget the ids of resources that have another IRI than when they were read; return whether there are any."""
        current = dict(self._execute("SELECT storid, iri FROM resources"))
        renamed = [number for number, iri in self._iris.items() if current.get(number, iri) != iri]
        for number in renamed:
            self._ids.pop(number, None)
        self._iris.update(current)
        return bool(renamed)

    def encoded(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the ids of resources and blank nodes."""
        distinct, places = np.unique(numbers, return_inverse=True)
        new = [number for number in distinct.tolist() if number not in self._ids]
        texts = [f"_:owlready{self._scope}n{-number}" if number < 0 else f"<{self.iri(number)}>" for number in new]
        self._ids.update(zip(new, self._dictionary.encode_texts(texts).tolist(), strict=True))
        ids = np.fromiter((self._ids[number] for number in distinct.tolist()), np.int64, len(distinct))
        found: npt.NDArray[np.int64] = ids[places].reshape(numbers.shape)
        return found

    def _encoded_literals(self, literals: list[tuple[Any, Any]]) -> list[int]:
        # True, 1 and 1.0 are equal and stand for different literals.
        keys = [(type(value), value, datatype) for value, datatype in literals]
        new = [key for key in dict.fromkeys(keys) if key not in self._literals]
        texts = [term_text(self.literal(value, datatype)) for _, value, datatype in new]
        for key, number in zip(new, self._dictionary.encode_texts(texts).tolist(), strict=True):
            self._literals[key] = number
            self.stored_as.setdefault(number, key[1:])
        return [self._literals[key] for key in keys]

    def literal(self, value: Any, datatype: Any) -> Literal:
        """Return a literal of the World as a term."""
        if isinstance(datatype, str) and datatype.startswith("@"):
            return Literal(str(value), RDF.langString.value, datatype[1:].lower())
        iri = self.iri(int(datatype)) if datatype else _STRING
        if iri == _BOOLEAN and not isinstance(value, str):
            return Literal(str(bool(value)).lower(), iri)
        if isinstance(value, bytes):
            return Literal(base64.b64encode(value).decode(), iri)
        if isinstance(value, float) and iri == _DECIMAL:
            return Literal(np.format_float_positional(value, trim="-"), iri)
        return Literal(str(value), iri)
