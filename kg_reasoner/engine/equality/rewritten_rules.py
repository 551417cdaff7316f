"""Rewriting of rules: the axioms of equality are omitted, and constants are replaced by representatives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kg_reasoner.errors import UnsupportedError
from kg_reasoner.expressions.given_relations import LITERAL_PREDICATES
from kg_reasoner.language.checks import analysis
from kg_reasoner.language.checks.analysis import conjuncts
from kg_reasoner.planning.expansion import simple_comparison
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
from kg_reasoner.terms import OWL, Term

AXIOMS = frozenset({"eq-ref/asked", "eq-sym", "eq-trans", "eq-rep-s", "eq-rep-p", "eq-rep-o"})
"""The rules that are omitted where equal terms are merged: those that are trivial then, and those that ask for eq-ref, which is
always asked for.
"""

_AXIOMS = """
@rule eq-sym
owl:sameAs[?y, ?x] :- owl:sameAs[?x, ?y] .
@rule eq-trans
owl:sameAs[?x, ?z] :- owl:sameAs[?x, ?y], owl:sameAs[?y, ?z] .
@rule eq-rep-s
[?t, ?p, ?o] :- owl:sameAs[?s, ?t], [?s, ?p, ?o] .
@rule eq-rep-p
[?s, ?q, ?o] :- owl:sameAs[?p, ?q], [?s, ?p, ?o] .
@rule eq-rep-o
[?s, ?p, ?u] :- owl:sameAs[?o, ?u], [?s, ?p, ?o] .
"""
"""Equality in the rules of OWL 2 RL, table 4 of OWL 2 Profiles."""


def axioms() -> tuple[Rule, ...]:
    """Return the axioms of equality as rules."""
    from kg_reasoner.language.parser import parse

    return parse(_AXIOMS).rules


def check(rules: Iterable[Rule]) -> None:
    """Check that rules have the same meaning for all names of equal terms.

    Raises:
        UnsupportedError: A rule counts or computes with names, or requires that names differ.
    """
    for rule in (unguarded(rule) for rule in rules if rule.origin.name not in AXIOMS):
        values = _values_of_literals(rule)
        for part in rule.body:
            what = _name_dependent(part, rule.is_constraint, values)
            if what is not None:
                raise UnsupportedError(
                    f"{what} depends on names, and rewriting keeps only one of several equal ones",
                    rule.origin.span,
                    "use equality='axioms' for this rule",
                )


def _name_dependent(part: BodyLiteral, in_constraint: bool, values: set[Argument]) -> str | None:
    if isinstance(part, Aggregate):
        return "AGGREGATE"
    if isinstance(part, Bind):
        return "BIND"
    for condition in conjuncts(part.expression) if isinstance(part, Filter) else ():
        comparison = simple_comparison(condition)
        if comparison is None:
            return "a FILTER other than a comparison"
        operator, *sides = comparison
        if operator == "!=" and not in_constraint and not values.issuperset(sides) and all(isinstance(s, Variable) for s in sides):
            return "a FILTER by != between variables"
    return None


def _values_of_literals(rule: Rule) -> set[Argument]:
    """Return the variables for the values of literals, which are never renamed."""
    return {atom.terms[1] for atom in rule.body_atoms() if LITERAL_PREDICATES.get(atom.predicate) == 2}


@remembered
def unguarded(rule: Rule) -> Rule:
    """Return a rule without the condition that the terms that it equates have different names, which is false after they are
    merged.
    """
    subject, property, value = rule.head.terms if rule.head.predicate == TRIPLE else (None, None, None)
    if property != OWL.sameAs:
        return rule

    def is_guard(condition: Expression) -> bool:
        match condition:
            case Call("!=", sides) | Call("!", (Call("SAMETERM", sides),)):
                return set(sides) == {subject, value}
        return False

    body: list[BodyLiteral] = []
    for part in rule.body:
        if isinstance(part, Filter):
            body += (Filter(condition) for condition in conjuncts(part.expression) if not is_guard(condition))
        else:
            body.append(part)
    return replace(rule, body=tuple(body))


def check_negations(rules: Sequence[Rule]) -> None:
    """Check that no equality depends on the absence of a fact of a general predicate, which holds of equal terms alike.

    Raises:
        StratificationError: One does.
    """
    if not any(map(_equates, rules)):
        return
    others = LITERAL_PREDICATES.keys() | {TRIPLE}
    atoms = (part.atom for rule in rules for part in rule.body if isinstance(part, Negation))
    arities = {atom.predicate: atom.arity for atom in atoms if atom.predicate not in others}
    if arities:
        alike = (axiom for predicate, arity in arities.items() for axiom in _congruence(predicate, arity))
        analysis.stratify((*(rule for rule in rules if rule.origin.name not in AXIOMS), *alike))


def _equates(rule: Rule) -> bool:
    """Return whether a rule other than the axioms of equality may derive equalities."""
    if rule.head.predicate != TRIPLE or not rule.body or rule.origin.name in AXIOMS:
        return False
    property = rule.head.terms[1]
    return isinstance(property, Variable) or property == OWL.sameAs


def _congruence(predicate: str, arity: int) -> Iterator[Rule]:
    """Yield the axioms of equality for a general predicate."""
    terms, other = tuple(Variable(f"x{place}") for place in range(arity)), Variable("y")
    for place, term in enumerate(terms):
        renamed_terms = (*terms[:place], other, *terms[place + 1 :])
        yield Rule(Atom(predicate, renamed_terms), (Atom(TRIPLE, (term, OWL.sameAs, other)), Atom(predicate, terms)))


def negates(rules: Iterable[Rule]) -> bool:
    """Return whether some rule has a negation, except of facts about literals, which do not change."""
    return any(isinstance(part, Negation) and part.atom.predicate not in LITERAL_PREDICATES for rule in rules for part in rule.body)


def constants(rule: Rule) -> Iterator[Term]:
    """Yield the constants of a rule."""
    atoms = [rule.head, *(part.atom if isinstance(part, Negation) else part for part in rule.body)]
    for part in atoms:
        if isinstance(part, Atom):
            yield from (term for term in part.terms if not isinstance(term, Variable))
        elif isinstance(part, Filter):
            yield from _constants_in(part.expression)


def _constants_in(expression: Expression) -> Iterator[Term]:
    if isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _constants_in(argument)
    elif not isinstance(expression, Variable):
        yield expression


def renamed(rule: Rule, names: Mapping[Term, Term]) -> Rule:
    """Return a rule with replaced constants."""

    def term(old: Argument) -> Argument:
        return old if isinstance(old, Variable) else names.get(old, old)

    def atom(old: Atom) -> Atom:
        return Atom(old.predicate, tuple(map(term, old.terms)))

    def expression(old: Expression) -> Expression:
        return Call(old.name, tuple(map(expression, old.arguments))) if isinstance(old, Call) else term(old)

    def part(old: BodyLiteral) -> BodyLiteral:
        if isinstance(old, Negation):
            return Negation(atom(old.atom))
        if isinstance(old, Filter):
            return Filter(expression(old.expression))
        return atom(old) if isinstance(old, Atom) else old

    return replace(rule, head=atom(rule.head), body=tuple(map(part, rule.body)))
