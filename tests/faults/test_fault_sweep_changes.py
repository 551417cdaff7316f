"""Sweeps of what has changed since a commit."""

from __future__ import annotations

import pytest

from tests.faults import changes

DIFFERENCE = """\
diff --git a/kg_reasoner/old.py b/kg_reasoner/new.py
--- a/kg_reasoner/old.py
+++ b/kg_reasoner/new.py
@@ -3 +3,2 @@ def f():
-    a
+    b
+    c
@@ -9 +10 @@ def g():
-    d
+    e
@@ -20,2 +20,0 @@ def h():
-    i
-    j
"""

TEXT = """\
import x

def f():
    a = 1

    def inner():
        return 2

    return a + inner()


def g():
    return 3
"""


def test_lines_of_a_difference_are_those_of_the_newer_version() -> None:
    assert changes.changed_lines(DIFFERENCE.splitlines()) == {"kg_reasoner/new.py": {3, 4, 10, 20, 21}}


@pytest.mark.parametrize(
    ("changed", "lines"),
    [({1}, {1}), ({4}, set(range(3, 10))), ({7}, set(range(3, 10))), ({13}, {12, 13}), ({1, 12}, {1, 12, 13}), (set(), set())],
)
def test_functions_with_changed_lines_are_taken_whole(changed: set[int], lines: set[int]) -> None:
    assert changes.with_functions(TEXT, changed) == lines


def test_places_elsewhere_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "lines_since", lambda commit: {"a.py": {1, 2}} if commit == "abc" else {})
    places = ["a.py:1 f < b.py:7 g", "a.py:3 f < a.py:1 g", "b.py:1 g", "outside of the package", "a.py:2 f"]
    assert changes.since("abc", lambda places: range(1, len(places) + 1))(places) == [1, 5]
    assert changes.since("abc", lambda places: [2, 5])(places) == [5]
