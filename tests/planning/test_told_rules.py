"""Rules that copy what is told: they follow explicit triples and those of other rules, and are not applied to conclusions."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from typing import Final

import pytest

from kg_reasoner import Reasoner, rulesets
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.language.parser import parse
from kg_reasoner.planning.told_rules import Told, copying_rules, with_told_only
from kg_reasoner.program import TRIPLE, Atom
from kg_reasoner.terms import IRI, RDFS, Term, Triple
from tests.helpers import proof_checker
from tests.helpers.effort import examples
from tests.helpers.random_ontologies import ontologies

RULES: Final = """
    @rule told/conclude
    axiom(?x, ?y) :- rdfs:subClassOf[?x, ?y] .
    sub(?x, ?y) :- axiom(?x, ?y) .
    sub(?x, ?z) :- sub(?x, ?y), axiom(?y, ?z) .
    @rule conclude
    rdfs:subClassOf[?x, ?y] :- sub(?x, ?y) .
    [?x, ?p, ?y] :- says(?x, ?p, ?y) .
    rdfs:subClassOf[?x, ?y] :- owl:equivalentClass[?y, ?x] .
    rdfs:subClassOf[<http://example.org/0>, <http://example.org/1>] .
"""
NAMES: Final = [IRI(f"http://example.org/{number}") for number in range(7)]


def path(size: int) -> list[Triple]:
    names = [IRI(f"http://example.org/C{number}") for number in range(size)]
    return [(upper, RDFS.subClassOf, lower) for lower, upper in pairwise(names)]


def test_what_a_rule_copies() -> None:
    (told,) = copying_rules(parse(RULES).rules)
    assert told == Told(RDFS.subClassOf, "axiom", "conclude")


@pytest.mark.parametrize(
    "text",
    [
        "@rule told/r p(?x, ?y) :- [?x, ?q, ?y] .",
        "@rule told/r p(?y, ?x) :- rdfs:subClassOf[?x, ?y] .",
        "@rule told/r p(?x, ?x) :- rdfs:subClassOf[?x, ?x] .",
        "@rule told/r p(?x, ?y) :- rdfs:subClassOf[?x, ?y], q(?x) .",
        "@rule other p(?x, ?y) :- rdfs:subClassOf[?x, ?y] .",
    ],
)
def test_other_rules_are_applied_as_they_are(text: str) -> None:
    rules = parse(text).rules
    assert not copying_rules(rules)
    assert list(with_told_only({rule: rule for rule in rules}, ())) == list(rules)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(examples(60)))
@pytest.mark.sample(3)
def test_a_told_rule_follows_changes_as_an_ordinary_rule(strategy: str, seed: int) -> None:
    chance = random.Random(seed)
    reasoner, other = (Reasoner(text, maintenance=strategy) for text in (RULES, RULES.replace("told/conclude", "copied")))
    more = parse("rdfs:subClassOf[?x, ?y] :- related(?x, ?y) .")
    facts: dict[str, list[tuple[Term, ...]]] = {
        TRIPLE: [
            (one, property, two)
            for one in NAMES
            for two in NAMES
            for property in (RDFS.subClassOf, IRI("http://www.w3.org/2002/07/owl#equivalentClass"))
        ],
        "says": [(one, property, two) for one in NAMES for two in NAMES for property in (RDFS.subClassOf, RDFS.seeAlso)],
        "related": [(one, two) for one in NAMES for two in NAMES],
    }
    for _ in range(12):
        changes = [
            (chance.random() < 0.5, name, chance.sample(facts[name], chance.randint(1, 4)))
            for name in chance.sample(sorted(facts), 2)
        ]
        rule = chance.choice(["add", "remove", None, None])
        for each in (reasoner, other):
            with each.transaction() as transaction:
                for adds, name, rows in changes:
                    (transaction.add_facts if adds else transaction.remove_facts)(name, rows)
                if rule == "add":
                    transaction.add_program(more)
                if rule == "remove":
                    transaction.remove_rules(more.rules)
        assert set(reasoner.triples()) == set(other.triples())
        assert set(reasoner.facts("sub")) == set(other.facts("sub"))
        told = set(reasoner.facts("axiom"))
        explicit = {(row[0], row[2]) for row in reasoner.triples(None, RDFS.subClassOf, None, which="explicit")}
        assert explicit <= told <= set(other.facts("axiom"))


def test_conclusions_are_not_copied() -> None:
    reasoner = Reasoner(RULES)
    reasoner.add_triples(path(30))
    assert len(set(reasoner.facts("axiom"))) == 30
    assert len(list(reasoner.triples(None, RDFS.subClassOf, None))) == 30 * 29 // 2 + 1


def test_rules_that_come_later_copy_what_is_there() -> None:
    reasoner = Reasoner()
    reasoner.add_triples(path(5))
    reasoner.materialise()
    program = parse(RULES)
    reasoner.add_program(program)
    assert len(set(reasoner.facts("sub"))) == 11
    reasoner.remove_rules(program.rules)
    reasoner.remove_triples(path(5)[:1])
    reasoner.materialise()
    reasoner.add_program(program)
    assert len(set(reasoner.facts("sub"))) == 7


def test_rules_with_the_same_copy_come_and_go() -> None:
    """Of two rules that derive told triples alike, the other one goes on when one is removed."""
    reasoner = Reasoner(RULES)
    reasoner.add_facts("r", [(NAMES[3], RDFS.subClassOf, NAMES[4])])
    one, other = (
        parse(text) for text in ("[?x, ?p, ?y] :- r(?x, ?p, ?y) .", "rdfs:subClassOf[?x, ?y] :- r(?x, rdfs:subClassOf, ?y) .")
    )
    for program in (one, other):
        reasoner.add_program(program)
        assert (NAMES[3], NAMES[4]) in set(reasoner.facts("sub"))
    reasoner.remove_rules(one.rules)
    assert (NAMES[3], NAMES[4]) in set(reasoner.facts("sub"))
    reasoner.remove_rules(other.rules)
    assert (NAMES[3], NAMES[4]) not in set(reasoner.facts("sub"))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_programs_state_facts_of_the_copies_too(strategy: str) -> None:
    """A fact of the program and a triple are two reasons for one copy: it stays until both are gone."""
    pair, triple = (NAMES[2], NAMES[3]), (NAMES[2], RDFS.subClassOf, NAMES[3])
    fact = parse("axiom(<http://example.org/2>, <http://example.org/3>) .")
    reasoner = Reasoner(RULES, maintenance=strategy)
    reasoner.add_program(fact)
    assert [step.reason for step in reasoner.explain(Atom("axiom", pair)).steps] == ["stated"]
    for add, remove in (
        (lambda: reasoner.add_triples([triple]), lambda: reasoner.remove_rules(fact.rules)),
        (lambda: reasoner.add_program(fact), lambda: reasoner.remove_triples([triple])),
    ):
        add()
        reasoner.materialise()
        remove()
        assert pair in set(reasoner.facts("axiom")) & set(reasoner.facts("sub"))
    reasoner.remove_rules(fact.rules)
    assert pair not in set(reasoner.facts("axiom")) | set(reasoner.facts("sub"))


def test_rules_that_copy_different_triples_to_one_predicate() -> None:
    reasoner = Reasoner(RULES + "@rule told/other axiom(?x, ?y) :- rdfs:subPropertyOf[?x, ?y] .")
    triples = [(NAMES[2], property, NAMES[3]) for property in (RDFS.subClassOf, RDFS.subPropertyOf)]
    reasoner.add_triples(triples)
    reasoner.materialise()
    for triple in triples:
        assert (NAMES[2], NAMES[3]) in set(reasoner.facts("sub"))
        reasoner.remove_triples([triple])
    assert (NAMES[2], NAMES[3]) not in set(reasoner.facts("sub"))


def test_proofs_use_the_rule_and_not_a_copy() -> None:
    reasoner = Reasoner(RULES)
    reasoner.add_triples(path(4))
    everything = {name: set(reasoner.facts(name)) for name in reasoner.predicates()}
    everything[TRIPLE] = set(reasoner.triples())
    explicit = {TRIPLE: set(reasoner.triples(which="explicit"))}
    triple = path(4)[-1][0], RDFS.subClassOf, path(4)[0][2]
    proof = reasoner.explain(triple)
    proof_checker.check(proof, Atom(TRIPLE, triple), reasoner.program.rules, explicit, everything)
    assert {step.statement.terms for step in proof.steps if step.reason == "explicit"} == set(path(4))
    given = reasoner.explain(Atom("axiom", (path(4)[0][0], path(4)[0][2])))
    assert [step.reason for step in given.steps] == ["explicit", "rule"]


@pytest.mark.parametrize(
    ("ontology", "most"),
    [("path", 5.0), ("equivalent", 5.0)],
)
def test_the_work_of_deep_hierarchies_is_quadratic(ontology: str, most: float) -> None:
    """Twice as many classes take four times as many rule applications; with the third power they would take eight."""
    counts = []
    for size in (40, 80):
        reasoner = Reasoner(ruleset="owl2el")
        axioms = path(size)
        if ontology == "equivalent":
            axioms = [(lower, IRI("http://www.w3.org/2002/07/owl#equivalentClass"), upper) for lower, _, upper in axioms]
        reasoner.add_triples(axioms)
        reasoner.materialise()
        counts.append(reasoner.engine.counters.insertion)
    assert counts[1] < most * counts[0]


@pytest.mark.parametrize("seed", range(examples(40)))
@pytest.mark.sample(2)
def test_conclusions_of_owl2el_lead_to_nothing_new(seed: int) -> None:
    """What is concluded is the same if all conclusions are axioms again, in inconsistent ontologies, too."""
    told = rulesets.load("owl2el").program
    rules = (replace(rule, origin=replace(rule.origin, name=str(rule.origin.name).replace("told/", "all/"))) for rule in told.rules)
    triples = ontologies(seed, 15)
    found = []
    for program in (told, replace(told, rules=tuple(rules))):
        reasoner = Reasoner(program, show_hidden=True)
        reasoner.add_triples(triples)
        found.append(set(reasoner.triples()))
    assert found[0] == found[1]
