"""Facts held by the driver: the schema, lists, and what rules derive from those alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from kg_reasoner.expressions.compile import compile_filter
from kg_reasoner.program import TRIPLE, Atom, Filter, Variable, variables_of
from kg_reasoner.spark_backend.plan.id_rows import Ids, NumberedTerms, Row, Rows
from kg_reasoner.terms import Term

__all__ = ["Binding", "DriverFacts"]

Binding: TypeAlias = Mapping[Variable, Term]
_Numbers: TypeAlias = Mapping[Variable, int]


class DriverFacts:
    """Sets of facts, which are matched with bodies of rules.

    >>> from kg_reasoner.language.parser import parse
    >>> from kg_reasoner.terms import literal
    >>> facts = DriverFacts({("edge", 2): np.array([[0, 1], [1, 2]])}, NumberedTerms([literal(1), literal(2), literal(3)]))
    >>> len(list(facts.solutions(parse("path(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .").rules[0].body)))
    1

    Args:
        tables: The ids of facts, each fact once, by predicate and arity.
        names: The terms.
    """

    def __init__(self, tables: Mapping[tuple[str, int], Ids] | None = None, names: NumberedTerms | None = None) -> None:
        self._names = NumberedTerms() if names is None else names
        self._tables = {key: Rows(ids, self._names) for key, ids in (tables or {}).items()}
        self.triples = self._of(TRIPLE, 3)

    def __len__(self) -> int:
        return sum(map(len, self._tables.values()))

    def rows(self, predicate: str) -> list[Row]:
        """Return the facts of a predicate."""
        return [row for (name, _), table in self._tables.items() if name == predicate for row in table]

    def _of(self, predicate: str, arity: int) -> Rows:
        return self._tables.get((predicate, arity)) or Rows(np.empty((0, arity), np.int64), self._names)

    def solutions(self, body: Sequence[object]) -> Iterator[Binding]:
        """Yield the bindings under which all atoms of a body are facts and its filters hold."""
        atoms = [_Pattern(part, self._of(part.predicate, part.arity), self._names.ids) for part in body if isinstance(part, Atom)]
        conditions = [part for part in body if isinstance(part, Filter)]
        terms = self._names.terms
        for numbers in _joined(atoms, {}):
            solution = {variable: terms[number] for variable, number in numbers.items()}
            if all(_holds(condition, solution) for condition in conditions):
                yield solution

    def pairs(self, atom: Atom, one: Variable, other: Variable) -> Rows:
        """Return the values of an atom's only two variables, each of which it has once."""
        rows = self._of(atom.predicate, atom.arity)
        chosen = np.ones(len(rows), bool)
        for place, term in enumerate(atom.terms):
            if not isinstance(term, Variable):
                chosen &= rows.ids[:, place] == self._names.ids.get(term, -1)
        return Rows(rows.ids[chosen][:, [atom.terms.index(one), atom.terms.index(other)]], self._names)


class _Pattern:
    """An atom whose constants are ids, and the facts that may match it."""

    def __init__(self, atom: Atom, rows: Rows, ids: Mapping[Term, int]) -> None:
        self._terms = [term if isinstance(term, Variable) else ids.get(term, -1) for term in atom.terms]
        self._rows = rows

    def _bound(self, binding: _Numbers) -> Iterator[tuple[int, int]]:
        """Yield the places of bound terms, and the ids."""
        for place, term in enumerate(self._terms):
            number = binding.get(term) if isinstance(term, Variable) else term
            if number is not None:
                yield place, number

    def size(self, binding: _Numbers) -> int:
        """Return the number of facts that have the most selective bound term."""
        return min((self._rows.count(*bound) for bound in self._bound(binding)), default=len(self._rows))

    def matches(self, binding: _Numbers) -> Iterator[_Numbers]:
        """Yield the binding, extended by each fact that matches."""
        best = min(self._bound(binding), key=lambda bound: self._rows.count(*bound), default=None)
        for row in (self._rows.ids if best is None else self._rows.with_id(*best)).tolist():
            extended = dict(binding)
            if all(
                (extended.setdefault(t, n) if isinstance(t, Variable) else t) == n for t, n in zip(self._terms, row, strict=True)
            ):
                yield extended


def _joined(atoms: Sequence[_Pattern], binding: _Numbers) -> Iterator[_Numbers]:
    if not atoms:
        yield binding
        return
    first = min(atoms, key=partial(_Pattern.size, binding=binding))
    rest = [atom for atom in atoms if atom is not first]
    for extended in first.matches(binding):
        yield from _joined(rest, extended)


def _holds(condition: Filter, binding: Binding) -> bool:
    variables = sorted(set(variables_of(condition.expression)), key=str)
    return compile_filter(condition.expression, variables)([binding[variable] for variable in variables])
