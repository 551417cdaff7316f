"""Operators of streams: what they share, and those that look at one moment, or at this one and the one before.

A circuit's clock is the number of the update; in a nested circuit there are two: the update (outer time) and the iteration towards
a fixpoint (inner time). Streams carry changes in both. Linear operators are their own incremental versions, in both times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kg_reasoner.dbsp.trace import Trace
from kg_reasoner.dbsp.zset import Condition, Mapper, ZSet
from kg_reasoner.errors import CircuitError


class Operator:
    """One node of a circuit: Z-sets in, a Z-set out, once for each tick of the clock.

    Args:
        name: how it is printed.
        arity: of the Z-sets that it puts out.
        accepts: the arities of its inputs.
    """

    is_still = False
    """Whether there is nothing to do where there is nothing in any input, and nothing pending."""

    def __init__(self, name: str, arity: int, accepts: tuple[int, ...]) -> None:
        self.name = name
        self.arity = arity
        self.accepts = accepts
        self.nothing = ZSet.empty(arity)

    def begin(self) -> None:
        """An update begins; iterations are counted from 0 again."""

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        """The output for the inputs at an iteration (0 where there is no inner clock). Iterations ascend; some may be left out."""
        raise NotImplementedError

    def checked(self, value: ZSet) -> ZSet:
        """Return what a function that was given from outside has made, if it has as many columns as was said."""
        if value.arity != self.arity:
            raise CircuitError(f"the function of {self.name} made {value.arity} columns, and the stream has {self.arity}")
        return value

    def pending(self) -> int | None:
        """The next iteration at which there is something to put out even if no input changes, if there is one."""
        return None

    def finish(self) -> None:
        """The update is through."""

    def traces(self) -> Iterable[Trace]:
        """Return what it keeps of the past."""
        return ()


class Source(Operator):
    """A stream that is set from outside: an input of the circuit, or one of a nested circuit's results."""

    def __init__(self, name: str, arity: int) -> None:
        super().__init__(name, arity, ())
        self.value = ZSet.empty(arity)

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        return self.value


class Lift(Operator):
    """A function of Z-sets, applied at every moment to what the streams carry at that moment."""

    def __init__(self, name: str, arity: int, accepts: tuple[int, ...], function: Callable[..., ZSet]) -> None:
        super().__init__(name, arity, accepts)
        self._function = function

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        return self.checked(self._function(*values))


class Linear(Operator):
    """A function of one Z-set that is linear: of nothing it makes nothing."""

    is_still = True

    def __init__(self, name: str, arity: int, accepts: int, function: Callable[[ZSet], ZSet]) -> None:
        super().__init__(name, arity, (accepts,))
        self._function = function

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        return self.checked(self._function(values[0]))


def mapping(name: str, arity: int, accepts: int, function: Mapper) -> Linear:
    """See `ZSet.map`."""
    return Linear(name, arity, accepts, lambda value: value.map(function))


def selection(name: str, arity: int, condition: Condition) -> Linear:
    """See `ZSet.filter`."""
    return Linear(name, arity, arity, lambda value: value.filter(condition))


class Sum(Operator):
    """The sum of streams."""

    is_still = True

    def __init__(self, arity: int, count: int) -> None:
        super().__init__("+", arity, (arity,) * count)

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        return ZSet.sum(values, self.arity)


class Delay(Operator):
    """z^-1: what the stream carried one tick of the innermost clock before; nothing at first."""

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
        """Take in what the stream carries now, after all operators have taken their step."""
        self.held = value


class Integrate(Operator):
    """I: the sum of all that the stream has carried until now, by the innermost clock."""

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
    """D: the change since the tick before, by the innermost clock. The inverse of I."""

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
