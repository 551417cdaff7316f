"""Deletion by several threads: what one thread deletes, whatever threads can tell of a fact and whatever they must leave alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.errors import CancelledError, LimitError
from kg_reasoner.storage import capacities as table_capacities
from kg_reasoner.storage.parallel import shared_deletion
from kg_reasoner.storage.parallel.shared_deletion import SharedDeletion
from kg_reasoner.storage.parallel.worker import Worker
from kg_reasoner.terms import Literal, literal
from tests.concurrency.test_parallel import capacities, failing_call, links, pool_threads, waited
from tests.conftest import SHARED
from tests.helpers.checked import run_in_checked_mode
from tests.helpers.effort import CHECKED, examples

PROGRAMS = {
    "copies": "b(?x, ?y) :- e(?x, ?y) . c(?y, ?x) :- b(?x, ?y) . d(?x) :- c(?x, ?y) .",
    "one of several proofs": """
        b(?x) :- e(?x, ?y) . b(?y) :- e(?x, ?y) .
        c(?x) :- b(?x), keep(?x) . keep(?x) :- e(?x, ?x) . keep(1) .""",
    "joins": """
        two(?x, ?z) :- e(?x, ?y), e(?y, ?z) . three(?x, ?z) :- two(?x, ?y), e(?y, ?z) .
        far(?x) :- three(?x, ?y), two(?y, ?x) .""",
    "recursion": "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . loop(?x) :- p(?x, ?x) .",
    "facts that hold each other up": """
        a(?x, ?y) :- e(?x, ?y) . a(?x, ?y) :- b(?x, ?y) .
        b(?x, ?y) :- a(?x, ?y) . c(?x) :- b(?x, ?y) .""",
    "negation": """
        p(?x) :- e(?x, ?y) . q(?y) :- e(?x, ?y), NOT p(?y) .
        r(?x, ?y) :- p(?x), p(?y), NOT e(?x, ?y) . s(?x) :- r(?x, ?y) .""",
    "functions": """
        n(?x, ?z) :- e(?x, ?y), BIND(?x + ?y AS ?z) . m(?z) :- n(?x, ?z) .
        t(?w) :- e(?x, ?y), BIND(STR(?x) AS ?w) .""",
    "comparisons": "up(?x, ?y) :- e(?x, ?y), FILTER(?x < ?y) . high(?x) :- up(?x, ?y), up(?y, ?z), FILTER(?z > 5) .",
    "aggregates": "count(?x, ?n) :- AGGREGATE(e(?x, ?y) ON ?x BIND COUNT(?y) AS ?n) . some(?n) :- count(?x, ?n) .",
    "triples": "[?x, :p, ?y] :- e(?x, ?y) . [?y, a, :C] :- [?x, :p, ?y] . [?x, a, :D] :- [?x, a, :C], [?x, :p, ?y] .",
}
EXPLICIT = {"one of several proofs": "b", "recursion": "p"}
"""Relations of which some facts are explicit, too."""


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of facts that threads share, step by step."""
    found: list[int] = []
    step = SharedDeletion.step

    def counting(deletion: SharedDeletion) -> int:
        found.append(len(deletion._untried) + len(deletion._without_consequences))
        return step(deletion)

    monkeypatch.setattr(SharedDeletion, "step", counting)
    return found


def everything(reasoner: Reasoner) -> dict[str, set[object]]:
    """All facts by their predicates, and the triples."""
    names = {atom.predicate for rule in reasoner.rules for atom in (*rule.body_atoms(), rule.head)} - {"triple"}
    return {"triple": set(reasoner.triples()), **{name: set(reasoner.facts(name)) for name in names}}


def filled(name: str, strategy: str, threads: int, edges: list[tuple[Literal, Literal]]) -> Reasoner:
    """A materialised reasoner with one of the programs."""
    reasoner = Reasoner("@prefix : <http://example.org/> . " + PROGRAMS[name], maintenance=strategy, threads=threads)
    reasoner.add_facts("e", edges)
    if name in EXPLICIT:
        is_pair = EXPLICIT[name] == "p"
        reasoner.add_facts(EXPLICIT[name], [edge if is_pair else edge[:1] for edge in edges[::5]])
    reasoner.materialise()
    return reasoner


@pytest.mark.parametrize("strategy", ["backward-forward", "delete-rederive"])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("chosen", [SHARED, replace(table_capacities.current, shared_facts=1)], ids=["tiny", "usual"])
@pytest.mark.sample(8)
def test_the_same_is_deleted(
    chosen: table_capacities.Capacities, name: str, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges = links(24)
    with capacities(chosen):
        shared = counted(monkeypatch)
        alone, together = (filled(name, strategy, threads, edges) for threads in (1, 3))
        for part in (edges[::3], edges[1::3][:5], edges[2::3]):
            for reasoner in (alone, together):
                reasoner.remove_facts("e", part)
                reasoner.materialise()
            assert everything(together) == everything(alone)
        for reasoner in (alone, together):
            reasoner.add_facts("e", edges)
        assert everything(together) == everything(alone) == everything(filled(name, strategy, 1, edges))
        assert max(shared) > 1


edge_lists = st.lists(st.tuples(*[st.integers(0, 6).map(literal)] * 2), max_size=20)


@settings(max_examples=examples(60))
@given(
    st.sampled_from(list(PROGRAMS)),
    st.sampled_from(["backward-forward", "delete-rederive"]),
    edge_lists,
    st.lists(edge_lists, max_size=4),
)
def test_random_edges(
    name: str, strategy: str, edges: list[tuple[Literal, Literal]], updates: list[list[tuple[Literal, Literal]]]
) -> None:
    with capacities(SHARED):
        alone, together = (filled(name, strategy, threads, edges) for threads in (1, 3))
        for number, update in enumerate(updates):
            for reasoner in (alone, together):
                with reasoner.transaction() as changes:
                    changes.remove_facts("e", update)
                    if number % 2:
                        changes.add_facts("e", update[1::2])
            assert everything(together) == everything(alone)


@pytest.mark.parametrize("strategy", ["backward-forward", "delete-rederive"])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sample(4)
def test_deltas_do_not_depend_on_the_number_of_threads(name: str, strategy: str) -> None:
    """A transaction's delta has the same facts in the same order, though threads find some of them in another one."""
    edges = [(literal(number), literal(end)) for number in range(24) for end in (number + 1, 5 * number % 24)]
    with capacities(SHARED):
        deltas = []
        for threads in (1, 3):
            reasoner = filled(name, strategy, threads, edges)
            with reasoner.transaction() as changes:
                changes.remove_facts("e", edges[::3])
            delta = changes.delta.removed
            deltas.append({predicate: list(delta.facts(predicate)) for predicate in delta.predicates()})
        assert deltas[0] == deltas[1] != {}


def test_cancellation(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends the work of threads on a deletion, and undoes it."""
    edges = links(40)
    with capacities(SHARED):
        reasoner = filled("joins", "backward-forward", 3, edges)
        share = SharedDeletion._share

        def cancelled(deletion: SharedDeletion, *arguments: Any) -> bool:
            reasoner.cancel()
            return share(deletion, *arguments)

        with monkeypatch.context() as patch:
            patch.setattr(SharedDeletion, "_share", cancelled)
            with pytest.raises(CancelledError):
                reasoner.remove_facts("e", edges[::2])
                reasoner.materialise()
        assert waited(lambda: not pool_threads())
        reasoner.remove_facts("e", edges[::2])
        assert everything(reasoner) == everything(
            filled("joins", "backward-forward", 1, [edge for edge in edges if edge not in edges[::2]])
        )


@pytest.mark.parametrize(("owner", "place"), [(Worker, "start_deletion"), (Worker, "lengthen"), (SharedDeletion, "_set_flags")])
@pytest.mark.parametrize("error", [MemoryError, LimitError])
@pytest.mark.sample(2)
def test_an_error_in_a_thread_loses_nothing(owner: type, place: str, error: type[Exception]) -> None:
    """Nothing is lost, and the next removal is right."""
    edges = links(40)
    with capacities(SHARED):
        alone, together = (filled("joins", "backward-forward", threads, edges) for threads in (1, 3))
        with failing_call(2, owner, place, error):
            together.remove_facts("e", edges[::2])
            together.materialise()
        for reasoner in (alone, together):
            reasoner.remove_facts("e", edges[::2])
        assert everything(together) == everything(alone)


@pytest.mark.skipif(CHECKED, reason="kernels in Python take too long")
def test_requests_are_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    """What many facts request is requested once, and threads go on with other facts."""
    requests: list[list[shared_deletion.Request]] = []
    step = SharedDeletion.step

    def watching(deletion: SharedDeletion) -> int:
        count = step(deletion)
        requests.append(deletion.requests)
        return count

    monkeypatch.setattr(SharedDeletion, "step", watching)
    with capacities(replace(table_capacities.current, shared_facts=64)):
        reasoner = filled("joins", "backward-forward", 2, links(4000))
        reasoner.remove_facts("e", links(4000)[::2])
        reasoner.materialise()
    assert any(requests)
    assert all(len(set(some)) == len(some) < 10 for some in requests)
    assert len(requests) < 20


@pytest.mark.long
@pytest.mark.skipif(CHECKED, reason="this is the checked run")
def test_the_same_in_checked_mode() -> None:
    """This file again, with kernels as bounds-checked Python."""
    run_in_checked_mode(__file__)
