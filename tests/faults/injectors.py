"""Faults: an exception at the n-th line of the package's code, at its n-th allocation, or after a while by a signal.

An injector is used once, in a process that is given up afterwards: it calls a function, and tells where the fault hit.
"""

from __future__ import annotations

import ast
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any, Final, NoReturn

import numpy as np

import kg_reasoner
from kg_reasoner import loaders, rulesets

PLACES: Final = tuple(f"{Path(str(module.__file__)).parent}/" for module in (kg_reasoner, loaders, rulesets))
"""Where the package's code is."""

ROOT: Final = f"{Path(str(kg_reasoner.__file__)).parents[1]}/"
SHOWN_CALLERS: Final = 3
TICK: Final = 2e-5
"""Seconds between two signals."""

_ALLOCATING: Final = """
arange argsort array asarray ascontiguousarray broadcast_to column_stack concatenate cumsum delete empty empty_like flatnonzero
fromiter full full_like nonzero ones repeat searchsorted sort unique where zeros zeros_like
"""
ALLOCATING: Final = frozenset(_ALLOCATING.split())
"""Functions of numpy that make arrays."""


class Injector(ABC):
    """Calls a function, and raises an exception in the midst of it.

    Args:
        at: the number of the place, counted from 1; 0: nowhere, to list the places; -1: nowhere.

    Attributes:
        count: how many places there were until the fault, or in all.
        places: all of them in their order, if there is no fault: equal texts are the same line, called from the same lines.
        where: the place that was hit, with its callers; None if none was.
    """

    def __init__(self, at: int = 0) -> None:
        self.at = at
        self.count = 0
        self.places: list[str] = []
        self.where: str | None = None
        self.on_hit: Callable[[str], object] = str
        """Told of the place just before the exception is raised, as the process may crash then."""

    def _hit(self, frame: FrameType | None, error: type[BaseException]) -> NoReturn:
        """Raise the exception."""
        sys.settrace(None)
        self.where = place_of(frame)
        self.on_hit(self.where)
        raise error("injected")

    def _reach(self, frame: FrameType, error: type[BaseException]) -> None:
        """A place is reached."""
        self.count += 1
        if self.at == 0:
            self.places.append(place_of(frame))
        if self.count == self.at:
            self._hit(frame, error)

    def call(self, function: Callable[[], object]) -> BaseException | None:
        """Call it. Returns what it raised."""
        try:
            self._start()
            function()
        except BaseException as error:
            return error
        finally:
            self._stop()
        return None

    @abstractmethod
    def _start(self) -> None: ...

    @abstractmethod
    def _stop(self) -> None: ...


class Lines(Injector):
    """Raises at a line of Python code."""

    error: type[BaseException] = KeyboardInterrupt

    def _start(self) -> None:
        sys.settrace(self._enter)

    def _stop(self) -> None:
        sys.settrace(None)

    def _enter(self, frame: FrameType, event: str, _: object) -> Any:
        return self._step if frame.f_code.co_filename.startswith(PLACES) else None

    def _step(self, frame: FrameType, event: str, _: object) -> Any:
        if event == "line" and not leaves_block(frame):
            self._reach(frame, self.error)
        return self._step


class MemoryLines(Lines):
    """Raises MemoryError at a line."""

    error = MemoryError


def leaves_block(frame: FrameType) -> bool:
    """Whether a ``with`` block is being left. Its line comes up again then, and no signal is handled between the end of the
    block and the call of ``__exit__``: an exception there would be one that no program ever sees."""
    first = with_lines(frame.f_code).get(frame.f_lineno)
    return first is not None and frame.f_lasti > first


_with_lines: dict[int, tuple[CodeType, Mapping[int, int]]] = {}
"""What `with_lines` has found, by the identity of the code: to compare code takes as long as to run a line of it."""


def with_lines(code: CodeType) -> Mapping[int, int]:
    """Where the code of each line with a ``with`` begins."""
    if id(code) not in _with_lines:
        wanted = _with_lines_of_file(code.co_filename)
        starts: dict[int, int] = {}
        for start, _, line in code.co_lines():
            if line in wanted:
                starts.setdefault(line, start)
        _with_lines[id(code)] = code, starts
    return _with_lines[id(code)][1]


@cache
def _with_lines_of_file(name: str) -> frozenset[int]:
    tree = ast.parse(Path(name).read_bytes())
    blocks = [node for node in ast.walk(tree) if isinstance(node, (ast.With, ast.AsyncWith))]
    return frozenset(item.context_expr.lineno for node in blocks for item in node.items) | {node.lineno for node in blocks}


class Allocations(Injector):
    """Raises MemoryError where numpy makes an array, in any module of the package."""

    def _start(self) -> None:
        self._modules = [module for name, module in list(sys.modules.items()) if name.startswith("kg_reasoner")]
        self._modules = [module for module in self._modules if vars(module).get("np") is np]
        short = _ShortOfMemory(self)
        for module in self._modules:
            vars(module)["np"] = short

    def _stop(self) -> None:
        for module in self._modules:
            vars(module)["np"] = np

    def step(self) -> None:
        """An array is about to be made."""
        self._reach(sys._getframe(2), MemoryError)


class _ShortOfMemory(ModuleType):
    """numpy, with an injector that is told of arrays."""

    def __init__(self, injector: Allocations) -> None:
        super().__init__("numpy")
        self._injector = injector

    def __getattr__(self, name: str) -> Any:
        member = getattr(np, name)
        if name not in ALLOCATING:
            return member

        def make(*arguments: Any, **named: Any) -> Any:
            self._injector.step()
            return member(*arguments, **named)

        return make


class Signals(Injector):
    """Raises KeyboardInterrupt from a signal's handler; its places are `TICK` apart in time."""

    def _start(self) -> None:
        self._is_on = True
        signal.signal(signal.SIGALRM, self._interrupt)
        self._began = time.perf_counter()
        if self.at > 0:
            signal.setitimer(signal.ITIMER_REAL, self.at * TICK)

    def _stop(self) -> None:
        self._is_on = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.count = 1 + int((time.perf_counter() - self._began) / TICK)
        self.places = [f"after {1e3 * TICK * number:.2f} ms" for number in range(1, self.count + 1)]

    def _interrupt(self, _: int, frame: FrameType | None) -> None:
        is_ours = frame is not None and frame.f_code.co_filename == __file__  # the operation has not begun, or has ended
        if self._is_on and not is_ours:
            self._is_on = False
            self._hit(frame, KeyboardInterrupt)


KINDS: Final[Mapping[str, type[Injector]]] = {
    "interrupts": Lines,
    "memory": MemoryLines,
    "allocations": Allocations,
    "signals": Signals,
}
"""Faults by name: KeyboardInterrupt or MemoryError at lines, MemoryError where arrays are made, KeyboardInterrupt by a timer."""


def place_of(frame: FrameType | None) -> str:
    """The line of the package that a frame is at, and the lines that it was called from."""
    found: list[str] = []
    while frame is not None and len(found) < SHOWN_CALLERS:
        name = frame.f_code.co_filename
        if name.startswith(PLACES):
            found.append(f"{name.removeprefix(ROOT)}:{frame.f_lineno} {frame.f_code.co_name}")
        frame = frame.f_back
    return " < ".join(found) or "outside of the package"


def origin(trace: TracebackType | None) -> str:
    """The innermost line of the package in a traceback."""
    last = "outside of the package"
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name.startswith(PLACES):
            last = f"{name.removeprefix(ROOT)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return last
