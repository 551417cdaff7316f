"""A run on a cluster that loses workers: ``python -m tests.spark.spark_cluster FOLDER one|all``.

The cluster is executors on this machine, processes of their own: two where one of them is killed in the middle of an iteration;
one where all are, after which the cluster gives the run up. Before that, a Python worker dies while it parses. In FOLDER,
``data.nt`` is read, iterations are kept in ``work``, and ``out`` is written. The last line of standard output is JSON: what was
killed, what became of the run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyspark

from kg_reasoner import rulesets
from kg_reasoner.errors import ReasonerError
from kg_reasoner.spark_backend import SparkReasoner
from kg_reasoner.spark_backend.io import input_documents
from kg_reasoner.spark_backend.io.reading import read_triples
from kg_reasoner.spark_backend.io.triple_files import write
from kg_reasoner.spark_backend.io.workers import Manner, terms_of_lines
from kg_reasoner.spark_backend.run_progress import Report
from tests.spark.spark_killed import in_the_third_iteration
from tests.spark.spark_session import ADAPTIVE, SETTINGS, session

OWL2RL = rulesets.load("owl2rl").program

Batches = Callable[..., Iterator[Any]]


def dies_once(parse: Batches, marker: Path) -> Batches:
    """Parses, in a Python worker; the first one that is about to hand something over dies instead."""

    def parsed(batches: Iterable[Any], *options: Any) -> Iterator[Any]:
        for batch in parse(batches, *options):
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                yield batch
            else:
                os.kill(os.getpid(), signal.SIGKILL)

    return parsed


def dying_parser(marker: Path, *, while_checking: bool) -> Callable[..., Batches]:
    """In place of `terms_of_lines`: one worker dies while lines are checked, or while they are parsed after that."""

    def made(manner: Manner, *, all_good: bool, faults_only: bool) -> Batches:
        parse = terms_of_lines(manner, all_good=all_good, faults_only=faults_only)
        return dies_once(parse, marker) if faults_only == while_checking else parse

    return made


def executors() -> list[int]:
    """The processes of the executors, which descend from this one."""
    said = subprocess.run(["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    processes = {int(pid): (int(parent), command) for pid, parent, command in (line.split(None, 2) for line in said.splitlines())}

    def is_ours(pid: int) -> bool:
        return pid == os.getpid() or (pid in processes and is_ours(processes[pid][0]))

    is_executor = ("CoarseGrainedExecutorBackend", "bin/java")
    return sorted(pid for pid, (_, command) in processes.items() if all(sign in command for sign in is_executor) and is_ours(pid))


def own_spark_home(folder: Path) -> None:
    """Have Spark as it is installed in a folder of ours, which executors write to, and on no network."""
    home = folder / "spark"
    home.mkdir()
    for part in ("bin", "jars"):
        (home / part).symlink_to(Path(pyspark.__file__).parent / part)
    os.environ |= {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}


def main(folder: Path, every: bool) -> None:
    own_spark_home(folder)
    SETTINGS.update(
        {
            **ADAPTIVE,
            "spark.executor.extraJavaOptions": SETTINGS["spark.driver.extraJavaOptions"],
            "spark.deploy.maxExecutorRetries": "1",  # if no executor is left, that is the end
            "spark.worker.timeout": "600",  # a machine that pauses for a minute is not to be taken for a dead worker
            "spark.network.timeout": "600s",
        }
    )
    # Of two that die, the first may have been replaced before the master hears of the second: then it does not give up.
    spark = session("local-cluster[1,2,1024]" if every else "local-cluster[2,1,1024]")
    work = folder / "work"
    running: list[int] = []
    killed: list[int] = []

    def kill() -> None:
        killed.extend(running if every else running[:1])
        for pid in killed:
            os.kill(pid, signal.SIGKILL)

    in_time = in_the_third_iteration(work, kill)

    def progress(report: Report) -> None:
        if report.iteration == 1:
            running.extend(executors())
        in_time(report)

    input_documents.terms_of_lines = dying_parser(folder / "died", while_checking=False)
    result: dict[str, Any] = {"refused": None}
    try:
        triples = read_triples(spark, folder / "data.nt")
        reasoner = SparkReasoner(spark, OWL2RL, triples, work_dir=work, progress=progress, driver_facts=0)
        write(reasoner.triples(), folder / "out")
    except ReasonerError as error:
        result["refused"] = str(error)
    result |= {"killed": killed, "executors": executors(), "died": (folder / "died").exists()}
    print(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] == "all")
