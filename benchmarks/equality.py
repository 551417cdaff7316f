"""The cost of equal terms, by rewriting and by axioms: ``python -m benchmarks.equality``.

The data are one clique, stated as a chain of owl:sameAs; each member has some properties. Then single triples are removed and added
again: a property of a member, and a link in the middle of the chain, which halves the clique. Both treatments of equality answer
the same query, which is checked. CPU milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import click
from rich.console import Console

from benchmarks.contests import report
from benchmarks.measuring.commands import SETTINGS
from kg_reasoner import rulesets
from kg_reasoner.api.reasoner import Equality, Reasoner
from kg_reasoner.terms import IRI, OWL, Triple, term_text

SIZES = (10, 30, 100, 300, 1_000, 5_000, 20_000)

VALUES = 7
"""The number of different values of a property."""


@click.command(context_settings=SETTINGS)
@click.option("-p", "--properties", type=click.IntRange(min=1), default=10, show_default=True, help="How many each member has.")
@click.option(
    "-a", "--axioms", type=click.IntRange(0), default=100, show_default=True, help="The largest clique that axioms are tried on."
)
@click.option("-r", "--ruleset", type=click.Choice(rulesets.names()), default="owl2rl", show_default=True)
@click.option("-n", "--largest", type=click.IntRange(SIZES[0]), default=SIZES[-1], show_default=True, help="The largest clique.")
def main(properties: int, axioms: int, ruleset: str, largest: int) -> None:
    """Print CPU milliseconds for cliques of growing size, and how many times as long axioms take."""
    console = Console(width=report.WIDTH)
    console.print(report.machine(), highlight=False, soft_wrap=True)
    columns = (
        "members",
        "triples asserted",
        "facts stored",
        "rewriting",
        "axioms",
        "remove a property",
        "add it",
        "remove a link",
        "add it",
    )
    title = f"one clique, {properties} properties a member, {ruleset}; CPU milliseconds (axioms / rewriting)"
    table = report.new_table(columns, title=title)
    measured("rewrite", ruleset, clique(3, 2))  # loads the kernels
    for size in (size for size in SIZES if size <= largest):
        data = clique(size, properties)
        times, answers, stored = measured("rewrite", ruleset, data)
        others = [""] * len(times)
        if size <= axioms:
            slow, expected, _ = measured("axioms", ruleset, data)
            assert answers == expected
            others = [f" ({times_as_long(theirs / ours)})" for theirs, ours in zip(slow, times, strict=True)]
        first, *updates = [f"{value:,.1f}" for value in times]
        shown = [value + other for value, other in zip(updates, others[1:], strict=True)]
        table.add_row(
            f"{size:,}", f"{len(data):,}", f"{stored:,}", first, f"{slow[0]:,.1f}{others[0]}" if others[0] else "-", *shown
        )
    console.print(table)


def times_as_long(ratio: float) -> str:
    """Return a ratio with a decimal place, if it is below ten.

    >>> times_as_long(0.37), times_as_long(57.3)
    ('0.4x', '57x')
    """
    return f"{ratio:.{1 if ratio < 10 else 0}f}x"


def clique(size: int, properties: int) -> list[Triple]:
    """Return the triples of one clique; the chain comes first."""
    members = [IRI(f"http://example.org/member{number}") for number in range(size)]
    names = [IRI(f"http://example.org/property{number}") for number in range(properties)]
    values = [IRI(f"http://example.org/value{number}") for number in range(VALUES)]
    chain: list[Triple] = [(first, OWL.sameAs, second) for first, second in pairwise(members)]
    return chain + [(member, name, values[n % VALUES]) for n, member in enumerate(members) for name in names]


def measured(equality: Equality, ruleset: str, data: list[Triple]) -> tuple[list[float], int, int]:
    """Return the milliseconds of materialisation and of four updates, the answers to a query, and the number of stored facts."""
    reasoner = Reasoner(ruleset=ruleset, equality=equality)
    ids = reasoner.dictionary.encode_texts([term_text(term) for triple in data for term in triple]).reshape(-1, 3)
    reasoner.materialise()

    def change(do: Callable[[], None]) -> float:
        begin = time.process_time()
        do()
        reasoner.materialise()
        return 1e3 * (time.process_time() - begin)

    middle, last = ids[len(set(ids[:, 0].tolist())) // 2], ids[-1]
    times = [change(lambda: reasoner.add_triples(ids))]
    answers = sum(1 for _ in reasoner.triples(None, data[-1][1], data[-1][2]))
    held = reasoner.engine.catalog.layout.held
    stored = sum(reasoner.engine.database.size(relation) for relation, (_, cls) in held.items() if cls < 0)
    for row in (last.reshape(1, 3), middle.reshape(1, 3)):
        times += [change(partial(reasoner.remove_triples, row)), change(partial(reasoner.add_triples, row))]
    return times, answers, stored


if __name__ == "__main__":
    main()
