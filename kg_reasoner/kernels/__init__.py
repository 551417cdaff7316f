"""The compiled inner loops of the engine, and nothing else that is compiled.

`native` holds the entries as attributes: ``native.run(context_address)``. They are loaded when the first one is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING


class Native:
    """The entries by name; every argument is an integer or the address of an array or struct."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., int]: ...

    else:

        def __getattr__(self, name):
            from kg_reasoner.kernels import deletion, fixpoint, loader, memory, queries, relations, texts  # noqa: F401 (they register)

            self.__dict__.update(loader.load([entry for entry, (_, called) in memory.kernels.items() if called]))
            if name not in self.__dict__:
                raise AttributeError(f"there is no kernel entry named {name!r}")
            return self.__dict__[name]


native = Native()
