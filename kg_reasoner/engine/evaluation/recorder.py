"""Records where updates spend their time, for profiles: by phase, and by rule.

Nothing is recorded, and nothing else happens, until a profile is `open`. Records are not part of the state of an engine: an
operation that fails leaves what it has recorded until then.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from time import thread_time
from types import TracebackType
from typing import Final, NamedTuple

from kg_reasoner.concurrency.forking import new_mutex
from kg_reasoner.data_classes import dataclass
from kg_reasoner.program import Rule

__all__ = ["Activity", "Recorder", "Tally", "difference"]


class Activity(NamedTuple):
    """An activity that takes time: a phase of an update, or a rule in such a phase."""

    phase: str
    rule: Rule | None = None


@dataclass(slots=True)
class Tally:
    """The time of an activity without the activities inside it, the rule instances that it found, and the facts that were new."""

    seconds: float = 0.0
    runs: int = 0
    instances: int = 0
    new: int = 0

    def __sub__(self, earlier: Tally) -> Tally:
        """Return the differences from an earlier tally."""
        runs, instances, new = self.runs - earlier.runs, self.instances - earlier.instances, self.new - earlier.new
        return Tally(self.seconds - earlier.seconds, runs, instances, new)


_NOTHING: Final[AbstractContextManager[None]] = nullcontext()


class Recorder:
    """Tallies of the activities of an engine, while at least one profile is open.

    One thread at a time runs updates, and records.
    """

    def __init__(self) -> None:
        self.clock: Callable[[], float] = thread_time
        self._readers: dict[int, weakref.ref[object]] = {}
        self._mutex = new_mutex()
        self._tallies: dict[Activity, Tally] = {}
        self.innermost: TimedSpan | None = None
        """The activity that is running."""

    @property
    def is_on(self) -> bool:
        """Whether activities are recorded: an opened profile is not closed, and still exists."""
        return bool(self._readers)

    def open(self, reader: object) -> dict[Activity, Tally]:
        """Record activities until `reader` closes the recorder. Return the tallies until now, to be subtracted from later ones."""
        with self._mutex:
            if not self.is_on:
                self._tallies = {}
            key = id(reader)
            self._readers[key] = weakref.ref(reader, lambda _: self._readers.pop(key, None))
            return self.tallies()

    def close(self, reader: object) -> None:
        """Stop recording for a reader."""
        self._readers.pop(id(reader), None)

    def tallies(self) -> dict[Activity, Tally]:
        """Return copies of the tallies."""
        return {activity: tally - Tally() for activity, tally in list(self._tallies.items())}

    def tally(self, activity: Activity) -> Tally:
        """Return the tally of an activity, to be added to."""
        return self._tallies.setdefault(activity, Tally())

    def measure(self, phase: str, rule: Rule | None = None) -> AbstractContextManager[None]:
        """Return a ``with`` block whose time belongs to an activity, except for the activities measured inside it."""
        return TimedSpan(self, Activity(phase, rule)) if self._readers else _NOTHING

    def count(self, activity: Activity, instances: int, new: int = 0) -> None:
        """Add rule instances and new facts to an activity."""
        tally = self.tally(activity)
        tally.instances += instances
        tally.new += new


class TimedSpan(AbstractContextManager[None]):
    """The time of one activity. One that an interrupt has cut off is discarded."""

    __slots__ = ("_activity", "_inner", "_outer", "_recorder", "_started")

    def __init__(self, recorder: Recorder, activity: Activity) -> None:
        self._recorder, self._activity = recorder, activity
        self._inner = 0.0

    def __enter__(self) -> None:
        self._outer = self._recorder.innermost
        self._recorder.innermost = self
        self._started = self._recorder.clock()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        elapsed = self._recorder.clock() - self._started
        self._recorder.innermost = self._outer
        if self._outer is not None:
            self._outer._inner += elapsed
        tally = self._recorder.tally(self._activity)
        tally.seconds += elapsed - self._inner
        tally.runs += 1


def difference(now: Mapping[Activity, Tally], before: Mapping[Activity, Tally]) -> dict[Activity, Tally]:
    """Return the growth of tallies."""
    nothing = Tally()
    return {activity: tally - before.get(activity, nothing) for activity, tally in now.items()}
