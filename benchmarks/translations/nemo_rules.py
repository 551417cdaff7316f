"""Programs for Nemo from our rules, in the form in which Nemo is fastest.

Two layouts of RDF data:

* `ternary`: one predicate ``triple``, read from N-Triples; for rules with variables in the place of the property.
* `by_predicate`: one unary predicate a class and one binary predicate a property, each read from a CSV file of its own (prepared
  beforehand, outside the measurement). On LUBM that is over ten times faster than the ternary layout.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, TypeAlias
from zlib import crc32

from kg_reasoner.errors import UnsupportedError
from kg_reasoner.program import (
    TRIPLE,
    Argument,
    Atom,
    BodyLiteral,
    Call,
    Expression,
    Filter,
    Negation,
    Rule,
    Variable,
    variables_of,
)
from kg_reasoner.terms import IRI, RDF, term_text

__all__ = ["VIOLATED", "Predicate", "by_predicate", "instances", "plain", "predicate_of", "ternary"]

ArgumentText: TypeAlias = Callable[[Argument], str]
AtomText: TypeAlias = Callable[[Atom, ArgumentText], str]

COMPARISONS: Final = frozenset({"=", "!=", "<", "<=", ">", ">="})
MOST_RULES: Final = 20_000
VIOLATED: Final = "violated"
"""The predicate that stands for the head of constraints: derived as ours are, and not counted among the facts."""


def identifier(kind: str, iri: str) -> str:
    """Return an identifier for an IRI (Nemo takes an exported IRI for an output location)."""
    local = re.sub(r"\W", "_", re.split(r"[#/:]", iri)[-1], flags=re.ASCII)
    return f"{kind}_{local}_{crc32(iri.encode()):08x}"


@dataclass(frozen=True, order=True)
class Predicate:
    """A predicate of the layout `by_predicate`: a class (arity 1) or a property (arity 2)."""

    iri: str
    arity: int

    @property
    def name(self) -> str:
        """A unique identifier that contains the name in its IRI: ``class_Person_8e17c5b2``."""
        return identifier("class" if self.arity == 1 else "property", self.iri)


def predicate_of(atom: Atom) -> Predicate | str | None:
    """Return the predicate of an atom in the layout `by_predicate`, or None if a variable leaves it open."""
    if atom.predicate != TRIPLE:
        return atom.predicate
    _, predicate, object = atom.terms
    if predicate == RDF.type:
        if isinstance(object, Variable):
            return None
        return Predicate(object.value, 1) if isinstance(object, IRI) else Predicate(RDF.type.value, 2)
    return Predicate(predicate.value, 2) if isinstance(predicate, IRI) else None


# ---- programs


def plain(rules: Iterable[Rule], inputs: Mapping[str, str], outputs: Iterable[str]) -> str:
    """Return a program without RDF. `inputs` are the right sides of the imports, by predicate: ``tsv { ... }``."""
    return program(inputs, (rule_text(rule, general_atom) for rule in rules), outputs)


def ternary(rules: Iterable[Rule], ntriples: Iterable[str]) -> str:
    """Return a program over the one predicate ``triple``, read from N-Triples files."""
    imports = [f'@import triple :- ntriples {{ resource = "{path}" }} .' for path in ntriples]
    return program({}, chain(imports, (rule_text(rule, ternary_atom) for rule in rules)), ["triple"])


def by_predicate(rules: Iterable[Rule], files: Mapping[Predicate, str]) -> str:
    """Return a program over a predicate for each class and property; `files` are the CSV files of those that have data.

    Rules with variables in the place of classes or properties are written once for each that occurs.

    Raises:
        UnsupportedError: That would be too many rules.
    """
    live = instances(rules, files)
    inputs = {
        predicate.name: f'csv {{ resource = "{path}", format = ({", ".join(["any"] * predicate.arity)}) }}'
        for predicate, path in files.items()
    }
    derived = {VIOLATED if rule.is_constraint else name_of(predicate_of(rule.head)) for rule in live}
    return program(inputs, (rule_text(rule, predicate_atom) for rule in live), sorted(inputs.keys() | derived))


def instances(rules: Iterable[Rule], filled: Iterable[Predicate]) -> list[Rule]:
    """Return the rules with constant classes and properties that can have instances, where the predicates `filled` have data.

    Raises:
        UnsupportedError: Those would be too many rules.
    """
    rules, filled = list(rules), set(filled)
    known = sorted(filled | {found for rule in rules for found in predicates(rule) if isinstance(found, Predicate)})
    written: list[Rule] = []
    for expanded in chain.from_iterable(expand(rule, known) for rule in rules):
        written.append(expanded)
        if len(written) > MOST_RULES:
            raise UnsupportedError(f"the rules have more than {MOST_RULES} instances with constant classes and properties")
    return list(dict.fromkeys(alive(written, filled)))


def program(inputs: Mapping[str, str], statements: Iterable[str], outputs: Iterable[str]) -> str:
    """Return the text of a program. Nemo omits what no output needs, so every output is exported."""
    lines = [f"@import {name} :- {source} ." for name, source in inputs.items()]
    lines += statements
    lines += [f"@export {name} :- csv {{}} ." for name in outputs]
    return "\n".join(lines) + "\n"


# ---- rules


def atoms(rule: Rule) -> Iterator[Atom]:
    """Yield all atoms of a rule: of head and body, negated ones too."""
    for part in (rule.head, *rule.body):
        atom = part.atom if isinstance(part, Negation) else part
        if isinstance(atom, Atom):
            yield atom


def predicates(rule: Rule) -> Iterator[Predicate | str]:
    """Return the constant predicates of a rule."""
    return (found for atom in atoms(rule) if (found := predicate_of(atom)) is not None)


def expand(rule: Rule, known: list[Predicate]) -> Iterator[Rule]:
    """Yield the instances of a rule with known classes and properties in place of the variables for them."""
    for atom in atoms(rule):
        if atom.predicate != TRIPLE or predicate_of(atom) is not None:
            continue
        _, predicate, object = atom.terms
        if isinstance(predicate, Variable):
            variable, choices = predicate, [RDF.type, *(IRI(other.iri) for other in known if other.arity == 2)]
        else:
            assert isinstance(object, Variable)
            variable, choices = object, [IRI(other.iri) for other in known if other.arity == 1]
        for choice in dict.fromkeys(choices):
            yield from expand(substitute(rule, variable, choice), known)
        return
    yield rule


def alive(rules: Iterable[Rule], filled: set[Predicate]) -> Iterator[Rule]:
    """Return the rules that can have instances: each predicate of the body has data, or is the head of such a rule."""
    rules = [rule for rule in rules if False not in map(truth, comparisons(rule))]
    derivable: set[Predicate | str | None] = {*filled}

    def possible(rule: Rule) -> bool:
        return all(predicate_of(atom) in derivable for atom in rule.body_atoms())

    size = -1
    while size < len(derivable):
        size = len(derivable)
        derivable |= {predicate_of(rule.head) for rule in rules if possible(rule)}
    return filter(possible, rules)


def comparisons(rule: Rule) -> Iterator[Call]:
    """Yield the comparisons in a rule's filters.

    Raises:
        UnsupportedError: A filter is something else than a conjunction of comparisons of terms.
    """
    pending = [part.expression for part in rule.body if isinstance(part, Filter)]
    while pending:
        expression = pending.pop()
        if isinstance(expression, Call) and expression.name == "&&":
            pending += expression.arguments
        elif isinstance(expression, Call) and expression.name in COMPARISONS and Call not in map(type, expression.arguments):
            yield expression
        else:
            raise UnsupportedError("a filter that is not a conjunction of comparisons is not translated for Nemo")


def truth(comparison: Call) -> bool | None:
    """Return whether a comparison of two IRIs holds, or None if it depends on the instance."""
    left, right = comparison.arguments
    if isinstance(left, IRI) and isinstance(right, IRI) and comparison.name in ("=", "!="):
        return (left == right) == (comparison.name == "=")
    return None


def substitute(rule: Rule, variable: Variable, constant: IRI) -> Rule:
    """Return the rule with a variable replaced by a constant."""

    def in_atom(atom: Atom) -> Atom:
        return replace(atom, terms=tuple(constant if term == variable else term for term in atom.terms))

    def in_expression(expression: Expression) -> Expression:
        if isinstance(expression, Call):
            return replace(expression, arguments=tuple(map(in_expression, expression.arguments)))
        return constant if expression == variable else expression

    def in_part(part: BodyLiteral) -> BodyLiteral:
        if isinstance(part, Atom):
            return in_atom(part)
        if isinstance(part, Negation):
            return replace(part, atom=in_atom(part.atom))
        if isinstance(part, Filter):
            return replace(part, expression=in_expression(part.expression))
        raise UnsupportedError(f"{type(part).__name__} is not translated for Nemo")

    return replace(rule, head=in_atom(rule.head), body=tuple(map(in_part, rule.body)))


def rule_text(rule: Rule, atom_text: AtomText) -> str:
    """Return a rule in Nemo's syntax."""
    names = {variable: f"?v{number}" for number, variable in enumerate(dict.fromkeys(rule_variables(rule)))}

    def argument(term: Argument) -> str:
        return names[term] if isinstance(term, Variable) else term_text(term)

    def part_text(part: BodyLiteral) -> str:
        if isinstance(part, Atom):
            return atom_text(part, argument)
        if isinstance(part, Negation):
            return f"~{atom_text(part.atom, argument)}"
        raise UnsupportedError(f"{type(part).__name__} is not translated for Nemo")

    parts = [part_text(part) for part in rule.body if not isinstance(part, Filter)]
    for comparison in comparisons(rule):
        if truth(comparison) is None:
            left, right = comparison.arguments
            assert not isinstance(left, Call)
            assert not isinstance(right, Call)
            parts.append(f"{argument(left)} {comparison.name} {argument(right)}")
    head = f"{VIOLATED}({crc32(str(rule.body).encode())})" if rule.is_constraint else atom_text(rule.head, argument)
    return f"{head} :- {', '.join(parts)} ." if parts else f"{head} ."


def rule_variables(rule: Rule) -> Iterator[Variable]:
    """Return the variables of head and body."""
    return chain.from_iterable(variables_of(part) for part in (rule.head, *rule.body))


# ---- atoms


def general_atom(atom: Atom, argument: ArgumentText) -> str:
    """Return an atom over a predicate of any arity."""
    return f"{name_of(atom.predicate)}({', '.join(map(argument, atom.terms))})"


def ternary_atom(atom: Atom, argument: ArgumentText) -> str:
    """Return a triple pattern in the layout `ternary`."""
    return f"triple({', '.join(map(argument, atom.terms))})"


def predicate_atom(atom: Atom, argument: ArgumentText) -> str:
    """Return an atom in the layout `by_predicate`."""
    found = predicate_of(atom)
    assert found is not None
    if isinstance(found, Predicate):
        subject, _, object = atom.terms
        return f"{found.name}({', '.join(map(argument, (subject, object)[: found.arity]))})"
    return general_atom(atom, argument)


def name_of(predicate: Predicate | str | None) -> str:
    """Return the identifier of a predicate in Nemo's program."""
    assert predicate is not None
    if isinstance(predicate, Predicate):
        return predicate.name
    return identifier("helper", predicate[1:-1]) if predicate.startswith("<") else predicate
