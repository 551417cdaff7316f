"""Facts held by the driver, because there are few of them: the schema, lists, and what rules derive from those alone.

Their rules are evaluated semi-naively on Python sets, fact by fact: every new fact is matched with each atom that it unifies with,
and the rest of the rule's body is looked up. The schema of a large ontology has some thousand triples; data is never processed
here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from kg_reasoner.expressions.compile import compile_filter
from kg_reasoner.program import TRIPLE, Atom, Filter, Rule, Variable, variables_of
from kg_reasoner.substitution import in_term
from kg_reasoner.terms import Term, Triple

__all__ = ["Binding", "DriverFacts"]

Row: TypeAlias = tuple[Term, ...]
Binding: TypeAlias = Mapping[Variable, Term]


class DriverFacts:
    """Sets of facts by predicate, closed under rules.

        >>> from kg_reasoner.language.parser import parse
        >>> facts = DriverFacts(parse("path(?x, ?z) :- path(?x, ?y), path(?y, ?z) . path(?x, ?y) :- edge(?x, ?y) .").rules)
        >>> from kg_reasoner.substitution import in_term
    from kg_reasoner.terms import literal
        >>> facts.add("edge", [(literal(1), literal(2)), (literal(2), literal(3))])
        >>> len(facts.rows["path"])
        3
    """

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rows: dict[str, set[Row]] = defaultdict(set)
        self._at: dict[tuple[str, int, Term], list[Row]] = defaultdict(list)
        self._triggers: dict[str, list[tuple[Rule, int]]] = defaultdict(list)
        for rule in rules:
            for place, atom in enumerate(rule.body):
                if isinstance(atom, Atom):
                    self._triggers[atom.predicate].append((rule, place))

    def add(self, predicate: str, rows: Iterable[Row]) -> None:
        """Add facts and their consequences."""
        waiting = [(predicate, row) for row in rows]
        while waiting:
            name, row = waiting.pop()
            if row in self.rows[name]:
                continue
            self.rows[name].add(row)
            for place, term in enumerate(row):
                self._at[name, place, term].append(row)
            for rule, trigger in self._triggers.get(name, ()):
                for head in self._consequences(rule, trigger, row):
                    waiting.append((rule.head.predicate, head))

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

    def _consequences(self, rule: Rule, trigger: int, row: Row) -> list[Row]:
        atom = rule.body[trigger]
        assert isinstance(atom, Atom)
        matched = _match(atom, row, {})
        if matched is None:
            return []
        rest = (*rule.body[:trigger], *rule.body[trigger + 1 :])
        return [tuple(in_term(t, solution) for t in rule.head.terms) for solution in self.solutions(rest, matched)]  # type: ignore[misc]  # safe rules bind them all

    def _joined(self, atoms: Sequence[Atom], binding: Binding) -> Iterator[Binding]:
        if not atoms:
            yield binding
            return
        first = min(atoms, key=lambda atom: len(self._candidates(atom, binding)))
        rest = [atom for atom in atoms if atom is not first]
        for row in list(self._candidates(first, binding)):
            extended = _match(first, row, binding)
            if extended is not None:
                yield from self._joined(rest, extended)

    def _candidates(self, atom: Atom, binding: Binding) -> Sequence[Row] | set[Row]:
        """The facts that have an atom's most selective bound term in its place."""
        values = ((place, in_term(term, binding)) for place, term in enumerate(atom.terms))
        lists = [self._at.get((atom.predicate, place, term), []) for place, term in values if not isinstance(term, Variable)]
        return min(lists, key=len) if lists else self.rows[atom.predicate]


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
