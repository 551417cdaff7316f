"""Forms of profiles: text, HTML and bar charts as SVG, without further libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Final, Protocol

__all__ = ["page", "svg", "table", "text"]

_NAMES: Final = ("ms", "%", "instances", "new", "duplicates", "deletion", "backward", "rule or step")
_ALWAYS: Final = 5
"""The first columns are always shown, those about deletion only if there was any."""
_WIDTH: Final = 110
_BAR, _ROW, _GAP, _CHARACTER = 320, 22, 8, 6.6
"""Sizes of a chart: the longest bar, the height of a row, the space between bar and text, and the width of a character."""

_STYLE: Final = """
body { margin: 2rem; font: 14px/1.5 system-ui, sans-serif; color: #1d2733; background: #fff; }
table { border-collapse: collapse; margin-top: 1.5rem; }
th, td { padding: .15rem .8rem .15rem 0; text-align: right; vertical-align: top; }
th:last-child, td:last-child { text-align: left; }
svg { max-width: 100%; height: auto; }
"""


class AnyProfileRow(Protocol):
    """A row as the forms need it, see `kg_reasoner.api.cost_profiles.ProfileRow`."""

    @property
    def kind(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def instances(self) -> int: ...
    @property
    def new(self) -> int: ...
    @property
    def duplicates(self) -> int: ...
    @property
    def deletion(self) -> int: ...
    @property
    def backward(self) -> int: ...


def text(rows: Sequence[AnyProfileRow], limit: int) -> str:
    """Return aligned columns of text. The last line gives the sums."""
    cells = _cells(rows, limit, _short)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * width for width in widths[:-1]] + ["-" * len(_NAMES[-1])])
    lines = ([cell.rjust(width) for cell, width in zip(line[:-1], widths[:-1], strict=True)] + [line[-1]] for line in cells)
    return "\n".join("  ".join(line).rstrip() for line in lines)


def table(rows: Sequence[AnyProfileRow], limit: int) -> str:
    """Return a table in HTML."""
    head, *lines = _cells(rows, limit)
    title = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in lines)
    return f"<table><thead><tr>{title}</tr></thead><tbody>{body}</tbody></table>"


def page(rows: Sequence[AnyProfileRow], limit: int) -> str:
    """Return a page with a bar chart and a table."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Profile</title>'
        f"<style>{_STYLE}</style></head><body><h1>Profile</h1>{svg(rows, 25)}{table(rows, limit)}</body></html>\n"
    )


def svg(rows: Sequence[AnyProfileRow], limit: int) -> str:
    """Return a bar chart of the times, the longest first."""
    shown = rows[:limit]
    longest = max((row.seconds for row in shown), default=0.0) or 1.0
    width = 20 + _BAR + int(_CHARACTER * max((len(_bar_text(row)) for row in shown), default=0))
    bars = "".join(_bar(row, place, longest) for place, row in enumerate(shown))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{_ROW * len(shown) + 10}" '
        f'font-family="system-ui, sans-serif" font-size="12">{bars}</svg>\n'
    )


def _bar(row: AnyProfileRow, place: int, longest: float) -> str:
    top, width = 5 + _ROW * place, max(1.0, _BAR * row.seconds / longest)
    colour = "#8a97a5" if row.kind == "step" else "#2f6fb0"
    what = f"{row.instances:,} instances, {row.new:,} new facts"
    return (
        f"<g><title>{escape(f'{row.label}: {1000 * row.seconds:.2f} ms, {what}')}</title>"
        f'<rect x="5" y="{top}" width="{width:.1f}" height="{_ROW - 6}" fill="{colour}"/>'
        f'<text x="{5 + width + _GAP:.1f}" y="{top + 12}" fill="currentColor">{escape(_bar_text(row))}</text></g>'
    )


def _bar_text(row: AnyProfileRow) -> str:
    return f"{1000 * row.seconds:.2f} ms  {_short(row.label)}"


def _short(label: str) -> str:
    return label if len(label) <= _WIDTH else f"{label[: _WIDTH - 3]}..."


def _cells(rows: Sequence[AnyProfileRow], limit: int, shorten: Callable[[str], str] = str) -> list[list[str]]:
    """Return the table as text, with its heads, and the sums as the last line."""
    whole = sum(row.seconds for row in rows) or 1.0
    lines = [[*_numbers([row], whole), shorten(row.label)] for row in rows[:limit]]
    rest = rows[limit:]
    if rest:
        lines.append([*_numbers(rest, whole), f"{len(rest):,} more"])
    lines.append([*_numbers(rows, whole), "all"])
    deletes = any(row.deletion or row.backward for row in rows)
    columns = [place for place in range(len(_NAMES)) if place < _ALWAYS or deletes or place == len(_NAMES) - 1]
    return [[line[place] for place in columns] for line in ([*_NAMES], *lines)]


def _numbers(rows: Iterable[AnyProfileRow], whole: float) -> list[str]:
    some = list(rows)
    seconds = sum(row.seconds for row in some)
    counts = (sum(getattr(row, name) for row in some) for name in ("instances", "new", "duplicates", "deletion", "backward"))
    return [f"{1000 * seconds:,.2f}", f"{100 * seconds / whole:.1f}", *(f"{count:,}" for count in counts)]
