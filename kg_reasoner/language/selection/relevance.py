"""Selection of relevant rules: those that can fire because facts, or heads of relevant rules, match each positive body atom.

Rule sets for ontology languages have rules for equality, keys, chains and so on. A typical ontology uses few of them, and the
others need no plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kg_reasoner.language.checks.analysis import Key, head_key, needed_keys
from kg_reasoner.program import TRIPLE, Rule
from kg_reasoner.terms import RDF

__all__ = ["Relevance", "relevant_rules"]

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
    relevance = Relevance(has_facts)
    for other in others:
        relevance.derive(head_key(other))
    for rule in rules:
        relevance.add(rule)
    found = set(relevance.take())
    return [rule for rule in rules if rule in found]


class Relevance:
    """Follows which rules are relevant while rules and facts change. A rule that has become relevant remains so.

    A rule that is not relevant waits for one of the keys that it lacks, so that a change concerns few rules. A *deferred* rule
    waits for facts: heads of rules that may never fire do not make it relevant.

    Args:
        has_facts: Whether facts match a key (see `analysis.key_of`).
    """

    def __init__(self, has_facts: Callable[[Key], bool]) -> None:
        self._has_facts = has_facts
        self._derived: dict[Key, int] = {}
        """The number of relevant rules that derive each key."""
        self._of_triples = self._of_types = 0
        """The number of them that derive triples, and the number that derive types."""
        self._unchecked: dict[Rule, None] = {}
        self.deferred: dict[Rule, None] = {}
        """The deferred rules that are not relevant yet."""
        self._lacks: dict[Rule, Key] = {}
        self._waiting: dict[Key, dict[Rule, None]] = {}
        self._relevant: dict[Rule, None] = {}

    def add(self, rule: Rule, *, deferred: bool = False) -> None:
        """Add a rule."""
        self._unchecked[rule] = None
        if deferred:
            self.deferred[rule] = None

    def remove(self, rule: Rule) -> None:
        """Remove a rule."""
        self._unchecked.pop(rule, None)
        self.deferred.pop(rule, None)
        if rule in self._lacks:
            self._stop_waiting(rule)
        elif rule in self._relevant:
            del self._relevant[rule]
            self._count(head_key(rule), -1)

    def derive(self, key: Key) -> None:
        """Note that a rule derives a key."""
        is_new = key not in self._derived
        self._count(key, 1)
        if is_new:
            self.note(key)

    def note(self, key: Key) -> None:
        """Note that a key may be matched now, by facts or by derived ones."""
        if key[0] != TRIPLE:
            self._wake(key)
        elif key == _ANY:
            self._wake_all(lambda other: other[0] == TRIPLE)
        else:
            self._wake(_ANY)
            if key == _TYPES:
                self._wake_all(lambda other: other[:2] == _TYPES[:2])
            else:
                self._wake(key)
                if key[1] == RDF.type:
                    self._wake(_TYPES)

    def ready(self) -> list[Rule]:
        """Return the deferred rules that are not relevant yet, but have facts for all their keys."""
        known: dict[Key, bool] = {}
        return [rule for rule in self.deferred if all(self._is_filled(key, known) for key in needed_keys(rule))]

    def defer_no_longer(self) -> None:
        """Treat deferred rules as all others from now on."""
        self._unchecked.update(self.deferred)
        for rule in self.deferred.keys() & self._lacks.keys():
            self._stop_waiting(rule)
        self.deferred = {}

    def take(self) -> list[Rule]:
        """Return the rules that have become relevant."""
        known: dict[Key, bool] = {}
        found: list[Rule] = []
        while self._unchecked:
            unchecked, self._unchecked = self._unchecked, {}
            for rule in unchecked:
                is_met = self._is_filled if rule in self.deferred else self._is_met
                lacking = next((key for key in needed_keys(rule) if not is_met(key, known)), None)
                if lacking is None:
                    self.deferred.pop(rule, None)
                    found.append(rule)
                    self._relevant[rule] = None
                    self.derive(head_key(rule))
                else:
                    self._lacks[rule] = lacking
                    self._waiting.setdefault(lacking, {})[rule] = None
        return found

    def _is_met(self, key: Key, known: dict[Key, bool]) -> bool:
        """Return whether facts or heads match a key; variables match every constant."""
        derived = self._derived
        if key in derived:
            return True
        if key[0] == TRIPLE:
            if _ANY in derived or (key == _ANY and self._of_triples):
                return True
            if key[1] == RDF.type and (_TYPES in derived or (key == _TYPES and self._of_types)):
                return True
        return self._is_filled(key, known)

    def _is_filled(self, key: Key, known: dict[Key, bool]) -> bool:
        """Return whether facts match a key."""
        filled = known.get(key)
        if filled is None:
            filled = known[key] = self._has_facts(key)
        return filled

    def _stop_waiting(self, rule: Rule) -> None:
        key = self._lacks.pop(rule)
        waiting = self._waiting[key]
        del waiting[rule]
        if not waiting:
            del self._waiting[key]

    def _count(self, key: Key, change: int) -> None:
        count = self._derived.get(key, 0) + change
        if count:
            self._derived[key] = count
        else:
            del self._derived[key]
        self._of_triples += change * (key[0] == TRIPLE)
        self._of_types += change * (key[:2] == _TYPES[:2])

    def _wake(self, key: Key) -> None:
        """Check the rules that wait for a key again."""
        for rule in self._waiting.pop(key, ()):
            del self._lacks[rule]
            self._unchecked[rule] = None

    def _wake_all(self, matches: Callable[[Key], bool]) -> None:
        for key in [key for key in self._waiting if matches(key)]:
            self._wake(key)
