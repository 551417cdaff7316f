"""Evaluation on Spark gives what the in-process engine gives: triple for triple, explicit and inferred."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark_session import need_spark, session

need_spark()

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner, lubm, rulesets
from kg_reasoner.engine.clashes import clashes
from kg_reasoner.errors import StratificationError, UnsupportedError
from kg_reasoner.language.parser import parse
from kg_reasoner.program import TRIPLE, Atom, Negation, Program, Rule
from kg_reasoner.spark_backend import SparkReasoner
from kg_reasoner.spark_backend.io.reading import read_triples
from kg_reasoner.terms import IRI, Literal, literal, term_text
from tests import oracle, strategies
from tests.random_ontologies import ontologies
from tests.spark_cases import facts_frame, facts_of, flagged, frame, of_reasoner, readable, turtle, violations
from tests.suites import SUITES, why_missing

from .effort import by_effort

pytestmark = pytest.mark.long


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


@pytest.mark.parametrize(
    ("name", "text"),
    [("rdfs", ZOO), ("rdfs-full", SMALL), ("owl2rl", ZOO), ("owl2rl", EQUAL), ("owl2rl-full", SMALL)],
    ids=["rdfs", "rdfs-full", "owl2rl", "owl2rl-equal", "owl2rl-full"],
)
def test_every_rule_set(name: str, text: str) -> None:
    triples = turtle(text)
    reasoner = SparkReasoner(session(), rulesets.load(name).program, frame(triples))
    engine = Reasoner(ruleset=name, show_hidden=True)
    engine.add_triples(triples)
    assert flagged(reasoner.triples()) == of_reasoner(engine)
    found, expected = violations(reasoner, engine), engine.inconsistencies()
    naming = engine.engine.base.queries.naming()
    assert set(readable(expected)) <= set(readable(found))
    assert len(list(clashes(found, naming))) == len(expected)


MANY = by_effort(50, 50, 1000)


@pytest.mark.parametrize("name", ["owl2rl"] if MANY < 1000 else rulesets.names())
def test_many_ontologies_in_one_run(name: str) -> None:
    """What `test_distributed_plans` tries in the thousands, on Spark itself."""
    triples = ontologies(77, MANY)
    engine = Reasoner(ruleset=name, show_hidden=True)
    engine.add_triples(triples)
    reasoner = SparkReasoner(session(), rulesets.load(name).program, frame(triples))
    different = flagged(reasoner.triples()) ^ of_reasoner(engine)
    assert not different, sorted(different)[:10]
    found, expected = violations(reasoner, engine), engine.inconsistencies()
    assert set(readable(expected)) <= set(readable(found))
    assert len(list(clashes(found, engine.engine.base.queries.naming()))) == len(expected)


UNIVERSITIES = by_effort(0, 0, 5)
"""How much of LUBM all rule sets are tried on; by default owl2rl, on the LUBM(1) of the suites."""


@pytest.mark.parametrize("name", rulesets.names() if UNIVERSITIES else ["owl2rl"])
def test_lubm(tmp_path: Path, name: str) -> None:
    """LUBM with its ontology; LUBM(1) is a hundred thousand triples."""
    file = tmp_path / "data.nt" if UNIVERSITIES else SUITES / "lubm" / "lubm1.nt.gz"
    if UNIVERSITIES:
        lubm.write(file, UNIVERSITIES)
    elif not file.exists():
        pytest.skip(why_missing("lubm"))
    ontology = turtle(lubm.ontology_path().read_text(encoding="utf-8"))
    engine = Reasoner(ruleset=name, show_hidden=True)
    engine.load(file)
    engine.add_triples(ontology)
    triples = read_triples(session(), file, keep=tmp_path / "input")
    reasoner = SparkReasoner(session(), rulesets.load(name).program, triples, ontology=ontology)
    assert flagged(reasoner.triples()) == of_reasoner(engine)


CLOSURES = parse("""
    linear(?x, ?y) :- small(?x, ?y) . linear(?x, ?z) :- linear(?x, ?y), small(?y, ?z) .
    doubled(?x, ?y) :- small(?x, ?y) . doubled(?x, ?z) :- doubled(?x, ?y), doubled(?y, ?z) .
    sparse(?x, ?y) :- large(?x, ?y) . sparse(?x, ?z) :- sparse(?x, ?y), large(?y, ?z) .
""")


def test_transitive_closures() -> None:
    """Of two graphs, by linear and by other recursion, all in one run."""
    engine, facts = Reasoner(CLOSURES), {}
    for predicate, graph in (("small", "graph1000"), ("large", "graph10000")):
        file = SUITES / "graphs" / f"{graph}.txt"
        if not file.exists():
            continue
        ends = (line.split()[:2] for line in file.read_text().splitlines())
        edges = [(IRI(f"http://example.org/{one}"), IRI(f"http://example.org/{other}")) for one, other in ends]
        engine.add_facts(predicate, edges)
        facts[predicate] = facts_frame(edges, 2)
    if not facts:
        pytest.skip(why_missing("graphs"))
    closures = ("linear", "doubled", "sparse")
    expected = {name: {tuple(map(term_text, row)) for row in engine.facts(name)} for name in closures}
    assert expected["linear"] == expected["doubled"]
    assert facts_of(SparkReasoner(session(), CLOSURES, facts=facts), closures) == expected


# ------------------------------------------------------------------------------------------------------------ random programs

FEW = settings(max_examples=2, suppress_health_check=list(HealthCheck))


def renamed(program: Program, number: int) -> Program:
    """A program whose predicates are its own, so that several can be evaluated at once."""

    def in_atom(atom: Atom) -> Atom:
        return Atom(f"{atom.predicate}_{number}", atom.terms)

    def in_part(part: object) -> object:
        return in_atom(part) if isinstance(part, Atom) else Negation(in_atom(part.atom)) if isinstance(part, Negation) else part

    rules = (Rule(in_atom(rule.head), tuple(map(in_part, rule.body))) for rule in program.rules)  # type: ignore[arg-type]
    return Program(tuple(rules))


def stratifies(program: Program) -> bool:
    try:
        oracle.stratify(program.rules)
    except StratificationError:
        return False
    return True


@FEW
@given(st.lists(st.tuples(strategies.programs().filter(stratifies), strategies.facts()), min_size=4, max_size=4))
def test_random_programs(cases: list[tuple[Program, strategies.Facts]]) -> None:
    """Four programs at once, with negation and comparisons."""
    together, facts, expected = Program(), {}, {}
    for number, (program, given_facts) in enumerate(cases):
        together |= renamed(program, number)
        for predicate, rows in given_facts.items():
            facts[f"{predicate}_{number}"] = facts_frame(rows, strategies.PREDICATES[predicate])
        for predicate, rows in oracle.evaluate(program, given_facts).items():
            if rows:
                expected[f"{predicate}_{number}"] = {tuple(map(term_text, row)) for row in rows}
    reasoner = SparkReasoner(session(), together, facts=facts)
    assert facts_of(reasoner, expected) == expected


@FEW
@given(strategies.triple_programs(), strategies.triples())
def test_random_programs_over_triples(program: Program, triples: set[tuple[strategies.Term, ...]]) -> None:
    """With variables for properties and classes."""
    found = flagged(SparkReasoner(session(), program, frame(triples)).triples())  # type: ignore[arg-type]  # three terms each
    expected = oracle.evaluate(program, {TRIPLE: triples}).get(TRIPLE, set())
    rdf = {row for row in expected if not isinstance(row[0], Literal) and isinstance(row[1], IRI)}
    assert {row[:3] for row in found} == {tuple(map(term_text, row)) for row in rdf}


# ------------------------------------------------------------------------------------------------------------------ the rest


def test_functions_are_those_of_the_engine() -> None:
    program = parse("""
        area(?box, ?a) :- width(?box, ?w), height(?box, ?h), BIND(?w * ?h AS ?a) .
        large(?box) :- area(?box, ?a), FILTER(?a > 10 && STRSTARTS(?box, "big")) .
    """)
    boxes = [("big one", 4, 3), ("small", 5, 5), ("big but flat", 1, 1)]
    facts = {
        "width": facts_frame([(literal(name), literal(width)) for name, width, _ in boxes], 2),
        "height": facts_frame([(literal(name), literal(height)) for name, _, height in boxes], 2),
    }
    assert facts_of(SparkReasoner(session(), program, facts=facts), ["large"]) == {"large": {('"big one"',)}}


def test_aggregates_are_refused_by_name() -> None:
    program = parse("degree(?x, ?n) :- AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(?y) AS ?n) .")
    with pytest.raises(UnsupportedError, match="AGGREGATE is not evaluated on Spark"):
        SparkReasoner(session(), program, facts={"edge": facts_frame([], 2)}).triples()


def test_the_plan_says_what_each_pass_derives() -> None:
    text = SparkReasoner(session(), rulesets.load("owl2rl").program, frame(turtle(ZOO))).explain()
    assert "<http://example.org/chases> implies <http://example.org/followedBy> inverted, <http://example.org/follows>" in text
    assert "<http://example.org/Animal>[?x] :- <http://example.org/Cat>[?x] ." in text.partition("3. masks")[2]
    assert "<http://example.org/partOf>[?x, ?z] :-" in text.partition("stratum 0")[2]
