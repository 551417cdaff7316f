"""What the commands of all benchmarks have in common."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["SETTINGS"]

SETTINGS: Final[dict[str, Any]] = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
"""The settings of a command's context."""
