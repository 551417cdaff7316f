"""Values in rules: FILTER and BIND, counting, joins with conditions, shortest paths, components.

``python -m benchmarks.values [SCALE] [NAME ...]`` runs the jobs whose names contain one of the names, or all.

The times are CPU seconds of one thread for deriving, without loading, the best of several runs; every contestant must have the same
results. Besides us there are, as far as they are installed: our rules with functions called one by one, DuckDB (the same in SQL by
hand), SciPy (graph algorithms in C++), and compiled Soufflé (``souffle`` on the PATH, whose shortest paths and components are by
subsumption).
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import click
import numpy as np
import numpy.typing as npt

from benchmarks.measuring.commands import SETTINGS
from benchmarks.translations.flat_maps_souffle import version
from kg_reasoner import Reasoner
from kg_reasoner.terms import XSD

__all__ = ["CONTESTANTS", "Job", "Result", "jobs", "main", "measured", "table"]

Table = npt.NDArray[np.int64]
Checksum = tuple[int, int]
"""How many results there are, and the sum of their values."""

RUNS: Final = 3


@dataclass(frozen=True)
class Job:
    """A program in several languages. Its results are the facts of ``o``, whose last column is summed up."""

    name: str
    rules: str
    sql: str = ""
    souffle: str = ""
    facts: Mapping[str, Table] = field(default_factory=dict)
    texts: frozenset[str] = frozenset()
    """The relations whose last column is the number in a text."""
    algorithm: Callable[[Table], Table] | None = None
    """Computes the last column of the results from the edges."""
    is_wide: bool = False
    """Whether results have more than 32 bits."""


@dataclass(frozen=True)
class Result:
    """What one contestant needed for one job."""

    job: str
    contestant: str
    seconds: float
    checksum: Checksum


COMPONENTS: Final = """
    label(?x, ?x) :- edge(?x, _) ; edge(_, ?x) .
    label(?y, ?c) :- o(?x, ?c), (edge(?x, ?y) ; edge(?y, ?x)) .
    o(?x, ?least) :- AGGREGATE(label(?x, ?c) ON ?x BIND MIN(?c) AS ?least) .
"""
"""The component of each node, by its least node. By rounds, a path takes one for each of its nodes."""


def jobs(scale: float = 1.0) -> list[Job]:
    """Return the jobs.

    Args:
        scale: The size of the data: 1 is 200,000 values, and a graph of a million edges.
    """
    million = int(1_000_000 * scale)
    return [*_jobs_on_values(int(200_000 * scale), int(50_000 * scale)), *_jobs_on_joins(million), *_jobs_on_graphs(million)]


def _jobs_on_values(count: int, limit: int) -> list[Job]:
    """Return the jobs that compute values: of so many numbers, and up to a limit."""
    values: Mapping[str, Table] = {"v": np.arange(count, dtype=np.int64).reshape(-1, 1)}
    return [
        Job(
            "x * x + 1",
            "o(?x, ?y) :- v(?x), BIND(?x * ?x + 1 AS ?y) .",
            "CREATE TABLE o AS SELECT a, a * a + 1 AS z FROM v",
            ".decl v(x: number)\n.input v\n.decl o(x: number, y: number)\n.output o\no(x, x * x + 1) :- v(x).",
            values,
            is_wide=count**2 >= 1 << 31,
        ),
        Job(
            "x * 2 < n",
            f"o(?x) :- v(?x), FILTER(?x * 2 < {count}) .",
            f"CREATE TABLE o AS SELECT a AS z FROM v WHERE a * 2 < {count}",
            f".decl v(x: number)\n.input v\n.decl o(x: number)\n.output o\no(x) :- v(x), x * 2 < {count}.",
            values,
        ),
        Job(
            "strings",
            'o(?x, ?n) :- v(?x, ?n), FILTER(CONTAINS(?x, "99") || REGEX(?x, "1[0-3]$")) .',
            "CREATE TABLE o AS SELECT a, b AS z FROM v WHERE contains(a, '99') OR regexp_matches(a, '1[0-3]$')",
            facts={"v": np.column_stack([values["v"][:, 0], values["v"][:, 0]])},
            texts=frozenset({"v"}),
        ),
        Job(
            "text functions",
            'o(?x, ?z) :- v(?x, ?n), BIND(STRLEN(CONCAT(UCASE(?x), "-", STR(?n))) + xsd:integer(STRAFTER(?x, " ")) AS ?z) .',
            "CREATE TABLE o AS SELECT a, length(concat(upper(a), '-', b)) + split_part(a, ' ', 2)::INTEGER AS z FROM v",
            facts={"v": np.column_stack([values["v"][:, 0], values["v"][:, 0]])},
            texts=frozenset({"v"}),
        ),
        Job(
            f"count to {limit:,}",
            f"o(0) . o(?y) :- o(?x), FILTER(?x < {limit}), BIND(?x + 1 AS ?y) .",
            f"CREATE TABLE o AS WITH RECURSIVE c(z) AS (SELECT 0 UNION ALL SELECT z + 1 FROM c WHERE z < {limit}) SELECT z FROM c",
            f".decl o(x: number)\n.output o\no(0).\no(x + 1) :- o(x), x < {limit}.",
        ),
    ]


def _jobs_on_joins(count: int) -> list[Job]:
    """Return the jobs that calculate with the values of two atoms, of so many rows each."""
    random, keys = np.random.default_rng(2), np.arange(count, dtype=np.int64)
    facts: Mapping[str, Table] = {name: np.column_stack([keys, random.integers(0, count, count)]) for name in "vw"}
    declared = "".join(
        f".decl {name}(x: number, a: number)\n.{way} {name}\n"
        for name, way in zip("vwo", ("input", "input", "output"), strict=True)
    )
    joined = "FROM v JOIN w ON v.a = w.a"
    return [
        Job(
            "a < b of two atoms",
            "o(?x, ?b) :- v(?x, ?a), w(?x, ?b), ?a < ?b .",
            f"CREATE TABLE o AS SELECT DISTINCT v.a, w.b AS z {joined} WHERE v.b < w.b",
            f"{declared}o(x, b) :- v(x, a), w(x, b), a < b.",
            facts,
        ),
        Job(
            "a + b of two atoms",
            f"o(?x, ?a + ?b) :- v(?x, ?a), w(?x, ?b), ?a + ?b < {count} .",
            f"CREATE TABLE o AS SELECT DISTINCT v.a, v.b + w.b AS z {joined} WHERE v.b + w.b < {count}",
            f"{declared}o(x, a + b) :- v(x, a), w(x, b), a + b < {count}.",
            facts,
        ),
        Job(
            "buckets of two atoms",
            "o(?x, IDIV(?a + ?b, 10)) :- v(?x, ?a), w(?x, ?b) .",
            f"CREATE TABLE o AS SELECT DISTINCT v.a, (v.b + w.b) // 10 AS z {joined}",
            f"{declared}o(x, (a + b) / 10) :- v(x, a), w(x, b).",
            facts,
        ),
    ]


def _jobs_on_graphs(edges: int) -> list[Job]:
    """Return the jobs on graphs with so many edges."""
    nodes, random = max(2, edges // 10), np.random.default_rng(1)
    unique = np.unique(random.integers(0, nodes, (edges, 2)), axis=0)
    graph: Mapping[str, Table] = {"edge": np.column_stack([unique, random.integers(1, 101, len(unique))])}
    path = np.arange(nodes, dtype=np.int64)
    return [
        Job(
            "degrees",
            "o(?x, ?n) :- AGGREGATE(edge(?x, ?y, ?w) ON ?x BIND COUNT(?y) AS ?n) .",
            "CREATE TABLE o AS SELECT a, count(*) AS z FROM edge GROUP BY a",
            ".decl edge(x: number, y: number, w: number)\n.input edge\n.decl from_(x: number)\nfrom_(x) :- edge(x, _, _).\n"
            ".decl o(x: number, n: number)\n.output o\no(x, n) :- from_(x), n = count : { edge(x, _, _) }.",
            graph,
        ),
        Job(
            "ways of at most ten steps",
            "o(0, 0) . o(?y, ?n + 1) :- o(?x, ?n), ?n < 10, edge(?x, ?y, _) .",
            """CREATE TABLE o AS WITH RECURSIVE p(x, z) AS (
                SELECT 0::BIGINT, 0::BIGINT UNION SELECT edge.b, p.z + 1 FROM p JOIN edge ON p.x = edge.a WHERE p.z < 10
            ) SELECT x, z FROM p""",
            ".decl edge(x: number, y: number, w: number)\n.input edge\n.decl o(x: number, n: number)\n.output o\n"
            "o(0, 0).\no(y, n + 1) :- o(x, n), n < 10, edge(x, y, _).",
            graph,
        ),
        Job(
            "shortest paths",
            """o(0, 0) .
            o(?y, ?m) :- AGGREGATE(o(?x, ?d), edge(?x, ?y, ?w), FILTER(?y != 0) ON ?y BIND MIN(?d + ?w) AS ?m) .""",
            """CREATE TABLE o AS WITH RECURSIVE d(x, z) USING KEY (x) AS (
                SELECT 0::BIGINT, 0::BIGINT
                UNION SELECT edge.b, min(d.z + edge.c) FROM d JOIN edge ON d.x = edge.a
                LEFT JOIN recurring.d AS r ON r.x = edge.b WHERE r.z IS NULL OR d.z + edge.c < r.z GROUP BY edge.b
            ) SELECT x, z FROM d""",
            ".decl edge(x: number, y: number, w: number)\n.input edge\n.decl o(x: number, d: number) btree_delete\n.output o\n"
            "o(0, 0).\no(y, d + w) :- o(x, d), edge(x, y, w).\no(x, a) <= o(x, b) :- b <= a.",
            graph,
            algorithm=_distances,
        ),
        Job(
            "components",
            COMPONENTS,
            """CREATE TABLE o AS WITH RECURSIVE
                link AS (SELECT a, b FROM edge UNION SELECT b, a FROM edge),
                d(x, z) USING KEY (x) AS (
                    SELECT a, a FROM link
                    UNION SELECT link.b, min(d.z) FROM d JOIN link ON d.x = link.a
                    LEFT JOIN recurring.d AS r ON r.x = link.b WHERE d.z < r.z GROUP BY link.b
                ) SELECT x, z FROM d""",
            ".decl edge(x: number, y: number)\n.input edge\n.decl link(x: number, y: number)\n"
            "link(x, y), link(y, x) :- edge(x, y).\n.decl o(x: number, c: number) btree_delete\n.output o\n"
            "o(x, x) :- link(x, _).\no(y, c) :- o(x, c), link(x, y).\no(x, a) <= o(x, b) :- b <= a.",
            {"edge": unique[: max(1, edges // 5)]},
            algorithm=_components,
        ),
        Job("components of a path", COMPONENTS, facts={"edge": np.column_stack([path, path + 1])}, algorithm=_components),
    ]


# --- contestants -----------------------------------------------------------------------------------------------------------


def _ours(job: Job) -> tuple[float, Checksum]:
    reasoner = Reasoner(job.rules)
    dictionary, engine = reasoner.dictionary, reasoner.core.engine
    for name, rows in job.facts.items():
        texts = [f'"{number}"^^<{XSD.integer.value}>' for number in range(int(rows.max()) + 1)]
        ids = np.asarray(dictionary.encode_texts(texts))[rows]
        if name in job.texts:
            ids[:, 0] = dictionary.encode_texts([f'"name {number}"' for number in rows[:, 0].tolist()])
        engine.load(name, ids.astype(np.int32))
    start = time.process_time()
    reasoner.materialise()
    seconds = time.process_time() - start
    last = [int(row[-1].lexical) for row in reasoner.facts("o")]  # type: ignore[union-attr]  # numbers
    return seconds, (len(last), sum(last))


def _one_by_one(job: Job) -> tuple[float, Checksum]:
    rules = "kg_reasoner.planning.functions"
    with (
        patch(f"{rules}.column_functions.is_for_columns", lambda _: False),
        patch(f"{rules}.calculations.program_of", lambda *_, **__: None),
    ):
        return _ours(job)


def _duckdb(job: Job) -> tuple[float, Checksum] | None:
    if not job.sql:
        return None
    import duckdb  # type: ignore[import-not-found,unused-ignore]

    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for name, rows in job.facts.items():
            columns = {letter: rows[:, place] for place, letter in zip(range(rows.shape[1]), "abc", strict=False)}
            if name in job.texts:
                columns["a"] = np.array([f"name {number}" for number in rows[:, 0].tolist()])
            connection.register("given", columns)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        start = time.process_time()
        try:
            connection.execute(job.sql)
        except duckdb.Error:  # an older DuckDB has no keys in recursion
            return None
        seconds = time.process_time() - start
        count, total = connection.execute("SELECT count(*), sum(z)::BIGINT FROM o").fetchall()[0]
    return seconds, (int(count), int(total))


def _scipy(job: Job) -> tuple[float, Checksum] | None:
    if job.algorithm is None:
        return None
    start = time.process_time()
    found = job.algorithm(job.facts["edge"])
    return time.process_time() - start, (len(found), int(found.sum()))


def _distances(edges: Table) -> Table:
    """Return the distances of the nodes that can be reached from the first one."""
    from scipy.sparse.csgraph import dijkstra  # type: ignore[import-not-found,import-untyped,unused-ignore]

    found = dijkstra(_matrix(edges), indices=0)
    distances: Table = found[np.isfinite(found)].astype(np.int64)
    return distances


def _components(edges: Table) -> Table:
    """Return the least node of the component of each node."""
    from scipy.sparse.csgraph import connected_components

    count, component = connected_components(_matrix(edges), directed=False)
    nodes = np.unique(edges[:, :2])
    least = np.full(count, len(component))
    np.minimum.at(least, component[nodes], nodes)
    return least[component[nodes]]


def _matrix(edges: Table) -> Any:
    """Return a sparse matrix of the last column of weighted edges, or of ones."""
    from scipy.sparse import csr_matrix  # type: ignore[import-not-found,import-untyped,unused-ignore]

    size = int(edges[:, :2].max()) + 1
    weights = edges[:, 2] if edges.shape[1] == 3 else np.ones(len(edges))
    return csr_matrix((weights, (edges[:, 0], edges[:, 1])), shape=(size, size))


def _souffle(job: Job) -> tuple[float, Checksum] | None:
    if not job.souffle or (job.is_wide and not _has_wide_numbers()):
        return None
    program = _compiled(job.souffle)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for relation, rows in job.facts.items():
            np.savetxt(folder / f"{relation}.facts", rows, fmt="%d", delimiter="\t")
        with _children() as seconds:
            run = [str(Path(program.name) / "job"), "-F", name, "-D", name]
            subprocess.run(run, check=True, capture_output=True)
        last = [int(line.rpartition("\t")[2]) for line in (folder / "o.csv").read_text(encoding="utf-8").splitlines()]
    return seconds[0], (len(last), sum(last))


@cache
def _has_wide_numbers() -> bool:
    """Return whether Soufflé has been built with numbers of 64 bits; 32 bits are its default, and greater results overflow."""
    return "64" in subprocess.run(["souffle", "--version"], check=True, capture_output=True, text=True).stdout.partition("size:")[2]


@cache
def _compiled(text: str) -> tempfile.TemporaryDirectory[str]:
    """Compile a program of Soufflé, and return the folder of ``job``; it is removed with the object."""
    found = tempfile.TemporaryDirectory()
    source = Path(found.name) / "job.dl"
    source.write_text(text, encoding="utf-8")
    subprocess.run(["souffle", "-o", str(source.with_suffix("")), str(source)], check=True, capture_output=True)
    return found


@contextmanager
def _children() -> Iterator[list[float]]:
    """Give the CPU time of child processes."""
    before, found = resource.getrusage(resource.RUSAGE_CHILDREN), list[float]()
    yield found
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


CONTESTANTS: Final[dict[str, tuple[Callable[[Job], tuple[float, Checksum] | None], Callable[[], Any]]]] = {
    "kg_reasoner": (_ours, lambda: True),
    "one by one": (_one_by_one, lambda: True),
    "duckdb": (_duckdb, lambda: find_spec("duckdb")),
    "scipy": (_scipy, lambda: find_spec("scipy")),
    "souffle, with reading": (_souffle, lambda: shutil.which("souffle")),
}
"""What runs a job, and whether it is installed."""


def measured(given: list[Job], runs: int = RUNS) -> Iterator[Result]:
    """Run jobs by all contestants that are installed, and compare the results.

    Args:
        given: The jobs.
        runs: How often each is run; the shortest time counts.
    """
    for job in given:
        expected: Checksum | None = None
        for name, (run, is_installed) in CONTESTANTS.items():
            if not is_installed():
                continue
            found = [result for _ in range(runs) if (result := run(job)) is not None]
            if not found:
                continue
            seconds, checksum = min(found)
            expected = expected or checksum
            if checksum != expected:
                raise AssertionError(f"{name} has {checksum} for {job.name}, not {expected}")
            yield Result(job.name, name, seconds, checksum)


def table(results: Iterator[Result]) -> Iterator[str]:
    """Yield the lines of a table: seconds, and how they compare with ours."""
    ours = 0.0
    for result in results:
        if result.contestant == "kg_reasoner":
            ours = result.seconds
            yield f"{result.job}: {result.checksum[0]:,} results"
        yield f"    {result.contestant:<22} {result.seconds:8.3f} s   {result.seconds / max(ours, 1e-9):6.2f} of ours"


@click.command(context_settings=SETTINGS)
@click.argument("scale", type=click.FloatRange(0, min_open=True), default=1.0)
@click.argument("names", metavar="[NAME]...", nargs=-1)
def main(scale: float, names: tuple[str, ...]) -> None:
    """Run the jobs whose names contain one of the names, or all; SCALE multiplies their sizes."""
    every = jobs(scale)
    chosen = [job for job in every if not names or any(name in job.name for name in names)]
    if not chosen:
        raise click.UsageError(f"no job has one of these names; the jobs are {', '.join(job.name for job in every)}")
    missing = [name for name, (_, is_installed) in CONTESTANTS.items() if not is_installed()]
    if missing:
        print(f"not installed: {', '.join(missing)}")
    if shutil.which("souffle"):
        print(f"Soufflé {version()}")
    for line in table(measured(chosen)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
