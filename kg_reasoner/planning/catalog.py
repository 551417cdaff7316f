"""The catalog of relations: translates rules over predicates to rules over the relations of a database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final, TypeAlias

import numpy as np

from kg_reasoner.data_classes import dataclass
from kg_reasoner.expressions.given_relations import GIVEN_RELATIONS, LITERAL_PREDICATES, LITERAL_TYPE, AskedOfLiterals
from kg_reasoner.language.checks.analysis import Key, conjuncts
from kg_reasoner.planning.expansion import (
    conditions_on,
    is_expandable,
    predicate_variables,
    simple_comparison,
    substitute,
)
from kg_reasoner.planning.functions.function_relations import Functions
from kg_reasoner.planning.layouts.property_tables import PropertyTables
from kg_reasoner.planning.layouts.triple_layout import NO_NAMES, Names, Part, TripleLayout, concatenated
from kg_reasoner.program import (
    AUXILIARY,
    TRIPLE,
    Argument,
    Atom,
    Bind,
    Call,
    Expression,
    Filter,
    Negation,
    Rule,
    Variable,
    remembered,
)
from kg_reasoner.storage.arrays import Flags, Rows
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, RDF, BlankNode, Term

StoredTerm: TypeAlias = int | str
"""A constant's id, or a variable's name."""

INTERNAL = "internal: "
"""The prefix of internal predicates, which programs cannot use."""

_REMEMBERED: Final = 1 << 16
"""The maximal number of terms whose ids are remembered."""

VIOLATIONS = f"{INTERNAL}violations of "
"""The prefix of predicates whose facts are violations of a constraint."""


def is_shown(predicate: str) -> bool:
    """Return whether changes include the facts of a predicate: of all but internal, auxiliary and given ones."""
    return not predicate.startswith((INTERNAL, AUXILIARY)) and predicate not in GIVEN_RELATIONS


@dataclass(slots=True, unsafe_hash=True)
class StoredAtom:
    """An atom over a relation of the database."""

    relation: int
    terms: tuple[StoredTerm, ...]
    negated: bool = False


NO_ATOMS: Final[Mapping[int, StoredAtom]] = {}

DISTINCT_TERMS = "is not"
"""The comparison ``!SAMETERM(?x, ?y)``."""


@dataclass(slots=True, unsafe_hash=True)
class StoredComparison:
    """``left operator right`` on values; the operator is one of ``= != < <=``, or `DISTINCT_TERMS`, which compares terms."""

    operator: str
    left: StoredTerm
    right: StoredTerm


@dataclass(slots=True, unsafe_hash=True)
class StoredCall:
    """A function application: the number of the function, the relation of its results, and arguments. Without a result, it is a
    filter.
    """

    function: int
    relation: int
    arguments: tuple[StoredTerm, ...]
    result: StoredTerm | None
    has_several: bool = False
    """Whether the function, which has one argument, has any number of results."""


_Terms: TypeAlias = tuple[str, tuple[StoredTerm, ...], bool]
"""An atom of ids and names of variables: its predicate, terms, and whether it is negated."""

Values: TypeAlias = tuple[tuple[Variable, Term], ...]
"""Properties and classes, each with the variable that it replaces."""


@dataclass(slots=True, unsafe_hash=True)
class StoredRule:
    """A rule over relations, or a copy of one in which properties and classes replace variables."""

    head: StoredAtom
    body: tuple[StoredAtom, ...]
    checks: tuple[StoredComparison | StoredCall, ...]
    source: Rule
    values: Values = ()
    with_places: StoredRule | None = None
    """For a rule that asks for all members of a collection at once, the one that asks for the member at each place."""
    _rule: Rule | None = field(default=None, compare=False, repr=False)

    @property
    def rule(self) -> Rule:
        """The rule, or the copy. Copies are made when they are asked for: rules about equality have one for each property."""
        if self._rule is None:
            self._rule = substitute(self.source, dict(self.values)) if self.values else self.source
            assert self._rule is not None
        return self._rule


@remembered
def asked_of_literals(rule: Rule) -> frozenset[AskedOfLiterals]:
    """Return what the atoms of a rule ask of literals: most rules ask whether one is of a given type."""
    atoms = (part.atom if isinstance(part, Negation) else part for part in rule.body)
    return frozenset([_asked_by(atom) for atom in atoms if isinstance(atom, Atom) and atom.predicate in LITERAL_PREDICATES])


def _asked_by(atom: Atom) -> AskedOfLiterals:
    datatype = atom.terms[1] if atom.predicate == LITERAL_TYPE else None
    return atom.predicate, datatype.value if isinstance(datatype, IRI) else None


def _distinction(expression: Expression) -> tuple[str, Argument, Argument] | None:
    """Return the sides of ``!SAMETERM(?x, ?y)`` with the operator, or None for any other expression."""
    inner = expression.arguments[0] if isinstance(expression, Call) and expression.name == "!" else None
    if not isinstance(inner, Call) or inner.name != "SAMETERM":
        return None
    left, right = inner.arguments
    return (DISTINCT_TERMS, left, right) if isinstance(left, Variable) and isinstance(right, Variable) else None


def _is_resource(term: Argument, rule: Rule) -> bool:
    """Return whether a term of a rule cannot be a literal, so that it is unequal to all other terms: an IRI or a blank node, or a
    variable for the IRI of a literal's value or datatype.
    """
    if not isinstance(term, Variable):
        return isinstance(term, IRI | BlankNode)
    return any(LITERAL_PREDICATES.get(atom.predicate) == 2 and atom.terms[1] == term for atom in rule.body_atoms())


def _atoms_of(rule: Rule) -> list[tuple[Atom, bool]]:
    """Return the atoms of a body, and the head as the last one, each with whether it is negated."""
    found = [
        (part, False) if isinstance(part, Atom) else (part.atom, True) for part in rule.body if isinstance(part, Atom | Negation)
    ]
    return [*found, (rule.head, False)]


def _with_value(atom: _Terms, name: str, value: int) -> _Terms:
    """Return an atom with a value for a variable."""
    predicate, terms, negated = atom
    return predicate, tuple([value if term == name else term for term in terms]), negated


def layout_for(rules: Iterable[Rule]) -> type[TripleLayout]:
    """Return the layout of triples for some rules: the triple table if a rule cannot be expanded, else property tables."""
    if all(map(is_expandable, rules)):
        return PropertyTables
    from kg_reasoner.planning.layouts.triple_table import TripleTable

    return TripleTable


class RelationCatalog:
    """The relations of predicates, created on demand. A layout manages the relations of triples.

    Attributes:
        layout: The layout of triples, see `layout_for`.
        predicates: The relations of the general predicates.
    """

    def __init__(self, dictionary: Dictionary, database: Database, layout: type[TripleLayout]) -> None:
        self.dictionary = dictionary
        self.database = database
        self.predicates: dict[str, int] = {}
        self.functions = Functions(dictionary, database)
        self.layout = layout(dictionary, database)
        self._names: dict[int, str] = {}
        self._ids: dict[Term, int] = {}
        """The ids of terms of the last rules, most of which the next ones have, too."""
        self._released: dict[tuple[str, int], int] = {}
        """The empty relations of discarded predicates, by name and arity."""

    # --- relations --------------------------------------------------------------------------------------------------

    def predicate(self, name: str, arity: int) -> int:
        """Return the relation of a general predicate."""
        number = self.predicates.get(name)
        if number is None:
            if (name, arity) in self._released:
                number = self._released.pop((name, arity))
                self.database.context.fresh += 1  # rules that waited for its facts may have them now
            else:
                number = self.database.add_relation(arity)
            self.predicates[name] = number
            self._names[number] = name
        return number

    def release(self, name: str) -> None:
        """Discard a predicate without facts that no plan uses, so that it can be used again with another arity."""
        number = self.predicates.pop(name)
        self._released[name, self.database.relations[number].arity] = number

    def key_of(self, relation: int) -> Key:
        """Return the common key of all facts of a relation: the predicate, and for triples the property and class, if they are
        fixed.
        """
        if relation not in self.layout.held:
            return self._names[relation], None, None
        property, cls = (None if term < 0 else self.dictionary.decode(term) for term in self.layout.held[relation])
        return TRIPLE, property, cls

    def found(self, predicate: str, facts: Rows) -> list[tuple[int, Rows]]:
        """Return facts as rows of their relations. Facts that no relation can contain are omitted."""
        if predicate == TRIPLE:
            return self.layout.found(facts)
        relation = self.predicates.get(predicate)
        return [] if relation is None else [(relation, facts)]

    def as_facts(self, tables: Iterable[Part]) -> dict[str, tuple[Rows, Flags]]:
        """Return flagged rows of relations by predicate, with all arguments: rows of triples for `TRIPLE`. Internal relations and
        auxiliary predicates are omitted.
        """
        parts: dict[str, list[Part]] = {}
        names, held = self._names, self.layout.held
        for relation, rows, flags in tables:
            name = TRIPLE if relation in held else names.get(relation, INTERNAL)
            if len(rows) and is_shown(name):
                parts.setdefault(name, []).append((relation, rows, flags))
        return {name: (self.layout.joined if name == TRIPLE else concatenated)(found) for name, found in parts.items()}

    def has_facts(self, key: Key) -> bool:
        """Return whether a key (see `analysis.key_of`), or another key in the same relation, has facts."""
        predicate, property, cls = key
        if predicate != TRIPLE:
            return self._is_filled(self.predicates.get(predicate, -1))
        find = self.dictionary.find
        relations = self.layout.relations(None if property is None else find(property), None if cls is None else find(cls))
        return any(map(self._is_filled, relations))

    @property
    def filling(self) -> tuple[int, int]:
        """Numbers that change when a relation gets its first facts, or triples get another property or class."""
        return self.database.context.fresh, len(self.layout.held)

    def filled(self, before: Flags) -> tuple[Flags, list[Key]]:
        """Return whether each relation has facts, and the keys (see `key_of`) of those that had none before.

        Args:
            before: An earlier first result.
        """
        now = self.database.have_rows()
        now[list(self._released.values())] = False
        first = now.copy()
        first[: len(before)] &= ~before
        known = (number for number in np.flatnonzero(first).tolist() if number in self._names or number in self.layout.held)
        return now, [self.key_of(number) for number in known]

    def _is_filled(self, relation: int) -> bool:
        return relation >= 0 and self.database.relations[relation].count > 0

    # --- rules ------------------------------------------------------------------------------------------------------

    def atom(self, atom: Atom, negated: bool = False) -> StoredAtom:
        """Return an atom over its relation. Triples must be in one relation, see `rules`."""
        return self._placed(*self._terms(atom, negated))

    def _placed(self, predicate: str, terms: tuple[StoredTerm, ...], negated: bool) -> StoredAtom:
        if predicate != TRIPLE:
            return StoredAtom(self.predicate(predicate, len(terms)), terms, negated)
        return StoredAtom(*self.layout.place(*terms), negated)

    def _terms(self, atom: Atom, negated: bool) -> _Terms:
        known = self._ids.get  # not a call for each term, of which there are many
        terms = [term.name if isinstance(term, Variable) else known(term) or self.term(term) for term in atom.terms]
        return atom.predicate, tuple(terms), negated

    def term(self, term: Argument) -> StoredTerm:
        """Return the id of a constant, or the name of a variable."""
        if isinstance(term, Variable):
            return term.name
        known = self._ids.get(term)
        if known is None:
            if len(self._ids) >= _REMEMBERED:
                self._ids.clear()
            known = self._ids[term] = self.dictionary.encode(term)
        return known

    def closed_rules(self, rules: Sequence[Rule]) -> list[StoredRule]:
        """Return rules without variables for properties or classes over relations. Their atoms are looked at together, those that
        are the same object once.
        """
        parts = (part.atom if isinstance(part, Negation) else part for rule in rules for part in (rule.head, *rule.body))
        atoms = {id(part): part for part in parts if isinstance(part, Atom)}
        terms = {number: self._terms(atom, negated=False) for number, atom in atoms.items()}
        self.layout.make((found[1], found[2]) for predicate, found, _ in terms.values() if predicate == TRIPLE)
        shared = {number: self._placed(*found) for number, found in terms.items()}
        return [self._stored(rule, rule, (), shared) for rule in rules]

    def rules(self, rule: Rule, since: Names = NO_NAMES) -> Iterable[StoredRule]:
        """Return a rule over relations. If its variables range over relations, there is one copy for each of their values.

        When there are further properties and classes, the same call yields further copies.

        Args:
            rule: The rule.
            since: Omit most of the copies that there were when `TripleLayout.names` had this value.
        """
        if not self.layout.is_open(rule):
            return (self._stored(rule, rule, ()),)
        return self._copies(rule, since, self.layout, rule, ())

    def _copies(self, rule: Rule, since: Names, layout: TripleLayout, source: Rule, chosen: Values) -> Iterator[StoredRule]:
        """Yield a rule over relations, or its copies for the names in a layout. It is itself a copy of `source` with the chosen
        properties and classes.
        """
        choice = layout.choices(tuple(rule.body_atoms()), since) if layout.is_open(rule) else None
        if choice is None:
            yield self._stored(rule, source, chosen)
            return
        variable, ids = choice
        is_alone = len(predicate_variables(rule)) == 1  # then only its copy for rdf:type can have another one, for the class
        conditions = conditions_on(variable, rule) if is_alone else None
        atoms: list[tuple[_Terms, StoredAtom | None]] = []
        """The atoms, and those over relations that are the same in all copies."""
        for value, term in zip(ids, self.dictionary.decode_all(ids), strict=True):
            values = (*chosen, (variable, term))
            if conditions is None or term == RDF.type:
                copy = substitute(rule, {variable: term})
                if copy is not None:
                    yield from self._copies(copy, since, layout, source, values)
            elif not conditions.body or substitute(conditions, {variable: term}) is not None:
                atoms = atoms or [self._with_fixed(*each, variable) for each in _atoms_of(rule)]
                *body, head = [fixed or self._placed(*_with_value(atom, variable.name, value)) for atom, fixed in atoms]
                yield StoredRule(head, tuple(body), (), source, values)

    def _with_fixed(self, atom: Atom, negated: bool, variable: Variable) -> tuple[_Terms, StoredAtom | None]:
        """Return an atom of ids, and the one over its relation if it does not have a variable."""
        terms = self._terms(atom, negated)
        return terms, None if variable in atom.terms else self._placed(*terms)

    def _stored(self, rule: Rule, source: Rule, values: Values, shared: Mapping[int, StoredAtom] = NO_ATOMS) -> StoredRule:
        """Return a rule over relations; `shared` has the atoms that are known, by their identity."""
        body = []
        checks: list[StoredComparison | StoredCall] = []
        for part in rule.body:
            if isinstance(part, Atom):
                body.append(shared.get(id(part)) or self.atom(part))
            elif isinstance(part, Negation):
                body.append(self.atom(part.atom, negated=True))
            elif isinstance(part, Filter):
                checks += (self._filter(expression, rule) for expression in conjuncts(part.expression))
            elif isinstance(part, Bind):
                checks.append(self._call(part.expression, part.variable, rule))
        head = shared.get(id(rule.head)) or self.atom(rule.head)
        return StoredRule(head, tuple(body), tuple(checks), source, values)

    def _filter(self, expression: Expression, rule: Rule) -> StoredComparison | StoredCall:
        """Return a condition: a comparison, which kernels evaluate, or a function application."""
        comparison = simple_comparison(expression) or _distinction(expression)
        if comparison is None:
            return self._call(expression, None, rule)
        operator, left, right = comparison
        if operator in (">", ">="):
            operator, left, right = operator.replace(">", "<"), right, left
        if operator == "!=" and any(_is_resource(side, rule) for side in (left, right)):
            operator = DISTINCT_TERMS
        else:
            self.functions.prepare_comparisons()
        return StoredComparison(operator, self.term(left), self.term(right))

    def _call(self, expression: Expression, result: Variable | None, rule: Rule) -> StoredCall:
        function, relation, variables = self.functions.number(expression, rule, is_filter=result is None)
        return StoredCall(function, relation, tuple(v.name for v in variables), None if result is None else result.name)
