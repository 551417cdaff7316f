"""The compiled inner loops of the engine.

`native` has the entry points as attributes: ``native.run(context_address)``. The first access loads those of the same group.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kg_reasoner.concurrency.forking import new_mutex

_loading = new_mutex()


class Native:
    """The entry points by name; every argument is an integer or the address of an array or struct."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., int]: ...

    else:

        def __getattr__(self, name):
            with _loading:
                return self._load(name)

        def _load(self, name):
            if name not in self.__dict__:  # no other thread was first
                from kg_reasoner.storage.kernels.machine_code import loader

                group = loader.group_with(name)
                if group is not None:
                    self.__dict__.update(loader.load(group))
            if name in self.__dict__:
                return self.__dict__[name]
            raise AttributeError(f"there is no kernel entry named {name!r}")


native = Native()
