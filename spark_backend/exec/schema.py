"""The closure of the schema, which the in-process engine computes on the driver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.program import Atom, BodyLiteral, Negation, Program, Rule
from kg_reasoner.spark_backend.plan.driver import DriverFacts, Row

__all__ = ["closed"]


def closed(rules: Iterable[Rule], facts: Mapping[str, Iterable[Row]]) -> DriverFacts:
    """Return facts with all that rules derive from them.

    The engine sees general predicates only: the schema as such has no equality, no hidden triples and no axioms of its own.

    >>> from kg_reasoner.language.parser import parse
    >>> from kg_reasoner.terms import literal
    >>> rules = parse("path(?x, ?z) :- path(?x, ?y), path(?y, ?z) . path(?x, ?y) :- edge(?x, ?y) .").rules
    >>> len(closed(rules, {"edge": [(literal(1), literal(2)), (literal(2), literal(3))]}).rows["path"])
    3
    """
    rules = list(rules)
    result = DriverFacts()
    rows = {predicate: set(some) for predicate, some in facts.items()}
    for predicate, some in rows.items():
        result.add(predicate, some)
    if not rules:
        return result
    names: dict[tuple[str, int], str] = {}
    program = Program(tuple(Rule(_renamed(rule.head, names), tuple(_part(part, names) for part in rule.body)) for rule in rules))
    reasoner = Reasoner(program)
    for predicate, some in rows.items():
        by_arity: dict[int, list[Row]] = {}
        for row in some:
            by_arity.setdefault(len(row), []).append(row)
        for arity, same in by_arity.items():
            if (name := names.get((predicate, arity))) is not None:
                reasoner.add_facts(name, same)
    for (predicate, _), name in names.items():
        result.add(predicate, reasoner.facts(name, "inferred"))
    return result


def _renamed(atom: Atom, names: dict[tuple[str, int], str]) -> Atom:
    return Atom(names.setdefault((atom.predicate, atom.arity), f"schema_{len(names)}"), atom.terms)


def _part(part: BodyLiteral, names: dict[tuple[str, int], str]) -> BodyLiteral:
    if isinstance(part, Negation):
        return Negation(_renamed(part.atom, names))
    return _renamed(part, names) if isinstance(part, Atom) else part
