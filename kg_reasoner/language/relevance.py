"""Selection of relevant rules: those that can fire because facts, or heads of relevant rules, match each positive body atom.

Rule sets for ontology languages have rules for equality, keys, chains and so on. A typical ontology uses few of them, and the
others need no plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kg_reasoner.language.analysis import Key, head_key, needed_keys
from kg_reasoner.program import TRIPLE, Rule
from kg_reasoner.terms import RDF

_ANY: Key = (TRIPLE, None, None)
_TYPES: Key = (TRIPLE, RDF.type, None)


def relevant_rules(rules: Sequence[Rule], has_facts: Callable[[Key], bool], others: Iterable[Rule] = ()) -> list[Rule]:
    """Return the relevant rules in their order.

    >>> from kg_reasoner.language.parser import parse
    >>> program = parse("b(?x) :- a(?x) . c(?x) :- b(?x) . d(?x) :- c(?x), e(?x) .")
    >>> [rule.head.predicate for rule in relevant_rules(program.rules, lambda key: key[0] == "a")]
    ['b', 'c']

    Args:
        rules: The rules to choose from.
        has_facts: Whether facts match a key (see `analysis.key_of`).
        others: Rules whose heads count as derivable in any case.
    """
    needs, heads = [needed_keys(rule) for rule in rules], [head_key(rule) for rule in rules]
    derived = set(map(head_key, others))
    known: dict[Key, bool] = {}

    def is_relevant(key: Key) -> bool:
        if key not in known:
            known[key] = has_facts(key)
        return known[key] or key in derived or (key[0] == TRIPLE and _may_be_derived(key, derived))

    waiting = list(range(len(rules)))
    able: set[int] = set()
    while True:
        ready = [number for number in waiting if all(map(is_relevant, needs[number]))]
        if not ready:
            return [rule for number, rule in enumerate(rules) if number in able]
        able.update(ready)
        derived.update(heads[number] for number in ready)
        waiting = [number for number in waiting if number not in able]


def _may_be_derived(key: Key, derived: set[Key]) -> bool:
    """Return whether a head with another key can match a key of triples; variables match every constant."""
    if _ANY in derived or (key == _ANY and any(other[0] == TRIPLE for other in derived)):
        return True
    if key[1] != RDF.type:
        return False
    return _TYPES in derived or (key == _TYPES and any(other[:2] == _TYPES[:2] for other in derived))
