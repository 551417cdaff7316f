"""A rule that joins, as a DataFrame: its atoms in an order that begins with the smallest or new ones, and its conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from kg_reasoner.program import TRIPLE, Argument, Atom, Bind, Filter, Variable, variables_of
from kg_reasoner.spark_backend.exec.evaluation import conditions
from kg_reasoner.spark_backend.exec.facts.candidates import Candidates
from kg_reasoner.spark_backend.exec.facts.encodings import FEATURE
from kg_reasoner.spark_backend.exec.facts.growing_table import Part
from kg_reasoner.spark_backend.exec.facts.mask_table import CHOICE, FEW
from kg_reasoner.spark_backend.exec.facts.matching_rows import matched
from kg_reasoner.spark_backend.exec.facts.run_facts import FactFrames
from kg_reasoner.spark_backend.exec.facts.skew import salted_join
from kg_reasoner.spark_backend.io.columns import OBJECT, SUBJECT, TERM, TRIPLE_COLUMNS, argument_columns
from kg_reasoner.spark_backend.plan.logical_plan import Axioms, Join, TermFeatures, Unequal
from kg_reasoner.terms import RDF, Term, term_text

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["columns_of", "derive", "solutions", "triggers"]

Item: TypeAlias = TermFeatures | Atom | Axioms

Condition: TypeAlias = Filter | Bind | Unequal | Atom
"""The conditions that bindings are checked for; an atom is a negated one."""


@dataclass(frozen=True, slots=True)
class _Partial:
    """The join of some parts of a body, and the variables that it binds."""

    rows: DataFrame
    bound: frozenset[Variable]
    size: int = 0
    """The number of rows of its largest part."""
    most: float = 1
    """A bound of the number of rows; infinite where atoms are among the parts, whose matches are not counted."""
    heavy: Mapping[Variable, frozenset[str]] = field(default_factory=dict)
    """Terms that many rows have for a variable."""


def items_of(join: Join) -> tuple[Item, ...]:
    """Return the items that a rule joins."""
    return (*join.groups, *join.atoms, *([join.axioms] if join.axioms else []))


def triggers(join: Join, facts: FactFrames) -> list[int]:
    """Return the numbers of the items that may match facts of the last iteration."""
    return [place for place, item in enumerate(items_of(join)) if _size(item, join, facts, "delta")]


def derive(join: Join, facts: FactFrames, trigger: int | None, found: Candidates) -> None:
    """Add the heads of a rule to the candidates: those for which an item matches a new fact, or all."""
    from pyspark.sql import functions as F

    rows = solutions(join, facts, trigger, _head_variables(join))
    if rows is None:
        return
    names = columns_of(join)
    predicate = join.rule.head.predicate
    if join.feature is not None:
        term, feature = join.feature
        number = F.col(names[feature]) if isinstance(feature, Variable) else F.lit(feature).cast("long")
        derived = rows.select(_column(term, names).alias(TERM), number.alias(FEATURE))
        found.features.append(facts.masks.encoding.numbered(derived))
        return
    head = [_column(term, names) for term in join.rule.head.terms]
    if predicate == TRIPLE:
        triples = rows.select(*(column.alias(name) for column, name in zip(head, TRIPLE_COLUMNS, strict=True)))
        properties = _properties(join.rule.head.terms[1], join)
        if properties is None or RDF.type in properties:
            found.open_triples.append(triples)
        else:
            found.triples.append(triples)
            found.heads |= properties
    else:
        arguments = (column.alias(name) for column, name in zip(head, argument_columns(len(head)), strict=True))
        found.add_relation(predicate, rows.select(*arguments), len(head))


def _head_variables(join: Join) -> list[Variable]:
    """Return the variables that the head needs: those of its feature, or of its atom."""
    terms = join.feature if join.feature is not None else tuple(variables_of(join.rule.head))
    return list(dict.fromkeys(term for term in terms if isinstance(term, Variable)))


def _properties(term: Argument, join: Join) -> frozenset[Term] | None:
    """Return the properties that a term of a rule stands for, or None for any."""
    if isinstance(term, Variable):
        return join.axioms.domains.get(term) if join.axioms else None
    return frozenset([term])


def solutions(join: Join, facts: FactFrames, trigger: int | None, wanted: Sequence[Variable]) -> DataFrame | None:
    """Return the values of the wanted variables for all instances of a rule's body, possibly with duplicates, or None.

    With a trigger, only the instances of which that item is new, and no item before it.
    """
    items = items_of(join)
    parts: list[Part] = ["all" if trigger is None or place > trigger else "old" for place in range(len(items))]
    if trigger is not None:
        parts[trigger] = "delta"
    sizes = [_size(item, join, facts, part) for item, part in zip(items, parts, strict=True)]
    if not all(sizes):
        return None
    names = columns_of(join)
    waiting = list(range(len(items)))
    conditions_left: list[Condition] = [*join.unequal, *join.filters, *join.binds, *join.negations]
    state: _Partial | None = None
    while waiting:
        place = _next(items, waiting, sizes, state, trigger)
        waiting.remove(place)
        rows = _rows(items[place], join, facts, parts[place], names)
        if rows is None:
            return None
        later = {v for other in waiting for v in _variables(items[other])} | set(wanted)
        later |= {v for part in conditions_left for v in _asked(part)}
        most = inf if isinstance(items[place], Atom) else sizes[place]
        item = _Partial(rows, frozenset(_variables(items[place])), sizes[place], most, _heavy(items[place], join, facts))
        state = _joined(state, item, frozenset(later), names)
        state = _checked(state, conditions_left, join, facts, names)
    if state is None:
        state = _checked(_Partial(_one_row(facts), frozenset()), conditions_left, join, facts, names)
    return state.rows


def _size(item: Item, join: Join, facts: FactFrames, part: Part) -> int:
    """Return the approximate number of rows of an item; 0 only if there are none."""
    if isinstance(item, Axioms):
        return 0 if part == "delta" else len(item.rows)
    if isinstance(item, TermFeatures):
        return facts.masks.size(item.choices, part)
    return facts.size(item, part, _properties(item.terms[1], join) if item.predicate == TRIPLE else None)


def _rows(item: Item, join: Join, facts: FactFrames, part: Part, names: Mapping[Variable, str]) -> DataFrame | None:
    if isinstance(item, Axioms):
        return facts.parameters(item, names)
    if isinstance(item, Atom):
        return facts.match(item, part, names, _properties(item.terms[1], join) if item.predicate == TRIPLE else None)
    if item.choice is None:
        terms = facts.masks.terms(item.choices[0], part)
        return None if terms is None else matched(terms, (TERM,), (item.term,), names)
    terms = facts.masks.terms_of(item.choices, part)
    return None if terms is None else matched(terms, (TERM, CHOICE), (item.term, item.choice), names)


def _next(items: Sequence[Item], waiting: Sequence[int], sizes: Sequence[int], state: _Partial | None, trigger: int | None) -> int:
    """Return the item to join next: the trigger, then the axioms, which say what belongs together, then items that share variables,
    at best those of data: terms that axioms alone relate are all those of these axioms. Masks before atoms, small before large.
    """
    if state is None:
        return trigger if trigger is not None else min(waiting, key=lambda place: sizes[place])
    known = {variable for item in items if isinstance(item, Axioms) for variable in item.parameters}

    def rank(place: int) -> tuple[bool, bool, int, int]:
        if isinstance(items[place], Axioms):
            return False, False, -1, 0
        variables = set(_variables(items[place]))
        shared = variables & state.bound
        return not shared and bool(variables), not shared - known and bool(variables), len(variables - state.bound), sizes[place]

    return min(waiting, key=rank)


def _heavy(item: Item, join: Join, facts: FactFrames) -> dict[Variable, frozenset[str]]:
    """Return the terms that many triples have for the variables of an atom."""
    if not isinstance(item, Atom) or item.predicate != TRIPLE:
        return {}
    properties = _properties(item.terms[1], join) or ()
    ends = ((item.terms[0], SUBJECT), (item.terms[2], OBJECT))
    found = {term: facts.heavy(properties, end) for term, end in ends if isinstance(term, Variable)}
    return {variable: terms for variable, terms in found.items() if terms}


def _joined(state: _Partial | None, item: _Partial, later: frozenset[Variable], names: Mapping[Variable, str]) -> _Partial:
    """Return the join with one more item, reduced to the columns still needed."""
    from pyspark.sql import functions as F

    variables, rows = item.bound, item.rows
    if state is None:
        bound, size, most, heavy = variables, item.size, item.most, item.heavy
        joined = rows
    else:
        bound, size = state.bound | variables, max(state.size, item.size)
        heavy = {v: state.heavy.get(v, frozenset()) | item.heavy.get(v, frozenset()) for v in {*state.heavy, *item.heavy}}
        shared = [names[variable] for variable in state.bound & variables]
        only_tests = not (variables - state.bound) & later
        most = state.most if only_tests else state.most * item.most
        if shared:
            joined = _joined_on(state, item, shared, only_tests, names)
        elif only_tests:
            joined = state.rows.join(rows.limit(1).select(F.lit(1).alias("any")), F.lit(True), "left_semi")
        else:
            joined = state.rows.crossJoin(rows.drop("one"))
    kept = bound & later
    heavy = {v: terms for v, terms in heavy.items() if v in kept}
    return _Partial(joined.select(*_columns(kept, names)), kept, size, most, heavy)


def _joined_on(state: _Partial, item: _Partial, shared: list[str], only_tests: bool, names: Mapping[Variable, str]) -> DataFrame:
    """Return the join on shared columns. Heavy terms are split if neither side is broadcast."""
    from pyspark.sql import functions as F

    if only_tests:
        return state.rows.join(item.rows, shared, "left_semi")
    if state.most < FEW:
        # Spark would find that out when it has shuffled the other side.
        return F.broadcast(state.rows).join(item.rows, shared)
    if min(state.size, item.size) >= FEW:
        for many, other in ((state, item), (item, state)):
            split = [variable for variable in many.heavy if names[variable] in shared]
            if split:
                key = min(split, key=lambda variable: names[variable])
                return salted_join(many.rows, other.rows, shared, names[key], many.heavy[key])
    return state.rows.join(item.rows, shared)


def _columns(variables: Iterable[Variable], names: Mapping[Variable, str]) -> list[Column]:
    """Return the columns of variables, at least one column."""
    from pyspark.sql import functions as F

    return [F.col(name) for name in sorted(names[variable] for variable in variables)] or [F.lit(1).alias("one")]


def _checked(state: _Partial, waiting: list[Condition], join: Join, facts: FactFrames, names: Mapping[Variable, str]) -> _Partial:
    """Return the rows that satisfy the conditions with bound variables, and remove these conditions from the list."""
    from pyspark.sql import functions as F

    progress = True
    while progress:
        progress = False
        for part in list(waiting):
            if isinstance(part, Bind):
                if not state.bound.issuperset(variables_of(part.expression)):
                    continue
                value = conditions.value(part, names)
                if part.variable in state.bound:
                    state = replace(state, rows=state.rows.where(F.col(names[part.variable]) == value))
                else:
                    rows = state.rows.withColumn(names[part.variable], value)
                    rows = rows.where(F.col(names[part.variable]).isNotNull())
                    state = replace(state, rows=rows, bound=state.bound | {part.variable})
            elif isinstance(part, Filter):
                if not state.bound.issuperset(variables_of(part.expression)):
                    continue
                state = replace(state, rows=_filtered(state.rows, part, facts, names))
            elif isinstance(part, Unequal):
                if not state.bound.issuperset(_asked(part)):
                    continue
                state = replace(state, rows=state.rows.where(F.col(names[part.one]) != F.col(names[part.other])))
            else:
                if not state.bound.issuperset(_bound_elsewhere(part, join)):
                    continue
                state = _without(state, part, facts, names)
            waiting.remove(part)
            progress = True
    return state


def _filtered(rows: DataFrame, part: Filter, facts: FactFrames, names: Mapping[Variable, str]) -> DataFrame:
    """Return the rows that a filter accepts."""
    passes = conditions.condition(part, names)
    variables = [names[variable] for variable in dict.fromkeys(variables_of(part.expression))]
    if facts.representatives is None or len(variables) != 2 or not conditions.says_different(part.expression):
        return rows.where(passes)
    one, other = variables
    return facts.representatives.differing(rows, one, other, passes)


def _bound_elsewhere(negated: Atom, join: Join) -> set[Variable]:
    """Return the variables of a negated atom bound by the rule's other parts; the others are existential."""
    positive = {v for item in items_of(join) for v in _variables(item)} | {bind.variable for bind in join.binds}
    return positive & set(variables_of(negated))


def _without(state: _Partial, negated: Atom, facts: FactFrames, names: Mapping[Variable, str]) -> _Partial:
    """Return the rows for which no fact matches."""
    from pyspark.sql import functions as F

    rows = facts.match(negated, "all", names)
    if rows is None:
        return state
    shared = sorted(names[variable] for variable in set(variables_of(negated)) & state.bound)
    if shared:
        return replace(state, rows=state.rows.join(rows.select(*shared), shared, "left_anti"))
    return replace(state, rows=state.rows.join(rows.limit(1).select(F.lit(1).alias("any")), F.lit(True), "left_anti"))


def _one_row(facts: FactFrames) -> DataFrame:
    from pyspark.sql import functions as F

    return facts.spark.range(1).select(F.lit(1).alias("one"))


def _asked(part: Condition) -> tuple[Variable, ...]:
    """Return the variables of a condition."""
    return (part.one, part.other) if isinstance(part, Unequal) else tuple(variables_of(part))


def _variables(item: Item) -> tuple[Variable, ...]:
    if isinstance(item, Axioms):
        return item.parameters
    if isinstance(item, TermFeatures):
        return tuple(term for term in (item.term, item.choice) if isinstance(term, Variable))
    return tuple(variables_of(item))


def columns_of(join: Join) -> dict[Variable, str]:
    """Return a column name for each variable of a rule; Spark ignores case."""
    variables = dict.fromkeys(v for part in (join.rule.head, *join.rule.body) for v in variables_of(part))
    variables |= dict.fromkeys(join.axioms.parameters if join.axioms else ())
    return {variable: f"v{number}" for number, variable in enumerate(variables)}


def _column(term: Argument, names: Mapping[Variable, str]) -> Column:
    from pyspark.sql import functions as F

    return F.col(names[term]) if isinstance(term, Variable) else F.lit(term_text(term))
