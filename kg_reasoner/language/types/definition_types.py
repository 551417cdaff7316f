"""Types of the definitions of functions and reductions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kg_reasoner.expressions.types import Type, Types
from kg_reasoner.language.types.expression_types import ExpressionTypes, KnownKinds
from kg_reasoner.program import Column, Expression, Program, ReductionDefinition, Variable

__all__ = ["check_definition_types"]


def check_definition_types(program: Program, types: Types) -> None:
    """Check that the expressions of definitions may have values of the declared types.

    Args:
        program: Has the definitions.
        types: Its types.

    Raises:
        RuleTypeError: Names the definition and both types.
    """
    for function in program.functions:
        place = ExpressionTypes(f"in the function {function.name}", function.span, _HINT, types)
        _check_body(place, "the value", function.body, function.parameters, types.type_of(function.result), types)
    for reduction in program.reductions:
        _check_reduction(reduction, types)


_HINT: Final = "declare it as any if it has terms of several types"


def _check_reduction(definition: ReductionDefinition, types: Types) -> None:
    """Check that the steps of a reduction give states and values of the declared types."""
    place = ExpressionTypes(f"in the reduction {definition.name}", definition.span, _HINT, types)
    parameters, state = definition.parameters, definition.parameters[:1]
    type_of_states, type_of_values = types.type_of(state[0].type), types.type_of(definition.result)
    _check_body(place, "the value of initial", definition.initial, (), type_of_states, types)
    for step, body in (("add", definition.add), ("remove", definition.remove)):
        if body is not None:
            _check_body(place, f"the value of {step}", body, parameters, type_of_states, types)
    final = Variable(state[0].name) if definition.final is None else definition.final
    _check_body(place, "the result", final, state, type_of_values, types)


def _check_body(
    place: ExpressionTypes, what: str, body: Expression, variables: Sequence[Column], wanted: Type, types: Types
) -> None:
    """Check that the value of an expression may be of a type."""
    of_variables = {Variable(column.name): types.type_of(column.type) for column in variables}
    known = {
        variable: KnownKinds(type_.kinds, f"{type_.noun}, as it is declared", type_.name)
        for variable, type_ in of_variables.items()
        if type_.kinds is not None
    }
    kinds = place.kinds(body, known, None)
    span = getattr(body, "span", None)
    place.expect(kinds, wanted.kinds, f"{what} is declared as {wanted.noun}", span, place.origin(body, known))
    place.fit(body, wanted.name, what, known, span)
