"""The quads of INSERT DATA, DELETE DATA and LOAD, as ids."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from kg_reasoner.loaders.convert import text_from_rdflib, to_rdflib
from kg_reasoner.query.quads import GRAPH_COLUMN
from kg_reasoner.rdflib_store.graphs.copying import translated
from kg_reasoner.rdflib_store.graphs.rdflib_terms import checked_triple
from kg_reasoner.rdflib_store.graphs.transactions import IN_DEFAULT
from kg_reasoner.sparql.algebra import PatternTerm
from kg_reasoner.sparql.update_algebra import QuadTemplate
from kg_reasoner.storage.arrays import NO_QUADS, Flags, Ids, selected_rows
from kg_reasoner.terms import Term, term_text

if TYPE_CHECKING:
    from rdflib.term import Node

    from kg_reasoner.rdflib_store.updates.update_changes import UpdateChanges

__all__ = ["data_to_delete", "data_to_insert", "document_quads"]


def data_to_insert(changes: UpdateChanges, quads: Sequence[QuadTemplate], target: Node | None) -> Ids:
    """Return the quads of INSERT DATA as ids. Its blank nodes become fresh ones.

    Args:
        changes: The changes of the request.
        quads: The quads.
        target: The graph of those outside of GRAPH.

    Raises:
        LoadError: A quad is not an RDF quad.
        ReasonerError: A graph holds the inferred triples and is read-only.
    """
    scope, fresh = f"_:b{uuid.uuid4().hex}x", dict[str, str]()
    texts: list[str] = []
    graphs: list[int] = []
    known: dict[PatternTerm | None, int] = {}
    for *triple, name in quads:
        for text in checked_triple([term_text(cast(Term, term)) for term in triple]):
            texts.append(fresh.setdefault(text, f"{scope}{len(fresh)}") if text[0] == "_" else text)
        if name not in known:
            known[name] = changes.writer.graph_id(target if name is None else to_rdflib(cast(Term, name)))
        graphs.append(known[name])
    return np.column_stack([changes.dictionary.encode_texts(texts).reshape(-1, 3), np.array(graphs, np.int32)])


def data_to_delete(changes: UpdateChanges, quads: Sequence[QuadTemplate], target: Node | None) -> Ids:
    """Return those quads of DELETE DATA whose terms are known; a quad outside of GRAPH may be of all graphs.

    The arguments are those of `data_to_insert`.
    """
    texts: list[str] = []
    in_graph: list[bool] = []
    for *triple, name in quads:
        row = [term_text(cast(Term, term)) for term in triple]
        graph = row[0]  # in no graph by name, any known term will do
        if name is not None:
            graph = term_text(cast(Term, name))
        elif target is not None:
            graph = text_from_rdflib(target)
        texts += [*row, graph]
        in_graph.append(name is not None or target is not None)
    found = changes.dictionary.find_texts(texts).reshape(-1, 4)
    is_known: Flags = found.min(axis=1) >= 0
    found[~np.array(in_graph, np.bool_), GRAPH_COLUMN] = IN_DEFAULT
    return selected_rows(found, is_known)


def document_quads(changes: UpdateChanges, iri: str, kind: str, target: Node | None) -> Ids:
    """Return the quads of a document for one graph; named graphs in it keep their triples unless the target is a graph by name.

    Args:
        changes: The changes of the request.
        iri: The document's address.
        kind: The kind of permission: ``files`` for local files.
        target: The graph.

    Raises:
        LoadError: The document cannot be fetched or read.
        ReasonerError: The graph holds the inferred triples and is read-only.
    """
    from pathlib import Path
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    from kg_reasoner.loaders.rdf.fetch import fetch
    from kg_reasoner.loaders.rdf.readers.reader import read
    from kg_reasoner.storage.terms.dictionary import Dictionary

    dictionary = Dictionary()
    source = Path(url2pathname(urlsplit(iri).path)) if kind == "files" else fetch(iri)[0]
    blocks: list[Ids] = []
    for block in read(source, dictionary=dictionary, base=iri):
        names = np.full(len(block.triples), IN_DEFAULT, np.int32)
        if block.graphs is not None and target is None:
            names = np.where(block.graphs < 0, IN_DEFAULT, block.graphs).astype(np.int32)
        blocks.append(np.column_stack([block.triples, names]))
    quads = np.concatenate([NO_QUADS, *blocks])
    if not len(quads):
        return quads
    named = quads >= 0
    found = quads.copy()
    found[named] = translated(quads[named], dictionary, changes.dictionary)
    if target is not None:
        found[:, GRAPH_COLUMN] = changes.writer.graph_id(target)
    return found
