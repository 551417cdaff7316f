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

__all__ = ["VIOLATED", "Predicate", "by_predicate", "plain", "predicate_of", "ternary"]

ArgumentText: TypeAlias = Callable[[Argument], str]
AtomText: TypeAlias = Callable[[Atom, ArgumentText], str]

COMPARISONS: Final = frozenset({"=", "!=", "<", "<=", ">", ">="})
MOST_RULES: Final = 20_000
VIOLATED: Final = "violated"
"""The predicate that stands for the head of constraints: derived as ours are, and not counted among the facts."""


@dataclass(frozen=True, order=True)
class Predicate:
    """A predicate of the layout `by_predicate`: a class (arity 1) or a property (arity 2)."""

    iri: str
    arity: int

    @property
    def name(self) -> str:
        """An identifier that tells its IRI to a reader, and to nobody else: ``class_Person_8e17c5b2``."""
        local = re.sub(r"\W", "_", re.split(r"[#/:]", self.iri)[-1], flags=re.ASCII)
        return f"{'class' if self.arity == 1 else 'property'}_{local}_{crc32(self.iri.encode()):08x}"


def predicate_of(predicate: Argument, object: Argument) -> Predicate | None:
    """The predicate of a triple pattern, or None where variables leave it open."""
    if predicate == RDF.type:
        if isinstance(object, Variable):
            return None
        return Predicate(object.value, 1) if isinstance(object, IRI) else Predicate(RDF.type.value, 2)
    return Predicate(predicate.value, 2) if isinstance(predicate, IRI) else None


# ---- programs


def plain(rules: Iterable[Rule], inputs: Mapping[str, str], outputs: Iterable[str]) -> str:
    """A program without RDF. `inputs` are the right sides of the imports, by predicate: ``tsv { ... }``."""
    return program(inputs, (rule_text(rule, general_atom) for rule in rules), outputs)


def ternary(rules: Iterable[Rule], ntriples: Iterable[str]) -> str:
    """A program over the one predicate ``triple``, read from N-Triples files."""
    imports = [f'@import triple :- ntriples {{ resource = "{path}" }} .' for path in ntriples]
    return program({}, chain(imports, (rule_text(rule, ternary_atom) for rule in rules)), ["triple"])


def by_predicate(rules: Iterable[Rule], files: Mapping[Predicate, str]) -> str:
    """A program over a predicate for each class and property; `files` are the CSV files of those that have data.

    Rules with variables in the place of classes or properties are written once for each that occurs.

    Raises:
        UnsupportedError: that would be too many rules.
    """
    rules = list(rules)
    known = set(files) | {found for rule in rules for atom in triple_atoms(rule) if (found := predicate_of(*atom.terms[1:]))}
    written: list[Rule] = []
    for expanded in chain.from_iterable(expand(rule, sorted(known)) for rule in rules):
        written.append(expanded)
        if len(written) > MOST_RULES:
            raise UnsupportedError(f"the rules have more than {MOST_RULES} instances with constant classes and properties")
    known |= {found for rule in written for atom in triple_atoms(rule) if (found := predicate_of(*atom.terms[1:]))}
    inputs = {
        predicate.name: f'csv {{ resource = "{path}", format = ({", ".join(["any"] * predicate.arity)}) }}'
        for predicate, path in files.items()
    }
    texts = dict.fromkeys(rule_text(rule, predicate_atom) for rule in written)
    outputs = [predicate.name for predicate in sorted(known)]
    return program(inputs, texts, [*outputs, VIOLATED] if any(rule.is_constraint for rule in rules) else outputs)


def program(inputs: Mapping[str, str], statements: Iterable[str], outputs: Iterable[str]) -> str:
    """The text of a program. What no rule needs and nobody asks for, Nemo leaves out; so every output is asked for."""
    lines = [f"@import {name} :- {source} ." for name, source in inputs.items()]
    lines += statements
    lines += [f"@export {name} :- csv {{}} ." for name in outputs]
    return "\n".join(lines) + "\n"


# ---- rules


def triple_atoms(rule: Rule) -> Iterator[Atom]:
    """All atoms over triples of a rule, of head and body, negated ones too."""
    for part in (rule.head, *rule.body):
        atom = part.atom if isinstance(part, Negation) else part
        if isinstance(atom, Atom) and atom.predicate == TRIPLE:
            yield atom


def expand(rule: Rule, known: list[Predicate]) -> Iterator[Rule]:
    """The rule once for each way to put known classes and properties in the place of the variables that stand for them."""
    for atom in triple_atoms(rule):
        _, predicate, object = atom.terms
        if isinstance(predicate, Variable):
            choices = [RDF.type, *(IRI(other.iri) for other in known if other.arity == 2 and other.iri != RDF.type.value)]
            variable = predicate
        elif predicate == RDF.type and isinstance(object, Variable):
            choices = [IRI(other.iri) for other in known if other.arity == 1]
            variable = object
        else:
            continue
        for choice in choices:
            yield from expand(substitute(rule, variable, choice), known)
        return
    yield rule


def substitute(rule: Rule, variable: Variable, constant: IRI) -> Rule:
    """The rule with a constant in the place of a variable."""

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
    """A rule in Nemo's syntax."""
    names = {variable: f"?v{number}" for number, variable in enumerate(dict.fromkeys(rule_variables(rule)))}

    def argument(term: Argument) -> str:
        return names[term] if isinstance(term, Variable) else term_text(term)

    def part_text(part: BodyLiteral) -> str:
        if isinstance(part, Atom):
            return atom_text(part, argument)
        if isinstance(part, Negation):
            return f"~{atom_text(part.atom, argument)}"
        if isinstance(part, Filter) and isinstance(part.expression, Call) and part.expression.name in COMPARISONS:
            left, right = part.expression.arguments
            if not isinstance(left, Call) and not isinstance(right, Call):
                return f"{argument(left)} {part.expression.name} {argument(right)}"
        raise UnsupportedError(f"{type(part).__name__} of this form is not translated for Nemo")

    head = f"{VIOLATED}({crc32(str(rule.body).encode())})" if rule.is_constraint else atom_text(rule.head, argument)
    return f"{head} :- {', '.join(map(part_text, rule.body))} ." if rule.body else f"{head} ."


def rule_variables(rule: Rule) -> Iterator[Variable]:
    """The variables of head and body."""
    return chain.from_iterable(variables_of(part) for part in (rule.head, *rule.body))


# ---- atoms


def general_atom(atom: Atom, argument: ArgumentText) -> str:
    """An atom over a predicate of any arity."""
    return f"{atom.predicate}({', '.join(map(argument, atom.terms))})"


def ternary_atom(atom: Atom, argument: ArgumentText) -> str:
    """A triple pattern in the layout `ternary`."""
    return f"triple({', '.join(map(argument, atom.terms))})"


def predicate_atom(atom: Atom, argument: ArgumentText) -> str:
    """A triple pattern in the layout `by_predicate`."""
    subject, predicate, object = atom.terms
    found = predicate_of(predicate, object)
    if found is None:
        raise UnsupportedError(f"the predicate of {atom} is open")
    return f"{found.name}({argument(subject)})" if found.arity == 1 else f"{found.name}({argument(subject)}, {argument(object)})"
