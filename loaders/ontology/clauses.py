"""Clauses of a translation to rules: the atoms for classes and properties, named or not, and what is concluded from them.

Membership of a named class is a triple of rdf:type; that of an anonymous one is an auxiliary predicate, see `dlp`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final

from kg_reasoner.digests import digest
from kg_reasoner.expressions.datatypes import DATATYPES
from kg_reasoner.expressions.given_relations import LITERAL_TYPE
from kg_reasoner.loaders.ontology.axiom_texts import Texts
from kg_reasoner.loaders.ontology.axioms import SomeValuesFrom
from kg_reasoner.loaders.ontology.ontology import Ontology
from kg_reasoner.loaders.ontology.unfold import LETTERS, DraftRule
from kg_reasoner.program import FALSE, TRIPLE, Argument, Atom, Bind, BodyLiteral, Call, Filter, Negation, Variable, triple
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, BlankNode, Literal, Term, literal, term_text

__all__ = ["AUXILIARY_PREFIX", "INCONSISTENT", "Clauses", "X", "Y", "Z"]

AUXILIARY_PREFIX: Final = "_owl_"
"""The prefix of the translation's auxiliary predicates, whose names are stable while the blank nodes keep their labels."""

X, Y, Z = LETTERS[:3]
_I, _J = Variable("i"), Variable("j")
_ARE_DIFFERENT_VALUES: Final = tuple(Filter(Call("!", (Call(name, (Y, Z)),))) for name in ("SAMETERM", "SAMEVALUE"))
"""Tests identity of terms first, without calling a function."""
INCONSISTENT: Final = Atom(FALSE, ())
_NOTHING: Final = OWL.Nothing.value
_BOTTOM: Final = frozenset({OWL.bottomObjectProperty.value, OWL.bottomDataProperty.value})
_MANY: Final = 12
"""Up to this number of classes, properties or individuals, there is a clause for each pair that must differ; with more, a numbered
predicate is used.
"""


class Clauses:
    """The clauses found so far, and the predicates in them.

    Args:
        ontology: The ontology.
        texts: The texts of its axioms.
        check_literals: Whether what a range or a restriction says about literals makes constraints.
        in_groups: The restrictions that the hierarchy of restrictions is about.
    """

    def __init__(self, ontology: Ontology, texts: Texts, check_literals: bool, in_groups: frozenset[Term]) -> None:
        self.ontology = ontology
        self.texts = texts
        self.check_literals = check_literals
        self.drafts: list[DraftRule] = []
        self.auxiliary: dict[str, str] = {}
        """The auxiliary predicates to unfold, and the texts of the expressions for which they stand."""
        self.origin: tuple[str, ...] = ()
        """The texts of the axioms that the next clauses come from."""
        self._in_groups = in_groups
        self._names: dict[tuple[str, Term], str] = {}
        self._members: dict[tuple[Term, Argument], Atom] = {}
        self._relations: dict[tuple[Term, Argument, Argument], Atom] = {}
        """The atoms for membership and for properties: each is made once, and shared by the clauses."""

    def _name(self, kind: str, node: Term) -> str:
        """Return the auxiliary predicate of a blank node: its label, with characters that identifiers lack as code points."""
        known = self._names.get((kind, node))
        if known is not None:
            return known
        label = node.label if isinstance(node, BlankNode) else term_text(node)
        predicate = f"{AUXILIARY_PREFIX}{kind}_" + re.sub(r"[^A-Za-z0-9]", lambda found: f"_{ord(found[0]):x}_", label)
        self.auxiliary[predicate] = self.texts.node(node)
        self._names[kind, node] = predicate
        return predicate

    def member(self, node: Term, instance: Argument) -> Atom:
        """Return the atom for membership of a class or data range."""
        atom = self._members.get((node, instance))
        if atom is None:
            atom = self._members[node, instance] = self._membership(node, instance)
        return atom

    def _membership(self, node: Term, instance: Argument) -> Atom:
        if isinstance(node, BlankNode):
            return Atom(self._name("class", node), (instance,))
        if self.ontology.is_datatype(node):
            return Atom(LITERAL_TYPE, (instance, node))
        return triple(instance, RDF.type, node)

    def stated(self, node: Term, instance: Argument) -> Atom:
        """Return the atom for membership of a node other than by its own expression or that of its groups, if this makes a
        difference.
        """
        return Atom(self._name("stated", node), (instance,)) if self.is_split(node) else self.member(node, instance)

    def is_split(self, node: Term) -> bool:
        """Return whether the translation distinguishes how an instance became a member of a node.

        A member of a restriction by its own expression is a member of the restrictions above it by theirs, so the hierarchy need
        not derive it again. This does not hold for the restriction to some owl:Thing, which requires a value but no membership.
        """
        if not isinstance(node, BlankNode) or node not in self._in_groups:
            return False
        first, *others = self.ontology.expressions[node]
        return not others and not (isinstance(first, SomeValuesFrom) and first.filler == OWL.Thing)

    def related(self, property: Term, subject: Argument, object: Argument) -> Atom:
        """Return the atom for a property, named or not."""
        atom = self._relations.get((property, subject, object))
        if atom is None:
            atom = self._relations[property, subject, object] = self._relation(property, subject, object)
        return atom

    def _relation(self, property: Term, subject: Argument, object: Argument) -> Atom:
        if isinstance(property, BlankNode):
            if property in self.ontology.inverses:
                name, inverted = self.ontology.inverses[property]
                return triple(object, name, subject) if inverted else triple(subject, name, object)
            return Atom(self._name("property", property), (subject, object))
        if property == RDF.type and not isinstance(object, Variable):
            return self.member(object, subject)
        return triple(subject, property, object)

    def valued(self, property: Term, subject: Argument, value: Argument) -> Atom:
        """Return the atom for a property that identifies individuals: for a data property, an atom about values rather than lexical
        forms.
        """
        if property not in self.ontology.data_properties or property in self.ontology.object_properties:
            return self.related(property, subject, value)
        predicate = _numbered("value", [property])
        self.add(Atom(predicate, (X, Z)), [self.related(property, X, Y), Bind(Call("VALUE", (Y,)), Z)], "dt-eq")
        return Atom(predicate, (subject, value))

    def helper(self, kind: str, terms: Iterable[Term], text: str) -> str:
        """Return an auxiliary predicate for a list of terms, described by `text`."""
        predicate = _numbered(kind, terms)
        self.auxiliary[predicate] = text
        return predicate

    def add(self, head: Atom, body: Iterable[BodyLiteral], name: str) -> None:
        body = tuple(body)
        if len(body) > 1:
            body = tuple(dict.fromkeys(body))
        for part in body:
            if isinstance(part, Atom) and _is_empty(part):
                return
        self.drafts.append(DraftRule(head, body, name, self.origin))

    def conclude(self, node: Term, instance: Argument, body: Iterable[BodyLiteral], name: str) -> None:
        """Add the clause that makes an instance a member of a class or data range."""
        if node == OWL.Nothing:
            self.add(INCONSISTENT, body, "cls-nothing2")
        elif isinstance(node, BlankNode):
            self.add(self.stated(node, instance), body, name)
        elif self.ontology.is_datatype(node):
            if self.check_literals and str(node)[1:-1] in DATATYPES and node != RDFS.Literal and isinstance(instance, Variable):
                known = Atom(LITERAL_TYPE, (instance, RDFS.Literal))
                self.add(INCONSISTENT, (*body, known, Negation(Atom(LITERAL_TYPE, (instance, node)))), "dt-not-type")
        elif not isinstance(instance, Literal):
            self.add(self.member(node, instance), body, name)

    def recognise(self, node: Term, body: Iterable[BodyLiteral], name: str) -> None:
        """Add the clause that recognises ``?x`` as a member of a node by the node's own restriction."""
        if self.is_split(node):
            self.add(self.member(node, X), body, name)
        else:
            self.conclude(node, X, body, name)

    def relate(self, property: Term, subject: Argument, object: Argument, body: Iterable[BodyLiteral], name: str) -> None:
        """Add the clause that relates two individuals by a property."""
        if _is_bottom(property):
            self.add(INCONSISTENT, body, name)
        else:
            self.add(self.related(property, subject, object), body, name)

    def equate(self, first: Variable, second: Variable, body: Sequence[BodyLiteral], name: str) -> None:
        self.add(triple(first, OWL.sameAs, second), (*body, Filter(Call("!=", (first, second)))), name)

    def equate_values(self, property: Term, filler: Term | None, body: Sequence[BodyLiteral], name: str) -> None:
        """Add the clauses by which ``?y`` and ``?z`` are the same value of a property: the same individual, or literals that must
        not differ.
        """
        is_data = property in self.ontology.data_properties or (filler is not None and self.ontology.is_datatype(filler))
        is_object = property in self.ontology.object_properties or property in self.ontology.inverses
        if is_object or not is_data:
            self.equate(Y, Z, body, name)
        if is_data or not is_object:
            self.add(INCONSISTENT, (*body, *_ARE_DIFFERENT_VALUES), name)

    def exclude(self, nodes: Sequence[Term], atoms: Sequence[Atom], name: str) -> None:
        """Add constraints: no two of the atoms (membership of the nodes, over the same variables) hold together."""
        if len(atoms) <= _MANY:
            for first, second in combinations(atoms, 2):
                self.add(INCONSISTENT, (first, second), name)
            return
        variables = tuple(term for term in atoms[0].terms if isinstance(term, Variable))
        predicate = _numbered("disjoint", nodes)
        for number, atom in enumerate(atoms, start=1):
            self.add(Atom(predicate, (*variables, literal(number))), (atom,), name)
        numbered = (Atom(predicate, (*variables, index)) for index in (_I, _J))
        self.add(INCONSISTENT, (*numbered, Filter(Call("<", (_I, _J)))), name)

    def include(self, sub: Term, sup: Term, name: str) -> None:
        if not self.ontology.is_datatype(sub) and not self.ontology.is_datatype(sup):
            self.conclude(sup, X, [self.member(sub, X)], name)

    def distinguish(self, individuals: Sequence[Term], name: str) -> None:
        if len(individuals) <= _MANY:
            for first, second in combinations(individuals, 2):
                self.add(INCONSISTENT, [triple(first, OWL.sameAs, second)], name)
            return
        predicate = _numbered("different", individuals)
        for number, individual in enumerate(individuals, start=1):
            self.add(Atom(predicate, (individual, literal(number))), [], name)
        numbered = Atom(predicate, (X, _I)), Atom(predicate, (Y, _J))
        self.add(INCONSISTENT, [triple(X, OWL.sameAs, Y), *numbered, Filter(Call("<", (_I, _J)))], name)

    def with_value(self, property: Term, filler: Term | None, value: Variable = Y) -> list[Atom]:
        """Return the atoms by which ``?x`` has a value in the filler."""
        related = self.related(property, X, value)
        is_literal = filler == RDFS.Literal and self.texts.kind(property) == "Data"
        return [related] if filler is None or filler == OWL.Thing or is_literal else [related, self.member(filler, value)]


def _numbered(kind: str, terms: Iterable[Term]) -> str:
    """Return a predicate for a list of terms."""
    text = "\n".join(map(term_text, terms))
    return f"{AUXILIARY_PREFIX}{kind}_{digest(text.encode(), 6)}"


def _is_empty(atom: Atom) -> bool:
    """Return whether an atom is about owl:Nothing or an empty property, which have no facts in consistent data."""
    if atom.predicate != TRIPLE:
        return False
    _, property, value = atom.terms
    return _is_bottom(property) or (isinstance(value, IRI) and value.value == _NOTHING and property == RDF.type)


def _is_bottom(property: Argument) -> bool:
    return isinstance(property, IRI) and property.value in _BOTTOM
