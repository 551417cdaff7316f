"""Hierarchies as pictures: an SVG with a box for each name, connected to the one that it is directly below."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Final

from kg_reasoner.classification.forms import Shown, tree_text

__all__ = ["svg"]

_ROW: Final = 34
_STEP: Final = 28
_HEIGHT: Final = 24
_CHARACTER: Final = 8
_STYLE: Final = (
    "text{font:13px ui-monospace,monospace;fill:#222}.title{font-weight:bold}rect{fill:#eef4fb;stroke:#5b8db8;rx:5px}"
    ".no rect{fill:#fbeeee;stroke:#b85b5b}path{fill:none;stroke:#999}svg{background:#fff}"
)


def svg(hierarchy: Shown, prefixes: Mapping[str, str]) -> str:
    """Return the tree of `kg_reasoner.classification.forms.tree_text` as a picture; unsatisfiable names are red."""
    parts: list[str] = []
    above: list[int] = []
    width, is_empty = 0, False
    lines = tree_text(hierarchy, prefixes).splitlines()
    for row, line in enumerate(lines):
        text = line.strip()
        depth = (len(line) - len(line.lstrip())) // 2
        left, middle = 10 + _STEP * depth, 10 + row * _ROW + _HEIGHT // 2
        width = max(width, left + _CHARACTER * (len(text) + 2))
        if depth == 0:
            is_empty, above = text == "unsatisfiable:", []
            parts.append(f'<text class="title" x="10" y="{middle + 4}">{escape(text.removesuffix(":"))}</text>')
            continue
        if depth > 1:
            parent = above[depth - 2]
            parts.append(f'<path d="M{left - _STEP + 12} {parent + _HEIGHT // 2}V{middle}H{left}"/>')
        above[depth - 1 :] = [middle]
        box = f'<rect x="{left}" y="{middle - _HEIGHT // 2}" width="{_CHARACTER * (len(text) + 2)}" height="{_HEIGHT}"/>'
        label = f'<text x="{left + _CHARACTER}" y="{middle + 4}">{escape(text)}</text>'
        parts.append(f'<g class="no">{box}{label}</g>' if is_empty else f"<g>{box}{label}</g>")
    size = f'width="{width + 10}" height="{_ROW * len(lines) + 10}"'
    inner = "\n".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n<style>{_STYLE}</style>\n{inner}\n</svg>\n'
