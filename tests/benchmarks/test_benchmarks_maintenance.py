"""The benchmarks of maintenance in small: they measure what they say, end where they began, and show it. Never how fast."""

from __future__ import annotations

import gc
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click import ClickException
from click.testing import CliRunner
from rich.console import Console
from rich.table import Table

from benchmarks import flatness, maintenance, marking, rule_changes, schemas, soak
from benchmarks.contests import report, tails
from benchmarks.inputs import marking_streams
from benchmarks.inputs.marking_streams import Options
from benchmarks.inputs.update_data import Lubm, LubmPart, departments_of, fingerprint, fresh, little_garbage, lubm, parts
from benchmarks.maintenance import BASELINE, SMALL
from benchmarks.measuring.update_interfaces import INTERFACES
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.api.update import Update
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.language.printer import format_rule
from kg_reasoner.lubm import generate
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.terms import literal, term_text
from tests.helpers.effort import thinned
from tests.helpers.extras import needed
from tests.helpers.suites import needs_suite

DEPARTMENTS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of data in which a university has but few departments."""
    path = tmp_path_factory.mktemp("data")
    (path / "lubm1").mkdir()
    (path / "lubm1" / "data.nt").write_bytes(b"".join(islice(generate(1, 0), DEPARTMENTS)))
    return path


@pytest.fixture(scope="module")
def loaded(folder: Path) -> Lubm:
    return lubm(1, folder, ruleset="owl2rl")


def shown(table: Table) -> str:
    """A table as text; a cell that was cut off would end with an ellipsis."""
    console = Console(file=io.StringIO(), width=report.WIDTH)
    console.print(table)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "…" not in text
    return str(text)


# ---- data


def test_parts_are_as_large_as_they_say_and_repeatable(loaded: Lubm) -> None:
    count = len(loaded.data)
    at_random = [part for part in parts(loaded) if part.chosen is None]
    assert [part.triples for part in at_random] == [1, 100, count // 100, count // 10]
    for part in at_random:
        first, second = islice(part.draws(loaded.data, seed=1), 2)
        assert len(first) == len(second) == part.triples
        assert (first != second).any()
        assert (first == next(part.draws(loaded.data, seed=1))).all()


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1), (0.34, 1), (0.66, 2), (1.0, 3)])
def test_departments_are_taken_whole(loaded: Lubm, share: float, expected: int) -> None:
    departments = departments_of(loaded)
    part = LubmPart("", int(share * len(loaded.data)), departments)
    drawn = next(part.draws(loaded.data, seed=0))
    subjects = loaded.reasoner.dictionary.texts_of(drawn[:, 0].tolist())
    taken = {subject.partition("Department")[2][0] for subject in subjects}
    assert len(taken) == expected
    of_all = loaded.reasoner.dictionary.texts_of(loaded.data[:, 0].tolist())
    assert len(drawn) == sum(subject.partition("Department")[2][:1] in taken for subject in of_all)


def test_a_fingerprint_distinguishes_equal_numbers_of_triples(folder: Path, loaded: Lubm) -> None:
    one, other = (fresh(loaded.reasoner, ruleset="owl2rl") for _ in range(2))
    assert fingerprint(one) == fingerprint(other)
    one.remove_triples(loaded.data[:1])
    assert fingerprint(one) != fingerprint(other)
    other.remove_triples(loaded.data[1:2])
    assert fingerprint(one)[:1] == fingerprint(other)[:1]
    assert fingerprint(one) != fingerprint(other)


# ---- maintenance


@pytest.mark.long
def test_maintenance_measures_every_strategy_and_leaves_the_facts_as_they_were(folder: Path, tmp_path: Path) -> None:
    runs = [maintenance.measure(1, name, "owl2rl", folder, rounds=1, singles=20, seed=0) for name in STRATEGIES]
    assert all(run.intact for run in runs)
    assert len({run.facts for run in runs}) == 1
    changes = {tuple((times.part, times.triples, times.facts) for times in run.times if times.triples >= SMALL) for run in runs}
    assert len(changes) == 1, "the strategies measure the same changes, which have the same effect"
    for run in runs:
        assert all(len(times.delete) == len(times.add) >= 1 for times in run.times)
        assert all(times.facts >= times.triples for times in run.times if times.triples > 1)
        assert [single.interface for single in run.singles] == (
            [] if run.strategy == BASELINE else [interface.name for interface in INTERFACES]
        )
    text = shown(maintenance.table(runs))
    assert all(name in text for name in STRATEGIES)
    larger = [replace(run, universities=5) for run in runs]
    singles = maintenance.singles_table([*runs, *larger])
    assert singles is not None
    assert "growth" in shown(singles)
    needed("matplotlib")
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    maintenance.draw(axes, runs, "delete")
    assert not axes.lines, "the kinds of change are in no order that lines could show"
    assert len(axes.containers) == len(runs)
    maintenance.plot([*runs, *larger], tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_maintenance_notices_that_facts_are_not_as_they_were(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(reasoner: Reasoner, *, added: Ids | None = None, removed: Ids | None = None) -> tuple[float, int]:
        return change(reasoner, removed=removed) if removed is not None else (0.0, 0)

    change = maintenance.change
    monkeypatch.setattr(maintenance, "change", forgetful)
    done = CliRunner().invoke(maintenance.main, ["-u", "1", "-s", BASELINE, "-n", "1", "--cache", str(folder)])
    assert done.exit_code == 1
    assert "the facts at the end are not those at the start" in done.output


# ---- marking


def test_random_updates_delete_what_is_there_and_add_what_is_not() -> None:
    first, *later = next(marking_streams.paths(Options([30], later=9))).updates
    there = set(first.added["edge"])
    assert len(there) == len(first.added["edge"]) == 100
    for update in later:
        removed, added = set(update.removed["edge"]), set(update.added["edge"])
        assert len(removed) == len(added) == 30
        assert removed <= there
        assert not added & there
        there = there - removed | added


@pytest.mark.parametrize("name", ["line", "dense", "skewed", "same", "joins"])
def test_a_window_gets_new_rows_and_loses_the_oldest(name: str) -> None:
    (case,) = marking.CASES[name](Options([30], later=9))
    there: list[Any] = []
    for update in case.updates:
        (removed,), (added,) = update.removed.values() or [()], update.added.values()
        assert list(removed) == there[: len(removed)], "the oldest go"
        assert not set(added) & set(there)
        there = there[len(removed) :] + list(added)
        assert len(there) == 100


@pytest.mark.parametrize("name", thinned(["paths", "chains", "line", "dense", "skewed", "same", "joins"], 3))
def test_marking_in_small(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marking_streams, "PEOPLE", 100)
    (case,) = marking.CASES[name](Options([100], later=3))
    runs = marking.measure(case, marking.STRATEGIES, rounds=2)
    assert [(run.strategy, run.marking, len(run.cpu)) for run in runs] == [
        (strategy, marks, 2) for strategy in marking.STRATEGIES for marks in (False, True)
    ]
    for without, with_marks in zip(runs[::2], runs[1::2], strict=True):
        assert without.counters.marked_explicit == without.counters.marked_implicit == 0
        if name != "same":  # there, some of what an update adds was derived before
            assert with_marks.counters.marked_explicit == 300, "three updates are seen coming"
        assert with_marks.counters.marked_implicit > 0
        assert with_marks.counters.deletion < without.counters.deletion
    shown(marking.table(case.name, runs))
    shown(marking.summary({case.name: runs}))


@pytest.mark.long
def test_departments_come_and_go(folder: Path) -> None:
    (case,) = marking.CASES["departments"](Options(folder=folder))
    assert len(case.updates) == DEPARTMENTS
    runs = marking.measure(case, marking.STRATEGIES, rounds=1)
    assert all((run.counters.marked_explicit > 0) == run.marking for run in runs)


def test_results_that_differ_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def process(reasoner: Reasoner, updates: Iterator[Update], *, marking: bool) -> Iterator[None]:
        reasoner.add_facts("edge", [(literal(0), literal(1 + marking))])
        return iter(())

    monkeypatch.setattr(Reasoner, "process", process)
    with pytest.raises(ClickException, match="results differ"):
        marking.measure(next(marking_streams.paths(Options([10], later=1))), marking.STRATEGIES, rounds=1)


@needs_suite("updates")
def test_the_map_data_are_found() -> None:
    assert [case.size for case in marking_streams.ways(Options())] == ["recorded"]


# ---- soak


def test_a_soak_of_paths() -> None:
    done = soak.soak(soak.graph_world("backward-forward", seed=1), transactions=200, seed=1)
    assert (done.transactions, len(done.windows), done.right) == (200, 100, True)
    assert all(window.microseconds > 0 and window.resident > window.engine > 0 for window in done.windows)
    assert done.aged > 0
    shown(soak.table([done]))


@pytest.mark.long
def test_a_soak_of_lubm(folder: Path) -> None:
    world = soak.lubm_world(1, "owl2rl", folder, "backward-forward", seed=1)
    done = soak.soak(world, transactions=100, seed=1)
    assert done.right
    world.reasoner.remove_triples(world.there[:1])
    assert not world.is_right()


@pytest.mark.long
def test_a_soak_with_axioms(folder: Path) -> None:
    """Axioms come and go, and all of them are there at the end."""
    world = soak.lubm_world(1, "owl2rl", folder, "backward-forward", seed=1)
    done = soak.soak(world, transactions=100, seed=1, axioms=20)
    assert done.right
    assert [(tail.name, tail.count) for tail in done.tails] == [(f"{world.name}: facts", 100), (f"{world.name}: axioms", 5)]
    shown(tails.table(done.tails))


def test_the_tail_of_a_distribution() -> None:
    milliseconds = [70, *range(1, 1000), 3000]
    tail = tails.Tail.of("updates", [1_000_000 * time for time in milliseconds])
    assert (tail.count, tail.first, tail.median, tail.percent99, tail.percent999) == (1001, 70, 500, 990, 999)
    assert (tail.worst, tail.worst_number) == (3000, 1000)
    assert not tail.is_short
    assert "3,000" in shown(tails.table([tail]))
    assert tails.Tail.of("updates", [200_000_000, *[1_000_000] * 1000, 50_000_000]).is_short  # the first one does not count
    assert not tails.Tail.of("updates", [1_000_000] * 1000 + [21_000_000] * 11).is_short


def test_new_triples_are_new(loaded: Lubm) -> None:
    made = flatness.new_triples(loaded.data, 50, seed=3)
    known = {tuple(row) for row in loaded.data.tolist()}
    by_property = {property: {row[2] for row in known if row[1] == property} for property in set(made[:, 1].tolist())}
    assert len({tuple(row) for row in made.tolist()} - known) == 50
    assert all(value in by_property[property] for _, property, value in made.tolist())


@pytest.mark.long
def test_flatness_is_measured(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "measured.json"
    options = ["-u", "1", "-r", "owl2rl", "-n", "20", "--cache", str(folder), "--json", str(file)]
    done = CliRunner().invoke(flatness.main, options)
    assert done.exit_code == 0, done.output
    names = [tail["name"] for tail in json.loads(file.read_text())["updates"]]
    assert names == [f"LUBM(1), owl2rl, {way}: {change}" for way in flatness.WAYS for change in ("add", "remove")]
    first, last = ([tails.Tail.of("LUBM(1), a", [time] * 9)] for time in (1000, 2000))
    assert "2.00" in shown(flatness.spread([first, last]))


def test_growth_is_noticed() -> None:
    windows = [soak.Window(microseconds=100.0 + number, resident=1000, engine=10) for number in range(100)]
    growing = soak.Soak("a world", 100, 10, windows, right=True)
    assert growing.tails == []
    assert growing.ends("microseconds") == (106.5, 194.5)
    assert growing.ratio("microseconds") > soak.LIMIT > growing.ratio("resident") == 1
    assert "1.83" in shown(soak.table([growing]))
    assert "2.50" in shown(soak.table([replace(growing, aged=2.5)]))


# ---- changes of rules


@pytest.mark.long
def test_rule_changes_in_small(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def few(*arguments: Any, **options: Any) -> Iterator[rule_changes.RuleChange]:
        return islice(all_changes(*arguments, **options), 30)

    all_changes = rule_changes.WAYS["rules"]
    monkeypatch.setitem(rule_changes.WAYS, "rules", few)
    arguments = ["-u", "1", "-w", "rules", "--cache", str(folder), "--json", str(tmp_path / "changes.json")]
    done = CliRunner().invoke(rule_changes.main, arguments)
    assert done.exit_code == 0, done.output
    changes = json.loads((tmp_path / "changes.json").read_text(encoding="utf-8"))["changes"]["rules"]
    rules = rule_changes.all_rules("owl2rl", folder)
    assert len(rules) > 100
    assert [change["name"] for change in changes] == [format_rule(rule) for rule in rules[:30]]
    assert all(change["right"] for change in changes)


def test_axiom_changes_with_checks(folder: Path) -> None:
    some = list(islice(rule_changes.axiom_changes(1, "owl2rl", folder, "backward-forward", check=True), 5))
    assert all(change.right for change in some)
    assert any(change.gone > 0 for change in some)
    shown(rule_changes.table({"axioms": some}, "LUBM(1)"))


# ---- ontologies of many axioms


@pytest.mark.long
def test_schemas_in_small(tmp_path: Path) -> None:
    made = tmp_path / "schemas.json"
    arguments = ["-n", "20", "-n", "40", "--properties", "10", "--existentials", "15", "--rounds", "1", "--json", str(made)]
    done = CliRunner().invoke(schemas.main, arguments)
    assert done.exit_code == 0, done.output
    small, large = json.loads(made.read_text(encoding="utf-8"))
    assert small["triples"] == len(set(schemas.tree(20, 10, 15)))
    assert large["rules"] > small["rules"] > 50
    ontology = tmp_path / "ontology.nt"
    ontology.write_text("".join(f"{' '.join(map(term_text, triple))} .\n" for triple in schemas.tree(20)), encoding="utf-8")
    done = CliRunner().invoke(schemas.main, ["--ontology", str(ontology), "--rounds", "1"])
    assert done.exit_code == 0, done.output
    assert "ontology.nt" in done.output


# ---- garbage


def test_measuring_leaves_frozen_what_was_frozen() -> None:
    """`tests.conftest` freezes tests and modules; each search for garbage among them takes half a second."""
    assert gc.get_freeze_count() > 0
    with little_garbage():
        pass
    assert gc.get_freeze_count() > 0
