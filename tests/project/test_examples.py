"""Each example runs, and prints what its docstring says that it prints."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.helpers.code_blocks import ROOT, matches, output_of
from tests.helpers.copies import COPIES, printed_in_copy

FOLDER = ROOT / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.sample(2)
def test_output(path: Path, tmp_path: Path) -> None:
    code = path.read_text(encoding="utf-8")
    description = ast.get_docstring(ast.parse(code)) or ""
    expected = dedent(description.partition("Prints:\n\n")[2])
    assert expected, f"the docstring of {path.name} does not say what it prints"
    if COPIES:
        printed = printed_in_copy(code, tmp_path, str(path))
    else:
        printed = output_of([sys.executable, str(path)], tmp_path, path.name)
    assert matches(expected, printed), printed


def test_the_list_is_complete() -> None:
    listed = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert EXAMPLES
    assert all(f"]({path.name})" in listed for path in EXAMPLES)
