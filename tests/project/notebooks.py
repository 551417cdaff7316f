"""Runs notebooks without Jupyter: ``python -m tests.project.notebooks docs/notebooks/*.ipynb`` writes all outputs anew.

The code cells of a notebook are run one after the other in a process of their own. A cell's outputs are what it prints and, if its
last statement is an expression, the value of that, as text. Notebooks that need magics or rich outputs are none of ours.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

Notebook = dict[str, Any]
Outputs = list[dict[str, Any]]


def code_cells(notebook: Notebook) -> list[dict[str, Any]]:
    """The cells that are run."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(notebook: Notebook, folder: Path) -> list[Outputs]:
    """The outputs of each code cell, run in `folder`."""
    sources = sources_of(notebook)
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, "-m", "tests.project.notebooks", "--run"],
        input=json.dumps(sources),
        cwd=folder,
        env=os.environ | {"PYTHONPATH": root, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def sources_of(notebook: Notebook) -> list[str]:
    """What is in the code cells."""
    return ["".join(cell["source"]) for cell in code_cells(notebook)]


def run_cells(sources: list[str]) -> list[Outputs]:
    """Run cells in this process, which is their own."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [run_cell(source, number, names) for number, source in enumerate(sources, start=1)]


def run_cell(source: str, number: int, names: dict[str, Any]) -> Outputs:
    """The outputs of one cell, in the form in which notebooks keep them."""
    tree = ast.parse(source, f"cell {number}")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, f"cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    outputs: Outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)})
    if value is not None:
        text = repr(value).splitlines(keepends=True)
        outputs.append({"data": {"text/plain": text}, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return outputs


def write(path: Path, folder: Path) -> None:
    """Run a notebook in `folder`, and keep its outputs in it."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for number, (cell, outputs) in enumerate(zip(code_cells(notebook), run(notebook, folder), strict=True), start=1):
        cell["execution_count"], cell["outputs"] = number, outputs
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> None:
    """Run the cells that standard input has (``--run``), or write notebooks anew."""
    import tempfile

    if arguments == ["--run"]:
        print(json.dumps(run_cells(json.load(sys.stdin))))
        return
    for argument in arguments:
        with tempfile.TemporaryDirectory() as folder:
            write(Path(argument).resolve(), Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
