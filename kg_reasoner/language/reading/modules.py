"""Modules: programs in files of their own, whose predicates get the name of the module and a dot before their own names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from kg_reasoner.errors import RuleSyntaxError, Span
from kg_reasoner.program import AUXILIARY, FALSE, TRIPLE, Aggregate, Atom, BodyLiteral, Negation, Program, Rule

__all__ = ["STANDARD", "located", "named"]

STANDARD: Final = "std/"
"""The prefix of paths of the standard library."""

_LIBRARY: Final = Path(__file__).parents[1] / "std"


def located(path: str, source: str, span: Span) -> Path:
    """Return the file that a path in an import means: of the standard library, or beside the file with the import.

    Raises:
        RuleSyntaxError: There is no such file, or the text is not from a file.
    """
    if path.startswith(STANDARD):
        found = _LIBRARY / path.removeprefix(STANDARD)
        if found.parent != _LIBRARY or not found.is_file():
            known = ", ".join(f"{STANDARD}{file.name}" for file in sorted(_LIBRARY.glob("*.dl")))
            raise RuleSyntaxError(f"the standard library has no {path}", span, f"known: {known}")
        return found
    here = Path(source)
    if not here.is_file():
        hint = 'give the program as a Path; a text can import from the standard library, as in import "std/graph.dl" as g .'
        raise RuleSyntaxError(f"{path} cannot be found, as this text is not a file", span, hint)
    found = here.parent / path
    if not found.is_file():
        raise RuleSyntaxError(f"there is no file {path} beside {here.name}", span)
    return found


def named(program: Program, module: str) -> Program:
    """Return a program in which predicates have the name of a module. IRIs and triples are the same in all modules."""

    def name(predicate: str) -> str:
        if predicate in (TRIPLE, FALSE) or predicate.startswith("<"):
            return predicate
        return f"{predicate}_{module.replace('.', '_')}" if predicate.startswith(AUXILIARY) else f"{module}.{predicate}"

    declarations = tuple(
        replace(found, predicate=name(found.predicate), source=name(found.source) if found.source else "")
        for found in program.declarations
    )
    indexes = tuple(replace(index, name=f"{module}.{index.name}", predicate=name(index.predicate)) for index in program.indexes)
    rules = tuple(_renamed(rule, name, module) for rule in program.rules)
    return replace(program, rules=rules, declarations=declarations, indexes=indexes)


def _renamed(rule: Rule, name: Callable[[str], str], module: str) -> Rule:
    return Rule(_atom(rule.head, name), tuple(_part(part, name) for part in rule.body), replace(rule.origin, module=module))


def _part(part: BodyLiteral, name: Callable[[str], str]) -> BodyLiteral:
    if isinstance(part, Atom):
        return _atom(part, name)
    if isinstance(part, Negation):
        return replace(part, atom=_atom(part.atom, name))
    if isinstance(part, Aggregate):
        return replace(part, body=tuple(_part(inner, name) for inner in part.body))
    return part


def _atom(atom: Atom, name: Callable[[str], str]) -> Atom:
    return replace(atom, predicate=name(atom.predicate))
