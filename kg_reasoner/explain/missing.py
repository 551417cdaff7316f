"""Why a fact does not hold: for each rule that could derive it, how far its body matches, and which part fails.

The parts of a body are tried in the order in which they are written; negations, filters and BINDs come as soon as their variables
are bound. The failing part is the first without a match, given the parts before it; the shown values are those of one match of
these parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from kg_reasoner.explain.derivations import Derivations
from kg_reasoner.explain.ground import ground
from kg_reasoner.explain.misses import Absence, Miss, Problem
from kg_reasoner.explain.steps import Computed, Group, Statement
from kg_reasoner.expressions.compile import compile_expression, compile_filter
from kg_reasoner.expressions.values import satisfies
from kg_reasoner.language.checks.analysis import conjuncts
from kg_reasoner.language.display_names import merged
from kg_reasoner.language.printer import format_term
from kg_reasoner.planning.catalog import StoredAtom, StoredCall, StoredComparison, StoredTerm
from kg_reasoner.planning.expansion import simple_comparison
from kg_reasoner.planning.planner import plan_query
from kg_reasoner.program import (
    TRIPLE,
    Aggregate,
    Argument,
    Atom,
    Bind,
    BodyLiteral,
    Call,
    Expression,
    Filter,
    Negation,
    Rule,
    Variable,
    variables_of,
)
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import address, allocate
from kg_reasoner.substitution import in_atom, in_expression
from kg_reasoner.terms import RDF, Term

__all__ = ["Miss", "WhyNot", "of_rule", "why_not"]

EXAMPLES: Final = 3
"""Matches that are shown of those that get furthest."""

Bindings = dict[Variable, Term]


class WhyNot(Absence):
    """Why a fact does not hold. Rules are sorted by how far they match; rules that require the fact itself come last.

    `unknown` are terms of the fact that occur nowhere. `idle` are general rules (about any property or any class) that do not
    apply: a filter is false for the fact itself, or a relation that the rule needs has no facts.
    """

    __slots__ = ()

    def with_prefixes(self, prefixes: Mapping[str, str]) -> WhyNot:
        """Return the same answer, displayed with additional prefixes.

        Args:
            prefixes: The prefixes.

        Returns:
            The answer.
        """
        return replace(self, prefixes=merged(self.prefixes, prefixes))

    def text(self) -> str:
        """Return the rules with the parts of their bodies that hold and the part that fails.

        Returns:
            The text.
        """
        from kg_reasoner.explain.absence import absence_text

        return absence_text(self)

    def as_dict(self) -> dict[str, Any]:
        """Return dicts, lists and texts that `json` can write.

        Returns:
            The data.
        """
        from kg_reasoner.explain.absence import absence_dict

        return absence_dict(self)

    def dot(self) -> str:
        """Return a graph in the DOT language of Graphviz; statements that do not hold are dashed.

        Returns:
            The text of the graph.
        """
        from kg_reasoner.explain.absence import absence_dot

        return absence_dot(self)

    def html(self) -> str:
        """Return a self-contained HTML page.

        Returns:
            The text of the page.
        """
        from kg_reasoner.explain.absence import absence_page

        return absence_page(self)

    def _repr_html_(self) -> str:
        from kg_reasoner.explain.html import framed

        return framed(self.html(), 2 * len(self.misses))

    def __str__(self) -> str:
        return self.text()


def why_not(derivations: Derivations, fact: Atom, prefixes: Mapping[str, str]) -> WhyNot:
    """Try every rule whose head unifies with a fact that does not hold."""
    find = derivations.catalog.dictionary.find
    unknown = tuple(dict.fromkeys(term for term in fact.terms if not isinstance(term, Variable) and find(term) < 0))
    attempt = _Attempt(derivations)
    misses: list[Miss] = []
    idle: list[Miss] = []
    for _, rule in derivations.rules_for(fact):
        head = _unified(rule.head, fact)
        if head is not None:
            miss = attempt.miss(rule, head)
            (idle if attempt.is_idle(miss) else misses).append(miss)
    misses.sort(key=lambda miss: (miss.failed == fact, -len(miss.held)))
    return WhyNot(fact, tuple(misses), unknown, prefixes, tuple(idle))


def _unified(head: Atom, fact: Atom) -> Bindings | None:
    """Return the values of a head's variables that unify it with the fact, or None."""
    values: Bindings = {}
    for term, constant in zip(head.terms, fact.terms, strict=True):
        assert not isinstance(constant, Variable)
        if (values.setdefault(term, constant) if isinstance(term, Variable) else term) != constant:
            return None
    return values


def _is_about_anything(rule: Rule) -> bool:
    """Return whether the head of a rule has a variable as its property or, with rdf:type, as its class."""
    if rule.head.predicate != TRIPLE:
        return False
    _, property, value = rule.head.terms
    return isinstance(property, Variable) or (property == RDF.type and isinstance(value, Variable))


def in_order(body: Sequence[BodyLiteral], known: Iterable[Variable]) -> list[BodyLiteral]:
    """Return the parts of a body in the order in which they are tried: atoms and aggregates as written, other parts as soon as
    their variables are bound.
    """
    givers = [part for part in body if isinstance(part, Atom | Aggregate)]
    outside = {variable for part in givers for variable in variables_of(part)}
    outside.update(part.variable for part in body if isinstance(part, Bind))
    waiting: list[tuple[BodyLiteral, set[Variable]]] = []
    for part in body:
        if isinstance(part, Bind):
            waiting.append((part, set(variables_of(part.expression))))
        elif not isinstance(part, Atom | Aggregate):
            waiting.append((part, outside.intersection(variables_of(part))))
    order: list[BodyLiteral] = []
    bound = set(known)
    for giver in (None, *givers):
        if giver is not None:
            order.append(giver)
            bound.update(variables_of(giver))
        while ready := next((item for item in waiting if item[1] <= bound), None):
            waiting.remove(ready)
            order.append(ready[0])
            if isinstance(ready[0], Bind):
                bound.add(ready[0].variable)
    return order


def of_rule(rule: Rule, miss: Miss) -> Miss:
    """Return what a rule lacks, given what the rule lacks that differs from it in constants; both have only atoms, negations and
    filters.
    """
    if rule is miss.rule:
        return miss
    values = dict(miss.examples[0])
    parts = [ground(part, values) for part in in_order(rule.body, variables_of(rule.head))]
    count = len(miss.held)
    return replace(miss, rule=rule, held=tuple(parts[:count]), failed=parts[count])


class _Attempt:
    """Matches prefixes of rule bodies."""

    def __init__(self, derivations: Derivations) -> None:
        self.derivations = derivations
        self.catalog = derivations.catalog
        self.database = derivations.database

    def miss(self, rule: Rule, head: Bindings) -> Miss:
        """Return the part of a rule that matches, given the values of its head's variables."""
        parts = in_order(rule.body, head)
        furthest: list[Bindings] = [{}]
        for length in range(1, len(parts) + 1):
            matches = list(self._matches(parts[:length], head))
            if not matches:
                held, failed = parts[: length - 1], parts[length - 1]
                best = {**head, **furthest[0]}
                problem, note = self._problem(failed, best)
                return Miss(
                    rule,
                    tuple(self._held(part, best) for part in held),
                    ground(failed, best),
                    tuple(tuple({**head, **match}.items()) for match in furthest[:EXAMPLES]),
                    len(furthest) > EXAMPLES,
                    problem,
                    note,
                )
            furthest = matches
        if rule not in self.derivations.attaining:
            raise AssertionError("the rule derives the fact, which is not there")
        best = {**head, **furthest[0]}
        shown = tuple(self._held(part, best) for part in parts[:-1])
        examples = tuple(tuple({**head, **match}.items()) for match in furthest[:EXAMPLES])
        more = len(furthest) > EXAMPLES
        return Miss(rule, shown, ground(parts[-1], best), examples, more, "differs", "a better value replaces this one")

    def is_idle(self, miss: Miss) -> bool:
        """Return whether a general rule does not apply, see `WhyNot`."""
        if not _is_about_anything(miss.rule):
            return False
        if not isinstance(miss.failed, Atom):
            return isinstance(miss.failed, Filter) and miss.problem == "false" and not miss.held
        terms: list[Argument] = [Variable(f"_{place}") for place in range(miss.failed.arity)]
        if miss.failed.predicate == TRIPLE:
            _, terms[1], value = miss.failed.terms
            if terms[1] == RDF.type:
                terms[2] = value
        return not any(True for _ in self._matches([replace(miss.failed, terms=tuple(terms))], {}))

    # --- what is shown ----------------------------------------------------------------------------------------------

    def _held(self, part: BodyLiteral, values: Bindings) -> Statement:
        """Return a part that holds, with values."""
        if isinstance(part, Bind):
            return Computed(in_expression(part.expression, values), values[part.variable])
        if isinstance(part, Aggregate):
            results = tuple(values[binding.variable] for binding in part.bindings)
            group = tuple(values[variable] for variable in part.group)
            return Group(part, group, results, self._solutions(part, values)[1])
        return ground(part, values)

    def _problem(self, part: BodyLiteral, values: Bindings) -> tuple[Problem, str]:
        """Return the way in which a part fails, and a note on the facts that hold instead."""
        if isinstance(part, Negation):
            return "violated", ""
        if isinstance(part, Filter):
            negated = compile_filter(Call("!", (part.expression,)), tuple(values))
            return ("false", "") if negated(tuple(values.values())) else ("error", "a type error")
        if isinstance(part, Bind):
            value = compile_expression(part.expression, tuple(values))(tuple(values.values()))
            return ("error", "a type error") if value is None else ("differs", _instead([(part.variable, value)], values))
        if isinstance(part, Aggregate) and all(variable in values for variable in part.group):
            results, count = self._solutions(part, values)
            if count == 0 and part.group:
                return "missing", "no solutions"
            if results is None:
                return "error", "the result is a type error"
            return "differs", _instead([(b.variable, term) for b, term in zip(part.bindings, results, strict=True)], values)
        return "missing", ""

    def _solutions(self, part: Aggregate, values: Bindings) -> tuple[Sequence[Term] | None, int]:
        """Return the results of an aggregate for a group, or None, and the number of its solutions."""
        atom = self.derivations.groups_atom(part)
        relation = self.catalog.predicates.get(atom.predicate, -1) if atom is not None else -1
        if relation < 0:
            return None, 0
        key = [self.catalog.dictionary.find(values[variable]) for variable in part.group]
        if -1 in key:
            return None, 0
        if key:
            rows = self.database.rows_at(relation, self.database.matching(relation, range(len(key)), key))
        else:
            rows = self.database.rows(relation)
        _, _, count = self.derivations.group((relation, tuple(key)), 0)
        results = [self.catalog.dictionary.decode(number) for number in rows[0][len(key) :].tolist()] if len(rows) else None
        return results, count

    # --- matches ----------------------------------------------------------------------------------------------------

    def _matches(self, parts: Sequence[BodyLiteral], head: Bindings) -> Iterator[Bindings]:
        """Return bindings under which all parts hold: slightly more than are shown."""
        count = 0
        for values in self._choices(parts, head):
            for match in self._solve(parts, values):
                yield {**{variable: term for variable, term in values.items() if variable not in head}, **match}
                count += 1
                if count > EXAMPLES:
                    return

    def _choices(self, parts: Sequence[BodyLiteral], values: Bindings) -> Iterator[Bindings]:
        """Yield the values for which every atom of triples is in one relation."""
        layout, decode = self.catalog.layout, self.catalog.dictionary.decode
        choice = layout.choices([in_atom(part, values) for part in parts if isinstance(part, Atom)])
        if choice is None:
            yield values
            return
        variable, numbers = choice
        for number in numbers:
            yield from self._choices(parts, {**values, variable: decode(number)})

    def _solve(self, parts: Sequence[BodyLiteral], values: Bindings) -> Iterator[Bindings]:
        atoms = self._atoms(parts, values)
        checks = None if atoms is None else self._checks(parts, values)
        if atoms is None or checks is None:
            return
        names = list(dict.fromkeys(term for atom in atoms if not atom.negated for term in atom.terms if isinstance(term, str)))
        results = (part.result for part in checks if isinstance(part, StoredCall))
        names += [name for name in dict.fromkeys(results) if isinstance(name, str) and name not in names]
        decode = self.catalog.dictionary.decode
        for row in self._rows(atoms, checks, names):
            yield {Variable(name): decode(number) for name, number in zip(names, row, strict=True)}

    def _atoms(self, parts: Sequence[BodyLiteral], values: Bindings) -> list[StoredAtom] | None:
        """Return the atoms of a body as stored, or None if no fact can match one of them."""
        atoms: list[StoredAtom] = []
        for part in parts:
            if isinstance(part, Negation):
                negated = self._stored(in_atom(part.atom, values), negated=True)
                atoms += [] if negated is None else [negated]
            elif isinstance(part, Atom | Aggregate):
                positive = part if isinstance(part, Atom) else self.derivations.groups_atom(part)
                atom = None if positive is None else self._stored(in_atom(positive, values), negated=False)
                if atom is None:
                    return None
                atoms.append(atom)
        return atoms

    def _checks(self, parts: Sequence[BodyLiteral], values: Bindings) -> list[StoredComparison | StoredCall] | None:
        """Return the functions and comparisons of a body that depend on further values, or None if another comparison is false."""
        checks: list[StoredComparison | StoredCall] = []
        for part in parts:
            if isinstance(part, Bind):
                checks.append(self._call(part.expression, values, part.variable))
            elif isinstance(part, Filter):
                for condition in conjuncts(part.expression):
                    comparison = simple_comparison(in_expression(condition, values))
                    if comparison is None:
                        checks.append(self._call(condition, values, None))
                    elif any(isinstance(side, Variable) for side in comparison[1:]):
                        checks.append(self._comparison(*comparison))
                    elif not satisfies(*comparison):  # type: ignore[arg-type]  # neither side is a variable
                        return None
        return checks

    def _comparison(self, operator: str, left: Argument, right: Argument) -> StoredComparison:
        if operator in (">", ">="):
            operator, left, right = operator.replace(">", "<"), right, left
        return StoredComparison(operator, self.catalog.term(left), self.catalog.term(right))

    def _call(self, expression: Expression, values: Bindings, result: Variable | None) -> StoredCall:
        """Return a function as the rules have it, applied to the known values, so that an explanation creates no new function."""
        function, relation, variables = self.catalog.functions.number(expression, is_filter=result is None)
        arguments = tuple(self.catalog.term(values.get(variable, variable)) for variable in variables)
        return StoredCall(function, relation, arguments, None if result is None else self.catalog.term(values.get(result, result)))

    def _rows(self, atoms: list[StoredAtom], checks: list[StoredComparison | StoredCall], names: list[str]) -> list[list[int]]:
        database, derivations = self.database, self.derivations
        with database.temporary_plans():
            plan = plan_query(database, atoms, checks, names, derivations.statistics.join(atoms))
            size = EXAMPLES + 1
            out = allocate(size * len(names), np.int32)
            while True:
                derivations.start(plan)
                count = native.fetch(database.address, len(names), address(out), size)
                derivations.expect_complete()
                if count == size:
                    database.context.request_count = 0  # enough matches: the request for more is void
                    break
                if not derivations.answer():
                    break
            return np.asarray(out[: count * len(names)]).reshape(count, len(names)).tolist()

    def _stored(self, atom: Atom, negated: bool) -> StoredAtom | None:
        """Return an atom over its relation, or None if it cannot match because its predicate or a constant is unknown."""
        catalog = self.catalog
        terms: list[StoredTerm] = []
        for term in atom.terms:
            number = term.name if isinstance(term, Variable) else catalog.dictionary.find(term)
            if number == -1:
                return None
            terms.append(number)
        if atom.predicate == TRIPLE:
            relation, placed = catalog.layout.find(*terms)
        else:
            relation, placed = catalog.predicates.get(atom.predicate, -1), tuple(terms)
        return None if relation < 0 else StoredAtom(relation, placed, negated)


def _instead(found: Sequence[tuple[Variable, Term]], values: Bindings) -> str:
    """Return a note on the values that differ from the required ones."""
    different = [(variable, term) for variable, term in found if variable in values and values[variable] != term]
    return ", ".join(f"{variable} is {format_term(term)}, not {format_term(values[variable])}" for variable, term in different)
