"""Rule instances that derive a given fact, found backwards from the head.

Rules are planned once for a known head: the kernels join the body starting from the head's constants. They scan a whole relation
only if the body of the rule shares no variable with its head.

A rule with AGGREGATE is evaluated in the form into which the engine rewrites it (see `planning.aggregates.groups`), and shown
as written: a group is a fact that needs no rule, and `Derivations.group` returns its solutions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from kg_reasoner.language.checks.analysis import Key, key_of
from kg_reasoner.language.strata.recursion import as_proved
from kg_reasoner.planning.aggregates.groups import is_aggregate_rule, pieces
from kg_reasoner.planning.catalog import INTERNAL, VIOLATIONS, RelationCatalog, StoredCall, StoredRule
from kg_reasoner.planning.expansion import substitute
from kg_reasoner.planning.planner import plan_proof
from kg_reasoner.planning.statistics import RelationStatistics
from kg_reasoner.program import FALSE, TRIPLE, Aggregate, Atom, Negation, Rule, Variable, variables_of
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import BUILD_INDEX, DONE, EXPLICIT, FUNCTION_RESULTS, STATED, VALUES, Relation
from kg_reasoner.storage.kernels.memory.buffers import address, allocate
from kg_reasoner.storage.values.value_table import ValueTable
from kg_reasoner.terms import RDF, Term

__all__ = ["FIRST_ROWS", "Derivations", "Fact", "HeadPlan", "Instance"]

Fact: TypeAlias = tuple[int, tuple[int, ...]]
"""A relation of the database and a tuple of ids."""

FIRST_ROWS, MOST_ROWS = 4, 1 << 12
"""The numbers of instances that are fetched at once: a few at first, then more."""


class HeadPlan:
    """A rule over relations, planned for a known head. `rule` is the rule as written, or the body of an aggregate.

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
        """Return whether the head's constants and repeated variables agree with a tuple."""
        return all(values[column] == (values[other] if other >= 0 else -1 - other) for column, other in self.repeats)


class Instance:
    """A rule instance: its plan, the values of the plan's variables, and the facts that match its positive atoms, in order."""

    __slots__ = ("plan", "premises", "values")

    def __init__(self, plan: HeadPlan, values: tuple[int, ...]) -> None:
        self.plan = plan
        self.values = values
        self.premises: list[Fact] = [
            (relation, tuple([code if code >= 0 else values[-1 - code] for code in codes])) for relation, codes in plan.premises
        ]


class Derivations:
    """Finds rule instances over the current contents of a catalog's relations.

    Args:
        catalog: The catalog.
        values: The values of terms.
        statistics: The sizes of relations, for join orders.
        check_limits: Raises an error if the operation exceeds a limit or has been cancelled.
    """

    def __init__(
        self, catalog: RelationCatalog, values: ValueTable, statistics: RelationStatistics, check_limits: Callable[[], None]
    ) -> None:
        self.catalog = catalog
        self._check_limits = check_limits
        self.database = catalog.database
        self.values = values
        self.rules: tuple[Rule, ...] = ()
        self.attaining: frozenset[Rule] = frozenset()
        """The rules that stand for those of a recursion through MIN or MAX, see `language.strata.recursion.as_proved`."""
        self.statistics = statistics
        self._pieces: list[tuple[Rule, Rule]] = []
        self._groups: dict[str, tuple[Aggregate, Atom]] = {}
        self._heads: dict[Key, list[int]] = {}
        self._plans: dict[tuple[Rule, StoredRule], HeadPlan] = {}
        self._of_head: dict[tuple[int, int, int], list[HeadPlan]] = {}
        self._usable: dict[tuple[int, int, int], list[HeadPlan]] = {}
        self._relations = 0
        self._planned_for = 0
        self._names: dict[int, Key] = {}
        self._context = self.database.address
        self._out = allocate(256, np.int32)
        self._set_width(16)

    def use(self, rules: tuple[Rule, ...]) -> None:
        """Set the active rules, and look at the relations again."""
        self._usable.clear()
        if rules != self.rules:
            self.rules = rules
            proved = as_proved(rules)
            self.attaining = frozenset(proved) - frozenset(rules)
            self._pieces = list(dict.fromkeys(piece for rule in proved if rule.body for piece in pieces(rule)))
            self._heads, self._groups = {}, {}
            for number, (part, shown) in enumerate(self._pieces):
                if is_aggregate_rule(part):
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
        """Return the total number of rows of all relations."""
        relations = self.database.relations
        return int(relations.words[: len(relations), Relation.fields["count"][0]].sum()) + 1

    # --- facts ------------------------------------------------------------------------------------------------------

    def flags(self, fact: Fact) -> int:
        """Return the flags of a fact, or -1 if it does not hold."""
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

    def arity(self, predicate: str) -> int | None:
        """Return the number of arguments of a predicate; None if nothing uses it."""
        relation = self.catalog.predicates.get(predicate)
        if relation is not None:
            return int(self.database.relations[relation].arity)
        heads = self._heads.get((predicate, None, None))
        return self._pieces[heads[0]][0].head.arity if heads else None

    def fact(self, atom: Atom) -> Fact | None:
        """Return the stored form of a ground atom, or None if its predicate or one of its terms is unknown."""
        ids = tuple(self.catalog.dictionary.find(term) for term in atom.terms if not isinstance(term, Variable))
        if len(ids) < atom.arity or -1 in ids or atom.predicate.startswith(INTERNAL):
            return None
        if atom.predicate == TRIPLE:
            return self.catalog.layout.find(*ids)
        relation = self.catalog.predicates.get(atom.predicate, -1)
        return None if relation < 0 or self.database.relations[relation].arity != len(ids) else (relation, ids)

    def atom(self, fact: Fact) -> Atom:
        """Return a stored fact as a ground atom; a violation is the head ``false``."""
        relation, values = fact
        predicate, property, value = self._name(relation)
        terms = tuple(map(self.catalog.dictionary.decode, values))
        if predicate.startswith(VIOLATIONS):
            return Atom(FALSE, ())
        if predicate != TRIPLE or property is None:
            return Atom(predicate, terms)
        return Atom(TRIPLE, (terms[0], property, value if value is not None else terms[1]))

    def _name(self, relation: int) -> Key:
        """See `RelationCatalog.key_of`."""
        key = self._names.get(relation)
        if key is None:
            key = self._names[relation] = self.catalog.key_of(relation)
        return key

    def is_aggregate_rule(self, fact: Fact) -> bool:
        """Return whether a fact is a group of an aggregate."""
        return bool(self._groups) and self._name(fact[0])[0] in self._groups

    def is_given(self, fact: Fact) -> bool:
        """Return whether a fact needs no rule: it is explicit or stated, or a group of an aggregate."""
        return bool(self.flags(fact) & (EXPLICIT | STATED)) or self.is_aggregate_rule(fact)

    def group(self, fact: Fact, most: int) -> tuple[Aggregate, list[Fact], int]:
        """Return the aggregate of a group, up to `most` of its solutions as facts, and the number of its solutions."""
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
        """Return the atom that replaces an aggregate in the engine's rules."""
        for part, shown in self._pieces:
            if shown.body == (aggregate,) and is_aggregate_rule(part):
                return part.head
        return None

    # --- instances --------------------------------------------------------------------------------------------------

    def instances(self, fact: Fact) -> list[Instance]:
        """Return all instances that derive a fact from facts that hold."""
        return [instance for plan in self.plans(fact) for chunk in self.chunks(plan, fact) for instance in chunk]

    def chunks(self, plan: HeadPlan, fact: Fact) -> Iterator[list[Instance]]:
        """Yield the instances of one plan that derive a fact, in chunks. The order is stable while nothing changes.

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
            self.expect_complete()
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
        """Compute all results of functions that the plan will look up, so that no instance is missed."""
        room = max(1, len(self._out) // max(1, plan.rest))
        while True:
            self._begin(plan, head)
            while native.fetch(self._context, plan.rest, address(self._out), room) == room:
                pass
            if not self.answer():
                return

    def expect_complete(self) -> None:
        """Check that kernels have not stopped early, and left instances out.

        Raises:
            LimitError, CancelledError: The operation exceeds a limit, or has been cancelled.
        """
        if self.database.context.stop:
            self._check_limits()

    def answer(self) -> bool:
        """Compute the results requested by kernels. Return false if they requested none."""
        if self.database.context.request_count == 0:
            return False
        self.catalog.functions.answer()
        self.values.expire()
        return True

    def start(self, plan: int) -> None:
        """Prepare to fetch the matches of a plan."""
        database = self.database
        self.values.expire()  # the fact may have constants that no rule or fact had before
        while (status := native.start_query(self._context, plan)) != DONE:
            if status == BUILD_INDEX:
                database.build(database.context.wanted)
            elif status == VALUES:
                self.values.update()
            elif status == FUNCTION_RESULTS:
                self.answer()

    def plans(self, fact: Fact) -> list[HeadPlan]:
        """Return the plans of the rules whose heads unify with a fact, those with short bodies first, unless they lack facts."""
        relation, values = fact
        key = self.catalog.layout.kind(relation, values)
        plans = self._of_head.get(key)
        if plans is None:
            rules = [rules for rules in self._stored_rules(fact) if rules[-1].head.relation == relation]
            plans = self._of_head[key] = sorted((self._plan(*found) for found in rules), key=lambda plan: len(plan.premises))
        usable = self._usable.get(key)
        if usable is None:
            relations = self.database.relations
            usable = [plan for plan in plans if all(relations[premise].count for premise, _ in plan.premises)]
            self._usable[key] = usable
        return usable

    def _stored_rules(self, fact: Fact) -> Iterator[tuple[Rule, Rule, StoredRule]]:
        """Yield the rules that may derive a fact: as the engine evaluates them, as written, and over relations."""
        atom = self.atom(fact)
        for rule, shown in self.rules_for(atom):
            copy = rule if atom.predicate != TRIPLE else _with_predicate(rule, atom)
            if copy is not None:
                for stored in self.catalog.rules(copy):
                    yield rule, shown, stored

    def rules_for(self, atom: Atom) -> list[tuple[Rule, Rule]]:
        """Return the active rules whose heads have the atom's predicate (for triples: its property, its class), in their order.

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
        """Return the values of the variables of an instance's rule in their order, without those local to negations."""
        plan, decode = instance.plan, self.catalog.dictionary.decode
        ids = {**plan.fixed, **dict(zip(map(Variable, plan.variables), instance.values, strict=True))}
        variables = dict.fromkeys(v for part in (plan.rule.head, *plan.rule.body) for v in variables_of(part))
        return {variable: decode(ids[variable]) for variable in variables if variable in ids}


def _with_predicate(rule: Rule, atom: Atom) -> Rule | None:
    """Return the rule with values for the property and class of its head that unify it with the atom, or None."""
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
    """Return the variables of a rule that are constants in a copy of it."""
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
