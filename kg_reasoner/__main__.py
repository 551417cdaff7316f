"""The command ``kg-reasoner``, also called by ``python -m kg_reasoner``, as a process that does one thing and ends."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import Final

__all__ = ["run"]

_YOUNG: Final = 100_000
"""The number of new objects after which the garbage collector looks for cycles among them. Most commands keep their objects."""


class _End:
    """Ends the process without taking its memory apart object by object, which takes as long as loading a small file.

    Python calls it last of what is registered with `atexit`, when no other thread is left. Commands have closed their files.
    """

    status: object = None

    def __call__(self) -> None:
        if not isinstance(self.status, int):
            return
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):  # Python ends the process itself, and reports this
            return
        os._exit(self.status)


def _open_standard_streams() -> None:
    """Open what the process was started without, so that no file that it opens is taken for a standard stream.

    To read or write is an error, as it is for other programs; messages are discarded.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY))
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


class _WithoutPandas:
    """Lets `import pandas` fail as if pandas were not installed.

    Arrow imports it, wherever it is installed, to ask whether values are pandas' own. That takes longer than reading a small table,
    and an interrupt during it is lost and leaves half a module.
    """

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("commands do without pandas", name=name)


def run() -> None:
    """Run the command that the arguments of the process name."""
    _open_standard_streams()
    if sys.argv[1:2] != ["spark"]:  # Spark may need it
        sys.meta_path.insert(0, _WithoutPandas)
    gc.set_threshold(_YOUNG)
    end = _End()
    if not atexit._ncallbacks():  # those of others that are registered already would be left out
        atexit.register(end)
    from kg_reasoner.cli import main

    try:
        main(prog_name="kg-reasoner")
    except SystemExit as ended:
        end.status = ended.code
        raise


if __name__ == "__main__":
    run()
