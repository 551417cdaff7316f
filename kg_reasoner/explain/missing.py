"""Why a fact is not there: for each rule that could derive it, how far its body can be matched, and the part that fails.

A body is tried in the order in which it is written; negations and filters come as soon as the head or atoms before them bind their
variables. The part that fails is the first without a match, given those before it; the values shown are of a match so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from kg_reasoner.analysis import conjuncts
from kg_reasoner.catalog import StoredAtom, StoredComparison, StoredTerm, simple_comparison, substitute
from kg_reasoner.explain.derivations import Derivations
from kg_reasoner.explain.ground import ground
from kg_reasoner.explain.proofs import Statement
from kg_reasoner.kernels import native
from kg_reasoner.kernels.memory import address, allocate
from kg_reasoner.planner import plan_query
from kg_reasoner.program import FALSE, TRIPLE, Atom, BodyLiteral, Filter, Negation, Rule, Variable, variables_of
from kg_reasoner.terms import RDF, Term
from kg_reasoner.values import satisfies

__all__ = ["Miss", "WhyNot", "why_not"]

EXAMPLES: Final = 3
"""Matches that are shown of those that get furthest."""

Bindings = dict[Variable, Term]


@dataclass(frozen=True, slots=True)
class Miss:
    """A rule that could derive the fact but does not. `held` and `failed` are parts of its body as they are tried, with values.

    `examples` are values of the body's variables under which the parts before the failing one hold; the parts are shown under the
    first. They are the only ones unless there are `more`.
    """

    rule: Rule
    held: tuple[Statement, ...]
    failed: Statement
    examples: tuple[tuple[tuple[Variable, Term], ...], ...]
    more: bool = False


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a fact is not there. The rules that get furthest come first, those that miss the fact itself last.

    `unknown` are terms of the fact that occur nowhere.
    """

    fact: Atom
    misses: tuple[Miss, ...]
    unknown: tuple[Term, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def with_prefixes(self, prefixes: Mapping[str, str]) -> WhyNot:
        """The same, shown with further prefixes."""
        return WhyNot(self.fact, self.misses, self.unknown, {**self.prefixes, **prefixes})

    def text(self) -> str:
        """The rules one after the other, with what holds of their bodies and what does not."""
        from kg_reasoner.explain.absence import absence_text

        return absence_text(self)

    def as_dict(self) -> dict[str, Any]:
        """The same as dicts, lists and texts that `json` can write."""
        from kg_reasoner.explain.absence import absence_dict

        return absence_dict(self)

    def dot(self) -> str:
        """The same as a graph in the language of Graphviz: what is missing is dashed."""
        from kg_reasoner.explain.absence import absence_dot

        return absence_dot(self)

    def html(self) -> str:
        """The same as a page that needs nothing else."""
        from kg_reasoner.explain.absence import absence_page

        return absence_page(self)

    def __str__(self) -> str:
        return self.text()


def why_not(derivations: Derivations, fact: Atom, prefixes: Mapping[str, str]) -> WhyNot:
    """Try every rule whose head can become the fact, which must not be there."""
    find = derivations.catalog.dictionary.find
    unknown = tuple(dict.fromkeys(term for term in fact.terms if not isinstance(term, Variable) and find(term) < 0))
    attempt = _Attempt(derivations)
    misses = []
    for rule in derivations.rules_for(fact):
        head = _unified(rule.head, fact)
        if head is not None:
            misses.append(attempt.miss(rule, head))
    misses.sort(key=lambda miss: (miss.failed == fact, -len(miss.held)))
    return WhyNot(fact, tuple(misses), unknown, prefixes)


def _unified(head: Atom, fact: Atom) -> Bindings | None:
    """The values of a head's variables that make it the fact, or None."""
    values: Bindings = {}
    for term, constant in zip(head.terms, fact.terms, strict=True):
        assert not isinstance(constant, Variable)
        if (values.setdefault(term, constant) if isinstance(term, Variable) else term) != constant:
            return None
    return values


def in_order(body: Sequence[BodyLiteral], known: Iterable[Variable]) -> list[BodyLiteral]:
    """The parts of a body in the order of trying: what is no atom as soon as its variables are known or bound by atoms before."""
    atoms = [part for part in body if isinstance(part, Atom)]
    outside = {variable for atom in atoms for variable in variables_of(atom)}
    waiting = [(part, outside.intersection(variables_of(part))) for part in body if not isinstance(part, Atom)]
    order: list[BodyLiteral] = []
    bound = set(known)
    for atom in (None, *atoms):
        if atom is not None:
            order.append(atom)
            bound.update(variables_of(atom))
        order += [part for part, needed in waiting if needed <= bound]
        waiting = [(part, needed) for part, needed in waiting if not needed <= bound]
    return order


class _Attempt:
    """Matches beginnings of bodies."""

    def __init__(self, derivations: Derivations) -> None:
        self.derivations = derivations
        self.catalog = derivations.catalog
        self.database = derivations.database

    def miss(self, rule: Rule, head: Bindings) -> Miss:
        """How far a rule gets, given the values of its head's variables."""
        parts = [ground(part, head) for part in in_order(rule.body, head)]
        furthest: list[Bindings] = [{}]
        for length in range(1, len(parts) + 1):
            matches = list(self._matches(parts[:length]))
            if not matches:
                held, failed = parts[: length - 1], parts[length - 1]
                best, *_ = furthest
                examples = tuple(tuple({**head, **match}.items()) for match in furthest[:EXAMPLES])
                return Miss(
                    rule,
                    tuple(ground(part, best) for part in held),
                    ground(failed, best),
                    examples,
                    len(furthest) > EXAMPLES,
                )
            furthest = matches
        raise AssertionError("the rule derives the fact, which is not there")

    def _matches(self, parts: Sequence[BodyLiteral]) -> Iterator[Bindings]:
        """Some values of the variables of the atoms under which all parts hold: a few more than are shown."""
        count = 0
        for copy, fixed in self._copies(Rule(Atom(FALSE, ()), tuple(parts)), {}):
            for match in self._solve(copy):
                yield {**fixed, **match}
                count += 1
                if count > EXAMPLES:
                    return

    def _copies(self, rule: Rule, fixed: Bindings) -> Iterator[tuple[Rule, Bindings]]:
        """In the vertical layout: the copies in which every atom of triples has one property, and under rdf:type one class."""
        catalog = self.catalog
        found = (_predicate_variable(atom) for atom in _triples(rule))
        variable = None if catalog.ternary else next((variable for variable in found if variable is not None), None)
        if variable is None:
            yield rule, fixed
            return
        is_class = any(variable == atom.terms[2] and atom.terms[1] == RDF.type for atom in _triples(rule))
        for number in list(catalog.classes) if is_class else [*catalog.properties, catalog.type_id]:
            term = catalog.dictionary.decode(number)
            copy = substitute(rule, {variable: term})
            if copy is not None:
                yield from self._copies(copy, {**fixed, variable: term})

    def _solve(self, rule: Rule) -> Iterator[Bindings]:
        atoms: list[StoredAtom] = []
        comparisons: list[StoredComparison] = []
        for part in rule.body:
            if isinstance(part, Atom):
                atom = self._stored(part, negated=False)
                if atom is None:
                    return
                atoms.append(atom)
            elif isinstance(part, Negation):
                atom = self._stored(part.atom, negated=True)
                if atom is not None:
                    atoms.append(atom)
            elif isinstance(part, Filter):
                for comparison in map(simple_comparison, conjuncts(part.expression)):
                    if comparison is None:
                        continue
                    operator, left, right = comparison
                    if not isinstance(left, Variable) and not isinstance(right, Variable):
                        if not satisfies(operator, left, right):
                            return
                        continue
                    if operator in (">", ">="):
                        operator, left, right = operator.replace(">", "<"), right, left
                    comparisons.append(StoredComparison(operator, self.catalog.term(left), self.catalog.term(right)))
        names = list(dict.fromkeys(term for atom in atoms if not atom.negated for term in atom.terms if isinstance(term, str)))
        decode = self.catalog.dictionary.decode
        for row in self._rows(atoms, comparisons, names):
            yield {Variable(name): decode(number) for name, number in zip(names, row, strict=True)}

    def _rows(self, atoms: list[StoredAtom], comparisons: list[StoredComparison], names: list[str]) -> list[list[int]]:
        database = self.database
        with database.temporary_plans():
            plan = plan_query(database, atoms, comparisons, names, self.derivations.statistics.join(atoms))
            self.derivations.start(plan)
            size = EXAMPLES + 1
            out = allocate(size * len(names), np.int32)
            count = native.fetch(database.address, len(names), address(out), size)
            return np.asarray(out[: count * len(names)]).reshape(count, len(names)).tolist()

    def _stored(self, atom: Atom, negated: bool) -> StoredAtom | None:
        """An atom over its relation; None if it matches nothing, as its predicate or one of its constants occurs nowhere."""
        catalog = self.catalog
        terms: list[StoredTerm] = []
        for term in atom.terms:
            number = term.name if isinstance(term, Variable) else catalog.dictionary.find(term)
            if number == -1:
                return None
            terms.append(number)
        if atom.predicate != TRIPLE:
            relation = catalog.predicates.get(atom.predicate, -1)
        elif catalog.ternary:
            relation = catalog.predicates[TRIPLE]
        else:
            subject, property, value = terms
            assert isinstance(property, int)
            if property == catalog.type_id:
                assert isinstance(value, int)
                relation, terms = catalog.classes.get(value, -1), [subject]
            else:
                relation, terms = catalog.properties.get(property, -1), [subject, value]
        return None if relation < 0 else StoredAtom(relation, tuple(terms), negated)


def _triples(rule: Rule) -> Iterator[Atom]:
    for part in rule.body:
        atom = part.atom if isinstance(part, Negation) else part
        if isinstance(atom, Atom) and atom.predicate == TRIPLE:
            yield atom


def _predicate_variable(atom: Atom) -> Variable | None:
    """The variable in the place of an atom's property, or of its class."""
    _, property, value = atom.terms
    if isinstance(property, Variable):
        return property
    return value if property == RDF.type and isinstance(value, Variable) else None
