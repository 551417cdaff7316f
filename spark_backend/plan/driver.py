"""Facts held by the driver, because there are few of them: the schema, lists, and what rules derive from those alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from kg_reasoner.expressions.compile import compile_filter
from kg_reasoner.program import TRIPLE, Atom, Filter, Variable, variables_of
from kg_reasoner.substitution import in_term
from kg_reasoner.terms import Term, Triple

__all__ = ["Binding", "DriverFacts", "Row"]

Row: TypeAlias = tuple[Term, ...]
Binding: TypeAlias = Mapping[Variable, Term]


class DriverFacts:
    """Sets of facts by predicate, which are matched with bodies of rules.

    >>> from kg_reasoner.language.parser import parse
    >>> from kg_reasoner.terms import literal
    >>> facts = DriverFacts()
    >>> facts.add("edge", [(literal(1), literal(2)), (literal(2), literal(3))])
    >>> len(list(facts.solutions(parse("path(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .").rules[0].body, {})))
    1
    """

    def __init__(self) -> None:
        self.rows: dict[str, set[Row]] = defaultdict(set)
        self._indexes: dict[tuple[str, int], dict[Term, list[Row]]] = {}

    def add(self, predicate: str, rows: Iterable[Row]) -> None:
        """Add facts."""
        self.rows[predicate].update(rows)
        self._indexes.clear()

    def triples(self) -> Iterator[Triple]:
        """Return the triples among the facts."""
        return ((subject, predicate, value) for subject, predicate, value in self.rows[TRIPLE])

    def solutions(self, body: Sequence[object], binding: Binding) -> Iterator[Binding]:
        """Yield the bindings under which all atoms of a body are facts and its filters hold."""
        atoms = [part for part in body if isinstance(part, Atom)]
        conditions = [part for part in body if isinstance(part, Filter)]
        for solution in self._joined(atoms, binding):
            if all(_holds(condition, solution) for condition in conditions):
                yield solution

    def pairs(self, atom: Atom, one: Variable, other: Variable) -> Iterator[tuple[Term, Term]]:
        """Yield the values of an atom's only two variables, each of which it has once."""
        ends = atom.terms.index(one), atom.terms.index(other)
        constants = [(place, term) for place, term in enumerate(atom.terms) if not isinstance(term, Variable)]
        for row in self._candidates(atom, {}):
            if len(row) == atom.arity and all(row[place] == term for place, term in constants):
                yield row[ends[0]], row[ends[1]]

    def _joined(self, atoms: Sequence[Atom], binding: Binding) -> Iterator[Binding]:
        if not atoms:
            yield binding
            return
        first = min(atoms, key=lambda atom: len(self._candidates(atom, binding)))
        rest = [atom for atom in atoms if atom is not first]
        for row in self._candidates(first, binding):
            extended = _match(first, row, binding)
            if extended is not None:
                yield from self._joined(rest, extended)

    def _candidates(self, atom: Atom, binding: Binding) -> Sequence[Row] | set[Row]:
        """The facts that have an atom's most selective bound term in its place."""
        values = ((place, in_term(term, binding)) for place, term in enumerate(atom.terms))
        lists = [self._at(atom.predicate, place).get(term, []) for place, term in values if not isinstance(term, Variable)]
        return min(lists, key=len) if lists else self.rows[atom.predicate]

    def _at(self, predicate: str, place: int) -> dict[Term, list[Row]]:
        """Return the facts of a predicate by the term in a place."""
        index = self._indexes.get((predicate, place))
        if index is None:
            index = self._indexes[predicate, place] = defaultdict(list)
            for row in self.rows[predicate]:
                if place < len(row):
                    index[row[place]].append(row)
        return index


def _match(atom: Atom, row: Row, binding: Binding) -> Binding | None:
    if len(row) != atom.arity:
        return None
    extended = dict(binding)
    for term, constant in zip(atom.terms, row, strict=True):
        if isinstance(term, Variable):
            term = extended.setdefault(term, constant)
        if term != constant:
            return None
    return extended


def _holds(condition: Filter, binding: Binding) -> bool:
    variables = sorted(set(variables_of(condition.expression)), key=str)
    return compile_filter(condition.expression, variables)([binding[variable] for variable in variables])
