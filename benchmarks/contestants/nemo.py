"""Nemo: Datalog in Rust, on the very rules that our loader makes (`benchmarks.translations.nemo_rules` translates them).

Nemo reads its inputs while it reasons. So a program that only reads them is measured first, in a copy of the process; what the
whole program takes beyond that counts as materialising.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.inputs.jobs import Job
from benchmarks.measuring.measure import Count, Measurement, Stages, contestant, in_child, measure
from benchmarks.translations.nemo_rules import VIOLATED


class Nemo:
    """The engine of one run."""

    def start(self) -> None:
        import nmo_python

        self.nmo_python = nmo_python
        self.engine("ready(1) .\n@export ready :- csv {} .\n").reason()

    def engine(self, program: str):  # type: ignore[no-untyped-def]
        return self.nmo_python.NemoEngine(self.nmo_python.load_string(program))

    def read_only(self, job: Job) -> None:
        self.engine(Path(job.files["nemo load"]).read_text(encoding="utf-8")).reason()

    def load(self, job: Job) -> None:
        self.load_cpu, self.load_wall = in_child(lambda: self.read_only(job))

    def materialise(self, job: Job) -> None:
        self.done = self.engine(Path(job.files["nemo"]).read_text(encoding="utf-8"))
        self.done.reason()

    def outputs(self, job: Job) -> list[str]:
        """Return the exported predicates."""
        return re.findall(r"^@export (\S+)", Path(job.files["nemo"]).read_text(encoding="utf-8"), re.MULTILINE)

    def write(self, job: Job, path: Path) -> None:
        manager = self.nmo_python.NemoOutputManager(str(path))
        for name in self.outputs(job):
            self.done.write_result(name, manager)

    def count(self, job: Job) -> Count:
        sizes = {name: sum(1 for _ in self.done.result(name)) for name in self.outputs(job)}
        facts = sum(size for name, size in sizes.items() if name != VIOLATED)
        triples = sum(size for name, size in sizes.items() if name.startswith(("class_", "property_", "triple")))
        return Count(facts, sizes["path"] if job.is_closure else triples)


def main(job: Job) -> Measurement:
    peer = Nemo()
    write = peer.write if job.is_for_engines else None
    whole = measure(Stages("nemo-python", peer.start, peer.load, peer.materialise, peer.count, write=write), job)
    if whole.files_wall is not None:
        whole.files_wall -= peer.load_wall
    whole.load_cpu, whole.load_wall = peer.load_cpu, peer.load_wall
    whole.materialise_cpu -= peer.load_cpu
    whole.materialise_wall -= peer.load_wall
    return whole


if __name__ == "__main__":
    contestant(main)
