"""README's section on what one can rely on: each statement names the test that holds it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECTION = re.compile(r"^## What you can rely on\n(.*?)^## ", re.MULTILINE | re.DOTALL)
TEST = re.compile(r"<!-- (tests/[\w/]+\.py)::(\w+) -->")


def statements() -> list[str]:
    section = SECTION.search((ROOT / "README.md").read_text())
    assert section is not None
    return re.split(r"^\* ", section[1], flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("statement", statements())
def test_a_statement_names_its_tests(statement: str) -> None:
    named = TEST.findall(statement)
    assert named, "no test is named"
    for file, test in named:
        tree = ast.parse((ROOT / file).read_text())
        assert any(isinstance(part, ast.FunctionDef) and part.name == test for part in tree.body), f"{file} has no {test}"


def test_there_are_statements() -> None:
    assert len(statements()) >= 15
