"""Transactions of a reasoner: all or nothing, and what they say has changed."""

from __future__ import annotations

import pytest

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.errors import ArityError, ReasonerError, SafetyError, StratificationError, TransactionError
from kg_reasoner.language.parser import parse
from kg_reasoner.terms import IRI, RDF, RDFS, Term, literal

PATHS = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."


def edges(*names: str) -> list[tuple[Term, Term]]:
    return [(literal(name[0]), literal(name[1])) for name in names]


def state(reasoner: Reasoner) -> dict[str, set[tuple[Term, ...]]]:
    return {name: set(reasoner.facts(name)) for name in reasoner.predicates() if list(reasoner.facts(name))}


@pytest.fixture(params=list(STRATEGIES))
def reasoner(request: pytest.FixtureRequest) -> Reasoner:
    reasoner = Reasoner(PATHS, maintenance=request.param)
    reasoner.add_facts("edge", edges("ab", "bc"))
    reasoner.materialise()
    return reasoner


def test_the_delta_distinguishes_explicit_and_derived(reasoner: Reasoner) -> None:
    with reasoner.transaction() as tx:
        tx.add_facts("edge", edges("cd"))
        tx.remove_facts("edge", edges("ab"))
    assert str(tx.delta).splitlines() == [
        '- edge("a", "b")  explicit',
        '- path("a", "b")  derived',
        '- path("a", "c")  derived',
        '+ edge("c", "d")  explicit',
        '+ path("b", "d")  derived',
        '+ path("c", "d")  derived',
    ]


def test_facts_and_rules_change_together(reasoner: Reasoner) -> None:
    with reasoner.transaction() as tx:
        tx.add_program("back(?y, ?x) :- edge(?x, ?y) .")
        tx.remove_rules(parse("path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .").rules)
        tx.add_facts("edge", edges("cd"))
    assert str(tx.delta).splitlines() == [
        '- path("a", "c")  derived',
        '+ back("b", "a")  derived',
        '+ back("c", "b")  derived',
        '+ back("d", "c")  derived',
        '+ edge("c", "d")  explicit',
        '+ path("c", "d")  derived',
    ]


@pytest.mark.parametrize(
    ("rules", "error"),
    [
        ("wrong(?z) :- edge(?x, ?y) .", SafetyError),
        ("edge(?x, ?y) :- path(?y, ?x), NOT path(?x, ?y) .", StratificationError),
        ("wrong(?x) :- edge(?x) .", ArityError),
        ("wrong(?n) :- edge(?x, ?y), BIND(RAND() AS ?n) .", ReasonerError),
    ],
)
@pytest.mark.sample(2)
def test_a_wrong_rule_takes_everything_back(reasoner: Reasoner, rules: str, error: type[Exception]) -> None:
    before, program = state(reasoner), reasoner.program
    with pytest.raises(error), reasoner.transaction() as tx:
        tx.add_facts("edge", edges("cd"))
        tx.remove_facts("edge", edges("ab"))
        assert len(list(reasoner.facts("path"))) == 3
        tx.add_program(rules)
    assert state(reasoner) == before
    assert reasoner.program == program
    assert not tx.delta


def test_rollback(reasoner: Reasoner) -> None:
    before = state(reasoner)
    with reasoner.transaction() as tx:
        tx.add_program("back(?y, ?x) :- path(?x, ?y) .")
        tx.remove_facts("edge", edges("ab", "bc"))
        assert state(reasoner) == {}
        tx.rollback()
    assert state(reasoner) == before


def test_an_interrupted_commit_is_rolled_back(reasoner: Reasoner, monkeypatch: pytest.MonkeyPatch) -> None:
    before = state(reasoner)
    apply = type(reasoner.engine.base.maintenance).apply

    def interrupted(*arguments: object) -> None:
        apply(*arguments)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), reasoner.transaction() as tx:
        tx.remove_facts("edge", edges("ab"))
        tx.add_facts("edge", edges("cd"))
        monkeypatch.setattr(type(reasoner.engine.base.maintenance), "apply", interrupted)
    monkeypatch.undo()
    assert state(reasoner) == before


def test_what_is_not_there_is_not_removed(reasoner: Reasoner) -> None:
    with reasoner.transaction() as tx:
        tx.remove_facts("edge", edges("zz", "az"))
        tx.remove_facts("path", edges("ab"))  # derived, not explicit
        tx.remove_facts("unknown", edges("ab"))
        tx.remove_rules(parse("other(?x) :- edge(?x, ?y) .").rules)
    assert str(tx.delta) == "no change"


def test_facts_added_and_removed_again_are_not_in_the_delta(reasoner: Reasoner) -> None:
    with reasoner.transaction() as tx:
        tx.add_facts("edge", edges("cd"))
        assert len(list(reasoner.facts("path"))) == 6
        tx.remove_facts("edge", edges("cd"))
    assert not tx.delta


def test_a_derived_fact_that_becomes_explicit_is_restated(reasoner: Reasoner) -> None:
    with reasoner.transaction() as tx:
        tx.add_facts("path", edges("ac"))
    assert str(tx.delta) == '= path("a", "c")  explicit now'
    with reasoner.transaction() as tx:
        tx.remove_facts("path", edges("ac"))
    assert str(tx.delta) == '= path("a", "c")  derived now'


def test_a_schema_triple_is_a_rule() -> None:
    cat, animal, tom = (IRI(f"http://example.org/{name}") for name in ("Cat", "Animal", "tom"))
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.add_triples([(tom, RDF.type, cat), (cat, RDF.type, IRI("http://www.w3.org/2002/07/owl#Class"))])
    with reasoner.transaction() as tx:
        tx.add_triples([(cat, RDFS.subClassOf, animal)])
    assert (tom, RDF.type, animal) in set(tx.delta.added.triples("inferred"))
    with reasoner.transaction() as tx:
        tx.remove_triples([(cat, RDFS.subClassOf, animal)])
    assert (tom, RDF.type, animal) in set(tx.delta.removed.triples("inferred"))


def test_a_rule_that_needs_another_layout_of_triples() -> None:
    a, b, p = (IRI(f"http://example.org/{name}") for name in "abp")
    reasoner = Reasoner("[?y, ?q, ?x] :- [?x, ?q, ?y] .")
    reasoner.add_triples([(a, p, b)])
    with reasoner.transaction() as tx:
        tx.add_program("[?q, ?p, ?x] :- [?x, ?p, ?q], [?p, ?p, ?q] . [?x, ?r, ?y] :- [?r, ?p, ?r], [?x, ?p, ?y] .")
        tx.add_triples([(p, p, p)])
    assert set(tx.delta.added.triples("explicit")) == {(p, p, p)}
    assert not tx.delta.removed


def test_one_transaction_at_a_time(reasoner: Reasoner) -> None:
    with reasoner.transaction() as tx, pytest.raises(TransactionError, match="another transaction is open"):
        reasoner.transaction().begin()
    with pytest.raises(TransactionError, match="can begin only once"):
        tx.begin()
    with pytest.raises(TransactionError, match="not open"):
        tx.add_facts("edge", edges("xy"))


def test_the_translation_of_axioms_is_undone_with_the_program_that_asked_for_it() -> None:
    reasoner = Reasoner()
    person, agent, ann = (IRI(f"http://example.org/{name}") for name in ("Person", "Agent", "ann"))
    reasoner.add_triples([(person, RDFS.subClassOf, agent), (ann, RDF.type, person)])
    transaction = reasoner.transaction().begin()
    transaction.add_program("@translate dlp .")
    assert (ann, RDF.type, agent) in set(reasoner.triples())
    transaction.rollback()
    assert reasoner.rules == ()
    assert (ann, RDF.type, agent) not in set(reasoner.triples())


def test_the_data_outlive_a_layout_that_is_undone() -> None:
    reasoner = Reasoner(ruleset="rdfs")
    ann, knows, tim = (IRI(f"http://example.org/{name}") for name in ("ann", "knows", "tim"))
    reasoner.add_triples([(ann, knows, tim)])
    transaction = reasoner.transaction().begin()
    transaction.add_program("said(?s, ?p, ?q) :- [?s, ?p, ?o], [?o, ?q, ?r] .")
    assert list(reasoner.facts("said")) == []
    transaction.rollback()
    assert list(reasoner.triples()) == [(ann, knows, tim)]
