"""The closure of the schema, which the in-process engine computes on the driver, under names of its own for predicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.concurrency.limits import UNLIMITED, Limits
from kg_reasoner.program import Atom, BodyLiteral, Negation, Program, Rule
from kg_reasoner.spark_backend.plan.driver import DriverFacts
from kg_reasoner.spark_backend.plan.id_rows import Ids, NumberedTerms, Row
from kg_reasoner.terms import term_from_text

__all__ = ["PredicateNames", "closed", "reasoner_of"]


def closed(rules: Iterable[Rule], facts: Mapping[str, Iterable[Row]]) -> DriverFacts:
    """Return facts with all that rules derive from them.

    The engine sees general predicates only: the schema as such has no equality, no hidden triples and no axioms of its own.

    >>> from kg_reasoner.language.parser import parse
    >>> from kg_reasoner.terms import literal
    >>> rules = parse("path(?x, ?z) :- path(?x, ?y), path(?y, ?z) . path(?x, ?y) :- edge(?x, ?y) .").rules
    >>> len(closed(rules, {"edge": [(literal(1), literal(2)), (literal(2), literal(3))]}).rows("path"))
    3
    """
    names = PredicateNames()
    reasoner = reasoner_of(map(names.in_rule, rules))
    for predicate, some in facts.items():
        by_arity: dict[int, list[Row]] = {}
        for row in some:
            by_arity.setdefault(len(row), []).append(row)
        for same in by_arity.values():
            reasoner.add_facts(names.of(Atom(predicate, same[0])), same)
    tables: dict[tuple[str, int], Ids] = {}
    for predicate, arity, name in names:
        if len(found := reasoner.facts(name)):
            tables[predicate, arity] = found.ids.astype(np.int64)
    return DriverFacts(tables, NumberedTerms([term_from_text(text) for text in reasoner.core.dictionary.texts()]))


def reasoner_of(rules: Iterable[Rule], limits: Limits = UNLIMITED) -> Reasoner:
    """Return an in-process reasoner with rules under the names below, which warnings of probable mistakes are not to show."""
    reasoner = Reasoner(limits=limits)
    with reasoner.core.atomic():
        reasoner.core.merge_program(Program(tuple(rules)))
    return reasoner


class PredicateNames:
    """Names under which the engine knows predicates, so that nothing has a meaning of its own for it: one for each arity.

    Args:
        keep: A predicate that keeps its name.
    """

    def __init__(self, keep: str | None = None) -> None:
        self._names: dict[tuple[str, int], str] = {}
        self._keep = keep

    def __iter__(self) -> Iterator[tuple[str, int, str]]:
        """Yield the predicates with their arities and names."""
        return ((predicate, arity, name) for (predicate, arity), name in self._names.items())

    def of(self, atom: Atom) -> str:
        """Return the name of an atom's predicate."""
        new = atom.predicate if atom.predicate == self._keep else f"schema_{len(self._names)}"
        return self._names.setdefault((atom.predicate, atom.arity), new)

    def in_rule(self, rule: Rule) -> Rule:
        """Return a rule with these names."""
        return Rule(self._in_atom(rule.head), tuple(map(self._in_part, rule.body)))

    def _in_atom(self, atom: Atom) -> Atom:
        return Atom(self.of(atom), atom.terms)

    def _in_part(self, part: BodyLiteral) -> BodyLiteral:
        if isinstance(part, Negation):
            return Negation(self._in_atom(part.atom))
        return self._in_atom(part) if isinstance(part, Atom) else part
