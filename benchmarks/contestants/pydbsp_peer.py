"""pydbsp in the DBSP benchmark: ``python pydbsp_peer.py WORKLOAD.json SHARE``, with any Python that has pydbsp 2 installed.

It imports nothing of ours, because pydbsp needs Python 3.12. It measures and prints what `benchmarks.contestants.dbsp` does.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydbsp import datalog
from pydbsp.circuit import Circuit
from pydbsp.compute import ComputeCtx
from pydbsp.core import Antichain, dbsp_time
from pydbsp.evaluate import Evaluator
from pydbsp.indexed_relational_operators import IndexedIncrementalDatalogBody
from pydbsp.operator import Input, LiftStreamIntroduction
from pydbsp.storage import DictStorage
from pydbsp.zset import ZSet, ZSetAddition


class PydbspInterpreter:
    """pydbsp's Datalog interpreter with its index operator."""

    def __init__(self) -> None:
        groups = [ZSetAddition() for _ in range(8)]
        self.evaluator = Evaluator(Circuit(), DictStorage(), ComputeCtx(lattice=dbsp_time(2)), groups[0])
        circuit = self.evaluator.circuit
        self.facts, self.program, self.seed = (Input(frontier=Antichain(dbsp_time(1))).connect(circuit, ()) for _ in range(3))
        self.state = [Input(frontier=Antichain(dbsp_time(2))).connect(circuit, ()) for _ in range(2)]
        program = LiftStreamIntroduction(group=groups[1]).connect(circuit, (self.program,))
        inputs = (self.facts, program, *self.state, self.seed)
        self.body = IndexedIncrementalDatalogBody(*groups).connect(circuit, inputs)
        self.time = 0
        self.depth = -1
        self.total = 0

    def step(self, facts: dict[Any, int], rules: dict[Any, int]) -> None:
        now, evaluator = (self.time,), self.evaluator
        seed = {(0, datalog.Rewrite({})): 1} if self.time == 0 else {}
        for node, value in ((self.facts, facts), (self.program, rules), (self.seed, seed)):
            evaluator.push(node, ZSet(value), now)
        deepest = self.depth
        for inner, change in evaluator.saturate_inner(
            self.body, self.time, lambda pair: not pair[0].inner and not pair[1].inner, min_inner=self.depth
        ):
            for node, value in zip(self.state, change, strict=True):
                evaluator.push(node, value, (self.time, inner))
            self.total += sum(change[0].inner.values())
            deepest = max(deepest, inner)
        self.time, self.depth = self.time + 1, deepest


def memory(name: str) -> int:
    """Return a memory size of this process in bytes: resident now (VmRSS), or the maximum so far (VmHWM)."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines())
    return 1024 * int(status[name].split()[0])


def atom(pattern: list[Any]) -> tuple[str, tuple[Any, ...]]:
    predicate, terms = pattern
    return str(predicate), tuple(terms)


def measure(path: Path, share: float) -> Iterator[dict[str, float]]:
    """Yield the measurements of the three updates, each as soon as it is known."""
    workload = json.loads(path.read_text(encoding="utf-8"))
    rules = {tuple(map(atom, (head, *body))): 1 for head, body in workload["rules"]}
    facts = [(str(predicate), tuple(terms)) for predicate, *terms in workload["facts"]]
    size = round(len(facts) * share)
    first, later = facts[:size], facts[size:]
    interpreter = PydbspInterpreter()
    baseline = memory("VmRSS")
    for stage, batch, weight in (("initial", first, 1), ("add", later, 1), ("remove", later, -1)):
        before = time.process_time(), time.perf_counter()
        interpreter.step(dict.fromkeys(batch, weight), rules if stage == "initial" else {})
        times = time.process_time() - before[0], time.perf_counter() - before[1]
        yield {stage: times[0], f"{stage} wall": times[1], f"{stage} facts": interpreter.total, "bytes": memory("VmHWM") - baseline}


if __name__ == "__main__":
    for figures in measure(Path(sys.argv[1]), float(sys.argv[2])):
        print(json.dumps(figures), flush=True)
