"""The compiled inner loops of the engine.

`native` has the entry points as attributes: ``native.run(context_address)``. The first access loads them, in two parts: those for
materialisation and queries, and those for updates.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

_loading = threading.RLock()


class Native:
    """The entry points by name; every argument is an integer or the address of an array or struct."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., int]: ...

    else:

        def __getattr__(self, name):
            with _loading:
                return self._load(name)

        def _load(self, name):
            if name in self.__dict__:  # another thread was first
                return self.__dict__[name]
            from kg_reasoner.storage.kernels import (
                fixpoint,
                grouping,
                loader,
                loading,
                memory,
                parallel,
                queries,
                reaching,
                relations,
                scanning,
                texts,
            )

            modules = [relations, loading, fixpoint, parallel, queries, grouping, reaching, texts, scanning]
            if "run" in self.__dict__:  # the part that everybody needs is there: now the part that updates need
                from kg_reasoner.storage.kernels import changes, counting, deletion, marks, overdeletion, tracing, update

                modules = [marks, deletion, overdeletion, counting, changes, update, tracing]
            homes = {module.__name__ for module in modules}
            wanted = [name for name, kernel in memory.kernels.items() if kernel.is_entry and kernel.function.__module__ in homes]
            self.__dict__.update(loader.load(wanted))
            if name in self.__dict__:
                return self.__dict__[name]
            if modules[0] is relations:
                return self._load(name)
            raise AttributeError(f"there is no kernel entry named {name!r}")


native = Native()
