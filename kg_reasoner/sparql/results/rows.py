"""Rows of terms, decoded in chunks when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from kg_reasoner.sparql.results.result_columns import Columns

__all__ = ["Row", "decoded", "row_class"]

FIRST_CHUNK: Final = 64
CHUNK: Final = 1 << 14
"""Rows that are decoded at once: at first, and then."""


class Row(tuple[Any, ...]):
    """A row of a result: a tuple of terms, None for unbound variables, which can be read by the variables' names as well.

    ``row.name`` gives the value of ``?name``, and so does ``row["name"]``, whatever the name is.
    """

    __slots__ = ()
    variables: ClassVar[tuple[str, ...]] = ()
    places: ClassVar[Mapping[str, int]] = {}

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return tuple.__getitem__(self, self.places[key.removeprefix("?")])
        return tuple.__getitem__(self, key)

    def __getattr__(self, name: str) -> Any:
        place = self.places.get(name)
        if place is None:
            raise AttributeError(f"the result has no variable ?{name}, only {', '.join(f'?{each}' for each in self.variables)}")
        return tuple.__getitem__(self, place)

    def as_dict(self) -> dict[str, Any]:
        """Return the values of the bound variables by name.

        Returns:
            The values.
        """
        return {name: value for name, value in zip(self.variables, self, strict=True) if value is not None}

    def __repr__(self) -> str:
        return f"Row({', '.join(f'{name}={value!r}' for name, value in zip(self.variables, self, strict=True))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _row, (self.variables, tuple(self))


def row_class(variables: Sequence[str]) -> type[Row]:
    """Return the class of the rows of some variables."""
    names = tuple(variables)
    places = {name: place for place, name in enumerate(names)}
    return type("Row", (Row,), {"__slots__": (), "variables": names, "places": places})


def _row(variables: tuple[str, ...], values: tuple[Any, ...]) -> Row:
    return tuple.__new__(row_class(variables), values)


def decoded(columns: Columns, readers: Sequence[Callable[[list[int]], Sequence[Any]]]) -> Iterator[tuple[Any, ...]]:
    """Yield rows, decoded in chunks.

    Args:
        columns: The columns.
        readers: For each column, the function that returns the values of ids.
    """
    if not columns.ids:
        yield from ((),) * columns.size
        return
    first, end = 0, FIRST_CHUNK
    while first < columns.size:
        yield from zip(*(read(ids[first:end].tolist()) for read, ids in zip(readers, columns.ids, strict=True)), strict=True)
        first, end = end, end + CHUNK
