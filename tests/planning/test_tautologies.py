"""Rules that skip what derives nothing: instances whose head is in their body, and rules that nothing matches."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.language.parser import parse
from kg_reasoner.planning.catalog import RelationCatalog, layout_for
from kg_reasoner.planning.plan_drafts import Draft, Use
from kg_reasoner.planning.tautologies import differing
from kg_reasoner.program import TRIPLE
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, Term
from tests.helpers.effort import CHECKED, PHASES, examples
from tests.helpers.oracle import evaluate

EX = "http://example.org/"

DIFFERING = {
    "[?x, rdf:type, ?d] :- rdfs:subClassOf[?c, ?d], [?x, rdf:type, ?c] .": {"cd"},
    "[?x, ?q, ?y] :- rdfs:subPropertyOf[?p, ?q], [?x, ?p, ?y] .": {"pq"},
    "[?t, ?p, ?o] :- owl:sameAs[?s, ?t], [?s, ?p, ?o] .": {"st"},
    "owl:sameAs[?y, ?x] :- owl:sameAs[?x, ?y] .": {"xy"},
    "owl:sameAs[?x, ?z] :- owl:sameAs[?x, ?y], owl:sameAs[?y, ?z] .": {"xy", "yz"},
    "[?y, ?q, ?x] :- owl:inverseOf[?p, ?q], [?x, ?p, ?y] .": set(),
    "[?x, rdf:type, ?c] :- rdfs:domain[?p, ?c], [?x, ?p, ?y] .": set(),
    "[?x, ?p, ?z] :- [?p, rdf:type, owl:TransitiveProperty], [?x, ?p, ?y], [?y, ?p, ?z] .": set(),
    "[?x, rdf:type, ?d] :- NOT rdfs:subClassOf[?c, ?d], [?x, rdf:type, ?c], [?d, ?p, ?o] .": set(),
    "[?x, ?p, rdf:nil] :- owl:sameAs[?y, rdf:nil], [?x, ?p, ?y] .": set(),
}
"""Rules, and the variables of which they need no instances with the same term."""


@pytest.mark.parametrize("text", DIFFERING)
def test_what_must_differ(text: str) -> None:
    rules = (*parse(text).rules, *parse("[?s, ?p, ?o] :- owl:inverseOf[?p, ?q], [?o, ?q, ?s] .").rules)
    dictionary, database = Dictionary(), Database()
    catalog = RelationCatalog(dictionary, database, layout_for(rules))
    (stored,) = catalog.rules(rules[0])
    assert {"".join(sorted(pair)) for pair in differing(database, stored.head, stored.body)} == DIFFERING[text]


def test_general_predicates_are_as_they_were() -> None:
    rule = parse("path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .").rules[0]
    database = Database()
    (stored,) = RelationCatalog(Dictionary(), database, layout_for([rule])).rules(rule)
    assert not differing(database, stored.head, stored.body)
    assert all(step.guard < 0 for step in Draft(database, stored.head, stored.body, (), Use(0, of_rule=True)).steps)


PROGRAM = """
    owl:sameAs[?x, ?x] :- [?x, ?p, ?o] .
    owl:sameAs[?y, ?x] :- owl:sameAs[?x, ?y] .
    owl:sameAs[?x, ?z] :- owl:sameAs[?x, ?y], owl:sameAs[?y, ?z] .
    [?t, ?p, ?o] :- owl:sameAs[?s, ?t], [?s, ?p, ?o] .
    [?s, ?p, ?u] :- owl:sameAs[?o, ?u], [?s, ?p, ?o] .
    rdfs:subClassOf[?c, ?c], rdfs:subClassOf[?c, owl:Thing] :- [?x, rdf:type, ?c] .
    rdfs:subClassOf[?c, ?e] :- rdfs:subClassOf[?c, ?d], rdfs:subClassOf[?d, ?e] .
    [?x, rdf:type, ?d] :- rdfs:subClassOf[?c, ?d], [?x, rdf:type, ?c] .
    [?x, ?q, ?y] :- rdfs:subPropertyOf[?p, ?q], [?x, ?p, ?y] .
    [?x, ?p, ?z] :- [?p, rdf:type, owl:TransitiveProperty], [?x, ?p, ?y], [?y, ?p, ?z] .
    [?y, ?p, ?x] :- [?p, rdf:type, owl:SymmetricProperty], [?x, ?p, ?y] .
    loop(?x, ?p) :- [?x, ?p, ?x], FILTER(?p != owl:sameAs), NOT owl:differentFrom[?x, ?x] .
"""

a, b, c, p, q = (IRI(EX + name) for name in "abcpq")
TERMS: list[Term] = [a, b, c]
NAMES: list[Term] = [p, q, RDF.type, RDFS.subClassOf, OWL.sameAs, OWL.differentFrom]
triples = st.one_of(
    st.tuples(st.sampled_from(TERMS), st.sampled_from(NAMES), st.sampled_from(TERMS)),
    st.sampled_from(
        [
            (p, RDFS.subPropertyOf, q),
            (p, RDFS.subPropertyOf, p),
            (p, RDF.type, OWL.TransitiveProperty),
            (q, RDF.type, OWL.SymmetricProperty),
            (a, RDFS.subClassOf, a),
        ]
    ),
)


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(steps=st.lists(st.lists(triples, min_size=1, max_size=6), min_size=1, max_size=4))
@settings(max_examples=examples(10 if CHECKED else 60), deadline=None, phases=PHASES)
@pytest.mark.sample(4)
def test_updates_agree_with_the_oracle(strategy: str, steps: list[list[tuple[Term, Term, Term]]]) -> None:
    """Each step removes the triples that are there and adds the others."""
    program = parse(PROGRAM)
    reasoner = Reasoner(program, maintenance=strategy, show_hidden=True)  # type: ignore[arg-type]
    explicit: set[tuple[Term, ...]] = set()
    for step in steps:
        gone = explicit & set(step)
        with reasoner.transaction() as tx:
            tx.remove_triples(gone)
            tx.add_triples(set(step) - gone)
        explicit ^= set(step)
        model = evaluate(program, {TRIPLE: explicit})
        assert set(reasoner.triples()) == model.get(TRIPLE, set())
        assert set(reasoner.facts("loop")) == model.get("loop", set())


def test_trivial_axioms_cost_no_instances() -> None:
    """Each class is below itself, each term the same as itself; what follows from that is not derived again."""
    reasoner = Reasoner("identical(?x) :- owl:sameAs[?x, ?x] .", ruleset="owl2rl-full")
    reasoner.add_triples([(IRI(f"{EX}x{number}"), p, IRI(f"{EX}x{number + 1}")) for number in range(100)])
    reasoner.add_triples([(p, RDF.type, OWL.ObjectProperty), (a, RDF.type, OWL.Class), (b, RDF.type, a)])
    with reasoner.profile() as profile:
        reasoner.materialise()
    instances = {row.name: row.instances for row in profile.rows(by="name") if row.name}
    assert instances["eq-ref"] > 100
    for name in ("eq-sym", "eq-trans", "eq-rep-s", "eq-rep-p", "eq-rep-o", "prp-spo1", "prp-eqp1", "cax-eqc1"):
        assert instances.get(name, 0) == 0, name


def test_rules_without_axioms_need_no_index_and_no_values() -> None:
    """Nothing says that a property is functional: nobody looks at what it would equate, or whether a number is one."""
    reasoner = Reasoner(ruleset="owl2rl-full")
    reasoner.add_triples([(IRI(f"{EX}x{number}"), p, IRI(f"{EX}x{number + 1}")) for number in range(100)])
    with reasoner.profile() as profile:
        reasoner.materialise()
    labels = {row.label for row in profile.rows(by="name")}
    assert "read values" not in labels
    assert not {"prp-fp", "prp-trp", "cls-maxc2", "cls-svf1"} & {row.name for row in profile.rows() if row.instances}
    reasoner.add_triples([(p, RDF.type, OWL.FunctionalProperty), (IRI(f"{EX}x0"), p, a)])
    assert list(reasoner.triples(a, OWL.sameAs, IRI(f"{EX}x1")))
