"""Programs for Soufflé: relations of symbols, which are terms in N-Triples form, read from and written to TSV files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from benchmarks.translations.relational import Program, argument_texts
from kg_reasoner.program import Atom, Rule

__all__ = ["PARTS", "Part", "program", "sizes"]

Part = Literal["load", "reason", "write"]
PARTS: Final[tuple[Part, ...]] = ("load", "reason", "write")
"""What a program does: only read its inputs; derive besides, and print the sizes; derive, and write all relations."""


def program(given: Program, part: Part) -> str:
    """Return the text of a program. Soufflé omits what nothing asks for, so every relation is written or counted."""
    names = given.inputs if part == "load" else tuple(given.arities)
    return "".join(f"{line}\n" for line in _lines(given, names, part))


def _lines(given: Program, names: tuple[str, ...], part: Part) -> Iterator[str]:
    for name in names:
        columns = ", ".join(f"c{place}: symbol" for place in range(given.arities[name]))
        yield f".decl {name}({columns})"
        if name in given.inputs:
            yield f".input {name}"
        yield f".output {name}" if part == "write" else f".printsize {name}"
    if part != "load":
        yield from map(_rule, given.rules)


def _rule(rule: Rule) -> str:
    argument = argument_texts(rule, "v", _symbol)

    def atom(one: Atom) -> str:
        return f"{one.predicate}({', '.join(map(argument, one.terms))})"

    return f"{atom(rule.head)} :- {', '.join(map(atom, rule.body_atoms()))}."


def _symbol(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def sizes(printed: str) -> dict[str, int]:
    """Return the sizes of relations from what Soufflé prints: a line for each, with name and size.

    >>> sizes("edge\\t3\\npath\\t6\\n")
    {'edge': 3, 'path': 6}
    """
    rows = (line.split("\t") for line in printed.splitlines() if "\t" in line)
    return {name: int(size) for name, size in rows}
