"""Plans under construction: the join order of a rule or query, and the codes by which each step matches rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy

import numpy as np

from kg_reasoner.data_classes import dataclass
from kg_reasoner.planning.catalog import DISTINCT_TERMS, StoredAtom, StoredCall, StoredComparison, StoredTerm
from kg_reasoner.planning.join_order import Check, Estimate, Part, by_shape, in_join_order, names_of, parts_of_body
from kg_reasoner.planning.tautologies import differing
from kg_reasoner.storage.kernels.layout import (
    CALL,
    CHECK,
    COMPARE,
    DISTINCT,
    EMPTY,
    EQUAL,
    HOLDS,
    LESS,
    LESS_EQUAL,
    LOOKUP,
    NOT_EQUAL,
    PROBE,
    SCAN,
    SKIP,
    Step,
)
from kg_reasoner.storage.relations.plan_memory import PlanMemory

OPERATORS = {"=": EQUAL, "!=": NOT_EQUAL, "<": LESS, "<=": LESS_EQUAL, DISTINCT_TERMS: DISTINCT}


@dataclass(slots=True)
class DraftStep:
    """The fields of a `layout.Step`."""

    kind: int
    relation: int = 0
    index: int = 0
    newest: int = 0
    negated: int = 0
    once: int = 0
    key: tuple[int, ...] = ()
    width: int = -1
    """The number of terms of the key that are looked up; -1: all of them."""
    columns: tuple[int, ...] = ()
    value_slot: int = SKIP
    operator: int = 0
    guard: int = -1
    guard_key: int = EMPTY

    @property
    def looks_up(self) -> bool:
        """Whether it looks up a tuple of one or two terms."""
        return self.kind == LOOKUP and not self.negated and 0 < len(self.key) < 3


@dataclass(slots=True)
class Use:
    """What a plan is used for.

    Attributes:
        trigger: The number of the body atom whose rows trigger the plan.
        backward: Whether facts of the head's relation trigger it.
        exact: Whether it finds every instance, even where one is sufficient to derive the head.
        of_rule: Whether it is run for many rows, so that it is worthwhile to find out early that nothing matches.
    """

    trigger: int | None = None
    backward: bool = False
    exact: bool = False
    of_rule: bool = False


class Draft:
    """A plan under construction: first the join order, then codes for each step. `write` stores it.

    Args:
        database: The relations.
        head: The head.
        body: The atoms of the body.
        checks: Its comparisons and function applications.
        use: What the plan is used for.
        estimate: The expected matches of an atom.
        seeds: Variables that are bound at first, in slots in this order.
    """

    def __init__(
        self,
        database: PlanMemory,
        head: StoredAtom,
        body: tuple[StoredAtom, ...],
        checks: tuple[Check, ...],
        use: Use,
        estimate: Estimate = by_shape,
        seeds: Sequence[str] = (),
    ) -> None:
        self.database, self.head, self.use = database, head, use
        negated = use.trigger is not None and body[use.trigger].negated
        self.one_is_enough = use.trigger is not None and not (use.backward or use.exact or negated)
        """Whether further matches with the same head make no difference."""
        self.slots: dict[str, int] = {name: slot for slot, name in enumerate(seeds)}
        self._parts = parts_of_body(body, checks)
        first = self._triggering()
        self.trigger_columns: tuple[int, ...] = ()
        if first is not None:
            self.trigger_columns = self._match(first, known=_section_columns(database, first), compare_known=False)
        self._slots_of_trigger = self.slots
        self.trigger_apart = 0
        """A column of the triggering row whose term must differ from that in the first column, or 0."""
        self.apart: Collection[frozenset[str]] = ()
        """Variables with different terms in all instances that matter, see `kg_reasoner.planning.tautologies`."""
        if use.of_rule:
            self.apart = differing(database, head, body)
            if self.apart and first is not None and _ends(first) in self.apart:
                self.trigger_apart = len(first.terms) - 1
        self._join(estimate)
        self.negation = -1
        """The step of the negated atom that triggers the plan, if some of its variables are only there, or -1."""
        if use.trigger is not None and negated:
            place = self.order.index(body[use.trigger])
            self.negation = -1 if self.steps[place].kind == LOOKUP else place

    def _join(self, estimate: Estimate, first: StoredAtom | None = None) -> None:
        """Choose the join order and its steps."""
        self.slots = dict(self._slots_of_trigger)
        order = self._kept_apart(in_join_order(self._parts, self.use.trigger, estimate, self.slots, first))
        self.order = [part for part, _ in order]
        """The parts of the body in join order: one for each step."""
        self.steps = self._steps(order)
        self.probe_column = self._probe_column()
        """The column of the trigger that is the whole key of the first step's index, or -1."""

    def beginning_with_other(self) -> Draft | None:
        """Return a plan from the head that begins with another atom, if the shapes of the atoms do not tell which is better, and
        both begin with a probe by one column of the head.
        """
        first = self.order[0] if self.order else None
        if not isinstance(first, StoredAtom) or self.probe_column < 0:
            return None
        bound = names_of(self.head)
        cost = by_shape(first, bound)
        others = (part for part in self.order[1:] if isinstance(part, StoredAtom) and not part.negated)
        begin = next((atom for atom in others if by_shape(atom, bound) == cost), None)
        if begin is None:
            return None
        other = copy(self)
        other._join(by_shape, begin)
        return other if other.probe_column >= 0 else None

    def _triggering(self) -> StoredAtom | None:
        """Return the atom that the rows match that trigger the plan, if any do."""
        if self.use.backward:
            return self.head
        if self.use.trigger is None:
            return None
        atom, shared = self._parts.body[self.use.trigger], self._parts.shared
        if not atom.negated:
            return atom
        # what only the negation has is any value there, not that of the triggering row
        return StoredAtom(atom.relation, tuple([term if term in shared else _fresh(term) for term in atom.terms]))

    def _steps(self, order: Sequence[tuple[Part, int]]) -> list[DraftStep]:
        """Return the steps of the parts in join order; each knows whether it binds variables that are used after it."""
        names = [names_of(part) for part in self.order]
        last_use = {name: place for place, found in enumerate(names) for name in found}
        if self.use.backward or self.use.exact:
            last_use |= dict.fromkeys(set().union(*self._parts.names), len(order))
        last_use |= dict.fromkeys(names_of(self.head), len(order))
        steps = []
        for place, (part, newest) in enumerate(order):
            if isinstance(part, StoredAtom):
                used_later = [name for name in names[place] if name not in self.slots and last_use[name] > place]
                steps.append(self._atom_step(part, newest, once=not used_later))
            else:
                steps.append(self._comparison_step(part) if isinstance(part, StoredComparison) else self._call_step(part))
        return steps

    @property
    def scans(self) -> bool:
        """Whether some step looks at all rows of a relation."""
        return any(step.kind == SCAN for step in self.steps)

    def write(self, rule: int, has_other: bool = False) -> int:
        """Store the plan in the database and return its number; `has_other` if the next plan finds the same."""
        database = self.database
        required = [self._columns_of(step.key) if step.looks_up else None for step in self.steps]
        determined = required.index(None) if None in required else len(required)
        head = [self._code(term) for term in self.head.terms]
        codes = [*self.trigger_columns, *head]
        for step in self.steps:
            codes += step.key
            codes += step.columns
        trigger = database.add_codes(codes)
        database.plans.add(
            first_step=self._write_steps(required, trigger + len(self.trigger_columns) + len(head)),
            step_count=len(self.steps),
            trigger=trigger,
            head_relation=self.head.relation,
            head=trigger + len(self.trigger_columns),
            rule=rule,
            apart=self.trigger_apart,
            probe_column=self.probe_column,
            filter_column=self._filter_column(),
            other=int(has_other),
            negation=self.negation,
            required=determined,
            **self._head_columns(head, determined == len(required)),
        )
        database.frames.fit(len(self.slots), len(self.steps))
        return len(database.plans) - 1

    def _write_steps(self, required: Sequence[Sequence[int] | None], place: int) -> int:
        """Store the steps together. Return the number of the first one.

        Args:
            required: For each step, the columns of the triggering row that make the tuple that it looks up, or None.
            place: The position of their codes.
        """
        rows = []
        for step, columns in zip(self.steps, required, strict=True):
            end = place + len(step.key)
            rows.append(
                (
                    *(step.kind, step.relation, step.index, step.newest, step.negated, step.once),
                    *(place, len(step.key) if step.width < 0 else step.width, end),
                    *(step.value_slot, step.operator, step.guard, step.guard_key),
                    *((-1, -1) if columns is None else (columns[0], columns[-1])),
                )
            )
            place = end + len(step.columns)
        return self.database.steps.append(np.array(rows, np.int64).reshape(len(rows), len(Step.fields)))

    def _probe_column(self) -> int:
        if not self.steps or self.steps[0].kind != PROBE or self.steps[0].negated or len(self.steps[0].key) != 1:
            return -1
        columns = self._columns_of(self.steps[0].key)
        return -1 if columns is None else columns[0]

    def _filter_column(self) -> int:
        """Return the only column of the trigger on which the key of the first step depends, or -1."""
        if not self.steps or self.steps[0].kind not in (PROBE, LOOKUP) or self.steps[0].negated:
            return -1
        columns = self._columns_of({code for code in self.steps[0].key if code < 0})
        return columns[0] if columns is not None and len(columns) == 1 else -1

    def _head_columns(self, head: Collection[int], all_determined: bool) -> dict[str, int]:
        """Return the plan's fields for a unary or binary head that is made of the triggering row's columns.

        Args:
            head: The codes of the head.
            all_determined: Whether all steps look up tuples of the triggering row's terms.
        """
        columns = self._columns_of(head)
        if columns is None or not 0 < len(columns) < 3:
            return {}
        binds = all(SKIP <= code < 0 for code in self.trigger_columns)
        decided = self.one_is_enough and bool(self.steps) and all(step.kind != CALL for step in self.steps)
        if (self.steps and not decided) or not (self.steps or binds):
            return {}
        return {
            "copies": int(not self.steps),
            "semijoin": int(decided and binds and all_determined),
            "decided": int(decided),
            "first_column": columns[0],
            "second_column": columns[-1],
        }

    def _columns_of(self, codes: Collection[int]) -> list[int] | None:
        """Return the triggering row's columns that bind the variables of some codes, or None if it does not bind all of these."""
        columns = self.trigger_columns
        for code in codes:
            if code >= 0 or code not in columns:
                return None
        return [columns.index(code) for code in codes]

    def _code(self, term: StoredTerm) -> int:
        return term if isinstance(term, int) else -1 - self.slots[term]

    def _match(self, atom: StoredAtom, known: Collection[int], compare_known: bool) -> tuple[int, ...]:
        """Return codes to match a row: known columns are compared again or skipped, the others bind or compare variables."""
        codes = []
        for column, term in enumerate(atom.terms):
            if column in known and not compare_known:
                codes.append(SKIP)
            elif isinstance(term, int):
                codes.append(term)
            elif term in self.slots:
                codes.append(CHECK - self.slots[term])
            else:
                self.slots[term] = len(self.slots)
                codes.append(-1 - self.slots[term])
        return tuple(codes)

    def _atom_step(self, atom: StoredAtom, newest: int, *, once: bool) -> DraftStep:
        database = self.database
        step = DraftStep(LOOKUP, atom.relation, newest=newest, negated=int(atom.negated), once=int(once))
        known = [c for c, term in enumerate(atom.terms) if isinstance(term, int) or term in self.slots]
        section = _section_columns(database, atom)
        constant = atom.terms[section[0]] if section else -1
        assert isinstance(constant, int)
        if self.use.of_rule and section and not atom.negated:
            self._guard(step, atom, section, constant)
        if len(known) == len(atom.terms):
            step.key = tuple([self._code(term) for term in atom.terms])
            return step
        columns = tuple([column for column in known if column not in section])
        if not known:
            step.kind = SCAN
            step.columns = self._match(atom, known, compare_known=False)
            return step
        step.kind = PROBE
        step.key = tuple([self._code(atom.terms[column]) for column in columns])
        is_apart = bool(self.apart) and _ends(atom) in self.apart
        step.index = database.index(atom.relation, columns, constant, len(atom.terms) - 1 if is_apart else 0)
        if step.guard < 0 and section and self.use.of_rule and not atom.negated:
            step.guard = step.index
        value_column = database.index_value_column(step.index)
        if len(columns) > 2 or value_column < 0:
            step.value_slot = CHECK
            step.columns = self._match(atom, known, compare_known=len(columns) > 2)
        else:
            term = atom.terms[value_column]
            assert isinstance(term, str)
            step.value_slot = self.slots.setdefault(term, len(self.slots))
        return step

    def _guard(self, step: DraftStep, atom: StoredAtom, section: Collection[int], constant: int) -> None:
        """Set the index that has no entry for the constants of an atom unless some row matches them."""
        columns = tuple([column for column, term in enumerate(atom.terms) if isinstance(term, int) and column not in section])
        if columns and len(columns) < 3:
            step.guard = self.database.index(atom.relation, columns, constant)
            step.guard_key = 0
            for column in columns:
                step.guard_key = (step.guard_key << 32) | int(atom.terms[column])

    def _kept_apart(self, order: list[tuple[Part, int]]) -> list[tuple[Part, int]]:
        """Return a join order with comparisons of the variables that are kept apart, but where an index does it."""
        if not self.apart:
            return order
        bound = set(self.slots)
        kept: list[tuple[Part, int]] = []
        for part, newest in order:
            kept.append((part, newest))
            if isinstance(part, StoredAtom):
                if _ends(part) in self.apart and names_of(part) <= bound:
                    kept.append((_comparison(part), 0))
                bound |= set() if part.negated else names_of(part)
            elif isinstance(part, StoredCall):
                bound |= names_of(part)
        return kept

    def _comparison_step(self, part: StoredComparison) -> DraftStep:
        return DraftStep(COMPARE, key=(self._code(part.left), self._code(part.right)), operator=OPERATORS[part.operator])

    def _call_step(self, part: StoredCall) -> DraftStep:
        """Return the step of a function application. Its key is the arguments, followed by the expected result unless that is to be
        bound.
        """
        arguments = tuple(self._code(term) for term in part.arguments)
        columns = tuple(code if code >= 0 else CHECK + 1 + code for code in arguments)
        index = self.database.index(part.relation, tuple(range(len(arguments))))
        step = DraftStep(CALL, part.relation, index, key=arguments, columns=(*columns, SKIP), operator=part.function)
        step.once = int(not part.has_several)
        step.width = len(arguments)
        if part.result is None:
            step.key += (HOLDS,)
        elif isinstance(part.result, int) or part.result in self.slots:
            step.key += (self._code(part.result),)
        else:
            step.value_slot = self.slots.setdefault(part.result, len(self.slots))
        return step


def _ends(atom: StoredAtom) -> frozenset[StoredTerm]:
    return frozenset((atom.terms[0], atom.terms[-1])) if atom.terms and not atom.negated else frozenset()


def _comparison(atom: StoredAtom) -> StoredComparison:
    """Return the condition that an atom's first and last terms differ."""
    return StoredComparison(DISTINCT_TERMS, atom.terms[0], atom.terms[-1])


def _section_columns(database: PlanMemory, atom: StoredAtom) -> tuple[int, ...]:
    """Return the section column of the atom's relation, if the atom has a constant there."""
    column = database.relation(atom.relation).section_column
    return (column,) if column >= 0 and isinstance(atom.terms[column], int) else ()


def section_constant(database: PlanMemory, atom: StoredAtom) -> int:
    """Return the constant of the section that an atom ranges over, or -1 for all rows."""
    constants = (atom.terms[column] for column in _section_columns(database, atom))
    return next((constant for constant in constants if isinstance(constant, int)), -1)


def _fresh(term: StoredTerm) -> StoredTerm:
    """Return a fresh copy of a variable."""
    return term if isinstance(term, int) else f"{term}'"
