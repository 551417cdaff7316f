"""Python code that is run by itself: in a new process, or in a copy of this one.

A copy has imported everything already and takes a tenth of the time, but for this very reason it does not notice a missing import.
"""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final, TypeVar

from tests.helpers.effort import by_effort

T = TypeVar("T")

COPIES: Final = by_effort(hasattr(os, "fork"), False, False)
"""Whether code of the documentation runs in copies."""


def printed_in_copy(code: str, folder: Path, name: str) -> str:
    """What Python code prints that is the main module of a copy of this process; fails where it raises something."""

    def run() -> str:
        sys.modules["__main__"] = main = ModuleType("__main__")
        with redirect_stdout(io.StringIO()) as printed:
            try:
                exec(compile(code, name, "exec"), main.__dict__)
            except SystemExit as end:
                assert not end.code, end.code
        return printed.getvalue()

    return in_copy(run, folder)


def in_copy(function: Callable[[], T], folder: Path) -> T:
    """What a function returns in a copy of this process that is in a folder; fails where it raises something."""
    from tests.faults.runner import in_child

    def call() -> tuple[list[T], str]:
        os.chdir(folder)
        os.environ["COLUMNS"] = "100"
        sys.argv = [""]
        try:
            return [function()], ""
        except BaseException:  # not every exception can be sent
            return [], traceback.format_exc()

    _import_all()
    returned, error = in_child(call, seconds=120.0)
    assert not error, error
    return returned[0]


@cache
def _import_all() -> None:
    """Have in this process what most code asks for first."""
    from rdflib import Graph

    graph = Graph(store="KGReasoner")
    list(graph.query("SELECT * { ?s ?p ?o }"))
    graph.close()
