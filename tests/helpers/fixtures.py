"""Text fixtures: blocks that begin with ``## title``; what is in them is up to whoever reads them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def blocks(path: Path) -> Iterator[tuple[str, str]]:
    """The title and the text of each block of a file; what comes before the first is a comment."""
    for block in path.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, text = block.partition("\n")
        yield title, text
