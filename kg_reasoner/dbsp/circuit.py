"""Circuits: operators connected by streams, checked when they are built, and run one update at a time."""

from __future__ import annotations

from collections.abc import Sequence

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.dbsp import drawing
from kg_reasoner.dbsp.operators import Operator, SourceOperator
from kg_reasoner.dbsp.wiring import Enclosing, Stream, Wiring
from kg_reasoner.dbsp.zset import ZSet
from kg_reasoner.errors import CircuitError, plural


class Circuit(Wiring):
    """A circuit over Z-sets, whose inputs are streams of changes.

    >>> circuit = Circuit()
    >>> likes, costs = circuit.input("likes", 2), circuit.input("costs", 2)
    >>> circuit.output("bill", likes.project(1, 0).join(costs, on=1).project(1, 2))
    >>> circuit.step(likes=ZSet.of([(1, 7)]), costs=ZSet.of([(7, 30), (8, 10)]))
    {'bill': ZSet({(1, 30): 1})}
    >>> circuit.step(likes=ZSet.of({(1, 7): -1, (1, 8): 1}))
    {'bill': ZSet({(1, 10): 1, (1, 30): -1})}
    """

    def __init__(self) -> None:
        super().__init__()
        self.root = self
        self.is_nested = False
        self.inputs: dict[str, Stream] = {}
        self.outputs: dict[str, Stream] = {}
        self._count = 0
        self._built = False

    def next_number(self) -> int:
        """Return the number of a new stream.

        Returns:
            The number.
        """
        self._built = False
        self._count += 1
        return self._count

    def input(self, name: str, arity: int) -> Stream:
        """Add a named input, and return its stream of changes.

        Args:
            name: The name of the input.
            arity: The number of columns of its Z-sets.

        Returns:
            The stream.

        Raises:
            CircuitError: The circuit already has an input with this name.
        """
        if name in self.inputs:
            raise CircuitError(f"the circuit already has an input {name!r}")
        self.inputs[name] = self.add(SourceOperator(f"input {name}", arity))
        return self.inputs[name]

    def output(self, name: str, stream: Stream) -> None:
        """Name a stream as an output of the circuit.

        Args:
            name: The name of the output.
            stream: A stream of this circuit.

        Raises:
            CircuitError: The circuit already has an output with this name, or the stream belongs to another circuit.
        """
        if stream.circuit is not self:
            raise CircuitError(f"output {name!r} is stream {stream} of another circuit; `eliminate` brings it into this circuit")
        if name in self.outputs:
            raise CircuitError(f"the circuit already has an output {name!r}")
        self.outputs[name] = stream

    def nested(self, name: str = "fixpoint") -> Nested:
        """Return a nested circuit with an inner clock, which runs to a fixpoint in each tick of this circuit.

        Args:
            name: What drawings and messages call it.

        Returns:
            The nested circuit.
        """
        return Nested(self, name)

    def build(self) -> None:
        """Check the wiring. The first `step` calls this.

        Raises:
            CircuitError: A feedback is not connected, a stream depends on itself without a delay, an input feeds nothing, or
                there is no output.
        """
        if not self.outputs:
            raise CircuitError("the circuit has no output: name one with `output`")
        used = {source.number for stream in self.streams for source in stream.sources}
        used |= {stream.number for stream in self.outputs.values()}
        for name, stream in self.inputs.items():
            if stream.number not in used:
                raise CircuitError(f"input {name!r} is not used")
        super().build()
        for stream in self.streams:
            if stream.inside is not None:
                stream.inside.build()
        self._built = True

    def __str__(self) -> str:
        return drawing.text(self) + "".join(f"output {name} <- {stream.number}\n" for name, stream in self.outputs.items())

    def dot(self) -> str:
        """Return a drawing in the DOT language of Graphviz.

        Returns:
            The text of the drawing.
        """
        return drawing.dot(self, self.outputs)

    def step(self, **changes: ZSet) -> dict[str, ZSet]:
        """Run one tick: take the changes of the inputs (empty by default) and return the changes of the outputs.

        Args:
            changes: The change of each input, by the name of the input.

        Returns:
            The change of each output, by the name of the output.

        Raises:
            CircuitError: The input is unknown, has a different number of columns, or is no Z-set; also raised by `build`.
        """
        if not self._built:
            self.build()
        for name, value in changes.items():
            if name not in self.inputs:
                raise CircuitError(f"the circuit has no input {name!r}; its inputs are {', '.join(self.inputs)}")
            if not isinstance(value, ZSet):
                raise CircuitError(f"input {name!r} is of type {type(value).__name__}, not a Z-set: give ZSet.of(rows)")
            if value.arity != self.inputs[name].arity:
                raise CircuitError(f"input {name!r} has {plural(self.inputs[name].arity, 'column')}, not {value.arity}")
        for name, stream in self.inputs.items():
            stream.operator.value = changes.get(name, ZSet.empty(stream.arity))  # type: ignore[attr-defined]
        self.begin()
        self.tick(0)
        self.finish()
        return {name: stream.value for name, stream in self.outputs.items()}


class Nested(Wiring):
    """A circuit inside another one with its own clock, which counts the iterations towards a fixpoint."""

    def __init__(self, outer: Circuit, name: str) -> None:
        super().__init__()
        self.root = self.outer = outer
        self.is_nested = True
        self.name = name
        self._fixpoint = Fixpoint(name, self)
        self._node = outer.add(self._fixpoint)

    def introduce(self, stream: Stream) -> Stream:
        """delta_0: return a stream of the outer circuit as a stream of this one, whose change arrives at iteration 0.

        Args:
            stream: A stream of the outer circuit.

        Returns:
            The stream in this circuit.

        Raises:
            CircuitError: The stream belongs to another circuit.
        """
        self._fixpoint.accepts += (stream.arity,)
        self.outer.accept(self._fixpoint, [*self._node.sources, stream])
        self._node.sources.append(stream)
        inner = self.add(SourceOperator("delta_0", stream.arity))
        self.introduced.append(inner)
        return inner

    def eliminate(self, stream: Stream) -> Stream:
        """Return the sum over all iterations as a stream of the outer circuit.

        Args:
            stream: A stream of this nested circuit.

        Returns:
            The stream in the outer circuit.

        Raises:
            CircuitError: The stream is not of this nested circuit.
        """
        if stream.circuit is not self:
            raise CircuitError(f"stream {stream} is not of the nested circuit {self.name!r}")
        result = self.outer.add(Result(self.name, stream.arity), self._node)
        self.eliminated.append((stream, result))
        return result

    def run(self, values: Sequence[ZSet]) -> None:
        """Iterate until all delays are empty and no operator has pending rows.

        Args:
            values: The changes of the introduced streams.

        Raises:
            LimitError, CancelledError: The surrounding operation has to end.
        """
        self.begin()
        for source, value in zip(self.introduced, values, strict=True):
            source.operator.value = value  # type: ignore[attr-defined]
        sums: list[list[ZSet]] = [[] for _ in self.eliminated]
        time: int | None = 0
        watch, rows = current_watch(), 0
        while time is not None:
            self.tick(time)
            for results, (stream, _) in zip(sums, self.eliminated, strict=True):
                results.append(stream.value)
                rows += len(stream.value)
            watch.check(rows)
            if time == 0:
                for source in self.introduced:
                    source.operator.value = ZSet.empty(source.arity)  # type: ignore[attr-defined]
            time = self._next(time)
        for results, (stream, result) in zip(sums, self.eliminated, strict=True):
            result.operator.held = ZSet.sum(results, stream.arity)  # type: ignore[attr-defined]
        self.finish()

    def build(self) -> None:
        """Check the wiring, and that the circuit has a result.

        Raises:
            CircuitError: As for `Circuit.build`, or no stream is eliminated.
        """
        if not self.eliminated:
            raise CircuitError(f"the nested circuit {self.name!r} has no result: call its `eliminate`")
        super().build()

    def _next(self, time: int) -> int | None:
        if any(len(stream.operator.held) for stream in self._delays):  # type: ignore[attr-defined]
            return time + 1
        return min((due for stream in self._order if (due := stream.operator.pending()) is not None), default=None)


class Fixpoint(Enclosing):
    """The node of an outer circuit for a nested one. It has no output of its own: the results are `Result`s."""

    def __init__(self, name: str, circuit: Nested) -> None:
        super().__init__(name, 1, ())
        self.inside: Nested = circuit

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        self.inside.run(values)
        return ZSet.empty(1)


class Result(Operator):
    """A stream that leaves a nested circuit."""

    def __init__(self, name: str, arity: int) -> None:
        super().__init__(f"result of {name}", arity, (1,))
        self.held = ZSet.empty(arity)

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        return self.held
