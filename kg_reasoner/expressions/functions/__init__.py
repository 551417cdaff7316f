"""The deterministic functions and operators of SPARQL 1.1 on RDF terms, and those that only rules have.

`FUNCTIONS` has those that evaluate all their arguments, by the name in a `program.Call`. Functional forms (``&& || !`` with
their three truth values, IF, COALESCE, IN, BOUND) are in `kg_reasoner.expressions.compile`. `REFUSED` has those that cannot be
maintained because a second evaluation would give another value.

Results are canonical literals of XML Schema 1.1: the decimal ``1.5 + 1.5`` is ``"3"^^xsd:decimal``, the double ten is ``1.0E1``.
"""

from __future__ import annotations

from typing import Final

from kg_reasoner.expressions.functions import (
    arithmetic,
    casts,
    comparisons,
    conversions,
    dates,
    floats,
    integers,
    regex,
    strings,
    structure_functions,
    term_functions,
)
from kg_reasoner.expressions.functions.kinds import Function

__all__ = ["FUNCTIONS", "REFUSED"]

FUNCTIONS: Final[dict[str, Function]] = {
    **comparisons.FUNCTIONS,
    **arithmetic.FUNCTIONS,
    **term_functions.FUNCTIONS,
    **strings.FUNCTIONS,
    **regex.FUNCTIONS,
    **dates.FUNCTIONS,
    **casts.FUNCTIONS,
    **integers.FUNCTIONS,
    **structure_functions.FUNCTIONS,
    **floats.FUNCTIONS,
    **conversions.FUNCTIONS,
}
"""Functions and operators by name: operators as written (unary minus is ``neg``), functions in upper case, casts as ``<IRI>``."""

REFUSED: Final = ("BNODE", "NOW", "RAND", "STRUUID", "UUID")
"""The functions that give another value each time."""
