"""Negated atoms with variables that are nowhere else: of the rows that block the same instances, one decides for all."""

from __future__ import annotations

from random import Random
from typing import Final

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.program import TRIPLE
from kg_reasoner.terms import IRI
from tests.helpers.oracle import evaluate

NODES: Final = [IRI(f"http://example.org/{number}") for number in range(3)]
OTHERS: Final = [IRI(f"http://example.org/other/{number}") for number in range(50)]
BODIES: Final = (
    "NOT edge(?x, _, _)",
    "NOT edge(_, _, ?x)",
    "NOT edge(_, ?x, _)",
    "NOT edge(?x, _, ?x)",
    "NOT edge(?x, ?y, ?y)",
    "NOT edge(_, _, _)",
    "NOT edge(?y, ?y, _)",
    "NOT edge(?y, ?y, ?x)",
    "NOT edge(?x, _, _), NOT edge(_, ?x, _)",
    "NOT link(?x, _)",
    "NOT link(_, ?x)",
    "NOT link(?y, ?y)",
    "NOT link(_, _)",
    "NOT link(?x, _), NOT link(_, ?x)",
    "NOT [?x, <http://example.org/p>, _]",
    "NOT [_, ?x, _]",
)
PROGRAM: Final = "link(?x, ?y) :- edge(?x, ?y, _), NOT node(?y) . link(?x, ?y) :- direct(?x, ?y) ." + "".join(
    f"holds{number}(?x) :- node(?x), {body} ." for number, body in enumerate(BODIES)
)
COLUMNS: Final = {"node": 1, "direct": 2, "edge": 3}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(8))
def test_rows_that_block_the_same_instances(strategy: str, seed: int, capacities: None) -> None:
    """Rows that share their known columns are deleted in parts, at once, with others between them, and come back."""
    random = Random(seed)
    terms = [*NODES, IRI("http://example.org/p")]
    reasoner = Reasoner(PROGRAM, maintenance=strategy)
    facts: dict[str, set[tuple[IRI, ...]]] = {name: set() for name in COLUMNS}
    triples: set[tuple[IRI, ...]] = set()
    for _ in range(12):
        with reasoner.transaction():
            for name, width in COLUMNS.items():
                added = {tuple(random.choices(terms, k=width)) for _ in range(random.randrange(5))}
                gone = {row for row in facts[name] if random.random() < random.choice((0.2, 0.9))} - added
                reasoner.remove_facts(name, gone)
                reasoner.add_facts(name, added)
                facts[name] = facts[name] - gone | added
            added = {tuple(random.choices(terms, k=3)) for _ in range(random.randrange(4))}
            gone = {row for row in triples if random.random() < 0.5} - added
            reasoner.remove_triples(gone)
            reasoner.add_triples(added)
            triples = triples - gone | added
        expected = evaluate(reasoner.program, {**facts, TRIPLE: triples})
        for number, body in enumerate(BODIES):
            assert set(reasoner.facts(f"holds{number}")) == expected.get(f"holds{number}", set()), body


@pytest.mark.parametrize("strategy", ["backward-forward", "delete-rederive"])
@pytest.mark.parametrize("negated", ["NOT edge(?x, _)", "NOT edge(?x, ?y)", "NOT edge(_, ?x)", "NOT edge(_, _)"])
def test_an_instance_is_found_once_for_all_rows_of_a_hub(strategy: str, negated: str) -> None:
    reasoner = Reasoner(f"lonely(?x) :- node(?x), {negated} .", maintenance=strategy)
    hub = NODES[0]
    edges = [(other, hub) if negated == "NOT edge(_, ?x)" else (hub, other) for other in OTHERS]
    reasoner.add_facts("node", [(hub,)])
    reasoner.materialise()
    for times in (1, 2):
        reasoner.add_facts("edge", edges)
        assert not set(reasoner.facts("lonely"))
        assert reasoner.counters.deletion == times
        reasoner.remove_facts("edge", edges[:20])
        reasoner.remove_facts("edge", edges[20:])
        assert set(reasoner.facts("lonely")) == {(hub,)}
        assert reasoner.counters.insertion == 1 + times
