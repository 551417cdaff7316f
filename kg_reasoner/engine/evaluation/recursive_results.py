"""The results of recursions through MIN and MAX, as relations that are computed as a whole (see `language.strata.recursion`).

A recursion is evaluated in a database of its own, which reads the facts below it in place. If it only follows edges, Dijkstra's
algorithm finds the best values (see `edge_recursions`). Otherwise semi-naive rounds do, each of which adds the best values so far
and derives what follows from those that are new: a worse value stays until the end, where it does no harm, as values only improve.
At last the other rules are applied once more to the best values alone, so that nothing is left that came from worse ones. When
something that a recursion reads changes, it is evaluated again, and the difference is applied to its results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from kg_reasoner.concurrency.limits import Watch, current_watch
from kg_reasoner.data_classes import dataclass
from kg_reasoner.engine.evaluation.edge_recursions import EdgeStep, steps_of
from kg_reasoner.engine.evaluation.materialiser import Materialiser
from kg_reasoner.engine.evaluation.planned_rules import NewRule, PlannedRule, Stratum
from kg_reasoner.errors import RecursionValueError
from kg_reasoner.language.strata.recursion import Recursion
from kg_reasoner.language.strata.stratification import Key, key_of, show_key
from kg_reasoner.planning.aggregates.groups import is_aggregate_rule, solutions_of
from kg_reasoner.planning.borrowed_catalog import BorrowedCatalog
from kg_reasoner.planning.catalog import INTERNAL, RelationCatalog, StoredRule
from kg_reasoner.program import TRIPLE, Aggregate, Atom, Bind, BodyLiteral, Negation, Rule, Variable
from kg_reasoner.storage.arrays import Numbers, Rows, contains
from kg_reasoner.storage.databases.borrowing import BorrowingDatabase
from kg_reasoner.storage.kernels.layout import ABSENT, EXPLICIT, STATED
from kg_reasoner.storage.recursion.best_paths import Edges, best_paths, integers
from kg_reasoner.storage.recursion.best_values import BestValues, NotANumberError
from kg_reasoner.storage.values.value_columns import ValueCache
from kg_reasoner.storage.values.value_table import ValueTable
from kg_reasoner.terms import RDF, term_text

__all__ = ["RecursiveResult", "Results"]

MOST_ROUNDS: Final = 10_000
"""The maximal number of rounds, in addition to one for each group. With more, values are assumed to improve without end."""

_OWN: Final = f"{INTERNAL}inside "
_VALUE: Final = Variable("value of the aggregate")


class RecursiveResult:
    """The relation of one recursive predicate's derived facts; see `aggregate_relations.ComputedRelation`.

    Args:
        results: The results of the recursion.
        rule: The rule that stands for this relation.
        key: The predicate, property or class.
        level: The level of the stratum that uses the relation.
        target: The relation.
    """

    def __init__(self, results: Results, rule: Rule, key: Key, level: int, target: int) -> None:
        self.rule, self.level, self.target = rule, level, target
        self.source_rule = rule
        self._results, self._key = results, key

    def refresh(self) -> None:
        """Compute the facts again, if something that they depend on has changed."""
        found = self._results.of(self._key)
        if found is None:
            return
        database = self._results.database
        known = database.rows(self.target)
        gone, new = (known[~contains(found, known)], found[~contains(known, found)]) if len(known) else (known, found)
        if len(gone):
            database.delete(self.target, gone)
        if len(new):
            database.load(self.target, new, 0)

    def forget(self) -> None:
        """Compute the facts in the next update, as their rows are lost."""
        self._results.forget()

    def clear(self) -> None:
        """Delete the facts, for which there are no longer any rules."""
        database = self._results.database
        database.delete(self.target, database.rows(self.target))


class Results:
    """The results of a recursion, which all of its predicates share.

    Args:
        catalog: The relations that it reads.
        recursion: The recursion, whose rules are split (see `groups.split`).
        watch: The watch over operations without limits.
    """

    def __init__(self, catalog: RelationCatalog, recursion: Recursion, watch: Watch) -> None:
        self.database = catalog.database
        self._catalog, self._recursion, self._watch = catalog, recursion, watch
        heads = {key_of(rule.head): rule.head for rule in recursion.rules}
        shown = (key for key, head in heads.items() if not head.predicate.startswith(INTERNAL))
        self._keys = [key for key in shown if key not in recursion.inner]
        self._found: dict[Key, Rows] = {}
        self._taken: set[Key] = set()
        self._explicit: dict[Key, Rows] | None = None
        self._reads: tuple[int, ...] = ()
        self._filling = -1, -1

    def forget(self) -> None:
        """Evaluate the recursion in the next update in any case."""
        self._explicit = None
        self._taken.clear()

    def of(self, key: Key) -> Rows | None:
        """Return the derived facts of a predicate, or None if they have not changed.

        Each predicate takes its facts once in an update; the first one evaluates the recursion.
        """
        if key in self._taken or not self._taken:
            self._taken.clear()
            self._found = self._evaluated() if self._has_changed() else {}
        self._taken.add(key)
        return self._found.pop(key, None)

    def _has_changed(self) -> bool:
        """Return whether there is another input than in the last evaluation."""
        database = self.database
        explicit = {key: self._explicit_rows(key) for key in self._keys}
        before, self._explicit = self._explicit, explicit
        if before is None or self._filling != self._catalog.filling:
            return True
        if any(len(database.new_rows(number)) or len(database.gone_rows(number)) for number in self._reads):
            return True
        return any(not np.array_equal(rows, before[key]) for key, rows in explicit.items())

    def _explicit_rows(self, key: Key) -> Rows:
        """Return the explicit and stated facts of a predicate, without the constants of its key."""
        predicate, property, cls = key
        if predicate != TRIPLE:
            relation = self._catalog.predicates.get(predicate, -1)
            return np.empty((0, 0), np.int32) if relation < 0 else self._given(relation)
        subject, value = Variable("s"), Variable("o")
        assert property is not None
        find, term = self._catalog.layout.find, self._catalog.term
        relation, terms = find(subject.name, term(property), value.name if cls is None else term(cls))
        if relation < 0:
            return np.empty((0, 1 if cls is not None else 2), np.int32)
        rows = self._given(relation)
        fixed = [column for column, own in enumerate(terms) if isinstance(own, int)]
        for column in fixed:
            rows = rows[rows[:, column] == terms[column]]
        return rows[:, [column for column in range(len(terms)) if column not in fixed]]

    def _given(self, relation: int) -> Rows:
        flags = self.database.flags(relation)
        return self.database.rows_at(relation, np.flatnonzero(((flags & ABSENT) == 0) & ((flags & (EXPLICIT | STATED)) != 0)))

    def _evaluated(self) -> dict[Key, Rows]:
        self._filling = self._catalog.filling
        evaluation = _Evaluation(self._catalog, self._recursion, self._watch)
        watch = current_watch()
        watch.attach(evaluation.database.context)
        try:
            found = evaluation.results(self._explicit or {}, self._keys)
        finally:
            watch.detach(evaluation.database.context)
        self._reads = evaluation.database.borrowed
        return found


class _Inputs(BorrowedCatalog):
    """A catalog that reads all facts of another one, internal ones included."""

    def _is_lent(self, name: str) -> bool:
        return name in self._lender.predicates and not name.startswith(_OWN)


@dataclass
class _Extreme:
    """The groups of an aggregate: where their solutions come from, and the best values so far."""

    source: int
    columns: list[int]
    value: int
    target: int
    best: BestValues
    rule: Rule
    seen: int = 0


class _Evaluation:
    """One evaluation of a recursion, in a database of its own."""

    def __init__(self, catalog: RelationCatalog, recursion: Recursion, watch: Watch) -> None:
        self._recursion, self._dictionary = recursion, catalog.dictionary
        lender = catalog.database
        self.database = BorrowingDatabase(lender, "all", self._claim)
        self._lender = lender
        self._catalog = _Inputs(catalog, self.database, compares_few=False)
        self._materialiser = Materialiser(
            self.database, ValueTable(catalog.dictionary, self.database.context), self._catalog.functions, watch=watch
        )
        self._values = ValueCache(catalog.dictionary)
        self._extremes: list[_Extreme] = []
        groupings = [rule for rule in recursion.rules if is_aggregate_rule(rule)]
        solutions = {solutions_of(rule).predicate: rule for rule in groupings}
        self._planned, self._visible, projected = list[PlannedRule](), list[PlannedRule](), list[Rule]()
        for rule in recursion.rules:
            if is_aggregate_rule(rule):
                continue
            is_hidden = rule.head.predicate in solutions
            projected.append(_projected(rule, solutions[rule.head.predicate]) if is_hidden else rule)
            added = self._plan(self._own(projected[-1]))
            self._planned += added
            self._visible += [] if is_hidden else added
        for rule in groupings:
            self._extremes.append(self._extreme(rule))
        steps = steps_of(recursion, projected, groupings[0]) if len(groupings) == 1 else None
        self._edges = [(step, self._edge_relation(number, step)) for number, step in enumerate(steps or ())]

    def _plan(self, rule: Rule) -> list[PlannedRule]:
        return self._materialiser.add_rules(NewRule(0, each) for each in self._catalog.rules(rule))

    def _edge_relation(self, number: int, step: EdgeStep) -> int:
        """Return the relation of the edges of a step, after planning its rule."""
        weight = (step.weight,) if isinstance(step.weight, Variable) else ()
        head = Atom(f"{_OWN}edges {number}", (*step.ends, *weight))
        self._planned += self._plan(Rule(head, step.body))
        return self._catalog.predicate(head.predicate, head.arity)

    def _claim(self, nbytes: int) -> None:
        self._lender.claim(self.database.allocated + nbytes)

    def results(self, explicit: dict[Key, Rows], keys: Sequence[Key]) -> dict[Key, Rows]:
        """Return the facts that the recursion derives.

        Args:
            explicit: The explicit facts of its predicates.
            keys: The predicates.
        """
        database = self.database
        self._begin(explicit)
        self._enter(self._planned)
        followed = self._followed()
        rounds = 0
        while followed is None and self._improve(
            everything=2 * rounds > MOST_ROUNDS
        ):  # then there are as many rounds as groups at most
            rounds += 1
            if rounds > MOST_ROUNDS and rounds > MOST_ROUNDS + sum(len(extreme.best) for extreme in self._extremes):
                raise self._error(f"values still improve after {rounds:,} rounds: there may be a cycle that improves them for ever")
            self._materialiser.values.expire()
            self._materialiser.insert(self._stratum)
        database.clear(self._catalog.functions.relations)
        self._begin(explicit)
        copied = self._copies()
        for extreme in self._extremes:
            rows = extreme.best.rows if followed is None else followed
            copy = copied.get(extreme.target)
            if copy is None:
                database.load(extreme.target, rows, STATED)
            else:
                places = [copy.rule.body[0].terms.index(term) for term in copy.rule.head.terms]
                database.load(copy.rule.head.relation, rows[:, places], 0)
        needed = self._needed(keys)
        done = {planned.number for planned in copied.values()}
        self._enter([each for each in self._visible if each.rule.head.relation in needed and each.number not in done])
        found = {}
        for key in keys:
            relation = self._catalog.predicates.get(_own_name(key), -1)
            rows = database.rows(relation) if relation >= 0 else np.empty((0, 0), np.int32)
            found[key] = np.array(rows)
        return found

    def _needed(self, keys: Sequence[Key]) -> set[int]:
        """Return the relations of some predicates, and of the predicates from which they follow."""
        found = {self._catalog.predicates.get(_own_name(key), -1) for key in keys}
        size = 0
        while len(found) > size:
            size = len(found)
            found |= {atom.relation for each in self._visible if each.rule.head.relation in found for atom in each.rule.body}
        return found

    def _copies(self) -> dict[int, PlannedRule]:
        """Return, for groups that only one rule reads, this rule, if it copies them."""
        readers = Counter(atom.relation for planned in self._visible for atom in planned.rule.body)
        copies = {planned.rule.body[0].relation: planned for planned in self._visible if _is_copy(planned.rule)}
        groups = (extreme.target for extreme in self._extremes)
        return {relation: copies[relation] for relation in groups if relation in copies and readers[relation] == 1}

    def _followed(self) -> Rows | None:
        """Return the groups with their best values, if the recursion follows edges and its values are suitable."""
        if not self._edges:
            return None
        (extreme,), database, edges = self._extremes, self.database, list[Edges]()
        for step, relation in self._edges:
            rows = database.rows(relation)
            weights: Numbers | None = None
            if step.weight is not None:
                column = (
                    rows[:, 2] if isinstance(step.weight, Variable) else self._dictionary.encode_texts([term_text(step.weight)])
                )
                weights = integers(column, self._values)
                if weights is None:
                    return None
            edges.append(Edges(rows[:, :2], None if weights is None else np.broadcast_to(weights, len(rows))))
        initial = database.rows(extreme.source)[:, [*extreme.columns, extreme.value]]
        if self._recursion.needs_numbers and integers(initial[:, -1], self._values) is None:
            return None
        moved, is_greatest = self._edges[0][0].column, extreme.best.is_greatest
        return best_paths(self._dictionary, self._values, initial, moved, edges, self._claim, is_greatest=is_greatest)

    def _begin(self, explicit: dict[Key, Rows]) -> None:
        database = self.database
        database.mark_processed()
        for key, rows in explicit.items():
            if len(rows):
                relation = self._catalog.predicate(_own_name(key), rows.shape[1])
                database.load(relation, rows, STATED)
                database.processed[relation] = 0

    def _enter(self, rules: Sequence[PlannedRule]) -> None:
        """Begin to apply rules: derive the consequences of new rows, and those of relations that are only read."""
        self._stratum = Stratum(0, {planned.number: planned for planned in rules})
        self._materialiser.enter(self._stratum)
        late = [planned for planned in rules if not any(self._is_own(atom.relation) for atom, _ in planned.triggers)]
        self._materialiser.insert(self._stratum, late)

    def _is_own(self, relation: int) -> bool:
        return not self.database.is_borrowed(relation)

    def _improve(self, *, everything: bool) -> bool:
        """Add the best values of the solutions that are new. Return whether some have improved."""
        database, improved = self.database, False
        for extreme in self._extremes:
            rows = database.rows(extreme.source)[extreme.seen :]
            extreme.seen += len(rows)
            try:
                if len(rows):
                    extreme.best.improve(rows[:, extreme.columns], rows[:, extreme.value])
            except NotANumberError as error:
                value = term_text(self._dictionary.decode(error.value))
                reason = f"{value} is not a number, but the values of the recursion are calculated with or compared"
                raise self._error(reason) from None
            better = extreme.best.next(everything=everything)
            if len(better):
                database.load(extreme.target, better, STATED)
                improved = True
        return improved

    def _error(self, reason: str) -> RecursionValueError:
        shown = [rule for rule in self._recursion.rules if not rule.head.predicate.startswith(INTERNAL)]
        names = ", ".join(sorted({show_key(key_of(rule.head)) for rule in shown}))
        return RecursionValueError(f"the recursion of {names} through MIN or MAX has no result: {reason}")

    # --- rules ------------------------------------------------------------------------------------------------------

    def _extreme(self, rule: Rule) -> _Extreme:
        part = rule.body[0]
        assert isinstance(part, Aggregate)
        (binding,) = part.bindings
        width = len(part.group)
        source = self._catalog.predicate(_OWN + solutions_of(rule).predicate, width + 1)
        target = self._catalog.predicate(_OWN + rule.head.predicate, width + 1)
        best = BestValues(
            self._dictionary,
            self._values,
            width,
            is_greatest=binding.function == "MAX",
            needs_numbers=self._recursion.needs_numbers,
        )
        return _Extreme(source, list(range(width)), width, target, best, rule)

    def _own(self, rule: Rule) -> Rule:
        """Return a rule with relations of its own for the recursive predicates."""
        return Rule(self._own_atom(rule.head), tuple(map(self._own_part, rule.body)), rule.origin)

    def _own_part(self, part: BodyLiteral) -> BodyLiteral:
        if isinstance(part, Negation):
            return part
        return self._own_atom(part) if isinstance(part, Atom) else part

    def _own_atom(self, atom: Atom) -> Atom:
        if not self._recursion.has(atom):
            return atom
        key = key_of(atom)
        terms = atom.terms if key[0] != TRIPLE else (atom.terms[0], atom.terms[2])
        return Atom(_own_name(key), terms if key[2] is None else terms[:1])


def _own_name(key: Key) -> str:
    predicate, property, cls = key
    if predicate != TRIPLE:
        return _OWN + predicate
    assert property is not None
    return f"{_OWN}{property if property != RDF.type else ''} {'' if cls is None else term_text(cls)}"


def _is_copy(rule: StoredRule) -> bool:
    """Return whether a rule copies the rows of a relation, with its columns in some order."""
    if len(rule.body) != 1 or rule.checks or rule.body[0].negated:
        return False
    terms = rule.body[0].terms
    names = {term for term in terms if isinstance(term, str)}
    return len(names) == len(terms) == len(rule.head.terms) and names == set(rule.head.terms)


def _projected(rule: Rule, grouping: Rule) -> Rule:
    """Return the rule for the solutions of an aggregate, without what MIN and MAX do not need to know."""
    (part,) = grouping.body
    assert isinstance(part, Aggregate)
    ((argument),) = (binding.argument for binding in part.bindings)
    assert argument is not None
    if isinstance(argument, Variable):
        return Rule(Atom(rule.head.predicate, (*part.group, argument)), rule.body, rule.origin)
    return Rule(Atom(rule.head.predicate, (*part.group, _VALUE)), (*rule.body, Bind(argument, _VALUE)), rule.origin)
