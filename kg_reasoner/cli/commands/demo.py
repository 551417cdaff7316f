"""``kg-reasoner demo``: the Lehigh University Benchmark from data to answers."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from kg_reasoner import lubm
from kg_reasoner.cli.console import Stopwatch, plural, print_table, progress_shown, starting
from kg_reasoner.cli.query_text import parse_query


@click.command(short_help="Run the Lehigh University Benchmark from data to answers.")
@click.option(
    "-n", "--universities", type=click.IntRange(min=1), default=1, show_default=True, help="The number of universities to generate."
)
@click.option(
    "-s", "--seed", type=int, default=0, show_default=True, help="The seed of the generator; the same seed gives the same data."
)
def demo(universities: int, seed: int) -> None:
    """Generate universities, load and materialise them with their ontology under owl2rl, and answer the benchmark's 14 queries."""
    steps: list[tuple[str, str, str]] = []
    watch = Stopwatch()

    def done(step: str, size: str) -> None:
        steps.append((step, size, f"{watch.lap():.2f}"))

    with starting() as compiled:
        from kg_reasoner.api.reasoner import Reasoner
        from kg_reasoner.rdflib_store import graph_of
        from kg_reasoner.storage.compiling import load_kernels

        reasoner = Reasoner(ruleset="owl2rl")
        load_kernels("turtle", "queries")  # which are used below: the times there are without compiling
    done("start the reasoner", "compiled for this machine, once" if compiled else "rule set owl2rl")
    with tempfile.TemporaryDirectory() as folder, progress_shown() as progress:
        data = Path(folder) / "lubm.nt"
        statements = lubm.write(data, universities, seed, progress=progress)
        done("generate", f"{plural(statements, 'statement')}, {plural(universities, 'university', 'universities')}")
        reasoner.load(lubm.ontology_path(), data, progress=progress)
        done("load", plural(len(reasoner.engine.base.triples("explicit")), "triple"))
        reasoner.materialise(progress=progress)
        inferred = len(reasoner.triple_ids("inferred"))
        done("materialise", f"{plural(inferred, 'inferred triple')}, {plural(len(reasoner.rules), 'rule')}")

        graph = graph_of(reasoner)
        answers: list[tuple[str, str, str, str, str]] = []
        for name, text in lubm.queries().items():
            parsed = parse_query(text, name)
            single = Stopwatch()
            rows: list[Any] = sorted(graph.query(parsed.prepared), key=str)
            milliseconds = single.lap() * 1000
            first = str(rows[0][0]).removeprefix("http://www.") if rows else ""
            answers.append((name, lubm.query_title(name), f"{len(rows):,}", f"{milliseconds:.1f}", first))
        done("answer", plural(len(answers), "query", "queries"))

    print_table(("step", "size", "seconds"), steps, numeric={2})
    click.echo()
    print_table(("query", "asks for", "answers", "ms", "the first is"), answers, numeric={2, 3})
