"""Which relation holds what: rules over predicates become rules over the relations of a database.

RDF triples are laid out in one of two ways, and a user never notices which:

* *vertical*: a binary relation per property, a unary one per class (``[?x, rdf:type, C]``); rules with a variable for the property
  or class are expanded, one copy for each property or class there is;
* *ternary*: one relation of all triples, for programs whose variables in property or class position cannot be expanded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kg_reasoner.expressions.demands import DEMAND_PREDICATES
from kg_reasoner.expressions.values import COMPARISONS, satisfies
from kg_reasoner.language.analysis import Key, conjuncts
from kg_reasoner.planning.calls import Functions
from kg_reasoner.program import (
    TRIPLE,
    Aggregate,
    Argument,
    Atom,
    Bind,
    BodyLiteral,
    Call,
    Expression,
    Filter,
    Negation,
    Rule,
    Variable,
    remembered,
)
from kg_reasoner.storage.arrays import Flags, Rows
from kg_reasoner.storage.dictionary import Dictionary
from kg_reasoner.storage.kernels.memory import allocate
from kg_reasoner.storage.literals import LITERAL_PREDICATES
from kg_reasoner.storage.relation import Database
from kg_reasoner.substitution import Substitution, in_atom, in_expression, in_part
from kg_reasoner.terms import RDF

StoredTerm: TypeAlias = int | str
"""A constant's id, or a variable's name."""

PROPERTY_COLUMN = 1

INTERNAL = "internal: "
"""How the names of predicates begin that only the engine uses; no program can name them."""

_GIVEN = frozenset(LITERAL_PREDICATES) | DEMAND_PREDICATES
"""The predicates whose facts the engine gives by itself."""

VIOLATIONS = f"{INTERNAL}violations of "
"""How the names of predicates begin whose facts are violations of a constraint."""


@dataclass(frozen=True, slots=True)
class StoredAtom:
    """An atom over a relation of the database."""

    relation: int
    terms: tuple[StoredTerm, ...]
    negated: bool = False


DISTINCT_TERMS = "is not"
"""The comparison that is written ``!SAMETERM(?x, ?y)``."""


@dataclass(frozen=True, slots=True)
class StoredComparison:
    """``left operator right`` on values; the operator is one of ``= != < <=``, or `DISTINCT_TERMS`, which is about terms."""

    operator: str
    left: StoredTerm
    right: StoredTerm


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A function of terms, by its number and the relation of its results. Without a result it is a filter that must hold."""

    function: int
    relation: int
    arguments: tuple[StoredTerm, ...]
    result: StoredTerm | None


@dataclass(frozen=True, slots=True)
class StoredRule:
    """A rule over relations."""

    head: StoredAtom
    body: tuple[StoredAtom, ...]
    checks: tuple[StoredComparison | StoredCall, ...]
    rule: Rule


def needs_ternary(rules: Iterable[Rule]) -> bool:
    """Whether some rule, or an aggregate in one, has variables for properties or classes that cannot be expanded: two, or one that
    no positive atom has in such a place."""
    return not all(map(_is_expandable, rules))


@remembered
def _is_expandable(rule: Rule) -> bool:
    for part in rule.body:
        if isinstance(part, Aggregate) and not _is_expandable(Rule(Atom(INTERNAL, ()), part.body)):
            return False
    heads = _predicate_variables(rule.head)
    bodies = {variable for atom in _triples(rule.body) for variable in _predicate_variables(atom)}
    positives = {variable for atom in _triples(tuple(rule.body_atoms())) for variable in _predicate_variables(atom)}
    if not heads <= bodies or len(bodies) > 1:
        return False
    if bodies != positives:  # of a negation, each copy would say "for this one", and all of them together no more
        return False
    for variable in bodies:  # with the variable as rdf:type, objects become classes
        typed = substitute(rule, {variable: RDF.type})
        if typed is not None and not _is_expandable(typed):
            return False
    return True


def _predicate_variables(atom: Atom) -> set[Variable]:
    if atom.predicate != TRIPLE:
        return set()
    _, property, value = atom.terms
    if isinstance(property, Variable):
        return {property}
    return {value} if property == RDF.type and isinstance(value, Variable) else set()


@remembered
def asks_of_literals(rule: Rule) -> bool:
    """Whether a rule has an atom over one of the `LITERAL_PREDICATES`."""
    atoms = (part.atom if isinstance(part, Negation) else part for part in rule.body)
    return any(isinstance(atom, Atom) and atom.predicate in LITERAL_PREDICATES for atom in atoms)


@remembered
def _open_variables(rule: Rule) -> frozenset[Variable]:
    """The variables for properties or classes in a rule's body."""
    return frozenset(variable for atom in _triples(rule.body) for variable in _predicate_variables(atom))


def _triples(body: Sequence[BodyLiteral]) -> Iterator[Atom]:
    for part in body:
        atom = part.atom if isinstance(part, Negation) else part
        if isinstance(atom, Atom) and atom.predicate == TRIPLE:
            yield atom


def substitute(rule: Rule, values: Substitution) -> Rule | None:
    """A copy of a rule with variables replaced; comparisons of constants are decided. None: a comparison fails."""
    body: list[BodyLiteral] = []
    for part in rule.body:
        if not isinstance(part, Filter):
            body.append(in_part(part, values))
            continue
        for expression in conjuncts(in_expression(part.expression, values)):
            comparison = simple_comparison(expression)
            if comparison is None or any(isinstance(side, Variable) for side in comparison[1:]):
                body.append(Filter(expression))
            elif not satisfies(*comparison):  # type: ignore[arg-type]  # no variables
                return None
    return Rule(in_atom(rule.head, values), tuple(body), rule.origin)


def simple_comparison(expression: Expression) -> tuple[str, Argument, Argument] | None:
    """The operator and the sides of a comparison of variables and constants; None for any other expression."""
    if not isinstance(expression, Call) or expression.name not in COMPARISONS:
        return None
    left, right = expression.arguments
    return None if isinstance(left, Call) or isinstance(right, Call) else (expression.name, left, right)


def _distinction(expression: Expression) -> tuple[str, Argument, Argument] | None:
    """The sides of ``!SAMETERM(?x, ?y)``, with the operator; None for any other expression."""
    inner = expression.arguments[0] if isinstance(expression, Call) and expression.name == "!" else None
    if not isinstance(inner, Call) or inner.name != "SAMETERM":
        return None
    left, right = inner.arguments
    return (DISTINCT_TERMS, left, right) if isinstance(left, Variable) and isinstance(right, Variable) else None


class Catalog:
    """The relations of predicates, properties and classes, made as they are met."""

    def __init__(self, dictionary: Dictionary, database: Database, *, ternary: bool) -> None:
        self.dictionary = dictionary
        self.database = database
        self.ternary = ternary
        self.predicates: dict[str, int] = {}
        self.properties: dict[int, int] = {}
        self.classes: dict[int, int] = {}
        self.functions = Functions(dictionary, database)
        self._holds: dict[int, tuple[str, int]] = {}
        self._released: dict[tuple[str, int], int] = {}
        """The empty relations of predicates that are unknown again, by name and arity."""
        self.type_id = dictionary.encode(RDF.type)
        self._property_map = allocate(1, np.int32, -1)
        self._class_map = allocate(1, np.int32, -1)
        database.context.property_relations, database.context.class_relations = self._property_map, self._class_map
        if ternary:
            self.predicates[TRIPLE] = number = database.add_relation(3, section_column=PROPERTY_COLUMN)
            self._holds[number] = TRIPLE, -1
        else:
            database.context.type_id = self.type_id

    # --- relations --------------------------------------------------------------------------------------------------

    def predicate(self, name: str, arity: int) -> int:
        """The relation of a general predicate."""
        number = self.predicates.get(name)
        if number is None:
            if (name, arity) in self._released:
                number = self._released.pop((name, arity))
                self.database.context.fresh += 1  # rules that waited for its facts may have them now
            else:
                number = self.database.add_relation(arity)
            self.predicates[name] = number
            self._holds[number] = name, -1
        return number

    def release(self, name: str) -> None:
        """Forget a predicate without facts that no plan uses: it can come back with another arity."""
        number = self.predicates.pop(name)
        self._released[name, self.database.relations[number].arity] = number

    def property(self, term: int) -> int:
        """The binary relation of a property (vertical layout), by the id of its term."""
        number = self.properties.get(term)
        if number is None:
            number = self.properties[term] = self.database.add_relation(2)
            self._holds[number] = TRIPLE, term
            self.extend_maps()
            self._property_map[term] = number
        return number

    def cls(self, term: int) -> int:
        """The unary relation of a class (vertical layout), by the id of its term."""
        number = self.classes.get(term)
        if number is None:
            number = self.classes[term] = self.database.add_relation(1)
            self._holds[number] = TRIPLE, term
            self.extend_maps()
            self._class_map[term] = number
        return number

    def extend_maps(self) -> None:
        """Make the kernels' maps from terms to relations as long as the dictionary."""
        count = len(self.dictionary)
        if count > len(self._property_map):
            for name in ("_property_map", "_class_map"):
                old = getattr(self, name)
                new = allocate(max(count, min(2 * len(old), count + (1 << 20))), np.int32, -1)
                new[: len(old)] = old
                setattr(self, name, new)
            self.database.context.property_relations = self._property_map
            self.database.context.class_relations = self._class_map

    def stored_triple(self, subject: int, property: int, value: int) -> tuple[int, tuple[int, ...]]:
        """The relation (-1 if there is none) and the tuple that hold a triple of ids."""
        if self.ternary:
            return self.predicates[TRIPLE], (subject, property, value)
        if property == self.type_id:
            return self.classes.get(value, -1), (subject,)
        return self.properties.get(property, -1), (subject, value)

    def stored_triples(self, triples: Rows) -> list[tuple[int, Rows]]:
        """Triples of ids as rows of the relations that hold them; those that no relation can hold are left out."""
        rows: dict[int, list[tuple[int, ...]]] = {}
        for triple in triples.tolist():
            relation, values = self.stored_triple(*triple)
            if relation >= 0:
                rows.setdefault(relation, []).append(values)
        return [(relation, np.array(values, np.int32)) for relation, values in rows.items()]

    def as_facts(self, tables: Iterable[tuple[int, Rows, Flags]]) -> dict[str, tuple[Rows, Flags]]:
        """Rows of relations, each with a flag, by predicate and with all arguments: rows of triples for `TRIPLE`. What is not for
        users stays out."""
        parts: dict[str, list[tuple[int, Rows, Flags]]] = {}
        for relation, rows, flags in tables:
            name, term = self._holds.get(relation, ("", -1))
            if len(rows) and name and not name.startswith(INTERNAL) and name not in _GIVEN:
                parts.setdefault(name, []).append((term, rows, flags))
        return {name: self._joined(name, found) for name, found in parts.items()}

    def _joined(self, name: str, parts: list[tuple[int, Rows, Flags]]) -> tuple[Rows, Flags]:
        """Rows of one predicate as one table; triples get their property and class back."""
        if name != TRIPLE or self.ternary:
            return np.concatenate([rows for _, rows, _ in parts]), np.concatenate([flags for _, _, flags in parts])
        triples = np.empty((sum(len(rows) for _, rows, _ in parts), 3), np.int32)
        place = 0
        for term, rows, _ in parts:
            part = triples[place : place + len(rows)]
            part[:, 0] = rows[:, 0]
            part[:, 1], part[:, 2] = (self.type_id, term) if rows.shape[1] == 1 else (term, rows[:, 1])
            place += len(rows)
        return triples, np.concatenate([flags for _, _, flags in parts])

    def has_facts(self, key: Key) -> bool:
        """Whether there are facts of a key (see `analysis.key_of`); in the ternary layout, of any triples."""
        predicate, property, cls = key
        if predicate != TRIPLE or self.ternary:
            return self._is_filled(self.predicates.get(predicate))
        if property is None:
            return any(map(self._is_filled, (*self.properties.values(), *self.classes.values())))
        if property != RDF.type:
            return self._is_filled(self.properties.get(self.dictionary.find(property)))
        if cls is None:
            return any(map(self._is_filled, self.classes.values()))
        return self._is_filled(self.classes.get(self.dictionary.find(cls)))

    def _is_filled(self, relation: int | None) -> bool:
        return relation is not None and self.database.relations[relation].count > 0

    # --- rules ------------------------------------------------------------------------------------------------------

    def atom(self, atom: Atom, negated: bool = False) -> StoredAtom:
        """An atom without variables in property or class position (any atom, in the ternary layout) over its relation."""
        terms = tuple(self.term(term) for term in atom.terms)
        if atom.predicate != TRIPLE:
            return StoredAtom(self.predicate(atom.predicate, len(terms)), terms, negated)
        if self.ternary:
            return StoredAtom(self.predicates[TRIPLE], terms, negated)
        subject, property, value = terms
        assert isinstance(property, int)
        if property == self.type_id:
            assert isinstance(value, int)
            return StoredAtom(self.cls(value), (subject,), negated)
        return StoredAtom(self.property(property), (subject, value), negated)

    def term(self, term: Argument) -> StoredTerm:
        """A constant's id, or a variable's name."""
        return term.name if isinstance(term, Variable) else self.dictionary.encode(term)

    def rules(self, rule: Rule) -> Iterator[StoredRule]:
        """The rule over relations; in the vertical layout one copy for each property or class that its variables stand for.

        As further properties and classes come up, the same call yields further copies.
        """
        if not self.is_open(rule):
            yield self._stored(rule)
            return
        (variable,) = _open_variables(rule)
        is_class = any(variable in _predicate_variables(atom) and atom.terms[1] == RDF.type for atom in _triples(rule.body))
        known = list(self.classes) if is_class else [*self.properties, self.type_id]
        for number in known:
            copy = substitute(rule, {variable: self.dictionary.decode(number)})
            if copy is not None:
                yield from self.rules(copy)

    def is_open(self, rule: Rule) -> bool:
        """Whether further properties or classes make further copies of a rule."""
        return not self.ternary and bool(_open_variables(rule))

    def names(self) -> int:
        """How many properties and classes there are."""
        return len(self.properties) + len(self.classes)

    def _stored(self, rule: Rule) -> StoredRule:
        body = []
        checks: list[StoredComparison | StoredCall] = []
        for part in rule.body:
            if isinstance(part, Atom):
                body.append(self.atom(part))
            elif isinstance(part, Negation):
                body.append(self.atom(part.atom, negated=True))
            elif isinstance(part, Filter):
                checks += (self._filter(expression, rule) for expression in conjuncts(part.expression))
            elif isinstance(part, Bind):
                checks.append(self._call(part.expression, part.variable, rule))
        return StoredRule(self.atom(rule.head), tuple(body), tuple(checks), rule)

    def _filter(self, expression: Expression, rule: Rule) -> StoredComparison | StoredCall:
        """One condition: a comparison, which kernels do by themselves, or a call."""
        comparison = simple_comparison(expression) or _distinction(expression)
        if comparison is None:
            return self._call(expression, None, rule)
        operator, left, right = comparison
        if operator in (">", ">="):
            operator, left, right = operator.replace(">", "<"), right, left
        return StoredComparison(operator, self.term(left), self.term(right))

    def _call(self, expression: Expression, result: Variable | None, rule: Rule) -> StoredCall:
        function, relation, variables = self.functions.number(expression, rule, is_filter=result is None)
        return StoredCall(function, relation, tuple(v.name for v in variables), None if result is None else result.name)
