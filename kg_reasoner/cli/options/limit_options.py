"""Limits of a command on time, facts and memory: the options of all commands that reason."""

from __future__ import annotations

import math
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from kg_reasoner.cli.options.group_options import group_option, group_values
from kg_reasoner.lazy_regex import regular_expression

if TYPE_CHECKING:
    from kg_reasoner.concurrency.limits import Limits

__all__ = ["TimedOut", "given_limits", "limit_options"]

_GROUP: Final = "limits"
_SIZE: Final = regular_expression(r"(\d{1,15}(?:\.\d{1,15})?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_POWERS: Final = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}

_Command = TypeVar("_Command", bound=Callable[..., Any])


class TimedOut(BaseException):
    """The command exceeded ``--timeout``. Like an interrupt, it can strike anywhere."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the command takes longer than its limit of {seconds:g} s (--timeout)")


class _Seconds(click.FloatRange):
    """A number of seconds."""

    name = "float range"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        found = super().convert(value, parameter, context)
        if math.isnan(found):
            self.fail(f"{value!r} is not a number", parameter, context)
        return found


def _bytes(text: str) -> int:
    """Return a number of bytes from text with an optional suffix."""
    found = _SIZE.fullmatch(text.strip())
    size = int(float(found[1]) * 1024 ** _POWERS[found[2].upper()]) if found else 0
    if size == 0:
        raise click.BadParameter(f"{text!r} is not a size: write a number of bytes, or a size such as 500M or 2G")
    return size


def limit_options(command: _Command) -> _Command:
    """Add the limit options to a command that reasons or queries, and run it within these limits."""

    @wraps(command)
    def limited(*arguments: Any, **options: Any) -> Any:
        with _within(given_limits()):
            return command(*arguments, **options)

    found: Any = limited
    for option in (
        group_option(
            _GROUP,
            "--max-memory",
            type=_bytes,
            metavar="BYTES",
            help="Stop when the tables of facts and terms take more than this, such as 500M or 2G (G is 1024 M).",
        ),
        group_option(
            _GROUP,
            "--max-facts",
            type=click.IntRange(min=1),
            metavar="N",
            help="Stop when there are more facts than this, or more solutions of a graph pattern. Facts are explicit, inferred and "
            "hidden ones (axiomatic triples, and facts about the schema).",
        ),
        group_option(
            _GROUP,
            "--timeout",
            type=_Seconds(min=0, min_open=True, max=1e9),
            metavar="SECONDS",
            help="Stop when the command takes longer than this.",
        ),
    ):
        found = option(found)
    return found


def given_limits() -> Limits:
    """Return the limits given by the command's options."""
    from kg_reasoner.concurrency.limits import Limits

    given = group_values(_GROUP)
    return Limits(given["timeout"], given["max_facts"], given["max_memory"])


@contextmanager
def _within(limits: Limits) -> Iterator[None]:
    """Run a whole command within limits: a watch stops kernels, and an alarm, where available, everything else (parsers, rdflib).

    Raises:
        LimitError, TimedOut: A limit is exceeded.
    """
    from kg_reasoner.concurrency.limits import UNLIMITED, Watch

    if limits == UNLIMITED:
        yield
        return
    with _alarm(limits.seconds), Watch(limits):
        yield


@contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    if seconds is None or not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: object) -> None:
        raise TimedOut(seconds)

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
