"""Which functions of the package have changed since a commit, and the lines of sweeps that are in them."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from tests.faults.injectors import PLACES, ROOT

_FILE: Final = re.compile(r"\+\+\+ b/(.*)")
_HUNK: Final = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")

Lines = dict[str, set[int]]
"""Numbers of lines by file, relative to the root of the checkout."""


def changed_lines(difference: Iterable[str]) -> Lines:
    """Return the lines of the newer version that a difference without context (``git diff -U0``) shows as new.

    Where lines were only removed, these are the two around them.
    """
    lines: Lines = {}
    name = ""
    for line in difference:
        if found := _FILE.match(line):
            name = found[1]
        elif found := _HUNK.match(line):
            first, count = int(found[1]), int(found[2] or 1)
            lines.setdefault(name, set()).update(range(first, first + count) if count else (first, first + 1))
    return lines


def _functions(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """Yield the first and last line of each function, methods and functions within others included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node.lineno, node.end_lineno or node.lineno


def with_functions(text: str, changed: set[int]) -> set[int]:
    """Return changed lines with all lines of the functions that they are in."""
    lines = set(changed)
    for first, last in _functions(ast.parse(text)):
        if changed.intersection(range(first, last + 1)):
            lines.update(range(first, last + 1))
    return lines


@cache
def lines_since(commit: str) -> Lines:
    """Return the lines of the functions that have changed since a commit; a file that was only renamed has none.

    Raises:
        subprocess.CalledProcessError: This is not a checkout, or there is no such commit.
    """
    folders = [place.removeprefix(ROOT) for place in PLACES]
    command = ["git", "diff", "--find-renames", "--unified=0", commit, "--", *folders]
    difference = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    changed = changed_lines(difference.splitlines())
    files = {name: Path(ROOT, name) for name in changed if name.endswith(".py")}
    return {name: with_functions(path.read_text(encoding="utf-8"), changed[name]) for name, path in files.items() if path.exists()}


def since(commit: str, choose: Callable[[Sequence[str]], Iterable[int]]) -> Callable[[Sequence[str]], Iterable[int]]:
    """Return a choice of the same places, less those in functions that have not changed since a commit."""
    lines = lines_since(commit)

    def is_in_changed(place: str) -> bool:
        name, _, number = place.split(" ", 1)[0].partition(":")
        return number.isdigit() and int(number) in lines.get(name, ())

    return lambda places: [at for at in choose(places) if is_in_changed(places[at - 1])]
