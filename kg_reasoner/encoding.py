"""Terms to ids: rows of terms, as users and documents give them, to arrays of a dictionary's numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from kg_reasoner.dictionary import Dictionary, Ids
from kg_reasoner.errors import LoadError
from kg_reasoner.terms import Term, Triple, term_text

__all__ = ["NO_TRIPLES", "TripleIds", "encode_rows", "encode_triples", "find_rows", "find_triples"]

TripleIds = npt.NDArray[np.int32]
"""Triples as ids, shape (n, 3)."""

NO_TRIPLES: TripleIds = np.empty((0, 3), np.int32)


def encode_triples(dictionary: Dictionary, triples: Iterable[Triple] | TripleIds) -> TripleIds:
    """The ids of triples (terms of ours, of rdflib or of pyoxigraph); new terms get new ids.

    Raises:
        LoadError: a term is invalid, or stands where RDF does not allow it; no term is new then.
    """
    if isinstance(triples, np.ndarray):
        return np.ascontiguousarray(triples, np.int32).reshape(-1, 3)
    texts = _texts(triples)
    for subject, property in zip(texts[::3], texts[1::3], strict=True):
        if subject.startswith('"') or not property.startswith("<"):
            what = "the subject is a literal" if subject.startswith('"') else "the predicate is no IRI"
            raise LoadError(f"no RDF triple: {what} in {subject} {property} ...")
    return dictionary.encode_texts(texts).reshape(-1, 3)


def find_triples(dictionary: Dictionary, triples: Iterable[Triple] | TripleIds) -> TripleIds:
    """The ids of the triples whose terms are all known."""
    if isinstance(triples, np.ndarray):
        return np.ascontiguousarray(triples, np.int32).reshape(-1, 3)
    return _all_known(dictionary.find_texts(_texts(triples)).reshape(-1, 3))


def encode_rows(dictionary: Dictionary, rows: Sequence[Sequence[Term]], arity: int) -> Ids:
    """The ids of rows of so many terms, shape (n, arity); new terms get new ids.

    Raises:
        LoadError: a term is invalid; no term is new then.
    """
    return dictionary.encode_texts(_texts(rows)).reshape(len(rows), arity)


def find_rows(dictionary: Dictionary, rows: Iterable[Sequence[Term]], arity: int) -> Ids:
    """The ids of the rows of so many terms that are all known, shape (n, arity)."""
    facts = [row for row in rows if len(row) == arity]
    return _all_known(dictionary.find_texts([term_text(term) for row in facts for term in row]).reshape(len(facts), arity))


def _texts(rows: Iterable[Sequence[Term]]) -> list[str]:
    from kg_reasoner.loaders.convert import text_from_term

    return [text_from_term(term) for row in rows for term in row]


def _all_known(ids: Ids) -> Ids:
    return ids[(ids >= 0).all(axis=1)]
