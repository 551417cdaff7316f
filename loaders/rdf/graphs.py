"""Triples in memory to ids: rdflib Graphs and Datasets, and any iterable of triples."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.convert import pieces_from_iris, text_from_rdflib, text_from_term
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.dictionary import Dictionary

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.syntax import Batch

__all__ = ["bound_prefixes", "encode_rows", "is_rdflib_graph", "read_graph", "read_triples"]

_SAMPLE: Final = 3000
"""Terms that show whether the same objects occur many times."""


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
        triples = graph.triples((None, None, None))
        while batch := list(itertools.islice(triples, block)):
            yield encode_rows(batch, dictionary), None
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


def encode_rows(rows: Sequence[tuple[Any, ...]], dictionary: Dictionary) -> Ids:
    """Return the ids of rows of rdflib terms, of the same shape.

    Raises:
        LoadError: RDF graphs cannot contain a term, or a term is not valid.
    """
    flat = list(itertools.chain.from_iterable(rows))
    keys = list(map(id, flat))
    first = keys[:_SAMPLE]
    if 2 * len(set(first)) > len(first):
        ids = _encoded_terms(flat, dictionary)
    else:  # the same objects again and again, as in graphs over our stores
        distinct = dict(zip(keys, flat, strict=True))
        numbers = _encoded_terms(list(distinct.values()), dictionary)
        known = dict(zip(distinct, numbers.tolist(), strict=True))
        ids = np.fromiter(map(known.__getitem__, keys), np.int32, len(keys))
    return ids.reshape(len(rows), -1)


def _encoded_terms(terms: Sequence[Any], dictionary: Dictionary) -> Ids:
    """Return the ids of rdflib terms, most of which are IRIs."""
    from rdflib.term import URIRef

    are_iris = [kind is URIRef for kind in map(type, terms)]
    iris = list(itertools.compress(terms, are_iris))
    others = [term for term in terms if type(term) is not URIRef]
    ids = np.empty(len(terms), np.int32)
    place = np.array(are_iris, bool)
    ids[~place] = dictionary.encode_texts(list(map(text_from_rdflib, others)))
    ids[place] = dictionary.encode_pieces(pieces_from_iris(iris))
    return ids


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
