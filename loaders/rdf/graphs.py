"""Triples in memory to ids: rdflib Graphs and Datasets, and any iterable of triples."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.convert import text_from_rdflib, text_from_term
from kg_reasoner.loaders.rdf.statements import TermDictionary
from kg_reasoner.storage.arrays import Ids

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.syntax import Batch

__all__ = ["is_rdflib_graph", "read_graph", "read_triples"]


def is_rdflib_graph(source: object) -> bool:
    """Return whether an object is an rdflib Graph or Dataset, without importing rdflib."""
    rdflib = sys.modules.get("rdflib")
    return rdflib is not None and isinstance(source, rdflib.Graph)


def read_graph(graph: Any, dictionary: TermDictionary, block: int) -> Iterator[Batch]:
    """Yield the triples of an rdflib Graph, or the quads of a Dataset, in blocks. Blank nodes keep their labels.

    Raises:
        LoadError: RDF graphs cannot contain a term, or a term is not valid.
    """
    if not hasattr(graph, "quads"):
        texts = (text_from_rdflib(term) for triple in graph.triples((None, None, None)) for term in triple)
        for ids in _encoded(texts, dictionary, block):
            yield ids, None
        return
    names = {"": -1}
    graphs: list[int] = []

    def terms(quads: Iterable[tuple[Any, ...]]) -> Iterator[str]:
        default = graph.default_graph if hasattr(graph, "default_graph") else graph.default_context
        for *triple, context in quads:
            name = context.identifier if is_rdflib_graph(context) else context  # in rdflib 8, names have an `identifier`, too
            text = "" if name is None or name == default.identifier else text_from_rdflib(name)
            if text not in names:
                names[text] = int(dictionary.encode_texts([text])[0])
            graphs.append(names[text])
            yield from map(text_from_rdflib, triple)

    for ids in _encoded(terms(graph.quads((None, None, None, None))), dictionary, block):
        yield ids, np.array(graphs[: len(ids)], np.int32)
        del graphs[: len(ids)]


def read_triples(triples: Iterable[object], dictionary: TermDictionary, block: int) -> Iterator[Batch]:
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


def _encoded(texts: Iterator[str], dictionary: TermDictionary, block: int) -> Iterator[Ids]:
    while batch := list(itertools.islice(texts, 3 * block)):
        yield dictionary.encode_texts(batch).reshape(-1, 3)
