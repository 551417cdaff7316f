"""What the Spark backend uses of `pyspark.sql.functions`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_, xor
from typing import Any

from tests.standin.columns import Column, Evaluate, Schema, column, constant, function
from tests.standin.sql import parse

col = column
lit = constant
expr = parse
coalesce = function("coalesce", lambda *values: next((value for value in values if value is not None), None), nulls=True)
concat = function("concat", lambda *values: "".join(values))
least = function("least", min)
greatest = function("greatest", max)
bitwise_not = function("~", lambda value: ~value)
xxhash64 = function("hash", lambda *values: hash(values), nulls=True)
pmod = function("pmod", lambda one, other: one % other)
_array = function("array", lambda *values: list(values), nulls=True)
sort_array = function("sort_array", sorted)
concat_ws = function("concat_ws", lambda separator, *values: separator.join(text for some in values for text in some))
size = function("size", len)
array_except = function("array_except", lambda one, other: [value for value in dict.fromkeys(one) if value not in other])
shiftleft = function("shiftleft", lambda value, places: value << places)
create_map = function("map", lambda *values: dict(zip(values[::2], values[1::2], strict=True)), nulls=True)


def columned(made: Callable[..., Column]) -> Callable[..., Column]:
    """Texts as arguments are names of columns."""
    return lambda *arguments: made(*(column(some) if isinstance(some, str) else some for some in arguments))


coalesce, concat, least, greatest, bitwise_not, xxhash64, sort_array, size, create_map = map(
    columned, (coalesce, concat, least, greatest, bitwise_not, xxhash64, sort_array, size, create_map)
)


def array(*values: Column) -> Column:
    """An array; one of structs has their fields."""
    made = _array(*values)
    return Column("array", made.bind, values[0].fields if values else ())


def broadcast(frame: Any) -> Any:
    return frame


def when(condition: Column, value: object) -> Column:
    return constant(None).when(condition, value)


def struct(*columns: Column | str) -> Column:
    parts = [column(part) if isinstance(part, str) else part for part in columns]
    names = tuple(part.name for part in parts)

    def bind(schema: Schema) -> Evaluate:
        bound = [part.bind(schema) for part in parts]
        return lambda row: Struct(zip(names, (part(row) for part in bound), strict=True))

    return Column("struct", bind, names)


class Struct(dict[str, Any]):
    """A value with fields. The greater one is that with the greater first field, as in Spark."""

    def __lt__(self, other: Struct) -> bool:
        return tuple(self.values()) < tuple(other.values())

    def __gt__(self, other: Struct) -> bool:
        return other < self


def explode(values: Column | str) -> Column:
    found = column(values) if isinstance(values, str) else values
    return Column("col", found.bind, found.fields, explodes=True)


def udf(compute: Callable[..., Any], type: str) -> Callable[..., Column]:
    return columned(function("udf", compute, nulls=True))


# ------------------------------------------------------------------------------------------------------------- aggregates


class Aggregate(Column):
    """A column over the rows of a group."""

    def __init__(self, name: str, of: Column, gather: Callable[[Sequence[Any]], Any]) -> None:
        super().__init__(name, of.bind, of.fields)
        self.of = of
        self.gather = gather

    def alias(self, name: str) -> Aggregate:
        return Aggregate(name, self.of, self.gather)


def _aggregate(name: str, gather: Callable[[Sequence[Any]], Any], *, nulls: bool = False) -> Callable[[Column | str], Aggregate]:
    """An aggregate over those values that are not null, null if there are none."""

    def gathered(values: Sequence[Any]) -> Any:
        there = [value for value in values if value is not None]
        return gather(there) if there or nulls else None

    def of_column(of: Column | str) -> Aggregate:
        some = of if isinstance(of, Column) else constant(1) if of == "*" else column(of)
        return Aggregate(name, some, gathered)

    return of_column


count = _aggregate("count", len, nulls=True)
min = _aggregate("min", min)
max = _aggregate("max", max)
sum = _aggregate("sum", sum)
bit_or = _aggregate("bit_or", lambda values: reduce(or_, values))
bit_xor = _aggregate("bit_xor", lambda values: reduce(xor, values))
collect_set = _aggregate("collect_set", lambda values: list(dict.fromkeys(values)), nulls=True)
collect_list = _aggregate("collect_list", list, nulls=True)


def sorted_set(of: Column | str) -> Aggregate:
    found = collect_set(of)
    return Aggregate("sorted_set", found.of, lambda values: sorted(found.gather(values)))


def count_distinct(of: Column | str) -> Aggregate:
    found = collect_set(of)
    return Aggregate("count_distinct", found.of, lambda values: len(found.gather(values)))
