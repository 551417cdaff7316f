"""SWRL rules as values, as far as an RDF graph states them (SWRL, W3C Member Submission of 21 May 2004, section 6).

A rule is a ``swrl:Imp`` with two lists of atoms. Variables are the nodes of type ``swrl:Variable``, and the IRIs that the OWL API
creates for variables, declared or not (``urn:swrl#x``, ``urn:swrl:var#x``). `ontology.swrl_clauses` translates them to clauses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Final, Protocol, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.loaders.rules.variables import named_after
from kg_reasoner.program import Argument, Variable
from kg_reasoner.terms import IRI, RDF, RDFS, BlankNode, Literal, Namespace, Term, Triple

__all__ = [
    "SWRL",
    "SWRLB",
    "SWRL_CLASSES",
    "SWRL_PREDICATES",
    "BuiltinAtom",
    "ClassAtom",
    "DataRangeAtom",
    "DifferentAtom",
    "MalformedTriples",
    "PropertyAtom",
    "SameAtom",
    "SwrlAtom",
    "SwrlRule",
    "read_rules",
]

SWRL: Final = Namespace("http://www.w3.org/2003/11/swrl#")
SWRLB: Final = Namespace("http://www.w3.org/2003/11/swrlb#")

_VARIABLE_IRI: Final = regular_expression(r"urn:swrl(?::var)?#")


class MalformedTriples(Exception):
    """A triple lacks what a rule or an axiom requires."""


@dataclass(frozen=True, slots=True)
class ClassAtom:
    """``C(?x)``; the class may be the blank node of an expression."""

    cls: Term
    argument: Argument


@dataclass(frozen=True, slots=True)
class DataRangeAtom:
    """``D(?x)``: a literal belongs to a datatype or data range."""

    range: Term
    argument: Argument


@dataclass(frozen=True, slots=True)
class PropertyAtom:
    """``P(?x, ?y)``, of an object property or a data property."""

    property: Term
    subject: Argument
    object: Argument


@dataclass(frozen=True, slots=True)
class SameAtom:
    first: Argument
    second: Argument


@dataclass(frozen=True, slots=True)
class DifferentAtom:
    first: Argument
    second: Argument


@dataclass(frozen=True, slots=True)
class BuiltinAtom:
    """An atom of a computed relation, such as ``swrlb:add(?sum, ?x, ?y)``."""

    builtin: IRI
    arguments: tuple[Argument, ...]


SwrlAtom: TypeAlias = ClassAtom | DataRangeAtom | PropertyAtom | SameAtom | DifferentAtom | BuiltinAtom


@dataclass(frozen=True, slots=True)
class SwrlRule:
    """A rule: the conjunction of the body implies that of the head; an empty head is a contradiction. `name` is its label or
    IRI.
    """

    name: str | None
    body: tuple[SwrlAtom, ...]
    head: tuple[SwrlAtom, ...]


SWRL_CLASSES: Final = frozenset(
    SWRL[name]
    for name in (
        *("Imp", "Variable", "ClassAtom", "DataRangeAtom", "IndividualPropertyAtom", "DatavaluedPropertyAtom"),
        *("SameIndividualAtom", "DifferentIndividualsAtom", "BuiltinAtom"),
    )
)
"""The classes whose members are rules, or parts of rules."""

SWRL_PREDICATES: Final = frozenset(
    SWRL[name]
    for name in (
        *("body", "head", "classPredicate", "dataRange", "propertyPredicate", "builtin"),
        *("arguments", "argument1", "argument2"),
    )
)
"""The predicates whose triples are parts of rules."""


class OntologyReader(Protocol):
    """The interface of the ontology reader for the reader of its rules (see `ontology`)."""

    @property
    def objects(self) -> Mapping[Term, Mapping[Term, Sequence[Term]]]: ...

    @property
    def members(self) -> Mapping[Term, Sequence[Term]]: ...

    def list_of(self, head: Term) -> tuple[Term, ...]: ...

    def cls(self, node: Term) -> Term: ...

    def property(self, node: Term) -> Term: ...

    def noting(self, triple: Triple) -> AbstractContextManager[None]: ...


def read_rules(reader: OntologyReader) -> Iterator[SwrlRule]:
    """Yield the rules of a graph; record a problem of the ontology for each malformed one."""
    variables = frozenset(reader.members[SWRL.Variable])
    for rule in dict.fromkeys(reader.members[SWRL.Imp]):
        with reader.noting((rule, RDF.type, SWRL.Imp)):
            yield _SwrlRuleReader(reader, variables).rule(rule)


class _SwrlRuleReader:
    """Reads one rule. Variables are named after the ends of their IRIs, which are made unique."""

    def __init__(self, reader: OntologyReader, variables: frozenset[Term]) -> None:
        self.reader = reader
        self.variables = variables
        self.names: dict[Term, Variable] = {}

    def rule(self, node: Term) -> SwrlRule:
        labels = [label.lexical for label in self.values(RDFS.label, node) if isinstance(label, Literal)]
        name = labels[0] if labels else node.value if isinstance(node, IRI) else None
        return SwrlRule(name, self.atoms(node, SWRL.body), self.atoms(node, SWRL.head))

    def values(self, predicate: IRI, node: Term) -> Sequence[Term]:
        return self.reader.objects.get(predicate, {}).get(node, ())

    def value(self, predicate: IRI, node: Term) -> Term:
        found = self.values(predicate, node)
        if len(found) != 1:
            raise MalformedTriples(f"{node} has {len(found)} values of {_short(predicate)}; it needs one")
        return found[0]

    def items(self, head: Term) -> tuple[Term, ...]:
        return () if head == RDF.nil else self.reader.list_of(head)

    def atoms(self, rule: Term, part: IRI) -> tuple[SwrlAtom, ...]:
        return tuple(dict.fromkeys(self.atom(node) for node in self.items(self.value(part, rule))))

    def atom(self, node: Term) -> SwrlAtom:
        kinds = [kind for kind in self.values(RDF.type, node) if kind in SWRL_CLASSES]
        if len(kinds) != 1:
            raise MalformedTriples(f"the atom {node} has {len(kinds)} types among those of SWRL's atoms; it needs one")
        match kinds[0]:
            case SWRL.ClassAtom:
                return ClassAtom(self.reader.cls(self.value(SWRL.classPredicate, node)), self.argument(node, 1))
            case SWRL.DataRangeAtom:
                return DataRangeAtom(self.reader.cls(self.value(SWRL.dataRange, node)), self.argument(node, 1))
            case SWRL.IndividualPropertyAtom | SWRL.DatavaluedPropertyAtom:
                property = self.reader.property(self.value(SWRL.propertyPredicate, node))
                return PropertyAtom(property, self.argument(node, 1), self.argument(node, 2))
            case SWRL.SameIndividualAtom:
                return SameAtom(self.argument(node, 1), self.argument(node, 2))
            case SWRL.DifferentIndividualsAtom:
                return DifferentAtom(self.argument(node, 1), self.argument(node, 2))
            case SWRL.BuiltinAtom:
                builtin = self.value(SWRL.builtin, node)
                if not isinstance(builtin, IRI):
                    raise MalformedTriples(f"a built-in is an IRI, not {builtin}")
                return BuiltinAtom(builtin, tuple(map(self.term, self.items(self.value(SWRL.arguments, node)))))
        raise MalformedTriples(f"{_short(kinds[0])} is not a type of atom")

    def argument(self, node: Term, place: int) -> Argument:
        return self.term(self.value(SWRL[f"argument{place}"], node))

    def term(self, term: Term) -> Argument:
        """Return the variable denoted by a node, or the node itself: an individual, or a literal."""
        if term not in self.variables and not (isinstance(term, IRI) and _VARIABLE_IRI.match(term.value)):
            return term
        if term not in self.names:
            text = term.value if isinstance(term, IRI) else term.label if isinstance(term, BlankNode) else term.lexical
            self.names[term] = named_after(text, self.names.values())
        return self.names[term]


def _short(term: Term) -> str:
    return f"swrl:{term.value[len(str(SWRL)) :]}" if isinstance(term, IRI) and term in SWRL else str(term)
