"""Which rules can still derive something, and what they read: reachability in the dependency graph of a program.

A rule can fire again only if a fact that it asks for is new: one of the last iteration, or the head of such a rule. The wide passes
apply their own rules to whatever is derived, so those matter here only if they lead to a rule that joins.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from kg_reasoner.graphs import reachable
from kg_reasoner.language.strata.stratification import Key, head_key, key_of, needed_keys
from kg_reasoner.program import TRIPLE, Negation, Rule, remembered
from kg_reasoner.terms import RDF

__all__ = ["RemainingRules", "read_keys"]

_ANY: Key = (TRIPLE, None, None)
_TYPES: Key = (TRIPLE, RDF.type, None)


class RemainingRules:
    """The rules of a stratum, and what depends on what.

    >>> from kg_reasoner.language.parser import parse
    >>> joins = parse("c(?x, ?z) :- a(?x, ?y), b(?y, ?z) . d(?x, ?z) :- c(?x, ?y), c(?y, ?z) .").rules
    >>> rules = RemainingRules(joins, parse("a(?x, ?y) :- e(?y, ?x) . b(?x, ?y) :- d(?x, ?y) . f(?x, ?y) :- d(?y, ?x) .").rules)
    >>> [rule.head.predicate for rule in rules.after([("d", None, None)])]
    ['c', 'd', 'b']

    Args:
        joins: The rules that join.
        others: Those of the wide passes.
    """

    def __init__(self, joins: Sequence[Rule], others: Sequence[Rule] = ()) -> None:
        self._joins = frozenset(joins)
        self._rules = (*joins, *others)

    def after(self, keys: Iterable[Key], fresh: Collection[Rule] = ()) -> tuple[Rule, ...]:
        """Return the rules that join and can derive something, and those of the wide passes on the way to them.

        Args:
            keys: The keys of the new facts.
            fresh: Rules that have never been applied.
        """
        starts = {*fresh, *(rule for key in keys for rule in self._readers.of(key))}
        fired = reachable(starts, lambda rule: self._readers.of(head_key(rule)))
        before: dict[Rule, list[Rule]] = {}
        for rule in fired:
            for reader in self._readers.of(head_key(rule)):
                before.setdefault(reader, []).append(rule)
        needed = reachable(self._joins & fired, lambda rule: before.get(rule, ()))
        return tuple(rule for rule in self._rules if rule in needed)

    @cached_property
    def _readers(self) -> _Readers:
        return _Readers(self._rules)


class _Readers:
    """The rules that ask for facts, by what these are about."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_key: dict[Key, list[Rule]] = {}
        for rule in dict.fromkeys(rules):
            for key in needed_keys(rule):
                self._by_key.setdefault(key, []).append(rule)
        self._known: dict[Key, tuple[Rule, ...]] = {}

    def of(self, key: Key) -> tuple[Rule, ...]:
        """Return the rules with an atom that facts of a key may match."""
        if key not in self._known:
            matching = self._matching(key)
            self._known[key] = tuple(dict.fromkeys(rule for other in matching for rule in self._by_key.get(other, ())))
        return self._known[key]

    def _matching(self, key: Key) -> Iterator[Key]:
        if key[0] != TRIPLE:
            yield key
        elif key == _ANY:
            yield from (other for other in self._by_key if other[0] == TRIPLE)
        else:
            yield _ANY
            if key == _TYPES:
                yield from (other for other in self._by_key if other[:2] == _TYPES[:2])
            else:
                yield key
                if key[1] == RDF.type:
                    yield _TYPES


@remembered
def read_keys(rule: Rule) -> frozenset[Key]:
    """Return the keys of the atoms of a rule's body, negated ones included."""
    return needed_keys(rule) | {key_of(part.atom) for part in rule.body if isinstance(part, Negation)}
