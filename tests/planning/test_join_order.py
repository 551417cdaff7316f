"""The join order of a body: as a search through all parts finds it, at a cost that does not grow with the square of the parts."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner.planning import join_order
from kg_reasoner.planning.catalog import StoredAtom, StoredCall, StoredComparison
from kg_reasoner.planning.join_order import Check, Estimate, Part, by_shape, in_join_order, names_of, parts_of_body

_NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f"])
_TERMS = st.one_of(_NAMES, st.integers(0, 3))


@st.composite
def bodies(draw: st.DrawFn) -> tuple[tuple[StoredAtom, ...], tuple[Check, ...]]:
    """Bodies whose negations and checks share variables with their atoms."""
    terms = st.lists(_TERMS, min_size=1, max_size=3).map(tuple)
    atoms = draw(st.lists(st.builds(StoredAtom, st.integers(0, 2), terms, st.booleans()), max_size=7))
    checks: list[Check] = draw(
        st.lists(
            st.one_of(
                st.builds(StoredComparison, st.sampled_from(["<", "="]), _TERMS, _TERMS),
                st.builds(StoredCall, st.integers(0, 1), st.just(9), terms, st.one_of(st.none(), _NAMES)),
            ),
            max_size=4,
        )
    )
    return tuple(atoms), tuple(checks)


def size_of_relation(atom: StoredAtom, bound: Collection[str]) -> float:
    """An estimate that depends on all bound variables, as statistics do."""
    return 10 * atom.relation - len(names_of(atom) & set(bound)) + len(bound) % 3


def by_search(
    body: tuple[StoredAtom, ...], checks: tuple[Check, ...], trigger: int | None, estimate: Estimate, bound: set[str]
) -> list[tuple[Part, int]]:
    """The join order as it is defined: the cheapest atom next, everything else as soon as its variables are bound, but not before
    atoms that the trigger binds.
    """
    given_by = [part for part in checks if isinstance(part, StoredCall) and part.result is not None]
    shared = {name for part in (*(atom for atom in body if not atom.negated),) for name in names_of(part)}
    shared |= {part.result for part in given_by if isinstance(part.result, str)}
    waiting: list[tuple[Part, set[str], int]] = []
    for part in checks:
        terms = part.arguments if isinstance(part, StoredCall) else (part.left, part.right)
        waiting.append((part, {term for term in terms if isinstance(term, str)}, 0))
    last = len(body) if trigger is None else trigger
    waiting += [(atom, names_of(atom) & shared, int(n >= last)) for n, atom in enumerate(body) if atom.negated]
    left = [n for n, atom in enumerate(body) if not atom.negated and n != trigger]
    order: list[tuple[Part, int]] = []

    def take(number: int) -> None:
        left.remove(number)
        order.append((body[number], int(trigger is not None and number > trigger)))

    def cheapest() -> int:
        return min(left, key=lambda n: (estimate(body[n], bound), n))

    while trigger is not None and left and names_of(body[cheapest()]) <= bound:
        take(cheapest())
    while True:
        while (ready := next((item for item in waiting if item[1] <= bound), None)) is not None:
            waiting.remove(ready)
            order.append((ready[0], ready[2]))
            bound = bound | (names_of(ready[0]) if isinstance(ready[0], StoredCall) else set())
        if not left:
            return order
        best = cheapest()
        take(best)
        bound = bound | names_of(body[best])


@given(bodies(), st.integers(0, 6), st.booleans(), st.sets(_NAMES, max_size=2))
def test_the_order_is_that_of_a_search(
    parts: tuple[tuple[StoredAtom, ...], tuple[Check, ...]], place: int, by_size: bool, bound: set[str]
) -> None:
    body, checks = parts
    trigger = place if place < len(body) else None
    if trigger is not None:
        bound = bound | names_of(body[trigger])
    estimate = size_of_relation if by_size else by_shape
    found = in_join_order(parts_of_body(body, checks), trigger, estimate, bound)
    assert found == by_search(body, checks, trigger, estimate, bound)


@pytest.mark.parametrize("shape", ["chain", "star"])
def test_estimates_are_renewed_only_where_a_variable_was_bound(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count, calls = 100, 0

    def counted(atom: StoredAtom, bound: Collection[str]) -> float:
        nonlocal calls
        calls += 1
        return by_shape(atom, bound)

    monkeypatch.setattr(join_order, "by_shape", counted)
    body = tuple(StoredAtom(0, (f"x{n}" if shape == "chain" else "x", f"x{n + 1}")) for n in range(count))
    assert len(in_join_order(parts_of_body(body, ()), None, counted, ())) == count
    assert calls <= 3 * count
