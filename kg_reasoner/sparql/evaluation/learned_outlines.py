"""Knowledge about queries whose texts differ in constants only, see `kg_reasoner.sparql.repeated.query_shapes`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kg_reasoner.sparql.evaluation.cutting import Cut

__all__ = ["LearnedOutline"]

_EVER: Final = -1
"""Used in place of a state for knowledge that holds in all states."""

_KEYS: Final = 64
"""The number of queries of an outline that are remembered."""

_CHOICES: Final = 4
"""The number of choices of parameters: which constants are parameters depends on the others, such as the property rdf:type."""

_PATIENCE: Final = 4
"""The number of learned queries without a use after which queries are learned from less and less often."""


class LearnedOutline:
    """The plans learned for the queries of one outline, by everything in a query that is not a parameter."""

    __slots__ = ("_asked", "_next", "_state", "_tried", "_unused", "choices")

    def __init__(self) -> None:
        self.choices: tuple[frozenset[int], ...] = ()
        """The places of the parameters among the constants, the last found first."""
        self._tried: dict[tuple[object, ...], int] = {}
        self._state, self._asked, self._next, self._unused = _EVER, 0, 0, 0

    def keys(self, text: Cut) -> Iterator[tuple[object, ...]]:
        """Yield what may identify a query but for its parameters."""
        return map(text.key, self.choices)

    def should_learn(self, text: Cut, state: int) -> bool:
        """Note that a query was asked, and return whether something may be learned from it.

        Args:
            text: The query.
            state: The state of the data, in which this is not the first query of the outline.
        """
        self._asked += 1
        is_first, self._state = self._state != state, state
        if is_first or self._asked < self._next:
            return False
        return all(self._tried.get(key) not in (state, _EVER) for key in self.keys(text))

    def note(self, text: Cut, places: frozenset[int], state: int) -> None:
        """Note what was learned from a query.

        Args:
            text: The query.
            places: The places of its parameters; without any, nothing can be learned from it in other states either.
            state: The state of the data.
        """
        if places not in self.choices:
            self.choices = (places, *self.choices)[:_CHOICES]
        if len(self._tried) >= _KEYS:
            self._tried.clear()
        self._tried[text.key(places)] = state if places else _EVER
        self._unused += 1
        if self._unused >= _PATIENCE:
            self._next = 2 * self._asked

    def note_use(self) -> None:
        """Note that something that was learned has answered a query."""
        self._unused = self._next = 0
