"""How much work the tests do. One variable says it, ``KG_REASONER_EFFORT``:

==========  =====================================================================================================
``quick``   what ``python -m pytest`` does: every room, in minutes; tests that are marked `long` are left out
``ci``      all tests: what ``.ci/run`` does after that
``full``    all tests, and of whatever can go on for ever as much as fits into a night; failing examples are made
            small, which takes minutes
==========  =====================================================================================================
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Final, TypeVar

import pytest
from hypothesis import Phase

T = TypeVar("T")

EFFORTS: Final = ("quick", "ci", "full")
EFFORT: Final = os.environ.get("KG_REASONER_EFFORT") or "quick"
if EFFORT not in EFFORTS:
    raise ValueError(f"KG_REASONER_EFFORT is {EFFORT!r}, and not one of {', '.join(EFFORTS)}")

CHECKED: Final = os.environ.get("KG_REASONER_KERNELS") == "checked"
"""Whether kernels run as bounds-checked Python, which is slower by far."""


def by_effort(quick: T, ci: T, full: T) -> T:
    """The value for the effort of this run."""
    return {"quick": quick, "ci": ci, "full": full}[EFFORT]


def examples(number: int) -> int:
    """How many examples a property is tried on, given how many would be enough; CI, whose time is limited, tries a third."""
    return by_effort(max(3, number // 30), max(3, number // 3), 50 * number)


def thinned(cases: Iterable[Any], every: int) -> list[Any]:
    """Mark all but each `every`-th case of a parametrised test as `long`. A case is a value or a `pytest.param`."""
    return [case if number % every == 0 else _long(case) for number, case in enumerate(cases)]


def _long(case: Any) -> Any:
    if isinstance(case, type(pytest.param())):
        return pytest.param(*case.values, marks=[*case.marks, pytest.mark.long], id=case.id)
    return pytest.param(case, marks=pytest.mark.long)


TRANSACTIONS: Final = by_effort(1_200, 8_000, 1_000_000)
"""Random transactions of one reasoner, over all strategies and kinds of worlds."""

DOCUMENTS: Final = by_effort(4, 16, 10_000)
"""Broken documents of each kind that readers get, at least one for each seed."""

PHASES: Final = by_effort(*2 * ([Phase.explicit, Phase.reuse, Phase.generate],), list(Phase))
"""Hypothesis' phases for long histories."""
