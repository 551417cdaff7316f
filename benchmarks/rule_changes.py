"""The time to remove a rule and to add it again: ``python -m benchmarks.rule_changes``.

Rules change in two ways, which are measured in turn on LUBM:

* as *rules*: all rules that the rule set derives from the ontology form a plain program; each rule is removed and added once;
* as *axioms*: the rule set translates the ontology; each schema triple is removed and added once, and the rules follow.

After each pair of changes, the materialisation must be the original one. With ``--check``, the materialisation without the rule is
also compared with a new one.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table

from benchmarks.contests import report
from benchmarks.inputs.update_data import data_folder, fingerprint, fresh, little_garbage, lubm
from benchmarks.measuring.commands import SETTINGS
from benchmarks.measuring.measure import cpu
from kg_reasoner import rulesets
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.engine.maintenance import DEFAULT, STRATEGIES
from kg_reasoner.language.printer import format_rule
from kg_reasoner.program import Program, Rule

__all__ = ["RuleChange", "axiom_changes", "rule_changes", "table"]

LONG_IRI: Final = re.compile(r"<[^<>]*[#/]([^<>#/]+)>")


@dataclass(frozen=True)
class RuleChange:
    """A rule or schema triple, removed and added again."""

    name: str
    gone: int
    """Triples that left with it."""
    remove: float
    add: float
    """CPU seconds."""
    right: bool
    """Whether the materialisation was right afterwards and, if that was asked for, in between."""


def rule_changes(universities: int, ruleset: str, folder: Path, strategy: str, *, check: bool) -> Iterator[RuleChange]:
    """Remove and add every rule of a plain program: the rules that the rule set derives from the ontology."""
    program = Program(all_rules(ruleset, folder))
    reasoner = lubm(universities, folder, program=program, maintenance=strategy).reasoner
    start = fingerprint(reasoner)
    for rule in program.rules:
        remove = timed(reasoner, "remove_rules", [rule])
        without = fingerprint(reasoner)
        others = Program(tuple(other for other in program.rules if other != rule))
        right = not check or without == fingerprint(fresh(reasoner, program=others))
        add = timed(reasoner, "add_program", Program((rule,)))
        yield RuleChange(format_rule(rule), start[1] - without[1], remove, add, right and fingerprint(reasoner) == start)


def all_rules(ruleset: str, folder: Path) -> tuple[Rule, ...]:
    """Return the active rules of a rule set with LUBM's ontology."""
    reasoner = lubm(1, folder, ruleset=ruleset).reasoner
    reasoner.materialise()
    return reasoner.rules


def axiom_changes(universities: int, ruleset: str, folder: Path, strategy: str, *, check: bool) -> Iterator[RuleChange]:
    """Remove and add every triple of the ontology, which the rule set translates."""
    loaded = lubm(universities, folder, ruleset=ruleset, maintenance=strategy)
    reasoner = loaded.reasoner
    start = fingerprint(reasoner)
    for row in loaded.ontology:
        triple = row.reshape(1, 3)
        remove = timed(reasoner, "remove_triples", triple)
        without = fingerprint(reasoner)
        right = not check or without == fingerprint(fresh(reasoner, ruleset=ruleset))
        add = timed(reasoner, "add_triples", triple)
        name = " ".join(reasoner.dictionary.texts_of(row.tolist()))
        yield RuleChange(name, start[1] - without[1], remove, add, right and fingerprint(reasoner) == start)


def timed(reasoner: Reasoner, change: str, what: Any) -> float:
    """Return the CPU seconds of a transaction with one change, given by the name of a transaction's method."""
    before = cpu()
    with reasoner.transaction() as transaction:
        getattr(transaction, change)(what)
    return cpu() - before


WAYS: Final = {"rules": rule_changes, "axioms": axiom_changes}


def table(measured: dict[str, list[RuleChange]], title: str) -> Table:
    """Removals and additions of each way: median, 90%, worst, in milliseconds."""
    columns = ("change of", "", "changes", "median ms", "90%", "worst", "which")
    made = report.new_table(columns, ("change of", "", "which"), title=title, wrapped=("which",))
    for way, changes in measured.items():
        for figure in ("remove", "add"):
            times = sorted(getattr(change, figure) for change in changes)
            shown = (median(times), times[len(times) * 9 // 10], times[-1])
            worst = next(change.name for change in changes if getattr(change, figure) == times[-1])
            made.add_row(
                way if figure == "remove" else "",
                figure,
                f"{len(times):,}" if figure == "remove" else "",
                *(f"{1000 * time:.2f}" for time in shown),
                LONG_IRI.sub(r"\1", worst),
            )
    return made


@click.command(context_settings=SETTINGS)
@click.option("-u", "--universities", type=click.IntRange(1), default=5, show_default=True, help="LUBM's size.")
@click.option("-w", "--way", "ways", type=click.Choice(list(WAYS)), multiple=True, default=list(WAYS), show_default=True)
@click.option("-s", "--strategy", type=click.Choice(list(STRATEGIES)), default=DEFAULT, show_default=True)
@click.option("-r", "--ruleset", type=click.Choice(rulesets.names()), default="owl2rl", show_default=True)
@click.option("--check", is_flag=True, help="Compare with a fresh materialisation after every removal, too.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder for the generated data. [default: in the temporary folder]")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write everything that was measured.")
def main(
    universities: int, ways: tuple[str, ...], strategy: str, ruleset: str, check: bool, cache: Path | None, json_file: Path | None
) -> None:
    """Remove and add each rule once, and each axiom. The exit code is 1 if a materialisation was wrong."""
    console, news = Console(), Console(stderr=True)
    console.width = max(console.width, report.WIDTH)
    console.print(report.machine(), highlight=False, soft_wrap=True)
    Reasoner("first(1) . second(?x) :- first(?x) .").materialise()  # loads the kernels
    measured: dict[str, list[RuleChange]] = {}
    with news.status("") as status, little_garbage():
        for way in dict.fromkeys(ways):
            changes = measured[way] = []
            for change in WAYS[way](universities, ruleset, data_folder(cache), strategy, check=check):
                changes.append(change)
                status.update(f"{way}: {len(changes)}")
    console.print(table(measured, f"LUBM({universities}), {ruleset}, {strategy}: CPU milliseconds"))
    if json_file is not None:
        content = {way: [asdict(change) for change in changes] for way, changes in measured.items()}
        json_file.write_text(json.dumps({"machine": report.machine(), "changes": content}, indent=2) + "\n", encoding="utf-8")
    wrong = [f"{way}, {change.name}" for way, changes in measured.items() for change in changes if not change.right]
    for line in wrong:
        console.print(f"the materialisation is wrong: {line}", style="bold red", highlight=False)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.rule_changes")
