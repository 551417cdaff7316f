"""The results of sweeps as text: how often each outcome was had, and which places have done harm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tests.faults.runner import OUTCOMES, Result, Sweep


def table(sweeps: Sequence[Sweep]) -> str:
    """One line for each scenario and kind of faults, and one for all."""
    rows = [[each.scenario, each.kind, str(len(each.results)), *(str(each.counts()[name]) for name in OUTCOMES)] for each in sweeps]
    total = [sum(int(row[column]) for row in rows) for column in range(2, 3 + len(OUTCOMES))]
    lines = [["scenario", "kind", "tried", *OUTCOMES], *rows, ["all", "", *map(str, total)]]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if number < 2 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in lines
    )


SHOWN_PLACES = 12


def failing_places(sweeps: Iterable[Sweep]) -> str:
    """What has gone wrong, the most frequent first, and the places where a fault has led to it."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    times: Counter[tuple[str, str]] = Counter()
    for each in sweeps:
        for result in each.failures:
            complaint = result.outcome, result.why
            times[complaint] += 1
            place = (result.where or "?").partition(" < ")[0]
            found.setdefault(complaint, {}).setdefault(place, f"{each.scenario}, {each.kind}, --at {result.at}")
    lines = []
    for (outcome, why), count in times.most_common():
        places = sorted(found[outcome, why].items())
        lines.append(f"{count} x {outcome}: {why}")
        lines += [f"    {place}   ({example})" for place, example in places[:SHOWN_PLACES]]
        if len(places) > SHOWN_PLACES:
            lines.append(f"    and {len(places) - SHOWN_PLACES} other places")
    return "\n".join(lines)


def complaint(done: Sweep, result: Result) -> str:
    """One fault that has done harm, and how to have it again."""
    command = f'python -m tests.faults --scenario "{done.scenario}" --kind {done.kind} --at {result.at}'
    return f"{result.outcome} after a fault at {result.where}\n{result.why}\n{command}"
