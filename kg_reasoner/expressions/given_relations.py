"""The relations whose facts the reasoner gives to rules that ask for them, with their numbers of arguments."""

from __future__ import annotations

from typing import Final, TypeAlias

__all__ = ["ASKED_OF", "DEMAND_PREDICATES", "GIVEN_RELATIONS", "LITERAL_PREDICATES", "LITERAL_TYPE", "MERGED", "AskedOfLiterals"]

LITERAL_TYPE: Final = "literal_type"

LITERAL_PREDICATES: Final = {
    "recognised_datatype": 1,
    "disjoint_datatypes": 2,
    LITERAL_TYPE: 2,
    "literal_value": 2,
    "ill_typed": 1,
    "container_membership_property": 1,
}
"""The predicates of facts about literals and datatypes:

* ``recognised_datatype(?datatype)``;
* ``disjoint_datatypes(?one, ?other)``: recognised datatypes that have no value in common;
* ``literal_type(?literal, ?datatype)``: rdfs:Literal, and each recognised datatype whose values include the literal's;
* ``literal_value(?literal, ?value)``: an IRI that stands for the literal's value, the same for all literals that have it;
* ``ill_typed(?literal)``: the lexical form is not valid for the datatype;
* ``container_membership_property(?property)``: rdf:_1, rdf:_2 ..., as far as they occur.

There are none about literals of datatypes that are not recognised.
"""

AskedOfLiterals: TypeAlias = tuple[str, str | None]
"""One of these predicates, and for the type of literals the IRI of the only datatype of interest, or None for all."""

ASKED_OF: Final = "asked_of"
MERGED: Final = "merges_equal_terms"
DEMAND_PREDICATES: Final = {ASKED_OF: 1, MERGED: 1}
"""``asked_of(?name)``, and ``merges_equal_terms(true)`` where a reasoner merges them, see `kg_reasoner.expressions.demands`."""

GIVEN_RELATIONS: Final = LITERAL_PREDICATES | DEMAND_PREDICATES
