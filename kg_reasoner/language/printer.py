"""The printer of the rule language: `Program` to text. Parsing the text returns an equal program."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from kg_reasoner.expressions.structures import decode
from kg_reasoner.language.display_names import DisplayNames
from kg_reasoner.language.prefixes import PREFIXES
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.program import (
    FALSE,
    TRIPLE,
    Aggregate,
    AggregateBinding,
    Argument,
    Atom,
    Bind,
    BodyLiteral,
    Call,
    Column,
    Declaration,
    Expression,
    Filter,
    FunctionDefinition,
    Index,
    Negation,
    Program,
    ReductionDefinition,
    Rule,
    TypeDefinition,
    Variable,
    variables_of,
)
from kg_reasoner.terms import IRI, NOT_IN_IRI, RDF, XSD, BlankNode, Literal, Term

__all__ = ["format_declaration", "format_index", "format_program", "format_rule", "format_term"]

_PLAIN: Final = {
    XSD.integer.value: regular_expression(r"[+-]?[0-9]+"),
    XSD.decimal.value: regular_expression(r"[+-]?[0-9]*\.[0-9]+"),
    XSD.double.value: regular_expression(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+"),
    XSD.boolean.value: regular_expression(r"true|false"),
}
"""The lexical forms that need neither quotes nor a datatype."""
_LOCAL: Final = regular_expression(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?")
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNSAFE_IN_STRING: Final = regular_expression(r'[\\"\x00-\x1f\x7f-\x9f\u2028\u2029]')
_PRECEDENCE: Final = {
    **dict.fromkeys(("||",), 1),
    **dict.fromkeys(("&&",), 2),
    **dict.fromkeys(("=", "!=", "<", "<=", ">", ">=", "IN", "NOT IN"), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%"), 5),
    **dict.fromkeys(("!", "neg"), 6),
}
_PRIMARY: Final = 7
_NUMBERED: Final = regular_expression(r"_[0-9]*")
"""The names that wildcards may have."""

_Prefixes = Mapping[str, str]


def format_program(program: Program) -> str:
    """Return the text of a program: prefixes, declarations, and one rule per line.

    Args:
        program: The program.

    Returns:
        The text.

    >>> from kg_reasoner.language.parser import parse
    >>> print(format_program(parse("@prefix ub: <http://example.org/> . [?x, a, ub:Person] :- [?x, ub:advisor, _] .")), end="")
    @prefix ub: <http://example.org/> .
    ub:Person[?x] :- ub:advisor[?x, _] .
    """
    from kg_reasoner.language.choice import choice_rule

    prefixes = {**PREFIXES, **dict(program.prefixes)}
    lines = [f"@prefix {name}: {_in_brackets(IRI(namespace))} ." for name, namespace in program.prefixes]
    if program.translate is not None:
        lines.append(f"@translate {program.translate} .")
    lines.extend(_format_type(definition, prefixes) for definition in program.types)
    lines.extend(_format_function(definition, prefixes) for definition in program.functions)
    lines.extend(_format_reduction(definition, prefixes) for definition in program.reductions)
    lines.extend(format_declaration(declaration, prefixes) for declaration in program.declarations)
    lines.extend(format_index(index, prefixes) for index in program.indexes)
    choices = {choice_rule(declaration) for declaration in program.declarations if declaration.per}
    lines.extend(format_rule(rule, prefixes, named=True) for rule in program.rules if rule not in choices)
    return "".join(f"{line}\n" for line in lines)


def format_declaration(declaration: Declaration, prefixes: _Prefixes = PREFIXES) -> str:
    """Return the text of a declaration with its final dot.

    Args:
        declaration: The declaration.
        prefixes: The prefixes to use.

    Returns:
        The text.
    """
    role = f"{declaration.role} " if declaration.role else ""
    clause = f" primary key ({', '.join(declaration.key)})" if declaration.key else ""
    if declaration.per:
        clause = f" choose one per ({', '.join(declaration.per)}) of {_predicate(declaration.source, prefixes)}"
    elif declaration.operator:
        steps = f" {declaration.steps}" if declaration.steps != 1 else ""
        clause = f" {declaration.operator}{steps} {_predicate(declaration.source, prefixes)}"
    return f"{role}{declaration.kind} {_predicate(declaration.predicate, prefixes)}({_columns(declaration.columns)}){clause} ."


def format_index(index: Index, prefixes: _Prefixes = PREFIXES) -> str:
    """Return the text of the declaration of an index with its final dot.

    Args:
        index: The index.
        prefixes: The prefixes to use.

    Returns:
        The text.
    """
    return f"index {index.name} on {_predicate(index.predicate, prefixes)}({', '.join(index.columns)}) ."


def _format_type(definition: TypeDefinition, prefixes: _Prefixes) -> str:
    """Return the text of the definition of a type."""
    parts = [format_term(value, prefixes) for value in definition.values] or [definition.alias]
    if definition.variants:
        parts = [f"{variant.name}({_columns(variant.fields)})" for variant in definition.variants]
    return f"type {definition.name} = {' | '.join(parts)} ."


def _format_function(definition: FunctionDefinition, prefixes: _Prefixes) -> str:
    """Return the text of the definition of a function."""
    body = _RuleWriter(prefixes, frozenset()).expression(definition.body)
    return f"function {_signature(definition)} = {body} ."


def _format_reduction(definition: ReductionDefinition, prefixes: _Prefixes) -> str:
    """Return the text of the definition of a reduction."""
    steps = {"initial": definition.initial, "add": definition.add, "remove": definition.remove, "result": definition.final}
    written = _RuleWriter(prefixes, frozenset()).expression
    texts = (f"{name} {written(step)}" for name, step in steps.items() if step is not None)
    return f"reduction {_signature(definition)} = {', '.join(texts)} ."


def _signature(definition: FunctionDefinition | ReductionDefinition) -> str:
    parameters = ", ".join(f"?{parameter.name}: {parameter.type}" for parameter in definition.parameters)
    return f"{definition.name}({parameters}): {definition.result}"


def _columns(columns: Iterable[Column]) -> str:
    return ", ".join(f"{column.name}: {column.type}" for column in columns)


def format_rule(rule: Rule, prefixes: _Prefixes = PREFIXES, named: bool = False) -> str:
    """Return the text of a rule with its final dot; if `named`, preceded by a line with its name, if it has one.

    Args:
        rule: The rule.
        prefixes: The prefixes to use.
        named: Whether the text has the name.

    Returns:
        The text.
    """
    writer = _RuleWriter(prefixes, _wildcards(rule))
    text = writer.atom(rule.head)
    if rule.body:
        text += f" :- {', '.join(writer.part(part) for part in rule.body)}"
    name = f"@rule {rule.origin.name}\n" if named and rule.origin.name else ""
    return f"{name}{text} ."


def format_term(term: Argument, prefixes: _Prefixes = PREFIXES) -> str:
    """Return the shortest text of a term that the prefixes and the datatype allow.

    Args:
        term: The term.
        prefixes: The prefixes to use.

    Returns:
        The text.

    >>> from kg_reasoner.terms import XSD
    >>> print(format_term(XSD.int), format_term(Literal("5", XSD.integer.value)), format_term(Literal("5", XSD.int.value)))
    xsd:int 5 "5"^^xsd:int
    """
    if isinstance(term, IRI):
        return _iri(term, prefixes)
    if isinstance(term, Variable | BlankNode):
        return str(term)
    plain = _PLAIN.get(term.datatype)
    if plain is not None and plain.fullmatch(term.lexical):
        return term.lexical
    if decode(term) is not None:
        return _structure(term, prefixes)
    quoted = f'"{_UNSAFE_IN_STRING.sub(_escape, term.lexical)}"'
    if term.language is not None:
        return f"{quoted}@{term.language}"
    return quoted if term.datatype == XSD.string.value else f"{quoted}^^{_iri(IRI(term.datatype), prefixes)}"


def _structure(term: Term, prefixes: _Prefixes) -> str:
    """Return the text of a structure, which may be nested deeper than Python functions can call each other."""
    written: list[str] = []
    waiting: list[Term | str] = [term]
    while waiting:
        part = waiting.pop()
        structure = decode(part) if isinstance(part, Literal) else None
        if structure is None:
            written.append(part if isinstance(part, str) else format_term(part, prefixes))
            continue
        members = [Literal(structure.constructor)] * (structure.kind == "record") + [*structure.members]
        separated = [piece for member in members for piece in (", ", member)][1:]
        waiting += reversed([f"{structure.kind.upper()}(", *separated, ")"])
    return "".join(written)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _ESCAPES.get(char) or f"\\u{ord(char):04X}"


def _in_brackets(iri: IRI) -> str:
    return f"<{NOT_IN_IRI.sub(lambda match: f'{chr(92)}u{ord(match[0]):04X}', iri.value)}>"


def _iri(iri: IRI, prefixes: _Prefixes) -> str:
    """Return the label, the prefixed name with the longest matching namespace, or the IRI in angle brackets."""
    label = prefixes.label(iri.value) if isinstance(prefixes, DisplayNames) else None
    if label is not None:
        return label
    fitting = (name for name, namespace in prefixes.items() if iri.value.startswith(namespace))
    for name in sorted(fitting, key=lambda name: len(prefixes[name]), reverse=True):
        local = iri.value[len(prefixes[name]) :]
        if _LOCAL.fullmatch(local):
            return f"{name}:{local}"
    return _in_brackets(iri)


def _predicate(predicate: str, prefixes: _Prefixes) -> str:
    return _iri(IRI(predicate[1:-1]), prefixes) if predicate.startswith("<") else predicate


def _wildcards(rule: Rule) -> frozenset[Variable]:
    """Return the variables that can be written as ``_``: all wildcards, if the parser would give each its name again.

    It numbers wildcards from left to right, passing over names that the rule has.
    """
    names = Counter(_occurrences((rule.head, *rule.body)))
    made = [variable for variable, count in names.items() if _NUMBERED.fullmatch(variable.name) and count == 1]
    others = any(_NUMBERED.fullmatch(variable.name) and count > 1 for variable, count in names.items())
    numbered = not others and all(variable.name == f"_{number}" for number, variable in enumerate(made, start=1))
    return frozenset(made if numbered else ())


def _occurrences(parts: Iterable[BodyLiteral]) -> Iterator[Variable]:
    """Yield all variables in the order of the text."""
    for part in parts:
        if isinstance(part, Aggregate):
            yield from _occurrences(part.body)
            yield from part.group
            for binding in part.bindings:
                if binding.argument is not None:
                    yield from variables_of(binding.argument)
                yield binding.variable
        else:
            yield from variables_of(part)


class _RuleWriter:
    """Writes the parts of a rule."""

    def __init__(self, prefixes: _Prefixes, wildcards: frozenset[Variable]) -> None:
        self.prefixes = prefixes
        self.wildcards = wildcards

    def term(self, term: Argument) -> str:
        return "_" if term in self.wildcards else format_term(term, self.prefixes)

    def part(self, part: BodyLiteral) -> str:
        if isinstance(part, Negation):
            return f"NOT {self.atom(part.atom)}"
        if isinstance(part, Filter):
            return f"FILTER({self.expression(part.expression)})"
        if isinstance(part, Bind):
            return f"BIND({self.expression(part.expression)} AS {part.variable})"
        if isinstance(part, Aggregate):
            body = ", ".join(self.part(inner) for inner in part.body)
            group = f" ON {' '.join(map(str, part.group))}" if part.group else ""
            return f"AGGREGATE({body}{group}{''.join(map(self.binding, part.bindings))})"
        return self.atom(part)

    def binding(self, binding: AggregateBinding) -> str:
        from kg_reasoner.expressions.collecting import ARGUMENTS

        argument = "*" if binding.argument is None else self.expression(binding.argument)
        takes_several = binding.function in ARGUMENTS or binding.definition is not None
        if takes_several and isinstance(binding.argument, Call) and binding.argument.name == "TUPLE":
            argument = argument.removeprefix("TUPLE(").removesuffix(")")
        return f" BIND {binding.function}({'DISTINCT ' if binding.distinct else ''}{argument}) AS {binding.variable}"

    def atom(self, atom: Atom) -> str:
        if atom.predicate == FALSE:
            return FALSE
        if atom.predicate != TRIPLE:
            return f"{_predicate(atom.predicate, self.prefixes)}({', '.join(map(self.term, atom.terms))})"
        subject, property, object = atom.terms
        if property == RDF.type and isinstance(object, IRI):
            return f"{self.term(object)}[{self.term(subject)}]"
        if isinstance(property, IRI) and property != RDF.type:
            return f"{self.term(property)}[{self.term(subject)}, {self.term(object)}]"
        return f"[{', '.join(map(self.term, atom.terms))}]"

    def expression(self, expression: Expression, tightness: int = 0) -> str:
        """Return the text of an expression, in parentheses if its operator has a lower precedence than `tightness`."""
        if not isinstance(expression, Call):
            return self.term(expression)
        name, arguments = expression.name, expression.arguments
        precedence = _PRECEDENCE.get(name, _PRIMARY)
        if precedence == _PRIMARY:
            return f"{_predicate(name, self.prefixes)}({', '.join(map(self.expression, arguments))})"
        if precedence == _PRECEDENCE["!"]:
            text = self.expression(arguments[0], precedence)
            # Without parentheses, -5 would be a number.
            text = f"({text})" if name == "neg" and isinstance(arguments[0], Literal) else text
            text = f"{'-' if name == 'neg' else name}{text}"
        elif name in ("IN", "NOT IN"):
            text = f"{self.expression(arguments[0], precedence + 1)} {name} ({', '.join(map(self.expression, arguments[1:]))})"
        else:
            # Operators of one precedence are read from left to right, and comparisons do not chain.
            left = precedence + 1 if precedence == _PRECEDENCE["="] else precedence
            text = f"{self.expression(arguments[0], left)} {name} {self.expression(arguments[1], precedence + 1)}"
        return f"({text})" if precedence < tightness else text
