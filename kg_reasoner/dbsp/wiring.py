"""Streams and their wiring: a graph of operators, checked when it is built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from kg_reasoner.dbsp.groupwise import DistinctOperator, Groupwise
from kg_reasoner.dbsp.join import EqualKeys, IncrementalJoin, Matching
from kg_reasoner.dbsp.operators import Delay, Differentiate, Integrate, Lift, Linear, Operator, Sum, mapping, selection
from kg_reasoner.dbsp.trace import Trace
from kg_reasoner.dbsp.zset import Condition, Mapper, Reduction, ZSet
from kg_reasoner.errors import CircuitError, plural
from kg_reasoner.graphs import postorder


class Stream:
    """The output of an operator of a circuit: at each tick, a Z-set of one arity. Its methods add operators that read it.

    They raise a `CircuitError` if streams do not fit: columns that are not there, another arity, or another circuit.
    """

    def __init__(self, circuit: Wiring, operator: Operator, sources: Sequence[Stream]) -> None:
        if operator.arity < 1:
            raise CircuitError(f"{operator.name} must have at least one column")
        self.circuit = circuit
        self.operator = operator
        self.sources = list(sources)
        self.number = circuit.root.next_number()
        self.value = ZSet.empty(operator.arity)

    @property
    def arity(self) -> int:
        """The number of columns of its Z-sets."""
        return self.operator.arity

    @property
    def inside(self) -> Wiring | None:
        """The nested circuit represented by its operator, or None."""
        return self.operator.inside if isinstance(self.operator, Enclosing) else None

    def __str__(self) -> str:
        return f"{self.number} ({self.operator.name})"

    def map(self, function: Mapper, arity: int, name: str = "map") -> Stream:
        """Return a stream with each row replaced by a row with `arity` columns. See `ZSet.map`.

        Args:
            function: Takes the columns and gives those of the new rows.
            arity: The number of new columns.
            name: What drawings call the operator.

        Returns:
            The stream.
        """
        return self.circuit.add(mapping(name, arity, self.arity, function), self)

    def project(self, *places: int) -> Stream:
        """Return a stream with each row reduced to some of its columns, in the given order.

        Args:
            places: The numbers of the columns.

        Returns:
            The stream.

        Raises:
            CircuitError: A column does not exist.
        """
        if wrong := [place for place in places if not 0 <= place < self.arity]:
            raise CircuitError(
                f"stream {self} has {plural(self.arity, 'column')}, none of them is number {wrong[0]} (counted from 0)"
            )
        operator = Linear(f"project {places}", len(places), self.arity, lambda value: value.project(places))
        return self.circuit.add(operator, self)

    def filter(self, condition: Condition, name: str = "filter") -> Stream:
        """Return a stream of the rows that satisfy a condition.

        Args:
            condition: Takes the columns and tells which rows satisfy it.
            name: What drawings call the operator.

        Returns:
            The stream.
        """
        return self.circuit.add(selection(name, self.arity, condition), self)

    def linear(self, function: Callable[[ZSet], ZSet], arity: int, name: str) -> Stream:
        """Return the result of a linear function of Z-sets, which is its own incremental version.

        Args:
            function: A function for which f(a + b) = f(a) + f(b).
            arity: The number of columns of its results.
            name: What drawings call the operator.

        Returns:
            The stream.
        """
        return self.circuit.add(Linear(name, arity, self.arity, function), self)

    def __neg__(self) -> Stream:
        return self.linear(ZSet.__neg__, self.arity, "-")

    def __add__(self, other: Stream) -> Stream:
        return self.circuit.sum(self, other)

    def __sub__(self, other: Stream) -> Stream:
        return self.circuit.sum(self, -other)

    def delay(self) -> Stream:
        """z^-1: return the stream one tick later.

        Returns:
            The stream.
        """
        return self.circuit.add(Delay(self.arity, self.circuit.is_nested), self)

    def integrate(self) -> Stream:
        """I: return the sum of all ticks so far.

        Returns:
            The stream.
        """
        return self.circuit.add(Integrate(self.arity, self.circuit.is_nested), self)

    def differentiate(self) -> Stream:
        """D: return the difference from the previous tick.

        Returns:
            The stream.
        """
        return self.circuit.add(Differentiate(self.arity, self.circuit.is_nested), self)

    def lift(self, function: Callable[[ZSet], ZSet], arity: int, name: str = "lift") -> Stream:
        """Return the result of a function applied to the Z-set of each tick separately.

        Args:
            function: Any function of one Z-set.
            arity: The number of columns of its results.
            name: What drawings call the operator.

        Returns:
            The stream.
        """
        return self.circuit.add(Lift(name, arity, (self.arity,), function), self)

    def join(self, other: Stream, on: int) -> Stream:
        """Return the incremental join with another stream of changes on the first columns. See `ZSet.join`.

        Args:
            other: The other stream.
            on: The number of columns in which rows agree.

        Returns:
            The stream.

        Raises:
            CircuitError: The circuits differ, or a stream has fewer columns.
        """
        if not 0 < on <= min(self.arity, other.arity):
            raise CircuitError(
                f"streams {self} and {other}, of {self.arity} and {other.arity} columns, cannot be joined on {plural(on, 'column')}"
            )
        return self.match(other, EqualKeys(on), self.arity + other.arity - on, f"join on {on}")

    def match(self, other: Stream, matching: Matching, arity: int, name: str) -> Stream:
        """Return the incremental version of a bilinear function, defined by how pairs of rows match.

        Args:
            other: The other stream.
            matching: Finds the pairs of rows that match.
            arity: The number of columns of the results.
            name: What drawings call the operator.

        Returns:
            The stream.
        """
        return self.circuit.add(
            IncrementalJoin(name, arity, (self.arity, other.arity), matching, self.circuit.is_nested), self, other
        )

    def distinct(self) -> Stream:
        """Return the incremental version of `ZSet.distinct`.

        Returns:
            The stream.
        """
        return self.circuit.add(DistinctOperator(self.arity, self.circuit.is_nested), self)

    def aggregate(self, by: int, *reductions: Reduction, name: str = "aggregate") -> Stream:
        """Return the incremental version of `ZSet.aggregate`, which re-evaluates the groups that change.

        Args:
            by: The number of columns that identify a group.
            name: What drawings call the operator.
            reductions: The functions computed for each group, see `kg_reasoner.dbsp.aggregates`.

        Returns:
            The stream.
        """
        return self.groupwise(lambda rows: rows.aggregate(by, *reductions), by, by + len(reductions), name)

    def groupwise(self, function: Callable[[ZSet], ZSet], width: int, arity: int, name: str) -> Stream:
        """Return the incremental version of a function of one group of rows, those with equal first columns, at a time.

        Args:
            function: Takes the rows of some groups and gives the results for them.
            width: The number of columns that identify a group.
            arity: The number of columns of the results.
            name: What drawings call the operator.

        Returns:
            The stream.

        Raises:
            CircuitError: The stream has fewer columns.
        """
        if not 0 < width <= self.arity:
            raise CircuitError(f"stream {self} has {plural(self.arity, 'column')}, so groups cannot be made of {width}")
        return self.circuit.add(Groupwise(name, arity, self.arity, width, function, self.circuit.is_nested), self)


class Feedback(Stream):
    """A stream delayed by one tick and connected to its source later, which may depend on it."""

    def connect(self, source: Stream) -> None:
        """Connect the feedback to its source.

        Args:
            source: The stream that it repeats.

        Raises:
            CircuitError: The feedback is already connected, or the stream has a different arity or belongs to another circuit.
        """
        self.circuit.accept(self.operator, [source])
        if self.sources:
            raise CircuitError(f"feedback {self} is connected already, to {self.sources[0]}")
        self.sources.append(source)


class Root(Protocol):
    """The interface of the outermost circuit, a `kg_reasoner.dbsp.circuit.Circuit`, for streams and nested circuits."""

    def next_number(self) -> int: ...

    def nested(self, name: str = ...) -> Wiring: ...


class Enclosing(Operator):
    """An operator that represents a nested circuit."""

    inside: Wiring


class Wiring:
    """The common part of circuits and nested circuits: streams, and the order in which they are computed."""

    root: Root
    is_nested: bool

    def __init__(self) -> None:
        self.streams: list[Stream] = []
        self.introduced: list[Stream] = []
        """The streams of a nested circuit that come from outside."""
        self.eliminated: list[tuple[Stream, Stream]] = []
        """The results of a nested circuit: the streams inside and outside."""
        self._order: list[Stream] = []
        self._delays: list[Stream] = []

    def add(self, operator: Operator, *sources: Stream) -> Stream:
        """Add an operator, and connect it to its input streams.

        Raises:
            CircuitError: A stream has the wrong arity, or belongs to another circuit.
        """
        self.accept(operator, sources)
        stream = Stream(self, operator, sources)
        self.streams.append(stream)
        return stream

    def sum(self, *streams: Stream) -> Stream:
        """Return the sum of streams."""
        return self.add(Sum(streams[0].arity, len(streams)), *streams)

    def lift(self, function: Callable[..., ZSet], arity: int, *streams: Stream, name: str = "lift") -> Stream:
        """Return the result of a function of Z-sets, applied to the values of the streams at each tick."""
        return self.add(Lift(name, arity, tuple(stream.arity for stream in streams), function), *streams)

    def feedback(self, arity: int) -> Feedback:
        """Return a stream that is delayed by one tick, to be connected later."""
        stream = Feedback(self, Delay(arity, self.is_nested), ())
        self.streams.append(stream)
        return stream

    def accept(self, operator: Operator, sources: Sequence[Stream]) -> None:
        """Check that an operator may read streams."""
        for place, (stream, arity) in enumerate(zip(sources, operator.accepts, strict=True)):
            if stream.circuit is not self:
                raise CircuitError(
                    f"input {place + 1} of {operator.name} is stream {stream} of another circuit: `introduce` takes a stream into "
                    "a nested circuit, and `eliminate` gets its result"
                )
            if stream.arity != arity:
                raise CircuitError(
                    f"input {place + 1} of {operator.name} must have {plural(arity, 'column')}, "
                    f"and stream {stream} has {stream.arity}"
                )

    def build(self) -> None:
        """Check the wiring as a whole, and determine the order of the operators."""
        for stream in self.streams:
            if len(stream.sources) < len(stream.operator.accepts):
                raise CircuitError(f"feedback {stream} is not connected: call its `connect` with the stream that feeds it")
        self._order, ready = [], set[Stream]()
        for stream in postorder(self.streams, self._needed):
            for source in self._needed(stream):
                if source not in ready:
                    raise CircuitError(f"stream {source} depends on itself without a delay between: use `feedback`")
            ready.add(stream)
            self._order.append(stream)
        self._delays = [stream for stream in self._order if isinstance(stream.operator, Delay)]

    def _needed(self, stream: Stream) -> Sequence[Stream]:
        return () if isinstance(stream.operator, Delay) else stream.sources

    def begin(self) -> None:
        for stream in self._order:
            stream.operator.begin()

    def tick(self, time: int) -> None:
        """Compute all streams once."""
        for stream in self._order:
            operator, values = stream.operator, [source.value for source in stream.sources]
            if operator.is_still and not any(value.weights.size for value in values) and operator.pending() is None:
                stream.value = operator.nothing
            else:
                stream.value = operator.step(time, values)
        for stream in self._delays:
            stream.operator.latch(stream.sources[0].value)  # type: ignore[attr-defined]

    def finish(self) -> None:
        for stream in self._order:
            stream.operator.finish()

    def traces(self) -> Iterator[tuple[Stream, Trace]]:
        """Yield the traces of the operators, including those of nested circuits."""
        for stream in self.streams:
            for trace in stream.operator.traces():
                yield stream, trace
            if stream.inside is not None:
                yield from stream.inside.traces()
