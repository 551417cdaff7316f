"""What tests of the Spark backend share: frames from terms, results as sets, and the in-process engine to compare with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyoxigraph

from kg_reasoner import Reasoner
from kg_reasoner.engine.inconsistency import Violation
from kg_reasoner.errors import StratificationError
from kg_reasoner.language.printer import format_rule
from kg_reasoner.program import TRIPLE, Aggregate, Atom, BodyLiteral, Negation, Program, Rule
from kg_reasoner.spark_backend import SparkReasoner
from kg_reasoner.spark_backend.io.columns import argument_columns, triple_frame
from kg_reasoner.terms import IRI, Literal, Term, Triple, term_from_text, term_text
from tests.helpers import oracle, strategies
from tests.spark.spark_session import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Row = tuple[str, ...]
Flagged = set[tuple[str, str, str, bool]]

PREFIXES = """
    @prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""

ZOO = """
    :Cat rdfs:subClassOf :Animal . :Lion rdfs:subClassOf :Cat . :Animal a owl:Class . :Lion a owl:Class .
    :chases rdfs:domain :Cat ; rdfs:range :Animal ; rdfs:subPropertyOf :follows . :follows owl:inverseOf :followedBy .
    :near a owl:SymmetricProperty . :partOf a owl:TransitiveProperty .
    :uncle owl:propertyChainAxiom ( :parent :brother ) .
    :Hunter owl:equivalentClass [ owl:intersectionOf ( :Cat
        [ a owl:Restriction ; owl:onProperty :chases ; owl:someValuesFrom :Mouse ] ) ] .
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
    :tim :mother :eve, :eva . :tom :mother :eva, :evi . :eve :likes :tim . :evi a :Cat . :x :code "1" . :y :code "1" .
    :y :likes :x .
    :z owl:sameAs :y . :z :mother :m1 . :x :mother :m2 . :likes rdfs:subPropertyOf :knows . :alone owl:sameAs :alone .
    :m2 owl:differentFrom :m1 . :Feline owl:sameAs :Cat . :fay a :Feline .
    :Known owl:equivalentClass [ a owl:Restriction ; owl:onProperty :knows ; owl:hasValue :tim ] . :timothy owl:sameAs :tim .
"""

SMALL = """
    :Cat rdfs:subClassOf :Animal . :chases rdfs:domain :Cat ; rdfs:range :Animal . :tom :chases :jerry . :thomas owl:sameAs :tom .
    :name a owl:DatatypeProperty . :tom :name "Tom" .
"""


def turtle(text: str, namespace: str = "http://example.org/") -> list[Triple]:
    """The triples of a Turtle text with the usual prefixes; the empty one is the namespace's."""
    text = f"{PREFIXES} @prefix : <{namespace}> .\n{text}"
    found = pyoxigraph.parse(text.encode(), format=pyoxigraph.RdfFormat.TURTLE)
    terms = ((str(quad.subject), str(quad.predicate), str(quad.object)) for quad in found)
    return [(term_from_text(s), term_from_text(p), term_from_text(o)) for s, p, o in terms]


def frame(triples: Iterable[Triple]) -> DataFrame:
    """Triples as a DataFrame of the test session."""
    return triple_frame(session(), triples)


def facts_frame(rows: Iterable[tuple[Term, ...]], arity: int, spark: Any = None) -> DataFrame:
    """Facts of a general predicate as a DataFrame, of the test session by default."""
    schema = ", ".join(f"{name} string" for name in argument_columns(arity)) or "nothing int"
    texts = [tuple(map(term_text, row)) or (0,) for row in rows]
    found: DataFrame = (spark or session()).createDataFrame(texts, schema)
    return found if arity else found.select()


def flagged(materialised: DataFrame) -> Flagged:
    """A materialisation as a set; no inferred triple may be there twice, or beside an explicit one."""
    rows = [(row.subject, row.predicate, row.object, row.inferred) for row in materialised.collect()]
    inferred = [row[:3] for row in rows if row[3]]
    assert len(inferred) == len(set(inferred))
    assert not set(inferred) & {row[:3] for row in rows if not row[3]}
    return set(rows)


def in_process(triples: Iterable[Triple], program: Program | None = None, ruleset: str | None = None) -> Flagged:
    """What the in-process engine says."""
    reasoner = Reasoner(program, ruleset=ruleset, show_hidden=True)
    reasoner.add_triples(list(triples))
    return of_reasoner(reasoner)


def of_reasoner(reasoner: Reasoner) -> Flagged:
    """The triples of a reasoner as a set of texts."""
    found: Flagged = set()
    for which, inferred in (("explicit", False), ("inferred", True)):
        for subject, predicate, value in reasoner.triples(which=which):  # type: ignore[arg-type]  # both are literals
            found.add((term_text(subject), term_text(predicate), term_text(value), inferred))
    return found


def violations(reasoner: SparkReasoner, engine: Reasoner) -> list[Violation]:
    """The violated constraints that Spark finds, with the rules of the in-process engine."""
    engine.materialise()  # it may apply rules of axioms that it derives
    rules = {_identity(rule): rule for rule in (*engine.engine.rules, *engine.engine.applied_rules) if rule.is_constraint}
    return [
        Violation(
            rules[row.rule, str(row.name), str(row.axiom)],
            {name: term_from_text(text) for name, text in row["values"].items()},
        )
        for row in reasoner.inconsistencies().collect()
    ]


def readable(violations: Iterable[Violation]) -> list[tuple[object, ...]]:
    """Violations as something that can be sorted and compared."""
    return sorted(
        (*_identity(some.rule), tuple(sorted((name, term_text(term)) for name, term in some.terms.items()))) for some in violations
    )


def _identity(rule: Rule) -> tuple[str, str, str]:
    return format_rule(rule), str(rule.origin.name), str(rule.origin.axiom)


def facts_of(reasoner: SparkReasoner, predicates: Iterable[str]) -> dict[str, set[Row]]:
    """The facts of general predicates."""
    return {predicate: {tuple(row) for row in reasoner.facts(predicate).collect()} for predicate in predicates}


# ------------------------------------------------------------------------------------------------------------ random programs


def renamed(program: Program, number: int) -> Program:
    """A program whose predicates are its own, so that several can be evaluated at once."""

    def in_atom(atom: Atom) -> Atom:
        return Atom(f"{atom.predicate}_{number}", atom.terms)

    def in_part(part: BodyLiteral) -> BodyLiteral:
        if isinstance(part, Aggregate):
            return replace(part, body=tuple(map(in_part, part.body)))
        return in_atom(part) if isinstance(part, Atom) else Negation(in_atom(part.atom)) if isinstance(part, Negation) else part

    return Program(tuple(Rule(in_atom(rule.head), tuple(map(in_part, rule.body))) for rule in program.rules))


def stratifies(program: Program) -> bool:
    """Whether no predicate depends on its own negation."""
    try:
        oracle.stratify(program.rules)
    except StratificationError:
        return False
    return True


def expect_of_programs(spark: Any, cases: Iterable[tuple[Program, strategies.Facts]]) -> None:
    """Compare programs, each over facts of its own, with the oracle, in one run."""
    together, facts, expected = Program(), {}, {}
    for number, (program, given_facts) in enumerate(cases):
        together |= renamed(program, number)
        for predicate, rows in given_facts.items():
            facts[f"{predicate}_{number}"] = facts_frame(rows, strategies.PREDICATES[predicate], spark)
        for predicate, rows in oracle.evaluate(program, given_facts).items():
            if rows:
                expected[f"{predicate}_{number}"] = {tuple(map(term_text, row)) for row in rows}
    reasoner = SparkReasoner(spark, together, facts=facts)
    assert facts_of(reasoner, expected) == expected


def expect_of_triples(spark: Any, program: Program, triples: Iterable[tuple[Term, ...]]) -> None:
    """Compare a program over triples with the oracle."""
    given: list[Any] = list(triples)
    found = flagged(SparkReasoner(spark, program, triple_frame(spark, given)).triples())
    expected = oracle.evaluate(program, {TRIPLE: set(given)}).get(TRIPLE, set())
    rdf = {row for row in expected if not isinstance(row[0], Literal) and isinstance(row[1], IRI)}
    assert {row[:3] for row in found} == {tuple(map(term_text, row)) for row in rdf}
