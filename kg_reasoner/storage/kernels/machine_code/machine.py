"""The processors that kernels are compiled for.

On Linux, code is compiled for a processor *level*, which many processors share, so that a wheel can contain it; compiling for the
very processor made no measurable difference. Elsewhere it is compiled for this processor.
"""

from __future__ import annotations

import platform
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

__all__ = ["HOST", "LEVELS", "Target", "this_machine"]


class Target(NamedTuple):
    """The target of compiled code."""

    name: str
    triple: str | None
    """LLVM's name of the system; None for the one that this is."""
    processor: str
    """LLVM's name of the oldest processor that runs the code."""
    flags: frozenset[str] = frozenset()
    """The features that the processor must have, as Linux names them."""


_V3 = frozenset({"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"}) | frozenset(
    {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}
)

LEVELS = (
    Target("x86-64-v3", "x86_64-unknown-linux-gnu", "x86-64-v3", _V3),
    Target("x86-64", "x86_64-unknown-linux-gnu", "x86-64"),
    Target("aarch64", "aarch64-unknown-linux-gnu", "generic"),
)
"""The levels, best first for each architecture. A wheel contains the kernels for all of them."""

HOST = Target("host", None, "")


def this_machine() -> Target:
    """Return the best level of this machine, `HOST` where there is none."""
    if sys.platform == "linux" and sys.maxsize > 1 << 32 and sys.byteorder == "little":
        architecture = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
        for level in LEVELS:
            if (level.triple or "").startswith(f"{architecture}-") and level.flags <= _flags():
                return level
    return HOST


@cache
def _flags() -> frozenset[str]:
    """Return the features of the first processor; none where Linux does not list them."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("flags"):
                    return frozenset(line.partition(":")[2].split())
    except OSError:
        pass
    return frozenset()
