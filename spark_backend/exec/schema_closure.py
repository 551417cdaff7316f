"""The closure of the schema, which the in-process engine computes on the driver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.program import Atom, BodyLiteral, Negation, Program, Rule
from kg_reasoner.spark_backend.plan.driver import DriverFacts
from kg_reasoner.spark_backend.plan.id_rows import Ids, NumberedTerms, Row
from kg_reasoner.terms import term_from_text

__all__ = ["closed"]


def closed(rules: Iterable[Rule], facts: Mapping[str, Iterable[Row]]) -> DriverFacts:
    """Return facts with all that rules derive from them.

    The engine sees general predicates only: the schema as such has no equality, no hidden triples and no axioms of its own.

    >>> from kg_reasoner.language.parser import parse
    >>> from kg_reasoner.terms import literal
    >>> rules = parse("path(?x, ?z) :- path(?x, ?y), path(?y, ?z) . path(?x, ?y) :- edge(?x, ?y) .").rules
    >>> len(closed(rules, {"edge": [(literal(1), literal(2)), (literal(2), literal(3))]}).rows("path"))
    3
    """
    names: dict[tuple[str, int], str] = {}
    reasoner = Reasoner(
        Program(tuple(Rule(_renamed(rule.head, names), tuple(_part(part, names) for part in rule.body)) for rule in rules))
    )
    for predicate, some in facts.items():
        by_arity: dict[int, list[Row]] = {}
        for row in some:
            by_arity.setdefault(len(row), []).append(row)
        for arity, same in by_arity.items():
            reasoner.add_facts(names.setdefault((predicate, arity), f"schema_{len(names)}"), same)
    tables: dict[tuple[str, int], Ids] = {}
    for key, name in names.items():
        if len(found := reasoner.facts(name)):
            tables[key] = found.ids.astype(np.int64)
    return DriverFacts(tables, NumberedTerms([term_from_text(text) for text in reasoner.core.dictionary.texts()]))


def _renamed(atom: Atom, names: dict[tuple[str, int], str]) -> Atom:
    return Atom(names.setdefault((atom.predicate, atom.arity), f"schema_{len(names)}"), atom.terms)


def _part(part: BodyLiteral, names: dict[tuple[str, int], str]) -> BodyLiteral:
    if isinstance(part, Negation):
        return Negation(_renamed(part.atom, names))
    return _renamed(part, names) if isinstance(part, Atom) else part
