"""Columns of the stand-in: expressions over rows, with SQL's three-valued logic and without any conversion of types.

Spark converts a text to a number where the two are compared, and fails on those that are none only when a row has one. Here, the
comparison itself is an error, so that a small example is enough to find it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["Column", "Evaluate", "Function", "Schema", "column", "constant", "function"]

Value = Any
Evaluate = Callable[[tuple[Value, ...]], Value]


_CASTS: dict[str, Callable[[Any], Any]] = {"string": str, "long": int, "int": int}


class Schema:
    """The names of a frame's columns, and for each those frames whose column it is or comes from."""

    def __init__(self, names: Sequence[str], origins: Sequence[frozenset[int]]) -> None:
        self.names = tuple(names)
        self.origins = tuple(origins)

    def place(self, name: str, frame: int | None = None) -> int:
        """The position of a column. Like Spark, refuses a name that two columns have."""
        found = [place for place, other in enumerate(self.names) if other.lower() == name.lower()]
        if len(found) > 1 and frame is not None:
            found = [place for place in found if frame in self.origins[place]]
        if len(found) != 1:
            raise ValueError(f"the column {name} is {'ambiguous' if found else 'not'} among {', '.join(self.names)}")
        return found[0]


class Column:
    """An expression with a name.

    Args:
        name: The name of the column that it makes.
        bind: Returns the function from rows to values, given the schema of the rows.
        fields: The names of the fields, for a struct or an array of structs.
        explodes: Whether each value of the array is to become a row.
    """

    def __init__(
        self, name: str, bind: Callable[[Schema], Evaluate], fields: tuple[str, ...] = (), *, explodes: bool = False
    ) -> None:
        self.name = name
        self.bind = bind
        self.fields = fields
        self.explodes = explodes
        self.reference: tuple[str, int | None] | None = None
        self.branches: list[tuple[Column, Column]] = []
        self.equated: tuple[Column, Column] | None = None
        self.parts: tuple[Column, ...] = (self,)
        """The columns whose conjunction this is."""

    def alias(self, name: str) -> Column:
        made = Column(name, self.bind, self.fields, explodes=self.explodes)
        made.reference = self.reference
        return made

    def cast(self, type: str) -> Column:
        made = function("cast", _CASTS.get(type, lambda value: value))(self)
        made.name, made.reference = self.name, self.reference
        return made

    def otherwise(self, value: object) -> Column:
        return _when(self.branches, constant(value))

    def when(self, condition: Column, value: object) -> Column:
        return _when([*self.branches, (condition, constant(value))], constant(None))

    def isin(self, *values: Any) -> Column:
        listed = values[0] if len(values) == 1 and isinstance(values[0], list | set | tuple) else values
        among = frozenset(listed)
        kinds = {type(value) for value in among}

        def isin(value: Value) -> bool:
            if kinds and type(value) not in kinds:
                raise TypeError(f"{value!r} is compared with {listed!r}")
            return value in among

        return function("isin", isin)(self)

    def startswith(self, text: str) -> Column:
        return function("startswith", str.startswith)(self, text)

    def contains(self, text: str) -> Column:
        return function("contains", lambda one, other: other in one)(self, text)

    def isNull(self) -> Column:
        return function("isNull", lambda value: value is None, nulls=True)(self)

    def isNotNull(self) -> Column:
        return function("isNotNull", lambda value: value is not None, nulls=True)(self)

    def bitwiseAND(self, other: object) -> Column:
        return function("&", lambda one, two: one & two)(self, other)

    def bitwiseOR(self, other: object) -> Column:
        return function("|", lambda one, two: one | two)(self, other)

    def getField(self, name: str) -> Column:
        return function(name, lambda value: value[name])(self)

    def getItem(self, place: int) -> Column:
        return function("item", lambda value: value[place])(self)

    def __and__(self, other: object) -> Column:
        both = function("and", _and, nulls=True)(self, other)
        both.parts = (*self.parts, *constant(other).parts)
        return both

    def __or__(self, other: object) -> Column:
        return function("or", _or, nulls=True)(self, other)

    def __invert__(self) -> Column:
        return function("not", lambda value: not value)(self)

    def __eq__(self, other: object) -> Column:  # type: ignore[override]
        made = function("=", _compared(lambda one, two: one == two))(self, other)
        made.equated = self, constant(other)
        return made

    def __ne__(self, other: object) -> Column:  # type: ignore[override]
        return function("<>", _compared(lambda one, two: one != two))(self, other)

    def __lt__(self, other: object) -> Column:
        return function("<", _compared(lambda one, two: one < two))(self, other)

    def __gt__(self, other: object) -> Column:
        return function(">", _compared(lambda one, two: one > two))(self, other)

    def __ge__(self, other: object) -> Column:
        return function(">=", _compared(lambda one, two: one >= two))(self, other)

    def __le__(self, other: object) -> Column:
        return function("<=", _compared(lambda one, two: one <= two))(self, other)

    def __add__(self, other: object) -> Column:
        return function("+", lambda one, two: one + two)(self, other)

    def __sub__(self, other: object) -> Column:
        return function("-", lambda one, two: one - two)(self, other)

    def __mul__(self, other: object) -> Column:
        return function("*", lambda one, two: one * two)(self, other)

    def __mod__(self, other: object) -> Column:
        return function("%", lambda one, two: one % two)(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise ValueError("a column is neither true nor false: use & and |, with parentheses")


Function = Callable[..., Column]


def column(name: str, frame: int | None = None) -> Column:
    """The column of a frame, or of whatever frame has one of that name."""
    short, _, field = name.partition(".")

    def bind(schema: Schema) -> Evaluate:
        place = schema.place(short, frame)
        return (lambda row: row[place][field]) if field else (lambda row: row[place])

    made = Column(field or name, bind)
    if not field:
        made.reference = name, frame
    return made


def constant(value: object) -> Column:
    """A value as a column."""
    return value if isinstance(value, Column) else Column(str(value), lambda schema: lambda row: value)


def function(name: str, compute: Callable[..., Value], *, nulls: bool = False) -> Function:
    """A function of columns; null for an argument that is null, unless it takes nulls."""

    def of_columns(*arguments: object) -> Column:
        columns = [constant(argument) for argument in arguments]

        def bind(schema: Schema) -> Evaluate:
            parts = [some.bind(schema) for some in columns]
            if len(parts) == 1:
                (only,) = parts
                if nulls:
                    return lambda row: compute(only(row))
                return lambda row: None if (value := only(row)) is None else compute(value)

            if len(parts) == 2:  # most conditions
                one, other = parts

                def evaluate_both(row: tuple[Value, ...]) -> Value:
                    here, there = one(row), other(row)
                    return None if not nulls and (here is None or there is None) else compute(here, there)

                return evaluate_both

            def evaluate(row: tuple[Value, ...]) -> Value:
                values = [part(row) for part in parts]
                return None if not nulls and None in values else compute(*values)

            return evaluate

        return Column(name, bind)

    return of_columns


def _and(one: bool | None, other: bool | None) -> bool | None:
    return False if False in (one, other) else None if None in (one, other) else True


def _or(one: bool | None, other: bool | None) -> bool | None:
    return True if True in (one, other) else None if None in (one, other) else False


def _compared(compare: Callable[[Value, Value], bool]) -> Callable[[Value, Value], bool]:
    def compared(one: Value, other: Value) -> bool:
        if type(one) is not type(other):
            raise TypeError(f"{one!r} is compared with {other!r}")
        return compare(one, other)

    return compared


def _when(branches: Sequence[tuple[Column, Column]], default: Column) -> Column:
    def bind(schema: Schema) -> Evaluate:
        bound = [(condition.bind(schema), value.bind(schema)) for condition, value in branches]
        other = default.bind(schema)

        def evaluate(row: tuple[Value, ...]) -> Value:
            for condition, value in bound:
                if condition(row):
                    return value(row)
            return other(row)

        return evaluate

    made = Column("case", bind)
    made.branches = list(branches)
    return made
