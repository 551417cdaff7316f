"""What a fork waits for, and what waits for a fork."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

if not hasattr(os, "fork"):
    pytest.skip("this platform has no forks", allow_module_level=True)

from kg_reasoner import Reasoner
from kg_reasoner.concurrency import forking
from kg_reasoner.concurrency.forking import FORKS, new_mutex
from kg_reasoner.concurrency.locking import ReadWriteLock
from kg_reasoner.terms import literal
from tests.faults.runner import in_child

PATIENCE = 10.0


@contextmanager
def elsewhere(block: Callable[[threading.Event, threading.Event], None]) -> Iterator[Callable[[], None]]:
    """Run a function in another thread until it has set its first event; the second one is set by what this yields."""
    begun, may_end = threading.Event(), threading.Event()
    thread = threading.Thread(target=block, args=(begun, may_end), daemon=True)
    thread.start()
    assert begun.wait(PATIENCE)
    yield may_end.set
    may_end.set()
    thread.join(PATIENCE)
    assert not thread.is_alive()


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Callable[[], None]]]:
    """What happens while a fork sleeps, one after the other; after the last, it does not wait any longer."""
    happens: list[Callable[[], None]] = []

    def sleep(_: float) -> None:
        assert not FORKS, "others may go on"
        happens.pop(0)()
        time.sleep(0.05)

    monkeypatch.setattr(forking, "time", SimpleNamespace(sleep=sleep, monotonic=lambda: 0.0 if happens else forking.PATIENCE))
    yield happens
    assert not FORKS


def prepare(is_locked: Callable[[], bool]) -> None:
    """Do what is done before and after a fork, and check in between that others cannot change anything."""
    forking._before_fork()
    assert is_locked()
    forking._let_others_go_on()
    assert not is_locked()


def taken_elsewhere(mutex: object) -> bool:
    """Whether another thread cannot acquire a mutex."""
    found: list[bool] = []

    def try_it() -> None:
        found.append(not mutex.acquire(blocking=False))  # type: ignore[attr-defined]
        if not found[0]:
            mutex.release()  # type: ignore[attr-defined]

    thread = threading.Thread(target=try_it)
    thread.start()
    thread.join()
    return found[0]


def test_what_only_one_thread_may_do_is_waited_for(sleeps: list[Callable[[], None]]) -> None:
    """Such as a reader that builds an index: its copy would be half built."""
    reasoner = Reasoner("p(?x) :- q(?x) .")
    mutex = reasoner.engine.database.mutex

    def build(begun: threading.Event, may_end: threading.Event) -> None:
        with mutex:
            begun.set()
            may_end.wait(PATIENCE)

    with elsewhere(build) as end:
        sleeps += [lambda: None, end]
        prepare(lambda: taken_elsewhere(mutex))
    assert not sleeps


def test_imports_are_waited_for(sleeps: list[Callable[[], None]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A child process would wait for the module for ever."""
    (tmp_path / "slow_to_import.py").write_text("import sys\nsys.hold()\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def load(begun: threading.Event, may_end: threading.Event) -> None:
        def hold() -> None:
            begun.set()
            may_end.wait(PATIENCE)

        monkeypatch.setattr(sys, "hold", hold, raising=False)
        our_call = {"__package__": "kg_reasoner.storage", "load": importlib.import_module}
        exec("load('slow_to_import')", our_call)

    with elsewhere(load) as end:
        sleeps.append(end)
        forking._before_fork()
        forking._let_others_go_on()
    assert not sleeps
    del sys.modules["slow_to_import"]


@pytest.mark.parametrize(
    "first", ["import kg_reasoner as made; made.Reasoner", "from kg_reasoner.rdflib_store import KGReasonerStore"]
)
def test_the_first_imports_are_waited_for(first: str) -> None:
    """What waits for imports is imported before anything that takes long."""
    shown = "import sys; print(*(name for name in sys.modules if name.startswith('kg_reasoner.')))"
    done = subprocess.run([sys.executable, "-c", f"{first}; {shown}"], capture_output=True, text=True, check=True)
    begun = done.stdout.split()
    assert set(begun[: begun.index(forking.__name__) + 1]) <= {
        "kg_reasoner._moved",
        "kg_reasoner.rdflib_store",
        "kg_reasoner.concurrency",
        "kg_reasoner.concurrency.calls",
        "kg_reasoner.concurrency.forking",
        "kg_reasoner.concurrency.garbage",
    }


def test_a_main_loop_in_a_module_is_not_waited_for(
    sleeps: list[Callable[[], None]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A module that never ends, and calls this package."""
    (tmp_path / "server_loop.py").write_text("import sys\nexec('hold()', {'__package__': 'kg_reasoner', 'hold': sys.hold})\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def load(begun: threading.Event, may_end: threading.Event) -> None:
        def hold() -> None:
            begun.set()
            may_end.wait(PATIENCE)

        monkeypatch.setattr(sys, "hold", hold, raising=False)
        importlib.import_module("server_loop")

    with elsewhere(load):
        sleeps.append(lambda: pytest.fail("a fork waits"))
        forking._before_fork()
        forking._let_others_go_on()
    sleeps.clear()
    del sys.modules["server_loop"]


def test_a_change_waits_for_a_fork() -> None:
    reasoner = Reasoner("path(?x, ?y) :- edge(?x, ?y) .")
    with reasoner.transaction():
        reasoner.add_facts("edge", [(literal(1), literal(2))])
        FORKS[-1] = []
        timer = threading.Timer(0.05, FORKS.clear)
        timer.start()
        reasoner.add_facts("edge", [(literal(2), literal(3))])
        assert not FORKS
    assert len(list(reasoner.facts("path"))) == 2


def test_a_rollback_waits_for_a_fork() -> None:
    reasoner = Reasoner("path(?x, ?y) :- edge(?x, ?y) .")
    transaction = reasoner.transaction().begin()
    transaction.add_facts("edge", [(literal(1), literal(2))])
    FORKS[-1] = []
    threading.Timer(0.05, FORKS.clear).start()
    transaction.rollback()
    assert not FORKS
    assert not list(reasoner.facts("path"))


def test_locks_are_known_when_they_can_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork while another thread makes a reasoner."""
    asked: list[bool] = []
    register = forking.copy_at_forks

    def copy_at_forks(lock: ReadWriteLock) -> None:
        asked.append(lock.is_changing())
        register(lock)

    monkeypatch.setattr("kg_reasoner.concurrency.locking.copy_at_forks", copy_at_forks)
    Reasoner()
    assert asked == [False]


def test_forks_of_several_threads() -> None:
    """Each waits for the others, and all mutexes are free afterwards, in parents and children."""
    mutex = new_mutex()

    def fork(results: list[object]) -> None:
        for _ in range(5):
            results.append(in_child(lambda: taken_elsewhere(mutex), seconds=PATIENCE))

    results: list[object] = []
    threads = [threading.Thread(target=fork, args=(results,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert results == [False] * 15
    assert not taken_elsewhere(mutex)
    assert not FORKS
