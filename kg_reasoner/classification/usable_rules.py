"""Selection of the rules of a program that apply to new members.

A rule with negation or aggregates, or one that tests whether names differ, would draw conclusions from the lack of information
about a new member. A rule whose body falls into parts without a common individual would combine members of different classes.
Neither is used for classification.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kg_reasoner.expressions.demands import BY_THE_BOOK
from kg_reasoner.graphs import connected_components
from kg_reasoner.program import (
    TRIPLE,
    Aggregate,
    Atom,
    Bind,
    Call,
    Expression,
    Filter,
    Negation,
    Origin,
    Program,
    Rule,
    Variable,
    variables_of,
)
from kg_reasoner.terms import IRI, OWL, RDF, RDFS

__all__ = ["is_connected", "reads_owl", "told_rule", "without_schema_rules"]

_OWL_RULES = frozenset({"cax-dw", "cls-nothing2"})
_OF_NAMES = frozenset({"!=", "SAMETERM", "ISIRI", "ISURI", "ISBLANK", "ISLITERAL", "STR"})
_OF_THE_SCHEMA = ("scm-", "cls-thing", "cls-nothing1", "prp-ap")


def told_rule(predicate: str) -> Rule:
    """Return the rule by which members of a class belong to the classes above it, which `predicate` relates."""
    x, lower, upper = Variable("x"), Variable("c"), Variable("d")
    body = (Atom(predicate, (lower, upper)), Atom(TRIPLE, (x, RDF.type, lower)))
    return Rule(Atom(TRIPLE, (x, RDF.type, upper)), body, Origin("cax-sco"))


def reads_owl(program: Program) -> bool:
    """Return whether a program has the rules of OWL 2 RL, translated or as they are in the W3C's tables."""
    return program.translate == "dlp" or any((rule.origin.name or "") in _OWL_RULES for rule in program.rules)


def without_schema_rules(program: Program) -> tuple[Program, tuple[Rule, ...]]:
    """Return the part of a program that is used for classification, and the rules that are not sound for it.

    Rules that derive axioms only are not needed where axioms become rules themselves.
    """
    kept: list[Rule] = []
    refused: list[Rule] = []
    for rule in program.rules:
        name = rule.origin.name or ""
        if program.translate == "dlp" and name.startswith(_OF_THE_SCHEMA) and rule.head.predicate == TRIPLE:
            continue
        if rule.body and not _is_of_owl(name) and not (is_connected(rule) and _is_monotonic(rule)):
            refused.append(rule)
        else:
            kept.append(rule)
    return replace(program, rules=tuple(kept)), tuple(refused)


def is_connected(rule: Rule) -> bool:
    """Return whether all individuals of a rule's body are related in it.

    >>> from kg_reasoner.language.parser import parse
    >>> text = ":C[?x] :- :A[?x], :p[?x, ?y] . :C[?x] :- :A[?x], :B[?y] . :C[?x] :- :A[?x], [?x, rdf:type, ?c], :B[?c] ."
    >>> [is_connected(rule) for rule in parse("@prefix : <http://example.org/> . " + text).rules]
    [True, False, False]
    """
    parts = list(filter(None, map(set, _individuals(rule))))
    if len(parts) < 2:
        return True
    found = connected_components((first, other) for part in parts for first in sorted(part, key=str)[:1] for other in part)
    every = set().union(*parts)
    return len(every) == 1 or any(len(members) == len(every) for members in found.values())


def _individuals(rule: Rule) -> Iterator[Iterable[Variable]]:
    """Yield the variables of each part of a body that stand for individuals or values."""
    for part in rule.body:
        if isinstance(part, Bind):
            yield [part.variable, *variables_of(part.expression)]
        elif not isinstance(part, Atom):
            continue
        elif part.predicate != TRIPLE:
            yield variables_of(part.terms)
        else:
            subject, property, value = part.terms
            if isinstance(property, IRI) and property != OWL.sameAs and (property in OWL or property in RDFS):
                continue
            yield variables_of([subject] if property == RDF.type else [subject, value])


def _is_monotonic(rule: Rule) -> bool:
    """Return whether a rule depends neither on the absence of facts nor on the names of terms."""
    for part in rule.body:
        if isinstance(part, Negation | Aggregate):
            return False
        if isinstance(part, Filter | Bind) and any(call.name.upper() in _OF_NAMES for call in _calls(part.expression)):
            return False
    return True


def _calls(expression: Expression) -> Iterator[Call]:
    if isinstance(expression, Call):
        yield expression
        for argument in expression.arguments:
            yield from _calls(argument)


def _is_of_owl(name: str) -> bool:
    return bool(BY_THE_BOOK.match(name)) or name.startswith(("beyond/", "datatypes/", "list/"))
