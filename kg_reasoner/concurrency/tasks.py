"""Tasks that several threads run at the same time. The calling thread can be interrupted, and no task outlives the call."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextvars import copy_context
from functools import partial
from typing import Final, TypeAlias

__all__ = ["NAME", "Round", "Task", "ThreadPool", "run_together"]

NAME: Final = "kg_reasoner tasks"
"""The name of the threads."""

WAIT: Final = 0.02
"""Seconds after which a thread that waits looks again: it may have been interrupted between two lines."""

IDLE_TIME: Final = 0.05
"""Seconds for which a thread of a pool waits for another job."""

Task: TypeAlias = "Callable[[], object]"


def run_together(tasks: Iterable[Task], threads: int, pool: ThreadPool | None = None) -> None:
    """Run tasks in this thread, which takes the first of them, and in up to `threads` - 1 others.

    When this returns or raises, no task is running.

    Args:
        tasks: The tasks.
        threads: The number of threads, with this one.
        pool: The other threads. Without a pool, new threads are started.

    Raises:
        BaseException: What one of the tasks has raised; those that have not begun then do not begin.
    """
    waiting = deque(tasks)
    first = waiting.popleft()
    queue = _TaskQueue(waiting)
    try:
        try:
            queue.start(min(threads - 1, len(waiting)), pool)
            first()
            queue.work()
        finally:
            queue.end()
    finally:  # an interrupt may have struck before the line above
        queue.end()
    queue.raise_error()


class Round:
    """Tasks that other threads run, while this one waits and can stop them.

    Args:
        is_over: Says whether the tasks have to end early.
        stop: Makes them end early.
        pool: The threads that run the tasks. Without a pool, new threads do.
    """

    def __init__(self, is_over: Callable[[], object], stop: Callable[[], None], pool: ThreadPool | None = None) -> None:
        self._is_over, self._stop, self._pool = is_over, stop, pool

    def run(self, tasks: Iterable[Task], threads: int) -> None:
        """Run tasks in a number of threads, or in this one if the system allows no further ones, or all have ended early.

        When this returns or raises, no task is running.

        Raises:
            BaseException: What one of the tasks has raised; those that have not begun then do not begin.
        """
        waiting = deque(tasks)
        queue = _TaskQueue(waiting)
        try:
            try:
                queue.start(min(threads, len(waiting)), self._pool)
                queue.wait(self._is_over, self._stop)
                queue.work()
            finally:
                queue.end(self._stop)
        finally:  # an interrupt may have struck before the line above
            queue.end(self._stop)
        queue.raise_error()


class ThreadPool:
    """Threads that are kept for the next tasks.

    Starting a thread takes as long as a small task, and the system often lets it begin on the core of the thread that starts it.
    Threads end when they have waited for a job for a moment, or at the end of a `with` block.
    """

    def __init__(self) -> None:
        self._threads: list[_PoolThread] = []
        self._process = os.getpid()

    def give(self, job: Callable[[], Task], count: int) -> list[threading.Thread]:
        """Give jobs to a number of threads, as many as the system allows, and return those that have got one."""
        if self._process != os.getpid():  # a forked process has none of the threads
            self._threads, self._process = [], os.getpid()
        for place in range(count):
            if place < len(self._threads) and self._threads[place].give(job()):
                continue
            thread = _PoolThread(job())
            try:
                thread.start()
            except RuntimeError:
                return [*self._threads[:place]]
            self._threads[place : place + 1] = [thread]
        return [*self._threads[:count]]

    def __enter__(self) -> ThreadPool:
        """Return this."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the threads."""
        if self._process == os.getpid():
            for thread in self._threads:
                thread.end()


class _PoolThread(threading.Thread):
    """A thread that does one job after the other.

    Args:
        job: The first job.
    """

    def __init__(self, job: Task) -> None:
        super().__init__(name=NAME, daemon=True)
        self._job: Task | None = job
        self._given = threading.Condition()
        self._is_to_end = self._has_ended = False

    def end(self) -> None:
        """Let the thread end, and wait until it has."""
        with self._given:
            self._is_to_end = True
            self._given.notify()
        self.join()

    def give(self, job: Task) -> bool:
        """Let the thread do a job next; return False if it has ended, maybe by an error."""
        with self._given:
            if self._has_ended or not self.is_alive():
                return False
            self._job = job
            self._given.notify()
            return True

    def run(self) -> None:
        """Do the jobs."""
        while (job := self._next()) is not None:
            job()

    def _next(self) -> Task | None:
        with self._given:
            if self._job is None and not self._is_to_end:
                self._given.wait(IDLE_TIME)
            job, self._job = self._job, None
            self._has_ended = job is None
            return job


class _TaskQueue:
    """Tasks, and the threads that take one after the other.

    Args:
        waiting: The tasks that no thread has taken.
    """

    def __init__(self, waiting: deque[Task]) -> None:
        self._waiting = waiting
        self._errors: list[BaseException] = []
        self._own: list[threading.Thread] = []
        """The threads that were started for this queue."""
        self._threads: Sequence[threading.Thread] = self._own
        """The threads that are to take tasks."""
        self._changed = threading.Condition()
        self._running: set[int] = set()
        """The threads that take tasks."""
        self._is_closed = False

    def start(self, count: int, pool: ThreadPool | None = None) -> None:
        """Let threads of the pool, or new ones, take tasks: as many as the system allows."""
        if pool is not None:
            self._threads = pool.give(lambda: partial(copy_context().run, self._perform), count)
            return
        for _ in range(count):
            thread = threading.Thread(target=copy_context().run, args=(self._perform,), name=NAME, daemon=True)
            try:
                thread.start()
            except RuntimeError:
                break
            self._own.append(thread)

    def work(self) -> None:
        """Take tasks until there is none, or one has failed."""
        while not self._errors and not self._is_closed:
            try:
                task = self._waiting.popleft()
            except IndexError:
                break
            task()

    def wait(self, is_over: Callable[[], object], stop: Callable[[], None]) -> None:
        """Wait until no task runs, and none waits for a thread, or one has failed."""
        with self._changed:
            while self._running or (self._waiting and not self._errors and any(thread.is_alive() for thread in self._threads)):
                self._changed.wait(WAIT)
                if self._errors or is_over():
                    stop()

    def end(self, stop: Callable[[], None] = lambda: None) -> None:
        """Prevent further tasks from beginning, and wait for those that have begun, whatever interrupts this.

        An interrupt is raised when none is running.
        """
        interrupt: BaseException | None = None
        while True:
            try:
                with self._changed:
                    self._is_closed = True
                    if not self._running:
                        break
                    stop()
                    self._changed.wait(WAIT)
            except BaseException as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt
        for thread in self._own:
            thread.join()

    def raise_error(self) -> None:
        """Raise what the first task that failed has raised."""
        if self._errors:
            raise self._errors[0]

    def _perform(self) -> None:
        try:
            with self._changed:
                if self._is_closed:
                    return
                self._running.add(threading.get_ident())
            self.work()
        except BaseException as error:
            self._errors.append(error)
        finally:
            self._running.discard(threading.get_ident())
            with self._changed:
                self._changed.notify_all()
