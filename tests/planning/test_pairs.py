"""Rules that derive pairs by an inner loop over an index vector find all of them, in the order of joins."""

from __future__ import annotations

import numpy as np
import pytest

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.language.parser import parse
from kg_reasoner.storage.kernels.layout import RECENT_VALUES
from kg_reasoner.storage.kernels.pair_queue import MOST_GROUPS
from kg_reasoner.terms import Literal, literal, term_text
from tests.helpers import oracle

pytestmark = pytest.mark.usefixtures("capacities")

Pairs = list[tuple[Literal, Literal]]
NODES = 12

PROGRAMS = {
    "left": "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .",
    "right": "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- edge(?x, ?y), path(?y, ?z) .",
    "both": "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .",
    "inverse": "back(?y, ?x) :- edge(?x, ?y) . back(?z, ?x) :- back(?y, ?x), edge(?y, ?z) .",
    "constant": """
        from(1, ?x) :- edge(1, ?x) . from(1, ?y) :- from(1, ?x), edge(?x, ?y) . from(?y, 1) :- from(1, ?x), edge(?x, ?y) .
    """,
    "same": "loop(?y, ?y) :- edge(?x, ?y) . loop(?z, ?z) :- loop(?y, ?y), edge(?y, ?z) .",
    "several": """
        near(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) . far(?x, ?z) :- near(?x, ?y), edge(?y, ?z) . far(?x, ?y) :- near(?y, ?x) .
    """,
    "generation": "level(?x, ?y) :- edge(?a, ?x), edge(?a, ?y) . level(?x, ?y) :- edge(?a, ?x), level(?a, ?b), edge(?b, ?y) .",
    "other heads": """
        path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
        node(?z) :- path(?x, ?y), edge(?y, ?z) . step(?x, ?y, ?z) :- path(?x, ?y), edge(?y, ?z) . path(?y, ?x) :- step(?x, ?y, ?x) .
    """,
}


def nodes(apart: int = 1) -> list[Literal]:
    return [literal(number * apart) for number in range(NODES)]


def random_edges(found: list[Literal], count: int, seed: int) -> Pairs:
    return [(found[start], found[end]) for start, end in np.random.default_rng(seed).integers(len(found), size=(count, 2)).tolist()]


def assert_right(text: str, edges: Pairs, reasoner: Reasoner) -> None:
    reasoner.add_facts("edge", edges)
    expected = oracle.evaluate(parse(text), {"edge": edges})
    assert {name: set(reasoner.facts(name)) for name in expected} == expected


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("count", [14, 60])
def test_pairs_of_graphs(name: str, count: int) -> None:
    reasoner = Reasoner(PROGRAMS[name])
    assert_right(PROGRAMS[name], random_edges(nodes(), count, count), reasoner)


@pytest.mark.parametrize("name", PROGRAMS)
def test_pairs_are_found_again_after_deletion(name: str) -> None:
    reasoner, edges = Reasoner(PROGRAMS[name]), list(dict.fromkeys(random_edges(nodes(), 40, 1)))
    reasoner.add_facts("edge", edges)
    reasoner.materialise()
    reasoner.remove_facts("edge", edges[::2])
    reasoner.materialise()
    assert_right(PROGRAMS[name], edges, reasoner)


@pytest.mark.parametrize("name", ["left", "generation"])
def test_values_that_share_a_place_in_the_table(name: str) -> None:
    reasoner, apart = Reasoner(PROGRAMS[name]), nodes(RECENT_VALUES)
    ids = reasoner.dictionary.encode_texts([term_text(literal(number)) for number in range(NODES * RECENT_VALUES)])
    assert (np.diff(ids) == 1).all()
    assert_right(PROGRAMS[name], random_edges(apart, 60, 2), reasoner)


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_of_groups_are_used_again(name: str) -> None:
    reasoner, edges = Reasoner(PROGRAMS[name]), random_edges(nodes(), 60, 3)
    context = reasoner.engine.database.context
    for groups in (context.group, *range(MOST_GROUPS - 6, MOST_GROUPS)):
        context.group = groups
        assert_right(PROGRAMS[name], edges, reasoner)  # leaves values of groups with all numbers in the table
        reasoner.remove_facts("edge", edges)
        reasoner.materialise()


def test_pairs_that_a_deleted_fact_has_blocked() -> None:
    text = "near(?x, ?z) :- edge(?x, ?y), edge(?y, ?z), not closed(?x) ."
    reasoner, edges = Reasoner(text), random_edges(nodes(), 60, 4)
    reasoner.add_facts("closed", [(node,) for node in nodes()])
    reasoner.add_facts("edge", edges)
    reasoner.materialise()
    assert not list(reasoner.facts("near"))
    reasoner.remove_facts("closed", [(node,) for node in nodes()])
    assert_right(text, edges, reasoner)


def test_pairs_come_after_what_rules_before_them_derive() -> None:
    reasoner = Reasoner("near(?x, ?y) :- edge(?x, ?y), ?x < ?y . near(?x, ?z) :- edge(?x, ?y), step(?y, ?z) .")
    first, second, third = (literal(number) for number in (1, 2, 3))
    reasoner.add_facts("step", [(second, third), (second, first)])
    for edge in (third, second), (first, second):
        reasoner.materialise()
        reasoner.add_facts("edge", [edge])
    order = [(third, third), (third, first), (first, second), (first, third), (first, first)]
    assert list(reasoner.facts("near")) == order
