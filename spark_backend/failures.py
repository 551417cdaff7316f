"""Readable errors for failures of Spark: what failed, the root cause, and how to fix it.

Depending on the session, a failed job raises an exception of pyspark, py4j or gRPC with a page of stack traces. The root cause is
in the last ``Caused by``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import unquote

from kg_reasoner.errors import LoadError, ReasonerError

__all__ = ["is_of_spark", "plain_failures", "root_of", "shown"]

_SPARK: Final = ("pyspark", "py4j", "grpc")
_CAUSE: Final = re.compile(r"^Caused by: (.*)", re.MULTILINE)
_LOST_TASK: Final = re.compile(r"^Job aborted due to stage failure: .*?\(TID \d+\) \([^)]*\): ")
_CLASS: Final = re.compile(r"^\(?(?:[a-z]\w*\.)+[\w$]+(?:\): |\) |: )")
_CONDITION: Final = re.compile(r"^\[[A-Z0-9_.]+\] | *SQLSTATE: \w+$")
_WORKER_ERROR: Final = re.compile(r"^(?!org\.|java\.|py4j\.)(?:\w+\.)*(\w+(?:Error|Exception)): (.+)", re.MULTILINE)
_LEAST: Final = ("Connection reset", "Broken pipe", "Unable to close resource")
"""Consequences of another failure, though Java calls them the cause."""

_ENDED: Final = (
    "the session has ended: its program stopped it, or all executors died, mostly for want of memory: give them more, start a new "
    "session, then resume"
)
"""A cluster that gives up between two jobs ends the session without stating the reason."""

_HINTS: Final = (
    ("No space left on device", "the disk is full: free some space, or name another folder"),
    ("Disk quota exceeded", "the disk is full: free some space, or name another folder"),
    ("Permission denied", "the user that Spark runs as may not do that: name another folder, or change its permissions"),
    ("Mkdirs failed", "the folder cannot be made: name another one, or change the permissions of the one above it"),
    ("Python worker exited", "a Python worker died, mostly for want of memory: give executors more, or fewer cores each"),
    ("ExecutorLostFailure", "an executor died, mostly for want of memory: give executors more, or use more partitions"),
    ("Master removed our application", "all executors died, mostly for want of memory: give them more, then resume"),
    ("SparkContext was shut down", _ENDED),
    ("SparkContext has been shutdown", _ENDED),
    ("stopped SparkContext", _ENDED),
    ("OutOfMemoryError", "give the driver and the executors more memory, or use more partitions"),
    ("No module named 'kg_reasoner", "install kg-reasoner on the executors too: pip install 'kg-reasoner[spark]'"),
    ("No module named", "install it on the executors too, or name their Python: PYSPARK_PYTHON"),
    ("Unexpected end of input stream", "the file is truncated: fetch or compress it again"),
    ("CRC failure", "the file is damaged: fetch or compress it again"),
    ("FileSystem not found", "Spark lacks the jar for this kind of address: see spark.jars.packages"),
)


@contextmanager
def plain_failures(doing: str, kind: type[ReasonerError] = ReasonerError) -> Iterator[None]:
    """Convert exceptions of Spark in the block to one error of class `kind`: ``cannot <doing>``, the cause, and the fix.

    Errors of kg_reasoner, and those unrelated to Spark, pass unchanged.
    """
    try:
        yield
    except Exception as error:
        if not is_of_spark(error):
            raise
        hint = next((hint for sign, hint in _HINTS if sign in str(error)), None) or (_ENDED if _has_ended() else None)
        message = f"cannot {doing}: {root_of(error)}"
        if issubclass(kind, LoadError):
            raise kind(message, hint=hint) from error
        raise kind(f"{message}\nhint: {hint}" if hint else message) from error


def is_of_spark(error: BaseException) -> bool:
    """Return whether Spark, or the bridge to it, raised an exception."""
    return type(error).__module__.startswith(_SPARK)


def _has_ended() -> bool:
    """Return whether the cluster has ended the session, after which Spark may fail in any way: parts of it are gone."""
    pyspark = sys.modules.get("pyspark")
    context = pyspark and pyspark.SparkContext._active_spark_context  # None where a server has the session
    try:
        return bool(context and context._jsc.sc().isStopped())
    except Exception:  # the process that had the session has died
        return True


def root_of(error: BaseException) -> str:
    """Return the root cause in one line, without class names and stack traces."""
    text = str(error).split("\n: ", 1)[-1] if "An error occurred while calling" in str(error) else str(error)
    raised = _WORKER_ERROR.findall(text) if "Python worker" in text and "Traceback" in text else []
    if raised:
        return ": ".join(raised[-1])
    first = text.strip().splitlines()[0] if text.strip() else type(error).__name__
    causes = list(dict.fromkeys(map(_bare, [first, *_CAUSE.findall(text)])))
    telling = [cause for cause in causes if not cause.startswith(_LEAST)] or causes
    return telling[0] if len(telling) == 1 or telling[-1] in telling[0] else f"{telling[0].rstrip('.')}: {telling[-1]}"


def _bare(line: str) -> str:
    """Return a message without the lost task and the classes of wrapping exceptions."""
    for pattern in (_CLASS, _LOST_TASK, _CLASS, _CLASS, _CONDITION, _CONDITION):
        line = pattern.sub("", line, count=1)
    return line.strip()


def shown(file: str) -> str:
    """Return a local file without its scheme, and any other address in its usual form."""
    return unquote(re.sub("^file:/+", "/", file))
