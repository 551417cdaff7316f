"""Jobs: which data to measure under which rules. A job is plain data that every contestant can read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

__all__ = ["DLP", "DLP_RULES", "LINEAR", "NONLINEAR", "OWL2RL", "RDFS", "Job"]

RDFS: Final = "rdfs"
OWL2RL: Final = "owl2rl"
DLP: Final = "dlp"
DLP_RULES: Final = "@translate dlp .\n"
"""The program of `DLP`: the rules of the ontology's axioms, and no others."""
LINEAR: Final = "linear closure"
NONLINEAR: Final = "non-linear closure"


@dataclass(frozen=True)
class Job:
    """A workload with a set of rules."""

    workload: str
    """What the data are: ``LUBM(1)``, a graph's name."""
    task: str
    """`RDFS`, `OWL2RL`, `DLP`, `LINEAR` or `NONLINEAR`."""
    files: dict[str, str] = field(default_factory=dict)
    """The input files of each kind; a contestant takes the kind that it reads.

    ``ntriples`` and ``turtle`` are the same N-Triples under two names, for readers that go by the suffix; ``ontology`` likewise
    (``ontology.nt`` and ``ontology.ttl``). ``edges`` is TSV. ``nemo`` and ``nemo load`` are programs for Nemo: all rules, and none.
    ``souffle load``, ``souffle reason`` and ``souffle write`` are programs for Soufflé, ``souffle facts`` is the folder of their
    inputs; ``vlog`` has rules, and ``duckdb`` SQL.
    """
    threads: int = 1
    """How many threads we may use; the others use one."""

    @property
    def is_closure(self) -> bool:
        return self.task in (LINEAR, NONLINEAR)

    @property
    def is_for_engines(self) -> bool:
        """Whether the rules are translated for engines for Datalog and SQL; then all triples are written to files, too."""
        return "duckdb" in self.files

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=2), encoding="utf-8")

    @staticmethod
    def read(path: Path) -> Job:
        return Job(**json.loads(path.read_text(encoding="utf-8")))
