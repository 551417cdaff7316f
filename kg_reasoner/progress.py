"""Progress reports of long operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Progress"]

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with the stage, the amount done, and the total amount (None: unknown)."""
