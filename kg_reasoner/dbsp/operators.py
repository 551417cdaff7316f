"""Operators of streams: the base class, and operators that use only the current tick, or this and the previous one.

A circuit's clock is the number of the update. A nested circuit has two clocks: the update (outer time) and the iteration towards a
fixpoint (inner time). Streams carry changes in both. Linear operators are their own incremental versions, in both times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kg_reasoner.dbsp.trace import Trace
from kg_reasoner.dbsp.zset import Condition, Mapper, ZSet
from kg_reasoner.errors import CircuitError, plural


class Operator:
    """A node of a circuit: at each tick of the clock, it maps Z-sets to a Z-set.

    Args:
        name: How it is printed.
        arity: The number of columns of its output.
        accepts: The arities of its inputs.
    """

    is_still = False
    """Whether there is nothing to do where there is nothing in any input, and nothing pending."""

    def __init__(self, name: str, arity: int, accepts: tuple[int, ...]) -> None:
        self.name = name
        self.arity = arity
        self.accepts = accepts
        self.nothing = ZSet.empty(arity)

    def begin(self) -> None:
        """Begin an update; iterations are counted from 0 again."""

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        """Return the output for the inputs at an iteration (0 without an inner clock). Iterations ascend; some may be skipped."""
        raise NotImplementedError

    def checked(self, value: ZSet) -> ZSet:
        """Return the result of a user's function, after a check of its number of columns."""
        if value.arity != self.arity:
            raise CircuitError(f"the function of {self.name} made {plural(value.arity, 'column')}, and the stream has {self.arity}")
        return value

    def pending(self) -> int | None:
        """Return the next iteration with output even if no input changes, or None."""
        return None

    def finish(self) -> None:
        """End the update."""

    def traces(self) -> Iterable[Trace]:
        """Return the stored past changes."""
        return ()


class SourceOperator(Operator):
    """A stream set from outside: an input of the circuit, or a result of a nested circuit."""

    def __init__(self, name: str, arity: int) -> None:
        super().__init__(name, arity, ())
        self.value = ZSet.empty(arity)

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        return self.value


class Lift(Operator):
    """A function of Z-sets, applied at every tick to the current values of the streams.

    Args:
        name: How it is printed.
        arity: The number of columns of its output.
        accepts: The arities of its inputs.
        function: Returns the output for the values of the inputs.
    """

    def __init__(self, name: str, arity: int, accepts: tuple[int, ...], function: Callable[..., ZSet]) -> None:
        super().__init__(name, arity, accepts)
        self._function = function

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        return self.checked(self._function(*values))


class Linear(Operator):
    """A linear function of one Z-set, which maps empty Z-sets to empty ones.

    Args:
        name: How it is printed.
        arity: The number of columns of its output.
        accepts: The arity of its input.
        function: Returns the output for an input.
    """

    is_still = True

    def __init__(self, name: str, arity: int, accepts: int, function: Callable[[ZSet], ZSet]) -> None:
        super().__init__(name, arity, (accepts,))
        self._function = function

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        return self.checked(self._function(values[0]))


def mapping(name: str, arity: int, accepts: int, function: Mapper) -> Linear:
    """Return an operator that applies `ZSet.map`.

    Args:
        name: How it is printed.
        arity: The number of columns of its output.
        accepts: The arity of its input.
        function: The function of rows.
    """
    return Linear(name, arity, accepts, lambda value: value.map(function))


def selection(name: str, arity: int, condition: Condition) -> Linear:
    """Return an operator that applies `ZSet.filter`."""
    return Linear(name, arity, arity, lambda value: value.filter(condition))


class Sum(Operator):
    """The sum of streams."""

    is_still = True

    def __init__(self, arity: int, count: int) -> None:
        super().__init__("+", arity, (arity,) * count)

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        return ZSet.sum(values, self.arity)


class Delay(Operator):
    """z^-1: the value of the stream at the previous tick of the innermost clock; initially empty."""

    def __init__(self, arity: int, nested: bool) -> None:
        super().__init__("z^-1", arity, (arity,))
        self._nested = nested
        self.held = ZSet.empty(arity)

    def begin(self) -> None:
        if self._nested:
            self.held = ZSet.empty(self.arity)

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        return self.held

    def latch(self, value: ZSet) -> None:
        """Store the current value of the stream, after all operators have taken their step."""
        self.held = value


class Integrate(Operator):
    """I: the sum of all values of the stream so far, by the innermost clock."""

    def __init__(self, arity: int, nested: bool) -> None:
        super().__init__("I", arity, (arity,))
        self._nested = nested
        self._sum = Trace(arity)

    def begin(self) -> None:
        if self._nested:
            self._sum = Trace(self.arity)

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        self._sum.insert(values[0])
        return self._sum.total()

    def traces(self) -> Iterable[Trace]:
        return (self._sum,)


class Differentiate(Operator):
    """D: the difference from the previous tick of the innermost clock. The inverse of I."""

    def __init__(self, arity: int, nested: bool) -> None:
        super().__init__("D", arity, (arity,))
        self._nested = nested
        self._before = ZSet.empty(arity)

    def begin(self) -> None:
        if self._nested:
            self._before = ZSet.empty(self.arity)

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        before, self._before = self._before, values[0]
        return values[0] - before
