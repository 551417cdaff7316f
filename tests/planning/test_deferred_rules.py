"""Rules about any property or class are planned once there are facts for them, by whatever rule these are derived."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.language.parser import parse
from kg_reasoner.planning.catalog import RelationCatalog, StoredRule
from kg_reasoner.program import TRIPLE, Program, Rule
from kg_reasoner.terms import IRI, RDF, Triple
from tests.helpers.effort import examples
from tests.helpers.oracle import evaluate

PREFIX = "@prefix : <http://example.org/> .\n"
SAME = """
[?x, :same, ?y] :- [?x, :key, ?k], [?y, :key, ?k] .
[?x, :same, ?y] :- [?y, :same, ?x] .
[?y, ?p, ?o] :- [?x, :same, ?y], [?x, ?p, ?o] .
[?o, a, :Known] :- [?s, :knows, ?o] .
"""
THEN = """
[?x, :near, ?y] :- [?x, :same, ?y], [?x, a, :Known] .
[?x, ?q, ?y] :- [?x, ?q, ?z], [?z, :near, ?y] .
"""
NEGATION = "alone(?x) :- [?x, :key, ?k], NOT [?x, :same, ?x] .\n"


def iri(name: str) -> IRI:
    return IRI(f"http://example.org/{name}")


NAMES = {name: iri(name) for name in ("key", "knows", "near", "same", "Known")}
NODES = st.sampled_from([iri(name) for name in "abc"])
TRIPLES = st.one_of(
    st.tuples(NODES, st.sampled_from([NAMES["key"], NAMES["knows"], NAMES["near"]]), NODES),
    st.tuples(NODES, st.just(RDF.type), st.sampled_from([NAMES["Known"], iri("Thing")])),
)


def plans(reasoner: Reasoner) -> int:
    """The number of rules with plans."""
    return len(reasoner.core.engine.base.materialiser.active_rules())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_rules_for_equal_terms_wait_for_equal_terms(strategy: str) -> None:
    reasoner = Reasoner(parse(PREFIX + SAME), maintenance=strategy)
    reasoner.add_triples([(iri("a"), iri(f"p{number}"), iri("b")) for number in range(20)])
    reasoner.add_triples([(iri("a"), NAMES["knows"], iri("b"))])
    reasoner.materialise()
    few = plans(reasoner)
    assert few < 5
    with reasoner.transaction() as transaction:
        reasoner.add_triples([(iri(name), NAMES["key"], iri("k")) for name in "ac"])
    assert plans(reasoner) > 20 + few
    assert (iri("c"), iri("p7"), iri("b")) in set(reasoner.triples())
    assert (iri("c"), iri("p7"), iri("b")) in set(transaction.delta.added.triples())


def test_each_copy_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the other rules, which are planned together with these, bring further classes."""
    made: list[Rule] = []
    original = RelationCatalog.rules

    def rules(catalog: RelationCatalog, *arguments: Any) -> Iterator[StoredRule]:
        for stored in original(catalog, *arguments):
            made.append(stored.rule)
            yield stored

    monkeypatch.setattr(RelationCatalog, "rules", rules)
    axioms = "".join(f"[?x, a, :C{number + 1}] :- [?x, a, :C{number}] .\n" for number in range(5))
    reasoner = Reasoner(parse(PREFIX + SAME + axioms))
    reasoner.add_triples([(iri("a"), NAMES["same"], iri("b")), (iri("a"), RDF.type, iri("C0"))])
    assert (iri("b"), RDF.type, iri("C5")) in set(reasoner.triples())
    assert len(made) == len(set(made)) == 10


def check(reasoner: Reasoner, program: Program, explicit: frozenset[Triple]) -> set[Triple]:
    """Compare a reasoner with the oracle. Return the triples."""
    expected = evaluate(program, {TRIPLE: set(explicit)})
    found = set(reasoner.triples())
    assert found == expected.get(TRIPLE, set())
    if "alone" in reasoner.predicates():
        assert set(reasoner.facts("alone")) == expected.get("alone", set())
    return found


@settings(max_examples=examples(300))
@given(
    st.sampled_from([SAME, SAME + THEN, SAME + THEN + NEGATION]),
    st.lists(st.tuples(st.booleans(), st.frozensets(TRIPLES, max_size=6)), min_size=1, max_size=5),
    st.sampled_from(list(STRATEGIES)),
)
def test_the_same_follows_whenever_they_are_planned(
    text: str, changes: list[tuple[bool, frozenset[Triple]]], strategy: str
) -> None:
    """Facts and deltas, after each of some transactions."""
    program = parse(PREFIX + text)
    reasoner = Reasoner(program, maintenance=strategy)
    explicit: frozenset[Triple] = frozenset()
    before: set[Triple] = set()
    for adds, triples in changes:
        with reasoner.transaction() as transaction:
            (reasoner.add_triples if adds else reasoner.remove_triples)(triples)
        explicit = explicit | triples if adds else explicit - triples
        now = check(reasoner, program, explicit)
        assert set(transaction.delta.added.triples()) == now - before
        assert set(transaction.delta.removed.triples()) == before - now
        before = now


@settings(max_examples=examples(150))
@given(st.frozensets(TRIPLES, max_size=6), st.permutations([SAME, THEN, NEGATION]), st.sampled_from(list(STRATEGIES)))
def test_programs_that_come_and_go(triples: frozenset[Triple], texts: list[str], strategy: str) -> None:
    reasoner = Reasoner(maintenance=strategy)
    reasoner.add_triples(triples)
    program = Program()
    for text in texts:
        added = parse(PREFIX + text)
        reasoner.add_program(added)
        program |= added
        check(reasoner, program, triples)
    gone = parse(PREFIX + texts[0]).rules
    reasoner.remove_rules(gone)
    check(reasoner, Program(tuple(rule for rule in program.rules if rule not in gone)), triples)
