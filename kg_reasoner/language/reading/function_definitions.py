"""Definitions of functions and reductions in the parse trees of a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, Final

from kg_reasoner.errors import ReasonerError, RuleSyntaxError, UnsupportedError
from kg_reasoner.expressions import aggregate_functions
from kg_reasoner.expressions.compile import DEPTH, NAMES
from kg_reasoner.expressions.defined_functions import Body, LanguageFunction
from kg_reasoner.expressions.reductions import LanguageReduction
from kg_reasoner.expressions.types import Type
from kg_reasoner.language.reading.bodies import BodyReader
from kg_reasoner.language.reading.known import Known
from kg_reasoner.language.reading.term_trees import Node, is_token
from kg_reasoner.program import Column, Expression, FunctionDefinition, ReductionDefinition, Variable, variables_of

__all__ = ["LEARNT", "FunctionReader"]

LEARNT: Final = ("function_definition", "reduction_definition")
"""The statements that this module reads, which others may refer to before them."""


class FunctionReader(BodyReader):
    """Reads definitions of functions and reductions; the arguments are those of `TermReader`."""

    def __init__(self, text: str, source: str, indent: int = 0, known: Known | None = None) -> None:
        super().__init__(text, source, indent, known)
        self.declared: dict[str, str] = {}
        """The prefixes that the text declares."""
        self.functions: list[FunctionDefinition] = []
        self.reductions: list[ReductionDefinition] = []
        self.signatures: dict[str, tuple[tuple[Column, ...], str]] = {}
        self.statements: dict[str, Callable[[Node], None]] = {}

    def column(self, tree: Node) -> Column:
        """Return a column, field or parameter."""
        name, type_ = tree.children
        return Column(str(name).removeprefix("?"), "any" if type_ is None else self.type(type_))

    def type(self, tree: Node, level: int = 0) -> str:
        """Return the text of a type that is nested in `level` others."""
        if level > DEPTH:
            raise UnsupportedError(f"a type is nested more than {DEPTH} deep", self.span(tree), "give a part of it a name")
        name, *parameters = tree.children
        self.expect(name, self.known.types.names(), "type")
        inner = [str(part) if is_token(part) else self.type(part, level + 1) for part in parameters if part is not None]
        text = f"{name}<{', '.join(inner)}>" if inner else str(name)
        try:
            self.known.types.type_of(text)
        except ReasonerError as error:
            raise RuleSyntaxError(str(error), self.span(tree)) from None
        return text

    def learn_functions(self, tree: Node) -> None:
        """Learn the functions and reductions of a text: first the signatures of functions, since they may call each other."""
        functions = [node for node in tree.children if node.data == "function_definition"]
        known, reductions = dict(self.known.functions), dict(self.known.reductions)
        for node in functions:
            self._learn_function(node)
        prefixes, base, declared = dict(self.prefixes), self.base, dict(self.declared)
        readers = {**self.statements, "function_definition": self._add_function, "reduction_definition": self._add_reduction}
        for node in tree.children:
            if node.data in ("prefix", "base", *LEARNT):
                readers[node.data](node)
        self.prefixes, self.base, self.declared = prefixes, base, declared
        self._identify(tree, known, reductions)

    def _identify(self, tree: Node, functions: Mapping[str, Any], reductions: Mapping[str, Any]) -> None:
        """Tell definitions their texts, with those of the functions that they call, and compare them with those known before.

        Raises:
            RuleSyntaxError: Another one with the name is known.
        """
        texts = {definition.name: repr(definition) for definition in self.functions}
        nodes = [node for node in tree.children if node.data in LEARNT]
        words = {(node.data, str(node.children[1])): set(map(str, node.scan_values(is_token))) & set(texts) for node in nodes}
        called = {name: found for (kind, name), found in words.items() if kind == LEARNT[0]}
        for function in self.functions:
            function.callee.body.text = "\n".join(texts[other] for other in sorted(_closure([function.name], called)))
            _compare("function", function, functions)
        for reduction in self.reductions:
            others = sorted(_closure(words[LEARNT[1], reduction.name], called))
            text = "\n".join([repr(reduction), *(texts[other] for other in others)])
            for step in reduction.callee.steps:
                if step is not None:
                    step.body.text = text
            _compare("reduction", reduction, reductions)

    def _learn_function(self, tree: Node) -> None:
        """Learn the name and the types of a function."""
        name = tree.children[1]
        if str(name).upper() in NAMES:
            raise RuleSyntaxError(f"{name} is a function of the language", self.span(name), "choose another name")
        parameters, result = self._signature(tree)
        if str(name) in self.signatures:
            raise RuleSyntaxError(f"{name} is defined twice", self.span(name))
        self.known.functions[str(name)] = LanguageFunction(str(name), Body(), self._types(parameters), self._type(result))
        self.signatures[str(name)] = parameters, result

    def _signature(self, tree: Node) -> tuple[tuple[Column, ...], str]:
        """Return the parameters of a definition, and the type of its result."""
        _, name, *nodes = tree.children
        parameters = tuple(self.column(node) for node in nodes if getattr(node, "data", None) == "parameter")
        names = [parameter.name for parameter in parameters]
        for parameter in names:
            if names.count(parameter) > 1:
                raise RuleSyntaxError(f"{name} has two parameters ?{parameter}", self.span(name))
        result = next((node for node in nodes if getattr(node, "data", None) == "type"), None)
        return parameters, "any" if result is None else self.type(result)

    def _type(self, text: str) -> Type:
        return self.known.types.type_of(text)

    def _types(self, parameters: Iterable[Column]) -> tuple[Type, ...]:
        return tuple(self._type(parameter.type) for parameter in parameters)

    def _add_function(self, tree: Node) -> None:
        """Add the definition of a function."""
        self.begin(tree)
        name = str(tree.children[1])
        parameters, result = self.signatures[name]
        callee = self.known.functions[name]
        body = self._body(tree.children[-1], callee.body, parameters, f"a parameter of {name}")
        self.functions.append(FunctionDefinition(name, parameters, result, body, self.span(tree.children[1]), callee))

    def _body(self, tree: Node, body: Body, parameters: Sequence[Column], what: str) -> Expression:
        """Return an expression after defining a body by it.

        Raises:
            RuleSyntaxError: It has variables that are not parameters.
        """
        expression, variables = self.expression(tree), tuple(Variable(parameter.name) for parameter in parameters)
        for variable in variables_of(expression):
            if variable not in variables:
                raise RuleSyntaxError(f"{variable} is not {what}", variable.span)
        body.define(expression, variables)
        return expression

    def _add_reduction(self, tree: Node) -> None:
        """Add the definition of a reduction."""
        self.begin(tree)
        name, parts = str(tree.children[1]), tree.children[-4:]
        span = self.span(tree.children[1])
        if name.upper() in (*NAMES, *aggregate_functions.NAMES):
            raise RuleSyntaxError(f"{name} is a function of the language", span, "choose another name")
        if any(other.name == name for other in self.reductions):
            raise RuleSyntaxError(f"{name} is defined twice", span)
        parameters, result = self._signature(tree)
        state, of_parameters = parameters[:1], f"a parameter of {name}"
        steps = (
            ("initial", tuple[Column, ...](), parameters[0].type, "known in initial, which has no variables"),
            ("add", parameters, parameters[0].type, of_parameters),
            ("remove", parameters, parameters[0].type, of_parameters),
            ("result", state, result, f"known in result, which has only the state ?{state[0].name}"),
        )
        bodies, functions = dict[str, Any](), dict[str, Any]()
        for part, (step, variables, type_, what) in zip(parts, steps, strict=True):
            bodies[step] = functions[step] = None
            if part is not None:
                functions[step] = LanguageFunction(name, Body(), self._types(variables), self._type(type_))
                bodies[step] = self._body(part, functions[step].body, variables, what)
        callee = LanguageReduction(name, self._types(parameters[1:]), self._type(result), *functions.values())
        self.known.reductions[name] = callee
        initial, add, remove, final = bodies.values()
        self.reductions.append(ReductionDefinition(name, parameters, result, initial, add, remove, final, span, callee))


def _compare(kind: str, definition: FunctionDefinition | ReductionDefinition, known: Mapping[str, Any]) -> None:
    """Compare a definition with the earlier one of the same name.

    Raises:
        RuleSyntaxError: It is another one.
    """
    if known.get(definition.name, definition.callee) != definition.callee:
        raise RuleSyntaxError(f"another {kind} {definition.name} is defined already", definition.span, "choose another name")


def _closure(names: Iterable[str], called: Mapping[str, Set[str]]) -> set[str]:
    """Return functions and those that they call, directly or indirectly."""
    found, waiting = set(names), list(names)
    while waiting:
        waiting += (new := called[waiting.pop()] - found)
        found |= new
    return found
