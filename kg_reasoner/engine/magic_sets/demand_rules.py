"""The rules by which a query is answered without materialisation, and whether they can answer it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kg_reasoner.language.checks.analysis import Key, head_key
from kg_reasoner.language.selection.magic import ANSWER, magic_rules
from kg_reasoner.language.selection.relevance import relevant_rules
from kg_reasoner.planning.aggregates.groups import split
from kg_reasoner.planning.catalog import RelationCatalog
from kg_reasoner.planning.expansion import copies, is_expandable, is_open
from kg_reasoner.program import TRIPLE, Rule, Variable
from kg_reasoner.terms import OWL, RDF

__all__ = ["demanded_rules", "may_yield_rules"]


def may_yield_rules(rules: Sequence[Rule], has_facts: Callable[[Key], bool]) -> bool:
    """Return whether axioms, or equalities of classes and properties, may be derived."""
    from kg_reasoner.loaders.ontology import owl

    equalities = {(TRIPLE, OWL.sameAs, None), (TRIPLE, None, None)}
    return has_facts((TRIPLE, OWL.sameAs, None)) or not equalities.isdisjoint(map(head_key, rules)) or owl.concludes_axioms(rules)


def demanded_rules(
    catalog: RelationCatalog, rules: Sequence[Rule], query: Sequence[Rule], given: Sequence[Variable] = (), *, whole: bool = False
) -> list[Rule] | None:
    """Return the rules of the magic sets, see `language.selection.magic.magic_rules`; None if they cannot be stratified.

    Args:
        catalog: The relations of explicit facts.
        rules: The rules that are relevant without the query, in parts.
        query: The rule whose head has the answers, and facts for it.
        given: The variables whose values are given.
        whole: Derive all facts of each predicate that the query depends on, without magic sets.
    """
    asked = relevant_rules(list(split(query)), catalog.has_facts, rules)
    rules = [*rules, *asked]
    joins = not (catalog.layout.is_split and all(map(is_expandable, rules)))
    if not joins and any(map(is_open, rules)):
        rules = relevant_rules(_expanded(catalog, rules), catalog.has_facts)
    answers = [rule for rule in rules if rule.head.predicate == ANSWER]
    others = [rule for rule in rules if rule.head.predicate != ANSWER]
    return magic_rules(others, answers, catalog.has_facts, given, joins_triples=joins, whole=whole)


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
