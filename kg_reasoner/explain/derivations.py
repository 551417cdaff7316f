"""The rule instances that derive a given fact, found from the head downwards.

Rules are planned once for "the head is known": the kernels then join the body from the head's constants on, and no relation is read
from end to end unless a rule's body has nothing to do with its head.

Rules with AGGREGATE are those that the engine has made of them (see `kg_reasoner.planning.groups`), but they are shown as the
program has them: a group is a fact that needs no rule, and its solutions can be told, see `Derivations.group`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from kg_reasoner.language.analysis import Key, key_of
from kg_reasoner.planning.catalog import INTERNAL, VIOLATIONS, Catalog, StoredCall, StoredRule
from kg_reasoner.planning.expansion import substitute
from kg_reasoner.planning.groups import is_group, pieces
from kg_reasoner.planning.planner import plan_proof
from kg_reasoner.planning.statistics import Statistics
from kg_reasoner.program import FALSE, TRIPLE, Aggregate, Atom, Negation, Rule, Variable, variables_of
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import BUILD_INDEX, CALLS, DONE, VALUES, Relation
from kg_reasoner.storage.kernels.memory import address, allocate
from kg_reasoner.storage.value_table import ValueTable
from kg_reasoner.terms import RDF, Term

__all__ = ["FIRST_ROWS", "Derivations", "Fact", "HeadPlan", "Instance"]

Fact: TypeAlias = tuple[int, tuple[int, ...]]
"""A relation of the database and a tuple of ids."""

FIRST_ROWS, MOST_ROWS = 4, 1 << 12
"""How many instances are fetched at once: a few at first, then more."""


class HeadPlan:
    """A rule over relations, planned for a known head. `rule` is the rule as the program has it, or an aggregate's body.

    Variables for properties and classes are `fixed`: that says which relations are meant, or which part of the one relation, and so
    how many rows to expect. The others are `variables`, the head's first.
    """

    __slots__ = ("calls", "fixed", "head", "number", "premises", "repeats", "rest", "rule", "variables")

    def __init__(self, rule: Rule, stored: StoredRule, fixed: dict[Variable, int], number: int, rest: Sequence[str]) -> None:
        head = stored.head.terms
        names = list(dict.fromkeys(term for term in head if isinstance(term, str)))
        self.rule = rule
        self.number = number
        self.calls = any(isinstance(part, StoredCall) for part in stored.checks)
        """It calls functions, whose results may have to be computed first."""
        self.fixed = fixed
        self.rest = len(rest)
        self.head = [head.index(name) for name in names]
        """The columns that give the head's variables their values."""
        self.repeats = [
            (column, head.index(term)) if isinstance(term, str) else (column, -1 - term)
            for column, term in enumerate(head)
            if not isinstance(term, str) or head.index(term) != column
        ]
        """Columns that must equal an earlier column, or a constant c (as -1 - c)."""
        self.variables = [*names, *rest]
        places = {name: -1 - place for place, name in enumerate(self.variables)}
        self.premises = [
            (atom.relation, [places[term] if isinstance(term, str) else term for term in atom.terms])
            for atom in stored.body
            if not atom.negated
        ]

    def fits(self, values: Sequence[int]) -> bool:
        """Whether the head's constants and repeated variables agree with a tuple."""
        return all(values[column] == (values[other] if other >= 0 else -1 - other) for column, other in self.repeats)


class Instance:
    """A rule instance: its plan, the values of the plan's variables, and the facts that its positive atoms become, in order."""

    __slots__ = ("plan", "premises", "values")

    def __init__(self, plan: HeadPlan, values: tuple[int, ...]) -> None:
        self.plan = plan
        self.values = values
        self.premises: list[Fact] = [
            (relation, tuple([code if code >= 0 else values[-1 - code] for code in codes])) for relation, codes in plan.premises
        ]


class Derivations:
    """Finds rule instances over the relations of a catalog, as they are at the moment."""

    def __init__(self, catalog: Catalog, values: ValueTable, statistics: Statistics) -> None:
        self.catalog = catalog
        self.database = catalog.database
        self.values = values
        self.rules: tuple[Rule, ...] = ()
        self.statistics = statistics
        self._pieces: list[tuple[Rule, Rule]] = []
        self._groups: dict[str, tuple[Aggregate, Atom]] = {}
        self._heads: dict[Key, list[int]] = {}
        self._plans: dict[tuple[Rule, StoredRule], HeadPlan] = {}
        self._of_head: dict[tuple[int, int, int], list[HeadPlan]] = {}
        self._relations = 0
        self._planned_for = 0
        self._names: dict[int, Key] = {}
        self._context = self.database.address
        self._out = allocate(256, np.int32)
        self._set_width(16)

    def use(self, rules: tuple[Rule, ...]) -> None:
        """Take note of the active rules, and of relations that are new."""
        if rules != self.rules:
            self.rules = rules
            self._pieces = list(dict.fromkeys(piece for rule in rules if rule.body for piece in pieces(rule)))
            self._heads, self._groups = {}, {}
            for number, (part, shown) in enumerate(self._pieces):
                if is_group(part):
                    (inner,), (aggregate,) = part.body, shown.body
                    assert isinstance(inner, Aggregate)
                    assert isinstance(aggregate, Aggregate)
                    (solutions,) = inner.body
                    assert isinstance(solutions, Atom)
                    self._groups[part.head.predicate] = aggregate, solutions
                else:
                    self._heads.setdefault(key_of(shown.head), []).append(number)
            self._of_head.clear()
        rows = self._rows()
        if not self._planned_for <= 2 * rows <= 4 * self._planned_for:  # other join orders may be better by now
            self._planned_for = rows
            self._plans.clear()
            self._of_head.clear()
        if self._relations != len(self.database.relations):
            self._relations = len(self.database.relations)
            self._of_head.clear()
            self._names.clear()

    def _rows(self) -> int:
        """The number of rows of all relations."""
        relations = self.database.relations
        return int(relations.words[: len(relations), Relation.fields["count"][0]].sum()) + 1

    # --- facts ------------------------------------------------------------------------------------------------------

    def flags(self, fact: Fact) -> int:
        """The flags of a fact, or -1 if there is no such fact."""
        relation, values = fact
        if relation < 0:
            return -1
        if len(values) > len(self._tuple):
            self._set_width(len(values))
        self._tuple[: len(values)] = values
        row = native.find_row(self._context, relation, self._tuple_address)
        return -1 if row < 0 else int(self.database.relations[relation].flags[row])

    def _set_width(self, columns: int) -> None:
        self._tuple = allocate(columns, np.int32)
        self._tuple_address = address(self._tuple)

    def fact(self, atom: Atom) -> Fact | None:
        """The stored form of an atom of constants; None if one of its terms, or its predicate, is not known at all."""
        ids = tuple(self.catalog.dictionary.find(term) for term in atom.terms if not isinstance(term, Variable))
        if len(ids) < atom.arity or -1 in ids or atom.predicate.startswith(INTERNAL):
            return None
        if atom.predicate == TRIPLE:
            return self.catalog.layout.find(*ids)
        relation = self.catalog.predicates.get(atom.predicate, -1)
        return None if relation < 0 or self.database.relations[relation].arity != len(ids) else (relation, ids)

    def atom(self, fact: Fact) -> Atom:
        """A stored fact as an atom of constants; a violation is the head ``false``."""
        relation, values = fact
        predicate, property, value = self._name(relation)
        terms = tuple(map(self.catalog.dictionary.decode, values))
        if predicate.startswith(VIOLATIONS):
            return Atom(FALSE, ())
        if predicate != TRIPLE or property is None:
            return Atom(predicate, terms)
        return Atom(TRIPLE, (terms[0], property, value if value is not None else terms[1]))

    def _name(self, relation: int) -> Key:
        """See `Catalog.key_of`."""
        key = self._names.get(relation)
        if key is None:
            key = self._names[relation] = self.catalog.key_of(relation)
        return key

    def is_group(self, fact: Fact) -> bool:
        """Whether a fact is a group of some aggregate."""
        return bool(self._groups) and self._name(fact[0])[0] in self._groups

    def group(self, fact: Fact, most: int) -> tuple[Aggregate, list[Fact], int]:
        """The aggregate of a group, some of its solutions as facts, and how many it has."""
        relation, values = fact
        aggregate, solutions = self._groups[self._name(relation)[0]]
        source = self.catalog.predicates[solutions.predicate]
        if aggregate.group:
            columns = [solutions.terms.index(variable) for variable in aggregate.group]
            found = self.database.matching(source, columns, values[: len(columns)])
            rows = self.database.rows_at(source, found[:most])
            count = len(found)
        else:
            everything = self.database.rows(source)
            rows, count = everything[:most], len(everything)
        return aggregate, [(source, tuple(row)) for row in rows.tolist()], count

    def groups_atom(self, aggregate: Aggregate) -> Atom | None:
        """The atom that the engine has in the place of an aggregate of some rule."""
        for part, shown in self._pieces:
            if shown.body == (aggregate,) and is_group(part):
                return part.head
        return None

    # --- instances --------------------------------------------------------------------------------------------------

    def instances(self, fact: Fact) -> list[Instance]:
        """All instances that derive a fact from facts that are there."""
        return [instance for plan in self.plans(fact) for chunk in self.chunks(plan, fact) for instance in chunk]

    def chunks(self, plan: HeadPlan, fact: Fact) -> Iterator[list[Instance]]:
        """The instances of one plan that derive a fact, some at a time; always in the same order while nothing changes.

        Only one such iterator can be in use: the kernels join for one plan at a time.
        """
        _, values = fact
        if not plan.fits(values):
            return
        width = plan.rest
        head = tuple([values[column] for column in plan.head])
        if plan.calls:
            self._compute(plan, head)
        self._begin(plan, head)
        size = count = 0
        while count == size:
            size = min(max(FIRST_ROWS, 4 * size), MOST_ROWS)
            if size * width > len(self._out):
                self._out = allocate(size * width, np.int32)
            count = native.fetch(self._context, width, address(self._out), size)
            if count:
                flat = self._out[: count * width].tolist()
                rows = [flat[start : start + width] for start in range(0, count * width, width)] if width else [[]] * count
                yield [Instance(plan, (*head, *row)) for row in rows]

    def _begin(self, plan: HeadPlan, head: Sequence[int]) -> None:
        """Start a plan as if a row had triggered it."""
        self.start(plan.number)
        bindings = self.database.frames.values(0)
        for slot, value in enumerate(head):
            bindings[slot] = value

    def _compute(self, plan: HeadPlan, head: Sequence[int]) -> None:
        """Compute all results of functions that the plan will look up, so that no instance is passed over."""
        room = max(1, len(self._out) // max(1, plan.rest))
        while True:
            self._begin(plan, head)
            while native.fetch(self._context, plan.rest, address(self._out), room) == room:
                pass
            if not self.answer():
                return

    def answer(self) -> bool:
        """Compute the results that kernels have asked for. False: there were none."""
        if self.database.context.request_count == 0:
            return False
        self.catalog.functions.answer()
        self.values.expire()
        return True

    def start(self, plan: int) -> None:
        """Get ready to fetch the matches of a plan."""
        database = self.database
        while (status := native.start_query(self._context, plan)) != DONE:
            if status == BUILD_INDEX:
                database.build(database.context.wanted)
            elif status == VALUES:
                self.values.update()
            elif status == CALLS:
                self.answer()

    def plans(self, fact: Fact) -> list[HeadPlan]:
        """The plans of the rules whose heads may become a fact, those with short bodies first."""
        relation, values = fact
        key = self.catalog.layout.kind(relation, values)
        plans = self._of_head.get(key)
        if plans is None:
            rules = [rules for rules in self._stored_rules(fact) if rules[-1].head.relation == relation]
            plans = self._of_head[key] = sorted((self._plan(*found) for found in rules), key=lambda plan: len(plan.premises))
        return plans

    def _stored_rules(self, fact: Fact) -> Iterator[tuple[Rule, Rule, StoredRule]]:
        """The rules that may derive a fact: as the engine has them, as they are shown, and over relations."""
        atom = self.atom(fact)
        for rule, shown in self.rules_for(atom):
            copy = rule if atom.predicate != TRIPLE else _with_predicate(rule, atom)
            if copy is not None:
                for stored in self.catalog.rules(copy):
                    yield rule, shown, stored

    def rules_for(self, atom: Atom) -> list[tuple[Rule, Rule]]:
        """The active rules whose heads have the atom's predicate (for triples: its property, its class), in their order.

        Each without aggregates, as the engine has it, and as the program has it.
        """
        predicate, property, value = key_of(atom)
        keys = dict.fromkeys([(predicate, property, value), (predicate, property, None), (predicate, None, None)])
        return [self._pieces[number] for number in sorted(number for key in keys for number in self._heads.get(key, ()))]

    def _plan(self, rule: Rule, shown: Rule, stored: StoredRule) -> HeadPlan:
        plan = self._plans.get((shown, stored))
        if plan is None:
            head = set(stored.head.terms)
            atoms = [atom for atom in stored.body if not atom.negated]
            names = dict.fromkeys(term for atom in atoms for term in atom.terms if isinstance(term, str))
            names.update(dict.fromkeys(p.result for p in stored.checks if isinstance(p, StoredCall) and isinstance(p.result, str)))
            rest = [name for name in names if name not in head]
            number = plan_proof(self.database, stored, rest, self.statistics.join(atoms))
            find = self.catalog.dictionary.find
            fixed = {variable: find(term) for variable, term in fixed_variables(rule, stored.rule).items()}
            plan = self._plans[shown, stored] = HeadPlan(shown, stored, fixed, number, rest)
        return plan

    # --- what an instance says --------------------------------------------------------------------------------------

    def bindings(self, instance: Instance) -> dict[Variable, Term]:
        """The values of all variables of an instance's rule but those that its negations have for themselves, in their order."""
        plan, decode = instance.plan, self.catalog.dictionary.decode
        ids = {**plan.fixed, **dict(zip(map(Variable, plan.variables), instance.values, strict=True))}
        variables = dict.fromkeys(v for part in (plan.rule.head, *plan.rule.body) for v in variables_of(part))
        return {variable: decode(ids[variable]) for variable in variables if variable in ids}


def _with_predicate(rule: Rule, atom: Atom) -> Rule | None:
    """The rule with values for its head's property and class, so that the head can become the atom; None: it cannot."""
    _, property, value = rule.head.terms
    _, known_property, known_value = atom.terms
    values: dict[Variable, Term] = {}
    pairs = [(property, known_property), (value, known_value)] if known_property == RDF.type else [(property, known_property)]
    for term, known in pairs:
        assert not isinstance(known, Variable)
        if isinstance(term, Variable):
            if values.setdefault(term, known) != known:
                return None
        elif term != known:
            return None
    return substitute(rule, values) if values else rule


def fixed_variables(rule: Rule, copy: Rule) -> dict[Variable, Term]:
    """The variables of a rule that a copy of it has constants for."""
    fixed: dict[Variable, Term] = {}
    for atom, copied in zip(_atoms(rule), _atoms(copy), strict=True):
        for term, constant in zip(atom.terms, copied.terms, strict=True):
            if isinstance(term, Variable) and not isinstance(constant, Variable):
                fixed[term] = constant
    return fixed


def _atoms(rule: Rule) -> Iterator[Atom]:
    yield rule.head
    for part in rule.body:
        if isinstance(part, Atom):
            yield part
        elif isinstance(part, Negation):
            yield part.atom
