"""OWL 2 EL: names that are both classes and individuals (punning). The two have nothing in common but the name."""

from __future__ import annotations

import random

import pytest

from benchmarks.inputs.el_data import EX
from kg_reasoner import Reasoner
from kg_reasoner.program import TRIPLE, Atom
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, Term, Triple
from tests.classification.el_ontologies import INDIVIDUALS, axioms, triples_of
from tests.classification.test_el import PREFIXES, name, reasoner_on
from tests.helpers import proof_checker
from tests.helpers.effort import by_effort, examples

RULESETS = ("owl2el", "owl2el+owl2rl")


def triple(text: str) -> Triple:
    reasoner = Reasoner()
    reasoner.load(f"{PREFIXES} {text} .".encode(), format="turtle")
    (found,) = reasoner.triples()
    return found


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize(
    ("turtle", "unsound", "sound"),
    [
        (":C a :D . :X rdfs:subClassOf :C .", [":C rdfs:subClassOf :D", ":X rdfs:subClassOf :D", ":X a :D"], [":C a :D"]),
        (":C a :D ; rdfs:subClassOf :E . :D rdfs:subClassOf :F . :x a :C .", [":C a :E", ":x a :D"], [":C a :F", ":x a :E"]),
        (
            ":C a :D ; rdfs:subClassOf owl:Nothing . :X a :E . :E owl:disjointWith :F . :X rdfs:subClassOf :F ."
            " :Y rdfs:subClassOf :X .",
            [":D rdfs:subClassOf owl:Nothing", ":X rdfs:subClassOf owl:Nothing", ":Y rdfs:subClassOf owl:Nothing"],
            [":C rdfs:subClassOf owl:Nothing", ":Y rdfs:subClassOf :F"],
        ),
        (
            ":p a owl:ObjectProperty ; rdfs:domain :D ; rdfs:range :R . :C :p :B . :X rdfs:subClassOf :C . :Y rdfs:subClassOf :B .",
            [":C rdfs:subClassOf :D", ":X rdfs:subClassOf :D", ":B rdfs:subClassOf :R", ":Y rdfs:subClassOf :R"],
            [":C a :D", ":B a :R"],
        ),
        (
            ":A rdfs:subClassOf [ owl:oneOf (:B) ] . :B rdfs:subClassOf :C . :B a :D .",
            [":A rdfs:subClassOf :B", ":A rdfs:subClassOf :C", ":B rdfs:subClassOf :D"],
            [":A rdfs:subClassOf :D"],
        ),
        (
            ":p a owl:ObjectProperty . :A rdfs:subClassOf [ owl:onProperty :p ; owl:hasValue :B ] ."
            " :B rdfs:subClassOf :C . :B a :D ."
            " [ owl:onProperty :p ; owl:someValuesFrom :C ] rdfs:subClassOf :E ."
            " [ owl:onProperty :p ; owl:someValuesFrom :D ] rdfs:subClassOf :F .",
            [":A rdfs:subClassOf :E"],
            [":A rdfs:subClassOf :F"],
        ),
        (
            ":p a owl:ObjectProperty . :A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B ] . :B a :D , owl:Class ."
            " [ owl:onProperty :p ; owl:someValuesFrom :D ] rdfs:subClassOf :E . :x a :A .",
            [":A rdfs:subClassOf :E", ":x :p :B"],
            [":B a :D"],
        ),
        (
            ":C a [ owl:onProperty :p ; owl:someValuesFrom :D ] ."
            " [ owl:onProperty :p ; owl:someValuesFrom :D ] rdfs:subClassOf :E ."
            " :C a owl:Class .",
            [":C rdfs:subClassOf :E"],
            [":C a :E"],
        ),
        (
            ":D owl:hasKey (:k) . :A a :D , owl:Class ; :k 1 . :B a :D , owl:Class ; :k 1 . :k a owl:DatatypeProperty . :A :q :x ."
            " :q a owl:ObjectProperty .",
            [":A rdfs:subClassOf :D"],
            [":A owl:sameAs :B", ":B :q :x"],
        ),
        (
            ":A a owl:Class . :p a owl:ReflexiveProperty . :x a :A . :A a :D .",
            [":x a :D", ":x :p :A"],
            [":A :p :A", ":x :p :x"],
        ),
    ],
)  # fmt: skip
@pytest.mark.sample(8)
def test_what_holds_of_a_class_is_not_taken_to_hold_of_the_individual(
    ruleset: str, turtle: str, unsound: list[str], sound: list[str]
) -> None:
    reasoner = reasoner_on(f":D a owl:Class . {turtle}", ruleset)
    assert reasoner.is_consistent()
    found = set(reasoner.triples())
    assert not [text for text in unsound if triple(text) in found]
    assert not [text for text in sound if triple(text) not in found]


def test_equal_individuals_are_not_equal_classes() -> None:
    reasoner = reasoner_on("""
        :D a owl:Class . :A owl:sameAs :B ; a owl:Class , :D . :B a owl:Class ; rdfs:subClassOf :C . :x a :A .
        :X rdfs:subClassOf :A .
    """)
    assert triple(":B a :D") in reasoner.triples() and triple(":B owl:sameAs :A") in reasoner.triples()
    classes = reasoner.hierarchy().classes
    assert reasoner.hierarchy().complete
    assert not classes.is_below(name("A"), name("B")) and not classes.is_below(name("X"), name("C"))
    assert not {triple(":x a :B"), triple(":x a :C"), triple(":A owl:equivalentClass :B")} & set(reasoner.triples())


@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2el+owl2rl"])
def test_the_rules_of_owl2rl_put_equal_terms_for_each_other_everywhere(ruleset: str) -> None:
    """Rule eq-rep-o of the W3C's tables."""
    reasoner = reasoner_on(":A owl:sameAs :B ; a owl:Class . :B a owl:Class . :x a :A .", ruleset)
    assert triple(":x a :B") in reasoner.triples()


def test_different_individuals_are_not_disjoint_classes() -> None:
    turtle = "{} :X rdfs:subClassOf :A , :B . :A a owl:Class . :B a owl:Class ."
    for each in (":A owl:differentFrom :B .", "[] a owl:AllDifferent ; owl:distinctMembers (:A :B) ."):
        reasoner = reasoner_on(turtle.format(each))
        assert not reasoner.hierarchy().unsatisfiable
        assert reasoner_on(turtle.format(each) + ":A owl:sameAs :B .").is_consistent() is False


def test_an_individual_of_disjoint_classes_is_inconsistent_whatever_else_its_name_means() -> None:
    turtle = ":D owl:disjointWith :E . :C a owl:Class , :D , :E ."
    reasoner = reasoner_on(turtle)
    assert not reasoner.is_consistent()
    assert [each.terms for each in reasoner.inconsistencies()] == [{"a": name("C")}]


def punned(triples: list[Triple], names: dict[Term, Term]) -> list[Triple]:
    return [(names.get(subject, subject), predicate, names.get(value, value)) for subject, predicate, value in triples]


NAMES: dict[Term, Term] = {name(each): name(f"C{number}") for number, each in enumerate(INDIVIDUALS)}


def conclusions(reasoner: Reasoner) -> tuple[str, bool, set[Triple]]:
    """The hierarchy, consistency, and what is said of individuals."""
    of_classes = (RDFS.subClassOf, OWL.equivalentClass)
    facts = {each for each in reasoner.triples() if each[1] not in of_classes}
    return reasoner.hierarchy().text(), reasoner.is_consistent(), facts


@pytest.mark.parametrize("seed", range(examples(200)))
@pytest.mark.sample(3)
def test_a_punned_ontology_says_what_the_same_says_with_different_names(seed: int) -> None:
    """Individuals that are named like classes come and go, too."""
    chance = random.Random(seed)
    ontology = axioms(chance)
    apart, together, updated = (Reasoner(ruleset="owl2el") for _ in range(3))
    apart.add_triples(triples_of(ontology))
    together.add_triples(punned(triples_of(ontology), NAMES))
    every = [punned(triples_of([axiom], f"a{number}"), NAMES) for number, axiom in enumerate(ontology)]
    updated.add_triples([each for part in every for each in part])
    text, consistent, facts = conclusions(apart)
    if consistent:
        assert conclusions(together) == (text, consistent, set(punned(list(facts), NAMES)))
    for _ in range(2):
        gone = [part for part in every if chance.random() < 0.3]
        updated.remove_triples([each for part in gone for each in part])
        left = Reasoner(ruleset="owl2el")
        left.add_triples(updated.triples(which="explicit"))
        assert conclusions(updated) == conclusions(left)
        updated.add_triples([each for part in gone for each in part])


@pytest.mark.parametrize("seed", range(examples(20)))
@pytest.mark.sample(2)
def test_proofs_about_punned_names_are_accepted(seed: int) -> None:
    reasoner = Reasoner(ruleset="owl2el")
    reasoner.add_triples(punned(triples_of(axioms(random.Random(seed), 8)), NAMES))
    everything = {each: set(reasoner.facts(each)) for each in reasoner.predicates()}
    everything[TRIPLE] = set(reasoner.triples())
    explicit = {TRIPLE: set(reasoner.triples(which="explicit"))}
    proved = [each for each in reasoner.triples(which="inferred") if each[0] in NAMES.values()]
    for each in sorted(proved, key=str)[: by_effort(4, 20, 100)]:
        proof = reasoner.explain(each)
        proof_checker.check(proof, Atom(TRIPLE, each), reasoner.program.rules, explicit, everything)


def test_nodes_of_individuals_are_not_shown() -> None:
    reasoner = reasoner_on(":C a :D , owl:Class . :p a owl:ObjectProperty . :C :p :C . :A rdfs:subClassOf [ owl:oneOf (:C) ] .")
    terms = {term for each in reasoner.triples(which="inferred") for term in each}
    assert all(isinstance(term, IRI) for term in terms)
    assert (name("C"), RDF.type, IRI(EX + "D")) in reasoner.triples()
