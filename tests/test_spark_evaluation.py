"""Evaluation on Spark gives what the in-process engine gives: triple for triple, explicit and inferred."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed (the extra 'spark')")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner, rulesets
from kg_reasoner.errors import StratificationError, UnsupportedError
from kg_reasoner.parser import parse
from kg_reasoner.printer import format_program
from kg_reasoner.program import TRIPLE, Atom, Bind, Filter, Negation, Program, Rule
from kg_reasoner.spark_backend import SparkReasoner
from kg_reasoner.terms import IRI, Literal, Term, term_text
from tests import oracle, strategies
from tests.spark_cases import facts_frame, facts_of, flagged, frame, in_process, turtle
from tests.spark_session import session

GRAPHS = Path(__file__).parents[1].parent / "shared" / "suites" / "graphs"

ZOO = """
    :Cat rdfs:subClassOf :Animal . :Lion rdfs:subClassOf :Cat . :Animal a owl:Class . :Lion a owl:Class .
    :chases rdfs:domain :Cat ; rdfs:range :Animal ; rdfs:subPropertyOf :follows . :follows owl:inverseOf :followedBy .
    :near a owl:SymmetricProperty . :partOf a owl:TransitiveProperty .
    :uncle owl:propertyChainAxiom ( :parent :brother ) .
    :Hunter owl:equivalentClass [ owl:intersectionOf ( :Cat [ a owl:Restriction ; owl:onProperty :chases ; owl:someValuesFrom :Mouse ] ) ] .
    :Mouse rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :size ; owl:hasValue "small" ] .
    :Pet owl:equivalentClass [ a owl:Restriction ; owl:onProperty :owner ; owl:someValuesFrom owl:Thing ] .
    :Good owl:oneOf ( :tom :rex ) . :Good owl:disjointWith :Hunter .
    :Owned rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :owner ; owl:allValuesFrom :Human ] .
    :age rdfs:range xsd:integer ; rdfs:domain :Animal .
    :tom :chases :jerry . :jerry a :Mouse . :leo a :Lion ; :near :tom ; :age 7, "07"^^xsd:integer . :rex :owner :ann ; a :Owned .
    :a :partOf :b . :b :partOf :c . :c :partOf :d . :ann :parent :eva . :eva :brother :tim . :tom :chases "not a thing" .
"""

EQUAL = """
    :mother a owl:FunctionalProperty . :code a owl:InverseFunctionalProperty . :Cat rdfs:subClassOf :Animal .
    :tim :mother :eve, :eva . :tom :mother :eva, :evi . :eve :likes :tim . :evi a :Cat . :x :code "1" . :y :code "1" . :y :likes :x .
    :z owl:sameAs :y . :z :mother :m1 . :x :mother :m2 . :likes rdfs:subPropertyOf :knows . :alone owl:sameAs :alone .
    :m2 owl:differentFrom :m1 . :Feline owl:sameAs :Cat . :fay a :Feline .
    :Known owl:equivalentClass [ a owl:Restriction ; owl:onProperty :knows ; owl:hasValue :tim ] . :timothy owl:sameAs :tim .
"""


@pytest.mark.parametrize("name", rulesets.names())
@pytest.mark.parametrize("text", [ZOO, EQUAL], ids=["zoo", "equal"])
def test_every_rule_set(name: str, text: str) -> None:
    triples = turtle(text)
    reasoner = SparkReasoner(session(), rulesets.load(name).program, frame(triples))
    assert flagged(reasoner.triples()) == in_process(triples, ruleset=name)
