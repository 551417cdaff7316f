"""Encoding of rows of terms, as users and documents give them, as arrays of ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

import numpy as np

from kg_reasoner.errors import LoadError, ReasonerError
from kg_reasoner.storage.arrays import Ids, TripleIds
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, AnyTerm, AnyTriple, BlankNode, Literal, Term, Triple, term_from_text

__all__ = [
    "as_row",
    "as_rows",
    "as_term",
    "as_triple",
    "encode_rows",
    "encode_triples",
    "expect_ids",
    "expect_predicate",
    "expect_rows",
    "find_rows",
    "find_term",
    "find_triples",
]

T = TypeVar("T")

_INT32: Final = np.dtype(np.int32)

_IDS: Final = "encode() of a reasoner's dictionary returns the ids of terms"
_ROWS: Final = "rows come in a list or another iterable, also a single one: [(subject, predicate, object)]"


def encode_triples(dictionary: Dictionary, triples: Iterable[AnyTriple] | TripleIds) -> TripleIds:
    """Intern the terms of triples (of this package, of rdflib or of pyoxigraph) and return the ids of the triples.

    Raises:
        LoadError: A term is invalid, or stands where RDF does not allow it, or a number is not the id of a term; no term is added
            then.
    """
    if isinstance(triples, np.ndarray):
        ids = _as_ids(triples)
        expect_ids(dictionary, ids)
        return ids
    texts = _texts(map(_triple, expect_rows(triples)))
    for subject, property in zip(texts[::3], texts[1::3], strict=True):
        if subject.startswith('"') or not property.startswith("<"):
            what = "the subject is a literal" if subject.startswith('"') else "the predicate is not an IRI"
            raise LoadError(f"not an RDF triple: {what} in {subject} {property} ...")
    return dictionary.encode_texts(texts).reshape(-1, 3)


def expect_ids(dictionary: Dictionary, ids: Ids) -> None:
    """Check that numbers are ids of terms.

    Raises:
        LoadError: A number is not the id of a term.
    """
    if ids.size and not (ids.min() >= 0 and ids.max() < len(dictionary)):
        wrong = ids[(ids < 0) | (ids >= len(dictionary))][0]
        raise LoadError(f"no term has the id {wrong}", hint=_IDS)


def find_triples(dictionary: Dictionary, triples: Iterable[AnyTriple] | TripleIds) -> TripleIds:
    """Return the ids of the triples whose terms are all known."""
    if isinstance(triples, np.ndarray):
        return _as_ids(triples)
    return _all_known(dictionary.find_texts(_texts(map(_triple, expect_rows(triples)))).reshape(-1, 3))


def encode_rows(dictionary: Dictionary, rows: Sequence[Sequence[AnyTerm]], arity: int) -> Ids:
    """Intern the terms of rows with `arity` terms and return their ids, shape (n, arity).

    Raises:
        LoadError: A term is invalid; no term is new then.
    """
    return dictionary.encode_texts(_texts(rows)).reshape(len(rows), arity)


def find_rows(dictionary: Dictionary, rows: Iterable[Sequence[AnyTerm]], arity: int) -> Ids:
    """Return the ids of the rows with `arity` known terms, shape (n, arity)."""
    facts = [row for row in as_rows(rows) if len(row) == arity]
    return _all_known(dictionary.find_texts(_texts(facts)).reshape(len(facts), arity))


def find_term(dictionary: Dictionary, term: AnyTerm) -> int:
    """Return the id of a term (of this package, of rdflib or of pyoxigraph), or -1 for an unknown term.

    Raises:
        LoadError: That is not a term.
    """
    return dictionary.find_text(_texts([[term]])[0])


def as_term(given: object) -> Term:
    """Return a term of this package for one of this package, of rdflib or of pyoxigraph.

    Raises:
        LoadError: That is not a term.
    """
    from kg_reasoner.loaders.convert import text_from_term

    return given if isinstance(given, IRI | BlankNode | Literal) else term_from_text(text_from_term(given))


def as_triple(given: object) -> Triple:
    """Return a triple of terms of this package.

    Raises:
        LoadError: That is not a triple.
    """
    subject, property, value = map(as_term, _triple(given))
    return subject, property, value


def as_row(given: object) -> tuple[AnyTerm, ...]:
    """Return a row of terms as a tuple.

    Raises:
        LoadError: It is not a row.
    """
    if isinstance(given, Iterable) and not isinstance(given, str):
        return tuple(given)
    raise LoadError(f"{given!r} is not a row of terms", hint=_ROWS)


def as_rows(given: Iterable[object]) -> list[tuple[AnyTerm, ...]]:
    """Return rows of terms as tuples.

    Raises:
        LoadError: They are not rows.
    """
    return list(map(as_row, expect_rows(given)))


def expect_predicate(given: object) -> None:
    """Check that a predicate is named.

    Raises:
        ReasonerError: It is not.
    """
    if not isinstance(given, str) or not given:
        what = "a predicate is named by text; triples have functions of their own, such as add_triples()"
        raise ReasonerError(f"{given!r} is not the name of a predicate: {what}")


def expect_rows(given: Iterable[T]) -> Iterable[T]:
    """Return what is given.

    Raises:
        LoadError: It cannot be iterated over.
    """
    if isinstance(given, Iterable):
        return given
    raise LoadError(f"{given!r} has no rows of terms", hint=_ROWS)


def _triple(given: object) -> tuple[AnyTerm, ...]:
    row = given if type(given) is tuple else as_row(given)  # most rows are tuples: the call costs more than the test
    if len(row) != 3:
        raise LoadError(f"{given!r} is not a triple", hint=_ROWS)
    return row


def _texts(rows: Iterable[Sequence[AnyTerm]]) -> list[str]:
    from kg_reasoner.loaders.convert import text_from_term

    return [text_from_term(term) for row in rows for term in row]


def _as_ids(triples: TripleIds) -> TripleIds:
    """Return an array of ids in the form for kernels; it mostly has that form.

    Raises:
        LoadError: It is not an array of ids.
    """
    if triples.dtype is _INT32 and triples.ndim == 2 and triples.shape[1] == 3 and triples.flags.c_contiguous:
        return triples
    if triples.size and (triples.ndim != 2 or triples.shape[1] != 3 or triples.dtype.kind not in "iu"):
        raise LoadError(f"ids of triples are integers in an array of shape (n, 3), not {triples.dtype} of shape {triples.shape}")
    ids = np.ascontiguousarray(triples, np.int32).reshape(-1, 3)
    if triples.size and (different := triples[ids != triples]).size:
        raise LoadError(f"no term has the id {different[0]}", hint=_IDS)
    return ids


def _all_known(ids: Ids) -> Ids:
    return ids[(ids >= 0).all(axis=1)]
