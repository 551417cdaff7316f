"""Readable names: prefixes for the terms of a proof, and statements and rules as text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from kg_reasoner.expressions.structures import decode
from kg_reasoner.language.display_names import DisplayNames, merged
from kg_reasoner.language.prefixes import PREFIXES
from kg_reasoner.language.printer import format_rule, format_term
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.program import (
    AUXILIARY,
    FALSE,
    TRIPLE,
    Aggregate,
    AggregateBinding,
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
)
from kg_reasoner.terms import IRI, RDF, Literal, Term, namespace_of, word_of

if TYPE_CHECKING:
    from kg_reasoner.explain.steps import Group, Statement

__all__ = ["Names", "axiom_text", "show_rule", "show_statement"]

_LOCAL: Final = regular_expression(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?")
_NAME_IN_AXIOM: Final = regular_expression(
    r'"(?:[^"\\]|\\.)*"|<(?P<iri>[^>]*)>|(?P<prefix>[A-Za-z][\w.-]*):(?P<local>\w(?:[\w.-]*[\w-])?)'
)


class Names:
    """The given prefixes, extended by one for each new namespace, named after the last part of the namespace.

    >>> names = Names({"ex": "http://example.org/"})
    >>> names.term(IRI("http://example.org/tom")), names.term(IRI("http://zoo.org/animals#Cat")), names.term(Literal("x"))
    ('ex:tom', 'animals:Cat', '"x"')
    >>> names.used
    {'ex': 'http://example.org/', 'animals': 'http://zoo.org/animals#'}
    """

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self.prefixes = merged(PREFIXES, prefixes)
        self.used: dict[str, str] = {}
        """The prefixes that names were written with, but for the well-known ones."""

    def term(self, term: Argument) -> str:
        """Return the text of a term in the rule language; a wildcard is ``_``."""
        if isinstance(term, Variable) and term.name.startswith("_"):
            return "_"
        self.learn(term)
        return format_term(term, self.prefixes)

    def label(self, iri: str) -> str | None:
        """Return the label that is shown in place of an IRI, or None."""
        return self.prefixes.label(iri) if isinstance(self.prefixes, DisplayNames) else None

    def knows(self, iri: str) -> bool:
        """Return whether an IRI has a label or a prefix."""
        return self.label(iri) is not None or any(_fits(iri, space) for space in self.prefixes.values())

    def learn(self, term: Expression) -> None:
        """Add a prefix for a term if its IRI has no prefix and can be written as a prefixed name."""
        if isinstance(term, Call):
            for argument in term.arguments:
                self.learn(argument)
        elif isinstance(term, Literal) and decode(term) is not None:
            for member in _parts_of(term):
                self.learn(member)
        elif isinstance(term, Literal):
            if '"' in format_term(term, {}) and term.language is None:
                self.learn(IRI(term.datatype))
        elif isinstance(term, IRI):
            if self.label(term.value) is not None:
                return
            fitting = [name for name, space in self.prefixes.items() if _fits(term.value, space)]
            if fitting:
                prefix = max(fitting, key=lambda name: len(self.prefixes[name]))
            else:
                namespace = namespace_of(term.value)
                if not namespace or not _fits(term.value, namespace):
                    return
                word = word_of(namespace)
                names = itertools.chain([word], (f"{word}{number}" for number in itertools.count(2)))
                prefix = next(name for name in names if name not in self.prefixes)
                self.prefixes[prefix] = namespace
            if prefix not in PREFIXES:
                self.used[prefix] = self.prefixes[prefix]

    def learn_parts(self, parts: Iterable[BodyLiteral]) -> None:
        """Add prefixes for all terms of atoms and other parts of rules."""
        for part in parts:
            if isinstance(part, Atom):
                if part.predicate.startswith("<"):
                    self.learn(IRI(part.predicate[1:-1]))
                for term in part.terms:
                    self.learn(term)
            elif isinstance(part, Negation):
                self.learn_parts((part.atom,))
            elif isinstance(part, Filter | Bind):
                self.learn(part.expression)
            elif isinstance(part, Aggregate):
                self.learn_parts(part.body)
                for binding in part.bindings:
                    if binding.argument is not None:
                        self.learn(binding.argument)


def _parts_of(structure: Term) -> Iterator[Term]:
    """Yield the terms in a structure that are not structures themselves, however deeply it is nested."""
    waiting = [structure]
    while waiting:
        found = decode(part := waiting.pop())
        if found is None:
            yield part
        else:
            waiting += reversed(found.members)


def _fits(iri: str, namespace: str) -> bool:
    return iri.startswith(namespace) and _LOCAL.fullmatch(iri, len(namespace)) is not None


def show_statement(statement: Statement, names: Names) -> str:
    """Return a statement as text: a triple as in Turtle, everything else as in the rule language.

    >>> from kg_reasoner.program import triple
    >>> show_statement(Negation(triple(IRI("http://example.org/tom"), RDF.type, Variable("_1"))), Names({}))
    'NOT example:tom a _'
    """
    if isinstance(statement, Negation):
        return f"NOT {show_statement(statement.atom, names)}"
    if isinstance(statement, Atom) and statement.predicate == TRIPLE:
        subject, property, value = statement.terms
        return f"{names.term(subject)} {'a' if property == RDF.type else names.term(property)} {names.term(value)}"
    if isinstance(statement, Atom) and statement.predicate.startswith(AUXILIARY):  # a part of a rule
        terms = ", ".join(map(names.term, statement.terms))
        return f"(...) for {terms}" if terms else "(...)"
    if isinstance(statement, Atom) and statement.predicate != FALSE:
        names.learn_parts([statement])
        predicate = statement.predicate
        name = names.term(IRI(predicate[1:-1])) if predicate.startswith("<") else predicate
        return f"{name}({', '.join(map(names.term, statement.terms))})"
    if isinstance(statement, Atom):
        return "a contradiction"
    from kg_reasoner.explain.steps import Computed, Group, Solution

    if isinstance(statement, Computed):
        return f"{_expression(statement.expression, names)} = {names.term(statement.value)}"
    if isinstance(statement, Group):
        return _group(statement, names)
    if isinstance(statement, Solution):
        return ", ".join(show_statement(part, names) for part in statement.parts)
    if isinstance(statement, Aggregate):
        results = (f"{_function(binding, names)} = {binding.variable}" for binding in statement.bindings)
        return f"{', '.join(results)}, over {_body(statement, names)}"
    return show_rule(Rule(Atom(FALSE, ()), (statement,)), names).removeprefix("false :- ").removesuffix(" .")


def _group(group: Group, names: Names) -> str:
    from kg_reasoner.explain.ground import ground_aggregate

    part = ground_aggregate(group.aggregate, dict(zip(group.aggregate.group, group.values, strict=True)))
    results = (f"{_function(b, names)} = {names.term(term)}" for b, term in zip(part.bindings, group.results, strict=True))
    count = f"{group.solutions} solution{'s' * (group.solutions != 1)}" if group.solutions else "no solutions"
    return f"{', '.join(results)}, over {count} of {_body(part, names)}"


def _body(part: Aggregate, names: Names) -> str:
    return ", ".join(show_statement(inner, names) for inner in part.body)


def _function(binding: AggregateBinding, names: Names) -> str:
    argument = "*" if binding.argument is None else _expression(binding.argument, names)
    return f"{binding.function}({'DISTINCT ' * binding.distinct}{argument})"


def _expression(expression: Expression, names: Names) -> str:
    return show_statement(Filter(expression), names).removeprefix("FILTER(").removesuffix(")")


def show_rule(rule: Rule, names: Names) -> str:
    """Return a rule as text in the rule language."""
    names.learn_parts((rule.head, *rule.body))
    return format_rule(rule, names.prefixes)


def axiom_text(axiom: str, names: Names) -> str:
    """Return an axiom on one line, with its prefixes replaced by ours, and ours for the IRIs that have one or a label."""
    spaces: dict[str, str] = {}
    prefixes = names.prefixes
    for namespace in prefixes.namespaces() if isinstance(prefixes, DisplayNames) else prefixes.values():
        word = word_of(namespace)
        spaces[word] = namespace if spaces.get(word, namespace) == namespace else ""  # it is not certain which is meant

    def renamed(found: re.Match[str]) -> str:
        if found["iri"] is not None:
            return names.term(IRI(found["iri"])) if names.knows(found["iri"]) else found[0]
        namespace = spaces.get(found["prefix"]) if found["prefix"] else None
        label = names.label(namespace + found["local"]) if namespace else None
        if label is not None:
            return label
        if not namespace or found["prefix"] in names.used or found["prefix"] in PREFIXES:
            return found[0]
        return names.term(IRI(namespace + found["local"]))

    return _NAME_IN_AXIOM.sub(renamed, " ".join(axiom.split()))


def reason_text(rule: Rule, names: Names) -> str:
    """Return the name of a rule with the axiom that it comes from, or else its text."""
    origin = rule.origin
    parts = [origin.name or "", axiom_text(origin.axiom, names) if origin.axiom else ""]
    return ", ".join(part for part in parts if part) or origin.text or show_rule(rule, names)
