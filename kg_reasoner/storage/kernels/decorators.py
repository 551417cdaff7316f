"""The decorators that make functions kernels, and the register of all kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

__all__ = ["Kernel", "brief_entry", "entry", "kernel", "kernels", "rare_kernel", "shared_kernel"]

F = TypeVar("F", bound=Callable[..., Any])


class Kernel(NamedTuple):
    """A registered kernel."""

    function: Callable[..., Any]
    is_entry: bool
    """Whether Python calls it."""
    is_brief: bool
    """Whether an entry keeps the interpreter's lock, because it takes less time than releasing and acquiring it."""
    is_rare: bool = False
    """Whether it is seldom called, and must not be inlined into loops, which it would slow down."""
    is_shared: bool = False
    """Whether other groups of kernels call it where it is (see `kernel_groups`)."""

    @property
    def is_exported(self) -> bool:
        """Whether code outside of its group calls it."""
        return self.is_entry or self.is_shared


kernels: dict[str, Kernel] = {}
"""Every kernel by name, in the order of definition."""


def kernel(function: F) -> F:
    """Register a function to be compiled. The function itself stays callable, as the checked mode."""
    return _registered(function, is_entry=False)


def rare_kernel(function: F) -> F:
    """Register a function that is seldom called from loops that are."""
    kernels[function.__name__] = Kernel(function, is_entry=False, is_brief=False, is_rare=True)
    return function


def shared_kernel(function: F) -> F:
    """Register a function that is compiled once, because it is large, and a call costs little compared with its work."""
    kernels[function.__name__] = Kernel(function, is_entry=False, is_brief=False, is_shared=True)
    return function


def entry(function: F) -> F:
    """Register an entry point, which Python calls through `kg_reasoner.storage.kernels.native`. It releases the GIL."""
    return _registered(function, is_entry=True)


def brief_entry(function: F) -> F:
    """Register an entry point that returns within microseconds. It holds the GIL."""
    return _registered(function, is_entry=True, is_brief=True)


def _registered(function: F, *, is_entry: bool, is_brief: bool = False) -> F:
    known = kernels.get(function.__name__)
    if known is not None and known.function.__module__ != function.__module__:
        raise ValueError(f"{known.function.__module__} has a kernel {function.__name__} already")
    kernels[function.__name__] = Kernel(function, is_entry=is_entry, is_brief=is_brief)
    return function
