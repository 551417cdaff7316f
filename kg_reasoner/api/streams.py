"""Streams of updates, each applied as one transaction, on request with a look at the next one where it is available.

What the present update adds and the next one deletes can be marked while the present one is applied (Illich and Glimm,
"Backward/Forward with Marking for Update Streams"). Nothing ever waits for the next update: a sequence is indexed, any other
iterable is read ahead.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol, overload

from kg_reasoner.api.foresight import expect_update
from kg_reasoner.api.update import Row, Update
from kg_reasoner.concurrency.forking import new_mutex
from kg_reasoner.errors import ReasonerError, StreamError
from kg_reasoner.program import TRIPLE, Program, Rule
from kg_reasoner.query.delta import Delta
from kg_reasoner.terms import AnyTriple

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncGenerator

__all__ = ["AHEAD", "process"]

AHEAD: Final = 2
"""The maximal number of updates that are read ahead."""


class UpdateTransaction(Protocol):
    """The part of a transaction that a stream requires."""

    def remove_facts(self, predicate: str, rows: Iterable[Row], /) -> None: ...
    def remove_triples(self, triples: Iterable[AnyTriple], /) -> None: ...
    def remove_rules(self, rules: Iterable[Rule], /) -> None: ...
    def add_program(self, program: Program | str, /) -> None: ...
    def add_facts(self, predicate: str, rows: Iterable[Row], /) -> None: ...
    def add_triples(self, triples: Iterable[AnyTriple], /) -> None: ...

    @property
    def is_open(self) -> bool: ...

    def begin(self) -> object: ...

    def commit(self) -> object: ...

    def rollback(self) -> None: ...

    @property
    def delta(self) -> Delta: ...


class UpdateTarget(Protocol):
    """The part of a reasoner that a stream requires."""

    def transaction(self) -> UpdateTransaction: ...

    def foresee(self, update: Update | None, /) -> None:
        """Announce the update after the next transaction, as far as it is known (None: nothing is)."""


@overload
def process(reasoner: UpdateTarget, stream: Iterable[Update], marking: bool = ...) -> Iterator[Delta]: ...
@overload
def process(reasoner: UpdateTarget, stream: AsyncIterable[Update], marking: bool = ...) -> AsyncIterator[Delta]: ...
def process(
    reasoner: UpdateTarget, stream: Iterable[Update] | AsyncIterable[Update], marking: bool = False
) -> Iterator[Delta] | AsyncIterator[Delta]:
    """Apply the updates of a stream one by one, each when the next delta is requested, as a transaction of its own.

    With `marking`, an iterator that is not a sequence is read by a thread of its own (an asynchronous one by a task of its own), at
    most `AHEAD` updates ahead, so that it must not use the reasoner; those read and not applied when the deltas are given up are
    lost. Without `marking` each update is read when it is due, in the thread that requests its delta.

    Args:
        reasoner: What the updates are applied to.
        stream: An iterable or asynchronous iterable of updates.
        marking: Look one update ahead, so that the reasoner can prepare for its deletions. Results do not depend on it. It
            takes less time if updates replace what the ones before them brought, under rules that join much and derive little,
            and more in other cases (``python -m benchmarks.marking``).

    Returns:
        An iterator of deltas, one for each update, empty ones too; an asynchronous one if the stream is asynchronous.

    Raises:
        StreamError: While iterating: the stream raised, or an update could not be applied and was rolled back. The updates
            before it are in place. The original error is the `__cause__`.
        ReasonerError: The argument is not a stream.
    """
    if isinstance(stream, AsyncIterable):
        return _process_async(reasoner, stream, marking)
    if not isinstance(stream, Iterable):
        raise ReasonerError(f"{stream!r} is not a stream of updates: it cannot be iterated over")
    return _process(reasoner, stream, marking)


# --- applying --------------------------------------------------------------------------------------------------------------


def _apply(reasoner: UpdateTarget, update: Update, number: int) -> Delta:
    """Apply the update with this number (the first is 1) atomically."""
    try:
        return _transact(reasoner, update)
    except Exception as error:
        raise StreamError(f"update {number} of the stream was not applied: {error}", number - 1) from error


def _transact(reasoner: UpdateTarget, update: Update) -> Delta:
    expect_update(update)
    transaction = reasoner.transaction()
    try:  # a fault on the first line of `__exit__` would leave a ``with`` block's transaction open
        transaction.begin()
        _change(transaction, update)
        transaction.commit()
    finally:
        if transaction.is_open:
            transaction.rollback()
    return transaction.delta


def _change(transaction: UpdateTransaction, update: Update) -> None:
    """Remove and add what an update says."""
    for predicate, rows in update.removed.items():
        if predicate == TRIPLE:
            transaction.remove_triples(map(_triple, rows))
        else:
            transaction.remove_facts(predicate, rows)
    if update.remove_rules:
        transaction.remove_rules(update.remove_rules)
    if update.add_rules is not None:
        transaction.add_program(update.add_rules)
    for predicate, rows in update.added.items():
        if predicate == TRIPLE:
            transaction.add_triples(map(_triple, rows))
        else:
            transaction.add_facts(predicate, rows)


def _triple(row: Row) -> AnyTriple:
    if len(row) != 3:
        raise ReasonerError(f"a triple has 3 terms, not {len(row)}")
    return row[0], row[1], row[2]


def _foresee(reasoner: UpdateTarget, update: Update | None) -> None:
    """Announce the next update. Errors in it are raised when it is applied."""
    with suppress(ReasonerError):
        reasoner.foresee(update if isinstance(update, Update) else None)


def _failure(error: Exception, applied: int) -> StreamError:
    """Return the exception for an error of the stream itself."""
    after = "before the first update" if applied == 0 else f"after {applied} update{'s' if applied > 1 else ''}"
    return StreamError(f"the stream failed {after}: {type(error).__name__}: {error}", applied)


# --- iterators -------------------------------------------------------------------------------------------------------------


class _Source(Protocol):
    """Updates in order. `take` waits for the next one, and raises StopIteration at the end; `peek` returns the one after it, or
    None.
    """

    def take(self) -> Update: ...
    def peek(self) -> Update | None: ...
    def close(self) -> None: ...


def _process(reasoner: UpdateTarget, stream: Iterable[Update], marking: bool) -> Generator[Delta, None, None]:
    source: _Source = _InTurn(stream) if not marking else _InPlace(stream) if isinstance(stream, Sequence) else _InThread(stream)
    applied = 0
    try:
        while True:
            try:
                update = source.take()
            except StopIteration:
                return
            except Exception as error:
                raise _failure(error, applied) from error
            if marking:
                _foresee(reasoner, source.peek())
            delta = _apply(reasoner, update, applied + 1)
            applied += 1
            yield delta
    finally:
        source.close()
        if marking:
            _foresee(reasoner, None)


class _InTurn:
    """Reads each update of a stream when it is due, without looking ahead."""

    def __init__(self, stream: Iterable[Update]) -> None:
        self._stream: Iterator[Update] | None = None
        self._iterable = stream

    def take(self) -> Update:
        if self._stream is None:
            self._stream = iter(self._iterable)
        return next(self._stream)

    def peek(self) -> Update | None:
        return None

    def close(self) -> None:
        """Do nothing: nothing is open."""


class _InPlace:
    """Reads a sequence, which may grow meanwhile."""

    def __init__(self, stream: Sequence[Update]) -> None:
        self._stream = stream
        self._next = 0

    def take(self) -> Update:
        if self._next >= len(self._stream):
            raise StopIteration
        self._next += 1
        return self._stream[self._next - 1]

    def peek(self) -> Update | None:
        return self._stream[self._next] if self._next < len(self._stream) else None

    def close(self) -> None:
        """Do nothing: nothing is open."""


class _InThread:
    """Reads a stream in a daemon thread, at most `AHEAD` updates ahead.

    The thread ends with the stream, or when it is closed, after the update that it is waiting for.
    """

    def __init__(self, stream: Iterable[Update]) -> None:
        self._ahead: deque[Update] = deque()
        self._changed = threading.Condition(new_mutex())
        self._closed = False
        self._end: BaseException | None = None  # StopIteration, or what the stream raised
        threading.Thread(target=self._read, args=(stream,), name="kg_reasoner stream", daemon=True).start()

    def _read(self, stream: Iterable[Update]) -> None:
        end: BaseException = StopIteration()
        try:
            updates = iter(stream)
            while self._wait_for_room():
                update = next(updates)
                with self._changed:
                    self._ahead.append(update)
                    self._changed.notify_all()
        except BaseException as error:  # the thread that takes gets to see it
            end = error
        with self._changed:
            self._end = end
            self._changed.notify_all()

    def _wait_for_room(self) -> bool:
        """Wait until an update is wanted; return False if none will be."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._ahead) < AHEAD)
            return not self._closed

    def take(self) -> Update:
        with self._changed:
            self._changed.wait_for(lambda: self._ahead or self._end is not None)
            if not self._ahead:
                assert self._end is not None
                raise self._end
            self._changed.notify_all()
            return self._ahead.popleft()

    def peek(self) -> Update | None:
        with self._changed:
            return self._ahead[0] if self._ahead else None

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()


# --- asynchronous iterators ------------------------------------------------------------------------------------------------


async def _process_async(reasoner: UpdateTarget, stream: AsyncIterable[Update], marking: bool) -> AsyncGenerator[Delta, None]:
    updates = _in_task(stream) if marking else _in_turn(stream)
    applied = 0
    try:
        while True:
            try:
                update, following = await updates.__anext__()
            except StopAsyncIteration:
                return
            except Exception as error:
                raise _failure(error, applied) from error
            if marking:
                _foresee(reasoner, following)
            delta = _apply(reasoner, update, applied + 1)
            applied += 1
            yield delta
    finally:
        await updates.aclose()
        if marking:
            _foresee(reasoner, None)


async def _in_turn(stream: AsyncIterable[Update]) -> AsyncGenerator[tuple[Update, Update | None], None]:
    async for update in stream:
        yield update, None


async def _in_task(stream: AsyncIterable[Update]) -> AsyncGenerator[tuple[Update, Update | None], None]:
    """Yield each update, and the next one if it is available. A separate task reads the stream, at most `AHEAD` updates ahead."""
    import asyncio

    ahead: deque[Update] = deque()
    room, arrival = asyncio.Event(), asyncio.Event()
    room.set()
    reader = asyncio.ensure_future(_read(stream, ahead, room, arrival))
    reader.add_done_callback(lambda _: arrival.set())
    try:
        while True:
            await arrival.wait()
            if not ahead:
                await reader  # it has ended: well, or with the stream's error
                return
            await asyncio.sleep(0)  # a stream that need not wait gets its turn to give the next one
            update = ahead.popleft()
            room.set()
            if not ahead and not reader.done():
                arrival.clear()
            yield update, ahead[0] if ahead else None
    finally:
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)


async def _read(stream: AsyncIterable[Update], ahead: deque[Update], room: asyncio.Event, arrival: asyncio.Event) -> None:
    async for update in stream:
        ahead.append(update)
        arrival.set()
        if len(ahead) >= AHEAD:
            room.clear()
        await room.wait()
