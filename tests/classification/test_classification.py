"""Classification: hierarchies, unsatisfiable classes and their proofs, compared with new members that are really alone."""

from __future__ import annotations

import gc
from itertools import pairwise
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.classification import selection
from kg_reasoner.classification.changed_rows import changed_rows
from kg_reasoner.classification.classifier import Classified
from kg_reasoner.classification.reduction import reduced
from kg_reasoner.errors import NoProofError, ReasonerError
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.databases.row_marks import RowMarks
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, BlankNode, Literal, literal
from tests.helpers.effort import examples

EX = "http://example.org/"
PREFIXES = {"": EX}
HEAD = """
@prefix : <http://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix swrl: <http://www.w3.org/2003/11/swrl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def ex(name: str) -> IRI:
    return IRI(EX + name)


def loaded(text: str, ruleset: str = "owl2rl", **options: object) -> Reasoner:
    reasoner = Reasoner(ruleset=ruleset, **options)  # type: ignore[arg-type]
    reasoner.load((HEAD + text).encode(), format="turtle")
    return reasoner


def cases() -> list[tuple[str, str, str]]:
    text = Path(__file__).with_name("hierarchies.txt").read_text()
    found = []
    for part in text.split("\n=== ")[1:]:
        title, _, body = part.partition("\n")
        ontology, _, tree = body.partition("\n---\n")
        found.append((title, ontology, tree.strip("\n")))
    return found


@pytest.mark.parametrize(("title", "ontology", "tree"), cases(), ids=[title for title, _, _ in cases()])
@pytest.mark.parametrize(("ruleset", "few"), [("owl2rl", 100), ("owl2rl", 0), ("owl2rl-full", 100)])
@pytest.mark.filterwarnings("ignore::kg_reasoner.errors.BeyondProfileWarning")
@pytest.mark.sample(4)
def test_an_ontology_has_the_written_hierarchy(
    title: str, ontology: str, tree: str, ruleset: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "_FEW", few)
    assert loaded(ontology, ruleset).hierarchy().text(PREFIXES) == tree


# --- compared with one new member at a time


def by_itself(reasoner: Reasoner, name: str) -> tuple[set[str], bool]:
    """The named classes of a new member of a class among all other facts, and whether it contradicts them."""
    alone = reasoner.without_facts()
    alone.add_triples(list(reasoner.triples(which="explicit")))
    new = BlankNode("new")
    alone.add_triples([(new, RDF.type, ex(name))])
    found = {
        str(upper.value)[len(EX) :] for _, _, upper in alone.triples(new, RDF.type) if isinstance(upper, IRI) and EX in upper.value
    }
    return found, not alone.is_consistent()


CLASSES = "ABCDE"
class_names = st.sampled_from([f":{name}" for name in CLASSES])
property_names = st.sampled_from([":p", ":q"])
individual_names = st.sampled_from([":a", ":b"])


def restriction(kind: str) -> st.SearchStrategy[str]:
    values = individual_names if kind == "hasValue" else class_names
    return st.builds(lambda p, v: f"[ a owl:Restriction ; owl:onProperty {p} ; owl:{kind} {v} ]", property_names, values)


lefts = st.one_of(class_names, restriction("someValuesFrom"), restriction("hasValue"))
lefts |= st.builds(lambda a, b: f"[ a owl:Class ; owl:intersectionOf ({a} {b}) ]", lefts, lefts)
rights = st.one_of(class_names, restriction("allValuesFrom"), restriction("hasValue"))
statements = st.one_of(
    st.builds(lambda a, b: f"{a} rdfs:subClassOf {b} .", lefts, rights),
    st.builds(lambda a, b: f"{a} owl:disjointWith {b} .", class_names, class_names),
    st.builds(lambda p, c: f"{p} rdfs:domain {c} .", property_names, class_names),
    st.builds(lambda p, c: f"{p} rdfs:range {c} .", property_names, class_names),
    st.builds(
        lambda p, kind: f"{p} a owl:{kind}Property .",
        property_names,
        st.sampled_from(["Functional", "InverseFunctional", "Transitive", "Symmetric"]),
    ),
    st.builds(lambda p, c: f":r owl:propertyChainAxiom ({p} [ owl:inverseOf {c} ]) .", property_names, property_names),
    st.builds(lambda a, c: f"{a} a {c} .", individual_names, class_names),
    st.builds(lambda p, a, b: f"{a} {p} {b} .", property_names, individual_names, individual_names),
    st.just(":a owl:differentFrom :b ."),
)


def declared() -> str:
    names = "".join(f":{name} a owl:Class . " for name in CLASSES)
    return names + ":p a owl:ObjectProperty . :q a owl:ObjectProperty ; rdfs:subPropertyOf :p . :r a owl:ObjectProperty . "


few_others = st.sampled_from([0, 5, 100])
"""The triples of other axioms up to which inclusions between names are facts for the reasoner of new members, not rules."""


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(statements, min_size=2, max_size=9), st.sampled_from(["owl2rl", "owl2rl-full"]), few_others)
@pytest.mark.filterwarnings("ignore::kg_reasoner.errors.BeyondProfileWarning")
@pytest.mark.long
def test_members_do_not_influence_each_other(texts: list[str], ruleset: str, few: int) -> None:
    reasoner = loaded(declared() + "\n".join(texts), ruleset)
    with mock.patch.object(selection, "_FEW", few):
        hierarchy = reasoner.hierarchy()
    assert hierarchy.is_consistent == reasoner.is_consistent()
    if not reasoner.is_consistent():
        return
    unsatisfiable = {each.name.value[len(EX) :] for each in hierarchy.unsatisfiable if each.kind == "class"}
    expected = {name: by_itself(reasoner, name) for name in CLASSES}
    assert unsatisfiable == {name for name, (_, contradicts) in expected.items() if contradicts}
    satisfiable = set(CLASSES) - unsatisfiable
    for name in satisfiable:
        above = {other for other in satisfiable if hierarchy.classes.is_below(ex(name), ex(other))}
        assert above == expected[name][0] & satisfiable
    for name in satisfiable:
        for other in satisfiable & expected[name][0] - {name}:
            assert hierarchy.explain(ex(name), ex(other)).steps


@settings(max_examples=examples(50), deadline=None)
@given(
    st.lists(st.lists(statements, max_size=5), min_size=2, max_size=4),
    st.sampled_from(["owl2rl", "owl2rl-full", "owl2el"]),
    few_others,
)
@pytest.mark.filterwarnings("ignore::kg_reasoner.errors.BeyondProfileWarning")
def test_updates_give_what_a_new_reasoner_gives(steps: list[list[str]], ruleset: str, few: int) -> None:
    reasoner = loaded(declared(), ruleset)
    for texts in steps:
        wanted = loaded(declared() + "\n".join(texts), ruleset)
        before, after = set(reasoner.triples(which="explicit")), set(wanted.triples(which="explicit"))
        reasoner.remove_triples(before - after)
        reasoner.add_triples(after - before)
        with mock.patch.object(selection, "_FEW", few):
            assert reasoner.hierarchy().text(PREFIXES) == wanted.hierarchy().text(PREFIXES)
        assert reasoner.hierarchy() is reasoner.hierarchy()


def classified() -> int:
    """How many classifications are alive."""
    gc.collect()
    return sum(isinstance(each, Classified) for each in gc.get_objects())


@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2el"])
def test_earlier_hierarchies_are_not_kept(ruleset: str) -> None:
    before = classified()
    reasoner = Reasoner(ruleset=ruleset)
    names = [IRI(f"urn:c{number}") for number in range(8)]
    reasoner.add_triples([(name, RDF.type, OWL.Class) for name in names])
    for lower, upper in pairwise(names):
        reasoner.add_triples([(lower, RDFS.subClassOf, upper)])
        assert reasoner.hierarchy().classes.is_below(lower, upper)
    assert classified() - before <= 2


def test_changes_are_followed_without_reading_all_again() -> None:
    """Names become unsatisfiable, equivalent, and neither again."""
    reasoner = loaded(declared(), "owl2el")
    reasoner.hierarchy()
    changes = [
        ":A rdfs:subClassOf :B .",
        ":B rdfs:subClassOf :C . :C owl:disjointWith :D .",
        ":A rdfs:subClassOf :D .",
        ":C rdfs:subClassOf :A .",
    ]
    for text in (*changes, *changes):  # each is made, and taken back in the second round
        triples = list(loaded(text).triples(which="explicit"))
        there = triples[0] in set(reasoner.triples(which="explicit"))
        (reasoner.remove_triples if there else reasoner.add_triples)(triples)
        wanted = loaded("", "owl2el")
        wanted.add_triples(reasoner.triples(which="explicit"))
        assert reasoner.hierarchy().text(PREFIXES) == wanted.hierarchy().text(PREFIXES)


def test_a_small_change_reads_what_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    reasoner = loaded(declared() + ":A rdfs:subClassOf :B . :C owl:disjointWith :D .", "owl2el")
    reasoner.hierarchy()
    read = []
    monkeypatch.setattr(Reasoner, "triple_ids", lambda *given: read.append(given))
    for text in (":B rdfs:subClassOf :C .", ":B rdfs:subClassOf :D .", ":D rdfs:subClassOf :C ."):
        triples = list(loaded(text).triples(which="explicit"))
        reasoner.add_triples(triples)
        both = [reasoner.hierarchy().text(PREFIXES)]
        reasoner.remove_triples(triples)
        reasoner.hierarchy()
        reasoner.add_triples(triples)
        both.append(reasoner.hierarchy().text(PREFIXES))
        assert both[0] == both[1]
    assert not read


def test_inclusions_that_your_rules_derive_are_followed() -> None:
    reasoner = loaded(declared() + ":A rdfs:subClassOf :B .", "owl2el")
    reasoner.add_program("rdfs:subClassOf[?x, ?y] :- kind(?x, ?y) .")
    reasoner.hierarchy()
    reasoner.add_facts("kind", [(ex("B"), ex("C"))])
    assert reasoner.hierarchy().classes.is_below(ex("A"), ex("C"))
    reasoner.remove_facts("kind", [(ex("B"), ex("C"))])
    assert not reasoner.hierarchy().classes.is_below(ex("A"), ex("C"))


def test_a_hierarchy_is_right_after_rows_have_got_other_numbers() -> None:
    reasoner = loaded(declared() + ":A rdfs:subClassOf :B .", "owl2el")
    reasoner.hierarchy()
    before = reasoner.hierarchy().classes
    reasoner.add_triples(loaded(":B rdfs:subClassOf :C .").triples(which="explicit"))
    reasoner.materialise()
    for relation in range(len(reasoner.engine.database.relations)):
        reasoner.engine.database.compact(relation)
    assert reasoner.hierarchy().classes.is_below(IRI("http://example.org/A"), IRI("http://example.org/C"))
    assert before.names == reasoner.hierarchy().classes.names


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=30), st.data())
def test_marks_tell_what_has_changed(changes: list[tuple[bool, int]], data: st.DataObject) -> None:
    reasoner = Reasoner("q(?x, ?y) :- p(?x, ?y) .")
    reasoner.add_facts("p", [(literal(40), literal(40))])
    reasoner.materialise()
    database = reasoner.engine.database
    for name in ("p", "q"):
        reasoner.add_facts(name, [(literal(41), literal(41))])
    reasoner.materialise()
    relations = {name: reasoner.engine.catalog.predicates[name] for name in ("p", "q")}

    def state() -> dict[str, tuple[set[tuple[int, ...]], set[tuple[int, ...]]]]:
        return {
            name: tuple({tuple(row) for row in database.rows(number, which).tolist()} for which in ("all", "explicit"))
            for name, number in relations.items()
        }

    marks, before = {name: RowMarks(database, number) for name, number in relations.items()}, state()
    for adds, number in changes:
        name = data.draw(st.sampled_from(["p", "q"]))
        (reasoner.add_facts if adds else reasoner.remove_facts)(name, [(literal(number), literal(number))])
        if number % 3 == 0:
            reasoner.materialise()
    reasoner.materialise()
    after = state()
    for name, number in relations.items():
        found = marks[name].until(RowMarks(database, number))
        assert found is not None
        gone, new, explicit = ({tuple(row) for row in database.rows_at(number, rows).tolist()} for rows in found)
        assert (before[name][0] - gone) | new == after[name][0]
        assert gone <= before[name][0]
        assert new <= after[name][0]
        assert before[name][1] ^ after[name][1] <= explicit


EDGES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20)


@given(st.integers(1, 9), EDGES, EDGES)
def test_reduction(count: int, edges: list[tuple[int, int]], others: list[tuple[int, int]]) -> None:
    before = reduced(count, np.array(pairs_of(closure(count, others)), np.int64).reshape(-1, 2))
    above = closure(count, edges)
    closed = pairs_of(above)
    found = reduced(count, np.array(closed, np.int64).reshape(-1, 2))
    first, nearest = found.first, found.nearest
    changed = reduced(count, np.array(closed, np.int64).reshape(-1, 2), before)
    was, now = set(map(tuple, before.pairs().tolist())), set(closed)
    after = before.after(*(np.array(sorted(pairs), np.int64).reshape(-1, 2) for pairs in (was - now, now - was)))
    assert after.first.tolist() == first.tolist() and sorted(after.nearest.tolist()) == sorted(nearest.tolist())
    assert changed.first.tolist() == first.tolist()
    assert sorted(changed.nearest.tolist()) == nearest.tolist()
    assert first.tolist() == [min(other for other in above[node] if node in above[other]) for node in range(count)]
    firsts = set(first.tolist())
    strict = {(a, b) for a, b in closed if a in firsts and b in firsts and a not in above[b]}
    assert set(map(tuple, nearest.tolist())) == {
        (a, b) for a, b in strict if not any((a, c) in strict and (c, b) in strict for c in firsts)
    }


def closure(count: int, edges: list[tuple[int, int]]) -> dict[int, set[int]]:
    """Return what is above each node, and the node itself."""
    above = {node: {node} for node in range(count)}
    for _ in range(count):
        for low, high in edges:
            if low < count and high < count:
                for nodes in above.values():
                    if low in nodes:
                        nodes.add(high)
    return above


def pairs_of(above: dict[int, set[int]]) -> list[tuple[int, int]]:
    return [(low, high) for low, nodes in above.items() for high in nodes if low != high]


@given(
    st.lists(st.integers(0, 20), unique=True, max_size=12), st.sets(st.integers(0, 20)), st.lists(st.integers(21, 30), unique=True)
)
def test_changed_rows(rows: list[int], gone: set[int], new: list[int]) -> None:
    def table(numbers: list[int]) -> Ids:
        return np.array([(number, number // 2) for number in numbers], np.int32).reshape(-1, 2)

    after = [row for row in rows if row not in gone] + new
    deleted = [row for row in rows if row in gone]
    found = changed_rows(table(rows), table(after))
    assert found is not None
    assert found[:, 0].tolist() == deleted + new
    few = changed_rows(table(rows), table(after), most=3)
    assert (few is None) == (len(deleted + new) > 3)


# --- what is not used, and said so


def test_axioms_beyond_the_profile_are_named() -> None:
    with pytest.warns(match="anonymous individual"):
        reasoner = loaded(":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :B ] . :B a owl:Class .")
        reasoner.materialise()
    hierarchy = reasoner.hierarchy()
    assert not hierarchy.complete
    assert [warning.axiom for warning in hierarchy.warnings] == ["SubClassOf(example:A ObjectSomeValuesFrom(example:p example:B))"]
    assert loaded(":A rdfs:subClassOf :B .").hierarchy().complete
    assert not loaded(":A rdfs:subClassOf :B .", "rdfs").hierarchy().complete


def test_rules_that_ask_for_what_is_absent_are_not_used() -> None:
    reasoner = loaded(":A rdfs:subClassOf :B .")
    reasoner.add_program(
        "@prefix : <http://example.org/> . "
        "false :- :A[?x], NOT :name[?x, ?n] . "  # every A needs a name: not a reason for A to be empty
        ":C[?x] :- :A[?x], NOT listed(?x) . "
        ":E[?x] :- :A[?x], :F[?y] . "
        ":G[?x] :- :A[?x] ."
    )
    reasoner.add_triples([(ex(name), RDF.type, OWL.Class) for name in "CEFG"])
    hierarchy = reasoner.hierarchy()
    assert hierarchy.unsatisfiable == ()
    assert hierarchy.classes.parents(ex("A")) == (ex("B"), ex("G"))
    assert len(hierarchy.warnings) == 3 and not hierarchy.complete


def test_keys_identify_named_individuals_only() -> None:
    text = """
        :A owl:hasKey (:code) . :A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :code ; owl:hasValue "1" ] .
        :code a owl:DatatypeProperty . :a a :A, :C ; :code "1" . :C a owl:Class .
    """
    assert loaded(text).hierarchy().classes.parents(ex("A")) == ()


def test_what_keys_and_rules_say_of_individuals_counts() -> None:
    text = """
        :K owl:hasKey (:code) . :code a owl:DatatypeProperty . :a a :K ; :code "1" . :b a :K, :C ; :code "1" .
        :rule a swrl:Imp ; swrl:body ([ a swrl:ClassAtom ; swrl:classPredicate :C ; swrl:argument1 :x ]) ;
          swrl:head ([ a swrl:ClassAtom ; swrl:classPredicate :D ; swrl:argument1 :x ]) . :x a swrl:Variable .
        :A rdfs:subClassOf [ owl:onProperty :p ; owl:hasValue :a ] . :p a owl:ObjectProperty .
        [ owl:onProperty :p ; owl:someValuesFrom :D ] rdfs:subClassOf :E .
    """
    assert loaded(text).hierarchy().classes.parents(ex("A")) == (ex("E"),)


@pytest.mark.parametrize("equality", ["axioms", "rewrite"])
def test_equal_terms(equality: str) -> None:
    text = """
        :p a owl:FunctionalProperty, owl:ObjectProperty . :a :p :b . :b a :C .
        :A rdfs:subClassOf [ owl:onProperty [ owl:inverseOf :p ] ; owl:hasValue :a ] . :C a owl:Class .
    """
    hierarchy = loaded(text, equality=equality).hierarchy()
    assert hierarchy.classes.parents(ex("A")) == (ex("C"),)
    assert hierarchy.explain(ex("A"), ex("C")).steps


def test_explanations_and_errors() -> None:
    reasoner = loaded(":A rdfs:subClassOf :B, :C . :B owl:disjointWith :C . :D rdfs:subClassOf :B . :p rdfs:domain :A .")
    hierarchy = reasoner.hierarchy()
    broken, empty = hierarchy.unsatisfiable
    assert (broken.name, empty.name, empty.kind) == (ex("A"), ex("p"), "object property")
    leaves = {str(step.statement) for step in broken.proof.steps if step.rule is None}
    assert len(leaves) == 3
    assert "_:some_D a :B" in hierarchy.explain(ex("D"), ex("B")).with_prefixes(PREFIXES).text()
    with pytest.raises(NoProofError, match="is not below"):
        hierarchy.explain(ex("B"), ex("D"))
    with pytest.raises(ReasonerError, match="neither a class nor a property"):
        hierarchy.explain(ex("nobody"), ex("D"))
    with pytest.raises(ReasonerError, match="not in this hierarchy"):
        hierarchy.classes.parents(ex("A"))
    reasoner.add_triples([(ex("D"), OWL.disjointWith, ex("B"))])
    assert [each.name for each in reasoner.hierarchy().unsatisfiable] == [ex("A"), ex("D"), ex("p")]
    with pytest.raises(ReasonerError, match="has changed"):
        broken.proof  # noqa: B018


def test_labels_of_members_are_new() -> None:
    text = "_:some_A a :C . :C owl:disjointWith :A . <http://other.example/A> rdfs:subClassOf :A . :A_2 rdfs:subClassOf :B ."
    reasoner = loaded(text)
    reasoner.add_triples([(BlankNode("some_A"), RDF.type, ex("C"))])
    hierarchy = reasoner.hierarchy()
    assert hierarchy.unsatisfiable == ()
    assert hierarchy.classes.children(ex("A")) == (IRI("http://other.example/A"),)
    assert hierarchy.classes.parents(ex("A_2")) == (ex("B"),)


def test_names_near_and_far() -> None:
    classes = loaded(":A rdfs:subClassOf :B . :B rdfs:subClassOf :C, :D . :C owl:equivalentClass :E .").hierarchy().classes
    assert classes.ancestors(ex("A")) == (ex("B"), ex("C"), ex("D"), ex("E"))
    assert classes.parents(ex("A")) == (ex("B"),)
    assert classes.descendants(ex("E")) == (ex("A"), ex("B"))
    assert classes.children(ex("E")) == (ex("B"),)
    assert classes.equivalents(ex("E")) == (ex("C"),)
    assert classes.descendants(ex("A")) == classes.ancestors(ex("D")) == ()


def test_axioms_are_the_nearest_only() -> None:
    hierarchy = loaded(":A rdfs:subClassOf :B, :C . :B rdfs:subClassOf :C . :C owl:equivalentClass :D .").hierarchy()
    assert {f"{s.value[-1]} {p.value[-8:]} {o.value[-1]}" for s, p, o in hierarchy.axioms() if isinstance(o, IRI)} == {
        "A bClassOf B",
        "B bClassOf C",
        "C entClass D",
    }


def test_literal_values() -> None:
    text = """
        :age a owl:DatatypeProperty ; rdfs:range xsd:integer ; rdfs:domain :Person ; rdfs:subPropertyOf :number .
        :number a owl:DatatypeProperty . :One rdfs:subClassOf [ owl:onProperty :age ; owl:hasValue 1 ] .
    """
    hierarchy = loaded(text, "owl2rl-full").hierarchy()
    assert hierarchy.data_properties.parents(ex("age")) == (ex("number"),)
    assert hierarchy.classes.parents(ex("One")) == (ex("Person"),)
    assert Literal("1") not in hierarchy.classes


def test_threads_may_classify_while_another_one_changes() -> None:
    from threading import Thread

    reasoner = loaded(":A rdfs:subClassOf :B . :a a :A .")
    found: list[str] = []

    def classify() -> None:
        for _ in range(20):
            found.append(reasoner.hierarchy().text(PREFIXES))

    threads = [Thread(target=classify, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(20):
        with reasoner.transaction():
            (reasoner.remove_triples if number % 2 else reasoner.add_triples)([(ex("B"), RDFS.subClassOf, ex("C"))])
            reasoner.hierarchy()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    without, within = "classes:\n  :B\n    :A", "classes:\n  :C\n    :B\n      :A"
    assert len(found) == 60 and set(found) <= {without, within}
    assert reasoner.hierarchy().text(PREFIXES) == without
