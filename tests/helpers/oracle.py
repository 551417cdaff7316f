"""The oracle: naive evaluation of a program on Python sets. Slow and, we hope, obviously right; every engine is compared with it.

Facts are tuples of terms in sets by predicate; RDF triples are the facts of the predicate `TRIPLE`. Each stratum's rules are
applied to all facts until nothing is new. No deltas, no plans, no ids. The strata come from the package, and `is_stable` checks
those; so do the values of expressions and of aggregate functions, which have tests of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any

from kg_reasoner.expressions.aggregate_functions import value_of_group
from kg_reasoner.expressions.compile import compile_expression, compile_filter
from kg_reasoner.language.checks.analysis import stratify
from kg_reasoner.language.strata.recursion import Recursion, lowered
from kg_reasoner.program import (
    Aggregate,
    AggregateBinding,
    Argument,
    Atom,
    Bind,
    BodyLiteral,
    Expression,
    Filter,
    Negation,
    Program,
    Rule,
    Variable,
    atoms_within,
    variables_of,
)
from kg_reasoner.terms import Term, literal

Row = tuple[Term, ...]
Facts = dict[str, set[Row]]
Binding = dict[Variable, Term]
Evaluation = Callable[[Row], Any]  # a compiled expression


def evaluate(program: Program, facts: Mapping[str, Iterable[Row]]) -> Facts:
    """All explicit and derived facts, by predicate. A violated constraint is the fact ``()`` of the predicate `FALSE`."""
    store = Store(facts)
    known = lowered(program.rules)
    saturate([rule for rule in program.rules if not rule.body], store, negated_in=store)
    for stratum in stratify(known.rules):
        for recursion in dict.fromkeys(known.results[rule][0] for rule in stratum if rule in known.results):
            repeat([without_errors(rule, recursion) for rule in recursion.rules], store)
        saturate([rule for rule in stratum if rule not in known.results], store, negated_in=store)
    return {predicate: rows for predicate, rows in store.facts.items() if not predicate.startswith("internal: ")}


def without_errors(rule: Rule, recursion: Recursion) -> Rule:
    """The rule with the arguments of its recursive aggregates computed by BINDs in them, which drop the solutions with an error."""

    def changed(part: BodyLiteral) -> BodyLiteral:
        if not isinstance(part, Aggregate) or not any(map(recursion.has, atoms_within(part.body))):
            return part
        (result,) = part.bindings
        assert result.argument is not None
        argument = Variable("the argument")
        body = (*part.body, Bind(result.argument, argument))
        return replace(part, body=body, bindings=(replace(result, argument=argument),))

    return replace(rule, body=tuple(map(changed, rule.body)))


def repeat(rules: Sequence[Rule], store: Store) -> None:
    """Add what rules with recursion through MIN and MAX derive: apply all of them to what held before, until nothing changes.

    Nothing that held before is kept unless it is derived again, so that values give way to better ones.
    """
    now: Facts = {}
    while True:
        model = Store(store.facts)
        for predicate, rows in now.items():
            for row in rows:
                model.add(predicate, row)
        new: Facts = {}
        for rule in rules:
            new.setdefault(rule.head.predicate, set()).update(rows_of(rule, model, model))
        if new == now:
            store.__dict__.update(model.__dict__)
            return
        now = new


def saturate(rules: Sequence[Rule], store: Store, negated_in: Store) -> None:
    """Apply the rules to the store until nothing is new."""
    grows = True
    while grows:
        grows = False
        for rule in rules:
            for row in list(rows_of(rule, store, negated_in)):
                grows |= store.add(rule.head.predicate, row)


def violations(program: Program, facts: Mapping[str, Iterable[Row]]) -> list[tuple[Rule, Binding]]:
    """Every instance of a constraint's body in the materialisation: the constraint and the values of its variables."""
    store = Store(evaluate(program, facts))
    return [(rule, binding) for rule in program.rules if rule.is_constraint for binding in instances(rule, store, store)]


def is_stable(program: Program, facts: Mapping[str, Iterable[Row]], model: Facts) -> bool:
    """Whether `model` is what the rules derive when negated and aggregated atoms are looked up in `model` itself.

    A stratified program has exactly one such model, so this checks the strata that `evaluate` relied on.
    """
    store = Store(facts)
    saturate(program.rules, store, negated_in=Store(model))
    return without_empty(store.facts) == without_empty(model)


def without_empty(facts: Facts) -> Facts:
    return {predicate: rows for predicate, rows in facts.items() if rows}


class Store:
    """Sets of facts, and for each argument place the facts with a given term there."""

    def __init__(self, facts: Mapping[str, Iterable[Row]]) -> None:
        self.facts: Facts = {}
        self.at: dict[tuple[str, int, Term], list[Row]] = {}
        for predicate, rows in facts.items():
            self.facts.setdefault(predicate, set())
            for row in rows:
                self.add(predicate, row)

    def add(self, predicate: str, row: Row) -> bool:
        """Whether the fact is new."""
        rows = self.facts.setdefault(predicate, set())
        if row in rows:
            return False
        rows.add(row)
        for place, term in enumerate(row):
            self.at.setdefault((predicate, place, term), []).append(row)
        return True

    def candidates(self, atom: Atom, binding: Binding) -> set[Row] | list[Row]:
        """The facts with the atom's bound term in one place (the place where the fewest have it), or all of the predicate."""
        bound = [(place, value(term, binding)) for place, term in enumerate(atom.terms)]
        lists = [self.at.get((atom.predicate, place, term), []) for place, term in bound if not isinstance(term, Variable)]
        return min(lists, key=len) if lists else self.facts.get(atom.predicate, set())


def value(term: Argument, binding: Binding) -> Argument:
    return binding.get(term, term) if isinstance(term, Variable) else term


def match(atom: Atom, row: Row, binding: Binding) -> Binding | None:
    """The binding extended so that the atom becomes the fact, or None."""
    if len(row) != atom.arity:
        return None
    extended = dict(binding)
    for term, constant in zip(atom.terms, row, strict=True):
        if isinstance(term, Variable):
            term = extended.setdefault(term, constant)
        if term != constant:
            return None
    return extended


def matches(atoms: Sequence[Atom], store: Store, binding: Binding) -> Iterator[Binding]:
    """All ways to make every atom a fact. The atom with the fewest candidates goes first: any order gives the same set."""
    if not atoms:
        yield binding
        return
    first = min(atoms, key=lambda atom: len(store.candidates(atom, binding)))
    rest = [atom for atom in atoms if atom is not first]
    for row in store.candidates(first, binding):
        extended = match(first, row, binding)
        if extended is not None:
            yield from matches(rest, store, extended)


def instances(rule: Rule, store: Store, negated_in: Store) -> Iterator[Binding]:
    """The bindings under which the rule's body holds."""
    return solutions(rule.body, store, negated_in)


def solutions(body: Sequence[BodyLiteral], store: Store, negated_in: Store) -> Iterator[Binding]:
    """The bindings under which a body holds: its atoms are facts, joined with its groups, extended by its BINDs, and filtered.

    What is negated or aggregated is looked up in `negated_in`.
    """
    atoms = [part for part in body if isinstance(part, Atom)]
    tables = [list(groups(part, negated_in)) for part in body if isinstance(part, Aggregate)]
    for binding in matches(atoms, store, {}):
        for rows in product(*tables):
            complete = bound(body, joined(binding, rows))
            if complete is not None and all(holds(part, complete, negated_in) for part in body):
                yield complete


def joined(binding: Binding, others: Iterable[Binding]) -> Binding | None:
    """All bindings in one, or None if they disagree about a variable."""
    result = dict(binding)
    for other in others:
        for variable, term in other.items():
            if result.setdefault(variable, term) != term:
                return None
    return result


def bound(body: Sequence[BodyLiteral], binding: Binding | None) -> Binding | None:
    """The binding extended by the body's BINDs, each as soon as its variables are bound; None if one is an error or disagrees."""
    waiting = [part for part in body if isinstance(part, Bind)]
    while waiting and binding is not None:
        part = next(part for part in waiting if binding.keys() >= set(variables_of(part.expression)))
        term = value_of(part.expression, binding)
        binding = None if term is None else joined(binding, [{part.variable: term}])
        waiting.remove(part)
    return binding


def groups(part: Aggregate, store: Store) -> Iterator[Binding]:
    """The values of the ON variables and of the results, for each group that has them.

    The solutions of a group are the distinct bindings of all variables inside of the aggregate. Without ON variables there is one
    group, which may be empty. A group one of whose results is an error is left out.
    """
    members: dict[Row, list[Binding]] = {} if part.group else {(): []}
    distinct = {frozenset(solution.items()): solution for solution in solutions(part.body, store, store)}
    for solution in distinct.values():
        members.setdefault(tuple(solution[variable] for variable in part.group), []).append(solution)
    for key, group in members.items():
        binding: Binding | None = dict(zip(part.group, key, strict=True))
        for result in part.bindings:
            term = result_of(result, group)
            binding = None if binding is None or term is None else joined(binding, [{result.variable: term}])
        if binding is not None:
            yield binding


def result_of(result: AggregateBinding, group: Sequence[Binding]) -> Term | None:
    """The value of one aggregate over the solutions of a group, or None for an error."""
    if result.argument is None:
        return literal(len(group))
    return value_of_group(result, [value_of(result.argument, solution) for solution in group])


def holds(part: BodyLiteral, binding: Binding, negated_in: Store) -> bool:
    """Whether a part of a body that is no atom holds under a binding of its variables (atoms were matched before)."""
    if isinstance(part, Negation):
        return not any(True for _ in matches([part.atom], negated_in, binding))
    if isinstance(part, Filter):
        return passes(part.expression, binding)
    if isinstance(part, Bind):
        return value_of(part.expression, binding) == value(part.variable, binding)
    if isinstance(part, Aggregate):
        return any(joined(binding, [group]) == binding for group in groups(part, negated_in))
    return True


def value_of(expression: Expression, binding: Binding) -> Term | None:
    """The value of an expression, or None for an error."""
    return compiled(compile_expression, expression, tuple(binding))(tuple(binding.values()))


def passes(condition: Expression, binding: Binding) -> bool:
    """Whether a filter's condition is true."""
    return compiled(compile_filter, condition, tuple(binding))(tuple(binding.values()))


@lru_cache(maxsize=1000)
def compiled(compile: Callable[..., Evaluation], expression: Expression, variables: tuple[Variable, ...]) -> Evaluation:
    return compile(expression, variables)


def rows_of(rule: Rule, store: Store, negated_in: Store) -> Iterator[Row]:
    """The facts that the rule derives from the store's facts (with repetitions)."""
    for binding in instances(rule, store, negated_in):
        yield tuple(ground(term, binding) for term in rule.head.terms)


def ground(term: Argument, binding: Binding) -> Term:
    found = value(term, binding)
    assert not isinstance(found, Variable), f"{found} is not bound"
    return found
