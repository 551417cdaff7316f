"""States of groups for aggregate functions of the program, which are kept from update to update."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from kg_reasoner.expressions.reductions import Arguments, WithState
from kg_reasoner.storage.arrays import Rows
from kg_reasoner.terms import Term

__all__ = ["Group", "GroupStates"]

Group: TypeAlias = tuple[int, ...]


class GroupStates:
    """The states of a function by group.

    What is kept here only saves work: a group without a state is computed from its solutions. States are used only if the previous
    update has settled them, since functions may change them in place.

    Args:
        reduction: The function.
        arguments: Returns its arguments for rows of solutions; None in place of errors.
    """

    def __init__(self, reduction: WithState, arguments: Callable[[Rows], Sequence[Arguments | None]]) -> None:
        self._reduction, self._arguments = reduction, arguments
        self._states: dict[Group, tuple[int, Any]] = {}  # with the number of solutions
        self._is_settled = True

    def __contains__(self, group: Group) -> bool:
        return group in self._states

    def open(self, *, forget: bool) -> None:
        """Begin to change states.

        Args:
            forget: Discard all of them before.
        """
        if forget or not self._is_settled:
            self._states.clear()
        self._is_settled = False

    def settle(self) -> None:
        """End the changes that `open` has begun."""
        self._is_settled = True

    def follow(self, added: Mapping[Group, Rows], removed: Mapping[Group, Rows]) -> None:
        """Change the states of groups whose solutions have changed; what cannot be followed is computed again."""
        for group in self._states.keys() & (added.keys() | removed.keys()):
            count, state = self._states.pop(group)
            less, more = removed.get(group, ()), added.get(group, ())
            count += len(more) - len(less)
            if count:
                state = self._changed(self._reduction.removed, state, less)
                state = self._changed(self._reduction.added, state, more)
                if state is not None:
                    self._states[group] = count, state

    def _changed(self, change: Callable[..., Any], state: Any, rows: Rows | tuple[()]) -> Any:
        """Return a state after a change by some solutions; None after an error."""
        if state is None or isinstance(rows, tuple):
            return state
        arguments = self._arguments(rows)
        return None if None in arguments else change(state, arguments)

    def value(self, group: Group) -> Term | None:
        """Return the value of a group that has a state; None for an error."""
        return self._reduction.value_of(self._states[group][1])

    def computed(self, group: Group, arguments: Sequence[Arguments]) -> Term | None:
        """Return the value of a group, and keep its state.

        Args:
            group: The group.
            arguments: The arguments of its solutions, in order.
        """
        state = self._reduction.added(self._reduction.empty(), arguments)
        if state is None:
            return None
        self._states[group] = len(arguments), state
        return self._reduction.value_of(state)
