"""No garbage is collected while many objects are made that are kept; afterwards it is as before."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.concurrency.garbage import without_collection
from kg_reasoner.engine.evaluation import materialiser
from kg_reasoner.engine.state import rulebook
from kg_reasoner.storage.values import value_table
from kg_reasoner.terms import IRI, RDF, RDFS, literal

ROOT = Path(__file__).resolve().parents[2]


def test_garbage_is_collected_again_after_an_error() -> None:
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), without_collection():
        assert not gc.isenabled()
        _ = 1 // 0
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with without_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_many_objects_of_a_block_become_old() -> None:
    command = [sys.executable, "-m", "tests.concurrency.old_objects"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def block_in_a_thread() -> tuple[Thread, Event, Event]:
    """A thread with a block, and two events: it has begun; it may end."""
    begun, over = Event(), Event()

    def other() -> None:
        with without_collection():
            begun.set()
            over.wait(60)

    return Thread(target=other), begun, over


def test_the_first_of_two_threads_does_not_end_the_block_of_the_other() -> None:
    thread, begun, over = block_in_a_thread()
    with without_collection():
        thread.start()
        begun.wait(60)
    assert not gc.isenabled()
    over.set()
    thread.join()
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no forks")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_does_not_wait_for_the_block_of_another_thread() -> None:
    thread, begun, over = block_in_a_thread()
    thread.start()
    begun.wait(60)
    child = os.fork()
    if child == 0:
        os._exit(0 if gc.isenabled() else 1)
    over.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def test_modules_are_imported_without_collection() -> None:
    code = (
        "import gc, kg_reasoner\n"
        "count = lambda: sum(each['collections'] for each in gc.get_stats())\n"
        "before = count()\n"
        "kg_reasoner.Reasoner\n"
        "assert count() < before + 5, count() - before\n"  # before the block and after it
        "assert gc.isenabled()\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_rules_are_planned_without_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    plan = rulebook.RuleBook.plan
    monkeypatch.setattr(rulebook.RuleBook, "plan", lambda book: found.append(gc.isenabled()) or plan(book))
    reasoner = Reasoner(ruleset="owl2rl")
    thing, kind, other = (IRI(f"http://example.org/{name}") for name in ("thing", "Kind", "Other"))
    reasoner.add_triples([(kind, RDFS.subClassOf, other), (thing, RDF.type, kind)])
    reasoner.materialise()
    assert found and not any(found) and gc.isenabled()


def test_plans_for_deletion_are_made_without_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    plan = materialiser.Materialiser.plan_heads
    monkeypatch.setattr(
        materialiser.Materialiser, "plan_heads", lambda made, rules: found.append(gc.isenabled()) or plan(made, rules)
    )
    reasoner = Reasoner("b(?x) :- a(?x) . c(?x) :- b(?x) .")
    reasoner.add_facts("a", [(literal(1),), (literal(2),)])
    reasoner.materialise()
    assert not found
    reasoner.remove_facts("a", [(literal(1),)])
    reasoner.materialise()
    assert found and not any(found) and gc.isenabled()


@pytest.mark.parametrize(("count", "collects"), [(10, True), (3000, False)])
def test_values_are_labelled_without_collection_if_there_are_many(
    monkeypatch: pytest.MonkeyPatch, count: int, collects: bool
) -> None:
    found = []
    add = value_table._Numbers.add
    monkeypatch.setattr(value_table._Numbers, "add", lambda table, members: found.append(gc.isenabled()) or add(table, members))
    reasoner = Reasoner("small(?x) :- number(?x), FILTER(?x < 4.5) .")
    reasoner.add_facts("number", [(literal(number),) for number in range(count)])
    assert len(set(reasoner.facts("small"))) == 5
    assert found == [collects] and gc.isenabled()
