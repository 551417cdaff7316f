"""Equality by rewriting against equality by axioms: the same facts, changes and constraints, whatever comes and goes."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from itertools import pairwise, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rdflib import OWL as ROWL
from rdflib import Dataset, Graph, Namespace

from benchmarks import equality as equality_benchmark
from kg_reasoner import attach
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.cli import main as cli
from kg_reasoner.engine.equality.cliques import MANY_PAIRS, Cliques, _thinned
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.errors import NoProofError, StratificationError, UnknownNameError, UnsupportedError
from kg_reasoner.graphs import connected_components
from kg_reasoner.language.parser import parse
from kg_reasoner.program import TRIPLE, Atom, Filter, Program
from kg_reasoner.rdflib_store import KGReasonerStore
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, Triple, literal
from tests.engine.test_maintenance import everything, facts_of, less
from tests.helpers.effort import PHASES, examples
from tests.helpers.oracle import Facts, evaluate, without_empty
from tests.helpers.reasoners import applied
from tests.helpers.strategies import NODES, PROPERTIES, Transaction, World, transactions, triple_worlds


def ex(name: str) -> IRI:
    return IRI(f"http://example.org/{name}")


A, B, C, D, P, Q, F, G, K, M, R = map(ex, ["A", "B", "C", "D", "p", "q", "f", "g", "k", "m", "r"])
PEOPLE = [ex(name) for name in ("ann", "bob", "cat", "dan", "eve")]
NIL, CELL, RESTRICTION = RDF.nil, BlankNode("cell"), BlankNode("restriction")

ONTOLOGY: list[Triple] = [
    (F, RDF.type, OWL.FunctionalProperty),
    (G, RDF.type, OWL.InverseFunctionalProperty),
    (P, RDFS.subPropertyOf, Q),
    (A, RDFS.subClassOf, B),
    (D, OWL.hasKey, CELL),
    (CELL, RDF.first, K),
    (CELL, RDF.rest, NIL),
    (C, RDFS.subClassOf, RESTRICTION),
    (RESTRICTION, RDF.type, OWL.Restriction),
    (RESTRICTION, OWL.onProperty, M),
    (RESTRICTION, OWL.maxCardinality, literal(1)),
    (Q, RDFS.domain, A),
    (R, RDF.type, OWL.TransitiveProperty),
]
"""Functional and inverse functional properties, a key, and a maximal cardinality: all of them merge."""

people = st.sampled_from(PEOPLE)
assertions = st.one_of(
    st.tuples(people, st.just(OWL.sameAs), people),
    st.tuples(people, st.sampled_from([P, Q, F, G, K, M, R]), people),
    st.tuples(people, st.sampled_from([K, F]), st.sampled_from([literal("x"), literal("y")])),
    st.tuples(people, st.just(RDF.type), st.sampled_from([A, B, C, D])),
    st.tuples(people, st.just(OWL.differentFrom), people),
)
about_names = st.one_of(
    st.tuples(st.sampled_from([P, Q, F]), st.just(OWL.sameAs), st.sampled_from([P, G, R, *PEOPLE[:2]])),
    st.tuples(st.sampled_from([A, B, C]), st.just(OWL.sameAs), st.sampled_from([B, D, *PEOPLE[:2]])),
    st.sampled_from(ONTOLOGY),
)
steps = st.lists(st.tuples(st.sets(assertions, max_size=5), st.sets(assertions, max_size=4)), max_size=5)
steps_with_names = st.lists(
    st.tuples(st.sets(st.one_of(assertions, about_names), max_size=5), st.sets(st.one_of(assertions, about_names), max_size=4)),
    max_size=4,
)

Steps = list[tuple[set[Triple], set[Triple]]]


EXAMPLES = examples(25)


def visible(triples: Iterable[Triple]) -> set[Triple]:
    """What is of interest: not that things equal themselves."""
    return {triple for triple in triples if not (triple[1] == OWL.sameAs and triple[0] == triple[2])}


def both(ruleset: str, maintenance: str) -> tuple[Reasoner, Reasoner]:
    by_axioms = Reasoner(ruleset=ruleset)
    by_rewriting = Reasoner(ruleset=ruleset, equality="rewrite", maintenance=maintenance)
    for reasoner in (by_axioms, by_rewriting):
        reasoner.add_triples(ONTOLOGY)
    return by_axioms, by_rewriting


def agree(by_axioms: Reasoner, by_rewriting: Reasoner) -> None:
    assert visible(by_rewriting.triples()) == visible(by_axioms.triples())
    assert set(by_rewriting.triples(which="explicit")) == set(by_axioms.triples(which="explicit"))
    assert bool(by_rewriting.inconsistencies()) == bool(by_axioms.inconsistencies())
    for property in (OWL.sameAs, P, RDF.type):
        assert visible(by_rewriting.triples(None, property)) == visible(by_axioms.triples(None, property))
    person = PEOPLE[0]
    for which in ("all", "explicit", "inferred"):
        assert visible(by_rewriting.triples(person, which=which)) == visible(by_axioms.triples(person, which=which))


def follow(reasoners: tuple[Reasoner, Reasoner], history: Steps) -> None:
    """Take some steps, and compare facts and changes after each; then undo the last one."""
    agree(*reasoners)
    for removed, added in history:
        changes = []
        for reasoner in reasoners:
            with reasoner.transaction() as transaction:
                transaction.remove_triples(removed)
                transaction.add_triples(added)
            delta = transaction.delta
            parts = (delta.added, delta.removed, delta.restated)
            changes.append([visible(part.triples(which)) for part in parts for which in ("explicit", "inferred")])
        agree(*reasoners)
        assert changes[1] == changes[0]
        for reasoner in reasoners:
            transaction = reasoner.transaction().begin()
            transaction.remove_triples(added)
            transaction.add_triples(removed)
            transaction.rollback()
        agree(*reasoners)


@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2rl-full"])
@settings(max_examples=EXAMPLES, phases=PHASES)
@given(steps, st.sampled_from(sorted(STRATEGIES)))
@pytest.mark.sample(2)
def test_rewriting_and_axioms_agree(ruleset: str, history: Steps, maintenance: str) -> None:
    follow(both(ruleset, maintenance), history)


@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2rl-full"])
@settings(max_examples=EXAMPLES // 2, phases=PHASES)
@given(steps_with_names, st.sampled_from(sorted(STRATEGIES)))
def test_names_of_the_ontology_may_be_equal_too(ruleset: str, history: Steps, maintenance: str) -> None:
    follow(both(ruleset, maintenance), history)


ALIKE = """
    owl:sameAs[?y, ?x] :- owl:sameAs[?x, ?y] . owl:sameAs[?x, ?z] :- owl:sameAs[?x, ?y], owl:sameAs[?y, ?z] .
    e(?y) :- owl:sameAs[?x, ?y], e(?x) .
    p(?y, ?z) :- owl:sameAs[?x, ?y], p(?x, ?z) . p(?z, ?y) :- owl:sameAs[?x, ?y], p(?z, ?x) .
""" + "".join(
    f"[?y, {name}, ?z] :- owl:sameAs[?x, ?y], [?x, {name}, ?z] . [?z, {name}, ?y] :- owl:sameAs[?x, ?y], [?z, {name}, ?x] ."
    for name in PROPERTIES
)
"""The axioms of equality for `triple_worlds`."""


def mergeable(world: World) -> World:
    """The rules of a world that can be applied to merged terms and mean the same by axioms, and equalities among its facts."""
    reasoner = Reasoner(equality="rewrite")
    for rule in world.rules:
        if not any(isinstance(part, Filter) for part in rule.body):
            with suppress(StratificationError):
                reasoner.add_program(Program((rule,)))
    equalities = [(TRIPLE, (one, OWL.sameAs, other)) for one, other in permutations(NODES[:3], 2)]
    return World(reasoner.rules, (*world.facts, *equalities))


def without_identities(facts: Facts) -> Facts:
    return without_empty({**facts, TRIPLE: visible(facts.get(TRIPLE, ()))})  # type: ignore[arg-type, dict-item]


@settings(max_examples=examples(150), phases=PHASES)
@given(triple_worlds().map(mergeable).filter(lambda world: bool(world.rules)), st.sampled_from(sorted(STRATEGIES)), st.data())
def test_random_rules_with_negation(world: World, maintenance: Any, data: st.DataObject) -> None:
    reasoner = Reasoner(equality="rewrite", maintenance=maintenance)
    rules, explicit, model = world.rules[:0], Facts(), Facts()
    for transaction in [Transaction({}, (), {}, world.rules), *data.draw(st.lists(transactions(world), min_size=3, max_size=8))]:
        rules, explicit = transaction.after(rules, explicit)
        former, model = model, without_identities(evaluate(Program((*rules, *parse(ALIKE).rules)), explicit))
        delta = applied(reasoner, transaction)
        assert without_identities(everything(reasoner, "all")) == model
        assert without_identities(facts_of(delta.added)) == less(model, former)
        assert without_identities(facts_of(delta.removed)) == less(former, model)


# --- what users see -----------------------------------------------------------------------------------------------------------


def rewriting(program: str | None = None, ruleset: str | None = "owl2rl", triples: Iterable[Triple] = ()) -> Reasoner:
    reasoner = Reasoner(program, ruleset=ruleset, equality="rewrite")
    reasoner.add_triples(triples)
    return reasoner


ANN, BOB, CAT, DAN, EVE = PEOPLE
CLIQUE = [(ANN, OWL.sameAs, BOB), (BOB, OWL.sameAs, CAT)]


NEW_NAMES = [(PEOPLE[0], P, PEOPLE[1]), (PEOPLE[0], RDF.type, A), (PEOPLE[1], RDF.type, C), (PEOPLE[1], Q, PEOPLE[0])]
EQUALITIES = [*product((A, B), [OWL.sameAs], (A, B)), *product((P, R), [OWL.sameAs], (P, R)), (C, OWL.sameAs, C)]


@pytest.mark.parametrize("maintenance", STRATEGIES)
@settings(max_examples=examples(20), deadline=None, phases=PHASES)
@given(st.lists(st.tuples(st.booleans(), st.lists(st.sampled_from([*NEW_NAMES, *EQUALITIES]), max_size=6)), max_size=5))
@example([(True, EQUALITIES[:4]), (True, NEW_NAMES[1:2])])
@example([(True, EQUALITIES), (True, NEW_NAMES[:1])])
@example([(True, [*EQUALITIES[4:8], NEW_NAMES[0]]), (True, EQUALITIES[:4]), (True, NEW_NAMES[1:2]), (False, NEW_NAMES[:1])])
@example([(True, EQUALITIES[3:4]), (True, [NEW_NAMES[1], EQUALITIES[1], EQUALITIES[2]])])
def test_equal_names_come_into_use_in_data(maintenance: Any, history: list[tuple[bool, list[Triple]]]) -> None:
    """Where all equalities of a name are explicit, none is inferred when the name comes into use."""
    reasoner, facts = Reasoner(ruleset="owl2rl", maintenance=maintenance), set[Triple]()
    for adds, triples in history:
        (reasoner.add_triples if adds else reasoner.remove_triples)(triples)
        facts = facts | set(triples) if adds else facts - set(triples)
        fresh = Reasoner(ruleset="owl2rl")
        fresh.add_triples(sorted(facts, key=str))
        assert set(reasoner.triples()) == set(fresh.triples())


def test_all_names_are_found_and_what_was_asserted_stays_as_it_was() -> None:
    reasoner = rewriting(triples=[*CLIQUE, (CAT, P, DAN)])
    assert {s for s, _, _ in reasoner.triples(None, P, DAN)} == {ANN, BOB, CAT}
    assert set(reasoner.triples(which="explicit")) == {*CLIQUE, (CAT, P, DAN)}
    assert set(reasoner.triples(ANN, P, which="inferred")) == {(ANN, P, DAN)}
    assert len(list(reasoner.triples(None, OWL.sameAs))) == 9
    assert len(reasoner.triple_ids()) == 6 + 3  # that things equal themselves is only told if asked for


def test_a_large_clique_is_one_term_to_the_engine() -> None:
    members = [ex(f"member{number}") for number in range(5_000)]
    properties = [ex(f"property{number}") for number in range(10)]
    values = [ex(f"value{number}") for number in range(7)]
    reasoner = rewriting(triples=[(a, OWL.sameAs, b) for a, b in pairwise(members)])
    reasoner.add_triples((member, p, values[n % 7]) for n, member in enumerate(members) for p in properties)
    reasoner.materialise()
    catalog, database = reasoner.engine.catalog, reasoner.engine.database
    names = (OWL.sameAs, *properties)
    relations = [relation for name in names for relation in catalog.layout.relations(reasoner.dictionary.find(name))]
    assert sum(map(database.size, relations)) == 1 + 10 * 7
    assert len(list(reasoner.triples(members[1234], properties[0]))) == 7
    assert len(list(reasoner.triples(None, properties[0], values[0]))) == 5_000
    reasoner.remove_triples([(members[2000], OWL.sameAs, members[2001])])
    assert len(list(reasoner.triples(members[0], OWL.sameAs))) == 2_001
    assert len(list(reasoner.triples(members[4999], OWL.sameAs))) == 2_999


@given(pairs=st.lists(st.tuples(*[st.integers(0, 11)] * 2), min_size=1, max_size=30))
def test_fewer_pairs_connect_the_same_terms(pairs: list[tuple[int, int]]) -> None:
    thinned = _thinned(np.array(pairs, np.int32)).tolist()
    members = (sorted(map(sorted, connected_components(each).values())) for each in (pairs, thinned))
    assert next(members) == next(members)


def test_all_pairs_of_a_clique_are_about_as_many_as_its_terms() -> None:
    pairs = np.array(list(permutations(range(100), 2)), np.int32)
    assert len(pairs) > MANY_PAIRS
    assert len(_thinned(pairs)) <= 101
    dictionary = Dictionary()
    dictionary.encode_texts([f"<http://example.org/{number}>" for number in range(100)])
    cliques = Cliques(dictionary)
    cliques.merge(pairs)
    assert cliques.representatives() == [0]
    assert sorted(cliques.members(7)) == list(range(100))


def test_general_predicates_hold_of_equal_terms_alike() -> None:
    reasoner = rewriting("near(?x, ?z) :- near(?x, ?y), near(?y, ?z) . q(?x) :- near(?x, ?x) .", None, CLIQUE)
    reasoner.add_facts("near", [(ANN, DAN), (DAN, CAT)])
    assert set(reasoner.facts("q")) == {(ANN,), (BOB,), (CAT,), (DAN,)}
    assert set(reasoner.facts("near", "explicit")) == {(ANN, DAN), (DAN, CAT)}
    assert (BOB, DAN) in set(reasoner.facts("near", "inferred"))
    with reasoner.transaction() as transaction:
        transaction.remove_triples(CLIQUE[:1])
    assert set(transaction.delta.removed.facts("q")) == {(ANN,), (BOB,), (CAT,), (DAN,)}
    assert set(reasoner.facts("near")) == {(ANN, DAN), (DAN, CAT), (ANN, CAT), (DAN, BOB), (ANN, BOB)}


def test_rules_find_equal_terms_by_any_of_their_names() -> None:
    program = "@prefix : <http://example.org/> . :big[?x] :- :p[:ann, ?x] . :p[:bob, :dan] . owl:sameAs[:ann, :bob] ."
    reasoner = rewriting(program, None)
    assert list(reasoner.triples(None, RDF.type)) == [(DAN, RDF.type, ex("big"))]
    reasoner.remove_rules([rule for rule in reasoner.program.rules if rule.head.terms[1] == OWL.sameAs])
    assert list(reasoner.triples(None, RDF.type)) == []


def test_sparql_sees_every_combination_of_names() -> None:
    graph = Graph(store=KGReasonerStore(rewriting()))
    ns = Namespace("http://example.org/")
    for triple in [(ns.ann, ROWL.sameAs, ns.bob), (ns.ann, ns.p, ns.cat), (ns.cat, ns.q, ns.bob)]:
        graph.add(triple)
    query = "PREFIX : <http://example.org/> SELECT ?x ?y WHERE { ?x :p ?y . ?y :q ?x }"
    assert set(graph.query(query)) == {(ns.ann, ns.cat), (ns.bob, ns.cat)}
    assert graph.query("PREFIX : <http://example.org/> ASK { :bob :p/:q :ann . FILTER NOT EXISTS { :cat :p ?z } }").askAnswer
    counted = graph.query("PREFIX : <http://example.org/> SELECT (COUNT(*) AS ?n) WHERE { ?x :p ?y }")
    assert [int(row.n) for row in counted] == [2]
    assert len(graph) == 2 + 2 + 2
    graph.remove((ns.ann, ROWL.sameAs, ns.bob))
    assert set(graph.query(query)) == set()
    graph.rollback()
    assert len(graph) == 0


def test_explanations_tell_in_which_names_a_fact_was_asserted() -> None:
    reasoner = rewriting(triples=[*ONTOLOGY, *CLIQUE[:1], (BOB, P, CAT)])
    assert reasoner.explain((BOB, Q, CAT)).with_prefixes({"": "http://example.org/"}).text().splitlines()[2:] == [
        ":bob :q :cat   (the same in other names, by owl:sameAs)",
        "└── :ann :q :cat   (by prp-spo1, SubObjectPropertyOf(:p :q))",
        "    └── :ann :p :cat   (the same in other names, by owl:sameAs)",
        "        └── :bob :p :cat   (explicit)",
    ]
    assert [reasoner.explain((person, Q, CAT)).height for person in PEOPLE[:2]] == [1, 1]
    assert reasoner.explain((BOB, P, CAT)).height == 0
    with pytest.raises(NoProofError):
        reasoner.explain((CAT, P, BOB))


def test_rules_are_explained_as_written() -> None:
    rule = "@prefix : <http://example.org/> . q(:cat, ?x) :- near(:cat, ?x), :p[:bob, ?x], NOT far(:bob) ."
    reasoner = rewriting(rule, None, [*CLIQUE, (ANN, P, DAN)])
    reasoner.add_facts("near", [(BOB, DAN), (CAT, EVE)])
    assert reasoner.explain(Atom("q", (ANN, DAN))).with_prefixes({"": "http://example.org/"}).text().splitlines()[2:] == [
        "q(:ann, :dan)   (the same in other names, by owl:sameAs)",
        "└── q(:cat, :dan)   (by q(:cat, ?x) :- near(:cat, ?x), :p[:bob, ?x], NOT far(:bob) .)",
        "    ├── near(:cat, :dan)   (the same in other names, by owl:sameAs)",
        "    │   └── near(:bob, :dan)   (explicit)",
        "    ├── :bob :p :dan   (the same in other names, by owl:sameAs)",
        "    │   └── :ann :p :dan   (explicit)",
        "    └── NOT far(:bob)   (no such fact)",
    ]
    assert reasoner.why_not(Atom("q", (BOB, EVE))).with_prefixes({"": "http://example.org/"}).text().splitlines()[2:] == [
        "q(:bob, :eve)   (does not hold; 1 rule could derive it)",
        "",
        "by q(:cat, ?x) :- near(:cat, ?x), :p[:bob, ?x], NOT far(:bob) .",
        "    holds    NOT far(:bob)",
        "    holds    near(:cat, :eve)",
        "    missing  :bob :p :eve",
    ]


def test_equalities_are_explained_by_axioms() -> None:
    reasoner = rewriting(triples=[*ONTOLOGY, *CLIQUE[:1], (ANN, F, DAN), (BOB, F, EVE), (CAT, Q, EVE)])
    assert reasoner.explain((EVE, OWL.sameAs, DAN)).with_prefixes({"": "http://example.org/"}).text().splitlines()[2:] == [
        ":eve owl:sameAs :dan   (by prp-fp, FunctionalObjectProperty(:f))",
        "├── :bob :f :eve   (explicit)",
        "├── :bob :f :dan   (by eq-rep-s)",
        "│   ├── :ann owl:sameAs :bob   (explicit)",
        "│   └── :ann :f :dan   (explicit)",
        "└── FILTER(:eve != :dan)   (checked)",
    ]
    assert len(list(reasoner.all_proofs((EVE, OWL.sameAs, DAN)))) > 1
    with pytest.raises(NoProofError):
        reasoner.explain((CAT, OWL.sameAs, DAN))


def test_literals_of_different_values_cannot_be_the_same() -> None:
    reasoner = rewriting(triples=[*ONTOLOGY, (ANN, F, literal("x")), (ANN, F, literal("y"))])
    (violation,) = reasoner.inconsistencies()
    assert violation.origin.name == "dt-diff"
    assert set(violation.terms.values()) == {literal("x"), literal("y")}
    assert "prp-fp" in reasoner.explain(violation).text()
    reasoner.remove_triples([(ANN, F, literal("y"))])
    assert reasoner.inconsistencies() == []
    reasoner.add_triples([(ANN, F, Literal("1", XSD.int.value)), (BOB, F, Literal("01", XSD.integer.value)), *CLIQUE])
    assert [violation.origin.name for violation in reasoner.inconsistencies()] == ["dt-diff"]  # x and 1


def test_subscribers_receive_all_names_of_equal_terms() -> None:
    reasoner = rewriting(triples=[(ANN, P, DAN)])
    heard: list[Triple] = []
    reasoner.subscribe((None, P, None), lambda delta: heard.extend(delta.added.triples()))
    reasoner.add_triples(CLIQUE)
    assert sorted(heard, key=str) == [(BOB, P, DAN), (CAT, P, DAN)]


def test_the_layout_may_change_while_terms_are_merged() -> None:
    reasoner = rewriting(triples=[*CLIQUE, (ANN, P, DAN)])
    reasoner.materialise()
    with reasoner.transaction() as transaction:
        transaction.add_program("said(?s, ?p, ?o) :- [?s, ?p, ?o], [?p, ?q, ?r] .")
        transaction.remove_triples(CLIQUE[1:])
    assert set(transaction.delta.removed.triples()) >= {(CAT, P, DAN), (CAT, OWL.sameAs, ANN)}
    assert set(reasoner.triples(None, P)) == {(ANN, P, DAN), (BOB, P, DAN)}
    assert set(reasoner.triples(which="explicit")) == {CLIQUE[0], (ANN, P, DAN)}


@pytest.mark.parametrize("maintenance", STRATEGIES)
def test_the_layout_may_change_because_terms_are_merged(maintenance: str) -> None:
    """With rdf:type for q, the rule has variables for two classes."""
    rule = f"pair(?c, ?d) :- [?x, {Q}, ?c], [?x, {Q}, ?d] ."
    reasoner = Reasoner(rule, equality="rewrite", maintenance=maintenance)
    reasoner.add_triples([(ANN, Q, A), (ANN, RDF.type, B)])
    single, pairs = {(A, A)}, set(product([A, B], repeat=2))
    assert set(reasoner.facts("pair")) == single
    same = (Q, OWL.sameAs, RDF.type)
    with reasoner.transaction() as transaction:
        transaction.add_triples([same])
    assert set(transaction.delta.added.facts("pair")) == pairs - single
    assert set(transaction.delta.added.triples()) >= {(ANN, RDF.type, A), (ANN, Q, B)}
    assert (ANN, Q, A) not in set(transaction.delta.added.triples())
    with reasoner.transaction() as transaction:
        transaction.remove_triples([same])
    assert set(transaction.delta.removed.facts("pair")) == pairs - single
    assert not set(transaction.delta.added.triples())


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        ("n(?x, ?c) :- AGGREGATE(e(?x, ?y) ON ?x BIND COUNT(?y) AS ?c) .", "AGGREGATE"),
        ("n(?x, ?s) :- e(?x, ?y), BIND(STR(?y) AS ?s) .", "BIND"),
        ("n(?x) :- e(?x, ?y), FILTER(STRLEN(?y) > 3) .", "FILTER other than a comparison"),
        ("n(?x) :- e(?x, ?y), FILTER(?x != ?y) .", "FILTER by !="),
    ],
)
def test_rules_that_look_at_names_are_refused(rule: str, what: str) -> None:
    reasoner = rewriting("e(1, 2) .", None)
    with pytest.raises(UnsupportedError, match=what) as error:
        reasoner.add_program(rule)
    assert "equality='axioms'" in str(error.value)
    assert ":1:1:" in str(error.value)
    assert set(reasoner.facts("e")) == {(literal(1), literal(2))}


def test_what_is_the_same_may_not_depend_on_what_is_not_there() -> None:
    with pytest.raises(StratificationError):
        rewriting("owl:sameAs[?x, ?y] :- owl:differentFrom[?y, ?z], near(?x, ?y), NOT owl:differentFrom[?x, ?z] .", None)
    with pytest.raises(StratificationError):
        rewriting("same(?x, ?y) :- near(?x, ?y), NOT owl:Thing[?x] . owl:sameAs[?x, ?y] :- same(?x, ?y) .", None)
    with pytest.raises(StratificationError):  # far holds of equal terms alike
        rewriting("owl:sameAs[?x, ?y] :- near(?x, ?y), NOT far(?x) .", None)
    with pytest.raises(StratificationError):
        rewriting("same(?x, ?y) :- near(?x, ?y), NOT (far(?x), far(?y)) . owl:sameAs[?x, ?y] :- same(?x, ?y) .", None)


@pytest.mark.parametrize("maintenance", STRATEGIES)
def test_nor_may_it_by_an_axiom(maintenance: Any) -> None:
    program = "@prefix : <http://example.org/> . :f[?x, ?y] :- near(?x, ?y), NOT far(?x) . :p[?x, ?y] :- :f[?x, ?y], NOT far(?y) ."
    reasoner = Reasoner(program, ruleset="owl2rl", equality="rewrite", maintenance=maintenance)
    reasoner.add_facts("near", [(ANN, BOB), (ANN, CAT)])
    before = set(reasoner.triples())
    assert before == {*product([ANN], [F, P], [BOB, CAT])}
    with pytest.raises(StratificationError, match=r"f.* depends on its own negation"), reasoner.transaction() as transaction:
        transaction.add_triples([(F, RDF.type, OWL.FunctionalProperty)])
    assert set(reasoner.triples()) == before
    reasoner.remove_rules([rule for rule in reasoner.program.rules if rule.head.terms[1:2] in ((F,), (P,))])
    reasoner.add_triples([(F, RDF.type, OWL.FunctionalProperty), (ANN, F, BOB), (ANN, F, CAT)])
    assert (BOB, OWL.sameAs, CAT) in set(reasoner.triples())


def test_a_negation_is_seen_in_all_names() -> None:
    reasoner = rewriting("lonely(?x) :- node(?x), NOT linked(?x) . linked(?x) :- link(?x, ?y) .", None, CLIQUE)
    reasoner.add_facts("node", [(ANN,), (DAN,)])
    reasoner.add_facts("link", [(BOB, EVE)])
    assert set(reasoner.facts("lonely")) == {(DAN,)}
    reasoner.remove_facts("link", [(BOB, EVE)])
    assert set(reasoner.facts("lonely")) == {(ANN,), (BOB,), (CAT,), (DAN,)}


def test_changes_of_names_omit_parts_of_rules() -> None:
    reasoner = rewriting("lonely(?x) :- node(?x), NOT (link(?x, ?y), node(?y)) .", None, CLIQUE[:1])
    reasoner.add_facts("node", [(ANN,), (DAN,)])
    reasoner.add_facts("link", [(ANN, DAN)])
    with reasoner.transaction() as transaction:
        transaction.add_triples(CLIQUE[1:])
    assert sorted(transaction.delta.added.predicates()) == [TRIPLE, "link", "node"]
    with reasoner.transaction() as transaction:
        transaction.remove_triples(CLIQUE[1:])
    assert sorted(transaction.delta.removed.predicates()) == [TRIPLE, "link", "node"]


def test_an_unknown_treatment_of_equality_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="rewrite"):
        Reasoner(equality="rewriting")  # type: ignore[arg-type]


def test_the_benchmark_of_cliques() -> None:
    result = CliRunner().invoke(equality_benchmark.main, ["--largest", "30", "--axioms", "10", "--properties", "2"])
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.output.splitlines()]
    assert [row[:3] for row in rows if row and row[0].isdigit()] == [["10", "29", "20"], ["30", "89", "20"]]


@pytest.mark.parametrize("vocabulary", [[], [(A, OWL.sameAs, OWL.Thing), (OWL.Class, OWL.sameAs, B)]])
def test_counting_triples_writes_none_of_them(vocabulary: list[Triple]) -> None:
    reasoner = rewriting(
        triples=[*CLIQUE, (ANN, P, DAN), (BOB, F, literal("x")), (DAN, F, ANN), *ONTOLOGY[:1], (DAN, F, literal("x")), *vocabulary]
    )
    reasoner.materialise()
    for which in ("all", "explicit", "inferred"):
        assert reasoner.core.queries.count(which) == len(reasoner.triple_ids(which))
        assert reasoner.core.queries.matcher.count(which) == len(reasoner.core.queries.matcher.match(None, None, None, which))


def test_equality_by_rewriting_on_the_command_line(tmp_path: Path) -> None:
    data = tmp_path / "data.ttl"
    data.write_text(
        "@prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . :a owl:sameAs :b . :a :p :c ."
    )
    found = []
    for equality in ("axioms", "rewrite"):
        result = CliRunner().invoke(cli, ["materialise", str(data), "--equality", equality, "--format", "nt", "--output", "-"])
        assert result.exit_code == 0, result.output
        found.append(sorted(line for line in result.stdout.splitlines() if line.startswith("<")))
    assert found[0] == found[1]
    assert "<http://example.org/b> <http://example.org/p> <http://example.org/c> ." in found[1]


def test_graphs_of_a_dataset_have_what_they_state_and_the_inferred_graph_the_other_names() -> None:
    ns = Namespace("http://example.org/")
    found = []
    for equality in ("axioms", "rewrite"):
        dataset = Dataset(default_union=True)
        dataset.graph(ns.one).add((ns.a, ROWL.sameAs, ns.b)).add((ns.a, ns.p, ns.c))
        dataset.graph(ns.two).add((ns.b, ns.q, ns.c)).add((ns.c, ROWL.sameAs, ns.d))
        attach(dataset, equality=equality, inferred_graph=str(ns.inferred))  # type: ignore[arg-type]
        answers = [
            {tuple(row) for row in dataset.query(f"PREFIX : <http://example.org/> SELECT * WHERE {{ {pattern} }}")}
            for pattern in (
                "?x :p ?y . ?x :q ?y",
                "GRAPH ?g { ?x :p ?y }",
                "GRAPH :one { ?x :p ?y } ?x :q ?y",
                "GRAPH ?g { ?x <http://www.w3.org/2002/07/owl#sameAs> ?y FILTER(?x != ?y) }",
            )
        ]
        found.append((answers, len(dataset), {graph.identifier: len(graph) for graph in dataset.graphs()}))
    assert found[0] == found[1]


def test_equality_by_rewriting_under_a_graph() -> None:
    ns = Namespace("http://example.org/")
    graph = Graph().add((ns.a, ROWL.sameAs, ns.b)).add((ns.a, ns.p, ns.c))
    assert (ns.b, ns.p, ns.c) in attach(graph, equality="rewrite")
