"""The oracle: naive evaluation of a program on Python sets. Slow and, we hope, obviously right; every engine is compared with it.

Facts are tuples of terms in sets by predicate; RDF triples are the facts of the predicate `TRIPLE`. Each stratum's rules are
applied to all facts until nothing is new. No deltas, no plans, no ids; only the strata come from the package, and `is_stable`
checks those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kg_reasoner.analysis import comparisons_of, stratify
from kg_reasoner.program import Argument, Atom, BodyLiteral, Filter, Negation, Program, Rule, Variable
from kg_reasoner.terms import Term
from kg_reasoner.values import satisfies

Row = tuple[Term, ...]
Facts = dict[str, set[Row]]
Binding = dict[Variable, Term]


def evaluate(program: Program, facts: Mapping[str, Iterable[Row]]) -> Facts:
    """All explicit and derived facts, by predicate. A violated constraint is the fact ``()`` of the predicate `FALSE`."""
    store = Store(facts)
    for stratum in stratify(program.rules):
        saturate(stratum, store, negated_in=store)
    return store.facts


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
    """Whether `model` is what the rules derive when negated atoms are looked up in `model` itself.

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
    for binding in matches(list(rule.body_atoms()), store, {}):
        if all(holds(part, binding, negated_in) for part in rule.body):
            yield binding


def holds(part: BodyLiteral, binding: Binding, negated_in: Store) -> bool:
    """Whether a negation or filter lets a binding pass (atoms were matched before)."""
    if isinstance(part, Negation):
        return not any(True for _ in matches([part.atom], negated_in, binding))
    if isinstance(part, Filter):
        return all(
            satisfies(operator, ground(left, binding), ground(right, binding)) for operator, left, right in comparisons_of(part)
        )
    return isinstance(part, Atom)


def rows_of(rule: Rule, store: Store, negated_in: Store) -> Iterator[Row]:
    """The facts that the rule derives from the store's facts (with repetitions)."""
    for binding in instances(rule, store, negated_in):
        yield tuple(ground(term, binding) for term in rule.head.terms)


def ground(term: Argument, binding: Binding) -> Term:
    found = value(term, binding)
    assert not isinstance(found, Variable), f"{found} is not bound"
    return found
