"""The comparison with another checkout."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import operations
from benchmarks.operations import Comparison


@pytest.mark.long
def test_operations_beside_a_checkout() -> None:
    """Both checkouts do each step, in turns."""
    found = operations.compare("operations", (operations.ROOT, operations.ROOT), 2)
    assert {"len(graph)", "begin, commit"} <= set(found)
    assert all(len(comparison.here) == len(comparison.there) == 2 for comparison in found.values())
    assert all(min(comparison.here) > 0 for comparison in found.values())


@pytest.mark.long
def test_starts_of_processes() -> None:
    step = "import kg_reasoner"
    found = operations.compare("start-up", (operations.ROOT, operations.ROOT), 1, lambda name: name == step)
    assert list(found) == [step]


@pytest.mark.long
def test_updates_by_a_strategy(tmp_path: Path) -> None:
    operations.lubm_files(1, tmp_path)
    found = operations.compare("updates", (operations.ROOT, operations.ROOT), 1, lambda name: name == "dlp counting", tmp_path)
    assert list(found) == [f"dlp, counting: {what}" for what in ("one removed", "one added", "100 removed, added")]


def test_ratios() -> None:
    slower, noisy = Comparison([3e-6, 4e-6], [2e-6, 2e-6]), Comparison([1e-6, 4e-6], [1e-6, 2e-6])
    assert (slower.of_least, slower.middle, slower.is_slower) == (1.5, 1.75, True)
    assert (noisy.of_least, noisy.middle, noisy.is_slower) == (1.0, 1.5, False)
    table = operations.table("operations", {"one": slower, "other": noisy})
    assert [str(row.style) for row in table.rows] == ["bold red", ""]
    assert list(table.columns[3].cells) == ["1.50", "1.00"]


def test_programs_of_all_sizes_and_rule_sets(tmp_path: Path) -> None:
    programs = operations.programs("materialisation", tmp_path)
    assert list(programs) == [f"LUBM({size}), {task}" for size in (1, 5) for task in ("dlp", "rdfs", "owl2rl")]
    for code in (*programs.values(), *operations.programs("start-up", tmp_path).values()):
        compile(code, "step", "exec")


@pytest.mark.long
@pytest.mark.parametrize("section", ["operations", "start-up"])
def test_a_checkout_that_does_not_run(tmp_path: Path, section: str) -> None:
    (tmp_path / "kg_reasoner").mkdir()
    (tmp_path / "kg_reasoner" / "__init__.py").write_text("raise RuntimeError('not today')\n")
    done = CliRunner().invoke(operations.main, ["--against", str(tmp_path), "-s", section, "-r", "1"])
    assert done.exit_code == 1
    assert "not today" in done.output
