"""Lazy results: solutions are fetched on demand, and completely before anything changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from threading import get_ident
from typing import Any, Final, Protocol
from weakref import ReferenceType, ref

from kg_reasoner.concurrency.limits import Unwatched
from kg_reasoner.errors import ReasonerError

__all__ = ["Completable", "Readings", "Snapshot"]

FIRST: Final = 16
MOST: Final = 1024
"""Items that are fetched at once: at first, and at most."""

MOST_COMPLETED: Final = 1 << 18
"""The maximal number of items that a writer fetches for a reader. With more, the reader gets an error about the change."""

CHANGED: Final = "what a query reads has changed, and very many solutions were left: make a list of them first, or read fewer"


class Completable(Protocol):
    """A lazy result that can be completed."""

    def complete(self) -> None:
        """Fetch the remaining items. Errors are raised in the reader, not here."""
        ...


class Readings:
    """The incomplete lazy results of a reasoner. Completing them before a change makes each of them a snapshot.

    Readings are added by threads that may read, and completed by one that may write.
    """

    def __init__(self) -> None:
        self.open: dict[int, ReferenceType[Completable]] = {}
        """Those that are not complete, by their identity."""
        self.is_completing = False
        """Whether the remaining items are being fetched, during which no result may be registered."""

    def add(self, reading: Completable) -> None:
        """Register an incomplete result."""
        known, key = self.open, id(reading)
        known[key] = ref(reading, lambda _: known.pop(key, None))

    def complete(self) -> None:
        """Complete all registered results."""
        self.is_completing = True
        try:
            with Unwatched():  # the writer's limits do not apply to readers
                for weak in list(self.open.values()):
                    reading = weak()
                    if reading is not None:
                        reading.complete()
            self.open.clear()
        finally:
            self.is_completing = False


class Snapshot:
    """The items of a generator that reads from a reasoner, as of the time when the first item is requested.

    Items are fetched in batches, each while nothing changes. A reader that stops early pays for few items. A reader that stops for
    long does not block a writer: before a change, the writer fetches the remaining items.

    Args:
        source: The generator.
        reading: Returns the ``with`` block in which nothing changes.
        readings: The registry of incomplete results, which the snapshot joins when it begins.
    """

    def __init__(
        self, source: Iterator[Any], reading: Callable[[], AbstractContextManager[object]], readings: Callable[[], Readings]
    ) -> None:
        self._source = source
        self._reading = reading
        self._readings = readings
        self._rest: Iterator[Any] | None = None
        self._failure: BaseException | None = None
        self._fetching = -1

    def __iter__(self) -> Iterator[Any]:
        size = FIRST
        while True:
            batch = self._fetch(size)
            yield from batch
            if len(batch) < size:
                return
            size = min(2 * size, MOST)

    def _fetch(self, size: int) -> list[Any]:
        with self._reading():
            self._fetching = get_ident()
            try:
                batch = list(islice(self._source if self._rest is None else self._rest, size))
            finally:
                self._fetching = -1
            if len(batch) < size and self._failure is not None:
                batch = []
                raise self._failure
            if self._rest is None and len(batch) == size:
                self._readings().add(self)
        return batch

    def complete(self) -> None:
        """Fetch the remaining items, see `Completable.complete`.

        Beyond a maximal number, items are not fetched, and the reader gets an error.

        Raises:
            ReasonerError: The generator is running: a function that it calls is about to change what it reads.
        """
        if self._fetching == get_ident():
            raise ReasonerError("a function that a query calls cannot change what is queried")
        if self._rest is None:
            rest: list[Any] = []
            self._rest, self._failure = iter(rest), ReasonerError(CHANGED)  # where an interrupt strikes on the way
            try:
                with self._reading():  # within the reader's limits
                    rest.extend(islice(self._source, MOST_COMPLETED + 1))
                self._failure = ReasonerError(CHANGED) if len(rest) > MOST_COMPLETED else None
            except Exception as error:
                self._failure = error
            self._rest = iter(rest if self._failure is None else [])
