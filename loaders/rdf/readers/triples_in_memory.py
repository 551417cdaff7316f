"""Triples in memory to ids: rdflib Graphs and Datasets, and any iterable of triples."""

from __future__ import annotations

import itertools
import operator
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.convert import text_from_rdflib, text_from_term
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.terms.dictionary import Dictionary

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import URIRef

    from kg_reasoner.loaders.rdf.readers.syntax import Batch

__all__ = ["all_triples", "bound_prefixes", "encode_columns", "encode_rows", "is_rdflib_graph", "read_graph", "read_triples"]

_NOT_IN_IRIS: Final = b'"{}|^`\\' + bytes(range(0x21))
"""Characters that are in no IRI, but for the brackets around it."""

_SAMPLE: Final = 1000
"""Terms that show whether the same objects occur many times."""

_AT_ONCE: Final = 2048
"""Rows that are encoded at once: their terms remain in the processor's caches meanwhile."""


def is_rdflib_graph(source: object) -> bool:
    """Return whether an object is an rdflib Graph or Dataset, without importing rdflib."""
    rdflib = sys.modules.get("rdflib")
    return rdflib is not None and isinstance(source, rdflib.Graph)


def bound_prefixes(graph: Any) -> Iterator[tuple[str, str]]:
    """Yield the prefixes that are bound in an rdflib Graph, with namespaces; not those that rdflib binds in every graph."""
    from rdflib import Graph

    of_every_graph = set(Graph().namespaces())
    yield from ((prefix, str(namespace)) for prefix, namespace in graph.namespaces() if (prefix, namespace) not in of_every_graph)


def read_graph(graph: Any, dictionary: Dictionary, block: int) -> Iterator[Batch]:
    """Yield the triples of an rdflib Graph, or the quads of a Dataset, in blocks. Blank nodes keep their labels.

    Raises:
        LoadError: RDF graphs cannot contain a term, or a term is not valid.
    """
    if not hasattr(graph, "quads"):
        triples = iter(all_triples(graph))
        while rows := list(itertools.islice(triples, block)):
            yield encode_rows(rows, dictionary), None
        return
    default = graph.default_graph if hasattr(graph, "default_graph") else graph.default_context
    numbers: dict[str, int] = {}

    def number(context: Any) -> int:
        name = context.identifier if is_rdflib_graph(context) else context  # in rdflib 8, names have an `identifier`, too
        if name is None or name == default.identifier:
            return -1
        text = text_from_rdflib(name)
        if text not in numbers:
            numbers[text] = int(dictionary.encode_texts([text])[0])
        return numbers[text]

    quads = graph.quads((None, None, None, None))
    while batch := list(itertools.islice(quads, block)):
        contexts = {id(quad[3]): quad[3] for quad in batch}
        known = {key: number(context) for key, context in contexts.items()}
        graphs = np.array([known[id(quad[3])] for quad in batch], np.int32)
        yield encode_rows([quad[:3] for quad in batch], dictionary), graphs


def all_triples(graph: Graph) -> Iterable[tuple[Any, Any, Any]]:
    """Return all triples of an rdflib graph, in any order.

    rdflib's default store makes a generator for each triple. It also has the triples of each graph in a set. They are read
    from this set if the store has this attribute, and as many triples in it as in the graph.
    """
    from rdflib import Graph
    from rdflib.plugins.stores.memory import Memory

    if type(graph.store) is Memory and type(graph).triples is Graph.triples and type(graph).__len__ is Graph.__len__:
        sets, name = vars(graph.store).get("_Memory__contextTriples"), graph.identifier
        held = sets.get(f"{type(name).__name__}:{name}") if isinstance(sets, dict) else None
        if isinstance(held, set) and len(held) == len(graph):
            return list(held)
    return graph.triples((None, None, None))


def encode_rows(rows: Sequence[tuple[Any, ...]], dictionary: Dictionary) -> Ids:
    """Return the ids of rows of rdflib terms, of the same shape.

    Raises:
        LoadError: RDF graphs cannot contain a term, or a term is not valid.
    """
    ids = np.empty((len(rows), len(rows[0]) if rows else 0), np.int32)
    for first in range(0, len(rows), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        ids[part] = encode_columns(list(zip(*rows[part], strict=True)), dictionary)
    return ids


def encode_columns(columns: Sequence[Sequence[Any]], dictionary: Dictionary) -> Ids:
    """Return the ids of rows of rdflib terms, which are given as columns.

    Raises:
        LoadError: As `encode_rows`.
    """
    ids = np.empty((len(columns[0]), len(columns)), np.int32)
    for place, column in enumerate(columns):
        ids[:, place] = _encoded_column(column, dictionary)
    return ids


def _encoded_column(terms: Sequence[Any], dictionary: Dictionary) -> Ids:
    """Return the ids of rdflib terms, among which there may be the same object many times."""
    first = terms[:_SAMPLE]
    if 2 * len(set(map(id, first))) > len(first):
        return _encoded_terms(terms, dictionary)
    keys = list(map(id, terms))
    distinct = dict(zip(keys, terms, strict=True))
    numbers = _encoded_terms(list(distinct.values()), dictionary)
    known = dict(zip(distinct, numbers.tolist(), strict=True))
    return np.fromiter(map(known.__getitem__, keys), np.int32, len(keys))


def _encoded_terms(terms: Sequence[Any], dictionary: Dictionary) -> Ids:
    """Return the ids of rdflib terms, most of which are IRIs."""
    from rdflib.term import URIRef

    if set(map(type, terms)) == {URIRef}:
        return _encoded_iris(terms, dictionary)
    are_iris = np.fromiter(map(operator.is_, map(type, terms), itertools.repeat(URIRef)), bool, len(terms))
    others = list(itertools.compress(terms, (~are_iris).tolist()))
    ids = np.empty(len(terms), np.int32)
    ids[~are_iris] = dictionary.encode_texts(list(map(text_from_rdflib, others)))
    ids[are_iris] = _encoded_iris(list(itertools.compress(terms, are_iris.tolist())), dictionary)
    return ids


def _encoded_iris(iris: Sequence[URIRef], dictionary: Dictionary) -> Ids:
    """Return the ids of IRIs of rdflib, which are checked all together."""
    try:
        data = f"<{'><'.join(iris)}>".encode()
    except UnicodeEncodeError:
        data = b""
    starts: npt.NDArray[np.int64] = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("<"))
    if len(starts) == data.count(b">") == len(iris) and len(data.translate(None, _NOT_IN_IRIS)) == len(data):
        return dictionary.encode_buffers(data, np.append(starts, len(data)))
    return dictionary.encode_texts(list(map(text_from_rdflib, iris)))  # which names one that is not valid


def read_triples(triples: Iterable[object], dictionary: Dictionary, block: int) -> Iterator[Batch]:
    """Yield the triples of an iterable, of our terms or rdflib's, in blocks. Blank nodes keep their labels.

    Raises:
        LoadError: Something is not a triple of valid terms.
    """

    def terms() -> Iterator[str]:
        for triple in triples:
            if not isinstance(triple, tuple | list) or len(triple) != 3:
                raise LoadError(
                    f"{triple!r} is not a triple", hint="a source is a path, bytes, an open file, an rdflib graph or triples"
                )
            yield from map(text_from_term, triple)

    for ids in _encoded(terms(), dictionary, block):
        yield ids, None


def _encoded(texts: Iterator[str], dictionary: Dictionary, block: int) -> Iterator[Ids]:
    while batch := list(itertools.islice(texts, 3 * block)):
        yield dictionary.encode_texts(batch).reshape(-1, 3)
