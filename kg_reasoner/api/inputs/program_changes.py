"""Changes of a reasoner's program: additions, and rules that are removed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from kg_reasoner.api.inputs.given_programs import as_program, as_rules
from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.api.operations.notices import warn_of_program
from kg_reasoner.program import Program, Rule

__all__ = ["add_program", "remove_rules"]


def add_program(core: ReasonerCore, program: Program | str | Path) -> None:
    """See `kg_reasoner.api.reasoner.Reasoner.add_program`."""
    program = as_program(program, core.known)
    warn_of_program(program)
    with core.atomic():
        core.merge_program(program)


def remove_rules(core: ReasonerCore, rules: Iterable[Rule]) -> None:
    """See `kg_reasoner.api.reasoner.Reasoner.remove_rules`."""
    gone = as_rules(rules)
    with core.atomic():
        before = core.engine.program
        remaining = tuple(rule for rule in before.rules if rule not in gone)
        if len(remaining) < len(before.rules):
            core.engine.change_program(replace(before, rules=remaining))
