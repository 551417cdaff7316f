"""The ids of rdflib terms, and the rdflib terms of ids, cached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from rdflib.term import Node, URIRef

from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.convert import text_from_rdflib, to_rdflib
from kg_reasoner.loaders.rdf.readers.triples_in_memory import encode_columns, encode_rows
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import term_of

RdflibTriple: TypeAlias = tuple[Node, Node, Node]
RdflibPattern: TypeAlias = tuple[Node | None, Node | None, Node | None]
RdflibQuad: TypeAlias = tuple[Node, Node, Node, Node | None]
"""A triple with the name of its graph; None is the graph of the context."""

REMEMBERED = 1 << 18
"""The maximal number of cached terms, in each direction."""

FIRST_CHUNK, CHUNK = 64, 4096
"""Rows that are decoded at once: at first, and then."""


class RdflibTerms:
    """A cached translation between rdflib's terms and the ids of a dictionary."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._iris: dict[str, int] = {}
        self._others: dict[str, int] = {}
        self._nodes: dict[int, Node] = {}

    def find(self, node: Node) -> int:
        """Return the id of an rdflib term; -1 if it has none, or cannot have one."""
        try:
            # the text of an IRI in the dictionary takes longer to make than to look up
            is_iri = type(node) is URIRef
            known, key = (self._iris, str.__str__(node)) if is_iri else (self._others, text_from_rdflib(node))
            number = known.get(key, -1)
            if number < 0:
                number = self._dictionary.find_text(text_from_rdflib(node) if is_iri else key)
                if number >= 0:
                    if len(known) >= REMEMBERED:
                        known.clear()
                    known[key] = number
        except LoadError:  # what cannot be in a graph is not there
            return -1
        return number

    def nodes(self, numbers: Sequence[int]) -> list[Node]:
        """Return the rdflib terms of ids."""
        known = self._nodes
        missing = set(numbers).difference(known)
        if missing:
            if len(known) + len(missing) > REMEMBERED:
                known = self._nodes = {}
                missing = set(numbers)
            order = list(missing)
            known.update(zip(order, map(_node, self._dictionary.texts_of(order)), strict=True))
        return [known[number] for number in numbers]

    def rows(self, ids: Ids) -> Iterator[tuple[Node, ...]]:
        """Yield the rows of a table of ids as terms, in chunks, so that readers of the first rows do not pay for the rest."""
        if ids.shape[1] == 0:
            yield from ((),) * len(ids)
            return
        first, end = 0, FIRST_CHUNK
        while first < len(ids):
            yield from zip(*map(self.nodes, ids[first:end].T.tolist()), strict=True)
            first, end = end, end + CHUNK


def triple_texts(triple: Sequence[Node]) -> list[str]:
    """Return the dictionary's texts of a triple's terms.

    Raises:
        LoadError: The argument is not an RDF triple.
    """
    return checked_triple([text_from_rdflib(term) for term in triple])


def checked_triple(texts: list[str]) -> list[str]:
    """Return the dictionary's texts of a triple's terms.

    Raises:
        LoadError: A term is at a place where it cannot be.
    """
    if texts[0][0] == '"':
        raise LoadError(f"the literal {texts[0]} cannot be the subject of a triple: {' '.join(texts)}")
    if texts[1][0] != "<":
        raise LoadError(f"{texts[1]} cannot be the predicate of a triple, only an IRI can: {' '.join(texts)}")
    return texts


def triple_rows(triples: Sequence[RdflibTriple], dictionary: Dictionary) -> Ids:
    """Return the ids, of shape (n, 3), of many triples.

    Raises:
        LoadError: One of them is not an RDF triple.
    """
    ids = encode_rows(triples, dictionary)
    wrong = _wrong(ids, dictionary)
    if wrong.any():
        triple_texts(triples[int(wrong.argmax())])
    return ids


def triple_columns(columns: Sequence[Sequence[Node]], dictionary: Dictionary) -> Ids:
    """Return the ids, of shape (n, 3), of many triples, which are given as their subjects, predicates and objects.

    Raises:
        LoadError: One of them is not an RDF triple.
    """
    ids = encode_columns(columns, dictionary)
    wrong = _wrong(ids, dictionary)
    if wrong.any():
        triple_texts([column[int(wrong.argmax())] for column in columns])
    return ids


def _wrong(triples: Ids, dictionary: Dictionary) -> npt.NDArray[np.bool_]:
    """Return a mask of the triples with a literal as the subject, or anything but an IRI as the predicate."""
    first = dictionary.first_bytes()
    return (first[triples[:, 0]] == ord('"')) | (first[triples[:, 1]] != ord("<"))


def graph_text(name: Node) -> str:
    """Return the dictionary's text of a graph's name.

    Raises:
        LoadError: The term cannot name a graph.
    """
    text = text_from_rdflib(name)
    if text[0] == '"':
        raise LoadError(f"the literal {text} cannot name a graph, only an IRI or a blank node can")
    return text


def _node(text: str) -> Node:
    """Return the rdflib term of a dictionary text."""
    if text[0] == "<":
        return str.__new__(URIRef, text[1:-1])  # without rdflib's check: the dictionary has valid IRIs only
    return to_rdflib(term_of(text))
