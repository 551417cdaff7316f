"""Updates that are read without rdflib have the operations that are made of rdflib's, and all others are left to rdflib."""

from __future__ import annotations

from dataclasses import fields
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from kg_reasoner.errors import QuerySyntaxError
from kg_reasoner.rdflib_store.updates.rdflib_operations import operations_of
from kg_reasoner.sparql.queries.sparql_text import read_update
from kg_reasoner.sparql.syntax.update_syntax import read_common_update
from kg_reasoner.sparql.update_algebra import DeleteData, InsertData, Modify, Operation
from kg_reasoner.terms import BlankNode
from tests.helpers.effort import examples
from tests.rdflib_store.sparql_updates import update_text
from tests.rdflib_store.test_sparql_updates_random import cases
from tests.sparql.test_sparql_syntax import PREFIXES, alike, broken

COMMON = """
INSERT DATA { :a :p :b , 1 , 1.5 , true , "s" , 'it' , "l"@en-GB , "1"^^xsd:integer , <urn:a> ; a :C . :b :q "\\n" }
INSERT DATA { :a :p :b . GRAPH :g { :a :p :b . :b :q 2 . } . :c :p :d . GRAPH :h { } GRAPH :g { :e :p :f } }
INSERT DATA { _:b :p [ :q _:b ] . [] :q _:b ; :r [] . GRAPH :g { _:b :p [ ] } }
INSERT DATA { }
DELETE DATA { :a :p :b . GRAPH :g { :a :p "x" , "y"@en } }
DELETE WHERE { ?x :p ?y . GRAPH ?g { ?x :q ?y } GRAPH :g { ?y :r :a } }
DELETE WHERE { }
DELETE { ?x :p ?y } INSERT { ?x :q ?y . GRAPH ?g { ?x :r [ :s ?y ] } _:n a ?x } WHERE { ?x :p ?y GRAPH ?g { ?y :u ?z FILTER(?z) } }
DELETE { GRAPH :g { ?x ?p ?y } } WHERE { ?x ?p ?y . OPTIONAL { ?y :q ?z } FILTER(!bound(?z)) }
INSERT { ?x :total ?n } WHERE { SELECT ?x (COUNT(*) AS ?n) { ?x :p/:q* ?y } GROUP BY ?x }
INSERT { :a :p ?y } WHERE { VALUES ?x { 1 2 } BIND(?x + 1 AS ?y) }
WITH :g DELETE { ?x :p ?y } INSERT { ?x :q _:b . ?y :r _:b } WHERE { ?x :p ?y . _:c :p ?x }
WITH <urn:g> INSERT { ?x :q ?y } WHERE { { ?x :p ?y } UNION { ?y :p ?x } MINUS { ?x :q ?x } }
CLEAR DEFAULT
CLEAR SILENT GRAPH :g
DROP NAMED ; DROP SILENT ALL
CREATE GRAPH :g ; CREATE SILENT GRAPH :h
ADD :g TO DEFAULT ; COPY SILENT DEFAULT TO GRAPH :h ; MOVE GRAPH :g TO :h
INSERT DATA { :a :p :b } ; DELETE DATA { :a :p :b } ; INSERT { ?x :q ?x } WHERE { ?x :p ?x } ;
PREFIX : <urn:> INSERT DATA { :a :p 1 } ; PREFIX : <http://b.example/> PREFIX x: <urn:x> INSERT DATA { :a :p x:1 } # comment
""".strip()

UNCOMMON = """
INSERT DATA { ?x :p :b }
INSERT DATA { GRAPH ?g { :a :p :b } }
INSERT DATA { GRAPH ?g { } }
DELETE DATA { GRAPH ?g { } }
INSERT DATA { :a :p "x"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> }
INSERT { ?x :p ?y } WHERE { ?x :p ?y , "x"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString> }
DELETE DATA { :a :p _:b }
DELETE DATA { :a :p [] }
DELETE WHERE { ?x :p _:b }
DELETE { ?x :p [] } WHERE { ?x :p ?y }
INSERT { ?x :p _:b } WHERE { ?x :q _:b }
INSERT DATA { _:b :p 1 } ; INSERT DATA { _:b :p 2 }
INSERT { ?x :p/:q ?y } WHERE { ?x :p ?y }
INSERT DATA { :a :p -1 , 1e6 , 01 }
INSERT DATA { :a :p (1 2) }
INSERT DATA { :a <p> :b }
INSERT DATA { GRAPH :g { GRAPH :h { :a :p :b } } }
INSERT DATA { :a :p :b . . }
INSERT DATA { :a :p :b :c :p :d }
INSERT DATA { :a :p :b
INSERT DATA { :a :p :b } INSERT DATA { :a :p :c }
INSERT DATA { other:a :p :b }
INSERT { ?x :p ?y }
INSERT { ?x :p ?y } INSERT { ?x :p ?y } WHERE { }
INSERT { ?x :p ?y } DELETE { ?x :q ?y } WHERE { ?x :p ?y }
DELETE { ?x :p ?y } USING :g WHERE { ?x :p ?y }
WITH :g
WITH :g DELETE WHERE { ?x :p ?y }
WITH :g INSERT DATA { :a :p :b }
LOAD <urn:d>
CLEAR
CLEAR :g
DROP GRAPH DEFAULT
CREATE :g
CREATE GRAPH DEFAULT
ADD NAMED TO :g
COPY :g :h
BASE <http://example.org/> INSERT DATA { <a> <p> <b> }
SELECT ?x { ?x :p ?y }
""".strip()


def plain(operations: tuple[Operation, ...]) -> Any:
    """Operations without the names of fresh variables and blank nodes, and with what has no order as sorted texts."""
    return [
        (type(each).__name__, *(_quads(value) if field.name in QUADS else alike(value) for field, value in _fields(each)))
        for each in operations
    ]


QUADS = ("quads", "deleted", "inserted")


def _fields(operation: Operation) -> Any:
    return [(field, getattr(operation, field.name)) for field in fields(operation)]


def _quads(quads: Any) -> list[str]:
    return sorted(repr(tuple("_:" if isinstance(term, BlankNode) else term for term in quad)) for quad in quads)


def by_rdflib(text: str) -> tuple[Operation, ...]:
    return tuple(operations_of(read_update(text)))


@pytest.mark.parametrize("text", COMMON.splitlines())
def test_common_updates(text: str) -> None:
    found = read_common_update(PREFIXES + text, {})
    assert found is not None
    assert plain(found) == plain(by_rdflib(PREFIXES + text))


@pytest.mark.parametrize("text", UNCOMMON.splitlines())
def test_other_texts_are_left_to_rdflib(text: str) -> None:
    assert read_common_update(PREFIXES + text, {}) is None


def test_blank_nodes_of_data() -> None:
    (found,) = read_common_update("INSERT DATA { _:a <urn:p> _:b , _:a , [] , [] }", {}) or ()
    assert isinstance(found, InsertData)
    objects = [quad[2] for quad in found.quads]
    assert objects[1] == found.quads[0][0] and len(set(objects)) == 4


def test_the_callers_base_and_prefixes() -> None:
    (found,) = read_common_update("DELETE WHERE { ?x a:p ?y }", {"a": "urn:"}, "http://example.org/") or ()
    assert isinstance(found, Modify) and found.base == "http://example.org/"
    assert "urn:p" in repr(found.deleted)


def test_an_empty_request() -> None:
    assert read_common_update(" # nothing\n", {}) == ()
    assert read_common_update(PREFIXES, {}) == ()


def test_many_triples_in_a_row() -> None:
    text = "".join(f"<urn:s{number}> <urn:p> {number} .\n" for number in range(3000))
    (found,) = read_common_update(f"DELETE DATA {{ {text} }}", {}) or ()
    assert isinstance(found, DeleteData) and len(found.quads) == 3000


@settings(max_examples=examples(100), suppress_health_check=list(HealthCheck))
@given(cases())
@pytest.mark.sample(2)
def test_random_updates(case: Any) -> None:
    text = update_text(case[1])
    found = read_common_update(text, {})
    assume(found is not None)
    assert found is not None and plain(found) == plain(by_rdflib(text))


SYMBOLS = "{ } ( ) . ; , ?x a <urn:a> * + 1 's' @en [ ] _:b _:a é #\n"
WORDS = "GRAPH DATA INSERT DELETE WHERE WITH SILENT DEFAULT TO ALL"
PIECES = [*SYMBOLS.split(" "), *WORDS.split()]


@pytest.mark.parametrize("seed", range(examples(400)))
@pytest.mark.sample(2)
def test_broken_updates(seed: int) -> None:
    """rdflib accepts what is accepted."""
    text = broken(Random(seed), COMMON.splitlines(), PIECES)
    found = None if text is None else read_common_update(text, {})
    if text is not None and found is not None:
        assert plain(found) == plain(by_rdflib(text))


def test_errors_are_those_of_rdflibs_parser() -> None:
    with pytest.raises(QuerySyntaxError, match="has a syntax error here or shortly after"):
        by_rdflib("INSERT DATA { <urn:a> <urn:p> }")
