"""Fixtures that several test files share, and how much the tests do."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from kg_reasoner.concurrency import cores as thread_counts
from kg_reasoner.lubm import generate
from kg_reasoner.storage import capacities as table_capacities
from tests.helpers.cpu_report import CpuReport
from tests.helpers.effort import EFFORT, examples
from tests.helpers.passed_before import PASSED, PassedBefore

collect_ignore_glob = [] if find_spec("pyspark") else ["spark/spark_*.py"]
"""Looking for doctests imports every module, and what tests on Spark share cannot be imported without the extra."""

# A deadline measures the machine: the first example may compile kernels, and other processes share the cores.
settings.register_profile("kg_reasoner", deadline=None, print_blob=True, max_examples=examples(100))
settings.load_profile("kg_reasoner")


def pytest_configure(config: pytest.Config) -> None:
    """Leave out what takes long, unless the effort of this run or a choice of marks says otherwise."""
    if EFFORT == "quick" and not config.option.markexpr:
        config.option.markexpr = "not long"
        if not config.getoption("numprocesses", None):
            config.pluginmanager.register(CpuReport())
    if PASSED:
        config.pluginmanager.register(PassedBefore(Path(PASSED)))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all but each n-th case of a test that is marked `sample(n)` as `long`."""
    counts: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("sample")
        if mark is not None:
            test = item.nodeid.partition("[")[0]
            if counts[test] % mark.args[0]:
                item.add_marker(pytest.mark.long)
            counts[test] += 1


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt tests and modules, which stay, from the search for garbage: each look at all of them takes half a second. Search less
    often, too: the search takes an eighth of the time otherwise.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session")
def one_department(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of benchmark data in which LUBM(1) has a single department."""
    path = tmp_path_factory.mktemp("data")
    (path / "lubm1").mkdir()
    (path / "lubm1" / "data.nt").write_bytes(next(generate(1, 0)))
    return path


TINY = table_capacities.Capacities(
    rows=1,
    slots=2,
    arena=1,
    grown_rows=1,
    grown_slots=2,
    grown_arena=1,
    page_bits=1,
    dead=1,
    ordered_rows=1,
    rare=1,
    filtered_rows=1,
    filtered_plans=1,
)
SHARED = replace(
    TINY,
    block=1,
    heads=1,
    shared_instances=1,
    shared_heads=1,
    shared_facts=1,
    shared_rows=1,
    shared_triples=1,
    few_keys=2,
    inserted_heads=3,
)


@pytest.fixture(params=["usual", "tiny", "threads"], scope="module")
def capacities(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests that use this run with tables of the usual sizes, with tables that are full all the time, and with three threads that
    share all work that can be shared.
    """
    usual, cores = table_capacities.current, thread_counts.usable_cores
    if request.param == "tiny":
        table_capacities.current = TINY
    elif request.param == "threads":
        table_capacities.current, thread_counts.usable_cores = SHARED, lambda: 3
    yield
    table_capacities.current, thread_counts.usable_cores = usual, cores


@pytest.fixture
def by_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is small, too, is derived by iterations on Spark, and not in process."""
    monkeypatch.setattr("kg_reasoner.spark_backend.exec.spark_run.DRIVER_FACTS", 0)
