"""Changes of a reasoner's program: a rule set to begin with, additions, and removed rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.api.operations.notices import warn_of_program
from kg_reasoner.program import Program, Rule

__all__ = ["add_program", "remove_rules", "use_ruleset"]


def use_ruleset(core: ReasonerCore, name: str) -> None:
    """Begin with the program of a rule set. Those of the package are not warned of: their recursions end.

    Raises:
        UnknownNameError: There is no rule set of this name.
    """
    from kg_reasoner import rulesets

    packaged = rulesets.names()
    if str(name) in packaged:
        with core.engine.changing():
            core.adopt(rulesets.packaged(str(name)).program)
    elif set(str(name).split("+")) <= set(packaged):
        with core.atomic():
            core.merge_program(rulesets.load(name).program)
    else:
        add_program(core, rulesets.load(name).program)


def add_program(core: ReasonerCore, program: Program | str | Path) -> None:
    """See `kg_reasoner.api.reasoner.Reasoner.add_program`."""
    from kg_reasoner.api.given.given_programs import as_program

    program = as_program(program, core.known)
    warn_of_program(program)
    with core.atomic():
        core.merge_program(program)


def remove_rules(core: ReasonerCore, rules: Iterable[Rule]) -> None:
    """See `kg_reasoner.api.reasoner.Reasoner.remove_rules`."""
    from kg_reasoner.api.given.given_programs import as_rules

    gone = as_rules(rules)
    with core.atomic():
        before = core.engine.program
        remaining = tuple(rule for rule in before.rules if rule not in gone)
        if len(remaining) < len(before.rules):
            core.engine.change_program(replace(before, rules=remaining))
