"""Jobs: which data to measure under which rules. A job is plain data that every contestant can read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

__all__ = ["LINEAR", "NONLINEAR", "OWL2RL", "RDFS", "Job"]

RDFS: Final = "rdfs"
OWL2RL: Final = "owl2rl"
LINEAR: Final = "linear closure"
NONLINEAR: Final = "non-linear closure"


@dataclass(frozen=True)
class Job:
    """A workload with a set of rules."""

    workload: str
    """What the data are: ``LUBM(1)``, a graph's name."""
    task: str
    """`RDFS`, `OWL2RL`, `LINEAR` or `NONLINEAR`."""
    files: dict[str, str] = field(default_factory=dict)
    """The input files of each kind; a contestant takes the kind that it reads.

    ``ntriples`` and ``turtle`` are the same N-Triples under two names, for readers that go by the suffix; ``ontology`` likewise
    (``ontology.nt`` and ``ontology.ttl``). ``edges`` is TSV. ``nemo`` and ``nemo load`` are programs for Nemo: all rules, and none.
    """

    @property
    def is_closure(self) -> bool:
        return self.task in (LINEAR, NONLINEAR)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=2), encoding="utf-8")

    @staticmethod
    def read(path: Path) -> Job:
        return Job(**json.loads(path.read_text(encoding="utf-8")))
