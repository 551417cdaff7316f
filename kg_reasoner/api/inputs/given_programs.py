"""Programs as users give them: as an object, as text, or as a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from kg_reasoner.errors import LoadError, ReasonerError
from kg_reasoner.program import Program, Rule

if TYPE_CHECKING:
    from kg_reasoner.language.reading.known import Known

__all__ = ["as_program", "as_rules"]


def as_program(given: Program | str | Path, known: Callable[[], Known]) -> Program:
    """Return the program that is given as one, as text or as a file."""
    from kg_reasoner.language.checks.parts import check_parts
    from kg_reasoner.language.parser import parse, parse_file

    if isinstance(given, Path):
        return parse_file(given, known())
    if isinstance(given, str):
        if given.endswith(".dl") and " " not in given:
            raise LoadError(f"{given!r} is the name of a file, not a program", hint=f"give it as Path({given!r})")
        if (name := _ruleset_named(given)) is not None:
            raise LoadError(f"{given!r} is the name of a rule set, not a program", hint=f"give it as ruleset={name!r}")
        return parse(given, known=known())
    if not isinstance(given, Program):
        raise ReasonerError(f"{given!r} is not a program: give a Program, its text, or the Path of a file")
    check_parts(given)
    return given


def as_rules(given: Iterable[Rule]) -> set[Rule]:
    """Return rules that are given as such.

    Raises:
        LoadError: They are given as text, or as something else.
        RuleSyntaxError: A rule has a part that is none.
    """
    from kg_reasoner.language.checks.parts import check_rule

    hint = "give a list of rules: some of reasoner.program.rules, or kg_reasoner.language.parser.parse(text).rules"
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise LoadError(f"{given!r} is not a list of rules", hint=hint)
    rules = list(given)
    for rule in rules:
        if not isinstance(rule, Rule):
            raise LoadError(f"{rule!r} is not a rule", hint=hint)
        check_rule(rule)
    return set(rules)


def _ruleset_named(text: str) -> str | None:
    """Return the rule set whose name is given where a program belongs; None if there is none."""
    if not text.strip() or set(text.strip()) & set(" .:[(\n"):
        return None
    from difflib import get_close_matches

    from kg_reasoner import rulesets

    return next(iter(get_close_matches(text.strip().lower(), rulesets.names(), n=1, cutoff=0.8)), None)
