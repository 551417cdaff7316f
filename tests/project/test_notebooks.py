"""The notebooks of the documentation run, and have the outputs that they show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.helpers.code_blocks import ROOT
from tests.helpers.copies import COPIES, in_copy
from tests.project.notebooks import code_cells, run, run_cell, run_cells, sources_of

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.sample(5)
def test_outputs_are_those_of_the_cells(path: Path, tmp_path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    shown = [cell["outputs"] for cell in code_cells(notebook)]
    outputs = in_copy(lambda: run_cells(sources_of(notebook)), tmp_path) if COPIES else run(notebook, tmp_path)
    assert shown == outputs, f"write them anew: python -m tests.project.notebooks {path.relative_to(ROOT)}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_nothing_is_about_a_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"/(?:home|root|tmp|Users|usr)/", text)
    assert json.loads(text)["nbformat"] == 4


def test_there_are_four() -> None:
    assert len(NOTEBOOKS) >= 4


def test_how_cells_are_run() -> None:
    names: dict[str, object] = {}
    (printed,) = run_cell("x = 2\nprint('x is', x)", 1, names)
    assert printed == {"name": "stdout", "output_type": "stream", "text": ["x is 2\n"]}
    (value,) = run_cell("x + 1", 2, names)
    assert value["data"] == {"text/plain": ["3"]}
    with pytest.raises(NameError):
        run_cell("y", 3, names)
