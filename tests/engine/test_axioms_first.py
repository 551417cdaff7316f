"""Data that are loaded before their ontology: rules see its axioms first all the same, and derive the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.engine.maintenance import Strategy
from kg_reasoner.storage import capacities
from kg_reasoner.terms import IRI, OWL, RDF, RDFS

Triple = tuple[IRI, IRI, IRI]


def name(text: str) -> IRI:
    return IRI(f"http://example.org/{text}")


SMALL, LARGE, KNOWS, MEETS, NEXT = map(name, ("Small", "Large", "knows", "meets", "next"))
AXIOMS: list[Triple] = [
    (SMALL, RDFS.subClassOf, LARGE),
    (KNOWS, RDFS.subPropertyOf, MEETS),
    (MEETS, RDFS.domain, SMALL),
    (NEXT, RDF.type, OWL.TransitiveProperty),
]
PEOPLE = [name(f"person{number}") for number in range(2_500)]
DATA: list[Triple] = [
    *((person, RDF.type, SMALL) for person in PEOPLE[::2]),
    *((person, KNOWS, other) for person, other in pairwise(PEOPLE)),
    *((PEOPLE[first], NEXT, PEOPLE[first + 1]) for first in range(0, 2_000, 2)),
]


def reasoner_of(blocks: Iterable[list[Triple]], ruleset: str, threads: int = 1) -> Reasoner:
    reasoner = Reasoner(ruleset=ruleset, threads=threads)
    for block in blocks:
        reasoner.add_triples(block)
    reasoner.materialise()
    return reasoner


@pytest.mark.parametrize("ruleset", ["rdfs", "owl2rl-full"])
@pytest.mark.parametrize("threads", [1, 2])
def test_axioms_behind_the_data_come_first(ruleset: str, threads: int) -> None:
    behind, before = (reasoner_of(blocks, ruleset, threads) for blocks in ([DATA, AXIOMS], [AXIOMS, DATA]))
    assert set(behind.triples()) == set(before.triples())
    assert set(behind.triples(which="explicit")) == {*DATA, *AXIOMS}
    decode = behind.dictionary.decode
    first = [tuple(map(decode, row)) for row in behind.triple_ids().tolist()[: len(AXIOMS)]]
    expected = AXIOMS if ruleset == "owl2rl-full" else AXIOMS[:3]
    assert set(expected) <= set(first)


RECURSIVE = """
    @prefix : <http://example.org/> .
    dist(?x, 0) :- start(?x) .
    dist(?y, ?m) :- AGGREGATE(dist(?x, ?d), [?x, :leads, ?y] ON ?y BIND MIN(?d + 1) AS ?m) .
    [?x, a, ?class] :- kind(?x, ?class) .
"""
"""The variable for a class puts all triples in one table, which the recursion reads."""


@pytest.mark.parametrize("maintenance", ["backward-forward", "counting"])
def test_what_another_database_reads_keeps_its_order(maintenance: Strategy) -> None:
    """Recursion through MIN, like queries on demand, evaluates rules in a database of its own."""
    reasoner = Reasoner(RECURSIVE, maintenance=maintenance)
    reasoner.add_triples(DATA)
    reasoner.add_facts("start", [(PEOPLE[0],)])
    leads = [(PEOPLE[0], name("leads"), PEOPLE[1]), (PEOPLE[1], name("leads"), PEOPLE[2])]
    reasoner.materialise()
    before = reasoner.triple_ids().tolist()
    for which in (leads, leads[:1]):
        with reasoner.transaction() as transaction:
            transaction.add_triples(which)
        assert set(transaction.delta.added.triples()) == set(which)
        assert reasoner.triple_ids().tolist()[: len(before)] == before
        assert len(list(reasoner.facts("dist"))) == 1 + len(which)
        with reasoner.transaction() as transaction:
            transaction.remove_triples(which)
        assert set(transaction.delta.removed.triples()) == set(which)
        assert set(reasoner.triples()) == set(DATA)


def test_a_profile_is_that_of_axioms_that_come_first() -> None:
    reasoner = Reasoner(ruleset="rdfs")
    with reasoner.profile():
        reasoner.add_triples([*DATA, *AXIOMS])
        reasoner.materialise()
    decode = reasoner.dictionary.decode
    assert set(AXIOMS[:3]) <= {tuple(map(decode, row)) for row in reasoner.triple_ids().tolist()[: len(AXIOMS)]}


def test_the_order_of_few_triples_is_kept() -> None:
    reasoner = reasoner_of([DATA[:100], AXIOMS], "rdfs")
    decode = reasoner.dictionary.decode
    assert [tuple(map(decode, row)) for row in reasoner.triple_ids().tolist()[:104]] == [*DATA[:100], *AXIOMS]


def test_triples_removed_before_the_first_materialisation_are_gone() -> None:
    reasoner = Reasoner(ruleset="rdfs")
    reasoner.add_triples([*DATA, *AXIOMS])
    reasoner.remove_triples([*DATA[::7], AXIOMS[2]])
    left = [triple for triple in (*DATA, *AXIOMS) if triple not in {*DATA[::7], AXIOMS[2]}]
    assert set(reasoner.triples()) == set(reasoner_of([left], "rdfs").triples())


NAMES = [name(letter) for letter in "abc"]
TRIPLES = st.tuples(
    st.sampled_from([*NAMES, KNOWS, MEETS]),
    st.sampled_from([KNOWS, MEETS, RDF.type, RDFS.subClassOf, RDFS.subPropertyOf, RDFS.domain]),
    st.sampled_from([*NAMES, MEETS, OWL.TransitiveProperty]),
)


@pytest.mark.parametrize("ruleset", ["rdfs", "owl2rl-full"])
@pytest.mark.parametrize("maintenance", ["backward-forward", "counting", "dbsp"])
@given(first=st.lists(TRIPLES, max_size=12), changes=st.lists(st.tuples(st.booleans(), TRIPLES), max_size=8))
def test_changes_after_rows_have_moved(
    ruleset: str, maintenance: str, first: list[Triple], changes: list[tuple[bool, Triple]]
) -> None:
    usual = capacities.current
    capacities.current = replace(usual, ordered_rows=1, rare=1)
    try:
        reasoner = Reasoner(ruleset=ruleset, maintenance=maintenance)
        reasoner.add_triples(first)
        reasoner.materialise()
        explicit = set(first)
        for adds, triple in changes:
            (reasoner.add_triples if adds else reasoner.remove_triples)([triple])
            (explicit.add if adds else explicit.discard)(triple)
            reasoner.materialise()
    finally:
        capacities.current = usual
    assert set(reasoner.triples(which="explicit")) == explicit
    assert set(reasoner.triples()) == set(reasoner_of([sorted(explicit)], ruleset).triples())
