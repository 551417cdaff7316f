"""Parts of a whole that threads work on at the same time, while the results are collected in the order of the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Final, Generic, TypeVar

from kg_reasoner.concurrency.tasks import Task, ThreadPool, run_together

__all__ = ["PARTS_OF_A_THREAD", "ThreadPipeline", "deliver"]

PARTS_OF_A_THREAD: Final = 4
"""The number of parts per thread in a round: the more there are, the more evenly the work is shared, and the more memory it takes.
"""

Part = TypeVar("Part")
Worked = TypeVar("Worked")
Result = TypeVar("Result")


class ThreadPipeline(Generic[Part, Worked, Result]):
    """Yields a result for each part, in rounds. No thread runs a task between two results.

    In a round, this thread reads the parts of the next one, while other threads work on those that are there, and one of them
    collects the results of the round before. An error is raised behind the results of the parts before it.

    Args:
        parts: The parts; the next one is asked for by the thread that iterates over the results.
        work: What any thread does with any part.
        collect: Called with one part after the other, in their order, by one thread at a time.
        threads: The number of threads.
        goes_on: Says after each part that was collected whether to go on. If not, the iteration ends, and `rest` has the parts that
            were read but not collected.
    """

    def __init__(
        self,
        parts: Iterator[Part],
        work: Callable[[Part], Worked],
        collect: Callable[[Part, Worked], Result],
        threads: int,
        goes_on: Callable[[], bool] = lambda: True,
    ) -> None:
        self._parts = parts
        self._work, self._collect, self._goes_on = work, collect, goes_on
        self._threads = threads
        self.rest: list[Part] = []
        self._error: Exception | None = None

    def __iter__(self) -> Iterator[Result]:
        with ThreadPool() as pool:
            yield from self._rounds(pool)

    def _rounds(self, pool: ThreadPool) -> Iterator[Result]:
        waiting, ready = list[Part](), list[tuple[Part, Worked]]()
        self._read(waiting)
        while waiting or ready:
            following, worked = list[Part](), dict[int, Worked]()
            collection = _Collection(self._collect, self._goes_on, ready)
            tasks: list[Task] = [partial(self._read, following), collection.run]
            tasks += [partial(self._work_on, part, number, worked) for number, part in enumerate(waiting)]
            run_together(tasks, self._threads, pool)
            yield from collection.results
            if collection.error is not None:
                raise collection.error
            if not self._goes_on():
                self.rest = [*(part for part, _ in ready[len(collection.results) :]), *waiting, *following]
                return
            ready = [(part, worked[number]) for number, part in enumerate(waiting)]
            waiting = following
        if self._error is not None:
            raise self._error

    def _read(self, parts: list[Part]) -> None:
        if self._error is not None:
            return
        try:
            while len(parts) < PARTS_OF_A_THREAD * self._threads:
                parts.append(next(self._parts))
        except StopIteration:
            pass
        except Exception as error:
            self._error = error

    def _work_on(self, part: Part, number: int, worked: dict[int, Worked]) -> None:
        worked[number] = self._work(part)


class _Collection(Generic[Part, Worked, Result]):
    """The results of one round."""

    def __init__(
        self, collect: Callable[[Part, Worked], Result], goes_on: Callable[[], bool], ready: list[tuple[Part, Worked]]
    ) -> None:
        self._collect, self._goes_on, self._ready = collect, goes_on, ready
        self.results: list[Result] = []
        self.error: Exception | None = None

    def run(self) -> None:
        for part, found in self._ready:
            try:
                self.results.append(self._collect(part, found))
            except Exception as error:
                self.error = error
                return
            if not self._goes_on():
                return


def deliver(parts: Iterable[Part], work: Callable[[Part], Worked], sink: Callable[[Worked], object], threads: int) -> None:
    """Work on parts in several threads, and hand the results in order to a function in this thread.

    Args:
        parts: The parts; this thread asks for them.
        work: What any thread does with any part.
        sink: Gets the results.
        threads: The number of threads.
    """

    def hand_over(results: list[Worked]) -> None:
        for result in results:
            sink(result)

    def work_on(part: Part, number: int, worked: dict[int, Worked]) -> None:
        worked[number] = work(part)

    coming, ready = iter(parts), list[Worked]()
    with ThreadPool() as pool:
        while waiting := list(islice(coming, PARTS_OF_A_THREAD * threads)):
            worked = dict[int, Worked]()
            tasks = [partial(work_on, part, number, worked) for number, part in enumerate(waiting)]
            run_together([partial(hand_over, ready), *tasks], threads, pool)
            ready = [worked[number] for number in range(len(waiting))]
    hand_over(ready)
