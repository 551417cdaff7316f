"""Runs sweeps: one forked process for each fault, which changes its copy of the subject and judges what is left of it."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import os
import pickle
import random
import select
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any, Final, NoReturn

from kg_reasoner.errors import ReasonerError, TransactionError
from kg_reasoner.storage import capacities as table_capacities
from tests.faults.injectors import KINDS, Injector, origin
from tests.faults.scenarios import Scenario
from tests.faults.subjects import Snapshot, Subject, differences, facts_of, is_what_follows, shake, snapshot

OUTCOMES: Final = ("before", "after", "neither", "broken", "crashed", "hung")
"""What a fault can leave: the state before the operation, the one after it, or another one; a right one, with which something goes
wrong later (the operation's repetition, a rollback, further updates); nothing, as the process has crashed, or does not end."""

GOOD: Final = ("before", "after")
TIME_LIMIT: Final = 10.0
"""Seconds for a process."""

TINY: Final = table_capacities.Capacities(rows=1, slots=2, arena=1, grown_rows=1, grown_slots=2, grown_arena=1, page_bits=1, dead=1)
SHARED: Final = table_capacities.Capacities(
    block=1, heads=1, shared_instances=1, shared_heads=1, shared_facts=1, shared_rows=1, shared_triples=1, inserted_heads=3
)


@dataclass(frozen=True)
class Result:
    """What came of one fault.

    Attributes:
        at: the number of the place.
        outcome: one of `OUTCOMES`.
        where: the place, with its callers; None if it was not reached.
        why: what is wrong, if something is.
    """

    at: int
    outcome: str
    where: str | None
    why: str = ""


@dataclass
class Sweep:
    """The results of one scenario under one kind of faults."""

    scenario: str
    kind: str
    places: int
    """How many there are."""
    results: list[Result] = field(default_factory=list)

    def counts(self) -> Counter[str]:
        """How often each outcome was had."""
        return Counter(result.outcome for result in self.results)

    @property
    def failures(self) -> list[Result]:
        """The faults that have done harm."""
        return [result for result in self.results if result.outcome not in GOOD]


class NotReproducible(Exception):
    """A scenario does not do what its table entry says, even without a fault."""


@dataclass(frozen=True)
class Expected:
    """The states that there should be."""

    before: Snapshot
    after: Snapshot
    repeated: Snapshot
    """After the operation was done twice."""
    undone: Snapshot
    """After a rollback instead of the operation."""
    done_and_undone: Snapshot
    """After the operation and a rollback, if it leaves something to roll back."""
    places: Sequence[str]


def sweep(
    scenario: Scenario,
    kind: str,
    choose: Callable[[Sequence[str]], Iterable[int]],
    *,
    jobs: int = 1,
    on_result: Callable[[Result], object] = lambda _: None,
    seconds: float = TIME_LIMIT,
) -> Sweep:
    """Raise a fault at chosen places of a scenario, each in a process of its own.

    Args:
        choose: given all places, the numbers (from 1) of those to try.
        jobs: processes at a time.
        on_result: told of each result.
        seconds: the limit for a process; one that takes longer counts as hung.

    Raises:
        NotReproducible: the operation fails without a fault, or leaves what does not follow.
    """
    with capacities(scenario):
        _warm_up(scenario, kind)
        subject = scenario.make()
        expected = _expected(scenario, kind, subject)
        done = Sweep(scenario.name, kind, len(expected.places))
        waiting: deque[_Child] = deque()
        for at in choose(expected.places):
            waiting.append(_Child(at, partial(_try, scenario, kind, subject, expected, at), seconds))
            if len(waiting) >= jobs:
                _take(waiting.popleft(), done, on_result)
        while waiting:
            _take(waiting.popleft(), done, on_result)
    return done


def _warm_up(scenario: Scenario, kind: str) -> None:
    """Do once what each process will do, so that it finds modules imported, kernels compiled and lines of code read."""
    subject = scenario.make()
    KINDS[kind](-1).call(lambda: scenario.operation(subject))
    with contextlib.suppress(ReasonerError):
        snapshot(subject)
        _undo(subject)
        shake(subject)
        is_what_follows(subject)


@contextmanager
def capacities(scenario: Scenario) -> Iterator[None]:
    """Have tables that are full all the time, if a scenario asks for them."""
    usual = table_capacities.current
    if scenario.is_tiny:
        table_capacities.current = TINY
    if scenario.is_shared:
        table_capacities.current = SHARED
    try:
        yield
    finally:
        table_capacities.current = usual


def _take(child: _Child, done: Sweep, on_result: Callable[[Result], object]) -> None:
    result = child.result()
    if result.where is None and result.outcome in GOOD:
        return  # a signal that came too late
    done.results.append(result)
    on_result(result)


# --- in forked processes ---------------------------------------------------------------------------------------------------


def _expected(scenario: Scenario, kind: str, subject: Subject) -> Expected:
    """What the scenario does without faults."""

    def before(tell: Callable[[object], None]) -> None:
        tell(snapshot(subject))
        tell(is_what_follows(subject))
        _undo(subject)
        tell(snapshot(subject))

    def after(tell: Callable[[object], None]) -> None:
        counter = KINDS[kind]()
        error = counter.call(lambda: scenario.operation(subject))
        if error is not None:
            raise error
        tell(counter.places)
        tell(snapshot(subject))
        tell(is_what_follows(subject))
        scenario.operation(subject)
        tell(snapshot(subject))
        _undo(subject)
        tell(snapshot(subject))

    first, is_right, undone = _Child(0, before).messages()
    places, then, is_right_after, repeated, done_and_undone = _Child(0, after).messages()
    if not (is_right and is_right_after):
        raise NotReproducible(f"{scenario.name}: what is derived does not follow, even without a fault")
    return Expected(first, then, repeated, undone, done_and_undone, places)


def _try(scenario: Scenario, kind: str, subject: Subject, expected: Expected, at: int, tell: Callable[[object], None]) -> None:
    """Raise a fault, and tell what is left, step by step."""
    injector: Injector = KINDS[kind](at)
    injector.on_hit = tell
    has_raised = injector.call(lambda: scenario.operation(subject)) is not None  # nobody keeps the exception, nor its frames
    if injector.where is None and not has_raised:
        tell(("after", ""))
        return
    try:
        tell(_judge(scenario, subject, expected, has_raised))
    except _Wrong as wrong:
        tell(wrong.args)
    except BaseException as later:
        tell(("broken", f"{type(later).__name__} at {origin(later.__traceback__)}: {str(later)[:200]}"))


class _Wrong(Exception):
    """Something is not as it should be: an outcome, and what is wrong."""


def _judge(scenario: Scenario, subject: Subject, expected: Expected, has_raised: bool) -> tuple[str, str]:
    """What is left after a fault. Where nothing was raised, the operation has to be done.

    Raises:
        _Wrong: it is not what should be.
    """
    if scenario.then == "roll back" and subject.reasoner.open_transaction is not None:
        _undo(subject)
        _compare(subject, expected.undone, "rolled back")
        _go_on(subject)
        return "before", ""
    seen = snapshot(subject)
    has_begun = scenario.leaves_open or subject.graph is not None or subject.transaction is not None
    if not has_begun and subject.reasoner.open_transaction is not None:
        if not scenario.is_block:
            raise _Wrong("broken", "a transaction is open that nobody has begun")
        _undo(subject)  # a fault before the first line of `__exit__` leaves the transaction of a block open
        seen = snapshot(subject)
    states = {"before": expected.before, "after": expected.after} if has_raised else {"after": expected.after}
    if scenario.may_undo and has_raised:
        states["undone"] = expected.undone
    distances = {name: differences(seen, state) for name, state in states.items()}
    state = min(distances, key=lambda name: len(distances[name]))
    if distances[state] and not scenario.is_one and has_raised:
        _undo(subject)
        _compare(subject, expected.undone, "rolled back")
        _go_on(subject)
        return "before", ""
    if distances[state]:
        follows = "what is derived follows" if is_what_follows(subject) else "what is derived does not follow"
        raise _Wrong("neither", f"compared with {state}: {'; '.join(distances[state])}; {follows}")
    if state != "undone":
        scenario.operation(subject)
        _compare(subject, expected.repeated if state == "after" else expected.after, "repeated")
        _end(subject, expected)
    _go_on(subject)
    return "after" if state == "after" else "before", ""


def _end(subject: Subject, expected: Expected) -> None:
    """Commit what was begun before the fault; a graph is rolled back."""
    transaction = subject.transaction
    if subject.graph is not None or transaction is None or not transaction.is_open:
        _undo(subject)
        _compare(subject, expected.done_and_undone, "rolled back")
        return
    kept = snapshot(subject)
    try:
        transaction.commit()
    except TransactionError:  # what it has changed is not known, and all of it is undone
        kept = expected.undone
    _compare(subject, kept, "committed")


def _go_on(subject: Subject) -> None:
    """Update further, in another thread, as locks that are held show themselves there; subscribers hear of everything."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            shake(subject)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    if not is_what_follows(subject):
        raise _Wrong("broken", "after further updates, what is derived does not follow")
    mirror = subject.mirror
    if mirror is not None and not mirror.is_broken and mirror.facts != facts_of(subject.reasoner):
        raise _Wrong("broken", "a subscriber was not told of everything")


def _compare(subject: Subject, expected: Snapshot, done: str) -> None:
    wrong = differences(snapshot(subject), expected)
    if wrong:
        raise _Wrong("broken", f"{done}: {'; '.join(wrong)}")


def _undo(subject: Subject) -> None:
    """Roll back what is open, if anything is."""
    if subject.graph is not None:
        subject.graph.rollback()
    elif subject.reasoner.open_transaction is not None:
        subject.reasoner.open_transaction.rollback()


# --- processes -------------------------------------------------------------------------------------------------------------


class _Child:
    """A forked process that runs a function and sends what it tells. It shares no buffer with this one.

    Attributes:
        is_one: whether this process is such a process.
    """

    is_one = False

    def __init__(self, at: int, function: Callable[[Callable[[object], None]], None], seconds: float | None = None) -> None:
        self.at = at
        self._crash: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed when the result is taken
        self._deadline = time.monotonic() + (seconds or TIME_LIMIT)
        sys.stdout.flush()
        sys.stderr.flush()
        self._read, write = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            self._run(function, write)
        os.close(write)

    def _run(self, function: Callable[[Callable[[object], None]], None], write: int) -> NoReturn:
        try:
            os.close(self._read)
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            faulthandler.enable(self._crash)
            if not _Child.is_one:  # its thread would be missing in a child of this one, and waited for
                faulthandler.dump_traceback_later(max(0.1, self._deadline - time.monotonic() - 0.5), file=self._crash)
            _Child.is_one = True

            def tell(message: object) -> None:
                data = memoryview(pickle.dumps(message))
                while data:
                    data = data[os.write(write, data) :]

            try:
                function(tell)
            except BaseException as error:
                tell(error)
        finally:
            os._exit(0)

    def result(self) -> Result:
        """What has come of it."""
        messages, status = self._end()
        where = messages[0] if messages and isinstance(messages[0], str) else None
        if status:
            return Result(self.at, "hung" if status.startswith("hung") else "crashed", where, status)
        if isinstance(messages[-1], BaseException):
            return Result(self.at, "broken", where, repr(messages[-1]))
        outcome, why = messages[-1]
        return Result(self.at, outcome, where, why)

    def messages(self) -> list[Any]:
        """What it tells; what it raises, is raised here."""
        messages, status = self._end()
        if status:
            raise NotReproducible(status)
        if messages and isinstance(messages[-1], BaseException):
            raise messages[-1]
        return messages

    def _end(self) -> tuple[list[Any], str]:
        """What it has told, and how it has ended, if not well."""
        data, is_hung = io.BytesIO(), False
        while True:
            ready, _, _ = select.select([self._read], [], [], max(0.0, self._deadline - time.monotonic()))
            if not ready:
                is_hung = True
                os.kill(self._pid, signal.SIGKILL)
                break
            block = os.read(self._read, 1 << 16)
            if not block:
                break
            data.write(block)
        os.close(self._read)
        _, code = os.waitpid(self._pid, 0)
        messages = []
        data.seek(0)
        with contextlib.suppress(EOFError, pickle.UnpicklingError):
            while True:
                messages.append(pickle.load(data))
        trace = self._crashed_at()
        self._crash.close()
        if not os.WIFSIGNALED(code):
            return messages, ""
        return messages, f"{'hung' if is_hung else signal.Signals(os.WTERMSIG(code)).name}; {trace}"

    def _crashed_at(self) -> str:
        """The innermost lines of Python code when it crashed, or shortly before its time was over."""
        self._crash.seek(0)
        lines = self._crash.read().decode(errors="replace").splitlines()
        frames = [line.strip() for line in lines if line.strip().startswith("File")]
        return "; ".join(frames[:4])


def in_child(function: Callable[[], object], seconds: float | None = None) -> Any:
    """Call a function in a forked process. Returns what it returns, and raises what it raises.

    Raises:
        NotReproducible: the process crashes, or does not end within a number of seconds.
    """
    return _Child(0, lambda tell: tell(function()), seconds).messages()[-1]


# --- which places ----------------------------------------------------------------------------------------------------------


def distinct(places: Sequence[str]) -> list[int]:
    """Each line, called from the same lines, when it is first reached, and when it is last reached."""
    first = {place: at for at, place in reversed(list(enumerate(places, 1)))}
    last = {place: at for at, place in enumerate(places, 1)}
    return sorted({*first.values(), *last.values()})


def each_line(places: Sequence[str]) -> list[int]:
    """Each line when it is first reached, whoever calls it."""
    return sorted({place.split(" < ")[0]: at for at, place in reversed(list(enumerate(places, 1)))}.values())


def sample(count: int, seed: str) -> Callable[[Sequence[str]], Iterable[int]]:
    """Some of the distinct places, the same ones for the same seed."""

    def choose(places: Sequence[str]) -> list[int]:
        candidates = distinct(places)
        return sorted(random.Random(seed).sample(candidates, min(count, len(candidates))))

    return choose
