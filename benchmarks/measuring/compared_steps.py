"""What `benchmarks.operations` measures of one checkout, in a process of its own that imports the package of that checkout.

``python compared_steps.py SECTION FOLDER``: it writes the names of the section's steps as a line of JSON; for each name that it
reads, it does the step, and writes the CPU seconds as another. So it uses nothing but what every version has.
"""

from __future__ import annotations

import json
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from kg_reasoner import Reasoner, graph_of
from kg_reasoner.terms import IRI

Step = Callable[[], "dict[str, float]"]
"""Returns CPU seconds by what took them."""

DLP = "@translate dlp ."
STRATEGIES = ("backward-forward", "delete-rederive", "counting")
SINGLES, TOGETHER = 200, 100
"""The triples that are updated one by one, and those that are updated together."""


def timed(name: str, function: Callable[[], object], count: int = 1) -> dict[str, float]:
    """Return the seconds of one of `count` operations of a function."""
    before = time.process_time()
    function()
    return {name: (time.process_time() - before) / count}


# --- single operations -----------------------------------------------------------------------------------------------------


def operations(_: Path) -> dict[str, Step]:
    """Return the steps of single operations on a small graph."""
    small = SmallGraph()
    steps: list[tuple[str, Callable[[], object], int]] = [
        ("graph.add, commit", small.add_and_commit, 200),
        ("graph.remove, commit", small.remove_and_commit, 200),
        ("ids added, materialise", partial(small.each_row, "add_triples", lazily=True), 200),
        ("ids removed, materialise", partial(small.each_row, "remove_triples", lazily=True), 200),
        ("ids added", partial(small.each_row, "add_triples"), 200),
        ("ids removed", partial(small.each_row, "remove_triples"), 200),
        ("ids added in a transaction", partial(small.in_transactions, "add_triples"), 200),
        ("ids removed in a transaction", partial(small.in_transactions, "remove_triples"), 200),
        ("ids added, 200 in a transaction", partial(small.in_one_transaction, "add_triples"), 200),
        ("ids removed, 200 in a transaction", partial(small.in_one_transaction, "remove_triples"), 200),
        ("begin, commit", small.begin_and_commit, 200),
        ("triple in graph", small.contains, 300),
        ("graph.triples", small.match, 300),
        ("len(graph)", small.size, 1000),
        ("graph.query", small.select, 20),
        ("Reasoner()", new_reasoners, 50),
        ("Graph(store=...)", new_graphs, 20),
    ]
    return {name: partial(timed, name, function, count) for name, function, count in steps}


class SmallGraph:
    """A graph of 3,000 triples under OWL 2 RL, and what is done with it."""

    def __init__(self) -> None:
        from rdflib import Namespace

        ex = Namespace("http://example.org/")
        self._reasoner = Reasoner(ruleset="owl2rl")
        self._graph = graph_of(self._reasoner)
        for number in range(3000):
            self._graph.add((ex[f"s{number}"], ex[f"p{number % 5}"], ex[f"o{number % 50}"]))
        self._graph.commit()
        self._new = [(ex[f"t{number}"], ex.p1, ex.o1) for number in range(200)]
        self._known = [(ex[f"s{number}"], ex[f"p{number % 5}"], ex[f"o{number % 50}"]) for number in range(300)]
        names = [[ex[f"n{number}"], ex.p0, ex[f"n{number + 1}"]] for number in range(200)]
        encode = self._reasoner.dictionary.encode
        self._rows = [np.array([[encode(IRI(str(name))) for name in triple]], np.int32) for triple in names]
        self._query = f"SELECT ?o {{ <{ex.s7}> <{ex.p2}> ?o }}"

    def add_and_commit(self) -> None:
        """Add triples one by one."""
        for triple in self._new:
            self._graph.add(triple)
            self._graph.commit()

    def remove_and_commit(self) -> None:
        """Remove the same triples one by one."""
        for triple in self._new:
            self._graph.remove(triple)
            self._graph.commit()

    def each_row(self, method: str, *, lazily: bool = False) -> None:
        """Call a method of the reasoner for each row of ids, and with `lazily`, materialise each time."""
        change = getattr(self._reasoner, method)
        for row in self._rows:
            change(row)
            if lazily:
                self._reasoner.materialise()

    def in_transactions(self, method: str) -> None:
        """Call a method of a new transaction for each row of ids."""
        for row in self._rows:
            with self._reasoner.transaction() as transaction:
                getattr(transaction, method)(row)

    def in_one_transaction(self, method: str) -> None:
        """Call a method of one transaction for each row of ids."""
        with self._reasoner.transaction() as transaction:
            change = getattr(transaction, method)
            for row in self._rows:
                change(row)

    def begin_and_commit(self) -> None:
        """Begin and commit transactions that change nothing."""
        for _ in range(200):
            with self._reasoner.transaction():
                pass

    def contains(self) -> None:
        """Ask whether triples are in the graph."""
        for triple in self._known:
            triple in self._graph  # noqa: B015

    def match(self) -> None:
        """List the triples of subjects."""
        for subject, _, _ in self._known:
            list(self._graph.triples((subject, None, None)))

    def size(self) -> None:
        """Count the triples again and again."""
        for _ in range(1000):
            len(self._graph)

    def select(self) -> None:
        """Ask a query again and again."""
        for _ in range(20):
            list(self._graph.query(self._query))


def new_reasoners() -> None:
    """Make reasoners."""
    for _ in range(50):
        Reasoner()


def new_graphs() -> None:
    """Make graphs."""
    from rdflib import Graph

    for _ in range(20):
        Graph(store="KGReasoner")


# --- updates ---------------------------------------------------------------------------------------------------------------


def updates(folder: Path) -> dict[str, Step]:
    """Return a step for each strategy and rule set: single triples of LUBM(1) removed and added, and then many together."""
    return {f"{task} {strategy}": Updates(folder, task, strategy).step for task in ("dlp", "owl2rl") for strategy in STRATEGIES}


class Updates:
    """Updates of LUBM(1) by one strategy. What is removed is added again at once, so that a step can be done often."""

    def __init__(self, folder: Path, task: str, strategy: str) -> None:
        self._folder, self._task, self._strategy = folder, task, strategy
        self._reasoner: Any = None

    def _begin(self) -> None:
        rules: dict[str, Any] = {"program": DLP} if self._task == "dlp" else {"ruleset": self._task}
        rules["maintenance"] = self._strategy
        self._reasoner = reasoner = Reasoner(**rules)
        reasoner.load(self._folder / "ontology.nt", self._folder / "lubm1" / "data.nt")
        reasoner.materialise()
        explicit = list(islice(reasoner.triples(which="explicit"), 0, None, 113))
        random.Random(3).shuffle(explicit)
        data = [triple for triple in explicit if "univ-bench.owl" not in str(triple[0])]
        encode = reasoner.dictionary.encode
        self._singles = [np.array([[encode(term) for term in triple]], np.int32) for triple in data[:SINGLES]]
        self._together = np.concatenate(self._singles[:TOGETHER])

    def step(self) -> dict[str, float]:
        """Return the seconds of one removal and one addition: alone, and with others in a transaction."""
        if self._reasoner is None:
            self._begin()
        reasoner, clock = self._reasoner, time.process_time_ns
        removed = added = 0
        for row in self._singles:
            start = clock()
            reasoner.remove_triples(row)
            reasoner.materialise()
            middle = clock()
            reasoner.add_triples(row)
            reasoner.materialise()
            removed, added = removed + middle - start, added + clock() - middle
        seconds = {"one removed": removed / SINGLES, "one added": added / SINGLES}
        start = clock()
        for _ in range(REPEATED):
            with reasoner.transaction(collects=False) as transaction:
                transaction.remove_triples(self._together)
            with reasoner.transaction(collects=False) as transaction:
                transaction.add_triples(self._together)
        seconds[f"{TOGETHER} removed, added"] = (clock() - start) / REPEATED
        return {f"{self._task}, {self._strategy}: {name}": value / 1e9 for name, value in seconds.items()}


REPEATED = 5


def answer(steps: dict[str, Step], wanted: Iterator[str]) -> None:
    """Do the steps whose names are read."""
    print(json.dumps(list(steps)), flush=True)
    for line in wanted:
        print(json.dumps(steps[line.strip()]()), flush=True)


SECTIONS = {"operations": operations, "updates": updates}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    answer(SECTIONS[sys.argv[1]](Path(sys.argv[2])), iter(sys.stdin))
