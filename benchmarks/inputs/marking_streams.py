"""Update streams for `benchmarks.marking`: those of the paper, and others in which deletion is expensive.

The paper is Illich and Glimm, "Backward/Forward with Marking for Update Streams" (2025). Its cases are transitive paths in a graph
of 20 nodes, chains of renamed predicates over 100 nodes, and map data along a GPS track. The synthetic streams are drawn anew here:
a first update of 100 facts, then updates that delete and add equally many, at random. In the *windows*, which are ours, facts go in
the order in which they came, all of them at once if updates are as large as the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from typing import Final

from benchmarks.inputs import streams
from benchmarks.inputs.update_data import data_folder, departments_of, lubm
from kg_reasoner.api.update import Update
from kg_reasoner.language.parser import parse
from kg_reasoner.program import TRIPLE, Program
from kg_reasoner.rulesets import load
from kg_reasoner.terms import IRI, OWL, RDF, Term, literal

__all__ = ["CASES", "FIRST", "LATER", "SIZES", "Case", "Options"]

SIZES: Final = (*range(10, 90, 10), 100)
FIRST: Final = 100
LATER: Final = 49
"""Updates after the first."""

PATHS: Final = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- edge(?x, ?y), path(?y, ?z) ."
CHAINS: Final = " ".join(f"edge{link}(?x, ?y) :- edge{link - 1 or ''}(?x, ?y) ." for link in range(1, 5))
SQUARES: Final = "alert(?x, ?y) :- event(?x, ?y), knows(?y, ?z), knows(?z, ?v), knows(?v, ?x) ."
PEOPLE, ACQUAINTANCES = 2000, 20
WINDOWS: Final = (1, 5)
"""Departments of LUBM(1) that are there at a time."""

Fact = tuple[Term, ...]


@dataclass(frozen=True)
class Options:
    """What the streams are like."""

    sizes: Sequence[int] = SIZES
    """What each update after the first deletes and adds, of `FIRST` facts."""
    later: int = LATER
    seed: int = 0
    folder: Path | None = None
    """Where the data of LUBM are kept."""


@dataclass(frozen=True)
class Case:
    """One stream, under a program."""

    name: str
    size: str
    """What each update after the first deletes and adds."""
    program: Program
    updates: Sequence[Update]
    before: Update = field(default_factory=Update)
    """What is there before the stream, and stays."""


# ---- the paper's


def paths(options: Options) -> Iterator[Case]:
    """Transitive paths in a graph of 20 nodes."""
    yield from synthetic("transitive paths, 20 nodes", PATHS, 20, options)


def chains(options: Options) -> Iterator[Case]:
    """A chain of renamed predicates over 100 nodes."""
    yield from synthetic("renamed predicates, 100 nodes", CHAINS, 100, options)


def synthetic(name: str, rules: str, nodes: int, options: Options) -> Iterator[Case]:
    for size in options.sizes:
        updates = random_updates(nodes, size, options.later, Random(f"{name} {size} {options.seed}"))
        yield Case(name, f"-{size} +{size}", parse(rules), list(updates))


def random_updates(nodes: int, size: int, later: int, random: Random) -> Iterator[Update]:
    """A first update of `FIRST` edges, then updates that take `size` random edges away and add as many that were not there."""
    terms = numbered(nodes)
    edges: list[Fact] = [(x, y) for x in terms for y in terms if x != y]
    random.shuffle(edges)
    there, away = edges[:FIRST], edges[FIRST:]
    yield Update(added={"edge": list(there)})
    for _ in range(later):
        random.shuffle(there)
        random.shuffle(away)
        removed, added = there[:size], away[:size]
        there, away = there[size:] + added, away[size:] + removed
        yield Update({"edge": added}, {"edge": removed})


def ways(options: Options) -> Iterator[Case]:
    """The map-data streams of the shared suite of update streams: nothing where that is absent."""
    for name in streams.names():
        if streams.rule_set(name) == "ways":
            stream = streams.read(name)
            updates = [step.update for step in stream.steps]
            yield Case("map data along a GPS track", "recorded", stream.program, updates)


# ---- windows


def window(predicate: str, facts: Iterable[Fact], size: int, later: int) -> Iterator[Update]:
    """A first update of `FIRST` facts, then updates that take the `size` oldest away and add as many. Facts come once."""
    source = iter(facts)
    there = list(islice(source, FIRST))
    yield Update({predicate: list(there)})
    for _ in range(later):
        removed, added = there[:size], list(islice(source, size))
        there = there[size:] + added
        yield Update({predicate: added}, {predicate: removed})


def windows(name: str, rules: str, facts: Callable[[Random], Iterable[Fact]], options: Options, predicate: str) -> Iterator[Case]:
    for size in options.sizes:
        made = facts(Random(f"{name} {size} {options.seed}"))
        yield Case(name, f"-{size} +{size}", parse(rules), list(window(predicate, made, size, options.later)))


def line(options: Options) -> Iterator[Case]:
    """Edges of one long chain: proofs are as deep as the window is long."""
    nodes = numbered(FIRST * (options.later + 1) + 1)
    yield from windows("window of a chain", PATHS, lambda random: pairwise(nodes), options, "edge")


def dense(options: Options) -> Iterator[Case]:
    """Random edges among 25 nodes: nearly all reach all, by many ways, in cycles."""
    yield from windows("window of a dense graph", PATHS, lambda random: random_edges(random, numbered(25)), options, "edge")


def skewed(options: Options) -> Iterator[Case]:
    """Random edges of a graph in which a few of 200 nodes have most of them."""
    nodes, weights = numbered(200), [1 / (1 + node) for node in range(200)]
    yield from windows("window of a skewed graph", PATHS, lambda random: random_edges(random, nodes, weights), options, "edge")


def random_edges(random: Random, nodes: Sequence[Term], weights: Sequence[float] | None = None) -> Iterator[Fact]:
    """Endlessly many edges, none of which is among the `2 * FIRST` before it."""
    recent: list[Fact] = []
    while True:
        x, y = random.choices(nodes, weights, k=2)
        if x != y and (x, y) not in recent:
            recent = [*recent[1 - 2 * FIRST :], (x, y)]
            yield x, y


def numbered(count: int) -> list[Term]:
    return [literal(number) for number in range(count)]


def same(options: Options) -> Iterator[Case]:
    """OWL 2 RL with equality: parts of parts, and names of the same, among 60 things."""
    part, name = IRI("http://example.org/partOf"), "window of parts and owl:sameAs, OWL 2 RL"
    things = [IRI(f"http://example.org/{number}") for number in range(60)]
    schema: Fact = (part, RDF.type, OWL.TransitiveProperty)
    for size in options.sizes:
        random = Random(f"{name} {size} {options.seed}")
        facts = ((x, OWL.sameAs if random.random() < 0.1 else part, y) for x, y in random_edges(random, things))
        updates = list(window(TRIPLE, facts, size, options.later))
        yield Case(name, f"-{size} +{size}", load("owl2rl").program, updates, Update({TRIPLE: [schema]}))


def departments(options: Options) -> Iterator[Case]:
    """LUBM(1) under OWL 2 RL: a window of departments."""
    loaded = lubm(1, data_folder(options.folder), ruleset="owl2rl")
    numbers = departments_of(loaded)
    decode = loaded.reasoner.dictionary.decode
    blocks = [[tuple(map(decode, row)) for row in loaded.data[numbers == number].tolist()] for number in range(max(numbers) + 1)]
    ontology = [tuple(map(decode, row)) for row in loaded.ontology.tolist()]
    for width in (width for width in WINDOWS if width < len(blocks)):
        updates = [Update({TRIPLE: [triple for block in blocks[:width] for triple in block]})]
        updates += [Update({TRIPLE: come}, {TRIPLE: gone}) for gone, come in zip(blocks, blocks[width:], strict=False)]
        name, before = "LUBM by departments, OWL 2 RL", Update({TRIPLE: ontology})
        yield Case(name, f"1 of {width}", load("owl2rl").program, updates[: options.later + 1], before)


# ---- joins


def joins(options: Options) -> Iterator[Case]:
    """Events that a join of four facts looks at, most of which come to nothing; the others do not change."""
    random = Random(f"joins {options.seed}")
    people = numbered(PEOPLE)
    knows: list[Fact] = [(person, other) for person in people for other in random.sample(people, ACQUAINTANCES)]
    name = "window of events, selective join"
    for case in windows(name, SQUARES, lambda random: random_edges(random, people), options, "event"):
        yield replace(case, before=Update({"knows": knows}))


CASES: Final[dict[str, Callable[[Options], Iterator[Case]]]] = {
    "paths": paths,
    "chains": chains,
    "ways": ways,
    "line": line,
    "dense": dense,
    "skewed": skewed,
    "same": same,
    "departments": departments,
    "joins": joins,
}
