"""Choice: of all facts with the same key, the least by the other columns is kept.

So the result does not depend on the order of evaluation. A choice is rules with aggregates: the least value of the first other
column for each key, then that of the second one for each key and first value, and so on. Choices are stratified as aggregates are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kg_reasoner.errors import RuleSyntaxError
from kg_reasoner.program import Aggregate, AggregateBinding, Argument, Atom, Declaration, Origin, Program, Rule, Variable

__all__ = ["check_choice", "choice_rule", "chosen"]


def chosen(candidates: str, variables: Sequence[Variable], key: Collection[Variable]) -> tuple[Aggregate, ...]:
    """Return the parts of a body that choose a fact of a predicate for each key.

    Args:
        candidates: The predicate.
        variables: The variables of its columns.
        key: Those of them that are the key.
    """
    group = [variable for variable in variables if variable in key]
    parts = []
    for value in (variable for variable in variables if variable not in key):
        inner = Variable(f"_{value.name}")
        terms: list[Argument] = []
        for variable in variables:
            terms.append(inner if variable == value else variable if variable in group else Variable(f"_any_{variable.name}"))
        binding = AggregateBinding("SAMPLE", inner, value)
        parts.append(Aggregate((Atom(candidates, tuple(terms)),), tuple(group), (binding,)))
        group.append(value)
    return tuple(parts)


def choice_rule(declaration: Declaration) -> Rule:
    """Return the rule that a declaration of a choice abbreviates."""
    variables = tuple(Variable(column.name) for column in declaration.columns)
    key = {Variable(name) for name in declaration.per}
    origin = Origin(f"choice of {declaration.source}", span=declaration.span)
    head = Atom(declaration.predicate, variables, declaration.span)
    return Rule(head, chosen(declaration.source, variables, key), origin)


def check_choice(declaration: Declaration, program: Program) -> None:
    """Check a declaration of a choice, and that nothing else derives the relation.

    Raises:
        RuleSyntaxError: It is wrong.
    """
    name, source = declaration.predicate, declaration.source
    if len(set(declaration.per)) < len(declaration.per):
        raise RuleSyntaxError("the key of the choice repeats a column", declaration.span)
    if len(declaration.per) == declaration.arity:
        raise RuleSyntaxError("the key of the choice has all columns, so that there is nothing to choose", declaration.span)
    if declaration.role == "input":
        raise RuleSyntaxError(f"{name} is a choice, and cannot be an input", declaration.span)
    own = choice_rule(declaration)
    for rule in program.rules:
        if rule.head.predicate == name and rule != own:
            hint = f"derive {source} instead"
            raise RuleSyntaxError(f"a rule derives {name}, which is a choice of {source}", rule.head.span or rule.origin.span, hint)
