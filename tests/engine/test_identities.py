"""Every term is the same as itself (eq-ref): seen from outside as if that was derived, and stored only where rules can use it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import Dataset, URIRef

from kg_reasoner import LimitError, Limits, Reasoner, ReasonerError, attach, rulesets
from kg_reasoner.language.saved_programs import saved_rule_file
from kg_reasoner.rdflib_store import graph_of, store_of
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, BlankNode, Term, Triple, literal
from tests.helpers.effort import examples
from tests.ontologies.test_owl import triples_in

PREFIXES = "@prefix : <http://example.org/> . "
ASKING = "identical(?x) :- owl:sameAs[?x, ?x] ."
"""A rule that lets identities be derived."""


def ex(name: str) -> IRI:
    return IRI(f"http://example.org/{name}")


A, B, P, C = ex("a"), ex("b"), ex("p"), ex("C")
NAMES = [*map(ex, "abcd"), P, ex("q"), BlankNode("l1"), BlankNode("l2"), BlankNode("l3")]
PROPERTIES = [
    *(P, ex("q"), RDF.type, RDF.first, RDF.rest, RDFS.domain, RDFS.range, RDFS.subPropertyOf, RDFS.subClassOf),
    *(OWL.sameAs, OWL.differentFrom, OWL.inverseOf, OWL.equivalentProperty, OWL.propertyDisjointWith, OWL.onProperty),
    *(OWL.hasValue, OWL.someValuesFrom, OWL.members, OWL.distinctMembers, OWL.hasKey, OWL.propertyChainAxiom),
]
CLASSES = [
    *(C, ex("D"), OWL.IrreflexiveProperty, OWL.AsymmetricProperty, OWL.FunctionalProperty, OWL.InverseFunctionalProperty),
    *(OWL.SymmetricProperty, OWL.TransitiveProperty, OWL.ObjectProperty, OWL.AllDifferent, OWL.Class),
]
VALUES: list[Term] = [*NAMES, *NAMES, *CLASSES[:2], literal(1), literal("x"), OWL.sameAs]


def triple(subject: Term, property: Term, value: Term, kind: Term, has_rest: bool) -> Triple:
    if property == RDF.type:
        value = kind
    elif property == RDF.rest and not (has_rest and isinstance(value, BlankNode)):
        value = RDF.nil
    return subject, property, value  # type: ignore[return-value]  # drawn so


TRIPLES = st.builds(
    triple,
    st.sampled_from([*NAMES, *NAMES, OWL.sameAs]),
    st.one_of(st.sampled_from(PROPERTIES), st.sampled_from(PROPERTIES[:3])),
    st.sampled_from(VALUES),
    st.sampled_from(CLASSES),
    st.booleans(),
)
RULES = [
    "",
    "lone(?x) :- :C[?x], NOT :p[?x, ?x] .",
    "[?t, :length, ?n] :- text(?t), BIND(STRLEN(?t) AS ?n) .",
    "[?x, :r, ?y] :- [?x, :p, ?y] .",
    "[?x, :r, ?y] :- [?x, ?p, ?y], :D[?p] .",
    "found(?x) :- owl:sameAs[?x, ?x], :C[?x] .",
]
HISTORIES = st.lists(st.tuples(st.lists(TRIPLES, min_size=1, max_size=7), st.integers(0, 4)), min_size=1, max_size=3)
PATTERNS: list[tuple[Term | None, Term | None, Term | None]] = [
    *((None, OWL.sameAs, None), (A, OWL.sameAs, None), (None, OWL.sameAs, B), (A, OWL.sameAs, A), (A, OWL.sameAs, B)),
    *((P, OWL.sameAs, P), (OWL.sameAs, OWL.sameAs, None), (OWL.sameAs, None, None), (A, None, None), (P, None, P)),
    *((None, None, literal(1)), (None, OWL.sameAs, literal("text")), (ex("nowhere"), OWL.sameAs, None)),
    *((literal(1), OWL.sameAs, literal(1)), (OWL.sameAs, OWL.sameAs, OWL.sameAs)),
]
QUERIES = [
    "SELECT ?x ?y { ?x owl:sameAs ?y }",
    "SELECT ?x { ?x owl:sameAs ?x }",
    "SELECT DISTINCT ?x { ?x owl:sameAs ?y }",
    "SELECT (COUNT(*) AS ?n) { ?x owl:sameAs ?y }",
    "SELECT ?y { :a owl:sameAs ?y }",
    "SELECT ?x { ?x owl:sameAs :a }",
    "SELECT ?x ?y { ?x a :C . ?x owl:sameAs ?y }",
    "SELECT DISTINCT ?x ?z { ?x :p ?y . ?y owl:sameAs ?z }",
    "SELECT ?x ?y { ?x owl:sameAs ?y . ?y a ?c . ?x :p ?z }",
    "SELECT ?x ?y { ?x :p ?y . ?x owl:sameAs ?y }",
    "SELECT ?x ?z { ?x :p ?y . ?z owl:sameAs ?y . ?z :q ?w }",
    "SELECT ?y ?z { :a :p ?y . ?y owl:sameAs ?z . ?z owl:sameAs ?w }",
    "SELECT ?x ?y { ?x owl:sameAs ?y . ?y owl:sameAs ?x . ?x :p ?x }",
    "SELECT ?x { ?x owl:sameAs ?y FILTER(?y = :a) }",
    "SELECT ?x ?y { VALUES ?x { :a :nowhere } ?x owl:sameAs ?y }",
    "SELECT ?x ?z { ?x :p ?y OPTIONAL { ?y owl:sameAs ?z } }",
    "SELECT ?x { ?x :p ?y FILTER NOT EXISTS { ?x owl:sameAs ?y } }",
    "SELECT ?x ?y { ?x owl:sameAs ?y MINUS { ?x :p ?z } }",
    "SELECT ?x { :a owl:sameAs+ ?x }",
    "SELECT ?x { ?x owl:sameAs+ :b }",
    "SELECT ?x ?y { ?x owl:sameAs* ?y . ?x :p ?z }",
    "SELECT ?x ?y { ?x owl:sameAs|:q ?y }",
    "SELECT ?x ?y { ?x ^owl:sameAs/:p ?y }",
    "SELECT ?x ?y { ?x (owl:sameAs/:p)+ ?y }",
    "SELECT ?x ?y { ?x !:p ?y }",
    "SELECT ?p (COUNT(*) AS ?n) { ?x ?p ?y } GROUP BY ?p",
    "SELECT ?g ?x { GRAPH ?g { ?x owl:sameAs ?y } }",
    "ASK { :a owl:sameAs :a }",
    "ASK { :p owl:sameAs :p . ?x :p ?y }",
    "ASK { owl:sameAs owl:sameAs owl:sameAs }",
    "ASK { ?x :p/owl:sameAs 'x' }",
    "ASK { VALUES ?v { 'x' 1 } ?v owl:sameAs ?v }",
    "SELECT ?x ?y { ?x :p ?y FILTER EXISTS { ?y owl:sameAs ?y } }",
    "SELECT ?x ?y { ?x :p ?y FILTER NOT EXISTS { ?y owl:sameAs ?y } }",
    "DESCRIBE :a",
]


def answers(reasoner: Reasoner, query: str) -> Any:
    text = f"PREFIX : <http://example.org/> PREFIX owl: <http://www.w3.org/2002/07/owl#> {query}"
    found = reasoner.query(text)
    if found.type == "ASK":
        return bool(found)
    items: Iterable[Hashable] = map(tuple, found) if found.type == "SELECT" else found.triples()
    return Counter(items)


@pytest.mark.parametrize("maintenance", ["backward-forward", "delete-rederive", "counting"])
@settings(max_examples=examples(12))
@given(history=HISTORIES, rule=st.sampled_from(RULES), asks=st.booleans())
@pytest.mark.sample(3)
def test_nobody_sees_whether_identities_are_stored(
    maintenance: Any, history: list[tuple[list[Triple], int]], rule: str, asks: bool
) -> None:
    """`asks`: whether queries are asked twice, so that they have shortcuts, and queries in the rule language are asked."""
    one = Reasoner(PREFIXES + rule, ruleset="owl2rl-full", maintenance=maintenance)
    other = Reasoner(PREFIXES + rule + ASKING, ruleset="owl2rl-full", maintenance=maintenance)
    known: list[Triple] = []
    for added, removed in history:
        gone, known = known[:removed], [*known[removed:], *added]
        for reasoner in (one, other):
            reasoner.remove_triples(gone)
            reasoner.add_triples(added)
            if "text" in rule:
                reasoner.add_facts("text", [[literal("text")], [literal("x")]])
        for which in ("all", "inferred", "explicit"):
            for pattern in ((None, None, None), *PATTERNS):
                expected = Counter(other.triples(*pattern, which=which))  # type: ignore[arg-type]  # a name of the three
                assert Counter(one.triples(*pattern, which=which)) == expected, (which, pattern)  # type: ignore[arg-type]
        assert sorted(map(str, one.inconsistencies())) == sorted(map(str, other.inconsistencies()))
        assert set(graph_of(one)) == set(graph_of(other))
        for query in QUERIES:
            for _ in range(1 + asks):
                assert answers(one, query) == answers(other, query), query
        for body in ("owl:sameAs[?x, ?y]", "[?x, ?p, ?y]", ":C[?x], NOT owl:sameAs[?x, ?x]") if asks else ():
            assert Counter(one.answers(body)) == Counter(other.answers(body)), body
        for predicate in ("lone", "found"):
            assert Counter(one.facts(predicate)) == Counter(other.facts(predicate))


def identities(reasoner: Reasoner) -> set[Term]:
    """The terms of which it is stored that they are the same as themselves."""
    reasoner.materialise()
    stored = reasoner.dictionary.decode_rows(reasoner.engine.base.triples())
    return {subject for subject, property, value in stored if property == OWL.sameAs and subject == value}


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (":a :p :b", "same(?x, ?y) :- owl:sameAs[?x, ?y] ."),
        (":a :p :b", "unequal(?x) :- :p[?x, ?y], NOT owl:sameAs[?x, ?y] ."),
        (":a :p :b", "related(?x, ?y) :- [?x, ?p, ?y] ."),
        (":a :p :b", ':p["text", ?x] :- :p[:a, ?x] .'),
        (":a :p :b . owl:sameAs rdfs:subPropertyOf :near", ""),
        (":a :p :b . :near owl:inverseOf owl:sameAs", ""),
        (":a :p :b . owl:sameAs rdfs:domain owl:sameAs", ""),
        (":a :p :b . owl:sameAs a owl:IrreflexiveProperty", ""),
        (":a :p :b . owl:sameAs a owl:AsymmetricProperty", ""),
        (":a :p :b . :a owl:differentFrom :a", ""),
        (":a :p :b . [] a owl:AllDifferent ; owl:members (:a :b :a)", ""),
        (":a :p :b . [] a owl:AllDifferent ; owl:distinctMembers (:a :b :a)", ""),
    ],
)
def test_identities_are_stored_while_rules_can_use_them(data: str, rule: str) -> None:
    reasoner = Reasoner(PREFIXES + rule, ruleset="owl2rl-full")
    first, *others = (triples_in(f"{part} .") for part in data.split(" . "))
    reasoner.add_triples(first)
    for each in others:
        assert not identities(reasoner)
        reasoner.add_triples(each)
    assert {A, B, P, OWL.sameAs} <= identities(reasoner)
    for each in others:
        reasoner.remove_triples(each)
    reasoner.remove_rules([rule for rule in reasoner.rules if rule.origin.name is None])
    assert not identities(reasoner)


@pytest.mark.parametrize(
    "data",
    [
        ":a :p :b . :p a owl:FunctionalProperty, owl:InverseFunctionalProperty, owl:ObjectProperty . :b :p :a .",
        "owl:sameAs a owl:ObjectProperty, owl:SymmetricProperty, owl:TransitiveProperty . :a :p :b .",
        "[] a owl:AllDifferent ; owl:members (:a :b) . :a :p '1'^^xsd:integer, 'x' .",
    ],
)
def test_identities_are_not_stored_otherwise(data: str) -> None:
    reasoner = Reasoner(ruleset="owl2rl-full")
    reasoner.add_triples(triples_in(data))
    before = reasoner.sizes().inferred
    assert not identities(reasoner)
    assert list(reasoner.triples(A, OWL.sameAs)) == [(A, OWL.sameAs, A)]
    assert reasoner.sizes().inferred == before, "what only answers have is not counted"


def test_a_copy_of_the_rule_set_asks_for_nothing_but_what_its_other_rules_match(tmp_path: Path) -> None:
    """Otherwise all literals would be stored as different."""
    text = rulesets.packaged("owl2rl-full").path.read_text("utf-8")
    triples = [(ex(f"s{number}"), P, literal(f"x{number}")) for number in range(20)]
    file = tmp_path / "copy.dl"
    file.write_text(text, encoding="utf-8")
    packaged = Reasoner(ruleset="owl2rl-full")
    copies = [Reasoner(text), Reasoner(ruleset=file), Reasoner(saved_rule_file(str(file)))]
    for reasoner in (packaged, *copies):
        reasoner.add_triples(triples)
        assert identities(reasoner) == set()
        assert reasoner.sizes().inferred == packaged.sizes().inferred
    more = Reasoner(f"{PREFIXES} {text} {ASKING}")
    more.add_triples(triples)
    assert A not in identities(more) and P in identities(more)


def test_rules_of_swrl_can_use_identities() -> None:
    rule = """
        @prefix : <http://example.org/> . @prefix swrl: <http://www.w3.org/2003/11/swrl#> .
        :x a swrl:Variable . :y a swrl:Variable . :a :p :b .
        [] a swrl:Imp ;
            swrl:body ( [ a swrl:SameIndividualAtom ; swrl:argument1 :x ; swrl:argument2 :y ] ) ;
            swrl:head ( [ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :near ; swrl:argument1 :x ; swrl:argument2 :y ] ) .
    """
    reasoner = Reasoner(ruleset="owl2rl+owl2rl-full")
    reasoner.add_triples(triples_in(rule))
    assert {A, B} <= {x for x, _, y in reasoner.triples(None, ex("near"), None) if x == y}


def test_all_is_stored_where_all_is_shown() -> None:
    reasoner = Reasoner(ruleset="owl2rl-full", show_hidden=True)
    reasoner.add_triples([(A, P, B)])
    assert identities(reasoner) >= {A, P, B, OWL.sameAs}
    assert (A, OWL.sameAs, A) in set(reasoner.triples())


@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2rl-full"])
def test_proofs(ruleset: str) -> None:
    reasoner = Reasoner(f"{PREFIXES} [?y, :near, ?x] :- :p[?x, ?y] .", ruleset=ruleset)
    reasoner.add_triples([(A, P, B), (C, P, A), (A, P, literal(1))])
    proof = reasoner.explain((A, OWL.sameAs, A))
    assert [step.rule.origin.name if step.rule else step.reason for step in proof.steps] == ["explicit", "eq-ref"]
    assert (proof.height, proof.shortest) == (1, True)
    proofs = list(reasoner.all_proofs((A, OWL.sameAs, A)))
    assert [each.height for each in proofs] == [1, 1, 1, *[2] * (len(proofs) - 3)]
    assert all(str(each.conclusion) == str(proof.conclusion) for each in proofs)
    near = reasoner.explain((ex("near"), OWL.sameAs, ex("near")))
    assert (near.height, near.shortest) == (2, False)
    with pytest.raises(ReasonerError, match="does not hold"):
        reasoner.explain((ex("nowhere"), OWL.sameAs, ex("nowhere")))
    with pytest.raises(ReasonerError, match="holds: call explain"):
        reasoner.why_not((A, OWL.sameAs, A))
    assert reasoner.why_not((ex("nowhere"), OWL.sameAs, ex("nowhere"))).misses


def test_the_identity_of_same_as_is_proved_by_that_of_another_term() -> None:
    reasoner = Reasoner(ruleset="owl2rl-full")
    same_as = OWL.sameAs, OWL.sameAs, OWL.sameAs
    reasoner.add_triples([(A, P, B)])
    proof = reasoner.explain(same_as)
    assert [step.rule.origin.name if step.rule else step.reason for step in proof.steps] == ["explicit", "eq-ref", "eq-ref"]
    assert next(reasoner.all_proofs(same_as)).height == 2
    with pytest.raises(ReasonerError, match="holds: call explain"):
        reasoner.why_not(same_as)


@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize("rule", ["", "loop(?x) :- [?x, ?p, ?x] ."])
def test_without_the_rule_there_are_no_identities(rule: str, is_read: bool) -> None:
    reasoner = Reasoner(ruleset="owl2rl-full")
    reasoner.add_program(rule)
    if is_read:
        assert len([*reasoner.triples(None, OWL.sameAs)]) > 0
    reasoner.remove_rules([known for known in reasoner.rules if known.origin.name == "eq-ref"])
    for one in (reasoner, reasoner.without_facts()):
        one.add_triples([(IRI("urn:a"), IRI("urn:p"), IRI("urn:b"))])
        assert [*one.triples(None, OWL.sameAs)] == []
        assert [*one.answers("owl:sameAs[?x, ?y]")] == []


@pytest.mark.parametrize("name", ["eq-mine", "list/mine", "beyond/mine", "dt-check", "rdfs9", "eq-trans"])
def test_names_like_those_of_the_w3c_are_names_of_users_rules(name: str) -> None:
    reasoner = Reasoner(f"@rule {name}\n same(?x, ?y) :- owl:sameAs[?x, ?y] .", ruleset="owl2rl-full")
    reasoner.add_triples([(A, P, B)])
    assert {A, P, B} <= {x for x, _ in reasoner.facts("same")}


@pytest.mark.parametrize("rule", ["", ASKING])
@pytest.mark.parametrize("others", [0, 3000])
def test_literals_are_no_subjects_wherever_patterns_are_looked_up(rule: str, others: int) -> None:
    reasoner = Reasoner(rule, ruleset="owl2rl-full")
    reasoner.add_triples([(A, P, literal("x")), *((ex(f"s{number}"), ex("q"), ex(f"o{number}")) for number in range(others))])
    for query in ("{ :a :p/owl:sameAs 'x' }", "{ VALUES ?v { 'x' } ?v owl:sameAs ?v }", "{ VALUES ?v { 'x' } ?v owl:sameAs 'x' }"):
        assert not answers(reasoner, f"ASK {query}"), query
    assert not answers(reasoner, "SELECT ?v { :a :p ?v FILTER EXISTS { ?v owl:sameAs ?v } }")
    assert answers(reasoner, "SELECT ?v { :a :p ?v FILTER NOT EXISTS { ?v owl:sameAs ?v } }") == Counter([(literal("x"),)])
    assert not list(reasoner.triples(literal("x"), OWL.sameAs, literal("x")))


@pytest.mark.parametrize("rule", ["", ASKING])
def test_paths_of_length_zero_do_not_depend_on_the_order_of_joins(rule: str) -> None:
    """A property that is no subject or object of a visible triple is the same as itself, but not a node."""
    for size in (0, 1, 200):
        reasoner = Reasoner(rule, ruleset="owl2rl-full")
        reasoner.add_triples([(A, P, B), *((A, ex("q"), ex(f"n{number}")) for number in range(size))])
        assert answers(reasoner, "SELECT ?x { ?x :q*/owl:sameAs :p }") == Counter()
        assert answers(reasoner, "SELECT ?x { ?x :q*/owl:sameAs :a }") == Counter([(A,)])


@pytest.mark.parametrize("rule", ["", ASKING])
@pytest.mark.parametrize("name", ["http://example.org/inferred", "urn:x-rdflib:default"])
def test_the_graph_of_inferred_triples_has_them(rule: str, name: str) -> None:
    dataset = Dataset()
    a, p, b, same_as = (URIRef(term.value) for term in (A, P, B, OWL.sameAs))
    dataset.graph(URIRef("http://example.org/g")).add((a, p, b))
    store = store_of(attach(dataset, "owl2rl-full", inferred_graph=name))
    store.reasoner.add_program(rule)
    graph = dataset.graph(URIRef(name))
    assert (a, same_as, a) in graph
    assert {a, p, b} <= {x for x, _, y in graph.triples((None, same_as, None)) if x == y}
    pattern = "?x owl:sameAs ?y . FILTER(?x IN (:a, :p, :b))"
    for query in (f"FROM <{name}> {{ {pattern} }}", f"{{ GRAPH <{name}> {{ {pattern} }} }}"):
        found = dataset.query(f"PREFIX : <http://example.org/> PREFIX owl: <http://www.w3.org/2002/07/owl#> SELECT ?x ?y {query}")
        assert {tuple(row) for row in found} == {(a, a), (p, p), (b, b)}, query  # type: ignore[arg-type]  # rows


@pytest.mark.parametrize("on_demand", [False, True])
@pytest.mark.parametrize("body", ["owl:sameAs[?x, :a]", "[?x, ?p, :a], FILTER(?p = owl:sameAs)"])
def test_queries_in_the_rule_language_find_identities(body: str, on_demand: bool) -> None:
    reasoner = Reasoner(PREFIXES, ruleset="owl2rl-full")
    reasoner.add_triples([(A, P, B)])
    reasoner.materialise()
    with pytest.raises(LimitError):
        reasoner.answers(body, on_demand=on_demand, limits=Limits(facts=1))
    assert {x for x, *_ in reasoner.answers(body, on_demand=on_demand)} == {A}
    reasoner.add_triples([(A, P, C)])
    assert identities(reasoner) >= {A, C}
    assert [*reasoner.answers("owl:sameAs[?x, :nowhere]")] == []


@pytest.mark.parametrize("commits", [False, True])
def test_a_query_in_a_transaction_lets_identities_be_stored(commits: bool) -> None:
    reasoner = Reasoner(PREFIXES, ruleset="owl2rl-full")
    reasoner.add_triples([(A, P, B)])
    transaction = reasoner.transaction()
    transaction.begin()
    transaction.add_triples([(C, P, B)])
    assert {x for (x,) in reasoner.answers("owl:sameAs[?x, :c]", {})} == set()
    assert {x for (x,) in reasoner.answers("owl:sameAs[?x, :C]", {})} == {C}
    if commits:
        transaction.commit()
    else:
        transaction.rollback()
    assert (C in identities(reasoner)) == commits
    assert A in identities(reasoner)


def test_proofs_end_with_a_change() -> None:
    reasoner = Reasoner(ruleset="owl2rl-full")
    reasoner.add_triples([(A, P, B), (B, P, A)])
    proofs = reasoner.all_proofs((A, OWL.sameAs, A))
    next(proofs)
    reasoner.add_triples([(A, P, C)])
    with pytest.raises(ReasonerError, match="have changed"):
        next(proofs)
