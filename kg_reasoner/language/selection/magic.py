"""Magic sets: rules and a query become rules that derive only what the query needs.

Each derived predicate is copied for each *adornment*, a letter per argument: ``b`` if it is bound where the predicate is used,
``f`` if it is free. ``path^bf`` has the facts of ``path`` whose first argument is in the magic set ``path^bf?``.
``path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .`` becomes, with the query ``path("a", ?y)``::

    path^bf?("a") :- query?() .
    path^bf(?x, ?z) :- path^bf?(?x), path^bf(?x, ?y), edge(?y, ?z) .

Bindings are passed from the head to the body, and from atom to atom (sideways information passing). Only terms of the query, of
rules and of facts are passed, never the results of BIND or AGGREGATE: magic sets are finite wherever the materialisation is.

Negated and aggregated predicates have magic sets, too, as long as the result can be stratified. Their magic sets depend on as few
atoms as possible, those that bind the variables, which avoids other dependencies. Where the result cannot be stratified, the
negated and aggregated predicates of the rule, and all that they depend on, are derived as a whole (``path^all``).

Sources: Beeri and Ramakrishnan, On the Power of Magic (Journal of Logic Programming 10, 1991); for negation, Balbin, Port,
Ramamohanarao and Meenakshi, Efficient Bottom-up Computation of Queries on Stratified Databases (Journal of Logic Programming 11,
1991).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.graphs import strongly_connected_components
from kg_reasoner.language.checks.analysis import Key, key_of
from kg_reasoner.program import (
    TRIPLE,
    Aggregate,
    Argument,
    Atom,
    Bind,
    BodyLiteral,
    Filter,
    Negation,
    Rule,
    Variable,
    atoms_within,
    variables_of,
)
from kg_reasoner.terms import RDF

__all__ = ["ANSWER", "GIVEN", "MOST_ADORNMENTS", "SEED", "answer_atom", "copied_predicate", "is_magic_set", "magic_rules"]

ANSWER = "answer!"
"""The predicate of the answers."""

SEED = "query?"
"""The predicate, without arguments, whose fact starts the evaluation."""

GIVEN = "given?"
"""The predicate of the given values of a query's variables."""

MOST_ADORNMENTS: Final = 4
"""The number of adornments of a predicate, after which one copy without bound arguments serves all others. A recursion through many
arguments would meet most of their adornments, and derive the same facts for each of them.
"""

_EVERYTHING: Key = (TRIPLE, None, None)
_SEED = Atom(SEED, ())


def answer_atom(body: Iterable[BodyLiteral]) -> Atom:
    """Return the head of a query: the variables that its body binds, without wildcards, in order of occurrence."""
    found: dict[Argument, None] = {}
    for part in body:
        if isinstance(part, Atom):
            found.update(dict.fromkeys(variables_of(part)))
        elif isinstance(part, Bind):
            found[part.variable] = None
        elif isinstance(part, Aggregate):
            found.update(dict.fromkeys((*part.group, *(binding.variable for binding in part.bindings))))
    return Atom(ANSWER, tuple(term for term in found if isinstance(term, Variable) and not term.name.startswith("_")))


def copied_predicate(name: str) -> str | None:
    """Return the predicate whose facts a predicate of transformed rules copies; None for magic sets and other predicates.

    >>> copied_predicate("path^bf"), copied_predicate("path^bf?"), copied_predicate("edge")
    ('path', None, None)
    """
    predicate, mark, adornment = name.rpartition("^")
    if not mark or adornment.endswith("?"):
        return None
    return predicate[1:-1] if predicate.startswith("(") else predicate


def is_magic_set(name: str) -> bool:
    """Return whether a predicate of transformed rules is a magic set.

    >>> is_magic_set("path^bf?"), is_magic_set("path^bf")
    (True, False)
    """
    return name.endswith("?")


def magic_rules(
    rules: Sequence[Rule],
    query: Sequence[Rule],
    has_facts: Callable[[Key], bool],
    given: Sequence[Variable] = (),
    *,
    joins_triples: bool = False,
    whole: bool = False,
) -> list[Rule] | None:
    """Return rules that derive the same facts for the head of a query as the given rules.

    >>> from kg_reasoner.language.parser import parse
    >>> from kg_reasoner.language.printer import format_rule
    >>> rules = parse("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- edge(?x, ?y), path(?y, ?z) .").rules
    >>> query = parse('found(?y) :- path("a", ?y) .').rules
    >>> for rule in magic_rules(rules, query, lambda key: key[0] == "edge"):
    ...     print(format_rule(rule))
    query?() .
    path^bf?("a") :- query?() .
    found(?y) :- query?(), path^bf("a", ?y) .
    path^bf(?x, ?y) :- path^bf?(?x), edge(?x, ?y) .
    path^bf?(?y) :- path^bf?(?x), edge(?x, ?y) .
    path^bf(?x, ?z) :- path^bf?(?x), edge(?x, ?y), path^bf(?y, ?z) .

    Args:
        rules: The rules and facts of the program. They can be stratified.
        query: The rules that derive the answers; no other rule uses their heads.
        has_facts: Whether explicit facts may match a key (see `analysis.key_of`).
        given: The variables of the query whose values are the facts of `GIVEN`.
        joins_triples: Treat all triples as one predicate. Required if some rule has a variable for a property or class.
        whole: Derive all facts of each predicate that the query depends on, without magic sets.

    Returns:
        The rules, whose atoms over predicates of `rules` match the explicit facts only; None if they cannot be stratified.
    """
    guard = Atom(GIVEN, tuple(given)) if given else _SEED
    derived_whole: set[Rule] = set()
    while True:
        found = _Transformation(rules, derived_whole, has_facts, joins_triples)
        for rule in query:
            found.add_rule(rule.head, rule, guard, whole=whole)
        found.complete()
        offenders = set(_offenders(found.made))
        if not offenders:
            return [Rule(_SEED), *dict.fromkeys(rule for rule, _ in found.made)]
        if offenders <= derived_whole:
            return None
        derived_whole |= offenders


@dataclass(frozen=True, slots=True)
class _Relation:
    """A predicate as it is transformed: its key, and its arguments in an atom."""

    key: Key
    arguments: tuple[Argument, ...]

    @property
    def name(self) -> str:
        """A name that no predicate of a program has, even with a suffix."""
        predicate, property, cls = self.key
        if predicate == TRIPLE:
            return "[]" if property is None else f"[{cls or property}]"
        return f"({predicate})" if predicate.startswith("<") else predicate

    def copy(self, suffix: str) -> Atom:
        """Return the atom over a copy of the predicate."""
        return Atom(f"{self.name}^{suffix}", self.arguments)

    def magic(self, adornment: str) -> Atom:
        """Return the atom over the magic set for an adornment."""
        bound = tuple(term for term, letter in zip(self.arguments, adornment, strict=True) if letter == "b")
        return Atom(f"{self.name}^{adornment}?", bound)


class _Scope:
    """The context to the left of a part of a body: atoms and filters that hold, and the variables that they bind."""

    def __init__(self, guard: Atom) -> None:
        self.prefix: list[BodyLiteral] = []
        self._binder: dict[Variable, int] = {}
        self.add(guard, [])

    @property
    def bound(self) -> Collection[Variable]:
        """The variables that are bound."""
        return self._binder.keys()

    def add(self, atom: Atom, waiting: list[Filter]) -> None:
        """Add an atom, and those of the waiting filters that it makes applicable."""
        for variable in variables_of(atom):
            self._binder.setdefault(variable, len(self.prefix))
        self.prefix.append(atom)
        for part in [part for part in waiting if self._binder.keys() >= set(variables_of(part))]:
            self.prefix.append(part)
            waiting.remove(part)

    def binding(self, variables: Iterable[Variable]) -> list[BodyLiteral]:
        """Return as much of the prefix as binds those of the variables that are bound."""
        end = 1 + max((self._binder[variable] for variable in variables if variable in self._binder), default=0)
        while end < len(self.prefix) and isinstance(self.prefix[end], Filter):
            end += 1
        return self.prefix[:end]


class _Transformation:
    """The rules made so far, each with the rule that it comes from, and the predicates that are still to be copied.

    Args:
        rules: The rules and facts of the program.
        whole: The rules whose negated and aggregated predicates are derived as a whole.
        has_facts: Whether explicit facts may match a key.
        joins_triples: Whether all triples are one predicate.
    """

    def __init__(self, rules: Sequence[Rule], whole: set[Rule], has_facts: Callable[[Key], bool], joins_triples: bool) -> None:
        self.made: list[tuple[Rule, Rule]] = []
        self._whole, self._has_facts, self._joins_triples = whole, has_facts, joins_triples
        self._rules_of: dict[Key, list[Rule]] = {}
        self._facts_of: dict[Key, list[Rule]] = {}
        for rule in rules:
            (self._rules_of if rule.body else self._facts_of).setdefault(self._relation(rule.head).key, []).append(rule)
        self._waiting: list[tuple[_Relation, str]] = []
        self._seen: set[tuple[Key, str]] = set()
        self._adornments: Counter[Key] = Counter()
        self._stated: set[Key] = set()
        self._groups = 0

    def complete(self) -> None:
        """Copy the predicates that are asked for, until none is left."""
        while self._waiting:
            relation, adornment = self._waiting.pop(0)
            for rule in self._rules_of.get(relation.key, ()):
                head = self._relation(rule.head)
                self.add_rule(head.copy(adornment), rule, self._guard(head, adornment), whole=adornment == _ALL)
            atom = Atom(relation.key[0], self._terms(relation))
            source = Rule(atom, (atom,))
            if self._has_facts(relation.key) or relation.key == _EVERYTHING:
                self._make(Rule(relation.copy(adornment), (self._guard(relation, adornment), atom)), source)
            if relation.key in self._facts_of:
                self._make(Rule(relation.copy(adornment), (self._guard(relation, adornment), self._stated_atom(relation))), source)

    def add_rule(self, head: Atom, rule: Rule, guard: Atom, *, whole: bool = False) -> None:
        """Add the transformed copy of a rule, and the rules of the magic sets that its body requires."""
        body = self._body(rule.body, _Scope(guard), rule, whole)
        self._make(Rule(head, (guard, *body), rule.origin), rule)

    # --- bodies -----------------------------------------------------------------------------------------------------

    def _body(self, body: Sequence[BodyLiteral], scope: _Scope, source: Rule, whole: bool) -> list[BodyLiteral]:
        """Return a transformed body in its order; the scope is extended by its atoms."""
        made: dict[int, BodyLiteral] = {}
        filters = [part for part in body if isinstance(part, Filter)]
        atoms = [(place, part) for place, part in enumerate(body) if isinstance(part, Atom)]
        while atoms:
            next_atom = min(atoms, key=lambda item: self._cost(item[1], scope.bound, item[0]))
            atoms.remove(next_atom)
            place, atom = next_atom[0], self._asked(next_atom[1], scope, scope.prefix, source, whole)
            made[place] = atom
            scope.add(atom, filters)
        below_whole = whole or source in self._whole
        for place, part in enumerate(body):
            if isinstance(part, Negation):
                prefix = scope.binding(variables_of(part))
                made[place] = Negation(self._asked(part.atom, scope, prefix, source, below_whole), part.span)
            elif isinstance(part, Aggregate):
                made[place] = self._aggregate(part, scope, source, below_whole)
            elif not isinstance(part, Atom):
                made[place] = part
        return [made[place] for place in range(len(body))]

    def _aggregate(self, part: Aggregate, scope: _Scope, source: Rule, whole: bool) -> Aggregate:
        """Return a transformed aggregate, restricted to the groups that are asked for."""
        if whole:
            inner = self._body(part.body, _Scope(_SEED), source, whole)
            return Aggregate((_SEED, *inner), part.group, part.bindings, part.span)
        self._groups += 1
        groups = Atom(f"groups{self._groups}?", tuple(variable for variable in part.group if variable in scope.bound))
        self._make(Rule(groups, tuple(scope.binding(variables_of(groups)))), source)
        inner = self._body(part.body, _Scope(groups), source, whole)
        return Aggregate((groups, *inner), part.group, part.bindings, part.span)

    def _asked(self, atom: Atom, scope: _Scope, prefix: list[BodyLiteral], source: Rule, whole: bool) -> Atom:
        """Return the replacement of a body atom: itself over explicit facts, or a copy of its predicate, which is then asked for
        the values that a prefix of the body binds.
        """
        relation = self._relation(atom)
        if not self._is_derived(relation.key):
            return self._stated_atom(relation) if self._is_stated(relation.key) else atom
        if whole:
            adornment = _ALL
        else:
            adornment, everything = self._adornment(relation, scope.bound), "f" * len(relation.arguments)
            is_new = (relation.key, adornment) not in self._seen
            if relation.magic(everything) == prefix[0] or (is_new and self._adornments[relation.key] >= MOST_ADORNMENTS):
                adornment = everything  # the rule derives everything of the same predicate, or there are enough copies
            magic = relation.magic(adornment)
            if magic not in prefix:
                self._make(Rule(magic, tuple(prefix)), source)
        if (relation.key, adornment) not in self._seen:
            self._seen.add((relation.key, adornment))
            self._adornments[relation.key] += 1
            variables = tuple(Variable(f"v{place}") for place in range(1, len(relation.arguments) + 1))
            self._waiting.append((_Relation(relation.key, variables), adornment))
        return relation.copy(adornment)

    def _cost(self, atom: Atom, bound: Collection[Variable], place: int) -> tuple[int, int, int]:
        """Return the place of an atom in the order in which bindings are passed: stored atoms with a known argument come first, as
        they say what to ask derived ones for; atoms without one come last.
        """
        relation = self._relation(atom)
        is_derived, unknown = self._is_derived(relation.key), self._adornment(relation, bound).count("f")
        if 0 < unknown == len(relation.arguments):
            return 4 if is_derived else 3, unknown, place
        return (0 if not is_derived else 1 if unknown == 0 else 2), unknown, place

    # --- predicates -------------------------------------------------------------------------------------------------

    def _relation(self, atom: Atom) -> _Relation:
        key = key_of(atom)
        if atom.predicate != TRIPLE:
            return _Relation(key, atom.terms)
        if self._joins_triples:
            return _Relation(_EVERYTHING, atom.terms)
        subject, property, value = atom.terms
        if property == RDF.type:
            return _Relation(key, (subject,))
        return _Relation(key, (subject, value))

    def _terms(self, relation: _Relation) -> tuple[Argument, ...]:
        """Return the arguments of the atom over a relation's explicit facts."""
        predicate, property, cls = relation.key
        if predicate != TRIPLE or property is None:
            return relation.arguments
        return (relation.arguments[0], property, relation.arguments[1] if cls is None else cls)

    def _is_derived(self, key: Key) -> bool:
        """Return whether a predicate has more than explicit facts, or more than facts of the program."""
        joined = self._joins_triples and key[0] == TRIPLE
        return joined or key in self._rules_of or (key in self._facts_of and self._has_facts(key))

    def _is_stated(self, key: Key) -> bool:
        return key in self._facts_of or not self._has_facts(key)

    def _stated_atom(self, relation: _Relation) -> Atom:
        """Return the atom over the program's facts of a predicate, which are then among the rules."""
        if relation.key not in self._stated:
            self._stated.add(relation.key)
            for fact in self._facts_of.get(relation.key, ()):
                self._make(Rule(self._relation(fact.head).copy("stated"), (), fact.origin), fact)
        return relation.copy("stated")

    def _adornment(self, relation: _Relation, bound: Collection[Variable]) -> str:
        return "".join("b" if not isinstance(term, Variable) or term in bound else "f" for term in relation.arguments)

    def _guard(self, head: _Relation, adornment: str) -> Atom:
        return _SEED if adornment == _ALL else head.magic(adornment)

    def _make(self, rule: Rule, source: Rule) -> None:
        self.made.append((rule, source))


_ALL = "all"
"""The adornment of predicates that are derived as a whole."""


def _offenders(made: Sequence[tuple[Rule, Rule]]) -> Iterator[Rule]:
    """Yield the rules that negation or aggregation in a recursion of the transformed rules comes from."""
    below: dict[str, set[str]] = {}
    for rule, _ in made:
        below.setdefault(rule.head.predicate, set()).update(atom.predicate for atom in atoms_within(rule.body))
    component_of = {
        node: number
        for number, nodes in enumerate(strongly_connected_components(below, lambda node: below.get(node, ())))
        for node in nodes
    }
    for rule, source in made:
        for part in rule.body:
            if isinstance(part, Negation | Aggregate) and any(
                component_of[atom.predicate] == component_of[rule.head.predicate] for atom in atoms_within((part,))
            ):
                yield source
