"""The interpreter for programs in the rule language: terms in, terms out; both facts and rules are Z-sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from kg_reasoner.dbsp.circuit import Circuit
from kg_reasoner.dbsp.encoded_rules import NO_RESULT, Computation, DatalogClause, Part, SignedAtom, ordered
from kg_reasoner.dbsp.interpreter import FactChanges
from kg_reasoner.dbsp.sorted_columns import Integers
from kg_reasoner.dbsp.stratified import Strata, combined
from kg_reasoner.errors import UnsupportedError
from kg_reasoner.expressions import compile as expressions
from kg_reasoner.language.checks import analysis
from kg_reasoner.language.printer import format_rule
from kg_reasoner.language.strata.recursion import refuse
from kg_reasoner.program import Atom, Bind, Filter, Negation, Program, Rule, Variable, variables_of
from kg_reasoner.terms import IRI, BlankNode, Literal, Term, literal

Facts: TypeAlias = Mapping[str, Mapping[tuple[Any, ...], int]]
"""By predicate: facts with weights. Constants are terms, or Python values that stand for literals."""

HOLDS: Final = 0
"""The value that a filter returns to let a binding pass."""


class Datalog:
    """A Datalog program and its facts, all of which can change at every step.

    Rules are those of the rule language, with NOT (stratified), FILTER and BIND; aggregates are not among them.

    Args:
        indexed: See `Interpreter`.

    >>> from kg_reasoner.language.parser import parse
    >>> datalog = Datalog()
    >>> near, far = parse("near(?x, ?y) :- road(?x, ?y) . near(?x, ?z) :- near(?x, ?y), road(?y, ?z) .").rules
    >>> changes = datalog.step({"road": {("a", "b"): 1, ("b", "c"): 1}}, rules={near: 1, far: 1})
    >>> for fact, weight in datalog.step({"road": {("b", "c"): -1}})["near"].items():
    ...     print(weight, *fact)
    -1 "a" "c"
    -1 "b" "c"
    """

    def __init__(self, indexed: bool = True) -> None:
        self._strata = Strata(indexed)
        self._terms: list[Term] = []
        self._numbers: dict[Term, int] = {}
        self._predicates: list[tuple[str, int]] = []
        self._predicate_numbers: dict[tuple[str, int], int] = {}
        self._rules: Counter[Rule] = Counter()
        self._clauses: dict[Rule, tuple[int, DatalogClause]] = {}

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The active rules: those with a positive total weight."""
        return tuple(rule for rule, weight in self._rules.items() if weight > 0)

    @property
    def circuits(self) -> tuple[Circuit, ...]:
        """The interpreter's circuits, one per stratum, lowest first; to be printed and drawn."""
        return tuple(interpreter.circuit for interpreter in self._strata.interpreters)

    @property
    def nbytes(self) -> int:
        """The size of all traces in bytes."""
        return self._strata.nbytes

    def step(self, facts: Facts | None = None, rules: Mapping[Rule, int] | None = None) -> dict[str, dict[tuple[Term, ...], int]]:
        """Apply changes of facts and rules. Return the changes of the facts that hold: 1 for new facts, -1 for deleted ones.

        Args:
            facts: The changes of facts: for each predicate, tuples of terms or Python values with weights.
            rules: The changes of rules, with weights.

        Returns:
            The changes, by predicate.

        Raises:
            SafetyError, ArityError, StratificationError, UnsupportedError: The rules are wrong; nothing changes.
        """
        weights = self._rules.copy()
        for rule, weight in (rules or {}).items():
            weights[rule] += weight
        present = tuple(rule for rule, weight in weights.items() if weight > 0)
        analysis.check(Program(present))
        refuse(present, "a circuit")
        levels = analysis.levels(present)
        clauses = {rule: (levels[rule], self._clauses.get(rule, (0, self._clause(rule)))[1]) for rule in present if rule.body}
        before = set(self.rules)
        stated = [(rule, 1) for rule in present if not rule.body and rule not in before]
        stated += [(rule, -1) for rule in before if not rule.body and rule not in set(present)]
        given = combined(
            self._encoded((predicate, row, weight) for predicate, rows in (facts or {}).items() for row, weight in rows.items()),
            self._encoded((rule.head.predicate, rule.head.terms, weight) for rule, weight in stated),
        )
        added = [entry for rule, entry in clauses.items() if self._clauses.get(rule) != entry]
        removed = [entry for rule, entry in self._clauses.items() if clauses.get(rule) != entry]
        self._rules, self._clauses = weights, clauses
        changes: FactChanges = {}
        steps = self._strata.step(1 + max(levels.values(), default=0), lambda level: {} if level else given, added, removed)
        for _, changes in steps:  # noqa: B007  those of the last level are those of all
            pass
        return {self._predicates[number][0]: self._decoded(*change) for number, change in changes.items()}

    # --- terms and numbers ------------------------------------------------------------------------------------------------

    def _number(self, term: object) -> int:
        """Return the number of a term, or of the literal for a Python value."""
        known = term if isinstance(term, IRI | BlankNode | Literal) else literal(term)  # type: ignore[arg-type]
        number = self._numbers.get(known)
        if number is None:
            number = self._numbers[known] = len(self._terms)
            self._terms.append(known)
        return number

    def _predicate(self, name: str, arity: int) -> int:
        number = self._predicate_numbers.get((name, arity))
        if number is None:
            number = self._predicate_numbers[name, arity] = len(self._predicates)
            self._predicates.append((name, arity))
        return number

    def _encoded(self, facts: Iterable[tuple[str, Sequence[Any], int]]) -> FactChanges:
        tables: dict[int, list[tuple[list[int], int]]] = {}
        for name, row, weight in facts:
            tables.setdefault(self._predicate(name, len(row)), []).append(([self._number(term) for term in row], weight))
        changes = {}
        for predicate, found in tables.items():
            rows = np.array([row for row, _ in found], np.int64).reshape(len(found), self._predicates[predicate][1])
            changes[predicate] = rows, np.array([weight for _, weight in found], np.int64)
        return changes

    def _decoded(self, rows: Integers, weights: Integers) -> dict[tuple[Term, ...], int]:
        terms = self._terms
        return {tuple(terms[number] for number in row): weight for row, weight in zip(rows.tolist(), weights.tolist(), strict=True)}

    # --- rules ------------------------------------------------------------------------------------------------------------

    def _clause(self, rule: Rule) -> DatalogClause:
        positive = [self._atom(atom) for atom in rule.body_atoms()]
        others: list[Part] = []
        for part in rule.body:
            if isinstance(part, Negation):
                others.append(self._atom(part.atom, negated=True))
            elif isinstance(part, Filter | Bind):
                others.append(self._condition(part))
            elif not isinstance(part, Atom):
                raise UnsupportedError(
                    f"AGGREGATE in {format_rule(rule)}", part.span, "aggregate the interpreter's output with `Stream.aggregate`"
                )
        return DatalogClause(self._atom(rule.head), ordered(positive, others, lambda atom: 0))

    def _atom(self, atom: Atom, negated: bool = False) -> SignedAtom:
        terms = tuple(str(term) if isinstance(term, Variable) else self._number(term) for term in atom.terms)
        return SignedAtom(self._predicate(atom.predicate, atom.arity), terms, negated)

    def _condition(self, part: Filter | Bind) -> Computation:
        variables = tuple(dict.fromkeys(variables_of(part.expression)))
        terms = self._terms
        if isinstance(part, Filter):
            holds = expressions.compile_filter(part.expression, variables)

            def result(arguments: Sequence[int]) -> int:
                return HOLDS if holds([terms[number] for number in arguments]) else NO_RESULT

        else:
            value = expressions.compile_expression(part.expression, variables)

            def result(arguments: Sequence[int]) -> int:
                found = value([terms[number] for number in arguments])
                return NO_RESULT if found is None else self._number(found)

        bound = HOLDS if isinstance(part, Filter) else str(part.variable)
        return Computation((type(part), part.expression), tuple(map(str, variables)), bound, result)
