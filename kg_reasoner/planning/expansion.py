"""Expansion of rules with variables for properties or classes into copies with constants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kg_reasoner.expressions.values import COMPARISONS, satisfies
from kg_reasoner.language.checks.analysis import conjuncts
from kg_reasoner.program import (
    FALSE,
    TRIPLE,
    Aggregate,
    Argument,
    Atom,
    BodyLiteral,
    Call,
    Expression,
    Filter,
    Negation,
    Rule,
    Variable,
    remembered,
    variables_of,
)
from kg_reasoner.substitution import Substitution, in_atom, in_expression, in_part
from kg_reasoner.terms import RDF, Term


@remembered
def is_expandable(rule: Rule) -> bool:
    """Return whether copies can replace a rule: the rule, and each of its aggregates, has at most one variable for properties or
    classes, and a positive atom has it in this position.
    """
    for part in rule.body:
        if isinstance(part, Aggregate) and not is_expandable(Rule(Atom(FALSE, ()), part.body)):
            return False
    if predicate_variable(rule.head) is None and not is_open(rule):
        return True
    heads, bodies = _predicate_variables((rule.head,)), _predicate_variables(triple_atoms(rule.body))
    positives = _predicate_variables(rule.body_atoms())
    if not heads <= bodies or len(bodies) > 1:
        return False
    if bodies != positives:  # of a negation, each copy would say "for this one", and all of them together no more
        return False
    for variable in bodies:  # with the variable as rdf:type, objects become classes
        typed = substitute(rule, {variable: RDF.type})
        if typed is not None and not is_expandable(typed):
            return False
    return True


@remembered
def is_open(rule: Rule) -> bool:
    """Return whether a rule has a variable for properties or classes in its body."""
    return any(predicate_variable(atom) is not None for atom in triple_atoms(rule.body))


def predicate_variables(rule: Rule) -> frozenset[Variable]:
    """Return the variables of a rule for properties or classes."""
    return frozenset(_predicate_variables(triple_atoms((rule.head, *rule.body))))


def predicate_variable(atom: Atom) -> Variable | None:
    """Return the variable for the property of an atom or, with rdf:type, for its class."""
    if atom.predicate != TRIPLE:
        return None
    _, property, value = atom.terms
    if isinstance(property, Variable):
        return property
    return value if isinstance(value, Variable) and property == RDF.type else None


def ranging(atoms: Iterable[Atom]) -> tuple[Variable, bool] | None:
    """Return a variable for a property or class in positive atoms, and whether it is one for classes; None if there is none."""
    atoms = tuple(atom for atom in atoms if atom.predicate == TRIPLE)
    variable = next((variable for variable in map(predicate_variable, atoms) if variable is not None), None)
    if variable is None:
        return None
    return variable, any(atom.terms[1] == RDF.type and atom.terms[2] == variable for atom in atoms)


def copies(rule: Rule, properties: Sequence[Term], classes: Sequence[Term]) -> Iterator[Rule]:
    """Yield a rule, or its copies with each property and class for its variables. The properties do not include rdf:type."""
    choice = ranging(rule.body_atoms())
    if choice is None:
        yield rule
        return
    variable, is_class = choice
    for value in classes if is_class else (*properties, RDF.type):
        copy = substitute(rule, {variable: value})
        if copy is not None:
            yield from copies(copy, properties, classes)


def _predicate_variables(atoms: Iterable[Atom]) -> set[Variable]:
    return {variable for atom in atoms if (variable := predicate_variable(atom)) is not None}


def triple_atoms(body: Iterable[BodyLiteral]) -> Iterator[Atom]:
    """Yield the atoms of triples in a body, including those in negations."""
    for part in body:
        atom = part.atom if isinstance(part, Negation) else part
        if isinstance(atom, Atom) and atom.predicate == TRIPLE:
            yield atom


def substitute(rule: Rule, values: Substitution) -> Rule | None:
    """Return a copy of a rule with replaced variables and evaluated comparisons of constants, or None if a comparison is false."""
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


def conditions_on(variable: Variable, rule: Rule) -> Rule | None:
    """Return a constraint with a rule's comparisons of a variable and constants; None if its body has more than these and atoms."""
    conditions: list[BodyLiteral] = []
    for part in rule.body:
        if isinstance(part, Filter):
            comparisons = [simple_comparison(expression) for expression in conjuncts(part.expression)]
            if any(comparison is None or set(variables_of(comparison[1:])) != {variable} for comparison in comparisons):
                return None
            conditions.append(part)
        elif not isinstance(part, Atom | Negation):
            return None
    return Rule(Atom(FALSE, ()), tuple(conditions))


def simple_comparison(expression: Expression) -> tuple[str, Argument, Argument] | None:
    """Return the operator and the sides of a comparison of variables and constants, or None for any other expression."""
    if not isinstance(expression, Call) or expression.name not in COMPARISONS:
        return None
    left, right = expression.arguments
    return None if isinstance(left, Call) or isinstance(right, Call) else (expression.name, left, right)
