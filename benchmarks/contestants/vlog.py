"""VLog: a command on the PATH. It makes a database of N-Triples, and derives from it; its log says how long that took.

What it writes are the derived relations, with their explicit facts; relations that it only reads stay in its database.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

from benchmarks.inputs.jobs import Job
from benchmarks.measuring.children import run
from benchmarks.measuring.measure import Measurement, contestant
from benchmarks.translations.vlog_rules import database, reasoning_seconds

COMMAND = "vlog"
NOTHING = "nothing(X) :- TE(X,<urn:nothing>,<urn:nothing>)\n"
"""Rules that derive nothing, for the CPU time of opening the database. The time in the log is by the clock."""


def main(job: Job) -> Measurement:
    """Load, derive, and derive and write."""
    program = str(shutil.which(COMMAND))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "input").mkdir()
        for kind in ("ontology.nt", "ntriples"):
            (folder / "input" / f"{kind.partition('.')[0]}.nt").symlink_to(Path(job.files[kind]).absolute())
        (folder / "edb.conf").write_text(database(str(folder / "database")), encoding="utf-8")
        load = run([program, "load", "-i", str(folder / "input"), "-o", str(folder / "database")])
        (folder / "nothing.rules").write_text(NOTHING, encoding="utf-8")
        open_only = run([program, "mat", "-e", str(folder / "edb.conf"), "--rules", str(folder / "nothing.rules")])
        derive = [program, "mat", "-e", str(folder / "edb.conf"), "--rules", job.files["vlog"]]
        reason = run(derive)
        write = run([*derive, "--storemat_path", str(folder / "out"), "--storemat_format", "csv", "--decompressmat", "1"])
        facts = sum(map(lines, (folder / "out").iterdir()))
    facts += sum(map(lines, only_explicit(job)))
    seconds = reasoning_seconds(reason.printed)
    return Measurement(
        version=version(program),
        start_cpu=open_only.cpu,
        load_cpu=load.cpu,
        load_wall=load.wall,
        materialise_cpu=reason.cpu - open_only.cpu,
        materialise_wall=seconds,
        baseline_bytes=0,
        steady_bytes=0,
        peak_bytes=max(load.peak_bytes, reason.peak_bytes),
        facts=facts,
        answer=facts,
        inputs=None,
        files_cpu=load.cpu + write.cpu,
        files_wall=load.wall + write.wall,
    )


def version(program: str) -> str:
    """Return the date of the program, which tells no version."""
    return f"of {datetime.fromtimestamp(Path(program).stat().st_mtime, timezone.utc):%Y-%m-%d}"


def only_explicit(job: Job) -> Iterator[Path]:
    """Yield the files of facts of relations that VLog only reads."""
    derived = set(re.findall(r"^(\w+)\(", Path(job.files["vlog"]).read_text(encoding="utf-8"), re.MULTILINE))
    return (path for path in Path(job.files["souffle facts"]).glob("*.facts") if path.stem not in derived)


def lines(path: Path) -> int:
    """Return the number of lines of a file."""
    with path.open("rb") as file:
        return sum(1 for _ in file)


if __name__ == "__main__":
    contestant(main)
