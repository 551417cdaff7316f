"""DataFrames of the stand-in: rows in a list, operated on at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from operator import itemgetter
from typing import Any

from tests.standin.columns import Column, Evaluate, Schema, column, constant
from tests.standin.functions import Aggregate
from tests.standin.sql import parse

__all__ = ["Frame", "Observation", "Session"]

Row = tuple[Any, ...]
_NUMBERS = count()
_NONE: frozenset[int] = frozenset()


class Found(tuple[Any, ...]):
    """A row that is collected, with values by number, name and attribute."""

    names: tuple[str, ...]

    def __getitem__(self, key: Any) -> Any:
        return tuple.__getitem__(self, self.names.index(key) if isinstance(key, str) else key)

    def __getattr__(self, name: str) -> Any:
        return self[name] if name in self.names else object.__getattribute__(self, name)


class Frame:
    """Rows with columns, with the methods of a DataFrame that the backend uses."""

    def __init__(
        self,
        session: Session,
        names: Sequence[str],
        rows: list[Row],
        origins: Sequence[frozenset[int]] | None = None,
        fields: dict[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.number = next(_NUMBERS)
        own = frozenset([self.number])
        self.sparkSession = session
        self._rows = rows
        self._schema = Schema(names, [some | own for some in origins or [_NONE] * len(names)])
        self._fields = fields or {}
        if len({name.lower() for name in names}) == len(names):
            assert all(len(row) == len(names) for row in rows[:3])

    @property
    def columns(self) -> list[str]:
        return list(self._schema.names)

    @property
    def dtypes(self) -> list[tuple[str, str]]:
        """All given facts are strings here."""
        return [(name, "string") for name in self.columns]

    @property
    def schema(self) -> Schema:
        return self._schema

    def __getitem__(self, name: str) -> Column:
        self._schema.place(name)
        return column(name, self.number)

    # --- rows by rows -------------------------------------------------------------------------------------------------

    def select(self, *wanted: Any) -> Frame:
        listed = wanted[0] if len(wanted) == 1 and isinstance(wanted[0], list | tuple) else wanted
        columns = [made for some in listed for made in self._named(some)]
        evaluators = [some.bind(self._schema) for some in columns]
        exploding = [place for place, some in enumerate(columns) if some.explodes]
        rows = [tuple([evaluate(row) for evaluate in evaluators]) for row in self._rows]
        for place in exploding:
            rows = [(*row[:place], value, *row[place + 1 :]) for row in rows for value in row[place] or ()]
        fields = {some.name: some.fields for some in columns if some.fields}
        return Frame(self.sparkSession, [some.name for some in columns], rows, [self._origin(some) for some in columns], fields)

    def _named(self, some: Column | str) -> list[Column]:
        if isinstance(some, Column):
            return [some]
        if some == "*":
            return [column(name) for name in self._schema.names]
        if some.endswith(".*"):
            name = some.removesuffix(".*")
            return [column(f"{name}.{field}") for field in self._fields[name]]
        return [column(some)]

    def _origin(self, some: Column) -> frozenset[int]:
        return _NONE if some.reference is None else self._schema.origins[self._schema.place(*some.reference)]

    def where(self, condition: Column | str) -> Frame:
        test = (parse(condition) if isinstance(condition, str) else condition).bind(self._schema)
        return self._like([row for row in self._rows if _is_true(test(row))])

    filter = where

    def _like(self, rows: list[Row]) -> Frame:
        return Frame(self.sparkSession, self._schema.names, rows, self._schema.origins, self._fields)

    def withColumn(self, name: str, value: Column) -> Frame:
        if name in self._schema.names:
            return self.select(*(value.alias(name) if other == name else column(other) for other in self._schema.names))
        return self.select(*map(column, self._schema.names), value.alias(name))

    def drop(self, *names: str) -> Frame:
        return self.select(*(column(name) for name in self._schema.names if name not in names))

    def toDF(self, *names: str) -> Frame:
        assert len(names) == len(self._schema.names)
        return Frame(self.sparkSession, names, self._rows)

    def mapInArrow(self, function: Any, schema: str) -> Frame:
        import pyarrow as pa

        names = [field.split()[0] for field in schema.split(", ")]
        columns = [pa.array([row[place] for row in self._rows]) for place in range(len(self.columns))]
        batches = function([pa.RecordBatch.from_arrays(columns, names=self.columns)])
        return Frame(
            self.sparkSession, names, [tuple(row[name] for name in names) for batch in batches for row in batch.to_pylist()]
        )

    def limit(self, number: int) -> Frame:
        return self._like(self._rows[:number])

    def coalesce(self, number: int) -> Frame:
        return self

    def repartition(self, *by: Any) -> Frame:
        return self

    sort = sortWithinPartitions = orderBy = repartitionByRange = repartition

    def distinct(self) -> Frame:
        return self._like(list(dict.fromkeys(self._rows)))

    def unionByName(self, other: Frame) -> Frame:
        places = [other._schema.place(name) for name in self._schema.names]
        assert len(places) == len(other._schema.names), f"{self.columns} and {other.columns} are united"
        for one, two in zip(self._rows[:1], other._rows[:1], strict=False):
            for mine, place in zip(one, places, strict=True):
                value = two[place]
                assert mine is None or value is None or type(mine) is type(value), f"{mine!r} and {value!r} are in one column"
        theirs = other._rows if places == [*range(len(places))] else [tuple(row[place] for place in places) for row in other._rows]
        return Frame(self.sparkSession, self._schema.names, self._rows + theirs)

    # --- joins --------------------------------------------------------------------------------------------------------

    def crossJoin(self, other: Frame) -> Frame:
        return self.join(other, [], "inner")

    def join(self, other: Frame, on: Any, how: str = "inner") -> Frame:
        listed = on if isinstance(on, list | tuple) else [on]
        if listed and all(isinstance(some, str) for some in listed):
            return self._joined_by_names(other, listed, how)
        both = Schema(
            (*self._schema.names, *other._schema.names),
            (*self._schema.origins, *other._schema.origins),
        )
        keys, tests = self._keys(other, [part for some in listed for part in some.parts])
        tests = [test.bind(both) for test in tests]
        index: dict[Row, list[Row]] = defaultdict(list)
        for row in other._rows:
            index[tuple(theirs(row) for _, theirs in keys)].append(row)
        rows: list[Row] = []
        blank = (None,) * len(other._schema.names)
        for left in self._rows:
            key = tuple(mine(left) for mine, _ in keys)
            found = () if None in key else index.get(key, ())
            matches = [right for right in found if all(_is_true(test(left + right)) for test in tests)]
            rows += _outcome(left, matches, how, blank)
        _check_kinds(self._rows, other._rows, [mine for mine, _ in keys], [theirs for _, theirs in keys])
        if how in ("left_semi", "left_anti"):
            return self._like(rows)
        return Frame(self.sparkSession, both.names, rows, both.origins)

    def _keys(self, other: Frame, parts: Sequence[Column]) -> tuple[list[tuple[Evaluate, Evaluate]], list[Column]]:
        """The equalities between columns of this and of the other frame, and the other conditions."""
        keys, tests = [], []
        for part in parts:
            for one, two in (part.equated, (part.equated or ())[::-1]) if part.equated else ():
                if self._has(one) and other._has(two):
                    keys.append((one.bind(self._schema), two.bind(other._schema)))
                    break
            else:
                tests.append(part)
        return keys, tests

    def _has(self, some: Column) -> bool:
        if some.reference is None:
            return False
        name, frame = some.reference
        return any(
            name.lower() == mine.lower() and (frame is None or frame in origins)
            for mine, origins in zip(self._schema.names, self._schema.origins, strict=True)
        )

    def _joined_by_names(self, other: Frame, names: Sequence[str], how: str) -> Frame:
        mine = [self._schema.place(name) for name in names]
        theirs = [other._schema.place(name) for name in names]
        rest = [place for place in range(len(other._schema.names)) if place not in theirs]
        index: dict[Row, list[Row]] = defaultdict(list)
        for row in other._rows:
            key = tuple(row[place] for place in theirs)
            if None not in key:
                index[key].append(tuple(row[place] for place in rest))
        blank = (None,) * len(rest)
        rows = [made for left in self._rows for made in _outcome(left, index.get(tuple(left[p] for p in mine), ()), how, blank)]
        _check_kinds(self._rows, other._rows, list(map(itemgetter, mine)), list(map(itemgetter, theirs)))
        if how in ("left_semi", "left_anti"):
            return self._like(rows)
        others = [other._schema.names[place] for place in rest]
        # Spark puts the columns that are joined on first.
        order = [*mine, *(place for place in range(len(self._schema.names)) if place not in mine)]
        after = range(len(self._schema.names), len(self._schema.names) + len(rest))
        rows = [tuple(row[place] for place in (*order, *after)) for row in rows]
        origins = [self._schema.origins[place] for place in order] + [other._schema.origins[place] for place in rest]
        return Frame(self.sparkSession, [*(self._schema.names[place] for place in order), *others], rows, origins)

    # --- groups -------------------------------------------------------------------------------------------------------

    def groupBy(self, *names: str) -> Groups:
        return Groups(self, names)

    def agg(self, *aggregates: Aggregate) -> Frame:
        rows = [tuple(_aggregated(some, self._rows, self._schema) for some in aggregates)]
        return Frame(self.sparkSession, [some.name for some in aggregates], rows)

    # --- results ------------------------------------------------------------------------------------------------------

    def collect(self) -> list[Any]:
        found = []
        for row in self._rows:
            made = Found(row)
            made.names = self._schema.names
            found.append(made)
        return found

    def toLocalIterator(self) -> Iterator[Any]:
        return iter(self.collect())

    def first(self) -> Any:
        return next(iter(self.collect()), None)

    def count(self) -> int:
        return len(self._rows)

    def isEmpty(self) -> bool:
        return not self._rows

    def inputFiles(self) -> list[str]:
        return []

    def observe(self, seen: Observation, *counts: Aggregate) -> Frame:
        seen.get = {some.name: _aggregated(some, self._rows, self._schema) for some in counts}
        return self

    @property
    def write(self) -> Writer:
        return Writer(self)


class Groups:
    def __init__(self, frame: Frame, names: Sequence[str]) -> None:
        self._frame = frame
        self._names = names

    def agg(self, *aggregates: Aggregate) -> Frame:
        schema = self._frame._schema
        keys = [column(name).bind(schema) if isinstance(name, str) else name.bind(schema) for name in self._names]
        names = [name if isinstance(name, str) else name.name for name in self._names]
        groups: dict[Row, list[Row]] = defaultdict(list, {} if keys else {(): []})
        for row in self._frame._rows:
            groups[tuple(_hashable(key(row)) for key in keys)].append(row)
        rows = [(*key, *(_aggregated(some, found, schema) for some in aggregates)) for key, found in groups.items()]
        return Frame(self._frame.sparkSession, [*names, *(some.name for some in aggregates)], rows)

    def count(self) -> Frame:
        return self.agg(Aggregate("count", constant(1), len))


class Writer:
    """Keeps what is written in the session."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def mode(self, mode: str) -> Writer:
        return self

    def options(self, **options: object) -> Writer:
        return self

    def parquet(self, location: str) -> None:
        self._frame.sparkSession.files[location] = self._frame


class Reader:
    def __init__(self, session: Session) -> None:
        self._session = session

    def schema(self, schema: Schema) -> Reader:
        return self

    def parquet(self, *locations: str) -> Frame:
        frames = [self._session.files[location] for location in locations]
        names = frames[0]._schema.names
        for frame in frames:
            assert frame._schema.names == names
        return Frame(self._session, names, [row for frame in frames for row in frame._rows])


class Configuration:
    def get(self, name: str, default: str = "") -> str:
        return "local[1]" if name == "spark.master" else default


class Session:
    """A session without Spark."""

    def __init__(self) -> None:
        self.files: dict[str, Frame] = {}
        self.conf = Configuration()
        self.read = Reader(self)
        self.sparkSession = self

    def createDataFrame(self, rows: Iterable[Sequence[Any]], schema: str) -> Frame:
        names = [field.split()[0] for field in schema.split(",")]
        return Frame(self, names, [tuple(row) for row in rows])

    def range(self, first: int, end: int | None = None, step: int = 1, tasks: int = 1) -> Frame:
        numbers = range(first) if end is None else range(first, end, step)
        return Frame(self, ["id"], [(number,) for number in numbers])


class Observation:
    def __init__(self) -> None:
        self.get: dict[str, int] = {}


def _aggregated(some: Aggregate, rows: Sequence[Row], schema: Schema) -> Any:
    evaluate = some.bind(schema)
    return some.gather([evaluate(row) for row in rows])


def _outcome(left: Row, matches: Sequence[Row], how: str, blank: Row) -> list[Row]:
    if how == "left_semi":
        return [left] if matches else []
    if how == "left_anti":
        return [] if matches else [left]
    if how == "left" and not matches:
        return [left + blank]
    assert how in ("inner", "left"), how
    return [left + right for right in matches]


def _check_kinds(one: Sequence[Row], other: Sequence[Row], mine: Sequence[Evaluate], theirs: Sequence[Evaluate]) -> None:
    for left, right in zip(one[:1], other[:1], strict=False):
        for of_left, of_right in zip(mine, theirs, strict=True):
            here, there = of_left(left), of_right(right)
            if None not in (here, there) and type(here) is not type(there):
                raise TypeError(f"{here!r} is joined with {there!r}")


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _is_true(value: object) -> bool:
    assert value is None or isinstance(value, bool), f"{value!r} is no condition"
    return bool(value)
