"""Checks of the parts of programs that are made in Python and not parsed: each has the class that its place wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from kg_reasoner.errors import RuleSyntaxError, plural
from kg_reasoner.program import (
    FALSE,
    TRIPLE,
    Aggregate,
    AggregateBinding,
    Atom,
    Bind,
    Call,
    Declaration,
    Filter,
    FunctionDefinition,
    Index,
    Negation,
    Origin,
    Program,
    ReductionDefinition,
    Rule,
    TypeDefinition,
    Variable,
    remembered,
)
from kg_reasoner.terms import IRI, BlankNode, Literal

__all__ = ["check_parts", "check_rule"]

_Classes: TypeAlias = tuple[type, ...]
_TERMS: Final[_Classes] = (Variable, IRI, Literal, BlankNode)
_EXPRESSIONS: Final[_Classes] = (*_TERMS, Call)
_BODY: Final[_Classes] = (Atom, Negation, Filter, Bind, Aggregate)

_ONE: Final[Mapping[type, Mapping[str, _Classes]]] = {
    Rule: {"head": (Atom,), "origin": (Origin,)},
    Atom: {"predicate": (str,)},
    Negation: {"atom": (Atom,)},
    Filter: {"expression": _EXPRESSIONS},
    Bind: {"expression": _EXPRESSIONS, "variable": (Variable,)},
    Call: {"name": (str,)},
    AggregateBinding: {"function": (str,), "argument": (*_EXPRESSIONS, type(None)), "variable": (Variable,)},
}
"""The classes of a part's fields that have one value."""

_SEVERAL: Final[Mapping[type, Mapping[str, _Classes]]] = {
    Program: {
        "rules": (Rule,),
        "declarations": (Declaration,),
        "prefixes": (tuple,),
        "types": (TypeDefinition,),
        "functions": (FunctionDefinition,),
        "indexes": (Index,),
        "reductions": (ReductionDefinition,),
    },
    Rule: {"body": _BODY},
    Atom: {"terms": _TERMS},
    Call: {"arguments": _EXPRESSIONS},
    Aggregate: {"body": _BODY, "group": (Variable,), "bindings": (AggregateBinding,)},
}
"""The classes of the members of those that are tuples."""

_ARITIES: Final = {TRIPLE: 3, FALSE: 0}
_HINT: Final = "kg_reasoner.language.parser.parse makes a program of text; kg_reasoner.terms.literal, a term of a value"


def check_parts(program: Program) -> None:
    """Check the rules of a program, and that its other fields have tuples of what belongs there.

    Raises:
        RuleSyntaxError: Something stands where a part of another class belongs, or an atom of triples does not have three terms.
    """
    _fields(program, None)
    for rule in program.rules:
        check_rule(rule)


@remembered
def check_rule(rule: Rule) -> None:
    """Check the parts of one rule, at any depth. Errors as of `check_parts`."""
    waiting: list[Any] = [rule]
    while waiting:
        waiting += _fields(waiting.pop(), rule)


def _fields(part: Any, rule: Rule | None) -> list[Any]:
    """Check the fields of a part, of a rule if it is not a program, and return those that may have parts themselves."""
    kind = type(part)
    found = []
    for name, classes in _ONE.get(kind, {}).items():
        value = getattr(part, name)
        if not isinstance(value, classes):
            raise _misplaced(value, classes, name, kind, rule)
        found.append(value)
    for name, classes in _SEVERAL.get(kind, {}).items():
        values = getattr(part, name)
        if not isinstance(values, tuple):
            raise _misplaced(values, (tuple,), name, kind, rule)
        for value in values:
            if not isinstance(value, classes):
                raise _misplaced(value, classes, name, kind, rule)
        found += values
    if kind is Atom and len(part.terms) != _ARITIES.get(part.predicate, len(part.terms)):
        what = f"{part.predicate} has {plural(_ARITIES[part.predicate], 'term')}, and not {len(part.terms)}"
        raise RuleSyntaxError(f"{what}{_in(rule)}", part.span)
    return [value for value in found if type(value) in _ONE or type(value) in _SEVERAL]


def _misplaced(value: Any, classes: _Classes, name: str, kind: type, rule: Rule | None) -> RuleSyntaxError:
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    wanted = " or ".join(one.__name__ for one in classes if one is not type(None))
    place = f"the {name} of {article} {kind.__name__}{_in(rule)}"
    return RuleSyntaxError(f"{place} must be of the class {wanted}, and not {value!r}", None, _HINT)


def _in(rule: Rule | None) -> str:
    return "" if rule is None else f" in a rule for {getattr(rule.head, 'predicate', rule.head)}"
