"""The jobs of `benchmarks.flat_maps` in Soufflé, compiled and interpreted: seconds of CPU without reading the rows."""

from __future__ import annotations

import resource
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.translations.souffle_rules import sizes

__all__ = ["PROGRAMS", "in_souffle", "version"]

_DECLARED: Final = """
.decl line(t: symbol, n: number)
.input line
.printsize line
"""
_KEYED: Final = """
.decl keyed(k: number, n: number)
.decl key(k: number)
keyed(n % 1000, n) :- line(_, n).
key(k) :- keyed(k, _).
"""
PROGRAMS: Final = {
    "copy rows": """
        .decl out(t: symbol, n: number)
        out(t, n) :- line(t, n).
    """,
    "add numbers": """
        .decl out(n: number, m: number)
        out(n, n + 7) :- line(_, n).
    """,
    "the five members of each list": """
        .decl cut(t: symbol, at: number)
        .decl out(n: number, x: symbol)
        cut(t, -1) :- line(t, _).
        cut(t, strlen(t)) :- line(t, _).
        cut(t, at) :- line(t, _), at = range(0, strlen(t)), substr(t, at, 1) = ",".
        .decl piece(t: symbol, from: number, to: number)
        piece(t, from, to) :- cut(t, from), from < strlen(t), to = min at : { cut(t, at), at > from }.
        out(n, substr(t, from + 1, to - from - 1)) :- line(t, n), piece(t, from, to).
    """,
    "sums of groups": f"""
        {_KEYED}
        .decl out(k: number, v: number)
        out(k, v) :- key(k), v = sum n : {{ keyed(k, n) }}.
    """,
}
"""The jobs that Soufflé can do: it has neither functions nor lists of groups in its language."""


def version() -> str | None:
    """Return what Soufflé says of its version, or None if it is not on the PATH."""
    command = shutil.which("souffle")
    if command is None:
        return None
    printed = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout
    found = next((line.partition(":")[2].strip() for line in printed.splitlines() if line.startswith("Version")), "")
    return found or "without a version"


def in_souffle(rows: list[tuple[str, int]], *, compiled: bool) -> dict[str, tuple[float, int]]:
    """Return the seconds of CPU of each job, without those of reading the rows alone, and the number of its results."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "line.facts").write_text("".join(f"{text}\t{number}\n" for text, number in rows), encoding="utf-8")
        reading, _ = _run(folder, _DECLARED, compiled=compiled)
        for job, program in PROGRAMS.items():
            taken, counts = _run(folder, f"{_DECLARED}{program}\n.printsize out\n", compiled=compiled)
            found[job] = max(taken - reading, 0.0), counts["out"]
    return found


def _run(folder: Path, program: str, *, compiled: bool) -> tuple[float, dict[str, int]]:
    """Return the seconds of CPU of a program, and the sizes of its relations."""
    source, binary = folder / "job.dl", folder / "job"
    source.write_text(program, encoding="utf-8")
    command = ["souffle", str(source)]
    if compiled:
        subprocess.run(["souffle", "-o", str(binary), str(source)], check=True, capture_output=True)
        command = [str(binary)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    printed = subprocess.run([*command, "-F", str(folder)], check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, sizes(printed)
