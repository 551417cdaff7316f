"""The command that scores systems on the W3C's test suites, with times."""

from __future__ import annotations

import logging
import sys
import warnings

import click
from rich.console import Console

from benchmarks.conformance.cases import SUITE_FOLDER, SUITES, cases, folder
from benchmarks.conformance.scores import Score, legend, run, table
from benchmarks.conformance.systems import SYSTEMS
from benchmarks.contests.report import machine
from benchmarks.measuring.commands import SETTINGS
from benchmarks.measuring.needs import need_peers


@click.command(context_settings=SETTINGS, epilog=legend())
@click.option("-s", "--suite", "suites", type=click.Choice(SUITES), multiple=True, default=SUITES, help="Only these suites.")
@click.option("-c", "--system", "names", type=click.Choice([one.name for one in SYSTEMS]), multiple=True, help="Only these.")
@click.option("-v", "--wrong", is_flag=True, help="List what each system gets wrong.")
def main(suites: tuple[str, ...], names: tuple[str, ...], wrong: bool) -> None:
    """Run the W3C's tests of OWL 2 RL, RDF 1.1 Semantics and SPARQL 1.1 entailment on kg_reasoner, owlrl and reasonable.

    Fails if our rules by the book get a test wrong that they must get right. The suites are read from ../shared/suites. The peers
    have to be installed: pip install '.[bench]'. Without them, choose our systems with --system.
    """
    systems = [one for one in SYSTEMS if not names or one.name in names]
    need_peers([(one.name, one.package) for one in systems], "--system")
    if folder() is None:
        raise click.ClickException(f"the W3C's suites are missing: {SUITE_FOLDER} needs the folders {', '.join(SUITES)}")
    logging.disable(logging.WARNING)  # rdflib logs every literal that it cannot read
    warnings.simplefilter("ignore")
    console, notes = Console(), Console(stderr=True)
    console.width = max(console.width, 132)
    console.print(machine(), legend(), sep="\n", highlight=False, soft_wrap=True)
    failed = False
    for suite in suites:
        found = cases(suite)
        scores: list[Score] = []
        with notes.status(suite) as status:
            for system in systems:
                status.update(f"{suite}: {system.name}")
                scores.append(run(system, found))
        console.print(table(suite, found, scores))
        failed = failed or any(score.system is SYSTEMS[0] and score.fails for score in scores)
        for score in scores if wrong else ():
            for case, why in score.wrong.items():
                console.print(
                    f"{score.system.name}: {case.id}{f' ({case.level}: {case.reason})' if case.reason else ''}{why}", markup=False
                )
    sys.exit(int(failed))


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.conformance")
