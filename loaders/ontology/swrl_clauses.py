"""SWRL rules to clauses: atoms of classes and properties as in the DLP translation, built-ins as filters and assignments.

Semantics of SWRL beyond plain matching:

* ``sameAs(?x, ?y)`` in a body also holds if both are the same term: the rule has a second clause with ?x and ?y merged.
* ``differentFrom(?x, ?y)`` in a body holds in both directions, and for all members of an owl:AllDifferent.
* A built-in in a head is a constraint: it must hold for every instance of the body. An empty head is a constraint, too.
* Rules are DL-safe: their variables range over the terms of facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import Final, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.loaders.ontology.axioms import DatatypeRestriction, DifferentIndividuals
from kg_reasoner.loaders.ontology.clauses import INCONSISTENT, Clauses, X, Y
from kg_reasoner.loaders.ontology.ontology import Ontology
from kg_reasoner.loaders.ontology.swrl_texts import arguments_of, builtin_text
from kg_reasoner.loaders.rules.builtins import Builtin, Refused, arranged, condition
from kg_reasoner.loaders.rules.swrl import (
    BuiltinAtom,
    ClassAtom,
    DataRangeAtom,
    DifferentAtom,
    PropertyAtom,
    SameAtom,
    SwrlAtom,
    SwrlRule,
)
from kg_reasoner.loaders.rules.swrl_builtins import builtins_of
from kg_reasoner.program import Argument, Atom, BodyLiteral, Call, Filter, Variable, triple
from kg_reasoner.terms import OWL, XSD, literal

__all__ = ["add_rules", "refusal"]

_NAME: Final = "swrl"
"""The label of the rules of a SWRL rule without a name."""
_MOST_EQUALITIES: Final = 6
"""Each ``sameAs`` in a body doubles the clauses of its rule."""
_ORDER: Final = {
    XSD.minInclusive: ">=",
    XSD.minExclusive: ">",
    XSD.maxInclusive: "<=",
    XSD.maxExclusive: "<",
}
"""The facets of datatypes that a filter can express, and how."""

_I, _J = Variable("i"), Variable("j")
_Substitution: TypeAlias = dict[Argument, Argument]


@dataclass(frozen=True, slots=True)
class _Plan:
    """A rule ready for translation: the atoms to match, the built-ins to compute, and the conclusions."""

    matched: tuple[SwrlAtom, ...]
    computed: tuple[BodyLiteral, ...]
    head: tuple[SwrlAtom, ...]
    demanded: tuple[Filter, ...]
    """The built-ins of the head, as conditions that must hold."""


def refusal(rule: SwrlRule, ontology: Ontology) -> str | None:
    """Return why a rule cannot be translated, or None if it can."""
    try:
        _plans(rule, ontology)
    except Refused as error:
        return str(error)
    return None


def add_rules(clauses: Clauses, rule: SwrlRule) -> None:
    """Add the clauses of a rule, or none for a rejected rule."""
    try:
        plans = _plans(rule, clauses.ontology)
    except Refused:
        return
    for plan in plans:
        body = [*(_matched(atom, clauses) for atom in plan.matched), *plan.computed]
        for atom in plan.head:
            _conclude(atom, body, clauses, rule.name or _NAME)
        for demand in plan.demanded:
            clauses.add(INCONSISTENT, (*body, Filter(Call("!", (demand.expression,)))), rule.name or _NAME)
        if not rule.head:
            clauses.add(INCONSISTENT, body, rule.name or _NAME)


# ------------------------------------------------------------------------------------------------------------------- planning


def _plans(rule: SwrlRule, ontology: Ontology) -> list[_Plan]:
    """Return the rule once for each combination of ways in which the equalities of its body can hold."""
    equalities = [atom for atom in rule.body if isinstance(atom, SameAtom)]
    if len(equalities) > _MOST_EQUALITIES:
        raise Refused(f"a body with more than {_MOST_EQUALITIES} atoms of sameAs")
    plans = [_plan(rule, ontology)]
    for choice in product((False, True), repeat=len(equalities)):
        merged = _merged(rule, [atom for atom, is_one in zip(equalities, choice, strict=True) if is_one])
        if any(choice) and merged is not None:
            try:
                plans.append(_plan(merged, ontology))
            except Refused:  # what only the equality gave a value to has no value without it
                continue
    return plans


def _merged(rule: SwrlRule, equalities: Iterable[SameAtom]) -> SwrlRule | None:
    """Return the rule with the two sides of equalities merged, or None if they are different constants."""
    found: _Substitution = {}
    gone = set(equalities)
    for atom in gone:
        first, second = (_walk(side, found) for side in (atom.first, atom.second))
        if first == second:
            continue
        if not isinstance(first, Variable):
            first, second = second, first
        if not isinstance(first, Variable):
            return None
        found[first] = second
    body = (_replaced(atom, found) for atom in rule.body if atom not in gone)
    return SwrlRule(rule.name, tuple(body), tuple(_replaced(atom, found) for atom in rule.head))


def _walk(argument: Argument, found: _Substitution) -> Argument:
    while argument in found:
        argument = found[argument]
    return argument


def _replaced(atom: SwrlAtom, found: _Substitution) -> SwrlAtom:
    match atom:
        case ClassAtom() | DataRangeAtom():
            return replace(atom, argument=_walk(atom.argument, found))
        case PropertyAtom():
            return replace(atom, subject=_walk(atom.subject, found), object=_walk(atom.object, found))
        case SameAtom() | DifferentAtom():
            return replace(atom, first=_walk(atom.first, found), second=_walk(atom.second, found))
        case BuiltinAtom():
            return replace(atom, arguments=tuple(_walk(argument, found) for argument in atom.arguments))


def _plan(rule: SwrlRule, ontology: Ontology) -> _Plan:
    matched: list[SwrlAtom] = []
    builtins: list[Builtin] = []
    for atom in rule.body:
        if isinstance(atom, BuiltinAtom):
            builtins += _builtins(atom)
        elif isinstance(atom, DataRangeAtom):
            datatype, facets = _facets(atom, ontology)
            matched.append(datatype)
            builtins += facets
        else:
            matched.append(atom)
    computed, bound = arranged(builtins, (variable for atom in matched for variable in _variables(atom)))
    for atom in rule.head:
        for variable in _variables(atom):
            if variable not in bound:
                raise Refused(f"{variable} of the head is not bound by the body: the rule is not safe")
    demanded = [each for atom in rule.head if isinstance(atom, BuiltinAtom) for each in _builtins(atom)]
    conditions = (part for part in arranged(demanded, bound)[0] if isinstance(part, Filter))
    head = tuple(atom for atom in rule.head if not isinstance(atom, BuiltinAtom))
    return _Plan(tuple(matched), tuple(computed), head, tuple(conditions))


def _builtins(atom: BuiltinAtom) -> list[Builtin]:
    return builtins_of(atom.builtin, atom.arguments, builtin_text(atom))


def _facets(atom: DataRangeAtom, ontology: Ontology) -> tuple[DataRangeAtom, list[Builtin]]:
    """Return the datatype and conditions of a restricted datatype; return any other data range unchanged.

    Raises:
        Refused: A facet is more than a bound.
    """
    expressions = ontology.expressions.get(atom.range, ())
    if len(expressions) != 1 or not isinstance(expressions[0], DatatypeRestriction):
        return atom, []
    conditions = []
    for facet, value in expressions[0].facets:
        if facet not in _ORDER:
            raise Refused(f"the facet {facet} is not supported")
        conditions.append(condition(str(facet), Call(_ORDER[facet], (atom.argument, value))))
    return DataRangeAtom(expressions[0].datatype, atom.argument), conditions


def _variables(atom: SwrlAtom) -> list[Variable]:
    return [argument for argument in arguments_of(atom) if isinstance(argument, Variable)]


# ------------------------------------------------------------------------------------------------------------------ translation


def _matched(atom: SwrlAtom, clauses: Clauses) -> Atom:
    """Return the atoms that match facts for a body atom that is not a built-in."""
    match atom:
        case ClassAtom(node, argument) | DataRangeAtom(node, argument):
            return clauses.member(node, argument)
        case PropertyAtom(property, subject, object):
            return clauses.related(property, subject, object)
        case SameAtom(first, second):
            return triple(first, OWL.sameAs, second)
        case DifferentAtom(first, second):
            return Atom(_difference(clauses), (first, second))
    raise TypeError(f"{atom!r} is computed")


def _conclude(atom: SwrlAtom, body: Sequence[BodyLiteral], clauses: Clauses, name: str) -> None:
    match atom:
        case ClassAtom(node, argument) | DataRangeAtom(node, argument):
            clauses.conclude(node, argument, body, name)
        case PropertyAtom(property, subject, object):
            clauses.relate(property, subject, object, body, name)
        case SameAtom(first, second):
            clauses.add(triple(first, OWL.sameAs, second), (*body, Filter(Call("!=", (first, second)))), name)
        case DifferentAtom(first, second):
            clauses.add(triple(first, OWL.differentFrom, second), body, name)


def _difference(clauses: Clauses) -> str:
    """Return the predicate of individuals known to be different, with its clauses."""
    predicate = clauses.helper("different", (), "differentFrom(?x, ?y)")
    different = Atom(predicate, (X, Y))
    clauses.add(different, [triple(X, OWL.differentFrom, Y)], _NAME)
    clauses.add(different, [triple(Y, OWL.differentFrom, X)], _NAME)
    for axiom in clauses.ontology.axioms:
        if isinstance(axiom, DifferentIndividuals):
            member = clauses.helper("distinct", axiom.individuals, "DifferentIndividuals")
            for number, individual in enumerate(axiom.individuals, start=1):
                clauses.add(Atom(member, (individual, literal(number))), [], _NAME)
            numbered = Atom(member, (X, _I)), Atom(member, (Y, _J))
            clauses.add(different, (*numbered, Filter(Call("!=", (_I, _J)))), _NAME)
    return predicate
