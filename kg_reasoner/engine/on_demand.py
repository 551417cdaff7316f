"""Answers to queries without materialisation: magic sets over the explicit facts, or plain queries over the materialised ones.

The rules are transformed for the query (`language.magic`) and evaluated in a database of their own, which reads the engine's
facts in place. Nothing of the engine's changes but its indexes, so any number of threads may do this at once while none writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.engine.guarded import evaluate
from kg_reasoner.engine.knowledge_base import RelevantRules
from kg_reasoner.engine.materialise import Materialiser
from kg_reasoner.engine.state import State
from kg_reasoner.expressions.demands import demands
from kg_reasoner.language.analysis import Key, head_key
from kg_reasoner.language.magic import ANSWER, copied_predicate, magic_rules
from kg_reasoner.language.relevance import relevant_rules
from kg_reasoner.planning.borrowed_catalog import BorrowedCatalog
from kg_reasoner.planning.catalog import RelationCatalog, asks_of_literals
from kg_reasoner.planning.expansion import copies, is_expandable, is_open
from kg_reasoner.planning.groups import split
from kg_reasoner.planning.property_tables import PropertyTables
from kg_reasoner.program import TRIPLE, Atom, Rule
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.borrowing import BorrowingDatabase
from kg_reasoner.storage.kernels.layout import STATED
from kg_reasoner.storage.lookups import Which
from kg_reasoner.storage.value_table import ValueTable
from kg_reasoner.terms import OWL, RDF

__all__ = ["Found", "by_magic", "by_reading"]


@dataclass(frozen=True, slots=True)
class Found:
    """The answers to a query as ids, and the number of facts that were derived for them, those of magic sets included."""

    rows: Ids
    derived: int


def by_reading(state: State, query: Sequence[Rule]) -> Found:
    """Return the answers to a query over all facts. The materialisation is up to date.

    Args:
        state: The facts.
        query: The rule whose head has the answers, and facts for it.
    """
    equality = state.base.equality
    rules = _transformed(state.catalog, (), [equality.rewritten_query(rule) for rule in query])
    assert rules is not None  # nothing depends on the query, so it can be stratified
    found = _evaluated(state, rules, query[0].head, "all")
    return Found(equality.in_all_names(ANSWER, lambda which: found.rows, "all"), found.derived)


def by_magic(state: State, query: Sequence[Rule]) -> Found | None:
    """Return the answers to a query that follow from the explicit facts; None if only the materialisation can tell.

    That is so where equal terms are merged, where rules ask for facts about literals, where derived axioms may yield further rules,
    and where a recursion through variables for properties does not let triples be told apart in negations. The rules from explicit
    axioms are up to date. See `by_reading` for the arguments.
    """
    if state.base.equality.merges or not state.axioms.are_stated:
        return None
    if any(map(asks_of_literals, split(state.rules))):  # before it is known which are relevant: the facts come with an update
        return None
    rules = _relevant(state)
    if state.axioms.is_wanted and _may_yield_rules(rules, state.catalog.has_facts):
        return None
    transformed = _transformed(state.catalog, rules, query)
    return None if transformed is None else _evaluated(state, transformed, query[0].head, "explicit")


def _relevant(state: State) -> tuple[Rule, ...]:
    """Return the relevant rules without a query, in parts, which are kept until there are other rules or further properties."""
    base, given, filling = state.base, state.rules, state.catalog.filling
    found = base.relevant_rules
    if found is None or found.given is not given or found.filling != filling:
        parts = list(split((*given, *demands(given, merges_equal_terms=False))))
        rules = relevant_rules(parts, base.catalog.has_facts)
        found = base.relevant_rules = RelevantRules(given, filling, tuple(rules))
    return found.rules


def _may_yield_rules(rules: Sequence[Rule], has_facts: Callable[[Key], bool]) -> bool:
    """Return whether axioms, or equalities of classes and properties, may be derived."""
    from kg_reasoner.loaders.ontology import owl

    equalities = {(TRIPLE, OWL.sameAs, None), (TRIPLE, None, None)}
    return has_facts((TRIPLE, OWL.sameAs, None)) or not equalities.isdisjoint(map(head_key, rules)) or owl.concludes_axioms(rules)


def _transformed(catalog: RelationCatalog, rules: Sequence[Rule], query: Sequence[Rule]) -> list[Rule] | None:
    """Return the rules of the magic sets, or None if they cannot be stratified."""
    asked = relevant_rules(list(split(query)), catalog.has_facts, rules)
    rules = [*rules, *asked]
    joins = not (isinstance(catalog.layout, PropertyTables) and all(map(is_expandable, rules)))
    if not joins and any(map(is_open, rules)):
        rules = relevant_rules(_expanded(catalog, rules), catalog.has_facts)
    answers = [rule for rule in rules if rule.head.predicate == ANSWER]
    others = [rule for rule in rules if rule.head.predicate != ANSWER]
    return magic_rules(others, answers, catalog.has_facts, joins_triples=joins)


def _expanded(catalog: RelationCatalog, rules: Sequence[Rule]) -> list[Rule]:
    """Return rules with copies for each property and class that facts or heads of the copies have."""
    decode, held = catalog.dictionary.decode, catalog.layout.held
    names: set[Key] = {(TRIPLE, decode(property), None if cls < 0 else decode(cls)) for property, cls in held.values()}
    expanded = list(rules)
    while True:
        names.update(head_key(rule) for rule in expanded if rule.head.predicate == TRIPLE)
        properties = sorted({property for _, property, _ in names if property is not None and property != RDF.type}, key=str)
        classes = sorted({cls for _, _, cls in names if cls is not None}, key=str)
        expanded = [copy for rule in rules for copy in copies(rule, properties, classes)]
        if names.issuperset(head_key(rule) for rule in expanded if rule.head.predicate == TRIPLE):
            return expanded


def _evaluated(state: State, rules: Sequence[Rule], answer: Atom, which: Which) -> Found:
    """Return the answers that transformed rules derive from the facts."""

    def claim(nbytes: int) -> None:
        limits = watch.limits
        if limits.memory is not None:
            watch.check(0, state.nbytes + database.allocated + nbytes)
        elif limits.facts is not None:
            watch.check(database.context.total)

    watch = current_watch()
    database = BorrowingDatabase(state.database, which, claim)
    catalog = BorrowedCatalog(state.catalog, database, compares_few=which == "explicit")
    materialiser = Materialiser(database, ValueTable(state.dictionary, database.context), catalog.functions)
    watch.attach(database.context)
    try:
        evaluate(rules, catalog, materialiser)
    finally:
        watch.detach(database.context)
    _check_types(state, catalog)
    rows = database.rows(catalog.predicate(answer.predicate, answer.arity))
    hidden = set(catalog.functions.relations)
    own = [number for number in range(len(database.relations)) if number not in hidden and not database.is_borrowed(number)]
    return Found(np.array(rows), sum(int(np.count_nonzero((database.flags(number) & STATED) == 0)) for number in own))


def _check_types(state: State, catalog: BorrowedCatalog) -> None:
    """Check derived facts against the declared types of columns.

    Raises:
        ColumnTypeError: A term does not belong to the type of its column.
    """
    if not state.column_types.typed:
        return
    for name, number in catalog.predicates.items():
        if (predicate := copied_predicate(name)) is not None:
            derivers = (rule for rule in state.rules if rule.head.predicate == predicate and rule.body)
            state.column_types.check(predicate, catalog.database.rows(number), derivers)
