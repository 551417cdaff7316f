"""Functions that test, take apart and make RDF terms (SPARQL 1.1 Query, section 17.4.2).

SAMEVALUE is an extension: it compares two literals by the datatype map (see `kg_reasoner.expressions.datatypes`), whereas ``=``
compares as SPARQL does and treats the decimal 1.5 and the double 1.5 as equal. VALUE returns one representative of all literals
with the same value, for joins by value. SKOLEM names what two terms determine, as in RDFox.
"""

from __future__ import annotations

import operator
from typing import Final

from kg_reasoner.digests import digest
from kg_reasoner.expressions.datatypes import canonical, same_value
from kg_reasoner.expressions.functions.kinds import BOOLEAN, LEXICAL, SIMPLE, TERM, Function
from kg_reasoner.expressions.functions.numbers import NUMERIC
from kg_reasoner.expressions.values import value_of
from kg_reasoner.terms import IRI, RDF, BlankNode, Literal, Term, is_iri, is_language, term_text

__all__ = ["FUNCTIONS"]


def _iri(term: Term) -> IRI | None:
    """Return the IRI of a simple string, which must be absolute because rules have no base IRI when they are evaluated."""
    if isinstance(term, IRI):
        return term
    text = SIMPLE.read(term)
    return None if text is None else _absolute(text)


def _absolute(text: str) -> IRI | None:
    return IRI(text) if is_iri(text) else None


def _typed(lexical: str, datatype: Term) -> Literal | None:
    return Literal(lexical, datatype.value) if isinstance(datatype, IRI) and datatype != RDF.langString else None


def _tagged(lexical: str, tag: str) -> Literal | None:
    return Literal(lexical, RDF.langString.value, tag.lower()) if is_language(tag) else None


def _is_numeric(term: Term) -> bool:
    return isinstance(term, Literal) and term.datatype in NUMERIC and value_of(term) is not None


def _skolem(first: Term, second: Term) -> BlankNode:
    """Return a blank node for a pair of terms: always the same one for the same pair."""
    pair = f"{term_text(first)} {term_text(second)}".encode()
    return BlankNode(f"skolem{digest(pair, 12)}")


_IRI: Final = Function((TERM,), TERM, _iri, overloads=(Function((SIMPLE,), TERM, _absolute),))
_IS_IRI: Final = Function((TERM,), BOOLEAN, lambda term: isinstance(term, IRI))

FUNCTIONS: Final = {
    "SAMETERM": Function((TERM, TERM), BOOLEAN, operator.eq, overloads=(Function((SIMPLE, SIMPLE), BOOLEAN, operator.eq),)),
    "SAMEVALUE": Function((TERM, TERM), BOOLEAN, same_value),
    "VALUE": Function((TERM,), TERM, canonical),
    "ISIRI": _IS_IRI,
    "ISURI": _IS_IRI,
    "ISBLANK": Function((TERM,), BOOLEAN, lambda term: isinstance(term, BlankNode)),
    "ISLITERAL": Function((TERM,), BOOLEAN, lambda term: isinstance(term, Literal)),
    "ISNUMERIC": Function((TERM,), BOOLEAN, _is_numeric),
    "STR": Function((LEXICAL,), SIMPLE, str),
    "LANG": Function((TERM,), SIMPLE, lambda term: term.language or "" if isinstance(term, Literal) else None),
    "DATATYPE": Function((TERM,), TERM, lambda term: IRI(term.datatype) if isinstance(term, Literal) else None),
    "IRI": _IRI,
    "URI": _IRI,
    "SKOLEM": Function((TERM, TERM), TERM, _skolem),
    "STRDT": Function((SIMPLE, TERM), TERM, _typed),
    "STRLANG": Function((SIMPLE, SIMPLE), TERM, _tagged),
}
"""The functions on terms."""
