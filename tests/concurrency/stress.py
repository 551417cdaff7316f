"""Many threads on one reasoner, and each answer checked: ``python -m tests.concurrency.stress --threads 16 --seconds 300``.

One thread changes the reasoner, by transactions of facts, triples and rules, some of which are rolled back. What is there after the
n-th commit is known without computing anything (`State`), and names n, so that whoever reads can tell which commits an answer may
belong to: it has to be that of one of them, and none before the one that the same reader has seen already.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import click
from rdflib import Graph, Namespace
from rdflib.plugins.sparql import prepareQuery
from rdflib.query import Result

from kg_reasoner import KGReasonerStore
from kg_reasoner.api.change_feed import ChangeFeed
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.errors import NoProofError
from kg_reasoner.language.parser import parse
from kg_reasoner.program import Atom
from kg_reasoner.terms import IRI, RDF, RDFS, Literal, Term, Triple, literal

LENGTH: Final = 8
"""Edges of the chain, and things that there are."""

PROGRAM: Final = """
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
    [?y, rdf:type, ?d] :- [?y, rdf:type, ?c], [?c, rdfs:subClassOf, ?d] .
"""
RULE: Final = "marked(?x) :- edge(?x, ?y) ."
"""Is there after every second commit."""

EX: Final = Namespace("http://example.org/")
CAT, ANIMAL, NEAR, AGE, OLD = (IRI(str(EX[name])) for name in ("Cat", "Animal", "near", "age", "old"))
PATIENCE: Final = 60.0
"""Seconds after which a thread that does not end counts as hung."""

Numbers = frozenset[tuple[int, ...]]


def thing(number: int) -> IRI:
    return IRI(f"{EX}thing{number}")


def edge(number: int) -> tuple[Term, Term]:
    return literal(number), literal(number + 1)


def about(number: int) -> list[Triple]:
    """What is said of a thing."""
    said: list[Triple] = [
        (thing(number), RDF.type, CAT),
        (thing(number), NEAR, thing(number + 1)),
        (thing(number), AGE, literal(number)),
    ]
    return said if number % 2 else [*said, (thing(number), OLD, literal(number))]


@dataclass(frozen=True)
class State:
    """What is there after the n-th commit: a chain of edges from n to n + `LENGTH`, as many things, and maybe a rule."""

    number: int

    @property
    def window(self) -> range:
        return range(self.number, self.number + LENGTH)

    def edges(self) -> Numbers:
        return frozenset((each, each + 1) for each in self.window)

    def paths(self) -> Numbers:
        return frozenset((start, end) for start in self.window for end in range(start + 1, self.number + LENGTH + 1))

    def marked(self) -> Numbers:
        return frozenset((each,) for each in self.window) if self.number % 2 == 0 else frozenset()

    def things(self) -> Numbers:
        return frozenset((each,) for each in self.window)

    def neighbours(self) -> Numbers:
        """Things next to each other, as far as both are there."""
        return frozenset((each, each + 1) for each in self.window[:-1])

    def ages(self) -> Numbers:
        """Things, and for the even ones, how old they are; -1 for the others."""
        return frozenset((each, -1 if each % 2 else each) for each in self.window)

    def sizes(self) -> Numbers:
        """The numbers of explicit and of inferred facts."""
        explicit = LENGTH + 3 * LENGTH + sum(each % 2 == 0 for each in self.window) + 1
        return frozenset({(explicit, len(self.paths()) + LENGTH + len(self.marked()))})


QUERIES: Final[dict[str, tuple[str, Callable[[State], Numbers]]]] = {
    "BGP": (f"SELECT ?x ?y {{ ?x a <{ANIMAL.value}> ; <{NEAR.value}> ?y . ?y a <{ANIMAL.value}> }}", State.neighbours),
    "OPTIONAL": (f"SELECT ?x ?n {{ ?x a <{CAT.value}> OPTIONAL {{ ?x <{OLD.value}> ?n }} }}", State.ages),
    "FILTER": (f"SELECT ?x {{ ?x a <{ANIMAL.value}> ; <{AGE.value}> ?n FILTER(?n >= 0) }}", State.things),
}


@dataclass
class Report:
    """What the threads have done, and what was wrong.

    Attributes:
        done: how many operations there were, by kind.
        wrong: answers that belong to no commit that they may belong to.
        errors: exceptions, with their traces.
        hung: where threads stood that did not end.
    """

    done: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    hung: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{count:>9,}  {kind}" for kind, count in sorted(self.done.items())]
        for name in ("wrong", "errors", "hung"):
            found = getattr(self, name)
            lines.append(f"{len(found):>9,}  {name}")
            lines += [f"           {text}" for text in dict.fromkeys(found[:5])]
        return "\n".join(lines)

    @property
    def is_clean(self) -> bool:
        return not (self.wrong or self.errors or self.hung)


class Shared:
    """One reasoner with a graph of rdflib on it, and what is known of its commits."""

    def __init__(self) -> None:
        self.reasoner = Reasoner(PROGRAM + RULE)
        self.reasoner.add_triples([(CAT, RDFS.subClassOf, ANIMAL)])
        self.reasoner.add_facts("edge", [edge(number) for number in range(LENGTH)])
        self.reasoner.add_triples([triple for number in range(LENGTH) for triple in about(number)])
        self.reasoner.materialise()
        self.graph = Graph(store=KGReasonerStore(self.reasoner))
        self.committed = 0
        """The last commit that has certainly ended."""
        self.begun = 0
        """The last commit that may have ended."""

    def advance(self, keeps: bool, random: Random) -> None:
        """Go to the next state; or nearly so, and back."""
        gone, come = self.committed, self.committed + LENGTH
        toggle = "remove_rules" if gone % 2 == 0 else "add_program"
        if keeps:
            self.begun = gone + 1
        steps: list[Callable[[Any], object]] = [
            lambda change: change.add_facts("edge", [edge(come)]),
            lambda change: change.remove_facts("edge", [edge(gone)]),
            lambda change: change.add_triples(about(come)),
            lambda change: change.remove_triples(about(gone)),
            lambda change: getattr(change, toggle)(parse(RULE) if toggle == "add_program" else parse(RULE).rules),
        ]
        random.shuffle(steps)
        transaction = self.reasoner.transaction().begin()
        for step in steps:
            step(transaction)
            if random.random() < 0.2:
                len(list(self.reasoner.facts("path")))
        if keeps:
            transaction.commit()
            self.committed = gone + 1
        else:
            transaction.add_facts("edge", [(literal(-1), literal(-2))])
            transaction.add_triples([(thing(-1), RDF.type, CAT)])
            transaction.rollback()


class Reader:
    """One thread that asks, and remembers the last commit that it has seen.

    Its prepared queries are its own: rdflib evaluates the expressions of one that is shared with the solutions of another thread.
    """

    def __init__(self, shared: Shared, report: Report, random: Random) -> None:
        self.shared, self.report, self.random = shared, report, random
        self.seen = shared.committed
        self.queries = {name: (prepareQuery(text), expected) for name, (text, expected) in QUERIES.items()}

    def step(self) -> None:
        name, ask, expected = self.random.choice(list(self._questions()))
        latest_before = max(self.seen, self.shared.committed)
        answer = ask()
        self.report.done[name] += 1
        possible = [number for number in range(latest_before, self.shared.begun + 1) if expected(State(number)) == answer]
        if possible:
            self.seen = possible[0]
        else:
            span = f"of the commits {latest_before} to {self.shared.begun}"
            older = [number for number in range(self.shared.begun + 1) if expected(State(number)) == answer]
            found = f"that of {older[-1]}" if older else f"{sorted(answer)}, that of none"
            self.report.wrong.append(f"{name}: {found}, and not one {span}")

    def _questions(self) -> Iterator[tuple[str, Callable[[], Numbers], Callable[[State], Numbers]]]:
        reasoner, graph = self.shared.reasoner, self.shared.graph
        yield "facts()", lambda: as_numbers(reasoner.facts("path")), State.paths
        yield "explicit facts()", lambda: as_numbers(reasoner.facts("edge", "explicit")), State.edges
        yield "facts() of a rule", lambda: as_numbers(reasoner.facts("marked")), State.marked
        yield "triples()", lambda: as_numbers((s,) for s, _, _ in reasoner.triples(None, RDF.type, ANIMAL)), State.things
        yield "sizes()", self._sizes, State.sizes
        yield "explain()", self._explain, lambda _: frozenset()
        for name, (query, expected) in self.queries.items():
            yield f"SPARQL: {name}", lambda query=query: of_result(graph.query(query)), expected  # type: ignore[misc]

    def _sizes(self) -> Numbers:
        sizes = self.shared.reasoner.sizes()
        return frozenset({(sizes.explicit, sizes.inferred)})

    def _explain(self) -> Numbers:
        """A path that is there after this commit and the next ones has a proof by its edges."""
        start = self.shared.begun + LENGTH - 3
        try:
            proof = self.shared.reasoner.explain(Atom("path", (literal(start), literal(start + 2)))).text()
        except NoProofError:
            return frozenset() if self.shared.begun > start else frozenset({(start,)})
        there = all(f"edge({number}, {number + 1})" in proof for number in (start, start + 1))
        return frozenset() if there else frozenset({(start,)})


def as_numbers(rows: Iterable[tuple[Term, ...]]) -> Numbers:
    """Rows of literals and things as their numbers."""
    return frozenset(
        tuple(int(t.lexical if isinstance(t, Literal) else str(t)[len(str(EX)) + 6 : -1]) for t in row) for row in rows
    )


def of_result(result: Result) -> Numbers:
    """The solutions of a SPARQL query as numbers; -1 for what has no value."""
    rows: list[Any] = list(result)
    return frozenset(tuple(-1 if term is None else int(term.removeprefix(f"{EX}thing")) for term in row) for row in rows)


def follow(feed: ChangeFeed, report: Report, stop: threading.Event) -> None:
    """Read the deltas of the edges: each commit has one, in order."""
    number = 0
    while True:
        is_last = stop.is_set()
        for delta in feed.poll(0.05):
            report.done["deltas"] += 1
            added, removed = (as_numbers(changes.facts("edge")) for changes in (delta.added, delta.removed))
            if (added, removed) != (frozenset({(number + LENGTH, number + LENGTH + 1)}), frozenset({(number, number + 1)})):
                report.wrong.append(f"delta {number + 1}: added {sorted(added)}, removed {sorted(removed)}")
            number += 1
        if is_last:
            return


def own_reasoner(report: Report, random: Random) -> None:
    """A reasoner that no other thread knows: made, changed, and compared with what is known of chains."""
    count = random.randrange(5, 120)
    reasoner = Reasoner(PROGRAM)
    reasoner.add_facts("edge", [edge(number) for number in range(count)])
    sizes = reasoner.sizes()
    if (sizes.explicit, sizes.inferred) != (count, count * (count + 1) // 2):
        report.wrong.append(f"own reasoner: {sizes} of a chain of {count}")
    cut = random.randrange(count)
    reasoner.remove_facts("edge", [edge(cut)])
    left, right = cut, count - cut - 1
    if len(list(reasoner.facts("path"))) != left * (left + 1) // 2 + right * (right + 1) // 2:
        report.wrong.append(f"own reasoner: a chain of {count} cut at {cut}")
    report.done["own reasoner"] += 1


def run(threads: int, seconds: float, seed: int = 0, switch_interval: float = 1e-5) -> Report:
    """Let threads work, one of them a writer, a quarter with reasoners of their own, one following deltas, the others readers."""
    shared, report, stop = Shared(), Report(), threading.Event()
    feed = shared.reasoner.changes("edge")

    def worker(number: int, step: Callable[[], object]) -> threading.Thread:
        def work() -> None:
            while not stop.is_set() and len(report.errors) < 20:
                try:
                    step()
                except Exception:
                    report.errors.append(traceback.format_exc(limit=-4))

        return threading.Thread(target=work, name=f"worker {number}", daemon=True)

    def write(random: Random) -> None:
        keeps = random.random() < 0.7
        shared.advance(keeps, random)
        report.done["commits" if keeps else "rollbacks"] += 1
        time.sleep(random.choice((0.0, 0.0, 0.002)))

    randoms = [Random(f"{seed} {number}") for number in range(threads)]
    workers = [worker(0, lambda: write(randoms[0]))]
    for number in range(1, threads):
        if number % 4 == 0:
            workers.append(worker(number, lambda random=randoms[number]: own_reasoner(report, random)))  # type: ignore[misc]
        else:
            workers.append(worker(number, Reader(shared, report, randoms[number]).step))
    workers.append(threading.Thread(target=follow, args=(feed, report, stop), name="deltas", daemon=True))
    with switching(switch_interval):
        for each in workers:
            each.start()
        stop.wait(seconds)
        stop.set()
        end = time.monotonic() + PATIENCE
        for each in workers:
            each.join(max(0.0, end - time.monotonic()))
    for each in workers:
        if each.is_alive():
            frame = sys._current_frames().get(each.ident or 0)
            report.hung.append(f"{each.name}\n{''.join(traceback.format_stack(frame)[-4:])}")
    return report


@contextmanager
def switching(interval: float) -> Iterator[None]:
    """Let Python switch between threads after so many seconds."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(interval)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


@click.command()
@click.option("--threads", default=16, show_default=True)
@click.option("--seconds", default=300.0, show_default=True)
@click.option("--seed", default=0, show_default=True)
def main(threads: int, seconds: float, seed: int) -> None:
    """Read and change one reasoner in many threads, and check every answer. A crash is one of this process."""
    import faulthandler

    faulthandler.enable()
    report = run(threads, seconds, seed)
    click.echo(report)
    sys.exit(0 if report.is_clean else 1)


if __name__ == "__main__":
    main(prog_name="python -m tests.concurrency.stress")
