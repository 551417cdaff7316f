"""What operations that take long tell of how far they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Progress"]

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with the stage, what is done and what there is to do (None: not known)."""
