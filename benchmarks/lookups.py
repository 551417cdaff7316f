"""Small queries about one resource after the other, on LUBM. ``python -m benchmarks.lookups [UNIVERSITIES]``.

The resource is a value of `bindings`, or written into the text. Every way has the same answers. Times are CPU microseconds for a
query, the best of several rounds over the resources, without parsing a text for the first time. *evaluated* is the same query under
limits that nothing reaches, so that it is evaluated operator by operator.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import click

from benchmarks.inputs.data import reasoned_lubm
from benchmarks.measuring.commands import SETTINGS
from kg_reasoner import Reasoner
from kg_reasoner.concurrency.limits import Limits
from kg_reasoner.io.output import write_triples
from kg_reasoner.terms import IRI

__all__ = ["PREFIXES", "QUERIES", "Measured", "main", "measured", "table", "ways"]

PREFIXES: Final = "PREFIX ub: <http://swat.cse.lehigh.edu/onto/univ-bench.owl#> "
QUERIES: Final = {
    "what is known": "SELECT ?p ?o { ?s ?p ?o }",
    "classes": "SELECT ?c { ?s a ?c }",
    "a value": "SELECT ?n { ?s ub:name ?n }",
    "two steps": "SELECT ?a ?d { ?s ub:advisor ?a . ?a ub:worksFor ?d }",
    "who else": "SELECT DISTINCT ?t { ?s ub:advisor ?a . ?t ub:advisor ?a . ?t a ub:GraduateStudent }",
    "whether": "ASK { ?s ub:teachingAssistantOf ?c }",
}
OURS: Final = "bindings"
UNREACHED: Final = Limits(facts=10**12)

Ask = Callable[[str, str], Any]


@dataclass(frozen=True)
class Measured:
    """The time of one way to ask a query, and the number of all answers."""

    query: str
    way: str
    seconds: float
    answers: int


def ways(reasoner: Reasoner) -> dict[str, Ask]:
    """Return functions that ask a query about a resource, by name; they return a result that has a length or is a truth value."""
    from kg_reasoner.rdflib_store import graph_of

    graph = graph_of(reasoner)
    found: dict[str, Ask] = {
        OURS: lambda query, name: reasoner.query(query, {"s": IRI(name)}),
        "evaluated": lambda query, name: reasoner.query(query, {"s": IRI(name)}, limits=UNREACHED),
        "in the text": lambda query, name: reasoner.query(query.replace("?s ", f"<{name}> ")),
        "graph.query": lambda query, name: graph.query(query, initBindings={"s": IRI(name)}).native,  # type: ignore[dict-item]
    }
    if find_spec("pyoxigraph"):
        import pyoxigraph

        store = pyoxigraph.Store()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "materialised.nt"
            write_triples(reasoner.triples(), file)
            store.bulk_load(path=str(file), format=pyoxigraph.RdfFormat.N_TRIPLES)

        def ask(query: str, name: str) -> Any:
            result = store.query(query.replace("?s ", f"<{name}> "))
            return bool(result) if isinstance(result, pyoxigraph.QueryBoolean) else list(result)

        found["pyoxigraph"] = ask
    return found


def measured(reasoner: Reasoner, names: Sequence[str], rounds: int = 5) -> Iterator[Measured]:
    """Ask all queries about all resources in all ways.

    Args:
        reasoner: The reasoner.
        names: The IRIs of the resources.
        rounds: How often.
    """
    every = ways(reasoner)
    for label, query in QUERIES.items():
        for way, ask in every.items():
            text = PREFIXES + query
            answers = sum(_size(ask(text, name)) for name in names)
            times = []
            for _ in range(rounds):
                start = time.thread_time()
                for name in names:
                    ask(text, name)
                times.append(time.thread_time() - start)
            yield Measured(label, way, min(times) / len(names), answers)


def _size(result: Any) -> int:
    return len(result) if hasattr(result, "__len__") else int(bool(result))


def table(results: Iterator[Measured]) -> Iterator[str]:
    """Yield lines with the times, and how they compare with ours.

    Raises:
        AssertionError: Two ways have different answers.
    """
    ours: Measured | None = None
    for each in results:
        if each.way == OURS:
            ours = each
            yield f"{each.query}: {each.answers:,} answers"
        assert ours is not None, "ours comes first"
        assert each.answers == ours.answers, f"{each.way} has {each.answers} answers, {OURS} has {ours.answers}: {each.query}"
        yield f"  {each.way:12} {1e6 * each.seconds:9.1f} us {each.seconds / ours.seconds:8.2f} of ours"


@click.command(context_settings=SETTINGS)
@click.argument("universities", type=click.IntRange(1), default=1)
def main(universities: int) -> None:
    """Print the times on LUBM's data, reasoned with ``owl2rl``."""
    reasoner = reasoned_lubm(universities)
    names = [f"http://www.Department0.University0.edu/GraduateStudent{number}" for number in range(50)]
    for line in table(measured(reasoner, names)):
        print(line)


if __name__ == "__main__":
    main()
