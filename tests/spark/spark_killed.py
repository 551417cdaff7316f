"""A run on Spark that kills its driver in the middle of an iteration, with all of Spark.

``python -m tests.spark.spark_killed FOLDER`` is to be started in a session of its own: every process in that is killed.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from kg_reasoner.spark_backend import SparkReasoner
from kg_reasoner.spark_backend.run_progress import Progress, Report
from kg_reasoner.terms import IRI, Triple
from tests.spark.spark_cases import frame, turtle
from tests.spark.spark_session import session

CHAIN = turtle("""
    :partOf rdfs:subPropertyOf :in . :within rdfs:subPropertyOf :in ; owl:propertyChainAxiom :two .
    :two rdf:first :in ; rdf:rest :one . :one rdf:first :in ; rdf:rest rdf:nil .
""")
PART_OF = IRI("http://example.org/partOf")


def chain(length: int = 8) -> list[Triple]:
    """A chain of a property whose closure has another name, so that it takes several iterations: four for eight edges."""
    nodes = [IRI(f"http://example.org/n{number}") for number in range(length + 1)]
    return CHAIN + [(node, PART_OF, following) for node, following in pairwise(nodes)]


def in_the_third_iteration(work: Path, kill: Callable[[], None]) -> Progress:
    """Calls `kill` in the middle of an iteration: while a task writes what the third one has found."""

    def is_writing() -> bool:
        try:
            return any(work.glob("*/_temporary/0/_temporary/attempt_*"))
        except FileNotFoundError:  # it has gone while it was looked at
            return False

    def wait() -> None:
        while not is_writing():
            time.sleep(0.001)
        kill()

    def watch(report: Report) -> None:
        if report.iteration == 2:
            threading.Thread(target=wait, daemon=True).start()

    return watch


if __name__ == "__main__":
    from kg_reasoner import rulesets

    folder = Path(sys.argv[1])
    killer = in_the_third_iteration(folder, lambda: os.killpg(0, signal.SIGKILL))
    SparkReasoner(
        session(), rulesets.load("owl2rl").program, frame(chain()), work_dir=folder, progress=killer, driver_facts=0
    ).triples()
