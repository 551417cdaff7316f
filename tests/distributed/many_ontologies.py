"""Many random ontologies against the in-process engine: ``python -m tests.distributed.many_ontologies --batches 400``.

Each batch is one input of ontologies in namespaces of their own; with ``--broad``, of more kinds of axioms; with ``--rules``, with
rules of a user beside the rule set. By default, the stand-in evaluates the plans; with ``--spark``,
Spark itself does. Each third batch is an update instead of a run: data are removed and added. The driver finishes in process at
once, never, or when little is left to read, in turn. The numbers of the batches are the seeds, so that a failure is repeated by
``--first NUMBER --batches 1``.
"""

from __future__ import annotations

import time
import warnings
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import click

from kg_reasoner import Reasoner, rulesets
from kg_reasoner.engine.clashes import clashes
from kg_reasoner.errors import BeyondProfileWarning
from kg_reasoner.program import FALSE, TRIPLE, Program
from kg_reasoner.spark_backend import SparkReasoner, update
from kg_reasoner.spark_backend.io.columns import triple_frame
from kg_reasoner.terms import Triple, term_text
from tests.helpers.broad_ontologies import broad_ontologies, rules
from tests.helpers.random_ontologies import namespace_of, ontologies
from tests.spark.spark_cases import facts_of, flagged, in_process, of_reasoner, readable, violations
from tests.standin import standing_in

DRIVER_FACTS = (0, 1_000_000, 30, 100, 300, 1_000)
"""With how many facts the driver finishes, in turn: never, at once, and in the course of a run."""


def differences_of_a_run(
    session: Any, triples: list[Triple], ruleset: str, driver_facts: int, own: Program | None = None
) -> list[object]:
    """What Spark and the engine derive differently, as triples, facts and violations; `own` are rules beside the rule set."""
    own = own or Program()
    engine = Reasoner(own, ruleset=ruleset, show_hidden=True)
    engine.add_triples(triples)
    program = rulesets.load(ruleset).program | own
    reasoner = SparkReasoner(session, program, triple_frame(session, triples), driver_facts=driver_facts)
    found: list[object] = sorted(flagged(reasoner.triples()) ^ of_reasoner(engine))
    for predicate in sorted({rule.head.predicate for rule in own.rules} - {TRIPLE, FALSE}):
        facts = {tuple(map(term_text, row)) for row in engine.facts(predicate)}
        found += sorted((predicate, *row) for row in facts ^ facts_of(reasoner, [predicate])[predicate])
    violated, expected = violations(reasoner, engine), engine.inconsistencies()
    found += sorted(set(readable(expected)) - set(readable(violated)))
    groups = len(list(clashes(violated, engine.engine.base.queries.naming())))
    return found if groups == len(expected) else [*found, f"{groups} violations instead of {len(expected)}"]


def differences_of_an_update(session: Any, triples: list[Triple], ruleset: str, driver_facts: int) -> list[object]:
    """What an update and the engine derive differently. Without equalities, which would make it a full run."""
    triples = [triple for triple in triples if "sameAs" not in str(triple[1])]
    is_data = [str(triple[1]).startswith("<http://example.org/") for triple in triples]
    removed = [triple for number, triple in enumerate(triples) if is_data[number] and number % 5 == 0]
    added = [triple for number, triple in enumerate(triples) if is_data[number] and number % 5 == 1]
    program = rulesets.load(ruleset).program
    before = triple_frame(session, [triple for triple in triples if triple not in added])
    materialised = SparkReasoner(session, program, before, driver_facts=driver_facts).triples()
    after = update(materialised, program, added, removed, driver_facts=driver_facts)
    return sorted(flagged(after) ^ in_process([some for some in triples if some not in removed], ruleset=ruleset))


def culprit_of(triples: list[Triple], differences: list[object]) -> list[str]:
    """The lines of the first ontology that differs."""
    names = sorted(filter(None, (namespace_of(row[:3]) for row in differences if isinstance(row, tuple) and len(row) == 4)))
    texts = [list(map(term_text, triple)) for triple in triples]
    return sorted(" ".join(some) for some in texts if names and namespace_of(some) == names[0])


@click.command()
@click.option("--first", type=click.IntRange(min=0), default=0, show_default=True, help="The number of the first batch.")
@click.option("--batches", type=click.IntRange(min=1), default=40, show_default=True)
@click.option("--size", type=click.IntRange(min=1), default=25, show_default=True, help="Ontologies in a batch.")
@click.option("--ruleset", "names", multiple=True, help="By default owl2rl and the other rule sets in turn.")
@click.option("--driver-facts", type=click.IntRange(min=0), help="By default several in turn.")
@click.option("--broad", is_flag=True, help="More kinds of axioms.")
@click.option("--rules", "with_rules", is_flag=True, help="Rules of a user beside the rule set, in runs.")
@click.option("--spark", "on_spark", is_flag=True, help="On Spark itself, instead of the stand-in.")
def main(
    first: int,
    batches: int,
    size: int,
    names: tuple[str, ...],
    driver_facts: int | None,
    broad: bool,
    with_rules: bool,
    on_spark: bool,
) -> None:
    """Compare random ontologies."""
    warnings.simplefilter("ignore", BeyondProfileWarning)
    if not names:
        names = tuple(name for other in rulesets.names() if other != "owl2rl" for name in ("owl2rl", other))
    began, done, wrong = time.monotonic(), 0, 0
    for number in range(first, first + batches):
        ruleset, triples = names[number % len(names)], (broad_ontologies if broad else ontologies)(number, size)
        compare = differences_of_an_update if number % 3 == 2 else differences_of_a_run
        if with_rules and compare is differences_of_a_run:
            compare = partial(differences_of_a_run, own=rules(number, size))
        most = DRIVER_FACTS[number // len(names) % len(DRIVER_FACTS)] if driver_facts is None else driver_facts
        kind = "update" if compare is differences_of_an_update else "run"
        with _session(on_spark) as session:
            differences = compare(session, triples, ruleset, most)
        done += size
        if differences:
            wrong += 1
            lines = [
                f"batch {number}, {ruleset}, {kind}, driver_facts={most}:",
                *map(str, differences[:10]),
                "of:",
            ]
            click.echo("\n  ".join([*lines, *culprit_of(triples, differences)]))
        if number % 20 == 0 or on_spark:
            click.echo(f"{done:,} ontologies in {number - first + 1} batches, {wrong} wrong, {time.monotonic() - began:.0f} s")
    click.echo(f"{done:,} ontologies in {batches} batches, {wrong} wrong, {time.monotonic() - began:.0f} s")
    raise SystemExit(wrong > 0)


def _session(on_spark: bool) -> AbstractContextManager[Any]:
    if not on_spark:
        return standing_in()
    from tests.spark.spark_session import session

    return nullcontext(session())


if __name__ == "__main__":
    main()
