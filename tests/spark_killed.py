"""A run on Spark that kills its own process in the middle of an iteration: ``python -m tests.spark_killed FOLDER``."""

from __future__ import annotations

import os
import signal
import sys
import threading
from itertools import pairwise

from kg_reasoner.spark_backend import SparkReasoner
from kg_reasoner.spark_backend.progress import Report
from kg_reasoner.terms import IRI, Triple
from tests.spark_cases import frame, turtle
from tests.spark_session import session

CHAIN = turtle(":partOf a <http://www.w3.org/2002/07/owl#TransitiveProperty> .")
PART_OF = IRI("http://example.org/partOf")


def chain(length: int = 12) -> list[Triple]:
    """A transitive property, and a chain of it: it takes several iterations."""
    nodes = [IRI(f"http://example.org/n{number}") for number in range(length + 1)]
    return CHAIN + [(node, PART_OF, following) for node, following in pairwise(nodes)]


def kill_soon(report: Report) -> None:
    """After the second iteration, end the process while the third one is running."""
    if report.iteration == 2:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGKILL)).start()


if __name__ == "__main__":
    from kg_reasoner import rulesets

    SparkReasoner(session(), rulesets.load("owl2rl").program, frame(chain()), work_dir=sys.argv[1], progress=kill_soon).triples()
