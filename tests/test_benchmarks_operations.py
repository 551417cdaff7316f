"""The benchmark of single operations."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import operations


@pytest.mark.long
def test_operations_beside_a_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each operation runs in both checkouts; one that takes much longer here makes the comparison fail."""
    runs: list[Path] = []
    measure = operations.run

    def run(checkout: Path, repeats: int) -> dict[str, float]:
        found = measure(checkout, repeats) if not runs else dict.fromkeys(names, 2e-6 if len(runs) < 2 else 1e-6)
        names.extend(found)
        runs.append(checkout)
        return found

    names: list[str] = []
    monkeypatch.setattr(operations, "run", run)
    options = ["--against", str(operations.ROOT), "-p", "2", "-r", "1"]
    done = CliRunner().invoke(operations.main, options)
    assert done.exit_code == 0, done.output
    assert runs == [operations.ROOT] * 4
    assert {"len(graph)", "begin, commit"} <= set(names)
    assert all(name in done.output for name in names)


def test_ratios() -> None:
    ours, theirs = {"one": 3e-6, "other": 1e-6}, {"one": 2e-6, "other": 1e-6}
    assert operations.least([ours, theirs]) == theirs
    table = operations.table(ours, theirs)
    assert [str(row.style) for row in table.rows] == ["bold red", ""]
    assert list(table.columns[3].cells) == ["1.50", "1.00"]


@pytest.mark.long
def test_a_checkout_that_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "kg_reasoner").mkdir()
    (tmp_path / "kg_reasoner" / "__init__.py").write_text("raise RuntimeError('not today')\n")
    done = CliRunner().invoke(operations.main, ["--against", str(tmp_path), "-p", "1", "-r", "1"])
    assert done.exit_code == 1
    assert "not today" in done.output
