"""Inconsistent data: what is told about them, and that they are refused where that is asked for, whatever way they come."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, Dataset, Graph, Namespace

from kg_reasoner import KGReasonerStore, Reasoner, attach
from kg_reasoner.errors import InconsistencyError, UnknownNameError
from kg_reasoner.loaders.convert import from_rdflib
from kg_reasoner.terms import Triple, literal
from tests.helpers.effort import examples

EX = Namespace("http://example.org/")
EXAMPLES = examples(40)
PREFIXES = "PREFIX ex: <http://example.org/> "
ZOO = """
@prefix : <http://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Cat owl:disjointWith :Dog .
:keeps a owl:IrreflexiveProperty ; rdfs:range :Cat .
:tom a :Cat .
:rex a :Dog .
"""


def triple(subject: object, property: object, value: object) -> Triple:
    """A triple of our terms, given in rdflib's."""
    return tuple(map(from_rdflib, (subject, property, value)))  # type: ignore[return-value]


def zoo(ruleset: str = "owl2rl", on_inconsistency: str = "report") -> Reasoner:
    """A reasoner with consistent data."""
    reasoner = Reasoner(ruleset=ruleset, on_inconsistency=on_inconsistency)
    reasoner.load(ZOO.encode(), format="turtle")
    return reasoner


TOM_IS_A_DOG = triple(EX.tom, RDF.type, EX.Dog)
TOM_KEEPS_HIMSELF = triple(EX.tom, EX.keeps, EX.tom)

# --- report ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2rl-full"])
def test_violations_have_the_names_of_rules_and_the_terms(ruleset: str) -> None:
    reasoner = zoo(ruleset)
    assert reasoner.is_consistent()
    assert reasoner.inconsistencies() == []
    reasoner.add_triples([TOM_IS_A_DOG, TOM_KEEPS_HIMSELF])
    assert not reasoner.is_consistent()
    found = {violation.origin.name: violation for violation in reasoner.inconsistencies()}
    assert set(found) == {"cax-dw", "prp-irp"}
    tom = from_rdflib(EX.tom)
    assert tom in found["cax-dw"].terms.values()
    assert tom in found["prp-irp"].terms.values()
    for violation in found.values():
        proof = reasoner.explain(violation)
        assert proof.text().endswith("(explicit)")
        assert violation.origin.name in str(violation)
        assert violation.as_dict()["name"] == violation.origin.name
    reasoner.remove_triples([TOM_IS_A_DOG, TOM_KEEPS_HIMSELF])
    assert reasoner.is_consistent()


def test_violations_have_the_axiom_that_they_come_from() -> None:
    reasoner = zoo()
    reasoner.add_triples([TOM_IS_A_DOG])
    (violation,) = reasoner.inconsistencies()
    assert violation.origin.axiom is not None
    assert "DisjointClasses" in violation.origin.axiom
    assert str(violation) == "DisjointClasses(example:Cat example:Dog) (cax-dw): ?x = <http://example.org/tom>"
    assert violation.text({"zoo": str(EX)}) == "DisjointClasses(zoo:Cat zoo:Dog) (cax-dw): ?x = zoo:tom"


def test_constraints_of_programs() -> None:
    reasoner = Reasoner(
        "false :- p(?x), NOT q(?x) . @rule empty false :- AGGREGATE(p(?x) BIND COUNT(*) AS ?n), FILTER(?n > 1) . p(1) ."
    )
    (violation,) = reasoner.inconsistencies()
    assert str(violation) == "false :- p(?x), NOT q(?x) .: ?x = 1"
    assert violation.origin.name is None
    reasoner.add_program("p(2) . q(1) . q(2) .")
    (violation,) = reasoner.inconsistencies()
    assert str(violation) == "empty: ?n = 2"
    assert violation.rule in reasoner.rules
    reasoner.remove_rules([violation.rule])
    assert reasoner.is_consistent()
    assert [str(each) for each in Reasoner("false :- p() . p() .").inconsistencies()] == ["false :- p() ."]


def test_nothing_is_written_into_the_data() -> None:
    reasoner = zoo()
    before = set(reasoner.triples())
    reasoner.add_triples([TOM_IS_A_DOG])
    assert set(reasoner.triples()) == {*before, TOM_IS_A_DOG}


# --- raise -------------------------------------------------------------------------------------------------------------------


def test_the_error_names_the_first_violations() -> None:
    reasoner = Reasoner("false :- p(?x) .", on_inconsistency="raise")
    with pytest.raises(InconsistencyError) as caught, reasoner.transaction() as transaction:
        transaction.add_program("p(1) . p(2) . p(3) . p(4) . p(5) .")
    assert len(caught.value.violations) == 5
    assert str(caught.value).splitlines()[0] == "the data contradict the rules:"
    assert len(str(caught.value).splitlines()) == 5
    assert str(caught.value).endswith("and 2 more")


@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2rl-full"])
@pytest.mark.parametrize(
    "change",
    [
        lambda reasoner: reasoner.add_triples([TOM_IS_A_DOG]),
        lambda reasoner: reasoner.load(b"<http://example.org/tom> a <http://example.org/Dog> .", format="turtle"),
        lambda reasoner: reasoner.add_program("false :- <http://example.org/Cat>[?x] ."),
        lambda reasoner: reasoner.add_program("<http://example.org/Dog>[?x] :- <http://example.org/Cat>[?x] ."),
        lambda reasoner: reasoner.named_graphs.add_triples([TOM_IS_A_DOG], from_rdflib(EX.graph)),
        lambda reasoner: reasoner.add_triples([triple(EX.Dog, RDFS.subClassOf, EX.Cat)]),
        lambda reasoner: reasoner.add_triples([triple(EX.Cat, OWL.equivalentClass, EX.Dog)]),
    ],
)
@pytest.mark.sample(3)
def test_a_change_that_is_refused_leaves_everything_as_it_was(ruleset: str, change) -> None:  # type: ignore[no-untyped-def]
    reasoner = zoo(ruleset, on_inconsistency="raise")
    before, rules = set(reasoner.triples()), reasoner.rules
    with pytest.raises(InconsistencyError):
        change(reasoner)
    assert set(reasoner.triples()) == before
    assert reasoner.rules == rules
    assert reasoner.is_consistent()
    assert reasoner.named_graphs.names() == []
    reasoner.add_triples([triple(EX.tim, RDF.type, EX.Cat)])
    assert len(set(reasoner.triples(which="explicit"))) == len(set(zoo(ruleset).triples(which="explicit"))) + 1


def test_only_what_a_transaction_leaves_counts() -> None:
    reasoner = zoo(on_inconsistency="raise")
    with reasoner.transaction() as transaction:
        transaction.add_triples([TOM_IS_A_DOG])
        assert len(reasoner.inconsistencies()) == 1
        transaction.remove_triples([triple(EX.tom, RDF.type, EX.Cat)])
    assert reasoner.is_consistent()
    with pytest.raises(InconsistencyError), reasoner.transaction() as transaction:
        transaction.add_triples([triple(EX.tom, RDF.type, EX.Cat)])
    assert TOM_IS_A_DOG in set(reasoner.triples())
    assert triple(EX.tom, RDF.type, EX.Cat) not in set(reasoner.triples())


def test_removing_can_contradict_too() -> None:
    reasoner = Reasoner("false :- p(?x), NOT q(?x) . p(1) .", on_inconsistency="report")
    assert not reasoner.is_consistent()
    refusing = Reasoner("false :- p(?x), NOT q(?x) .", on_inconsistency="raise")
    one = from_rdflib(EX.one)
    with refusing.transaction() as transaction:
        transaction.add_facts("q", [(one,)])
        transaction.add_facts("p", [(one,)])
    with pytest.raises(InconsistencyError):
        refusing.remove_facts("q", [(one,)])
    assert list(refusing.facts("q")) == [(one,)]


def test_a_program_that_contradicts_itself() -> None:
    reasoner = Reasoner("false :- p(?x) . p(1) .", on_inconsistency="raise")
    with pytest.raises(InconsistencyError):
        reasoner.materialise()
    assert len(reasoner.inconsistencies()) == 1  # so that one can see what is wrong


@pytest.mark.parametrize("name", ["inconsistencies", "is_consistent"])
def test_asking_for_contradictions_raises_none(name: str) -> None:
    reasoner = Reasoner("false :- p(?x) . p(1) .", on_inconsistency="raise")
    answer = getattr(reasoner, name)()
    assert answer is False if name == "is_consistent" else len(answer) == 1


def contradiction(kind: str) -> Reasoner:
    """A reasoner that is inconsistent and must not be: by its program, or since before that was asked for."""
    if kind == "program":
        return Reasoner("false :- p(?x) . p(1) .", on_inconsistency="raise")
    reasoner = Reasoner("false :- p(?x) .")
    reasoner.add_facts("p", [(literal(1),)])
    reasoner.on_inconsistency = "raise"
    return reasoner


@pytest.mark.parametrize("kind", ["program", "facts"])
@pytest.mark.parametrize("in_transaction", [True, False])
def test_what_was_inconsistent_before_can_be_repaired(kind: str, in_transaction: bool) -> None:
    reasoner = contradiction(kind)
    assert len(reasoner.inconsistencies()) == 1
    with pytest.raises(InconsistencyError):
        reasoner.add_facts("q", [(literal(2),)])
    constraint = [rule for rule in reasoner.rules if rule.body]
    if in_transaction:
        with reasoner.transaction() as transaction:
            transaction.remove_rules(constraint)
    else:
        reasoner.remove_rules(constraint)
    assert list(reasoner.facts("p")) == [(literal(1),)]


def test_a_graph_that_was_inconsistent_before_can_be_repaired() -> None:
    graph = attach(Graph().parse(data=ZOO + ":tom a :Dog ."))
    graph.store.reasoner.on_inconsistency = "raise"
    graph.add((EX.tim, RDF.type, EX.Cat))
    with pytest.raises(InconsistencyError):
        graph.commit()
    graph.remove((EX.tom, RDF.type, EX.Dog))
    graph.commit()
    assert graph.store.reasoner.is_consistent()


def test_subscribers_hear_nothing_of_what_is_refused() -> None:
    reasoner = zoo(on_inconsistency="raise")
    heard: list[object] = []
    reasoner.subscribe(None, heard.append)
    with pytest.raises(InconsistencyError):
        reasoner.add_triples([TOM_IS_A_DOG])
    assert heard == []
    reasoner.add_triples([triple(EX.tim, RDF.type, EX.Cat)])
    assert len(heard) == 1


def test_reactions_are_known_by_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'raise'"):
        Reasoner(on_inconsistency="rise")
    reasoner = Reasoner(on_inconsistency="raise")
    with pytest.raises(UnknownNameError, match="did you mean 'report'"):
        reasoner.on_inconsistency = "reports"  # type: ignore[assignment]
    assert reasoner.on_inconsistency == "raise"


# --- graphs and datasets -----------------------------------------------------------------------------------------------------


def test_a_graph_refuses_at_commit() -> None:
    graph = attach(Graph().parse(data=ZOO), on_inconsistency="raise")
    before = set(graph)
    graph.add((EX.tom, RDF.type, EX.Dog)).add((EX.tim, RDF.type, EX.Cat))
    assert (EX.tom, RDF.type, EX.Dog) in graph
    with pytest.raises(InconsistencyError, match="DisjointClasses"):
        graph.commit()
    assert set(graph) == before
    graph.add((EX.tim, RDF.type, EX.Cat))
    graph.commit()
    assert set(graph) == {*before, (EX.tim, RDF.type, EX.Cat)}


def test_attach_refuses_and_leaves_the_graph() -> None:
    graph = Graph().parse(data=ZOO + ":tom a :Dog .")
    store, before = graph.store, set(graph)
    with pytest.raises(InconsistencyError):
        attach(graph, on_inconsistency="raise")
    assert graph.store is store
    assert set(graph) == before
    attach(graph)
    assert len(graph.store.reasoner.inconsistencies()) == 1


@pytest.mark.parametrize("reasoning", ["union", "graph"])
def test_a_dataset_refuses_at_commit(reasoning: str) -> None:
    store = KGReasonerStore(Reasoner(ruleset="owl2rl", on_inconsistency="raise"), reasoning=reasoning)
    dataset = Dataset(store=store)
    dataset.graph(EX.zoo).parse(data=ZOO)
    dataset.commit()
    before = set(dataset.quads())
    dataset.graph(EX.other).add((EX.tom, RDF.type, EX.Dog))
    if reasoning == "union":
        with pytest.raises(InconsistencyError):
            dataset.commit()
        assert set(dataset.quads()) == before
    else:  # each graph by itself is consistent
        dataset.commit()
        before = set(dataset.quads())
    dataset.graph(EX.new).add((EX.a, EX.b, EX.c))
    dataset.update(PREFIXES + "INSERT DATA { GRAPH ex:zoo { ex:tom a ex:Dog } }")
    with pytest.raises(InconsistencyError):
        dataset.commit()
    assert set(dataset.quads()) == before
    assert EX.new not in {graph.identifier for graph in dataset.graphs()}


# --- random changes ----------------------------------------------------------------------------------------------------------

CONSTRAINTS = """
    q(?x) :- p(?x) .
    q(?y) :- r(?x, ?y), q(?x) .
    false :- q(?x), s(?x) .
    false :- r(?x, ?x) .
    false :- s(?x), NOT r(?x, _) .
"""
VALUES = [from_rdflib(EX[name]) for name in "abc"]
facts = st.one_of(
    st.tuples(st.just("p"), st.tuples(st.sampled_from(VALUES))),
    st.tuples(st.just("s"), st.tuples(st.sampled_from(VALUES))),
    st.tuples(st.just("r"), st.tuples(st.sampled_from(VALUES), st.sampled_from(VALUES))),
)
changes = st.lists(st.lists(st.tuples(st.booleans(), facts), max_size=4), max_size=6)


@settings(max_examples=EXAMPLES)
@given(changes, st.sampled_from(["backward-forward", "delete-rederive", "counting", "rematerialise"]))
def test_refused_exactly_if_inconsistent(transactions: list[list[tuple[bool, tuple[str, tuple]]]], maintenance: str) -> None:  # type: ignore[type-arg]
    """A transaction is kept if the same facts make a reasoner consistent that is made anew; otherwise nothing has changed."""
    reasoner = Reasoner(CONSTRAINTS, maintenance=maintenance, on_inconsistency="raise")
    kept: set[tuple[str, tuple]] = set()  # type: ignore[type-arg]
    for steps in transactions:
        wanted = set(kept)
        for adds, fact in steps:
            (wanted.add if adds else wanted.discard)(fact)
        fresh = Reasoner(CONSTRAINTS)
        for predicate, row in wanted:
            fresh.add_facts(predicate, [row])
        try:
            with reasoner.transaction() as transaction:
                for adds, (predicate, row) in steps:
                    (transaction.add_facts if adds else transaction.remove_facts)(predicate, [row])
            kept = wanted
            assert fresh.is_consistent()
        except InconsistencyError as error:
            assert {str(violation) for violation in error.violations} == {str(each) for each in fresh.inconsistencies()} != set()
        assert {(name, row) for name in "prs" for row in reasoner.facts(name, "explicit")} == kept
        assert reasoner.is_consistent()
