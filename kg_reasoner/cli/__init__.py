"""The command line, ``kg-reasoner``: one module per command, imported when it runs, as are heavy libraries."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, Final

import click
from click.exceptions import Exit

from kg_reasoner import __version__
from kg_reasoner.cli.options.limit_options import TimedOut
from kg_reasoner.errors import OutputError, ReasonerError, ReasonerWarning
from kg_reasoner.lazy_regex import regular_expression

__all__ = ["main"]

_MODULES: Final = {
    **{name: name for name in ("materialise", "query", "explain", "run", "shell", "rules", "check", "classify", "profiles")},
    **{name: name for name in ("imports", "generate", "demo", "spark")},
    "diff": "classify",
}
"""The commands, and the modules of `commands` that have them."""
_ARGUMENT: Final = regular_expression(r"\b(equality|base)='([^']+)'")
"""An argument whose option has its name, where a message does not give both."""
_NOT_WRITTEN: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


class _Terminated(BaseException):
    """The process received a termination signal."""


@contextmanager
def _terminated_tidily() -> Iterator[None]:
    """Treat a termination signal like an interrupt, so that partial outputs are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise _Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _errors_reported() -> Iterator[None]:
    """Turn every error into one message and an exit code."""
    try:
        yield
    except BrokenPipeError:  # the reader has seen enough
        _leave_standard_output()
        raise Exit(141) from None
    except (ReasonerError, OSError) as error:
        if isinstance(error, OSError) and error.filename is None and error.errno in _NOT_WRITTEN:
            _leave_standard_output()
            error = OutputError(f"cannot write to standard output: {error.strerror}")
        click.secho(f"error: {_in_options(str(error))}", fg="red", err=True)
        raise Exit(1) from None
    except TimedOut as error:
        click.secho(f"error: {error}", fg="red", err=True)
        raise Exit(1) from None
    except KeyboardInterrupt:
        click.secho("interrupted", err=True)
        exec("")  # Python would end by the signal if that struck in an `exec`, as in imports; another one makes it forget
        raise Exit(130) from None
    except _Terminated:
        click.secho("terminated", err=True)
        raise Exit(143) from None


class _Commands(click.Group):
    """A command group that turns every error into one message and an exit code."""

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _errors_reported():  # it writes the help and the version
            return super().make_context(*arguments, **options)

    def invoke(self, context: click.Context) -> Any:
        os.environ.setdefault(
            "OPENBLAS_NUM_THREADS", "1"
        )  # NumPy's OpenBLAS starts threads that spin for a while; nothing here needs them
        with _errors_reported(), _terminated_tidily(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ReasonerWarning)  # commands print them
            found = super().invoke(context)
            sys.stdout.flush()  # an error in writing is reported now, not when the process ends
            return found

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted(_MODULES)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        name = "materialise" if name == "materialize" else name
        if name not in _MODULES:
            return None
        command: click.Command = getattr(import_module(f"{__name__}.commands.{_MODULES[name]}"), name)
        _refuse_empty_texts(command)
        return command


class _Text(click.types.StringParamType):
    """Text that is not empty: as the name of a file, an empty text would stand for the working directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the text is empty", param, ctx)
        return super().convert(value, param, ctx)


def _refuse_empty_texts(command: click.Command) -> None:
    """Let a command, and all below it, take empty texts for wrong usage."""
    for parameter in command.params:
        if parameter.type is click.STRING:
            parameter.type = _Text()
    for below in getattr(command, "commands", {}).values():
        _refuse_empty_texts(below)


def _in_options(message: str) -> str:
    """Return a message with options in place of the arguments of Python that it advises to use."""
    return _ARGUMENT.sub(r"--\1 \2", message)


def _leave_standard_output() -> None:
    """Discard the output that is still buffered for standard output."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="kg-reasoner")
def main() -> None:
    """Materialise, query and inspect RDF data under rules and OWL ontologies; run Datalog programs.

    \b
    Exit codes:
      0    done
      1    an input is missing or wrong, an output cannot be written, or a limit is exceeded; one message says what and where
      2    wrong usage: an unknown command or option, or a wrong value of an option
      3    the answer is no: an ASK query is false, a triple to `explain` does not hold, `check` found a contradiction,
           `diff` found a difference, `imports` did not find one
      130  interrupted; 143: terminated; 141: the reader of the output has closed it (as in `... | head`)
    """
