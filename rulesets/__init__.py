"""Rule sets: programs in the rule language, one ``.dl`` file each, found by name. A path to a user's own file works, too."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import UnknownNameError
from kg_reasoner.language.checks import analysis
from kg_reasoner.language.saved_programs import saved_program
from kg_reasoner.program import Program

__all__ = ["Ruleset", "expect_known", "load", "names", "packaged"]

_SUFFIX = ".dl"


@dataclass(frozen=True, slots=True)
class Ruleset:
    """A rule set: its name, its one-line description (the first comment of its file), its file, and its program."""

    name: str
    description: str
    path: Path
    program: Program


@cache
def names() -> tuple[str, ...]:
    """Return the names of the rule sets in the package.

    Returns:
        The names, sorted.

    >>> names()
    ('owl2el', 'owl2rl', 'owl2rl-full', 'rdfs', 'rdfs-full')
    """
    return tuple(sorted(path.stem for path in Path(__file__).parent.glob(f"*{_SUFFIX}")))


def load(name: str | Path) -> Ruleset:
    """Return the rule set with a name, or from a ``.dl`` file if `name` is a path (it has a folder or ends in ``.dl``).

    Names joined by ``+`` are a rule set with the rules of all.

    >>> load("rdfs").program.rules[0].origin.name
    'rdfs2'
    >>> len(load("owl2el+owl2rl").program.rules) > len(load("owl2el").program.rules)
    True

    Args:
        name: The name of a rule set, several joined by ``+``, or a path.

    Returns:
        The rule set.

    Raises:
        UnknownNameError: No rule set has this name.
        LoadError, RuleSyntaxError: The file cannot be read, or has an error.
    """
    if str(name) in names():
        return packaged(str(name))
    parts = str(name).split("+")
    if len(parts) > 1 and all(part in names() for part in parts):
        return _joined(str(name), [packaged(part) for part in parts])
    expect_known(name)
    from kg_reasoner.language.parser import parse_file

    return _read(Path(name).stem, name, parse_file(name))


def expect_known(name: str | Path) -> None:
    """Check that `load` knows a name, or would read a file.

    Args:
        name: As `load` takes it.

    Raises:
        UnknownNameError: No rule set has this name.
    """
    is_path = isinstance(name, str | Path) and (len(Path(name).parts) > 1 or Path(name).suffix == _SUFFIX)
    if not (is_path or all(part in names() for part in str(name).split("+"))):
        raise UnknownNameError("rule set", str(name), names())


def _joined(name: str, parts: list[Ruleset]) -> Ruleset:
    program = Program()
    for part in parts:
        program |= part.program
    return Ruleset(name, "; ".join(part.description for part in parts), parts[0].path, program)


@cache
def packaged(name: str) -> Ruleset:
    """Return the rule set of the package with a name. Its program is valid, and no rule occurs twice.

    Args:
        name: The name.

    Returns:
        The rule set.
    """
    path = Path(__file__).with_name(name + _SUFFIX)
    return _read(name, path, saved_program(path, checked))


def checked(path: Path) -> Program:
    """Return the program of a file of the package, after checking it, without repeated rules.

    Args:
        path: The file.

    Returns:
        The program, whose rules know that they are packaged.
    """
    from kg_reasoner.language.parser import parse_file

    found = parse_file(path)
    analysis.check(found)
    rules = (replace(rule, origin=replace(rule.origin, is_packaged=True)) for rule in found.rules)
    return Program() | replace(found, rules=tuple(rules))


def _read(name: str, file: str | Path, program: Program) -> Ruleset:
    path = Path(file)
    with path.open(encoding="utf-8") as lines:
        comments = (line.lstrip("#").strip() for line in lines if line.startswith("#"))
        return Ruleset(name, next(comments, ""), path, program)
